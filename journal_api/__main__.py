"""`python -m journal_api` is the `journal-api` command."""

from journal_api.cli import main

main()

"""Run the `journal-api` command with `python -m journal_api`."""

from journal_api.cli import main

main()

"""A journal for the tests of other projects: in the same process, with a temporary database file.

Install it with `pip install "trading-journal-api[testing]"`. pytest then has the fixtures `journal`,
`example_journal` and `journal_server`, each a `Journal` (an `httpx.Client`), and `make_journal`, which
returns one (journal_api/pytest_plugin.py):

    def test_my_report_names_every_tag(example_journal):
        assert "FOMO" in my_report(example_journal)

    def test_my_report_says_what_it_may_not_read(make_journal):
        assert my_report(make_journal(scopes="read:tags")) == "no access to trades"

With another test runner use `journal_client`, in asynchronous tests `open_journal`:

    @pytest_asyncio.fixture
    async def journal():
        async with open_journal() as client:
            yield client

A client's base URL is /v1, and it sends the API key: `client.get("/tags")` is `GET /v1/tags`, as is
`client.get("/v1/tags")`. A journal ignores the environment variables JOURNAL_*, and requires asyncio's event
loop.
"""

try:
    import httpx  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('journal_api.testing needs httpx: pip install "trading-journal-api[testing]"') from None

from journal_api.testing.clients import AsyncJournal, Journal, MakeJournal, journal_client, open_journal
from journal_api.testing.journals import Options
from journal_api.testing.traffic import RecordedRequest

__all__ = ["AsyncJournal", "Journal", "MakeJournal", "Options", "RecordedRequest", "journal_client", "open_journal"]

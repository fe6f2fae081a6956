"""The shell blocks of the traders' pages, run as they are written in the journal that README.md makes."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import Server, command, key_in, running
from pages import DOCS, ROOT, blocks_of, make_checkout, responses_in, run_blocks
from pictures import PNG

# How many responses of the API the blocks of each page print. README.md and tour.md have tests of their own.
PAGES = {"accounts.md": 4, "journal.md": 4, "imports.md": 1, "formats.md": 0, "self-hosting.md": 2}
ACME = """Ticker,Way,Size,In,Out,From,To
AAPL,Buy,1,100,101,2026-03-10 10:31:00,2026-03-10 10:41:00
AAPL,Sell,1,100,101,2026-03-11 10:31:00,2026-03-11 10:41:00
"""


class Start(NamedTuple):
    checkout: Path
    server: Server
    db: Path
    key: str


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """A checkout with the account Sim, its five trades, and the files that the pages name."""
    checkout = make_checkout(tmp_path_factory.mktemp("pages") / "checkout")
    db, sample = checkout / "journal.db", ROOT / "tests/data/tradovate_position_history.csv"
    (checkout / "trades.csv").write_bytes(sample.read_bytes())
    (checkout / "acme.csv").write_text(ACME)
    (checkout / "chart.png").write_bytes(PNG)
    (checkout / "backups").mkdir()
    with running(db, "--first-key") as server:
        key = key_in(server.out.read_text())
        ran = command("import", sample, "--account", "Sim", "--timezone", "America/New_York", "--db", db)
        assert ran.code == 0, ran.err
        yield Start(checkout, server, db, key)


@pytest.mark.parametrize("page", PAGES)
def test_every_shell_block_of_a_page_runs_as_written(start: Start, page: str) -> None:
    printed = run_blocks(DOCS / page, start.checkout, start.server, start.db, start.key)

    responses = responses_in(printed)
    assert [response["ok"] for response in responses] == [True] * PAGES[page]


def test_no_page_of_a_trader_has_shell_blocks_that_no_test_runs() -> None:
    technical = ("embedding.md", "agents.md")
    with_blocks = {page.name for page in DOCS.glob("*.md") if blocks_of(page, "sh")}

    assert with_blocks - {*technical} == {*PAGES, "tour.md"}

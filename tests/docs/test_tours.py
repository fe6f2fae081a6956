"""The shell blocks of the README, the tour and the traders' pages, run as they are written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import Server, command, key_in, running
from pages import DOCS, README, ROOT, blocks_of, make_checkout, responses_in, run_blocks
from pictures import PNG

# How many responses of the API the blocks of each page print. README.md and tour.md have tests of their own.
PAGES = {"accounts.md": 4, "journal.md": 4, "imports.md": 1, "formats.md": 0, "self-hosting.md": 2}
ACME = """Ticker,Way,Size,In,Out,From,To
AAPL,Buy,1,100,101,2026-03-10 10:31:00,2026-03-10 10:41:00
AAPL,Sell,1,100,101,2026-03-11 10:31:00,2026-03-11 10:41:00
"""


def test_the_readme_ends_with_the_snapshots(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    db = checkout / "journal.db"

    with running(db, "--first-key") as server:
        lines = run_blocks(README, checkout, server, db, key=key_in(server.out.read_text()))

    assert "5 new, 0 already there" in lines
    responses = responses_in(lines)
    assert [response["ok"] for response in responses] == [True] * 7
    edited = responses[1]["data"]["strategy"]["setups"]
    assert [setup["name"] for setup in edited] == ["Break of the high", "Break of the low", "Failed breakout"]
    first = {"confirmation_id": 1, "name": "Volume above average", "description": None, "sort_order": 0}
    assert edited[0]["confirmations"][0] == first
    near = responses[3]["data"]["goals"][0]["current"]["snapshot_data"]["pace"]
    assert (near["state"], near["remaining"]) == ("within_limit", 500)
    daily = responses[4]["data"]["snapshots"]
    assert sum(snapshot["snapshot_data"]["gross_pnl"] for snapshot in daily) == -218
    assert responses[5]["data"]["example_journal"]["is_loaded"]
    edges = [group["edge"] for group in responses[6]["data"]["report"]["groups"]]
    assert {edge["reason"] for edge in edges} == {None, "too_few"}
    known = [edge for edge in edges if edge["reason"] is None]
    assert all(edge["low"] < edge["expectancy"] < edge["high"] for edge in known)


def test_the_tour_comes_to_what_the_page_says(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    with running(checkout / "tour.db") as server:
        printed = run_blocks(DOCS / "tour.md", checkout, server, checkout / "tour.db")
    responses = responses_in(printed)
    assert [response["ok"] for response in responses] == [True] * 20

    def named(name: str) -> list[Any]:
        return [response["data"][name] for response in responses if name in response["data"]]

    trade = named("trade")[0]
    assert (trade["gross_pnl"], trade["net_pnl"]) == (120, 117.92)
    assert (trade["initial_risk"], trade["rr_realized"], trade["strategy_id"]) == (40, 2.948, 1)
    rehearsal, done, again = named("import")
    assert (rehearsal["dry_run"], done["dry_run"]) == (True, False)
    assert rehearsal["counts"] == done["counts"] == {"new": 5, "duplicate": 0, "updated": 0, "error": 0}
    assert [line for line in printed if line.startswith(",Evaluation 50K,MNQM6,long,")]
    assert again["counts"] == {"new": 0, "duplicate": 1, "updated": 0, "error": 0}
    # The checklist before and after it was put right; the import, and after it was taken back.
    assert [[(one["actual"], one["achieved"]) for one in snapshots] for snapshots in named("snapshots")] == [
        [(0, False)],
        [(100, True)],
        [(-218, False)],
        [],
    ]


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

    assert [response["ok"] for response in responses_in(printed)] == [True] * PAGES[page]


def test_no_page_of_a_trader_has_shell_blocks_that_no_test_runs() -> None:
    technical = ("embedding.md", "agents.md")
    with_blocks = {page.name for page in DOCS.glob("*.md") if blocks_of(page, "sh")}

    assert with_blocks - {*technical} == {*PAGES, "tour.md"}

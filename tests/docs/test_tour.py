"""docs/tour.md, run as it is written."""

from collections.abc import Iterator
from typing import Any

import pytest
from commands import running
from pages import DOCS, make_checkout, responses_in, run_blocks


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The lines that the tour prints."""
    checkout = make_checkout(tmp_path_factory.mktemp("tour") / "checkout")
    with running(checkout / "tour.db") as server:
        yield run_blocks(DOCS / "tour.md", checkout, server, checkout / "tour.db")


def named(printed: list[str], name: str) -> list[Any]:
    """What the responses have under that name, in order."""
    return [response["data"][name] for response in responses_in(printed) if name in response["data"]]


def test_every_step_succeeds(printed: list[str]) -> None:
    responses = responses_in(printed)

    assert len(responses) == 20
    assert all(response["ok"] for response in responses)


def test_the_trade_comes_to_what_the_page_says(printed: list[str]) -> None:
    trade = named(printed, "trade")[0]

    assert (trade["gross_pnl"], trade["net_pnl"]) == (120, 117.92)
    assert (trade["initial_risk"], trade["rr_realized"]) == (40, 2.948)
    assert trade["strategy_id"] == 1


def test_the_goal_shows_the_checklist_before_and_after_it_was_put_right(printed: list[str]) -> None:
    before, after, *_ = named(printed, "snapshots")

    assert [one["actual"] for one in before + after] == [0, 100]
    assert [one["achieved"] for one in before + after] == [False, True]


def test_the_import_counts_in_the_goal_until_it_is_taken_back(printed: list[str]) -> None:
    *_, imported, taken_back = named(printed, "snapshots")

    assert [(one["actual"], one["achieved"]) for one in imported] == [(-218, False)]
    assert taken_back == []


def test_the_imports_come_to_what_the_page_says(printed: list[str]) -> None:
    rehearsal, done, again = named(printed, "import")

    assert (rehearsal["dry_run"], done["dry_run"]) == (True, False)
    assert rehearsal["counts"] == done["counts"] == {"new": 5, "duplicate": 0, "updated": 0, "error": 0}
    assert [line for line in printed if line.startswith(",Evaluation 50K,MNQM6,long,")]
    assert again["counts"] == {"new": 0, "duplicate": 1, "updated": 0, "error": 0}

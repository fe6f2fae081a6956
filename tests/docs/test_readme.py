"""The README's tour, run as it is written."""

from pathlib import Path

from commands import key_in, running
from pages import README, make_checkout, responses_in, run_blocks


def test_the_tour_runs_as_written_and_ends_with_the_snapshots(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    db = checkout / "journal.db"

    with running(db, "--first-key") as server:
        lines = run_blocks(README, checkout, server, db, key=key_in(server.out.read_text()))

    assert "5 new, 0 already there" in lines
    responses = responses_in(lines)
    assert len(responses) == 7
    assert all(response["ok"] for response in responses)
    edited = responses[1]["data"]["strategy"]["setups"]
    assert [setup["name"] for setup in edited] == ["Break of the high", "Break of the low", "Failed breakout"]
    assert edited[0]["confirmations"][0] == {
        "confirmation_id": 1,
        "name": "Volume above average",
        "description": None,
        "sort_order": 0,
    }
    near = responses[3]["data"]["goals"][0]["current"]["snapshot_data"]["pace"]
    assert (near["state"], near["remaining"]) == ("within_limit", 500)
    daily = responses[4]["data"]["snapshots"]
    assert sum(snapshot["snapshot_data"]["gross_pnl"] for snapshot in daily) == -218
    assert responses[5]["data"]["example_journal"]["is_loaded"]
    edges = [group["edge"] for group in responses[6]["data"]["report"]["groups"]]
    assert {edge["reason"] for edge in edges} == {None, "too_few"}
    known = [edge for edge in edges if edge["reason"] is None]
    assert all(edge["low"] < edge["expectancy"] < edge["high"] for edge in known)

"""What tools keep of the API's answers."""

from typing import Any

from journal_api.mcp.reading import MAX_RULES_LENGTH, clip_rules, goal_row, setup_row, with_decisions_only

GOAL: dict[str, Any] = {
    "id": 1,
    "goal_name": "Daily loss limit",
    "metric": "worst_day",
    "target_value": -500,
    "direction": "at_least",
    "timeframe": "daily",
    "custom_start": None,
    "account_id": None,
    "status": "active",
    "scope": "all",
    "created_at": "2026-03-06T00:00:00.000000Z",
    "warnings": [],
}


def test_a_goal_has_its_pace_without_what_is_null() -> None:
    data = {
        "unit": "currency",
        "reason": None,
        "trades": 2,
        "decisions": 2,
        "gross_pnl": -380,
        "pace": {"state": "within_limit", "remaining": 120, "days_left": 0, "needed_per_day": None},
    }
    current = {"period_start": "2026-03-06", "target": -500, "actual": -380, "snapshot_data": data}

    goal = goal_row({**GOAL, "current": current})

    assert goal["pace"] == {"state": "within_limit", "remaining": 120, "days_left": 0}
    assert (goal["target"], goal["actual"], goal["decisions"]) == (-500, -380, 2)
    assert "gross_pnl" not in goal


def test_a_goal_outside_its_window_says_so() -> None:
    goal = goal_row({**GOAL, "current": None})

    assert (goal["target"], goal["actual"], goal["reason"]) == (-500, None, "no period today")


def test_a_goal_has_warnings_only_if_there_are_any() -> None:
    goals = [goal_row({**GOAL, "current": None, "warnings": warnings}) for warnings in ([], ["Check it."])]

    assert [goal.get("warnings") for goal in goals] == [None, ["Check it."]]


def test_a_group_keeps_its_nulls_and_the_number_of_decisions() -> None:
    statistics = {"trades": 3, "decisions": 2, "currency": "USD", "wins": 2}
    group = {"key": None, "values": {"win_rate": None}, "reasons": {}, "statistics": statistics}

    assert with_decisions_only({"groups": [group]}) == {
        "groups": [{"key": None, "values": {"win_rate": None}, "decisions": 2, "currency": "USD"}]
    }


def test_long_rules_become_the_beginning_of_their_text() -> None:
    rules = {"note": "x" * MAX_RULES_LENGTH}

    assert clip_rules({"risk": 1}) == {"risk": 1}
    assert clip_rules(rules) == f'{{"note":"{"x" * (MAX_RULES_LENGTH - 9)}... [2011 characters]'


def test_long_descriptions_are_cut() -> None:
    confirmation = {"confirmation_id": 2, "name": "B", "description": "y" * 201}
    setup = {"setup_id": 1, "name": "A", "description": "x" * 501, "confirmations": [confirmation]}

    row = setup_row(setup)

    assert row["description"] == f"{'x' * 500}... [501 characters]"
    assert row["confirmations"][0]["description"] == f"{'y' * 200}... [201 characters]"

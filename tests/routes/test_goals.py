"""Goals: docs/api.md#goals, their rules by their numbers there, their kinds and `meta.warnings`."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import factories
import httpx
import pytest
from factories import Client, details_of, error_of, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.metrics.formulas import GoalDirection
from journal_api.metrics.metrics import METRICS, goal_kind
from journal_api.repositories import goals

INVALID = (400, "validation_error")
PAGE = (Path(__file__).parents[2] / "docs" / "goals.md").read_text(encoding="utf-8")
AT_MOST = set(re.findall(r"`(\w+)`", re.findall(r"The default direction of (.*?) is `at_most`", PAGE)[0]))
NEVER_BELOW_0 = {
    *("max_drawdown", "average_risk", "largest_risk", "profit_factor", "payoff_ratio"),
    *("average_mae", "average_mfe"),
    *(key for key, metric in METRICS.items() if metric.unit in ("count", "percent")),
}
STATUSES = ["active", "paused", "archived"]
JUNE = {"timeframe": "custom", "custom_start": "2026-06-01", "custom_end": "2026-06-30"}
JULY = {"timeframe": "custom", "custom_start": "2026-07-01", "custom_end": "2026-07-31"}
NO_DATES = {"custom_start": None, "custom_end": None}
ZEROS = ["0", "0.0", "-0", "-0.0", "1e-400", "0e5"]


def goal_body(**fields: Any) -> dict[str, Any]:
    return {"goal_name": "Goal", "metric": "net_pnl", "target_value": 100, **fields}


def with_target(metric: str, target: str) -> str:
    return f'{{"goal_name": "Goal", "metric": "{metric}", "target_value": {target}}}'


async def patch_goal(client: Client, goal: dict[str, Any], **fields: Any) -> Any:
    return unwrap(await client.patch(f"/goals/{goal['id']}", json=fields))


def natural(metric: str) -> str:
    return "at_most" if metric in AT_MOST else "at_least"


async def test_a_goal_has_the_direction_that_is_sent_or_the_natural_one(client: Client) -> None:
    for metric in METRICS:
        goals = [await factories.create_goal(client, metric=metric)]
        goals += [await factories.create_goal(client, metric=metric, direction=one) for one in ("at_least", "at_most")]

        assert [goal["direction"] for goal in goals] == [natural(metric), "at_least", "at_most"]


@for_rows(
    "window",
    [
        *({"timeframe": one} for one in ("daily", "weekly", "monthly", "quarterly")),
        {"timeframe": "custom", "custom_start": "2000-01-01", "custom_end": "2100-12-31"},
        {"timeframe": "custom", "custom_start": "2024-02-29", "custom_end": "2024-02-29"},
    ],
)
async def test_a_goal_takes_every_timeframe(client: Client, window: dict[str, str]) -> None:
    goals = [await factories.create_goal(client, **window)]
    goals += [await patch_goal(client, await factories.create_goal(client, **other), **window) for other in ({}, JUNE)]

    for goal in goals:
        assert {name: goal[name] for name in JUNE} == {**NO_DATES, **window}


async def test_a_target_is_kept_to_the_last_digit(client: Client) -> None:
    targets = ["-500", "0.1", "-0.00000001", "1234567.12345678", "10000000000", "-10000000000"]
    for target in [*targets, "9999999999.99999"]:
        created = await client.post("/goals", content=with_target("net_pnl", target))

        assert f'"target_value":{target},' in created.text


async def test_a_user_has_a_limited_number_of_goals(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals, "MAX_GOALS", 2)
    first = await factories.create_goal(client)
    await patch_goal(client, first, status="archived")
    await factories.create_goal(client)

    refused = await client.post("/goals", json=goal_body())

    assert error_of(refused) == (429, "limit_reached")
    assert details_of(refused) == {"limit": 2, "current": 2}
    await patch_goal(client, first, status="active")


async def test_rule_1_a_target_of_zero_is_for_a_drawdown_alone(client: Client) -> None:
    answers = {
        (metric, zero): await client.post("/goals", content=with_target(metric, zero))
        for metric, zero in product(METRICS, ZEROS)
    }

    taken = {case: answer for case, answer in answers.items() if answer.status_code == 201}
    assert taken.keys() == {("max_drawdown", zero) for zero in ZEROS}
    assert all('"target_value":0,' in answer.text for answer in taken.values())
    for answer in (answer for case, answer in answers.items() if case not in taken):
        assert error_of(answer) == INVALID
        assert list(details_of(answer)["fields"]) == ["target_value"]


async def test_rule_9_a_target_below_0_is_for_what_can_be_below_0(client: Client) -> None:
    answers = {
        metric: await client.post("/goals", json=goal_body(metric=metric, target_value=-1)) for metric in METRICS
    }

    refused = {metric for metric, answer in answers.items() if answer.status_code != 201}
    assert refused == NEVER_BELOW_0
    for metric in refused:
        assert error_of(answers[metric]) == INVALID
        assert details_of(answers[metric])["fields"] == {"target_value": f"must not be negative for {metric}"}


START, END = {"custom_start": "2026-06-01"}, {"custom_end": "2026-06-30"}
BACKWARDS = {"timeframe": "custom", "custom_start": "2026-06-02", "custom_end": "2026-06-01"}


@for_rows(
    "fields, named",
    [
        ({"timeframe": "custom"}, {"custom_start", "custom_end"}),
        ({"timeframe": "custom", **START}, {"custom_end"}),
        ({"timeframe": "custom", **END}, {"custom_start"}),
        *(({"timeframe": one, **START}, {"custom_start"}) for one in ("daily", "weekly", "monthly", "quarterly")),
        ({"timeframe": "weekly", **END}, {"custom_end"}),
        ({"timeframe": "weekly", **START, **END}, {"custom_start", "custom_end"}),
        (BACKWARDS, {"custom_end"}),
        ({"target_value": 0, "goal_name": "New"}, {"target_value"}),
        ({"target_value": -1, "metric": "win_rate"}, {"target_value"}),
    ],
)
async def test_rules_4_to_6_and_1_hold_for_new_and_changed_goals(
    client: Client, fields: dict[str, Any], named: set[str]
) -> None:
    goals = [await factories.create_goal(client), await factories.create_goal(client, **JUNE)]

    refused = [await client.post("/goals", json=goal_body(**fields))]
    refused += [await client.patch(f"/goals/{goal['id']}", json={"status": "paused", **fields}) for goal in goals]

    assert [error_of(answer) for answer in refused] == [INVALID] * 3
    assert [set(details_of(answer)["fields"]) for answer in refused] == [named] * 3
    assert unwrap(await client.get("/goals")) == goals


@for_rows("dates", [START, END, {**START, **END}])
async def test_rule_4_dates_alone_are_for_custom_goals(client: Client, dates: dict[str, str]) -> None:
    goal = await factories.create_goal(client)

    refused = [await client.post("/goals", json=goal_body(**dates))]
    refused += [await client.patch(f"/goals/{goal['id']}", json=dates)]

    assert [set(details_of(answer)["fields"]) for answer in refused] == [set(dates)] * 2


async def test_rule_8_an_account_and_a_group_exclude_each_other(app: Starlette, client: Client) -> None:
    account, group = await factories.insert_account(app), await factories.insert_copy_group(app)

    refused = await client.post("/goals", json=goal_body(account_id=account, copy_group_id=group))

    assert error_of(refused) == INVALID
    assert unwrap(await client.get("/goals")) == []


NO_LOSS = {"metric": "max_drawdown", "target_value": 0}
DRAWDOWN = "the largest fall of the running total from its peak, trade by trade"


@for_rows(
    "created, sent, changed",
    [
        ({"direction": "at_most"}, {"goal_name": "New", "target_value": -2.5}, {}),
        ({}, {}, None),
        (JUNE, goal_body(direction="at_least", status="active", scope="all", **JUNE), None),
        ({}, NO_LOSS, {"direction": "at_most", "kind": "limit", "formula": DRAWDOWN}),
        (
            NO_LOSS,
            {"metric": "net_pnl", "target_value": 5},
            {"direction": "at_least", "kind": "target", "formula": "gross_pnl - fees"},
        ),
        ({}, {"metric": "max_drawdown", "direction": "at_least"}, {"formula": DRAWDOWN}),
        ({"direction": "at_most"}, {"metric": "net_pnl"}, None),
        # Rule 7: dates are written with the timeframe alone.
        (JUNE, {"custom_start": "2025-01-01"}, None),
        (JUNE, {"custom_end": "2025-01-01"}, None),
        (JUNE, {"custom_start": "2025-01-01", "custom_end": "2025-12-31"}, None),
        (JUNE, {"custom_start": "2025-01-01", "goal_name": "New"}, {"custom_start": "2026-06-01"}),
        (JUNE, JULY, {}),
        (JUNE, {"timeframe": "weekly"}, NO_DATES),
    ],
)
async def test_a_patch_changes_what_is_sent_and_what_follows_from_it(
    client: Client, created: dict[str, Any], sent: dict[str, Any], changed: dict[str, Any] | None
) -> None:
    """`changed` is what follows, None if nothing changes at all."""
    goal = await factories.create_goal(client, **created)

    told = await patch_goal(client, goal, **sent)

    assert told == (goal if changed is None else {**goal, **sent, **changed, "updated_at": told["updated_at"]})
    assert (told["updated_at"] > goal["updated_at"]) == (changed is not None)
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == told


async def test_a_new_metric_brings_its_natural_direction(client: Client) -> None:
    for metric in METRICS:
        unnatural = "at_least" if natural(metric) == "at_most" else "at_most"
        other = "trade_count" if metric != "trade_count" else "trading_days"
        goal = await factories.create_goal(client, metric=other, direction=unnatural)

        assert (await patch_goal(client, goal, metric=metric))["direction"] == natural(metric)


@for_rows(
    "created, sent",
    [
        (NO_LOSS, {"metric": "net_pnl"}),
        ({"target_value": -500}, {"metric": "win_rate"}),
        ({}, {"goal_name": "New", "status": "paused", "target_value": 0}),
    ],
)
async def test_the_rules_of_targets_hold_for_the_merged_goal(
    client: Client, created: dict[str, Any], sent: dict[str, Any]
) -> None:
    goal = await factories.create_goal(client, **created)

    refused = await client.patch(f"/goals/{goal['id']}", json=sent)

    assert list(details_of(refused)["fields"]) == ["target_value"]
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal


async def test_a_goal_moves_from_any_scope_to_any_and_from_any_status_to_any(app: Starlette, client: Client) -> None:
    account, group = await factories.insert_account(app), await factories.insert_copy_group(app)
    scopes = {f"account_{account}": (account, None), f"group_{group}": (None, group)}
    scopes |= {"all": (None, None), "": (None, None)}
    goal = await factories.create_goal(client)

    for start, scope in product(scopes, scopes):
        await patch_goal(client, goal, scope=start)
        changed = await patch_goal(client, goal, scope=scope)
        assert (changed["scope"], (changed["account_id"], changed["copy_group_id"])) == (scope, scopes[scope])
    for before, after in product(STATUSES, STATUSES):
        await patch_goal(client, goal, status=before)
        assert (await patch_goal(client, goal, status=after))["status"] == after


async def test_the_list_has_the_goals_of_a_status_and_an_account_by_id(app: Starlette, client: Client) -> None:
    account, other = await factories.insert_account(app), await factories.insert_account(app, "Other")
    group = await factories.insert_copy_group(app, members=[account])
    for name, fields in {
        "Z": {},
        "a": {"account_id": account},
        "o": {"account_id": other},
        "g": {"copy_group_id": group},
    }.items():
        for status in STATUSES:
            goal = await factories.create_goal(client, goal_name=f"{name} {status}", **fields)
            await patch_goal(client, goal, status=status)
    expected = {
        "": ["Z active", "a active", "o active", "g active"],
        "?status=paused": ["Z paused", "a paused", "o paused", "g paused"],
        "?status=all": [f"{name} {status}" for name in "Zaog" for status in STATUSES],
        f"?account_id={account}": ["a active"],
        f"?account_id={account}&status=archived": ["a archived"],
        f"?account_id={account}&status=all": [f"a {status}" for status in STATUSES],
    }

    for query in expected:
        for parts in ("", "with=snapshot"):
            listed = unwrap(await client.get(f"/goals{query}{'&' if query else '?'}{parts}"))
            assert [goal["goal_name"] for goal in listed] == expected[query]


async def test_a_deleted_goal_takes_its_snapshots_and_targets_along(app: Starlette, client: Client) -> None:
    goal, other = await factories.create_goal(client), await factories.create_goal(client)
    kept = await factories.snapshots_of(client, other["id"])
    assert await factories.snapshots_of(client, goal["id"])

    deleted = await client.delete(f"/goals/{goal['id']}")

    assert deleted.status_code == 204
    assert await factories.snapshots_of(client, other["id"]) == kept
    assert unwrap(await client.get("/goals?status=all")) == [other]
    for table in ("snapshots", "goal_targets"):
        assert await run_sql(app, f"SELECT 1 FROM {table} WHERE goal_id = :id", {"id": goal["id"]}) == []


def warnings_in(response: httpx.Response) -> list[str]:
    warnings: list[str] = response.json()["meta"].get("warnings", [])
    return warnings


@for_rows(
    "metric, target, direction, word",
    [
        ("win_rate", 250, "at_least", "never"),
        ("win_rate", 100.5, "at_most", "always"),
        ("win_rate", 100, "at_least", None),
        ("win_rate", 0.55, "at_least", "0.55 means 0.55 %, not 55 %"),
        ("mistake_free_rate", 1, "at_least", "1 means 1 %, not 100 %"),
        ("win_rate", 1.5, "at_least", None),
        ("captured", 150, "at_least", None),
        ("worst_day", 500, "at_least", "-500"),
        ("worst_trade", 0.5, "at_least", "-0.5"),
        ("worst_day", -500, "at_least", None),
        *(
            (metric, sign * 500, "at_most", "at_least -500")
            for metric in ("worst_day", "worst_trade")
            for sign in (1, -1)
        ),
        ("net_pnl", -500, "at_most", "at_least -500"),
        ("rr_realized_avg", -500, "at_most", "at_least -500"),
        ("net_pnl", 500, "at_most", None),
        ("net_pnl", 1, "at_least", None),
        ("max_drawdown", 500, "at_least", "at_most"),
        ("max_drawdown", 0, "at_most", None),
        ("trade_count", 2.5, "at_least", "whole number"),
        ("max_trades_per_day", 3, "at_most", None),
        ("profit_factor", 1.5, "at_least", None),
    ],
)
async def test_a_goal_that_is_probably_a_mistake_is_taken_with_one_warning(
    client: Client, metric: str, target: float, direction: str, word: str | None
) -> None:
    fields = {"metric": metric, "target_value": target, "direction": direction}
    goal = await factories.create_goal(client)
    sent: dict[str, Any] = {"json": goal_body(**fields), "headers": {"Idempotency-Key": "one"}}

    answers = [await client.patch(f"/goals/{goal['id']}", json=fields), await client.post("/goals", **sent)]
    answers += [await client.post("/goals", **sent)]

    (told,) = {tuple(warnings_in(answer)) for answer in answers}
    assert [word in warning for warning in told if word] == ([] if word is None else [True])
    assert word or not told
    read = await client.get(f"/goals/{goal['id']}")
    assert (warnings_in(read), read.headers["etag"]) == ([], answers[0].headers["etag"])
    for listed in unwrap(await client.get("/goals", params={"with": "snapshot"})):
        assert (listed["warnings"], listed["current"]["target"]) == (list(told), target)
    assert all("warnings" not in listed for listed in unwrap(await client.get("/goals")))


@for_rows(
    "patch, warned",
    [
        ({"custom_start": "2025-01-01"}, "custom_start was not stored"),
        ({"custom_start": "2025-01-01", "custom_end": "2025-12-31"}, "custom_start and custom_end were not stored"),
        ({"custom_start": "2026-06-01", "goal_name": "New"}, None),
        (JULY, None),
        ({"timeframe": "weekly"}, None),
    ],
)
async def test_custom_dates_that_are_not_stored_are_warned_of(
    client: Client, patch: dict[str, Any], warned: str | None
) -> None:
    goal = await factories.create_goal(client, **JUNE)

    answer = await client.patch(f"/goals/{goal['id']}", json=patch)

    expected = [] if warned is None else [f"{warned}: to move the window, send timeframe custom and both dates."]
    assert (answer.status_code, warnings_in(answer)) == (200, expected)


FORMULAS = {key: metric.formula.text for key, metric in METRICS.items()}
ARITHMETIC = {key: text for key, text in FORMULAS.items() if re.fullmatch(r"[a-z_×/+() \d-]+", text) and
              re.search(r"[-+/]", text)}  # fmt: skip


@for_rows(
    "metric, direction, target, kind",
    [
        ("net_pnl", "at_least", -500, "limit"),
        ("worst_day", "at_least", -500, "limit"),
        ("rr_realized_avg", "at_least", -1, "limit"),
        ("net_pnl", "at_least", 500, "target"),
        ("net_pnl", "at_least", 0, "target"),
        ("max_drawdown", "at_least", 0, "target"),
        ("average_win", "at_least", -500, "target"),
        ("balance_target", "at_least", -500, "target"),
        ("max_drawdown", "at_most", 500, "limit"),
        ("balance_target", "at_most", -500, "limit"),
    ],
)
def test_a_goal_is_a_limit_if_trading_can_break_it_and_else_a_target(
    metric: str, direction: GoalDirection, target: int, kind: str
) -> None:
    assert goal_kind(metric, direction, target) == kind


async def test_the_formula_of_a_goal_computes_its_value_from_the_data_of_a_snapshot(
    app: Starlette, client: Client
) -> None:
    await factories.create_example_journal(client)
    await run_sql(app, "UPDATE trades SET mae = id * 1e8, mfe = 2e10 WHERE closed_at IS NOT NULL")
    for metric in ARITHMETIC:
        goal = await factories.create_goal(client, metric=metric, target_value=1, timeframe="monthly")
        valued = [one for one in await factories.snapshots_of(client, goal["id"]) if one["actual"] is not None]

        for snapshot in valued:
            expression = goal["formula"].replace("×", "*")
            assert eval(expression, {}, snapshot["snapshot_data"]) == pytest.approx(snapshot["actual"]), metric
        assert len(valued) >= 3, metric

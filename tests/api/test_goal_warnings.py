"""Goals whose target is not possible, or probably a mistake: docs/api.md#goals, G9 and `meta.warnings`."""

from typing import Any

import httpx
import pytest
from factories import create_goal, details_of, error_of, unwrap

from journal_api.values.metrics import METRICS

NEVER_BELOW_0 = {
    *("max_drawdown", "profit_factor", "payoff_ratio"),
    *(key for key, metric in METRICS.items() if metric.unit in ("count", "percent")),
}


def body_of(**fields: Any) -> dict[str, Any]:
    return {"goal_name": "Goal", "metric": "net_pnl", "target_value": 1, **fields}


def warnings_in(response: httpx.Response) -> list[str]:
    warnings: list[str] = response.json()["meta"].get("warnings", [])
    return warnings


async def test_a_target_below_0_is_for_what_can_be_below_0(client: httpx.AsyncClient) -> None:
    answers = {
        metric: await client.post("/goals", json=body_of(metric=metric, target_value=-1))
        for metric in METRICS
    }

    refused = {metric for metric, answer in answers.items() if answer.status_code != 201}
    assert refused == NEVER_BELOW_0
    for metric in refused:
        assert error_of(answers[metric]) == (400, "validation_error")
        assert details_of(answers[metric])["fields"] == {"target_value": f"must not be negative for {metric}"}


async def test_a_change_to_a_metric_that_is_never_negative_needs_a_target(client: httpx.AsyncClient) -> None:
    goal = await create_goal(client, target_value=-500)

    refused = await client.patch(f"/goals/{goal['id']}", json={"metric": "win_rate"})

    assert list(details_of(refused)["fields"]) == ["target_value"]
    assert unwrap(await client.get(f"/goals/{goal['id']}")) == goal


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"metric": "win_rate", "target_value": 250}, "never"),
        ({"metric": "win_rate", "target_value": 100.5, "direction": "at_most"}, "always"),
        ({"metric": "worst_day", "target_value": 500}, "-500"),
        ({"metric": "worst_trade", "target_value": 0.5}, "-0.5"),
        *(
            ({"metric": metric, "target_value": target, "direction": "at_most"}, "at_least -500")
            for metric in ("worst_day", "worst_trade")
            for target in (500, -500)
        ),
        *(
            ({"metric": metric, "target_value": -500, "direction": "at_most"}, "at_least -500")
            for metric in ("net_pnl", "gross_pnl", "balance_target", "expectancy", "rr_realized_avg")
        ),
        ({"metric": "max_drawdown", "target_value": 500, "direction": "at_least"}, "at_most"),
        ({"metric": "trade_count", "target_value": 2.5}, "whole number"),
    ],
    ids=str,
)
async def test_a_goal_that_is_probably_a_mistake_is_taken_with_a_warning(
    client: httpx.AsyncClient, fields: dict[str, Any], word: str
) -> None:
    goal = await create_goal(client)

    created = await client.post("/goals", json=body_of(**fields))
    patched = await client.patch(f"/goals/{goal['id']}", json=fields)

    assert (created.status_code, patched.status_code) == (201, 200)
    for answer in (created, patched):
        (warning,) = warnings_in(answer)
        assert word in warning
    read = await client.get(f"/goals/{goal['id']}")
    assert warnings_in(read) == []
    assert read.headers["etag"] == patched.headers["etag"]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"metric": "win_rate", "target_value": 100},
        {"metric": "worst_day", "target_value": -500},
        {"metric": "net_pnl", "target_value": 500, "direction": "at_most"},
        {"metric": "max_drawdown", "target_value": 0},
        {"metric": "max_trades_per_day", "target_value": 3},
        {"metric": "profit_factor", "target_value": 1.5},
    ],
    ids=str,
)
async def test_a_goal_that_makes_sense_has_no_warning(
    client: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    assert warnings_in(await client.post("/goals", json=body_of(**fields))) == []


async def test_a_list_of_goals_with_snapshots_repeats_the_warnings_about_each(
    client: httpx.AsyncClient,
) -> None:
    answers = [
        await client.post("/goals", json=body_of(metric="worst_day", target_value=target))
        for target in (500, -500)
    ]

    listed = unwrap(await client.get("/goals", params={"with": "snapshot"}))
    plain = unwrap(await client.get("/goals"))

    assert [goal["warnings"] for goal in listed] == [warnings_in(answer) for answer in answers]
    assert [len(goal["warnings"]) for goal in listed] == [1, 0]
    assert [goal["current"]["target"] for goal in listed] == [500, -500]
    assert ["warnings" in goal for goal in plain] == [False, False]


async def test_a_repeated_request_is_answered_with_its_warnings(client: httpx.AsyncClient) -> None:
    sent = {"json": body_of(metric="win_rate", target_value=250), "headers": {"Idempotency-Key": "one"}}

    first = await client.post("/goals", **sent)  # type: ignore[arg-type]
    again = await client.post("/goals", **sent)  # type: ignore[arg-type]

    assert warnings_in(again) == warnings_in(first) != []

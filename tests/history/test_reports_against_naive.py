"""Every grouping, metric and filter of reports against naive_reports.py, over random journals."""

import json
from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from random import Random
from typing import Any, get_args

import naive
import naive_reports
import pytest
from factories import run_sql, unwrap
from naive import Journal
from naive_reports import Ticket
from proofs import examples
from test_metrics_against_naive import Desk, desk_of, random_journal

from journal_api.structs.reports import REPORTED, GroupBy

GROUPINGS = get_args(GroupBy)
HELD = [0, 1, 59.999999, 60, 299, 300, 900, 3599.5, 3600, 14399, 14400, 86399.999999, 86400, 10**6]
# A filter each, and some that select parts of decisions.
FILTERS: list[dict[str, Any]] = [
    {},
    {"account_id": 1},
    {"copy_group_id": 1},
    {"strategy_id": 1},
    {"setup_id": 2},
    {"tag_id": 1},
    {"symbol": "ES"},
    {"direction": "short"},
    {"grade": "A+"},
    {"from": "2026-02-28", "to": "2026-04-13"},
    {"account_id": 2, "symbol": "ES", "from": "2026-03-01"},
]
# In the short form every grouping is compared without a filter and with a fifth of the filters.
STEP = examples(full=1, ci=5)


def with_tickets(journal: Journal, random: Random) -> Journal:
    """The same journal with symbols, directions and times of opening."""
    for trade in list(journal.trades.values()):
        if trade.closed_at is None:
            del journal.trades[trade.id]
            continue
        journal.trades[trade.id] = Ticket(
            **vars(trade),
            opened_at=trade.closed_at - timedelta(seconds=random.choice(HELD)),
            symbol=random.choice(["ES", "NQ", 'a "b"']),
            direction=random.choice(["long", "short"]),
            strategy_id=1 if trade.setup_id else None,
        )
    for trade in journal.trades.values():
        if trade.source_id not in journal.trades:
            trade.source_id = None
    return journal


async def write(desk: Desk) -> None:
    for trade in desk.journal.trades.values():
        assert isinstance(trade, Ticket)
        await run_sql(
            desk.app,
            "UPDATE trades SET opened_at = :at, symbol = :symbol, direction = :direction WHERE id = :id",
            {
                "at": trade.opened_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "symbol": trade.symbol,
                "direction": trade.direction,
                "id": trade.id,
            },
        )


async def report_of(desk: Desk, group_by: str, query: dict[str, Any]) -> Any:
    """The report with all metrics and groups, its numbers exact."""
    groups: list[Any] = []
    while True:
        asked = {**query, "group_by": group_by, "metrics": ",".join(REPORTED), "offset": len(groups)}
        response = await desk.client.get("/reports", params={**asked, "limit": 30})
        unwrap(response)
        answer = json.loads(response.text, parse_float=Fraction, parse_int=Fraction)
        report = answer["data"]["report"]
        groups += report["groups"]
        if len(groups) == answer["meta"]["pagination"]["total"]:
            return {**report, "groups": groups}


def compare(journal: Journal, shown: Any, rows: list[naive_reports.Row]) -> None:
    expected = naive_reports.values_of(journal, rows)
    assert shown["values"] == {key: value for key, (value, _) in expected.items()}
    assert shown["statistics"] == naive_reports.statistics_of(journal, rows)
    nulls = {key for key, value in shown["values"].items() if value is None}
    assert shown["reasons"].keys() == nulls
    for key, reason in shown["reasons"].items():
        assert reason in expected[key][1]


def compare_confirmations(journal: Journal, report: Any, groups: dict[Any, list[naive_reports.Row]]) -> None:
    shown = {group["key"] and group["key"]["confirmation_id"]: group for group in report["groups"]}
    assert shown.keys() == {one for one, _ in groups}
    for one, group in shown.items():
        for answer in ("present", "absent", "unanswered"):
            compare(journal, group[answer], groups.get((one, answer), []))
        compare_edge(
            journal, group["edge"], groups.get((one, "present"), []), groups.get((one, "absent"), [])
        )


def compare_edge(
    journal: Journal, shown: Any, present: list[naive_reports.Row], absent: list[naive_reports.Row]
) -> None:
    sides = [[one.net for _, one in naive.decisions_of(journal, side)] for side in (present, absent)]
    assert [shown["present"], shown["absent"]] == [len(side) for side in sides]
    numbers = [shown[name] for name in ("expectancy", "low", "high")]
    currencies = {journal.accounts[trade.account_id].currency for _, trade in present + absent}
    if min(map(len, sides)) < 10 or len(currencies) > 1:
        assert numbers == [None] * 3
        assert shown["reason"] == ("too_few" if min(map(len, sides)) < 10 else "mixed_currencies")
    else:
        assert numbers == [
            Fraction(value.quantize(Decimal("1e-8"), ROUND_HALF_EVEN)) for value in naive_reports.edge(*sides)
        ]


def check_sums(report: Any, group_by: str) -> None:
    """Groups by account, symbol or day share out the trades; tags do not."""
    if group_by in ("account", "symbol", "day"):
        for name in ("trades", "net_pnl", "gross_pnl", "fees"):
            parts = [group["statistics"][name] for group in report["groups"]]
            whole = report["total"]["statistics"][name]
            assert whole is None or sum(parts) == whole


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(examples(full=40, ci=2)))
async def test_every_grouping_metric_and_filter_equals_the_naive_computation(seed: int) -> None:
    """Every other journal has one currency, and enough trades for an edge."""
    random = Random(seed)
    journal = with_tickets(random_journal(random, (40, 200)[seed % 2]), random)
    for account in journal.accounts.values() if seed % 2 else ():
        account.currency = "USD"

    async with desk_of(journal, random) as desk:
        await write(desk)
        for number, group_by in enumerate(GROUPINGS):
            for query in [FILTERS[0], *FILTERS[1 + (number + seed) % STEP :: STEP]]:
                report = await report_of(desk, group_by, query)
                rows = naive_reports.selected(journal, query)
                groups = naive_reports.groups(journal, rows, group_by)
                compare(journal, report["total"], rows)
                if group_by == "confirmation":
                    compare_confirmations(journal, report, groups)
                    continue
                net = {
                    key: naive_reports.values_of(journal, group)["net_pnl"][0]
                    for key, group in groups.items()
                }
                assert [group["key"] for group in report["groups"]] == naive_reports.in_order(net, group_by)
                for group in report["groups"]:
                    compare(journal, group, groups[group["key"]])
                check_sums(report, group_by)

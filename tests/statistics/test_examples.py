"""What goals show of a few trades, by hand: the rules of docs/goals.md where a mistake is easy."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from desk import JANUARY, Desk, desk_of, value_of
from factories import Client, create_account, insert_trade_tags, read_report, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.metrics.metrics import METRICS
from journal_api.structs.reports import REPORTED


@pytest.fixture
def desk(app: Starlette, client: Client) -> Iterator[Desk]:
    with desk_of(app, client) as desk:
        yield desk


class T(NamedTuple):
    """A closed trade: its net P&L, its moment in 2026, its account, and the number of its original."""

    pnl: float = 0
    moment: str = "01-05"
    currency: str = "USD"
    of: int | None = None
    risk: float | None = None
    grade: str | None = None
    is_mistake: bool = False
    mae: float | None = None
    mfe: float | None = None
    fees: float = 0


def excursions(mae: Any, mfe: Any, captured: Any) -> dict[str, Any]:
    return {"average_mae": mae, "average_mfe": mfe, "captured": captured}


TEN_BILLION = 10**10
NONE = "no_excursions"
USD, EUR = T(300), T(50, currency="EUR")

# What is shown, by metric, of which trades: one value for January, or one for each month from January on.
# The last number is the tolerance of a break-even.
EXAMPLES: dict[str, tuple[list[T], dict[str, Any]] | tuple[list[T], dict[str, Any], float]] = {
    "trades of one instant are in the order of their ids": (
        [T(pnl) for pnl in (5, -3, 5, -3, 5, 5)],
        {"max_drawdown": 3, "win_streak": 2},
    ),
    "drawdowns and streaks follow the closes whatever the ids are": (
        [T(-3, "01-05 15:00:02"), T(5, "01-05 15:00:00"), T(-1, "01-05 15:00:01")],
        {"max_drawdown": 4, "win_streak": 1},
    ),
    "a break-even neither adds to a streak nor ends it": (
        [T(pnl, f"01-05 0{hour}:00:00") for hour, pnl in enumerate((5, 0, 5, 0, 0, 5, -1, 5))],
        {"win_streak": 3, "win_rate": 50},
    ),
    "a drawdown begins anew with each period, its peak at 0": (
        [T(100, "01-20"), T(-30, "02-20"), T(20, "03-01"), T(-50, "03-02")],
        {"max_drawdown": [0, 30, 50, 0]},
    ),
    "a decision counts on the day of its first close": (
        [T(1, "01-06"), T(1, "01-05", of=1), T(1, "01-05 13:00:00")],
        {"max_trades_per_day": 2, "trading_days": 2},
    ),
    "a decision has the grade of the original and the mistakes of any copy": (
        [T(1, "01-05 15:00:01", grade="B"), T(1, "01-05 15:00:00", of=1, grade="A+", is_mistake=True)],
        {"a_plus_rate": 0, "mistake_free_rate": 0},
    ),
    "without its original a decision has the grade of the copy that closed first": (
        [T(1, "02-05", grade="A+"), T(1, "01-05 15:00:01", of=1, grade="A+"), T(1, "01-05", of=1, grade="B")],
        {"a_plus_rate": [0, 100, "no_grades", "no_grades"]},
    ),
    "copies of one instant without their original have the grade of the lower id": (
        [T(1, "02-05", grade="A+"), T(1, of=1, grade="B"), T(1, of=1, grade="A+")],
        {"a_plus_rate": [0, 100, "no_grades", "no_grades"]},
    ),
    "the P&L of copies is added before it is a win or a loss": (
        [T(5), T(-6, of=1), T(2)],
        {"win_rate": 50, "worst_trade": -1, "expectancy": 0.5, "average_win": 2, "trade_count": 2},
    ),
    "a day that breaks even is no winning day": (
        [T(5), T(-5), T(1, "01-06"), T(-1, "01-07")],
        {"winning_days": 1, "trading_days": 3, "worst_day": -1},
    ),
    "tenths add up": ([T(0.1), T(0.2)], {"net_pnl": 0.3}),
    "a profit factor without losses has no value": ([T(5), T(0)], {"profit_factor": "no_losses"}),
    "a payoff ratio without wins has no value": ([T(-5)], {"payoff_ratio": "no_wins"}),
    # R
    "a copy without a risk does not inflate R": (
        [T(200, risk=100), T(800, of=1)],
        {"rr_realized_avg": 2, "average_win": 1000},
    ),
    "a copy with a risk stands for an original without one": (
        [T(200), T(-50, of=1, risk=100)],
        {"rr_realized_avg": -0.5},
    ),
    "the risks of copies are added": ([T(200, risk=100), T(100, of=1, risk=50)], {"rr_realized_avg": 2}),
    "each R is rounded before the mean is computed": (
        [T(1, risk=3), T(1, risk=3), T(0, risk=1), T(5)],
        {"rr_realized_avg": 0.22222222},
    ),
    "risks of decisions": (
        [T(risk=100), T(risk=50.5, of=1), T(risk=20), T()],
        {"average_risk": 85.25, "largest_risk": 150.5},
    ),
    "no risk": ([T(5)], {"average_risk": "no_risk", "largest_risk": "no_risk"}),
    # Excursions
    "no excursion is stated": ([T(50)], excursions(NONE, NONE, NONE)),
    "some excursions are stated": ([T(50, mae=10, mfe=80), T(-20, mae=25), T(30)], excursions(17.5, 80, 62.5)),
    "only losses have an mfe": ([T(-20, mae=0, mfe=5)], excursions(0, 5, NONE)),
    "the mfe of wins is 0": ([T(20, mfe=0)], excursions(NONE, 0, NONE)),
    "an mfe below the result": ([T(30, mfe=20)], excursions(NONE, 20, 150)),
    "captured is net of fees": ([T(30, mfe=40, fees=6)], excursions(NONE, 40, 60)),
    "excursions of copies are added": ([T(50, mae=10, mfe=80), T(25, of=1, mae=4, mfe=20)], excursions(14, 100, 75)),
    "a copy without excursions": ([T(40, mae=10, mfe=80), T(25, of=1)], excursions(10, 80, 50)),
    "a win of which the copy with an mfe is a loss": ([T(40), T(-5, of=1, mfe=10)], excursions(NONE, 10, -50)),
    "a break-even within the tolerance captures nothing": ([T(1, mfe=50)], excursions(NONE, 50, NONE), 1),
    # Currencies
    "amounts in different currencies are not added, counts and percents are": (
        [USD, T(-100), EUR],
        {
            **{key: "mixed_currencies" for key, metric in METRICS.items() if metric.is_of_money},
            "win_rate": 66.66666667,
            "trade_count": 3,
            "trading_days": 1,
            "win_streak": 1,
            "max_trades_per_day": 3,
            "mistake_free_rate": 100,
            "rr_realized_avg": "no_risk",
            "a_plus_rate": "no_grades",
            "protocol_completion_rate": "no_checklists",
        },
    ),
    "risks and excursions in different currencies are not added": (
        [T(40, risk=1, mae=10, mfe=80), T(2, currency="EUR", of=1, risk=1, mae=3, mfe=4)],
        dict.fromkeys([*excursions(0, 0, 0), "average_risk", "largest_risk"], "mixed_currencies"),
    ),
    "different currencies in different periods are not mixed": (
        [USD, EUR._replace(moment="02-05")],
        {"net_pnl": [300, 50, 0, 0], "balance_target": ["mixed_currencies"] * 4},
    ),
    "a decision across currencies counts by its original": (
        [T(-10, risk=20), T(1000, currency="EUR", of=1, risk=1)],
        {"win_rate": 0, "win_streak": 0, "rr_realized_avg": -0.5},
    ),
    "a decision across currencies without its original counts by its first copy": (
        [T(1, "02-05"), T(5, of=1, risk=10), T(-10, "01-05 13:00:00", currency="EUR", of=1, risk=1)],
        {"win_rate": [100, 100, "no_trades", "no_trades"], "rr_realized_avg": [0.5, *["no_risk"] * 3]},
    ),
    # Beyond 64 bits
    "a sum beyond 64 bits is out of range in its period alone": (
        [*[T(TEN_BILLION)] * 10, T(3, "02-05")],
        {
            "net_pnl": ["out_of_range", 3, 0, 0],
            "gross_pnl": ["out_of_range", 3, 0, 0],
            "expectancy": ["out_of_range", 3, "no_trades", "no_trades"],
            "average_win": ["out_of_range", 3, "no_wins", "no_wins"],
            "balance_target": ["out_of_range"] * 4,
            "win_rate": ["out_of_range", 100, "no_trades", "no_trades"],
        },
    ),
    "a drawdown beyond 64 bits is out of range": (
        [
            *[T(TEN_BILLION)] * 5,
            *[T(-TEN_BILLION, "01-06", of=number) for number in range(1, 6)],
            *[T(-TEN_BILLION, "01-07")] * 5,
        ],
        {"max_drawdown": "out_of_range", "net_pnl": -5 * TEN_BILLION},
    ),
    "a decision beyond 64 bits is out of range": (
        [T(1, risk=1), *[T(-TEN_BILLION, "01-06", of=2 if n else None, risk=1) for n in range(10)]],
        dict.fromkeys(("largest_risk", "worst_trade", "max_trades_per_day"), "out_of_range"),
    ),
    "an R beyond 64 bits is out of range for the average alone": (
        [T(TEN_BILLION, risk=0.00000001)],
        {"rr_realized_avg": "out_of_range", "net_pnl": TEN_BILLION},
    ),
    "Rs whose sum is beyond 64 bits are out of range for the average alone": (
        [T(500, risk=0.00000001)] * 2,
        {"rr_realized_avg": "out_of_range", "net_pnl": 1000},
    ),
}


async def enter(desk: Desk, trades: list[T]) -> None:
    accounts: dict[str, int] = {}
    ids: list[int] = []
    tag = None
    for one in trades:
        if one.currency not in accounts:
            made = await create_account(desk.client, one.currency, currency=one.currency)
            accounts[one.currency] = made["id"]
        fields = {"initial_risk": one.risk, "grade": one.grade, "source_trade_id": one.of and ids[one.of - 1]}
        fields |= {"mae": one.mae, "mfe": one.mfe, "fees": one.fees}
        ids.append(await desk.trade(accounts[one.currency], one.moment, one.pnl, **fields))
        if one.is_mistake:
            category = unwrap(await desk.client.post("/tag-categories", json={"name": "Tags"}))["id"]
            body = {"name": "Late", "type": "mistake", "category_id": category}
            tag = unwrap(await desk.client.post("/tags", json=body))
            await insert_trade_tags(desk.app, ids[-1], [tag["id"]])


@for_rows("name", EXAMPLES)
async def test_a_metric_shows(app: Starlette, desk: Desk, name: str) -> None:
    """In goals, and what has a value for January also in the report of January."""
    trades, expected, *tolerance = EXAMPLES[name]
    await desk.patch("/me", breakeven_within=sum(tolerance))
    await enter(desk, trades)

    shown = {}
    for metric, value in expected.items():
        goal = await desk.goal(metric=metric, target_value=1, **({} if isinstance(value, list) else JANUARY))
        values = await desk.values(goal)
        shown[metric] = values if isinstance(value, list) else values[0]

    reported = {key: one for key, one in expected.items() if key in REPORTED and not isinstance(one, list)}
    query = {"from": "2026-01-01", "to": "2026-01-31", "metrics": ",".join(reported or ["net_pnl"])}
    total = (await read_report(desk.client, **query))["total"]
    assert shown == expected
    assert {key: total["reasons"].get(key, total["values"][key]) for key in reported} == reported


async def test_the_largest_sum_within_64_bits_is_exact(desk: Desk) -> None:
    await enter(desk, [*[T(TEN_BILLION)] * 9, T(2233720368.54775), T(0.00000807)])
    goal = await desk.goal()

    answer = await desk.client.get(f"/goals/{goal['id']}/snapshots")

    assert '"actual":92233720368.54775807,' in answer.text


async def test_an_account_in_another_currency_without_trades_mixes_nothing_but_balances(desk: Desk) -> None:
    await enter(desk, [T(300)])
    await create_account(desk.client, "Euros", currency="EUR")

    goals = [
        await desk.goal(metric=metric, account_id=account, **JANUARY)
        for metric, account in (("net_pnl", None), ("balance_target", None), ("balance_target", 1))
    ]

    shown = [(value_of(one), one["snapshot_data"]["currency"]) for one in [(await desk.read(g))[0] for g in goals]]
    assert shown == [(300, "USD"), ("mixed_currencies", None), (300, "USD")]


async def test_a_balance_of_a_window_begins_with_what_came_before_its_first_day(desk: Desk) -> None:
    accounts = [await desk.account(name, balance) for name, balance in (("Main", 100), ("Other", 7))]
    for moment, pnl in (("01-10", 1000), ("01-31", -50.5), ("02-01", 2), ("02-28", 3), ("03-01", 500)):
        await desk.trade(accounts[0], moment, pnl)
    february = {"timeframe": "custom", "custom_start": "2026-02-01", "custom_end": "2026-02-28"}
    goals = [await desk.goal(metric="balance_target", account_id=one, **february) for one in accounts]
    before = [await desk.values(goal) for goal in goals]

    for account in accounts:
        await desk.trade(account, "02-15", 1)

    assert before == [[1054.5], [7]]
    assert [await desk.values(goal) for goal in reversed(goals)] == [[8], [1055.5]]


@pytest.mark.parametrize(
    ("query", "months", "total"),
    [
        ({}, "04 03 02 01", 4),
        ({"from": "2026-02-01"}, "04 03 02", 3),
        ({"from": "2026-02-02"}, "04 03", 2),
        ({"to": "2026-02-01"}, "02 01", 2),
        ({"to": "2026-01-31"}, "01", 1),
        ({"from": "2026-03-01", "to": "2026-03-01"}, "03", 1),
        ({"from": "2026-03-02", "to": "2026-03-31"}, "", 0),
        ({"from": "0001-01-01", "to": "9999-12-31", "limit": 1}, "04", 4),
        ({"from": "2026-02-01", "limit": 1, "offset": 1}, "03", 3),
        ({"limit": 3, "offset": 3}, "01", 4),
        ({"offset": 2**63 - 1}, "", 4),
    ],
    ids=str,
)
async def test_a_page_has_the_periods_that_begin_from_and_to_newest_first(
    desk: Desk, query: dict[str, Any], months: str, total: int
) -> None:
    await desk.trade(await desk.account())
    goal = await desk.goal()

    answer = await desk.client.get(f"/goals/{goal['id']}/snapshots", params=query)

    assert [one["period_start"][5:7] for one in unwrap(answer)] == months.split()
    assert answer.json()["meta"]["pagination"] == {"limit": 50, "offset": 0, "total": total} | {
        name: value for name, value in query.items() if name in ("limit", "offset")
    }


async def test_a_statement_that_fails_is_no_value_out_of_range(desk: Desk) -> None:
    await desk.trade(await desk.account())
    goal = await desk.goal()
    await run_sql(desk.app, "DROP TRIGGER day_of_changed_trades")
    await run_sql(desk.app, "ALTER TABLE trades RENAME COLUMN grade TO mark")

    response = await desk.client.get(f"/goals/{goal['id']}/snapshots")

    assert response.status_code == 500

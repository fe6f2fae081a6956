"""Journals in which nothing pays, and whose trades of a day hang together: how often a report is wrong.

docs/statistics.md#how-often-a-verdict-is-wrong has the percentages. CI asks few journals, and allows for
what chance makes.
"""

from collections.abc import Callable
from datetime import date, timedelta
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest
from aiosqlite import Connection
from factories import Client, create_account, create_strategy, read_report
from pages import DOCS, rows_under
from proofs import examples
from starlette.applications import Starlette

JOURNALS, LINES = examples(full=200, ci=5), 20
TRADE = """
    INSERT INTO trades (id, user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        closed_at, trading_day, gross_pnl, created_at, updated_at, strategy_id, setup_id)
    VALUES (?, 1, 1, 'ES', 'long', 1, 0, ? || 'T10:00:00.000000Z', ? || 'T11:00:00.000000Z', ?, ?, '', '',
        1, 1)"""
ANSWER = "INSERT INTO confirmation_answers (trade_id, confirmation_id, was_present) VALUES (?, ?, ?)"
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda source, size: source.normal(0, 1, size),
    "a tenth large wins": lambda source, size: np.where(source.random(size) < 0.1, 3, -1 / 3),
    "few large losses": lambda source, size: np.where(source.random(size) < 0.1, -3, 1 / 3),
}


class Case(NamedTuple):
    """A row of the page; `of_day` is the share of the variance that trades of a day have in common."""

    trades: int
    a_day: int
    of_day: float
    answers: str
    share: float
    shape: str


def read_case(row: dict[str, str]) -> Case:
    numbers = [float(row[name].rstrip(" %").replace(",", "")) for name in ("trades", "a day", "alike", "with it")]
    trades, a_day, of_day, share = numbers
    return Case(int(trades), int(a_day), of_day / 100, row["answers"], share / 100, row["P&L"])


def draw(source: np.random.Generator, case: Case) -> tuple[list[Any], list[Any]]:
    """The rows of trades and of answers of a journal."""
    days = case.trades // case.a_day
    day = np.repeat(np.arange(days), case.a_day)
    own = np.sqrt(1 - case.of_day) * SHAPES[case.shape](source, case.trades)
    pnl = 100 * (np.sqrt(case.of_day) * source.normal(0, 1, days)[day] + own)
    present = source.random((days, LINES))[day] < case.share
    if case.answers == "by trade":
        present = source.random((case.trades, LINES)) < case.share
    dates = [str(date(2020, 1, 1) + timedelta(days=int(number))) for number in day]
    trades = [
        (number, *[of_day] * 3, round(x * 1e8)) for number, (of_day, x) in enumerate(zip(dates, pnl, strict=True), 1)
    ]
    return trades, [(one[0], line + 1, bool(present[one[0] - 1, line])) for one in trades for line in range(LINES)]


def allow(percent: float) -> float:
    """Four standard deviations of a percentage of so many journals."""
    return 4 * sqrt(percent * (100 - percent) / JOURNALS)


ROWS = rows_under(DOCS / "statistics.md", "trades")[:: examples(full=1, ci=8)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row.values()))
@pytest.mark.promise(31)
async def test_a_report_is_wrong_as_rarely_as_the_page_says(
    app: Starlette, client: Client, row: dict[str, str], record_observation: Callable[[str], None]
) -> None:
    case, source = read_case(row), np.random.default_rng(11)
    await create_account(client)
    lines = [{"name": f"Line {number}"} for number in range(LINES)]
    await create_strategy(client, setups=[{"name": "Setup", "confirmations": lines}])
    verdicts = outside = 0
    for _ in range(JOURNALS):
        trades, answers = draw(source, case)

        async def write(db: Connection, trades: Any = trades, answers: Any = answers) -> None:
            await db.execute_fetchall("DELETE FROM trades")
            await db.executemany(TRADE, trades)
            await db.executemany(ANSWER, answers)

        await app.state.database.write(write)
        report = await read_report(client, "confirmation", metrics="trade_count,expectancy")
        assert report["total"]["values"]["trade_count"] == case.trades
        verdicts += any(group["edge"]["verdict"] in ("more", "less") for group in report["groups"])
        interval = report["total"]["intervals"]["expectancy"]
        outside += not interval["low"] <= 0 <= interval["high"]

    found = [100 * count / JOURNALS for count in (verdicts, outside)]
    record_observation(f"{case}: % of {JOURNALS} journals with a verdict, with zero outside: {found}")
    stated = [float(row[name].rstrip(" %")) for name in ("verdict", "zero outside")]
    for percent, of_page, most in zip(found, stated, (10, 6), strict=True):
        assert percent == pytest.approx(of_page, abs=allow(of_page))
        assert percent <= most + allow(most)

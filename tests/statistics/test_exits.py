"""GET /exits (docs/statistics.md#exits). Random journals are in test_random_journals.py."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from aiosqlite import Connection
from factories import Client, create_account, details_of, insert_trade, unwrap
from proofs import examples
from starlette.applications import Starlette

IN_MONEY = {"unit": "currency", "stops": "50"}
JOURNALS = examples(full=200, ci=10)
TRADE = """
    INSERT INTO trades (id, user_id, account_id, symbol, direction, quantity, entry_price, opened_at,
        closed_at, trading_day, gross_pnl, initial_risk, mae, mfe, created_at, updated_at)
    VALUES (?, 1, 1, 'ES', 'long', 1, 0, ? || 'T10:00:00.000000Z', ? || 'T11:00:00.000000Z', ?, ?, 800000000,
        ?, ?, '', '')"""


async def read_exits(client: Client, **query: Any) -> Any:
    return unwrap(await client.get("/exits", params=query))


async def test_a_stop_and_a_target_beside_what_was_done(app: Starlette, client: Client, account_id: int) -> None:
    """The trades of the example of the page, and one that does not know its excursions."""
    for pnl, mae, mfe in ((80, 20, 80), (-120, 130, 0), (10, 60, 95)):
        await insert_trade(app, account_id, gross_pnl=pnl + 2, fees=2, mae=mae, mfe=mfe)
    await insert_trade(app, account_id, gross_pnl=1000, mae=5)

    found = await read_exits(client, **IN_MONEY, targets="90")

    assert (found["decisions"], found["without_excursions"], found["halves"]) == (3, 1, None)
    assert found["as_it_was"] == {"expectancy": -10, "net_pnl": -30, "win_rate": 66.66666667}
    both, stop, target = found["cells"]
    shown = [[cell["stop"], cell["target"], cell["changed"], cell["either"]] for cell in found["cells"]]
    assert shown == [[50, 90, 2, 1], [50, None, 2, 0], [None, 90, 1, 0]]
    assert stop["net_pnl"] == {"low": -24, "high": -24}
    assert stop["difference"] == {"low": 2, "high": 2, "verdict": "too_few", **dict.fromkeys(("interval", "p", "q"))}
    assert both["expectancy"] == {"low": -8, "high": 38.66666667}
    assert both["difference"]["high"] == 48.66666667
    assert both["win_rate"] == {"low": 33.33333333, "high": 66.66666667}
    assert target["net_pnl"] == {"low": 48, "high": 48}


async def test_a_cell_claims_nothing_below_ten_changed_decisions_or_five_days(
    app: Starlette, client: Client, account_id: int
) -> None:
    """A stop at 50 would have saved 50 and more each time, a target at 50 changes nine decisions."""
    for number in range(40):
        pnl, mfe, day = -100 - number % 7, 50 if number < 9 else 0, 1 + number % 20
        closed_at = f"2026-01-{day:02}T15:00:00Z"
        await insert_trade(app, account_id, gross_pnl=pnl, mae=60, mfe=mfe, closed_at=closed_at)

    cells = (await read_exits(client, **IN_MONEY, targets="50"))["cells"]
    of_four_days = await read_exits(client, **IN_MONEY, to="2026-01-04")
    halves = (await read_exits(client, **IN_MONEY))["halves"]

    both, stop, target = (cell["difference"] for cell in cells)
    assert [one["verdict"] for one in (both, stop, target)] == ["better", "better", "too_few"]
    assert stop["interval"]["low"] > 50
    assert stop["p"] <= stop["q"] < 1e-6
    assert target["p"] is None
    assert of_four_days["cells"][0]["difference"]["verdict"] == "too_few"
    assert (halves["stop"], halves["target"]) == (50, None)
    assert halves["first"]["low"] > 50 < halves["second"]["low"]


async def test_an_empty_journal_has_every_cell_and_no_means(client: Client) -> None:
    found = await read_exits(client)

    assert len(found["cells"]) == 9 * 11 - 1
    assert found["as_it_was"] == {"expectancy": None, "net_pnl": 0, "win_rate": None}
    assert {cell["difference"]["verdict"] for cell in found["cells"]} == {"too_few"}
    assert {cell["expectancy"] for cell in found["cells"]} == {None}


async def test_money_in_two_currencies_is_refused_and_r_is_not(app: Starlette, client: Client, account_id: int) -> None:
    euros = int((await create_account(client, "Euros", currency="EUR"))["id"])
    for account in (account_id, euros):
        await insert_trade(app, account, gross_pnl=5, mae=1, mfe=1, initial_risk=1)

    refused = await client.get("/exits", params=IN_MONEY)

    assert details_of(refused)["fields"] == {"unit": "the trades are in EUR and USD: choose accounts of one, or unit=r"}
    assert (await read_exits(client))["decisions"] == 2
    assert (await read_exits(client, **IN_MONEY, account_id=euros))["decisions"] == 1


def walk(source: np.random.Generator, trades: int, a_day: int, alike: float) -> list[tuple[Any, ...]]:
    """The rows of trades whose price goes up or down by an eighth of R, as likely: no exit pays.

    They are left at -1 R, at 3 R or by chance. On a day a share of the steps is the same for all.
    """
    rows = []
    for number in range(trades):
        if number % a_day == 0:
            of_day = source.random(400) < 0.5
        ups = np.where(source.random(400) < alike, of_day, source.random(400) < 0.5)
        path = np.cumsum(np.where(ups, 1, -1))
        (ends,) = np.nonzero((path <= -8) | (path >= 24))
        path = path[: min([source.geometric(0.01), *ends[:1] + 1])]
        day = str(date(2020, 1, 1) + timedelta(days=number // a_day))
        levels = (path[-1], max(0, -path.min()), max(0, path.max()))
        rows.append((number + 1, *[day] * 3, *(int(one) * 10**8 for one in levels)))
    return rows


@pytest.mark.soak
@pytest.mark.parametrize(("trades", "a_day", "alike"), [(60, 2, 0.0), (200, 5, 0.5), (400, 10, 0.3)])
async def test_exits_of_a_walk_have_a_verdict_in_one_of_twenty_journals_at_most(
    app: Starlette, client: Client, account_id: int, trades: int, a_day: int, alike: float
) -> None:
    source = np.random.default_rng(7)
    journals = cells = found = 0
    for _ in range(JOURNALS):
        rows = walk(source, trades, a_day, alike)

        async def write(db: Connection, rows: Any = rows) -> None:
            await db.execute_fetchall("DELETE FROM trades")
            await db.executemany(TRADE, rows)

        await app.state.database.write(write)
        verdicts = [cell["difference"]["verdict"] for cell in (await read_exits(client))["cells"]]
        wrong = [one for one in verdicts if one in ("better", "worse")]
        journals += bool(wrong)
        found += len(wrong)
        cells += len(verdicts) - verdicts.count("too_few")
    assert found <= 0.05 * cells
    assert journals <= examples(full=15, ci=3)

"""GET /reports with two keys (docs/api.md#two-keys)."""

from typing import Any

from factories import Client, details_of, insert_trade, read_report, run_sql
from starlette.applications import Starlette

# 2,001 symbols, each with a trade.
SYMBOLS = """
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2001)
    INSERT INTO trades (user_id, account_id, symbol, contract, root, direction, quantity, entry_price,
        opened_at, closed_at, trading_day, gross_pnl, fees, created_at, updated_at)
    SELECT 1, 1, n, n, n, 'long', 1, 1,
        '2026-01-05T10:00:00.000000Z', '2026-01-05T10:00:00.000000Z', '2026-01-05', 1, 0, '', ''
    FROM numbers"""


def at(day: int, hour: int = 15) -> dict[str, Any]:
    """January 2026; the fifth is a Monday."""
    return {"opened_at": f"2026-01-{day:02}T{hour:02}:00:00Z", "closed_at": f"2026-01-{day:02}T{hour:02}:30:00Z"}


async def test_a_pair_has_both_keys_and_is_compared_with_all_other_trades(
    app: Starlette, client: Client, account_id: int
) -> None:
    """Mondays and Tuesdays at nine and at three; Mondays at nine lose."""
    for week in range(4):
        for number in range(12):
            day, hour = 5 + 7 * week + number % 2, (9, 15)[number % 4 > 1]
            pnl = number - (200 if number % 4 == 0 else 0)
            await insert_trade(app, account_id, gross_pnl=pnl, **at(day, hour))
    await insert_trade(app, account_id, gross_pnl=5, **at(7, 9))

    report = await read_report(client, "weekday,hour")

    assert report["group_by"] == ["weekday", "hour"]
    first, *_ = groups = report["groups"]
    assert [group["keys"] for group in groups] == [[1, 9], [1, 15], [2, 9], [2, 15], [3, 9]]
    assert (first["names"], first["values"]["net_pnl"]) == (["Monday", "09:00"], 4 * (0 + 4 + 8 - 600))
    assert not {"key", "name"} & first.keys()
    # 4 days are too few for a verdict, and so are fewer than ten trades.
    assert [group["edge"]["reason"] for group in groups] == ["too_few_days"] * 4 + ["too_few"]
    assert (first["edge"]["present"], first["edge"]["absent"]) == (12, 37)


async def test_more_than_2000_pairs_are_refused_with_their_number(
    app: Starlette, client: Client, account_id: int
) -> None:
    await run_sql(app, SYMBOLS)

    response = await client.get("/reports", params={"group_by": "symbol,hour"})
    fewer = await read_report(client, "symbol,hour", symbol="7")

    assert details_of(response)["fields"]["group_by"].startswith("gives 2001 groups, more than 2000")
    assert [group["keys"] for group in fewer["groups"]] == [["7", 10]]

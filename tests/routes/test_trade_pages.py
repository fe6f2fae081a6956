"""GET /trades and its export: every filter, page and total is what plain Python selects from the list of all trades."""

import csv
import io
from collections.abc import Callable
from operator import itemgetter
from random import Random
from typing import Any

import factories
import pytest
from factories import Client, details_of, run_sql, unwrap
from proofs import examples
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.statistics.row_checks import WRONG_COUNTS

Trade = dict[str, Any]
TRADES = 90
HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,external_id\n"
ROW = "NQ,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z,row {}\n"
SETUPS: list[dict[str, Any]] = [{"name": name, "confirmations": []} for name in ("Break", "Fade", "Unused")]
# What is no more than this is a break-even.
WITHIN = 5
# Each filter with its values, some of which no trade has, and the trades that it selects.
FILTERS: dict[str, tuple[list[Any], Callable[[Trade, Any], bool]]] = {
    "account_id": ([1, 2, 3, 9], lambda trade, value: trade["account_id"] == value),
    "copy_group_id": ([1, 2, 9], lambda trade, value: value == 1 and trade["account_id"] in (2, 3)),
    "strategy_id": ([1, 9], lambda trade, value: trade["strategy_id"] == value),
    "setup_id": ([1, 2, 3], lambda trade, value: trade["setup_id"] == value),
    "tag_id": ([1, 2, 3], lambda trade, value: value in trade["tag_ids"]),
    "import_id": ([1, 2], lambda trade, value: value == 1 and "row" in (trade["external_id"] or "")),
    "symbol": (
        ["ES", "MNQZ26", "MNQZ6", "ZB"],
        lambda trade, value: trade["contract"] == value.replace("MNQZ6", "MNQZ26"),
    ),
    "root": (["ES", "MNQ", "ZB"], lambda trade, value: trade["root"] == value),
    "direction": (["long", "short"], lambda trade, value: trade["direction"] == value),
    "grade": (["A+", "F"], lambda trade, value: trade["grade"] == value),
    "ids": (["3,7,7,90,999", "41", f"{2**63}"], lambda trade, value: str(trade["id"]) in value.split(",")),
    "from": (["2026-01-03", "2026-02-01"], lambda trade, value: (trade["trading_day"] or "") >= value),
    "to": (["2026-01-04", "9999-12-31"], lambda trade, value: (trade["trading_day"] or "~") <= value),
    "outcome": (["win", "loss", "breakeven", "open"], lambda trade, value: outcome_of(trade) == value),
    "copies": (["false", "true"], lambda trade, value: value == "true" or not trade["source_trade_id"]),
    "fees_source": (["none", "typed", "file"], lambda trade, value: trade["fees_source"] == value),
    "source_trade_id": ([1, 2, 999], lambda trade, value: trade["source_trade_id"] == value),
}


def outcome_of(trade: Trade) -> str:
    net = trade["net_pnl"]
    return "open" if net is None else "win" if net > WITHIN else "loss" if net < -WITHIN else "breakeven"


def draw_trade(random: Random) -> Trade:
    """Few moments make ties; a trade of the first days may be open, or closed a month later."""
    opened_at = f"2026-01-0{random.randint(1, 5)}T{random.choice(['00', '12', '23'])}:59:00Z"
    closed_at = random.choice([opened_at, opened_at, opened_at, opened_at.replace("-01-", "-02-"), None])
    return {
        **factories.A_TRADE,
        "account_id": random.choice([1, 1, 1, 2]),
        "symbol": random.choice(["ES", "ES", "MNQZ26", "MNQH27"]),
        "direction": random.choice(["long", "long", "short"]),
        "opened_at": opened_at,
        "closed_at": closed_at,
        **({"gross_pnl": random.choice([10, 6, 5, 0, -5])} if closed_at else {"exit_price": None}),
        **random.choice([{"fees": 0}, {"fees": 1}, {}]),
        "grade": random.choice([None, "A+"]),
        "setup_id": random.choice([None, None, 1, 2]),
        "tag_ids": random.choice([[], [], [1], [1, 2]]),
    }


async def create_journal(client: Client, random: Random) -> list[Trade]:
    """The trades of a new journal, some of which were changed and deleted."""
    for name in ("Main", "Second", "Third"):
        await factories.create_account(client, name)
    for number in (1, 2):
        group = unwrap(await client.post("/copy-groups", json={"name": f"Group {number}"}))
        members = [{"account_id": one} for one in (2, 3) if number == 1]
        unwrap(await client.put(f"/copy-groups/{group['id']}/members", json={"members": members}))
    for name in ("FOMO", "Late", "Unused"):
        await factories.create_tag(client, name)
    await factories.create_strategy(client, setups=SETUPS)
    trades = [draw_trade(random) for _ in range(TRADES)]
    made = unwrap(await client.post("/trades/bulk", json={"trades": trades}))
    for number, trade in enumerate(made[2:22]):
        copied = {"source_trade_id": made[number % 2]["id"]}
        unwrap(await client.patch(f"/trades/{trade['id']}", json=copied))
    unwrap(await client.patch("/me", json={"breakeven_within": WITHIN}))
    await factories.create_import(client, HEADER + "".join(map(ROW.format, range(5))), account_id=1)
    for trade in random.sample(made, 20):
        drawn = draw_trade(random)
        unwrap(await client.patch(f"/trades/{trade['id']}", json=drawn))
    for trade in random.sample(made, 5):
        await client.delete(f"/trades/{trade['id']}")
    return list(unwrap(await client.get("/trades?limit=200")))


@pytest.mark.soak
@for_rows("seed", range(examples(full=10, ci=1)))
async def test_a_page_and_its_total_are_those_of_the_matching_trades(
    app: Starlette, client: Client, other_user_client: Client, seed: int
) -> None:
    random = Random(seed)
    unwrap(await other_user_client.patch("/me", json={"breakeven_within": 100}))
    everything = await create_journal(client, random)
    found = set()

    for number in range(examples(full=150, ci=120)):
        names = random.sample(sorted(FILTERS), random.choice([0, 1, 1, 2, 3])) if number else []
        query = {name: random.choice(FILTERS[name][0]) for name in names}
        if query.get("from", "") > query.get("to", "~"):
            continue
        matching = [trade for trade in everything if all(FILTERS[name][1](trade, query[name]) for name in query)]
        limit, offset = random.choice([1, 7, 200]), random.randint(0, len(matching) + 1)

        response = await client.get("/trades", params={**query, "limit": limit, "offset": offset})

        limit = max(limit, len(query.get("ids", "").split(",")))

        assert unwrap(response) == matching[offset : offset + limit], (query, limit, offset)
        total = response.json()["meta"]["pagination"]["total"]
        assert total == len(matching), query
        if "ids" not in query:
            export = csv.DictReader(io.StringIO((await client.get("/trades/export", params=query)).text))
            expected = [trade["opened_at"] for trade in sorted(matching, key=itemgetter("id"))]
            assert [row["opened_at"] for row in export] == expected, query
        found.add(total)
        assert unwrap(await other_user_client.get("/trades", params=query)) == []
    assert len(found) > 20
    order = [(trade["opened_at"], trade["id"]) for trade in everything]
    assert (len(order), order) == (TRADES, sorted(order, reverse=True))
    assert len(await run_sql(app, "SELECT * FROM trade_counts WHERE trades < 1")) == 0
    assert await run_sql(app, WRONG_COUNTS) == []


@for_rows("ids", ["", "7,", "7;8", "0", "-1", "x", ",".join(["7"] * 201)])
async def test_what_is_no_list_of_up_to_200_ids_is_refused(client: Client, ids: str) -> None:
    response = await client.get("/trades", params={"ids": ids})

    assert details_of(response) == {"fields": {"ids": "must be 1 to 200 ids, separated by commas"}}


async def test_trades_by_their_ids_are_all_on_one_page(client: Client, account_id: int) -> None:
    trades = [{**factories.A_TRADE, "account_id": account_id}] * 200
    made = unwrap(await client.post("/trades/bulk", json={"trades": trades}))
    ids = [trade["id"] for trade in made]

    response = await client.get("/trades", params={"ids": ",".join(map(str, ids)), "limit": 7})

    assert sorted(trade["id"] for trade in unwrap(response)) == ids
    assert response.json()["meta"]["pagination"] == {"limit": 200, "offset": 0, "total": 200}

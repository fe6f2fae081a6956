"""GET /trades/export: what goes out comes back in, and every answer is the same."""

import csv
import io
from typing import Any

import factories
import httpx
import pytest
from factories import Client, export, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

METRICS = ("net_pnl", "win_rate", "rr_realized_avg", "protocol_completion_rate", "mistake_free_rate", "trade_count")
# What a trade is called, when it was written, and whether it was merged, is all that may differ.
OWN = ("id", "created_at", "updated_at", "merged_ids", "typed")


def read_rows(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file, newline=""), strict=True))


async def wipe(client: Client) -> None:
    while trades := unwrap(await client.get("/trades")):
        for trade in trades:
            assert (await client.delete(f"/trades/{trade['id']}")).status_code == 204


async def read_record(client: Client) -> list[Any]:
    """Every trade in its single form, an original named by its place in the list."""
    listed = unwrap(await client.get("/trades", params={"limit": 200}))
    places = {trade["id"]: place for place, trade in enumerate(listed)} | {None: None}
    trades = [unwrap(await client.get(f"/trades/{trade['id']}")) for trade in listed]
    return [
        {name: value for name, value in trade.items() if name not in OWN}
        | {"source_trade_id": places[trade["source_trade_id"]]}
        for trade in trades
    ]


async def read_histories(client: Client) -> dict[int, Any]:
    return {goal["id"]: await factories.history_of(client, goal) for goal in unwrap(await client.get("/goals"))}


@pytest.fixture
async def journal(client: Client) -> Client:
    """A journal in which everything that a trade can have is had by one."""
    one, two = await factories.create_account(client, "One, two; three"), await factories.create_account(client, "Two")
    group = await factories.create_copy_group(client, "Both", [one["id"], two["id"]])
    category_id = (await factories.create_category(client))["id"]
    tags = [
        await factories.create_tag(client, name, category_id=category_id, type=kind)
        for name, kind in (("FOMO", "mistake"), ("a;b", "custom"), ("[c]", "custom"), ('"d"', "custom"))
    ]
    checklist = [{"name": "Volume"}, {"name": 'Trend "up", no?'}]
    strategy = await factories.create_strategy(
        client, setups=[{"name": "Flag", "confirmations": checklist}, {"name": "Pole"}]
    )
    flag, pole = strategy["setups"]

    answers = [
        {"confirmation_id": confirmation["confirmation_id"], "was_present": present, "notes": notes}
        for confirmation, present, notes in zip(
            flag["confirmations"], (True, False), ('it was "there";\n, really', None), strict=True
        )
    ]
    asked = {"setup_id": flag["setup_id"], "confirmations": answers, "tag_ids": [tag["id"] for tag in tags]}
    first = await factories.create_trade(client, one["id"], **asked, grade="A+", stop_loss=99.5, fees=0.3)
    await factories.create_trade(client, two["id"], source_trade_id=first["id"], fees=0.1)
    noted = {"external_id": "=1+1", "notes": "  kept \r\n\tas is ", "tag_ids": [tags[0]["id"]]}
    await factories.create_trade(client, one["id"], strategy_id=strategy["id"], **noted)
    await factories.create_trade(
        client, one["id"], setup_id=pole["setup_id"], symbol='ES, "mini"', gross_pnl=-0.1, fees=-0.2
    )
    times = {"opened_at": "2026-01-06T14:00:00.000001Z", "closed_at": "2026-01-06T15:00:00.5Z"}
    moved = await factories.create_trade(client, two["id"], **times, stop_loss=98)
    await client.patch(f"/trades/{moved['id']}", json={"stop_loss": 99.99, "fees": 0.00000001})
    no_risk = await factories.create_trade(client, two["id"], direction="short", stop_loss=101)
    await client.patch(f"/trades/{no_risk['id']}", json={"initial_risk": None})
    await factories.create_trade(
        client, two["id"], quantity=123456.789, multiplier=1.00000001, entry_price=0.1, exit_price=1234.56789
    )
    await factories.create_trade(client, one["id"], closed_at=None, exit_price=None, symbol="NQ")
    early = await factories.create_trade(client, one["id"], quantity=3, mae=0, mfe=1.5)
    late = await factories.create_trade(client, two["id"], quantity=7)
    await client.patch(f"/trades/{early['id']}", json={"source_trade_id": late["id"]})
    for _ in range(2):
        await factories.create_trade(client, one["id"], exit_price=99)
    parts = [
        await factories.create_trade(client, one["id"], symbol="MNQ", exit_price=None, gross_pnl=result)
        for result in (7, 9)
    ]
    merged = await client.post("/trades/merge", json={"ids": [part["id"] for part in parts]})
    assert merged.status_code == 200
    for metric in METRICS:
        await factories.create_goal(client, metric=metric, target_value=1, timeframe="daily", copy_group_id=group["id"])
        await factories.create_goal(client, metric=metric, target_value=1, timeframe="monthly", account_id=one["id"])
    return client


async def test_an_export_ends_when_its_client_leaves(app: Starlette, client: Client) -> None:
    await factories.create_trade(client)
    sent: list[Message] = []

    async def without_client(scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_end() -> Message:
            return {"type": "http.disconnect"}

        async def note(message: Message) -> None:
            sent.append(message)

        await app(scope, receive_end, note)
        await PlainTextResponse("ended")(scope, receive, send)

    headers = {"Authorization": client.headers["Authorization"]}
    transport = httpx.ASGITransport(without_client)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as gone:
        answer = await gone.get("/v1/trades/export")

    assert answer.text == "ended"
    assert sent == []
    assert (await client.get("/trades/export")).status_code == 200


async def test_export_wipe_and_import_give_the_same_responses_and_the_same_export(journal: Client) -> None:
    trades, history = await read_record(journal), await read_histories(journal)
    file = await export(journal)
    beside = unwrap(await factories.send_file(journal, file))
    after = await read_record(journal)

    await wipe(journal)
    report = unwrap(await factories.send_file(journal, file))

    assert beside["counts"] == {"new": 0, "duplicate": len(trades), "updated": 0, "error": 0}
    assert report["counts"] == {"new": len(trades), "duplicate": 0, "updated": 0, "error": 0}
    assert await read_record(journal) == trades
    assert after == trades
    assert await read_histories(journal) == history
    assert len({str(snapshots) for snapshots in history.values()}) > len(METRICS)
    exports = [read_rows(file), read_rows(await export(journal))]
    own = ("row", "copy_of")  # the ids of trades
    assert [bool(row["copy_of"]) for row in exports[0]] == [bool(row["copy_of"]) for row in exports[1]]
    first, second = ([{**row, **dict.fromkeys(own)} for row in rows] for rows in exports)
    assert first == second


async def test_namesakes_among_setups_and_confirmations_come_back_with_their_answers(client: Client) -> None:
    asked = [{"name": "Volume"}, {"name": "Volume"}]
    setups = [{"name": "Break"}, {"name": "Break", "confirmations": asked}]
    strategy = await factories.create_strategy(client, setups=setups)
    second = strategy["setups"][1]
    trade = await factories.create_trade(client, setup_id=second["setup_id"])
    answers = [
        {"confirmation_id": one["confirmation_id"], "was_present": place == 0, "notes": f"{place}"}
        for place, one in enumerate(second["confirmations"])
    ]
    await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": answers})
    before = unwrap(await client.get(f"/trades/{trade['id']}"))
    export = (await client.get("/trades/export")).content
    await client.delete(f"/trades/{trade['id']}")

    await factories.create_import(client, export, account_id=trade["account_id"])
    unanswered = factories.build_file({"strategy": "Breakout", "setup": "Break", "symbol": "NQ"})
    await factories.create_import(client, unanswered, account_id=trade["account_id"])

    back, first = await factories.list_trades(client)
    after = unwrap(await client.get(f"/trades/{back['id']}"))
    assert first["setup_id"] == strategy["setups"][0]["setup_id"]
    assert after["setup_id"] == before["setup_id"] == second["setup_id"]
    assert after["confirmations"] == before["confirmations"]


async def test_a_copy_that_is_exported_without_its_original_is_a_trade_of_its_own(journal: Client) -> None:
    accounts = {one["name"]: one["id"] for one in unwrap(await journal.get("/accounts"))}
    file = await export(journal, account_id=accounts["Two"])
    await wipe(journal)

    report = unwrap(await factories.send_file(journal, file, accounts["Two"]))

    assert report["counts"]["error"] == 0
    assert {row["copy_of"] for row in read_rows(file)} == {""}


async def test_an_export_is_longer_than_what_is_read_at_once(client: Client, account_id: int) -> None:
    for _ in range(2):
        many = [{"account_id": account_id, **factories.A_TRADE, "quantity": number} for number in range(1, 602)]
        await client.post("/trades/bulk", json={"trades": many})

    rows = read_rows(await export(client))

    assert [row["quantity"] for row in rows] == [str(number) for number in range(1, 602)] * 2


@for_rows("query", ["format=xlsx", "format=", "from=2026-02-01&to=2026-01-01", "account_id=x"])
async def test_a_query_that_is_not_valid_is_refused_before_anything_is_sent(client: Client, query: str) -> None:
    refused = await client.get(f"/trades/export?{query}")

    assert refused.status_code == 400


@for_rows(
    "parts",
    [
        [{"exit_price": None, "gross_pnl": 7}, {"exit_price": 99}],
        [{"exit_price": 99}, {"exit_price": None, "gross_pnl": -7}],
        [{"exit_price": None, "gross_pnl": 7}, {"exit_price": None, "closed_at": None}],
        [{"exit_price": None, "gross_pnl": 7, "direction": "short"}, {"entry_price": 98, "direction": "short"}],
    ],
)
async def test_a_merged_trade_with_an_exit_without_a_price_comes_back(
    client: Client, account_id: int, parts: list[dict[str, Any]]
) -> None:
    trades = [await factories.create_trade(client, account_id, **part) for part in parts]
    unwrap(await client.post("/trades/merge", json={"ids": [trade["id"] for trade in trades]}))
    record, file = await read_record(client), await export(client)
    await wipe(client)

    await factories.create_import(client, file, account_id=account_id)

    assert await read_record(client) == record
    assert await export(client) == file

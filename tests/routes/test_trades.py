"""Trades, alone and in bulk: docs/api.md#trading-record and #values."""

import asyncio
from typing import Any

import factories
from factories import Client, details_of, error_of, patch_trade, run_sql, unwrap
from saved_journals import for_rows
from starlette.applications import Starlette

INVALID = (400, "validation_error")
CONFLICT = (409, "conflict")
OPEN: dict[str, Any] = {"closed_at": None, "exit_price": None}
A_FILL = {"quantity": 1, "fees": 0, "external_id": None}
# What the list of trades leaves out.
ONLY_ALONE = ("tags", "confirmations", "fills", "merged_ids", "pictures", "typed")
# Whatever follows from the result of a closed trade.
RESULTS = ("exit_price", "gross_pnl", "net_pnl", "rr_realized", "trading_day")


async def list_ids(client: Client, **query: Any) -> list[int]:
    """The ids of the trades that match, in their order."""
    return [trade["id"] for trade in unwrap(await client.get("/trades", params=query))]


def select(trade: Any, expected: dict[str, Any]) -> dict[str, Any]:
    return {name: trade[name] for name in expected}


# Create and PATCH ----------------------------------------------------------------------------------------


async def test_a_trade_is_created_with_a_location_the_defaults_and_what_follows(
    client: Client, account_id: int
) -> None:
    created = await client.post("/trades", json={"account_id": account_id, **factories.A_TRADE})

    assert created.status_code == 201
    trade = created.json()["data"]["trade"]
    assert created.headers["location"] == f"/v1/trades/{trade['id']}"
    derived = {"multiplier": 1, "trading_day": factories.A_DAY, "gross_pnl": 1, "fees": 0, "net_pnl": 1}
    assert trade == {
        **{name: trade[name] for name in ("id", "created_at", "opened_at", "closed_at")},
        **{name: value for name, value in factories.A_TRADE.items() if not name.endswith("_at")},
        **dict.fromkeys(("stop_loss", "initial_risk", "rr_realized", "mae", "mfe", "grade", "strategy_id", "setup_id")),
        **dict.fromkeys(("source_trade_id", "external_id", "notes", "typed")),
        **{name: [] for name in ("tag_ids", "tags", "confirmations", "merged_ids", "pictures")},
        **derived,
        "account_id": account_id,
        "updated_at": trade["created_at"],
        "contract": "ES",
        "root": "ES",
        "fees_source": "none",
        "fill_count": 2,
        "fills": [
            {**A_FILL, "id": 1, "side": "buy", "price": 100, "at": trade["opened_at"]},
            {**A_FILL, "id": 2, "side": "sell", "price": 101, "at": trade["closed_at"]},
        ],
    }


async def test_a_trade_is_read_and_listed_as_it_was_created(client: Client) -> None:
    strategy = await factories.create_strategy(client, setups=[{"name": "Flag"}])
    setup_id = strategy["setups"][0]["setup_id"]
    sent: dict[str, Any] = {"quantity": 2.5, "multiplier": 50, "stop_loss": 103, "fees": 4.2}
    sent |= {"direction": "short", "grade": "A+", "notes": "Late entry", "external_id": "T-1"}
    sent |= {"strategy_id": strategy["id"], "setup_id": setup_id, "mae": 12.5, "mfe": 0}

    trade = await factories.create_trade(client, **sent, symbol=" Zu\u0308rich ")

    expected = {**sent, "symbol": "Z\u00fcrich"}
    assert select(trade, expected) == expected
    assert await factories.get_trade(client, trade) == trade
    in_list = {name: value for name, value in trade.items() if name not in ONLY_ALONE}
    assert unwrap(await client.get("/trades", params={"symbol": "Z\u00fcrich"})) == [in_list]


CREATED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"entry_price": 101.5, "exit_price": 100}, {"gross_pnl": -1.5}),
    ({"direction": "short", "entry_price": 101.5, "exit_price": 100}, {"gross_pnl": 1.5}),
    ({"quantity": 3, "multiplier": 50, "entry_price": 5000.25, "exit_price": 5001}, {"gross_pnl": 112.5}),
    ({"quantity": 0.1, "entry_price": 0.1, "exit_price": 0.3}, {"gross_pnl": 0.02}),
    ({"entry_price": 10, "exit_price": -37.63}, {"gross_pnl": -47.63}),
    ({"gross_pnl": None, "exit_price": 100}, {"gross_pnl": 0}),
    ({"gross_pnl": -7.5, "exit_price": 150, "fees": 0.5}, {"gross_pnl": -7.5, "net_pnl": -8}),
    ({"gross_pnl": 0, "exit_price": 150, "fees": 0.5}, {"gross_pnl": 0, "net_pnl": -0.5}),
    ({"gross_pnl": -12.25, "exit_price": None}, {"gross_pnl": -12.25, "exit_price": None}),
    ({"stop_loss": 98, "quantity": 3, "multiplier": 50}, {"initial_risk": 300}),
    ({"stop_loss": 101.5, "direction": "short"}, {"initial_risk": 1.5}),
    ({"stop_loss": 98, "initial_risk": 7}, {"initial_risk": 7}),
    ({"stop_loss": 98, "initial_risk": None}, {"initial_risk": 2}),
    ({"stop_loss": 98, **OPEN}, {"initial_risk": 2}),
    ({"initial_risk": 7}, {"initial_risk": 7}),
    ({"stop_loss": 100}, {"initial_risk": None}),
    ({"stop_loss": 102}, {"initial_risk": None}),
    ({"stop_loss": 98, "direction": "short"}, {"initial_risk": None}),
    ({"initial_risk": 2, "gross_pnl": 5, "fees": 1}, {"rr_realized": 2}),
    ({"initial_risk": 3, "gross_pnl": -2}, {"rr_realized": -0.66666667}),
    ({"initial_risk": 4, "gross_pnl": 0}, {"rr_realized": 0}),
    ({"gross_pnl": 5}, {"rr_realized": None}),
    ({"initial_risk": 2, "fees": 1.5, **OPEN}, {**dict.fromkeys(RESULTS), "fees": 1.5}),
]


@for_rows("fields, expected", CREATED)
async def test_result_risk_and_ratio_follow_from_what_is_sent(
    client: Client, fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    trade = await factories.create_trade(client, **fields)

    assert select(trade, expected) == expected


DAY = "2026-02-03T10:00:00Z"
PATCHED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "another exit": ({"fees": 0.25}, {"exit_price": 98}, {"gross_pnl": -2, "net_pnl": -2.25}),
    "another entry": ({}, {"entry_price": 90}, {"gross_pnl": 11}),
    "another quantity": ({}, {"quantity": 4}, {"gross_pnl": 4}),
    "another multiplier": ({}, {"multiplier": 2.5}, {"gross_pnl": 2.5}),
    "another direction": ({}, {"direction": "short"}, {"gross_pnl": -1}),
    "another close": ({}, {"closed_at": "2026-03-01T00:00:00Z"}, {"gross_pnl": 1, "trading_day": "2026-03-01"}),
    "an exit beside a stated result": ({"gross_pnl": 33}, {"exit_price": 98}, {"gross_pnl": 33}),
    "a result with an exit": ({}, {"exit_price": 120, "gross_pnl": 19}, {"gross_pnl": 19}),
    "no result": ({"gross_pnl": 33}, {"gross_pnl": None}, {"gross_pnl": 1}),
    "a nearer stop": ({"stop_loss": 98}, {"stop_loss": 99.5}, {"initial_risk": 2}),
    "no stop": ({"stop_loss": 98}, {"stop_loss": None}, {"initial_risk": 2}),
    "a stop set later": ({}, {"stop_loss": 98}, {"initial_risk": None}),
    "a stop set earlier": ({"stop_loss": 98, "initial_risk": 2}, {"notes": "x"}, {"initial_risk": 2}),
    "a risk": ({"stop_loss": 98}, {"initial_risk": 5.5}, {"initial_risk": 5.5}),
    "no risk": ({"stop_loss": 98}, {"initial_risk": None}, {"initial_risk": None}),
    "an excursion": ({"mae": 5, "mfe": 7}, {"mae": 0}, {"mae": 0, "mfe": 7}),
    "no excursion": ({"mae": 5, "mfe": 7}, {"mfe": None}, {"mae": 5, "mfe": None}),
    "reopened with excursions": ({"mae": 5}, {"closed_at": None}, {"mae": 5}),
    "a far stop set later": (
        {"quantity": 10**9, "gross_pnl": 1, "exit_price": None},
        {"stop_loss": 1},
        {"initial_risk": None},
    ),
    "closed": (
        {"stop_loss": 98, **OPEN},
        {"closed_at": DAY, "exit_price": 105},
        {"gross_pnl": 5, "trading_day": "2026-02-03", "rr_realized": 2.5},
    ),
    "reopened": ({"initial_risk": 1}, {"closed_at": None}, {**dict.fromkeys(RESULTS), "closed_at": None}),
    "reopened after a stated result": ({"gross_pnl": 42}, {"closed_at": None}, dict.fromkeys(RESULTS)),
}


@for_rows("fields, edit, expected", PATCHED.values())
async def test_a_patch_changes_what_follows_from_it(
    client: Client, fields: dict[str, Any], edit: dict[str, Any], expected: dict[str, Any]
) -> None:
    trade = await factories.create_trade(client, **fields)

    changed = await patch_trade(client, trade["id"], **edit)
    again = await patch_trade(client, trade["id"], notes="seen again")

    assert select(changed, expected) == expected
    assert select(again, expected) == expected


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any] | None, str]] = {
    "a close before the opening": ({"closed_at": "2026-01-05T13:59:59.999999Z"}, None, "closed_at"),
    "a closed trade without an exit": ({"exit_price": None}, None, "exit_price"),
    "an open trade with an exit": ({"closed_at": None}, None, "exit_price"),
    "an open trade with a result": ({**OPEN, "gross_pnl": 5}, None, "gross_pnl"),
    "a result that is too large": ({"quantity": 10**6, "exit_price": 10**6}, None, "gross_pnl"),
    "a year before 1970": ({"opened_at": "1970-01-01T00:00:00+14:00"}, None, "opened_at"),
    "a year after 2200": (
        {"opened_at": "2200-12-31T23:59:59-12:00", "closed_at": "2200-12-31T23:59:59-12:00"},
        None,
        "opened_at",
    ),
    "closing without an exit": (OPEN, {"closed_at": DAY}, "exit_price"),
    **{
        f"{name} of {amount}": ({name: amount}, None, name)
        for name in ("mae", "mfe")
        for amount in (-0.01, 10**10 + 1, 0.000000001, "5")
    },
    "one bad field": ({}, {"notes": "new", "quantity": 0}, "quantity"),
}


@for_rows("fields, edit, field", REFUSED.values())
async def test_a_trade_that_cannot_be_is_refused_with_the_field(
    client: Client, account_id: int, fields: dict[str, Any], edit: Any, field: str
) -> None:
    if edit is None:
        refused = await client.post("/trades", json={"account_id": account_id, **factories.A_TRADE, **fields})
        before = []
    else:
        before = [await factories.create_trade(client, account_id, **fields)]
        refused = await client.patch(f"/trades/{before[0]['id']}", json=edit)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == [field]
    assert await list_ids(client) == [trade["id"] for trade in before]
    for trade in before:
        assert await factories.get_trade(client, trade) == trade


CHANGES: list[tuple[str, object]] = [
    *(("symbol", "NQ"), ("quantity", 7.5), ("stop_loss", 99), ("fees", 2.25), ("gross_pnl", -8)),
    *(("opened_at", "2026-01-04T10:00:00.000000Z"), ("grade", "A+"), ("grade", None)),
    *(("external_id", "T-9"), ("external_id", None), ("notes", "Chased it"), ("notes", None)),
]


async def test_a_patch_changes_the_field_sent_and_what_follows_from_it_alone(client: Client) -> None:
    trade = await factories.create_trade(
        client, gross_pnl=5, grade="B", external_id="T-1", notes="Before", initial_risk=1, exit_price=None
    )
    for field, value in CHANGES:
        changed = await patch_trade(client, trade["id"], **{field: value})

        assert changed[field] == value
        follow = {field, "updated_at", "net_pnl", "rr_realized", "contract", "root", "fills", "fees_source"}
        assert {name for name in trade if changed[name] != trade[name]} <= follow
        assert changed["updated_at"] > trade["updated_at"]
        assert await factories.get_trade(client, trade) == changed
        trade = changed


async def test_a_patch_that_changes_nothing_leaves_updated_at(client: Client) -> None:
    trade = await factories.create_trade(client, notes="same", stop_loss=99, external_id="T-1")
    same: list[dict[str, Any]] = [{}, {"notes": "same", "quantity": 1, "fees": 0}, {"symbol": " ES "}]

    for fields in (*same, {"opened_at": "2026-01-05T15:00:00+01:00"}, {"gross_pnl": None}):
        assert await patch_trade(client, trade["id"], **fields) == trade


@for_rows(
    "fields",
    [
        {"quantity": 10**10, "entry_price": 1, "exit_price": 1000, "gross_pnl": 5},
        {"quantity": 10**10, "entry_price": 1000, "stop_loss": 1, "initial_risk": 5, "gross_pnl": 1},
    ],
)
async def test_amounts_sent_in_place_of_impossible_ones_stay_patchable(client: Client, fields: dict[str, Any]) -> None:
    trade = await factories.create_trade(client, **{"exit_price": None, **fields})

    assert await patch_trade(client, trade["id"]) == trade
    noted = await patch_trade(client, trade["id"], notes="Contract size was wrong")
    assert (noted["notes"], noted["gross_pnl"]) == ("Contract size was wrong", fields["gross_pnl"])


async def test_a_trade_moves_to_an_account_that_has_one_just_like_it(client: Client) -> None:
    trade = await factories.create_trade(client)
    twin = await factories.create_trade(client, (await factories.create_account(client, "Other"))["id"])
    goal = await factories.create_goal(client, account_id=twin["account_id"], **factories.YEAR)
    before = await factories.read_actual(client, goal)

    moved = await patch_trade(client, trade["id"], account_id=twin["account_id"])

    assert await list_ids(client, account_id=twin["account_id"]) == [twin["id"], moved["id"]]
    assert (before, await factories.read_actual(client, goal)) == (1, 2)


# Times and trading days ----------------------------------------------------------------------------------


async def test_a_time_without_an_offset_is_in_the_owners_zone(client: Client) -> None:
    await client.patch("/me", json={"timezone": "America/New_York"})

    trade = await factories.create_trade(client, opened_at="2026-01-05T15:38:40+02:00", closed_at="2026-01-05T15:38:40")

    assert trade["opened_at"] == "2026-01-05T13:38:40.000000Z"
    assert trade["closed_at"] == "2026-01-05T20:38:40.000000Z"


# Strategy and setup --------------------------------------------------------------------------------------


@for_rows(
    "fields, edit, expected",
    [
        ({"setup_id": "old setup"}, {}, ("old", "old setup")),
        ({}, {"setup_id": "old setup"}, ("old", "old setup")),
        ({"setup_id": "old setup"}, {"setup_id": "new setup"}, ("new", "new setup")),
        ({"setup_id": "old setup"}, {"strategy_id": "new"}, ("new", None)),
        ({"setup_id": "old setup"}, {"strategy_id": None}, (None, None)),
        ({"setup_id": "old setup"}, {"setup_id": None}, ("old", None)),
        ({"setup_id": "old setup"}, {"strategy_id": "old"}, ("old", "old setup")),
    ],
)
async def test_a_setup_brings_its_strategy_and_another_strategy_drops_the_setup(
    client: Client, fields: Any, edit: Any, expected: tuple[str | None, str | None]
) -> None:
    ids: dict[str | None, int | None] = {None: None}
    for name in ("old", "new"):
        strategy = await factories.create_strategy(client, name, setups=[{"name": "Flag"}])
        ids |= {name: strategy["id"], f"{name} setup": strategy["setups"][0]["setup_id"]}
    trade = await factories.create_trade(client, **{name: ids[value] for name, value in fields.items()})

    changed = await patch_trade(client, trade["id"], **{name: ids[value] for name, value in edit.items()})

    assert (changed["strategy_id"], changed["setup_id"]) == tuple(ids[name] for name in expected)


async def test_a_setup_of_another_strategy_is_refused_and_named(client: Client) -> None:
    mine, other = [await factories.create_strategy(client, name, setups=[{"name": "Flag"}]) for name in ("A", "B")]
    pair = {"strategy_id": mine["id"], "setup_id": other["setups"][0]["setup_id"]}
    trade = await factories.create_trade(client)

    on_post = await client.post("/trades", json={"account_id": trade["account_id"], **factories.A_TRADE, **pair})
    on_patch = await client.patch(f"/trades/{trade['id']}", json=pair)

    for refused in (on_post, on_patch):
        assert error_of(refused) == INVALID
        assert list(details_of(refused)["fields"]) == ["setup_id"]
    assert await factories.get_trade(client, trade) == trade


# Copies --------------------------------------------------------------------------------------------------


async def test_a_copy_of_a_copy_leads_to_the_original_which_is_no_copy_of_itself_or_of_them(client: Client) -> None:
    original = await factories.create_trade(client)
    account = original["account_id"]
    copy = await factories.create_trade(client, account, source_trade_id=original["id"])

    second = await factories.create_trade(client, account, source_trade_id=copy["id"])
    third = await factories.create_trade(client, account)
    third = await patch_trade(client, third["id"], source_trade_id=second["id"])
    alone = await factories.create_trade(client, account)
    refused = [
        await client.patch(f"/trades/{trade['id']}", json={"source_trade_id": source["id"]})
        for trade, source in ((original, copy), (original, alone), (alone, alone))
    ]

    assert [one["source_trade_id"] for one in (copy, second, third)] == [original["id"]] * 3
    assert [error_of(answer) for answer in refused] == [INVALID] * 3
    assert [list(details_of(answer)["fields"]) for answer in refused] == [["source_trade_id"]] * 3


async def test_copies_are_one_decision_also_without_their_original_and_their_money_is_summed(client: Client) -> None:
    count = await factories.create_goal(client, metric="trade_count", **factories.YEAR)
    money = await factories.create_goal(client, **factories.YEAR)
    original = await factories.create_trade(client)
    copies = [
        await factories.create_trade(client, original["account_id"], source_trade_id=original["id"]) for _ in range(3)
    ]

    actuals = [(await factories.read_actual(client, count), await factories.read_actual(client, money))]
    deleted = await client.delete(f"/trades/{original['id']}")
    actuals.append((await factories.read_actual(client, count), await factories.read_actual(client, money)))
    sources = [(await factories.get_trade(client, one))["source_trade_id"] for one in copies]
    await patch_trade(client, copies[2]["id"], source_trade_id=None)
    actuals.append((await factories.read_actual(client, count), await factories.read_actual(client, money)))

    assert deleted.status_code == 204
    assert sources == [None, copies[0]["id"], copies[0]["id"]]
    assert actuals == [(1, 4), (1, 3), (2, 3)]


# External ids --------------------------------------------------------------------------------------------


@for_rows(
    "has_own_account, external_id, edit",
    [(False, "T-2", {"external_id": "T-1", "notes": "new"}), (True, "T-1", {"account_id": 1})],
)
async def test_a_patch_to_a_taken_external_id_is_a_conflict_and_changes_nothing(
    client: Client, account_id: int, has_own_account: bool, external_id: str, edit: dict[str, Any]
) -> None:
    await factories.create_trade(client, account_id, external_id="T-1")
    trade = await factories.create_trade(client, None if has_own_account else account_id, external_id=external_id)

    refused = await client.patch(f"/trades/{trade['id']}", json=edit)

    assert error_of(refused) == CONFLICT
    assert await factories.get_trade(client, trade) == trade


async def test_an_external_id_is_free_again_after_a_delete_or_a_change(client: Client, account_id: int) -> None:
    deleted = await factories.create_trade(client, account_id, external_id="T-1")
    await client.delete(f"/trades/{deleted['id']}")

    for other in ("T-2", None):
        trade = await factories.create_trade(client, account_id, external_id="T-1")
        assert (await patch_trade(client, trade["id"], external_id=other))["external_id"] == other

    assert (await factories.create_trade(client, account_id, external_id="T-1"))["external_id"] == "T-1"


async def test_an_external_id_comes_once_in_a_file_however_many_rows_lie_between(
    client: Client, account_id: int
) -> None:
    ids = ["T-1", *(f"N-{number}" for number in range(1000)), "T-1"]
    rows = [{"external_id": one, "quantity": str(1 + place)} for place, one in enumerate(ids)]

    answer = await factories.send_file(client, factories.build_file(*rows), account_id)

    assert error_of(answer) == INVALID
    assert (details_of(answer)["line"], details_of(answer)["reason"]) == (1003, "external_id 'T-1' is repeated")


async def test_of_many_posts_of_one_external_id_at_once_one_is_written(client: Client, account_id: int) -> None:
    body = {"account_id": account_id, **factories.A_TRADE, "external_id": "T-1"}

    responses = await asyncio.gather(*(client.post("/trades", json=body) for _ in range(5)))

    assert sorted(response.status_code for response in responses) == [201, 409, 409, 409, 409]
    assert len(await list_ids(client)) == 1


# The list ------------------------------------------------------------------------------------------------


async def test_the_pages_of_the_list_join_into_the_whole_and_those_opened_at_once_come_by_id(
    client: Client, account_id: int
) -> None:
    ids = [(await factories.create_trade(client, account_id))["id"] for _ in range(4)]
    await factories.create_trade(client)

    pages = [
        await client.get("/trades", params={"account_id": account_id, "limit": 3, "offset": offset})
        for offset in (0, 3, 6)
    ]

    assert [trade["id"] for page in pages for trade in unwrap(page)] == ids[::-1]
    assert [page.json()["meta"]["pagination"] for page in pages] == [
        {"limit": 3, "offset": offset, "total": 4} for offset in (0, 3, 6)
    ]
    assert (await client.get("/trades")).json()["meta"]["pagination"]["limit"] == 50


# Delete --------------------------------------------------------------------------------------------------


async def test_a_deleted_trade_is_gone_everywhere(app: Starlette, client: Client) -> None:
    strategy = await factories.create_strategy(client, setups=[{"name": "Flag", "confirmations": [{"name": "Volume"}]}])
    setup = strategy["setups"][0]
    goal = await factories.create_goal(client, **factories.YEAR)
    trade = await factories.create_trade(client, setup_id=setup["setup_id"])
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    tag = await factories.create_tag(client)
    unwrap(await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]}))
    unwrap(await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": [answer]}))
    before = await factories.read_actual(client, goal)

    deleted = await client.delete(f"/trades/{trade['id']}")

    assert deleted.status_code == 204
    assert error_of(await client.get(f"/trades/{trade['id']}")) == (404, "not_found")
    assert await list_ids(client) == []
    assert (before, await factories.read_actual(client, goal)) == (1, 0)
    rows = await run_sql(app, "SELECT trade_id FROM trade_tags UNION ALL SELECT trade_id FROM confirmation_answers")
    assert rows == []
    assert (await factories.get_strategy(client, strategy["id"]))["setups"] == [setup]


# In bulk -------------------------------------------------------------------------------------------------


async def test_many_trades_are_written_at_once_in_the_order_sent(client: Client, account_id: int) -> None:
    sent = [{"account_id": account_id, **factories.A_TRADE, "symbol": f"S{number}"} for number in range(1000)]

    created = await client.post("/trades/bulk", json={"trades": sent})

    assert created.status_code == 201
    assert [trade["symbol"] for trade in unwrap(created)] == [f"S{number}" for number in range(1000)]
    assert (await client.get("/trades")).json()["meta"]["pagination"]["total"] == 1000


async def test_every_error_is_told_by_its_index_and_nothing_is_written(client: Client) -> None:
    good = {"account_id": (await factories.create_account(client))["id"], **factories.A_TRADE}
    sent = [good, {**good, "quantity": 0}, good, {**good, "wins": 1}, {**good, "exit_price": None}]

    refused = await client.post("/trades/bulk", json={"trades": sent})

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {
        "fields": {
            "trades[1].quantity": "must be greater than 0",
            "trades[4].exit_price": "is required without gross_pnl",
        },
        "unknown_fields": ["trades[3].wins"],
    }
    assert await factories.list_trades(client) == []


async def test_what_points_elsewhere_is_told_by_its_index_too(client: Client) -> None:
    stored = await factories.create_trade(client, external_id="0")
    good = {"account_id": stored["account_id"], **factories.A_TRADE}
    ids = [{**good, "external_id": name} for name in ("1", "1", "0")]

    refused = await client.post("/trades/bulk", json={"trades": [*ids, {**good, "account_id": 99}]})

    assert details_of(refused) == {
        "fields": {
            "trades[1].external_id": "is taken",
            "trades[2].external_id": "is taken",
            "trades[3].account_id": "is not one of your accounts",
        }
    }
    assert len(await factories.list_trades(client)) == 1

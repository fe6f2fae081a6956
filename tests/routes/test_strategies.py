"""Strategies with setups and confirmations, created, read and deleted: docs/api.md#strategies."""

import re
from typing import Any

import factories
import httpx
import pytest
from factories import Client, details_of, error_of, list_names, run_sql, unwrap
from msgspec import structs
from saved_journals import for_rows
from starlette.applications import Starlette

FREE_FORM = ("risk_rules", "exit_rules", "optimal_conditions")
SCALARS: dict[str, Any] = {
    "name": "Breakout",
    "description": "Out of the range",
    "color_tag": "#AbCdEf",
    "risk_rules": {"max_loss": 100},
    "exit_rules": {"target": "2R"},
    "optimal_conditions": {"trend": "up"},
}
SETUPS: list[dict[str, Any]] = [
    {
        "name": "Flag",
        "description": "A pause",
        "confirmations": [{"name": "Volume", "description": "Above average"}, {"name": "Trend"}],
    },
    {"name": "Wedge"},
]
DEFAULTS: dict[str, Any] = {
    "description": None,
    "color_tag": "#1d4ed8",
    "account_id": None,
    "copy_group_id": None,
    **dict.fromkeys(FREE_FORM),
}


async def post_text(client: Client, text: str) -> httpx.Response:
    return await client.post("/strategies", content=text.encode(), headers={"Content-Type": "application/json"})


async def count_rows(app: Starlette, *tables: str) -> list[int]:
    return [(await run_sql(app, f"SELECT count(*) FROM {table}"))[0][0] for table in tables]


def orders_in(items: Any) -> list[tuple[str, int]]:
    return [(item["name"], item["sort_order"]) for item in items]


async def test_a_new_strategy_is_returned_whole_with_its_location(client: Client) -> None:
    await factories.create_strategy(client, "Another", setups=[{"name": "Not this"}])

    created = await client.post("/strategies", json={**SCALARS, "setups": SETUPS})

    strategy = unwrap(created)
    assert (created.status_code, created.headers["location"]) == (201, f"/v1/strategies/{strategy['id']}")
    setups, (flag, wedge) = strategy["setups"], strategy["setups"]
    volume, trend = flag["confirmations"]
    assert strategy == {
        **DEFAULTS,
        **SCALARS,
        "id": strategy["id"],
        "setup_count": 2,
        "setups": [
            {**SETUPS[0], "setup_id": flag["setup_id"], "sort_order": 0, "confirmations": [volume, trend]},
            {"setup_id": wedge["setup_id"], "name": "Wedge", "description": None, "sort_order": 1, "confirmations": []},
        ],
        "created_at": strategy["created_at"],
        "updated_at": strategy["created_at"],
    }
    assert [volume, trend] == [
        {"name": "Volume", "description": "Above average", "sort_order": 0} | id_of(volume),
        {"name": "Trend", "description": None, "sort_order": 1} | id_of(trend),
    ]
    assert await factories.get_strategy(client, strategy["id"]) == strategy
    assert unwrap(await client.get(f"/strategies/{strategy['id']}/setups")) == setups


def id_of(confirmation: Any) -> dict[str, int]:
    return {"confirmation_id": confirmation["confirmation_id"]}


async def test_the_list_has_the_scalars_and_the_number_of_setups(client: Client) -> None:
    made = [
        await factories.create_strategy(client, "A"),
        await factories.create_strategy(client, "B", setups=[{"name": str(number)} for number in range(3)]),
        await factories.create_strategy(client, **{**SCALARS, "name": "C"}, setups=SETUPS),
    ]

    listed = unwrap(await client.get("/strategies"))

    assert listed == [
        {name: value for name, value in one.items() if name not in (*FREE_FORM, "setups")} for one in made
    ]
    assert [one["setup_count"] for one in listed] == [0, 3, 2]
    assert unwrap(await client.get("/strategies?with=setups")) == made
    assert unwrap(await client.get("/strategies?with=setups&account_id=9")) == []


async def test_free_form_json_of_null_is_stored_as_null(app: Starlette, client: Client) -> None:
    strategy = await factories.create_strategy(client, risk_rules=None, exit_rules={"target": "2R"})
    await client.patch(f"/strategies/{strategy['id']}", json={"exit_rules": None})

    stored = await run_sql(app, "SELECT risk_rules, exit_rules, optimal_conditions FROM strategies")

    assert stored == [(None, None, None)]


async def test_the_filters_choose_by_account_and_by_copy_group(app: Starlette, client: Client) -> None:
    one, two = await factories.insert_account(app, "One"), await factories.insert_account(app, "Two")
    group = await factories.insert_copy_group(app, members=[one])
    scopes: dict[str, dict[str, Any]] = {
        "b": {"account_id": one},
        "a": {"account_id": one},
        "c": {"account_id": two},
        "d": {"copy_group_id": group, "account_id": None},
        "e": {},
    }
    for name, scope in scopes.items():
        made = await factories.create_strategy(client, name, **scope)
        assert (made["account_id"], made["copy_group_id"]) == (scope.get("account_id"), scope.get("copy_group_id"))

    assert await list_names(client, "/strategies", account_id=one) == ["a", "b"]
    assert await list_names(client, "/strategies", copy_group_id=group) == ["d"]
    assert await list_names(client, "/strategies", account_id=one, copy_group_id=group) == []


async def test_account_and_copy_group_exclude_each_other(app: Starlette, client: Client) -> None:
    both = {"account_id": await factories.insert_account(app), "copy_group_id": await factories.insert_copy_group(app)}

    refused = await client.post("/strategies", json={"name": "S", **both})

    assert error_of(refused) == (400, "validation_error")
    assert sorted(details_of(refused)["fields"]) == ["account_id", "copy_group_id"]
    assert await list_names(client, "/strategies") == []


@for_rows("text", ['"\\/\u2028<&', "5", "null", '{"a":1}', "x" * 255])
async def test_texts_are_kept_at_every_level_and_may_repeat(client: Client, text: str) -> None:
    described = {"name": text, "description": f" \r\n\t🚀'\\{text}" + "x" * 9_000}
    setups = [{**described, "confirmations": [described] * 2}] * 2

    strategy = await factories.create_strategy(client, **described, setups=setups)

    for item in (strategy, *strategy["setups"], *strategy["setups"][1]["confirmations"]):
        assert {"name": item["name"], "description": item["description"]} == described
    assert len({one["confirmation_id"] for setup in strategy["setups"] for one in setup["confirmations"]}) == 4


@for_rows(
    "sent, stored",
    [
        ([("x", None), ("y", 9), ("z", None)], [("x", 0), ("y", 1), ("z", 2)]),
        (
            [("c", 5), ("a", -(2**31)), ("b", 0), ("d", 2**31 - 1)],
            [("a", -(2**31)), ("b", 0), ("c", 5), ("d", 2**31 - 1)],
        ),
        ([("b", 1), ("d", 0), ("a", 1), ("c", 0)], [("d", 0), ("c", 1), ("b", 2), ("a", 3)]),
    ],
)
async def test_setups_and_confirmations_are_ordered(
    client: Client, sent: list[tuple[str, int | None]], stored: list[tuple[str, int]]
) -> None:
    items: list[dict[str, Any]] = [
        {"name": name} if order is None else {"name": name, "sort_order": order} for name, order in sent
    ]

    strategy = await factories.create_strategy(client, setups=[{**item, "confirmations": items} for item in items])

    assert orders_in(strategy["setups"]) == stored
    assert orders_in(strategy["setups"][0]["confirmations"]) == stored


OPENING = r"\"{"
VERBATIM = [
    "{}",
    '{"a":1.0,"b":1E5,"c":1e+5,"d":-0,"e":-0.0,"f":1e-7,"g":0.10}',
    '{"a":123456789012345678901234567890,"b":0.1234567890123456789012345}',
    '{"a":1e999,"b":-1E-999}',
    '{"z":1,"a":2,"m":{"y":1,"b":2}}',
    '{"a":1,"a":2,"a":{"b":1,"b":2}}',
    r'{"\u0061":"\u00e9\n\/\\\"\t\b\f\r \ud83d\ude80 \u0000"}',
    '{"é":"🚀\u2028\u2029\x7f\ufeff","":"","e\u0301":1}',
    '{"a":[],"b":[[],{}],"c":null,"d":true,"e":false,"f":" { [ ] } : , "}',
    '{"a":"\\\\","b":"\\\\\\"","c":"]}{["}',
    f'{{"a":"{OPENING * 100}","{"[" * 100}":1}}',
    f'{{"a":"{"x" * (64 * 1024 - 8)}"}}',
    '{"a":' * 31 + "{}" + "}" * 31,
    '{"a":' + "[" * 31 + "]" * 31 + "}",
]


@for_rows("sent", VERBATIM)
async def test_free_form_json_is_kept_token_by_token(client: Client, sent: str) -> None:
    members = ",".join(f'"{field}": {sent}' for field in FREE_FORM)
    created = await post_text(client, f'{{"name": "S", {members}}}')
    path = f"/strategies/{unwrap(created)['id']}"

    again = await client.patch(path, content=f"{{{members}}}".encode())
    await client.patch(path, json={"risk_rules": {"another": 1}})
    back = await client.patch(path, content=f'{{"risk_rules": {sent}, "name": "renamed"}}'.encode())

    assert unwrap(again)["updated_at"] == unwrap(created)["updated_at"]
    for response in (created, again, back, await client.get(path)):
        for field in FREE_FORM:
            assert f'"{field}":{sent}' in response.text


async def test_white_space_between_tokens_of_free_form_json_is_no_token(client: Client) -> None:
    spaced = '{ "a b" :\t[ 1.0 ,\r\n "x  y" , { } ] ,"c":null }'

    created = await post_text(client, f'{{"name": "S", "risk_rules":  {spaced} }}')

    kept = re.search(r'"risk_rules":(.*),"exit_rules"', created.text)
    tokens = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
    assert kept is not None
    assert tokens.findall(kept[1]) == tokens.findall(spaced)


@pytest.fixture
def limit(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the maximum number of strategies."""

    def set_limit(maximum: int) -> None:
        limited = structs.replace(app.state.settings, max_strategies=maximum)
        monkeypatch.setattr(app.state, "settings", limited)

    return set_limit


async def test_a_strategy_over_the_maximum_is_refused_with_the_numbers(
    app: Starlette, client: Client, other_user_client: Client, limit: Any
) -> None:
    limit(2)
    first, second = [await factories.create_strategy(client, name) for name in "AB"]

    refused = await client.post("/strategies", json={"name": "C", "setups": [{"name": "a"}]})

    assert error_of(refused) == (429, "limit_reached")
    assert details_of(refused) == {"limit": 2, "current": 2}
    assert "retry-after" not in refused.headers
    assert await list_names(client, "/strategies") == ["A", "B"]
    assert await count_rows(app, "setups") == [0]
    unwrap(await client.patch(f"/strategies/{first['id']}", json={"setups": [{"name": "a"}]}))
    await factories.create_strategy(other_user_client, "C")
    await client.delete(f"/strategies/{second['id']}")
    await factories.create_strategy(client, "C")


async def test_a_maximum_of_0_is_none(client: Client, limit: Any) -> None:
    limit(0)

    await factories.create_strategy(client)


async def test_a_foreign_account_is_named_before_a_taken_name_and_that_before_the_maximum(
    client: Client, limit: Any
) -> None:
    limit(1)
    await factories.create_strategy(client, "A")

    foreign = await client.post("/strategies", json={"name": "A", "account_id": 99})
    taken = await client.post("/strategies", json={"name": "A", "setups": SETUPS})

    assert error_of(foreign) == (400, "validation_error")
    assert error_of(taken) == (409, "duplicate_name")


async def test_delete_takes_setups_confirmations_and_answers_along_and_unlinks_the_trades(
    app: Starlette, client: Client
) -> None:
    gone, kept = [await factories.create_strategy(client, name, setups=SETUPS) for name in ("Gone", "Kept")]
    account = await factories.insert_account(app)
    for strategy in (gone, kept):
        flag = strategy["setups"][0]
        await factories.insert_trade(app, account, strategy_id=strategy["id"])
        trade = await factories.insert_trade(app, account, setup_id=flag["setup_id"], strategy_id=strategy["id"])
        for one in flag["confirmations"][: 2 if strategy is gone else 1]:
            await factories.insert_answer(app, trade, one["confirmation_id"], True, "clear")
    tables = ("strategies", "setups", "confirmations", "confirmation_answers", "trades")
    assert await count_rows(app, *tables) == [2, 4, 4, 3, 4]

    deleted = await client.delete(f"/strategies/{gone['id']}")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (deleted.headers["x-trades-unlinked"], deleted.headers["x-answers-deleted"]) == ("2", "2")
    assert await count_rows(app, *tables) == [1, 2, 2, 1, 4]
    links = [tuple(row) for row in await run_sql(app, "SELECT strategy_id, setup_id FROM trades ORDER BY id")]
    setup_id = kept["setups"][0]["setup_id"]
    assert links == [(None, None), (None, None), (kept["id"], None), (kept["id"], setup_id)]
    assert await factories.get_strategy(client, kept["id"]) == kept

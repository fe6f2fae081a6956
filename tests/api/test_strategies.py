"""Strategies with setups and confirmations, created, read and deleted: docs/api.md#strategies."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from conftest import client_of, new_key_for, started
from factories import (
    create_strategy,
    details_of,
    error_of,
    get_strategy,
    insert_account,
    insert_answer,
    insert_copy_group,
    insert_trade,
    insert_user,
    run_sql,
    unwrap,
)
from msgspec import structs
from starlette.applications import Starlette

from journal_api.app import create_app
from journal_api.settings import Settings

SCALARS = {
    "id",
    "name",
    "description",
    "color_tag",
    "account_id",
    "copy_group_id",
    "setup_count",
    "created_at",
    "updated_at",
}
FREE_FORM = ("risk_rules", "exit_rules", "optimal_conditions")
BREAKOUT: dict[str, Any] = {
    "name": "Breakout",
    "description": "Out of the range",
    "color_tag": "#00ff00",
    "risk_rules": {"max_loss": 100},
    "exit_rules": {"target": "2R"},
    "optimal_conditions": {"trend": "up"},
    "setups": [
        {
            "name": "Flag",
            "description": "A pause",
            "confirmations": [{"name": "Volume", "description": "Above average"}, {"name": "Trend"}],
        },
        {"name": "Wedge"},
    ],
}


@pytest.fixture
def other(other_user_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return other_user_client


@pytest.fixture
async def limited(settings: Settings) -> AsyncIterator[Starlette]:
    """A journal whose plan allows three strategies."""
    app = create_app(structs.replace(settings, max_strategies=3))
    async with started(app):
        yield app


async def post_text(client: httpx.AsyncClient, text: str) -> httpx.Response:
    return await client.post(
        "/strategies", content=text.encode(), headers={"Content-Type": "application/json"}
    )


def with_member(field: str, text: str) -> str:
    """The body of a strategy with that member, as text."""
    return f'{{"name": "S", "{field}": {text}}}'


async def count_of(app: Starlette, table: str) -> int:
    return int((await run_sql(app, f"SELECT count(*) FROM {table}"))[0][0])


def names_of(strategies: Any) -> list[str]:
    return [strategy["name"] for strategy in strategies]


# Forms -------------------------------------------------------------------------------------------------


async def test_a_created_strategy_is_answered_whole_with_its_location(client: httpx.AsyncClient) -> None:
    created = await client.post("/strategies", json=BREAKOUT)

    assert created.status_code == 201
    strategy = created.json()["data"]["strategy"]
    assert created.headers["location"] == f"/v1/strategies/{strategy['id']}"
    assert strategy == await get_strategy(client, strategy["id"])


async def test_the_single_form_has_the_scalars_the_free_form_fields_and_the_setups(
    client: httpx.AsyncClient,
) -> None:
    made = await create_strategy(client, **BREAKOUT)

    strategy = await get_strategy(client, made["id"])

    assert set(strategy) == SCALARS | set(FREE_FORM) | {"setups"}
    assert {field: strategy[field] for field in BREAKOUT if field != "setups"} == {
        field: value for field, value in BREAKOUT.items() if field != "setups"
    }
    assert strategy["setup_count"] == 2


async def test_the_list_form_has_the_scalars_and_setup_count_alone(client: httpx.AsyncClient) -> None:
    made = await create_strategy(client, **BREAKOUT)

    (item,) = unwrap(await client.get("/strategies"))

    assert item == {field: made[field] for field in SCALARS}
    assert item["setup_count"] == 2


async def test_setup_count_counts_the_setups_of_each_strategy(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "A")
    await create_strategy(client, "B", setups=[{"name": "1"}, {"name": "2"}, {"name": "3"}])
    await create_strategy(
        client, "C", setups=[{"name": "1", "confirmations": [{"name": "x"}, {"name": "y"}]}]
    )

    strategies = unwrap(await client.get("/strategies"))

    assert [item["setup_count"] for item in strategies] == [0, 3, 1]


async def test_nested_objects_carry_exactly_the_members_that_patch_takes(client: httpx.AsyncClient) -> None:
    made = await create_strategy(client, **BREAKOUT)

    flag, wedge = (await get_strategy(client, made["id"]))["setups"]

    volume, trend = flag["confirmations"]
    assert flag == {
        "setup_id": flag["setup_id"],
        "name": "Flag",
        "description": "A pause",
        "sort_order": 0,
        "confirmations": [volume, trend],
    }
    assert volume == {
        "confirmation_id": volume["confirmation_id"],
        "name": "Volume",
        "description": "Above average",
        "sort_order": 0,
    }
    assert (trend["name"], trend["description"], trend["sort_order"]) == ("Trend", None, 1)
    assert wedge["confirmations"] == []


async def test_the_setups_endpoint_answers_the_setups_of_the_single_form(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "Another", setups=[{"name": "Not this"}])
    made = await create_strategy(client, **BREAKOUT)

    response = await client.get(f"/strategies/{made['id']}/setups")

    assert response.status_code == 200
    assert response.json()["data"] == {"setups": made["setups"]}


async def test_a_strategy_without_setups_has_an_empty_array_of_them(client: httpx.AsyncClient) -> None:
    made = await create_strategy(client)

    setups = unwrap(await client.get(f"/strategies/{made['id']}/setups"))

    assert setups == []
    assert (made["setups"], made["setup_count"]) == ([], 0)


async def test_what_is_left_out_on_creation_gets_the_documented_default(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, "Bare")

    defaults = {field: strategy[field] for field in ("color_tag", "description", *FREE_FORM)}
    assert defaults == {"color_tag": "#1d4ed8", "description": None, **dict.fromkeys(FREE_FORM)}
    assert (strategy["account_id"], strategy["copy_group_id"]) == (None, None)


async def test_null_where_null_is_allowed_is_the_same_as_left_out(client: httpx.AsyncClient) -> None:
    nullable = ("description", "account_id", "copy_group_id", *FREE_FORM)
    bare = await create_strategy(client, "Bare")

    strategy = await create_strategy(client, "Nulls", **dict.fromkeys(nullable))

    assert {field: strategy[field] for field in nullable} == {field: bare[field] for field in nullable}


async def test_a_list_comes_by_name_without_its_case_then_by_id(client: httpx.AsyncClient) -> None:
    for name in ("beta", "Alpha", "BETA", "émile", "alpha", "Beta", "ÉMILE", "zulu"):
        await create_strategy(client, name)

    names = names_of(unwrap(await client.get("/strategies")))

    assert [name for name in names if name.isascii()] == ["Alpha", "alpha", "beta", "BETA", "Beta", "zulu"]
    assert [name for name in names if not name.isascii()] == ["émile", "ÉMILE"]


# Order of setups and confirmations ---------------------------------------------------------------------


async def test_a_list_in_which_an_item_has_no_sort_order_is_numbered_as_it_stands(
    client: httpx.AsyncClient,
) -> None:
    confirmations = [{"name": "x"}, {"name": "y", "sort_order": 9}, {"name": "z"}]

    strategy = await create_strategy(
        client,
        setups=[{"name": "a", "confirmations": confirmations}, {"name": "b", "sort_order": 7}, {"name": "c"}],
    )

    assert orders_of(strategy["setups"]) == [("a", 0), ("b", 1), ("c", 2)]
    assert orders_of(strategy["setups"][0]["confirmations"]) == [("x", 0), ("y", 1), ("z", 2)]


async def test_different_sort_orders_of_all_items_are_stored(client: httpx.AsyncClient) -> None:
    orders = [5, -3, 0, 2**31 - 1, -(2**31)]
    items = [{"name": str(order), "sort_order": order} for order in orders]

    strategy = await create_strategy(client, setups=[{**item, "confirmations": items} for item in items])

    stored = [(str(order), order) for order in sorted(orders)]
    assert orders_of(strategy["setups"]) == stored
    assert orders_of(strategy["setups"][0]["confirmations"]) == stored


async def test_the_array_decides_between_equal_sort_orders(client: httpx.AsyncClient) -> None:
    items = [{"name": name, "sort_order": order} for name, order in (("b", 1), ("d", 0), ("a", 1), ("c", 0))]

    strategy = await create_strategy(client, setups=items)

    assert orders_of(strategy["setups"]) == [("d", 0), ("c", 1), ("b", 2), ("a", 3)]


def orders_of(items: Any) -> list[tuple[str, int]]:
    return [(item["name"], item["sort_order"]) for item in items]


# Filters -----------------------------------------------------------------------------------------------


async def test_account_id_lists_the_strategies_bound_to_that_account(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    one, two = await insert_account(app, "One"), await insert_account(app, "Two")
    group = await insert_copy_group(app, members=[one])
    await create_strategy(client, "One B", account_id=one)
    await create_strategy(client, "One A", account_id=one)
    await create_strategy(client, "Two", account_id=two)
    await create_strategy(client, "Group", copy_group_id=group)
    await create_strategy(client, "Free")

    found = unwrap(await client.get("/strategies", params={"account_id": one}))

    assert names_of(found) == ["One A", "One B"]
    assert {item["account_id"] for item in found} == {one}


async def test_copy_group_id_lists_the_strategies_bound_to_that_group(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    one, two = await insert_copy_group(app, "One", members=[account]), await insert_copy_group(app, "Two")
    await create_strategy(client, "One", copy_group_id=one)
    await create_strategy(client, "Two", copy_group_id=two)
    await create_strategy(client, "Account", account_id=account)
    await create_strategy(client, "Free")

    found = unwrap(await client.get("/strategies", params={"copy_group_id": one}))

    assert names_of(found) == ["One"]
    assert found[0]["copy_group_id"] == one


# Fields ------------------------------------------------------------------------------------------------


async def test_a_name_that_looks_like_something_else_is_kept_at_every_level(
    client: httpx.AsyncClient,
) -> None:
    for name in ('"\\/\u2028<&', "5", "null", '{"a":1}'):
        confirmations = [{"name": name}]

        strategy = await create_strategy(
            client, name, setups=[{"name": name, "confirmations": confirmations}]
        )

        (setup,) = strategy["setups"]
        assert [strategy["name"], setup["name"], setup["confirmations"][0]["name"]] == [name] * 3


async def test_a_description_may_have_10000_characters_and_any_lines_at_every_level(
    client: httpx.AsyncClient,
) -> None:
    described = {"name": "x", "description": " \r\n\t🚀\u2028'\"\\" + "x" * (10_000 - 9)}
    assert len(described["description"]) == 10_000

    created = await client.post(
        "/strategies", json={**described, "setups": [{**described, "confirmations": [described]}]}
    )

    strategy = unwrap(created)
    (setup,) = strategy["setups"]
    for item in (strategy, setup, setup["confirmations"][0]):
        assert item["description"] == described["description"]


async def test_a_colour_is_kept_as_sent(client: httpx.AsyncClient) -> None:
    for color in ("#000000", "#AbCdEf", "#1d4ed8"):
        assert (await create_strategy(client, color, color_tag=color))["color_tag"] == color


# Account and copy group --------------------------------------------------------------------------------


async def test_a_strategy_is_bound_to_an_account_or_to_a_copy_group(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    group = await insert_copy_group(app)

    of_account = await create_strategy(client, "A", account_id=account)
    of_group = await create_strategy(client, "G", copy_group_id=group, account_id=None)

    assert (of_account["account_id"], of_account["copy_group_id"]) == (account, None)
    assert (of_group["account_id"], of_group["copy_group_id"]) == (None, group)


async def test_account_and_copy_group_exclude_each_other(app: Starlette, client: httpx.AsyncClient) -> None:
    both = {"account_id": await insert_account(app), "copy_group_id": await insert_copy_group(app)}

    refused = await client.post("/strategies", json={"name": "S", **both})

    assert error_of(refused) == (400, "validation_error")
    assert unwrap(await client.get("/strategies")) == []


# Free-form JSON ----------------------------------------------------------------------------------------

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
    '{"a":"%s"}' % (r"\"{" * 100),
]


async def test_free_form_json_is_kept_token_by_token(client: httpx.AsyncClient) -> None:
    for number, sent in enumerate(VERBATIM):
        members = ",".join(f'"{field}": {sent}' for field in FREE_FORM)
        created = await post_text(client, f'{{"name": "{number}", {members}}}')
        path = f"/strategies/{unwrap(created)['id']}"

        again = await client.patch(path, content=f"{{{members}}}".encode())
        renamed = await client.patch(path, json={"name": f"{number}, renamed"})

        assert unwrap(again)["updated_at"] == unwrap(created)["updated_at"]
        for answer in (created, await client.get(path), again, renamed):
            for field in FREE_FORM:
                assert f'"{field}":{sent}' in answer.text


async def test_free_form_json_is_replaced_token_by_token_on_patch(client: httpx.AsyncClient) -> None:
    path = f"/strategies/{(await create_strategy(client, risk_rules={'before': 1}))['id']}"
    for sent in VERBATIM:
        patched = await client.patch(path, content=f'{{"risk_rules": {sent}}}'.encode())

        assert f'"risk_rules":{sent}' in patched.text
        assert f'"risk_rules":{sent}' in (await client.get(path)).text


async def test_every_token_of_free_form_json_survives_white_space_around_it(
    client: httpx.AsyncClient,
) -> None:
    spaced = '{ "a b" :\t[ 1.0 ,\r\n "x  y" , { } ] ,"c":null }'

    created = await post_text(client, with_member("risk_rules", f" {spaced} "))

    start = created.text.index('"risk_rules":') + len('"risk_rules":')
    kept = created.text[start : created.text.index(',"exit_rules"')]
    tokens = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
    assert tokens.findall(kept) == tokens.findall(spaced)


async def test_64_kib_of_free_form_json_of_32_levels_are_kept(client: httpx.AsyncClient) -> None:
    just_allowed = [
        f'{{"a":"{"x" * (64 * 1024 - 8)}"}}',
        '{"a":' * 31 + "{}" + "}" * 31,
        '{"a":' + "[" * 31 + "]" * 31 + "}",
    ]
    for number, sent in enumerate(just_allowed):
        members = ",".join(f'"{field}": {sent}' for field in FREE_FORM)

        created = await post_text(client, f'{{"name": "{number}", {members}}}')

        assert created.status_code == 201
        for field in FREE_FORM:
            assert f'"{field}":{sent}' in created.text


async def test_brackets_in_strings_are_no_levels(client: httpx.AsyncClient) -> None:
    sent = json.dumps({"[" * 50: "{" * 50, "b": '"' + "[" * 50}, separators=(",", ":"))

    created = await post_text(client, with_member("exit_rules", sent))

    assert created.status_code == 201
    assert f'"exit_rules":{sent}' in created.text


# Unique names ------------------------------------------------------------------------------------------


async def test_setups_and_confirmations_may_share_a_name(client: httpx.AsyncClient) -> None:
    same: list[dict[str, Any]] = [{"name": "Same"}, {"name": "Same"}]

    strategy = await create_strategy(client, setups=[{**item, "confirmations": same} for item in same])

    assert [setup["name"] for setup in strategy["setups"]] == ["Same", "Same"]
    assert (
        len({one["confirmation_id"] for setup in strategy["setups"] for one in setup["confirmations"]}) == 4
    )


async def test_the_name_of_a_deleted_strategy_is_free_again(client: httpx.AsyncClient) -> None:
    made = await create_strategy(client, "Breakout")
    await client.delete(f"/strategies/{made['id']}")

    created = await client.post("/strategies", json={"name": "Breakout"})

    assert created.status_code == 201


# The plan's maximum ------------------------------------------------------------------------------------


async def test_a_strategy_over_the_maximum_is_refused_with_the_numbers(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        for name in "ABC":
            await create_strategy(client, name)

        refused = await client.post("/strategies", json={"name": "D", "setups": [{"name": "a"}]})

        assert error_of(refused) == (429, "limit_reached")
        assert details_of(refused) == {"limit": 3, "current": 3}
        assert "retry-after" not in refused.headers
        assert names_of(unwrap(await client.get("/strategies"))) == ["A", "B", "C"]
        assert await count_of(limited, "setups") == 0


async def test_deleting_a_strategy_makes_room_for_another(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        made = [await create_strategy(client, name) for name in "ABC"]
        await client.delete(f"/strategies/{made[0]['id']}")

        created = await client.post("/strategies", json={"name": "D"})

        assert created.status_code == 201


async def test_a_taken_name_is_told_before_the_maximum(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        for name in "ABC":
            await create_strategy(client, name)

        refused = await client.post("/strategies", json={"name": "A"})

        assert error_of(refused) == (409, "duplicate_name")


async def test_a_foreign_account_is_told_before_a_taken_name(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "A")

    refused = await client.post("/strategies", json={"name": "A", "account_id": 99})

    assert error_of(refused) == (400, "validation_error")


async def test_the_maximum_holds_for_each_owner_on_their_own(limited: Starlette) -> None:
    other_key = await new_key_for(limited, await insert_user(limited))
    async with client_of(limited, await new_key_for(limited)) as client:
        for name in "ABC":
            await create_strategy(client, name)

        async with client_of(limited, other_key) as other:
            created = await other.post("/strategies", json={"name": "D"})

        assert created.status_code == 201


async def test_a_strategy_at_the_maximum_can_still_be_updated(limited: Starlette) -> None:
    async with client_of(limited, await new_key_for(limited)) as client:
        made = [await create_strategy(client, name) for name in "ABC"]

        patched = await client.patch(f"/strategies/{made[0]['id']}", json={"setups": [{"name": "a"}]})

        assert patched.status_code == 200


async def test_the_default_maximum_is_100(client: httpx.AsyncClient) -> None:
    for number in range(100):
        await create_strategy(client, f"S{number}")

    refused = await client.post("/strategies", json={"name": "One more"})

    assert error_of(refused) == (429, "limit_reached")
    assert details_of(refused) == {"limit": 100, "current": 100}


async def test_a_maximum_of_0_is_none(settings: Settings) -> None:
    app = create_app(structs.replace(settings, max_strategies=0))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        for number in range(101):
            await create_strategy(client, f"S{number}")

        strategies = unwrap(await client.get("/strategies"))

    assert len(strategies) == 101


# Delete ------------------------------------------------------------------------------------------------


async def test_delete_answers_204_and_counts_the_trades_it_unlinked(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await create_strategy(client, setups=[{"name": "Flag"}])
    kept = await create_strategy(client, "Kept", setups=[{"name": "Flag"}])
    account = await insert_account(app)
    await insert_trade(app, account, strategy_id=strategy["id"])
    await insert_trade(
        app, account, strategy_id=strategy["id"], setup_id=strategy["setups"][0]["setup_id"], closed_at=None
    )
    await insert_trade(app, account, strategy_id=kept["id"], setup_id=kept["setups"][0]["setup_id"])
    await insert_trade(app, account)

    deleted = await client.delete(f"/strategies/{strategy['id']}")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert deleted.headers["x-trades-unlinked"] == "2"
    links = [tuple(row) for row in await run_sql(app, "SELECT strategy_id, setup_id FROM trades ORDER BY id")]
    assert links == [
        (None, None),
        (None, None),
        (kept["id"], kept["setups"][0]["setup_id"]),
        (None, None),
    ]


async def test_delete_takes_the_setups_their_confirmations_and_the_answers_with_it(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await create_strategy(client, **BREAKOUT)
    setup = strategy["setups"][0]
    trade = await insert_trade(
        app, await insert_account(app), strategy_id=strategy["id"], setup_id=setup["setup_id"]
    )
    await insert_answer(app, trade, setup["confirmations"][0]["confirmation_id"], True, "clear")

    await client.delete(f"/strategies/{strategy['id']}")

    for table in ("strategies", "setups", "confirmations", "confirmation_answers"):
        assert await count_of(app, table) == 0
    assert await count_of(app, "trades") == 1


async def test_delete_of_an_unused_strategy_unlinks_0_trades(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, **BREAKOUT)

    deleted = await client.delete(f"/strategies/{strategy['id']}")

    assert deleted.headers["x-trades-unlinked"] == "0"


async def test_ids_are_never_used_again(client: httpx.AsyncClient) -> None:
    before = await create_strategy(client, **BREAKOUT)
    await client.delete(f"/strategies/{before['id']}")

    after = await create_strategy(client, **BREAKOUT)

    assert after["id"] > before["id"]
    newest = max(setup["setup_id"] for setup in before["setups"])
    assert all(setup["setup_id"] > newest for setup in after["setups"])
    newest = max(one["confirmation_id"] for setup in before["setups"] for one in setup["confirmations"])
    assert all(one["confirmation_id"] > newest for setup in after["setups"] for one in setup["confirmations"])


async def test_the_ids_of_a_refused_create_do_no_harm(client: httpx.AsyncClient) -> None:
    await create_strategy(client, **BREAKOUT)
    await client.post("/strategies", json=BREAKOUT)

    strategy = await create_strategy(client, "Next", setups=BREAKOUT["setups"])

    assert strategy == await get_strategy(client, strategy["id"])


# Owners and scopes -------------------------------------------------------------------------------------


async def test_free_form_json_of_null_is_stored_as_null(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, risk_rules=None, exit_rules={"target": "2R"})
    await client.patch(f"/strategies/{strategy['id']}", json={"exit_rules": None})

    stored = await run_sql(app, "SELECT risk_rules, exit_rules, optimal_conditions FROM strategies")

    assert stored == [(None, None, None)]

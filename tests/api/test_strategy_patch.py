"""PATCH of a strategy: docs/api.md#patch-setups, P1 to P10 one after the other, and what surrounds them."""

import json
from typing import Any

import httpx
import pytest
from factories import (
    create_strategy,
    details_of,
    error_of,
    get_strategy,
    insert_account,
    insert_answer,
    insert_copy_group,
    insert_trade,
    run_sql,
    unwrap,
)
from starlette.applications import Starlette

CHECKLISTS = [
    {
        "name": "a",
        "description": "of a",
        "confirmations": [{"name": "x", "description": "of x"}, {"name": "y"}],
    },
    {"name": "b", "confirmations": [{"name": "z"}]},
]


@pytest.fixture
def other(stranger: httpx.AsyncClient) -> httpx.AsyncClient:
    return stranger


async def make_playbook(client: httpx.AsyncClient, name: str = "Playbook") -> Any:
    """Setup `a` with confirmations `x` and `y`, setup `b` with `z`."""
    return await create_strategy(client, name, setups=CHECKLISTS)


async def patch(client: httpx.AsyncClient, strategy: Any, **members: Any) -> httpx.Response:
    return await client.patch(f"/strategies/{strategy['id']}", json=members)


async def dump(app: Starlette) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    tables = await run_sql(app, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    return {
        name: [tuple(row) for row in await run_sql(app, f"SELECT * FROM {name} ORDER BY 1, 2")]
        for (name,) in tables
    }


async def make_answered_trade(app: Starlette, strategy: Any, setup: Any) -> int:
    """A trade of that setup, every confirmation of it answered."""
    accounts = await run_sql(app, "SELECT id FROM accounts LIMIT 1")
    account_id = accounts[0][0] if accounts else await insert_account(app)
    trade = await insert_trade(app, account_id, strategy_id=strategy["id"], setup_id=setup["setup_id"])
    for one in setup["confirmations"]:
        await insert_answer(app, trade, one["confirmation_id"], True, f"about {one['name']}")
    return trade


async def links_of(app: Starlette, trade_id: int) -> tuple[int | None, int | None]:
    """(strategy_id, setup_id) of the trade."""
    ((strategy_id, setup_id),) = await run_sql(
        app, "SELECT strategy_id, setup_id FROM trades WHERE id = :id", {"id": trade_id}
    )
    return strategy_id, setup_id


async def answers_of(app: Starlette, trade_id: int) -> dict[int, tuple[int, str | None]]:
    """By confirmation, (was_present, notes)."""
    rows = await run_sql(
        app,
        "SELECT confirmation_id, was_present, notes FROM confirmation_answers WHERE trade_id = :id",
        {"id": trade_id},
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def setup_id(strategy: Any, position: int) -> int:
    return int(strategy["setups"][position]["setup_id"])


def confirmation_id(strategy: Any, position: int, place: int) -> int:
    return int(strategy["setups"][position]["confirmations"][place]["confirmation_id"])


def without_ids(setups: Any) -> Any:
    return json.loads(
        json.dumps(
            [
                {
                    **{member: value for member, value in setup.items() if member != "setup_id"},
                    "confirmations": [
                        {member: value for member, value in one.items() if member != "confirmation_id"}
                        for one in setup["confirmations"]
                    ],
                }
                for setup in setups
            ]
        )
    )


# The fields of the strategy ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "New"),
        ("description", "New"),
        ("description", None),
        ("color_tag", "#ABCDEF"),
        ("risk_rules", {"new": 1}),
        ("risk_rules", None),
        ("exit_rules", {}),
        ("exit_rules", None),
        ("optimal_conditions", {"new": [1]}),
        ("optimal_conditions", None),
    ],
)
async def test_a_field_sent_is_updated_and_every_other_stays(
    client: httpx.AsyncClient, field: str, value: Any
) -> None:
    rules = {field: {"old": 1} for field in ("risk_rules", "exit_rules", "optimal_conditions")}
    before = await create_strategy(client, "Old", description="Old", setups=CHECKLISTS, **rules)

    patched = await patch(client, before, **{field: value})

    after = unwrap(patched)
    assert patched.status_code == 200
    assert after == {**before, field: value, "updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert await get_strategy(client, before["id"]) == after


async def test_an_empty_patch_changes_nothing(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)

    patched = await patch(client, strategy)

    assert patched.status_code == 200
    assert unwrap(patched) == strategy
    assert await dump(app) == before


async def test_a_patch_with_what_is_already_there_changes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    account = await insert_account(app)
    strategy = await create_strategy(
        client, setups=CHECKLISTS, account_id=account, risk_rules={"a": 1}, description="Same"
    )
    before = await dump(app)
    read_only = ("id", "setup_count", "created_at", "updated_at")

    patched = await patch(
        client, strategy, **{field: value for field, value in strategy.items() if field not in read_only}
    )

    assert unwrap(patched) == strategy
    assert await dump(app) == before


async def test_a_change_below_the_strategy_moves_its_updated_at(client: httpx.AsyncClient) -> None:
    before = await make_playbook(client)
    checklist = [
        {"confirmation_id": confirmation_id(before, 0, 0)},
        {"confirmation_id": confirmation_id(before, 0, 1), "description": "new"},
    ]

    after = unwrap(
        await patch(
            client,
            before,
            setups=[
                {"setup_id": setup_id(before, 0), "confirmations": checklist},
                {"setup_id": setup_id(before, 1)},
            ],
        )
    )

    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]


async def test_a_rename_to_a_taken_name_is_a_duplicate_and_writes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    await create_strategy(client, "Café")
    mine = await make_playbook(client)
    before = await dump(app)

    refused = await patch(client, mine, name=" Cafe\u0301", setups=[{"name": "new"}], description="new")

    assert error_of(refused) == (409, "duplicate_name")
    assert await get_strategy(client, mine["id"]) == mine
    assert await dump(app) == before


@pytest.mark.parametrize("name", ["Café", " Café ", "Cafe\u0301"], ids=["same", "spaces", "decomposed"])
async def test_a_rename_to_its_own_name_changes_nothing(client: httpx.AsyncClient, name: str) -> None:
    strategy = await create_strategy(client, "Café")

    patched = await patch(client, strategy, name=name)

    assert unwrap(patched) == strategy


async def test_a_rename_moves_the_strategy_in_the_list(client: httpx.AsyncClient) -> None:
    first = await create_strategy(client, "alpha")
    await create_strategy(client, "Beta")

    await patch(client, first, name="Gamma")

    names = [item["name"] for item in unwrap(await client.get("/strategies"))]
    assert names == ["Beta", "Gamma"]


async def test_a_rename_that_changes_the_case_alone_is_kept(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client, "breakout")

    patched = await patch(client, strategy, name="Breakout")

    assert unwrap(patched)["name"] == "Breakout"


async def test_rules_are_told_before_conflicts(client: httpx.AsyncClient) -> None:
    await create_strategy(client, "Taken")
    mine = await create_strategy(client, "Mine")

    refused = await patch(client, mine, name="Taken", setups=[{"setup_id": 99}])

    assert error_of(refused) == (400, "validation_error")


# P1: a sent list is the whole list ---------------------------------------------------------------------


async def test_rule_1_a_sent_list_is_the_canonical_list(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[{"setup_id": setup_id(strategy, 1), "sort_order": 0}, {"name": "c", "sort_order": 1}],
        )
    )

    assert [setup["name"] for setup in patched["setups"]] == ["b", "c"]
    assert patched["setup_count"] == 2
    assert unwrap(await client.get(f"/strategies/{strategy['id']}/setups")) == patched["setups"]


async def test_rule_1_setups_not_sent_stay_as_they_are(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)

    patched = unwrap(await patch(client, strategy, name="New"))

    assert patched["setups"] == strategy["setups"]


async def test_rule_1_an_empty_list_clears_the_setups(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    patched = unwrap(await patch(client, strategy, setups=[]))

    assert (patched["setups"], patched["setup_count"]) == ([], 0)
    assert await links_of(app, trade) == (strategy["id"], None)
    assert await answers_of(app, trade) == {}


async def test_rule_1_another_strategy_is_left_alone(app: Starlette, client: httpx.AsyncClient) -> None:
    another = await make_playbook(client, "Another")
    trade = await make_answered_trade(app, another, another["setups"][0])
    strategy = await make_playbook(client)

    await patch(client, strategy, setups=[{"name": "new"}])

    assert await get_strategy(client, another["id"]) == another
    assert await links_of(app, trade) == (another["id"], setup_id(another, 0))
    assert len(await answers_of(app, trade)) == 2


# P2: an item with setup_id is updated in place ---------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "New"},
        {"description": "New"},
        {"description": None},
        {"sort_order": -7},
        {"name": "New", "description": "New", "sort_order": 0},
    ],
    ids=str,
)
async def test_rule_2_a_setup_is_updated_in_place_and_members_left_out_stay(
    client: httpx.AsyncClient, sent: dict[str, Any]
) -> None:
    strategy = await make_playbook(client)
    before = strategy["setups"][0]

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[{"setup_id": before["setup_id"], **sent}, {"setup_id": setup_id(strategy, 1)}],
        )
    )

    assert patched["setups"] == [{**before, **sent}, strategy["setups"][1]]


async def test_rule_2_an_item_of_its_id_alone_means_keep(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)

    patched = await patch(
        client, strategy, setups=[{"setup_id": setup_id(strategy, 1)}, {"setup_id": setup_id(strategy, 0)}]
    )

    assert unwrap(patched) == strategy
    assert await dump(app) == before


async def test_rule_2_trades_stay_linked_to_a_setup_updated_in_place(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    answers = await answers_of(app, trade)

    await patch(
        client,
        strategy,
        setups=[{"setup_id": setup_id(strategy, 0), "name": "New", "description": "New", "sort_order": 9}],
    )

    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == answers


# P3: an item without setup_id is inserted --------------------------------------------------------------


async def test_rule_3_an_item_without_setup_id_is_a_new_setup(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    new = {"name": "c", "description": "of c", "confirmations": [{"name": "u"}, {"name": "v"}]}

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[{"setup_id": setup_id(strategy, 0)}, {"setup_id": setup_id(strategy, 1)}, new],
        )
    )

    assert patched["setups"][:2] == strategy["setups"]
    added = patched["setups"][2]
    assert added["setup_id"] > setup_id(strategy, 1)
    assert without_ids([added]) == [
        {
            "name": "c",
            "description": "of c",
            "sort_order": 2,
            "confirmations": [
                {"name": "u", "description": None, "sort_order": 0},
                {"name": "v", "description": None, "sort_order": 1},
            ],
        }
    ]


async def test_rule_3_an_item_of_the_same_name_without_its_id_is_another_setup(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    patched = unwrap(await patch(client, strategy, setups=without_ids(strategy["setups"])))

    assert without_ids(patched["setups"]) == without_ids(strategy["setups"])
    assert setup_id(patched, 0) > setup_id(strategy, 1)
    assert await links_of(app, trade) == (strategy["id"], None)


async def test_rule_3_a_new_setup_without_confirmations_has_none(client: httpx.AsyncClient) -> None:
    strategy = await create_strategy(client)

    patched = unwrap(await patch(client, strategy, setups=[{"name": "a"}]))

    assert patched["setups"][0]["confirmations"] == []


async def test_rule_3_ids_of_deleted_setups_are_never_used_again(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    await patch(client, strategy, setups=[])

    patched = unwrap(await patch(client, strategy, setups=CHECKLISTS))

    assert setup_id(patched, 0) > setup_id(strategy, 1)
    assert confirmation_id(patched, 0, 0) > confirmation_id(strategy, 1, 0)


# P4: setups absent from the list are deleted -----------------------------------------------------------


async def test_rule_4_an_absent_setup_is_deleted_with_its_confirmations(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)

    patched = unwrap(await patch(client, strategy, setups=[{"setup_id": setup_id(strategy, 1)}]))

    assert patched["setups"] == [strategy["setups"][1]]
    rows = await dump(app)
    assert [row[0] for row in rows["setups"]] == [setup_id(strategy, 1)]
    assert [row[0] for row in rows["confirmations"]] == [confirmation_id(strategy, 1, 0)]


async def test_rule_4_trades_of_a_deleted_setup_keep_their_strategy_and_lose_the_setup(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    of_deleted = await make_answered_trade(app, strategy, strategy["setups"][0])
    of_kept = await make_answered_trade(app, strategy, strategy["setups"][1])

    await patch(client, strategy, setups=[{"setup_id": setup_id(strategy, 1)}])

    assert await links_of(app, of_deleted) == (strategy["id"], None)
    assert await answers_of(app, of_deleted) == {}
    assert await links_of(app, of_kept) == (strategy["id"], setup_id(strategy, 1))
    assert await answers_of(app, of_kept) == {confirmation_id(strategy, 1, 0): (1, "about z")}


# P5: a setup_id of a different strategy is refused -----------------------------------------------------


async def foreign_setups(client: httpx.AsyncClient, other: httpx.AsyncClient) -> dict[str, int]:
    """Setup ids that a strategy of the caller may not name."""
    another, theirs = await make_playbook(client, "Another"), await make_playbook(other)
    deleted = await make_playbook(client, "Deleted")
    await client.delete(f"/strategies/{deleted['id']}")
    return {
        "of another strategy": setup_id(another, 0),
        "of another owner": setup_id(theirs, 1),
        "of nothing any more": setup_id(deleted, 0),
        "of nothing": 2**63 - 1,
    }


@pytest.mark.parametrize(
    "whose", ["of another strategy", "of another owner", "of nothing any more", "of nothing"]
)
async def test_rule_5_a_setup_id_that_is_not_of_this_strategy_is_refused_and_named(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient, whose: str
) -> None:
    foreign = (await foreign_setups(client, other))[whose]
    strategy = await make_playbook(client)
    before = await dump(app)

    refused = await patch(
        client,
        strategy,
        name="New",
        setups=[
            {"setup_id": setup_id(strategy, 0), "name": "New"},
            {"name": "new"},
            {"setup_id": foreign, "name": "x"},
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {"unknown_setup_ids": [foreign]}
    assert await get_strategy(client, strategy["id"]) == strategy
    assert await dump(app) == before


async def test_rule_5_all_unknown_setups_are_named(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    foreign = await foreign_setups(client, other)
    strategy = await make_playbook(client)
    before = await dump(app)

    refused = await patch(
        client,
        strategy,
        setups=[
            {"setup_id": setup_id(strategy, 0)},
            *({"setup_id": row_id} for row_id in foreign.values()),
            {"setup_id": setup_id(strategy, 1)},
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    assert set(details_of(refused)) == {"unknown_setup_ids"}
    assert sorted(details_of(refused)["unknown_setup_ids"]) == sorted(foreign.values())
    assert await dump(app) == before


# P6: confirmations are diff-upserted -------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"name": "New"},
        {"description": "New"},
        {"description": None},
        {"sort_order": -7},
        {"name": "New", "description": "New", "sort_order": 0},
    ],
    ids=str,
)
async def test_rule_6_a_confirmation_is_updated_in_place_and_keeps_its_answers(
    app: Starlette, client: httpx.AsyncClient, sent: dict[str, Any]
) -> None:
    strategy = await make_playbook(client)
    setup = strategy["setups"][0]
    trade = await make_answered_trade(app, strategy, setup)
    answers = await answers_of(app, trade)
    x, y = setup["confirmations"]

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {
                    "setup_id": setup["setup_id"],
                    "confirmations": [
                        {"confirmation_id": x["confirmation_id"], **sent},
                        {"confirmation_id": y["confirmation_id"]},
                    ],
                }
            ],
        )
    )

    assert patched["setups"] == [{**setup, "confirmations": [{**x, **sent}, y]}]
    assert (
        await answers_of(app, trade)
        == answers
        == {
            x["confirmation_id"]: (1, "about x"),
            y["confirmation_id"]: (1, "about y"),
        }
    )


async def test_rule_6_an_item_without_confirmation_id_is_inserted(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    setup = strategy["setups"][0]
    trade = await make_answered_trade(app, strategy, setup)
    answers = await answers_of(app, trade)
    x, y = setup["confirmations"]

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {
                    "setup_id": setup["setup_id"],
                    "confirmations": [
                        {"confirmation_id": x["confirmation_id"]},
                        {"confirmation_id": y["confirmation_id"]},
                        {"name": "new", "description": "of new"},
                    ],
                }
            ],
        )
    )

    new = patched["setups"][0]["confirmations"][2]
    assert patched["setups"][0]["confirmations"] == [x, y, new]
    assert new == {
        "confirmation_id": new["confirmation_id"],
        "name": "new",
        "description": "of new",
        "sort_order": 2,
    }
    assert new["confirmation_id"] > confirmation_id(strategy, 1, 0)
    assert await answers_of(app, trade) == answers


# P7: confirmations absent from the list are deleted with their answers ----------------------------------


async def test_rule_7_an_absent_confirmation_is_deleted_with_its_answers(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    setup = strategy["setups"][0]
    trades = [await make_answered_trade(app, strategy, setup) for _ in range(2)]
    _, y = setup["confirmations"]

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {
                    "setup_id": setup["setup_id"],
                    "confirmations": [{"name": "new"}, {"confirmation_id": y["confirmation_id"]}],
                }
            ],
        )
    )

    names = {one["name"] for one in patched["setups"][0]["confirmations"]}
    assert names == {"new", "y"}
    for trade in trades:
        assert await answers_of(app, trade) == {y["confirmation_id"]: (1, "about y")}
        assert await links_of(app, trade) == (strategy["id"], setup["setup_id"])


# P8: confirmations not sent stay, an empty array clears them --------------------------------------------


async def test_rule_8_confirmations_not_sent_are_left_untouched(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    answers = await answers_of(app, trade)

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {"setup_id": setup_id(strategy, 0), "name": "New"},
                {"setup_id": setup_id(strategy, 1), "name": "Newer"},
            ],
        )
    )

    for before, after in zip(strategy["setups"], patched["setups"], strict=True):
        assert after["confirmations"] == before["confirmations"]
    assert await answers_of(app, trade) == answers


async def test_rule_8_an_empty_array_clears_the_confirmations(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {"setup_id": setup_id(strategy, 0), "confirmations": []},
                {"setup_id": setup_id(strategy, 1)},
            ],
        )
    )

    assert patched["setups"] == [{**strategy["setups"][0], "confirmations": []}, strategy["setups"][1]]
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == {}


# P9: a confirmation_id of a different setup is refused -------------------------------------------------


async def foreign_confirmations(
    client: httpx.AsyncClient, other: httpx.AsyncClient, strategy: Any
) -> dict[str, int]:
    """Confirmation ids that the first setup of the strategy may not name."""
    another, theirs = await make_playbook(client, "Another"), await make_playbook(other)
    deleted = await make_playbook(client, "Deleted")
    await client.delete(f"/strategies/{deleted['id']}")
    return {
        "of another setup": confirmation_id(strategy, 1, 0),
        "of another strategy": confirmation_id(another, 0, 0),
        "of another owner": confirmation_id(theirs, 0, 1),
        "of nothing any more": confirmation_id(deleted, 0, 0),
        "of nothing": 2**63 - 1,
    }


@pytest.mark.parametrize(
    "whose",
    [
        "of another setup",
        "of another strategy",
        "of another owner",
        "of nothing any more",
        "of nothing",
    ],
)
@pytest.mark.parametrize("under", ["its setup", "a new setup"])
async def test_rule_9_a_confirmation_id_that_is_not_of_this_setup_is_refused_and_named(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient, whose: str, under: str
) -> None:
    strategy = await make_playbook(client)
    foreign = (await foreign_confirmations(client, other, strategy))[whose]
    before = await dump(app)
    parent = {"setup_id": setup_id(strategy, 0)} if under == "its setup" else {"name": "new"}

    refused = await patch(
        client,
        strategy,
        name="New",
        setups=[
            {"setup_id": setup_id(strategy, 1), "name": "New", "confirmations": []},
            {**parent, "confirmations": [{"name": "new"}, {"confirmation_id": foreign, "name": "x"}]},
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {"unknown_confirmation_ids": [foreign]}
    assert await get_strategy(client, strategy["id"]) == strategy
    assert await dump(app) == before


async def test_rule_9_a_confirmation_cannot_move_to_another_setup_of_the_strategy(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)
    x, z = confirmation_id(strategy, 0, 0), confirmation_id(strategy, 1, 0)

    refused = await patch(
        client,
        strategy,
        setups=[
            {"setup_id": setup_id(strategy, 0), "confirmations": [{"confirmation_id": z}]},
            {"setup_id": setup_id(strategy, 1), "confirmations": [{"confirmation_id": x}]},
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    assert sorted(details_of(refused)["unknown_confirmation_ids"]) == [x, z]
    assert await dump(app) == before


async def test_rules_5_and_9_all_offenders_are_named_together(
    app: Starlette, client: httpx.AsyncClient, other: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    foreign = await foreign_confirmations(client, other, strategy)
    before = await dump(app)
    ids = list(foreign.values())

    refused = await patch(
        client,
        strategy,
        setups=[
            {"setup_id": setup_id(strategy, 0), "confirmations": [{"confirmation_id": ids[0]}]},
            {"setup_id": 2**62, "confirmations": [{"confirmation_id": ids[1]}]},
            {"name": "new", "confirmations": [{"confirmation_id": row_id} for row_id in ids[2:]]},
            {"setup_id": 2**61},
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    details = {name: sorted(found) for name, found in details_of(refused).items()}
    assert details == {
        "unknown_setup_ids": [2**61, 2**62],
        "unknown_confirmation_ids": sorted(ids),
    }
    assert await dump(app) == before


# Items that repeat an id -------------------------------------------------------------------------------


async def test_a_setup_id_sent_twice_is_refused_and_named(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)
    a, b = setup_id(strategy, 0), setup_id(strategy, 1)

    refused = await patch(
        client,
        strategy,
        setups=[{"setup_id": a}, {"setup_id": b}, {"setup_id": a, "name": "New"}, {"setup_id": b}],
    )

    assert error_of(refused) == (400, "validation_error")
    assert {name: sorted(ids) for name, ids in details_of(refused).items()} == {"duplicate_setup_ids": [a, b]}
    assert await dump(app) == before


async def test_a_confirmation_id_sent_twice_is_refused_and_named(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)
    x = confirmation_id(strategy, 0, 0)

    refused = await patch(
        client,
        strategy,
        setups=[
            {
                "setup_id": setup_id(strategy, 0),
                "confirmations": [{"confirmation_id": x}, {"confirmation_id": x, "name": "New"}],
            }
        ],
    )

    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused) == {"duplicate_confirmation_ids": [x]}
    assert await dump(app) == before


# P10: the two scopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound_to", "sent", "then"),
    [
        ("account", {"account_id": None}, (None, None)),
        ("account", {"copy_group_id": None}, ("account", None)),
        ("account", {"account_id": None, "copy_group_id": None}, (None, None)),
        ("account", {"copy_group_id": "group"}, (None, "group")),
        ("account", {"copy_group_id": "group", "account_id": None}, (None, "group")),
        ("account", {"account_id": "account"}, ("account", None)),
        ("account", {"account_id": "account", "copy_group_id": None}, ("account", None)),
        ("group", {"copy_group_id": None}, (None, None)),
        ("group", {"account_id": None}, (None, "group")),
        ("group", {"account_id": None, "copy_group_id": None}, (None, None)),
        ("group", {"account_id": "account"}, ("account", None)),
        ("group", {"account_id": "account", "copy_group_id": None}, ("account", None)),
        ("group", {"copy_group_id": "group"}, (None, "group")),
        ("nothing", {"account_id": "account"}, ("account", None)),
        ("nothing", {"copy_group_id": "group"}, (None, "group")),
        ("nothing", {"account_id": None}, (None, None)),
        ("nothing", {"name": "New"}, (None, None)),
        ("account", {"name": "New"}, ("account", None)),
        ("group", {"name": "New"}, (None, "group")),
    ],
    ids=str,
)
async def test_rule_10_null_clears_a_scope_and_setting_one_clears_the_other(
    app: Starlette, client: httpx.AsyncClient, bound_to: str, sent: Any, then: Any
) -> None:
    ids: dict[Any, Any] = {"account": await insert_account(app), "group": await insert_copy_group(app)}
    fields = {"account": {"account_id": ids["account"]}, "group": {"copy_group_id": ids["group"]}}
    strategy = await create_strategy(client, setups=CHECKLISTS, **fields.get(bound_to, {}))

    patched = unwrap(
        await patch(client, strategy, **{field: ids.get(value, value) for field, value in sent.items()})
    )

    assert (patched["account_id"], patched["copy_group_id"]) == tuple(ids.get(one) for one in then)
    assert patched["setups"] == strategy["setups"]
    assert await get_strategy(client, strategy["id"]) == patched


@pytest.mark.parametrize("bound_to", ["account_id", "copy_group_id", None])
async def test_rule_10_both_scopes_at_once_are_refused(
    app: Starlette, client: httpx.AsyncClient, bound_to: str | None
) -> None:
    both = {"account_id": await insert_account(app), "copy_group_id": await insert_copy_group(app)}
    scope: dict[str, Any] = {bound_to: both[bound_to]} if bound_to else {}
    strategy = await create_strategy(client, **scope)
    before = await dump(app)

    refused = await patch(client, strategy, name="New", **both)

    assert error_of(refused) == (400, "validation_error")
    assert await dump(app) == before


# All at once -------------------------------------------------------------------------------------------


async def test_what_was_read_can_be_edited_and_sent_back(app: Starlette, client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    setups = unwrap(await client.get(f"/strategies/{strategy['id']}/setups"))
    first, second = setups
    first["name"] = "a, renamed"
    first["confirmations"][0]["description"] = "of x, reworded"
    first["confirmations"][1]["sort_order"] = 5
    first["confirmations"].insert(1, {"name": "between", "sort_order": 3})
    second["confirmations"].clear()
    setups.append({"name": "c", "sort_order": 2, "confirmations": [{"name": "of c"}]})

    patched = unwrap(await patch(client, strategy, setups=setups))

    first["confirmations"][1]["confirmation_id"] = confirmation_id(patched, 0, 1)
    first["confirmations"][1]["description"] = None
    assert patched["setups"][:2] == setups[:2]
    assert patched["setups"][2]["name"] == "c"
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert await answers_of(app, trade) == {
        confirmation_id(strategy, 0, 0): (1, "about x"),
        confirmation_id(strategy, 0, 1): (1, "about y"),
    }


async def test_what_was_read_and_sent_back_as_it_is_changes_nothing(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    before = await dump(app)
    setups = unwrap(await client.get(f"/strategies/{strategy['id']}/setups"))

    patched = unwrap(await patch(client, strategy, setups=setups))

    assert patched == strategy
    assert await dump(app) == before


async def test_two_setups_and_two_confirmations_swap_their_names_in_one_patch(
    app: Starlette, client: httpx.AsyncClient
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy, strategy["setups"][0])
    setups = strategy["setups"]
    x, y = setups[0]["confirmations"]
    swapped = [
        {**setups[0], "name": "b", "confirmations": [{**x, "name": "y"}, {**y, "name": "x"}]},
        {**setups[1], "name": "a"},
    ]

    patched = unwrap(await patch(client, strategy, setups=swapped))

    assert patched["setups"] == swapped
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 0))
    assert len(await answers_of(app, trade)) == 2


async def test_sort_orders_put_setups_and_confirmations_in_another_order(client: httpx.AsyncClient) -> None:
    strategy = await make_playbook(client)
    a, b = strategy["setups"]
    x, y = a["confirmations"]

    patched = unwrap(
        await patch(
            client,
            strategy,
            setups=[
                {"setup_id": b["setup_id"], "sort_order": 0},
                {
                    "setup_id": a["setup_id"],
                    "sort_order": 1,
                    "confirmations": [
                        {"confirmation_id": y["confirmation_id"], "sort_order": 0},
                        {"confirmation_id": x["confirmation_id"], "sort_order": 1},
                    ],
                },
            ],
        )
    )

    assert [setup["name"] for setup in patched["setups"]] == ["b", "a"]
    assert [one["name"] for one in patched["setups"][1]["confirmations"]] == ["y", "x"]


@pytest.mark.parametrize(
    "last",
    [
        pytest.param({"name": ""}, id="an empty name"),
        pytest.param({"setup_id": 2**62}, id="an unknown setup"),
        pytest.param({"name": "a", "confirmations": [{}]}, id="a nameless confirmation"),
        pytest.param({"name": "a", "confirmations": [{"confirmation_id": 1}]}, id="an unknown confirmation"),
        pytest.param({"setup_id": 1}, id="a setup again"),
    ],
)
async def test_an_invalid_last_item_of_50_changes_no_row(
    app: Starlette, client: httpx.AsyncClient, last: Any
) -> None:
    strategy = await create_strategy(client, setups=[{"name": f"s{number}"} for number in range(50)])
    before = await dump(app)
    setups = [{**setup, "name": "New", "confirmations": [{"name": "new"}]} for setup in strategy["setups"]]

    refused = await patch(client, strategy, name="New", setups=[*setups[:49], last])

    assert error_of(refused) == (400, "validation_error")
    assert await dump(app) == before


async def test_50_times_100_are_replaced_in_one_patch(app: Starlette, client: httpx.AsyncClient) -> None:
    checklist = [{"name": f"c{place}"} for place in range(100)]
    strategy = await create_strategy(
        client, setups=[{"name": f"s{number}", "confirmations": checklist} for number in range(50)]
    )
    trade = await make_answered_trade(app, strategy, strategy["setups"][49])
    answers = await answers_of(app, trade)
    setups = [
        {
            **setup,
            "name": f"{setup['name']}, new",
            "confirmations": [{**one, "name": f"{one['name']}, new"} for one in setup["confirmations"]],
        }
        for setup in strategy["setups"]
    ]

    patched = unwrap(await patch(client, strategy, setups=setups))

    assert patched["setups"] == setups
    assert await links_of(app, trade) == (strategy["id"], setup_id(strategy, 49))
    assert await answers_of(app, trade) == answers
    assert len(answers) == 100


@pytest.mark.parametrize(
    "text", ["5", "null", "true", "[1]", '{"name": "a"}', '"a"', "'", "🚀"], ids=lambda text: text[:8]
)
async def test_texts_that_look_like_something_else_are_kept_in_place(
    client: httpx.AsyncClient, text: str
) -> None:
    strategy = await make_playbook(client)
    setups = [
        {
            **setup,
            "name": text,
            "description": text,
            "confirmations": [{**one, "name": text, "description": text} for one in setup["confirmations"]],
        }
        for setup in strategy["setups"]
    ]

    assert unwrap(await patch(client, strategy, setups=setups))["setups"] == setups
    assert (await get_strategy(client, strategy["id"]))["setups"] == setups


async def test_rows_of_the_largest_ids_are_told_apart(app: Starlette, client: httpx.AsyncClient) -> None:
    await make_playbook(client, "First")
    await run_sql(app, "UPDATE sqlite_sequence SET seq = 9223372036854775000 WHERE name != 'strategies'")
    strategy = await make_playbook(client, "Last")
    assert setup_id(strategy, 0) == 9223372036854775001
    (first, second), keep = strategy["setups"][0]["confirmations"], {"setup_id": setup_id(strategy, 1)}
    checklist = [{**first, "name": "new x", "sort_order": 7}, {**second, "description": "new"}]
    setup = {**strategy["setups"][0], "name": "new a", "confirmations": checklist}

    patched = unwrap(await patch(client, strategy, setups=[setup, keep]))

    assert patched["setups"] == [
        {**setup, "confirmations": [checklist[1], checklist[0]]},
        strategy["setups"][1],
    ]

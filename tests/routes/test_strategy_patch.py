"""PATCH of a strategy: docs/api.md#patch-setups, P1 to P11, and what surrounds them."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import factories
import httpx
from factories import Client, details_of, error_of, run_sql, unwrap
from operations import dump
from saved_journals import for_rows
from starlette.applications import Starlette

CHECKLISTS = [
    {"name": "a", "description": "of a", "confirmations": [{"name": "x", "description": "of x"}, {"name": "y"}]},
    {"name": "b", "confirmations": [{"name": "z"}]},
]
INVALID = (400, "validation_error")
LARGEST_ID = 2**63 - 1


async def make_playbook(client: Client, name: str = "Playbook") -> Any:
    """Setup `a` with confirmations `x` and `y`, setup `b` with `z`."""
    return await factories.create_strategy(client, name, setups=CHECKLISTS)


async def patch(client: Client, strategy: Any, **members: Any) -> httpx.Response:
    return await client.patch(f"/strategies/{strategy['id']}", json=members)


async def patched(client: Client, strategy: Any, *setups: Any) -> Any:
    """The strategy after a PATCH of its setups."""
    return unwrap(await patch(client, strategy, setups=setups))


async def make_answered_trade(app: Starlette, strategy: Any, position: int = 0) -> int:
    """A trade of that setup, every confirmation of it answered."""
    accounts = await run_sql(app, "SELECT id FROM accounts LIMIT 1")
    account_id = accounts[0][0] if accounts else await factories.insert_account(app)
    setup = strategy["setups"][position]
    trade = await factories.insert_trade(app, account_id, strategy_id=strategy["id"], setup_id=setup["setup_id"])
    for one in setup["confirmations"]:
        await factories.insert_answer(app, trade, one["confirmation_id"], True, f"about {one['name']}")
    return trade


async def read_links(app: Starlette, trade_id: int) -> tuple[int | None, int | None, dict[int, str]]:
    """(strategy_id, setup_id, the notes on each answered confirmation) of the trade."""
    values = {"id": trade_id}
    ((strategy_id, setup_id),) = await run_sql(app, "SELECT strategy_id, setup_id FROM trades WHERE id = :id", values)
    rows = await run_sql(app, "SELECT confirmation_id, notes FROM confirmation_answers WHERE trade_id = :id", values)
    return strategy_id, setup_id, dict(rows)


def read_counts(response: httpx.Response) -> tuple[int, int]:
    """(trades unlinked, answers deleted) as the headers say."""
    return int(response.headers["x-trades-unlinked"]), int(response.headers["x-answers-deleted"])


def setup(strategy: Any, position: int, **members: Any) -> dict[str, Any]:
    """The item of a PATCH that keeps this setup, with those members."""
    return {"setup_id": strategy["setups"][position]["setup_id"], **members}


def confirmation(strategy: Any, position: int, place: int, **members: Any) -> dict[str, Any]:
    """The item of a PATCH that keeps this confirmation, with those members."""
    return {"confirmation_id": strategy["setups"][position]["confirmations"][place]["confirmation_id"], **members}


def names_in(items: Any) -> list[str]:
    return [item["name"] for item in items]


# The members of the strategy ---------------------------------------------------------------------------


@for_rows(
    "members",
    [
        *({"name": "New"}, {"name": "OLD"}, {"description": "New"}, {"description": None}),
        *({"color_tag": "#ABCDEF"}, {"risk_rules": {"new": 1}}, {"exit_rules": {}}, {"exit_rules": None}),
        {"name": "New", "risk_rules": None, "optimal_conditions": {"new": [1]}},
    ],
)
async def test_a_member_that_is_sent_is_updated_and_every_other_stays(client: Client, members: dict[str, Any]) -> None:
    rules = {member: {"old": 1} for member in ("risk_rules", "exit_rules", "optimal_conditions")}
    before = await factories.create_strategy(client, "Old", description="Old", setups=CHECKLISTS, **rules)
    await factories.create_strategy(client, "Next")

    after = unwrap(await patch(client, before, **members))

    assert after == {**before, **members, "updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert await factories.get_strategy(client, before["id"]) == after
    assert names_in(unwrap(await client.get("/strategies"))) == sorted([after["name"], "Next"], key=str.lower)


SAME: dict[str, Callable[[Any], dict[str, Any]]] = {
    "nothing": lambda strategy: {},
    "the whole strategy": lambda strategy: strategy,
    "its name in other letters": lambda strategy: {"name": " Cafe\u0301\n"},
    "its setups": lambda strategy: {"setups": strategy["setups"]},
    "the ids of its setups": lambda strategy: {"setups": [setup(strategy, 0), setup(strategy, 1)]},
    "the ids, with equal numbers": lambda strategy: {
        "setups": [setup(strategy, 0, sort_order=5), setup(strategy, 1, sort_order=5)]
    },
    "one setup and one id": lambda strategy: {"setups": [strategy["setups"][0], setup(strategy, 1)]},
    "the ids of a checklist": lambda strategy: {
        "setups": [
            setup(strategy, 0, confirmations=[confirmation(strategy, 0, 0), confirmation(strategy, 0, 1)]),
            setup(strategy, 1),
        ]
    },
}


@for_rows("sent", SAME)
async def test_what_changes_nothing_writes_nothing(app: Starlette, client: Client, sent: str) -> None:
    with_gaps = [{**one, "sort_order": 10 * number} for number, one in enumerate(CHECKLISTS, 1)]
    strategy = await factories.create_strategy(
        client, "Café", setups=with_gaps, account_id=await factories.insert_account(app), risk_rules={"a": 1}
    )
    before = dump(app)

    after = await patch(client, strategy, **SAME[sent](strategy))

    assert unwrap(after) == strategy
    assert read_counts(after) == (0, 0)
    assert dump(app) == before


async def test_equal_sort_orders_in_an_earlier_release_stay_if_nothing_changes(app: Starlette, client: Client) -> None:
    strategy = await make_playbook(client)
    await run_sql(app, "UPDATE setups SET sort_order = 7")
    read = await factories.get_strategy(client, strategy["id"])

    assert await patched(client, strategy, *read["setups"]) == read


async def test_a_change_below_the_strategy_moves_its_updated_at(client: Client) -> None:
    before = await make_playbook(client)
    checklist = [confirmation(before, 0, 0), confirmation(before, 0, 1, description="new")]

    after = await patched(client, before, setup(before, 0, confirmations=checklist), setup(before, 1))

    assert after["updated_at"] > before["updated_at"]
    assert after["created_at"] == before["created_at"]


@for_rows(
    "members, error",
    [
        ({"name": " Cafe\u0301", "setups": [{"name": "new"}], "description": "new"}, (409, "duplicate_name")),
        ({"name": "Café", "setups": [{"setup_id": 99}]}, INVALID),
        ({"name": "Café", "account_id": 99}, INVALID),
        ({"name": "Café", "copy_group_id": 99}, INVALID),
    ],
)
async def test_a_taken_name_is_told_after_the_rules_and_nothing_is_written(
    app: Starlette, client: Client, members: dict[str, Any], error: tuple[int, str]
) -> None:
    await factories.create_strategy(client, "Café")
    mine = await make_playbook(client)
    before = dump(app)

    assert error_of(await patch(client, mine, **members)) == error
    assert dump(app) == before


# P1 to P4: the list of setups --------------------------------------------------------------------------


async def test_a_list_that_is_sent_is_the_whole_list(app: Starlette, client: Client) -> None:
    another = await make_playbook(client, "Another")
    strategy = await make_playbook(client)
    of_deleted, of_kept = [await make_answered_trade(app, strategy, position) for position in (0, 1)]
    kept_answers = await read_links(app, of_kept)
    new = {"name": "c", "description": "of c", "confirmations": [{"name": "u"}, {"name": "v"}]}

    response = await patch(client, strategy, setups=[setup(strategy, 1, sort_order=0), new])

    after = unwrap(response)
    b, c = after["setups"]
    assert b == {**strategy["setups"][1], "sort_order": 0}
    assert c["setup_id"] > b["setup_id"]
    assert (c["name"], c["description"], c["sort_order"]) == ("c", "of c", 1)
    assert [(one["name"], one["description"], one["sort_order"]) for one in c["confirmations"]] == [
        ("u", None, 0),
        ("v", None, 1),
    ]
    assert after["setup_count"] == 2
    assert unwrap(await client.get(f"/strategies/{strategy['id']}/setups")) == after["setups"]
    assert read_counts(response) == (1, 2)
    assert await read_links(app, of_deleted) == (strategy["id"], None, {})
    assert await read_links(app, of_kept) == kept_answers
    assert await run_sql(app, "SELECT count(*) FROM confirmations") == [(3 + 1 + 2,)]
    assert await factories.get_strategy(client, another["id"]) == another


async def test_setups_without_their_ids_are_new_and_no_id_is_used_again(app: Starlette, client: Client) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy)

    replaced = await patched(client, strategy, *CHECKLISTS)
    cleared = await patched(client, strategy)
    again = await patched(client, strategy, *CHECKLISTS)

    assert (cleared["setups"], cleared["setup_count"]) == ([], 0)
    for older, newer in pairwise((strategy, replaced, again)):
        assert setup(newer, 0)["setup_id"] > setup(older, 1)["setup_id"]
        assert confirmation(newer, 0, 0)["confirmation_id"] > confirmation(older, 1, 0)["confirmation_id"]
    assert await read_links(app, trade) == (strategy["id"], None, {})


# P2, P6 to P8: setups and confirmations in place -------------------------------------------------------


@for_rows(
    "members",
    [
        {"name": "New"},
        {"description": "New"},
        {"description": None},
        {"sort_order": -7},
        {"name": "New", "description": "New", "sort_order": 9},
    ],
)
async def test_an_item_with_its_id_is_updated_in_place_and_keeps_its_trades_and_answers(
    app: Starlette, client: Client, members: dict[str, Any]
) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy)
    links = await read_links(app, trade)
    (first, second), sent = strategy["setups"], {"sort_order": 0, **members}
    x, y = first["confirmations"]

    of_setup = await patched(client, strategy, setup(strategy, 0, **sent), setup(strategy, 1, sort_order=99))
    checklist = [confirmation(strategy, 0, 0, **sent), confirmation(strategy, 0, 1, sort_order=99)]
    of_confirmation = await patched(client, strategy, setup(strategy, 0, confirmations=checklist))

    assert of_setup["setups"] == [{**first, **sent}, {**second, "sort_order": 99}]
    checklist = [{**x, **sent}, {**y, "sort_order": 99}]
    assert of_confirmation["setups"] == [{**first, **sent, "confirmations": checklist}]
    assert await read_links(app, trade) == links


async def test_a_confirmation_that_the_array_does_not_name_goes_with_its_answers(
    app: Starlette, client: Client
) -> None:
    strategy = await make_playbook(client)
    trades = [await make_answered_trade(app, strategy) for _ in range(2)]
    y = confirmation(strategy, 0, 1)
    checklist = [{"name": "n", "description": "of n"}, y]

    setups = [setup(strategy, 0, confirmations=checklist), setup(strategy, 1)]
    response = await patch(client, strategy, setups=setups)

    after = unwrap(response)
    new, kept = after["setups"][0]["confirmations"]
    assert (new["name"], new["description"], new["sort_order"]) == ("n", "of n", 0)
    assert new["confirmation_id"] > confirmation(strategy, 1, 0)["confirmation_id"]
    assert kept == {**strategy["setups"][0]["confirmations"][1], "sort_order": 1}
    assert after["setups"][1] == strategy["setups"][1]
    assert read_counts(response) == (0, 2)
    for trade in trades:
        assert await read_links(app, trade) == (*links_to(strategy), {y["confirmation_id"]: "about y"})


async def test_an_empty_array_clears_the_confirmations(app: Starlette, client: Client) -> None:
    strategy = await make_playbook(client)
    trade = await make_answered_trade(app, strategy)

    after = await patched(client, strategy, setup(strategy, 0, confirmations=[]), setup(strategy, 1))

    assert after["setups"] == [{**strategy["setups"][0], "confirmations": []}, strategy["setups"][1]]
    assert await read_links(app, trade) == (*links_to(strategy), {})


def links_to(strategy: Any) -> tuple[int, int]:
    return strategy["id"], strategy["setups"][0]["setup_id"]


async def test_two_setups_and_two_confirmations_swap_their_names(client: Client) -> None:
    first, second = (strategy := await make_playbook(client))["setups"]
    x, y = first["confirmations"]
    swapped = [
        {**first, "name": "b", "confirmations": [{**x, "name": "y"}, {**y, "name": "x"}]},
        {**second, "name": "a"},
    ]

    assert (await patched(client, strategy, *swapped))["setups"] == swapped


async def test_rows_of_the_largest_ids_are_told_apart(app: Starlette, client: Client) -> None:
    await make_playbook(client, "First")
    await run_sql(app, "UPDATE sqlite_sequence SET seq = 9223372036854775000 WHERE name != 'strategies'")
    strategy = await make_playbook(client, "Last")
    assert setup(strategy, 0) == {"setup_id": 9223372036854775001}
    first, second = strategy["setups"][0]["confirmations"]
    checklist = [{**first, "name": "new x", "sort_order": 7}, {**second, "description": "new"}]
    sent = {**strategy["setups"][0], "name": "new a", "confirmations": checklist}

    after = await patched(client, strategy, sent, setup(strategy, 1))

    assert after["setups"] == [{**sent, "confirmations": checklist[::-1]}, strategy["setups"][1]]


# P5, P9: ids that do not belong there ------------------------------------------------------------------


async def test_ids_that_do_not_belong_there_are_refused_and_all_named(
    app: Starlette, client: Client, other_user_client: Client
) -> None:
    strategy = await make_playbook(client)
    another, theirs = await make_playbook(client, "Another"), await make_playbook(other_user_client)
    deleted = await make_playbook(client, "Deleted")
    await client.delete(f"/strategies/{deleted['id']}")
    setups = [setup(one, 0) for one in (another, theirs, deleted)] + [{"setup_id": LARGEST_ID}]
    confirmations = [
        confirmation(strategy, 1, 0),
        *(confirmation(one, 0, 0) for one in (another, theirs, deleted)),
        {"confirmation_id": LARGEST_ID},
    ]
    before = dump(app)

    refused = await patch(
        client,
        strategy,
        name="New",
        setups=[
            setup(strategy, 0, confirmations=confirmations[:1]),
            {**setups[0], "confirmations": confirmations[1:2]},
            {"name": "new", "confirmations": confirmations[2:]},
            *setups[1:],
        ],
    )

    assert error_of(refused) == INVALID
    assert {name: sorted(ids) for name, ids in details_of(refused).items()} == {
        "unknown_setup_ids": sorted(one["setup_id"] for one in setups),
        "unknown_confirmation_ids": sorted(one["confirmation_id"] for one in confirmations),
    }
    assert dump(app) == before


async def test_an_id_sent_twice_is_refused_and_named(app: Starlette, client: Client) -> None:
    strategy = await make_playbook(client)
    before = dump(app)
    a, b, x = setup(strategy, 0), setup(strategy, 1), confirmation(strategy, 0, 0)

    setups = await patch(client, strategy, setups=[a, b, {**a, "name": "New"}, b])
    checklist = [x, {**x, "name": "New"}]
    confirmations = await patch(client, strategy, setups=[{**a, "confirmations": checklist}])

    assert error_of(setups) == error_of(confirmations) == INVALID
    assert details_of(setups) == {"duplicate_setup_ids": [*a.values(), *b.values()]}
    assert details_of(confirmations) == {"duplicate_confirmation_ids": [*x.values()]}
    assert dump(app) == before


# P10: the two scopes -----------------------------------------------------------------------------------


@for_rows(
    "bound_to, sent, then",
    [
        ("account_id", {"account_id": None}, None),
        ("account_id", {"copy_group_id": None}, "account_id"),
        ("account_id", {"account_id": None, "copy_group_id": None}, None),
        ("account_id", {"copy_group_id": "group"}, "copy_group_id"),
        ("account_id", {"copy_group_id": "group", "account_id": None}, "copy_group_id"),
        ("account_id", {"account_id": "account", "copy_group_id": None}, "account_id"),
        ("account_id", {"name": "New"}, "account_id"),
        ("copy_group_id", {"copy_group_id": None}, None),
        ("copy_group_id", {"account_id": None}, "copy_group_id"),
        ("copy_group_id", {"account_id": "account"}, "account_id"),
        ("copy_group_id", {"account_id": "account", "copy_group_id": None}, "account_id"),
        ("copy_group_id", {"name": "New"}, "copy_group_id"),
        (None, {"account_id": "account"}, "account_id"),
        (None, {"copy_group_id": "group"}, "copy_group_id"),
    ],
)
async def test_null_clears_a_scope_and_setting_one_clears_the_other(
    app: Starlette, client: Client, bound_to: str | None, sent: Any, then: str | None
) -> None:
    ids = {"account_id": await factories.insert_account(app), "copy_group_id": await factories.insert_copy_group(app)}
    words = {"account": ids["account_id"], "group": ids["copy_group_id"]}
    scope: dict[str, Any] = {bound_to: ids[bound_to]} if bound_to else {}
    strategy = await factories.create_strategy(client, setups=CHECKLISTS, **scope)

    after = unwrap(await patch(client, strategy, **{member: words.get(value, value) for member, value in sent.items()}))

    assert {name: after[name] for name in ids} == {
        name: row_id if name == then else None for name, row_id in ids.items()
    }
    assert after["setups"] == strategy["setups"]


async def test_both_scopes_at_once_are_refused(app: Starlette, client: Client) -> None:
    both = {"account_id": await factories.insert_account(app), "copy_group_id": await factories.insert_copy_group(app)}
    strategy = await factories.create_strategy(client, account_id=both["account_id"])
    before = dump(app)

    refused = await patch(client, strategy, name="New", **both)

    assert error_of(refused) == INVALID
    assert sorted(details_of(refused)["fields"]) == ["account_id", "copy_group_id"]
    assert dump(app) == before


# P11: the order ----------------------------------------------------------------------------------------


async def test_a_list_that_is_read_reversed_and_sent_back_is_reversed(client: Client) -> None:
    items = [{"name": name} for name in "abc"]
    strategy = await factories.create_strategy(
        client, setups=[{"name": name, "confirmations": items} for name in "stu"]
    )
    sent = [{**one, "confirmations": one["confirmations"][::-1]} for one in reversed(strategy["setups"])]

    after = await patched(client, strategy, *sent)

    assert [(one["name"], one["sort_order"]) for one in after["setups"]] == [("u", 0), ("t", 1), ("s", 2)]
    assert [names_in(one["confirmations"]) for one in after["setups"]] == [[*"cba"]] * 3
    assert after["updated_at"] > strategy["updated_at"]


def without_number(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "sort_order"}


ORDERS: dict[str, tuple[Callable[[Any, Any, Any], list[Any]], str]] = {
    "an item that is appended comes last": (lambda a, b, c: [a, b, c, {"name": "d"}], "abcd"),
    "an item in front comes first": (lambda a, b, c: [{"name": "d"}, a, b, c], "dabc"),
    "items without numbers are a new order": (lambda a, b, c: [without_number(one) for one in (c, a, b)], "cab"),
    "numbers that were read are no order": (lambda a, b, c: [c, b, a], "cba"),
    "one other number makes the numbers decide": (lambda a, b, c: [c, {**b, "sort_order": 99}, a], "acb"),
    "a new item with a number, too": (lambda a, b, c: [c, b, a, {"name": "d", "sort_order": 15}], "adbc"),
    "the array decides between equal numbers": (
        lambda a, b, c: [{**c, "sort_order": 1}, {**b, "sort_order": 0}, {**a, "sort_order": 1}],
        "bca",
    ),
}


@for_rows("case", ORDERS)
async def test_the_order_of_setups_and_confirmations(client: Client, case: str) -> None:
    arrange, names = ORDERS[case]
    numbered = [{"name": name, "sort_order": 10 * number} for number, name in enumerate("abc", 1)]
    setups = [{**numbered[0], "confirmations": numbered}, *numbered[1:]]
    strategy = await factories.create_strategy(client, setups=setups)
    a, b, c = strategy["setups"]

    of_setups = await patched(client, strategy, *arrange(a, b, c))
    of_checklist = await patched(client, strategy, {**a, "confirmations": arrange(*a["confirmations"])})

    assert names_in(of_setups["setups"]) == [*names]
    assert names_in(of_checklist["setups"][0]["confirmations"]) == [*names]

"""The diff of a canonical list of setups against a naive model, alone and through HTTP."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from factories import create_strategy, get_strategy, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples

from journal_api.errors import ValidationFailed
from journal_api.rules.setup_diff import (
    Changes,
    Diff,
    NewRow,
    StoredItem,
    StoredSetup,
    StoredSetups,
    diff_setups,
)
from journal_api.structs.setups import SetupCreate, SetupPatch
from journal_api.values.types import decode_value

STRATEGY_ID = 1
FIRST_NEW_ID = 1000
# By id: parent, name, description, sort_order.
Table = dict[int, tuple[int, str, str | None, int]]

# The model ---------------------------------------------------------------------------------------------


class Tables(NamedTuple):
    setups: Table
    confirmations: Table


def tables_of(setups: Sequence[dict[str, Any]]) -> Tables:
    """What stands in the tables when the strategy reads like that."""
    found = Tables({}, {})
    for setup in setups:
        row_id = setup["setup_id"]
        found.setups[row_id] = (STRATEGY_ID, setup["name"], setup["description"], setup["sort_order"])
        for one in setup["confirmations"]:
            row = (row_id, one["name"], one["description"], one["sort_order"])
            found.confirmations[one["confirmation_id"]] = row
    return found


def wanted(
    stored: Sequence[dict[str, Any]],
    sent: Sequence[dict[str, Any]],
    setup_ids: Iterator[int],
    confirmation_ids: Iterator[int],
) -> list[dict[str, Any]]:
    """What the rules make of the stored setups, item by item, in the order sent."""
    before = {setup["setup_id"]: setup for setup in stored}
    after = merged(before, sent, "setup_id", setup_ids)
    for setup, item in zip(after, sent, strict=True):
        old = before.get(item.get("setup_id"), {"confirmations": []})["confirmations"]
        setup["confirmations"] = old
        if "confirmations" in item:
            known = {one["confirmation_id"]: one for one in old}
            setup["confirmations"] = merged(known, item["confirmations"], "confirmation_id", confirmation_ids)
    return after


def merged(
    before: dict[int, dict[str, Any]], sent: Sequence[dict[str, Any]], id_member: str, new_ids: Iterator[int]
) -> list[dict[str, Any]]:
    """The items with the members that were sent; a new item gets the next id and the defaults."""
    after = [
        {**(before.get(item.get(id_member, -1)) or {id_member: next(new_ids), "description": None}), **item}
        for item in sent
    ]
    numbers_decide = all("sort_order" in item for item in sent) and any(
        item.get(id_member) not in before or item["sort_order"] != before[item[id_member]]["sort_order"]
        for item in sent
    )
    if numbers_decide and len({item["sort_order"] for item in sent}) == len(sent):
        return after
    in_order = sorted(after, key=lambda item: item["sort_order"]) if numbers_decide else after
    ids = [item[id_member] for item in in_order]
    stored = [row_id for row_id, _ in sorted(before.items(), key=lambda row: (row[1]["sort_order"], row[0]))]
    if ids == [row_id for row_id in stored if row_id in ids]:
        numbers = {row_id: before[row_id]["sort_order"] for row_id in ids}
    else:
        numbers = {row_id: number for number, row_id in enumerate(ids)}
    return [{**item, "sort_order": numbers[item[id_member]]} for item in after]


def applied(diff: Diff, before: Tables) -> Tables:
    """The tables after the statements of the diff, setups first; a deleted setup takes its confirmations."""
    setups = changed(before.setups, diff.setups)
    left = {row_id: row for row_id, row in before.confirmations.items() if row[0] in setups}
    return Tables(setups, changed(left, diff.confirmations))


def changed(before: Table, changes: Changes) -> Table:
    """A table after its statements: DELETE, INSERT, and an UPDATE for each column."""
    after = {row_id: row for row_id, row in before.items() if row_id not in changes.deleted}
    for new in changes.inserted:
        after[new.id] = (new.parent_id, new.name, new.description, new.sort_order)
    for row_id in updated(changes):
        parent_id, name, description, sort_order = before[row_id]
        after[row_id] = (
            parent_id,
            changes.names.get(row_id, name),
            changes.descriptions.get(row_id, description),
            changes.sort_orders.get(row_id, sort_order),
        )
    return after


def updated(changes: Changes) -> set[int]:
    return {*changes.names, *changes.descriptions, *changes.sort_orders}


def offenders(stored: Sequence[dict[str, Any]], sent: Sequence[dict[str, Any]]) -> dict[str, set[int]]:
    """What P5 and P9 have to name, by the words of docs/api.md#patch-setups."""
    of_setup = {
        setup["setup_id"]: {one["confirmation_id"] for one in setup["confirmations"]} for setup in stored
    }
    setup_ids = [item["setup_id"] for item in sent if "setup_id" in item]
    pairs = [
        (item.get("setup_id"), one["confirmation_id"])
        for item in sent
        for one in item.get("confirmations", [])
        if "confirmation_id" in one
    ]
    found = {
        "unknown_setup_ids": {row_id for row_id in setup_ids if row_id not in of_setup},
        "unknown_confirmation_ids": {one for parent, one in pairs if one not in of_setup.get(parent, set())},
        "duplicate_setup_ids": repeated(setup_ids),
        "duplicate_confirmation_ids": repeated([one for _, one in pairs]),
    }
    return {word: ids for word, ids in found.items() if ids}


def repeated(ids: Sequence[int]) -> set[int]:
    return {row_id for row_id, times in Counter(ids).items() if times > 1}


# What is generated -------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "é", "🚀 go", "5", "null", "x" * 255])
DESCRIPTIONS = st.sampled_from([None, "", "text", '"\\\n'])
SORT_ORDERS = st.sampled_from([-(2**31), -1, 0, 1, 2, 2**31 - 1])
MEMBERS = {"name": NAMES, "description": DESCRIPTIONS, "sort_order": SORT_ORDERS}


@st.composite
def stored_setups(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A strategy of up to four setups of up to four confirmations, with gaps between the ids."""
    confirmation: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(MEMBERS)
    setup: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {**MEMBERS, "confirmations": st.lists(confirmation, max_size=4)}
    )
    setup_ids, confirmation_ids = count(10, draw(st.integers(1, 3))), count(100, draw(st.integers(1, 3)))
    return [
        {
            **one,
            "setup_id": next(setup_ids),
            "confirmations": [
                {**item, "confirmation_id": next(confirmation_ids)} for item in one["confirmations"]
            ],
        }
        for one in draw(st.lists(setup, max_size=4))
    ]


@st.composite
def items(draw: st.DrawFn, id_member: str, stored: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A canonical list: some of the known ids in any order, each with any members, between new items.

    In some lists every known item has the number that was read.
    """
    read = {one[id_member]: one["sort_order"] for one in stored}
    kept = draw(st.lists(st.sampled_from(list(read)), unique=True)) if read else []
    new: list[dict[str, int]] = [{}] * draw(st.integers(0, 3))
    ids = draw(st.permutations([*({id_member: row_id} for row_id in kept), *new]))
    optional = st.fixed_dictionaries({}, optional=MEMBERS)
    required = st.fixed_dictionaries(
        {"name": NAMES}, optional={"description": DESCRIPTIONS, "sort_order": SORT_ORDERS}
    )
    sent = [{**named, **draw(optional if named else required)} for named in ids]
    if draw(st.booleans()):
        return [{**one, "sort_order": read[one[id_member]]} if id_member in one else one for one in sent]
    return sent


@st.composite
def canonical_lists(draw: st.DrawFn, stored: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A list of setups that PATCH takes for that strategy."""
    of_setup = {setup["setup_id"]: setup for setup in stored}
    sent = draw(items("setup_id", stored))
    for item in sent:
        if draw(st.booleans()):
            old = of_setup.get(item.get("setup_id"), {"confirmations": []})
            item["confirmations"] = draw(items("confirmation_id", old["confirmations"]))
    return sent


@st.composite
def lists_of_any_ids(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A list of setups whose ids are known, unknown, of another setup, and repeated, as it comes."""
    confirmation = st.fixed_dictionaries(
        {"name": NAMES}, optional={"confirmation_id": st.sampled_from([100, 101, 102, 103, 998, 999])}
    )
    setup = st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "setup_id": st.sampled_from([10, 11, 12, 98, 99]),
            "confirmations": st.lists(confirmation, max_size=4),
        },
    )
    return draw(st.lists(setup, max_size=5))


def as_stored(setups: Sequence[dict[str, Any]]) -> StoredSetups:
    found = {
        setup["setup_id"]: StoredSetup(
            *values_of(setup), {one["confirmation_id"]: item_of(one) for one in setup["confirmations"]}
        )
        for setup in setups
    }
    return StoredSetups(found, last_setup_id=FIRST_NEW_ID - 1, last_confirmation_id=FIRST_NEW_ID - 1)


def item_of(one: dict[str, Any]) -> StoredItem:
    return StoredItem(*values_of(one))


def values_of(one: dict[str, Any]) -> tuple[str, str | None, int]:
    return one["name"], one["description"], one["sort_order"]


def as_sent(setups: Sequence[dict[str, Any]]) -> list[SetupPatch]:
    return msgspec.convert(setups, list[SetupPatch], dec_hook=decode_value)


def diff_of(stored: Sequence[dict[str, Any]], sent: Sequence[dict[str, Any]]) -> Diff:
    return diff_setups(STRATEGY_ID, as_stored(stored), as_sent(sent))


# The diff alone ----------------------------------------------------------------------------------------


@given(st.data())
@max_examples(full=400, ci=80)
def test_the_diff_applied_to_the_tables_makes_what_the_rules_say(data: st.DataObject) -> None:
    stored = data.draw(stored_setups())
    sent = data.draw(canonical_lists(stored))

    diff = diff_of(stored, sent)

    after = wanted(stored, sent, count(FIRST_NEW_ID), count(FIRST_NEW_ID))
    assert applied(diff, tables_of(stored)) == tables_of(after)


@given(st.data())
@max_examples(full=200, ci=40)
def test_the_diff_writes_no_value_that_stays_as_it_is(data: st.DataObject) -> None:
    stored = data.draw(stored_setups())
    sent = data.draw(canonical_lists(stored))

    diff = diff_of(stored, sent)

    for changes, before in zip(diff, tables_of(stored), strict=True):
        assert [row_id for row_id, name in changes.names.items() if before[row_id][1] == name] == []
        assert [row_id for row_id, text in changes.descriptions.items() if before[row_id][2] == text] == []
        assert [row_id for row_id, place in changes.sort_orders.items() if before[row_id][3] == place] == []
        touched = [*changes.deleted, *(row.id for row in changes.inserted), *updated(changes)]
        assert len(set(touched)) == len(touched)


@given(st.data())
@max_examples(full=100, ci=20)
def test_the_diff_against_what_was_read_is_empty(data: st.DataObject) -> None:
    """In the order of answers, which is by sort_order and id."""
    stored = [
        {**setup, "confirmations": sorted(setup["confirmations"], key=order_of)}
        for setup in sorted(data.draw(stored_setups()), key=order_of)
    ]

    diff = diff_of(stored, stored)

    assert not any(any(changes) for changes in diff)


@given(st.data())
@max_examples(full=200, ci=40)
def test_what_was_read_and_put_in_another_order_is_stored_in_that_order(data: st.DataObject) -> None:
    stored = data.draw(stored_setups())
    sent = [
        {**setup, "confirmations": data.draw(st.permutations(setup["confirmations"]))}
        for setup in data.draw(st.permutations(stored))
    ]

    after = applied(diff_of(stored, sent), tables_of(stored))

    assert ids_in_order(after.setups) == [setup["setup_id"] for setup in sent]
    for setup in sent:
        of_setup = {row_id: row for row_id, row in after.confirmations.items() if row[0] == setup["setup_id"]}
        assert ids_in_order(of_setup) == [one["confirmation_id"] for one in setup["confirmations"]]


def ids_in_order(table: Table) -> list[int]:
    return sorted(table, key=lambda row_id: (table[row_id][3], row_id))


def order_of(item: dict[str, Any]) -> tuple[int, int]:
    return item["sort_order"], item.get("setup_id") or item["confirmation_id"]


@given(stored_setups())
@max_examples(full=100, ci=20)
def test_the_diff_of_nothing_stored_inserts_everything_in_the_order_sent(
    setups: list[dict[str, Any]],
) -> None:
    sent = [
        {
            **{member: value for member, value in setup.items() if member != "setup_id"},
            "confirmations": [
                {member: value for member, value in one.items() if member != "confirmation_id"}
                for one in setup["confirmations"]
            ],
        }
        for setup in setups
    ]
    new = msgspec.convert(sent, list[SetupCreate], dec_hook=decode_value)

    diff = diff_setups(STRATEGY_ID, as_stored([]), new)

    for changes in diff:
        assert not any(changes._replace(inserted=[]))
        assert [row.id for row in changes.inserted] == list(
            range(FIRST_NEW_ID, FIRST_NEW_ID + len(changes.inserted))
        )
    assert [row.name for row in diff.setups.inserted] == [setup["name"] for setup in sent]
    assert [(row.parent_id, row.name) for row in diff.confirmations.inserted] == [
        (parent, one["name"])
        for parent, setup in zip(count(FIRST_NEW_ID), sent, strict=False)
        for one in setup["confirmations"]
    ]


@given(stored_setups(), lists_of_any_ids())
@max_examples(full=400, ci=80)
def test_every_unknown_and_every_repeated_id_is_named_once(
    stored: list[dict[str, Any]], sent: list[dict[str, Any]]
) -> None:
    expected = offenders(stored, sent)

    try:
        diff_of(stored, sent)
        named: dict[str, list[int]] = {}
    except ValidationFailed as refused:
        named = refused.details

    assert {word: set(ids) for word, ids in named.items()} == expected
    assert all(len(ids) == len(set(ids)) for ids in named.values())


# Through HTTP ------------------------------------------------------------------------------------------


async def make_afresh(client: httpx.AsyncClient) -> Any:
    """A strategy of two setups of one confirmation each, the only one: examples share a database."""
    for left in unwrap(await client.get("/strategies")):
        await client.delete(f"/strategies/{left['id']}")
    return await create_strategy(client, setups=[{"name": "first", "confirmations": [{"name": "first"}]}] * 2)


class Model:
    """A strategy as a client would remember it, were the rules all there is."""

    def __init__(self, strategy: Any) -> None:
        self.fields = {"name": strategy["name"], "description": strategy["description"]}
        self.setups: list[dict[str, Any]] = strategy["setups"]
        self.used = ids_in(self.setups)

    def patch(self, body: dict[str, Any], answered: Any) -> None:
        """Follow the body; ids of new rows are taken from the answer, where they are found by their name."""
        self.fields |= {field: value for field, value in body.items() if field != "setups"}
        if "setups" in body:
            after = wanted(self.setups, body["setups"], count(-1, -1), count(-1, -1))
            self.setups = in_order(with_new_ids(after, answered["setups"]))
        new = ids_in(answered["setups"])
        for table in ("setups", "confirmations"):
            fresh = new[table] - self.used[table]
            assert not fresh or min(fresh) > max(self.used[table], default=0)
            self.used[table] |= fresh


def ids_in(setups: Any) -> dict[str, set[int]]:
    return {
        "setups": {setup["setup_id"] for setup in setups},
        "confirmations": {one["confirmation_id"] for setup in setups for one in setup["confirmations"]},
    }


def with_new_ids(after: list[dict[str, Any]], answered: Any) -> list[dict[str, Any]]:
    """The setups with the ids that the answer gave to the new ones: new names occur only once."""
    setup_ids = {setup["name"]: setup["setup_id"] for setup in answered}
    confirmation_ids = {
        one["name"]: one["confirmation_id"] for setup in answered for one in setup["confirmations"]
    }

    def known(item: dict[str, Any], member: str, ids: dict[str, int]) -> dict[str, Any]:
        return {**item, member: ids.get(item["name"]) if item[member] < 0 else item[member]}

    return [
        {
            **known(setup, "setup_id", setup_ids),
            "confirmations": [
                known(one, "confirmation_id", confirmation_ids) for one in setup["confirmations"]
            ],
        }
        for setup in after
    ]


def in_order(setups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(
        (
            {
                **setup,
                "confirmations": sorted(
                    setup["confirmations"], key=lambda one: (one["sort_order"], one["confirmation_id"])
                ),
            }
            for setup in setups
        ),
        key=lambda setup: (setup["sort_order"], setup["setup_id"]),
    )


@st.composite
def bodies(draw: st.DrawFn, model: Model, numbers: Iterator[int]) -> dict[str, Any]:
    """A PATCH body that is valid for the strategy as it stands; every new item has a name of its own."""
    body: dict[str, Any] = draw(
        st.fixed_dictionaries({}, optional={"description": st.sampled_from([None, "new", "newer"])})
    )
    if draw(st.integers(0, 4)):
        body["setups"] = draw(canonical_lists(model.setups))
        for item in body["setups"]:
            for one in [item, *item.get("confirmations", [])]:
                if "setup_id" not in one and "confirmation_id" not in one:
                    one["name"] = f"new {next(numbers)}"
    return body


@given(data=st.data())
@max_examples(full=40, ci=8)
async def test_a_sequence_of_patches_over_http_follows_the_model(
    client: httpx.AsyncClient, data: st.DataObject
) -> None:
    numbers = count()
    strategy = await make_afresh(client)
    model = Model(strategy)

    for _ in range(data.draw(st.integers(1, 6))):
        body = data.draw(bodies(model, numbers))
        answered = unwrap(await client.patch(f"/strategies/{strategy['id']}", json=body))

        model.patch(body, answered)
        assert answered["setups"] == model.setups
        assert {field: answered[field] for field in model.fields} == model.fields
        assert await get_strategy(client, strategy["id"]) == answered


@given(data=st.data())
@max_examples(full=40, ci=8)
async def test_a_list_of_any_ids_over_http_is_followed_or_refused_whole(
    client: httpx.AsyncClient, data: st.DataObject
) -> None:
    strategy = await make_afresh(client)
    real = ids_in(strategy["setups"])
    setup_id = st.sampled_from([*sorted(real["setups"]), 2**61, 2**62])
    confirmation_id = st.sampled_from([*sorted(real["confirmations"]), 2**61, 2**62])
    confirmation = st.fixed_dictionaries({"name": NAMES}, optional={"confirmation_id": confirmation_id})
    setup = st.fixed_dictionaries(
        {"name": NAMES},
        optional={"setup_id": setup_id, "confirmations": st.lists(confirmation, max_size=3)},
    )
    sent = data.draw(st.lists(setup, max_size=4))

    answer = await client.patch(f"/strategies/{strategy['id']}", json={"setups": sent})

    if expected := offenders(strategy["setups"], sent):
        assert answer.status_code == 400
        assert {word: set(ids) for word, ids in answer.json()["error"]["details"].items()} == expected
        assert await get_strategy(client, strategy["id"]) == strategy
    else:
        assert answer.status_code == 200


def test_a_new_item_is_not_confused_with_one_that_is_kept() -> None:
    stored = [{"setup_id": 10, "name": "a", "description": "old", "sort_order": 3, "confirmations": []}]

    diff = diff_of(stored, [{"name": "a"}, {"setup_id": 10}])

    assert diff.setups == ([], [NewRow(FIRST_NEW_ID, STRATEGY_ID, "a", None, 0)], {}, {}, {10: 1})


def test_an_unknown_id_is_refused_before_anything_is_made() -> None:
    with pytest.raises(ValidationFailed) as refused:
        diff_of([], [{"setup_id": 10, "confirmations": [{"confirmation_id": 100}]}])

    assert refused.value.details == {"unknown_setup_ids": [10], "unknown_confirmation_ids": [100]}

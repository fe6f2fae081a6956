"""The diff of a list of setups against a plain model of docs/api.md#patch-setups."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import msgspec
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
Item = dict[str, Any]
# By id: parent, name, description, sort_order.
Table = dict[int, tuple[int, str, str | None, int]]

# The model ---------------------------------------------------------------------------------------------


class Tables(NamedTuple):
    setups: Table
    confirmations: Table


def as_tables(setups: Sequence[Item]) -> Tables:
    """The rows of the two tables when the strategy reads like that."""
    tables = Tables({}, {})
    for setup in setups:
        tables.setups[setup["setup_id"]] = (STRATEGY_ID, *values_of(setup))
        for one in setup["confirmations"]:
            tables.confirmations[one["confirmation_id"]] = (setup["setup_id"], *values_of(one))
    return tables


def values_of(item: Item) -> tuple[str, str | None, int]:
    return item["name"], item["description"], item["sort_order"]


def expected(stored: Sequence[Item], sent: Sequence[Item]) -> list[Item]:
    """The setups after the PATCH by the rules, item by item, in the order sent."""
    before = {setup["setup_id"]: setup for setup in stored}
    confirmation_ids = count(FIRST_NEW_ID)
    after = merge(before, sent, "setup_id", count(FIRST_NEW_ID))
    for setup, item in zip(after, sent, strict=True):
        old = before.get(item.get("setup_id"), {"confirmations": []})["confirmations"]
        setup["confirmations"] = old
        if "confirmations" in item:
            known = {one["confirmation_id"]: one for one in old}
            setup["confirmations"] = merge(known, item["confirmations"], "confirmation_id", confirmation_ids)
    return after


def merge(
    before: dict[int, Item], sent: Sequence[Item], id_member: str, new_ids: Iterator[int]
) -> list[Item]:
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


def apply(diff: Diff, before: Tables) -> Tables:
    """The tables after the statements of the diff, setups first; a deleted setup takes its confirmations."""
    setups = apply_changes(before.setups, diff.setups)
    left = {row_id: row for row_id, row in before.confirmations.items() if row[0] in setups}
    return Tables(setups, apply_changes(left, diff.confirmations))


def apply_changes(before: Table, changes: Changes) -> Table:
    """A table after its statements: DELETE, INSERT, and an UPDATE for each column."""
    after = {row_id: row for row_id, row in before.items() if row_id not in changes.deleted}
    for new in changes.inserted:
        after[new.id] = (new.parent_id, new.name, new.description, new.sort_order)
    for row_id in updated_ids(changes):
        parent_id, name, description, sort_order = before[row_id]
        after[row_id] = (
            parent_id,
            changes.names.get(row_id, name),
            changes.descriptions.get(row_id, description),
            changes.sort_orders.get(row_id, sort_order),
        )
    return after


def updated_ids(changes: Changes) -> set[int]:
    return {*changes.names, *changes.descriptions, *changes.sort_orders}


def find_offenders(stored: Sequence[Item], sent: Sequence[Item]) -> dict[str, set[int]]:
    """The ids that P5 and P9 name."""
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
        "duplicate_setup_ids": find_repeated(setup_ids),
        "duplicate_confirmation_ids": find_repeated([one for _, one in pairs]),
    }
    return {word: ids for word, ids in found.items() if ids}


def find_repeated(ids: Sequence[int]) -> set[int]:
    return {row_id for row_id, times in Counter(ids).items() if times > 1}


# What is generated -------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "é"])
DESCRIPTIONS = st.sampled_from([None, "", "text"])
SORT_ORDERS = st.sampled_from([-(2**31), -1, 0, 1, 2, 2**31 - 1])
MEMBERS = {"name": NAMES, "description": DESCRIPTIONS, "sort_order": SORT_ORDERS}


@st.composite
def stored_setups(draw: st.DrawFn) -> list[Item]:
    """A strategy of up to four setups of up to four confirmations, with gaps between the ids."""
    confirmation: st.SearchStrategy[Item] = st.fixed_dictionaries(MEMBERS)
    setup: st.SearchStrategy[Item] = st.fixed_dictionaries(
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
def valid_items(draw: st.DrawFn, id_member: str, stored: Sequence[Item]) -> list[Item]:
    """Some of the known ids in any order, each with any members, between new items.

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
def valid_setups(draw: st.DrawFn, stored: Sequence[Item]) -> list[Item]:
    """A list of setups that PATCH takes for that strategy."""
    of_setup = {setup["setup_id"]: setup for setup in stored}
    sent = draw(valid_items("setup_id", stored))
    for item in sent:
        if draw(st.booleans()):
            old = of_setup.get(item.get("setup_id"), {"confirmations": []})
            item["confirmations"] = draw(valid_items("confirmation_id", old["confirmations"]))
    return sent


@st.composite
def setups_of_any_ids(draw: st.DrawFn) -> list[Item]:
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


def diff_of(stored: Sequence[Item], sent: Sequence[Item], body: Any = SetupPatch) -> Diff:
    setups = {
        setup["setup_id"]: StoredSetup(
            *values_of(setup),
            {one["confirmation_id"]: StoredItem(*values_of(one)) for one in setup["confirmations"]},
        )
        for setup in stored
    }
    last_id = FIRST_NEW_ID - 1
    new: Any = msgspec.convert(sent, list[body], dec_hook=decode_value)
    return diff_setups(
        STRATEGY_ID, StoredSetups(setups, last_setup_id=last_id, last_confirmation_id=last_id), new
    )


# The diff ----------------------------------------------------------------------------------------------


@given(st.data())
@max_examples(full=400, ci=80)
def test_the_diff_makes_what_the_rules_say_and_writes_no_value_that_stays(data: st.DataObject) -> None:
    stored = data.draw(stored_setups())
    sent = data.draw(valid_setups(stored))

    diff = diff_of(stored, sent)

    assert apply(diff, as_tables(stored)) == as_tables(expected(stored, sent))
    for changes, before in zip(diff, as_tables(stored), strict=True):
        assert [row_id for row_id, name in changes.names.items() if before[row_id][1] == name] == []
        assert [row_id for row_id, text in changes.descriptions.items() if before[row_id][2] == text] == []
        assert [row_id for row_id, place in changes.sort_orders.items() if before[row_id][3] == place] == []
        touched = [*changes.deleted, *(row.id for row in changes.inserted), *updated_ids(changes)]
        assert len(set(touched)) == len(touched)


@given(st.data())
@max_examples(full=200, ci=40)
def test_what_was_read_and_sent_back_in_any_order_is_stored_in_that_order(data: st.DataObject) -> None:
    stored = data.draw(stored_setups())
    as_read = [{**one, "confirmations": in_order(one["confirmations"])} for one in in_order(stored)]
    sent = [
        {**setup, "confirmations": data.draw(st.permutations(setup["confirmations"]))}
        for setup in data.draw(st.permutations(stored))
    ]

    after = apply(diff_of(stored, sent), as_tables(stored))

    assert ids_in_order(after.setups) == [setup["setup_id"] for setup in sent]
    for setup in sent:
        of_setup = {row_id: row for row_id, row in after.confirmations.items() if row[0] == setup["setup_id"]}
        assert ids_in_order(of_setup) == [one["confirmation_id"] for one in setup["confirmations"]]
    assert not any(any(changes) for changes in diff_of(stored, as_read))


def in_order(items: Sequence[Item]) -> list[Item]:
    return sorted(
        items, key=lambda item: (item["sort_order"], item.get("setup_id") or item["confirmation_id"])
    )


def ids_in_order(table: Table) -> list[int]:
    return sorted(table, key=lambda row_id: (table[row_id][3], row_id))


def test_a_new_strategy_gets_all_rows_in_the_order_sent() -> None:
    checklist = [{"name": "x"}, {"name": "y", "description": "of y"}]
    sent: list[Item] = [{"name": "b", "confirmations": checklist}, {"name": "a"}, {"name": "c"}]

    diff = diff_of([], sent, SetupCreate)

    first, second = FIRST_NEW_ID, FIRST_NEW_ID + 1
    assert diff.setups == (
        [],
        [NewRow(first + place, STRATEGY_ID, name, None, place) for place, name in enumerate("bac")],
        *({}, {}, {}),
    )
    rows = [NewRow(first, first, "x", None, 0), NewRow(second, first, "y", "of y", 1)]
    assert diff.confirmations == ([], rows, {}, {}, {})


@given(stored_setups(), setups_of_any_ids())
@max_examples(full=400, ci=80)
def test_every_unknown_and_every_repeated_id_is_named_once(stored: list[Item], sent: list[Item]) -> None:
    try:
        diff_of(stored, sent)
        named: dict[str, list[int]] = {}
    except ValidationFailed as refused:
        named = refused.details

    assert {word: set(ids) for word, ids in named.items()} == find_offenders(stored, sent)
    assert all(len(ids) == len(set(ids)) for ids in named.values())

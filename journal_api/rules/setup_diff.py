"""The difference between the stored setups of a strategy and those in a PATCH (docs/api.md#patch-setups)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.structs.strategies import ConfirmationCreate, ConfirmationPatch, SetupCreate, SetupPatch

SetupBody = SetupCreate | SetupPatch
ItemBody = SetupBody | ConfirmationCreate | ConfirmationPatch


class StoredItem(Struct, array_like=True, gc=False):
    """The stored columns that setups and confirmations have in common."""

    # gc=False for the reason given in structs/strategies.py: a strategy may have thousands.

    name: str
    description: str | None
    sort_order: int


class StoredSetup(StoredItem, array_like=True, gc=True):
    confirmations: dict[int, StoredItem]


NEW = StoredItem("", None, 0)  # what an item without an id differs from: its name is required


class StoredSetups(Struct):
    """The stored setups of a strategy by id, and the last id that was used in each of the two tables."""

    setups: dict[int, StoredSetup]
    last_setup_id: int
    last_confirmation_id: int


class Row(Struct, gc=False):
    id: int
    parent_id: int
    name: str
    description: str | None
    sort_order: int


class Changes(NamedTuple):
    """The changes of one table: ids of rows to delete, rows to insert or to write again."""

    deleted: list[int]
    written: list[Row]


class Diff(NamedTuple):
    setups: Changes
    confirmations: Changes


def diff_setups(strategy_id: int, stored: StoredSetups, setups: Sequence[SetupBody]) -> Diff:
    """Return what turns the stored setups into `setups`. Raises ValidationFailed with all unknown or repeated ids."""
    check_ids(stored.setups, setups)
    setup_ids = assign_ids(setups, count(stored.last_setup_id + 1))
    new_ids = count(stored.last_confirmation_id + 1)
    parts = [
        find_changes(
            setup_id,
            stored_confirmations(stored.setups, setup_id),
            setup.confirmations,
            assign_ids(setup.confirmations, new_ids),
        )
        for setup_id, setup in zip(setup_ids, setups, strict=True)
        if setup.confirmations is not UNSET
    ]
    confirmations = Changes(
        [one for part in parts for one in part.deleted], [one for part in parts for one in part.written]
    )
    return Diff(find_changes(strategy_id, stored.setups, setups, setup_ids), confirmations)


def assign_ids(items: Sequence[ItemBody], new_ids: Iterator[int]) -> list[int]:
    """Return the id of each item; items without one get the next of the new ids."""
    return [next(new_ids) if item.id is UNSET else item.id for item in items]


def find_changes(
    parent_id: int, before: Mapping[int, StoredItem], items: Sequence[ItemBody], ids: Sequence[int]
) -> Changes:
    """Return what turns the rows `before` into `items`, whose row ids are `ids`."""
    written = []
    for row_id, item, sort_order in zip(ids, items, number_items(before, items, ids), strict=True):
        old = before.get(row_id, NEW)
        name = old.name if item.name is UNSET else item.name
        description = old.description if item.description is UNSET else item.description
        if (name, description, sort_order) != (old.name, old.description, old.sort_order):
            written.append(Row(row_id, parent_id, name, description, sort_order))
    remaining = set(ids)
    return Changes([row_id for row_id in before if row_id not in remaining], written)


def number_items(before: Mapping[int, StoredItem], items: Sequence[ItemBody], ids: Sequence[int]) -> list[int]:
    """Return the sort_order of each item (docs/api.md#patch-setups, P11).

    The array is the order, unless every item states a sort_order and one of them differs from the stored one:
    then the numbers decide, and the array between equal ones. Numbers without a repetition are stored as they
    are. Otherwise the list is numbered from 0, unless its items are stored in this order already.
    """
    stated = [item.sort_order for item in items if item.sort_order is not UNSET]
    numbers_decide = len(stated) == len(items) and any(
        row_id not in before or number != before[row_id].sort_order for row_id, number in zip(ids, stated, strict=True)
    )
    if numbers_decide and len(set(stated)) == len(stated):
        return stated
    order = sorted(range(len(ids)), key=stated.__getitem__) if numbers_decide else list(range(len(ids)))
    remaining = set(ids)
    stored = sorted(
        (row_id for row_id in before if row_id in remaining), key=lambda row_id: (before[row_id].sort_order, row_id)
    )
    if [ids[position] for position in order] == stored:
        return [before[row_id].sort_order for row_id in ids]
    ranks = {position: rank for rank, position in enumerate(order)}
    return [ranks[position] for position in range(len(ids))]


def check_ids(stored: Mapping[int, StoredSetup], setups: Sequence[SetupBody]) -> None:
    """Raise ValidationFailed with all ids that are unknown or repeated, not only the first."""
    setup_ids = stated_ids(setups)
    confirmation_ids: list[int] = []
    unknown_confirmations: list[int] = []
    for setup in setups:
        if setup.confirmations is not UNSET:
            ids = stated_ids(setup.confirmations)
            of_setup = stored_confirmations(stored, setup.id)
            confirmation_ids += ids
            unknown_confirmations += [row_id for row_id in ids if row_id not in of_setup]
    offenders = {
        "unknown_setup_ids": [row_id for row_id in setup_ids if row_id not in stored],
        "unknown_confirmation_ids": unknown_confirmations,
        "duplicate_setup_ids": find_repeated(setup_ids),
        "duplicate_confirmation_ids": find_repeated(confirmation_ids),
    }
    if any(offenders.values()):
        details = {name: list(dict.fromkeys(ids)) for name, ids in offenders.items() if ids}
        raise ValidationFailed("Some ids do not belong to this strategy or are repeated.", **details)


def stated_ids(items: Iterable[ItemBody]) -> list[int]:
    return [item.id for item in items if item.id is not UNSET]


def stored_confirmations(stored: Mapping[int, StoredSetup], setup_id: int | UnsetType) -> dict[int, StoredItem]:
    """Return the confirmations of a stored setup, an empty dict for a new or unknown setup."""
    return {} if setup_id is UNSET or setup_id not in stored else stored[setup_id].confirmations


def find_repeated(ids: Iterable[int]) -> list[int]:
    return [row_id for row_id, times in Counter(ids).items() if times > 1]

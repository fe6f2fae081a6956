"""What a canonical list of setups changes against the stored one: docs/api.md#patch-setups, P1 to P9."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.structs.confirmations import ConfirmationCreate, ConfirmationPatch
from journal_api.structs.setups import SetupCreate, SetupPatch

SentSetup = SetupCreate | SetupPatch
SentItem = SentSetup | ConfirmationCreate | ConfirmationPatch


class StoredItem(Struct, array_like=True, gc=False):
    """What a setup and a confirmation have in common, as it stands in the table."""

    # gc=False as in structs/confirmations.py: of these, too, there are thousands at once.

    name: str
    description: str | None
    sort_order: int


class StoredSetup(StoredItem, array_like=True, gc=True):
    """A setup with its confirmations by id."""

    confirmations: dict[int, StoredItem]


class Stored(Struct):
    """The setups of a strategy by id, and the last id that each of the two tables has given out."""

    setups: dict[int, StoredSetup]
    last_setup_id: int
    last_confirmation_id: int


class NewRow(Struct, array_like=True, gc=False):
    """A row to insert."""

    id: int
    parent_id: int
    name: str
    description: str | None
    sort_order: int


class Changes(NamedTuple):
    """What is to change in one table: rows to delete by id, rows to insert, and new values by row id."""

    deleted: list[int]
    inserted: list[NewRow]
    names: dict[int, str]
    descriptions: dict[int, str | None]
    sort_orders: dict[int, int]


class Diff(NamedTuple):
    """What is to change in the two tables; what stays as it is stands in neither."""

    setups: Changes
    confirmations: Changes


def diff_setups(strategy_id: int, stored: Stored, sent: Sequence[SentSetup]) -> Diff:
    """The changes that make `sent` of what is stored; new rows take the next ids.

    Raises ValidationFailed with every id that is unknown or sent twice.
    """
    check_ids(stored.setups, sent)
    setup_ids, confirmation_ids = count(stored.last_setup_id + 1), count(stored.last_confirmation_id + 1)
    diff = Diff(Changes([], [], {}, {}, {}), Changes([], [], {}, {}, {}))
    ids = note_changes(diff.setups, strategy_id, stored.setups, sent, setup_ids)
    for setup_id, item in zip(ids, sent, strict=True):
        if item.confirmations is not UNSET:
            before = confirmations_of(stored.setups, setup_id)
            note_changes(diff.confirmations, setup_id, before, item.confirmations, confirmation_ids)
    return diff


def note_changes(
    changes: Changes,
    parent_id: int,
    before: Mapping[int, StoredItem],
    sent: Sequence[SentItem],
    new_ids: Iterator[int],
) -> list[int]:
    """Note what makes `sent` of the rows before; the ids of the rows after it, in the order sent."""
    ids = []
    for position, item in enumerate(sent):
        if item.id is UNSET:
            row_id = next(new_ids)
            changes.inserted.append(new_row(row_id, parent_id, item, position))
        else:
            row_id, old = item.id, before[item.id]
            if item.name is not UNSET and item.name != old.name:
                changes.names[row_id] = item.name
            if item.description is not UNSET and item.description != old.description:
                changes.descriptions[row_id] = item.description
            if item.sort_order is not UNSET and item.sort_order != old.sort_order:
                changes.sort_orders[row_id] = item.sort_order
        ids.append(row_id)
    named = set(ids)
    changes.deleted.extend(row_id for row_id in before if row_id not in named)
    return ids


def new_row(row_id: int, parent_id: int, item: SentItem, position: int) -> NewRow:
    """What was sent, else no description, and the position in the list."""
    assert item.name is not UNSET
    description = None if item.description is UNSET else item.description
    sort_order = position if item.sort_order is UNSET else item.sort_order
    return NewRow(row_id, parent_id, item.name, description, sort_order)


def check_ids(stored: Mapping[int, StoredSetup], sent: Sequence[SentSetup]) -> None:
    """Raises ValidationFailed naming all offenders (P5 and P9), not only the first."""
    setup_ids = sent_ids(sent)
    confirmation_ids: list[int] = []
    unknown_confirmations: list[int] = []
    for item in sent:
        if item.confirmations is not UNSET:
            ids = sent_ids(item.confirmations)
            own = confirmations_of(stored, item.id)
            confirmation_ids += ids
            unknown_confirmations += [row_id for row_id in ids if row_id not in own]
    offenders = {
        "unknown_setup_ids": [row_id for row_id in setup_ids if row_id not in stored],
        "unknown_confirmation_ids": unknown_confirmations,
        "duplicate_setup_ids": repeated(setup_ids),
        "duplicate_confirmation_ids": repeated(confirmation_ids),
    }
    if any(offenders.values()):
        details = {name: list(dict.fromkeys(ids)) for name, ids in offenders.items() if ids}
        raise ValidationFailed("Some ids are not of this strategy, or are sent twice.", **details)


def sent_ids(sent: Iterable[SentItem]) -> list[int]:
    """The ids of the items that are no new ones."""
    return [item.id for item in sent if item.id is not UNSET]


def confirmations_of(stored: Mapping[int, StoredSetup], setup_id: int | UnsetType) -> dict[int, StoredItem]:
    """Those of a stored setup, none of a new or unknown one."""
    return {} if setup_id is UNSET or setup_id not in stored else stored[setup_id].confirmations


def repeated(ids: Iterable[int]) -> list[int]:
    return [row_id for row_id, times in Counter(ids).items() if times > 1]

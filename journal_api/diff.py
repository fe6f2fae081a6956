"""What a canonical list of setups changes against the stored one: interface.md §4, PATCH rules 1 to 9."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from journal_api.errors import ValidationFailed
from journal_api.structs.confirmations import Confirmation, ConfirmationCreate, ConfirmationPatch
from journal_api.structs.setups import Setup, SetupCreate, SetupPatch

SentSetup = SetupCreate | SetupPatch
SentConfirmation = ConfirmationCreate | ConfirmationPatch
SentItem = SentSetup | SentConfirmation


class Row(NamedTuple):
    """A setup or a confirmation as it is to stand in its table."""

    id: int
    parent_id: int
    name: str
    description: str | None
    sort_order: int


class Diff(NamedTuple):
    """The rows to delete, and the rows to insert or update; what stays as it is stands in neither."""

    deleted_setups: list[int]
    written_setups: list[Row]
    deleted_confirmations: list[int]
    written_confirmations: list[Row]


def diff_setups(
    strategy_id: int,
    stored: Sequence[Setup],
    sent: Sequence[SentSetup],
    setup_ids: Iterator[int],
    confirmation_ids: Iterator[int],
) -> Diff:
    """The changes that make `sent` of `stored`; new rows take the next of the given ids.

    Raises ValidationFailed with every id that is unknown or sent twice.
    """
    check_ids(stored, sent)
    before = {setup.id: setup for setup in stored}
    diff = Diff(gone(before, sent), [], [], [])
    for position, item in enumerate(sent):
        old = before.get(item.id) if item.id else None
        setup = row_of(item, old, strategy_id, position, setup_ids)
        if old is None or setup != row_as_stored(old, strategy_id):
            diff.written_setups.append(setup)
        if isinstance(item.confirmations, UnsetType):
            continue
        old_confirmations = {one.id: one for one in old.confirmations} if old else {}
        diff.deleted_confirmations.extend(gone(old_confirmations, item.confirmations))
        sent_confirmations: Sequence[SentConfirmation] = item.confirmations
        for place, sent_one in enumerate(sent_confirmations):
            old_one = old_confirmations.get(sent_one.id) if sent_one.id else None
            row = row_of(sent_one, old_one, setup.id, place, confirmation_ids)
            if old_one is None or row != row_as_stored(old_one, setup.id):
                diff.written_confirmations.append(row)
    return diff


def row_of(
    item: SentItem, old: Setup | Confirmation | None, parent_id: int, position: int, ids: Iterator[int]
) -> Row:
    """The row after the change: what was sent, else what was stored, else the position in the list."""
    if old is None:
        assert not isinstance(item.name, UnsetType)
        description = None if isinstance(item.description, UnsetType) else item.description
        sort_order = position if isinstance(item.sort_order, UnsetType) else item.sort_order
        return Row(next(ids), parent_id, item.name, description, sort_order)
    return Row(
        old.id,
        parent_id,
        old.name if isinstance(item.name, UnsetType) else item.name,
        old.description if isinstance(item.description, UnsetType) else item.description,
        old.sort_order if isinstance(item.sort_order, UnsetType) else item.sort_order,
    )


def row_as_stored(old: Setup | Confirmation, parent_id: int) -> Row:
    return Row(old.id, parent_id, old.name, old.description, old.sort_order)


def gone(before: Mapping[int, object], sent: Iterable[SentItem]) -> list[int]:
    """The stored ids that the canonical list no longer names."""
    named = {item.id for item in sent}
    return [row_id for row_id in before if row_id not in named]


def check_ids(stored: Sequence[Setup], sent: Sequence[SentSetup]) -> None:
    """Raises ValidationFailed naming all offenders (rules 5 and 9), not only the first."""
    known = {setup.id: {one.id for one in setup.confirmations} for setup in stored}
    setup_ids = [item.id for item in sent if item.id is not UNSET]
    confirmation_ids: list[int | UnsetType] = []
    unknown_confirmations: list[int | UnsetType] = []
    for item in sent:
        if not isinstance(item.confirmations, UnsetType):
            ids = [one.id for one in item.confirmations if one.id is not UNSET]
            own = known.get(item.id, set()) if item.id else set()
            confirmation_ids += ids
            unknown_confirmations += [row_id for row_id in ids if row_id not in own]
    offenders: dict[str, list[int | UnsetType]] = {
        "unknown_setup_ids": [row_id for row_id in setup_ids if row_id not in known],
        "unknown_confirmation_ids": unknown_confirmations,
        "duplicate_setup_ids": repeated(setup_ids),
        "duplicate_confirmation_ids": repeated(confirmation_ids),
    }
    if any(offenders.values()):
        details = {name: list(dict.fromkeys(ids)) for name, ids in offenders.items() if ids}
        raise ValidationFailed("Some ids are not of this strategy, or are sent twice.", **details)


def repeated(ids: Iterable[int | UnsetType]) -> list[int | UnsetType]:
    return [row_id for row_id, times in Counter(ids).items() if times > 1]

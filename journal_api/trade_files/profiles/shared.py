"""Readers of the cells that profiles of trades and of fills have in common."""

from collections.abc import Callable, Collection
from functools import lru_cache

from journal_api.errors import ValidationFailed
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.cells import Row, refused
from journal_api.trade_files.derived_amounts import derived
from journal_api.trade_files.profiles.columns import is_word, name_in, names_in
from journal_api.values.money import Money, Result, from_units
from journal_api.values.types import Name100


def sale_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], bool] | None:
    """Return the reader of the side, which is true for a short trade or a sale; None without a side."""
    side = profile.side
    if side is None:
        return None
    column = str(name_in(header, side.column))
    is_long, is_short = is_word(side.long), is_word(side.short)

    def is_sale(cell: str) -> bool:
        if is_short(cell):
            return True
        if not is_long(cell):
            raise ValueError(f"must be one of: {', '.join((*side.long, *side.short))}")
        return False

    return lambda row: row.parse(column, is_sale)


def costs_reader(profile: ImportProfileCreate, header: Collection[str]) -> Callable[[Row], Result | None]:
    """Return the reader of the fees: the sum of the costs, None if the header has no column of them."""
    costs = profile.costs
    columns = names_in(header, costs.columns) if costs else []
    sign = -1 if costs is not None and costs.paid == "negative" else 1

    @lru_cache(maxsize=8192)  # by the integer: to hash a Decimal takes longer than the sum
    def result_of(units: int) -> Result:
        return derived(columns[0], "with the other costs", from_units(sign * units))

    def costs_of(row: Row) -> Result | None:
        if not columns:
            return None
        parts = [row.amount_if_any(column, Money) for column in columns]
        return result_of(sum([part.units for part in parts if part]))

    return costs_of


def external_id_reader(
    profile: ImportProfileCreate, header: Collection[str]
) -> Callable[[Row], Name100 | None]:
    """Return the reader of the external id; None for a row whose cells of the id are all empty."""
    columns = names_in(header, profile.external_id or ())
    is_complete = len(columns) == len(profile.external_id or ())

    def id_of(row: Row) -> Name100 | None:
        parts = [row[column].strip() for column in columns] if is_complete else []
        if not any(parts):
            return None
        for column, part in zip(columns, parts, strict=True):
            if not part:
                raise ValidationFailed(fields={column: "is empty, and it is a part of the id"})
        try:
            return Name100.decode("-".join(parts))
        except ValueError as error:
            raise refused(columns[0], "-".join(parts), error) from None

    return id_of

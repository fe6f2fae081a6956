"""The side in a proposed profile: in known words, else as the sign of a value tells it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from journal_api.structs.import_profiles import Side
from journal_api.trade_files.profiles.proposed_words import find_side_words, find_sign
from journal_api.trade_files.profiles.unknown_amounts import find_signed_value
from journal_api.trade_files.profiles.unknown_tables import Table

OF_VALUE = "the sign of {} is taken for the side, negative for a purchase: is that so?"
NO_SIDE = "the file has no side, and no negative quantity: every row is a purchase or a long trade"


class SideSearch(NamedTuple):
    """What is known of a table when its side is sought; `is_said` if somebody has named its column or that it has none.

    `value` is the column with the value of fills.
    """

    table: Table
    members: Mapping[str, str]
    value: str | None
    is_of_trades: bool
    is_said: bool

    def find(self) -> tuple[Side | None, str | None]:
        """Return the side and the doubt about it."""
        column, has_sign = self.members.get("side"), self._has_sign()
        if column is not None:
            if column == self.value and (sign := find_sign(self.table, column)):
                return sign, None
            is_first = column in (self.members.get("price"), self.members.get("symbol"))
            return find_side_words(self.table, column, of_trades=self.is_of_trades, is_first=is_first), None
        if has_sign:
            return None, None
        if not self.is_said and (sign := next(self._list_signs(), None)):
            return sign, None if sign.column == self.value else OF_VALUE.format(sign.column)
        return None, NO_SIDE

    def _has_sign(self) -> bool:
        """Return whether quantities have a sign, or are not known."""
        return min(self.table.read_amounts(self.members.get("quantity")), default=-1) < 0

    def _list_signs(self) -> Iterator[Side]:
        """Yield the signs of columns with the value of fills."""
        size, price = (self.members.get(name, "") for name in ("quantity", "price"))
        values = () if self.is_of_trades else (self.value, find_signed_value(self.table, size, price))
        yield from (sign for value in values if value and (sign := find_sign(self.table, value)))

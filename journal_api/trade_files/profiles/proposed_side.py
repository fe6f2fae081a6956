"""The side in a proposed profile: in known words, else as positions, results or the sign of a value tell it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from journal_api.structs.import_profiles import Side
from journal_api.trade_files.profiles.proposed_words import find_side_words, find_sign
from journal_api.trade_files.profiles.unknown_amounts import find_signed_value
from journal_api.trade_files.profiles.unknown_sides import find_side_of_fills, find_side_of_trades
from journal_api.trade_files.profiles.unknown_tables import Table
from journal_api.trade_files.vocabulary import KNOWN, SIGNS, find_direction, translate

OF_CELLS = "{1} of {0} is taken for {3}, and {2} for the other side, as positions or results show: is that so?"
OF_VALUE = "the sign of {} is taken for the side, negative for a purchase: is that so?"
NO_SIDE = "the file has no side, and no negative quantity: every row is a purchase or a long trade"


class SideSearch(NamedTuple):
    """What is known of a table when its side is sought; `is_said` if somebody has named its column or that it has none.

    `value` is the column with the value of fills, `clock` that of their times of day.
    """

    table: Table
    members: Mapping[str, str]
    value: str | None
    clock: str | None
    is_of_trades: bool
    is_said: bool

    def find(self) -> tuple[Side | None, str | None]:
        """Return the side and the doubt about it."""
        column, has_sign = self.members.get("side"), self._has_sign()
        if not has_sign and (side := self._find_by_cells()):
            one = "long" if self.is_of_trades else "a purchase"
            return side, OF_CELLS.format(side.column, *side.long, *side.short, one)
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

    def _find_by_cells(self) -> Side | None:
        """Return the side whose words the positions or the results tell, if neither words nor a sign are known.

        Results also tell that a file states the side of the order that closed each trade.
        """
        column = self.members.get("side")
        cells = {*self.table.read_cells(column)}
        is_known = any(map(find_direction, cells)) or bool(cells and cells <= SIGNS.keys())
        if not column and (self.is_said or any(self._list_signs())):
            return None
        columns = [column] if column else [*self._list_candidates()]
        if self.is_of_trades:
            side = find_side_of_trades(self.table, columns, self.members)
            return None if side and is_known and find_direction(side.long[0]) != "short" else side
        return None if is_known else find_side_of_fills(self.table, columns, self.members, self.clock)

    def _list_candidates(self) -> Iterator[str]:
        """Yield the columns of unknown names that have neither times nor numbers of several digits."""
        taken = {"", *self.members.values()}
        for name in (name for name in self.table.columns if name not in taken and translate(name) not in KNOWN):
            has_numbers = any(len(cell) > 1 for cell in self.table.read_cells(name)) and self.table.read_amounts(name)
            if not has_numbers and not self.table.holds("at", name):
                yield name

    def _list_signs(self) -> Iterator[Side]:
        """Yield the signs of columns with the value of fills."""
        size, price = (self.members.get(name, "") for name in ("quantity", "price"))
        values = () if self.is_of_trades else (self.value, find_signed_value(self.table, size, price))
        yield from (sign for value in values if value and (sign := find_sign(self.table, value)))

"""Reads round trips by column, if they are plain: rows that state nothing but a trade.

Reading by row is the definition. Where a rule refuses a row, or may treat it in another way, the rows of the
batch are read one by one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Rejected, TradeColumns
from journal_api.rules.instruments import InstrumentTable
from journal_api.rules.trade_draft import is_in_known_years, result_units
from journal_api.rules.trade_identity import contents_of, fingerprints_of
from journal_api.trade_files import directions
from journal_api.trade_files.amounts import Comma, read_amount
from journal_api.trade_files.formats import round_trips
from journal_api.trade_files.named_rows import LONGEST_CELL
from journal_api.trade_files.remembered import Remembered
from journal_api.trade_files.rows import Cells
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.money import LARGEST, ONE, SCALE, Money, PositiveMoney, Result
from journal_api.values.timestamps import FileTime, written_time
from journal_api.values.types import Name40

REQUIRED = ("symbol", "direction", "quantity", "entry_price", "opened_at")
OPTIONAL = ("multiplier", "exit_price", "closed_at", "gross_pnl", "fees")
OTHERS = round_trips.FORMAT.optional.difference(REQUIRED, OPTIONAL)
Columns = Mapping[str, Sequence[Any]]


class NotPlain(Exception):
    """A row has to be read by the rules for rows."""


class PlainReader:
    """Reads batches of rows of a file with this header, which goes into one account."""

    def __init__(self, header: Sequence[str], timezone: FileTimezone, instruments: InstrumentTable) -> None:
        self._header, self._timezone = header, timezone
        self._point_values = Remembered(lambda symbol: (instruments.point_value(symbol) or ONE).units)
        self._readers: dict[Comma, Mapping[str, Callable[[str], Any]]] = {}

    def read(self, rows: Sequence[Cells | Rejected]) -> TradeColumns | None:
        """Return the stored columns of the trades, None if the rows are not all plain."""
        try:
            known = [row for row in rows if isinstance(row, Cells)]
            require(len(known) == len(rows))
            return TradeColumns([row.line for row in known], self._columns_of(known))
        except (NotPlain, ValidationFailed, ValueError):
            return None

    def _columns_of(self, rows: Sequence[Cells]) -> Columns:
        """Return the stored columns. Raises NotPlain, ValidationFailed or ValueError."""
        stated = self._stated_in(rows)
        states = {name: [value is not None for value in stated[name]] for name in ("multiplier", "fees")}
        # The results of the file with the default multiplier identify a trade, whatever its point value is.
        as_read = {**stated, "fees": [fees or 0 for fees in stated["fees"]]}
        as_read["multiplier"] = [multiplier or SCALE for multiplier in stated["multiplier"]]
        as_read["gross_pnl"] = results_of(stated, as_read["multiplier"])
        multipliers = [
            multiplier or self._point_values[symbol]
            for multiplier, symbol in zip(stated["multiplier"], stated["symbol"], strict=True)
        ]
        results = as_read["gross_pnl"]
        if multipliers != as_read["multiplier"]:
            results = results_of(stated, multipliers)
        as_read |= self._times_of(stated["opened_at"], stated["closed_at"])
        contents = contents_of(as_read, states)
        columns = {**as_read, "multiplier": multipliers, "gross_pnl": results}
        return {**columns, "fingerprint": fingerprints_of(columns), "content": contents}

    def _stated_in(self, rows: Sequence[Cells]) -> dict[str, list[Any]]:
        """Return what the cells state, None for an optional cell that is empty.

        Raises NotPlain, or ValueError for a cell that its reader refuses.
        """
        # No cell is too long if a whole row is not.
        require(all(len("".join(row.cells)) <= LONGEST_CELL for row in rows))
        cells = list(zip(*[row.cells for row in rows], strict=True))
        width = len(self._header)
        require(len(cells) >= width and not any(map(any, cells[width:])))
        named = dict(zip(self._header, cells, strict=False))
        require(not any(any(named[name]) for name in OTHERS.intersection(named)))
        comma = rows[0].comma
        readers = self._readers.get(comma) or self._readers.setdefault(comma, readers_of(comma))
        values = {name: [readers[name](cell) for cell in named[name]] for name in REQUIRED}
        return values | {
            name: [readers[name](cell) if cell else None for cell in named.get(name, ("",) * len(rows))]
            for name in OPTIONAL
        }

    def _times_of(
        self, opened: Sequence[FileTime], closed: Sequence[FileTime | None]
    ) -> dict[str, list[Any]]:
        """Return the stored times.

        The time zone is chosen after all checks that need none, as it is for a row: a row that they refuse
        chooses no zone. Raises NotPlain, or ValidationFailed if the zone is unknown.
        """
        if any(time.is_local for time in (*opened, *(time for time in closed if time))):
            self._timezone.choose("", round_trips.FORMAT)
        zone = self._timezone.name
        opened_at = [time.stored(zone) for time in opened]
        closed_at = [None if time is None else time.stored(zone) for time in closed]
        instants = [*opened_at, *filter(None, closed_at)]
        require(is_in_known_years(min(instants)) and is_in_known_years(max(instants)))
        require(all(end is None or end >= start for start, end in zip(opened_at, closed_at, strict=True)))
        return {"opened_at": opened_at, "closed_at": closed_at}


def require(is_plain: bool) -> None:
    if not is_plain:
        raise NotPlain


def readers_of(comma: Comma) -> dict[str, Callable[[str], Any]]:
    """Return the readers of cells. Amounts are integers of 10^-8."""

    def units(kind: type[Money]) -> Callable[[str], int]:
        return Remembered(lambda cell: read_amount(kind, comma, cell).units).__getitem__

    prices, quantities, amounts = units(Money), units(PositiveMoney), units(Result)
    return {
        "symbol": Remembered(Name40.decode).__getitem__,
        "direction": Remembered(directions.direction).__getitem__,
        "quantity": quantities,
        "multiplier": quantities,
        "entry_price": prices,
        "exit_price": prices,
        "opened_at": written_time,
        "closed_at": written_time,
        "gross_pnl": amounts,
        "fees": amounts,
    }


def results_of(stated: Columns, multipliers: Sequence[int]) -> list[int | None]:
    """Return the results that are stated, or follow from the prices; None for open trades.

    Raises NotPlain for a closed trade without both, an open trade with one, and a result that is too large.
    """
    results = []
    for direction, entry, exit_, quantity, multiplier, closed_at, result in zip(
        stated["direction"],
        stated["entry_price"],
        stated["exit_price"],
        stated["quantity"],
        multipliers,
        stated["closed_at"],
        stated["gross_pnl"],
        strict=True,
    ):
        require((closed_at is None) == (exit_ is None and result is None))
        if result is None and exit_ is not None:
            result = result_units(direction, entry, exit_, quantity, multiplier)
            require(abs(result) <= LARGEST * SCALE)
        results.append(result)
    return results

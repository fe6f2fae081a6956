"""What a dry run shows of an import: sums, the first and the last trades, a token of all it would write."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import json

from journal_api.errors import PreviewChanged
from journal_api.positions.plans import Change
from journal_api.structs.import_previews import (
    ImportPreview,
    PreviewAccount,
    PreviewDay,
    PreviewSums,
    PreviewSymbol,
    PreviewTrade,
)
from journal_api.structs.imports import ImportQuery, PreviewToken, Verdict
from journal_api.trade_files.reader import TradeFile
from journal_api.values.money import decimal_json
from journal_api.values.periods import Calendar, trading_day

MAX_SYMBOLS = 1000  # listed; the trades of further symbols are summed under null
SHOWN = 5
read_place = itemgetter(0, 1)
STATED = ("symbol", "direction", "opened_at", "closed_at", "fees_source")
AMOUNTS = ("quantity", "entry_price", "exit_price", "gross_pnl", "fees")


class ImportDigest:
    """A hash of all that an import writes and reports, the same in its dry run."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add_calendars(self, calendars: Mapping[int, Calendar]) -> None:
        """Add the calendars of accounts with a day of their own; 0 has the owner's."""
        self._add(sorted((one, days) for one, days in calendars.items() if days != calendars[0]))

    def add_changes(self, account_id: int, changes: Iterable[Change]) -> None:
        for change in changes:
            trade_id = change.stored and change.stored.trade_id
            self._add((account_id, trade_id, change.changed, change.columns))

    def add_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            self._add(verdict.line if verdict.verdict == "new" else json.encode(verdict))

    def add_links(self, links: Iterable[tuple[int, int]], last_trade_id: int) -> None:
        """Add the copies that are linked; ids of new trades count from the last one before the import."""
        for link in sorted(links):
            for row_id in link:
                is_new = row_id > last_trade_id
                self._add((is_new, row_id - last_trade_id if is_new else row_id))

    def _add(self, value: object) -> None:
        self._hash.update(repr(value).encode())

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class Sums:
    """Sums of trades in units of 10^-8: results and costs of closed trades only."""

    def __init__(self) -> None:
        self.trades = self.open = self.quantity = self.gross_pnl = self.fees = 0

    def add(self, columns: Mapping[str, Any]) -> None:
        self.trades += 1
        self.quantity += columns["quantity"]
        if columns["closed_at"] is None:
            self.open += 1
        else:
            self.gross_pnl += columns["gross_pnl"]
            self.fees += columns["fees"]

    def state(self) -> dict[str, Any]:
        """Return the members of PreviewSums."""
        return {
            "trades": self.trades,
            "open": self.open,
            "quantity": decimal_json(self.quantity),
            "gross_pnl": decimal_json(self.gross_pnl),
            "fees": decimal_json(self.fees),
            "net_pnl": decimal_json(self.gross_pnl - self.fees),
        }


class NewTrade(NamedTuple):
    """A new trade: its first line, the number of its rows, its account and its columns."""

    line: int
    rows: int
    account_id: int
    columns: Mapping[str, Any]


class PreviewCollector:
    """Collects the new trades of a dry run."""

    def __init__(self, calendars: Mapping[int, Calendar]) -> None:
        self._calendars = calendars
        self._total = Sums()
        self._accounts: dict[int, Sums] = {}
        self._symbols: dict[tuple[str | None, str | None, str | None], Sums] = {}
        self._contracts: dict[str, tuple[str | None, str | None, str | None]] = {}
        self._days: dict[str | None, Sums] = {}
        self._first: list[PreviewTrade] = []
        self._last: list[PreviewTrade] = []

    def add(self, rows: Sequence[NewTrade]) -> None:
        shown = []
        for number, row in enumerate(rows):
            columns = row.columns
            day = trading_day(columns["closed_at"], *self._calendars.get(row.account_id, self._calendars[0]))
            for sums in (
                self._total,
                self._accounts.setdefault(row.account_id, Sums()),
                self._symbols.setdefault(self._find_symbol(columns), Sums()),
                self._days.setdefault(day, Sums()),
            ):
                sums.add(columns)
            shown.append((columns["opened_at"], number, row, day))
        shown.sort(key=read_place)
        self._first = [show_trade(row, day) for _, _, row, day in shown[:SHOWN]]
        self._last = [show_trade(row, day) for _, _, row, day in shown[SHOWN:][-SHOWN:]]

    def _find_symbol(self, columns: Mapping[str, Any]) -> tuple[str | None, str | None, str | None]:
        """Return symbol, contract and root: the symbol as the first trade of the contract has it."""
        contract = columns["contract"]
        if contract not in self._contracts:
            if len(self._contracts) == MAX_SYMBOLS:
                return None, None, None
            self._contracts[contract] = (str(columns["symbol"]), contract, columns["root"])
        return self._contracts[contract]

    def build(self) -> ImportPreview:
        days = sorted(day for day in self._days if day is not None)
        return ImportPreview(
            total=PreviewSums(**self._total.state()),
            first_day=days[0] if days else None,
            last_day=days[-1] if days else None,
            accounts=[
                PreviewAccount(account_id=account_id, **sums.state())
                for account_id, sums in sorted(self._accounts.items())
            ],
            symbols=[
                PreviewSymbol(symbol=symbol, contract=contract, root=root, **sums.state())
                for (symbol, contract, root), sums in self._symbols.items()
            ],
            days=[
                PreviewDay(day=day, **self._days[day].state())
                for day in (*days, *([None] if None in self._days else []))
            ],
            first=self._first,
            last=self._last,
        )


def show_trade(row: NewTrade, day: str | None) -> PreviewTrade:
    columns = row.columns
    net_pnl = None if columns["gross_pnl"] is None else columns["gross_pnl"] - columns["fees"]
    members: dict[str, Any] = {name: columns[name] for name in STATED}
    members |= {name: decimal_json(columns[name]) for name in AMOUNTS}
    members["symbol"] = str(columns["symbol"])
    members |= {"trading_day": day, "net_pnl": decimal_json(net_pnl)}
    return PreviewTrade(line=row.line, rows=row.rows, account_id=row.account_id, **members)


def build_token(sha256: str, query: ImportQuery, file: TradeFile, digest: str = "") -> PreviewToken:
    """Return the token of a preview: parts for the file, for how it is read, and for what is written."""
    options = (
        (query.account_id, sorted(query.accounts), query.timezone, query.date_order, query.one_trade_is),
        (
            query.day,
            query.skip_errors,
            query.force,
            sorted(query.answers),
            file.format,
            file.timezone.name,
            file.dates.order,
            file.one_trade_is,
        ),
    )
    return PreviewToken.build(sha256, hashlib.sha256(repr(options).encode()).hexdigest(), digest)


def require_same(shown: PreviewToken | None, token: PreviewToken) -> None:
    """Raise PreviewChanged if the token of the import, as far as it is known, is not the one shown."""
    changed = [] if shown is None else shown.find_changed(token)
    if changed:
        raise PreviewChanged(changed=changed)

"""What a dry run shows of an import: sums, the first and the last trades, a token of all it would write."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from msgspec import json

from journal_api.errors import PreviewChanged
from journal_api.imports.contracts import Settled
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
STATED = ("symbol", "direction", "opened_at", "closed_at", "fees_source")
AMOUNTS = ("quantity", "entry_price", "exit_price", "gross_pnl", "fees")


def digest_import(calendars: Mapping[int, Calendar], settled: Iterable[Settled], verdicts: Iterable[Verdict]) -> Any:
    """Return a hash of all that an import writes and reports, the same in its dry run; the links are added later."""
    digest = hashlib.sha256()
    # Accounts with a day of their own; 0 has the owner's.
    add_value(digest, sorted((one, days) for one, days in calendars.items() if days != calendars[0]))
    for one in settled:
        for change in one.plan.changes:
            trade_id = change.stored and change.stored.trade_id
            add_value(digest, (one.contract.account_id, trade_id, change.changed, change.columns))
    for verdict in verdicts:
        add_value(digest, verdict.line if verdict.verdict == "new" else json.encode(verdict))
    return digest


def add_links(digest: Any, links: Iterable[tuple[int, int]], last_trade_id: int) -> None:
    """Add the copies that are linked; ids of new trades count from the last one before the import."""
    for row_id in chain.from_iterable(sorted(links)):
        is_new = row_id > last_trade_id
        add_value(digest, (is_new, row_id - last_trade_id if is_new else row_id))


def add_value(digest: Any, value: object) -> None:
    digest.update(repr(value).encode())


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


def build_preview(rows: Sequence[NewTrade], calendars: Mapping[int, Calendar]) -> ImportPreview:
    """Return what a dry run shows of its new trades. A contract has the symbol that its first trade has."""
    total, accounts, days = Sums(), defaultdict[int, Sums](Sums), defaultdict[str | None, Sums](Sums)
    symbols = defaultdict[tuple[str | None, str | None, str | None], Sums](Sums)
    contracts: dict[str, tuple[str, str, str | None]] = {}
    for row in rows:
        columns, contract = row.columns, row.columns["contract"]
        if len(contracts) < MAX_SYMBOLS:
            contracts.setdefault(contract, (str(columns["symbol"]), contract, columns["root"]))
        symbol = contracts.get(contract, (None, None, None))
        for sums in (total, accounts[row.account_id], symbols[symbol], days[find_day(row, calendars)]):
            sums.add(columns)
    in_order = sorted(rows, key=lambda row: row.columns["opened_at"])
    known = sorted(day for day in days if day is not None)
    return ImportPreview(
        total=PreviewSums(**total.state()),
        first_day=known[0] if known else None,
        last_day=known[-1] if known else None,
        accounts=[PreviewAccount(account_id=row_id, **accounts[row_id].state()) for row_id in sorted(accounts)],
        symbols=[
            PreviewSymbol(symbol=symbol, contract=contract, root=root, **sums.state())
            for (symbol, contract, root), sums in symbols.items()
        ],
        days=[PreviewDay(day=day, **days[day].state()) for day in (*known, None) if day in days],
        first=[show_trade(row, calendars) for row in in_order[:SHOWN]],
        last=[show_trade(row, calendars) for row in in_order[SHOWN:][-SHOWN:]],
    )


def show_trade(row: NewTrade, calendars: Mapping[int, Calendar]) -> PreviewTrade:
    columns = row.columns
    net_pnl = None if columns["gross_pnl"] is None else columns["gross_pnl"] - columns["fees"]
    members: dict[str, Any] = {name: columns[name] for name in STATED}
    members |= {name: decimal_json(columns[name]) for name in AMOUNTS}
    members["symbol"] = str(columns["symbol"])
    members |= {"trading_day": find_day(row, calendars), "net_pnl": decimal_json(net_pnl)}
    return PreviewTrade(line=row.line, rows=row.rows, account_id=row.account_id, **members)


def find_day(row: NewTrade, calendars: Mapping[int, Calendar]) -> str | None:
    closed_at: str | None = row.columns["closed_at"]
    return trading_day(closed_at, *calendars.get(row.account_id, calendars[0]))


def build_token(sha256: str, query: ImportQuery, file: TradeFile, digest: str = "") -> PreviewToken:
    """Return the token of a preview: parts for the file, for how it is read, and for what is written."""
    options = (
        (query.account_id, sorted(query.accounts), query.timezone, query.date_order, query.one_trade_is),
        (
            query.day,
            query.skip_errors,
            query.long_only,
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

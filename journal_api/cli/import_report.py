"""What `journal-api import` says of an import and of its dry run."""

from collections.abc import Iterator, Sequence

from msgspec import Raw

from journal_api.imports.file_accounts import NOT_CREATED
from journal_api.imports.importer import ImportResult
from journal_api.structs.import_previews import ImportPreview, PreviewSums, PreviewTrade
from journal_api.structs.imports import Counts, Verdict
from journal_api.trade_files.reader import TradeFile
from journal_api.trade_files.texts import CODE_PAGES
from journal_api.trade_files.timezones import FileTimezone


def describe_verdict(verdict: Verdict) -> str:
    changes = (f"{one.field} {as_text(one.before)} -> {as_text(one.after)}" for one in verdict.changes or ())
    details = verdict.reason or ", ".join(changes)
    answers = " or ".join(f"--answer {answer.replace(':', '=')}" for answer in verdict.answers or ())
    why = f": {details}" if details else ""
    return f"line {verdict.line}: {verdict.verdict}{why}{f' ({answers})' if answers else ''}"


def as_text(value: object) -> str:
    """Return an amount, which is JSON, or another value as text."""
    return "none" if value is None else bytes(value).decode() if isinstance(value, Raw) else str(value)


def describe_counts(counts: Counts) -> str:
    updated = f", {counts.updated} updated" if counts.updated else ""
    suspect = f", {counts.suspect} suspect: --answer or --force imports them" if counts.suspect else ""
    unmatched = f", {counts.unmatched} closing nothing" if counts.unmatched else ""
    return f"{counts.new} new{updated}, {counts.duplicate} already there{suspect}{unmatched}"


def name_account(row_id: int, new: Sequence[str]) -> str:
    """Return the id of an account, or the name of one that a dry run does not create."""
    return str(row_id) if row_id > NOT_CREATED else repr(new[NOT_CREATED - row_id])


def describe_preview(preview: ImportPreview, new: Sequence[str]) -> Iterator[str]:
    """Say what a dry run shows of the new trades: sums by account, symbol and day, the first and the last."""
    if preview.total.trades == 0:
        return
    yield f"Total: {describe_sums(preview.total)}"
    if len(preview.accounts) > 1:
        for account in preview.accounts:
            yield f"Account {name_account(account.account_id, new)}: {describe_sums(account)}"
    for symbol in preview.symbols:
        yield f"{symbol.symbol or 'Other symbols'}: {describe_sums(symbol)}"
    for day in preview.days:
        yield f"{day.day or 'Open'}: {describe_sums(day)}"
    for trade in (*preview.first, *preview.last):
        yield describe_trade(trade)


def describe_sums(sums: PreviewSums) -> str:
    amounts = f"gross {as_text(sums.gross_pnl)}, fees {as_text(sums.fees)}, net {as_text(sums.net_pnl)}"
    is_open = f" ({sums.open} open)" if sums.open else ""
    trades = f"{sums.trades} {'trade' if sums.trades == 1 else 'trades'}{is_open}"
    return f"{trades}, quantity {as_text(sums.quantity)}, {amounts}"


def describe_trade(trade: PreviewTrade) -> str:
    entry = f"{trade.opened_at} at {as_text(trade.entry_price)}"
    closed = f"{trade.closed_at} at {as_text(trade.exit_price)}, net {as_text(trade.net_pnl)}"
    quantity = f"{trade.direction} {as_text(trade.quantity)} {trade.symbol}"
    return f"line {trade.line}: {quantity}, {entry} to {closed if trade.closed_at else 'now'}"


def describe_fees(result: ImportResult) -> Iterator[str]:
    """Say what the commissions of accounts have charged."""
    for fees in result.fees_applied:
        yield f"Commissions of account {fees.account_id}: {fees.total:f} for {fees.rows} rows"


def describe_missing_costs(result: ImportResult, new: Sequence[str]) -> Iterator[str]:
    """Say which accounts have no commissions for rows without costs."""
    if ids := result.accounts_without_costs:
        names = ", ".join(name_account(row_id, new) for row_id in ids)
        named = f"account {names} has" if len(ids) == 1 else f"accounts {names} have"
        yield (
            f"Gross = net, no costs: the file states none, and {named} no commissions for them."
            " Set what you pay per side on the page, or with PATCH /v1/accounts/{id}."
        )


def describe_timezone(timezone: FileTimezone) -> str:
    """Say in which time zone the times of the file were read, and why."""
    reason = {
        "stated": "as stated",
        "remembered": "as in the last import of this format",
        "owner": "the time zone of the user",
        None: "",
    }[timezone.source]
    earlier = f"; earlier imports were in {', '.join(sorted(timezone.replaced))}" if timezone.replaced else ""
    return f"Times without an offset are in {timezone.name}, {reason}{earlier}."


def describe_reading(file: TradeFile) -> Iterator[str]:
    """Say what the reader assumed about the file, and what it left out."""
    if file.encoding in CODE_PAGES:
        yield f"Read as {CODE_PAGES[file.encoding]}, because the file is not UTF-8."
    if file.dates.source == "assumed":
        other = "day" if file.dates.order == "month" else "month"
        yield (
            f"Dates are read with the {file.dates.order} first, because no number over 12 shows the order;"
            f" --date-order {other} reads them the other way."
        )
    if file.rounded:
        yield f"Amounts rounded to eight decimals: {file.rounded}."
    if file.timezone.source is not None:
        yield describe_timezone(file.timezone)


def describe_left_out(file: TradeFile) -> Iterator[str]:
    yield from (f"Check: {warning}" for warning in file.left_out.warnings)
    for left_out in file.left_out.report():
        yield f"{left_out.rows} left out: {left_out.reason}"

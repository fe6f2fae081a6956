"""`journal-api report`: prints the statistics of groups of trades."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args

import click
import msgspec

from journal_api.cli.common import (
    decode_argument,
    decode_option,
    find_account,
    find_user,
    printable,
    run_in_database,
    with_settings,
)
from journal_api.cli.text_width import fit_text, text_width
from journal_api.database.database import Database
from journal_api.errors import ValidationFailed
from journal_api.repositories import reports, users
from journal_api.settings import Settings
from journal_api.structs.reports import GroupBy, ReportMetrics, ReportQuery, ReportSort
from journal_api.trade_files.spreadsheets import harmless
from journal_api.values.metrics import METRICS, Unit
from journal_api.values.types import Day
from journal_api.values.visible_text import escape_invisible, json_escape

ANSWERS = ("present", "absent", "unanswered")
EDGE_MEMBERS = ("expectancy", "low", "high")
WIDTH, NARROWEST, GAP = 80, 12, "  "
DECIMALS: dict[Unit, int] = {"currency": 2, "percent": 1, "ratio": 2, "count": 0}
# Numbers with a fraction stay exact.
DECODER = msgspec.json.Decoder(float_hook=Decimal)


@click.command("report")
@click.option("--by", type=click.Choice(get_args(GroupBy)), default="none", help="What to group trades by.")
@click.option("--account", help="Only the trades of this account.")
@click.option("--from", "since", metavar="YYYY-MM-DD", help="Only trading days from this one on.")
@click.option("--to", "until", metavar="YYYY-MM-DD", help="Only trading days to this one.")
@click.option("--metrics", metavar="KEYS", help="The metrics, separated by commas.")
@click.option("--sort", metavar="KEY", help="Sort by this metric; with a - before it the highest first.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, help="The most groups; default: 50.")
@click.option("--user", help="The owner of the journal; default: the first user.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with all digits.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as GET /v1/reports returns it.")
@with_settings
def print_report(
    settings: Settings,
    by: GroupBy,
    account: str | None,
    since: str | None,
    until: str | None,
    metrics: str | None,
    sort: str | None,
    limit: int,
    user: str | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Print the statistics of closed trades in groups: by weekday, setup, tag and so on."""
    if as_csv and as_json:
        raise click.ClickException("--csv and --json exclude each other")
    members: dict[str, Any] = {
        "since": decode_option(Day.decode, since, "--from"),
        "until": decode_option(Day.decode, until, "--to"),
        "sort": decode_option(ReportSort.decode, sort, "--sort"),
    }
    if metrics is not None:
        members["metrics"] = decode_argument(ReportMetrics.decode, metrics, "--metrics")

    async def run(database: Database) -> tuple[str, int]:
        owner = await users.find(database.reader, await find_user(database.reader, user))
        account_id = await find_account(database.reader, owner.id, account)
        query = build_query(group_by=by, account_id=account_id, limit=limit, **members)
        return await reports.get(database, owner.id, owner.timezone, owner.day_rollover, query)

    text, count = run_in_database(settings, run)
    if as_json:
        click.echo(msgspec.json.format(escape_invisible(text, json_escape), indent=2))
        return
    report = DECODER.decode(text)
    click.echo(format_csv(report) if as_csv else format_table(report), nl=False)
    if count > limit:
        click.echo(f"{limit} of {count} groups; --limit shows more.", err=True)


def build_query(**members: Any) -> ReportQuery:
    """Return the query. Raises ClickException if `from` is after `to`."""
    try:
        return ReportQuery(**members)
    except ValidationFailed:
        raise click.ClickException("--from must not be after --to") from None


# CSV -----------------------------------------------------------------------------------------------------


def format_csv(report: Any) -> str:
    """Return a row for each group, or for each answer to a confirmation, and last the total."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    metrics = report["metrics"]
    of_confirmation = ["setup", "strategy", "answer", "edge", "edge_low", "edge_high"]
    if report["group_by"] != "confirmation":
        of_confirmation = []
    writer.writerow(["key", "name", *of_confirmation, *metrics])
    for group in report["groups"]:
        writer.writerows(confirmation_rows(group, metrics) if of_confirmation else [csv_row(group, metrics)])
    total = csv_row({**report["total"], "name": "total"}, metrics)
    writer.writerow([*total[:2], *("" for _ in of_confirmation), *total[2:]])
    return output.getvalue()


def csv_row(group: Any, metrics: Sequence[str]) -> list[object]:
    names = [text_cell(group["key"]), text_cell(group["name"])]
    return [*names, *(group["values"][metric] for metric in metrics)]


def text_cell(value: object) -> object:
    """Return a text that no spreadsheet reads as a formula and no terminal obeys, anything else as it is."""
    return printable(harmless(value)) if isinstance(value, str) else value


def confirmation_rows(group: Any, metrics: Sequence[str]) -> Iterator[list[object]]:
    key = group["key"] and group["key"]["confirmation_id"]
    for answer in ANSWERS:
        # The edge is of two answers, and stands in the row of the first.
        edge = [group["edge"][name] if answer == "present" else None for name in EDGE_MEMBERS]
        values = [group[answer]["values"][metric] for metric in metrics]
        names = [text_cell(group[name]) for name in ("name", "setup", "strategy")]
        yield [key, *names, answer, *edge, *values]


# Table ---------------------------------------------------------------------------------------------------


def format_table(report: Any) -> str:
    if report["group_by"] == "confirmation":
        head = ["", "Present", "Absent", "Edge", "95% from", "to"]
        rows = [head, *map(edge_cells, report["groups"])]
        reasons = {group["edge"]["reason"] for group in report["groups"]} - {"too_few"}
        return align_rows(rows) + reasons_line(reasons)
    metrics = report["metrics"]
    head = ["", *(METRICS[metric].title for metric in metrics)]
    groups = [metric_cells(group["name"] or "(none)", group, metrics) for group in report["groups"]]
    shown = (*report["groups"], report["total"])
    reasons = {reason for group in shown for reason in group["reasons"].values()}
    total = metric_cells("Total", report["total"], metrics)
    return align_rows([head, *groups, total]) + reasons_line(reasons)


def reasons_line(reasons: Iterable[str | None]) -> str:
    """Return a line that says why values are missing, nothing if none is."""
    words = sorted({reason.replace("_", " ") for reason in reasons if reason})
    return f"- means: {', '.join(words)}\n" if words else ""


def metric_cells(name: str, group: Any, metrics: Sequence[str]) -> list[str]:
    return [name, *(format_cell(group["values"][metric], METRICS[metric].unit) for metric in metrics)]


def edge_cells(group: Any) -> list[str]:
    edge = group["edge"]
    numbers = [format_cell(edge[name], "currency") for name in EDGE_MEMBERS]
    if edge["reason"] == "too_few":
        numbers[0] = "too few"
    return [group["name"] or "(none)", *(format_cell(edge[name], "count") for name in ANSWERS[:2]), *numbers]


def format_cell(value: Decimal | int | None, unit: Unit) -> str:
    """Return the value rounded for its unit, `-` for null."""
    if value is None:
        return "-"
    return f"{Decimal(value):.{DECIMALS[unit]}f}{'%' if unit == 'percent' else ''}"


def align_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return the rows as lines: the first column to the left, the others to the right.

    The first column is cut, down to NARROWEST columns of the terminal, so that a line fits into WIDTH.
    """
    cells = [[printable(text) for text in row] for row in rows]
    first, *others = (max(map(text_width, column)) for column in zip(*cells, strict=True))
    room = max(NARROWEST, WIDTH - sum(width + len(GAP) for width in others))
    return "".join(format_line(row, [min(first, room), *others]) + "\n" for row in cells)


def format_line(row: Sequence[str], widths: Sequence[int]) -> str:
    name = fit_text(row[0], widths[0])
    numbers = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
    return GAP.join((name, *numbers)).rstrip()

"""`journal-api report exits`: prints what an additional stop or target would have made of trades."""

from typing import Any

import click

from journal_api.cli import common
from journal_api.cli.report_table import align_rows, format_cell, format_rate
from journal_api.database.database import Database
from journal_api.settings import Settings
from journal_api.statistics import exits_sql
from journal_api.structs.exits import ExitLevels, ExitQuery

LEVELS = common.Decoded(ExitLevels.decode, "numbers")
HEAD = ["Stop", "Target", "Changed", "Either", "Difference", "q", "Verdict"]


@click.command("exits")
@click.option("--unit", type=click.Choice(["r", "currency"]), default="r", help="R, the default, or money.")
@click.option("--stops", type=LEVELS, help="Up to 12 stops, separated by commas.")
@click.option("--targets", type=LEVELS, help="Up to 12 targets, separated by commas.")
@click.option("--account", help="Only the trades of this account.")
@click.option("--from", "since", type=common.DAY, help="Only trading days from this one on.")
@click.option("--to", "until", type=common.DAY, help="Only trading days to this one.")
@click.option("--limit", type=click.IntRange(1, 168), default=10, help="The most lines; default: 10.")
@click.option("--user", type=common.NAME, help="The owner of the journal; default: the first user.")
@click.option("--json", "as_json", is_flag=True, help="Print the exits as GET /v1/exits returns them.")
@common.with_settings
def print_exits(
    settings: Settings, account: str | None, limit: int, user: str | None, as_json: bool, **members: Any
) -> None:
    """Print what one more stop or target would have made of trades with MAE and MFE, the best first."""

    async def run(database: Database) -> str:
        owner_id = await common.find_user(database.reader, user)
        account_id = await common.find_named(database.reader, owner_id, "account", account)
        with common.naming_options():
            return await exits_sql.get(database, owner_id, ExitQuery(account_id=account_id, **members))

    text = common.run_in_database(settings, run)
    if as_json:
        common.print_json(text)
    else:
        click.echo(format_exits(common.DECODER.decode(text), limit), nl=False)


def format_exits(exits: Any, limit: int) -> str:
    """Return the decisions as they were, the cell chosen in the first half, and the cells with most at the low end."""
    if not exits["decisions"]:
        return "No trade has MAE and MFE.\n" if exits["unit"] == "currency" else "No trade has MAE, MFE and a risk.\n"
    was, unit = exits["as_it_was"], " R" if exits["unit"] == "r" else ""
    lines = [
        f"{exits['decisions']} trades as they were: {was['expectancy']:.2f}{unit} each,"
        f" {format_cell(was['win_rate'], 'percent')} won. Without MAE and MFE: {exits['without_excursions']}."
    ]
    if halves := exits["halves"]:
        lines.append(
            f"Best in the first half: {name_level(halves, 'stop')}, {name_level(halves, 'target')}:"
            f" {format_ends(halves['first'])}. In the second half: {format_ends(halves['second'])}."
        )
    cells = sorted(exits["cells"], key=lambda cell: cell["difference"]["low"], reverse=True)[:limit]
    return "\n".join([*lines, "", align_rows([HEAD, *map(build_row, cells)])])


def name_level(halves: Any, name: str) -> str:
    return f"no {name}" if halves[name] is None else f"{name} {halves[name]}"


def build_row(cell: Any) -> list[str]:
    difference = cell["difference"]
    levels = ["-" if cell[name] is None else str(cell[name]) for name in ("stop", "target")]
    ends, rate, verdict = format_ends(difference), format_rate(difference["q"]), difference["verdict"].replace("_", " ")
    return [*levels, str(cell["changed"]), str(cell["either"]), ends, rate, verdict]


def format_ends(ends: Any) -> str:
    low, high = f"{ends['low']:.2f}", f"{ends['high']:.2f}"
    return low if low == high else f"{low}..{high}"

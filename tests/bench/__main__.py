"""Measure everything, print it as the tables of docs/performance.md, and draw the chart."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from bench import chart
from bench.cases import measure_cases
from bench.load import WITHOUT_WRK, has_wrk
from bench.measure import FULL, QUICK, table
from bench.tradetally import measure_beside
from bench.waits import list_lines, measure_waits

BESIDE = ("case", "journal-api", "compared with", "ratio", "target")


@click.command()
@click.option("--quick", is_flag=True, help="Only see that it runs: tiny rounds, 1,000 trades.")
@click.option("--waits", is_flag=True, help="Only what a trader waits for.")
@click.option("--trades", type=click.IntRange(1000), help="Of the longest journal; default: 100,000.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the chart there.")
@click.option("--tradetally", help="The URL of a running TradeTally, to measure beside it.")
@click.option("--postgres", help="The URL of its database, which gets a user and 5,000 trades.")
def main(
    quick: bool, waits: bool, trades: int | None, out: Path | None, tradetally: str | None, postgres: str | None
) -> None:
    """What a trader waits for as the journal grows, beside bare statements.

    Then the service beside a route that does nothing, sqlite3 alone, FastAPI + SQLAlchemy, and TradeTally.
    """
    if not waits and not has_wrk():
        raise click.ClickException(WITHOUT_WRK)
    pace = QUICK if quick else FULL
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        waited = measure_waits(folder, pace, trades or (1000 if quick else 100_000))
        sizes = [f"{size:,}" for size in waited.sizes]
        titles = ("ms, by the number of trades", *sizes, "times the bare statement", "target")
        sys.stdout.writelines(table(titles, list_lines(waited)))
        if not waits:
            sys.stdout.writelines(table(BESIDE, measure_cases(folder, pace)))
        if tradetally and postgres:
            sys.stdout.writelines(table(BESIDE, measure_beside(folder, pace, tradetally, postgres)))
    if out is not None:
        (out / "bench.svg").write_text(chart.svg(waited))


if __name__ == "__main__":
    main()

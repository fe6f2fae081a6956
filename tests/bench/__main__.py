"""Measure everything, tell it on the terminal, and keep it as a document and a chart."""

import os
import platform
import sqlite3
import sys
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from msgspec import json

from bench import chart, table
from bench.cases import measured
from bench.load import WITHOUT_WRK, has_wrk
from bench.measure import FULL, QUICK, Result


@click.command()
@click.option("--quick", is_flag=True, help="Only see that it runs: tiny rounds, 1,000 trades.")
@click.option("--trades", type=click.IntRange(1000), help="Of the long journal; 1,000,000 unless said.")
@click.option("--out", type=click.Path(path_type=Path), help="Write bench.json and bench.svg there.")
def main(quick: bool, trades: int | None, out: Path | None) -> None:
    """The service beside a route that does nothing, sqlite3 alone, and FastAPI + SQLAlchemy."""
    if not has_wrk():
        raise click.ClickException(WITHOUT_WRK)
    sys.stdout.write(table.HEAD + "\n")
    results: list[Result] = []
    with TemporaryDirectory(prefix="bench-") as folder:
        for result in measured(Path(folder), QUICK if quick else FULL, trades or (1000 if quick else 10**6)):
            results.append(result)
            sys.stdout.write(table.block(result) + "\n")
            sys.stdout.flush()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "bench.json").write_bytes(
            json.format(json.encode({**machine(), "results": results}), indent=2) + b"\n"
        )
        (out / "bench.svg").write_text(chart.svg(results))


def machine() -> dict[str, object]:
    return {
        "measured_on": date.today().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


if __name__ == "__main__":
    main()

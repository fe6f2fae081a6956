"""Measure everything, print it, and write it as a document and as a chart."""

import os
import platform
import sqlite3
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from msgspec import json

from bench import chart, table
from bench.cases import measure_cases
from bench.growth import measure_growth
from bench.load import WITHOUT_WRK, has_wrk
from bench.measure import FULL, QUICK, Result


@click.command()
@click.option("--quick", is_flag=True, help="Only see that it runs: tiny rounds, 1,000 trades.")
@click.option("--growth", is_flag=True, help="Only what operations cost as the journal grows.")
@click.option("--trades", type=click.IntRange(1000), help="Of the long journal; default: 1,000,000.")
@click.option("--out", type=click.Path(path_type=Path), help="Write bench.json and the chart there.")
def main(quick: bool, growth: bool, trades: int | None, out: Path | None) -> None:
    """The service beside a route that does nothing, sqlite3 alone, and FastAPI + SQLAlchemy.

    Then what its operations cost as the journal grows.
    """
    if not growth and not has_wrk():
        raise click.ClickException(WITHOUT_WRK)
    trades = trades or (1000 if quick else 10**6)
    pace = QUICK if quick else FULL
    found: dict[str, Any] = {}
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        if not growth:
            found["results"] = print_results(measure_cases(folder, pace, trades))
        found["growth"] = measure_growth(folder, pace, trades)
        sys.stdout.write(table.growth_block(found["growth"]) + "\n")
    if out is not None:
        write_files(out, found)


def print_results(results: Iterable[Result]) -> list[Result]:
    """Print each result as soon as it is there; return all."""
    every = []
    sys.stdout.write(table.HEAD + "\n")
    for result in results:
        every.append(result)
        sys.stdout.write(table.block(result) + "\n")
        sys.stdout.flush()
    return every


def write_files(out: Path, found: dict[str, Any]) -> None:
    """Write what was measured; the parts that were not measured stay as they are."""
    out.mkdir(parents=True, exist_ok=True)
    document, machine = out / "bench.json", this_machine()
    before = json.decode(document.read_bytes()) if document.exists() else {}
    document.write_bytes(json.format(json.encode({**before, **machine, **found}), indent=2) + b"\n")
    if "results" in found:
        (out / "bench.svg").write_text(chart.svg(found["results"]))


def this_machine() -> dict[str, object]:
    return {
        "measured_on": date.today().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


if __name__ == "__main__":
    main()

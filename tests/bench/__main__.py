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
from bench.load import WITHOUT_WRK, has_wrk
from bench.measure import FULL, QUICK, Result
from bench.waits import measure_waits


@click.command()
@click.option("--quick", is_flag=True, help="Only see that it runs: tiny rounds, 1,000 trades.")
@click.option("--waits", is_flag=True, help="Only what a trader waits for.")
@click.option("--trades", type=click.IntRange(1000), help="Of the longest journal; default: 100,000.")
@click.option("--out", type=click.Path(path_type=Path), help="Write bench.json and the chart there.")
def main(quick: bool, waits: bool, trades: int | None, out: Path | None) -> None:
    """What a trader waits for as the journal grows, beside bare statements.

    Then the service beside a route that does nothing, sqlite3 alone, and FastAPI + SQLAlchemy.
    """
    if not waits and not has_wrk():
        raise click.ClickException(WITHOUT_WRK)
    pace = QUICK if quick else FULL
    found: dict[str, Any] = {}
    with TemporaryDirectory(prefix="bench-") as name:
        found["waits"] = measure_waits(Path(name), pace, trades or (1000 if quick else 100_000))
        sys.stdout.write(table.waits_block(found["waits"]) + "\n")
        if not waits:
            found["results"] = print_results(measure_cases(Path(name), pace))
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
    """Write what was measured; results that were not measured stay as they are."""
    out.mkdir(parents=True, exist_ok=True)
    document, machine = out / "bench.json", this_machine()
    before = json.decode(document.read_bytes()) if document.exists() else {}
    kept = {"results": before.get("results", [])}
    document.write_bytes(json.format(json.encode({**kept, **machine, **found}), indent=2) + b"\n")
    (out / "bench.svg").write_text(chart.svg(found["waits"]))


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

"""Measure everything, tell it on the terminal, and keep it as a document and a chart."""

import os
import platform
import sqlite3
import sys
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click
from msgspec import json

from bench import chart, growth_chart, table
from bench import formats as files
from bench import growth as growing
from bench import tail as crowded
from bench.cases import measured
from bench.load import WITHOUT_WRK, has_wrk
from bench.measure import FULL, IMPATIENT, PATIENT, QUICK

Shown = TypeVar("Shown")


@click.command()
@click.option("--quick", is_flag=True, help="Only see that it runs: tiny rounds, 1,000 trades.")
@click.option("--growth", is_flag=True, help="Only what operations cost as the journal grows.")
@click.option("--tail", is_flag=True, help="Only the slowest requests of many front ends.")
@click.option("--formats", is_flag=True, help="Only the CPU time of a row of each format of files.")
@click.option("--trades", type=click.IntRange(1000), help="Of the long journal; 1,000,000 unless said.")
@click.option("--out", type=click.Path(path_type=Path), help="Write bench.json and the charts there.")
def main(quick: bool, growth: bool, tail: bool, formats: bool, trades: int | None, out: Path | None) -> None:
    """The service beside a route that does nothing, sqlite3 alone, and FastAPI + SQLAlchemy.

    Then what its operations cost as the journal grows, and how long the slowest requests take.
    """
    everything = not growth and not tail and not formats
    if everything and not has_wrk():
        raise click.ClickException(WITHOUT_WRK)
    trades = trades or (1000 if quick else 10**6)
    found: dict[str, list[Any]] = {}
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        if everything:
            sys.stdout.write(table.HEAD + "\n")
            found["results"] = shown(measured(folder, QUICK if quick else FULL, trades), table.block)
        if everything or growth:
            patience = IMPATIENT if quick else PATIENT
            found["growth"] = shown(growing.measured(folder, patience, trades), table.growth_block)
        if everything or tail:
            sys.stdout.write(table.TAIL + "\n")
            crowd = crowded.FEW if quick else crowded.CROWDS
            found["tail"] = shown(crowded.measured(folder, crowd), table.tail_block)
        if everything or formats:
            sys.stdout.write(table.FORMATS + "\n")
            rows, rounds = (200, 1) if quick else (10_000, 5)
            found["formats"] = shown(files.measured(folder, rows, rounds), table.format_line)
    if out is not None:
        keep(out, found)


def shown(results: Iterable[Shown], block: Callable[[Shown], str]) -> list[Shown]:
    """All of them, each told as soon as it is there."""
    every = []
    for result in results:
        every.append(result)
        sys.stdout.write(block(result) + "\n")
        sys.stdout.flush()
    return every


def keep(out: Path, found: dict[str, list[Any]]) -> None:
    """What was measured; the parts that were not are left as they are."""
    out.mkdir(parents=True, exist_ok=True)
    document, machine = out / "bench.json", this_machine()
    before = json.decode(document.read_bytes()) if document.exists() else {}
    document.write_bytes(json.format(json.encode({**before, **machine, **found}), indent=2) + b"\n")
    if "results" in found:
        (out / "bench.svg").write_text(chart.svg(found["results"]))
    if "growth" in found:
        (out / "growth.svg").write_text(growth_chart.svg(found["growth"]))


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

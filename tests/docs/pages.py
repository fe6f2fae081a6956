"""Reading the documentation: its tables, and its shell blocks, which run as they are written."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from commands import PATIENCE, Server

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
ADDRESS = "http://127.0.0.1:8000"  # as the pages have it


def cells_of(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line[1:-1].split("|")]


def read_tables(page: Path) -> Iterator[list[dict[str, str]]]:
    """Every table of the page: its rows, each cell under the name of its column."""
    for table in re.findall(r"(?:^\|.*\n)+", page.read_text(), re.M):
        head, _, *rows = map(cells_of, table.splitlines())
        yield [dict(zip(head, row, strict=True)) for row in rows]


def rows_under(page: Path, column: str) -> list[dict[str, str]]:
    """The rows of all tables of the page whose first column has that name."""
    return [row for table in read_tables(page) if next(iter(table[0])) == column for row in table]


def code_in(text: str) -> list[str]:
    """The texts between backticks."""
    return re.findall(r"`([^`]+)`", text)


def blocks_of(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S)


def make_checkout(folder: Path) -> Path:
    """Create what a tour needs of a checkout: the command in its place, and the samples of the tests."""
    command = folder / ".venv/bin/journal-api"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m journal_api "$@"\n')
    command.chmod(0o700)
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


def run_blocks(page: Path, checkout: Path, server: Server, db: Path, key: str = "tjk_...") -> list[str]:
    """Run the shell blocks of the page in order, and return the lines that they print.

    Only the address, the placeholder of a key and the folder of backups are replaced. A refused request
    fails, and so does a command, unless the page says its exit status.
    """
    script = "\n".join(blocks_of(page, "sh")).replace(ADDRESS, server.url).replace("tjk_...", key)
    script = re.sub(r"^(.+?) +# exit status (\d)$", r"\1 || test $? = \2", script, flags=re.M)
    curl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }'
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{curl}\n{script.replace('/mnt/backups', './backups')}"],
        cwd=checkout,
        env={"PATH": f"{checkout}/.venv/bin:/usr/bin:/bin", "JOURNAL_DB": str(db), "KEY": key},
        input="y\n",
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    return ran.stdout.splitlines()


def responses_in(lines: list[str]) -> list[Any]:
    """The responses among the lines that a tour printed."""
    return [msgspec.json.decode(line) for line in lines if line.startswith("{")]

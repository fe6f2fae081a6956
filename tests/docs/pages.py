"""Reading the documentation: its tables, and its shell blocks, which run as they are written."""

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from itertools import repeat
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import msgspec
from commands import PATIENCE, Server, command

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


# The command, as a function of the shell: this process runs it, and sends its exit status and what it writes.
COMMAND = """
journal-api() {
    exec 3<>/dev/tcp/127.0.0.1/%d
    printf '%%s\\0' "$#" "$@" >&3
    IFS= read -r -d '' code <&3; IFS= read -r -d '' out <&3; IFS= read -r -d '' err <&3
    printf %%s "$out"; printf %%s "$err" >&2; return $code
}
.venv/bin/journal-api() { journal-api "$@"; }
curl() { command curl --silent --show-error --fail-with-body "$@"; echo; }
"""


class CommandHandler(StreamRequestHandler):
    """Runs a command of a page in the journal of the page."""

    def handle(self) -> None:
        texts = (b"".join(iter(lambda: self.rfile.read(1), end)).decode() for end in repeat(b"\0"))
        arguments = [next(texts) for _ in range(int(next(texts)))]
        ran = command(*arguments, settings={"JOURNAL_DB": self.server.db}, stdin="y\n")  # type: ignore[attr-defined]
        self.wfile.write("".join(f"{text}\0" for text in (ran.code, ran.out, ran.err)).encode())


@contextmanager
def answering_commands(db: Path) -> Iterator[int]:
    """The port at which commands are run."""
    with ThreadingTCPServer(("127.0.0.1", 0), CommandHandler) as server:
        vars(server)["db"] = str(db)
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def make_checkout(folder: Path) -> Path:
    """Create what a tour needs of a checkout: the samples of the tests."""
    folder.mkdir()
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


def run_blocks(page: Path, checkout: Path, server: Server, db: Path, key: str = "tjk_...") -> list[str]:
    """Run the shell blocks of the page in order, and return the lines that they print.

    Only the address, the placeholder of a key and the folder of backups are replaced. A refused request
    fails, and so does a command, unless the page says its exit status.
    """
    script = "\n".join(blocks_of(page, "sh")).replace(ADDRESS, server.url).replace("tjk_...", key)
    script = re.sub(r"^(.+?) +# exit status (\d)$", r"\1 || test $? = \2", script, flags=re.M)
    with answering_commands(db) as port, chdir(checkout):
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", COMMAND % port + script.replace("/mnt/backups", "./backups")],
            env={"PATH": "/usr/bin:/bin", "KEY": key},
            stdin=subprocess.DEVNULL,
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

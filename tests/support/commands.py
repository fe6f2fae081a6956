"""The `journal-api` command in this process, and servers in their own. Every wait is bounded."""

import io
import os
import pty
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import httpx
from forked import Fork
from proofs import SOAK

from journal_api.cli import main
from journal_api.database.migrations import prepare
from journal_api.settings import Settings

Process = subprocess.Popen[bytes] | Fork
# Measurements and `make soak` start processes as users do.
FORKS = sys.platform == "linux" and "PYTEST_VERSION" in os.environ and not SOAK
# Constants of the package that forked processes have, by their names: "server.log.CLOSE_TIMEOUT".
CONSTANTS: dict[str, float] = {}
NO_CONSTANTS: Mapping[str, float] = {}
NO_SETTINGS: Mapping[str, str] = {}
PATIENCE = 120  # seconds; never reached unless something hangs, however busy the machine is
# No server of the tests speaks TLS, and for each client httpx would load all certificates of the machine.
WITHOUT_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Completed(NamedTuple):
    """What a command that has ended left behind."""

    code: int
    out: str
    err: str


class Server(NamedTuple):
    """A running server and what it writes."""

    url: str
    process: Process
    out: Path
    err: Path

    def client(self, key: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS)

    def open_files(self) -> int:
        """How many files and connections it has open, as Linux tells."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def stop(self, how: int = signal.SIGTERM) -> int:
        """The exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


def environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without the settings of whoever runs the tests, and not in the zone of the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JOURNAL_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # many processes compile the package once
    return {**kept, "JOURNAL_TIMEZONE": "UTC", **(settings or {})}


def command(*arguments: str | bytes | Path, settings: Mapping[str, str] | None = None, stdin: str = "") -> Completed:
    """Run `journal-api` with these arguments, and `JOURNAL_*` only as given, in a thread of this process.

    The thread has no event loop, as the command expects; a test may run in one.
    """
    texts, env = [os.fsdecode(argument) for argument in arguments], environment(settings)
    results: list[Completed] = []
    thread = threading.Thread(target=lambda: results.append(run_main(texts, env, stdin)))
    thread.start()
    thread.join(PATIENCE)
    assert results, f"journal-api {texts} does not end"
    return results[0]


def run_main(arguments: list[str], env: Mapping[str, str], stdin: str) -> Completed:
    """What the command leaves behind, as Python would for a process of it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code, umask = 0, os.umask(0o022)
    with (
        patch.dict(os.environ, env, clear=True),
        patch.object(sys, "argv", ["journal_api", *arguments]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            if isinstance(ended.code, str):
                err.write(f"{ended.code}\n")
            code = 1 if isinstance(ended.code, str) else ended.code or 0
        finally:
            os.umask(umask)
    return Completed(code, *(text.buffer.getvalue().decode() for text in (out, err)))


def command_in_process(*arguments: str | bytes | Path, settings: Mapping[str, str] | None = None) -> Completed:
    """Run `journal-api` in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-m", "journal_api", *arguments],
        env=environment(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Completed(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def run_ok(*arguments: str | bytes | Path, settings: Mapping[str, str] | None = None) -> str:
    """The standard output of a command that succeeds and says at most its journal on standard error."""
    ran = command(*arguments, settings=settings)
    assert (ran.code, notes_in(ran)) == (0, ""), ran.err
    return ran.out


def notes_in(ran: Completed) -> str:
    """What a command says on standard error besides the journal that it wrote to."""
    return re.sub(r"^(New journal|Journal)\b.*\n", "", ran.err, flags=re.MULTILINE)


def make_journal(db: Path, timezone: str = "UTC", day_rollover: str = "00:00") -> None:
    """A new journal, unless the file exists, whose user has those days; few commands make one."""
    if not db.exists():
        db.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        db.touch(mode=0o600)
        db.write_bytes(empty_journal(timezone, day_rollover))


@cache
def empty_journal(timezone: str, day_rollover: str) -> bytes:
    """The file of a new journal, prepared once a process."""
    with TemporaryDirectory() as folder:
        db = Path(folder) / "journal.db"
        prepare(Settings(db=db, timezone=timezone, day_rollover=day_rollover))
        return db.read_bytes()


def run_failing(*arguments: str | bytes | Path, settings: Mapping[str, str] | None = None, code: int = 1) -> str:
    """The one line on standard error of a command that fails with this exit code and prints nothing else."""
    ran = command(*arguments, settings=settings)
    assert ran.code == code, ran
    assert ran.out == ""
    assert ran.err.count("\n") == 1, ran.err
    assert ran.err.endswith("\n")
    return ran.err.rstrip("\n")


def import_file(db: Path, file: Path, *options: str, account: str = "Sim", timezone: str | None = "UTC") -> Completed:
    """Import a file into a journal, a new one if there is none; with `timezone=None`, without a time zone."""
    make_journal(db)
    zone = [] if timezone is None else ["--timezone", timezone]
    return command("import", file, "--account", account, "--db", db, *zone, *options)


@contextmanager
def running(
    db: Path,
    *arguments: str,
    name: str = "server",
    by_variables: bool = False,
    stderr: int | None = None,
    constants: Mapping[str, float] = NO_CONSTANTS,
    **settings: str,
) -> Iterator[Server]:
    """A server on a free loopback port that answers; at the end it is ended, however the block went.

    `settings` are environment variables; its standard error goes to a file of its own unless told where.
    `constants` are further CONSTANTS of this process.
    """
    out, err = db.with_name(f"{name}.out"), db.with_name(f"{name}.err")
    port = free_port()
    variables = {"JOURNAL_DB": str(db), "JOURNAL_PORT": str(port)} if by_variables else {}
    options = [] if by_variables else ["--db", str(db), "--port", str(port)]
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = start(
            ["serve", *options, *arguments],
            environment(variables | settings),
            to_out.fileno(),
            to_err.fileno() if stderr is None else stderr,
            constants=constants,
        )
    with answering(process, port, out, err) as server:
        yield server


@contextmanager
def running_program(files: Path, program: Sequence[str | Path], port: int, **options: Any) -> Iterator[Server]:
    """The server that this program is on that port; it writes to `files` with .out and .err."""
    out, err = files.with_suffix(".out"), files.with_suffix(".err")
    with out.open("wb") as to_out, err.open("wb") as to_err:
        given = {"env": environment(), "stdin": subprocess.DEVNULL, **options}
        process = subprocess.Popen(program, stdout=to_out, stderr=to_err, **given)
    with answering(process, port, out, err) as server:
        yield server


@contextmanager
def answering(process: Process, port: int, out: Path, err: Path) -> Iterator[Server]:
    """The server that the process is, once it answers."""
    try:
        server = Server(f"http://127.0.0.1:{port}", process, out, err)
        wait_until_it_answers(server)
        yield server
    finally:
        if process.poll() is None:
            process.kill()  # what a server does when it is told to stop, tests see with `Server.stop`
            process.wait(PATIENCE)


def start(
    arguments: Sequence[str],
    env: Mapping[str, str],
    out: int,
    err: int,
    stdin: int | None = None,
    constants: Mapping[str, float] = NO_CONSTANTS,
) -> Process:
    """A process of `journal-api` that writes to these files."""
    with open(os.devnull, "r+b") as nothing:
        files = [nothing.fileno() if file in (None, subprocess.DEVNULL) else file for file in (stdin, out, err)]
        if FORKS:
            return Fork(arguments, env, files, {**CONSTANTS, **constants})
        program = [sys.executable, "-m", "journal_api", *arguments]
        return subprocess.Popen(program, env=env, stdin=files[0], stdout=files[1], stderr=files[2])


def on_a_terminal(*arguments: str | Path, settings: Mapping[str, str] = NO_SETTINGS) -> str:
    """What the command writes to a terminal, which is its standard output and its standard error."""
    ours, theirs = pty.openpty()
    process = start([*map(str, arguments)], {"TERM": "xterm", **environment(settings)}, theirs, theirs)
    os.close(theirs)
    written = read_terminal(ours)
    assert process.wait(PATIENCE) == 0
    return written


def read_terminal(descriptor: int) -> str:
    """What is written to a terminal until its other end is closed."""
    written = b""
    with closing(os.fdopen(descriptor, "rb", buffering=0)) as terminal:
        while True:
            try:
                written += terminal.read(65536)
            except OSError:  # how Linux says that the other end is closed
                return written.decode()


@contextmanager
def locked(db: Path) -> Iterator[None]:
    """Another program is in the middle of a write."""
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def health(url: str) -> httpx.Response:
    return httpx.get(f"{url}/health", timeout=PATIENCE, verify=WITHOUT_TLS)


def wait_until_it_answers(server: Server) -> None:
    deadline, address = time.monotonic() + PATIENCE, httpx.URL(server.url)
    while True:
        try:
            socket.create_connection((address.host, address.port or 0)).close()  # costs less than to ask in vain
            health(server.url)
        except (OSError, httpx.TransportError):
            assert server.process.poll() is None, server.err.read_text()
            assert time.monotonic() < deadline, "the server never answered"
            time.sleep(0.003)
        else:
            return


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def new_key(db: Path, *options: str, scopes: str = "all") -> str:
    """A key made by the command, in a new journal if there is none."""
    make_journal(db)
    return run_ok("keys", "create", "test", "--scopes", scopes, "--db", db, *options).strip()


def key_in(printed: str) -> str:
    """The one key in what a server printed."""
    (key,) = re.findall(r"tjk_[0-9A-Za-z]{36}", printed)
    return str(key)


def dump(db: Path) -> list[str]:
    """Everything in the database, as SQL, but for the statistics that SQLite keeps for itself."""
    with closing(sqlite3.connect(db)) as opened:
        return dump_opened(opened)


def dump_opened(opened: sqlite3.Connection) -> list[str]:
    return [line for line in opened.iterdump() if not line.startswith(("ANALYZE", 'INSERT INTO "sqlite_stat'))]


def read_record(db: Path) -> list[str]:
    """Everything in the database but logs and times of changes, highest ids, the index of texts."""
    tables = ("changed_days", "changed_objects", "sqlite_sequence", "search_index")
    passing = tuple(f'INSERT INTO "{table}' for table in tables)
    with closing(sqlite3.connect(db)) as opened, closing(sqlite3.connect(":memory:")) as copy:
        opened.backup(copy)
        for trigger in copy.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            copy.execute(f"DROP TRIGGER {trigger[0]}")
        copy.execute("UPDATE trades SET changed_at = NULL")
        return [line for line in dump_opened(copy) if not line.startswith(passing)]


def rows(db: Path, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(db)) as opened:
        return opened.execute(sql, values).fetchall()


def change(db: Path, sql: str) -> None:
    """One statement on a database that no server has open: for what no command does."""
    with closing(sqlite3.connect(db)) as opened, opened:
        opened.execute(sql)

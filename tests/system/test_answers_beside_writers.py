"""Answers that a server keeps, beside another process that writes to the same file: DECISIONS 30."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import httpx
import pytest
from commands import Server, new_key, running
from factories import unwrap
from proofs import examples

READERS = 3


@pytest.mark.soak
def test_what_another_process_committed_is_in_every_later_answer(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    reads = examples(full=20_000, ci=200)
    committed = [0]

    def read(server: Server, key: str) -> int:
        """Read the number again and again; return how many different numbers there were."""
        numbers = set()
        with server.client(key) as client:
            for _ in range(reads):
                least = committed[0]
                numbers.add(number_in(client))
                assert max(numbers) >= least
        return len(numbers)

    with (
        running(db) as server,
        ThreadPoolExecutor() as readers,
        closing(sqlite3.connect(db)) as other_program,
    ):
        key = new_key(db)
        write(other_program, 0)
        reading = [readers.submit(read, server, key) for _ in range(READERS)]
        for number in count(1):
            write(other_program, number)
            committed[0] = number
            if all(reader.done() for reader in reading):
                break

        assert min(reader.result() for reader in reading) > 1


def write(db: sqlite3.Connection, number: int) -> None:
    with db:
        db.execute("UPDATE users SET name = ?", [str(number)])


def number_in(client: httpx.Client) -> int:
    return int(unwrap(client.get("/me"))["name"])

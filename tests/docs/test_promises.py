"""The page of promises: each has a row, every proof stands in its row, and the pragmas are those in use."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from pages import DOCS, ROOT, rows_under
from starlette.applications import Starlette

RELIABILITY = DOCS / "reliability.md"
AS_SQLITE_HAS_IT = {"WAL": "wal", "OFF": "0", "ON": "1", "FULL": "2", "MEMORY": "2"}


@cache
def proofs() -> list[tuple[int, str]]:
    """Every test that is marked as a proof, under the number of its promise."""
    return [
        (int(mark[1]), f"{file.relative_to(ROOT)}::{test.name}")
        for file in sorted((ROOT / "tests").glob("*/test_*.py"))
        for test in ast.parse(file.read_text()).body
        if isinstance(test, (ast.FunctionDef, ast.AsyncFunctionDef))
        for decorator in map(ast.unparse, test.decorator_list)
        if (mark := re.fullmatch(r"pytest\.mark\.promise\((\d+)\)", decorator))
    ]


def proofs_told() -> Iterator[tuple[int, str]]:
    """The tests that the page names, each with a link to its file, under the number of their row."""
    for row in rows_under(RELIABILITY, "#"):
        for test, _ in re.findall(r"\[`(tests/([\w/]+\.py)::\w+)`\]\(\.\./tests/\2\)", row["test"]):
            yield int(row["#"]), test


def test_each_promise_has_a_row_without_a_gap() -> None:
    rows = rows_under(RELIABILITY, "#")

    assert [row["#"] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert [row["#"] for row in rows if not all(row.values())] == []


def test_every_proof_stands_in_the_row_of_its_promise_and_no_other_test_does() -> None:
    told = sorted(proofs_told())

    assert told == sorted(proofs())


def test_every_promise_has_a_proof() -> None:
    numbers = [int(row["#"]) for row in rows_under(RELIABILITY, "#")]

    assert {number for number, _ in proofs()} == set(numbers)


async def test_the_pragmas_of_the_page_are_those_of_the_connection_that_writes(app: Starlette) -> None:
    told = {row["pragma"].strip("`"): row["value"].strip("`") for row in rows_under(RELIABILITY, "pragma")}

    used = {}
    for pragma in told:
        ((value,),) = await app.state.database._writer.execute_fetchall(f"PRAGMA {pragma}")
        used[pragma] = str(value)

    assert used == {pragma: AS_SQLITE_HAS_IT.get(value, value) for pragma, value in told.items()}

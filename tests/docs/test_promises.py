"""docs/reliability.md: each promise has a row and a test, and the pragmas are those in use."""

import re

from aiosqlite import Connection
from pages import DOCS, ROOT, rows_under
from starlette.applications import Starlette

RELIABILITY = DOCS / "reliability.md"
AS_SQLITE_SAYS = {"WAL": "wal", "OFF": "0", "ON": "1", "FULL": "2", "MEMORY": "2"}


def test_promises_are_numbered_without_a_gap_and_each_has_a_test() -> None:
    rows = rows_under(RELIABILITY, "#")
    marks = [
        int(number)
        for file in (ROOT / "tests").glob("*/test_*.py")
        for number in re.findall(r"^@pytest\.mark\.promise\((\d+)\)$", file.read_text(), re.M)
    ]

    assert [int(row["#"]) for row in rows] == list(range(1, len(rows) + 1)) == sorted(set(marks))
    assert all(all(row.values()) for row in rows)


async def test_the_documented_pragmas_are_set_on_the_connection_that_writes(app: Starlette) -> None:
    rows = rows_under(RELIABILITY, "pragma")
    documented = {row["pragma"].strip("`"): row["value"].strip("`") for row in rows}

    async def read_pragmas(db: Connection) -> dict[str, str]:
        rows = {pragma: await db.execute_fetchall(f"PRAGMA {pragma}") for pragma in documented}
        return {pragma: str(next(iter(row))[0]) for pragma, row in rows.items()}

    used = await app.state.database.write(read_pragmas)
    assert used == {pragma: AS_SQLITE_SAYS.get(value, value) for pragma, value in documented.items()}

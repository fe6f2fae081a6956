"""The journals that are measured: 200 tags, 21 strategies, trades, goals."""

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from commands import new_key

from bench.servers import journal, measure_peak

YEARS = Path(__file__).with_name("years.sql")
A_DAY = 100  # trades of one day, whatever the length of the journal
DAYS = 400  # with a trade in the smaller journal: more than a page of snapshots
HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,fees\n"
DAILY = {"goal_name": "A day", "metric": "net_pnl", "target_value": 200, "timeframe": "daily"}


class Contents(NamedTuple):
    """What there is to ask for."""

    category_id: int
    small_strategy_id: int
    large_strategy_id: int
    goal_id: int


def trade_file(count: int, a_day: int = A_DAY) -> bytes:
    """Round trips, so many a day up to yesterday."""
    first = date.today() - timedelta(days=-(-count // a_day))
    return "".join((HEADER, *(trade_row(first, number, a_day) for number in range(count)))).encode()


def trade_row(first: date, number: int, a_day: int) -> str:
    days, place = divmod(number, a_day)
    day, minute = first + timedelta(days=days), place * 1440 // a_day
    entry, leave = 5000 + number % 97 / 4, 5000 + number * 31 % 101 / 4
    direction = "short" if number % 3 else "long"
    at = f"{day}T{minute // 60:02}:{minute % 60:02}"
    return f"ES,{direction},{1 + number % 4},{entry},{leave},{at}:00Z,{at}:45Z,2.04\n"


def strategy(name: str, setups: int, confirmations: int) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Only after the first fifteen minutes, and never into the close.",
        "risk_rules": {"max_loss_per_trade": 250, "max_contracts": 4, "stop": {"kind": "fixed", "ticks": 12}},
        "exit_rules": {"targets": [1, 2.5], "trail": True},
        "setups": [
            {
                "name": f"Setup {setup}",
                "description": "A pullback that holds.",
                "confirmations": [{"name": f"Confirmation {one} of setup {setup}"} for one in range(confirmations)],
            }
            for setup in range(setups)
        ],
    }


def fill(db: Path) -> tuple[str, Contents]:
    """Make the journal of 200 tags through its own interface: a key with every scope, and what there is."""
    key = new_key(db)
    with journal(db, key) as server:
        categories = [server.create("tag-categories", name=f"Category {number}") for number in range(10)]
        for number in range(200):
            server.create("tags", name=f"Tag {number}", category_id=categories[number % 10], color="#16a34a")
        small = [server.create("strategies", **strategy(f"Strategy {n}", 4, 6)) for n in range(20)]
        large = server.create("strategies", **strategy("The large one", 50, 100))
        account = server.create("accounts", name="Sim")
        trades = trade_file(DAYS, a_day=1)
        server.send("POST", f"/v1/imports?account_id={account}", trades, "text/csv")
        goal = server.create("goals", **DAILY)
        server.send("GET", f"/v1/goals/{goal}/snapshots")
    return key, Contents(categories[0], small[0], large, goal)


def fill_years(db: Path, trades: int) -> None:
    """Add the years of years.sql, with so many trades, to an empty journal."""
    with closing(sqlite3.connect(db)) as opened:
        statement = ""
        for line in YEARS.read_text().splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                opened.execute(statement, {"count": trades})
                statement = ""
        opened.commit()


def memory_of_import(db: Path, trades: int) -> float:
    """The MiB that the import of so many trades takes."""
    new_key(db)
    file = db.with_suffix(".csv")
    file.write_bytes(trade_file(trades))
    return measure_peak("import", file, "--account", "Sim", "--db", db)


def copy_journal(db: Path, name: str) -> Path:
    """A database beside it with the same contents."""
    copy = db.with_name(name)
    with closing(sqlite3.connect(db)) as opened, closing(sqlite3.connect(copy)) as to:
        opened.backup(to)
        to.execute("PRAGMA journal_mode = WAL")
    return copy

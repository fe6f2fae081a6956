"""`make bench`: the tables of docs/performance.md, what a trader waits for as the journal grows, and beside TradeTally.

Each size is a journal of its own. Ours and the comparison alternate, and a ratio is taken within each round,
because the machine is noisy. The first round warms up.
"""

import csv
import itertools
import json
import os
import re
import secrets
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import date, timedelta
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import click
from commands import Server, environment, new_key, running

YEARS = Path(__file__).with_name("years.sql")
A_DAY, IMPORTED = 100, 10_000  # trades of one day of a file, and of the whole file
DAILY = {"goal_name": "A day", "metric": "net_pnl", "target_value": 200, "timeframe": "daily"}
GOALS = [
    DAILY,
    *({**DAILY, "timeframe": timeframe} for timeframe in ("weekly", "monthly")),
    {**DAILY, "metric": "max_drawdown"},
    {**DAILY, "metric": "balance_target", "timeframe": "monthly"},
]
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY")
NEWEST_TRADES = "SELECT * FROM trades WHERE user_id = 1 ORDER BY opened_at DESC, id DESC LIMIT 50"
# The drawdown of each day: one pass over all trades in order.
DRAWDOWNS = """
    SELECT trading_day, max(max(peak, 0) - equity)
    FROM (SELECT trading_day, equity,
              max(equity) OVER (PARTITION BY trading_day ORDER BY closed_at, id
                                ROWS UNBOUNDED PRECEDING) AS peak
          FROM (SELECT trading_day, closed_at, id,
                    sum(net_pnl) OVER (PARTITION BY trading_day ORDER BY closed_at, id
                                       ROWS UNBOUNDED PRECEDING) AS equity
                FROM trades
                WHERE trading_day IS NOT NULL))
    GROUP BY trading_day
"""
TOTALS = """
    SELECT count(*), sum(gross_pnl), sum(fees), sum(net_pnl), sum(max(net_pnl, 0)), sum(net_pnl > 0)
    FROM trades
    WHERE user_id = 1 AND closed_at IS NOT NULL
"""
# How a report is grouped, the column that the bare statement groups by, how many times as long a first read may take.
REPORTS = {
    "none": ("NULL", 4), "symbol": ("contract", 4), "weekday": ("strftime('%w', trading_day)", 4),
    "confirmation": ("setup_id", 6),
}  # fmt: skip
# TradeTally, a journal in Node.js on Postgres: paths of ours and theirs, and how many times as fast ours should be when
# asked again, and after a trade.
BESIDE = {
    "tags": ("/v1/tags", "/api/tags", 10, 5),
    "50 trades": ("/v1/trades", "/api/trades?limit=50", 10, 5),
    "report by symbol": ("/v1/reports?group_by=symbol", "/api/analytics/symbols?limit=100", 1, 1),
}
THEIR_USER = {"password": "Abcdef12!x", "fullName": "Bench"}
THEIR_COLUMNS = "user_id, symbol, trade_date, entry_time, exit_time, entry_price, exit_price, quantity, side, fees, pnl"
THEIR_ROWS = """
    SELECT symbol, trading_day, opened_at, closed_at, entry_price / 1e8, exit_price / 1e8, quantity / 1e8, direction,
        fees / 1e8, net_pnl / 1e8
    FROM trades
"""
LISTS = {"first page": "", "last page": "offset={last}", "won": "outcome=win", "with a tag": "tag_id=1"}
Seconds = Callable[[], float]


class Wait(NamedTuple):
    """What takes so many seconds, the bare statement, and how many times as long as that it may take."""

    what: str
    ours: Seconds
    bare: Seconds | None = None
    target: float | None = None


class Line(NamedTuple):
    """A line of the table: the median at each size, the ratio at the largest, and what is wanted."""

    values: list[float]
    ratios: list[float]
    target: float | None


@click.command()
@click.option("--trades", type=click.IntRange(10_000), default=100_000, help="Of the longest journal.")
@click.option("--rounds", type=click.IntRange(1), default=5)
@click.option("--tradetally", help="The URL of a running TradeTally: print its table alone.")
@click.option("--postgres", help="The URL of its database, which gets a user and 5,000 trades.")
def main(trades: int, rounds: int, tradetally: str | None, postgres: str | None) -> None:
    """Print the table: a journal of a hundredth of the trades, one of a tenth, and one of all."""
    if tradetally and postgres:
        with TemporaryDirectory(prefix="bench-") as folder:
            measure_beside(Path(folder), tradetally, postgres, rounds)
        return
    sizes = [trades // 100, trades // 10, trades]
    found: dict[str, Line] = {}
    with TemporaryDirectory(prefix="bench-") as folder:
        for size in sizes:
            for what, value, ratio, target in measure_journal(Path(folder, str(size)), size, rounds):
                line = found.setdefault(what, Line([], [], target))
                line.values.append(value)
                line.ratios.extend(ratio)
    print_row("ms unless said, by the number of trades", *(f"{size:,}" for size in sizes), "times the bare", "at most")
    print_row(*["---"] * 6)
    for what, line in found.items():
        times = f"{line.ratios[-1]:.1f} x" if line.ratios else ""
        missed = ": **missed**" if line.target and (line.ratios or line.values)[-1] > line.target else ""
        most = f"{line.target:g}{' x' if times else ''}{missed}" if line.target else ""
        print_row(what, *(f"{value:,.{0 if value > 20 else 1}f}" for value in line.values), times, most)


def print_row(*cells: str) -> None:
    click.echo(f"| {' | '.join(cells)} |")


def measure_journal(folder: Path, size: int, rounds: int) -> Iterator[tuple[str, float, list[float], float | None]]:
    """Yield what was measured in a journal of that size: its name, value, ratio if there is one, and target."""
    folder.mkdir()
    db, empty = folder / "journal.db", folder / "empty.db"
    keys = [new_key(db), new_key(empty)]
    fill_years(db, size)
    begun = time.monotonic()
    with ExitStack() as stack:
        server = stack.enter_context(running(db))
        trader = Trader(server, keys[0])
        yield "s until a server answers", time.monotonic() - begun, [], 0.5
        beginner = Trader(stack.enter_context(running(empty)), keys[1])
        bare = stack.enter_context(closing(sqlite3.connect(folder / "bare.db", isolation_level=None)))
        for pragma in PRAGMAS:
            bare.execute(f"PRAGMA {pragma}")
        bare.execute("ATTACH ? AS journal", [str(db)])
        for wait in list_waits(trader, beginner, bare, size):
            pairs = [(wait.ours(), wait.bare() if wait.bare else 0.0) for _ in range(rounds + 1)][1:]
            ratio = [statistics.median(ours / other for ours, other in pairs)] if wait.bare else []
            yield wait.what, statistics.median(ours for ours, _ in pairs) * 1000, ratio, wait.target
        yield "MiB of the server then", trader.resident(), [], 80
    yield f"MiB of an import of {IMPORTED:,} trades", memory_of_import(db), [], 200


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


def measure_beside(folder: Path, url: str, postgres: str, rounds: int) -> None:
    """Print how many times as fast as TradeTally ours is with the same 5,000 trades."""
    db = folder / "journal.db"
    key = new_key(db)
    fill_years(db, 5000)
    with running(db) as server:
        ours, theirs = Trader(server, key), Tally(url, postgres, db)
        print_row("case", "times as fast as TradeTally", "at least")
        print_row(*["---"] * 3)
        for what, our_wait, their_wait, least in list_beside(ours, theirs):
            pairs = [(our_wait(), their_wait()) for _ in range(rounds * 20 + 1)][1:]
            ratio = statistics.median(other for _, other in pairs) / statistics.median(own for own, _ in pairs)
            print_row(what, f"{ratio:.2g}", f"{least} x{': **missed**' if ratio < least else ''}")


def list_beside(ours: "Trader", theirs: "Tally") -> Iterator[tuple[str, Seconds, Seconds, float]]:
    for what, (path, their_path, again, after) in BESIDE.items():
        yield f"{what}, asked again", partial(ours.read, path), partial(theirs.read, their_path), again
        yield f"{what}, after a trade", after_a_trade(ours, path), after_a_trade(theirs, their_path), after
    yield "create a trade", partial(seconds_of, ours.add_trade), partial(seconds_of, theirs.add_trade), 2.5
    yield "create a tag", partial(seconds_of, ours.add_tag), partial(seconds_of, theirs.add_tag), 2.5


def list_waits(trader: "Trader", beginner: "Trader", bare: sqlite3.Connection, size: int) -> Iterator[Wait]:
    def run(sql: str) -> Seconds:
        return lambda: seconds_of(lambda: bare.execute(sql).fetchall())

    for key, (column, target) in REPORTS.items():
        path, grouped = f"/v1/reports?group_by={key}", run(f"{TOTALS} GROUP BY {column}")
        yield Wait(f"report by {key}, first read", partial(trader.read_first, path), grouped, target)
        yield Wait(f"report by {key}", after_a_trade(trader, path), grouped, 1)
    for what, query in LISTS.items():
        read = after_a_trade(trader, f"/v1/trades?{query.format(last=size - 50)}")
        yield Wait(f"trades, {what}", read, run(NEWEST_TRADES))
    yield Wait("five goals, first read", trader.first_read, run(DRAWDOWNS), 3)
    yield Wait("five goals after a trade", after_a_trade(trader, "/v1/goals?with=snapshot"))
    yield Wait("five goals after an import", trader.after_an_import, beginner.after_an_import, 1.5)
    yield Wait("a new trade", lambda: seconds_of(trader.add_trade))
    bare.execute("CREATE TABLE bare_tags (name TEXT UNIQUE)")
    insert = run("INSERT INTO bare_tags VALUES (hex(randomblob(8)))")
    yield Wait("a new tag", lambda: seconds_of(trader.add_tag), insert, 4)
    width = len(next(csv.reader(trade_lines())))
    bare.execute(f"CREATE TABLE bare_trades ({', '.join(f'column_{number}' for number in range(width))})")
    yield Wait(
        f"an import of {IMPORTED:,} trades", trader.import_time, lambda: seconds_of(lambda: copy_file(bare, width)), 20
    )


def seconds_of(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def copy_file(bare: sqlite3.Connection, width: int) -> None:
    """`csv.reader` into one table without an index, durable."""
    bare.execute("BEGIN IMMEDIATE")
    bare.executemany(f"INSERT INTO bare_trades VALUES ({', '.join('?' * width)})", csv.reader(trade_lines()))
    bare.execute("COMMIT")


def trade_lines() -> Iterator[str]:
    """A file of round trips, A_DAY up to yesterday."""
    first = date.today() - timedelta(days=IMPORTED // A_DAY)
    yield "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,fees\n"
    for number in range(IMPORTED):
        days, place = divmod(number, A_DAY)
        minute = place * 1440 // A_DAY
        at = f"{first + timedelta(days=days)}T{minute // 60:02}:{minute % 60:02}"
        prices = f"{5000 + number % 97 / 4},{5000 + number * 31 % 101 / 4}"
        yield f"ES,{'short' if number % 3 else 'long'},{1 + number % 4},{prices},{at}:00Z,{at}:45Z,2.04\n"


def memory_of_import(db: Path) -> float:
    """The most MiB that the command of an import has in memory."""
    file = db.with_suffix(".csv")
    file.write_text("".join(trade_lines()))
    command = [sys.executable, "-m", "journal_api", "import", str(file), "--account", "By command", "--db", str(db)]
    process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


class Client:
    """One connection to a server."""

    def __init__(self, url: str, key: str) -> None:
        self.key, self.used = key, time.monotonic()
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=600)

    def send(self, method: str, path: str, body: bytes | None = None, media_type: str = "application/json") -> Any:
        """What a write is answered, which must be a success."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": media_type}
        if time.monotonic() > self.used + 2:  # the server may have closed it
            self.connection.close()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content, self.used = answer.read(), time.monotonic()
        assert answer.status < 300, content[:1000]
        return json.loads(content) if method == "POST" else None

    def read(self, path: str) -> float:
        return seconds_of(lambda: self.send("GET", path))


class Trader(Client):
    """Writes to a server, and then waits for what it shows."""

    def __init__(self, server: Server, key: str) -> None:
        super().__init__(server.url, key)
        self.pid, self.numbers = server.process.pid, itertools.count()
        self.account_id = self.create("accounts", name=f"Account {secrets.token_hex(4)}")
        self.category_id = self.create("tag-categories", name=f"Category {secrets.token_hex(4)}")
        self.goals: list[int] = []

    def read_first(self, path: str) -> float:
        """Read a report of all trades, since a day of long ago that nobody has asked for."""
        return self.read(f"{path}&from={date.fromordinal(600_000 + next(self.numbers))}")

    def resident(self) -> float:
        """MiB of the server in memory (Linux)."""
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        return int(kilobytes) / 1024

    def create(self, resource: str, **fields: Any) -> int:
        """The id of the new one."""
        (made,) = self.send("POST", f"/v1/{resource}", json.dumps(fields).encode())["data"].values()
        return int(made["id"])

    def add_tag(self) -> None:
        self.create("tags", name=secrets.token_hex(8), category_id=self.category_id)

    def add_trade(self) -> None:
        """A trade of yesterday."""
        at = f"{date.today() - timedelta(days=1)}T14:00:00Z"
        trade = {"symbol": "ES", "direction": "long", "quantity": 1, "entry_price": 5000}
        result = {"exit_price": 5001 + next(self.numbers) / 4, "opened_at": at, "closed_at": at}
        self.create("trades", account_id=self.account_id, **trade, **result)

    def first_read(self) -> float:
        """Of five new goals."""
        for goal_id in self.goals:
            self.send("DELETE", f"/v1/goals/{goal_id}")
        self.goals = [self.create("goals", **goal) for goal in GOALS]
        return self.read("/v1/goals?with=snapshot")

    def import_time(self) -> float:
        """Of a file that is undone again."""
        return self.import_and(lambda: None)[0]

    def after_an_import(self) -> float:
        """Of five goals that were up to date before 10,000 trades of 100 days came."""
        if not self.goals:
            self.first_read()
        self.read("/v1/goals?with=snapshot")
        return self.import_and(lambda: self.send("GET", "/v1/goals?with=snapshot"))[1]

    def import_and(self, then: Callable[[], object]) -> tuple[float, float]:
        """The seconds of an import and of what follows; the import is undone again."""
        file, path = "".join(trade_lines()).encode(), f"/v1/imports?account_id={self.account_id}"
        made: list[Any] = []
        took = seconds_of(lambda: made.append(self.send("POST", path, file, "text/csv")))
        after = seconds_of(then)
        self.send("DELETE", f"/v1/imports/{made[0]['data']['import']['id']}?force=true")
        return took, after


class Tally(Client):
    """A new user of TradeTally with the trades of a journal."""

    def __init__(self, url: str, postgres: str, db: Path) -> None:
        super().__init__(url, "")
        self.key = secrets.token_hex(6)
        user = {**THEIR_USER, "username": f"u{self.key}", "email": f"{self.key}@example.com"}
        found = self.send("POST", "/api/auth/register", json.dumps(user).encode())
        self.key = found["token"]
        with closing(sqlite3.connect(db)) as opened:
            rows = [",".join(map(str, (found["user"]["id"], *row))) for row in opened.execute(THEIR_ROWS)]
        for sql in (f"\\copy trades ({THEIR_COLUMNS}) FROM STDIN CSV", "ANALYZE trades"):
            subprocess.run(["psql", postgres, "-qc", sql], input="\n".join(rows), text=True, check=True)

    def add_trade(self) -> None:
        day = f"{date.today() - timedelta(days=1)}T14:00:00Z"
        trade = {"symbol": "ES", "side": "long", "quantity": 1, "entryPrice": 5000, "exitPrice": 5001}
        self.send("POST", "/api/trades", json.dumps({**trade, "entryTime": day, "exitTime": day}).encode())

    def add_tag(self) -> None:
        self.send("POST", "/api/tags", json.dumps({"name": secrets.token_hex(8), "color": "#16a34a"}).encode())


def after_a_trade(client: Trader | Tally, path: str) -> Seconds:
    def read() -> float:
        client.add_trade()
        return client.read(path)

    return read


if __name__ == "__main__":
    main()

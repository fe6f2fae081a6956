"""TradeTally, a journal in Node.js on Postgres, beside ours: the same 5,000 trades, a fifth of them copies.

It runs as its own page says, with RATE_LIMIT_ENABLED=false. `psql` gives its database the trades.
"""

import json
import secrets
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from commands import new_key

from bench import load
from bench.data import fill_years
from bench.measure import Case, Pace, Side, compare
from bench.servers import Measured, journal

TRADES = 5000
OPENED, CLOSED = "2026-01-05T14:00:00Z", "2026-01-05T14:10:00Z"
SAME = {"symbol": "ES", "quantity": 1}
A_TRADE = {**SAME, "direction": "long", "entry_price": 1, "exit_price": 2, "opened_at": OPENED, "closed_at": CLOSED}
THEIR_TRADE = {**SAME, "side": "long", "entryPrice": 1, "exitPrice": 2, "entryTime": OPENED, "exitTime": CLOSED}
COLUMNS = "symbol, trade_date, entry_time, exit_time, entry_price, exit_price, quantity, side, fees, pnl"
ROWS = """
SELECT symbol, trading_day, opened_at, closed_at, entry_price / 1e8, exit_price / 1e8, quantity / 1e8, direction,
  fees / 1e8, net_pnl / 1e8
FROM trades"""
# What is read of ours and of theirs, and how many times as fast ours should be again and after a write.
READ = {
    "tags": ("/v1/tags", "/api/tags", 10, 5),
    "50 trades": ("/v1/trades", "/api/trades?limit=50", 10, 5),
    "report by symbol": ("/v1/reports?group_by=symbol", "/api/analytics/symbols?limit=100", 1, 1),
}


def measure_beside(folder: Path, pace: Pace, url: str, postgres: str) -> Iterator[str]:
    db = folder / "tradetally.db"
    key = new_key(db)
    fill_years(db, TRADES)
    theirs = sign_up(url, postgres, db)
    with journal(db, key) as ours:
        for case in list_cases(ours, theirs, pace):
            yield compare(case, pace)


def sign_up(url: str, postgres: str, db: Path) -> Measured:
    """Return a new user of TradeTally with the trades of the journal."""
    server, name = Measured(url, ""), f"u{secrets.token_hex(6)}"
    user = {"email": f"{name}@example.com", "username": name, "password": "Abcdef12!x", "fullName": "Bench"}
    answer = json.loads(server.send("POST", "/api/auth/register", json.dumps(user).encode()))
    with closing(sqlite3.connect(db)) as opened:
        rows = "".join(f"{answer['user']['id']},{','.join(map(str, row))}\n" for row in opened.execute(ROWS))
    copy = f"\\copy trades (user_id, {COLUMNS}) FROM STDIN CSV"
    for sql in (copy, "ANALYZE trades"):
        subprocess.run(["psql", postgres, "-qc", sql], input=rows, text=True, check=True)
    return Measured(url, answer["token"])


def list_cases(ours: Measured, theirs: Measured, pace: Pace) -> Iterator[Case]:
    for what, (path, their_path, again, after) in READ.items():
        sides = load.reads(ours, pace.calls, path), load.reads(theirs, pace.calls, their_path)
        yield Case(f"{what}, asked again", sides[0], "TradeTally", sides[1], again)
        sides = after_a_trade(ours, add_trade, pace, path), after_a_trade(theirs, add_their_trade, pace, their_path)
        yield Case(f"{what}, after a trade", sides[0], "TradeTally", sides[1], after)
    for what, add, their_add in (("trade", add_trade, add_their_trade), ("tag", add_tag, add_their_tag)):
        sides = creates(ours, add, pace), creates(theirs, their_add, pace)
        yield Case(f"create a {what}", sides[0], "TradeTally", sides[1], 2.5)


Add = Callable[[Measured], Any]


def creates(server: Measured, add: Add, pace: Pace) -> Side:
    return lambda: load.timed(pace.calls, lambda: add(server))


def after_a_trade(server: Measured, add: Add, pace: Pace, path: str) -> Side:
    return lambda: load.timed(pace.calls, lambda: server.send("GET", path), lambda: add(server))


def add_trade(ours: Measured) -> None:
    ours.create("trades", account_id=1, **A_TRADE)


def add_their_trade(theirs: Measured) -> None:
    theirs.send("POST", "/api/trades", json.dumps(THEIR_TRADE).encode())


def add_tag(ours: Measured) -> None:
    ours.create("tags", name=secrets.token_hex(8), category_id=1)


def add_their_tag(theirs: Measured) -> None:
    theirs.send("POST", "/api/tags", json.dumps({"name": secrets.token_hex(8), "color": "#16a34a"}).encode())

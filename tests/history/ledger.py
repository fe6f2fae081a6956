"""Fills by hand and files of fills, and what the trades must then be: by a book apart from the service.

No other step of the walk touches the accounts of a ledger, so that every trade of them is known.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

from commands import read_record
from positions import (
    FileFill,
    Pair,
    book_positions,
    executions,
    first_in_first_out,
    performance,
    position_history,
    random_fills,
)
from reference import rounded

BROKER = "Ledger"
OF_LEDGER = f"account_id IN (SELECT id FROM accounts WHERE broker = '{BROKER}')"
COPY_SECONDS, SHARE = timedelta(seconds=5), 2
LONG_AFTER = datetime(2027, 1, 1)
Row = tuple[Any, ...]


class Walk(Protocol):
    """What the ledger needs of a walk."""

    file: Path
    random: Random

    async def write(self, method: str, path: str, body: Any = None, **options: Any) -> Any: ...

    def rows(self, sql: str) -> list[Any]: ...


def amount(units: int | None) -> Fraction | None:
    return None if units is None else Fraction(units, 10**8)


# By hand -------------------------------------------------------------------------------------------------


class HandFill(NamedTuple):
    id: int
    quantity: int  # negative for a sale
    price: Fraction
    at: str
    fees: Fraction = Fraction(0)

    @property
    def exchange(self) -> Row:
        return self.quantity, self.price, self.at


@dataclass(frozen=True)
class HandTrade:
    """A trade as its fills, in the order of time, and the trades that it was merged from."""

    sign: int
    multiplier: int
    fills: tuple[HandFill, ...]
    parts: tuple[tuple[int, "HandTrade"], ...] = ()
    merged_fills: tuple[HandFill, ...] = ()

    @property
    def sizes(self) -> list[int]:
        return list(accumulate(self.sign * fill.quantity for fill in self.fills))

    @property
    def closed_at(self) -> str | None:
        return None if self.sizes[-1] else self.fills[-1].at

    def with_fills(self, fills: Sequence[HandFill]) -> "HandTrade | None":
        """The trade with these fills, None if they are no position that way."""
        changed = replace(self, fills=tuple(sorted(fills, key=lambda fill: fill.at)))
        is_flat_between = 0 in changed.sizes[:-1] and 0 not in self.sizes[:-1]
        return None if not fills or min(changed.sizes) < 0 or is_flat_between else changed

    def describe(self) -> Row:
        """Direction, size, averages, times, result and fees."""
        entries, exits = (
            [fill for fill in self.fills if (fill.quantity * self.sign > 0) is side] for side in (True, False)
        )
        result = -sum((fill.quantity * fill.price for fill in self.fills), Fraction(0)) * self.multiplier
        is_closed = self.closed_at is not None
        return (
            *("long" if self.sign > 0 else "short", max(self.sizes), average(entries)),
            *(average(exits) if is_closed else None, self.fills[0].at, self.closed_at),
            *(result if is_closed else None, sum(fill.fees for fill in self.fills)),
        )


def average(fills: Sequence[HandFill]) -> Fraction:
    value = sum((fill.quantity * fill.price for fill in fills), Fraction(0))
    return rounded(value / sum(fill.quantity for fill in fills))


class HandBook:
    """An account whose trades are entered, scaled, corrected, merged and split by hand."""

    def __init__(self, walk: Walk, account: int) -> None:
        self.walk, self.random, self.account = walk, walk.random, account
        self.trades: dict[int, HandTrade] = {}

    def new_fill(self, fill_id: int, quantity: int) -> HandFill:
        minute = self.random.randrange(60)
        price = Fraction(self.random.randrange(400, 480), 4)
        fees = Fraction(self.random.choice((0, 1, 5)), 4)
        return HandFill(fill_id, quantity, price, f"2026-03-02T14:{minute:02}:00.000000Z", fees)

    async def open_trade(self) -> None:
        sign, multiplier = self.random.choice((1, -1)), self.random.choice((1, 1, 1, 50))
        fill = self.new_fill(1, sign * self.random.randint(1, 4))
        body = {
            "account_id": self.account,
            "symbol": "XYZ",
            "direction": "long" if sign > 0 else "short",
            "quantity": abs(fill.quantity),
            "multiplier": multiplier,
            "entry_price": float(fill.price),
            "opened_at": fill.at,
            "fees": float(fill.fees),
        }
        created = await self.walk.write("POST", "/trades", body)
        self.trades[created["id"]] = HandTrade(sign, multiplier, (fill,))

    async def add_fills(self, trade_id: int) -> None:
        trade = self.trades[trade_id]
        first_id = 1 + max(fill.id for fill in trade.fills)
        quantities = [self.random.choice((-2, -1, 1, -trade.sign * trade.sizes[-1] or 1)) for _ in range(2)]
        fills = [
            self.new_fill(number, quantity)
            for number, quantity in enumerate(quantities[: self.random.randint(1, 2)], first_id)
        ]
        body = {"fills": [{**self.body(fill), "side": side(fill)} for fill in fills]}
        done = await self.walk.write("POST", f"/trades/{trade_id}/fills", body)
        self.learn(trade_id, trade.with_fills([*trade.fills, *fills]), done)

    async def change_fill(self, trade_id: int) -> None:
        trade = self.trades[trade_id]
        fill = self.random.choice(trade.fills)
        other = self.new_fill(fill.id, self.random.randint(1, 4) * (1 if fill.quantity > 0 else -1))
        name = self.random.choice(("quantity", "price", "at", "fees"))
        changed = fill._replace(**{name: getattr(other, name)})
        sent = {name: self.body(changed)[name]}
        done = await self.walk.write("PATCH", f"/trades/{trade_id}/fills/{fill.id}", sent)
        self.learn(trade_id, trade.with_fills([changed if one is fill else one for one in trade.fills]), done)

    async def delete_fill(self, trade_id: int) -> None:
        trade = self.trades[trade_id]
        fill = self.random.choice(trade.fills)
        done = await self.walk.write("DELETE", f"/trades/{trade_id}/fills/{fill.id}")
        self.learn(trade_id, trade.with_fills([one for one in trade.fills if one is not fill]), done)

    def body(self, fill: HandFill) -> dict[str, Any]:
        numbers = {"quantity": abs(fill.quantity), "price": float(fill.price), "fees": float(fill.fees)}
        return {**numbers, "at": fill.at}

    def learn(self, trade_id: int, changed: HandTrade | None, done: Any) -> None:
        assert bool(done) is (changed is not None), (trade_id, self.trades[trade_id], changed)
        self.trades[trade_id] = changed or self.trades[trade_id]

    async def delete_trade(self, trade_id: int) -> None:
        assert await self.walk.write("DELETE", f"/trades/{trade_id}")
        del self.trades[trade_id]

    async def merge(self, trade_id: int) -> None:
        """Any two to four trades; refused unless they are of one kind and touch in time."""
        others = self.random.sample(sorted(self.trades), min(len(self.trades), self.random.randint(2, 4)))
        ids = sorted({trade_id, *others}, key=lambda one: (self.trades[one].fills[0].at, one))
        parts = [(one, self.trades[one]) for one in ids]
        before = read_record(self.walk.file)
        done = await self.walk.write("POST", "/trades/merge", {"ids": ids})
        assert bool(done) is (len(ids) > 1 and is_one_position([part for _, part in parts])), parts
        if not done:
            return
        if self.random.random() < 0.3:
            assert await self.walk.write("POST", f"/trades/{ids[0]}/split", {})
            assert read_record(self.walk.file) == before
            return
        joined = sorted((fill for _, part in parts for fill in part.fills), key=lambda fill: fill.at)
        fills = tuple(fill._replace(id=number) for number, fill in enumerate(joined, 1))
        first = self.trades[ids[0]]
        for one in ids:
            del self.trades[one]
        self.trades[ids[0]] = HandTrade(first.sign, first.multiplier, fills, tuple(parts), fills)

    async def split(self, trade_id: int) -> None:
        trade = self.trades[trade_id]
        done = await self.walk.write("POST", f"/trades/{trade_id}/split", {})
        is_as_merged = [fill.exchange for fill in trade.fills] == [one.exchange for one in trade.merged_fills]
        assert bool(done) is (bool(trade.parts) and is_as_merged)
        if done:
            self.trades |= dict(trade.parts)

    async def step(self) -> None:
        if len(self.trades) < 2 or self.random.random() < 0.2:
            await self.open_trade()
        else:
            steps: list[Callable[[int], Any]] = [self.add_fills] * 4
            steps += [self.change_fill, self.delete_fill, self.merge, self.merge, self.split, self.split]
            await self.random.choice([*steps, self.delete_trade])(self.random.choice(sorted(self.trades)))

    def compare(self) -> None:
        columns = "direction, quantity, entry_price, exit_price, opened_at, closed_at, gross_pnl, fees"
        stored = self.walk.rows(f"SELECT id, {columns} FROM trades WHERE account_id = {self.account}")
        found = {
            one: (direction, *map(amount, amounts), *times, amount(gross), amount(fees))
            for one, direction, *amounts, opened, closed, gross, fees in stored
            for times in [(opened, closed)]
        }
        assert found == {one: trade.describe() for one, trade in self.trades.items()}


def side(fill: HandFill) -> str:
    return "buy" if fill.quantity > 0 else "sell"


def is_one_position(parts: Sequence[HandTrade]) -> bool:
    """Whether the trades, in the order of opening, have one kind and no time between them."""
    untils = list(accumulate((part.closed_at or "9" for part in parts), max))
    touching = all(part.fills[0].at <= until for part, until in zip(parts[1:], untils, strict=False))
    return touching and len({(part.sign, part.multiplier) for part in parts}) == 1


# By files ------------------------------------------------------------------------------------------------


def spread_over_days(fills: Sequence[FileFill]) -> list[FileFill]:
    return [fill._replace(time=fill.time + timedelta(days=at // 8)) for at, fill in enumerate(fills)]


def copy_fills(fills: Sequence[FileFill]) -> list[FileFill]:
    """What a follower does a second later."""
    late = timedelta(seconds=1)
    return [
        fill._replace(id=fill.id + 5000, time=fill.time + late, quantity=fill.quantity * SHARE)
        for fill in fills
    ]


@dataclass
class FileAccount:
    """An account whose trades come from files that cut its fills, or the pairs of them, anywhere.

    `unit` is what one trade is in its files.
    """

    walk: Walk
    account: int
    fills: list[FileFill]
    kind: str  # fills or pairs
    unit: str = "position"
    known: set[int] = field(default_factory=set)  # the rows that files have had
    rate: Decimal = Decimal(0)
    # The imports that can be undone, each with what was known before.
    imports: list[tuple[int, set[int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pairs = list(first_in_first_out(self.fills))
        self.items: list[Any] = self.fills if self.kind == "fills" else self.pairs

    def choose_part(self) -> range:
        """The next rows, rows anywhere, or all."""
        random, count = self.walk.random, len(self.items)
        begin = random.choice((max(self.known, default=-1) + 1, random.randrange(count)))
        begin = begin if begin < count else 0
        return random.choice((range(begin, min(count, begin + random.randint(1, 20))),) * 4 + (range(count),))

    async def import_part(self) -> None:
        """Try a file, import what is certain, and now and then undo it."""
        part = self.choose_part()
        before = read_record(self.walk.file)
        report = await self.send(self.build_file(part))
        if report is None:
            return
        if self.walk.random.random() < 0.3:
            assert await self.walk.write("DELETE", f"/imports/{report['id']}")
            assert read_record(self.walk.file) == before
            return
        self.imports.append((report["id"], self.known.copy()))
        self.known |= set(part)

    async def send(self, content: bytes, new: int | None = None) -> Any:
        """The report of an import that does what its dry run said; None if a row is suspect."""
        path = f"/imports?account_id={self.account}&timezone=UTC&one_trade_is={self.unit}"
        sent = {"content": content, "headers": {"Content-Type": "text/csv"}}
        before = read_record(self.walk.file)
        tried = await self.walk.write("POST", f"{path}&dry_run=true", **sent)
        assert read_record(self.walk.file) == before
        assert new in (None, tried["counts"]["new"])
        if tried["counts"].get("suspect"):
            return None
        report = await self.walk.write("POST", path, **sent)
        assert (report["counts"], report["linked"]) == (tried["counts"], tried["linked"])
        return report

    async def import_other_format(self) -> None:
        """What is known completely in one format is not new in another."""
        if len(self.known) < len(self.items):
            return
        formats = [position_history(self.pairs)]
        formats.append(performance(self.pairs) if self.kind == "fills" else executions(self.fills))
        report = await self.send(self.walk.random.choice(formats), new=0)
        if report is None:
            assert self.unit == "row", "only single rows may belong to another position than the one found"
        else:
            self.imports.append((report["id"], self.known.copy()))

    async def undo_last(self) -> None:
        if self.imports:
            import_id, self.known = self.imports.pop()
            assert await self.walk.write("DELETE", f"/imports/{import_id}")
            assert not self.walk.rows(f"SELECT 1 FROM imports WHERE id = {import_id}")

    async def undo_any(self) -> None:
        """Undo files in any order. What is left is completed by the whole file, or else undone too."""
        stored = f"FROM imports WHERE account_id = {self.account}"
        ids = [one for (one,) in self.walk.rows(f"SELECT id {stored}")]
        if not ids:
            return
        self.imports.clear()
        self.walk.random.shuffle(ids)
        left = self.walk.random.randrange(len(ids))
        for one in ids[left:]:
            assert await self.walk.write("DELETE", f"/imports/{one}?force=true")
        self.known = set()
        if left and await self.send(self.build_file(range(len(self.items)))):
            self.known = set(range(len(self.items)))
            return
        for one in ids[:left]:
            assert await self.walk.write("DELETE", f"/imports/{one}?force=true")
        assert not self.walk.rows(f"SELECT 1 {stored}")

    def build_file(self, part: range) -> bytes:
        rows = self.items[part.start : part.stop]
        return executions(rows) if self.kind == "fills" else performance(rows)

    async def change_rate(self) -> None:
        """Commissions that earlier trades pay too."""
        self.rate = self.walk.random.choice((Decimal("0.37"), Decimal("1.25")))
        body = {"fees": {"default": float(self.rate)}}
        assert await self.walk.write("PATCH", f"/accounts/{self.account}?apply_to=earlier", body)

    async def join(self) -> None:
        """Rows become positions; now and then rows again."""
        before = self.read_trades()
        path = f"/imports/{self.imports[-1][0]}"
        assert await self.walk.write("POST", f"{path}/join", {})
        if self.walk.random.random() < 0.5:
            assert await self.walk.write("POST", f"{path}/split", {}) is not None
            assert self.read_trades() == before
        else:
            self.unit = "position"
            self.imports.clear()

    def read_trades(self) -> list[Any]:
        return self.walk.rows(f"SELECT * FROM trades WHERE account_id = {self.account} ORDER BY id")

    async def step(self) -> None:
        steps = [self.import_part] * 6 + [self.change_rate, self.undo_last, self.undo_any]
        steps.append(self.import_other_format)
        if self.unit == "row" and self.imports:
            steps += [self.join] * 2
        await self.walk.random.choice(steps)()

    def list_known_fills(self) -> list[FileFill]:
        """The fills that files have had, as far as their pairs were."""
        known = [self.items[at] for at in sorted(self.known)]
        if self.kind == "fills":
            return known
        sizes: Counter[int] = Counter()
        for pair in known:
            sizes[pair.bought.id] += pair.quantity
            sizes[pair.sold.id] -= pair.quantity
        return [fill._replace(quantity=sizes[fill.id]) for fill in self.fills if sizes[fill.id]]

    def list_positions(self) -> list[Row]:
        """Symbol, direction, size, times and result; the open ones without closing time and result."""
        fills, left = self.list_known_fills(), Counter[str]()
        for fill in fills:
            left[fill.symbol] += fill.quantity
        closing = [
            FileFill(10**6, LONG_AFTER, symbol, -size, Decimal(0)) for symbol, size in left.items() if size
        ]
        names = ("symbol", "direction", "quantity", "opened_at", "closed_at", "gross")
        booked = [tuple(one[name] for name in names) for one in book_positions([*fills, *closing])]
        return [one if one[4] < LONG_AFTER else (*one[:4], None, None) for one in booked]

    def list_lonely(self) -> list[Row]:
        """The positions that no other of their contract and direction opens near to."""
        positions = self.list_positions()
        near = timedelta(seconds=30)
        return [
            one
            for one in positions
            if not any(
                other[:2] == one[:2] and abs(other[3] - one[3]) < near and other != one for other in positions
            )
        ]

    def list_pairs(self) -> list[Row]:
        pairs: list[Pair] = [self.items[at] for at in self.known]
        rows = []
        for pair in pairs:
            first, last = sorted((pair.bought, pair.sold), key=lambda fill: (fill.time, fill.id))
            direction = "long" if first is pair.bought else "short"
            rows.append((pair.symbol, direction, pair.quantity, first.time, last.time, pair.result))
        return rows

    def compare(self) -> None:
        """Every fill is stored once, and if no file is missing in between, in its position."""
        stored = self.walk.rows(
            "SELECT symbol, direction, quantity, opened_at, closed_at, gross_pnl, fees, fills FROM trades"
            f" WHERE account_id = {self.account}"
        )
        fills = self.list_known_fills()
        sides = sum(abs(fill.quantity) for fill in fills)
        assert sum(map(count_sides, stored)) == sides
        assert sum(row[6] for row in stored) == sides * self.rate * 10**8
        if self.kind == "fills" and len(self.known) <= max(self.known, default=0) - min(
            self.known, default=0
        ):
            return
        found = [
            (*names, amount(size), opened[:19], closed and closed[:19], amount(gross))
            for *names, size, opened, closed, gross, _, _ in stored
        ]
        expected = [
            (*names, size, opened.isoformat(), closed and closed.isoformat(), result)
            for *names, size, opened, closed, result in (
                self.list_pairs() if self.unit == "row" else self.list_positions()
            )
        ]
        assert sorted(map(as_key, found)) == sorted(map(as_key, expected))


def count_sides(row: Row) -> Fraction:
    """What a stored trade bought and sold."""
    quantity, closed_at, fills = Fraction(row[2], 10**8), row[4], row[7]
    if fills is None:
        return quantity * (1 if closed_at is None else 2)
    return sum((Fraction(str(fill["quantity"])) for fill in json.loads(fills)), Fraction(0))


def as_key(row: Row) -> Row:
    """A row that can be sorted, its numbers as text."""
    return tuple(str(Fraction(value)) if isinstance(value, int | Decimal) else str(value) for value in row)


# All of them ---------------------------------------------------------------------------------------------


class Ledger:
    """An account by hand, and accounts of files: fills, those of a follower, pairs, and pairs as rows."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.group = walk, 0
        self.unlinked = set[int]()  # copies that the trader has unlinked
        self.books: list[HandBook | FileAccount] = []

    async def begin(self) -> None:
        accounts = [
            (await self.walk.write("POST", "/accounts", {"name": f"{BROKER} {number}", "broker": BROKER}))[
                "id"
            ]
            for number in range(5)
        ]
        hand, master, follower, *others = accounts
        fills = spread_over_days(random_fills(self.walk.random.randrange(10**6), 60))
        copied = copy_fills(fills)
        self.books = [
            HandBook(self.walk, hand),
            FileAccount(self.walk, master, fills, "fills"),
            FileAccount(self.walk, follower, copied, "fills"),
            FileAccount(self.walk, others[0], fills, "pairs"),
            FileAccount(self.walk, others[1], fills, "pairs", unit="row"),
        ]
        self.group = (await self.walk.write("POST", "/copy-groups", {"name": BROKER}))["id"]
        members = [
            {"account_id": master},
            {"account_id": follower, "quantity_multiplier": SHARE},
        ]
        await self.walk.write("PUT", f"/copy-groups/{self.group}/members", {"members": members})
        await self.walk.write("PATCH", f"/copy-groups/{self.group}", {"master_account_id": master})

    async def step(self) -> None:
        """A step of one account, or a copy that is linked, or not any more."""
        await self.walk.random.choice([*(book.step for book in self.books), self.link, self.unlink])()
        self.compare()

    async def link(self) -> None:
        """Every position that no other one is near to is linked to the one that it copies."""
        path = f"/copy-groups/{self.group}/link"
        tried = await self.walk.write("POST", f"{path}?dry_run=true", {})
        linked = await self.walk.write("POST", path, {})
        self.forget_imports()
        assert linked["linked"] == tried["linked"]
        master, follower = (book for book in self.books[1:3] if isinstance(book, FileAccount))
        if master.known == follower.known and not self.unlinked:
            originals = {(original[0], original[2][:19]) for _, original in self.list_links()}
            assert {(one[0], one[3].isoformat()) for one in master.list_lonely()} <= originals

    def forget_imports(self) -> None:
        """What the trader has linked or unlinked is edited, and undoing its import would keep it."""
        for book in self.books[1:3]:
            if isinstance(book, FileAccount):
                book.imports.clear()

    def list_links(self) -> list[tuple[Row, Row]]:
        """Each copy and its original: symbol, direction, opening, account, id."""
        names = ("symbol", "direction", "opened_at", "account_id", "id")
        rows = self.walk.rows(
            f"SELECT {', '.join(f'{table}.{name}' for table in ('copy', 'original') for name in names)}"
            " FROM trades AS copy JOIN trades AS original ON original.id = copy.source_trade_id"
            f" WHERE copy.{OF_LEDGER}"
        )
        return [(row[: len(names)], row[len(names) :]) for row in rows]

    def compare_links(self) -> None:
        """The copies are the follower's, open near their originals, and are no more than one each."""
        links = self.list_links()
        for copy, original in links:
            late = datetime.fromisoformat(copy[2]) - datetime.fromisoformat(original[2])
            assert (copy[:2], abs(late) <= COPY_SECONDS) == (original[:2], True)
            assert (copy[3], original[3]) == (self.books[2].account, self.books[1].account)
        assert len({original[4] for _, original in links}) == len(links)
        assert self.unlinked.isdisjoint(copy[4] for copy, _ in links)

    async def unlink(self) -> None:
        copies = [copy[4] for copy, _ in self.list_links()]
        if copies:
            self.forget_imports()
            self.unlinked.add(copy := self.walk.random.choice(copies))
            assert await self.walk.write("PATCH", f"/trades/{copy}", {"source_trade_id": None})

    def compare(self) -> None:
        for book in self.books:
            book.compare()
        self.compare_links()

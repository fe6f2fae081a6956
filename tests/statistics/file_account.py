"""Files of fills and pairs, cut anywhere and in any order, and the positions that an account then has."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from commands import read_record
from positions import FileFill, Pair, book_positions, executions, first_in_first_out, performance, position_history
from walks import Row, Walk, amount

LONG_AFTER = datetime(2027, 1, 1)
NEAR = timedelta(seconds=30)


def spread_over_days(fills: Sequence[FileFill]) -> list[FileFill]:
    return [fill._replace(time=fill.time + timedelta(days=at // 8)) for at, fill in enumerate(fills)]


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

    def has_gaps(self) -> bool:
        return bool(self.known) and len(self.known) <= max(self.known) - min(self.known)

    def list_positions(self) -> list[Row]:
        """Symbol, direction, size, times and result; the open ones without closing time and result."""
        fills, left = self.list_known_fills(), Counter[str]()
        for fill in fills:
            left[fill.symbol] += fill.quantity
        closing = [FileFill(10**6, LONG_AFTER, symbol, -size, Decimal(0)) for symbol, size in left.items() if size]
        names = ("symbol", "direction", "quantity", "opened_at", "closed_at", "gross")
        booked = [tuple(one[name] for name in names) for one in book_positions([*fills, *closing])]
        return [one if one[4] < LONG_AFTER else (*one[:4], None, None) for one in booked]

    def list_lonely(self) -> list[Row]:
        """The positions that no other of their contract and direction opens near to."""
        positions = self.list_positions()

        def is_near(one: Row, other: Row) -> bool:
            return one != other and one[:2] == other[:2] and abs(one[3] - other[3]) < NEAR

        return [one for one in positions if not any(is_near(one, other) for other in positions)]

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
        if self.kind == "fills" and self.has_gaps():
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

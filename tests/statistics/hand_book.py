"""Trades that are scaled, corrected, merged and split by hand, and what they must then be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

from commands import read_record
from reference import rounded
from walks import Row, Walk, amount


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

"""Sources and executions: a source is all files of one format, of which some say more of a fill than others."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from journal_api.positions.statements import Statement
from journal_api.values.clock import SECOND, read_instant
from journal_api.values.money import quotient

# Microseconds between the times of one fill in two formats: some have no fractions, some the order's time.
NEAR = 2 * SECOND
ORDERS = 3  # the place of orders among sources


class SourceStatement:
    """A statement in a book, its source and the trade that it is in so far."""

    __slots__ = ("imports", "is_disputed", "is_left_out", "line", "row_id", "source", "statement", "trade_id")

    def __init__(
        self,
        statement: Statement,
        file_format: str,
        *,
        imports: Iterable[int] = (),
        row_id: int | None = None,
        trade_id: int | None = None,
        line: int = 0,
        is_left_out: bool = False,
    ) -> None:
        self.statement, self.row_id, self.trade_id, self.line = statement, row_id, trade_id, line
        self.imports = tuple(imports)
        self.is_left_out = is_left_out  # the owner has deleted its trade
        self.is_disputed = False  # a file of fills has a part of it at its time, and no more
        # What was kept of earlier imports is a source of its own, which the files themselves state once more.
        self.source = find_source(statement, file_format)


def find_source(statement: Statement, file_format: str) -> tuple[int, str]:
    return share((rank(statement, file_format), "" if statement.is_kept else file_format))


@lru_cache(maxsize=1024)
def share(source: tuple[int, str]) -> tuple[int, str]:
    """Return one object for equal sources: a file may have a million statements."""
    return source


def rank(statement: Statement, file_format: str) -> int:
    """Return the place of a source by its detail: fills, pairs with ids, pairs, orders with averages."""
    if statement.kind == "fill" or statement.is_kept:
        return ORDERS if "order" in file_format.casefold() else int(statement.is_kept)
    return 1 if statement.sides[0].external_id is not None else 2


class Claim:
    """What a statement says of a part of an execution."""

    __slots__ = ("fees", "quantity", "stated")

    def __init__(self, stated: SourceStatement, quantity: int, fees: int) -> None:
        self.stated, self.quantity, self.fees = stated, quantity, fees

    def split(self, quantity: int) -> "Claim":
        """Take a part of the claim out of it, with its part of the fees."""
        fees = quotient(self.fees * quantity, self.quantity)
        self.quantity, self.fees = self.quantity - quantity, self.fees - fees
        return Claim(self.stated, quantity, fees)


class Execution:
    """A purchase or a sale, and all that is said of it."""

    __slots__ = ("at", "claims", "effect", "external_id", "instant", "place", "price", "quantity", "side")

    def __init__(self, half: "Half") -> None:
        self.side, self.quantity = half.side, half.left
        self.price: Any = half.price  # None only for an exit of a position by itself, which nobody stated
        self.at, self.instant, self.place = half.at, half.instant, half.place
        self.external_id, self.effect = half.external_id, half.stated.statement.effect
        self.claims: list[Claim] = []

    def left_for(self, source: tuple[int, str]) -> int:
        """Return the quantity of which a source has said nothing."""
        return self.quantity - sum(claim.quantity for claim in self.claims if claim.stated.source == source)


class Half:
    """One side of a statement, and the quantity of it that is not found in the book yet."""

    __slots__ = (*("at", "external_id", "fees", "instant", "left", "place", "price", "residual", "side"), "stated")

    def __init__(self, stated: SourceStatement, index: int) -> None:
        statement = stated.statement
        quantity, price, self.at, self.external_id, fees = statement.sides[index]
        self.stated, self.side, self.left = stated, 1 if quantity > 0 else -1, abs(quantity)
        self.price = price or 0
        self.residual = self.left * self.price  # the value of what is left
        has_own = any(side.fees for side in statement.sides)
        self.fees = fees if has_own else (statement.fees or 0) if index == 0 else 0
        self.instant, self.place = read_instant(self.at), find_place(statement, index)

    def claim(self, execution: Execution, quantity: int) -> None:
        """Say that a part of the execution is a part of this."""
        fees = self.fees if quantity == self.left else quotient(self.fees * quantity, self.left)
        execution.claims.append(Claim(self.stated, quantity, fees))
        execution.effect = execution.effect or self.stated.statement.effect
        self.left, self.fees = self.left - quantity, self.fees - fees
        self.residual -= quantity * execution.price


def find_place(statement: Statement, index: int) -> tuple[int, int]:
    """Return the place of a side among sides of one time.

    Fills of one time are in the order of their ids or of the file. Without ids a pair that closes is before
    one that opens and closes at once, and that is before one that opens.
    """
    fill_id = statement.sides[index].external_id
    if fill_id is not None and fill_id.isdecimal():
        return 0, int(fill_id)
    if len(statement.sides) == 1:
        return 0, statement.place or 0
    if statement.sides[0].at == statement.sides[-1].at:
        return 1, 2 * (statement.place or 0) + index
    return (2, index) if index < len(statement.sides) - 1 else (0, 0)


def find_order(execution: Execution) -> tuple[Any, ...]:
    """Return the place of an execution in the book, whatever the order in which files were read."""
    known = execution.external_id or ""
    return execution.instant, execution.place, known, execution.side, execution.price, execution.quantity


def find_half_order(half: Half) -> tuple[Any, ...]:
    statement = half.stated.statement
    known = half.external_id or statement.external_id or ""
    return half.instant, half.place, known, half.side, half.price, half.left, statement.sides


def is_of(stated: SourceStatement, import_id: int | None) -> bool:
    """Return whether only the new file states it."""
    return stated.imports == (import_id,)

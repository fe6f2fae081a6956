"""What a ledger needs of the random walk, and of the rows that the service has stored."""

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Protocol

Row = tuple[Any, ...]


class Walk(Protocol):
    """What the ledger needs of a walk."""

    file: Path
    random: Random

    async def write(self, method: str, path: str, body: Any = None, **options: Any) -> Any: ...

    def rows(self, sql: str) -> list[Any]: ...


def amount(units: int | None) -> Fraction | None:
    return None if units is None else Fraction(units, 10**8)

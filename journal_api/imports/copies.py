"""The copies of a file: rows that name the row of their original (`copy_of`), also one further down."""

from typing import NamedTuple

from journal_api.structs.imports import Verdict
from journal_api.trade_files.threads import with_cancel_checks


class PendingCopy(NamedTuple):
    """A copy whose original was not read yet."""

    line: int
    trade_id: int
    row_name: str | None
    copy_of: str


class ResolvedCopies(NamedTuple):
    """The pending copies whose originals are known, as pairs of original id and copy, and the errors."""

    pairs: list[tuple[int, PendingCopy]]
    errors: list[Verdict]


class Copies:
    """The originals of the file by the names of their rows, and the copies that were read before them."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._originals: dict[str, int] = {}
        self._pending: list[PendingCopy] = []

    def is_repeated(self, row_name: str) -> bool:
        """Return whether an earlier row has that name."""
        is_repeated = row_name in self._names
        self._names.add(row_name)
        return is_repeated

    def find_original(self, copy_of: str | None) -> int | None:
        """Return the id of the original, None if it was not read yet."""
        return None if copy_of is None else self._originals.get(copy_of)

    def add_original(self, row_name: str | None, original_id: int) -> None:
        if row_name is not None:
            self._originals[row_name] = original_id

    def add_pending(self, copy: PendingCopy) -> None:
        self._pending.append(copy)

    def resolve(self) -> ResolvedCopies:
        """Return the pending copies with their originals. Afterwards no copy is pending."""
        pending, self._pending = self._pending, []
        pairs: list[tuple[int, PendingCopy]] = []
        errors: list[Verdict] = []
        chains = {copy.row_name: copy.copy_of for copy in pending if copy.row_name is not None}
        for copy in with_cancel_checks(pending):
            visited, end = self._chain(copy, chains)
            for name in visited:  # so that each copy is visited once, also in a circle
                del chains[name]
            original_id = self._originals.get(end)
            if original_id is None:
                reason = f"copy_of names {copy.copy_of!r}, which leads to no original in this file"
                errors.append(Verdict(line=copy.line, verdict="error", reason=reason))
            else:
                self._originals |= dict.fromkeys(visited, original_id)
                pairs.append((original_id, copy))
        return ResolvedCopies(pairs, errors)

    def _chain(self, copy: PendingCopy, chains: dict[str, str]) -> tuple[dict[str, None], str]:
        """Return the names of the copies that lead to the original, and the name at the end of the chain."""
        visited: dict[str, None] = {}
        name = copy.copy_of
        while name in chains and name not in self._originals and name not in visited:
            visited[name] = None
            name = chains[name]
        return visited, name

"""Resolves the names in a row of a file to the ids of the user's objects."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Answered, Candidate, ImportedTrade, Names, Rejected, ResolvedRow
from journal_api.trade_files.accounts import FileAccounts
from journal_api.trade_files.file_format import first_reason


class RowResolver:
    """Resolves the rows of a file in their order, and numbers equal trades of an account."""

    def __init__(self, names: Names, accounts: FileAccounts) -> None:
        self.accounts = accounts
        self._names = names
        self._numbers: dict[int, int] = {}

    def resolve(self, row: Candidate | Rejected) -> ResolvedRow | Rejected:
        """Return the row with the ids of all objects that it names.

        A row that repeats an external id, or has a name that is not in the journal, is rejected.
        """
        if isinstance(row, Rejected):
            return row
        try:
            return self._resolve(row)
        except ValidationFailed as error:
            return Rejected(row.imported.line, first_reason(error))

    def allows_new(self, row: ResolvedRow) -> bool:
        """Return whether the row's strategy takes new trades of the row's account (docs/api.md T11)."""
        allowed = self._names.allowed_accounts.get(row.columns["strategy_id"])
        return allowed is None or row.columns["account_id"] in allowed

    def _resolve(self, row: Candidate) -> ResolvedRow:
        imported = row.imported
        account_id = self.accounts.find_id(imported.account)
        occurrence = self._count_occurrence(account_id, row.columns)
        strategy_id, setup_id = find_strategy(imported, self._names)
        columns = row.columns.copy()
        columns["account_id"], columns["occurrence"] = account_id, occurrence
        columns["strategy_id"], columns["setup_id"] = strategy_id, setup_id
        tag_ids = find_tags(imported, self._names) if imported.tags else []
        return ResolvedRow(imported, columns, tag_ids, find_answers(imported, setup_id, self._names))

    def _count_occurrence(self, account_id: int, columns: Mapping[str, Any]) -> int:
        """Return the ordinal of the trade among the trades of its account with the same fingerprint.

        Raises ValidationFailed for a repeated external id: the same content twice in one file is two trades,
        but the rows of one id contradict each other.
        """
        # Eight bytes of the fingerprint, so that the numbers of a million rows stay small.
        key = int.from_bytes(columns["fingerprint"][:8], "big") ^ account_id
        number = self._numbers[key] = self._numbers.get(key, 0) + 1
        if number > 1 and columns["external_id"] is not None:
            raise ValidationFailed(fields={"external_id": f"{columns['external_id']!r} is repeated"})
        return number


def find_strategy(imported: ImportedTrade, names: Names) -> tuple[int | None, int | None]:
    """Return the ids of the row's strategy and setup. Raises ValidationFailed."""
    if imported.strategy is None:
        if imported.setup is not None:
            raise ValidationFailed(fields={"setup": "needs its strategy in the same row"})
        return None, None
    strategy_id = require_id(names.strategies.get(imported.strategy), "strategy", imported.strategy)
    if imported.setup is None:
        return strategy_id, None
    setups = names.setups.get((strategy_id, imported.setup), [None])
    # Of several setups with the name, the first that has all confirmations of the row.
    answered = {answer.name for answer in imported.answers}
    fitting = (
        setup_id for setup_id in setups if all((setup_id, name) in names.confirmations for name in answered)
    )
    return strategy_id, require_id(next(fitting, setups[0]), "setup", imported.setup)


def find_tags(imported: ImportedTrade, names: Names) -> list[int]:
    """Return the ids of the row's tags, each once. Raises ValidationFailed."""
    return [require_id(names.tags.get(name), "tags", name) for name in dict.fromkeys(imported.tags)]


def find_answers(
    imported: ImportedTrade, setup_id: int | None, names: Names
) -> list[tuple[int, bool, str | None]]:
    """Return (confirmation id, was present, notes) of the row's answers. Raises ValidationFailed."""
    if not imported.answers:
        return []
    if setup_id is None:
        raise ValidationFailed(fields={"confirmations": "need their setup in the same row"})
    occurrences: Counter[str] = Counter()
    answers: dict[int, Answered] = {}
    for answer in imported.answers:
        # The second answer with a name belongs to the second confirmation with that name, if there is one.
        ids = names.confirmations.get((setup_id, answer.name), [None])
        row_id = require_id(ids[min(occurrences[answer.name], len(ids) - 1)], "confirmations", answer.name)
        occurrences[answer.name] += 1
        answers[row_id] = answer
    return [(row_id, answer.was_present, answer.notes) for row_id, answer in answers.items()]


def require_id(row_id: int | None, column: str, name: str) -> int:
    """Return the id of a name. Raises ValidationFailed without one."""
    if row_id is None:
        raise ValidationFailed(fields={column: f"names {name!r}, which is not in the journal"})
    return row_id

"""The rows of a file, in the accounts of the journal and with the ids of all that they name."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from journal_api.database.user_threads import with_cancel_checks
from journal_api.errors import ValidationFailed
from journal_api.imports.file_accounts import FileAccounts
from journal_api.positions.import_rows import Answered, Candidate, ImportedTrade, Names, Rejected
from journal_api.positions.statements import Key, Numbering, Statement, is_newest_first
from journal_api.repositories.statements import Contract
from journal_api.structs.tags import require_single
from journal_api.trade_files.file_format import find_first_reason
from journal_api.values.instruments import canonical_symbol

# What the row of a position says besides: the columns that belong to the trader.
OF_TRADER = ("stop_loss", "initial_risk", "grade", "notes")


class Annotated(NamedTuple):
    """What the trader has written on the trade of a row, with the ids of what it names."""

    columns: dict[str, Any]
    tag_ids: list[int]
    answers: list[tuple[int, bool, str | None]]
    row_name: str | None
    copy_of: str | None


class FileRow(Struct, frozen=True, gc=False):
    """A row of the file with the key of what it states."""

    line: int
    key: Key
    statement: Statement
    annotated: Annotated | None = None
    is_local: bool = False  # whether its key is of local times


class NamedTrade(NamedTuple):
    """The trade of a row with a name, or that is a copy."""

    trade_id: int
    copy_of: str | None  # the name of another row
    source_trade_id: int | None  # of a stored trade


def group_rows(
    rows: Sequence[Candidate | Rejected], file_format: str, names: Names, accounts: FileAccounts
) -> tuple[dict[Contract, list[FileRow]], list[Rejected]]:
    """Return the rows of each contract in the order of time, and the rows that cannot be imported."""
    found: defaultdict[Contract, list[FileRow]] = defaultdict(list)
    rejected: list[Rejected] = []
    numbering, row_names = Numbering(file_format), set[str]()
    places: Counter[tuple[Contract, str]] = Counter()
    times = [row.statement.sides[0].at for row in rows if isinstance(row, Candidate)]
    for row in with_cancel_checks(reversed(rows) if is_newest_first(times) else rows):
        if isinstance(row, Rejected):
            rejected.append(row)
            continue
        try:
            account_id = accounts.find_id(row.account)
            annotated = annotate(row.imported, names, row_names) if row.imported else None
            statement = row.statement
            at = statement.sides[0].at
            contract = Contract(account_id, canonical_symbol(statement.symbol, at))
            key, is_repeated = numbering.key(account_id, statement, row.times)
            if is_repeated:
                name = statement.external_id or statement.sides[0].external_id
                raise ValidationFailed(fields={"external_id": f"{name!r} is repeated"})
        except ValidationFailed as error:
            rejected.append(Rejected(row.line, find_first_reason(error)))
            continue
        place = places[contract, at]
        places[contract, at] += 1
        found[contract].append(
            FileRow(row.line, key, replace(statement, place=place) if place else statement, annotated, bool(row.times))
        )
    return found, rejected


def annotate(imported: ImportedTrade, names: Names, row_names: set[str]) -> Annotated | None:
    """Return what the row says beside the position, None for nothing. Raises ValidationFailed."""
    trade, name = imported.trade, imported.row_name
    if name is not None and name in row_names:
        raise ValidationFailed(fields={"row": f"{name!r} is repeated"})
    if name is not None:
        row_names.add(name)
    columns: dict[str, Any] = {
        column: getattr(value, "units", value) for column in OF_TRADER if (value := getattr(trade, column)) is not None
    }
    strategy_id, setup_id = find_strategy(imported, names)
    if strategy_id is not None:
        columns |= {"strategy_id": strategy_id, "setup_id": setup_id}
    answers = find_answers(imported, setup_id, names)
    tag_ids = find_tags(imported, names)
    if not (columns or tag_ids or answers or name or imported.copy_of):
        return None
    return Annotated(columns, tag_ids, answers, name, imported.copy_of)


def require_allowed(annotated: Annotated | None, account_id: int, names: Names) -> None:
    """Raise ValidationFailed if the row's strategy takes no new trades of the account (docs/api.md T11)."""
    allowed = annotated and names.allowed_accounts.get(annotated.columns.get("strategy_id", 0))
    if allowed is not None and account_id not in allowed:
        raise ValidationFailed(fields={"strategy": "is restricted to other accounts"})


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
    fitting = (setup_id for setup_id in setups if all((setup_id, name) in names.confirmations for name in answered))
    return strategy_id, require_id(next(fitting, setups[0]), "setup", imported.setup)


def find_tags(imported: ImportedTrade, names: Names) -> list[int]:
    """Return the ids of the row's tags, each once. Raises ValidationFailed."""
    tag_ids = [require_id(names.tags.get(name), "tags", name) for name in dict.fromkeys(imported.tags)]
    require_single(tag_ids, names.single, "tags")
    return tag_ids


def find_answers(imported: ImportedTrade, setup_id: int | None, names: Names) -> list[tuple[int, bool, str | None]]:
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


def find_original(name: str, rows: Mapping[str, NamedTrade]) -> int:
    """Return the id of the original that the row with the name is, or leads to. Raises ValidationFailed."""
    visited: set[str] = set()
    found, wanted = rows.get(name), name
    while found is not None and found.source_trade_id is None and found.copy_of is not None:
        visited.add(wanted)
        wanted = found.copy_of
        found = None if wanted in visited else rows.get(wanted)
    if found is None:
        reason = f"names {name!r}, which leads to no original in this file"
        raise ValidationFailed(fields={"copy_of": reason})
    return found.source_trade_id or found.trade_id

"""Resolves the names in a row of a file to the ids of the user's objects, and of the originals in the file."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.positions.import_rows import Answered, ImportedTrade, Names
from journal_api.structs.tags import require_single


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


class NamedTrade(NamedTuple):
    """The trade of a row with a name, or that is a copy."""

    trade_id: int
    copy_of: str | None  # the name of another row
    source_trade_id: int | None  # of a stored trade


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

"""What the names in a file stand for: accounts, strategies, setups, confirmations and tags of its owner."""

from collections import Counter
from typing import Any

from journal_api.errors import ValidationFailed
from journal_api.rules.import_rows import Answered, Candidate, ImportedTrade, Names, Rejected, ResolvedRow
from journal_api.trade_files.file_format import reason_of


def ready(one: Candidate | Rejected, names: Names, common: dict[str, Any]) -> ResolvedRow | Rejected:
    """The row with the ids of everything that it names, or rejected for a name that is not in the journal."""
    if isinstance(one, Rejected):
        return one
    imported = one.imported
    try:
        account_id = common["account_id"]
        if account_id is None:
            account_id = account_of(imported, names)
        strategy_id, setup_id = strategy_of(imported, names)
        one.columns.update(common, account_id=account_id, strategy_id=strategy_id, setup_id=setup_id)
        return ResolvedRow(
            imported,
            one.columns,
            [known(names.tags.get(name), "tags", name) for name in dict.fromkeys(imported.tags)],
            answers_of(imported, setup_id, names),
            one.repeats_external_id,
        )
    except ValidationFailed as error:
        return Rejected(imported.line, reason_of(error))


def account_of(imported: ImportedTrade, names: Names) -> int:
    if imported.account is None:
        raise ValidationFailed(fields={"account": "is required unless the whole file goes into one account"})
    return known(names.accounts.get(imported.account), "account", imported.account)


def strategy_of(imported: ImportedTrade, names: Names) -> tuple[int | None, int | None]:
    if imported.strategy is None:
        if imported.setup is not None:
            raise ValidationFailed(fields={"setup": "needs its strategy in the same row"})
        return None, None
    strategy_id = known(names.strategies.get(imported.strategy), "strategy", imported.strategy)
    if imported.setup is None:
        return strategy_id, None
    setups = names.setups.get((strategy_id, imported.setup), [None])
    # Of several with that name the first that has what the row answers.
    asked = {one.name for one in imported.answers}
    fits = (one for one in setups if all((one, name) in names.confirmations for name in asked))
    return strategy_id, known(next(fits, setups[0]), "setup", imported.setup)


def answers_of(
    imported: ImportedTrade, setup_id: int | None, names: Names
) -> list[tuple[int, bool, str | None]]:
    if not imported.answers:
        return []
    if setup_id is None:
        raise ValidationFailed(fields={"confirmations": "need their setup in the same row"})
    met: Counter[str] = Counter()
    answers: dict[int, Answered] = {}
    for one in imported.answers:
        # The second answer under a name is that of the second confirmation of the name, if there is one.
        found = names.confirmations.get((setup_id, one.name), [None])
        row_id = known(found[min(met[one.name], len(found) - 1)], "confirmations", one.name)
        met[one.name] += 1
        answers[row_id] = one
    return [(row_id, one.was_present, one.notes) for row_id, one in answers.items()]


def known(row_id: int | None, column: str, name: str) -> int:
    """The id that was found for a name; raises ValidationFailed when none was."""
    if row_id is None:
        raise ValidationFailed(fields={column: f"names {name!r}, which is not in the journal"})
    return row_id

"""The accounts of the journal that the rows of a file go into, and the time zone that is remembered for them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aiosqlite import Connection

from journal_api.errors import ValidationFailed
from journal_api.repositories import accounts, imports, users
from journal_api.structs.import_answers import AccountMapping
from journal_api.structs.imports import FileAccount
from journal_api.trade_files.timezones import FileTimezone

NOT_CREATED = -1  # an id that no account has; further ones are lower
# Names that the report lists, so that a hostile file cannot make it long.
MAX_NAMES = 100


class AccountChoice(NamedTuple):
    """The account of the whole file, or None and the ids of accounts by their names in the file."""

    account_id: int | None = None
    mapped: Mapping[str, int] = {}

    def foretell(self, last_id: int) -> "AccountChoice":
        """Return the choice with the ids that its new accounts get if `last_id` is the last one given out."""
        return self.renumber(lambda row_id: row_id if row_id > NOT_CREATED else last_id - row_id)

    def forget(self, last_id: int) -> "AccountChoice":
        """Return the choice without the ids that were given out after that one."""
        return self.renumber(lambda row_id: last_id - row_id if row_id > last_id else row_id)

    def renumber(self, find_id: Callable[[int], int]) -> "AccountChoice":
        mapped = {name: find_id(row_id) for name, row_id in self.mapped.items()}
        return AccountChoice(self.account_id and find_id(self.account_id), mapped)


async def map_accounts(
    db: Connection, user_id: int, mappings: Sequence[AccountMapping], new: Mapping[str, int] = {}
) -> dict[str, int]:
    """Return the ids of accounts by the names that the file has for them.

    A number is an id, unless an account has that number as its name. `new` accounts are not in the journal
    yet. Raises ValidationFailed with all
    accounts that are not the user's, and for a name that is mapped twice.
    """
    if not mappings:
        return {}
    ids = await accounts.list_ids_by_name(db, user_id)
    targets = {str(row_id): row_id for row_id in ids.values()} | ids | dict(new)
    unknown = [repr(mapping.account) for mapping in mappings if mapping.account not in targets]
    if unknown:
        raise ValidationFailed(fields={"accounts": f"must name your accounts, not {', '.join(unknown)}"})
    mapped = {mapping.file_name: targets[mapping.account] for mapping in mappings}
    if len(mapped) < len(mappings):
        raise ValidationFailed(fields={"accounts": "must have each name of the file once"})
    return mapped


async def choose_timezone(db: Connection, user_id: int, choice: AccountChoice, stated: str | None) -> FileTimezone:
    """Return the time zone of an import."""
    rows = await imports.list_timezones(db, user_id)
    if choice.account_id is None:
        ids = {**{row.account_name: row.account_id for row in rows}, **choice.mapped}
    else:
        ids = {"": choice.account_id}
    remembered = {
        (name, row.format): row.timezone
        for name, account_id in ids.items()
        for row in rows
        if row.account_id == account_id
    }
    return FileTimezone(stated, (await users.find(db, user_id)).timezone, remembered)


class FileAccounts:
    """Finds the account of each row and keeps the names that the file has for accounts."""

    def __init__(self, account_id: int | None, ids: Mapping[str, int]) -> None:
        self.of_file, self._ids = account_id, ids
        self._named: dict[str, int | None] = {}

    @property
    def named(self) -> list[FileAccount]:
        """The names in the file, in the order of rows, with the ids of their accounts."""
        return [FileAccount(name=str(name), account_id=row_id) for name, row_id in self._named.items()]

    @property
    def unknown(self) -> list[str]:
        """The names that are neither names of accounts in the journal nor mapped to one."""
        return [] if self.of_file is not None else [named.name for named in self.named if named.account_id is None]

    def find_id(self, name: str | None) -> int:
        """Return the id of the account of a row that names it so. Raises ValidationFailed.

        If the whole file goes into one account, all rows must have the same name for it.
        """
        if name is None:
            if self.of_file is None:
                raise ValidationFailed(fields={"account": "is required unless the whole file goes into one account"})
            return self.of_file
        if name not in self._named:
            account_id = self._ids.get(name) if self.of_file is None else None if self._named else self.of_file
            if account_id is not None or len(self._named) < MAX_NAMES:
                self._named[name] = account_id
        account_id = self._named.get(name)
        if account_id is not None:
            return account_id
        if self.of_file is None:
            raise ValidationFailed(fields={"account": f"names {name!r}, which is not in the journal"})
        first = next(iter(self._named))
        raise ValidationFailed(
            fields={
                "account": f"names {name!r}, but earlier rows name {first!r}: leave out account_id"
                " (--account), or map the names with accounts (--accounts) instead"
            }
        )

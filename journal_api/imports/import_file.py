"""Reads a file of trades with what the journal knows of its accounts."""

import os
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import BinaryIO

from aiosqlite import Connection

from journal_api.database.user_threads import in_thread
from journal_api.errors import ValidationFailed
from journal_api.imports.file_accounts import NOT_CREATED, AccountChoice, choose_timezone, map_accounts
from journal_api.repositories import accounts, import_profiles, imports, instruments
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.import_answers import AccountMapping
from journal_api.structs.import_profiles import ImportProfileCreate, OneTradeIs
from journal_api.trade_files import reader
from journal_api.trade_files.dates import DateOrder
from journal_api.trade_files.headers import UnknownHeader
from journal_api.values.types import CONTROL, Name, Name100

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


async def read_file(
    db: Connection,
    user_id: int,
    content: BinaryIO,
    choice: AccountChoice,
    *,
    timezone: str | None,
    date_order: DateOrder | None = None,
    day: date | None = None,
    one_trade_is: OneTradeIs | None = None,
    profiles: Sequence[ImportProfileCreate] = (),
    force: bool = False,
    skip_errors: bool = False,
    long_only: bool = False,
    on_bytes: Callable[[int], object] = lambda number: None,
) -> reader.TradeFile | UnknownHeader:
    """Recognise the format in a thread. The `profiles` go before the user's.

    Some formats need the whole file for the first trade; it is read before the write lock is acquired.
    """
    read = partial(
        reader.read,
        content,
        await choose_timezone(db, user_id, choice, timezone),
        on_bytes,
        into_one_account=choice.account_id is not None,
        instruments=await instruments.read_table(db, user_id),
        profiles=[*profiles, *await import_profiles.read_profiles(db, user_id)],
        date_order=date_order,
        day=day,
        force=force,
        skip_errors=skip_errors,
        long_only=long_only,
        one_trade_is=await choose_trade_unit(db, user_id, choice.account_id, one_trade_is),
    )
    return await in_thread(user_id, read)


async def choose_trade_unit(
    db: Connection, user_id: int, account_id: int | None, stated: OneTradeIs | None
) -> Callable[[str], OneTradeIs]:
    """Return the function from the name of a format to what one trade is.

    The request states it, else the account; else it is as in the newest import of the account and format.
    Rows that are stored as trades would otherwise be stored once more, as positions.
    """
    known = await imports.list_trade_units(db, user_id, account_id)
    setting = await imports.find_trade_unit(db, account_id)
    return lambda file_format: stated or setting or known.get(file_format, "position")


def stored_name(file: Path) -> str | None:
    """The file's name in the form that the database stores; None if it is only white space."""
    try:
        return Name.decode(CONTROL.sub(REPLACEMENT, os.fsencode(file.name).decode(errors="replace")))
    except ValueError:
        return None


async def choose_accounts(
    db: Connection, user_id: int, account_name: str | None, mappings: Sequence[AccountMapping] = (), *, dry_run: bool
) -> tuple[AccountChoice, list[str]]:
    """Return the account of the file or the accounts by their names in it, and the names of new accounts.

    An unknown number is no name of a new account but a wrong id. A dry run creates no account.
    """
    names = [one.account for one in mappings if not one.account.isdecimal()]
    new: dict[str, int] = {}
    for name in names if account_name is None else [account_name]:
        try:
            Name100.decode(name)
        except ValueError as error:
            raise ValidationFailed(fields={"accounts": f"{error} ({name!r})"}) from None
        if name not in new and await accounts.find_id(db, user_id, name) is None:
            account = AccountCreate(name=Name100(name))
            new[name] = NOT_CREATED - len(new) if dry_run else await accounts.insert(db, user_id, account)
    if account_name is None:
        return AccountChoice(mapped=new | await map_accounts(db, user_id, mappings, new)), list(new)
    account_id = new[account_name] if new else await accounts.find_id(db, user_id, account_name)
    return AccountChoice(account_id), list(new)

"""Reads a file of trades with what the journal knows of its accounts."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from aiosqlite import Connection

from journal_api.imports.trade_units import unit_of_import
from journal_api.repositories import accounts, import_profiles, instruments
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.import_profiles import ImportProfileCreate, OneTradeIs
from journal_api.structs.imports import AccountMapping
from journal_api.trade_files import reader
from journal_api.trade_files.accounts import AccountChoice, mapped_accounts
from journal_api.trade_files.dates import DateOrder
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.threads import in_thread
from journal_api.trade_files.timezones import timezone_of_import
from journal_api.values.types import CONTROL, Name, Name100

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
NOT_CREATED = 0  # an id that no account has


async def read_file(
    db: Connection,
    user_id: int,
    content: BinaryIO,
    choice: AccountChoice,
    *,
    timezone: str | None,
    date_order: DateOrder | None = None,
    one_trade_is: OneTradeIs | None = None,
    profiles: Sequence[ImportProfileCreate] = (),
    force: bool = False,
    on_bytes: Callable[[int], object] = lambda number: None,
) -> reader.TradeFile | UnknownHeader:
    """Recognise the format in a thread. The `profiles` go before those of the user.

    Some formats need the whole file for the first trade; it is read before the write lock is acquired.
    """
    read = partial(
        reader.read,
        content,
        await timezone_of_import(db, user_id, choice, timezone),
        on_bytes,
        into_one_account=choice.account_id is not None,
        instruments=await instruments.read_table(db, user_id),
        profiles=[*profiles, *await import_profiles.read_profiles(db, user_id)],
        date_order=date_order,
        force=force,
        one_trade_is=await unit_of_import(db, user_id, choice.account_id, one_trade_is),
    )
    return await in_thread(user_id, read)


def stored_name(file: Path) -> str | None:
    """The file's name in the form that the database stores; None if it is only white space."""
    try:
        return Name.decode(CONTROL.sub(REPLACEMENT, os.fsencode(file.name).decode(errors="replace")))
    except ValueError:
        return None


async def choose_accounts(
    db: Connection,
    user_id: int,
    account_name: str | None,
    mappings: Sequence[AccountMapping] = (),
    *,
    dry_run: bool,
) -> tuple[AccountChoice, bool]:
    """The account of the file or the accounts by their names in it, and whether the account is new."""
    if account_name is None:
        return AccountChoice(mapped=await mapped_accounts(db, user_id, mappings)), False
    account_id, is_new = await find_or_create_account(db, user_id, account_name, dry_run=dry_run)
    return AccountChoice(account_id), is_new


async def find_or_create_account(
    db: Connection, user_id: int, name: str, *, dry_run: bool
) -> tuple[int, bool]:
    """The id of the account, and whether it is new. A dry run creates no account and returns NOT_CREATED."""
    account_id = await accounts.find_id(db, user_id, name)
    if account_id is not None:
        return account_id, False
    if dry_run:
        return NOT_CREATED, True
    return await accounts.insert(db, user_id, AccountCreate(name=Name100(name))), True

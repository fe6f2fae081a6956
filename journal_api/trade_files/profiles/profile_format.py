"""The format of a file that a profile describes, and the profiles that come with the package."""

from collections.abc import Collection
from functools import cache
from pathlib import Path

import msgspec

from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.file_format import Format, Rows, Trades, one_trade_per_row
from journal_api.trade_files.fill_book import trades_from
from journal_api.trade_files.profiles.columns import (
    chosen,
    conditions_of,
    name_in,
    names_in,
    optional_columns,
    required_columns,
    with_repeated_cells,
)
from journal_api.trade_files.profiles.fills import execution_reader
from journal_api.trade_files.profiles.times import time_columns
from journal_api.trade_files.profiles.trades import trade_reader
from journal_api.values.types import decode_value

BUILT_IN = Path(__file__).parent / "built_in"


@cache
def built_in_profiles() -> tuple[ImportProfileCreate, ...]:
    """Return the profiles of the package, in the order of their file names."""
    return tuple(profile_from(file.read_bytes()) for file in sorted(BUILT_IN.glob("*.toml")))


def profile_from(document: bytes) -> ImportProfileCreate:
    """Return the profile of a TOML document.

    Raises DecodeError for what is not TOML, ValidationError or ValidationFailed for what is not a profile.
    """
    return msgspec.toml.decode(document, type=ImportProfileCreate, dec_hook=decode_value)


def format_of(profile: ImportProfileCreate, header: Collection[str]) -> Format:
    """Return the format of a file with this header, which has all required columns of the profile."""
    if profile.kind == "trades":
        trades_of = one_trade_per_row(trade_reader(profile, header))
    else:
        trades_of = trades_from(execution_reader(profile, header))
    repeated = names_in(header, profile.repeated or ())
    account, conditions = name_in(header, profile.account), conditions_of(profile)

    def chosen_trades(rows: Rows) -> Trades:
        return trades_of(chosen(conditions, with_repeated_cells(repeated, rows) if repeated else rows))

    return Format(
        str(profile.name),
        frozenset(names_in(header, required_columns(profile))),
        chosen_trades,
        accounts=() if account is None else (account,),
        optional=frozenset(names_in(header, optional_columns(profile))),
        dates=() if profile.time else tuple(names_in(header, time_columns(profile))),
        section=profile.section,
    )

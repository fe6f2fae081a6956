"""Proposes a profile for a file with an unknown header, by the names that brokers use for columns."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import msgspec

from journal_api.errors import ValidationFailed
from journal_api.structs.import_profiles import ImportProfileCreate, ProposedProfile
from journal_api.trade_files.headers import find_report
from journal_api.trade_files.profiles.columns import CONSTANT
from journal_api.trade_files.profiles.draft import Draft
from journal_api.trade_files.profiles.table_search import MAX_CHARACTERS, find_tables
from journal_api.trade_files.profiles.unknown_columns import NOTHING_SAID, count_filled
from journal_api.trade_files.reader import ANY_DAY, TradeFile, read
from journal_api.trade_files.texts import FileText, read_text
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.types import decode_value
from journal_api.values.visible_text import escape_invisible

BARE_KEY = re.compile("[a-z_]+")


class Proposal(NamedTuple):
    """The header of an unknown file, rows below it, the profile that may read them, and doubts about it."""

    encoding: str
    columns: list[str]
    sample_rows: list[list[str]]
    profile: ProposedProfile
    warnings: list[str]


def propose_profile(
    file: BinaryIO, doubts: Sequence[str] = (), said: Mapping[str, Sequence[str]] = NOTHING_SAID
) -> Proposal | None:
    """Return the proposal for a file, with further doubts about it; None for a file without a table.

    `said` has the columns of members that are known (SaidColumn.collect). Raises ValidationFailed for one that is
    not in the file, and for a member that only the other kind has.
    """
    file.seek(0)
    text = read_text(file)
    tables = find_tables(text)
    if not tables:
        return None
    others = [table for table in tables if find_report(table.names) is None]  # sheets beside a report
    named = {name for member, columns in said.items() if member != "kind" for name in columns}
    constants = {name for name in named if name.startswith(CONSTANT)}
    table = max(others or tables, key=lambda table: ((named - constants).issubset(table.columns), count_filled(table)))
    if absent := sorted((named - constants).difference(table.columns)):
        raise ValidationFailed(fields={"columns": f"the file has no column {', '.join(absent)}"})
    sample = [list(row.values()) for row in table.rows[:3]]
    for name in constants:
        table.add_constant(name)
    draft = Draft(table, said)
    profile = draft.build()
    warnings = [*doubts, *draft.warnings, *find_failed_checks(file, text, profile)]
    return Proposal(text.encoding, draft.table.columns, sample, profile, warnings)


def find_failed_checks(file: BinaryIO, text: FileText, profile: ProposedProfile) -> list[str]:
    """Return the checks that the beginning of the file fails if the profile reads it."""
    file.seek(0)
    beginning = file if text.workbook else BytesIO(file.read(MAX_CHARACTERS))
    try:
        complete = msgspec.convert(msgspec.to_builtins(profile), ImportProfileCreate, dec_hook=decode_value)
        found = read(beginning, FileTimezone("UTC"), profiles=[complete], day=ANY_DAY, skip_errors=True)
    except (ValidationFailed, msgspec.ValidationError):
        return []
    return found.left_out.failed_checks if isinstance(found, TradeFile) else []


def write_toml(profile: ProposedProfile, warnings: Sequence[str] = ()) -> str:
    """Return the profile as a TOML document, without the members that are not known, below the warnings."""
    members = msgspec.to_builtins(profile)
    comments = "".join(f"# Check: {escape_invisible(warning)}\n" for warning in warnings)
    return comments + "".join(f"{name} = {write_value(value)}\n" for name, value in members.items() if value)


def write_value(value: Any) -> str:
    """Return a text, a list of texts or a table of them. A JSON string is a TOML string.

    Its invisible characters are escaped: the text comes from the file, and a command prints it.
    """
    if isinstance(value, dict):
        keys = {name: name if BARE_KEY.fullmatch(name) else write_value(name) for name in value}
        parts = (f"{keys[name]} = {write_value(part)}" for name, part in value.items() if part is not None)
        return "{" + ", ".join(parts) + "}"
    return escape_invisible(msgspec.json.encode(value).decode())

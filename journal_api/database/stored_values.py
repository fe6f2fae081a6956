"""Looks for stored values that the API would refuse, by the structs of its bodies.

The columns of a table have the types of the members of a body; columns of times, days, zones and ids have one
type wherever they are. The constraints of the schema hold for amounts, which are derived as well as sent.
"""

import sqlite3
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_type_hints

from msgspec import Struct, ValidationError, convert, defstruct, json

from journal_api.database.folder_format import read_tables
from journal_api.errors import ApiError
from journal_api.structs.accounts import AccountCreate
from journal_api.structs.cash import CashCreate
from journal_api.structs.checkpoints import CheckpointCreate
from journal_api.structs.copy_groups import CopyGroupCreate
from journal_api.structs.days import DayPatch
from journal_api.structs.fills import Fill
from journal_api.structs.goals import GoalCreate
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.structs.me import MePatch, Weekdays
from journal_api.structs.pictures import Picture, PicturePatch
from journal_api.structs.strategies import FREE_FORM, ConfirmationCreate, SetupCreate, StrategyCreate
from journal_api.structs.tag_categories import TagCategoryCreate
from journal_api.structs.tags import TagCreate
from journal_api.structs.trades import AnswerPut, TradeCreate
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import MAX_ID, Day, DayRollover, TimeZone, decode_value, free_form

BODIES: dict[str, type[Struct]] = {
    "users": MePatch,
    "tag_categories": TagCategoryCreate,
    "tags": TagCreate,
    "accounts": AccountCreate,
    "cash_movements": CashCreate,
    "checkpoints": CheckpointCreate,
    "copy_groups": CopyGroupCreate,
    "strategies": StrategyCreate,
    "setups": SetupCreate,
    "confirmations": ConfirmationCreate,
    "import_profiles": ImportProfileCreate,
    "trades": TradeCreate,
    "confirmation_answers": AnswerPut,
    "days": DayPatch,
    "picture_contents": Picture,
    "pictures": PicturePatch,
    "goals": GoalCreate,
}
DAYS = ("day", "date", "trading_day", "period_start", "period_end", "since", "stopped_on")
# The types of columns with JSON.
JSON: dict[str, Any] = {
    "fills": list[Fill],
    "merged": Any,
    "profile": dict[str, Any],
    "snapshot_data": dict[str, Any],
    "trading_weekdays": Weekdays,
}
Check = Callable[[Any], object]  # raises what `find_fault` catches
# Trades with several tags of a single category, the newest first.
SEVERAL_TAGS = """
    SELECT trade_id, tag_categories.name
    FROM trade_tags
    JOIN tags ON tags.id = tag_id
    JOIN tag_categories ON tag_categories.id = category_id AND single
    GROUP BY trade_id, category_id
    HAVING count(*) > 1
    ORDER BY trade_id DESC
    LIMIT :maximum"""


class Invalid(NamedTuple):
    table: str
    row: str
    reason: str


def list_invalid(db: sqlite3.Connection, maximum: int = -1) -> Iterator[Invalid]:
    """Yield a value of each of the newest rows that has one which the API would refuse,
    then the trades with several tags of a single category.
    """
    db.create_function("find_fault", 3, find_fault, deterministic=True)
    for name, last_id in db.execute("SELECT name, seq FROM sqlite_sequence WHERE seq > ?", (MAX_ID,)):
        yield Invalid(name, f"id {last_id}", f"the last id must be at most {MAX_ID}")
    for table, columns in read_tables(db).items():
        checked = [column for column, kind in columns.items() if find_check(table, column, kind)]
        if not checked:
            continue
        first = next(iter(columns))
        faults = ", ".join(f"find_fault('{table}', '{column}', {column})" for column in checked)
        rows = db.execute(
            f"""
            SELECT row_id, fault
            FROM (SELECT {first} AS row_id, coalesce({faults}, NULL) AS fault
                  FROM (SELECT * FROM {table} ORDER BY {first} DESC LIMIT :maximum))
            WHERE fault IS NOT NULL
            """,
            {"maximum": maximum},
        )
        for row_id, fault in rows:
            yield Invalid(table, f"{first} {row_id}", fault)
    for trade_id, name in db.execute(SEVERAL_TAGS, {"maximum": maximum}):
        yield Invalid("trade_tags", f"trade_id {trade_id}", f"a trade must have at most one tag of {name}")


@lru_cache(maxsize=1024)
def find_fault(table: str, column: str, value: Any) -> str | None:
    """Return what is wrong with the value, None for a valid one."""
    check = find_check(table, column, "INTEGER" if isinstance(value, int) else "TEXT")
    try:
        if value is not None and check is not None:
            check(value)
    except (ValueError, ValidationError, ApiError, RecursionError) as error:
        return f"{column} {str(error).partition(' - at ')[0]}"
    return None


@cache
def find_check(table: str, column: str, kind: str) -> Check | None:
    if kind not in ("TEXT", "INTEGER"):
        return None
    if kind == "INTEGER":
        return require_id if column in ("id", "sequence") or column.endswith("_id") else None
    if column.endswith("_at"):
        return require_stored_time
    if column in DAYS:
        return Day.decode
    if column == "timezone":
        return TimeZone.decode
    if column == "day_rollover":
        return DayRollover.decode
    if column in FREE_FORM:
        return lambda text: (json.decode(text), free_form(text.encode()))
    if column in JSON:
        return lambda text: json.decode(text, type=JSON[column])
    hints = get_type_hints(BODIES[table], include_extras=True) if table in BODIES else {}
    if column not in hints:
        return None
    member = defstruct("Member", [("value", hints[column])])
    return lambda text: convert({"value": text}, member, dec_hook=decode_value)


def require_id(value: int) -> None:
    if not 1 <= value <= MAX_ID:
        raise ValueError(f"must be 1 to {MAX_ID}")


def require_stored_time(value: str) -> None:
    if Timestamp.decode(value).stored("UTC") != value:
        raise ValueError("must be in UTC with six decimals and Z")

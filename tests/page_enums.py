"""Write the closed lists of the API that the page shows, journal_api/page/enums.js: `make openapi`.

Metrics and groupings come from their registries: a new one is on the page without an edit of it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from openapi.enums import ENUMS

from journal_api.metrics.groupings import GROUPINGS
from journal_api.metrics.inference import MIN_DAYS, MIN_DECISIONS
from journal_api.metrics.members import MEMBERS
from journal_api.metrics.metrics import METRICS
from journal_api.page.files import FOLDER
from journal_api.structs.trades import TradeSelection

FILE = Path(FOLDER, "enums.js")
NAMES = {
    "CASH_KINDS": "CashKind",
    "DIRECTIONS": "Direction",
    "GOAL_DIRECTIONS": "GoalDirection",
    "GOAL_STATUSES": "GoalStatus",
    "GRADES": "Grade",
    "OUTCOMES": "Outcome",
    "TAG_TYPES": "TagType",
    "TIMEFRAMES": "Timeframe",
}
# Nothing to compare, or more groups than a table: Today and Days show these.
NOT_COMPARED = {"none", "day", "week", "quarter", "year"}


def filter_of(group_by: str) -> str | None:
    """Return the filter of trades whose value is the key of a group, None if there is none."""
    names = (group_by, f"{group_by}_id")
    return next((name for name in names if name in TradeSelection.__struct_fields__), None)


def write_lists() -> Iterator[tuple[str, str, Any]]:
    """Yield what a list is, its name, and the list."""
    for name, schema in NAMES.items():
        yield "", name, ENUMS[schema]
    yield (
        "Title, unit, and whether values can be below 0.",
        "METRICS",
        {key: [one.title, one.unit, one.may_be_negative] for key, one in METRICS.items()},
    )
    yield (
        "Key, title, and the filter of trades that selects a group.",
        "GROUPINGS",
        [[key, one.title, filter_of(key)] for key, one in GROUPINGS.items() if key not in NOT_COMPARED],
    )
    yield (
        "The statistics of a snapshot that are amounts.",
        "AMOUNTS",
        [name for name, member in MEMBERS.items() if member.is_shown and member.is_amount],
    )


def format_list(value: Any) -> str:
    """Return the value as prettier writes it: what is long has a line for each member."""
    if isinstance(value, dict):
        return "{\n" + "".join(f"  {key}: {json.dumps(one)},\n" for key, one in value.items()) + "}"
    if len(text := json.dumps(value)) > 80:
        return "[\n" + "".join(f"  {json.dumps(one)},\n" for one in value) + "]"
    return text


def source() -> str:
    """Return the module."""
    lists = "".join(
        (f"// {about}\n" if about else "") + f"export const {name} = {format_list(value)};\n"
        for about, name, value in write_lists()
    )
    return (
        "// The closed lists of the API, written by `make openapi`.\n\n"
        f"{lists}export const MIN_EDGE_DECISIONS = {MIN_DECISIONS}; // on each side\n"
        f"export const MIN_EDGE_DAYS = {MIN_DAYS};\n"
    )


if __name__ == "__main__":
    FILE.write_text(source())

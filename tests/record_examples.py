"""Write the resources of the example journal that the OpenAPI document shows: `make openapi`."""

from pathlib import Path
from typing import Any

import msgspec

import journal_api
from journal_api.testing import journal_client

FILE = Path(journal_api.__file__).parent / "openapi" / "recorded_examples.json"
# Where the resource is, by the name of its struct; of a list, the first.
PATHS = {
    "Account": "/accounts/1",
    "ExampleJournal": "/example-journal",
    "Goal": "/goals/4",
    "Report": "/reports?group_by=setup&setup_id=1&from=2026-10-01&metrics=trade_count,net_pnl,profit_factor",
    "Snapshot": "/goals/4/snapshots?from=2026-10-01&to=2026-10-31",
    "Strategy": "/strategies/1",
    "StrategyListItem": "/strategies",
    "Tag": "/tags",
    "TagCategory": "/tag-categories",
    "Trade": "/trades/1",
    "TradeListItem": "/trades?to=2026-08-17",
}
WRITTEN_AT = ("created_at", "updated_at", "computed_at")


def record() -> dict[str, Any]:
    """The resources, as if they were written at one time that is always the same."""
    with journal_client(example=True) as journal:
        answers = {name: journal.get(path).raise_for_status().json()["data"] for name, path in PATHS.items()}
    members = {name: next(iter(data.values())) for name, data in answers.items()}
    first = {name: one[0] if isinstance(one, list) else one for name, one in members.items()}
    return {
        name: one | {member: "2026-10-31T12:00:00.000000Z" for member in WRITTEN_AT if member in one}
        for name, one in first.items()
    }


if __name__ == "__main__":
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(record()), indent=2) + b"\n")

"""Write journal_api/openapi/openapi.json, unless it takes something away from v1: `make openapi`."""

import sys
from pathlib import Path
from typing import Any

import msgspec
from openapi.document import WRITTEN_EXAMPLES, write_document
from openapi_changes import find_removals
from pictures import HEADERS, PNG

from journal_api.openapi import docs_page
from journal_api.testing import journal_client

FILE = docs_page.FOLDER / "openapi.json"
# Where a resource of the example journal is, by the name of its struct; of a list, the first.
PATHS = {
    "Account": "/accounts/1",
    "ApiKey": "/keys",
    "AccountListItem": "/accounts",
    "AccountRules": "/accounts/1/rules",
    "Cash": "/accounts/1/cash",
    "CashFlow": "/cash-flow?group_by=account",
    "Change": "/changes?since=0&limit=1",
    "Checkpoint": "/accounts/1/checkpoints/1",
    "CheckpointListItem": "/accounts/1/checkpoints",
    "CopyGroup": "/copy-groups/1",
    "CopyGroupListItem": "/copy-groups",
    "DayListItem": "/days?to=2026-08-17",
    "ExampleJournal": "/example-journal",
    "Exits": "/exits?account_id=1&stops=1&targets=2",
    "Goal": "/goals/4",
    "Import": "/imports/1",
    "ImportProfile": "/import-profiles/1",
    "Instrument": "/instruments/MNQ",
    "JournalDay": "/days/2026-08-17",
    "Me": "/me",
    "Metric": "/metrics",
    "Picture": "/pictures/1",
    "Report": "/reports?group_by=setup&setup_id=1&from=2026-10-01&metrics=trade_count,net_pnl,profit_factor",
    "SearchResult": "/search?q=losses",
    "Setup": "/strategies/1/setups",
    "Standing": "/accounts/1/standing?at=2026-09-30",
    "Snapshot": "/goals/4/snapshots?from=2026-10-01&to=2026-10-31",
    "Strategy": "/strategies/1",
    "StrategyListItem": "/strategies",
    "Tag": "/tags",
    "TagCategory": "/tag-categories",
    "Trade": "/trades/1",
    "TradeListItem": "/trades?to=2026-08-17",
}
# What differs from one recording to the next.
FIXED = {
    **dict.fromkeys(("created_at", "updated_at", "computed_at"), "2026-10-31T12:00:00.000000Z"),
    "last_four": "x7Qa",
    "last_used_on": "2026-10-31",
}
# What only a report has that was asked for with two keys.
ASKED_FOR = {
    "GET /v1/reports, 200.data.report.group_by: may be array",
    "GET /v1/reports, 200.data.report.groups[].key: is not always there",
    "GET /v1/reports, 200.data.report.groups[].name: is not always there",
}


def record_examples() -> dict[str, Any]:
    """Examples of responses, by the name of their struct."""
    written = WRITTEN_EXAMPLES
    with journal_client(example=True) as journal:
        journal.post("/accounts/1/cash", json=written["CashCreate"]).raise_for_status()
        journal.post("/accounts/1/checkpoints", json=written["CheckpointCreate"]).raise_for_status()
        journal.put("/accounts/1/rules", json=written["AccountRulesPut"]).raise_for_status()
        journal.patch("/days/2026-08-17", json=written["DayPatch"]).raise_for_status()
        journal.post("/copy-groups", json=written["CopyGroupCreate"]).raise_for_status()
        journal.put("/copy-groups/1/members", json=written["MembersPut"]).raise_for_status()
        journal.post("/import-profiles", json=written["ImportProfileCreate"]).raise_for_status()
        picture = journal.post("/trades/2/pictures", content=PNG, headers=HEADERS)
        picture.raise_for_status()
        report = journal.post(
            "/imports",
            params=written["ImportQuery"],
            content=written["files"]["csv"],
            headers={"Content-Type": "text/csv"},
        )
        answers = {name: journal.get(path) for name, path in PATHS.items()} | {"ImportReport": report}
    resources = {
        name: with_fixed(first_resource(answer.raise_for_status().json()["data"])) for name, answer in answers.items()
    }
    current = {**resources["Snapshot"], "closed": False}
    change = {**resources["Change"], "at": FIXED["created_at"]}
    return {**resources, "Change": change, "GoalListItem": {**resources["Goal"], "current": current, "warnings": []}}


def first_resource(data: dict[str, Any]) -> dict[str, Any]:
    (resource,) = data.values()
    return dict(resource[0] if isinstance(resource, list) else resource)


def with_fixed(value: Any) -> Any:
    """The value with what is fixed, at every level."""
    if isinstance(value, list):
        return [with_fixed(item) for item in value]
    if isinstance(value, dict):
        return {name: FIXED.get(name, with_fixed(member)) for name, member in value.items()}
    return value


def write_file(file: Path, content: bytes) -> None:
    """Raises SystemExit, and leaves the file as it is, when the content takes something away from it."""
    if file.exists():
        found = find_removals(msgspec.json.decode(file.read_bytes()), msgspec.json.decode(content))
        removals = set(found) - ASKED_FOR
        if removals:
            sys.exit("\n".join(["v1 only grows, and this takes away:", *sorted(removals)]))
    file.write_bytes(content)


if __name__ == "__main__":
    write_file(FILE, write_document(record_examples()))

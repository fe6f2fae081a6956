"""Write the closed lists of the API that the page shows, journal_api/page/enums.js: `make openapi`."""

import json
from pathlib import Path

from openapi.enums import ENUMS

from journal_api.metrics.inference import MIN_DECISIONS
from journal_api.page.files import FOLDER

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


def source() -> str:
    """Return the module."""
    lines = [f"export const {name} = {json.dumps(ENUMS[schema])};\n" for name, schema in NAMES.items()]
    return (
        "// The closed lists of the API, written by `make openapi`.\n\n"
        f"{''.join(lines)}export const MIN_EDGE_DECISIONS = {MIN_DECISIONS}; // on each side\n"
    )


if __name__ == "__main__":
    FILE.write_text(source())

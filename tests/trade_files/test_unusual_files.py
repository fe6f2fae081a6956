"""What unusual files mean: a rule for one broker must not change what is read of another's.

tests/data/unusual_files.json has files that somebody made up to break the rules, each with what is read of it. A
change of that may be right: `make readings` writes it anew, and the difference shows it.
"""

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
from factories import read_file
from file_positions import FileTrade, read_positions_of
from proofs import examples

from journal_api.errors import ValidationFailed
from journal_api.trade_files import reader
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.profiles.profile_format import decode_profile
from journal_api.trade_files.profiles.proposal import propose_profile, write_toml
from journal_api.trade_files.timezones import FileTimezone

KEPT = Path(__file__).parent.parent / "data" / "unusual_files.json"


def read(content: str) -> dict[str, Any]:
    """The proposed profile and its doubts if the header is unknown; the warnings, and the sums of each symbol."""
    file, meaning = io.BytesIO(content.encode()), dict[str, Any]()
    try:
        found = reader.read(file, FileTimezone("UTC"))
        if unknown := reader.find_unknown(found):
            if (proposal := propose_profile(file, unknown.doubts)) is None:
                return {"refused": unknown.reason}
            members = msgspec.to_builtins(proposal.profile).items()
            meaning["asks"] = proposal.warnings
            meaning["profile"] = {name: value for name, value in members if value and name not in ("name", "header")}
            profile = decode_profile(write_toml(proposal.profile).encode())
            found = read_file(content, profiles=[profile])
    except (ValidationFailed, msgspec.ValidationError) as error:
        return {**meaning, "refused": str(error)}
    if isinstance(found, UnknownHeader):
        return {"refused": found.reason}
    sums = defaultdict[str, list[float]](lambda: [0, 0, 0, 0])  # closed, open, result, costs
    errors = 0
    for row in read_positions_of(found):
        if not isinstance(row, FileTrade):
            errors += 1
            continue
        trade, total = row.columns, sums[row.columns["symbol"]]
        is_open = trade["closed_at"] is None
        counted = (not is_open, is_open * trade["quantity"], trade["gross_pnl"] or 0, trade["fees"])
        total[:] = [one + more for one, more in zip(total, counted, strict=True)]
    shown = {symbol: [count, *(amount / 10**8 for amount in amounts)] for symbol, (count, *amounts) in sums.items()}
    return {**meaning, "warnings": found.left_out.warnings, "errors": errors, "symbols": shown}


def test_an_unusual_file_means_what_it_meant() -> None:
    kept = json.loads(KEPT.read_text())
    changed = {
        name: meaning
        for name, file in [*kept.items()][:: examples(full=1, ci=4)]
        if (meaning := json.loads(json.dumps(read(file["content"])))) != file["meaning"]
    }

    assert changed == {}


if __name__ == "__main__":
    files = {name: file["content"] for name, file in json.loads(KEPT.read_text()).items()}
    meant = {name: {"content": content, "meaning": read(content)} for name, content in files.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(file, ensure_ascii=False)}" for name, file in meant.items())
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")

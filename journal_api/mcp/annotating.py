"""The tool that writes: grade, notes, tags and checklist answers of a trade."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import httpx
from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.mcp.api import ToolError, get, write
from journal_api.mcp.arguments import Arguments, row_id
from journal_api.mcp.results import encode
from journal_api.structs.trades import Grade
from journal_api.values.types import RowId, Text
from journal_api.web.decoding import decode_json


class AnswerChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """An answer to a checklist item. Omitted notes stay as they are."""

    confirmation_id: RowId
    was_present: bool
    notes: Text | None | UnsetType = UNSET


class Annotation(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to write. Omitted parts stay as they are; `tag_ids` replaces all tags, an answer only its own."""

    version: str
    grade: Grade | None | UnsetType = UNSET
    notes: Text | None | UnsetType = UNSET
    tag_ids: Annotated[list[RowId], Meta(max_length=100)] | UnsetType = UNSET
    answers: Annotated[list[AnswerChange], Meta(max_length=100)] | UnsetType = UNSET


async def annotate_trade(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Write an annotation, whole or not at all, if the trade is at the version that the agent has read.

    Returns the names of what was written and the new version. Raises ToolError.
    """
    path = f"/trades/{row_id(arguments, 'trade_id')}"
    sent = {name: value for name, value in arguments.items() if name != "trade_id"}
    annotation = decode_json(encode(sent), Annotation)
    trade = await get(client, path)
    trade.require_version(annotation.version, "trade")
    parts = {"grade": annotation.grade, "notes": annotation.notes, "tag_ids": annotation.tag_ids}
    body: dict[str, Any] = {name: value for name, value in parts.items() if value is not UNSET}
    if not isinstance(annotation.answers, UnsetType):
        body["confirmations"] = merge_answers(trade.data["confirmations"], annotation.answers)
    if not body:
        raise ToolError("Nothing to write: send grade, notes, tag_ids or answers.")
    response = await write(client, "PATCH", path, body, trade.etag)
    written = ["answers" if name == "confirmations" else name for name in body]
    return {"written": written, "version": response.version}


def merge_answers(
    stored: Sequence[Mapping[str, Any]], changes: Sequence[AnswerChange]
) -> list[dict[str, Any]]:
    """The stored answers with the changes: what PATCH takes, which replaces all answers."""
    answers = {
        answer["confirmation_id"]: {name: answer[name] for name in ("was_present", "notes")}
        for answer in stored
    }
    for change in changes:
        notes = {} if change.notes is UNSET else {"notes": change.notes}
        before = answers.get(change.confirmation_id, {})
        answers[change.confirmation_id] = {**before, "was_present": change.was_present, **notes}
    return [{"confirmation_id": confirmation_id, **answer} for confirmation_id, answer in answers.items()]

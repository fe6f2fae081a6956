"""The tools that write: grade, notes, tags and checklist answers of a trade, the review of a day."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import httpx
from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.mcp.api import ToolError, get, write
from journal_api.mcp.arguments import Arguments, read_path
from journal_api.mcp.results import encode
from journal_api.structs.days import Rating
from journal_api.structs.trades import Grade
from journal_api.values.types import LongText, RowId, Text
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


class Review(Struct, kw_only=True, forbid_unknown_fields=True):
    version: str
    review: LongText | None | UnsetType = UNSET
    rating: Rating | None | UnsetType = UNSET


async def annotate_trade(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    path, sent = read_path("/trades/{trade_id}", arguments)
    return await write_parts(client, path, "trade", decode_json(encode(sent), Annotation))


async def write_review(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    path, sent = read_path("/days/{date}", arguments)
    return await write_parts(client, path, "day", decode_json(encode(sent), Review))


async def write_parts(client: httpx.AsyncClient, path: str, what: str, parts: Annotation | Review) -> Any:
    """Write all parts or none, at the version that was read; return their names and new version. Raises ToolError."""
    _, *names = parts.__struct_fields__
    body = {name: getattr(parts, name) for name in names if getattr(parts, name) is not UNSET}
    written = list(body)
    if not body:
        raise ToolError(f"Nothing to write: send {', '.join(names[:-1])} or {names[-1]}.")
    stored = await get(client, path)
    if stored.version != parts.version:
        raise ToolError(f"The {what} is not at this version. Nothing was written; read it with get_{what} again.")
    if "answers" in body:
        body["confirmations"] = merge_answers(stored.data["confirmations"], body.pop("answers"))
    response = await write(client, "PATCH", path, body, stored.etag)
    return {"written": written, "version": response.version}


def merge_answers(stored: Sequence[Mapping[str, Any]], changes: Sequence[AnswerChange]) -> list[dict[str, Any]]:
    """The stored answers with the changes: what PATCH takes, which replaces all answers."""
    answers = {
        answer["confirmation_id"]: {name: answer[name] for name in ("was_present", "notes")} for answer in stored
    }
    for change in changes:
        notes = {} if change.notes is UNSET else {"notes": change.notes}
        before = answers.get(change.confirmation_id, {})
        answers[change.confirmation_id] = {**before, "was_present": change.was_present, **notes}
    return [{"confirmation_id": confirmation_id, **answer} for confirmation_id, answer in answers.items()]

"""The tool that writes: grade, notes, tags and checklist answers of a trade."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import httpx
from msgspec import UNSET, Meta, Struct, UnsetType

from journal_api.mcp.api import Forbidden, ToolError, get, write
from journal_api.mcp.arguments import Arguments, row_id
from journal_api.mcp.texts import clipped, encoded
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


class Write(NamedTuple):
    """A request for some of the parts."""

    parts: tuple[str, ...]
    method: str
    path: str
    body: object


async def annotate_trade(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Write the parts of an annotation onto the version of the trade that the agent has read.

    Everything is checked before the first write, as far as the key may read what the check needs. Raises
    ToolError, whose message names the parts that were written before a write failed.
    """
    path = f"/trades/{row_id(arguments, 'trade_id')}"
    sent = {name: value for name, value in arguments.items() if name != "trade_id"}
    annotation = decode_json(encoded(sent), Annotation)
    trade = await get(client, path)
    if trade.etag.strip('"') != annotation.version:
        raise ToolError(
            "The trade is not at this version. Nothing was written; read it with get_trade again."
        )
    writes = writes_of(annotation, trade.data, path)
    if not writes:
        raise ToolError("Nothing to write: send grade, notes, tag_ids or answers.")
    check_repeated(annotation)
    await check_tags(client, annotation)
    await check_answers(client, annotation, trade.data)
    return await write_all(client, writes, trade.etag)


def writes_of(annotation: Annotation, trade: Mapping[str, Any], path: str) -> list[Write]:
    """The requests that write the annotation."""
    fields = {"grade": annotation.grade, "notes": annotation.notes}
    fields = {name: value for name, value in fields.items() if value is not UNSET}
    writes = [Write(tuple(fields), "PATCH", path, fields)] if fields else []
    if annotation.tag_ids is not UNSET:
        writes.append(Write(("tag_ids",), "PUT", f"{path}/tags", {"tag_ids": annotation.tag_ids}))
    if not isinstance(annotation.answers, UnsetType):
        answers = merged(trade["confirmations"], annotation.answers)
        writes.append(Write(("answers",), "PUT", f"{path}/confirmations", {"confirmations": answers}))
    return writes


def merged(stored: Sequence[Mapping[str, Any]], changes: Sequence[AnswerChange]) -> list[dict[str, Any]]:
    """The stored answers with the changes: what PUT takes, which replaces all answers."""
    answers = {
        answer["confirmation_id"]: {name: answer[name] for name in ("was_present", "notes")}
        for answer in stored
    }
    for change in changes:
        notes = {} if change.notes is UNSET else {"notes": change.notes}
        before = answers.get(change.confirmation_id, {})
        answers[change.confirmation_id] = {**before, "was_present": change.was_present, **notes}
    return [{"confirmation_id": confirmation_id, **answer} for confirmation_id, answer in answers.items()]


def check_repeated(annotation: Annotation) -> None:
    """Raises ToolError for an id that is sent twice."""
    answered = [] if isinstance(annotation.answers, UnsetType) else annotation.answers
    ids = {
        "tag_ids": annotation.tag_ids or [],
        "answers": [change.confirmation_id for change in answered],
    }
    for name, sent in ids.items():
        if len(set(sent)) < len(sent):
            raise ToolError(f"{name}: an id is repeated. Nothing was written.")


async def check_tags(client: httpx.AsyncClient, annotation: Annotation) -> None:
    """Raises ToolError for tags that are not the owner's."""
    if not annotation.tag_ids:
        return
    try:
        tags = (await get(client, "/tags")).data
    except Forbidden:
        return  # the API checks them when they are written
    require_known("tag_ids", annotation.tag_ids, [tag["id"] for tag in tags])


async def check_answers(client: httpx.AsyncClient, annotation: Annotation, trade: Mapping[str, Any]) -> None:
    """Raises ToolError for confirmations that are not on the checklist of the trade's setup."""
    if not annotation.answers:
        return
    asked = [change.confirmation_id for change in annotation.answers]
    if trade["setup_id"] is None:
        raise ToolError("The trade has no setup, so no checklist to answer. Nothing was written.")
    try:
        setups = (await get(client, f"/strategies/{trade['strategy_id']}/setups")).data
    except Forbidden:
        return
    checklists = {setup["setup_id"]: setup["confirmations"] for setup in setups}
    checklist = checklists.get(trade["setup_id"], [])
    require_known("answers", asked, [confirmation["confirmation_id"] for confirmation in checklist])


def require_known(name: str, asked: Sequence[int], known: Sequence[int]) -> None:
    """Raises ToolError for an id that is unknown."""
    unknown = [row_id for row_id in asked if row_id not in known]
    if unknown:
        allowed = clipped(encoded(sorted(known)), 200)
        raise ToolError(f"{name}: {unknown} are not among {allowed}. Nothing was written.")


async def write_all(client: httpx.AsyncClient, writes: Sequence[Write], etag: str) -> Any:
    """Send the writes, each over the result of the one before. Returns the parts and the new version."""
    written: list[str] = []
    for step in writes:
        try:
            etag = (await write(client, step.method, step.path, step.body, etag)).etag
        except ToolError as error:
            parts = f"Written before: {', '.join(written)}." if written else "Nothing was written before."
            raise ToolError(f"{', '.join(step.parts)}: {error} {parts}") from None
        written += step.parts
    return {"written": written, "version": etag.strip('"')}

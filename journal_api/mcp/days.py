"""The tools of the journal's texts: days are read and reviewed, texts are searched."""

from typing import Any

import httpx
from msgspec import UNSET, Struct, UnsetType

from journal_api.mcp.api import ToolError, get, write
from journal_api.mcp.arguments import Arguments, read_day, read_filters, read_page
from journal_api.mcp.reading import build_query, pick, snapshot_row
from journal_api.mcp.results import build_page, clip, encode, without_nulls
from journal_api.structs.days import Rating
from journal_api.values.types import LongText
from journal_api.web.decoding import decode_json

MAX_TEXT_LENGTH = 10_000  # characters
NOT_IN_GET_DAY = ("id", "tag_ids", "has_text", "pictures", "created_at", "updated_at")


class Review(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to write on a day. An omitted part stays as it is."""

    version: str
    review: LongText | None | UnsetType = UNSET
    rating: Rating | None | UnsetType = UNSET


async def get_day(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """What was written on a day, and its numbers. `version` is its ETag, which write_review takes."""
    response = await get(client, f"/days/{read_day(arguments, 'date')}")
    day = {name: value for name, value in response.data.items() if name not in NOT_IN_GET_DAY}
    texts = {name: clip(day[name] or "", MAX_TEXT_LENGTH) or None for name in ("plan", "review")}
    tags = [pick(tag, ("id", "name", "type")) for tag in day["tags"]]
    goals = [{**pick(goal, ("goal_id", "goal_name", "kind")), **snapshot_row(goal)} for goal in day["goals"]]
    return without_nulls({**day, **texts, "tags": tags, "goals": goals, "version": response.version})


async def write_review(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Write the review and the rating of a day, if it is at the version that the agent has read.

    Returns the names of what was written and the new version. Raises ToolError.
    """
    path = f"/days/{read_day(arguments, 'date')}"
    sent = {name: value for name, value in arguments.items() if name != "date"}
    review = decode_json(encode(sent), Review)
    parts = {"review": review.review, "rating": review.rating}
    body = {name: value for name, value in parts.items() if value is not UNSET}
    if not body:
        raise ToolError("Nothing to write: send review or rating.")
    day = await get(client, path)
    day.require_version(review.version, "day")
    response = await write(client, "PATCH", path, body, day.etag)
    return {"written": list(body), "version": response.version}


async def search(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Texts and names in which the words are, names first, then the newest."""
    page = read_page(arguments)
    response = await get(client, "/search", build_query(page, read_filters(arguments)))
    rows = [pick(result, ("resource", "id", "title", "excerpt")) for result in response.data]
    return build_page("results", rows, page.offset, response.total)

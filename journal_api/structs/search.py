"""The query and the results of the search (docs/journal.md#search)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from journal_api.values.types import Offset

SearchResource = Literal["trades", "days", "strategies", "setups", "tags", "goals"]


class SearchQuery(Struct, kw_only=True):
    """`q` is words, "phrases", `tag:NAME` and `symbol:SYM`, each excluded by a `-` before it.

    Any text of up to 16 different terms is valid, and an empty one finds nothing.
    """

    q: Annotated[str, Meta(max_length=500)] = ""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    offset: Offset = 0


class Mark(Struct, kw_only=True, forbid_unknown_fields=True):
    """Where in an excerpt something was found, in Unicode code points, without its `end`."""

    start: int
    end: int


class SearchResult(Struct, kw_only=True, forbid_unknown_fields=True):
    """A text that was found: the resource with its id, and the path where it can be read.

    `id` is null for a day that has pictures alone.
    """

    resource: SearchResource
    id: int | None
    path: str
    title: str
    excerpt: str
    marks: list[Mark]

"""The query and the response of the changes of objects (docs/api.md#changes)."""

import re
from typing import Annotated, Any, ClassVar, Self

from msgspec import Meta, Struct

from journal_api.values.types import Instant


class Cursor(int):
    """A state of the journal: the number of its newest change, as text."""

    pattern: ClassVar[str] = "0|[1-9][0-9]{0,17}"
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": f"^({pattern})$"}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not re.fullmatch(cls.pattern, value):
            raise ValueError("must be a cursor, as in meta.cursor or X-Cursor")
        return cls(value)


class ChangeQuery(Struct, kw_only=True):
    """Without `since` there are no changes, only the cursor of now. `wait` is in seconds."""

    since: Cursor | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 500
    wait: Annotated[int, Meta(ge=0, le=60)] = 0


class Change(Struct, kw_only=True, forbid_unknown_fields=True):
    """The last change of an object. An `id` of null stands for all computed values of the resource.

    `account_id` is the account of cash or of a checkpoint that still exists.
    """

    resource: str
    id: int | str | None
    account_id: int | None
    deleted: bool
    at: Instant

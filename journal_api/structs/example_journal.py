"""The response about the example journal."""

from msgspec import Struct


class ExampleJournal(Struct, kw_only=True, forbid_unknown_fields=True):
    """`account_id` is null and `trade_count` is 0 while it is not loaded."""

    is_loaded: bool
    account_id: int | None
    trade_count: int

"""The query that every write has: it can be tried without being kept (docs/api.md#dry-runs)."""

from msgspec import Struct


class DryRunQuery(Struct, kw_only=True):
    """With `dry_run` nothing is kept: status, body and headers are those of the real request."""

    dry_run: bool = False

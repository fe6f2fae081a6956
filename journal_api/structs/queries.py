"""What several queries share."""

from msgspec import Struct

from journal_api.errors import ValidationFailed
from journal_api.values.types import Day


class NoQuery(Struct, kw_only=True):
    """The query of an operation without parameters."""


class DryRunQuery(Struct, kw_only=True):
    """With `dry_run` nothing is kept; status, body and headers are as of the real request."""

    dry_run: bool = False


def check_range(since: Day | None, until: Day | None) -> None:
    """Raise ValidationFailed when `from` is after `to`."""
    if since and until and since > until:
        raise ValidationFailed(fields={"from": "must not be after to"})

"""What queries have in common."""

from journal_api.errors import ValidationFailed
from journal_api.values.types import Day


def check_range(since: Day | None, until: Day | None) -> None:
    """Raises ValidationFailed when the `from` of a query is after its `to`."""
    if since and until and since > until:
        raise ValidationFailed(fields={"from": "must not be after to"})

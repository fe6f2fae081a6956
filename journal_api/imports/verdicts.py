"""The verdicts of an import: their counts, the report as JSON, and the error of an import that is refused."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from journal_api.errors import ValidationFailed
from journal_api.structs.imports import Counts, Verdict

MAX_ERRORS = 1000


def count_verdicts(verdicts: Iterable[Verdict]) -> Counts:
    return msgspec.convert(Counter(verdict.verdict for verdict in verdicts), Counts)


def list_reported(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts without the errors beyond the first MAX_ERRORS."""
    errors = [number for number, verdict in enumerate(verdicts) if verdict.verdict == "error"]
    hidden = set(errors[MAX_ERRORS:])
    return [verdict for number, verdict in enumerate(verdicts) if number not in hidden] if hidden else [*verdicts]


def refused(counts: Counts, errors: list[Verdict], unknown_accounts: Sequence[str] = ()) -> ValidationFailed:
    """Return the error of an import with errors.

    Its message names the first error, and all accounts of the file that the journal does not have.
    """
    first, *_ = in_order = sorted(errors, key=lambda verdict: verdict.line)
    others = f" (and {counts.error - 1} more)" if counts.error > 1 else ""
    advice, details = "", {}
    if unknown_accounts:
        names = ", ".join(map(repr, unknown_accounts))
        advice = (
            f". The journal has no account {names}: create it, or name an account of the journal for it with"
            " `accounts` (--accounts)"
        )
        details = {"unknown_accounts": list(unknown_accounts)}
    return ValidationFailed(
        f"line {first.line}: {first.reason}{others}{advice}",
        line=first.line,
        reason=first.reason,
        counts=counts,
        rows=in_order,
        **details,
    )

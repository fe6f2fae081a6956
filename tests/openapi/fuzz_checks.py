"""What Schemathesis checks of the service beyond its own checks; test_fuzz.py hands it this file."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Any

import schemathesis
from declared_errors import list_errors

from journal_api.routes.table import OPERATIONS

# The document has most errors as `default`: which ones an operation has, its row says.
ERRORS = {
    f"{one.method} {one.documented_path}": {(error.status, error.code) for error in list_errors(one)}
    for one in OPERATIONS
}
# Why a request that fits its schema may be refused all the same. What is not here, the schema has to say.
BEYOND_A_SCHEMA = [
    # Which things there are, whose they are, and to what they belong.
    r".*: is not (one of your|a member of|a setup of) .*",
    r"members: must be your accounts",
    r"unknown_(setup|confirmation|tag|account)_ids: .*",
    r".*source_trade_id: cannot be set on a trade that has copies",
    # An item of a list is named once, whatever else is said of it.
    r"duplicate_(setup|confirmation|account|tag)_ids: .*",
    r"members: must list each account once",
    r"trades\[\d+\]\.external_id: is taken",
    r"trades\[\d+\]: Some (tags|confirmations) .*",
    r"(metrics|group_by): must not repeat a (metric|key)",  # a list in one text, of which a pattern cannot say it
    r"(stops|targets): must be (greater than 0|between .*)",
    r"ids: must .*",
    r"fees: is required with apply_to=earlier",
    r"category_id: is required with group_by=category, and with it alone",
    # One member goes with another, or with what is stored.
    r"(at|from|to): needs with=\w+",
    r"compare_(from|to): overlaps the days .*",
    r"compare_from: must not be after compare_to",
    r"stops: is needed with unit=currency, or targets: .*",
    r"outside: must be false: only a fee is paid from elsewhere",
    r"received: must be (null: only a payout arrives|at most the amount)",
    r"restore: must be sent without .*",
    r"(entry_price|exit_price|opened_at|closed_at|bought|sold|side|quantity|price|at): is required",
    r"\w+: does not belong to the kind (trades|fills)",
    r"net_pnl: must be left out with gross_pnl",
    r"side: .*",
    r"\w+: follows from the fills of the trade: change those",
    r"fills: cannot be sent beside the members of one fill",
    r"id: is read-only",  # of a fill
    r"time\[\d+\]: must have .*",
    r"(account|copy_group)_id: account_id and copy_group_id are mutually exclusive",
    r".*strategy_id: is restricted to other accounts",
    r"target_value: must not be negative for \w+",
    r"target_value: must not be 0 unless the metric is max_drawdown",
    r"custom_(start|end): (is required when timeframe is custom|requires timeframe custom)",
    r"custom_end: must be on or after custom_start",
    r"(where\.)?from: must not be after to",
    r"remove_tag_ids: must have no tags of add_tag_ids: .*",
    r".*(exit_price|gross_pnl): requires closed_at",
    r".*exit_price: is required without gross_pnl",
    r".*(gross_pnl|initial_risk): computed from the prices exceeds 10000000000",
    r".*closed_at: must not be before opened_at",
    r".*multiplier: is required, because .* looks like a future .*",
    r".*(setups|confirmations)\[\d+\]\.name: is required",  # unless the item has an id
    # The schema of a number knows no digits: `multipleOf` is computed with floats, and 1.0 is an integer.
    r".*: (of \w+ )?must have at most 15 significant digits and 8 decimals",
    r".*: must be int( \| null)?, not float",
    # White space around a name counts for nothing, a newline too: no pattern tells it from the rest.
    r".*: must be 1 to \d+ characters",
    r".*: must not contain control characters",
    # Lists that change with the world, and ranges of days and times, which have no limits in a schema.
    r"currency: must be an ISO 4217 currency code such as USD",
    r"(time)?zone: must be an IANA time zone such as Europe/Berlin",
    r"custom_(start|end): must be from 2000-01-01 to 2100-12-31",
    r"day: must be from 1970-01-01 to 2200-12-31",
    r"amount: must (not be|be greater than) .*",  # by the kind
    r".*(opened_at|closed_at|at): must be in the years 1970 to 2200",
    r".*(opened_at|closed_at|at): (must be a time such as .*|is not a valid date and time)",  # the second 60
    r"(scope|active_selection): must be account_<n>, group_<n> or .*",  # an n over 2^63 - 1
    # Free-form JSON is measured as a whole.
    r"(risk_rules|exit_rules|optimal_conditions): must be at most (64 KiB|32 levels deep)",
]

# A file is more than a schema says of it.
FILES = {"POST /v1/imports"}
# These need a fill, cash or a checkpoint by its number, trades that touch, or a trade that the example of
# DELETE /v1/trades has left: random requests meet them by luck.
LUCKY = {"DELETE /v1/trades/{id}", "POST /v1/trades/merge", "POST /v1/trades/{id}/fills"}
LUCKY |= {label for label in ERRORS if re.search(r"{(fill|cash|checkpoint)_id}", label)}

MIN_LIMIT = 40  # of the names that the service measures
NUMBERS = count()
FUZZ_KEY_ID = "2"  # test_fuzz.py makes a spare key before it


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Every Idempotency-Key is a new one: a replayed 201 may tell of what was deleted since.

    The key with which all requests are sent is not revoked: the spare key is, in its place.
    """
    if case.operation.label == "DELETE /v1/keys/{id}" and str(case.path_parameters.get("id")) == FUZZ_KEY_ID:
        case.path_parameters["id"] = 1
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_valid:
        # What a dry run creates is not there, and what it deletes is: the checks for both do not know that.
        case.query.pop("dry_run", None)
    if is_valid and case.query.get("group_by") != "category":
        case.query.pop("category_id", None)  # or hardly any report would be one
    if is_valid and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = f"request-{next(NUMBERS)}"


@schemathesis.hook
def filter_body(context: Any, body: Any) -> bool:
    """No name that is over its limit only with the white space around it, or before it is composed."""
    return not any(len(text) > MIN_LIMIT and is_shortened(text) for text in texts_in(body))


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for item in value.values() if isinstance(value, dict) else value:
                yield from texts_in(item)


def is_shortened(text: str) -> bool:
    return len(unicodedata.normalize("NFC", text.strip())) < len(text)


def complaints_in(error: Any) -> list[str]:
    """Everything that a refusal complains of."""
    details = {name: told for name, told in error["details"].items() if name not in ("fields", "allowed")}
    told = {**error["details"].get("fields", {}), **details} or {"body": error["message"]}
    return [f"{name}: {why}" for name, why in told.items()]


@schemathesis.check
def a_valid_request_is_refused_for_a_reason(ctx: Any, response: Any, case: Any) -> None:
    """A 400 to what the document allows complains of something that no schema says."""
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if case.operation.label in FILES:
        return
    if not is_valid or response.status_code != 400:
        return
    complaints = complaints_in(response.json()["error"])
    unknown = [one for one in complaints if not any(re.fullmatch(known, one) for known in BEYOND_A_SCHEMA)]
    assert not unknown, unknown


@schemathesis.check
def an_error_is_one_of_its_operation(ctx: Any, response: Any, case: Any) -> None:
    if response.status_code < 400 or response.status_code == 405 or case.operation.label not in ERRORS:
        return
    found = (response.status_code, response.json()["error"]["code"])
    assert found in ERRORS[case.operation.label], found


@schemathesis.check
class EveryOperationIsReached:
    """At least once it does its work, or finds it in conflict with the journal; else nothing was learnt."""

    def __init__(self) -> None:
        self.tried: set[str] = set()
        self.reached: set[str] = set()

    def after_response(self, ctx: Any, response: Any, case: Any) -> None:
        self.tried.add(case.operation.label)
        if response.status_code < 300 or response.status_code == 409:
            self.reached.add(case.operation.label)

    def after_run(self, ctx: Any) -> None:
        # The examples, which are sent before, hold files that are taken.
        assert self.tried - FILES - LUCKY <= self.reached, sorted(self.tried - self.reached)

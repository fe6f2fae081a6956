"""The tools that read: each makes its requests and keeps what an agent needs of the responses."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
from msgspec.structs import asdict

from journal_api.mcp.api import ApiResponse, Forbidden, get
from journal_api.mcp.arguments import Arguments, read_filters, read_page, read_path
from journal_api.mcp.report_table import build_table, shorten
from journal_api.mcp.results import build_page, clip, encode, without_nulls
from journal_api.structs.account_rules import AccountRules
from journal_api.structs.strategies import FREE_FORM
from journal_api.values.clock import now
from journal_api.values.periods import trading_day

MAX_NAMES = 100  # of each list of `context`
MAX_NOTE_LENGTH = 200  # characters, in lists
MAX_DESCRIPTION_LENGTH = 500
MAX_RULES_LENGTH = 2000
MAX_TEXT_LENGTH = 10_000
# The members of a trade that lists leave out, in addition to those that are null.
ONLY_IN_GET_TRADE = (
    *("multiplier", "gross_pnl", "fees", "initial_risk", "external_id", "mae", "mfe"),
    *("created_at", "updated_at"),
)
ABOUT_EXITS = ("unit", "decisions", "without_excursions", "as_it_was", "halves")
CELL = ("stop", "target", "changed", "either", "low", "high", "interval_low", "interval_high", "q", "verdict")
NOT_IN_GET_TRADE = ("tag_ids", "created_at", "updated_at")
NOT_IN_GET_DAY = ("id", "tag_ids", "has_text", "pictures", "created_at", "updated_at")
# The statistics of a snapshot that say how much its value means.
SAMPLE = ("reason", "currency", "trades", "decisions", "net_pnl", "pace")


async def context(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """The owner's settings, the trading day, and the names and ids that other tools take."""
    offset = read_page(arguments).offset
    me = (await get(client, "/me")).data
    return {
        "owner": me["name"],
        "timezone": me["timezone"],
        "day_rollover": me["day_rollover"],
        "trading_weekdays": me["trading_weekdays"],
        "trading_day_today": trading_day(now(), me["timezone"], me["day_rollover"]),
        "active_selection": me["active_selection"],
        "accounts": await read_names(
            client, "/accounts?with=standing", offset, "currency", "broker", "starting_balance", "archived", "standing"
        ),
        "copy_groups": await read_names(client, "/copy-groups", offset, "master_account_id"),
        "tags": await read_names(client, "/tags", offset, "type", "category_id"),
        "tag_categories": await read_names(client, "/tag-categories", offset, "single"),
    }


async def read_names(client: httpx.AsyncClient, path: str, offset: int, *members: str) -> Any:
    """Ids, names and these members of the objects of a list, and at its end how to get more."""

    def keep_names(objects: Any) -> Any:
        rows = [with_states(pick(row, ("id", "name", *members))) for row in objects[offset:][:MAX_NAMES]]
        page = build_page("rows", rows, offset, len(objects))
        return [*page["rows"], page["more"]] if "more" in page else page["rows"]

    return await read_if_allowed(client, path, keep_names)


async def read_if_allowed(client: httpx.AsyncClient, path: str, keep: Callable[[Any], Any]) -> Any:
    """What `keep` makes of a response, or the API's message if the key must not read it."""
    try:
        return keep((await get(client, path)).data)
    except Forbidden as error:
        return str(error)


def with_states(account: Any) -> Any:
    """An account with the state of each of its rules in place of its standing."""
    if "standing" not in account:
        return account
    states = {name: rule["state"] for name, rule in list_rules(account["standing"]).items()}
    return {name: member for name, member in account.items() if name != "standing"} | {"rules": states}


def list_rules(standing: Any) -> dict[str, Any]:
    return {name: standing[name] for name in AccountRules.__struct_fields__ if standing[name] is not None}


async def goals_now(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """The goals, and on the first page the accounts with rules."""
    page, filters = read_page(arguments), read_filters(arguments)
    goals = (await get(client, "/goals", {**filters, "with": "snapshot"})).data
    rows = [build_goal_row(goal) for goal in goals[page.offset :][: page.limit]]
    built = build_page("goals", rows, page.offset, len(goals))
    if page.offset == 0:
        keep = partial(build_standing_rows, account_id=filters.get("account_id"))
        built["accounts"] = await read_if_allowed(client, "/accounts?with=standing", keep)
        since_january = f"/cash-flow?from={now():.4}-01-01"
        built["cash_flow"] = await read_if_allowed(client, since_january, lambda flow: without_nulls(flow["total"]))
    return built


def build_standing_rows(accounts: Any, account_id: str | None) -> Any:
    """How accounts in use stand by their rules."""
    return [
        {
            **pick(account, ("id", "name", "currency")),
            **pick(account["standing"], ("at", "sees", "balance", "payout")),
            **{name: without_nulls(rule) for name, rule in list_rules(account["standing"]).items()},
        }
        for account in accounts
        if "standing" in account and not account["archived"] and account_id in (None, str(account["id"]))
    ]


def build_goal_row(goal: Any) -> Any:
    """A goal and how it stands; `actual` is there even if it is null, `warnings` only if there are any."""
    kept = pick(goal, ("id", "goal_name", "metric", "timeframe", "scope", "direction", "status"))
    if goal["warnings"]:
        kept["warnings"] = goal["warnings"]
    current = goal["current"]
    if current is None:
        return {**kept, "target": goal["target_value"], "actual": None, "reason": "no period today"}
    return {**kept, **build_snapshot_row(current)}


async def snapshots(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """The history of a goal, newest period first."""
    path, others = read_path("/goals/{goal_id}/snapshots", arguments)
    return await read_rows(client, path, others, "snapshots", build_snapshot_row)


def build_snapshot_row(snapshot: Any) -> Any:
    kept = pick(snapshot, ("period_start", "period_end", "target", "achieved", "closed"))
    sample = without_nulls(pick(snapshot["snapshot_data"], SAMPLE))
    return {**kept, "actual": snapshot["actual"], **sample}


async def report(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Statistics by group as a table; `total` is computed over all trades."""
    response = await get_page(client, "/reports", arguments)
    table = build_table(response.data)
    groups = build_page("groups", table["groups"], read_page(arguments).offset, response.total)
    groups["group_count"] = groups.pop("total")
    return {**table, **groups}


async def exits(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """What other exits would have made of trades, a row for each cell."""
    found = (await get(client, "/exits", read_filters(arguments))).data
    cells = [{**cell, **cell["difference"], **name_ends(cell["difference"]["interval"])} for cell in found["cells"]]
    rows = [[shorten(cell[name]) for name in CELL] for cell in cells]
    return {**pick(found, ABOUT_EXITS), "columns": CELL, "cells": rows}


def name_ends(interval: Any) -> dict[str, Any]:
    return {name: interval and interval[name.removeprefix("interval_")] for name in ("interval_low", "interval_high")}


async def list_trades(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    return await read_rows(client, "/trades", arguments, "trades", build_trade_row)


def build_trade_row(trade: Any) -> Any:
    kept = {name: value for name, value in trade.items() if name not in ONLY_IN_GET_TRADE}
    return without_nulls({**kept, "notes": clip(trade["notes"] or "", MAX_NOTE_LENGTH) or None})


async def get_trade(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """A trade with its whole notes. `version` is its ETag, which annotate_trade takes."""
    response = await get(client, read_path("/trades/{trade_id}", arguments)[0])
    trade = {name: value for name, value in response.data.items() if name not in NOT_IN_GET_TRADE}
    tags = [pick(tag, ("id", "name", "type")) for tag in trade["tags"]]
    answers = [
        {**given, "notes": clip(given["notes"] or "", MAX_DESCRIPTION_LENGTH) or None}
        for given in trade["confirmations"]
    ]
    return without_nulls({**trade, "tags": tags, "confirmations": answers, "version": response.version})


async def list_strategies(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    page = read_page(arguments)
    strategies = (await get(client, "/strategies", read_filters(arguments))).data
    members = ("id", "name", "description", "account_id", "copy_group_id", "setup_count")
    rows = [pick_described(strategy, members) for strategy in strategies[page.offset :][: page.limit]]
    return build_page("strategies", rows, page.offset, len(strategies))


async def get_strategy(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """A strategy with its rules, setups and checklists; pages are pages of setups."""
    page = read_page(arguments)
    strategy = (await get(client, read_path("/strategies/{strategy_id}", arguments)[0])).data
    setups = [build_setup_row(setup) for setup in strategy["setups"][page.offset :][: page.limit]]
    rules = {name: clip_rules(strategy[name]) for name in FREE_FORM}
    fields = pick_described(strategy, ("id", "name", "description", "account_id", "copy_group_id"))
    paged = build_page("setups", setups, page.offset, len(strategy["setups"]))
    return {**fields, **without_nulls(rules), **paged}


def build_setup_row(setup: Any) -> Any:
    confirmations = [
        pick_described(confirmation, ("confirmation_id", "name", "description"), MAX_NOTE_LENGTH)
        for confirmation in setup["confirmations"]
    ]
    return {**pick_described(setup, ("setup_id", "name", "description")), "confirmations": confirmations}


async def get_day(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """What was written on a day, and its numbers. `version` is its ETag, which write_review takes."""
    response = await get(client, read_path("/days/{date}", arguments)[0])
    day = {name: value for name, value in response.data.items() if name not in NOT_IN_GET_DAY}
    texts = {name: clip(day[name] or "", MAX_TEXT_LENGTH) or None for name in ("plan", "review")}
    tags = [pick(tag, ("id", "name", "type")) for tag in day["tags"]]
    goals = [{**pick(goal, ("goal_id", "goal_name", "kind")), **build_snapshot_row(goal)} for goal in day["goals"]]
    return without_nulls({**day, **texts, "tags": tags, "goals": goals, "version": response.version})


async def search(client: httpx.AsyncClient, arguments: Arguments) -> Any:
    """Texts and names in which the words are, names first, then the newest."""
    members = ("resource", "id", "title", "excerpt")
    return await read_rows(client, "/search", arguments, "results", lambda found: pick(found, members))


async def get_page(client: httpx.AsyncClient, path: str, arguments: Arguments) -> ApiResponse:
    """GET a page of a list, with the arguments as its query. Raises ToolError."""
    return await get(client, path, {**read_filters(arguments), **asdict(read_page(arguments))})


async def read_rows(
    client: httpx.AsyncClient, path: str, arguments: Arguments, name: str, build_row: Callable[[Any], Any]
) -> Any:
    """A page of a list, with what an agent needs of each row."""
    response = await get_page(client, path, arguments)
    return build_page(name, list(map(build_row, response.data)), read_page(arguments).offset, response.total)


def clip_rules(value: Any) -> Any:
    """Free-form rules as they are, or the beginning of their JSON if that is long."""
    text = encode(value)
    return value if len(text) <= MAX_RULES_LENGTH else clip(text, MAX_RULES_LENGTH)


def pick_described(thing: Any, members: tuple[str, ...], max_length: int = MAX_DESCRIPTION_LENGTH) -> Any:
    kept = pick(thing, members)
    return {**kept, "description": clip(kept["description"], max_length)} if "description" in kept else kept


def pick(thing: Any, members: tuple[str, ...]) -> Any:
    """These members as far as they are there and not null."""
    return {name: thing[name] for name in members if thing.get(name) is not None}

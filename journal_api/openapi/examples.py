"""Examples for the OpenAPI document: every body and every resource.

Those of the example journal are recorded: `make openapi` writes recorded_examples.json.
"""

from pathlib import Path
from typing import Any

import msgspec

from journal_api.structs.accounts import Account, AccountCreate, AccountPatch
from journal_api.structs.api_keys import ApiKey
from journal_api.structs.copy_groups import (
    CopyGroup,
    CopyGroupCreate,
    CopyGroupListItem,
    CopyGroupPatch,
    MembersPut,
)
from journal_api.structs.example_journal import ExampleJournal
from journal_api.structs.goals import Goal, GoalCreate, GoalListItem, GoalPatch
from journal_api.structs.import_profiles import ImportProfile, ImportProfileCreate
from journal_api.structs.imports import Import, ImportQuery, ImportReport
from journal_api.structs.instruments import Instrument, InstrumentPut
from journal_api.structs.me import Me, MePatch
from journal_api.structs.metrics import Metric
from journal_api.structs.reports import Report
from journal_api.structs.setups import Setup
from journal_api.structs.snapshots import Snapshot
from journal_api.structs.strategies import Strategy, StrategyCreate, StrategyListItem, StrategyPatch
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch
from journal_api.structs.tags import Tag, TagCreate, TagPatch
from journal_api.structs.trades import (
    AnswersPut,
    Trade,
    TradeCreate,
    TradeListItem,
    TradePatch,
    TradesCreate,
    TradeTagsPut,
)
from journal_api.values.types import decode_value

TIMESTAMPS = {"created_at": "2026-08-04T14:30:00.000000Z", "updated_at": "2026-08-04T14:30:00.000000Z"}
# Resources of the example journal, by the name of the struct.
RECORDED: dict[str, Any] = msgspec.json.decode(
    Path(__file__).with_name("recorded_examples.json").read_bytes()
)


def body(resource: type, *names: str) -> dict[str, Any]:
    """Return the members of the recorded resource that a body has."""
    return {name: RECORDED[resource.__name__][name] for name in names}


ACCOUNT_BODY = body(Account, "name", "starting_balance", "broker", "fees")
GOAL_BODY = body(Goal, "goal_name", "metric", "target_value", "timeframe", "account_id")
TRADE_BODY = body(
    TradeListItem,
    *("account_id", "symbol", "direction", "quantity", "multiplier", "entry_price", "exit_price"),
    *("stop_loss", "opened_at", "closed_at", "fees", "grade", "setup_id"),
)
STRATEGY_BODY = {
    **body(Strategy, "name", "description", "color_tag", "risk_rules"),
    "setups": [
        {"name": setup["name"], "confirmations": [{"name": item["name"]} for item in setup["confirmations"]]}
        for setup in RECORDED["Strategy"]["setups"]
    ],
}
# The month of the goal while it ran, on its last day, a Saturday.
RUNNING = {
    **RECORDED["Snapshot"],
    "closed": False,
    "snapshot_data": {
        **RECORDED["Snapshot"]["snapshot_data"],
        "pace": {"state": "achieved", "remaining": 0, "days_left": 0, "needed_per_day": None},
    },
}
COPY_GROUP = {"name": "Main and copies"}
GROUP = {"id": 1, **COPY_GROUP, "master_account_id": 1, "member_count": 2, **TIMESTAMPS}
MEMBERS: list[dict[str, Any]] = [
    {"account_id": 1, "quantity_multiplier": 1},
    {"account_id": 2, "quantity_multiplier": 0.5},
]
IMPORT = {
    "id": 1,
    "account_id": 1,
    "format": "round trips",
    "file_name": "trades.csv",
    "sha256": "b25489e9843fee71386d6859d8228043ff5f81929af98bdff1c5896dd094eeb8",
    "timezone": "America/New_York",
}
PROFILE = {
    "name": "Acme trades",
    "kind": "trades",
    "header": ["Ticker", "Way"],
    "symbol": "Ticker",
    "quantity": "Size",
    "side": {"column": "Way", "long": ["Up"], "short": ["Down"]},
    "entry_price": "In",
    "exit_price": "Out",
    "opened_at": "From",
    "closed_at": "To",
    "costs": {"columns": ["Fee"], "paid": "positive"},
    "time": ["%d.%m.%Y %H:%M"],
}

FLEX_QUERY = """\
<FlexQueryResponse>
  <FlexStatements>
    <FlexStatement accountId="U7654321">
      <Trades>
        <Trade symbol="QLTX" multiplier="1" dateTime="20260302;093105" quantity="60" tradePrice="40.10"
          ibCommission="-0.50" buySell="BUY" ibExecID="0000f1.01" levelOfDetail="EXECUTION" />
        <Trade symbol="QLTX" multiplier="1" dateTime="20260302;101500" quantity="-60" tradePrice="41.14"
          ibCommission="-0.50" buySell="SELL" ibExecID="0000f2.01" levelOfDetail="EXECUTION" />
      </Trades>
    </FlexStatement>
  </FlexStatements>
</FlexQueryResponse>
"""
# Files by media type: the body of an import, the response of an export.
FILES = {
    "text/csv": """\
account,symbol,direction,quantity,multiplier,entry_price,exit_price,opened_at,closed_at,fees
Main,MNQM6,long,2,2,25048.5,25060.75,2026-04-09T15:38:40-04:00,2026-04-09T15:40:03-04:00,1.04
""",
    "text/html": """\
<table>
<tr><th>Positions</th></tr>
<tr><td>Time</td><td>Position</td><td>Symbol</td><td>Type</td><td>Volume</td><td>Price</td><td>S / L</td>
    <td>T / P</td><td>Time</td><td>Price</td><td>Commission</td><td>Swap</td><td>Profit</td></tr>
<tr><td>2026.01.12 09:15:04</td><td>285600114</td><td>EURUSD</td><td>buy</td><td>0.50</td><td>1.08412</td>
    <td></td><td></td><td>2026.01.12 16:42:31</td><td>1.08655</td><td>-3.50</td><td>0.00</td>
    <td>121.50</td></tr>
</table>
""",
    "application/xml": FLEX_QUERY,
    "text/xml": FLEX_QUERY,
}


def complete(profile: dict[str, Any]) -> Any:
    """Return the profile with the members that it leaves out."""
    struct = msgspec.convert(profile, ImportProfileCreate, dec_hook=decode_value)
    return msgspec.to_builtins(struct, enc_hook=str)


RESOURCES = (
    *(Account, ExampleJournal, Goal, Report, Snapshot, Strategy, StrategyListItem, Tag, TagCategory, Trade),
    TradeListItem,
)
EXAMPLES: dict[Any, Any] = {
    **{resource: RECORDED[resource.__name__] for resource in RESOURCES},
    TagCategoryCreate: body(TagCategory, "name"),
    TagCategoryPatch: {"name": "Mind"},
    TagCreate: body(Tag, "category_id", "name", "color", "type"),
    TagPatch: {"name": "Chased"},
    StrategyCreate: STRATEGY_BODY,
    StrategyPatch: {
        "name": "Opening drive",
        "setups": [{"setup_id": 1, "name": "Break and hold"}, {"name": "Failed break"}],
    },
    Setup: RECORDED["Strategy"]["setups"][0],
    GoalListItem: {**RECORDED["Goal"], "current": RUNNING, "warnings": []},
    GoalCreate: GOAL_BODY,
    GoalPatch: {"target_value": 250},
    AccountCreate: ACCOUNT_BODY,
    AccountPatch: {"archived": True},
    CopyGroupListItem: GROUP,
    CopyGroup: {
        **GROUP,
        "members": [{**member, "sort_order": index} for index, member in enumerate(MEMBERS)],
    },
    CopyGroupCreate: COPY_GROUP,
    CopyGroupPatch: {"name": "Followers"},
    MembersPut: {"members": MEMBERS[:1]},
    TradeCreate: TRADE_BODY,
    TradesCreate: {"trades": [TRADE_BODY, {**TRADE_BODY, "quantity": 1, "fees": 1.24}]},
    TradePatch: {"grade": "A+", "notes": "Waited for the retest."},
    TradeTagsPut: {"tag_ids": [1]},
    AnswersPut: {"confirmations": [{"confirmation_id": 1, "was_present": True}]},
    ImportQuery: {"account_id": 1, "timezone": "America/New_York", "file_name": "trades.csv"},
    Import: {
        **IMPORT,
        "account_ids": [1],
        "counts": {"new": 1, "duplicate": 0, "updated": 0, "error": 0},
        "trade_count": 1,
        **TIMESTAMPS,
    },
    ImportReport: {
        **IMPORT,
        "timezone_source": "stated",
        "replaced_timezones": [],
        "dry_run": False,
        "encoding": "utf-8",
        "date_order": None,
        "rounded": 0,
        "accounts": [{"name": "Evaluation 50K", "account_id": 1}],
        "counts": {"new": 1, "duplicate": 0, "updated": 0, "error": 0},
        "fees_applied": [],
        "left_out": [],
        "columns": None,
        "sample_rows": None,
        "proposed_profile": None,
        "rows": [{"line": 2, "verdict": "new", "trade_id": 1, "changed": [], "reason": None}],
    },
    Instrument: {
        "root": "MNQ",
        "name": "Micro E-mini Nasdaq-100",
        "exchange": "CME",
        "currency": "USD",
        "point_value": 2,
        "source": "built-in",
    },
    InstrumentPut: {"point_value": 2},
    ImportProfileCreate: PROFILE,
    ImportProfile: {**complete(PROFILE), "id": 1, **TIMESTAMPS},
    Metric: {
        "key": "win_rate",
        "title": "Win rate",
        "description": "Winning decisions of all decisions; a break-even one is no win.",
        "unit": "percent",
        "natural_direction": "at_least",
    },
    Me: {
        "id": 1,
        "name": "owner",
        "timezone": "America/New_York",
        "day_rollover": "17:00",
        "trading_weekdays": [1, 2, 3, 4, 5],
        "active_selection": "all",
        **TIMESTAMPS,
    },
    ApiKey: {
        "id": 1,
        "name": "Firefox on Linux",
        "last_four": "x7Qa",
        "scopes": ["read:trades", "write:trades"],
        **TIMESTAMPS,
        "last_used_on": "2026-08-04",
        "expires_at": "2026-09-03T14:30:00.000000Z",
        "revoked_at": None,
        "is_current": True,
    },
    MePatch: {"timezone": "America/New_York", "day_rollover": "17:00"},
}

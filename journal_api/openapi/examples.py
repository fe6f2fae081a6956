"""Examples for the OpenAPI document: every body and every resource, all of the example journal."""

from typing import Any

import msgspec

from journal_api.rules import example_journal
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
CONTENT = example_journal.document()
ACCOUNT_BODY = CONTENT["account"]
STRATEGY = CONTENT["strategies"][0]
CATEGORY, MISTAKE, PATIENT = "Psychology", CONTENT["tags"][0], CONTENT["tags"][2]
COPY_GROUP = {"name": "Main and copies"}


def trade_of(row: list[Any], day: str) -> dict[str, Any]:
    """Return the body of a line of the file that day, a trade of the first setup."""
    _, symbol, direction, quantity, opened, entry, stop, closed, exit_price, grade, *_ = row
    return {
        "account_id": 1,
        "symbol": symbol,
        "direction": direction,
        "quantity": quantity,
        "multiplier": CONTENT["trades"]["point_values"][symbol],
        "entry_price": entry,
        "exit_price": exit_price,
        "stop_loss": stop,
        "opened_at": f"{day}T{opened}:00Z",
        "closed_at": f"{day}T{closed}:00Z",
        "fees": round(2 * quantity * ACCOUNT_BODY["fees"]["default"], 2),
        "grade": grade,
        "setup_id": 1,
    }


FIRST_TRADE, SECOND_TRADE = (
    trade_of(row, day)
    for row, day in zip(CONTENT["trades"]["rows"], ("2026-08-17", "2026-08-18"), strict=False)
)
TAG_BODY = {"category_id": 1, **{name: MISTAKE[name] for name in ("name", "type", "color")}}
TAG = {"id": 1, **TAG_BODY, **TIMESTAMPS}
SETUPS = [
    {
        "setup_id": setup_id,
        "name": setup["name"],
        "description": None,
        "sort_order": setup_id - 1,
        "confirmations": [
            {
                "confirmation_id": 2 * setup_id - 1 + sort_order,
                "name": confirmation["name"],
                "description": None,
                "sort_order": sort_order,
            }
            for sort_order, confirmation in enumerate(setup["confirmations"])
        ],
    }
    for setup_id, setup in enumerate(STRATEGY["setups"], 1)
]
STRATEGY_ROW = {
    "id": 1,
    **{name: STRATEGY[name] for name in ("name", "description", "color_tag")},
    "account_id": None,
    "copy_group_id": None,
    "setup_count": 2,
    **TIMESTAMPS,
}
GOAL_BODY = {**CONTENT["goals"][3], "account_id": 1}
GOAL = {
    "id": 4,
    **GOAL_BODY,
    "direction": "at_least",
    "custom_start": None,
    "custom_end": None,
    "copy_group_id": None,
    "scope": "account_1",
    "status": "active",
    **TIMESTAMPS,
}
# October of the goal, and its November so far, of which six trading days are left.
STATISTICS: dict[str, Any] = {
    "unit": "currency",
    "timezone": "UTC",
    "day_rollover": "00:00",
    "reason": None,
    "currency": "USD",
    "trades": 52,
    "decisions": 52,
    "wins": 24,
    "losses": 28,
    "breakevens": 0,
    "graded": 47,
    "a_plus": 6,
    "with_risk": 52,
    "with_checklist": 47,
    "checklists_confirmed": 26,
    "with_mistake": 5,
    "trading_days": 22,
    "winning_days": 11,
    "max_trades_per_day": 4,
    "gross_pnl": 779,
    "fees": 115.32,
    "net_pnl": 663.68,
    "winning_pnl": 1893.4,
    "losing_pnl": -1229.72,
    "worst_trade": -99.96,
    "worst_day": -134.9,
    "r_total": 16.70671113,
}
SNAPSHOT = {
    "goal_id": 4,
    "period_start": "2026-10-01",
    "period_end": "2026-10-31",
    "target": 500,
    "actual": 663.68,
    "achieved": True,
    "closed": True,
    "snapshot_data": STATISTICS,
    "computed_at": "2026-11-22T07:00:00.000000Z",
}
RUNNING = {
    **SNAPSHOT,
    "period_start": "2026-11-01",
    "period_end": "2026-11-30",
    "actual": 96,
    "achieved": False,
    "closed": False,
    "snapshot_data": {
        **STATISTICS,
        "gross_pnl": 211.32,
        "net_pnl": 96,
        "winning_pnl": 1325.72,
        "r_total": 1.5,
        "pace": {"state": "behind", "remaining": 404, "days_left": 6, "needed_per_day": 67.33333333},
    },
}
ACCOUNT = {"id": 1, **ACCOUNT_BODY, "currency": "USD", "archived": False, **TIMESTAMPS}
GROUP = {"id": 1, **COPY_GROUP, "master_account_id": 1, "member_count": 2, **TIMESTAMPS}
MEMBERS: list[dict[str, Any]] = [
    {"account_id": 1, "quantity_multiplier": 1},
    {"account_id": 2, "quantity_multiplier": 0.5},
]
TRADE = {
    **FIRST_TRADE,
    "id": 1,
    "opened_at": "2026-08-17T09:47:00.000000Z",
    "closed_at": "2026-08-17T10:12:00.000000Z",
    "trading_day": "2026-08-17",
    "gross_pnl": 72.5,
    "net_pnl": 70.02,
    "initial_risk": 40,
    "rr_realized": 1.7505,
    "strategy_id": 1,
    "source_trade_id": None,
    "external_id": None,
    "notes": None,
    "tag_ids": [3],
    **TIMESTAMPS,
}
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
REPORT_VALUES = {
    "values": {"trade_count": 24, "net_pnl": 416.9, "profit_factor": 1.84987972},
    "reasons": {},
    "statistics": {
        "currency": "USD",
        "trades": 24,
        "decisions": 24,
        "wins": 12,
        "losses": 12,
        "breakevens": 0,
        "graded": 22,
        "a_plus": 2,
        "with_risk": 24,
        "with_checklist": 24,
        "checklists_confirmed": 13,
        "with_mistake": 0,
        "trading_days": 17,
        "winning_days": 10,
        "max_trades_per_day": 3,
        "gross_pnl": 466.5,
        "fees": 49.6,
        "net_pnl": 416.9,
        "winning_pnl": 907.44,
        "losing_pnl": -490.54,
        "worst_trade": -52.48,
        "worst_day": -89.72,
        "r_total": 9.88640001,
    },
}
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


EXAMPLES: dict[Any, Any] = {
    TagCategory: {"id": 1, "name": CATEGORY, "tag_count": 3, **TIMESTAMPS},
    TagCategoryCreate: {"name": CATEGORY},
    TagCategoryPatch: {"name": "Mind"},
    Tag: TAG,
    TagCreate: TAG_BODY,
    TagPatch: {"name": "Chased"},
    StrategyListItem: STRATEGY_ROW,
    Strategy: {
        **STRATEGY_ROW,
        "risk_rules": STRATEGY["risk_rules"],
        "exit_rules": None,
        "optimal_conditions": None,
        "setups": SETUPS,
    },
    StrategyCreate: STRATEGY,
    StrategyPatch: {
        "name": "Opening drive",
        "setups": [{"setup_id": 1, "name": "Break and hold"}, {"name": "Failed break"}],
    },
    Setup: SETUPS[0],
    Goal: GOAL,
    GoalListItem: {**GOAL, "current": RUNNING, "warnings": []},
    GoalCreate: GOAL_BODY,
    GoalPatch: {"target_value": 250},
    Snapshot: SNAPSHOT,
    Report: {
        "group_by": "setup",
        "from": "2026-10-01",
        "to": None,
        "timezone": "UTC",
        "day_rollover": "00:00",
        "metrics": ["trade_count", "net_pnl", "profit_factor"],
        "total": {"key": None, "name": None, **REPORT_VALUES},
        "groups": [{"key": 1, "name": SETUPS[0]["name"], **REPORT_VALUES}],
    },
    Account: ACCOUNT,
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
    TradeListItem: TRADE,
    Trade: {
        **TRADE,
        "tags": [{"id": 3, "name": PATIENT["name"], "color": PATIENT["color"], "type": "custom"}],
        "confirmations": [
            {
                "confirmation_id": item["confirmation_id"],
                "name": item["name"],
                "was_present": True,
                "notes": None,
            }
            for item in SETUPS[0]["confirmations"]
        ],
    },
    TradeCreate: FIRST_TRADE,
    TradesCreate: {"trades": [FIRST_TRADE, SECOND_TRADE]},
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
    ExampleJournal: {"is_loaded": True, "account_id": 1, "trade_count": 124},
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

"""Examples for the OpenAPI document: every body and every resource, all of the example journal."""

from typing import Any

import msgspec

from journal_api.openapi.example_journal import (
    ACCOUNTS,
    BREAK,
    CHECKLISTS,
    COPY_GROUP,
    FAILED,
    GOALS,
    QUANTITY_OF_COPIES,
    STRATEGY,
    TAGS,
    TRADES,
    trade_of,
)
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
TAG_CATEGORY = {"name": "Psychology"}
TAG_BODY = {"name": "FOMO", "category_id": 1, **TAGS["Psychology"]["FOMO"]}
TAG = {"id": 1, **TAG_BODY, **TIMESTAMPS}
SETUPS = [
    {
        "setup_id": setup_id,
        "name": setup_name,
        "description": None,
        "sort_order": setup_id - 1,
        "confirmations": [
            {
                "confirmation_id": confirmation_id,
                "name": confirmation_name,
                "description": None,
                "sort_order": sort_order,
            }
            for sort_order, (confirmation_id, confirmation_name) in enumerate(confirmations)
        ],
    }
    for setup_id, setup_name, confirmations in (
        (1, BREAK, ((1, CHECKLISTS[BREAK][0]), (2, CHECKLISTS[BREAK][1]))),
        (2, FAILED, ((3, CHECKLISTS[FAILED][0]),)),
    )
]
STRATEGY_ROW = {
    "id": 1,
    "name": STRATEGY["name"],
    "description": STRATEGY["description"],
    "color_tag": "#1d4ed8",
    "account_id": None,
    "copy_group_id": None,
    "setup_count": 2,
    **TIMESTAMPS,
}
GOAL = {
    "id": 1,
    **GOALS[0],
    "direction": "at_least",
    "timeframe": "monthly",
    "custom_start": None,
    "custom_end": None,
    "account_id": None,
    "copy_group_id": None,
    "scope": "all",
    "status": "active",
    **TIMESTAMPS,
}
# August of the first goal, and its November so far, of which six trading days are left.
STATISTICS: dict[str, Any] = {
    "unit": "currency",
    "timezone": "UTC",
    "day_rollover": "00:00",
    "reason": None,
    "currency": "USD",
    "trades": 7,
    "decisions": 6,
    "wins": 4,
    "losses": 2,
    "breakevens": 0,
    "graded": 6,
    "a_plus": 1,
    "with_risk": 6,
    "with_checklist": 5,
    "checklists_confirmed": 4,
    "with_mistake": 1,
    "trading_days": 5,
    "winning_days": 4,
    "max_trades_per_day": 2,
    "gross_pnl": 406.75,
    "fees": 14.88,
    "net_pnl": 391.87,
    "winning_pnl": 480.09,
    "losing_pnl": -88.22,
    "worst_trade": -45.74,
    "worst_day": -42.48,
    "r_total": 6.6235,
}
SNAPSHOT = {
    "goal_id": 1,
    "period_start": "2026-08-01",
    "period_end": "2026-08-31",
    "target": 150,
    "actual": 391.87,
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
        "gross_pnl": 110.88,
        "net_pnl": 96,
        "winning_pnl": 184.22,
        "r_total": 1.5,
        "pace": {"state": "behind", "remaining": 54, "days_left": 6, "needed_per_day": 9},
    },
}
ACCOUNT = {"id": 1, **ACCOUNTS[0], "currency": "USD", "archived": False, **TIMESTAMPS}
GROUP = {"id": 1, **COPY_GROUP, "master_account_id": 1, "member_count": 2, **TIMESTAMPS}
MEMBERS: list[dict[str, Any]] = [
    {"account_id": 1, "quantity_multiplier": 1},
    {"account_id": 2, "quantity_multiplier": QUANTITY_OF_COPIES},
]
TRADE_BODY = {"account_id": 1, **trade_of(TRADES[0], {BREAK: 1})}
TRADE = {
    **TRADE_BODY,
    "id": 1,
    "opened_at": "2026-08-04T13:47:00.000000Z",
    "closed_at": "2026-08-04T14:12:00.000000Z",
    "trading_day": "2026-08-04",
    "gross_pnl": 72.5,
    "net_pnl": 70.02,
    "initial_risk": 40,
    "rr_realized": 1.7505,
    "strategy_id": 1,
    "source_trade_id": None,
    "external_id": None,
    "notes": None,
    "tag_ids": [2],
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
    "values": {"trade_count": 4, "net_pnl": 498.84, "profit_factor": None},
    "reasons": {"profit_factor": "no_losses"},
    "statistics": {
        "currency": "USD",
        "trades": 5,
        "decisions": 4,
        "wins": 4,
        "losses": 0,
        "breakevens": 0,
        "graded": 4,
        "a_plus": 2,
        "with_risk": 4,
        "with_checklist": 4,
        "checklists_confirmed": 4,
        "with_mistake": 0,
        "trading_days": 4,
        "winning_days": 4,
        "max_trades_per_day": 1,
        "gross_pnl": 510.0,
        "fees": 11.16,
        "net_pnl": 498.84,
        "winning_pnl": 498.84,
        "losing_pnl": 0,
        "worst_trade": 70.02,
        "worst_day": 70.02,
        "r_total": 9.58516667,
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
    TagCategory: {"id": 1, **TAG_CATEGORY, "tag_count": 2, **TIMESTAMPS},
    TagCategoryCreate: TAG_CATEGORY,
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
    GoalCreate: GOALS[0],
    GoalPatch: {"target_value": 250},
    Snapshot: SNAPSHOT,
    Report: {
        "group_by": "tag",
        "from": "2026-08-01",
        "to": None,
        "timezone": "UTC",
        "day_rollover": "00:00",
        "metrics": ["trade_count", "net_pnl", "profit_factor"],
        "total": {"key": None, "name": None, **REPORT_VALUES},
        "groups": [{"key": 2, "name": "Patient", **REPORT_VALUES}],
    },
    Account: ACCOUNT,
    AccountCreate: ACCOUNTS[0],
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
        "tags": [
            {"id": 2, "name": "Patient", "color": TAGS["Psychology"]["Patient"]["color"], "type": "custom"}
        ],
        "confirmations": [
            {"confirmation_id": number, "name": name, "was_present": True, "notes": None}
            for number, name in enumerate(CHECKLISTS[BREAK], 1)
        ],
    },
    TradeCreate: TRADE_BODY,
    TradesCreate: {"trades": [TRADE_BODY, {"account_id": 1, **trade_of(TRADES[1], {BREAK: 1})}]},
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
    ExampleJournal: {"is_loaded": True, "account_id": 1, "trade_count": 200},
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

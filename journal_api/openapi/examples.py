"""Examples for the OpenAPI document: every body and every resource, all from one small journal."""

from typing import Any

from journal_api.structs.accounts import Account, AccountCreate, AccountPatch
from journal_api.structs.copy_groups import (
    CopyGroup,
    CopyGroupCreate,
    CopyGroupListItem,
    CopyGroupPatch,
    MembersPut,
)
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch
from journal_api.structs.import_profiles import ImportProfile, ImportProfileCreate
from journal_api.structs.imports import Import, ImportQuery, ImportReport
from journal_api.structs.instruments import Instrument, InstrumentPut
from journal_api.structs.me import Me, MePatch
from journal_api.structs.metrics import Metric
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

TIMESTAMPS = {"created_at": "2026-04-09T19:40:03.000000Z", "updated_at": "2026-04-09T19:40:03.000000Z"}
TAG = {"id": 1, "category_id": 1, "name": "FOMO", "color": "#ef4444", "type": "mistake", **TIMESTAMPS}
CONFIRMATION = {"confirmation_id": 1, "name": "Volume above average", "description": None, "sort_order": 0}
SETUP = {
    "setup_id": 1,
    "name": "Break of the high",
    "description": None,
    "sort_order": 0,
    "confirmations": [CONFIRMATION],
}
STRATEGY = {
    "id": 1,
    "name": "Opening range",
    "description": "The first half hour.",
    "color_tag": "#1d4ed8",
    "account_id": 1,
    "copy_group_id": None,
    "setup_count": 1,
    **TIMESTAMPS,
}
GOAL = {
    "id": 1,
    "goal_name": "Green month",
    "metric": "net_pnl",
    "target_value": 500,
    "direction": "at_least",
    "timeframe": "monthly",
    "custom_start": None,
    "custom_end": None,
    "account_id": 1,
    "copy_group_id": None,
    "scope": "account_1",
    "status": "active",
    **TIMESTAMPS,
}
ACCOUNT = {
    "id": 1,
    "name": "Evaluation 50K",
    "currency": "USD",
    "starting_balance": 50000,
    "broker": "Tradovate",
    "archived": False,
    **TIMESTAMPS,
}
GROUP = {"id": 1, "name": "Copies", "master_account_id": 1, "member_count": 1, **TIMESTAMPS}
TRADE_BODY = {
    "account_id": 1,
    "symbol": "MNQM6",
    "direction": "long",
    "quantity": 2,
    "multiplier": 2,
    "entry_price": 25048.5,
    "exit_price": 25060.75,
    "stop_loss": 25038.5,
    "opened_at": "2026-04-09T15:38:40-04:00",
    "closed_at": "2026-04-09T15:40:03-04:00",
    "fees": 1.04,
    "grade": "A",
    "setup_id": 1,
}
TRADE = {
    **TRADE_BODY,
    "id": 1,
    "opened_at": "2026-04-09T19:38:40.000000Z",
    "closed_at": "2026-04-09T19:40:03.000000Z",
    "trading_day": "2026-04-09",
    "gross_pnl": 49,
    "net_pnl": 47.96,
    "initial_risk": 40,
    "rr_realized": 1.199,
    "strategy_id": 1,
    "source_trade_id": None,
    "external_id": None,
    "notes": None,
    "tag_ids": [1],
    **TIMESTAMPS,
}
IMPORT = {
    "id": 1,
    "account_id": 1,
    "format": "round trips",
    "file_name": "trades.csv",
    "sha256": "11d742054745f747365814bd431d7729e5da168abe87d23d41d98b03e101f22e",
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

# Files by media type: the body of an import, the response of an export.
FILES = {
    "text/csv": """\
account,symbol,direction,quantity,multiplier,entry_price,exit_price,opened_at,closed_at,fees
Evaluation 50K,MNQM6,long,2,2,25048.5,25060.75,2026-04-09T15:38:40-04:00,2026-04-09T15:40:03-04:00,1.04
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
}

EXAMPLES: dict[Any, Any] = {
    TagCategory: {"id": 1, "name": "Psychology", "tag_count": 1, **TIMESTAMPS},
    TagCategoryCreate: {"name": "Psychology"},
    TagCategoryPatch: {"name": "Mind"},
    Tag: TAG,
    TagCreate: {"name": "FOMO", "category_id": 1, "color": "#ef4444", "type": "mistake"},
    TagPatch: {"name": "Chased"},
    StrategyListItem: STRATEGY,
    Strategy: {
        **STRATEGY,
        "risk_rules": {"max_risk_percent": 0.5},
        "exit_rules": None,
        "optimal_conditions": None,
        "setups": [SETUP],
    },
    StrategyCreate: {
        "name": "Opening range",
        "account_id": 1,
        "risk_rules": {"max_risk_percent": 0.5},
        "setups": [{"name": "Break of the high", "confirmations": [{"name": "Volume above average"}]}],
    },
    StrategyPatch: {
        "name": "Opening drive",
        "setups": [{"setup_id": 1, "name": "Break and hold"}, {"name": "Failed break"}],
    },
    Setup: SETUP,
    Goal: GOAL,
    GoalCreate: {"goal_name": "Green month", "metric": "net_pnl", "target_value": 500, "account_id": 1},
    GoalPatch: {"target_value": 750},
    Snapshot: {
        "goal_id": 1,
        "period_start": "2026-04-01",
        "period_end": "2026-04-30",
        "target": 500,
        "actual": 47.96,
        "achieved": False,
        "closed": True,
        "snapshot_data": {"unit": "currency", "reason": None, "trades": 1, "gross_pnl": 49, "fees": 1.04},
        "computed_at": "2026-05-01T07:00:00.000000Z",
    },
    Account: ACCOUNT,
    AccountCreate: {"name": "Evaluation 50K", "starting_balance": 50000, "broker": "Tradovate"},
    AccountPatch: {"archived": True},
    CopyGroupListItem: GROUP,
    CopyGroup: {**GROUP, "members": [{"account_id": 1, "quantity_multiplier": 1, "sort_order": 0}]},
    CopyGroupCreate: {"name": "Copies"},
    CopyGroupPatch: {"name": "Followers"},
    MembersPut: {"members": [{"account_id": 1, "quantity_multiplier": 1}]},
    TradeListItem: TRADE,
    Trade: {
        **TRADE,
        "tags": [{name: TAG[name] for name in ("id", "name", "color", "type")}],
        "confirmations": [
            {"confirmation_id": 1, "name": "Volume above average", "was_present": True, "notes": None}
        ],
    },
    TradeCreate: TRADE_BODY,
    TradesCreate: {"trades": [TRADE_BODY, {**TRADE_BODY, "direction": "short", "stop_loss": 25058.5}]},
    TradePatch: {"grade": "A+", "notes": "Waited for the retest."},
    TradeTagsPut: {"tag_ids": [1]},
    AnswersPut: {"confirmations": [{"confirmation_id": 1, "was_present": True}]},
    ImportQuery: {"account_id": 1, "file_name": "trades.csv"},
    Import: {
        **IMPORT,
        "counts": {"new": 1, "duplicate": 0, "updated": 0, "error": 0},
        "trade_count": 1,
        **TIMESTAMPS,
    },
    ImportReport: {
        **IMPORT,
        "dry_run": False,
        "counts": {"new": 1, "duplicate": 0, "updated": 0, "error": 0},
        "left_out": [],
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
    ImportProfile: {**PROFILE, "id": 1, "zone": None, **TIMESTAMPS},
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
        "active_selection": "all",
        **TIMESTAMPS,
    },
    MePatch: {"timezone": "America/New_York", "day_rollover": "17:00"},
}

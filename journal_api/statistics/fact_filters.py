"""The facts of trades that match the query of a report or of exits."""

from journal_api.database.sql import json_list
from journal_api.database.trade_filters import COSTS
from journal_api.structs.trades import TradeSelection
from journal_api.values.instruments import list_contracts

# Which accounts are read.
ACCOUNTS = {
    "account_id": "id = :account_id",
    "copy_group_id": "id IN (SELECT account_id FROM copy_group_members WHERE copy_group_id = :copy_group_id)",
}
# Trades that an index finds. Their facts are read by id, all others by account and day.
FOUND = {
    "strategy_id": "id IN (SELECT id FROM trades WHERE strategy_id = :strategy_id)",
    "setup_id": "id IN (SELECT id FROM trades WHERE setup_id = :setup_id)",
    "import_id": """id IN (SELECT id FROM trades WHERE import_id = :import_id
        UNION ALL SELECT trade_id FROM statements WHERE import_id = :import_id)""",
    "tag_id": "id IN (SELECT trade_id FROM trade_tags WHERE tag_id = :tag_id)",
    "symbol": """id IN (SELECT id FROM trades WHERE user_id = :user_id
        AND contract IN (SELECT value FROM json_each(:contracts)))""",
}
WITH_COSTS = "id IN (SELECT id FROM trades WHERE user_id = :user_id"
CHECKED = {
    "since": "trading_day >= :since",
    "until": "trading_day <= :until",
    "root": "root = :root",
    "direction": "direction = :direction",
    "grade": "grade = :grade",
}


def is_found(query: TradeSelection) -> bool:
    """Return whether an index finds the trades."""
    values = query.values()
    return any(values[name] is not None for name in (*FOUND, "fees_source"))


def filter_facts(query: TradeSelection) -> tuple[str, dict[str, object]]:
    """Return the CTEs `account` and `filtered` over the CTE `facts`, and their values but `:user_id`."""
    sent = {name: value for name, value in query.values().items() if value is not None}
    accounts = " AND ".join(["user_id = :user_id", *(ACCOUNTS[name] for name in ACCOUNTS if name in sent)])
    found = [f"facts.{FOUND[name]}" for name in FOUND if name in sent]
    checked = [f"facts.{CHECKED[name]}" for name in CHECKED if name in sent]
    if "fees_source" in sent:
        found.append(f"facts.{WITH_COSTS} AND {COSTS[str(sent['fees_source'])]})")
    tables = ("facts", "account") if found else ("account", "facts")
    statement = f"""
account (id, currency) AS MATERIALIZED (SELECT id, currency FROM accounts WHERE {accounts}),
filtered AS NOT MATERIALIZED (
    SELECT facts.*, currency
    FROM {tables[0]}
    CROSS JOIN {tables[1]} ON facts.account_id = account.id
    WHERE {" AND ".join([*found, *checked]) or "true"}
)"""
    contracts = json_list(list_contracts(query.symbol) if query.symbol else [])
    return statement, {**query.values(), "contracts": contracts}

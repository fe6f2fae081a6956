"""The triggers of one shape, made from one description: what is shown, what is searched, what goals read.

A line describes a table. `row.` is its row, the new or the old one; other names are of tables on a way.
The way `setups.setup_id, strategies.strategy_id` leads from a confirmation to the setup whose id is its
`setup_id`, and on to the strategy whose id is the `strategy_id` of the setup. Triggers that have no shape
in common with others are in schema.sql.
"""

import re
from collections.abc import Iterator, Sequence

from journal_api.metrics.outcomes import is_breakeven, is_loss, is_win

# A write to a row is a change of the object that shows it (/v1/changes).
SHOWN = """
table                | resource        | id             | way
tag_categories       | tag_categories  | row.id         |
tags                 | tags            | row.id         |
copy_groups          | copy_groups     | row.id         |
copy_group_members   | copy_groups     | copy_groups.id | copy_groups.copy_group_id
strategies           | strategies      | row.id         |
setups               | strategies      | strategies.id  | strategies.strategy_id
confirmations        | strategies      | strategies.id  | setups.setup_id, strategies.strategy_id
import_profiles      | import_profiles | row.id         |
instruments          | instruments     | row.root       |
imports              | imports         | row.id         |
accounts             | accounts        | row.id         |
account_rules        | accounts        | accounts.id    | accounts.account_id
account_fees         | accounts        | accounts.id    | accounts.account_id
cash_movements       | cash            | row.id         | accounts.account_id
checkpoints          | checkpoints     | row.id         | accounts.account_id
trades               | trades          | row.id         |
trade_tags           | trades          | trades.id      | trades.trade_id
confirmation_answers | trades          | trades.id      | trades.trade_id
pictures             | trades          | trades.id      | trades.trade_id
pictures             | days            | row.day        |
days                 | days            | row.date       |
day_tags             | days            | days.date      | days.day_id
goals                | goals           | row.id         |
api_keys             | keys            | row.id         |
"""
# A day is read by its date, whether anything is written on it or not, so it is never deleted.
NEVER_DELETED = {"days"}
# A revoked key is deleted for clients.
DELETED = {"api_keys": "row.revoked_at IS NOT NULL"}
# The columns that responses show of tables that have others: a read of a goal stores what it computes, and a calendar
# moves the days of all its trades (trades.update_trading_days records them together).
SHOWN_COLUMNS = {
    "trades": "account_id, symbol, direction, quantity, multiplier, entry_price, exit_price, stop_loss, opened_at,"
    " closed_at, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id, external_id, notes,"
    " import_id, updated_at, edited, typed, contract, root, fills, fees_source, merged, unlinked, mae, mfe",
    "goals": "goal_name, metric, target_value, direction, timeframe, custom_start, custom_end, account_id,"
    " copy_group_id, follows_selection, status, updated_at",
    "api_keys": "name, scopes, expires_at, revoked_at",
}

# A text is found as the object, at the time of a trade or a day, or else when the text was written first.
# Several texts of one object are parts of it.
SEARCHED = """
table                | resource   | id           | part                | at                    | title         | text
tags                 | tags       | row.id       | 0                   | row.created_at        | row.name      | NULL
goals                | goals      | row.id       | 0                   | row.created_at        | row.goal_name | NULL
strategies           | strategies | row.id       | 0                   | row.created_at        | row.name      | row.description
setups               | setups     | row.id       | 0                   | strategies.created_at | row.name      | row.description
trades               | trades     | row.id       | 0                   | row.opened_at         | NULL          | row.notes
confirmation_answers | trades     | row.trade_id | row.confirmation_id | trades.opened_at      | NULL          | row.notes
pictures             | trades     | row.trade_id | -row.id             | trades.opened_at      | NULL          | row.caption
pictures             | days       | row.id       | -1                  | row.day               | NULL          | iif(row.day IS NULL, NULL, row.caption)
days                 | days       | row.id       | 0                   | row.date              | NULL          | coalesce(row.plan || char(10, 10) || row.review, row.plan, row.review)
"""  # noqa: E501

# A write changes a day of an account for statistics and goals, if it changes one of these columns.
READ = """
table                | day                                   | columns
trades               | row.account_id, row.trading_day       | account_id, trading_day, opened_at, closed_at, gross_pnl, fees, initial_risk, grade, contract, root, direction, strategy_id, setup_id, source_trade_id, mae, mfe
trade_tags           | trades.account_id, trades.trading_day |
confirmation_answers | trades.account_id, trades.trading_day | was_present
cash_movements       | row.account_id, row.day               | kind, amount, day, outside
"""  # noqa: E501

# A write that changes all periods of those goals: the next read rebuilds their history.
# A balance is carried by goals that begin with it; a currency decides which amounts can be added.
GOALS = """
table              | event   | goals                                              | columns
goals              | changed | id = row.id                                        | metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection
users              | changed | user_id = row.id                                   | timezone, day_rollover, breakeven_within
users              | changed | user_id = row.id AND follows_selection             | active_account_id, active_copy_group_id
accounts           | new     | user_id = row.user_id AND carries_balance          |
accounts           | changed | user_id = row.user_id                              | timezone, day_rollover, currency
accounts           | changed | user_id = row.user_id AND carries_balance          | starting_balance
accounts           | deleted | user_id = row.user_id                              |
copy_group_members | new     | (group)                                            |
copy_group_members | changed | (group)                                            | copy_group_id
copy_group_members | deleted | (group)                                            |
"""  # noqa: E501
GROUP = (
    "copy_group_id = row.copy_group_id OR (follows_selection"
    " AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = row.copy_group_id))"
)

# Which new rows are recorded, if not all. Who inserts trades of imports records them together
# (new_trades.record_imported).
# Only tags of mistakes are read; every deletion is recorded, because a deleted tag has no type any more.
RECORDED = {
    **dict.fromkeys(("record_new_trades", "day_of_new_trades"), "row.import_id IS NULL"),
    "day_of_new_trade_tags": "EXISTS (SELECT 1 FROM tags WHERE id = row.tag_id AND type = 'mistake')",
}

# Rows that another object may show after a change.
MOVING = {"copy_group_members", "pictures"}
OUTCOME = f"""CASE WHEN {is_win("row.net_pnl", "breakeven_within")} THEN 'win'
    WHEN {is_loss("row.net_pnl", "breakeven_within")} THEN 'loss'
    WHEN {is_breakeven("row.net_pnl", "breakeven_within")} THEN 'breakeven' ELSE 'open' END"""
# The keys of trade_counts, by which lists of trades are filtered, and the columns that each is made of.
KINDS = f"""row.user_id, row.account_id, row.contract, row.root, row.direction,
    {OUTCOME} AS outcome,
    coalesce(row.grade, '') AS grade, coalesce(row.strategy_id, 0) AS strategy_id,
    coalesce(row.setup_id, 0) AS setup_id"""
COUNTED = "account_id, contract, root, direction, gross_pnl, fees, grade, strategy_id, setup_id"

# Whose row a trigger of an event is about.
EVENTS = {"new": ("INSERT", "new"), "changed": ("UPDATE", "new"), "deleted": ("DELETE", "old")}
Way = list[list[str]]  # tables, each with the column that has the id of its row


def list_statements() -> Iterator[str]:
    """Yield the statements that make the triggers, and the view of what they count."""
    for table, resource, object_id, way in parse(SHOWN):
        yield from record_object(table, resource, object_id, split_way(way))
    for table, resource, *cells in parse(SEARCHED):
        yield from keep_text(table, resource, *cells)
    for table, day, columns in parse(READ):
        yield from record_day(table, day, columns)
    for table, event, goals, columns in parse(GOALS):
        yield rebuild_goals(table, event, goals.replace("(group)", GROUP), columns)
    yield from keep_counts()


def list_fills() -> Iterator[str]:
    """Yield the statements that write what the triggers keep, for rows that were written without them."""
    yield "INSERT INTO trade_counts SELECT * FROM counted_trades"
    yield f"INSERT INTO found_texts {select_texts()}"


def select_texts() -> str:
    """Return the SELECT of what the search finds of all rows, with nulls for a row without a text."""
    selects = []
    for table, resource, *cells in parse(SEARCHED):
        way = find_way(table, " ".join(cells))
        joins = "".join(f" JOIN {parent} ON {parent}.id = row.{key}" for parent, key in way)
        selects.append(of(table, f"SELECT {list_cells(resource, way, cells)} FROM {table}{joins}"))
    return "\nUNION ALL ".join(selects)


def select_wrong_objects() -> str:
    """Return the SELECT of recorded objects that are there but recorded as deleted, or the reverse."""
    selects = []
    for table, resource, object_id, way in parse(SHOWN):
        if object_id.startswith("row.") and resource not in NEVER_DELETED:
            owned = "" if way else " AND row.user_id = object.user_id"
            found = f"SELECT {DELETED.get(table, 0)} FROM {table} WHERE {object_id} = object.id{owned}"
            selects.append(
                "SELECT resource, id FROM changed_objects AS object"
                f" WHERE resource = '{resource}' AND deleted <> coalesce(({of(table, found)}), 1)"
            )
    return "\nUNION ALL ".join(selects)


def record_object(table: str, resource: str, object_id: str, way: Way) -> Iterator[str]:
    """Yield the triggers that record a change of the object that shows a row."""
    owner, key = (way[-1][0], way[0][1]) if way else ("row", object_id.removeprefix("row."))
    is_own = object_id.startswith("row.") and resource not in NEVER_DELETED
    for event in EVENTS:
        deleted = int(is_own) if event == "deleted" else DELETED.get(table, "0")
        cells = f"{owner}.user_id, '{resource}', {object_id}, {deleted}"
        record = f"INSERT INTO record_object SELECT {cells}{follow(way)}"
        moved = f"{of('old', record)} {'AND' if way else 'WHERE'} old.{key} IS NOT new.{key}"
        body = [record, moved] if event == "changed" and table in MOVING else [record]
        yield make(name("record", event, table, resource), event, table, body, SHOWN_COLUMNS.get(table, ""))


def keep_text(table: str, resource: str, *cells: str) -> Iterator[str]:
    """Yield the triggers that keep what the search finds of a row; of no text it finds nothing."""
    object_id, part, _, title, text = cells
    way = find_way(table, " ".join(cells))
    columns = ", ".join(sorted({*re.findall(r"row\.(\w+)", f"{object_id} {title} {text}")} - {"id"}))
    condition = f"coalesce({title}, {text}) IS NOT NULL"
    insert = f"INSERT INTO found_texts SELECT {list_cells(resource, way, cells)}{follow(way)}"
    delete = f"DELETE FROM search_documents WHERE (resource, row_id, part) = ('{resource}', {object_id}, {part})"
    change = [of("old", delete), insert] if table in MOVING else [insert]
    yield make(name("search", "new", table, resource), "new", table, [insert], "", condition)
    yield make(name("search", "changed", table, resource), "changed", table, change, columns, differ(columns))
    yield make(name("search", "deleted", table, resource), "deleted", table, [delete], "", condition)


def record_day(table: str, day: str, columns: str) -> Iterator[str]:
    """Yield the triggers that record the day of a row for statistics and goals."""
    way = find_way(table, day)
    record = f"INSERT INTO record_change SELECT {day}{follow(way)}"
    moved = f"{of('new', record)} WHERE ({of('old', day)}) IS NOT ({of('new', day)})"
    change = [record] if way else [of("old", record), moved]
    yield make(name("day_of", "new", table), "new", table, [record])
    if columns:
        written = columns.replace("trading_day", "updated_at")  # a day alone moves with its calendar
        yield make(name("day_of", "changed", table), "changed", table, change, written, differ(columns))
    yield make(name("day_of", "deleted", table), "deleted", table, [record])


def rebuild_goals(table: str, event: str, goals: str, columns: str) -> str:
    """Return the trigger that lets the histories of the goals be rebuilt."""
    names = columns.split(", ")
    rows = ("old", "new") if any(f"row.{column}" in goals for column in names if column) else ("row",)
    body = [of(row, f"UPDATE goals SET change_cursor = NULL WHERE {goals}") for row in rows]
    named = name("goals_of", names[0] or event, table)
    return make(named, event, table, body, columns, differ(columns) if columns else "")


def keep_counts() -> Iterator[str]:
    """Yield the view of the numbers of trades as they should be, and the triggers that keep them."""
    yield of(
        "trades",
        f"CREATE VIEW counted_trades AS SELECT {KINDS}, count(*) AS trades\nFROM trades"
        "\nJOIN users ON users.id = trades.user_id\nGROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9",
    )
    add, remove = (
        f"INSERT INTO trade_counts SELECT {KINDS}, {one} FROM users WHERE users.id = row.user_id"
        f" ON CONFLICT DO UPDATE SET trades = trades + {one}"
        for one in (1, -1)
    )
    change = [of("old", remove), of("new", add)]
    yield make("count_new_trades", "new", "trades", [add])
    yield make("count_changed_trades", "changed", "trades", change, COUNTED, differ(COUNTED))
    yield make("count_deleted_trades", "deleted", "trades", [remove])


def make(name: str, event: str, table: str, body: list[str], columns: str = "", condition: str = "") -> str:
    """Return the statement that makes a trigger; `columns` are the columns of an update."""
    kind, row = EVENTS[event]
    condition = RECORDED.get(name, condition)
    of_columns = f" OF {columns}" if columns and event == "changed" else ""
    when = f"\nWHEN {condition}" if condition else ""
    statements = ";\n  ".join(body)
    sql = f"CREATE TRIGGER {name} AFTER {kind}{of_columns} ON {table}{when}\nBEGIN\n  {statements};\nEND"
    return of(row, sql)


def name(prefix: str, event: str, table: str, resource: str = "") -> str:
    return f"{prefix}_{event}_{table}" + (f"_in_{resource}" if resource not in ("", table) else "")


def list_cells(resource: str, way: Way, cells: Sequence[str]) -> str:
    owner = way[-1][0] if way else "row"
    object_id, *others = cells
    return ", ".join([f"{owner}.user_id", f"'{resource}'", object_id, *others])


def of(row: str, sql: str) -> str:
    """Return SQL about that row."""
    return sql.replace("row.", f"{row}.")


def differ(columns: str) -> str:
    old, new = (", ".join(f"{row}.{column}" for column in columns.split(", ")) for row in ("old", "new"))
    return f"({old}) IS NOT ({new})"


def follow(way: Way) -> str:
    """Return the FROM and WHERE that lead from a row to the end of its way."""
    if not way:
        return ""
    (first, key), *others = way
    joins = "".join(f" JOIN {table} ON {table}.id = {column}" for table, column in others)
    return f" FROM {first}{joins} WHERE {first}.id = row.{key}"


def find_way(table: str, expressions: str) -> Way:
    """Return the way from a table to one that the expressions name, none for the row itself."""
    ways = [split_way(way) for shown, *_, way in parse(SHOWN) if shown == table and way]
    return next((way for way in ways if f"{way[-1][0]}." in expressions), [])


def split_way(way: str) -> Way:
    return [step.split(".") for step in way.split(", ") if step]


def parse(description: str) -> list[list[str]]:
    """Return the cells of each line below the titles."""
    _, *lines = description.strip().splitlines()
    return [re.split(r" +\|(?: +|$)", line) for line in lines]

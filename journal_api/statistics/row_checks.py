"""SQL that `journal-api check` runs: the ids of rows for which stored columns disagree."""

from journal_api.database.triggers import select_texts, select_wrong_objects
from journal_api.statistics.trade_facts import FACTS

# Trades whose columns are not what follows from their fills: times, fees, and whether a position is left.
# Sums of JSON numbers are rounded, so they are compared with a tolerance.
WRONG_FILLS = """
    WITH
    newest AS MATERIALIZED (
        SELECT id, direction, opened_at, closed_at, fees / 1e8 AS fees, fills
        FROM trades
        WHERE fills IS NOT NULL
        ORDER BY id DESC
        LIMIT :most),
    summed AS (
        SELECT newest.*, min(fill.value ->> '$.at') AS first_at, max(fill.value ->> '$.at') AS last_at,
            sum(fill.value ->> '$.fees') AS fill_fees,
            sum(iif((fill.value ->> '$.side' = 'buy') = (direction = 'long'), 1, -1)
                * (fill.value ->> '$.quantity')) AS size
        FROM newest
        JOIN json_each(fills) AS fill
        GROUP BY newest.id)
    SELECT id
    FROM summed
    WHERE first_at <> opened_at
       OR (closed_at IS NOT NULL AND last_at <> closed_at)
       OR abs(fill_fees - fees) > 1e-6 * (1 + abs(fees))
       OR iif(closed_at IS NULL, size <= 1e-9, abs(size) > 1e-6)
    ORDER BY id"""
# Trades whose stored facts are not what their rows say, on days without a newer change.
WRONG_FACTS = f"""
    WITH
    newest (id) AS (
        SELECT id FROM (SELECT id FROM trades ORDER BY id DESC LIMIT :most)
        UNION
        SELECT id FROM (SELECT id FROM trade_facts ORDER BY id DESC LIMIT :most)
    ),
    stale (account_id, trading_day) AS (
        SELECT changed_days.account_id, trading_day
        FROM users
        JOIN accounts ON user_id = users.id
        JOIN changed_days ON changed_days.account_id = accounts.id AND sequence > facts_cursor
        UNION
        SELECT trades.account_id, trades.trading_day
        FROM users
        JOIN changed_days ON changed_days.setup_id IS NOT NULL AND sequence > facts_cursor
        JOIN trades ON trades.setup_id = changed_days.setup_id
    ),
    day (account_id, trading_day) AS MATERIALIZED (
        SELECT account_id, trading_day FROM trades WHERE id IN newest AND trading_day IS NOT NULL
        UNION
        SELECT account_id, trading_day FROM trade_facts WHERE id IN newest
        EXCEPT
        SELECT account_id, trading_day FROM stale
    ),
    current AS MATERIALIZED ({FACTS}),
    stored AS MATERIALIZED (
        SELECT trade_facts.* FROM day CROSS JOIN trade_facts USING (account_id, trading_day)
    )
    SELECT DISTINCT id
    FROM (SELECT * FROM (SELECT * FROM current EXCEPT SELECT * FROM stored)
          UNION ALL
          SELECT * FROM (SELECT * FROM stored EXCEPT SELECT * FROM current))
    ORDER BY id"""
# The newest trade of each account and contract whose kept numbers are wrong, 0 without trades.
WRONG_COUNTS = """
    WITH
    wrong AS (
        SELECT account_id, contract FROM (SELECT * FROM counted_trades EXCEPT SELECT * FROM trade_counts)
        UNION
        SELECT account_id, contract FROM (SELECT * FROM trade_counts EXCEPT SELECT * FROM counted_trades)
    )
    SELECT coalesce(max(trades.id), 0)
    FROM wrong
    LEFT JOIN trades USING (account_id, contract)
    GROUP BY account_id, contract
    ORDER BY 1"""
# Trades whose stored day is not the one in the calendar of their account.
WRONG_DAYS = """
    SELECT id
    FROM (SELECT id, account_id, closed_at, trading_day FROM trades ORDER BY id DESC LIMIT :most)
    JOIN calendars USING (account_id)
    WHERE trading_day <> trading_day(closed_at, timezone, day_rollover)
    ORDER BY id"""
# Days with trades that are not recorded: the lists of days look for their days there.
WRONG_CHANGES = """
    SELECT trading_day || ' of account ' || account_id
    FROM (SELECT account_id, trading_day FROM trades WHERE trading_day IS NOT NULL
          EXCEPT
          SELECT account_id, trading_day FROM changed_days)
    ORDER BY 1"""
WRONG_OBJECTS = f"SELECT resource || ' ' || id FROM ({select_wrong_objects()}) ORDER BY 1"
# Objects of whose texts the search has others, or none, or some that are gone.
WRONG_SEARCH = f"""
    WITH
    written (user_id, resource, row_id, part, at, title, text) AS ({select_texts()}),
    expected AS (SELECT * FROM written WHERE coalesce(title, text) IS NOT NULL)
    SELECT resource || ' ' || row_id
    FROM expected
    LEFT JOIN search_documents AS stored USING (resource, row_id, part)
    WHERE (stored.user_id, stored.at, stored.title, stored.text)
        IS NOT (expected.user_id, expected.at, expected.title, expected.text)
    UNION
    SELECT resource || ' ' || row_id
    FROM (SELECT resource, row_id, part FROM search_documents
          EXCEPT
          SELECT resource, row_id, part FROM expected)
    ORDER BY 1"""
# Contents of pictures that are not whole. SQLite knows the length of a blob without reading it.
WRONG_PICTURES = """
    SELECT id
    FROM picture_contents AS content
    WHERE bytes <> (SELECT total(length(bytes)) FROM picture_parts WHERE content_id = content.id)
    ORDER BY id"""
# What is compared with what, and the statement that selects the ids of what is wrong.
CHECKS = {
    ("fills", "trades"): WRONG_FILLS,
    ("facts", "trades"): WRONG_FACTS,
    ("counts", "trades"): WRONG_COUNTS,
    ("days", "trades"): WRONG_DAYS,
    ("changes", "days"): WRONG_CHANGES,
    ("objects", "rows"): WRONG_OBJECTS,
    ("search", "texts"): WRONG_SEARCH,
    ("pictures", "contents"): WRONG_PICTURES,
}

"""SQL of the search in texts and names. Triggers keep the rows of `search_documents` and their index."""

from collections.abc import Sequence

from msgspec import json

from journal_api.database.database import Database
from journal_api.database.sql import json_list
from journal_api.rules.search import BEGIN, END, MAX_LENGTH, SearchTerms, split_marks
from journal_api.structs.search import Mark, SearchQuery, SearchResource, SearchResult

BY_WORDS = """search_index
    CROSS JOIN search_documents AS document ON document.id = search_index.rowid
    WHERE search_index MATCH :match AND +user_id = :user_id"""
ALL = "search_documents AS document WHERE user_id = :user_id"
WITHOUT_WORDS = "document.id NOT IN (SELECT rowid FROM search_index WHERE search_index MATCH :exclude)"
TAGS_OF_IT = """
    SELECT sort_name
    FROM tags
    WHERE tags.id IN (SELECT tag_id FROM trade_tags WHERE resource = 'trades' AND trade_id = row_id
                      UNION ALL
                      SELECT tag_id
                      FROM days
                      JOIN day_tags ON day_id = days.id
                      WHERE resource = 'days' AND days.user_id = :user_id AND date = at)"""
HAS_SYMBOL = """EXISTS (
    SELECT 1
    FROM trades
    WHERE resource = 'trades'
      AND trades.id = row_id
      AND (contract IN (SELECT value FROM json_each({symbols}))
           OR root IN (SELECT value FROM json_each({symbols}))))"""
# The condition of each kind of terms.
CONDITIONS = {
    "exclude": WITHOUT_WORDS,
    "tags": f"NOT EXISTS (SELECT value FROM json_each(:tags) EXCEPT {TAGS_OF_IT})",
    "without_tags": f"NOT EXISTS (SELECT value FROM json_each(:without_tags) INTERSECT {TAGS_OF_IT})",
    "symbols": HAS_SYMBOL.format(symbols=":symbols"),
    "without_symbols": f"NOT {HAS_SYMBOL.format(symbols=':without_symbols')}",
}
TITLE = """CASE resource
    WHEN 'trades' THEN (
        SELECT symbol || ' ' || direction || ' ' || coalesce(trading_day, 'open')
        FROM trades
        WHERE trades.id = row_id)
        || iif(part < 0, ': picture', coalesce(': ' || (SELECT name FROM confirmations WHERE id = part), ''))
    WHEN 'days' THEN at || iif(part < 0, ': picture', '')
    ELSE title END"""
# A caption of a day is in a row of its own, and the day perhaps in none.
ID = "iif(resource = 'days', (SELECT id FROM days WHERE user_id = :user_id AND date = at), row_id)"
PATH = """'/v1/' || CASE resource
    WHEN 'days' THEN 'days/' || at
    WHEN 'setups' THEN 'strategies/' || (SELECT strategy_id FROM setups WHERE setups.id = row_id)
    ELSE resource || '/' || row_id END"""
# Names first, then the newest. The ids of documents say when a text was indexed, so they order nothing.
IN_ORDER = "is_text, at DESC, resource, row_id DESC, part DESC"
# Every text that matches is looked at once for the excerpts: the + keeps SQLite from one search for each.
EXCERPTS = f"""
    SELECT rowid AS id, snippet(search_index, -1, '{BEGIN}', '{END}', '…', 24) AS excerpt
    FROM search_index
    WHERE search_index MATCH :match AND +rowid IN (SELECT id FROM page)"""
BEGINNINGS = f"""
    SELECT id, substr(coalesce(text, title), 1, {MAX_LENGTH}) AS excerpt
    FROM page
    JOIN search_documents USING (id)"""


async def list_of_user(
    database: Database, user_id: int, resources: Sequence[str], terms: SearchTerms, query: SearchQuery
) -> tuple[str, int]:
    """Return one page of the results as a JSON array, and their number: names first, then the newest. Raises Busy."""
    if terms.is_empty or not resources:
        return "[]", 0
    sent = terms._asdict()
    conditions = [CONDITIONS[name] for name in CONDITIONS if sent[name]]
    statement = f"""
        WITH
        found AS MATERIALIZED (
            SELECT document.id, document.title IS NULL AS is_text, at, resource, row_id, part
            FROM {BY_WORDS if terms.match else ALL}
              AND resource IN (SELECT value FROM json_each(:resources))
              {" ".join(f"AND {condition}" for condition in conditions)}
        ),
        page AS MATERIALIZED (
            SELECT id, is_text FROM found ORDER BY {IN_ORDER} LIMIT :limit OFFSET :offset
        ),
        excerpts AS MATERIALIZED ({EXCERPTS if terms.match else BEGINNINGS})
        SELECT (SELECT count(*) FROM found), resource, {ID}, {PATH}, {TITLE}, excerpt
        FROM (SELECT 1)
        LEFT JOIN (page JOIN search_documents USING (id) JOIN excerpts USING (id))
        ORDER BY {IN_ORDER}
        """
    values = {
        **{name: value if isinstance(value, str) else json_list(value) for name, value in sent.items()},
        "user_id": user_id,
        "resources": json_list(resources),
        "limit": query.limit,
        "offset": query.offset,
    }
    async with database.search_transaction(user_id) as db:
        rows = list(await db.execute_fetchall(statement, values))
    ((total, *_), *_) = rows
    # A page beyond the end has one row, without a result.
    return json.encode([build_result(*row[1:]) for row in rows if row[1] is not None]).decode(), total


def build_result(resource: SearchResource, row_id: int | None, path: str, title: str, marked: str) -> SearchResult:
    excerpt, found = split_marks(marked)
    marks = [Mark(start=start, end=end) for start, end in found]
    return SearchResult(resource=resource, id=row_id, path=path, title=title, excerpt=excerpt, marks=marks)

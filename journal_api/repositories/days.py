"""SQL of days: what the owner wrote, beside the numbers of the trades that closed on them.

A list and a day are one statement. The trades are summed by the statements of reports, so a decision counts
on each day on which any of its trades closed, as in a report by day.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from aiosqlite import Connection
from msgspec import Struct, json

from journal_api.database import sql
from journal_api.errors import NotFound
from journal_api.metrics.outcomes import is_loss, is_win
from journal_api.repositories import tags
from journal_api.repositories.pictures import OF_DAY
from journal_api.repositories.snapshots import DAY_GOALS
from journal_api.statistics.fact_filters import ACCOUNTS
from journal_api.statistics.selection import COLUMNS, Selection, with_sums_in_range
from journal_api.statistics.trade_facts import build_for_sources, read_source
from journal_api.structs.days import DayListItem, DayNumbers, DayPatch, DayQuery, DaysQuery, DaySum, JournalDay
from journal_api.values.clock import now, now_after
from journal_api.values.money import OUT_OF_RANGE, from_units
from journal_api.values.periods import Period

# Every day with a trade is recorded as a change, so that no list looks through all trades for their days.
ALL = """
dates (date) AS MATERIALIZED (
    SELECT changed_days.trading_day
    FROM account
    CROSS JOIN changed_days ON changed_days.account_id = account.id
    WHERE changed_days.trading_day BETWEEN :since AND :until
      AND EXISTS (SELECT 1
                  FROM trades
                  WHERE trades.account_id = account.id AND trades.trading_day = changed_days.trading_day)
    UNION
    SELECT date FROM days WHERE user_id = :user_id AND date BETWEEN :since AND :until
    UNION
    SELECT day FROM pictures WHERE user_id = :user_id AND day BETWEEN :since AND :until
),
listed (date) AS MATERIALIZED (SELECT date FROM dates ORDER BY date DESC LIMIT :limit OFFSET :offset)"""
ONE = "listed (date) AS MATERIALIZED (SELECT :date)"
TRADES = build_for_sources(f"""
    SELECT listed.date AS part, currency, {COLUMNS}
    FROM listed
    CROSS JOIN account
    CROSS JOIN {{table}} AS facts ON facts.account_id = account.id AND facts.trading_day = listed.date
    WHERE {{condition}}""")
IS_ONE_CURRENCY = "min(first_currency) = max(last_currency)"
NUMBERS = f"""
    SELECT part,
        iif({IS_ONE_CURRENCY}, min(first_currency), NULL) AS currency,
        iif({IS_ONE_CURRENCY}, nullif(sum(net_pnl), '{OUT_OF_RANGE}'), NULL) AS net_pnl,
        count(*) AS trade_count,
        count(*) FILTER (WHERE {is_win("pnl", "within")}) AS wins,
        count(*) FILTER (WHERE {is_loss("pnl", "within")}) AS losses
    FROM decisions
    CROSS JOIN (SELECT breakeven_within AS within FROM users WHERE id = :user_id)
    GROUP BY part"""
SUM_OF_CURRENCY = sql.build_object(DaySum)
# Another look at the trades, only for accounts in several currencies.
SUMS = f"""
    SELECT part AS day, '[' || group_concat({SUM_OF_CURRENCY}) || ']' AS sums
    FROM (SELECT part, currency, nullif(sum(net_pnl), '{OUT_OF_RANGE}') AS net_pnl
          FROM selected
          WHERE (SELECT min(currency) < max(currency) FROM account)
          GROUP BY part, currency
          ORDER BY part, currency)
    GROUP BY part"""
ROWS = f"""
    FROM listed
    LEFT JOIN ({NUMBERS}) AS numbers ON part = listed.date
    LEFT JOIN ({SUMS}) AS by_currency ON by_currency.day = listed.date
    LEFT JOIN days ON days.user_id = :user_id AND days.date = listed.date"""
ONE_SUM = f"'[' || {SUM_OF_CURRENCY} || ']'"
EXPRESSIONS = {
    "date": "listed.date",
    "net_pnl": "iif(part IS NULL, 0, net_pnl)",
    "sums": f"iif(part IS NULL, '[]', coalesce(by_currency.sums, {ONE_SUM}))",
    **{name: f"coalesce({name}, 0)" for name in ("trade_count", "wins", "losses")},
    "has_text": "coalesce(plan, review) IS NOT NULL",
    "tag_ids": tags.select_ids("day_tags", "day_id = days.id"),
    "picture_count": "(SELECT count(*) FROM pictures WHERE user_id = :user_id AND day = listed.date)",
}
DAY = sql.build_object(
    JournalDay,
    **EXPRESSIONS,
    id="days.id",
    tags=tags.select_tags("day_tags", "day_id = days.id"),
    pictures=OF_DAY,
    goals=DAY_GOALS,
)


def build_page(item: str) -> str:
    return sql.build_json_array("item", f"SELECT {item} AS item {ROWS} ORDER BY listed.date DESC")


PAGE = build_page(sql.build_object(DayNumbers, **EXPRESSIONS))
PAGE_WITH_TEXT = build_page(sql.build_object(DayListItem, **EXPRESSIONS, pictures=OF_DAY))


async def select_trades(db: Connection, query: DayQuery, dates: str, values: Mapping[str, Any]) -> Selection:
    """Return the trades of the days that the CTE `listed` of `dates` has, in the accounts of the query."""
    scope = {"account_id": query.account_id, "copy_group_id": query.copy_group_id}
    sent = [ACCOUNTS[name] for name in scope if scope[name] is not None]
    account = f"""
account (id, currency) AS MATERIALIZED (
    SELECT id, currency FROM accounts WHERE {" AND ".join(["user_id = :user_id", *sent])}
)"""
    facts = await read_source(db, values["user_id"])
    return Selection(f"{facts},{account},{dates}", TRADES[facts], {**scope, **values}, by_trade=True)


async def list_of_user(db: Connection, user_id: int, query: DaysQuery) -> tuple[str, int]:
    """Return one page of the days, newest first, as a JSON array, and their number."""
    values = {
        "user_id": user_id,
        "since": str(query.since or ""),
        "until": str(query.until or "9999-12-31"),
        "limit": query.limit,
        "offset": query.offset,
    }

    async def read(selection: Selection) -> tuple[str, int]:
        days = PAGE_WITH_TEXT if query.parts else PAGE
        statement = selection.build(f"SELECT ({days}), (SELECT count(*) FROM dates)")
        ((text, total),) = await db.execute_fetchall(statement, selection.values)
        return text, total

    return await with_sums_in_range(await select_trades(db, query, ALL, values), read)


async def get(db: Connection, user_id: int, date: str, query: DayQuery) -> str:
    """Return the day as JSON; a day without anything is one too. Raises NotFound for no day at all."""
    if not date:
        raise NotFound

    async def read(selection: Selection) -> str:
        return await sql.fetch_json(db, selection.build(f"SELECT {DAY} {ROWS}"), selection.values)

    selection = await select_trades(db, query, ONE, {"user_id": user_id, "date": date})
    return await with_sums_in_range(selection, read)


async def find(db: Connection, user_id: int, date: str) -> JournalDay:
    return json.decode(await get(db, user_id, date, DayQuery()), type=JournalDay)


async def update(db: Connection, user_id: int, stored: JournalDay, patch: DayPatch) -> None:
    """Write the members that differ. A day with nothing written afterwards has no row."""
    changed = sql.find_changed(stored, patch)
    tag_ids = changed.pop("tag_ids", None)
    if not changed and (tag_ids is None or set(tag_ids) == set(stored.tag_ids)):
        return
    day_id = await write_row(db, user_id, stored, changed)
    if tag_ids is not None:
        await tags.replace_links(db, "day_tags", "day_id", day_id, tag_ids)
    await db.execute_fetchall(
        """
        DELETE FROM days
        WHERE id = :id
          AND coalesce(plan, review, rating) IS NULL
          AND NOT EXISTS (SELECT 1 FROM day_tags WHERE day_id = :id)
        """,
        {"id": day_id},
    )


async def write_row(db: Connection, user_id: int, stored: JournalDay, changed: Mapping[str, Any]) -> int:
    """Write the columns of a day, whether it has a row or not, and return the id of the row."""
    at = now_after(stored.updated_at) if stored.updated_at else now()
    columns = {**changed, "user_id": user_id, "date": stored.date, "created_at": at, "updated_at": at}
    upsert = sql.build_upsert("days", columns, [*changed, "updated_at"])
    return int(await sql.fetch(db, f"{upsert} RETURNING id", columns))


async def delete(db: Connection, user_id: int, date: str) -> None:
    """Delete what was written on the day and its pictures, never trades. NotFound if it has neither."""
    values = {"user_id": user_id, "date": date}
    deleted = [
        *await db.execute_fetchall("DELETE FROM days WHERE user_id = :user_id AND date = :date RETURNING id", values),
        *await db.execute_fetchall(
            "DELETE FROM pictures WHERE user_id = :user_id AND day = :date RETURNING id", values
        ),
    ]
    if not deleted:
        raise NotFound


class DailyTotal(Struct, frozen=True):
    day: date
    currency: str
    trades: int
    net_pnl: Decimal


async def list_totals(db: Connection, user_id: int, period: Period) -> list[DailyTotal]:
    """Return the totals of the days with a closed trade, oldest first."""
    rows = await db.execute_fetchall(
        """
        SELECT trading_day, currency, count(*), sum_of_integers(net_pnl)
        FROM accounts
        CROSS JOIN trades ON trades.account_id = accounts.id
        WHERE accounts.user_id = :user_id
          AND trading_day BETWEEN :first AND :last
        GROUP BY trading_day, currency
        ORDER BY trading_day, currency
        """,
        {"user_id": user_id, "first": period.start.isoformat(), "last": period.end.isoformat()},
    )
    return [
        DailyTotal(date.fromisoformat(day), currency, trades, from_units(int(net_pnl)))
        for day, currency, trades, net_pnl in rows
    ]

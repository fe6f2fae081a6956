"""Groupings of reports: one entry each, of which queries, SQL, names, order and the command line are made.

`sql` is the key of a trade's group, over its facts. A decision counts in the group of its representative
trade; with `by_trade` in the group of each of its trades. Two groupings combine into one of pairs of keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from journal_api.metrics.earlier_decisions import AFTER, NTH, PAUSES, Decision, group_after, group_nth, group_pause

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# The ranges of holding times: the upper bound, which is exclusive, and the name.
HOLDING_TIMES = {
    "under_1m": (timedelta(minutes=1), "under 1 min"),
    "1m_5m": (timedelta(minutes=5), "1 to 5 min"),
    "5m_15m": (timedelta(minutes=15), "5 to 15 min"),
    "15m_1h": (timedelta(hours=1), "15 min to 1 h"),
    "1h_4h": (timedelta(hours=4), "1 to 4 h"),
    "4h_1d": (timedelta(days=1), "4 h to 1 day"),
    "over_1d": (timedelta.max, "1 day and more"),
}
HOLDING = " ".join(f"WHEN held < {bound.total_seconds():.0f} THEN '{key}'" for key, (bound, _) in HOLDING_TIMES.items())
RULES = {
    "followed": "Rules followed",
    "broken": "Rules broken",
    "unanswered": "Not fully answered",
    "no_checklist": "No checklist",
}
# A decision has the tags and the mistakes of all its selected trades.
TAGS = """
SELECT decision, json_group_array(tag_id)
FROM (SELECT DISTINCT decision, tag_id
      FROM filtered
      CROSS JOIN trade_tags ON trade_id = filtered.id
      {condition}
      ORDER BY decision, tag_id)
GROUP BY decision"""
# A table with a key: in a CTE of which SQLite expects few rows, it would read all rows for each decision.
PLACED = "(SELECT part FROM temp.placed_{key} WHERE placed_{key}.decision = facts.decision)"
OF_CATEGORY = "WHERE +tag_id IN (SELECT id FROM tags WHERE category_id = :category_id)"
# What the owner wrote on the trading day of a trade.
DAY_RATING = "(SELECT rating FROM days WHERE days.user_id = :user_id AND date = facts.trading_day)"
DAY_TAGS = """(
        SELECT nullif(json_group_array(tag_id), '[]')
        FROM (SELECT tag_id
              FROM days
              CROSS JOIN day_tags ON day_id = days.id
              WHERE days.user_id = :user_id AND date = facts.trading_day
              ORDER BY tag_id))"""
MISTAKEN = ", mistaken AS MATERIALIZED (SELECT DISTINCT decision FROM filtered WHERE is_mistake)"
IN_IDS = "IN (SELECT value FROM json_each(:ids))"
OF_SETUP = f"""
        SELECT setups.id, setups.name, NULL, NULL, strategy_id, strategies.name
        FROM setups
        JOIN strategies ON strategies.id = strategy_id
        WHERE setups.id {IN_IDS}"""
OF_CONFIRMATION = f"""
        SELECT confirmations.id, confirmations.name, setup_id, setups.name, strategy_id, strategies.name
        FROM confirmations
        JOIN setups ON setups.id = setup_id
        JOIN strategies ON strategies.id = strategy_id
        WHERE confirmations.id {IN_IDS}"""


class Grouping(NamedTuple):
    title: str
    sql: str
    by_trade: bool = False
    is_ordered: bool = False  # by its keys, all others by a metric
    is_number: bool = False  # SQL returns some numbers as text
    is_list: bool = False  # the key is a JSON array: a decision counts in the group of each
    names: Mapping[Any, str] | None = None  # in their order
    name: Callable[[Any], str] = str
    ctes: str = ""
    ids: str = ""  # the names of groups whose keys are ids
    compares: Literal["answers", "others", "broken"] | None = None
    placed: str = ""  # the statement of the decisions and their groups, which are stored first
    # The same of each decision of a day, by what happened before it.
    place_day: Callable[[Sequence[Decision]], Iterator[tuple[int, str | int]]] | None = None
    # With two keys of which one is by trade, that key: it splits decisions, whose parts count by themselves.
    split: str = ""

    @property
    def splits(self) -> bool:
        """Whether the trades of a decision may be in different groups."""
        return self.by_trade or bool(self.split)

    @property
    def is_several(self) -> bool:
        """Whether a decision may be in several groups."""
        return self.is_list or self.compares == "answers"


def list_names(bounds: Mapping[str, tuple[timedelta, str]]) -> dict[Any, str]:
    return {key: name for key, (_, name) in bounds.items()}


Tags = partial(Grouping, ids=f"SELECT id, name FROM tags WHERE id {IN_IDS}", is_list=True, compares="others")
Period = partial(Grouping, by_trade=True, is_ordered=True)
Earlier = partial(Grouping, is_ordered=True)

GROUPINGS = {
    "none": Grouping("Nothing", "NULL", by_trade=True),
    "strategy": Grouping(
        "Strategy", "strategy_id", is_number=True, ids=f"SELECT id, name FROM strategies WHERE id {IN_IDS}"
    ),
    "setup": Grouping("Setup", "setup_id", is_number=True, ids=OF_SETUP),
    "confirmation": Grouping("Confirmation", "setup_id || ' ' || answers", ids=OF_CONFIRMATION, compares="answers"),
    "rules": Grouping(
        "Rules",
        """CASE WHEN decision IN (SELECT decision FROM mistaken) THEN 'broken'
        WHEN checklist IS NULL THEN 'no_checklist'
        WHEN checklist THEN 'followed'
        WHEN instr(answers, '-') THEN 'broken' ELSE 'unanswered' END""",
        is_ordered=True,
        names=RULES,
        ctes=MISTAKEN,
        compares="broken",
    ),
    "tag": Tags("Tag", PLACED.format(key="tag"), placed=TAGS.format(condition="")),
    "category": Tags("Category", PLACED.format(key="category"), placed=TAGS.format(condition=OF_CATEGORY)),
    "symbol": Grouping("Symbol", "contract"),  # one group for a contract, however files write it
    "root": Grouping("Contract root", "root"),
    "direction": Grouping("Side", "direction"),
    "grade": Grouping("Grade", "grade"),
    "after": Earlier("After win or loss", PLACED.format(key="after"), names=AFTER, place_day=group_after),
    "nth": Earlier("Nth of the day", PLACED.format(key="nth"), is_number=True, names=NTH, place_day=group_nth),
    "pause": Earlier(
        "Pause",
        PLACED.format(key="pause"),
        names={"first": "First of the day", **list_names(PAUSES)},
        place_day=group_pause,
    ),
    "weekday": Grouping(
        "Weekday",
        "(strftime('%w', trading_day) + 6) % 7 + 1",
        is_ordered=True,
        is_number=True,
        names=dict(enumerate(WEEKDAYS, 1)),
    ),
    "hour": Grouping("Hour", "local_hour", is_ordered=True, is_number=True, name=lambda key: f"{key:02}:00"),
    "holding": Grouping("Holding time", f"CASE {HOLDING} END", is_ordered=True, names=list_names(HOLDING_TIMES)),
    "day_rating": Grouping("Rating of the day", DAY_RATING, is_ordered=True, is_number=True),
    "day_tag": Tags("Tag of the day", DAY_TAGS),
    "account": Grouping(
        "Account", "account_id", by_trade=True, is_number=True, ids=f"SELECT id, name FROM accounts WHERE id {IN_IDS}"
    ),
    "day": Period("Day", "trading_day"),
    "week": Period(
        "Week", "date(trading_day, '-6 days', 'weekday 1')", name=lambda key: f"{date.fromisoformat(key):%G-W%V}"
    ),
    "month": Period("Month", "substr(trading_day, 1, 8) || '01'", name=lambda key: key[:7]),
    "quarter": Period(
        "Quarter",
        "printf('%s-%02d-01', substr(trading_day, 1, 4), (substr(trading_day, 6, 2) - 1) / 3 * 3 + 1)",
        name=lambda key: f"{key[:4]}-Q{(int(key[5:7]) + 2) // 3}",
    ),
    "year": Period("Year", "substr(trading_day, 1, 5) || '01-01'", name=lambda key: key[:4]),
}
if TYPE_CHECKING:
    GroupBy = str
else:
    GroupBy = Literal[tuple(GROUPINGS)]
# One key of GROUPINGS, or two.
GroupKeys = tuple[GroupBy, ...]


@cache
def find_grouping(keys: GroupKeys) -> Grouping:
    """Return the grouping of the keys: with two of them, each pair is compared with all other decisions."""
    one, *others = (GROUPINGS[key] for key in keys)
    if not others:
        return one
    both = (one, *others)
    by_trade = [each.sql for each in both if each.by_trade]
    texts = (f"{each.sql} || ''" if each.is_list else each.sql for each in both)  # JSON in JSON is text
    return Grouping(
        " and ".join(each.title for each in both),
        f"json_array({', '.join(texts)})",
        by_trade=len(by_trade) == len(both),
        split=by_trade[0] if len(by_trade) == 1 else "",
        is_ordered=all(each.is_ordered for each in both),
        ctes="".join(dict.fromkeys(each.ctes for each in both)),
        compares="answers" if any(each.compares == "answers" for each in both) else "others",
    )


def check_keys(keys: Sequence[str]) -> None:
    """Raise ValueError unless the keys can be combined."""
    unknown = [key for key in keys if key not in GROUPINGS]
    if unknown or not 1 <= len(keys) <= 2:
        raise ValueError(f"must be one or two, separated by a comma, of: {', '.join(GROUPINGS)}")
    if len(set(keys)) < len(keys):
        raise ValueError("must not repeat a key")
    if len(keys) > 1 and "none" in keys:
        raise ValueError("must not combine none with another key")
    several = [key for key in keys if GROUPINGS[key].is_several]
    if len(several) > 1:
        raise ValueError(f"must not combine {' and '.join(several)}: a trade may be in several groups of each")

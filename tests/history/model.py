"""The rules of the journal a second time: plain objects in memory, written from the documents alone.

The operations are the methods create_, patch_, put_ and delete_ of `Model`. Each does what was sent, or
raises Refused and leaves everything as it was. Only ids come from the service: `learn` takes them from its
answer.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

import naive

Body = dict[str, Any]
# What the service answers of a thing.
View = dict[str, Any]
# What a member of a body is kept as; raises Refused.
Reader = Callable[[Any], Any]

STATUSES = ("active", "paused", "archived")
TIMEFRAMES = ("daily", "weekly", "monthly", "quarterly", "custom")
DIRECTIONS = ("at_least", "at_most")
UNITS = {
    "currency": "net_pnl gross_pnl max_drawdown balance_target expectancy average_win worst_trade worst_day",
    "percent": "win_rate a_plus_rate mistake_free_rate protocol_completion_rate",
    "ratio": "profit_factor rr_realized_avg payoff_ratio",
    "count": "max_trades_per_day trade_count trading_days winning_days win_streak",
}
UNIT_OF = {metric: unit for unit, metrics in UNITS.items() for metric in metrics.split()}
# The metrics that are best when low; all others are to be at least their target.
LOW = ("max_drawdown", "max_trades_per_day")
# What makes another goal of a goal.
DEFINITION = ("metric", "direction", "timeframe", "custom_start", "custom_end", "scope")
# What snapshot_data carries only for the metric that is made of it.
SPECIAL = {
    "max_drawdown": "max_drawdown",
    "peak_pnl": "max_drawdown",
    "win_streak": "win_streak",
    "opening_balance": "balance_target",
}


class Refused(Exception):
    """What the service is to answer instead; of the details those that the documents promise."""

    def __init__(self, status: int, code: str, **details: Any) -> None:
        super().__init__(status, code, details)
        self.status, self.code, self.details = status, code, details


def invalid(**details: Any) -> Refused:
    return Refused(400, "validation_error", **details)


def hold(holds: bool, **details: Any) -> None:
    """Raises the 400 unless it does."""
    if not holds:
        raise invalid(**details)


# What bodies are made of ---------------------------------------------------------------------------------


def name(limit: int) -> Reader:
    """Without the white space around it, composed; 1 to `limit` code points and no control characters."""

    def read(sent: Any) -> str:
        hold(isinstance(sent, str))
        kept = unicodedata.normalize("NFC", sent.strip())
        hold(1 <= len(kept) <= limit and all(unicodedata.category(one) != "Cc" for one in kept))
        return kept

    return read


def one_of(*words: str) -> Reader:
    def read(sent: Any) -> Any:
        hold(sent in words, allowed=list(words))
        return sent

    return read


def a(kind: type) -> Reader:
    def read(sent: Any) -> Any:
        hold(type(sent) is kind)
        return sent

    return read


def or_null(reader: Reader) -> Reader:
    return lambda sent: None if sent is None else reader(sent)


def color(sent: Any) -> str:
    hold(isinstance(sent, str) and len(sent) == 7 and sent[0] == "#")
    hold(all(digit in "0123456789abcdefABCDEF" for digit in sent[1:]))
    return str(sent)


def row_id(sent: Any) -> int:
    hold(type(sent) is int and 1 <= sent < 2**63)
    return int(sent)


def amount(sent: Any) -> Fraction:
    """Exact: what the digits say, not what a double makes of them."""
    hold(type(sent) in (int, float))
    return Fraction(str(sent))


def positive(sent: Any) -> Fraction:
    hold(amount(sent) > 0)
    return amount(sent)


def goal_day(sent: Any) -> str:
    """A date from 2000-01-01 to 2100-12-31."""
    hold(isinstance(sent, str) and len(sent) == 10)
    try:
        hold(2000 <= date.fromisoformat(sent).year <= 2100)
    except ValueError:
        raise invalid() from None
    return str(sent)


def instant(sent: Any) -> datetime:
    """In UTC if an offset was sent, else as the clock on the wall said."""
    hold(isinstance(sent, str))
    moment = datetime.fromisoformat(sent)
    return moment.astimezone(UTC) if moment.tzinfo else moment


def scope(sent: Any) -> str:
    hold(isinstance(sent, str) and re.fullmatch("((account|group)_[1-9][0-9]{0,18}|all)?", sent) is not None)
    return str(sent)


def selection(sent: Any) -> str:
    hold(sent != "")
    return scope(sent)


def list_of(reader: Reader, most: int) -> Reader:
    def read(sent: Any) -> list[Any]:
        hold(isinstance(sent, list) and len(sent) <= most)
        return [reader(one) for one in sent]

    return read


class Shape:
    """An object of these members, none other, and not without those that it needs."""

    def __init__(self, *needs: str, **members: Reader) -> None:
        self.needs, self.members = needs, members

    def __call__(self, sent: Any) -> Body:
        hold(isinstance(sent, dict))
        hold(all(one in self.members for one in sent))
        hold(all(one in sent for one in self.needs))
        kept, wrong = {}, []
        for one, value in sent.items():
            try:
                kept[one] = self.members[one](value)
            except Refused as refused:
                wrong.append(refused)
        if wrong:
            # Which of several is told, no document says.
            raise wrong[0] if len(wrong) == 1 else invalid()
        return kept

    def needing(self, *needs: str) -> "Shape":
        return Shape(*needs, **self.members)

    def without(self, *names: str) -> "Shape":
        return Shape(*self.needs, **{one: how for one, how in self.members.items() if one not in names})


def nested(id_name: str, **members: Reader) -> Reader:
    """An item of a PATCH: an existing one with its id, a new one with its name."""
    shape = Shape(**{id_name: row_id}, **members)

    def read(sent: Any) -> Body:
        item = shape(sent)
        hold(id_name in item or "name" in item)
        return item

    return read


CATEGORY = Shape(name=name(50))
TAG = Shape(category_id=row_id, name=name(100), color=color, type=one_of("mistake", "custom"))
ACCOUNT = Shape(name=name(100), starting_balance=amount, broker=or_null(name(100)), archived=a(bool))
GROUP = Shape(name=name(100))
MEMBERS = Shape("members", members=list_of(Shape("account_id", account_id=row_id, sort_order=a(int)), 50))
ITEM: dict[str, Reader] = {"name": name(255), "description": or_null(a(str)), "sort_order": a(int)}
NEW_SETUP = Shape("name", **ITEM, confirmations=list_of(Shape("name", **ITEM), 100))
SETUP = nested("setup_id", **ITEM, confirmations=list_of(nested("confirmation_id", **ITEM), 100))
FREE_FORM = or_null(a(dict))
STRATEGY = Shape(
    name=name(255),
    description=or_null(a(str)),
    color_tag=color,
    account_id=or_null(row_id),
    copy_group_id=or_null(row_id),
    risk_rules=FREE_FORM,
    exit_rules=FREE_FORM,
    optimal_conditions=FREE_FORM,
    setups=list_of(SETUP, 50),
)
NEW_STRATEGY = Shape("name", **{**STRATEGY.members, "setups": list_of(NEW_SETUP, 50)})
TRADE = Shape(
    account_id=row_id,
    symbol=name(40),
    direction=one_of("long", "short"),
    quantity=positive,
    multiplier=positive,
    entry_price=amount,
    exit_price=or_null(amount),
    stop_loss=or_null(amount),
    opened_at=instant,
    closed_at=or_null(instant),
    gross_pnl=or_null(amount),
    fees=amount,
    initial_risk=or_null(positive),
    grade=or_null(one_of("A+", "A", "B", "C", "D", "F")),
    strategy_id=or_null(row_id),
    setup_id=or_null(row_id),
    source_trade_id=or_null(row_id),
    external_id=or_null(name(100)),
    notes=or_null(a(str)),
)
NEW_TRADE = TRADE.needing("account_id", "symbol", "direction", "quantity", "entry_price", "opened_at")
TRADE_TAGS = Shape("tag_ids", tag_ids=list_of(row_id, 100))
ANSWER = Shape(
    "confirmation_id", "was_present", confirmation_id=row_id, was_present=a(bool), notes=or_null(a(str))
)
ANSWERS = Shape("confirmations", confirmations=list_of(ANSWER, 100))
GOAL = Shape(
    goal_name=name(100),
    metric=one_of(*UNIT_OF),
    target_value=amount,
    direction=one_of(*DIRECTIONS),
    timeframe=one_of(*TIMEFRAMES),
    custom_start=or_null(goal_day),
    custom_end=or_null(goal_day),
    status=one_of(*STATUSES),
    scope=scope,
)
NEW_GOAL = Shape(
    *("goal_name", "metric", "target_value"),
    **GOAL.without("status", "scope", "custom_start", "custom_end").members,
    custom_start=goal_day,
    custom_end=goal_day,
    account_id=or_null(row_id),
    copy_group_id=or_null(row_id),
)
ME = Shape(
    timezone=a(str),
    day_rollover=a(str),
    trading_weekdays=list_of(a(int), 7),
    active_selection=selection,
)


# What there is -------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Thing:
    id: int
    created_at: str
    updated_at: str


@dataclass(kw_only=True)
class Category(Thing):
    name: str


@dataclass(kw_only=True)
class Tag(Thing):
    category_id: int
    name: str
    color: str = "#3b82f6"
    type: str = "custom"


@dataclass(kw_only=True)
class Account(Thing):
    name: str
    currency: str = "USD"
    starting_balance: Fraction = Fraction(0)
    broker: str | None = None
    archived: bool = False
    fees: dict[str, Fraction] = field(default_factory=dict)


@dataclass(kw_only=True)
class Group(Thing):
    name: str
    # account -> its place
    members: dict[int, int] = field(default_factory=dict)


@dataclass(kw_only=True)
class Item:
    """A confirmation, or what a setup has of one."""

    id: int
    sort_order: int
    name: str = ""
    description: str | None = None


@dataclass(kw_only=True)
class Setup(Item):
    confirmations: list[Item] = field(default_factory=list)


@dataclass(kw_only=True)
class Strategy(Thing):
    name: str
    description: str | None = None
    color_tag: str = "#1d4ed8"
    account_id: int | None = None
    copy_group_id: int | None = None
    risk_rules: Body | None = None
    exit_rules: Body | None = None
    optimal_conditions: Body | None = None
    setups: list[Setup] = field(default_factory=list)


class Answer(NamedTuple):
    was_present: bool
    notes: str | None


@dataclass(kw_only=True)
class Trade(Thing):
    account_id: int
    symbol: str
    direction: str
    quantity: Fraction
    multiplier: Fraction = Fraction(1)
    entry_price: Fraction
    exit_price: Fraction | None = None
    stop_loss: Fraction | None = None
    opened_at: datetime
    closed_at: datetime | None = None
    gross_pnl: Fraction | None = None
    fees: Fraction = Fraction(0)
    initial_risk: Fraction | None = None
    grade: str | None = None
    strategy_id: int | None = None
    setup_id: int | None = None
    source_trade_id: int | None = None
    external_id: str | None = None
    notes: str | None = None
    tag_ids: list[int] = field(default_factory=list)
    # by confirmation
    answers: dict[int, Answer] = field(default_factory=dict)

    def earned_at(self, price: Fraction) -> Fraction:
        points = price - self.entry_price if self.direction == "long" else self.entry_price - price
        return naive.rounded(points * self.quantity * self.multiplier)

    @property
    def follows_from_prices(self) -> bool:
        return self.exit_price is not None and self.gross_pnl == self.earned_at(self.exit_price)


@dataclass(kw_only=True)
class Goal(Thing):
    goal_name: str
    metric: str
    target_value: Fraction
    direction: str
    timeframe: str = "monthly"
    custom_start: str | None = None
    custom_end: str | None = None
    status: str = "active"
    scope: str = "all"
    # (the moment it was set, the target), oldest first
    targets: list[tuple[datetime, Fraction]] = field(default_factory=list)
    # The snapshots as they were when the goal was paused or archived.
    kept: "list[Told] | None" = None
    stopped_on: date | None = None


class Told(NamedTuple):
    """A snapshot without `computed_at` and the reason of a null, of which any of `reasons` will do."""

    view: View
    reasons: set[str]


Kind = TypeVar("Kind", bound=Thing)
Nested = TypeVar("Nested", bound=Item)


def text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def by_name(things: Iterable[Any]) -> list[Any]:
    return sorted(things, key=lambda one: (one.name.casefold(), one.id))


def repeated(ids: Iterable[int]) -> list[int]:
    return [one for one, times in Counter(ids).items() if times > 1]


def offended(offenders: dict[str, list[int]]) -> None:
    """Raises the 400 that names all offenders, if there is one."""
    told = {kind: list(dict.fromkeys(ids)) for kind, ids in offenders.items() if ids}
    hold(not told, **told)


# The operations ------------------------------------------------------------------------------------------


@dataclass
class Model:
    """The journal of one owner at the moment `now`."""

    now: datetime
    max_strategies: int
    timezone: str = "UTC"
    day_rollover: str = "00:00"
    trading_weekdays: list[int] = field(default_factory=lambda: [1, 2, 3, 4, 5])
    active_selection: str = "all"
    categories: list[Category] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    accounts: list[Account] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    strategies: list[Strategy] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    # Whether the request names, with If-Match, what the object no longer is.
    is_stale: bool = False
    # Until the service has told them; they sort after all that it tells.
    new_ids: "count[int]" = field(default_factory=lambda: count(2**62))

    def born(self) -> Body:
        moment = text_of(self.now)
        return {"id": next(self.new_ids), "created_at": moment, "updated_at": moment}

    def found(self, things: Sequence[Kind], thing_id: int) -> Kind:
        """The object in the path."""
        for thing in things:
            if thing.id == thing_id:
                if self.is_stale:
                    raise Refused(412, "precondition_failed")
                return thing
        raise Refused(404, "not_found")

    def require(self, things: Sequence[Thing], thing_id: int | None) -> None:
        """What a body points at."""
        hold(thing_id is None or any(thing.id == thing_id for thing in things))

    def require_unique(self, things: Sequence[Any], sent: Body, thing: Thing | None = None) -> None:
        if any(other.name == sent.get("name") for other in things if other is not thing):
            raise Refused(409, "duplicate_name")

    def change(self, thing: Kind, sent: Body) -> Kind:
        """Only what differs moves `updated_at`."""
        if any(getattr(thing, member) != value for member, value in sent.items()):
            vars(thing).update(sent, updated_at=text_of(self.now))
        return thing

    # Tags

    def create_category(self, body: Any) -> Category:
        sent = CATEGORY.needing("name")(body)
        self.require_unique(self.categories, sent)
        self.categories.append(Category(**self.born(), **sent))
        return self.categories[-1]

    def patch_category(self, category_id: int, body: Any) -> Category:
        sent = CATEGORY(body)
        category = self.found(self.categories, category_id)
        self.require_unique(self.categories, sent, category)
        return self.change(category, sent)

    def delete_category(self, category_id: int) -> None:
        category = self.found(self.categories, category_id)
        if number := self.tag_count(category):
            raise Refused(409, "category_has_tags", tag_count=number)
        self.categories.remove(category)

    def tag_count(self, category: Category) -> int:
        return sum(tag.category_id == category.id for tag in self.tags)

    def create_tag(self, body: Any) -> Tag:
        sent = TAG.needing("category_id", "name")(body)
        self.require(self.categories, sent["category_id"])
        self.require_unique(self.tags, sent)
        self.tags.append(Tag(**self.born(), **sent))
        return self.tags[-1]

    def patch_tag(self, tag_id: int, body: Any) -> Tag:
        sent = TAG(body)
        tag = self.found(self.tags, tag_id)
        self.require(self.categories, sent.get("category_id"))
        self.require_unique(self.tags, sent, tag)
        return self.change(tag, sent)

    def delete_tag(self, tag_id: int) -> None:
        """It disappears from every trade."""
        self.tags.remove(self.found(self.tags, tag_id))
        for trade in self.trades:
            trade.tag_ids = [one for one in trade.tag_ids if one != tag_id]

    # Accounts and copy groups

    def create_account(self, body: Any) -> Account:
        sent = ACCOUNT.needing("name")(body)
        self.require_unique(self.accounts, sent)
        self.accounts.append(Account(**self.born(), **sent))
        return self.accounts[-1]

    def patch_account(self, account_id: int, body: Any) -> Account:
        sent = ACCOUNT(body)
        account = self.found(self.accounts, account_id)
        self.require_unique(self.accounts, sent, account)
        return self.change(account, sent)

    def delete_account(self, account_id: int) -> None:
        """Its goals go, its strategies stay for all accounts."""
        account = self.found(self.accounts, account_id)
        if number := sum(trade.account_id == account_id for trade in self.trades):
            raise Refused(409, "account_has_trades", trade_count=number)
        self.accounts.remove(account)
        for group in self.groups:
            group.members.pop(account_id, None)
        for strategy in self.strategies:
            strategy.account_id = None if strategy.account_id == account_id else strategy.account_id
        self.forget_scope(f"account_{account_id}")

    def create_group(self, body: Any) -> Group:
        sent = GROUP.needing("name")(body)
        self.require_unique(self.groups, sent)
        self.groups.append(Group(**self.born(), **sent))
        return self.groups[-1]

    def put_members(self, group_id: int, body: Any) -> Group:
        """The whole set; an account is in one group at most."""
        sent = MEMBERS(body)["members"]
        group = self.found(self.groups, group_id)
        ids = [member["account_id"] for member in sent]
        offended({"duplicate_account_ids": repeated(ids)})
        for account_id in ids:
            self.require(self.accounts, account_id)
        elsewhere = [one for other in self.groups if other is not group for one in other.members]
        if taken := [one for one in ids if one in elsewhere]:
            raise Refused(409, "conflict", account_ids=taken)
        members = {one["account_id"]: one.get("sort_order", place) for place, one in enumerate(sent)}
        return self.change(group, {"members": members})

    def delete_group(self, group_id: int) -> None:
        """Its goals go, its strategies and accounts stay."""
        self.groups.remove(self.found(self.groups, group_id))
        for strategy in self.strategies:
            strategy.copy_group_id = None if strategy.copy_group_id == group_id else strategy.copy_group_id
        self.forget_scope(f"group_{group_id}")

    def forget_scope(self, scope: str) -> None:
        self.goals = [goal for goal in self.goals if goal.scope != scope]
        self.active_selection = "all" if self.active_selection == scope else self.active_selection

    # Strategies

    def create_strategy(self, body: Any) -> Strategy:
        sent = self.one_scope(NEW_STRATEGY(body))
        self.require_unique(self.strategies, sent)
        if 0 < self.max_strategies <= len(self.strategies):
            raise Refused(429, "limit_reached", limit=self.max_strategies, current=len(self.strategies))
        sent["setups"] = self.edited_setups([], sent.get("setups", []))
        self.strategies.append(Strategy(**self.born(), **sent))
        return self.strategies[-1]

    def patch_strategy(self, strategy_id: int, body: Any) -> Strategy:
        """A sent `setups` is the whole list; what it does not name is gone."""
        sent = STRATEGY(body)
        strategy = self.found(self.strategies, strategy_id)
        sent = self.one_scope(sent)
        if "setups" in sent:
            self.require_own_ids(strategy.setups, sent["setups"])
        self.require_unique(self.strategies, sent, strategy)
        if "setups" in sent:
            sent["setups"] = self.edited_setups(strategy.setups, sent["setups"])
        self.change(strategy, sent)
        self.unlink_trades()
        return strategy

    def delete_strategy(self, strategy_id: int) -> int:
        """How many trades have lost it."""
        self.strategies.remove(self.found(self.strategies, strategy_id))
        unlinked = [trade for trade in self.trades if trade.strategy_id == strategy_id]
        for trade in unlinked:
            trade.strategy_id = None
        self.unlink_trades()
        return len(unlinked)

    def one_scope(self, sent: Body) -> Body:
        """One account or one copy group: setting one of the two clears the other."""
        account_id, group_id = sent.get("account_id"), sent.get("copy_group_id")
        hold(account_id is None or group_id is None)
        self.require(self.accounts, account_id)
        self.require(self.groups, group_id)
        cleared = {"copy_group_id": None} if account_id else {"account_id": None} if group_id else {}
        return sent | cleared

    def require_own_ids(self, setups: list[Setup], sent: list[Body]) -> None:
        """A setup belongs to its strategy, a confirmation to its setup, and neither is named twice."""
        own = {setup.id: {one.id for one in setup.confirmations} for setup in setups}
        setup_ids = [item["setup_id"] for item in sent if "setup_id" in item]
        confirmations = [
            (item.get("setup_id"), one["confirmation_id"])
            for item in sent
            for one in item.get("confirmations", [])
            if "confirmation_id" in one
        ]
        offended(
            {
                "unknown_setup_ids": [one for one in setup_ids if one not in own],
                "duplicate_setup_ids": repeated(setup_ids),
                "unknown_confirmation_ids": [
                    one for setup, one in confirmations if setup is None or one not in own.get(setup, ())
                ],
                "duplicate_confirmation_ids": repeated(one for _, one in confirmations),
            }
        )

    def edited_setups(self, before: list[Setup], sent: list[Body]) -> list[Setup]:
        known = {setup.id: setup for setup in before}
        after = []
        for place, item in enumerate(sent):
            old = known.get(item.get("setup_id", 0)) or Setup(id=next(self.new_ids), sort_order=place)
            setup = edited(old, item)
            if "confirmations" in item:
                setup.confirmations = self.edited_confirmations(old.confirmations, item["confirmations"])
            after.append(setup)
        return in_order(before, sent, after)

    def edited_confirmations(self, before: list[Item], sent: list[Body]) -> list[Item]:
        known = {one.id: one for one in before}
        after = []
        for place, item in enumerate(sent):
            old = known.get(item.get("confirmation_id", 0)) or Item(id=next(self.new_ids), sort_order=place)
            after.append(edited(old, item))
        return in_order(before, sent, after)

    def unlink_trades(self) -> None:
        """A trade whose setup is gone stays without it, and without answers to what is no longer asked."""
        checklists = self.journal().checklists
        for trade in self.trades:
            if trade.setup_id not in checklists:
                trade.setup_id = None
            asked = checklists[trade.setup_id] if trade.setup_id else set()
            trade.answers = {one: answer for one, answer in trade.answers.items() if one in asked}

    # Trades

    def create_trade(self, body: Any) -> Trade:
        """The result follows from the prices where it is left out, the risk from the stop."""
        trade = Trade(**self.born(), **self.in_utc(NEW_TRADE(body)))
        if trade.initial_risk is None and trade.stop_loss is not None:
            risked = -trade.earned_at(trade.stop_loss)
            trade.initial_risk = risked if risked > 0 else None
        self.settle(trade)
        self.trades.append(trade)
        return trade

    def create_trades(self, bodies: Sequence[Any]) -> list[Trade]:
        """All of them, or none."""
        before = self.trades.copy()
        try:
            return [self.create_trade(body) for body in bodies]
        except Refused:
            self.trades = before
            raise invalid() from None

    def patch_trade(self, trade_id: int, body: Any) -> Trade:
        sent = TRADE(body)
        trade = self.found(self.trades, trade_id)
        after = replace(trade, **self.in_utc(sent))
        if after.closed_at is None:
            # Opened again it has neither exit nor result.
            after.exit_price, after.gross_pnl = sent.get("exit_price"), sent.get("gross_pnl")
        elif "gross_pnl" not in sent and trade.follows_from_prices:
            after.gross_pnl = None
        if after.strategy_id != trade.strategy_id and "setup_id" not in sent:
            after.setup_id = None
        if sent.get("setup_id") and "strategy_id" not in sent:
            after.strategy_id = None
        self.settle(after, before=trade)
        if after.setup_id != trade.setup_id:
            after.answers = {}
        if after != trade:
            vars(trade).update(vars(after), updated_at=text_of(self.now))
        return trade

    def settle(self, trade: Trade, before: Trade | None = None) -> None:
        """Hold the trade to the rules, and let follow what follows."""
        if trade.closed_at is None:
            hold(trade.exit_price is None and trade.gross_pnl is None)
        else:
            hold(trade.closed_at >= trade.opened_at)
            hold(trade.exit_price is not None or trade.gross_pnl is not None)
        if trade.exit_price is not None and trade.gross_pnl is None:
            trade.gross_pnl = trade.earned_at(trade.exit_price)
        self.require(self.accounts, trade.account_id)
        self.require(self.strategies, trade.strategy_id)
        if trade.setup_id is not None:
            brought = [
                one.id for one in self.strategies if trade.setup_id in (setup.id for setup in one.setups)
            ]
            hold(brought != [] and trade.strategy_id in (None, *brought))
            (trade.strategy_id,) = brought
        self.settle_source(trade)
        if before is None or place_of(trade) != place_of(before):
            hold(self.takes(trade.strategy_id, trade.account_id))
        others = [one for one in self.trades if one.id != trade.id and one.account_id == trade.account_id]
        if trade.external_id is not None and trade.external_id in (one.external_id for one in others):
            raise Refused(409, "conflict")

    def takes(self, strategy_id: int | None, account_id: int) -> bool:
        """Whether the strategy takes trades of the account."""
        for strategy in self.strategies:
            if strategy.id == strategy_id:
                members = [group.members for group in self.groups if group.id == strategy.copy_group_id]
                return strategy.account_id in (None, account_id) and all(account_id in one for one in members)
        return True

    def settle_source(self, trade: Trade) -> None:
        """A copy of a copy is a copy of the original; an original with copies is no copy."""
        if trade.source_trade_id is None:
            return
        self.require(self.trades, trade.source_trade_id)
        (source,) = (one for one in self.trades if one.id == trade.source_trade_id)
        trade.source_trade_id = source.source_trade_id or source.id
        hold(trade.source_trade_id != trade.id)
        hold(all(other.source_trade_id != trade.id for other in self.trades))

    def in_utc(self, sent: Body) -> Body:
        """A time without an offset is the owner's."""
        times = {one: sent[one] for one in ("opened_at", "closed_at") if sent.get(one)}
        return sent | {
            one: time if time.tzinfo else time.replace(tzinfo=ZoneInfo(self.timezone)).astimezone(UTC)
            for one, time in times.items()
        }

    def insert_trade_tags(self, trade_id: int, body: Any) -> Trade:
        tag_ids = TRADE_TAGS(body)["tag_ids"]
        trade = self.found(self.trades, trade_id)
        known = {tag.id for tag in self.tags}
        offended({"unknown_tag_ids": [one for one in tag_ids if one not in known]})
        return self.change(trade, {"tag_ids": sorted(set(tag_ids))})

    def put_answers(self, trade_id: int, body: Any) -> Trade:
        sent = ANSWERS(body)["confirmations"]
        trade = self.found(self.trades, trade_id)
        asked = self.journal().checklists.get(trade.setup_id or 0, set())
        ids = [answer["confirmation_id"] for answer in sent]
        offended(
            {
                "unknown_confirmation_ids": [one for one in ids if one not in asked],
                "duplicate_confirmation_ids": repeated(ids),
            }
        )
        answers = {one["confirmation_id"]: Answer(one["was_present"], one.get("notes")) for one in sent}
        return self.change(trade, {"answers": answers})

    def delete_trade(self, trade_id: int) -> None:
        """Of its copies the oldest becomes the original."""
        self.trades.remove(self.found(self.trades, trade_id))
        copies = sorted(trade.id for trade in self.trades if trade.source_trade_id == trade_id)
        for trade in self.trades:
            if trade.id in copies:
                trade.source_trade_id = None if trade.id == copies[0] else copies[0]

    def undo_import(self, trade_ids: Iterable[int]) -> None:
        """What it added goes, edited or not."""
        there = {trade.id for trade in self.trades}
        for trade_id in there.intersection(trade_ids):
            self.delete_trade(trade_id)

    # Goals

    def create_goal(self, body: Any) -> Goal:
        sent = NEW_GOAL(body)
        check_target(sent["metric"], sent["target_value"])
        check_window(sent.get("timeframe", "monthly"), sent)
        account_id, group_id = sent.pop("account_id", None), sent.pop("copy_group_id", None)
        hold(account_id is None or group_id is None)
        scope = f"account_{account_id}" if account_id else f"group_{group_id}" if group_id else "all"
        self.require_scope(scope)
        goal = Goal(**self.born(), **{"direction": natural(sent["metric"]), **sent}, scope=scope)
        goal.targets = [(self.now, goal.target_value)]
        self.goals.append(goal)
        return goal

    def patch_goal(self, goal_id: int, body: Any) -> Goal:
        """The rules hold for the goal as it would be."""
        sent = GOAL(body)
        goal = self.found(self.goals, goal_id)
        # Null is what a goal without dates answers, and may be sent back.
        nulls = {one for one in ("custom_start", "custom_end") if sent.get(one, "") is None}
        hold(all(getattr(goal, one) is None for one in nulls))
        sent = {one: value for one, value in sent.items() if one not in nulls}
        self.require_scope(sent.get("scope", "all"))
        check_window(sent.get("timeframe", goal.timeframe), sent, both="timeframe" in sent)
        if "timeframe" not in sent:
            sent = {one: value for one, value in sent.items() if not one.startswith("custom_")}
        elif sent["timeframe"] != "custom":
            sent |= {"custom_start": None, "custom_end": None}
        if sent.get("metric", goal.metric) != goal.metric:
            sent.setdefault("direction", natural(sent["metric"]))
        if "metric" in sent or "target_value" in sent:
            check_target(sent.get("metric", goal.metric), sent.get("target_value", goal.target_value))
        self.stop_or_go_on(goal, sent.get("status", goal.status))
        before = asdict(goal)
        self.change(goal, sent)
        if any(getattr(goal, one) != before[one] for one in DEFINITION):
            goal.targets = []
        if not goal.targets or goal.target_value != before["target_value"]:
            day_of = self.journal().day_of
            if day_of(datetime.fromisoformat(goal.created_at)) == day_of(self.now):
                goal.targets = []  # a typing error, corrected
            goal.targets.append((self.now, goal.target_value))
        if goal.kept is not None and any(getattr(goal, one) != before[one] for one in DEFINITION):
            goal.kept = self.history(goal)
        return goal

    def stop_or_go_on(self, goal: Goal, status: str) -> None:
        """A goal that is not active keeps the snapshots of the moment when it stopped."""
        if status == "active":
            goal.kept = goal.stopped_on = None
        elif goal.kept is None:
            goal.stopped_on = self.journal().day_of(self.now)
            goal.kept = self.history(goal)

    def delete_goal(self, goal_id: int) -> None:
        self.goals.remove(self.found(self.goals, goal_id))

    def require_scope(self, scope: str) -> None:
        named = [f"account_{account.id}" for account in self.accounts]
        named += [f"group_{group.id}" for group in self.groups]
        hold(scope in ("all", "", *named))

    # Settings

    def patch_me(self, body: Any) -> None:
        sent = ME(body)
        self.require_scope(sent.get("active_selection", "all"))
        vars(self).update(sent)

    # What the service is to answer

    def view(self, thing: Thing) -> View:
        """The single form."""
        match thing:
            case Category():
                return {**asdict(thing), "tag_count": self.tag_count(thing)}
            case Group():
                placed = sorted((place, account_id) for account_id, place in thing.members.items())
                members = [
                    {"account_id": account_id, "quantity_multiplier": 1, "sort_order": place}
                    for place, account_id in placed
                ]
                extra = {"master_account_id": None, "member_count": len(members), "members": members}
                return {**asdict(thing), **extra}
            case Strategy():
                setups = [setup_view(setup) for setup in thing.setups]
                return {**asdict(thing), "setups": setups, "setup_count": len(setups)}
            case Trade():
                return self.trade_view(thing)
            case Goal():
                return goal_view(thing)
            case _:
                return asdict(thing)

    def list_view(self, thing: Thing) -> View:
        """The form in lists."""
        single_only: dict[type[Thing], tuple[str, ...]] = {
            Group: ("members",),
            Strategy: ("setups", "risk_rules", "exit_rules", "optimal_conditions"),
            Trade: ("tags", "confirmations"),
        }
        left_out = single_only.get(type(thing), ())
        return {member: value for member, value in self.view(thing).items() if member not in left_out}

    def trade_view(self, trade: Trade) -> View:
        view = asdict(trade)
        del view["answers"]
        closed_at, gross = trade.closed_at, trade.gross_pnl
        net = None if gross is None else gross - trade.fees
        risk = trade.initial_risk
        tags = by_name(tag for tag in self.tags if tag.id in trade.tag_ids)
        asked = [
            one for strategy in self.strategies for setup in strategy.setups for one in setup.confirmations
        ]
        return view | {
            "opened_at": text_of(trade.opened_at),
            "closed_at": closed_at and text_of(closed_at),
            "trading_day": closed_at and str(self.journal().day_of(closed_at)),
            "net_pnl": net,
            "rr_realized": None if net is None or risk is None else naive.rounded(net / risk),
            "tags": [{"id": tag.id, "name": tag.name, "color": tag.color, "type": tag.type} for tag in tags],
            "confirmations": [
                {"confirmation_id": one.id, "name": one.name, **trade.answers[one.id]._asdict()}
                for one in asked
                if one.id in trade.answers
            ],
        }

    def in_order(self, things: Sequence[Thing]) -> list[Thing]:
        """As lists have them: goals by id, trades newest first, all else by name."""
        if things is self.trades:
            return sorted(things, key=lambda one: (vars(one)["opened_at"], one.id), reverse=True)
        return sorted(things, key=lambda one: one.id) if things is self.goals else by_name(things)

    # Numbers

    def journal(self) -> naive.Journal:
        """All that a number can depend on, as naive.py has it."""
        journal = naive.Journal(
            self.timezone, self.day_rollover, set(self.trading_weekdays), self.active_selection
        )
        for account in self.accounts:
            journal.accounts[account.id] = naive.Account(
                account.id, account.starting_balance, account.currency
            )
        journal.groups = {group.id: set(group.members) for group in self.groups}
        journal.tags = {tag.id: tag.type for tag in self.tags}
        for setup in (setup for strategy in self.strategies for setup in strategy.setups):
            journal.checklists[setup.id] = {one.id for one in setup.confirmations}
        for trade in self.trades:
            journal.trades[trade.id] = naive.Trade(
                *(trade.id, trade.account_id, trade.closed_at, trade.gross_pnl or Fraction(0), trade.fees),
                *(trade.initial_risk, trade.grade, trade.setup_id, trade.source_trade_id),
                tags=set(trade.tag_ids),
                answers={one: answer.was_present for one, answer in trade.answers.items()},
            )
        return journal

    def snapshots(self, goal: Goal) -> list[Told]:
        """The history of the goal, newest first."""
        return self.history(goal) if goal.kept is None else goal.kept

    def history(self, goal: Goal) -> list[Told]:
        """The history to today, or to the day on which the goal was stopped."""
        window = None
        if goal.custom_start and goal.custom_end:
            window = date.fromisoformat(goal.custom_start), date.fromisoformat(goal.custom_end)
        created_at = datetime.fromisoformat(goal.created_at)
        measured = naive.Goal(
            goal.metric, goal.direction, goal.timeframe, goal.scope, created_at, goal.targets, window
        )
        history = naive.snapshots(self.journal(), measured, self.now, goal.stopped_on)
        return [self.told(goal, one) for one in history]

    def told(self, goal: Goal, snapshot: naive.Snapshot) -> Told:
        facts = {
            one: fact for one, fact in snapshot.data.items() if SPECIAL.get(one, goal.metric) == goal.metric
        }
        calendar = {"timezone": self.timezone, "day_rollover": self.day_rollover}
        view = {
            "goal_id": goal.id,
            "period_start": str(snapshot.period_start),
            "period_end": str(snapshot.period_end),
            "target": snapshot.target,
            "actual": snapshot.actual,
            "achieved": snapshot.achieved,
            "closed": snapshot.closed,
            "snapshot_data": {
                "unit": UNIT_OF[goal.metric],
                "currency": snapshot.currency,
                **calendar,
                **facts,
                **({} if snapshot.pace is None else {"pace": snapshot.pace}),
            },
        }
        return Told(view, snapshot.reasons)


def natural(metric: str) -> str:
    """The direction that a metric has of itself."""
    return "at_most" if metric in LOW else "at_least"


NEVER_BELOW_0 = {
    *("max_drawdown", "profit_factor", "payoff_ratio"),
    *(metric for metric, unit in UNIT_OF.items() if unit in ("count", "percent")),
}


def place_of(trade: Trade) -> tuple[int, int | None]:
    return trade.account_id, trade.strategy_id


def check_target(metric: str, target: Fraction) -> None:
    """G1 and G9: 0 is a target for max_drawdown alone, and what is never below 0 has no target there."""
    hold(target != 0 or metric == "max_drawdown")
    hold(target >= 0 or metric not in NEVER_BELOW_0)


def check_window(timeframe: str, sent: Body, both: bool = True) -> None:
    """G4 and G6: two dates in their order for custom, and none for all else."""
    dates = [sent[one] for one in ("custom_start", "custom_end") if one in sent]
    if timeframe == "custom":
        hold(len(dates) == 2 or not both)
        hold(dates == sorted(dates))
    else:
        hold(not dates)


def edited(item: Nested, sent: Body) -> Nested:
    """What was sent of it replaces what it had."""
    return replace(item, **{one: sent[one] for one in ("name", "description", "sort_order") if one in sent})


def in_order(before: Sequence[Nested], sent: Sequence[Body], after: Sequence[Nested]) -> list[Nested]:
    """The items in their order, numbered as docs/api.md#patch-setups P11 says."""
    has_all = all("sort_order" in item for item in sent)
    ordered = sorted(after, key=lambda item: item.sort_order) if has_all else list(after)
    numbers = [item.sort_order for item in ordered]
    if not has_all or len(set(numbers)) < len(numbers):
        stored = {item.id: item.sort_order for item in before}
        ids = [item.id for item in ordered]
        is_stored_order = ids == [row_id for row_id in stored if row_id in ids]
        numbers = [stored[row_id] for row_id in ids] if is_stored_order else list(range(len(ids)))
    return [replace(item, sort_order=number) for item, number in zip(ordered, numbers, strict=True)]


def item_view(item: Item, id_name: str) -> View:
    shown = (item.id, item.name, item.description, item.sort_order)
    return dict(zip((id_name, "name", "description", "sort_order"), shown, strict=True))


def setup_view(setup: Setup) -> View:
    confirmations = [item_view(one, "confirmation_id") for one in setup.confirmations]
    return {**item_view(setup, "setup_id"), "confirmations": confirmations}


def goal_view(goal: Goal) -> View:
    """`account_id` and `copy_group_id` are in step with the scope."""
    view = asdict(replace(goal, kept=None))
    del view["targets"], view["kept"], view["stopped_on"]
    kind, _, number = goal.scope.partition("_")
    bound = {"account_id": int(number) if kind == "account" else None}
    bound["copy_group_id"] = int(number) if kind == "group" else None
    return view | bound


def learn(thing: Thing, told: View) -> None:
    """Take the ids of what is new from the answer; what is not new keeps its own."""
    thing.id = new_id(thing.id, told["id"])
    if isinstance(thing, Strategy):
        for setup, told_setup in zip(thing.setups, told["setups"], strict=True):
            setup.id = new_id(setup.id, told_setup["setup_id"])
            for one, told_one in zip(setup.confirmations, told_setup["confirmations"], strict=True):
                one.id = new_id(one.id, told_one["confirmation_id"])


def new_id(known: int, told: int) -> int:
    return told if known >= 2**62 else known

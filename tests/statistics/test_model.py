"""Random writes to a journal on a real file: goals and reports show what reference.py computes from it."""

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
import reference
import time_machine
from conftest import client_of, new_key_for, started
from desk import comparable, exact, read_report, read_snapshots
from factories import A_TRADE
from positions import executions, first_in_first_out, performance, random_fills
from proofs import SOAK, examples

from journal_api.app import create_app
from journal_api.database.backup import to_nobody
from journal_api.database.connections import Reader, connect
from journal_api.database.database import Database
from journal_api.database.folder_export import export_all
from journal_api.database.folder_import import import_all
from journal_api.metrics.groupings import GroupBy
from journal_api.metrics.metrics import METRICS
from journal_api.settings import Settings
from journal_api.statistics import trade_facts
from journal_api.statistics.row_checks import WRONG_FACTS
from journal_api.structs.cash import CashKind
from journal_api.structs.reports import REPORTED

Body = dict[str, Any]
# Noon in UTC is the same date in all of these zones, before and after every rollover.
START = datetime(2026, 3, 20, 12, tzinfo=UTC)
ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]
# Of accounts: at noon in UTC it is tomorrow in the first.
AHEAD = ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Prague"]
WEEKDAYS = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], [2, 7]]
TIMES = ["00:00:00Z", "03:59:59.999999Z", "12:00:00Z", "17:00:00-04:00", "22:00:00Z", "18:30:00"]
AMOUNTS = [0.01, 1, 2.5, -3.75, 100, 1000.00000001]
TOLERANCES = [0, 0, 1, 1.5, 100]
POSITIVE = [1, 2, 0.5, 12.25]
TIMEFRAMES = ["daily", "weekly", "monthly", "quarterly", "custom"]
TRADE = {**A_TRADE, "opened_at": "2026-01-01T10:00:00Z"}
SYMBOLS = ["ES", "MNQZ26", "MNQH27", "A B"]
SECONDS_HELD = [0, 59.999999, 60, 300, 3599, 14400, 86400]
# The filters of reports whose values are ids, with the table of each.
ID_FILTERS = {"account_id": "accounts", "copy_group_id": "copy_groups", "strategy_id": "strategies"}
ID_FILTERS |= {"setup_id": "setups", "tag_id": "tags", "import_id": "imports"}
SUMS = ",".join(one for one in REPORTED if METRICS[one].extra in (None, "excursions"))
# No trade has two tags of a single category.
TWO_OF_SINGLE = """
    SELECT trade_id, category_id
    FROM trade_tags
    JOIN tags ON tags.id = tag_id
    JOIN tag_categories ON tag_categories.id = category_id
    WHERE single
    GROUP BY 1, 2
    HAVING count(*) > 1"""
# A change of one of these members defines another goal.
DEFINITION = ("metric", "direction", "timeframe", "scope", "window")


@dataclass
class Known:
    """A goal as it should be, and its snapshots from the moment it was paused or archived on."""

    goal: reference.Goal
    kept: list[Any] | None = None


class Walk:
    """A trader who writes at random, and somebody who restarts the service."""

    def __init__(self, file: Path, random: Random, clock: time_machine.Traveller) -> None:
        self.file, self.random, self.clock, self.now = file, random, clock, START
        self.goals: dict[int, Known] = {}
        self.writes: Counter[int] = Counter()
        self.steps = self.reopened = self.snapshots = self.reports = self.names = 0
        self.key = ""

    async def open(self) -> None:
        self.db, self.seen = sqlite3.connect(self.file), 0
        app = create_app(Settings(db=self.file))
        self.lifespan = started(app)
        await self.lifespan.__aenter__()
        self.key = self.key or await new_key_for(app)
        self.client = client_of(app, self.key)

    async def close(self) -> None:
        await self.client.aclose()
        self.db.close()
        await self.lifespan.__aexit__(None, None, None)

    def advance(self, delta: timedelta) -> None:
        self.now += delta
        self.clock.move_to(self.now)

    async def write(self, method: str, path: str, body: Body | None = None, **options: Any) -> Any:
        """What a write returns; None if it is refused, which changes nothing. Each takes a second."""
        self.advance(timedelta(seconds=1))
        before = self.db.serialize()
        response = await self.client.request(method, path, **(options or {"json": body}))
        self.writes[response.status_code] += 1
        if not response.is_success:
            assert response.status_code in (400, 404, 409), response.text
            assert self.db.serialize() == before
            return None
        if response.status_code == 204:
            return True
        data = exact(response)["data"]
        return next(iter(data.values())) if len(data) == 1 else data

    def rows(self, sql: str) -> list[Any]:
        return self.db.execute(sql).fetchall()

    def read_journal(self) -> reference.Journal:
        """As it is now; read again only if somebody has written."""
        ((version,),) = self.rows("PRAGMA data_version")
        if version != self.seen:
            self.seen, self.journal = version, reference.read_journal(self.file)
        return self.journal

    def pick(self, table: str) -> int:
        """The id of one of the rows, now and then of none."""
        ids = [row[0] for row in self.rows(f"SELECT id FROM {table}")]
        return self.random.choice(ids) if ids and self.random.random() < 0.97 else 10**6

    def some(self, values: Any) -> list[Any]:
        return [value for value in values if self.random.random() < 0.6]

    def new_name(self) -> str:
        self.names += 1
        return f"Name {self.names}"

    def moment(self) -> str:
        day = START.date() + timedelta(days=self.random.randint(-70, 10))
        return f"{day}T{self.random.choice(TIMES)}"

    # Comparisons

    def expected(self, known: Known) -> list[Any]:
        if known.kept is not None:
            return known.kept
        return reference.compute_snapshots(self.read_journal(), known.goal, self.now)

    async def compare_goal(self, goal_id: int) -> None:
        found = await read_snapshots(self.client, goal_id)
        assert found == self.expected(self.goals[goal_id])
        self.snapshots += len(found)

    async def compare_everything(self) -> None:
        """Statistics are the same whether facts can be stored or not, and stored facts are right."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trade_facts, "DAYS", 1)  # in one statement
            if self.random.random() < 0.3:
                patch.setattr(trade_facts, "refresh", store_nothing)
            await self.compare_goals_and_report()
        with closing(connect(self.file, "ro", Reader)) as db:
            assert db.execute(WRONG_FACTS, {"most": -1}).fetchall() == []

    async def compare_goals_and_report(self) -> None:
        """The goals, in the list with today's snapshot too, and one of the reports."""
        for goal_id in self.goals:
            await self.compare_goal(goal_id)
        journal = self.read_journal()
        listed = exact(await self.client.get("/goals?status=all&with=snapshot"))["data"]["goals"]
        assert [one["id"] for one in listed] == sorted(self.goals)
        for one in listed:
            snapshots = self.expected(self.goals[one["id"]])
            today = str(reference.find_day(journal, self.goals[one["id"]].goal, self.now))
            running = [each for each in snapshots if each["period_start"] <= today <= each["period_end"]]
            assert ([comparable(one["current"], one["id"])] if one["current"] else []) == running
        await self.compare_reports(GROUPS[self.steps % len(GROUPS) :][:1])

    async def compare_reports(self, groups: Sequence[str]) -> None:
        """A report by each of the keys, half of them with a filter, of one metric, or sorted by one."""
        journal = self.read_journal()
        for group_by in groups:
            query = self.report_query() if self.random.random() < 0.5 else self.random.choice([{}, {"metrics": SUMS}])
            query |= {"category_id": self.pick("tag_categories")} if group_by == "category" else {}
            expected = reference.compute_report(journal, group_by, query)
            assert await read_report(self.client, group_by, **query) == expected, (group_by, query)
        self.reports += len(groups)
        self.compare_counts()

    def compare_counts(self) -> None:
        """The kept numbers of trades, by which lists know their totals."""
        trades = self.rows(
            """
            SELECT user_id, account_id, contract, root, direction, gross_pnl - fees, coalesce(grade, ''),
                coalesce(strategy_id, 0), coalesce(setup_id, 0)
            FROM trades
            """
        )
        within = self.read_journal().within * 10**8
        counts = Counter((*one[:5], reference.find_outcome(one[5], within), *one[6:]) for one in trades)
        assert {tuple(row[:-1]): row[-1] for row in self.rows("SELECT * FROM trade_counts")} == counts

    def report_query(self) -> Body:
        metric, other = (self.random.choice(reference.REPORTED) for _ in range(2))
        members = {
            **{name: self.pick(table) for name, table in ID_FILTERS.items()},
            "symbol": self.random.choice(SYMBOLS),
            "root": "MNQ",
            "direction": self.random.choice(["long", "short"]),
            "grade": self.random.choice(["A+", "F"]),
            "from": min(self.moment()[:10], "2026-03-10"),
            "to": "2026-03-10",
        }
        filters = self.random.sample(sorted(members), self.random.choice([0, 1, 1, 1, 2]))
        shown = [{}, {"metrics": metric}, {"sort": self.random.choice(["", "-"]) + metric, "metrics": other}]
        return {**{name: members[name] for name in filters}, **self.random.choice(shown)}

    # Tags, accounts, strategies

    async def write_tag(self) -> None:
        """Tags move between categories, of which one may become single or stop being it."""
        kind = {"type": self.random.choice(["mistake", "custom"]), "category_id": self.pick("tag_categories")}
        if self.random.random() < 0.5:
            await self.write("POST", "/tags", {"name": self.new_name(), **kind})
        else:
            await self.write("PATCH", f"/tags/{self.pick('tags')}", {name: kind[name] for name in self.some(kind)})
        if self.random.random() < 0.3:
            single = {"single": self.random.random() < 0.7}
            await self.write("PATCH", f"/tag-categories/{self.pick('tag_categories')}", single)
        assert self.rows(TWO_OF_SINGLE) == []

    async def write_day(self) -> None:
        tags = self.some(row[0] for row in self.rows("SELECT id FROM tags"))
        body = {"rating": self.random.choice([None, 1, 2, 3, 4, 5]), "tag_ids": tags}
        await self.write("PATCH", f"/days/{self.moment()[:10]}", {name: body[name] for name in self.some(body)})

    async def delete_something(self) -> None:
        """An account with trades stays. The goals of an account or a group go with it."""
        path, table = self.random.choice(
            [(one, one.replace("-", "_")) for one in ("tags", "strategies", "trades", "accounts", "copy-groups")]
        )
        one = self.pick(table)
        if await self.write("DELETE", f"/{path}/{one}"):
            scope = {"accounts": f"account_{one}", "copy-groups": f"group_{one}"}.get(path)
            self.goals = {key: known for key, known in self.goals.items() if known.goal.scope != scope}

    async def write_account(self) -> None:
        balance = {"starting_balance": self.random.choice(AMOUNTS)}
        if self.random.random() < 0.4:
            await self.write("POST", "/accounts", {"name": self.new_name(), **balance})
        else:
            changes: list[Body] = [balance, balance, {"currency": self.random.choice(["USD", "USD", "EUR"])}]
            changes += [{"timezone": self.random.choice([None, *AHEAD])}] * 2
            changes += [{"day_rollover": self.random.choice([None, "00:00", "07:00", "17:00"])}] * 2
            changes += [{"fees": {"default": self.random.choice(POSITIVE)}}] * 2
            body = self.random.choice(changes)
            charges = "?apply_to=earlier" if "fees" in body else ""
            await self.write("PATCH", f"/accounts/{self.pick('accounts')}{charges}", body)

    async def write_cash(self) -> None:
        """Every kind, also before the first trade and after today; what is there is changed or deleted."""
        kind = self.random.choice(get_args(CashKind))
        amount = abs(self.random.choice(AMOUNTS)) * self.random.choice([1, -1 if kind == "adjustment" else 1])
        extras: dict[str, Body] = {"fee": {"outside": self.random.random() < 0.5}, "payout": {"received": amount}}
        body = {"kind": kind, "amount": amount, "day": self.moment()[:10], **extras.get(kind, {})}
        rows = self.rows("SELECT account_id, id FROM cash_movements")
        if not rows or self.random.random() < 0.6:
            await self.write("POST", f"/accounts/{self.pick('accounts')}/cash", body)
            return
        path = "/accounts/{}/cash/{}".format(*self.random.choice(rows))
        if self.random.random() < 0.3:
            await self.write("DELETE", path)
        else:
            await self.write("PATCH", path, {name: body[name] for name in self.some(body)})

    async def write_group(self) -> None:
        if self.random.random() < 0.3:
            await self.write("POST", "/copy-groups", {"name": self.new_name()})
        accounts = self.some(one for (one,) in self.rows("SELECT id FROM accounts"))
        members = {"members": [{"account_id": account} for account in accounts]}
        await self.write("PUT", f"/copy-groups/{self.pick('copy_groups')}/members", members)

    async def edit_strategy(self) -> None:
        """Setups and confirmations stay, go, come or get a name."""
        items: list[Body] = self.some([{"name": "New", "confirmations": [{"name": "Trend"}]}])
        one = self.pick("strategies")
        for (setup,) in self.some(self.rows(f"SELECT id FROM setups WHERE strategy_id = {one}")):
            kept = self.some(self.rows(f"SELECT id FROM confirmations WHERE setup_id = {setup}"))
            checklist = [*({"confirmation_id": row} for (row,) in kept), *self.some([{"name": "More"}])]
            changes: list[Body] = [{}, {"name": "New"}, {"confirmations": checklist}]
            items.append({"setup_id": setup, **self.random.choice(changes)})
        await self.write("PATCH", f"/strategies/{one}", {"setups": items})

    # Trades

    def results(self) -> Body:
        """What a goal or a report depends on, of a trade that is closed and its own."""
        members: Body = {
            "gross_pnl": self.random.choice(AMOUNTS),
            "fees": self.random.choice([0, 2.5, -1]),
            "initial_risk": self.random.choice([None, *POSITIVE]),
            "mae": self.random.choice([None, 0, *POSITIVE]),
            "mfe": self.random.choice([None, 0, *POSITIVE]),
            "grade": self.random.choice([None, "A+", "A", "F"]),
            "symbol": self.random.choice(SYMBOLS),
            "direction": self.random.choice(["long", "short"]),
        }
        return {**self.times(), **{name: members[name] for name in self.some(members)}}

    def times(self) -> Body:
        """When a trade was closed, and of half of them for how long it was held."""
        moment = datetime.fromisoformat(self.moment()[:19])
        opened_at = moment - timedelta(seconds=self.random.choice(SECONDS_HELD))
        held = {"opened_at": f"{opened_at.isoformat()}Z", "closed_at": f"{moment.isoformat()}Z"}
        return self.random.choice([{"closed_at": self.moment()}, held])

    def links(self) -> Body:
        """A setup or none, and an original to be a copy of or none."""
        members = {"setup_id": self.pick("setups"), "source_trade_id": self.pick("trades")}
        return {name: self.random.choice([None, members[name]]) for name in self.some(members)}

    def new_trade(self) -> Body:
        return {**TRADE, **self.results(), **self.links(), "account_id": self.pick("accounts")}

    async def create_trades(self) -> None:
        trades = [self.new_trade() for _ in range(self.random.randint(1, 3))]
        if len(trades) == 1:
            await self.write("POST", "/trades", trades[0])
        else:
            await self.write("POST", "/trades/bulk", {"trades": trades})

    async def change_trade(self) -> None:
        """Another result, account, setup or original; a trade may be opened again."""
        body = self.random.choice(
            [
                {"exit_price": 102, **self.results()},
                {"closed_at": None},
                {**self.links(), "account_id": self.pick("accounts")},
            ]
        )
        await self.write("PATCH", f"/trades/{self.pick('trades')}", body)

    async def link_trade(self) -> None:
        """A trade becomes a copy, of its own account or another, or stops to be one."""
        source = self.random.choice([None, self.pick("trades"), self.pick("trades")])
        await self.write("PATCH", f"/trades/{self.pick('trades')}", {"source_trade_id": source})

    async def merge_trades(self) -> None:
        """Trades of one account and symbol become one; a merged trade becomes its parts again."""
        one = self.pick("trades")
        alike = self.rows(
            f"""
            SELECT id
            FROM trades JOIN (SELECT account_id, contract, direction FROM trades WHERE id = {one})
                USING (account_id, contract, direction)
            LIMIT 3
            """
        )
        merged = self.rows("SELECT id FROM trades WHERE merged IS NOT NULL")
        if merged and self.random.random() < 0.5:
            await self.write("POST", f"/trades/{merged[0][0]}/split", {})
        else:
            await self.write("POST", "/trades/merge", {"ids": [row for (row,) in alike]})

    async def add_fill(self) -> None:
        """A trade is scaled, or closed."""
        fill = {"side": self.random.choice(["buy", "sell"]), "quantity": 1, "price": 102, "at": self.moment()}
        await self.write("POST", f"/trades/{self.pick('trades')}/fills", fill)

    async def annotate_trade(self) -> None:
        one = self.pick("trades")
        tags = self.some(row[0] for row in self.rows("SELECT id FROM tags"))
        asked = self.rows(
            f"SELECT confirmations.id FROM trades JOIN confirmations USING (setup_id) WHERE trades.id = {one}"
        )
        answers = [{"confirmation_id": row, "was_present": self.random.random() < 0.8} for (row,) in self.some(asked)]
        await self.write("PUT", f"/trades/{one}/tags", {"tag_ids": tags})
        await self.write("PUT", f"/trades/{one}/confirmations", {"confirmations": answers})

    async def import_trades(self) -> None:
        """New trades, and now and then other amounts of trades that an earlier file had."""
        known = [name for (name,) in self.rows("SELECT external_id FROM trades WHERE import_id IS NOT NULL")]
        names = [self.random.choice([self.new_name(), *known[-1:]]) for _ in range(3)]
        rows = [
            {**TRADE, "fees": self.random.choice([0, 1]), "closed_at": self.moment(), "external_id": name}
            for name in dict.fromkeys(names)
        ]
        await self.send_file("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]))

    async def import_fills(self) -> None:
        """Some fills, or pairs of them, which go on with positions of earlier files: tests/imports/test_one_book.py."""
        fills = random_fills(self.random.randrange(2), 40)
        pairs = list(first_in_first_out(fills))
        begin = self.random.randrange(30)
        part = slice(begin, begin + 15)
        await self.send_file(self.random.choice([executions(fills[part]), performance(pairs[part])]))

    async def send_file(self, file: str | bytes) -> None:
        path = f"/imports?account_id={self.pick('accounts')}&timezone=UTC"
        await self.write("POST", path, content=file, headers={"Content-Type": "text/csv"})

    async def undo_import(self) -> None:
        await self.write("DELETE", f"/imports/{self.pick('imports')}?force=true")

    # Goals

    def scope(self) -> str:
        return self.random.choice(["all", f"account_{self.pick('accounts')}", f"group_{self.pick('copy_groups')}"])

    def definition(self, metric: str) -> Body:
        """Some members of a goal, with a target that its metric can have."""
        sign = self.random.choice([1, 1, 1, -1]) if METRICS[metric].may_be_negative else 1
        members: Body = {
            "direction": self.random.choice(["at_least", "at_most"]),
            "timeframe": self.random.choice(TIMEFRAMES),
            "target_value": self.random.choice(POSITIVE) * sign,
        }
        body = {name: members[name] for name in self.some(members)}
        if body.get("timeframe") == "custom":
            days = sorted(date(2026, 1, 15) + timedelta(days=self.random.randint(0, 120)) for _ in range(2))
            body |= {"custom_start": str(days[0]), "custom_end": str(days[1])}
        return body

    async def create_goal(self) -> None:
        metric = self.random.choice(sorted(METRICS))
        kind, _, one = self.scope().partition("_")
        member = {"account": "account_id", "group": "copy_group_id"}.get(kind)
        scope = {member: int(one)} if member else {}
        await self.add_goal({"metric": metric, "target_value": 1, **self.definition(metric), **scope})

    async def add_goal(self, body: Body) -> None:
        told = await self.write("POST", "/goals", {"goal_name": "Goal", **body})
        if told:
            goal = as_defined(told, self.now, [(self.now.date(), told["target_value"])])
            self.goals[told["id"]] = Known(goal)

    async def change_goal(self) -> None:
        if not self.goals:
            return
        goal_id = self.random.choice(sorted(self.goals))
        metric = self.random.choice([self.goals[goal_id].goal.metric, *sorted(METRICS)])
        redefined = {"metric": metric, "target_value": 1, **self.definition(metric)}
        status = {"status": self.random.choice(["active", "paused", "archived"])}
        scope = {"scope": self.random.choice(["", self.scope()])}
        body = self.random.choice([redefined, scope, status, {**status, "target_value": 3}, {"target_value": 2}])
        told = await self.write("PATCH", f"/goals/{goal_id}", body)
        if told:
            self.learn_goal(self.goals[goal_id], told)

    def learn_goal(self, known: Known, told: Body) -> None:
        """The goal after a PATCH: its targets, and what it keeps while it is stopped."""
        journal = self.read_journal()
        if told["status"] == "active":
            known.goal.stopped_on = known.kept = None
        elif known.kept is None:
            known.goal.stopped_on = reference.find_day(journal, known.goal, self.now)
            known.kept = self.expected(known)
        before = known.goal
        goal = known.goal = as_defined(told, before.created_at, before.targets)
        goal.stopped_on = before.stopped_on
        is_redefined = any(getattr(goal, name) != getattr(before, name) for name in DEFINITION)
        if is_redefined or told["target_value"] != before.targets[-1][1]:
            today = reference.find_day(journal, goal, self.now)
            is_first = is_redefined or reference.find_day(journal, goal, goal.created_at) == today
            goal.targets = [*([] if is_first else before.targets), (today, told["target_value"])]
        if known.kept is not None and is_redefined:
            known.kept = None
            known.kept = self.expected(known)

    async def delete_goal(self) -> None:
        one = self.pick("goals")
        if await self.write("DELETE", f"/goals/{one}"):
            del self.goals[one]

    async def read_one_goal(self) -> None:
        """Goals are brought up to date at different times."""
        if self.goals:
            await self.compare_goal(self.random.choice(sorted(self.goals)))

    # The owner, time, and the service itself

    async def change_settings(self) -> None:
        members = {
            "timezone": self.random.choice(ZONES),
            "day_rollover": self.random.choice(["00:00", "17:00", "22:00"]),
            "trading_weekdays": self.random.choice(WEEKDAYS),
            "breakeven_within": self.random.choice(TOLERANCES),
            "active_selection": self.scope(),
        }
        await self.write("PATCH", "/me", {name: members[name] for name in self.some(members)})

    async def let_days_pass(self) -> None:
        self.advance(timedelta(days=self.random.choice([1, 3, 12, 40])))

    async def reopen(self) -> None:
        """The journal outlives the service."""
        self.reopened += 1
        await self.close()
        await self.open()
        await self.compare_everything()

    async def move(self) -> None:
        """Go on in a journal that is made of an export of everything, without the key."""
        await self.close()
        folder = self.file.with_name(f"export {self.steps}")
        export_all(self.file, folder, to_nobody)
        self.file, self.key = self.file.with_name(f"journal {self.steps}.db"), ""
        import_all(Settings(db=self.file), folder, is_edited=False, report=to_nobody)
        await self.open()

    async def begin(self, trades: int = 0) -> None:
        """A journal with a little of everything, and so many trades."""
        for name, single in (("Psychology", False), ("Market", True)):
            await self.write("POST", "/tag-categories", {"name": name, "single": single})
        for name in ("Trend", "Range"):
            await self.write("POST", "/tags", {"category_id": 2, "name": name})
        for name, balance in (("Live", 1000), ("Sim", 0)):
            await self.write("POST", "/accounts", {"name": name, "starting_balance": balance})
            await self.write("POST", "/tags", {"category_id": 1, "name": name, "type": "mistake"})
        await self.write("POST", "/tags", {"category_id": 1, "name": "Own", "type": "custom"})
        await self.write("POST", "/copy-groups", {"name": "Copies"})
        setups = [{"name": name, "confirmations": [{"name": "Volume"}, {"name": "Trend"}]} for name in "AB"]
        await self.write("POST", "/strategies", {"name": "Breakout", "setups": setups})
        for metric in ("protocol_completion_rate", "mistake_free_rate", "balance_target", "trade_count"):
            await self.add_goal({"metric": metric, "target_value": 50})
        await self.add_goal({"metric": "balance_target", "target_value": 50, "timeframe": "daily"})
        for _ in range(3):
            await self.create_trades()
        for _ in range(trades):
            await self.write("POST", "/trades", self.new_trade())
            await self.annotate_trade()


GROUPS = get_args(GroupBy)
# What a report depends on, more often what changes trades.
REPORT_STEPS = [
    *[Walk.create_trades, Walk.change_trade, Walk.annotate_trade, Walk.link_trade] * 3,
    *(Walk.write_tag, Walk.write_account, Walk.write_group, Walk.edit_strategy, Walk.delete_something) * 2,
    *[Walk.write_day] * 3,
    *(Walk.import_trades, Walk.undo_import, Walk.merge_trades, Walk.change_settings, Walk.reopen),
]
# More often what changes trades and goals.
STEPS = [
    *[Walk.create_trades, Walk.change_trade, Walk.annotate_trade, Walk.create_goal, Walk.change_goal] * 2,
    *(Walk.write_tag, Walk.write_account, Walk.write_group, Walk.edit_strategy, Walk.delete_something),
    *[Walk.write_cash] * 2,
    *(Walk.import_trades, Walk.undo_import, Walk.delete_goal, Walk.read_one_goal, Walk.change_settings),
    *(Walk.let_days_pass, Walk.reopen, *[Walk.write_account] * 2),
    *[Walk.import_fills, Walk.add_fill, Walk.merge_trades] * 2,
]


async def store_nothing(database: Database, user_id: int) -> None:
    """What refreshing facts does while the file cannot be written."""


def as_defined(told: Body, created_at: datetime, targets: list[tuple[date, Fraction]]) -> reference.Goal:
    """The goal that the service tells, with targets that it does not tell."""
    dates = told["custom_start"], told["custom_end"]
    window = (date.fromisoformat(dates[0]), date.fromisoformat(dates[1])) if dates[0] else None
    fields = (told["metric"], told["direction"], told["timeframe"], told["scope"])
    return reference.Goal(*fields, created_at, targets, window)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@asynccontextmanager
async def walking(file: Path, number: int, clock: time_machine.Traveller, trades: int = 0) -> AsyncIterator[Walk]:
    """A walk that has begun; what it does next is compared at the end."""
    seed = Random().randrange(10**9) if SOAK else number
    walk = Walk(file, Random(seed), clock)
    await walk.open()
    try:
        await walk.begin(trades)
        yield walk
        await walk.compare_everything()
    except Exception as error:
        error.add_note(f"seed {seed}, step {walk.steps}")
        raise
    finally:
        await walk.close()


@pytest.mark.parametrize("number", range(examples(full=200, ci=2)))
@pytest.mark.promise(13)
async def test_goals_and_reports_show_what_the_trades_give_whatever_is_written(
    tmp_path: Path, clock: time_machine.Traveller, number: int, record_observation: Callable[[str], None]
) -> None:
    async with walking(tmp_path / "journal.db", number, clock) as walk:
        for walk.steps in range(1, examples(full=50, ci=25) + 1):
            await walk.random.choice(STEPS)(walk)
            if walk.steps % 12 == 0:
                await walk.move()
            if walk.steps % (9, 5, 3)[number % 3] == 0:
                await walk.compare_everything()

    assert walk.writes[200] + walk.writes[201] > walk.writes.total() / 3
    record_observation(
        f"{walk.steps} steps, {walk.reopened} of them reopened the journal, {walk.steps // 12} "
        f"exports of everything imported and gone on with, {walk.snapshots} "
        f"snapshots compared: 0 differences; writes by status: {dict(walk.writes)}"
    )


@pytest.mark.parametrize("number", range(examples(full=20, ci=1)))
@pytest.mark.promise(13)
async def test_reports_by_every_key_and_filter_follow_what_is_written(
    tmp_path: Path, clock: time_machine.Traveller, number: int, record_observation: Callable[[str], None]
) -> None:
    """What changes between two reads piles up: after a third of the steps nobody reads."""
    several = examples(full=9, ci=3)
    async with walking(tmp_path / "journal.db", 100 + number, clock, trades=examples(full=40, ci=12)) as walk:
        for walk.steps in range(1, examples(full=120, ci=24) + 1):
            await walk.random.choice(REPORT_STEPS)(walk)
            if walk.steps % 3:
                await walk.compare_reports(walk.random.sample(GROUPS, several))
                await walk.read_one_goal()
        await walk.compare_reports(GROUPS)

    record_observation(
        f"{walk.steps} steps, {walk.reports} reports and {walk.snapshots} snapshots compared: "
        f"0 differences; writes by status: {dict(walk.writes)}"
    )

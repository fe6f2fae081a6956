"""Random writes to a journal on a real file: every goal and report shows what reference.py computes from it.

A failure ends with the requests that led to it.
"""

import asyncio
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
import reference
import time_machine
from conftest import client_of, new_key_for, started
from desk import comparable, exact, read_report, read_snapshots
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import DataObject
from proofs import SOAK, examples

from journal_api.app import create_app
from journal_api.settings import Settings
from journal_api.structs.reports import GroupBy
from journal_api.values.metrics import METRICS

Body = dict[str, Any]
# Noon in UTC is the same date in all of these zones, before and after every rollover.
START = datetime(2026, 3, 20, 12, tzinfo=UTC)
ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]
WEEKDAYS = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], [2, 7]]
TIMES = ["00:00:00Z", "03:59:59.999999Z", "12:00:00Z", "17:00:00-04:00", "22:00:00Z", "18:30:00"]
RESOURCES = ("tag-categories", "tags", "accounts", "copy-groups", "strategies", "trades", "goals", "imports")
WITHOUT_SINGLE = ("tag-categories", "tags")
# A change of one of these members defines another goal.
DEFINITION = ("metric", "direction", "timeframe", "scope", "window")

MOMENTS = st.builds(
    lambda days, time: f"{START.date() + timedelta(days=days)}T{time}",
    st.integers(-70, 10),
    st.sampled_from(TIMES),
)
AMOUNTS = st.sampled_from([0.01, 1, 2.5, -3.75, 100, 1000.00000001])
POSITIVE = st.sampled_from([1, 2, 0.5, 12.25])
PRICES = st.sampled_from([100, 100.25, 99.5, 101, 97.12345678])
# What a goal depends on, of a trade that is closed and its own.
RESULTS: dict[str, st.SearchStrategy[Any]] = {
    "closed_at": MOMENTS,
    "gross_pnl": AMOUNTS,
    "fees": st.sampled_from([0, 2.5, -1]),
    "initial_risk": st.none() | POSITIVE,
    "grade": st.sampled_from([None, "A+", "A", "F"]),
}
TRADE: Body = {"symbol": "ES", "direction": "long", "quantity": 1, "entry_price": 100, "exit_price": 101}
TRADE["opened_at"] = "2026-01-02T10:00:00Z"
CONFIRMATIONS = st.lists(st.just({"name": "Trend"}), max_size=2)
# Writes that are refused whatever the journal holds.
REFUSED: list[tuple[str, str, Body]] = [
    ("POST", "/goals", {"goal_name": "Goal", "metric": "luck", "target_value": 1}),
    ("POST", "/goals", {"goal_name": "Goal", "metric": "net_pnl", "target_value": 0}),
    ("POST", "/goals", {"goal_name": "Goal", "metric": "net_pnl", "target_value": 1, "account_id": 10**6}),
    ("POST", "/trades", {**TRADE, "account_id": 10**6}),
    ("POST", "/tags", {"name": "Tag", "category_id": 10**6}),
    ("PATCH", "/me", {"active_selection": "account_1000000"}),
    ("PATCH", "/me", {"timezone": "Mars/Olympus", "day_rollover": "12:00"}),
    *(("DELETE", f"/{resource}/{10**6}", {}) for resource in RESOURCES),
]


@dataclass
class Tally:
    """What a run has done, for people."""

    examples: int = 0
    steps: int = 0
    reopened: int = 0
    snapshots: int = 0
    writes: Counter[str] = field(default_factory=Counter)

    def describe(self) -> str:
        answers = ", ".join(f"{number} x {status}" for status, number in self.writes.most_common())
        return (
            f"{self.examples} examples, {self.steps} steps, {self.reopened} of them reopened the database, "
            f"{self.snapshots} snapshots compared: 0 differences; writes: {answers}"
        )


@dataclass
class Known:
    """A goal as it should be, and its snapshots from the moment it was paused or archived on."""

    goal: reference.Goal
    kept: list[Any] | None = None


class JournalMachine(RuleBasedStateMachine):
    """A trader, and somebody who restarts the service."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self.tally = tally
        tally.examples += 1
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "journal.db"
        self.now = START
        self.clock = time_machine.travel(START, tick=False)
        self.move_to = self.clock.start().move_to
        self.runner = asyncio.Runner()
        self.goals: dict[int, Known] = {}
        self.ids: dict[str, list[int]] = {resource: [] for resource in RESOURCES}
        self.deleted: set[tuple[str, int]] = set()
        self.rhythm = self.countdown = 1
        self.number = 0
        self.key = ""
        self.runner.run(self.open())

    def teardown(self) -> None:
        try:
            self.runner.run(self.close())
        finally:
            self.runner.close()
            self.clock.stop()
            self.folder.cleanup()

    async def open(self) -> None:
        app = create_app(Settings(db=self.file))
        self.lifespan = started(app)
        await self.lifespan.__aenter__()
        self.key = self.key or await new_key_for(app)
        self.client = client_of(app, self.key)

    async def close(self) -> None:
        await self.client.aclose()
        await self.lifespan.__aexit__(None, None, None)

    def advance(self, delta: timedelta) -> None:
        self.now += delta
        self.move_to(self.now)

    # Requests

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request, a second after the one before."""
        self.advance(timedelta(seconds=1))
        response: httpx.Response = self.runner.run(self.client.request(method, path, **options))
        return response

    def get(self, path: str, **query: Any) -> Any:
        (thing,) = exact(self.call("GET", path, params=query))["data"].values()
        return thing

    def send(self, method: str, path: str, body: Body | None = None, **options: Any) -> Any:
        """A write that is done. What it answers is what a read answers afterwards."""
        options = options or ({} if body is None else {"json": body})
        response = self.call(method, path, **options)
        note(f"{method} {path} {options} -> {response.status_code} {response.text}")
        self.tally.writes[str(response.status_code)] += 1
        if method == "DELETE":
            assert response.status_code == 204, response.text
            return None
        assert response.status_code == (201 if method == "POST" else 200), response.text
        (thing,) = json.loads(response.text, parse_float=Fraction)["data"].values()
        resource = path.split("/")[1]
        if method == "POST" and "id" in thing:
            self.learn(resource, thing["id"])
        if "id" in thing and resource in ("accounts", "copy-groups", "strategies", "trades", "goals"):
            assert self.get(f"/{resource}/{thing['id']}") == thing
        return thing

    def learn(self, resource: str, thing_id: int) -> None:
        """An id is new and was never used before."""
        assert thing_id not in self.ids[resource]
        assert (resource, thing_id) not in self.deleted
        self.ids[resource].append(thing_id)

    def forget(self, resource: str, thing_id: int) -> None:
        self.ids[resource].remove(thing_id)
        self.deleted.add((resource, thing_id))

    def an_id(self, resource: str) -> st.SearchStrategy[int]:
        return st.sampled_from(self.ids[resource])

    def rows(self, sql: str) -> list[Any]:
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(sql).fetchall()

    # Comparisons

    def compare_goal(self, goal_id: int) -> None:
        found = self.runner.run(read_snapshots(self.client, goal_id))
        assert found == self.expected(self.goals[goal_id])
        self.tally.snapshots += len(found)

    def expected(self, known: Known) -> list[Any]:
        if known.kept is not None:
            return known.kept
        return reference.compute_snapshots(reference.read_journal(self.file), known.goal, self.now)

    def compare_everything(self) -> None:
        """The goals, in the list with today's snapshot too, and one of the reports."""
        for goal_id in self.goals:
            self.compare_goal(goal_id)
        journal = reference.read_journal(self.file)
        listed = self.get("/goals", status="all", **{"with": "snapshot"})
        assert [one["id"] for one in listed] == sorted(self.goals)
        today = str(journal.day_of(self.now))
        for one in listed:
            running = [
                snapshot
                for snapshot in self.expected(self.goals[one["id"]])
                if snapshot["period_start"] <= today <= snapshot["period_end"]
            ]
            current = one["current"]
            assert ([comparable(current, one["id"])] if current else []) == running
        group_by = get_args(GroupBy)[self.tally.steps % len(get_args(GroupBy))]
        report = self.runner.run(read_report(self.client, group_by))
        assert report == reference.compute_report(journal, group_by, {})

    def read_all_lists(self) -> list[Any]:
        queries: dict[str, Body] = {"trades": {"limit": 200}, "goals": {"status": "all"}}
        return [self.get(f"/{resource}", **queries.get(resource, {})) for resource in RESOURCES]

    # Tags and accounts

    @rule(kind=st.sampled_from(["mistake", "custom"]))
    def create_tag(self, kind: str) -> None:
        self.send("POST", "/tags", {"category_id": 1, "name": self.new_name(), "type": kind})

    def new_name(self) -> str:
        self.number += 1
        return f"Name {self.number}"

    @rule(data=st.data(), kind=st.sampled_from(["mistake", "custom"]))
    @precondition(lambda self: self.ids["tags"])
    def change_tag(self, data: DataObject, kind: str) -> None:
        self.send("PATCH", f"/tags/{data.draw(self.an_id('tags'))}", {"type": kind})

    @rule(data=st.data(), resource=st.sampled_from(["tags", "strategies", "trades", "goals"]))
    def delete_something(self, data: DataObject, resource: str) -> None:
        if self.ids[resource]:
            one = data.draw(self.an_id(resource))
            self.send("DELETE", f"/{resource}/{one}")
            self.forget(resource, one)
            self.goals.pop(one, None) if resource == "goals" else None

    @rule(balance=AMOUNTS)
    def create_account(self, balance: float) -> None:
        self.send("POST", "/accounts", {"name": self.new_name(), "starting_balance": balance})

    @rule(data=st.data(), balance=AMOUNTS, currency=st.sampled_from([None, None, "USD", "EUR"]))
    @precondition(lambda self: self.ids["accounts"])
    def change_account(self, data: DataObject, balance: float, currency: str | None) -> None:
        body = {"currency": currency} if currency else {"starting_balance": balance}
        self.send("PATCH", f"/accounts/{data.draw(self.an_id('accounts'))}", body)

    @rule(data=st.data())
    @precondition(lambda self: self.ids["accounts"])
    def delete_account(self, data: DataObject) -> None:
        """An account with trades stays."""
        one = data.draw(self.an_id("accounts"))
        if self.rows(f"SELECT 1 FROM trades WHERE account_id = {one}"):
            self.refuse("DELETE", f"/accounts/{one}")
        else:
            self.delete_with_goals("accounts", one, f"account_{one}")

    @rule()
    def create_group(self) -> None:
        self.send("POST", "/copy-groups", {"name": self.new_name()})

    @rule(data=st.data())
    @precondition(lambda self: self.ids["copy-groups"])
    def put_members(self, data: DataObject) -> None:
        one = data.draw(self.an_id("copy-groups"))
        elsewhere = {
            account
            for group, accounts in reference.read_journal(self.file).groups.items()
            for account in accounts
            if group != one
        }
        free = [account for account in self.ids["accounts"] if account not in elsewhere]
        accounts = [account for account in free if data.draw(st.booleans())]
        body = {"members": [{"account_id": account} for account in accounts]}
        self.send("PUT", f"/copy-groups/{one}/members", body)

    @rule(data=st.data())
    @precondition(lambda self: self.ids["copy-groups"])
    def delete_group(self, data: DataObject) -> None:
        one = data.draw(self.an_id("copy-groups"))
        self.delete_with_goals("copy-groups", one, f"group_{one}")

    def delete_with_goals(self, resource: str, one: int, scope: str) -> None:
        """The goals of an account or a group go with it."""
        self.send("DELETE", f"/{resource}/{one}")
        self.forget(resource, one)
        for goal_id in [goal_id for goal_id, known in self.goals.items() if known.goal.scope == scope]:
            self.forget("goals", goal_id)
            del self.goals[goal_id]

    # Strategies

    @rule(checklists=st.lists(CONFIRMATIONS, min_size=1, max_size=2))
    def create_strategy(self, checklists: list[list[Body]]) -> None:
        setups = [{"name": "Setup", "confirmations": checklist} for checklist in checklists]
        self.send("POST", "/strategies", {"name": self.new_name(), "setups": setups})

    @rule(data=st.data(), new=st.lists(CONFIRMATIONS, max_size=1))
    @precondition(lambda self: self.ids["strategies"])
    def edit_setups(self, data: DataObject, new: list[list[Body]]) -> None:
        """Setups and confirmations stay, go, come or get a name."""
        path = f"/strategies/{data.draw(self.an_id('strategies'))}"
        items: list[Body] = [{"name": "New", "confirmations": checklist} for checklist in new]
        for setup in self.get(f"{path}/setups"):
            if data.draw(st.sampled_from([True, True, True, False])):
                kept = [
                    {"confirmation_id": one["confirmation_id"]}
                    for one in setup["confirmations"]
                    if data.draw(st.booleans())
                ]
                more = data.draw(CONFIRMATIONS)
                changes: list[Body] = [{}, {"name": "New"}, {"confirmations": kept + more}]
                items.append({"setup_id": setup["setup_id"], **data.draw(st.sampled_from(changes))})
        self.send("PATCH", path, {"setups": items})

    # Trades

    def a_trade(self, data: DataObject) -> Body:
        results = {name: data.draw(RESULTS[name]) for name in data.draw(some_names(RESULTS))}
        results = {"closed_at": data.draw(MOMENTS), **results}
        return {
            **TRADE,
            **results,
            "account_id": data.draw(self.an_id("accounts")),
            **data.draw(self.links()),
        }

    def links(self) -> st.SearchStrategy[Body]:
        """A setup, or an original to be a copy of."""
        setups = st.sampled_from([None, *(row[0] for row in self.rows("SELECT id FROM setups"))])
        sources = st.sampled_from([None, *self.ids["trades"]])
        return st.fixed_dictionaries({}, optional={"setup_id": setups, "source_trade_id": sources})

    @rule(data=st.data())
    @precondition(lambda self: self.ids["accounts"])
    def create_trade(self, data: DataObject) -> None:
        self.send("POST", "/trades", self.a_trade(data))

    @rule(data=st.data())
    @precondition(lambda self: self.ids["accounts"])
    def create_trades(self, data: DataObject) -> None:
        bodies = [self.a_trade(data) for _ in range(data.draw(st.integers(1, 3)))]
        for trade in self.send("POST", "/trades/bulk", {"trades": bodies}):
            self.learn("trades", trade["id"])

    @rule(data=st.data(), moments=st.lists(MOMENTS, min_size=1, max_size=4))
    @precondition(lambda self: self.ids["accounts"])
    def import_trades(self, data: DataObject, moments: list[str]) -> None:
        rows = [{**TRADE, "closed_at": moment, "external_id": self.new_name()} for moment in moments]
        file = "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)])
        query = {"account_id": data.draw(self.an_id("accounts"))}
        headers = {"Content-Type": "text/csv"}
        report = self.send("POST", "/imports", params=query, content=file, headers=headers)
        for row in report["rows"]:
            self.learn("trades", row["trade_id"])

    @rule(data=st.data())
    @precondition(lambda self: self.ids["imports"])
    def undo_import(self, data: DataObject) -> None:
        one = data.draw(self.an_id("imports"))
        added = [row[0] for row in self.rows(f"SELECT id FROM trades WHERE import_id = {one}")]
        self.send("DELETE", f"/imports/{one}?force=true")
        self.forget("imports", one)
        for trade_id in added:
            self.forget("trades", trade_id)

    @rule(data=st.data())
    @precondition(lambda self: self.ids["trades"])
    def change_result(self, data: DataObject) -> None:
        """The result of a trade, which may be open; it may be opened again."""
        one = data.draw(self.an_id("trades"))
        body = {name: data.draw(RESULTS[name]) for name in data.draw(some_names(RESULTS))}
        if data.draw(st.sampled_from([False, False, False, True])):
            body = {"closed_at": None}
        elif self.get(f"/trades/{one}")["closed_at"] is None:
            body = {"closed_at": data.draw(MOMENTS), "exit_price": data.draw(PRICES), **body}
        trade = self.send("PATCH", f"/trades/{one}", body)
        assert {name: trade[name] for name in body if name != "closed_at"} == {
            name: Fraction(str(value)) if isinstance(value, float) else value
            for name, value in body.items()
            if name != "closed_at"
        }

    @rule(data=st.data())
    @precondition(lambda self: self.ids["trades"])
    def change_links(self, data: DataObject) -> None:
        """Another account, setup or original; an original that has copies becomes no copy."""
        one = data.draw(self.an_id("trades"))
        body = {**data.draw(self.links()), "account_id": data.draw(self.an_id("accounts"))}
        source = body.get("source_trade_id")
        parents = dict(self.rows("SELECT id, source_trade_id FROM trades"))
        if source and ((parents.get(source) or source) == one or one in parents.values()):
            self.refuse("PATCH", f"/trades/{one}", body)
        else:
            self.send("PATCH", f"/trades/{one}", body)

    @rule(data=st.data())
    @precondition(lambda self: self.ids["trades"])
    def tag_trade(self, data: DataObject) -> None:
        tags = [one for one in self.ids["tags"] if data.draw(st.booleans())]
        self.send("PUT", f"/trades/{data.draw(self.an_id('trades'))}/tags", {"tag_ids": tags})

    @rule(data=st.data())
    @precondition(lambda self: self.ids["trades"])
    def answer_checklist(self, data: DataObject) -> None:
        asked = self.rows(
            "SELECT trades.id, confirmations.id FROM trades JOIN confirmations USING (setup_id)"
        )
        one = data.draw(st.sampled_from([trade for trade, _ in asked] or self.ids["trades"]))
        answers = [
            {"confirmation_id": confirmation, "was_present": data.draw(st.sampled_from([True, True, False]))}
            for trade, confirmation in asked
            if trade == one and data.draw(st.sampled_from([True, True, True, False]))
        ]
        self.send("PUT", f"/trades/{one}/confirmations", {"confirmations": answers})

    # Goals

    def a_definition(self, data: DataObject, metric: str) -> Body:
        """Some members of a goal, with a target that its metric can have."""
        signs = [1, 1, 1, -1] if METRICS[metric].may_be_negative else [1]
        window = sorted(
            data.draw(st.lists(st.dates(date(2026, 1, 15), date(2026, 5, 15)), min_size=2, max_size=2))
        )
        members: Body = {
            "direction": data.draw(st.sampled_from(["at_least", "at_most"])),
            "timeframe": data.draw(st.sampled_from(["daily", "weekly", "monthly", "quarterly", "custom"])),
            "target_value": data.draw(POSITIVE) * data.draw(st.sampled_from(signs)),
        }
        body = {name: members[name] for name in data.draw(some_names(members))}
        if body.get("timeframe") == "custom":
            body |= {"custom_start": str(window[0]), "custom_end": str(window[1])}
        return body

    def scopes(self) -> st.SearchStrategy[str]:
        accounts = [f"account_{one}" for one in self.ids["accounts"]]
        return st.sampled_from(["all", *accounts, *(f"group_{one}" for one in self.ids["copy-groups"])])

    @rule(data=st.data(), metric=st.sampled_from(sorted(METRICS)))
    def create_goal(self, data: DataObject, metric: str) -> None:
        kind, _, one = data.draw(self.scopes()).partition("_")
        scope = {"account": {"account_id": int(one or 0)}, "group": {"copy_group_id": int(one or 0)}}.get(
            kind, {}
        )
        definition = {"target_value": 1, **self.a_definition(data, metric), **scope}
        self.add_goal({"goal_name": "Goal", "metric": metric, **definition})

    def add_goal(self, body: Body) -> None:
        told = self.send("POST", "/goals", body)
        natural = "at_most" if body["metric"] in ("max_drawdown", "max_trades_per_day") else "at_least"
        assert told["direction"] == body.get("direction", natural)
        goal = as_defined(told, self.now, [(self.now, told["target_value"])])
        self.goals[told["id"]] = Known(replace(goal, created_at=datetime.fromisoformat(told["created_at"])))

    @rule(data=st.data())
    @precondition(lambda self: self.goals)
    def redefine_goal(self, data: DataObject) -> None:
        goal_id = data.draw(self.an_id("goals"))
        metric = data.draw(st.sampled_from(sorted(METRICS)))
        scope = data.draw(st.none() | st.just("") | self.scopes())
        body = {"metric": metric, "target_value": 1} if data.draw(st.booleans()) else {}
        body |= self.a_definition(data, metric if body else self.goals[goal_id].goal.metric)
        self.patch_goal(goal_id, body | ({} if scope is None else {"scope": scope}))

    @rule(data=st.data(), status=st.sampled_from(["active", "paused", "archived"]))
    @precondition(lambda self: self.goals)
    def stop_or_go_on(self, data: DataObject, status: str) -> None:
        goal_id = data.draw(self.an_id("goals"))
        target = data.draw(st.sampled_from([{}, {"target_value": 3}]))
        self.patch_goal(goal_id, {"status": status, **target})

    def patch_goal(self, goal_id: int, body: Body) -> None:
        known = self.goals[goal_id]
        told = self.send("PATCH", f"/goals/{goal_id}", body)
        today = reference.read_journal(self.file).day_of
        if told["status"] == "active":
            known.goal.stopped_on = known.kept = None
        elif known.kept is None:
            known.goal.stopped_on = today(self.moment())
            known.kept = self.expected(known)
        before = known.goal
        sent = {name: body[name] for name in ("metric", "timeframe", "scope", "direction") if name in body}
        assert {name: told[name] for name in sent} == sent
        goal = known.goal = replace(
            as_defined(told, before.created_at, before.targets), stopped_on=before.stopped_on
        )
        is_redefined = any(getattr(goal, name) != getattr(before, name) for name in DEFINITION)
        target = Fraction(str(body.get("target_value", float(before.targets[-1][1]))))
        assert told["target_value"] == target
        if is_redefined or target != before.targets[-1][1]:
            is_first = is_redefined or today(goal.created_at) == today(self.moment())
            goal.targets = [*([] if is_first else before.targets), (self.moment(), target)]
        if known.kept is not None and is_redefined:
            known.kept = None
            known.kept = self.expected(known)

    def moment(self) -> datetime:
        """When the last write was sent: each read came a second after it."""
        return self.now - timedelta(seconds=1)

    @rule(data=st.data())
    @precondition(lambda self: self.goals)
    def read_one_goal(self, data: DataObject) -> None:
        """Goals are brought up to date at different times."""
        self.compare_goal(data.draw(self.an_id("goals")))

    # The owner, time, and the service itself

    @rule(data=st.data())
    def change_settings(self, data: DataObject) -> None:
        members = {
            "timezone": st.sampled_from(ZONES),
            "day_rollover": st.sampled_from(["00:00", "17:00", "22:00"]),
            "trading_weekdays": st.sampled_from(WEEKDAYS),
            "active_selection": self.scopes(),
        }
        body = {name: data.draw(members[name]) for name in data.draw(some_names(members))}
        self.send("PATCH", "/me", body)

    @rule(refused=st.sampled_from(REFUSED))
    def send_nonsense(self, refused: tuple[str, str, Body]) -> None:
        self.refuse(*refused)

    def refuse(self, method: str, path: str, body: Body | None = None) -> None:
        """A write that is refused leaves every row as it was."""
        before = self.read_all_lists()
        response = self.call(method, path, json=body)
        note(f"{method} {path} {body} -> {response.status_code} {response.text}")
        self.tally.writes[f"{response.status_code} {response.json()['error']['code']}"] += 1
        assert response.status_code in (400, 404, 409)
        assert self.read_all_lists() == before

    @rule(days=st.sampled_from([1, 3, 12, 40]))
    def let_days_pass(self, days: int) -> None:
        self.advance(timedelta(days=days))

    @rule()
    def reopen(self) -> None:
        """The journal outlives the service."""
        self.tally.reopened += 1
        before = self.read_all_lists()
        self.runner.run(self.close())
        self.runner.run(self.open())
        assert self.read_all_lists() == before
        self.compare_everything()

    @initialize(rhythm=st.sampled_from([6, 3, 1]))
    def begin(self, rhythm: int) -> None:
        """A journal with a little of everything; it is no step."""
        self.tally.steps -= 1
        self.rhythm = self.countdown = rhythm
        self.send("POST", "/tag-categories", {"name": "Psychology"})
        for name in ("FOMO", "Late"):
            self.send("POST", "/tags", {"category_id": 1, "name": name, "type": "mistake"})
        for name, balance in (("Live", 1000), ("Sim", 0)):
            self.send("POST", "/accounts", {"name": name, "starting_balance": balance})
        self.send("POST", "/copy-groups", {"name": "Copies"})
        setups = [{"name": name, "confirmations": [{"name": "Volume"}, {"name": "Trend"}]} for name in "AB"]
        self.send("POST", "/strategies", {"name": "Breakout", "setups": setups})
        for number in range(4):
            closed = {"closed_at": f"2026-03-{10 + number}T15:00:00Z", "exit_price": 102 - number}
            body = {**TRADE, **closed, "account_id": 1 + number % 2, "setup_id": 1 + number % 2}
            trade = self.send("POST", "/trades", body)
            self.send("PUT", f"/trades/{trade['id']}/tags", {"tag_ids": [1 + number % 2]})
            answers = [{"confirmation_id": 2 * (number % 2) + one, "was_present": True} for one in (1, 2)]
            self.send(
                "PUT", f"/trades/{trade['id']}/confirmations", {"confirmations": answers[number // 2 :]}
            )
        for metric in ("protocol_completion_rate", "mistake_free_rate", "balance_target"):
            self.add_goal({"goal_name": "Goal", "metric": metric, "target_value": 50})

    @invariant()
    def now_and_then_everything_is_compared(self) -> None:
        self.tally.steps += 1
        self.countdown -= 1
        if self.countdown <= 0:
            self.countdown = self.rhythm
            self.compare_everything()


def some_names(members: dict[str, Any]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(sorted(members)), max_size=3, unique=True)


def as_defined(told: Body, created_at: datetime, targets: list[tuple[datetime, Fraction]]) -> reference.Goal:
    """The goal that the service tells, with targets that it does not tell."""
    dates = told["custom_start"], told["custom_end"]
    window = (date.fromisoformat(dates[0]), date.fromisoformat(dates[1])) if dates[0] else None
    fields = (told["metric"], told["direction"], told["timeframe"], told["scope"])
    return reference.Goal(*fields, created_at, targets, window)


@pytest.mark.promise(13)
def test_goals_and_reports_show_what_the_trades_give_whatever_is_written(
    record_observation: Callable[[str], None],
) -> None:
    tally = Tally()

    # In many short runs, since in a long one Hypothesis comes to vary what it has tried.
    for _ in range(examples(20, 1)):
        run_state_machine_as_test(
            lambda: JournalMachine(tally),  # type: ignore[arg-type]  # a function will do, its docstring says
            settings=settings(
                max_examples=examples(15, 10),
                # The beginning counts as one.
                stateful_step_count=examples(50, 25) + 1,
                deadline=None,
                derandomize=not SOAK,
                # A short run that fails is short enough to read, and shrinking it would take minutes.
                phases=[Phase.generate, Phase.shrink] if SOAK else [Phase.generate],
                database=None,
                # A journal is opened and filled before the first step.
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )

    record_observation(tally.describe())
    assert tally.steps >= examples(200 * 50, 8 * 10)

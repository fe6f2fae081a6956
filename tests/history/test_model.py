"""The service and the model of model.py side by side: after every request they say the same.

A machine sends random requests, good and bad, to a journal on a real database file, and now and then closes
the service and opens it anew. The model foretells every status, code and body. A failure ends with the
requests that led to it.
"""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import model
import pytest
import time_machine
from conftest import client_of, new_key_for, started
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import DataObject, SearchStrategy
from model import Body, Goal, Model, Refused, Thing
from proofs import SOAK, examples

from journal_api.app import create_app
from journal_api.settings import Settings

# Noon in UTC is the same date in all of these zones, before and after every rollover.
START = datetime(2026, 3, 20, 12, tzinfo=UTC)
ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]
ROLLOVERS = ["00:00", "17:00", "22:00"]
WEEKDAYS = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], [2, 7]]
MAX_STRATEGIES = 3
ABSENT = 10**6
# By path, what the model calls them and what the answers call one of them.
LISTS = {
    "tag-categories": ("categories", "tag_category"),
    "tags": ("tags", "tag"),
    "accounts": ("accounts", "account"),
    "copy-groups": ("groups", "copy_group"),
    "strategies": ("strategies", "strategy"),
    "trades": ("trades", "trade"),
    "goals": ("goals", "goal"),
}
WITHOUT_SINGLE = ("tag-categories", "tags")
TAGGED = ("strategies", "trades", "goals")
QUERIES: dict[str, dict[str, Any]] = {"trades": {"limit": 200}, "goals": {"status": "all"}}


# What is sent --------------------------------------------------------------------------------------------


def mostly(good: Sequence[Any], *bad: Any) -> SearchStrategy[Any]:
    """One of the good in nine of ten times."""
    return st.integers(0, 9).flatmap(lambda one: st.sampled_from(bad if one == 9 else good))


# Few, so that they meet; one has two spellings that are one name, and one is stripped to another.
NAMES = mostly(
    ["Alpha", "alpha", "Beta", " Beta ", "\u00c9clair", "E\u0301clair", "Zulu", "Delta", "Echo"],
    *("", " \u3000 ", "x" * 256, "a\x07b", 5, None),
)
COLORS = mostly(["#3b82f6", "#FFFFFF", "#1d4ed8"], "red", "#3b82f", "#3b82f6\n")
TEXTS = mostly([None, "", "why"], 5)
PLACES = mostly([0, 1, 2, -1, 7], 1.0, "1", None)
FREE_FORMS = mostly([None, {}, {"max": 2, "per": "day"}, {"a": [1, {"b": None}]}], [], "x", 5)
AMOUNTS = mostly([0, 0.01, 1, 2.5, -3.75, 100, 1000.00000001], "5", True)
SIZES = mostly([1, 2, 0.5, 12.25], 0, -1)
PRICES = st.sampled_from([100, 100.25, 99.5, 101, 97.12345678])
TIMES = ["00:00:00Z", "03:59:59.999999Z", "12:00:00Z", "17:00:00-04:00", "22:00:00Z", "18:30:00", "09:00:00"]
MOMENTS = st.builds(
    lambda days, time: f"{START.date() + timedelta(days=days)}T{time}",
    st.integers(-70, 10),
    st.sampled_from(TIMES),
)
OPENED_AT = "2026-01-02T10:00:00Z"
# Of a file, good ones alone.
ROWS = st.fixed_dictionaries(
    {
        "symbol": st.sampled_from(["ES", "MNQ"]),
        "direction": st.sampled_from(["long", "short"]),
        "quantity": st.sampled_from([1, 2, 0.5]),
        "entry_price": PRICES,
        "exit_price": PRICES,
        "opened_at": st.just(OPENED_AT),
        "closed_at": MOMENTS,
        "fees": st.sampled_from([0, 2.5]),
    }
)
GRADES = mostly([None, "A+", "A", "F"], "E")
# More often those that have their own direction, or hang on tags and checklists.
METRICS = mostly(
    sorted(model.UNIT_OF) + ["max_drawdown", "protocol_completion_rate", "mistake_free_rate"] * 4, "luck"
)
DATES = mostly(["2026-01-15", "2026-03-01", "2026-03-31", "2026-05-15"], "2026-02-30", "1999-12-31", None)


def some_of(**members: SearchStrategy[Any]) -> SearchStrategy[Body]:
    """A body of some of these members."""
    return st.fixed_dictionaries({}, optional=members)


NEW_CONFIRMATION = st.fixed_dictionaries(
    {"name": NAMES}, optional={"description": TEXTS, "sort_order": PLACES}
)
NEW_SETUP = st.fixed_dictionaries(
    {"name": NAMES},
    optional={
        "description": TEXTS,
        "sort_order": PLACES,
        "confirmations": st.lists(NEW_CONFIRMATION, max_size=2),
    },
)
GOAL: dict[str, SearchStrategy[Any]] = {
    "direction": mostly(["at_least", "at_most"], "up"),
    "timeframe": mostly(list(model.TIMEFRAMES), "yearly"),
    "target_value": AMOUNTS,
}


# The machine ---------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What a run has done, for people."""

    examples: int = 0
    steps: int = 0
    reopened: int = 0
    snapshots: int = 0
    # by method, resource and outcome
    writes: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def told(self) -> str:
        outcomes: Counter[str] = Counter()
        for (_, _, outcome), number in self.writes.items():
            outcomes[outcome] += number
        answers = ", ".join(f"{number} x {outcome}" for outcome, number in outcomes.most_common())
        return (
            f"{self.examples} examples, {self.steps} steps, {self.reopened} of them reopened the database, "
            f"{self.snapshots} snapshots compared: 0 divergences; writes: {answers}"
        )


class JournalMachine(RuleBasedStateMachine):
    """A trader, a clerk who makes mistakes, and somebody who restarts the service."""

    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self.tally = tally
        tally.examples += 1
        self.folder = tempfile.TemporaryDirectory()
        self.clock = time_machine.travel(START, tick=False)
        self.move_to = self.clock.start().move_to
        self.runner = asyncio.Runner()
        self.model = Model(START, MAX_STRATEGIES)
        # The ids of what was deleted: they are not used again.
        self.deleted: set[tuple[str, int]] = set()
        # The trades that each import added; none once it was undone.
        self.imports: dict[int, list[int]] = {}
        # (ETag, what it was the tag of) by path
        self.tags: dict[str, tuple[str, Any]] = {}
        self.rhythm = 1
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
        path = Path(self.folder.name) / "journal.db"
        app = create_app(Settings(db=path, max_strategies=MAX_STRATEGIES))
        self.lifespan = started(app)
        await self.lifespan.__aenter__()
        self.key = self.key or await new_key_for(app)
        self.client = client_of(app, self.key)

    async def close(self) -> None:
        await self.client.aclose()
        await self.lifespan.__aexit__(None, None, None)

    # Asking

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """One request, a second after the one before."""
        self.model.now += timedelta(seconds=1)
        self.move_to(self.model.now)
        if method != "GET" and "content" not in options:
            options["json"] = body
        response = self.runner.run(self.client.request(method, path, **options))
        if method != "GET":
            self.tally.writes[method, path.split("/")[1], outcome(response)] += 1
        return response

    def get(self, path: str, **query: Any) -> Any:
        response = self.call("GET", path, params=query)
        assert response.status_code == 200, (path, response.text)
        return data_of(response)

    def send(
        self, method: str, path: str, body: Any, means: Callable[[], Any], if_match: bool = False
    ) -> httpx.Response:
        """One write, in the service and in the model; then both are looked at."""
        headers = {}
        if if_match and path in self.tags:
            tag, tagged = self.tags.pop(path)
            headers = {"If-Match": tag}
            self.model.is_stale = tagged != self.view_at(path)
        response = self.call(method, path, body, headers=headers)
        note(f"{method} {path} {headers or ''} {json.dumps(body)} -> {response.status_code} {response.text}")
        foretold = foretell(means)
        self.model.is_stale = False
        if isinstance(foretold, Refused):
            told = response.json().get("error", {"code": None, "details": {}})
            assert (response.status_code, told["code"]) == (foretold.status, foretold.code)
            assert_details(told["details"], foretold.details)
        else:
            assert response.status_code == {"POST": 201, "DELETE": 204}.get(method, 200), response.text
        if isinstance(foretold, Thing):
            self.agree_on(method, path, response, foretold)
        self.look_at(path)
        return response

    def agree_on(self, method: str, path: str, response: httpx.Response, thing: Thing) -> None:
        """The answer is the whole object, and a new one has an id that nothing had before."""
        told = data_of(response)
        root = path.split("/")[1]
        model.learn(thing, told)
        assert told == self.model.view(thing)
        assert (root, thing.id) not in self.deleted
        if method == "POST":
            assert response.headers["location"] == f"/v1/{root}/{thing.id}"
        if root in TAGGED:
            self.note_tag(f"/{root}/{thing.id}", response, told)

    def note_tag(self, path: str, response: httpx.Response, told: Any) -> None:
        """The ETag is another one exactly when the object is."""
        tag = response.headers["etag"]
        known_tag, known = self.tags.setdefault(path, (tag, told))
        assert (tag == known_tag) == (told == known)

    # Looking

    def things(self, root: str) -> list[Any]:
        found: list[Any] = getattr(self.model, LISTS[root][0])
        return found

    def view_at(self, path: str) -> Any:
        """What the model has at that path, or None."""
        _, root, thing_id = path.split("/")[:3]
        return next((self.model.view(one) for one in self.things(root) if one.id == int(thing_id)), None)

    def look_at(self, path: str) -> None:
        """The list, and the one object that the path names."""
        root, *rest = path.strip("/").split("/")
        if root == "me":
            return
        self.look_at_list(root)
        if rest and root not in WITHOUT_SINGLE:
            self.look_at_one(root, int(rest[0]))

    def look_at_list(self, root: str) -> None:
        listed = self.get(f"/{root}", **QUERIES.get(root, {}))
        wanted = [self.model.list_view(one) for one in self.model.in_order(self.things(root))]
        assert listed == wanted

    def look_at_one(self, root: str, thing_id: int) -> None:
        path = f"/{root}/{thing_id}"
        response = self.call("GET", path)
        wanted = self.view_at(path)
        if wanted is None:
            assert outcome(response) == "404 not_found"
            return
        told = data_of(response)
        assert told == wanted
        if root in TAGGED:
            self.note_tag(path, response, told)

    def look_at_snapshots(self, goal: Goal) -> None:
        told = self.get(f"/goals/{goal.id}/snapshots", limit=365)
        wanted = self.model.snapshots(goal)
        self.tally.snapshots += len(wanted)
        reasons = [one["snapshot_data"].pop("reason") for one in told]
        for one in told:
            assert datetime.fromisoformat(one.pop("computed_at")) <= self.model.now
        assert told == [one.view for one in wanted]
        for reason, one in zip(reasons, wanted, strict=True):
            assert reason in one.reasons if one.reasons else reason is None

    def look_at_everything(self) -> None:
        for root in LISTS:
            self.look_at_list(root)
            for thing in self.things(root) if root not in WITHOUT_SINGLE else []:
                self.look_at_one(root, thing.id)
        for strategy in self.model.strategies:
            assert self.get(f"/strategies/{strategy.id}/setups") == self.model.view(strategy)["setups"]
        for goal in self.model.goals:
            self.look_at_snapshots(goal)
        me = self.get("/me")
        for member in ("timezone", "day_rollover", "trading_weekdays", "active_selection"):
            assert me[member] == getattr(self.model, member)

    # Choosing

    def an_id(self, root: str, absent: bool = True) -> SearchStrategy[int]:
        """The id of one of them; now and then of one that is gone or never was."""
        gone = [ABSENT] + [thing_id for where, thing_id in sorted(self.deleted) if where == root]
        ids = [thing.id for thing in self.things(root)]
        if not ids or not absent:
            return st.sampled_from(ids or gone)
        return mostly(ids, *gone)

    def scopes(self) -> SearchStrategy[str]:
        named = [f"account_{one.id}" for one in self.model.accounts]
        named += [f"group_{one.id}" for one in self.model.groups]
        return mostly(["all", "", *named], "account_0", f"group_{ABSENT}", "ACCOUNT_1")

    def a_trade(self) -> dict[str, SearchStrategy[Any]]:
        setups = [setup.id for strategy in self.model.strategies for setup in strategy.setups]
        return {
            "symbol": mostly(["ES", "MNQ"], ""),
            "direction": mostly(["long", "short"], "up"),
            "quantity": SIZES,
            "multiplier": SIZES,
            "entry_price": PRICES,
            "exit_price": st.none() | PRICES,
            "stop_loss": st.none() | PRICES,
            "opened_at": MOMENTS,
            "closed_at": st.none() | MOMENTS,
            "gross_pnl": st.none() | AMOUNTS,
            "fees": AMOUNTS,
            "initial_risk": st.none() | SIZES,
            "grade": GRADES,
            "strategy_id": st.none() | self.an_id("strategies"),
            "setup_id": mostly([None, *setups, *setups], ABSENT),
            "source_trade_id": st.none() | self.an_id("trades"),
            "external_id": st.sampled_from([None, "X-1", "X-2"]),
            "account_id": self.an_id("accounts"),
        }

    # Tags

    @rule(name=NAMES)
    def create_category(self, name: Any) -> None:
        body = {"name": name}
        self.send("POST", "/tag-categories", body, lambda: self.model.create_category(body))

    @rule(data=st.data(), body=some_of(name=NAMES))
    def rename_category(self, data: DataObject, body: Body) -> None:
        one = data.draw(self.an_id("tag-categories"))
        self.send("PATCH", f"/tag-categories/{one}", body, lambda: self.model.patch_category(one, body))

    @rule(data=st.data())
    def delete_category(self, data: DataObject) -> None:
        self.delete("tag-categories", data, self.model.delete_category)

    @rule(data=st.data(), rest=some_of(color=COLORS, type=mostly(["mistake", "custom"], "x")), name=NAMES)
    def create_tag(self, data: DataObject, rest: Body, name: Any) -> None:
        body = {"category_id": data.draw(self.an_id("tag-categories")), "name": name, **rest}
        self.send("POST", "/tags", body, lambda: self.model.create_tag(body))

    @rule(data=st.data())
    def change_tag(self, data: DataObject) -> None:
        one = data.draw(self.an_id("tags"))
        kinds = mostly(["mistake", "custom"], None)
        categories = self.an_id("tag-categories")
        body = data.draw(some_of(name=NAMES, color=COLORS, type=kinds, category_id=categories))
        self.send("PATCH", f"/tags/{one}", body, lambda: self.model.patch_tag(one, body))

    @rule(data=st.data())
    def delete_tag(self, data: DataObject) -> None:
        self.delete("tags", data, self.model.delete_tag)

    def delete(
        self, root: str, data: DataObject, means: Callable[[int], Any], if_match: bool = False
    ) -> httpx.Response:
        one = data.draw(self.an_id(root))
        response = self.send("DELETE", f"/{root}/{one}", None, lambda: means(one), if_match)
        if response.status_code == 204:
            self.deleted.add((root, one))
            self.tags.pop(f"/{root}/{one}", None)
        return response

    # Accounts and copy groups

    @rule(name=NAMES, rest=some_of(starting_balance=AMOUNTS, broker=NAMES, archived=st.booleans()))
    def create_account(self, name: Any, rest: Body) -> None:
        body = {"name": name, **rest}
        self.send("POST", "/accounts", body, lambda: self.model.create_account(body))

    @rule(data=st.data(), body=some_of(name=NAMES, starting_balance=AMOUNTS, archived=st.booleans()))
    def change_account(self, data: DataObject, body: Body) -> None:
        one = data.draw(self.an_id("accounts"))
        self.send("PATCH", f"/accounts/{one}", body, lambda: self.model.patch_account(one, body))

    @rule(data=st.data())
    def delete_account(self, data: DataObject) -> None:
        self.delete("accounts", data, self.model.delete_account)
        self.forget_goals()

    @rule(name=NAMES)
    def create_group(self, name: Any) -> None:
        body = {"name": name}
        self.send("POST", "/copy-groups", body, lambda: self.model.create_group(body))

    @rule(data=st.data())
    @precondition(lambda self: self.model.groups)
    def put_members(self, data: DataObject) -> None:
        one = data.draw(self.an_id("copy-groups"))
        accounts = data.draw(st.lists(self.an_id("accounts"), max_size=3))
        body = {"members": [{"account_id": account} for account in accounts]}
        path = f"/copy-groups/{one}/members"
        self.send("PUT", path, body, lambda: self.model.put_members(one, body))

    @rule(data=st.data())
    @precondition(lambda self: self.model.groups)
    def delete_group(self, data: DataObject) -> None:
        self.delete("copy-groups", data, self.model.delete_group)
        self.forget_goals()

    def forget_goals(self) -> None:
        """Those that went with their account or group."""
        left = {f"/goals/{goal.id}" for goal in self.model.goals}
        for path in [path for path in self.tags if path.startswith("/goals/") and path not in left]:
            del self.tags[path]
            self.deleted.add(("goals", int(path.split("/")[2])))

    # Strategies

    def strategy_fields(self) -> dict[str, SearchStrategy[Any]]:
        return {
            "description": TEXTS,
            "color_tag": COLORS,
            "account_id": st.none() | self.an_id("accounts"),
            "copy_group_id": st.none() | self.an_id("copy-groups"),
            "risk_rules": FREE_FORMS,
            "exit_rules": FREE_FORMS,
        }

    @rule(data=st.data(), name=NAMES, setups=st.lists(NEW_SETUP, max_size=3))
    def create_strategy(self, data: DataObject, name: Any, setups: list[Body]) -> None:
        body = {"name": name, "setups": setups, **data.draw(some_of(**self.strategy_fields()))}
        self.send("POST", "/strategies", body, lambda: self.model.create_strategy(body))

    @rule(data=st.data(), if_match=st.booleans())
    def change_strategy(self, data: DataObject, if_match: bool) -> None:
        one = data.draw(self.an_id("strategies"))
        body = data.draw(some_of(name=NAMES, **self.strategy_fields()))
        self.patch_strategy(one, body, if_match)

    def patch_strategy(self, one: int, body: Body, if_match: bool = False) -> None:
        means = partial(self.model.patch_strategy, one, body)
        self.send("PATCH", f"/strategies/{one}", body, means, if_match)

    @rule(data=st.data(), new=st.lists(NEW_SETUP, max_size=1), if_match=st.booleans())
    @precondition(lambda self: self.model.strategies)
    def edit_setups(self, data: DataObject, new: list[Body], if_match: bool) -> None:
        """Keep, change, leave out, reorder and add."""
        strategy = data.draw(st.sampled_from(self.model.strategies))
        kept = data.draw(st.permutations(strategy.setups))[: data.draw(st.sampled_from([9, 9, 2, 1]))]
        items = [self.edited_setup(data, setup) for setup in kept] + new
        self.patch_strategy(strategy.id, {"setups": items}, if_match)

    def edited_setup(self, data: DataObject, setup: model.Setup) -> Body:
        item = data.draw(some_of(name=NAMES, description=TEXTS, sort_order=PLACES))
        if data.draw(st.booleans()):
            kept = data.draw(st.permutations(setup.confirmations))[: data.draw(st.sampled_from([9, 1, 0]))]
            item["confirmations"] = [
                {**data.draw(some_of(name=NAMES, sort_order=PLACES)), "confirmation_id": one.id}
                for one in kept
            ] + data.draw(st.lists(NEW_CONFIRMATION, max_size=1))
        return {"setup_id": setup.id, **item}

    @rule(data=st.data(), swap=st.booleans())
    @precondition(lambda self: self.model.strategies)
    def send_back_what_was_read(self, data: DataObject, swap: bool) -> None:
        """Unchanged, or with the names of the first and the last setup swapped."""
        strategy = data.draw(st.sampled_from(self.model.strategies))
        setups = self.get(f"/strategies/{strategy.id}/setups")
        if swap and setups:
            setups[0]["name"], setups[-1]["name"] = setups[-1]["name"], setups[0]["name"]
        self.patch_strategy(strategy.id, {"setups": setups})

    @rule(data=st.data(), mischief=st.integers(0, 8))
    @precondition(lambda self: self.model.strategies)
    def send_setups_that_do_not_go(self, data: DataObject, mischief: int) -> None:
        """Ids of others, ids sent twice, and what is not a list of setups."""
        strategy = data.draw(st.sampled_from(self.model.strategies))
        setups = [setup for one in self.model.strategies for setup in one.setups]
        setup_id = data.draw(st.sampled_from([ABSENT, *(setup.id for setup in setups)]))
        asked = [one.id for setup in setups for one in setup.confirmations]
        confirmation = {"confirmation_id": data.draw(st.sampled_from([ABSENT, *asked]))}
        own = [{"setup_id": setup.id} for setup in strategy.setups]
        changed = [{**item, "name": "Changed", "description": "Changed"} for item in own]
        sent: list[Any] = [
            [*changed, {"setup_id": setup_id}],
            [*changed, {"setup_id": setup_id, "confirmations": [confirmation]}],
            [*changed, {"name": "New", "confirmations": [confirmation]}],
            [{**item, "confirmations": [confirmation, confirmation]} for item in own],
            [*changed, {"description": "no name"}],
            [*changed, {"id": setup_id, "name": "New"}],
            [{**item, "confirmations": None} for item in own] or None,
            [{"name": "New"}] * 51,
            [{"name": "New", "confirmations": [{"name": "New"}] * 101}],
        ]
        self.patch_strategy(strategy.id, {"name": "Never", "setups": sent[mischief]})

    @rule(data=st.data())
    @precondition(lambda self: self.model.strategies)
    def clear_setups(self, data: DataObject) -> None:
        self.patch_strategy(data.draw(self.an_id("strategies")), {"setups": []})

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.strategies)
    def delete_strategy(self, data: DataObject, if_match: bool) -> None:
        unlinked: list[int] = []
        response = self.delete(
            "strategies", data, lambda one: unlinked.append(self.model.delete_strategy(one)), if_match
        )
        if response.status_code == 204:
            assert response.headers["x-trades-unlinked"] == str(unlinked[0])

    # Trades

    def a_new_trade(self, data: DataObject) -> Body:
        fields = self.a_trade()
        needed = ("account_id", "symbol", "direction", "quantity", "entry_price")
        kinds = {name: fields.pop(name) for name in needed}
        return {
            **data.draw(st.fixed_dictionaries(kinds)),
            "opened_at": OPENED_AT,
            "closed_at": data.draw(MOMENTS),
            "exit_price": data.draw(PRICES),
            **data.draw(few_of(fields)),
        }

    @rule(data=st.data())
    @precondition(lambda self: self.model.accounts)
    def create_trade(self, data: DataObject) -> None:
        body = self.a_new_trade(data)
        self.send("POST", "/trades", body, lambda: self.model.create_trade(body))

    @rule(data=st.data(), number=st.integers(1, 3))
    @precondition(lambda self: self.model.accounts)
    def create_trades(self, data: DataObject, number: int) -> None:
        bodies = [self.a_new_trade(data) for _ in range(number)]
        response = self.call("POST", "/trades/bulk", {"trades": bodies})
        note(f"POST /trades/bulk {json.dumps(bodies)} -> {response.status_code} {response.text}")
        foretold = foretell(lambda: self.model.create_trades(bodies))
        if isinstance(foretold, Refused):
            assert outcome(response) == "400 validation_error"
        else:
            self.agree_on_trades(foretold, [trade["id"] for trade in data_of(response)])
        self.look_at_list("trades")

    def agree_on_trades(self, trades: Sequence[model.Trade], ids: Sequence[int]) -> None:
        """Several at once have ids that nothing had before, in their order."""
        for trade, trade_id in zip(trades, ids, strict=True):
            assert ("trades", trade_id) not in self.deleted
            model.learn(trade, {"id": trade_id})

    @rule(data=st.data(), rows=st.lists(ROWS, min_size=1, max_size=4))
    @precondition(lambda self: self.model.accounts)
    def import_trades(self, data: DataObject, rows: list[Body]) -> None:
        """Each with an id that no other has, so that all are new."""
        account = data.draw(self.an_id("accounts", absent=False))
        rows = [{**row, "external_id": f"F-{len(self.imports)}-{place}"} for place, row in enumerate(rows)]
        lines = [",".join(rows[0]), *(",".join(str(row[column]) for column in rows[0]) for row in rows)]
        note(f"POST /imports {lines}")
        response = self.call(
            "POST",
            "/imports",
            params={"account_id": account},
            content="\n".join(lines),
            headers={"Content-Type": "text/csv"},
        )
        report = data_of(response)
        trades = self.model.create_trades([{**row, "account_id": account} for row in rows])
        self.agree_on_trades(trades, [row["trade_id"] for row in report["rows"]])
        self.imports[report["id"]] = [trade.id for trade in trades]
        self.look_at_list("trades")

    @rule(data=st.data())
    @precondition(lambda self: any(self.imports.values()))
    def undo_import(self, data: DataObject) -> None:
        one = data.draw(st.sampled_from(sorted(one for one, trades in self.imports.items() if trades)))
        response = self.call("DELETE", f"/imports/{one}", params={"force": True})
        assert response.status_code == 204, response.text
        self.model.undo_import(self.imports[one])
        for trade_id in self.imports[one]:
            self.deleted.add(("trades", trade_id))
            self.tags.pop(f"/trades/{trade_id}", None)
        self.imports[one] = []
        self.look_at_list("trades")

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.trades)
    def change_what_a_trade_points_at(self, data: DataObject, if_match: bool) -> None:
        members = self.a_trade()
        ids = ("account_id", "strategy_id", "setup_id", "source_trade_id", "external_id")
        self.patch_trade(data, {name: members[name] for name in ids}, if_match)

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.trades)
    def change_what_happened(self, data: DataObject, if_match: bool) -> None:
        """It may close a trade or open it again."""
        self.patch_trade(data, self.a_trade(), if_match)

    def patch_trade(
        self, data: DataObject, members: dict[str, SearchStrategy[Any]], if_match: bool = False
    ) -> None:
        one = data.draw(self.an_id("trades"))
        body = data.draw(few_of(members))
        self.send("PATCH", f"/trades/{one}", body, lambda: self.model.patch_trade(one, body), if_match)

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.trades)
    def tag_trade(self, data: DataObject, if_match: bool) -> None:
        one = data.draw(self.an_id("trades"))
        body = {"tag_ids": data.draw(st.lists(self.an_id("tags"), max_size=3))}
        self.send(
            "PUT", f"/trades/{one}/tags", body, lambda: self.model.insert_trade_tags(one, body), if_match
        )

    @rule(data=st.data(), mischief=mostly([False], True))
    @precondition(lambda self: self.model.trades)
    def answer_checklist(self, data: DataObject, mischief: bool) -> None:
        asked = self.model.journal().checklists
        askable = [trade for trade in self.model.trades if asked.get(trade.setup_id or 0)]
        trade = data.draw(st.sampled_from(askable or self.model.trades))
        ids = sorted(asked.get(trade.setup_id or 0, ()))
        elsewhere = sorted(one for checklist in asked.values() for one in checklist if one not in ids)
        answers = [
            {"confirmation_id": one, **data.draw(ANSWER)}
            for one in [*ids, *(elsewhere if mischief else [])]
            if data.draw(mostly([True], False))
        ]
        body = {"confirmations": answers * 2 if mischief and not elsewhere else answers}
        path = f"/trades/{trade.id}/confirmations"
        self.send("PUT", path, body, lambda: self.model.put_answers(trade.id, body))

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.trades)
    def delete_trade(self, data: DataObject, if_match: bool) -> None:
        self.delete("trades", data, self.model.delete_trade, if_match)

    @rule()
    @precondition(lambda self: self.model.trades)
    def find_every_exported_trade_again(self) -> None:
        export = self.call("GET", "/trades/export").content
        headers = {"Content-Type": "text/csv"}
        sent = self.client.post("/imports", params={"dry_run": True}, content=export, headers=headers)
        counts = data_of(self.runner.run(sent))["counts"]
        assert counts["duplicate"] == len(self.model.trades)
        assert sum(counts.values()) == len(self.model.trades)

    # Goals

    @rule(data=st.data(), rest=some_of(**GOAL), metric=METRICS, window=some_of(a=DATES, b=DATES))
    def create_goal(self, data: DataObject, rest: Body, metric: str, window: Body) -> None:
        scope = {"account_id": self.an_id("accounts"), "copy_group_id": self.an_id("copy-groups")}
        body = {"goal_name": "Goal", "metric": metric, "target_value": 5, **rest, **data.draw(few_of(scope))}
        if rest.get("timeframe") == "custom":
            body |= {"custom_start": "2026-03-01", "custom_end": "2026-03-31"}
        body |= {{"a": "custom_start", "b": "custom_end"}[one]: day for one, day in window.items()}
        self.send("POST", "/goals", body, lambda: self.model.create_goal(body))

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.goals)
    def change_goal(self, data: DataObject, if_match: bool) -> None:
        members = {**GOAL, "metric": METRICS, "goal_name": NAMES, "scope": self.scopes()}
        self.patch_goal(data.draw(self.an_id("goals")), data.draw(few_of(members)), if_match)

    def patch_goal(self, one: int, body: Body, if_match: bool = False) -> None:
        self.send("PATCH", f"/goals/{one}", body, lambda: self.model.patch_goal(one, body), if_match)

    @rule(data=st.data(), start=DATES, end=DATES)
    @precondition(lambda self: self.model.goals)
    def move_window(self, data: DataObject, start: Any, end: Any) -> None:
        members = {"timeframe": "custom", "custom_start": start, "custom_end": end}
        without = data.draw(mostly([None], *members))
        body = {member: value for member, value in members.items() if member != without}
        self.patch_goal(data.draw(self.an_id("goals")), body)

    @rule(data=st.data(), status=mostly(list(model.STATUSES), "all"), rest=some_of(target_value=AMOUNTS))
    @precondition(lambda self: self.model.goals)
    def stop_or_go_on(self, data: DataObject, status: str, rest: Body) -> None:
        self.patch_goal(data.draw(self.an_id("goals")), {"status": status, **rest})

    @rule(data=st.data(), if_match=st.booleans())
    @precondition(lambda self: self.model.goals)
    def delete_goal(self, data: DataObject, if_match: bool) -> None:
        self.delete("goals", data, self.model.delete_goal, if_match)

    @rule(data=st.data())
    @precondition(lambda self: self.model.goals)
    def read_snapshots(self, data: DataObject) -> None:
        self.look_at_snapshots(data.draw(st.sampled_from(self.model.goals)))

    @rule(status=st.sampled_from(model.STATUSES), data=st.data())
    def filter_lists(self, status: str, data: DataObject) -> None:
        account = data.draw(self.an_id("accounts"))
        category = data.draw(self.an_id("tag-categories"))

        goals = self.get("/goals", status=status, account_id=account)
        strategies = self.get("/strategies", account_id=account)
        tags = self.get("/tags", category_id=category, type="mistake")

        scope = f"account_{account}"
        wanted = [one.id for one in self.model.goals if (one.status, one.scope) == (status, scope)]
        assert [one["id"] for one in goals] == wanted
        bound = [one for one in self.model.strategies if one.account_id == account]
        assert [one["id"] for one in strategies] == [one.id for one in model.by_name(bound)]
        mistakes = [one for one in self.model.tags if (one.category_id, one.type) == (category, "mistake")]
        assert [one["id"] for one in tags] == [one.id for one in model.by_name(mistakes)]

    # The owner, time, and the service itself

    @rule(data=st.data())
    def change_settings(self, data: DataObject) -> None:
        zones, rollovers = st.sampled_from(ZONES), st.sampled_from(ROLLOVERS)
        weekdays = st.sampled_from(WEEKDAYS)
        body = data.draw(
            some_of(
                timezone=zones,
                day_rollover=rollovers,
                trading_weekdays=weekdays,
                active_selection=self.scopes(),
            )
        )
        self.send("PATCH", "/me", body, lambda: self.model.patch_me(body))

    @rule(days=st.sampled_from([1, 3, 12, 40]))
    def days_pass(self, days: int) -> None:
        self.model.now += timedelta(days=days)

    @rule()
    def reopen(self) -> None:
        """The database outlives the service."""
        self.tally.reopened += 1
        self.runner.run(self.close())
        self.runner.run(self.open())
        self.look_at_everything()

    # Beginning and end

    @initialize(rhythm=st.sampled_from([10, 4, 2]), bare=mostly([False], True))
    def begin(self, rhythm: int, bare: bool) -> None:
        """A desk with a little of everything, or with nothing at all; it is no step."""
        self.tally.steps -= 1
        self.rhythm, self.countdown = rhythm, rhythm
        if bare:
            return
        self.send_all("/tag-categories", self.model.create_category, {"name": "Psychology"})
        category = self.model.categories[0].id
        tags = [{"category_id": category, "name": name, "type": "mistake"} for name in ("FOMO", "Late")]
        self.send_all("/tags", self.model.create_tag, *tags)
        accounts: list[Body] = [{"name": "Live", "starting_balance": 1000}, {"name": "Sim"}]
        self.send_all("/accounts", self.model.create_account, *accounts)
        self.send_all("/copy-groups", self.model.create_group, {"name": "Copies"})
        checklist = [{"name": "Volume"}, {"name": "Trend"}]
        setups = [{"name": name, "confirmations": checklist} for name in ("Break", "Retest")]
        strategies = [{"name": name, "setups": setups} for name in ("Breakout", "Fade")]
        self.send_all("/strategies", self.model.create_strategy, *strategies)
        self.send_all("/trades", self.model.create_trade, *self.first_trades())
        for trade in self.model.trades:
            self.fill_in(trade)
        metrics = ("protocol_completion_rate", "mistake_free_rate", "balance_target")
        goals = [{"goal_name": "Goal", "metric": metric, "target_value": 50} for metric in metrics]
        self.send_all("/goals", self.model.create_goal, *goals)

    def send_all(self, path: str, means: Callable[[Body], Thing], *bodies: Body) -> None:
        for body in bodies:
            self.send("POST", path, body, partial(means, body))

    def first_trades(self) -> list[Body]:
        setups = [setup.id for strategy in self.model.strategies for setup in strategy.setups]
        trade = {"symbol": "ES", "direction": "long", "quantity": 1, "entry_price": 100}
        return [
            {
                **trade,
                "account_id": self.model.accounts[number % 2].id,
                "exit_price": 102 - number,
                "opened_at": "2026-02-27T10:00:00Z",
                "closed_at": f"2026-03-{10 + number}T15:00:00Z",
                "setup_id": setup_id,
            }
            for number, setup_id in enumerate(setups)
        ]

    def fill_in(self, trade: model.Trade) -> None:
        """A tag, and all but the last answer for every other trade."""
        body = {"tag_ids": [self.model.tags[trade.id % 2].id]}
        self.send(
            "PUT", f"/trades/{trade.id}/tags", body, lambda: self.model.insert_trade_tags(trade.id, body)
        )
        asked = sorted(self.model.journal().checklists[trade.setup_id or 0])
        answered = asked[: len(asked) - trade.id % 2]
        answers = {"confirmations": [{"confirmation_id": one, "was_present": True} for one in answered]}
        path = f"/trades/{trade.id}/confirmations"
        self.send("PUT", path, answers, lambda: self.model.put_answers(trade.id, answers))

    @invariant()
    def a_step_is_done(self) -> None:
        self.tally.steps += 1

    @invariant()
    def now_and_then_everything_is_the_same(self) -> None:
        self.countdown -= 1
        if self.countdown <= 0:
            self.countdown = self.rhythm
            self.look_at_everything()


ANSWER = st.fixed_dictionaries({"was_present": mostly([True], False)}, optional={"notes": TEXTS})


def few_of(members: dict[str, SearchStrategy[Any]]) -> SearchStrategy[Body]:
    """A body of up to three of these members."""
    names = st.lists(st.sampled_from(sorted(members)), max_size=3, unique=True)
    return names.flatmap(lambda few: st.fixed_dictionaries({name: members[name] for name in few}))


def foretell(means: Callable[[], Any]) -> Any:
    """What the model makes of it: what was made or changed, or why not."""
    try:
        return means()
    except Refused as refused:
        return refused


def outcome(response: httpx.Response) -> str:
    """Status and code."""
    if response.status_code < 400:
        return str(response.status_code)
    return f"{response.status_code} {response.json()['error']['code']}"


def data_of(response: httpx.Response) -> Any:
    """The one thing in `data`, its decimals as fractions."""
    (thing,) = json.loads(response.text, parse_float=Fraction)["data"].values()
    return thing


def assert_details(told: Body, wanted: Body) -> None:
    """All that the model foretells is told; lists are sets."""
    for member, value in wanted.items():
        assert member in told, (member, told)
        assert as_set(told[member]) == as_set(value), (member, told)


def as_set(value: Any) -> Any:
    return set(value) if isinstance(value, list) else value


@pytest.mark.promise(13)
def test_the_service_does_what_a_plain_model_of_the_rules_foretells(
    record_observation: Callable[[str], None],
) -> None:
    tally = Tally()

    # In many short runs, since in a long one Hypothesis comes to vary what it has tried.
    for _ in range(examples(full=50, ci=1)):
        run_state_machine_as_test(
            lambda: JournalMachine(tally),  # type: ignore[arg-type]  # a function will do, its docstring says
            settings=settings(
                max_examples=examples(full=15, ci=8),
                # The beginning counts as one.
                stateful_step_count=examples(full=50, ci=20) + 1,
                deadline=None,
                derandomize=not SOAK,
                database=None,
                # A journal is opened and filled before the first step.
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )

    record_observation(tally.told())
    assert tally.steps >= examples(full=500 * 50, ci=8 * 10)

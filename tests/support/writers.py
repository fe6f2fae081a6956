"""Writers that know what was acknowledged, and compare it with what is stored."""

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from commands import Server, rows
from factories import A_TRADE, three_by_three, unwrap

Parts = dict[str, list[str]]


class Writer:
    """Enters trades and rewrites a strategy that nobody else touches, and knows what was acknowledged.

    `known` maps each name to the parts that are stored for certain. `coming` is what the request without a
    response would change of it; an empty list deletes. A trade has one part: a second trade of that name
    would be a second part.
    """

    STORED = """
        SELECT notes, symbol FROM trades WHERE notes IS NOT NULL
        UNION ALL
        SELECT strategies.name, ifnull(setups.name, 'none') || ', ' || ifnull(confirmations.name, 'none')
        FROM strategies
        LEFT JOIN setups ON strategy_id = strategies.id
        LEFT JOIN confirmations ON setup_id = setups.id
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = count()
        self.known: Parts = {}
        self.coming: Parts = {}
        self.acknowledged = self.cut_off = self.cut_off_but_done = self.repeated = 0
        self.unanswered: Any = None
        self.responses: list[httpx.Response] = []

    def new_name(self) -> str:
        return f"{self.name} {next(self.numbers)}"

    def work(self, server: Server, key: str, report: Callable[[], object], until: float = float("inf")) -> None:
        """Write until that time, at least a round, or the server is gone; report what was acknowledged."""
        with server.client(key) as self.client, suppress(httpx.TransportError):
            self.repeat_unanswered_trade()
            for strategy in unwrap(self.call("GET", "/strategies")):
                if strategy["name"] in self.known:
                    self.delete_strategy(strategy)
            account = unwrap(self.call("POST", "/accounts", {"name": self.new_name()}))
            while True:
                for number in range(10):
                    self.enter_trade({**A_TRADE, "account_id": account["id"], "notes": self.new_name()})
                    report()
                    strategy = self.rewrite_strategy(strategy) if number else self.create_strategy()
                    report()
                self.delete_strategy(strategy)
                if time.monotonic() >= until:
                    return

    def repeat_unanswered_trade(self) -> None:
        """Send the trade without a response again, under its Idempotency-Key."""
        if self.unanswered:
            was_stored = self.unanswered["notes"] in self.known
            response = self.enter_trade(self.unanswered)
            assert ("X-Idempotent-Replay" in response.headers) is was_stored
            self.repeated += 1

    def enter_trade(self, trade: Any) -> httpx.Response:
        self.unanswered = trade
        key = {"Idempotency-Key": trade["notes"].replace(" ", "_")}
        response = self.write({trade["notes"]: [trade["symbol"]]}, "POST", "/trades", trade, **key)
        self.unanswered = None
        return response

    def create_strategy(self) -> Any:
        name = self.new_name()
        return unwrap(self.write({name: parts_of_strategy(name)}, "POST", "/strategies", new_strategy(name)))

    def rewrite_strategy(self, strategy: Any) -> Any:
        name = self.new_name()
        coming = {strategy["name"]: [], name: parts_of_strategy(name)}
        path = f"/strategies/{strategy['id']}"
        return unwrap(self.write(coming, "PATCH", path, rename(strategy, name)))

    def delete_strategy(self, strategy: Any) -> None:
        self.write({strategy["name"]: []}, "DELETE", f"/strategies/{strategy['id']}")

    def call(self, method: str, path: str, sent: object = None, **headers: str) -> httpx.Response:
        status = 503
        while status == 503:  # the server was busy and wrote nothing
            self.responses.append(self.client.request(method, path, json=sent, headers=headers))
            status = self.responses[-1].status_code
        return self.responses[-1].raise_for_status()

    def write(self, coming: Parts, method: str, path: str, sent: object = None, **headers: str) -> httpx.Response:
        self.coming = coming
        response = self.call(method, path, sent, **headers)
        self.apply_coming()
        self.acknowledged += 1
        return response

    def apply_coming(self) -> None:
        self.known.update(self.coming)
        self.known = {name: parts for name, parts in self.known.items() if parts}
        self.coming = {}

    def compare(self, db: Path) -> None:
        """What is stored has to be what is known, with all or nothing of what was coming."""
        stored = self.read_stored(db)
        self.cut_off += bool(self.coming)
        if any(stored.get(name, []) != self.known.get(name, []) for name in self.coming):
            self.cut_off_but_done += 1
            self.apply_coming()
        self.coming = {}
        assert stored == self.known

    def read_stored(self, db: Path) -> Parts:
        found = defaultdict(list)
        for name, part in rows(db, self.STORED):
            if name.startswith(f"{self.name} "):
                found[name].append(part)
        return {name: sorted(parts) for name, parts in found.items()}


def new_strategy(name: str) -> Any:
    """A strategy of three setups with three confirmations each, whose names all begin with this one."""
    return {"name": name, "setups": three_by_three(name)}


def parts_of_strategy(name: str) -> list[str]:
    return [f"{setup['name']}, {one['name']}" for setup in three_by_three(name) for one in setup["confirmations"]]


def rename(strategy: Any, name: str) -> Any:
    """The strategy with other names: one setup keeps its confirmations, one does not, the third is new."""
    renamed = new_strategy(name)
    for setup, stored in zip(renamed["setups"], strategy["setups"][:2], strict=False):
        setup["setup_id"] = stored["setup_id"]
    kept = strategy["setups"][0]["confirmations"]
    for confirmation, stored in zip(renamed["setups"][0]["confirmations"], kept, strict=True):
        confirmation["confirmation_id"] = stored["confirmation_id"]
    return renamed

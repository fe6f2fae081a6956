"""The clients of docs/embedding.md#keeping-a-copy, beside random writers of every kind."""

import json
import random
import runpy
import shutil
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import PATIENCE, Server, command, new_key, running
from factories import A_PROFILE, A_TRADE, unwrap
from proofs import examples

from journal_api.testing import Journal

ROOT = Path(__file__).parents[2]
WRITERS = 20
STEPS, QUIET_MOMENTS = examples(full=10_000, ci=200), examples(full=50, ci=2)
IDS = 12
HEADER = "external_id,symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,tags"
FILLS = "Instrument,Action,Quantity,Price,Time,ID,E/X"
BY_HAND = [
    "UPDATE trades SET notes = 'by hand' WHERE id = :id",
    "DELETE FROM trade_tags WHERE tag_id = :id",
    "DELETE FROM tags WHERE id = :id",
    "DELETE FROM trades WHERE id = :id",
    "DELETE FROM setups WHERE id = :id",
    "UPDATE tag_categories SET updated_at = created_at, name = name || '.' WHERE id = :id",
    "UPDATE cash_movements SET amount = amount + 1 WHERE id = :id",
    "DELETE FROM strategies WHERE id = :id AND NOT EXISTS (SELECT 1 FROM trades WHERE strategy_id = :id)",
    "INSERT OR REPLACE INTO instruments VALUES (1, 'Q' || :id, 100000000)",
    "UPDATE goals SET goal_name = 'by hand' WHERE id = :id",
    "UPDATE account_fees SET per_side = per_side + 1 WHERE account_id = :id",
    "DELETE FROM confirmation_answers WHERE trade_id = :id",
]


def python_mirror() -> Any:
    """The class `Mirror` that the page offers."""
    return runpy.run_path(str(ROOT / "docs/mirror.py"))["Mirror"]


def without_times(part: Any) -> Any:
    """Objects without the time at which a snapshot was computed."""
    if isinstance(part, dict):
        return {key: without_times(value) for key, value in part.items() if key != "computed_at"}
    return [without_times(one) for one in part] if isinstance(part, list) else part


class RandomWriter:
    """Writes something at random; most of it is refused while little exists."""

    def __init__(self, client: httpx.Client, db: Path, seed: int) -> None:
        self.client, self.random, self.db = client, random.Random(seed), db
        self.done = Counter[str]()

    def id(self) -> int:
        return self.random.randint(1, IDS)

    def name(self) -> str:
        return f"n{self.random.randint(1, 40)}"

    def step(self) -> None:
        kind = self.random.choices(["request", "import", "undo", "by hand", "command"], [80, 6, 5, 8, 0.5])[0]
        status = {
            "request": self.request,
            "import": self.send_import,
            "undo": lambda: self.send("DELETE", f"/imports/{self.id()}?force=true"),
            "by hand": self.write_by_hand,
            "command": self.run_command,
        }[kind]()
        assert status < 500 or status == 503, (kind, status)
        self.done[kind if status < 400 else "refused"] += 1

    def send(self, method: str, path: str, body: Any = None) -> int:
        return self.client.request(method, path, json=body).status_code

    def request(self) -> int:
        a, b, name = self.id(), self.id(), self.name()
        setups = [{"name": self.name(), "confirmations": [{"name": name}]} for _ in range(a % 3)]
        trade = {**A_TRADE, "account_id": a, "exit_price": 90 + b, "symbol": "AAPL"}
        checked = {"setup_id": b, "confirmations": [{"confirmation_id": b, "was_present": a > b}]}
        day, goal = f"2026-01-{a:02}", {"goal_name": name, "target_value": a}
        requests: list[tuple[str, str, Any]] = [
            ("POST", "/accounts", {"name": name, "fees": {"ES": 1}}),
            ("PATCH", f"/accounts/{a}", {"starting_balance": b, "day_rollover": f"{b:02}:00"}),
            ("DELETE", f"/accounts/{a}", None),
            ("PUT", f"/accounts/{a}/rules", {"daily_loss": b}),
            ("POST", f"/accounts/{a}/cash", {"kind": "deposit", "amount": b, "day": day}),
            ("DELETE", f"/accounts/{a}/cash/{b}", None),
            ("POST", f"/accounts/{a}/checkpoints", {"day": day, "balance": b}),
            ("PATCH", f"/accounts/{a}/checkpoints/{b}", {"accepted": True}),
            ("POST", "/copy-groups", {"name": name}),
            ("PUT", f"/copy-groups/{a}/members", {"members": [{"account_id": b}]}),
            ("POST", f"/copy-groups/{a}/link", None),
            ("DELETE", f"/copy-groups/{a}", None),
            ("POST", "/tag-categories", {"name": name}),
            ("DELETE", f"/tag-categories/{a}", None),
            ("POST", "/tags", {"name": name, "category_id": a}),
            ("PATCH", f"/tags/{a}", {"category_id": b, "type": "mistake"}),
            ("DELETE", f"/tags/{a}", None),
            ("POST", "/strategies", {"name": name, "setups": setups}),
            ("PATCH", f"/strategies/{a}", {"setups": setups}),
            ("DELETE", f"/strategies/{a}", None),
            ("POST", "/goals", {**goal, "metric": "net_pnl"}),
            ("POST", "/goals", {**goal, "metric": "max_drawdown", "account_id": b}),
            ("PATCH", f"/goals/{a}", {"status": self.random.choice(["active", "paused"])}),
            ("DELETE", f"/goals/{a}", None),
            ("GET", f"/goals/{a}/snapshots", None),
            *[("POST", "/trades", {**trade, "tag_ids": tags}) for tags in ([], [], [b])],
            ("POST", "/trades", {**trade, **checked}),
            ("PATCH", f"/trades/{a}", {"notes": name, "grade": "A"}),
            ("PATCH", f"/trades/{a}", checked),
            ("PUT", f"/trades/{a}/tags", {"tag_ids": [b]}),
            ("PATCH", f"/trades/{a}/fills/2", {"price": b}),
            ("POST", "/trades/merge", {"ids": sorted({a, b})}),
            ("POST", f"/trades/{a}/split", None),
            ("DELETE", f"/trades/{a}", None),
            ("PUT", f"/instruments/Q{a}", {"point_value": b}),
            ("DELETE", f"/instruments/Q{a}", None),
            ("POST", "/import-profiles", {**A_PROFILE, "name": name}),
            ("PATCH", "/me", {"timezone": self.random.choice(["UTC", "Asia/Tokyo", "America/New_York"])}),
            ("PATCH", "/me", {"breakeven_within": b}),
        ]
        return self.send(*self.random.choice(requests))

    def build_file(self) -> str:
        rows = []
        for number in self.random.sample(range(30), 4):
            # A file with a tag that is not in the journal is refused.
            day, tag = f"2026-01-0{self.random.randint(1, 9)}", self.random.choice([*[""] * 9, self.name()])
            rows.append(f"x{number},AAPL,long,1,100,{90 + self.id()},{day}T10:00:00Z,{day}T11:00:00Z,{tag}")
        return "\n".join([HEADER, *rows, ""])

    def build_fills(self) -> str:
        """Some of twelve fills, which may close what another file opens."""
        rows = []
        for number in self.random.sample(range(12), 4):
            side, flag = self.random.choice([("Buy", "Entry"), ("Sell", "Exit"), ("Sell", "")])
            rows.append(f"MNQ 03-26,{side},1,{90 + self.id()},2/12/2026 9:{number:02}:00,{number},{flag}")
        return "\n".join([FILLS, *rows, ""])

    def send_import(self) -> int:
        return self.client.post(
            "/imports",
            params={"account_id": self.id(), "timezone": "UTC"},
            content=self.random.choice([self.build_file, self.build_fills])(),
            headers={"Content-Type": "text/csv"},
        ).status_code

    def write_by_hand(self) -> int:
        with closing(sqlite3.connect(self.db, timeout=PATIENCE)) as other, suppress(sqlite3.IntegrityError), other:
            other.execute("PRAGMA foreign_keys = ON")
            other.execute(self.random.choice(BY_HAND), {"id": self.id()})
        return 200

    def run_command(self) -> int:
        account = unwrap(self.client.get("/accounts"))
        if not account:
            return 404
        file = self.db.with_name(f"{id(self)}.csv")
        file.write_text(self.build_file())
        ran = command("import", file, "--account", account[0]["name"], "--db", self.db, "--timezone", "UTC")
        assert ran.code in (0, 1), ran
        return 200 if ran.code == 0 else 400


class Follower(threading.Thread):
    """Follows with a mirror until it is told to end; now and then it is away, with a request cut off."""

    def __init__(self, mirror: Any, server: Server, key: str, seed: int) -> None:
        super().__init__()
        self.mirror, self.server, self.key, self.random = mirror, server, key, random.Random(seed)
        self.is_over, self.followed, self.cut_off = False, 0, 0
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.is_over:
                self.mirror.journal.timeout = self.random.choice([0.002, 0.01, 5, 5])
                try:
                    self.mirror.follow(wait=1)
                    self.followed += 1
                except (httpx.TransportError, httpx.HTTPStatusError) as error:
                    # Beside 20 writers goals may change faster than they are computed: 503, try again.
                    if isinstance(error, httpx.HTTPStatusError) and error.response.status_code != 503:
                        raise
                    self.cut_off += 1
                    self.mirror.journal.close()
                    time.sleep(self.random.random() / 5)
                    self.mirror.journal = self.server.client(self.key)
        except BaseException as error:
            self.error = error


def write_at_once(writers: list[RandomWriter], steps: int) -> None:
    """Each writer takes its share of the steps, all at the same time."""
    errors: list[BaseException] = []

    def work(writer: RandomWriter) -> None:
        try:
            for _ in range(steps // len(writers)):
                writer.step()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.promise(29)
def test_a_mirror_beside_random_writers_is_equal_to_a_fresh_read_whenever_it_is_quiet(
    db: Path, record_observation: Callable[[str], None]
) -> None:
    key = new_key(db)
    new_mirror, sizes = python_mirror(), Counter[str]()
    with running(db) as server, ExitStack() as stack:
        clients = [stack.enter_context(server.client(key)) for _ in range(WRITERS + 1)]
        writers = [RandomWriter(client, db, seed) for seed, client in enumerate(clients[1:])]
        for writer in writers[:4]:
            for _ in range(3):
                writer.send("POST", "/accounts", {"name": writer.name()})
                writer.send("POST", "/tag-categories", {"name": writer.name()})
        mirror = new_mirror(server.client(key))
        followed = cut_off = 0
        for moment in range(QUIET_MOMENTS):
            follower = Follower(mirror, server, key, moment)
            follower.start()
            write_at_once(writers, STEPS // QUIET_MOMENTS)
            follower.is_over = True
            follower.join(PATIENCE)
            assert follower.error is None
            mirror.journal.timeout = PATIENCE
            while mirror.follow():
                pass
            fresh = new_mirror(clients[0])
            assert without_times(mirror.objects) == without_times(fresh.objects), moment
            followed, cut_off = followed + follower.followed, cut_off + follower.cut_off
            sizes.update({name: len(items) for name, items in fresh.objects.items()})
        mirror.journal.close()
    done = sum((writer.done for writer in writers), Counter[str]())
    assert {"request", "import", "by hand"} <= done.keys()
    record_observation(
        f"{WRITERS} writers, {sum(done.values())} steps ({dict(done)}); {followed} reads of changes, "
        f"{cut_off} cut off; equal in {QUIET_MOMENTS} of {QUIET_MOMENTS} quiet moments, "
        f"{sum(sizes.values())} objects"
    )


def test_a_mirror_reads_an_import_of_600_rows_by_four_lists_of_trades(journal: Journal) -> None:
    account = journal.create("account")
    mirror = python_mirror()(journal)
    journal.requests.clear()
    rows = [f"x{number},AAPL,long,1,100,101,2026-01-05T10:00:00Z,2026-01-05T11:00:00Z," for number in range(600)]
    query = {"account_id": account["id"]}
    journal.post("/imports", params=query, content="\n".join([HEADER, *rows]), headers={"Content-Type": "text/csv"})

    while mirror.follow():
        pass

    assert len(mirror.objects["trades"]) == 600
    assert [one.path for one in journal.requests].count("/v1/trades") == 4
    assert without_times(mirror.objects) == without_times(python_mirror()(journal).objects)


PROGRAM = """
import { Mirror } from "./mirror.js";
const mirror = new Mirror(process.env.JOURNAL_URL!, process.env.JOURNAL_KEY!);
await mirror.readEverything();
const shown = (one: Mirror) =>
  JSON.stringify(Object.entries(one.objects).map(([name, items]) => [name, [...items].sort()]));
process.stdout.write("ready\\n");
process.stdin.on("data", async () => {
  while (await mirror.follow()) {}
  const fresh = new Mirror(process.env.JOURNAL_URL!, process.env.JOURNAL_KEY!);
  await fresh.readEverything();
  process.stdout.write(JSON.stringify([shown(mirror) === shown(fresh), shown(fresh).length]) + "\\n");
  process.exit(0);
});
"""
# Strips the types; `make lint` checks them.
TRANSPILE = """
const [fs, ts] = [require("fs"), require(process.argv[1])];
const compilerOptions = { target: "es2023", module: "es2022" };
for (const name of ["mirror", "main"]) {
  const { outputText } = ts.transpileModule(fs.readFileSync(`${name}.ts`, "utf8"), { compilerOptions });
  fs.writeFileSync(`${name}.js`, outputText);
}
"""


def test_the_mirror_in_typescript_is_equal_to_a_fresh_read(db: Path, tmp_path: Path) -> None:
    node, compiler = shutil.which("node"), ROOT / "tests/javascript/node_modules/typescript"
    if node is None or not compiler.exists():
        pytest.skip("Node.js and TypeScript are not installed: make lint installs it")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(ROOT / "docs/mirror.ts", tmp_path)
    (tmp_path / "main.ts").write_text(PROGRAM)
    subprocess.run([node, "-e", TRANSPILE, compiler], cwd=tmp_path, check=True)

    key = new_key(db)
    with running(db) as server, ExitStack() as stack:
        clients = [stack.enter_context(server.client(key)) for _ in range(4)]
        writers = [RandomWriter(client, db, seed) for seed, client in enumerate(clients)]
        for writer in writers:
            writer.send("POST", "/accounts", {"name": writer.name()})
        with subprocess.Popen(
            [node, "main.js"],
            cwd=tmp_path,
            env={"JOURNAL_URL": server.url, "JOURNAL_KEY": key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as mirror:
            assert mirror.stdout is not None
            assert mirror.stdout.readline() == "ready\n"
            write_at_once(writers, examples(200, 100))
            said, _ = mirror.communicate("compare\n", timeout=PATIENCE)

    is_equal, size = json.loads(said)
    assert is_equal
    assert size > 1000

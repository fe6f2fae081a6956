"""journal_api.testing: journals for the tests of other projects, here and from the installed wheel."""

import importlib
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import PATIENCE, command, rows, wait_until
from factories import create_category, error_of, unwrap
from freezegun import freeze_time
from wheels import run

from journal_api.testing import Journal, MakeJournal, journal_client, open_journal
from journal_api.testing.factories import PATHS, Kind
from journal_api.testing.traffic import FAULTS
from journal_api.values.api_keys import SCOPES

ROOT = Path(__file__).parents[2]


def post_category(journal: httpx.Client, name: str = "Psychology") -> Any:
    return unwrap(journal.post("/tag-categories", json={"name": name}))


def categories_of(journal: httpx.Client) -> list[str]:
    return [category["name"] for category in unwrap(journal.get("/tag-categories"))]


async def test_a_journal_takes_what_a_server_takes_until_it_is_closed() -> None:
    with journal_client() as journal:
        post_category(journal, "Psychology")
        assert categories_of(journal) == ["Psychology"]
    async with open_journal() as opened:
        await create_category(opened, "Psychology")
        assert [one["name"] for one in unwrap(await opened.get("/tag-categories"))] == ["Psychology"]

    assert str(journal.base_url) == str(opened.base_url) == "http://localhost/v1/"
    assert journal.is_closed
    assert opened.is_closed


def test_journals_know_nothing_of_each_other_and_the_settings_of_whoever_runs_the_tests_stay_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JOURNAL_TIMEZONE", "Asia/Tokyo")
    monkeypatch.setenv("JOURNAL_DB", "/nowhere/journal.db")

    with journal_client() as plain, journal_client(timezone="America/New_York", day_rollover="17:00") as own:
        post_category(plain, "Only here")
        owners = [unwrap(journal.get("/me")) for journal in (plain, own)]

        assert (categories_of(plain), categories_of(own)) == (["Only here"], [])
    assert [(owner["name"], owner["timezone"], owner["day_rollover"]) for owner in owners] == [
        ("owner", "UTC", "00:00"),
        ("owner", "America/New_York", "17:00"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scopes": "read:everything"}, "no such scope: read:everything"),
        ({"timezone": "Atlantis"}, "timezone must be an IANA time zone .*: 'Atlantis'"),
        ({"day_rollover": "25:00"}, "day_rollover must be a time HH:MM: '25:00'"),
    ],
)
def test_what_does_not_exist_is_refused_by_its_name(options: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said), journal_client(tmp_path, **options):
        pytest.fail("it opened")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_failing", [False, True], ids=["a test that passes", "a test that fails"])
def test_a_journal_in_a_folder_stays_there_as_one_whole_file_with_a_key_of_every_scope(
    tmp_path: Path, is_failing: bool
) -> None:
    db = tmp_path / "made" / "for it" / "journal.db"
    with suppress(ZeroDivisionError), journal_client(db.parent) as journal:
        post_category(journal, "Kept")
        if is_failing:
            raise ZeroDivisionError

    assert journal.is_closed
    with pytest.raises(FileExistsError), journal_client(db.parent):
        pytest.fail("it opened")
    assert list(db.parent.iterdir()) == [db]
    assert rows(db, "SELECT name FROM tag_categories") == [("Kept",)]
    assert rows(db, "SELECT scopes FROM api_keys") == [(" ".join(SCOPES),)]
    assert command("users", "list", "--db", db).out == "owner\n"


def test_a_body_may_come_in_parts() -> None:
    parts = ["symbol,direction,quantity,entry_price,opened_at\n", "ES,long,1,100,2026-01-05T14:00:00Z\n"]
    with journal_client() as journal:
        account_id = unwrap(journal.post("/accounts", json={"name": "Sim"}))["id"]

        report = journal.post(
            "/imports",
            params={"account_id": account_id},
            content=(part.encode() for part in parts),
            headers={"Content-Type": "text/csv"},
        )

    assert unwrap(report)["counts"]["new"] == 1


def test_an_answer_without_a_body_keeps_its_headers() -> None:
    with journal_client(example=True) as journal:
        whole, head = journal.get("/trades"), journal.head("/trades")

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


def test_a_client_may_be_used_from_many_threads() -> None:
    names = [f"Category {number}" for number in range(16)]
    with journal_client() as journal, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: post_category(journal, name), names))

        assert sorted(categories_of(journal)) == sorted(names)


def test_the_example_is_what_the_docs_say() -> None:
    with journal_client(example=True) as journal:
        trades = journal.get("/trades").json()
        first, last = (unwrap(journal.get(f"/trades/{row_id}")) for row_id in (1, 124))
        still_open = unwrap(journal.get("/trades", params={"outcome": "open"}))
        tags = unwrap(journal.get("/tags"))
        strategies = unwrap(journal.get("/strategies"))
        account, copied = unwrap(journal.get("/accounts"))

    assert trades["meta"]["pagination"]["total"] == 128
    assert [trade["trading_day"] for trade in (first, last)] == ["2026-08-17", "2026-10-30"]
    assert [(trade["id"], trade["initial_risk"]) for trade in still_open] == [(120, 30)]
    assert {(tag["id"], tag["name"], tag["type"]) for tag in tags} == {
        (1, "FOMO", "mistake"),
        (2, "Revenge", "mistake"),
        (3, "Patient", "custom"),
        (4, "News day", "custom"),
    }
    assert {(one["id"], one["name"], one["setup_count"]) for one in strategies} == {
        (1, "Opening range", 2),
        (2, "Pullback", 2),
    }
    assert (account["id"], account["name"], account["starting_balance"]) == (1, "Example", 25000)
    assert (copied["id"], copied["name"]) == (2, "Example copy")


@pytest.mark.parametrize("timezone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_goals_of_the_example_have_the_history_that_the_docs_tell(timezone: str) -> None:
    three_months: dict[str, str | int] = {"from": "2026-08-01", "to": "2026-10-31", "limit": 200}
    with journal_client(example=True, timezone=timezone) as journal:
        snapshots = {
            goal["goal_name"]: unwrap(journal.get(f"/goals/{goal['id']}/snapshots", params=three_months))
            for goal in unwrap(journal.get("/goals"))
        }

    missed = {name: [one["period_start"] for one in snapshots[name] if not one["achieved"]] for name in snapshots}
    assert missed["Daily loss limit"] == ["2026-08-20"]
    assert len(missed["Three trades a day"]) == 5
    assert missed["Without mistakes"] == ["2026-09-01"]
    assert [one["actual"] for one in snapshots["A green month"]] == [663.68, 1017.74, -98.08]
    assert [one["actual"] for one in snapshots["Grow the account"]] == [26583.34]


@pytest.fixture
def ended() -> Iterator[list[httpx.Client]]:
    """Clients that must be closed when the fixtures after this one have ended."""
    clients: list[httpx.Client] = []
    yield clients
    assert [client.is_closed for client in clients] == [True, True]


def test_make_journal_makes_as_many_as_a_test_needs_each_with_one_key_of_the_scopes_asked_for(
    ended: list[httpx.Client], make_journal: MakeJournal, tmp_path: Path
) -> None:
    ended += [make_journal(tmp_path, scopes="read:tags,read:trades", example=True), make_journal()]

    assert [categories_of(client) for client in ended] == [["Psychology", "Session"], []]
    assert rows(tmp_path / "journal.db", "SELECT scopes FROM api_keys") == [("read:tags read:trades",)]


@pytest.mark.parametrize("serve", [False, True], ids=["in process", "served"])
def test_a_path_may_have_v1_or_not(make_journal: MakeJournal, serve: bool) -> None:
    journal = make_journal(serve=serve)
    paths = ("/tags", "tags", "/v1/tags", "v1/tags", "/health", "/openapi.json", f"{journal.url}/v1/tags")

    assert {path: journal.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


async def test_a_path_may_have_v1_or_not_in_asynchronous_tests() -> None:
    async with open_journal() as journal:
        assert [(await journal.get(path)).status_code for path in ("/tags", "/v1/tags")] == [200, 200]
        journal.fail_next(503)
        assert (await journal.get("/tags")).status_code == 503

    assert [(sent.path, sent.status) for sent in journal.requests] == [
        ("/v1/tags", 200),
        ("/v1/tags", 200),
        ("/v1/tags", 503),
    ]


@pytest.mark.parametrize("kind", PATHS)
def test_each_kind_is_created_twice_in_an_empty_journal(journal: Journal, kind: Kind) -> None:
    ids = [journal.create(kind)["id"] for _ in range(2)]

    assert {one["id"] for one in unwrap(journal.get(PATHS[kind]))} == {*ids}


def test_fields_replace_the_sensible_ones_and_a_bad_one_says_why_it_is_refused(journal: Journal) -> None:
    strategy = journal.create("strategy", name="Pullback")
    (setup,) = strategy["setups"]
    trade = journal.create("trade", setup_id=setup["setup_id"], quantity=3)

    assert (trade["setup_id"], trade["quantity"], trade["net_pnl"]) == (setup["setup_id"], 3, 60)
    with pytest.raises(httpx.HTTPStatusError) as refused:
        journal.create("tag", color="red")
    assert str(refused.value) == ("POST /v1/tags: 400 validation_error: color: must be a colour #RRGGBB.")
    with pytest.raises(httpx.HTTPStatusError, match=r"'setup' \(did you mean setup_id\?\)"):
        journal.create("trade", setup=7)
    with pytest.raises(ValueError, match="cannot create 'order', but account, "):
        journal.create("order")  # type: ignore[arg-type]


def test_a_second_user_and_a_second_key_are_clients_of_the_same_journal(make_journal: MakeJournal) -> None:
    owner = make_journal(serve=True, timezone="Asia/Tokyo")
    reader, ada, ada_again = (owner.with_key(scopes="read"), owner.with_key(user="Ada"), owner.with_key(user="Ada"))
    tag = owner.create("tag")
    theirs = ada.create("tag")

    assert reader.get(f"/tags/{tag['id']}").status_code == 200
    assert error_of(reader.delete(f"/tags/{tag['id']}")) == (403, "forbidden_scope")
    assert [one["id"] for one in unwrap(ada_again.get("/tags"))] == [theirs["id"]]
    assert unwrap(ada.get("/me"))["timezone"] == "Asia/Tokyo"
    assert len({one.key for one in (owner, reader, ada, ada_again)}) == 4


def test_settings_of_the_service_are_options(make_journal: MakeJournal) -> None:
    journal = make_journal(max_strategies=2, rate_limit=4, cors_origins="http://localhost:5173")
    for _ in range(2):
        journal.create("strategy")

    with pytest.raises(httpx.HTTPStatusError) as refused:
        journal.create("strategy")
    allowed = journal.get("/me", headers={"Origin": "http://localhost:5173"})
    limited = journal.get("/me")

    assert " limit_reached: " in str(refused.value)
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:5173"
    assert error_of(limited) == (429, "rate_limited")
    with pytest.raises(ValueError, match="must be origins"):
        make_journal(cors_origins="*")


@pytest.mark.parametrize(
    ("named", "status", "code"),
    [
        (401, 401, "unauthorized"),
        (429, 429, "rate_limited"),
        (500, 500, "internal_error"),
        (503, 503, "busy"),
        *((code, made().status, code) for code, made in FAULTS.items()),
    ],
)
def test_a_fault_is_an_error_as_the_service_sends_it(
    journal: Journal, named: int | str, status: int, code: str
) -> None:
    journal.fail_next(named)

    failed = journal.post("/tag-categories", json={"name": "Psychology"})

    assert error_of(failed) == (status, code)
    assert failed.headers["x-request-id"] == failed.json()["meta"]["request_id"]
    assert ("retry-after" in failed.headers) == (status in (429, 503))
    assert categories_of(journal) == []
    post_category(journal)


def test_faults_meet_requests_in_order_and_an_unknown_one_is_refused(make_journal: MakeJournal) -> None:
    journal = make_journal(serve=True, cors_origins="http://localhost:5173")
    journal.fail_next("storage_unavailable", times=2)
    journal.delay_next(0.3)
    asked = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "GET"}
    preflight = journal.options("/tags", headers=asked)

    statuses = [journal.get("/tags").status_code for _ in range(2)]
    with pytest.raises(httpx.ReadTimeout):
        journal.get("/tags", timeout=0.1)

    assert preflight.status_code == 200
    assert statuses == [503, 503]
    assert journal.get("/tags").status_code == 200
    with pytest.raises(ValueError, match="no fault 418, but "):
        journal.fail_next(418)


def test_what_was_carried_out_although_its_response_was_lost_is_recorded_once(journal: Journal) -> None:
    journal.fail_next(503, is_carried_out=True)

    lost = journal.post("/tag-categories", json={"name": "Psychology"}, params={"dry_run": "false"})

    (sent,) = journal.requests
    assert (sent.method, sent.path, sent.query["dry_run"]) == ("POST", "/v1/tag-categories", "false")
    assert (sent.status, lost.status_code, sent.json()) == (503, 503, {"name": "Psychology"})
    assert sent.headers["authorization"] == f"Bearer {journal.key}"
    assert categories_of(journal) == ["Psychology"]


def test_a_server_stops_although_its_clock_stood_still() -> None:
    def use_server() -> None:
        with journal_client(serve=True) as journal, freeze_time("2026-11-02T20:00:00Z"):
            days.append(journal.create("trade")["trading_day"])

    days: list[str] = []
    thread = threading.Thread(target=use_server, daemon=True)
    thread.start()
    thread.join(PATIENCE)

    assert (days, thread.is_alive()) == (["2026-11-02"], False)


# The examples of docs/embedding.md, which are tests, are collected here.
CHAPTER = (
    (ROOT / "docs/embedding.md").read_text().partition("## In the tests of your project\n")[2].partition("\n## ")[0]
)
exec("\n".join(re.findall(r"^```python\n(.*?)^```", CHAPTER, re.MULTILINE | re.DOTALL)))


@pytest.mark.parametrize(
    "loaded",
    [
        # A command imports no server.
        {"journal_api.cli": "", "journal_api.cli.keys": "", "journal_api.cli.serve": "starlette"},
        {"journal_api.pytest_plugin": "pytest"},  # and nothing else before a test asks
    ],
    ids=["service", "plugin"],
)
def test_the_service_needs_no_client_and_no_pytest(loaded: dict[str, str]) -> None:
    shown = "print(*{'httpx', 'pytest', 'starlette'} & {*sys.modules})"
    statements = "\n".join(f"import {module}; {shown}" for module in loaded)

    assert run(sys.executable, "-c", f"import sys\n{statements}", cwd=ROOT).splitlines() == [*loaded.values()]


def test_without_httpx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.delitem(sys.modules, "journal_api.testing")

    with pytest.raises(ModuleNotFoundError, match=r'pip install "trading-journal-api\[testing\]"'):
        importlib.import_module("journal_api.testing")


def test_a_request_that_waits_is_answered_when_a_served_journal_ends() -> None:
    with ThreadPoolExecutor(1) as thread, ExitStack() as stack:
        journal = stack.enter_context(journal_client(serve=True))
        cursor = journal.get("/changes").json()["meta"]["cursor"]
        headers = {"Authorization": f"Bearer {journal.key}"}
        address = f"{journal.url}/v1/changes?wait=60&since={cursor}"
        waiting = thread.submit(httpx.get, address, headers=headers, timeout=PATIENCE)
        changes = journal.running.traffic.app.state.change_signal
        wait_until(lambda: bool(changes._listeners))

        stack.close()

        assert waiting.result().json()["data"] == {"changes": []}

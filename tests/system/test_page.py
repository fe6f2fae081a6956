"""The page at /: its files over HTTP, and what it does in a real browser (docs/page.md)."""

import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from chromium import Page, PageJournal, in_a_browser
from commands import PATIENCE, new_key, run_ok
from factories import A_TRADE, unwrap
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

VIEWS = ["today", "report", "trades", "strategies", "import", "settings"]
MAX_REQUESTS = 10
A_CSV = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
NQ,short,2,200,190,2026-01-05T14:10:00Z,2026-01-05T15:10:00Z
"""
UNKNOWN_CSV = """\
Ticker,Way,Size,In,Out,From,To,Fee
ABC,Up,1,100,111,2026-01-05 10:00,2026-01-05 11:00,1
ABC,Down,1,112,101,2026-01-05 12:00,2026-01-05 13:00,1
"""
MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"


@pytest.fixture
def journal(page_journal: PageJournal) -> PageJournal:
    return page_journal


@pytest.fixture
def page(browser: Chrome, journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, journal.server.url)
    yield page
    page.leave()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, which npm fetches."""
    folder, npm = tmp_path_factory.mktemp("axe"), shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    try:
        packed = subprocess.run(
            [npm, "pack", "axe-core@4", "--silent"], cwd=folder, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm fetched nothing within {PATIENCE} seconds")
    if packed.returncode:
        pytest.skip("npm cannot fetch axe-core")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as files:
        member = files.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(page: Page, axe: str) -> list[str]:
    """What axe-core finds, as rule and element: in the light theme by all rules, in the dark by colours."""
    if not page.browser.execute_script("return 'axe' in window"):
        page.browser.execute_script(axe)
    found = run_axe(page, "{resultTypes: ['violations']}")
    page.resize(1280, 900, dark=True)
    found += run_axe(page, "{resultTypes: ['violations'], runOnly: ['color-contrast']}")
    page.resize(1280, 900)
    return found


def run_axe(page: Page, options: str) -> list[str]:
    result = page.browser.execute_async_script(f"axe.run({options}).then(arguments[0])")
    return [
        f"{one['id']}: {node['target']} {node['html'][:160]}"
        for one in result["violations"]
        for node in one["nodes"]
    ]


@in_a_browser
@pytest.mark.parametrize("has_example", [True, False], ids=["example", "empty"])
def test_every_view_is_drawn_without_complaint_from_few_requests_to_its_own_service(
    journal: PageJournal, page: Page, has_example: bool
) -> None:
    if has_example:
        journal.client.post("/example-journal")
    page.sign_in(journal.key)
    counts = {}

    for view in VIEWS:
        if view != "today":
            page.show(view)
        requests = page.requests()
        assert [url for url in requests if not url.startswith((f"{page.url}/", "data:"))] == []
        counts[view] = len([url for url in requests if "/v1/" in url])
        assert page.find("main").text, view

    assert {view: count for view, count in counts.items() if count > MAX_REQUESTS} == {}
    assert page.complaints() == []
    assert journal.key not in page.browser.page_source


@in_a_browser
def test_a_page_that_is_polled_gets_nothing_twice(journal: PageJournal, page: Page) -> None:
    journal.client.post("/example-journal")
    page.sign_in(journal.key)
    page.statuses()

    page.poll()
    statuses = page.wait(page.statuses)

    assert set(statuses) == {304}


@in_a_browser
def test_the_accounts_that_are_shown_are_those_of_the_selection(journal: PageJournal, page: Page) -> None:
    first, second = (
        unwrap(journal.client.post("/accounts", json={"name": name}))["id"] for name in ("A", "B")
    )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for account_id, exit_price in ((first, 107), (second, 111)):
        trade = {**A_TRADE, "account_id": account_id, "symbol": "X", "exit_price": exit_price}
        journal.client.post("/trades", json={**trade, "opened_at": now, "closed_at": now})
    page.sign_in(journal.key)
    page.wait_for_text("+18.00 in 2 trades")

    page.find("#selection").send_keys("B")

    page.wait_for_text("+11.00 in 1 trade")
    assert unwrap(journal.client.get("/me"))["active_selection"] == f"account_{second}"


@in_a_browser
def test_a_key_that_is_revoked_meanwhile_leads_back_to_the_sign_in(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)

    run_ok("keys", "revoke", "1", "--db", journal.db)
    page.poll()

    page.wait_for_text("This API key was revoked")
    assert page.browser.execute_script("return sessionStorage.length") == 0
    page.fill("key", new_key(journal.db) + Keys.ENTER)
    page.wait_for_view("today")


@in_a_browser
def test_a_wrong_key_is_told_in_the_words_of_the_service(journal: PageJournal, page: Page) -> None:
    page.browser.get(page.url)
    page.fill("key", "tjk_wrong" + Keys.ENTER)

    page.wait_for_text("This API key does not exist.")


@in_a_browser
def test_names_that_are_markup_stay_text_in_every_view(journal: PageJournal, page: Page) -> None:
    journal.client.post("/example-journal")
    account = unwrap(journal.client.post("/accounts", json={"name": MARKUP}))
    category = unwrap(journal.client.post("/tag-categories", json={"name": MARKUP}))
    journal.client.post("/tags", json={"name": MARKUP, "category_id": category["id"]})
    journal.client.post("/strategies", json={"name": MARKUP, "setups": [{"name": MARKUP}]})
    journal.client.post("/copy-groups", json={"name": MARKUP})
    goal = {"goal_name": MARKUP, "metric": "net_pnl", "target_value": 5, "account_id": account["id"]}
    journal.client.post("/goals", json=goal)
    page.sign_in(journal.key)

    for view in VIEWS:
        page.show(view)
        assert page.all("main img, main b:not(:empty)") == [], view
        if view in ("today", "settings"):
            assert MARKUP in page.text()
    assert page.complaints() == []


@in_a_browser
def test_a_file_is_dropped_imported_and_undone(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)
    page.show("import")
    page.fill("name", " account")
    page.click("main form.row button")
    page.wait_for_text("Drop a file here")

    page.drop("round trips.csv", A_CSV)
    page.wait_for_text("2 new")
    assert unwrap(journal.client.get("/trades")) == []
    page.click("#import")
    page.wait_for_text("Imported: 2 new trades")
    assert len(unwrap(journal.client.get("/trades"))) == 2

    page.click("button[aria-label='Undo the import of round trips.csv']")
    page.wait_for_text("Delete the 2 trades of round trips.csv?")
    page.click("dialog .danger")
    page.wait(lambda: unwrap(journal.client.get("/trades")) == [])
    page.wait(lambda: not page.all("section[aria-label=Imports]"))
    assert page.complaints() == []


@in_a_browser
def test_a_file_with_an_unknown_header_is_described_and_then_read(journal: PageJournal, page: Page) -> None:
    journal.client.post("/accounts", json={"name": "Main"})
    page.sign_in(journal.key)
    page.show("import")

    page.drop("acme.csv", UNKNOWN_CSV)
    page.wait_for_text("The header of this file is unknown")
    page.fill("long", "Up", "#profile")
    page.fill("short", "Down", "#profile")
    page.click("#profile button")
    page.wait_for_text("State it once")
    page.fill("timezone", "America/New_York", "#options")
    page.click("#options .again")
    page.wait_for_text("2 new")
    page.click("#import")

    page.wait_for_text("Imported: 2 new trades")
    trades = unwrap(journal.client.get("/trades"))
    assert [(trade["direction"], trade["net_pnl"]) for trade in trades] == [("short", 10), ("long", 10)]


@in_a_browser
def test_accounts_that_a_file_names_are_created_or_mapped(journal: PageJournal, page: Page) -> None:
    for name in ("Main", "Other"):
        journal.client.post("/accounts", json={"name": name})
    page.sign_in(journal.key)
    page.show("import")

    rows = A_CSV.splitlines()
    page.drop("two.csv", f"account,{rows[0]}\nSim101,{rows[1]}\nEval 7,{rows[2]}\n")
    page.wait_for_text("Account Sim101: not in the journal")
    assert page.find("#options .again").text == "Create the accounts and read again"
    page.fill("account_1", "Main", "#options")
    assert page.find("#options .again").text == "Create the account and read again"
    page.click("#options button")
    page.wait_for_text("2 new")
    page.click("#import")
    page.wait_for_text("Imported: 2 new trades")

    accounts = {one["id"]: one["name"] for one in unwrap(journal.client.get("/accounts"))}
    trades = unwrap(journal.client.get("/trades"))
    assert sorted(accounts.values()) == ["Main", "Other", "Sim101"]
    places = {(trade["symbol"], accounts[trade["account_id"]]) for trade in trades}
    assert places == {("ES", "Sim101"), ("NQ", "Main")}


@in_a_browser
def test_a_journal_of_old_trades_is_not_an_empty_one(journal: PageJournal, page: Page) -> None:
    account = unwrap(journal.client.post("/accounts", json={"name": "Main"}))
    journal.client.post(
        "/trades",
        json={
            **A_TRADE,
            "account_id": account["id"],
            "opened_at": "2020-01-06T14:00:00Z",
            "closed_at": "2020-01-06T15:00:00Z",
        },
    )
    page.sign_in(journal.key)

    assert "This journal is empty" not in page.text()
    page.show("today", "?month=2020-01")
    page.wait_for_text("January 2020")
    page.wait_for_text("1 trade")


@in_a_browser
def test_the_errors_of_a_file_stand_at_its_rows(journal: PageJournal, page: Page) -> None:
    journal.client.post("/accounts", json={"name": "Main"})
    page.sign_in(journal.key)
    page.show("import")

    page.drop("bad.csv", A_CSV.replace("short", "up"))

    page.wait_for_text("direction must be long or short")
    assert not page.find("#import").is_enabled()


@in_a_browser
def test_an_empty_journal_offers_the_example_and_removes_it_again(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)

    page.click("#load-example")
    page.wait_for_text("Daily loss limit")
    page.click("#remove-example")
    page.click("dialog .danger")

    page.wait_for_text("This journal is empty")
    assert unwrap(journal.client.get("/example-journal"))["is_loaded"] is False


@in_a_browser
def test_trading_days_are_asked_for_once(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)
    page.find("section[aria-label='Trading days'] .primary").click()

    page.wait(lambda: not page.all("section[aria-label='Trading days']"))
    me = unwrap(journal.client.get("/me"))
    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


@in_a_browser
def test_a_limit_says_what_is_left_and_what_happened_since(journal: PageJournal, page: Page) -> None:
    account = unwrap(journal.client.post("/accounts", json={"name": "Main"}))
    limit = {"goal_name": "Limit", "metric": "worst_day", "target_value": -500, "timeframe": "daily"}
    journal.client.post("/goals", json=limit)
    page.sign_in(journal.key)
    assert "500.00 left before −500.00" in page.text()

    now = datetime.now(UTC).isoformat(timespec="seconds")
    loss = {**A_TRADE, "account_id": account["id"], "symbol": "X", "opened_at": now, "closed_at": now}
    loss |= {"entry_price": 480, "exit_price": 100}
    unwrap(journal.client.post("/trades", json=loss))
    page.poll()

    page.wait_for_text("120.00 left before −500.00")
    assert "Within limit" in page.text()
    unwrap(journal.client.post("/trades", json={**loss, "exit_price": 400}))
    page.poll()
    page.wait_for_text("40.00 left before −500.00")
    assert "Near limit" in page.text()
    page.click(".goal")
    page.wait_for_text("−460.00 = the lowest net P&L of a day.")


@in_a_browser
def test_a_goal_is_made_edited_and_deleted(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)
    page.show("settings")
    page.click("#new-goal")
    page.fill("ready", "Another goal", "#edit")
    page.fill("goal_name", "Limit", "#edit")
    page.fill("metric", "Worst day", "#edit")
    page.fill("target_value", "-500", "#edit")
    page.click("#edit .primary")
    page.wait_for_text("Worst day ≥ −500.00")
    assert unwrap(journal.client.get("/goals"))[0]["timeframe"] == "daily"

    page.click("#goals .link")
    page.find("#edit")
    journal.client.patch("/goals/1", json={"target_value": -400})
    page.fill("target_value", "-300", "#edit")
    page.click("#edit .primary")
    page.wait_for_text("This goal was changed in the meantime")
    page.find("dialog:last-of-type .row button:last-child").click()
    page.wait_for_text("Worst day ≥ −400.00")
    page.click("#goals .link")
    page.click("#edit .danger")
    page.find("dialog:last-of-type form .danger").click()

    page.wait_for_text("No goals.")
    assert unwrap(journal.client.get("/goals", params={"status": "all"})) == []


@in_a_browser
def test_an_error_of_a_form_stands_at_its_field(journal: PageJournal, page: Page) -> None:
    page.sign_in(journal.key)
    page.show("settings")
    page.fill("timezone", "Mars/Olympus", "#days")
    page.click("#days .primary")

    place = page.find("#days [data-field=timezone]")
    page.wait(lambda: "time zone" in place.text)


@in_a_browser
def test_the_main_path_needs_no_mouse(journal: PageJournal, page: Page) -> None:
    page.browser.get(page.url)
    page.wait_for_view("sign-in")
    page.press(journal.key, Keys.ENTER)
    page.wait_for_view("today")
    page.tab_to("#load-example")
    page.press(Keys.ENTER)
    page.wait_for_text("Daily loss limit")
    page.tab_to(".goal")
    page.press(Keys.ENTER)
    page.wait_for_text("met in")
    page.tab_to(".columns a")
    page.press(Keys.ENTER)
    page.wait(lambda: "period=" in page.browser.current_url)
    page.tab_to("nav a[href='#/settings']")
    page.press(Keys.ENTER)
    page.wait_for_view("settings")
    page.tab_to("#new-goal")
    page.press(Keys.ENTER)
    page.find("#edit")
    page.press(Keys.ESCAPE)
    page.wait(lambda: not page.all("dialog"))


@in_a_browser
def test_nothing_of_a_view_shuts_anybody_out(journal: PageJournal, page: Page, axe: str) -> None:
    page.resize(1280, 900)
    page.browser.get(page.url)
    page.wait_for_view("sign-in")
    found = violations(page, axe)
    page.sign_in(journal.key)
    found += violations(page, axe)
    journal.client.post("/example-journal")
    for view in VIEWS:
        page.show(view)
        found += violations(page, axe)
    page.show("today", "?goal=1")
    found += violations(page, axe)
    page.show("settings")
    page.click("#new-goal")
    found += violations(page, axe)

    assert sorted(set(found)) == []


@in_a_browser
def test_no_view_is_wider_than_the_screen(journal: PageJournal, page: Page) -> None:
    journal.client.post("/example-journal")
    page.sign_in(journal.key)

    widest = {}
    for width, narrower in ((360, 360), (1600, 768)):
        for view in VIEWS:
            page.resize(width, 900)
            page.show(view)
            for one in (width, narrower):
                page.resize(one, 900)
                widest[one, view] = page.browser.execute_script("return document.documentElement.scrollWidth")

    assert {place: wide for place, wide in widest.items() if wide > place[0]} == {}

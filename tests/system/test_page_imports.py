"""The import view of the page at /: it writes what it shows, and asks before an undo (docs/page.md)."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from chromium import Page, PageJournal, create, in_a_browser, stored
from selenium.webdriver import Chrome

pytestmark = in_a_browser


@pytest.fixture
def client(page_journal: PageJournal) -> httpx.Client:
    return page_journal.client


@pytest.fixture
def page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.resize(1280, 900)
    page.sign_in(page_journal.key)
    page.complaints()
    yield page
    page.leave()


HEADER = "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at"
ROWS = [
    f"{symbol},long,1,100,101,2026-01-0{day} 14:00:00,2026-01-0{day} 15:00:00"
    for day, symbol in ((5, "ES"), (6, "NQ"), (7, "GC"))
]
FILE = "\n".join([HEADER, *ROWS])


@pytest.fixture
def accounts(client: httpx.Client) -> list[int]:
    """Two accounts, so that none is chosen; the times of a file are read in the owner's zone."""
    return [create(client, "/accounts", name=name)["id"] for name in ("Sim", "Apex 50K Master")]


def drop(page: Page, name: str, content: str) -> None:
    """Drop a file that names no account, and wait until it was read."""
    page.drop(name, content)
    page.wait_for_text("Which account are these trades from?")
    page.wait_for_view("import")


def choose(page: Page, name: str, value: str) -> None:
    page.fill(name, value, "#options")


def test_an_account_that_is_chosen_after_the_preview_is_the_one_that_is_imported_into(
    page: Page, client: httpx.Client, accounts: list[int]
) -> None:
    page.show("import")
    drop(page, "trades.csv", FILE)
    choose(page, "account_id", "Sim")
    page.wait_for_text("Import 3 trades into Sim")
    choose(page, "account_id", "Apex")
    page.wait_for_text("Import 3 trades into Apex 50K Master")
    page.click("#import")

    page.wait_for_text("Imported: 3 new trades")
    assert {trade["account_id"] for trade in stored(client, "/trades")} == {accounts[1]}
    assert "Apex 50K Master" in page.find("section[aria-label=Imports] tbody tr").text


def test_a_time_zone_that_is_typed_and_not_read_yet_is_never_imported_over(
    page: Page, client: httpx.Client, accounts: list[int]
) -> None:
    page.show("import")
    drop(page, "trades.csv", FILE)
    choose(page, "account_id", "Sim")
    page.wait_for_text("3 new")
    choose(page, "timezone", "new york")
    page.click("#import")  # which leaves the field first

    page.wait_for_text("Times are read in America/New_York (stated).")
    assert stored(client, "/trades") == []
    page.click("#import")
    page.wait_for_text("Imported: 3 new trades")
    assert {trade["opened_at"][11:16] for trade in stored(client, "/trades")} == {"19:00"}


def test_a_zone_that_is_none_is_refused_at_its_field(page: Page, accounts: list[int]) -> None:
    page.show("import")
    drop(page, "trades.csv", FILE)
    choose(page, "account_id", "Sim")
    page.wait_for_text("3 new")
    choose(page, "timezone", "Mars\t")

    page.wait_for_text("Name a city of the time zone, such as Berlin")
    page.wait_for_view("import")
    assert "Name a city" in page.find("#options [data-field=timezone]").text
    assert page.all("#import") == []


def test_a_file_for_several_accounts_says_how_many_and_its_import_names_them(
    page: Page, accounts: list[int]
) -> None:
    page.show("import")
    names = ("Sim", "Apex 50K Master", "Sim")
    rows = [f"{name},{row}" for name, row in zip(names, ROWS, strict=True)]
    page.drop("two.csv", "\n".join([f"account,{HEADER}", *rows]))
    page.wait_for_text("3 new")

    page.wait_for_text("Import 3 trades into 2 accounts")
    page.click("#import")
    page.wait_for_text("Imported: 3 new trades")
    (account,) = [cell.text for cell in page.all("section[aria-label=Imports] tbody td:nth-child(2)")]
    assert sorted(account.split(", ")) == ["Apex 50K Master", "Sim"]


def test_a_file_whose_trades_are_all_there_says_so_and_imports_nothing(
    page: Page, client: httpx.Client, accounts: list[int]
) -> None:
    page.show("import")
    drop(page, "trades.csv", FILE)
    choose(page, "account_id", "Sim")
    page.wait_for_text("Import 3 trades into Sim")
    page.click("#import")
    page.wait_for_text("Imported: 3 new trades")
    page.drop("trades.csv", FILE)

    page.wait_for_text("All 3 are already there.")
    assert not page.find("#import").is_enabled()
    assert len(stored(client, "/imports")) == 1


def annotated_import(page: Page, client: httpx.Client, account_id: int) -> list[Any]:
    """Import three trades, give one a tag and edit another, and press Undo; the trades, newest first."""
    client.post(
        "/imports",
        params={"account_id": account_id, "timezone": "UTC", "file_name": "trades.csv"},
        content=FILE,
        headers={"Content-Type": "text/csv"},
    ).raise_for_status()
    trades = stored(client, "/trades")
    category = create(client, "/tag-categories", name="Mind")
    tag = create(client, "/tags", name="Patient", category_id=category["id"])
    client.put(f"/trades/{trades[0]['id']}/tags", json={"tag_ids": [tag["id"]]}).raise_for_status()
    client.patch(f"/trades/{trades[1]['id']}", json={"fees": 1}).raise_for_status()
    page.show("import")
    page.click("section[aria-label=Imports] .danger")
    page.find("dialog")
    return list(trades)


def test_an_undo_says_how_many_trades_go_and_how_many_were_annotated_and_keeps_them(
    page: Page, client: httpx.Client, accounts: list[int]
) -> None:
    trades = annotated_import(page, client, accounts[0])

    said = page.find("dialog").text
    assert "1 trade is deleted." in said
    assert "2 trades of this file were edited since; 1 of them with notes, a grade" in said
    assert len(stored(client, "/trades")) == 3
    page.click("dialog .primary")
    page.wait(lambda: not page.all("dialog"))
    assert stored(client, "/trades") == stored(client, "/trades", import_id=1)
    assert [trade["id"] for trade in stored(client, "/trades")] == [one["id"] for one in trades[:2]]


def test_an_undo_takes_annotated_trades_along_only_when_that_is_chosen(
    page: Page, client: httpx.Client, accounts: list[int]
) -> None:
    annotated_import(page, client, accounts[0])

    page.click("dialog .row:last-child button")  # Cancel
    assert len(stored(client, "/trades")) == 3
    page.click("section[aria-label=Imports] .danger")
    page.click("dialog .danger")
    page.wait(lambda: not page.all("dialog"))
    assert stored(client, "/trades") == []

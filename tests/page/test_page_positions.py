"""One trade is one position, on the page at /: fills, merges, copies and costs (docs/page.md)."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from chromium import (
    PageJournal,
    choose,
    eventually,
    in_a_browser,
    no_dialog,
    save,
    see,
    show,
    sign_in,
    values_of,
)
from factories import A_TRADE
from playwright.async_api import Page, expect

pytestmark = in_a_browser


def add_trade(journal: PageJournal, account_id: int, **fields: Any) -> Any:
    return journal.create("/trades", **{**A_TRADE, "multiplier": 1, "account_id": account_id, **fields})


def add_account(journal: PageJournal, name: str = "Sim", **fields: Any) -> int:
    return int(journal.create("/accounts", name=name, **fields)["id"])


async def fill(page: Page, button: str, **typed: str) -> None:
    """Press the button of a position, and type those fields of its dialog."""
    await page.click(button)
    for name, text in typed.items():
        await page.fill(f"#fill [name={name}]", text)
    await save(page, "#fill")


async def test_a_position_is_added_to_reduced_closed_and_reopened_by_its_fills(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    path = f"/trades/{add_trade(journal, account, exit_price=None, closed_at=None)['id']}"
    await sign_in(page, journal, path.replace("/trades/", "trades?id="))
    await see(page, "1 fill", "#fills summary")

    await fill(page, "#add-fill", quantity="2", price="103", at="2026-01-05T14:10")
    await fill(page, "#take-off", quantity="1", price="105")
    await see(page, "3 fills, at most 3 held", "#fills summary")
    await page.click("#close-position")
    await expect(page.locator("#fill [name=quantity]")).to_have_value("2")
    await page.fill("#fill [name=quantity]", "3")
    await page.fill("#fill [name=price]", "106")
    await page.click("#fill .primary")
    await see(page, "close this trade with that, then open another", "#fill [data-field=quantity]")
    await page.fill("#fill [name=quantity]", "2")
    await save(page, "#fill")
    await see(page, "+11.00", "#trade .big")  # 5 - 0 + 2 x 6 - 2 x 3
    closed = journal.read(path)
    assert [(one["side"], one["quantity"], one["price"]) for one in closed["fills"]] == [
        ("buy", 1, 100), ("buy", 2, 103), ("sell", 1, 105), ("sell", 2, 106)
    ]  # fmt: skip
    assert (closed["quantity"], closed["entry_price"], closed["gross_pnl"]) == (3, 102, 11)
    assert await values_of(page, "#fills tbody td:nth-child(5)") == ["1", "3", "2", "0"]

    await page.click("#fills tbody tr:last-child button")
    await page.fill("#fill [name=price]", "107")
    await save(page, "#fill")
    await see(page, "+13.00", "#trade .big")
    await page.click("#fills tbody tr:last-child button")
    await page.click("#fill .danger")
    await page.click("dialog:last-of-type .danger")
    await see(page, "open", "#trade .big")
    await no_dialog(page)
    assert journal.read(path)["fill_count"] == 3
    await page.click("#trade button:text('Change prices')")
    await see(page, "follow from the fills", "dialog")
    await page.fill("dialog [name=stop_loss]", "99")
    await save(page, "dialog")
    assert journal.read(path)["stop_loss"] == 99


async def test_trades_that_touch_are_merged_by_choosing_and_split_again(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    times = [("14:00", "14:30"), ("14:20", "15:00"), ("16:00", "17:00")]
    first, second, _ = (
        add_trade(
            journal,
            account,
            opened_at=f"2026-01-05T{opened}:00Z",
            closed_at=f"2026-01-05T{closed}:00Z",
            notes=opened,
        )
        for opened, closed in times
    )
    before = journal.read("/trades")
    await sign_in(page, journal, f"trades?id={second['id']}")
    await see(page, "1 other trade of this position touches it", "#trade")
    await page.click("#trade button:text('Merge them')")
    await expect(page.locator("#merge input")).to_have_count(2)
    await expect(page.locator("#merge input:checked")).to_have_count(1)
    await save(page, "#merge")

    await see(page, "Merged from 2 trades.", "#trade")
    await see(page, "+2.00", "#trade .big")
    await see(page, "4 fills, at most 2 held", "#fills summary")
    assert page.url.endswith(f"id={first['id']}")
    assert journal.read(f"/trades/{first['id']}")["notes"] == "14:00\n\n14:20"
    await page.click("#split")
    await page.click("dialog .primary")
    await see(page, "3 trades", ".pages")
    await no_dialog(page)
    parts = [{name: value for name, value in one.items() if name != "updated_at"} for one in before]
    after = journal.read("/trades")
    assert [{name: value for name, value in one.items() if name != "updated_at"} for one in after] == parts


async def test_a_copy_is_linked_by_the_group_or_by_choosing_and_says_whose_judgement_counts(
    page: Page, journal: PageJournal
) -> None:
    master, follower = add_account(journal, "Apex Master"), add_account(journal, "Apex 2")
    original = add_trade(journal, master, grade="A")
    copy = add_trade(journal, follower, opened_at="2026-01-05T14:00:08Z")
    await sign_in(page, journal, "settings")
    await page.click("#new-copy_group")
    await page.fill("#edit [name=name]", "Apex")
    for account in (master, follower):
        await page.check(f"#edit [name=member_{account}]")
    await choose(page, "#edit [name=master_account_id]", "Apex Master")
    await page.fill("#edit [name=copy_seconds]", "10")
    await page.click("#edit .primary")
    await see(page, "Link 1 copy in Apex?", "dialog")
    await page.click("dialog .primary")
    await no_dialog(page)
    await eventually(lambda: journal.read(f"/trades/{copy['id']}")["source_trade_id"] == original["id"])

    await show(page, f"trades?id={copy['id']}")
    await see(
        page,
        "A copy of ES in Apex Master. Reports count both as one trade and judge it by the original",
        ".copy",
    )
    await see(page, "The original has grade A.", ".copy")
    await page.click("#unlink")
    await expect(page.locator(".copy")).to_have_count(0)
    await page.click("#link")
    await see(page, "Apex Master: ES, 1 at 100", "dialog")
    await page.click("dialog .primary")
    await page.wait_for_selector("#unlink")
    assert journal.read(f"/trades/{copy['id']}")["source_trade_id"] == original["id"]


async def test_today_says_how_fresh_the_journal_is_and_which_accounts_are_behind(
    page: Page, journal: PageJournal
) -> None:
    accounts = [add_account(journal, name) for name in ("Apex 1", "Apex 2")]
    for account in accounts:
        journal.import_file(
            "symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at\n"
            "ES,long,1,100,101,2025-02-13 14:00:00,2025-02-13 15:00:00\n",
            account_id=account,
        )
    eight_days_ago = (datetime.now(UTC) - timedelta(days=8)).isoformat().replace("+00:00", "Z")
    with closing(sqlite3.connect(journal.db)) as db, db:
        db.execute("UPDATE imports SET created_at = ? WHERE id = 1", [eight_days_ago])
    await sign_in(page, journal)

    text = await page.inner_text("#freshness")
    assert text.startswith("Last trade Feb 13, 2025, last import ")
    assert text.endswith(", Apex 1: 8 days ago")


async def test_a_trade_without_costs_says_so_until_they_are_typed(page: Page, journal: PageJournal) -> None:
    account = add_account(journal)
    trade = add_trade(journal, account)
    await sign_in(page, journal, f"trades?id={trade['id']}")
    await see(page, "Gross = net, no costs", "#trade")

    await page.click("#trade button:text('Change prices')")
    await page.fill("dialog [name=fees]", "0.5")
    await save(page, "dialog")

    await see(page, "+0.50", "#trade .big")
    await expect(page.get_by_text("Gross = net")).to_have_count(0)


async def test_a_commission_that_is_set_for_an_account_charges_earlier_trades_on_request(
    page: Page, journal: PageJournal
) -> None:
    trade = add_trade(journal, add_account(journal))
    await sign_in(page, journal, "settings")
    await page.click("#accounts button.link")
    await page.fill("#edit [name=fees]", "0.25")
    await choose(page, "#edit [name=one_trade_is]", "a row, as the broker writes it")
    await page.click("#edit .primary")
    await see(page, "Charge 1 earlier trade of Sim too?", "dialog[aria-label^=Charge]")
    await page.click("dialog[aria-label^=Charge] .primary")
    await no_dialog(page)

    assert journal.read(f"/trades/{trade['id']}")["fees"] == 0.5
    assert journal.read("/accounts")[0]["one_trade_is"] == "row"


@pytest.mark.parametrize("view", ["today", "report"])
async def test_net_figures_say_that_they_have_no_costs_until_it_is_said_what_is_paid(
    page: Page, journal: PageJournal, view: str
) -> None:
    account = add_account(journal)
    trades = [add_trade(journal, account, **fees) for fees in ({}, {}, {"fees": 1})]
    await sign_in(page, journal, view)
    await see(page, "Gross = net, no costs: 2 trades", "#no-costs")

    await page.click("#no-costs a")
    await expect(page.locator("#trades tbody tr")).to_have_count(2)
    await page.go_back()
    await page.click("#no-costs button")
    await page.fill("dialog [name=per_side]", "0.25")
    await page.click("dialog button:text('Charge this')")
    await page.click("dialog button:text('Charge them')")

    await no_dialog(page)
    await expect(page.locator("#no-costs")).to_have_count(0)
    paid = [journal.read(f"/trades/{one['id']}")["fees"] for one in trades]
    assert paid == [0.5, 0.5, 1]

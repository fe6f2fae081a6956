"""One trade is one position, on the page at /: fills, merges, copies and costs (docs/page.md)."""

from typing import Any

from chromium import (
    PageJournal,
    in_a_browser,
    no_dialog,
    save,
    see,
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
    page: Page, page_journal: PageJournal
) -> None:
    account = add_account(page_journal)
    path = f"/trades/{add_trade(page_journal, account, exit_price=None, closed_at=None)['id']}"
    await sign_in(page, page_journal, path.replace("/trades/", "trades?id="))
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
    closed = page_journal.read(path)
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
    assert page_journal.read(path)["fill_count"] == 3
    await page.click("#trade button:text('Change prices')")
    await see(page, "follow from the fills", "dialog")
    await page.fill("dialog [name=stop_loss]", "99")
    await save(page, "dialog")
    assert page_journal.read(path)["stop_loss"] == 99

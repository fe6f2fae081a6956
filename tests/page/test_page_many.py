"""Many trades at once on the page at / (docs/page.md)."""

from typing import Any

import pytest
from chromium import AXE, PageJournal, Tab, in_a_browser
from playwright.async_api import expect

pytestmark = in_a_browser
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}]}]


def import_trades(journal: PageJournal, number: int, symbol: str = "ES") -> None:
    """Import a file of open trades of the first account, one a second."""
    rows = [f"{symbol},long,1,100,2026-01-05 10:{place // 60:02}:{place % 60:02}" for place in range(number)]
    account, *_ = journal.read("/accounts") or [journal.create("/accounts", name="Main")]
    content = "\n".join(["symbol,direction,quantity,entry_price,opened_at", *rows])
    journal.import_file(content, account_id=account["id"])


def add_trades(journal: PageJournal, number: int, **fields: Any) -> list[int]:
    """Add trades, one a minute; the list in the page has the last one first."""
    return [journal.add_trade(10, f"2026-01-05T15:{place:02}", 0, **fields) for place in range(number)]


def stored(journal: PageJournal, field: str) -> list[Any]:
    """Return the field of each trade, in the order in which they were added."""
    return [one[field] for one in reversed(journal.read("/trades", limit=200))]


async def change(page: Tab, number: str) -> None:
    await page.press(f"Change {number}", "#many")
    await page.no_dialog()
    await page.see(f"{number} changed", "#selected")


async def test_trades_are_changed_together_and_get_back_old_values(
    page: Tab, page_journal: PageJournal
) -> None:
    strategy = page_journal.create("/strategies", name="Opening range", setups=SETUPS)
    late, early = page_journal.add_tags("Late", "Early")
    first, second, third, _ = add_trades(page_journal, 4)
    page_journal.patch(f"/trades/{first}", grade="A", tag_ids=[early])
    page_journal.patch(f"/trades/{second}", grade="B", tag_ids=[late])
    names = ("grade", "tag_ids", "strategy_id", "setup_id", "initial_risk")
    before = {name: stored(page_journal, name) for name in names}
    await page.sign_in(page_journal, "trades")

    await page.click(f"#select-{third}")
    await page.click(f"#trade-{first}", modifiers=["Shift"])
    await page.see("3 trades selected", "#selected")
    await page.click("#change-many")
    await page.press("Change 3 trades", "#many")
    await page.see("Choose what to change", "#many")
    for name, label in (
        ("add_tag", "Late"),
        ("remove_tag", "Early"),
        ("strategy_id", "Opening range"),
        ("setup_id", "Break"),
        ("grade", "C"),
    ):
        await page.choose(f"#many [name={name}]", label)
    await page.fill("[name=initial_risk]", "125.50")
    await change(page, "3 trades")
    assert stored(page_journal, "tag_ids") == [[late], [late], [late], []]
    assert stored(page_journal, "grade") == ["C", "C", "C", None]
    assert stored(page_journal, "strategy_id") == [strategy["id"]] * 3 + [None]
    assert stored(page_journal, "setup_id") == [strategy["setups"][0]["setup_id"]] * 3 + [None]
    assert stored(page_journal, "initial_risk")[0] == 125.5

    page_journal.patch(f"/trades/{third}", notes="written meanwhile")
    await page.click("#undo")
    await page.see("1 trade changed in the meantime", "dialog")
    assert stored(page_journal, "grade")[:3] == ["C", "C", "C"]
    await page.save("dialog")
    await page.see("Undone, but for 1 trade that changed in the meantime", "#selected")
    for name in names:
        assert stored(page_journal, name)[:2] == before[name][:2], name
    assert stored(page_journal, "grade")[2] == "C"


async def test_a_change_or_deletion_says_what_goes_along(page: Tab, page_journal: PageJournal) -> None:
    setup = page_journal.create("/strategies", name="Opening range", setups=SETUPS)["setups"][0]
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    page_journal.add_tags("Late")
    first, *_ = add_trades(page_journal, 5, setup_id=setup["setup_id"], confirmations=[answer])
    await page.sign_in(page_journal, "trades")
    await page.keys("j", "x", "j", "j", "Shift+X")
    await page.see("3 trades selected", "#selected [role=status]")
    await page.keys("j", "x", "x")
    await page.see("3 trades selected", "#selected [role=status]")
    await page.keys("e")
    await page.wait_for_selector("#many")
    await page.focus("[name=add_tag]")
    await page.keyboard.type("Late")
    for _ in range(8):
        await page.keys("Tab")
        if await page.evaluate("document.activeElement.matches('#many .primary')"):
            break
    await page.keys("Enter")
    await page.see("3 trades changed", "#selected")
    assert [len(one) for one in stored(page_journal, "tag_ids")] == [0, 0, 1, 1, 1]

    await page.keys("Escape")
    await page.gone("#trades tbody :checked")
    await page.keys("j", "x", "a")
    await page.see("5 trades selected", "#selected")
    await page.click("#change-many")
    await page.choose("#many [name=strategy_id]", "None")
    await page.press("Change 5 trades", "#many")
    await page.agree("Cancel", "5 checklist answers of the old setups are deleted.")
    page_journal.delete(f"/trades/{first}")
    await page.click("#delete-many")
    await page.see("Delete 4 trades?", "dialog")
    await page.see("4 checklist answers, go with them. This cannot be undone.", "dialog")
    assert len(page_journal.read("/trades")) == 4
    await page.click("dialog .danger")
    await page.see("4 trades deleted", "#selected")
    assert page_journal.read("/trades") == []


async def test_all_trades_of_a_filter_are_selected(page: Tab, page_journal: PageJournal) -> None:
    import_trades(page_journal, 55)
    import_trades(page_journal, 1001, "NQ")
    await page.sign_in(page_journal, "trades?symbol=ES")
    await page.click("#select-page")
    await page.see("50 trades selected", "#selected")
    await page.click("#select-all")
    await page.see("55 trades selected", "#selected")
    await page.click("#older")
    await page.count("#trades tbody :checked", 5)
    await page.click("#change-many")
    await page.choose("#many [name=grade]", "B")
    await change(page, "55 trades")
    assert (
        page_journal.client.get("/trades", params={"grade": "B"}).json()["meta"]["pagination"]["total"] == 55
    )
    await page.click("#undo")
    await page.see("Undone", "#selected")
    assert page_journal.read("/trades", grade="B") == []
    await page.show("trades?symbol=NQ")  # another filter forgets them
    await page.hidden("#change-many")
    await page.click("#select-page")
    await page.see("50 trades selected · At most 1,000 at once", "#selected")
    await expect(page.locator("#select-all")).to_be_disabled()


async def test_the_bar_shuts_nobody_out_and_fits_a_phone(page: Tab, page_journal: PageJournal) -> None:
    if not AXE.exists():
        pytest.skip("npm has not installed axe-core: make lint-page")
    page_journal.create("/accounts", name="Second")
    import_trades(page_journal, 20)
    await page.sign_in(page_journal, "trades")
    await page.click("#select-page")
    for width, height, dark in ((1280, 900, False), (1280, 900, True), (360, 740, False)):
        await page.resize(width, height, dark=dark)
        for selector in ("#change-many", "#many .primary"):
            await expect(page.locator(selector)).to_be_in_viewport(ratio=1)
            assert await page.find_violations(dark=dark) == set()
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            if selector == "#change-many":
                await page.click(selector)
        await page.press("Close", "dialog")
        await page.no_dialog()

"""Many trades at once on the page at / (docs/page.md)."""

import asyncio
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from chromium import (
    PageJournal,
    choose,
    in_a_browser,
    no_dialog,
    resize,
    see,
    show,
    sign_in,
)
from factories import A_TRADE
from playwright.async_api import Page, expect

pytestmark = in_a_browser
AXE = Path(__file__).parent.parent / "javascript/node_modules/axe-core/axe.min.js"
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}]}]


def add_trades(journal: PageJournal, number: int, **fields: Any) -> list[int]:
    """Add trades of the first account, one a minute; the list has the last one first."""
    (account, *_) = journal.read("/accounts") or [journal.create("/accounts", name="Main")]
    added = []
    for place in range(number):
        at = f"2026-01-{5 + place // 60:02}T15:{place % 60:02}:00Z"
        times = {"opened_at": at, "closed_at": at}
        body = {**A_TRADE, "symbol": "ES", "account_id": account["id"], **times, **fields}
        added.append(int(journal.create("/trades", **body)["id"]))
    return added


def import_trades(journal: PageJournal, number: int) -> None:
    """Import a file of open trades, one a second."""
    rows = [f"ES,long,1,100,2026-01-05 10:{place // 60:02}:{place % 60:02}" for place in range(number)]
    account = journal.create("/accounts", name="Main")["id"]
    content = "\n".join(["symbol,direction,quantity,entry_price,opened_at", *rows])
    journal.import_file(content, account_id=account)


def add_tag(journal: PageJournal, name: str) -> int:
    category = journal.create("/tag-categories", name=f"Of {name}")["id"]
    return int(journal.create("/tags", name=name, category_id=category)["id"])


def stored(journal: PageJournal, field: str) -> list[Any]:
    """Return the field of each trade, in the order in which they were added."""
    return [one[field] for one in reversed(journal.read("/trades", limit=200))]


async def change(page: Page, number: str) -> None:
    await page.click(f"#many button:text-is('Change {number}')")
    await no_dialog(page)
    await see(page, f"{number} changed", "#selected")


async def test_trades_are_selected_by_mouse_and_changed_together_and_the_old_values_come_back(
    page: Page, journal: PageJournal
) -> None:
    strategy = journal.create("/strategies", name="Opening range", setups=SETUPS)
    late, early = add_tag(journal, "Late"), add_tag(journal, "Early")
    first, second, third, _ = add_trades(journal, 4)
    journal.patch(f"/trades/{first}", grade="A", tag_ids=[early])
    journal.patch(f"/trades/{second}", grade="B", tag_ids=[late])
    names = ("grade", "tag_ids", "strategy_id", "setup_id", "initial_risk")
    before = {name: stored(journal, name) for name in names}
    await sign_in(page, journal, "trades")

    await page.click(f"#select-{third}")
    await page.click(f"#trade-{first}", modifiers=["Shift"])
    await see(page, "3 trades selected", "#selected")
    await page.click("#change-many")
    await page.click("#many .primary")
    await see(page, "Choose what to change", "#many")
    await choose(page, "[name=add_tag]", "Late")
    await choose(page, "[name=remove_tag]", "Early")
    await choose(page, "#many [name=strategy_id]", "Opening range")
    await choose(page, "#many [name=setup_id]", "Break")
    await choose(page, "#many [name=grade]", "C")
    await page.fill("[name=initial_risk]", "125.50")
    await change(page, "3 trades")
    assert stored(journal, "tag_ids") == [[late], [late], [late], []]
    assert stored(journal, "grade") == ["C", "C", "C", None]
    assert stored(journal, "strategy_id") == [strategy["id"]] * 3 + [None]
    assert stored(journal, "setup_id") == [strategy["setups"][0]["setup_id"]] * 3 + [None]
    assert stored(journal, "initial_risk")[0] == 125.5

    journal.patch(f"/trades/{third}", notes="written meanwhile")
    await page.click("#undo")
    await see(page, "1 trade changed in the meantime", "dialog")
    assert stored(journal, "grade")[:3] == ["C", "C", "C"]
    await page.click("dialog .primary")
    await see(page, "Undone, but for 1 trade that changed in the meantime", "#selected")
    for name in names:
        assert stored(journal, name)[:2] == before[name][:2], name
    assert stored(journal, "grade")[2] == "C"


async def test_trades_are_selected_and_changed_by_keyboard_alone(page: Page, journal: PageJournal) -> None:
    add_tag(journal, "Late")
    add_trades(journal, 5)
    await sign_in(page, journal, "trades")
    press = page.keyboard.press

    for key in ("j", "x", "j", "j", "Shift+X"):
        await press(key)
    await see(page, "3 trades selected", "#selected [role=status]")
    await press("j")
    await press("x")
    await press("x")
    await see(page, "3 trades selected", "#selected [role=status]")
    await press("e")
    await expect(page.locator("#many")).to_be_visible()
    await page.focus("[name=add_tag]")
    await page.keyboard.type("Late")
    await press("Tab")
    for _ in range(7):
        if await page.evaluate("document.activeElement.matches('#many .primary')"):
            break
        await press("Tab")
    await press("Enter")
    await see(page, "3 trades changed", "#selected")
    assert [len(one) for one in stored(journal, "tag_ids")] == [0, 0, 1, 1, 1]

    await press("Escape")
    await expect(page.locator("#trades tbody :checked")).to_have_count(0)
    await press("j")
    await press("x")
    await press("a")
    await see(page, "5 trades selected", "#selected")


async def test_all_trades_of_a_filter_are_selected_beyond_the_page_and_another_filter_forgets_them(
    page: Page, journal: PageJournal
) -> None:
    add_trades(journal, 55)
    add_trades(journal, 1, symbol="NQ")
    await sign_in(page, journal, "trades?symbol=ES")

    await page.click("#select-page")
    await see(page, "50 trades selected", "#selected")
    await page.click("#select-all")
    await see(page, "55 trades selected", "#selected")
    await page.click("#older")
    await expect(page.locator("#trades tbody :checked")).to_have_count(5)
    await page.click("#change-many")
    await choose(page, "#many [name=grade]", "B")
    await change(page, "55 trades")
    assert stored(journal, "grade").count("B") == 55
    await show(page, "trades?symbol=NQ")
    await see(page, "55 trades changed", "#selected")
    await expect(page.locator("#change-many")).to_be_hidden()


async def test_answers_that_a_change_or_a_deletion_takes_along_are_said_before(
    page: Page, journal: PageJournal
) -> None:
    setup = journal.create("/strategies", name="Opening range", setups=SETUPS)["setups"][0]
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    add_trades(journal, 3, setup_id=setup["setup_id"], confirmations=[answer])
    await sign_in(page, journal, "trades")

    await page.click("#select-page")
    await page.click("#change-many")
    await choose(page, "#many [name=strategy_id]", "None")
    await page.click("#many .primary")
    await see(page, "3 checklist answers of the old setups are deleted.", "dialog")
    await page.click("dialog button:text('Cancel')")
    await no_dialog(page)
    journal.client.delete("/trades/2").raise_for_status()
    await page.click("#delete-many")
    await see(page, "Delete 2 trades?", "dialog")
    await see(page, "2 checklist answers, go with them. This cannot be undone.", "dialog")
    assert len(journal.read("/trades")) == 2
    await page.click("dialog .danger")
    await see(page, "2 trades deleted", "#selected")
    assert journal.read("/trades") == []


async def test_more_than_a_thousand_are_said(page: Page, journal: PageJournal) -> None:
    import_trades(journal, 1001)
    await sign_in(page, journal, "trades")

    await page.click("#select-page")
    await see(page, "50 trades selected · At most 1,000 at once", "#selected")
    await expect(page.locator("#select-all")).to_be_disabled()


@pytest.mark.parametrize("dark", [False, True])
async def test_the_bar_and_its_dialog_shut_nobody_out_and_fit_a_phone(
    page: Page, journal: PageJournal, tmp_path: Path, dark: bool
) -> None:
    if not AXE.exists():
        pytest.skip("npm has not installed axe-core: make lint-page")
    journal.create("/accounts", name="Second")
    add_trades(journal, 20)
    await sign_in(page, journal, "trades")
    await page.click("#select-page")
    await page.evaluate(f"{AXE.read_text()}\n; 0")

    for width, height in ((1280, 900), (360, 740)):
        await resize(page, width, height, dark=dark)
        for selector in ("#change-many", "#many .primary"):
            await expect(page.locator(selector)).to_be_in_viewport(ratio=1)
            found = await page.evaluate(
                "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
            )
            assert found == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            await page.screenshot(path=tmp_path / f"{width}-{selector[1:5]}.png")
            if selector == "#change-many":
                await page.click(selector)
        await page.click("dialog [aria-label=Close]")
        await no_dialog(page)


async def test_three_hundred_trades_are_tagged_and_moved_to_a_strategy_by_hand(
    page: Page, journal: PageJournal
) -> None:
    strategy = journal.create("/strategies", name="Opening range", setups=SETUPS)["id"]
    tag = add_tag(journal, "Late")
    import_trades(journal, 300)
    await sign_in(page, journal, "trades")
    clicks, started = 0, monotonic()

    async def click(selector: str) -> None:
        nonlocal clicks
        clicks += 1
        await asyncio.sleep(0.6)
        await page.click(selector)

    async def pick(selector: str, label: str) -> None:
        """Open a list by a click, and choose from it by another."""
        nonlocal clicks
        clicks += 2
        await asyncio.sleep(1.2)
        await choose(page, selector, label)

    await click("#select-page")
    await click("#select-all")
    await see(page, "300 trades selected", "#selected")
    await click("#change-many")
    await pick("[name=add_tag]", "Late")
    await pick("#many [name=strategy_id]", "Opening range")
    await click("#many .primary")
    await see(page, "300 trades changed", "#selected")
    assert clicks == 8
    assert monotonic() - started < 10
    moved = {"tag_id": tag, "strategy_id": strategy, "limit": 1}
    answer = journal.client.get("/trades", params=moved).json()
    assert answer["meta"]["pagination"]["total"] == 300
    await click("#undo")
    await see(page, "Undone", "#selected")
    assert journal.read("/trades", tag_id=tag) == []

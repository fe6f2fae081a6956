"""Strategies on the page at / (docs/page.md)."""

from typing import Any

from chromium import PageJournal, Tab, eventually, in_a_browser
from playwright.async_api import expect

pytestmark = in_a_browser
SETUPS = [
    {"name": "Break", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]},
    {"name": "Fade", "confirmations": []},
]


def names(journal: PageJournal) -> list[Any]:
    """Each setup of the first strategy with its confirmations."""
    setups = journal.read("/strategies/1")["setups"]
    return [[one["name"], *(each["name"] for each in one["confirmations"])] for one in setups]


async def saved(page: Tab) -> None:
    """Save, and wait until the strategy is drawn as it is stored."""
    await page.press("Save", ".editor")
    await page.wait_for_selector(".editor:not([data-changed])")
    await page.drawn("strategies")


async def test_a_strategy_is_made_once_reordered_cut_and_its_draft_not_lost(
    page: Tab, page_journal: PageJournal
) -> None:
    await page.sign_in(page_journal, "strategies")
    await page.press("New strategy", ".empty")
    await page.fill("dialog [name=name]", "Opening range")
    async with page.held():
        for _ in range(3):
            await page.keys("Enter")
    await page.wait_for_selector(".editor")
    assert [one["name"] for one in page_journal.read("/strategies")] == ["Opening range"]

    first, second = page_journal.patch("/strategies/1", setups=SETUPS)["setups"]
    volume = {"confirmation_id": first["confirmations"][0]["confirmation_id"], "was_present": True}
    page_journal.add_trade(setup_id=first["setup_id"], confirmations=[volume])
    page_journal.add_trade(setup_id=second["setup_id"])
    await page.reload()
    await page.drawn("strategies")
    await page.locator(".items .items input").nth(1).focus()
    await page.keys("Alt+ArrowUp")
    await expect(page.locator("#moved")).to_have_text("Trend: 1 of 2")
    await saved(page)
    assert names(page_journal) == [["Break", "Trend", "Volume"], ["Fade"]]

    boxes = "all => all.map((one) => one.getBoundingClientRect()).map(({ x, y, bottom }) => ({ x, y, bottom }))"
    handle, *_ = await page.locator(".editor > .nested > .items > li .handle").evaluate_all(boxes)
    *_, target = await page.locator(".editor > .nested > .items > li").evaluate_all(boxes)
    await page.mouse.move(handle["x"] + 3, handle["y"] + 3)
    await page.mouse.down()
    await page.mouse.move(handle["x"] + 3, target["bottom"] + 30, steps=4)
    await page.mouse.up()
    await saved(page)
    assert names(page_journal) == [["Fade"], ["Break", "Trend", "Volume"]]

    await page.focus("[aria-label='Name of the confirmation']")
    await page.keys("Enter")  # adds a row
    await page.press("Save", ".editor")
    await page.see("must be 1 to 255", "[data-field='setups[1].confirmations[1].name']")
    await page.press("Discard changes")
    await page.drawn("strategies")  # as it is stored
    for name in ("Volume", "Fade"):
        await page.press(f"Remove {name}")
    await page.press("Save", ".editor")
    question = "This removes 1 setup and 1 confirmation: 1 trade loses its setup, 1 answer"
    await page.agree("Save and remove", question)
    await page.wait_for_selector(".editor:not([data-changed])")
    assert names(page_journal) == [["Break", "Trend"]]

    page_journal.create("/accounts", name="Two")
    setups = page_journal.read("/strategies/1")["setups"]
    await page.show("report")
    await page.show("strategies")
    await page.fill("#strategy-name", "Mine")
    await page.fill_in(".editor", color_tag="#16a34a", description="Fades too")

    for leave in (page.evaluate("history.back()"), page.choose("#selection", "Two")):
        await leave
        await page.agree("Cancel", "The changes of this strategy are not saved.")
    await page.holds("#strategy-name", "Mine")
    assert page_journal.read("/me")["active_selection"] == "all"

    page_journal.patch("/strategies/1", name="Theirs", setups=[*setups, {"name": "New"}])
    await page.press("Save", ".editor")
    await page.see("Theirs", "dialog tbody")
    await page.press("Save mine", "dialog")
    await page.agree("Save and remove", "This removes 1 setup: no trade or answer is lost.")
    await eventually(lambda: page_journal.read("/strategies/1")["name"] == "Mine")
    strategy = page_journal.read("/strategies/1")
    assert (strategy["color_tag"], strategy["description"]) == ("#16a34a", "Fades too")

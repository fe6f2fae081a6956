"""Single categories on the page at /: a row of buttons, keys, many trades, filters and what pays."""

from chromium import PageJournal, Tab, in_a_browser

pytestmark = in_a_browser


def tags_of(journal: PageJournal, trade: int) -> list[str]:
    return [tag["name"] for tag in journal.read(f"/trades/{trade}")["tags"]]


async def test_a_single_category_is_a_row_of_buttons_with_keys_a_choice_for_many_and_a_filter(
    page: Tab, page_journal: PageJournal
) -> None:
    trend, _ = page_journal.add_tags("Trend", "Range")
    page_journal.add_tags("Late")
    first, second = page_journal.add_trade(), page_journal.add_trade(20, "2026-01-06T10:00")
    await page.sign_in(page_journal)
    await page.show("settings")
    await page.click("#tag-categories .link:text('Trend')")
    await page.fill_in("#edit", name="Market")
    await page.check("#edit [name=single]")
    await page.press("Save", "#edit")
    await page.see("one on a trade", "#tag-categories")

    await page.show(f"trades?id={first}")
    await page.click("#category-1-1")
    await page.wait_for_selector("#category-1-1[aria-pressed=true]")
    await page.click("#category-1-2")
    await page.wait_for_selector("#category-1-1[aria-pressed=false]")
    assert tags_of(page_journal, first) == ["Trend"]
    await page.count("#tags button", 1)  # the others have their row
    await page.keyboard.press("t")
    await page.wait_for_selector("[aria-labelledby=category-1-label].keyed")
    await page.keyboard.press("1")
    await page.wait_for_selector("#category-1-1[aria-pressed=true]")
    await page.keyboard.press("t")
    await page.keyboard.press("2")
    await page.wait_for_selector("#grade-2[aria-pressed=true]")
    assert (tags_of(page_journal, first), page_journal.read(f"/trades/{first}")["grade"]) == (["Range"], "A")

    await page.show("trades")
    await page.check("#select-page")
    await page.click("#change-many")
    await page.choose("#many [name=category_1]", "Trend")
    await page.press("Change 2 trades", "#many")
    await page.see("2 trades changed")
    assert [tags_of(page_journal, one) for one in (first, second)] == [["Trend"], ["Trend"]]
    await page.click("#undo")
    await page.see("Undone")
    assert [tags_of(page_journal, one) for one in (first, second)] == [["Range"], []]

    await page.choose("#filter-category-1", "Range")
    await page.count("#trades tbody tr", 1)
    await page.choose("#filter-category-1", "Any")
    await page.count("#trades tbody tr", 2)
    await page.show("report?by=category-1")
    await page.see("Range", "table")
    assert await page.get_attribute("#by-category-1", "aria-current") == "true"
    assert trend

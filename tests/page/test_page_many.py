"""Many trades at once on the page at /, and categories of which a trade has one tag (docs/page.md)."""

from typing import Any

from chromium import PageJournal, Tab, in_a_browser
from playwright.async_api import expect
from proofs import only_in_soak

pytestmark = in_a_browser
SETUPS = [{"name": "Break", "confirmations": [{"name": "Volume"}]}]


def import_trades(journal: PageJournal, number: int, symbol: str = "ES") -> None:
    """Import a file of open trades of the first account, one a second."""
    rows = [f"{symbol},long,1,100,2026-01-05 10:{place // 60:02}:{place % 60:02}" for place in range(number)]
    account = journal.read("/accounts") or [journal.create("/accounts", name="Main")]
    content = "\n".join(["symbol,direction,quantity,entry_price,opened_at", *rows])
    journal.import_file(content, account_id=account[0]["id"])


def stored(journal: PageJournal, field: str, **query: Any) -> list[Any]:
    """Return the field of each trade, in the order in which they were added."""
    return [one[field] for one in reversed(journal.read("/trades", limit=200, **query))]


async def test_selected_trades_are_changed_undone_and_deleted(page: Tab, page_journal: PageJournal) -> None:
    strategy = page_journal.create("/strategies", name="Opening range", setups=SETUPS)
    (setup,) = strategy["setups"]
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    late, early = page_journal.add_tags("Late", "Early")
    first, second, third, _ = (page_journal.add_trade(at=f"2026-01-05T15:0{place}") for place in range(4))
    page_journal.patch(f"/trades/{first}", grade="A", tag_ids=[early])
    page_journal.patch(f"/trades/{second}", grade="B", tag_ids=[late])
    names = ("grade", "tag_ids", "strategy_id", "setup_id", "initial_risk")
    before = {name: stored(page_journal, name) for name in names}
    await page.sign_in(page_journal, "trades")
    await page.click(f"#select-{third}")
    await page.click(f"#trade-{first}", modifiers=["Shift"])
    await page.see("3 trades selected", "#selected")
    await page.keys("e")
    await page.press("Change 3 trades", "#many")
    await page.see("Choose what to change", "#many")
    changes = {"add_tag": "Late", "remove_tag": "Early", "strategy_id": "Opening range", "setup_id": "Break"}
    for name, label in {**changes, "grade": "C"}.items():
        await page.choose(f"#many [name={name}]", label)
    await page.fill("[name=initial_risk]", "125.50")
    await page.press("Change 3 trades", "#many")
    await page.see("3 trades changed", "#selected")
    after = ["C"] * 3, [[late]] * 3, [strategy["id"]] * 3, [setup["setup_id"]] * 3, [125.5] * 3
    assert tuple(stored(page_journal, name)[:3] for name in names) == after

    page_journal.patch(f"/trades/{third}", confirmations=[answer])
    await page.click("#undo")
    await page.see("1 trade changed in the meantime", "dialog")
    await page.save("dialog")
    await page.see("Undone, but for 1 trade that changed in the meantime", "#selected")
    for name in names:
        assert stored(page_journal, name)[:2] == before[name][:2], name
    assert stored(page_journal, "grade")[2] == "C"

    await page.keys("Escape")
    await page.gone("#trades tbody :checked")
    await page.keys("j", "x", "j", "j", "Shift+X")
    await page.see("3 trades selected", "#selected")
    await page.keys("a")
    await page.see("4 trades selected", "#selected")
    await page.click("#change-many")
    await page.choose("#many [name=strategy_id]", "None")
    await page.press("Change 4 trades", "#many")
    await page.agree("Cancel", "1 checklist answer of the old setups is deleted.")
    page_journal.delete(f"/trades/{first}")
    await page.click("#delete-many")
    await page.see("Delete 3 trades?", "dialog")
    await page.see("1 checklist answer, go with them. This cannot be undone.", "dialog")
    await page.click("dialog .danger")
    await page.see("3 trades deleted", "#selected")
    assert page_journal.read("/trades") == []


@only_in_soak
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
    await page.press("Change 55 trades", "#many")
    await page.see("55 trades changed", "#selected")
    assert {*stored(page_journal, "grade", symbol="ES")} == {"B"}
    await page.show("trades?symbol=NQ")  # another filter forgets them
    await page.hidden("#change-many")
    await page.click("#select-page")
    await page.see("50 trades selected · At most 1,000 at once", "#selected")
    await expect(page.locator("#select-all")).to_be_disabled()


def tags_of(journal: PageJournal, trade: int) -> list[str]:
    return [tag["name"] for tag in journal.read(f"/trades/{trade}")["tags"]]


@only_in_soak
async def test_a_single_category_is_a_row_of_buttons_with_keys_a_choice_for_many_and_a_filter(
    page: Tab, page_journal: PageJournal
) -> None:
    page_journal.add_tags("Trend", "Range")
    page_journal.add_tags("Late")
    first, second = page_journal.add_trade(), page_journal.add_trade(20, "2026-01-06T10:00")
    await page.sign_in(page_journal, "settings")
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
    await page.keys("t")
    await page.wait_for_selector("[aria-labelledby=category-1-label].keyed")
    await page.keys("1")
    await page.wait_for_selector("#category-1-1[aria-pressed=true]")
    await page.keys("t", "2")
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

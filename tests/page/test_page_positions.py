"""One trade is one position, on the page at /: fills, merges, copies and costs (docs/page.md)."""

from typing import Any

from chromium import PageJournal, Tab, eventually, in_a_browser

pytestmark = in_a_browser


async def add_fill(page: Tab, button: str, **typed: str) -> None:
    """Press the button of a position, and type those fields of its dialog."""
    await page.click(button)
    await page.save("#fill", **typed)


async def test_a_position_is_changed_by_its_fills_merged_and_split_again(page: Tab, page_journal: PageJournal) -> None:
    entry: dict[str, Any] = {"entry_price": 100, "exit_price": None, "closed_at": None}
    path = f"/trades/{page_journal.add_trade(at='2026-01-05T14:00', **entry)}"
    await page.sign_in(page_journal, path.replace("/trades/", "trades?id="))
    await page.see("1 fill", "#fills summary")
    await add_fill(page, "#add-fill", quantity="2", price="103", at="2026-01-05T14:10")
    await add_fill(page, "#take-off", quantity="1", price="105")
    await page.see("3 fills, at most 3 held", "#fills summary")
    await page.click("#close-position")
    await page.holds("#fill [name=quantity]", "2")
    await page.send("#fill", quantity="3", price="106")
    await page.see("close this trade with that, then open another", "#fill [data-field=quantity]")
    await page.save("#fill", quantity="2")
    await page.see("+11.00", "#trade .big")  # 5 - 0 + 2 x 6 - 2 x 3
    closed = page_journal.read(path)
    assert [(one["side"], one["quantity"], one["price"]) for one in closed["fills"]] == [
        ("buy", 1, 100), ("buy", 2, 103), ("sell", 1, 105), ("sell", 2, 106)
    ]  # fmt: skip
    assert (closed["quantity"], closed["entry_price"], closed["gross_pnl"]) == (3, 102, 11)

    await add_fill(page, "#fills tbody tr:last-child button", price="107")
    await page.see("+13.00", "#trade .big")
    await page.click("#fills tbody tr:last-child button")
    await page.press("Delete", "#fill")
    await page.agree("Delete the fill")
    await page.see("open", "#trade .big")
    assert page_journal.read(path)["fill_count"] == 3

    first, second, _ = (
        page_journal.add_trade(1, f"2026-01-05T{opened}", minutes, symbol="NQ", notes=opened)
        for opened, minutes in (("14:00", 30), ("14:20", 40), ("16:00", 60))
    )
    await page.show(f"trades?id={second}")
    await page.see("1 other trade of this position touches it", "#trade")
    await page.click("#trade button:text('Merge them')")
    await page.count("#merge input:checked", 1)
    await page.save("#merge")
    await page.see("Merged from 2 trades.", "#trade")
    await page.see("4 fills, at most 2 held", "#fills summary")
    assert page_journal.read(f"/trades/{first}")["notes"] == "14:00\n\n14:20"
    await page.press("Split again")
    await page.agree("Split it")
    await page.see("4 trades", ".pages")
    assert page_journal.read(f"/trades/{first}")["notes"] == "14:00"


async def test_a_copy_says_whose_judgement_counts_and_costs_are_charged(page: Tab, page_journal: PageJournal) -> None:
    names = "Apex Master", "Apex 2"
    master, follower = (page_journal.create("/accounts", name=name, broker="Apex")["id"] for name in names)
    original = page_journal.add_trade(1, account_id=master, grade="A")
    copy = f"/trades/{page_journal.add_trade(1, '2026-01-05T10:00:08', account_id=follower)}"
    await page.sign_in(page_journal, "settings")
    await page.click("#new-copy_group")
    await page.fill("#edit [name=name]", "Apex")
    for account in (master, follower):
        await page.check(f"#edit [name=member_{account}]")
    await page.choose("#edit [name=master_account_id]", "Apex Master")
    await page.send("#edit", copy_seconds="10")
    await page.agree("Link them", "Link 1 copy in Apex?")
    await eventually(lambda: page_journal.read(copy)["source_trade_id"] == original)
    await page.show(copy.replace("/trades/", "trades?id="))
    judged = "A copy of ES in Apex Master. Reports count both as one trade and judge it by the original"
    await page.see(judged, ".copy")
    await page.see("The original has grade A.", ".copy")
    await page.press("Unlink")
    await page.press("Copy of…")
    await page.see("Apex Master: ES, 1 at 10,000", "dialog")
    await page.press("Link", "dialog")
    await page.wait_for_selector("#unlink")
    assert page_journal.read(copy)["source_trade_id"] == original

    page_journal.add_trade(1, "2026-01-02T10:00", account_id=master)
    await page.show(f"trades?id={original}")
    await page.see("Gross = net, no costs", "#trade")
    await page.press("Change prices and times")
    await page.save("dialog", fees="0.5")
    await page.see("+0.50", "#trade .big")

    await page.show("today")
    await page.see("Gross = net, no costs: 2 trades", "#no-costs")
    await page.press("What does Apex 2 pay?")
    await page.fill("dialog [name=per_side]", "0.25")
    await page.check("dialog [name=for_broker]")
    await page.press("Charge this", "dialog")
    await page.agree("Charge them", "Charge 2 earlier trades of Apex 2, Apex Master too?")
    await page.gone("#no-costs")
    assert [one["fees"] for one in page_journal.read("/trades")] == [0.5] * 3

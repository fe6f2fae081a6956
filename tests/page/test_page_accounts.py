"""Accounts on the page at /: how they stand by their rules, their cash and checkpoints (docs/accounts.md)."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from chromium import (
    PageJournal,
    choose,
    in_a_browser,
    no_dialog,
    poll,
    save,
    see,
    show,
    sign_in,
    values_of,
)
from factories import A_TRADE
from playwright.async_api import Page, expect

pytestmark = in_a_browser

START = 50_000
STATIC = {"kind": "static", "distance": 2000}
LINE = '[aria-label^="The broker\'s balance"]'


def days_ago(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days)


def shown(day: date) -> str:
    """The day as the page writes it."""
    year = "" if day.year == days_ago(0).year else f", {day.year}"
    return f"{day:%b} {day.day}{year}"


def close_trade(journal: PageJournal, account_id: int, pnl: float, days: int = 0) -> None:
    at = f"{days_ago(days)}T12:00:00Z" if days else datetime.now(UTC).isoformat(timespec="seconds")
    prices = {"entry_price": 10_000, "exit_price": 10_000 + pnl}
    trade = {**A_TRADE, "symbol": "X", "account_id": account_id, **prices, "opened_at": at, "closed_at": at}
    journal.create("/trades", **trade)


def add_account(journal: PageJournal, name: str = "Apex", **rules: Any) -> int:
    """Add an account with these rules."""
    account_id = int(journal.create("/accounts", name=name, starting_balance=START)["id"])
    if rules:
        journal.client.put(f"/accounts/{account_id}/rules", json=rules).raise_for_status()
    return account_id


def add_cash(journal: PageJournal, account_id: int, kind: str, amount: float, days: int = 0) -> None:
    day = days_ago(days).isoformat()
    journal.create(f"/accounts/{account_id}/cash", kind=kind, amount=amount, day=day)


# Today ---------------------------------------------------------------------------------------------------

TWO, ONE, NOW = (shown(days_ago(days)) for days in (2, 1, 0))
# Rules, net P&L by days ago, and what the card says.
CARDS: list[tuple[dict[str, Any], list[tuple[int, float]], list[str]]] = [
    (
        {"floor": STATIC},
        [(0, -500)],
        ["● Within its limits", "1,500.00 left above the floor of 48,000.00",
         "Not seen: open profit and loss",
         "50,000.00 at the start", "49,500.00 USD"],
    ),
    ({"floor": STATIC}, [], ["2,000.00 left above the floor of 48,000.00"]),
    ({"floor": STATIC}, [(0, -1700)], ["▲ Near the floor", "300.00 left above the floor of 48,000.00"]),
    (
        {"floor": STATIC, "profit_target": 100, "minimum_days": 1},
        [(1, -2100), (0, 2300)],
        [f"✕ The floor is broken since {ONE}", " 0.00 left above the floor of 48,000.00", "50,200.00 USD",
         "Profit target ended with the account", "Days traded ✓ 1 of 1"],
    ),
    (
        {"floor": {"kind": "end_of_day", "distance": 2000, "locks_at": 50_100}},
        [(2, 2300), (1, -100)],
        ["2,100.00 left above the floor of 50,100.00, locked", f"52,300.00 at the end of {TWO}"],
    ),
    ({"floor": {"kind": "trade", "distance": 2000}}, [(1, 800)], [f"50,800.00 at a trade of {ONE}"]),
    (
        {"floor": STATIC, "daily_loss": 1000},
        [(0, -850)],
        ["▲ Near the daily loss", "1,150.00 left above the floor of 48,000.00",
         "▲ 150.00 left before a loss of 1,000.00"],
    ),
    ({"daily_loss": 1000}, [(0, -400)], ["● Within its limits", "600.00 left for the day"]),
    (
        {"daily_loss": 1000},
        [(1, -1100)],
        [f"✕ The daily loss is broken since {ONE}", f"✕ broken since {ONE}"],
    ),
    (
        {"profit_target": 500, "minimum_days": 1},
        [(0, 600)],
        ["✓ Targets met", f"✓ met since {NOW}", "✓ 1 of 1"],
    ),
    (
        {"profit_target": 3000, "best_day_share": 50, "qualifying_day": {"amount": 150, "days": 5}},
        [(2, 900), (1, 60)],
        ["○ Targets open", "needs 2,040.00 more for a profit of 3,000.00",
         "needs 840.00 more, then your best day is 50\u00a0%",
         "1 of 5"],
    ),
    ({"best_day_share": 50}, [(2, 400), (1, 400)], ["✓ 50\u00a0% of the profit, at most 50\u00a0%"]),
    ({"best_day_share": 50}, [(0, -5)], ["Best day no profit"]),
]  # fmt: skip


async def test_a_card_says_what_room_is_left_and_why(page: Page, journal: PageJournal) -> None:
    for number, (rules, results, _) in enumerate(CARDS):
        account = add_account(journal, f"Account {number}", **rules)
        for days, pnl in results:
            close_trade(journal, account, pnl, days)
    await sign_in(page, journal)

    for number, (_, _, expected) in enumerate(CARDS):
        card = " ".join((await page.inner_text(f"#account-{number + 1}")).split("\n"))
        assert [words for words in expected if words not in card] == [], card
        assert "safe" not in card.lower()


async def test_what_counts_from_the_last_payout_says_so(page: Page, journal: PageJournal) -> None:
    rules: dict[str, Any] = {
        "best_day_share": 50,
        "qualifying_day": {"amount": 100, "days": 5},
        "minimum_days": 5,
    }
    account = add_account(journal, daily_loss=1000, **rules)
    close_trade(journal, account, 300, days=2)
    close_trade(journal, account, 150)
    add_cash(journal, account, "payout", 50, days=1)
    await sign_in(page, journal)

    card = f"#account-{account}"
    await see(page, f"1 of 5, counted from {NOW}", card)
    await see(page, "1,150.00 left before a loss of 1,000.00", card)
    add_cash(journal, account, "payout", 50)
    await poll(page)
    await see(page, f"no profit, counted from {shown(days_ago(-1))}", card)


async def test_the_bar_is_what_is_left_above_the_floor(page: Page, journal: PageJournal) -> None:
    account = add_account(journal, floor=STATIC)
    await sign_in(page, journal)
    card = page.locator(f"#account-{account}")
    widths = []

    for loss, room in ((0, "2,000.00"), (500, "1,500.00"), (1000, "500.00"), (600, "0.00")):
        if loss:
            close_trade(journal, account, -loss)
            await poll(page)
        await expect(card.locator(".big")).to_have_text(room)
        widths.append(await card.locator(".bar i").evaluate("bar => bar.style.width"))

    assert widths == ["100%", "75%", "25%", "0%"]


async def test_the_floor_is_drawn_under_the_balance_of_one_account(page: Page, journal: PageJournal) -> None:
    account = add_account(journal, floor={"kind": "end_of_day", "distance": 2000})
    for days, pnl in ((3, 1000), (2, -500), (0, 500)):
        close_trade(journal, account, pnl, days)
    await sign_in(page, journal)

    await see(page, "Balance and floor", "[aria-label='Net P&L']")
    label = await page.get_attribute("[aria-label='Net P&L'] svg", "aria-label")
    assert label == "Balance 51,000 above the floor 49,000"
    lines = page.locator("[aria-label='Net P&L'] svg .line")
    balance, floor = [await one.get_attribute("d") for one in await lines.all()]
    assert balance == "M0.0 33.33L333.3 0.00L666.7 16.67L1000.0 0.00"
    assert floor == "M0.0 100.00H333.3V100.00H666.7V66.67H1000.0V66.67"
    add_account(journal, "Other")
    await poll(page)
    await see(page, "Net P&L, last 6 months")
    await choose(page, "#selection", "Apex")
    await see(page, "Balance and floor", "[aria-label='Net P&L']")


async def test_a_balance_goal_explains_its_cash(page: Page, journal: PageJournal) -> None:
    account = add_account(journal)
    close_trade(journal, account, 300)
    add_cash(journal, account, "payout", 500)
    goal = {"metric": "balance_target", "timeframe": "daily", "target_value": 60_000}
    journal.create("/goals", goal_name="Grow", **goal)
    await sign_in(page, journal, "today?goal=1")

    words = "49,800.00 = opening balance 50,000.00 + cash −500.00 + net P&L 300.00."
    await see(page, words, "main")


async def test_the_most_urgent_account_is_first_and_only_accounts_with_rules_have_a_card(
    page: Page, journal: PageJournal
) -> None:
    add_account(journal, "Within", floor=STATIC)
    near = add_account(journal, "<b>Near</b>", floor=STATIC)
    add_account(journal, "No rules")
    old = add_account(journal, "Old", floor=STATIC)
    journal.create(f"/accounts/{old}/checkpoints", day="2026-01-05", balance=5)
    journal.patch(f"/accounts/{old}", archived=True)
    close_trade(journal, near, -1900)
    await sign_in(page, journal)

    assert await values_of(page, ".standings h2") == ["<b>Near</b>", "Within"]
    await expect(page.locator(LINE)).to_have_count(0)


async def test_an_empty_journal_shows_no_account_and_one_with_rules_shows_its_room_before_any_trade(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    await sign_in(page, journal)
    await see(page, "This journal is empty")
    await expect(page.locator(".standings")).to_have_count(0)

    journal.client.put(f"/accounts/{account}/rules", json={"floor": STATIC}).raise_for_status()
    await poll(page)

    await see(page, "2,000.00 left above the floor of 48,000.00", ".standings")


async def test_a_checkpoint_that_differs_is_a_line_on_today_until_it_is_accepted(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    close_trade(journal, account, 100, days=3)
    close_trade(journal, account, 50, days=1)
    add_cash(journal, account, "fee", 20, days=1)
    for days, balance in ((3, 50_100), (1, 50_110), (0, 50_110)):
        day = days_ago(days).isoformat()
        journal.create(f"/accounts/{account}/checkpoints", day=day, balance=balance)
    await sign_in(page, journal)

    words = f"Apex, end of {ONE}: the broker said 50,110.00, the journal has 20.00 more."
    await see(page, f"{words} 1 later checkpoint too.", LINE)
    link = await page.get_attribute(f"{LINE} a >> nth=0", "href")
    assert link == f"#/trades?account_id={account}&from={days_ago(2)}&to={days_ago(1)}"
    await page.click(f"{LINE} button")
    await see(page, f"{ONE}\t+50.00\t−20.00\t50,130.00", "#edit")
    add_cash(journal, account, "fee", 5, days=1)
    await page.fill("#edit [name=note]", "The broker rounds")
    await page.click("#edit .primary")
    await see(page, "Nothing was accepted: the journal has changed since this was shown.", "#edit")
    await see(page, f"{ONE}\t+50.00\t−25.00\t50,125.00", "#edit")
    assert not journal.read(f"/accounts/{account}/checkpoints/2")["accepted"]
    await save(page)
    await expect(page.locator(LINE)).to_have_count(0)
    accepted = journal.read(f"/accounts/{account}/checkpoints/2")
    assert (accepted["accepted"], accepted["note"]) == (True, "The broker rounds")
    await show(page, f"settings?account={account}")
    await see(page, "+15.00 accepted", "#checkpoints")
    assert (await page.inner_text("#checkpoints")).count("✓ agrees") == 2


# An account in the settings ------------------------------------------------------------------------------


async def test_rules_are_typed_changed_and_emptied(page: Page, journal: PageJournal) -> None:
    account = add_account(journal)
    await sign_in(page, journal, "settings")
    await page.click("#accounts :text('Rules and cash')")
    await page.wait_for_selector("#rules")
    await see(page, "No deposits, payouts, fees or resets.")
    await see(page, "Type the balance of a statement")

    await page.fill("[name='floor.locks_at']", "50,100")
    await page.click("#rules .primary")
    await see(page, "must be", "[data-field='floor.distance']")
    await page.fill("[name='floor.distance']", "2,000")
    await page.fill("[name='qualifying_day.amount']", "150")
    await page.fill("[name='qualifying_day.days']", "5")
    await page.fill("[name=best_day_share]", "33.5")
    await page.click("#rules .primary")
    await see(page, "2,000.00 left above the floor of 48,000.00", f"#account-{account}")
    assert journal.read(f"/accounts/{account}/rules") == {
        "floor": {"kind": "end_of_day", "distance": 2000, "locks_at": 50_100},
        "daily_loss": None,
        "profit_target": None,
        "best_day_share": 33.5,
        "qualifying_day": {"amount": 150, "days": 5},
        "minimum_days": None,
    }
    await page.fill("[name='floor.distance']", "1,500")
    await choose(page, "[name='floor.kind']", "never moves")
    await page.fill("[name=daily_loss]", "x")
    await page.click("#rules .primary")
    await see(page, "Write a number", "[data-field=daily_loss]")
    await page.fill("[name=daily_loss]", "")
    await page.click("#rules .primary")
    await see(page, "1,500.00 left above the floor of 48,500.00", f"#account-{account}")

    for name in ("floor.distance", "floor.locks_at", "best_day_share", "qualifying_day.amount",
                 "qualifying_day.days"):  # fmt: skip
        await page.fill(f"[name='{name}']", "")
    await page.click("#rules .primary")
    await expect(page.locator(f"#account-{account}")).to_have_count(0)
    assert journal.client.get(f"/accounts/{account}/rules").status_code == 404


async def test_rules_that_another_program_has_deleted_are_saved_as_typed(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal, daily_loss=1000)
    path = f"/accounts/{account}/rules"
    await sign_in(page, journal, f"settings?account={account}")
    await page.fill("[name=daily_loss]", "900")
    journal.client.delete(path).raise_for_status()

    await page.click("#rules .primary")

    await see(page, "900.00 left before a loss of 900.00", f"#account-{account}")
    assert journal.read(path)["daily_loss"] == 900


@pytest.mark.parametrize("rules", [{}, {"daily_loss": 1000}], ids=["made", "changed"])
async def test_rules_that_another_program_has_written_are_not_overwritten_unasked(
    page: Page, journal: PageJournal, rules: dict[str, Any]
) -> None:
    account = add_account(journal, **rules)
    path = f"/accounts/{account}/rules"
    await sign_in(page, journal, f"settings?account={account}")
    await page.fill("[name=daily_loss]", "900")
    journal.client.put(path, json={"daily_loss": 800}).raise_for_status()

    await page.click("#rules .primary")
    await see(page, "This account was changed in the meantime")
    assert journal.read(path)["daily_loss"] == 800
    await page.click("dialog .primary")

    await no_dialog(page)
    await see(page, "900.00 left before a loss of 900.00", f"#account-{account}")


async def test_cash_is_added_changed_and_deleted_and_the_room_follows(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal, floor=STATIC)
    await sign_in(page, journal, f"settings?account={account}")
    card = f"#account-{account}"

    await page.click("#new-cash")
    await page.fill("#edit [name=amount]", "-500")
    await page.click("#edit .primary")
    await see(page, "a payout has no sign", "[data-field=amount]")
    await page.fill("#edit [name=amount]", "500")
    await page.fill("#edit [name=note]", "<i>first</i>")
    await save(page)
    await see(page, f"{NOW}\tPayout\t−500.00\t<i>first</i>", "#cash")
    await see(page, "1,500.00 left above the floor of 48,000.00", card)
    await page.click("#cash tbody .link")
    await choose(page, "#edit [name=kind]", "Fee")
    await page.fill("#edit [name=amount]", "80")
    await page.fill("#edit [name=day]", days_ago(1).isoformat())
    await save(page)
    await see(page, f"{ONE}\tFee\t−80.00", "#cash")
    await see(page, "1,920.00 left above the floor of 48,000.00", card)
    await page.click("#cash tbody .link")
    await page.click("#edit .danger")
    await page.click("dialog:last-of-type form:not(#edit) .danger")
    await no_dialog(page)

    await see(page, "2,000.00 left above the floor of 48,000.00", card)
    assert journal.read(f"/accounts/{account}/cash") == []


async def test_the_newest_cash_is_listed_first_however_much_there_is(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    for number in range(1, 203):
        journal.create(f"/accounts/{account}/cash", kind="fee", amount=number, day="2026-01-05")
    await sign_in(page, journal, f"settings?account={account}")

    amounts = await values_of(page, "#cash tbody td:nth-child(3)")
    assert (amounts[0], amounts[-1], len(amounts)) == ("−202.00", "−3.00", 200)


async def test_a_checkpoint_is_typed_and_deleted(page: Page, journal: PageJournal) -> None:
    account = add_account(journal)
    await sign_in(page, journal, f"settings?account={account}")

    await page.click("#new-checkpoint")
    await page.click("#edit .primary")
    await see(page, "must be a number", "[data-field=balance]")
    await page.fill("#edit [name=balance]", "50,000.50")
    await save(page)
    await see(page, f"{NOW}\t50,000.50\t▲ the journal has 0.50 less", "#checkpoints")
    await page.click("#new-checkpoint")
    await page.fill("#edit [name=balance]", "1")
    await page.click("#edit .primary")
    await see(page, "is taken", "#edit [data-field=day]")
    await page.keyboard.press("Escape")
    await page.click("dialog:last-of-type form:not(#edit) .danger")
    await no_dialog(page)
    await page.click("#checkpoints tbody .link")
    await page.click("#edit .danger")
    await page.click("dialog:last-of-type form:not(#edit) .danger")
    await no_dialog(page)

    assert journal.read(f"/accounts/{account}/checkpoints") == []


async def test_an_account_has_days_of_its_own_until_they_are_emptied(
    page: Page, journal: PageJournal
) -> None:
    account = add_account(journal)
    await sign_in(page, journal, "settings")

    await page.click("#accounts tbody .link")
    await page.fill("#edit [name=timezone]", "prague")
    await page.fill("#edit [name=day_rollover]", "00:00")
    await save(page)
    own = journal.read(f"/accounts/{account}")
    await page.click("#accounts tbody .link")
    assert await page.input_value("#edit [name=timezone]") == "Europe/Prague"
    await page.fill("#edit [name=timezone]", "Nowhere")
    await page.click("#edit .primary")
    await see(page, "Name a city of the time zone", "#edit [data-field=timezone]")
    await page.fill("#edit [name=timezone]", "")
    await page.fill("#edit [name=day_rollover]", "")
    await save(page)

    assert (own["timezone"], own["day_rollover"]) == ("Europe/Prague", "00:00")
    emptied = journal.read(f"/accounts/{account}")
    assert (emptied["timezone"], emptied["day_rollover"]) == (None, None)

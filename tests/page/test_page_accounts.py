"""Accounts on the page at /: how they stand by their rules, their cash and checkpoints (docs/accounts.md)."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from chromium import PageJournal, Tab, in_a_browser

pytestmark = in_a_browser

START = 50_000
STATIC = {"kind": "static", "distance": 2000}
CURVE = "[aria-label='Net P&L']"
LINE = '[aria-label^="The broker\'s balance"]'


def days_ago(days: int) -> date:
    return datetime.now(UTC).date() - timedelta(days=days)


def shown(day: date) -> str:
    """The day as the page writes it."""
    year = "" if day.year == days_ago(0).year else f", {day.year}"
    return f"{day:%b} {day.day}{year}"


def close_trade(journal: PageJournal, account_id: int, pnl: float, days: int = 0) -> None:
    at = f"{days_ago(days)}T12:00:00" if days else None
    journal.add_trade(pnl, at, 0, symbol="X", account_id=account_id)


def add_account(journal: PageJournal, name: str = "Apex", **rules: Any) -> int:
    """Add an account with these rules."""
    account_id = int(journal.create("/accounts", name=name, starting_balance=START)["id"])
    if rules:
        journal.put(f"/accounts/{account_id}/rules", **rules)
    return account_id


def add_cash(journal: PageJournal, account_id: int, kind: str, amount: float, days: int = 0) -> None:
    journal.create(f"/accounts/{account_id}/cash", kind=kind, amount=amount, day=f"{days_ago(days)}")


TWO, ONE, NOW = (shown(days_ago(days)) for days in (2, 1, 0))
# Rules, net P&L by days ago, what the card says, and perhaps the width of its bar.
CARDS: list[tuple[dict[str, Any], list[tuple[int, float]], list[str], str]] = [
    (
        {"floor": STATIC}, [(0, -500)],
        ["● Within its limits", "1,500.00 left above the floor of 48,000.00", "50,000.00 at the start",
         "Not seen: open profit and loss", "49,500.00 USD"],
        "75%",
    ),
    ({"floor": STATIC}, [(0, -1700)], ["▲ Near the floor", "300.00 left above the floor of 48,000"], "15%"),
    (
        {"floor": STATIC, "profit_target": 100, "minimum_days": 1}, [(1, -2100), (0, 2300)],
        [f"✕ The floor is broken since {ONE}", " 0.00 left above the floor of 48,000.00", "50,200.00 USD",
         "Profit target ended with the account", "Days traded ✓ 1 of 1"],
        "0%",
    ),
    (
        {"floor": {"kind": "end_of_day", "distance": 2000, "locks_at": 50_100}, "daily_loss": 1000},
        [(2, 2300), (0, -850)],
        ["1,350.00 left above the floor of 50,100.00, locked", f"52,300.00 at the end of {TWO}",
         "▲ Near the daily loss", "▲ 150.00 left before a loss of 1,000.00"],
        "",
    ),
    (
        {"profit_target": 500, "minimum_days": 1}, [(0, 600)],
        ["✓ Targets met", f"✓ met since {NOW}", "✓ 1 of 1"], "",
    ),
    (
        {"profit_target": 3000, "best_day_share": 50, "qualifying_day": {"amount": 150, "days": 5}},
        [(2, 900), (1, 60)],
        ["○ Targets open", "needs 2,040.00 more for a profit of 3,000.00",
         "needs 840.00 more, then your best day is 50\u00a0%", "1 of 5"],
        "",
    ),
]  # fmt: skip


async def test_cards_say_what_room_is_left_the_most_urgent_first(page: Tab, page_journal: PageJournal) -> None:
    empty = add_account(page_journal, "<b>No rules</b>")
    await page.sign_in(page_journal)
    await page.see("This journal is empty")
    await page.gone(".standings")
    for number, (rules, results, _, _) in enumerate(CARDS):
        account = add_account(page_journal, f"Account {number}", **rules)
        for days, pnl in results:
            close_trade(page_journal, account, pnl, days)
    archived = add_account(page_journal, "Old", floor=STATIC)
    page_journal.create(f"/accounts/{archived}/checkpoints", day="2026-01-05", balance=5)
    page_journal.patch(f"/accounts/{archived}", archived=True)
    await page.poll()

    await page.count(".standings h2", len(CARDS))
    await page.see(CARDS[-1][2][1])  # what was written last: all cards are of one response
    for number, (_, _, expected, width) in enumerate(CARDS, empty + 1):
        card = " ".join((await page.inner_text(f"#account-{number}")).split("\n"))
        assert [words for words in expected if words not in card] == [], card
        assert "safe" not in card.lower()
        if width:
            bar = page.locator(f"#account-{number} .bar i")
            assert await bar.evaluate("bar => bar.style.width") == width
    names = await page.locator(".standings h2").all_inner_texts()
    assert names[:3] == ["Account 2", "Account 1", "Account 3"]  # broken, then near
    await page.gone(LINE)


async def test_a_balance_is_drawn_above_its_floor_and_what_the_broker_says_is_accepted(
    page: Tab, page_journal: PageJournal
) -> None:
    floor = {"kind": "end_of_day", "distance": 2000}
    account = add_account(page_journal, qualifying_day={"amount": 100, "days": 5}, floor=floor)
    for days, pnl in ((3, 1000), (2, -500), (0, 150)):
        close_trade(page_journal, account, pnl, days)
    add_cash(page_journal, account, "payout", 50, days=1)
    await page.sign_in(page_journal)
    await page.see(f"1 of 5, counted from {NOW}", f"#account-{account}")
    await page.wait_for_selector(f"{CURVE} svg[aria-label='Balance 50,600 above the floor 49,000']")
    lines = await page.locator(f"{CURVE} svg .line").evaluate_all("all => all.map((one) => one.getAttribute('d'))")
    assert lines == [
        "M0.0 33.33L250.0 0.00L500.0 16.67L750.0 18.33L1000.0 13.33",
        "M0.0 100.00H250.0V100.00H500.0V66.67H750.0V66.67H1000.0V66.67",
    ]

    account = add_account(page_journal, "Other")
    path = f"/accounts/{account}/checkpoints"
    close_trade(page_journal, account, 100, days=3)
    close_trade(page_journal, account, 50, days=1)
    add_cash(page_journal, account, "fee", 20, days=1)
    for days, balance in ((3, 50_100), (1, 50_110), (0, 50_110)):
        page_journal.create(path, day=f"{days_ago(days)}", balance=balance)
    await page.poll()
    await page.see("Net P&L, last 6 months")
    words = f"Other, end of {ONE}: the broker said 50,110.00, the journal has 20.00 more."
    await page.see(f"{words} 1 later checkpoint too.", LINE)
    link = await page.get_attribute(f"{LINE} a >> nth=0", "href")
    assert link == f"#/trades?account_id={account}&from={days_ago(2)}&to={days_ago(1)}"
    await page.press("Accept the difference of Other")
    await page.see(f"{ONE} +50.00 −20.00 50,130.00", "#edit")
    add_cash(page_journal, account, "fee", 5, days=1)
    await page.send("#edit", note="The broker rounds")
    await page.see("Nothing was accepted: the journal has changed since this was shown.", "#edit")
    await page.see(f"{ONE} +50.00 −25.00 50,125.00", "#edit")
    await page.save()
    await page.gone(LINE)
    accepted = page_journal.read(f"{path}/2")
    assert (accepted["accepted"], accepted["note"]) == (True, "The broker rounds")


# What is typed into the dialog of a table, and the row that is listed then.
LEDGER: list[tuple[str, dict[str, str], str, str]] = [
    (
        "cash",
        {"amount": "500", "note": "<i>first</i>"},
        f"{NOW} Payout, 450.00 arrived −500.00 <i>first</i>",
        "1,500.00",
    ),
    ("cash", {"amount": "80", "day": f"{days_ago(1)}"}, f"{ONE} Payout, 72.00 arrived −80.00", "1,420.00"),
    ("checkpoint", {"balance": "50,000.50", "day": f"{days_ago(2)}"}, f"{TWO} 50,000.50 ▲ the journal", "1,420.00"),
]


async def test_rules_cash_costs_checkpoints_and_days_of_an_account_are_typed_and_changed(
    page: Tab, page_journal: PageJournal
) -> None:
    first, second = (page_journal.create("/accounts", name=name, broker="Apex")["id"] for name in "AB")
    path, card = f"/accounts/{first}", f"#account-{first}"
    page_journal.patch(path, starting_balance=START)
    earlier = page_journal.add_trade(0, account_id=second)
    await page.sign_in(page_journal, "settings")
    await page.click("#accounts :text('Rules and cash') >> nth=0")
    await page.send("#rules", floor__locks_at="50,100", daily_loss="x")
    await page.see("Write a number", "[data-field=daily_loss]")
    await page.send("#rules", daily_loss="")
    await page.see("must be", "[data-field='floor.distance']")
    qualifying = {"qualifying_day__amount": "150", "qualifying_day__days": "5"}
    await page.send("#rules", floor__distance="2,000", best_day_share="33.5", **qualifying)
    await page.see("2,000.00 left above the floor of 48,000.00", card)
    empty = {"daily_loss": None, "profit_target": None, "minimum_days": None}
    assert page_journal.read(f"{path}/rules") == {
        **empty,
        "floor": {"kind": "end_of_day", "distance": 2000, "locks_at": 50_100},
        "best_day_share": 33.5,
        "qualifying_day": {"amount": 150, "days": 5},
    }
    page_journal.put(f"{path}/rules", daily_loss=800)
    await page.send("#rules", daily_loss="900")
    await page.agree("Save mine", "This account was changed in the meantime")
    await page.see("900.00 left before a loss of 900.00", card)
    names = ["floor__distance", "floor__locks_at", "daily_loss", "best_day_share", *qualifying]
    await page.send("#rules", **dict.fromkeys(names, ""))
    await page.gone(card)
    assert page_journal.client.get(f"{path}/rules").status_code == 404

    page_journal.put(f"{path}/rules", floor=STATIC)
    await page.show("settings")
    await page.gone("#cash-flow")
    await page.click("#accounts .link:text-is('A')")
    costs = {"fees": "0.5", "payout_share": "90"}
    await page.fill_in("#edit", timezone="reykjavik", day_rollover="00:00", **costs)
    await page.check("#edit [name=for_broker]")  # the costs
    await page.press("Save", "#edit")
    await page.agree("Charge them", "Charge 1 earlier trade of A, B too?")
    assert page_journal.read(f"/trades/{earlier}")["fees"] == 1
    fields = ("fees", "payout_share", "timezone")
    stored = [tuple(one[name] for name in fields) for one in page_journal.read("/accounts")]
    assert stored == [({"default": 0.5}, 90, "Atlantic/Reykjavik"), ({"default": 0.5}, 90, None)]

    await page.show(f"settings?account={first}")
    await page.click("#new-cash")
    await page.send("#edit", amount="-500")
    await page.see("a payout has no sign", "[data-field=amount]")
    await page.press("Close", "dialog")
    await page.agree("Discard it")
    for kind, typed, row, left in LEDGER:
        await page.click(f"#new-{kind}")
        await page.save("#edit", **typed)
        await page.see(row, "#checkpoints" if kind == "checkpoint" else "#cash")
        await page.see(f"{left} left above the floor of 48,000.00", card)
    await page.click(f"#cash tbody .link:text('{ONE}')")
    await page.save("#edit", received="70")
    await page.see("Payout, 70.00 arrived", "#cash")
    await page.click(f"#cash tbody .link:text('{NOW}')")
    await page.choose("#edit [name=kind]", "Fee")
    await page.check("#edit [name=outside]")
    await page.save()
    await page.see(f"{NOW} Fee, by card", "#cash")
    cash = page_journal.read(f"{path}/cash")
    members = ("kind", "amount", "received", "received_source", "outside")
    assert {tuple(one[name] for name in members) for one in cash} == {
        ("payout", 80, 70, "stated", False), ("fee", 500, None, None, True)
    }  # fmt: skip
    await page.click("#checkpoints tbody .link")
    await page.press("Delete", "#edit")
    await page.agree("Delete")
    await page.gone("#checkpoints tbody .link")
    assert page_journal.read(f"{path}/checkpoints") == []

    await page.show("settings")
    await page.see("Paid 500.00, received 70.00, net −430.00", "#cash-flow")
    await page.click("#cash-flow summary")
    await page.see("Apex", "#cash-flow table")

"""What pays: reports on the page at / (docs/page.md)."""

import json
import re
from datetime import datetime, timedelta

import pytest
from chromium import PageJournal, Tab, in_a_browser
from playwright.async_api import expect
from proofs import SOAK, only_in_soak

pytestmark = in_a_browser
# Trades without excursions, newer than all others.
NEWER_TRADES = """
    INSERT INTO trades (user_id, account_id, symbol, direction, quantity, entry_price, opened_at, closed_at,
        trading_day, gross_pnl, created_at, updated_at)
    SELECT user_id, account_id, symbol, direction, quantity, entry_price, '2026-06-01T10:00:00.000000Z',
        '2026-06-01T11:00:00.000000Z', '2026-06-01', gross_pnl, created_at, updated_at
    FROM trades, json_each(?)
    WHERE trades.id = 1"""
FEW = "once in 5 or rarer: may not have shown"


def on_day(number: int) -> str:
    return (datetime(2026, 1, 5, 10) + timedelta(days=number)).isoformat()


@only_in_soak
async def test_groups_are_sorted_and_told_from_chance(page: Tab, page_journal: PageJournal) -> None:
    for place in range(12):
        page_journal.add_trade(100 + place, on_day(place), symbol="REAL")
        page_journal.add_trade(100 if place % 2 else -90, on_day(place), symbol="NOISE")
    tokyo = page_journal.create("/accounts", name="Tokyo", currency="JPY")["id"]
    page_journal.add_trade(500, symbol="ONCE", account_id=tokyo)
    await page.sign_in(page_journal, "report?by=symbol&sort=-expectancy")

    await page.see("1 of 2 averages is clearly not zero. Chance alone would make about 0.1 of 2 look so (5 %).")
    dots = page.locator("td.expectancy circle")
    assert await dots.evaluate_all("all => all.map((one) => one.classList.value)") == ["gain", "plain"]
    await page.see_all("tbody td.expectancy", "+500.00 too few", "+105.50", "+5.00")
    real, noise = f"REAL USD {FEW}", f"NOISE USD {FEW}"
    await page.see_all("tbody th", "ONCE JPY", real, noise)
    await page.see("No number here knows how often you look")
    await expect(page.locator("tr:has-text('REAL') td.profit_factor")).to_have_text("no losses")
    await expect(page.locator("tr:has-text('NOISE') td.profit_factor")).to_have_text("1.11")
    assert await page.locator(".axis text").all_text_contents() == ["−58", "+108", "0"]  # not up to 500
    await page.gone("tr:has-text('NOISE') :is(.gain, .loss)")
    await expect(page.locator("tr:has-text('REAL') td.win_rate small")).to_have_text("71.2 % to 100.0 %")
    for order, names in ("descending", [real, "ONCE JPY", noise]), ("ascending", [noise, "ONCE JPY", real]):
        await page.click("#sort-net_pnl")
        await page.see("Net P&L", f"th[aria-sort={order}]")
        await page.see_all("tbody th", *names)
    await page.get_by_role("link", name="REAL").click()
    await page.see("12 trades", "#trades")


# What the line of a confirmation of the example journal says, and the tone of its dot.
EDGES = [
    ("Volume above average", r"\+67\.37 \(\+33\.93 to \+100\.81\)(.|\n)*▲ Earns more with it", ["gain"]),
    ("With the trend", r"No difference shown\nAbout 710 more trades would make it clear", ["plain"]),
    ("Closed back inside", r"22 trades with it, 7 without: too few to tell; 10 on each side", []),
]


async def test_an_edge_is_worded_by_its_verdict_over_all_lines(page: Tab, page_journal: PageJournal) -> None:
    page_journal.create("/example-journal")
    await page.sign_in(page_journal, "report?by=confirmation")
    await page.see("1 of 3 lines shows a difference.")
    for name, words, tones in EDGES:
        line = f".edges tr:has(th a:text-is('{name}'))"
        assert re.search(words, await page.inner_text(line))
        dots = page.locator(f"{line} td:nth-child(4) circle")
        assert await dots.evaluate_all("all => all.map((one) => one.classList.value)") == tones


@only_in_soak
async def test_groups_are_chosen_and_refused_filters_say_why(page: Tab, page_journal: PageJournal) -> None:
    (fomo,) = page_journal.add_tags("FOMO", type="mistake")
    page_journal.add_trade(-20, "2026-03-02T10:00", 1, stop_loss=9_990, tag_ids=[fomo])
    page_journal.add_trade(30, "2026-03-02T11:00", 1, stop_loss=9_980)
    await page.resize(360)
    await page.sign_in(page_journal, "report")
    await page.see("Scroll the table to the right")
    await page.choose("[name=by]", "After win or loss")
    await page.see_all("tbody th", "First of the day", "After a loss")
    await page.see_all("tbody td.average_risk", "10.00", "20.00")
    await page.show("report?by=mistake")
    await page.see_all(".edges tbody th", "FOMO")
    await page.show("report?from=2026-03-09&to=2026-03-02")
    await page.see("From: must not be after to.", "section.error")
    await page.holds("#filter-from", "2026-03-09")


@pytest.mark.soak
async def test_pairs_of_keys_the_month_before_the_shape_and_exits_of_the_same_trades(
    page: Tab, page_journal: PageJournal
) -> None:
    """Twelve trades in January and in February at ten, three of them at eleven; all but these have MAE and MFE."""
    for month, pnl in ((1, -20), (2, 30)):
        for day in range(1, 13):
            page_journal.add_trade(pnl + day, f"2026-{month:02}-{day:02}T10:00", stop_loss=9_990, mae=40, mfe=day * 10)
    for day in (1, 2, 3):
        page_journal.add_trade(-5, f"2026-02-{day:02}T11:00", 10, stop_loss=9_990)
    await page.sign_in(page_journal, "report?by=direction")
    await page.count(".shape", 2)
    await page.count(".points circle", 48)
    assert await page.locator(".shape .bins i.gain").count() > 2
    await page.choose("[name=and]", "Hour")
    await page.see("all pairs judged together: 0 of 2.")
    await page.see_all(".heat-map td", "+12 24", "−5 3")
    await page.count(".heat-map td.heat", 1)  # few trades have no colour
    await page.see_all(".report tbody th", re.compile("^long · 10:00"), re.compile("^long · 11:00"))
    await page.press("In R")
    await page.see("Average R by side and hour")

    await page.show("report?by=direction&from=2026-02-01&to=2026-02-28")
    await page.get_by_role("link", name="and the month before").click()
    await page.see("Beside Jan 1 – Jan 31")
    await page.see_all(".verdict span", "▲ Better than before", "▲ Better than before")
    await page.see_all("tbody td.side", *["+28.20 15 · 80.0 % won", "−13.50 12 · 0.0 % won"] * 2)
    await page.get_by_role("link", name="without what was before").click()
    await page.gone("td.side")

    await page.show("report?by=exits")
    await page.see("Chosen here, tried there:")
    await page.choose("[name=unit]", "Money")
    await page.press("Show")
    await page.see("Name stops or targets in money.")
    await page.fill("[name=stops]", "30")
    await page.fill("[name=targets]", "100")
    await page.press("Show")
    await page.see("in 24 trades")
    await page.see("3 trades without MAE and MFE.")
    await page.count(".heat-map td.hatched", 1)
    if SOAK:
        assert await page.find_violations(dark=True) == set()
    await page.locator(".heat-map button").nth(2).click()
    await page.see("6 of the newest 27 trades; 6 in all.", "dialog")
    await page.gone("dialog button:text('older')")
    page_journal.run_sql(NEWER_TRADES, json.dumps([*range(1000)]))
    await page.show("report?by=exits&unit=currency&stops=30&targets=100&from=2026-01-01")
    await page.locator(".heat-map button").nth(2).click()
    await page.see("0 of the newest 1,000 trades; 6 in all.", "dialog")
    await page.press("Look at older trades")
    await page.see("6 of the newest 1,027 trades; 6 in all.", "dialog")
    await page.gone("dialog button:text('older')")
    await page.keys("Escape")
    await page.fill("[name=stops]", "none")
    await page.press("Show")
    await page.see("Stops: must be 1 to 12 numbers above 0", "section.error")

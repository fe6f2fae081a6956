"""The forms of the page at /: numbers, time zones, trading days, goals, accounts and tags (docs/page.md)."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import pytest
from chromium import (
    PageJournal,
    choose,
    drawn,
    in_a_browser,
    no_dialog,
    poll,
    save,
    see,
    show,
    sign_in,
    values_of,
)
from playwright.async_api import Page, expect

from journal_api.page import files

pytestmark = in_a_browser

NAN = "no number"
NUMBERS: dict[str, dict[str, float | str | None]] = {
    "en-US": {
        "50,000": 50_000, "25,300.25": 25_300.25, "1234567.5": 1_234_567.5, "1,234,567": 1_234_567,
        "-500": -500, "\u2212500": -500, "+5": 5, ".5": 0.5, "5.": 5, " 7 ": 7, "0": 0, "": None, " ": None,
        "1,00": NAN, "50,0": NAN, "12,34,567": NAN, "01,000": NAN, "1.000,50": NAN, ",5": NAN, "1,,000": NAN,
        "1e3": NAN, "0x10": NAN, "Infinity": NAN, "9" * 400: NAN, "5 dollars": NAN, "-": NAN, ".": NAN,
        "1.2.3": NAN, "--5": NAN, "1 000": NAN,
    },
    "de-DE": {
        "1.000,50": 1000.5, "50.000": 50_000, "1,000": 1, "1,5": 1.5, "25300,25": 25_300.25, "1000": 1000,
        "25.300.25": NAN, "4.12": NAN, "1,000.50": NAN,
    },
    "fr-FR": {"1 000,5": 1000.5, "1\u202f000,5": 1000.5, "1\u00a0000": 1000, "10 00": NAN, "1.5": NAN},
    "de-CH": {"1'000.5": 1000.5, "1\u2019000.5": 1000.5, "1,5": NAN},
    "pl-PL": {"1000,5": 1000.5, "1 000": 1000, "10 000": 10_000},
    "en-IN": {"12,34,567": 1_234_567, "1,234,567": NAN},
    "ar-EG": {"١٬٠٠٠٫٥": 1000.5, "12": 12},
}  # fmt: skip
FUTURES = "Your loss limit counts trades from 17:00 New York"
QUESTION = "When does your trading day begin?"
REASON = "Write a number such as 1,234,567.5"


@asynccontextmanager
async def locale(page: Page, name: str) -> AsyncIterator[None]:
    """The browser of somebody in that locale, from the next page on."""
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setLocaleOverride", {"locale": name})
    yield
    await session.send("Emulation.setLocaleOverride", {})


def module(name: str) -> str:
    """A module of the page, in JavaScript."""
    return f"await import('/page/{files.version()}/{name}')"


# Modules alone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS)
async def test_a_number_is_read_by_the_locale_and_written_so_that_it_is_read_again(
    page: Page, journal: PageJournal, name: str
) -> None:
    async with locale(page, name):
        await page.goto(f"{journal.server.url}/health")
        read, again = await page.evaluate(
            f"""async (texts) => {{
                const {{ parse, write }} = {module("inputs.js")};
                const word = (value) => (Number.isNaN(value) ? "no number" : value);
                return [texts.map((text) => word(parse(text))), texts.map((text) => {{
                    const value = parse(text);
                    return word(Number.isNaN(value) ? value : parse(write(value)));
                }})];
            }}""",
            list(NUMBERS[name]),
        )

    assert dict(zip(NUMBERS[name], read, strict=True)) == NUMBERS[name]
    assert again == read


ZONES = {
    "New York": ("America/New_York", ""),
    "america/new york": ("America/New_York", ""),
    "berlin": ("Europe/Berlin", ""),
    "utc": ("UTC", ""),
    "new": ("new", ""),
    "EST": ("EST", "EST never changes to summer time; did you mean America/New_York?"),
    "Etc/GMT+6": ("Etc/GMT+6", "Etc/GMT+6 never changes to summer time; did you mean America/Chicago?"),
    "UTC-5": ("UTC-5", "UTC-5 never changes to summer time; did you mean America/New_York?"),
    "+01:00": ("+01:00", "+01:00 never changes to summer time; did you mean Europe/Berlin?"),
    "Etc/GMT-11": ("Etc/GMT-11", "Etc/GMT-11 never changes to summer time; name a city instead."),
}


async def test_a_time_zone_is_found_by_its_city_and_fixed_ones_are_warned_about(
    page: Page, journal: PageJournal
) -> None:
    await page.goto(f"{journal.server.url}/health")
    found = await page.evaluate(
        f"""async (texts) => {{
            const {{ zoneField }} = {module("zones.js")};
            return texts.map((text) => {{
                const field = zoneField("Zone", {{ name: "zone" }});
                const input = field.querySelector("input");
                input.value = text;
                for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind));
                return [input.value, field.querySelector(".warn").textContent];
            }});
        }}""",
        list(ZONES),
    )

    assert {text: tuple(one) for text, one in zip(ZONES, found, strict=True)} == ZONES


async def test_a_reason_without_a_field_is_said_alone(page: Page, journal: PageJournal) -> None:
    await page.goto(f"{journal.server.url}/health")
    said = await page.evaluate(f"""async () => {{
        const {{ h, showError }} = {module("dom.js")};
        const message = h("p");
        const details = {{ fields: {{ opened_at: "is required" }} }};
        showError(h("form"), message, {{ message: "The request is not valid; see details.", details }});
        return message.textContent;
    }}""")

    assert said == "Opened at: is required."


# Accounts, groups and tags -------------------------------------------------------------------------------


async def test_amounts_are_stored_and_shown_as_they_were_read_by_the_locale(
    page: Page, journal: PageJournal
) -> None:
    async with locale(page, "de-DE"):
        await sign_in(page, journal, "settings")
    await page.click("#new-account")
    await page.fill("#edit [name=name]", "Apex")
    await page.fill("#edit [name=starting_balance]", "50000,5")
    await page.fill("#edit [name=fees]", "0,62; mes 0,37; mnq 1")
    assert await page.input_value("#edit [name=starting_balance]") == "50.000,5"
    await save(page)

    (account,) = journal.read("/accounts")
    assert account["starting_balance"] == 50_000.5
    assert account["fees"] == {"default": 0.62, "MES": 0.37, "MNQ": 1}


async def test_numbers_that_can_be_misread_are_refused_at_their_field_and_nothing_is_sent(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await page.click("#new-account")
    await page.fill("#edit [name=name]", "Apex")
    for written in ("0,62", "MES 0,62", "0.62, 0.37", "MES"):
        await page.fill("#edit [name=fees]", written)
        await page.click("#edit .primary")
        await see(page, "Write 0.62 for all, or MES 0.62, MNQ 0.37", "#edit [data-field=fees]")
    await page.fill("#edit [name=starting_balance]", "50 k")
    await page.click("#edit .primary")

    await see(page, REASON, "#edit [data-field=starting_balance]")
    assert await page.input_value("#edit [name=starting_balance]") == "50 k"
    assert journal.read("/accounts") == []


async def test_a_copy_group_is_created_whole_or_completed_by_the_next_try(
    page: Page, journal: PageJournal
) -> None:
    account = journal.create("/accounts", name="Main")["id"]
    await sign_in(page, journal, "settings")
    await page.click("#new-copy_group")
    await page.fill("#edit [name=name]", "Evals")
    await page.check(f"#edit [name=member_{account}]")
    await page.fill(f"#edit [name=multiplier_{account}]", "0,5")
    await page.click("#edit .primary")
    await see(page, "Multipliers are numbers over 0")
    assert journal.read("/copy-groups") == []

    journal.client.delete(f"/accounts/{account}").raise_for_status()
    await page.fill(f"#edit [name=multiplier_{account}]", "0.5")
    await page.click("#edit .primary")
    await page.wait_for_selector("#edit .error:not(:empty)")
    await page.uncheck(f"#edit [name=member_{account}]")
    await save(page)

    assert [group["name"] for group in journal.read("/copy-groups")] == ["Evals"]


async def test_a_tag_makes_its_category_once_and_a_long_list_of_tags_is_filtered(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await page.click("#new-tag")
    await page.fill("#edit [name=new_category]", "Mind")
    await page.click("#edit .primary")  # without a name
    await see(page, "must be", "#edit [data-field=name]")
    await page.fill("#edit [name=name]", "Patient")
    await page.fill("#edit [name=color]", "#16a34a")
    await choose(page, "#edit [name=type]", "Mistake")
    await save(page)
    (category,), (tag,) = journal.read("/tag-categories"), journal.read("/tags")
    assert (category["name"], tag["name"], tag["category_id"]) == ("Mind", "Patient", category["id"])
    assert (tag["color"], tag["type"]) == ("#16a34a", "mistake")

    await page.click("#new-tag")
    await page.fill("#edit [name=name]", "Calm")
    await choose(page, "#edit [name=category_id]", "New category…")
    await page.fill("#edit [name=new_category]", "Mind")
    await page.click("#edit .primary")
    await page.wait_for_selector("#edit [data-field=new_category]:not(:empty)")
    assert len(journal.read("/tags")) == 1

    for number in range(20):
        journal.create("/tags", name=f"Tag {number}", category_id=category["id"])
    await sign_in(page, journal, "settings")
    await page.fill("#filter-tags", "tag 7")
    assert [row.split() for row in await values_of(page, "#tags tbody tr:visible")] == [
        ["Tag", "7", "Mind", "custom"]
    ]


async def test_escape_asks_each_time_before_it_loses_what_was_typed(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, "settings")
    await page.click("#new-account")
    await page.keyboard.press("Escape")  # nothing was typed
    await no_dialog(page)
    await page.click("#new-account")
    await page.fill("#edit [name=name]", "Apex")
    for _ in range(2):
        await page.keyboard.press("Escape")
        await see(page, "What you typed is not saved.")
        await page.keyboard.press("Escape")  # closes the question
        await expect(page.locator("dialog")).to_have_count(1)
        assert await page.input_value("#edit [name=name]") == "Apex"
    await page.click("dialog .quiet")
    await see(page, "What you typed is not saved.")
    await page.click("dialog:last-of-type .danger")
    await no_dialog(page)


# Time zone and trading days ------------------------------------------------------------------------------


async def click_at_the_edge(page: Page, selector: str) -> None:
    """Press two pixels above the lower edge: a button that moves between press and release is missed."""
    box = await page.locator(selector).bounding_box()
    assert box
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2)


async def test_a_time_zone_is_saved_by_the_first_click_and_the_zone_that_was_meant_by_a_press(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    zone = page.locator("#days [name=timezone]")
    await zone.fill("Mars/Olympus")
    await page.click("#days .primary")
    await see(page, "time zone", "#days [data-field=timezone]")

    for typed, stored in (("EST", "EST"), ("berlin", "Europe/Berlin")):
        await zone.fill(typed)
        await click_at_the_edge(page, "#days .primary")
        await see(page, f"in {stored}. Daily limits")
    await zone.fill("EST")
    await page.click("#days .warn button")
    await page.click("#days .primary")
    await see(page, "in America/New_York. Daily limits")
    assert journal.read("/me")["timezone"] == "America/New_York"


async def test_trading_days_are_saved_beside_other_settings_and_only_the_same_setting_is_asked_about(
    page: Page, journal: PageJournal
) -> None:
    account = journal.create("/accounts", name="Main")["id"]
    await sign_in(page, journal, "settings")
    await page.fill("#days [name=timezone]", "America/New_York")
    await page.fill("#days [name=breakeven_within]", "2.50")
    journal.patch("/me", active_selection=f"account_{account}", day_rollover="17:00")
    await page.click("#days .primary")
    await see(page, "A trading day begins at 17:00 in America/New_York")
    me = journal.read("/me")
    assert (me["active_selection"], me["breakeven_within"]) == (f"account_{account}", 2.5)

    await page.fill("#days [name=timezone]", "Asia/Tokyo")
    journal.patch("/me", timezone="Europe/Berlin")
    await page.click("#days .primary")
    await see(page, "This setting was changed in the meantime")
    await page.click("dialog .row .primary")
    await see(page, "in Asia/Tokyo. Daily limits")


def in_zone(journal: PageJournal, zone: str) -> None:
    """As if the journal had been begun on a machine in that zone."""
    with closing(sqlite3.connect(journal.db, timeout=30)) as db, db:
        db.execute("UPDATE users SET timezone = ?", [zone])


async def test_templates_that_are_typed_outlive_the_saving_of_another_form(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await page.fill("#templates [name=plan_template]", "Levels")
    await page.fill("#days [name=timezone]", "Europe/Berlin")
    await page.click("#days .primary")
    await see(page, "in Europe/Berlin", "main")
    await expect(page.locator("#templates [name=plan_template]")).to_have_value("Levels")
    await page.click("#templates .primary")
    await expect(page.locator("#templates[data-changed]")).to_have_count(0)

    assert journal.read("/me")["plan_template"] == "Levels"


async def test_a_new_journal_is_asked_for_its_days_once(page: Page, journal: PageJournal) -> None:
    in_zone(journal, "America/Chicago")
    await sign_in(page, journal)
    await see(page, QUESTION)
    await see(page, FUTURES)
    journal.create("/example-journal")
    await show(page, "import")
    await see(page, QUESTION)
    await page.check("#first-days [value=calendar]")
    await see(page, "Your loss limit counts trades from 00:00 Chicago.")
    await page.fill("#first-days [name=timezone]", "nowhere")
    await see(page, "Name a city of your time zone.")
    await page.fill("#first-days [name=timezone]", "berlin")
    await see(page, "Your loss limit counts trades from 00:00 Berlin.")
    await page.check("#first-days [value=futures]")
    await page.click("#first-days .primary")

    await expect(page.get_by_text(QUESTION)).to_have_count(0)
    me = journal.read("/me")
    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


async def test_days_that_stay_as_they_are_are_not_asked_for_again_and_a_first_trade_ends_the_question(
    page: Page, journal: PageJournal
) -> None:
    in_zone(journal, "America/Chicago")
    await sign_in(page, journal)
    await page.check("#first-days [value=calendar]")
    await page.click("#first-days .primary")
    await expect(page.get_by_text(QUESTION)).to_have_count(0)
    await page.reload()
    await drawn(page, "today")
    await expect(page.get_by_text(QUESTION)).to_have_count(0)
    assert journal.read("/me")["timezone"] == "America/Chicago"

    await page.evaluate("localStorage.setItem('journal-days-answered', '1 of another journal')")
    await page.reload()
    await see(page, QUESTION)
    await drawn(page, "today")  # a poll meanwhile would be none
    account = journal.create("/accounts", name="Own")["id"]
    trade = {"symbol": "ES", "direction": "long", "quantity": 1, "entry_price": 1}
    journal.create("/trades", account_id=account, opened_at="2026-11-13T15:00:00Z", **trade)
    await poll(page)
    await expect(page.get_by_text(QUESTION)).to_have_count(0)

    for name in ("Etc/UTC", "Zulu"):  # nobody's choice, whatever the journal holds
        journal.patch("/me", timezone=name)
        await poll(page)
        await see(page, QUESTION)
    journal.patch("/me", day_rollover="17:00")
    await poll(page)
    await expect(page.get_by_text(QUESTION)).to_have_count(0)


# Goals ---------------------------------------------------------------------------------------------------


async def test_ready_made_goals_need_a_number_without_a_sign(page: Page, journal: PageJournal) -> None:
    ready = {
        "Daily loss limit": ("1,500", ("worst_day", "at_least", -1500, "daily")),
        "Weekly loss limit": ("500", ("net_pnl", "at_least", -500, "weekly")),
        "Monthly profit target": ("500", ("net_pnl", "at_least", 500, "monthly")),
        "Most trades a day": ("4", ("max_trades_per_day", "at_most", 4, "daily")),
        "Monthly drawdown limit": ("500", ("max_drawdown", "at_most", 500, "monthly")),
    }
    journal.create("/example-journal")
    for goal in journal.read("/goals"):
        journal.client.delete(f"/goals/{goal['id']}").raise_for_status()
    await sign_in(page, journal)
    await page.click("#first-goal")
    for name, (typed, (metric, *_)) in ready.items():
        await choose(page, "#edit [name=ready]", name)
        if metric != "net_pnl":
            await page.fill("#edit [name=target_value]", "-5")
            await page.keyboard.press("Enter")
            await see(page, "without a sign", "#edit [data-field=target_value]")
        await page.fill("#edit [name=target_value]", typed)
        await click_at_the_edge(page, "#edit .primary")
        await no_dialog(page)
        if name == "Daily loss limit":
            await see(page, "limit −1,500.00")
            await show(page, "settings")
        await page.click("#new-goal")

    made = {
        one["goal_name"]: (one["metric"], one["direction"], one["target_value"], one["timeframe"])
        for one in journal.read("/goals")
    }
    assert made == {name: goal for name, (_, goal) in ready.items()}


async def own_goal(page: Page, metric: str, target: str, direction: str = "At least") -> None:
    await page.click("#new-goal")
    await choose(page, "#edit [name=ready]", "Another goal")
    await page.fill("#edit [name=goal_name]", "Limit")
    await choose(page, "#edit [name=metric]", metric)
    await choose(page, "#edit [name=direction]", direction)
    await page.fill("#edit [name=target_value]", target)
    await page.click("#edit .primary")


async def test_a_goal_that_is_probably_a_mistake_is_asked_about_before_it_is_saved(
    page: Page, journal: PageJournal
) -> None:
    meant = ("at_least", -500)
    await sign_in(page, journal, "settings")
    for metric, typed, direction, question, saved in (
        ("Worst day", "500", "At most", "Did you mean at least −500?", meant),
        ("Net P&L", "-500", "At most", "Did you mean at least −500?", meant),
        ("Win rate", "250", "At least", "Is this goal meant?", ("at_least", 250)),
    ):
        before = len(journal.read("/goals"))
        await own_goal(page, metric, typed, direction)
        await see(page, question)
        assert len(journal.read("/goals")) == before
        is_kept = question.startswith("Is")
        await page.click(f"dialog:last-of-type .row button{':last-child' if is_kept else '.primary'}")
        await no_dialog(page)
        goal = journal.read("/goals")[-1]
        assert (goal["direction"], goal["target_value"]) == saved


async def test_a_goal_is_made_edited_beside_another_change_and_deleted(
    page: Page, journal: PageJournal
) -> None:
    await sign_in(page, journal, "settings")
    await own_goal(page, "Maximum drawdown", "500", "At most")
    await no_dialog(page)
    await see(page, "Maximum drawdown ≤ 500.00")
    assert journal.read("/goals")[0]["timeframe"] == "daily"
    await page.click("#goals .link")
    await page.wait_for_selector("#edit")
    journal.patch("/goals/1", target_value=200)
    await page.fill("#edit [name=target_value]", "100")
    await page.click("#edit .primary")
    await see(page, "This goal was changed in the meantime")
    assert await values_of(page, ".versions tbody td") == ["100", "200"]
    await page.click("dialog:last-of-type .row button:last-child")
    await see(page, "Maximum drawdown ≤ 200.00")

    await page.click("#goals .link")
    await choose(page, "#edit [name=direction]", "At least")
    await page.click("#edit .primary")
    await see(page, "Did you mean at most 200?")
    await page.keyboard.press("Escape")
    await see(page, "has the direction at most", "#edit [data-field=target_value]")
    await choose(page, "#edit [name=metric]", "Worst day")
    await see(page, "a daily loss limit is at least -500. An amount of money.", "#edit")
    await page.click("#edit .danger")
    await page.click("dialog:last-of-type form .danger")
    await see(page, "No goals.")
    assert journal.read("/goals", status="all") == []

"""Settings on the page at /: numbers, time zones, trading days, goals, accounts and tags (docs/page.md)."""

import pytest
from chromium import PageJournal, Tab, in_a_browser
from proofs import SOAK, only_in_soak

from journal_api.page import files

pytestmark = in_a_browser

NAN = "no number"
NUMBERS: dict[str, dict[str, float | str | None]] = {
    "en-US": {
        "50,000": 50_000, "25,300.25": 25_300.25, "-500": -500, "\u2212500": -500, "+5": 5, ".5": 0.5, "5.": 5,
        " 7 ": 7, "0": 0, "": None, " ": None, "1,00": NAN, "12,34,567": NAN, "1.000,50": NAN, "1e3": NAN,
        "9" * 400: NAN, "5 dollars": NAN, "-": NAN, "1.2.3": NAN, "1 000": NAN,
    },
    "de-DE": {"1.000,50": 1000.5, "50.000": 50_000, "1,5": 1.5, "25.300.25": NAN, "1,000.50": NAN},
    "fr-FR": {"1 000,5": 1000.5, "1\u202f000,5": 1000.5, "1\u00a0000": 1000, "10 00": NAN, "1.5": NAN},
    "de-CH": {"1'000.5": 1000.5, "1\u2019000.5": 1000.5, "1,5": NAN},
    "pl-PL": {"1000,5": 1000.5, "1 000": 1000, "10 000": 10_000},
    "en-IN": {"12,34,567": 1_234_567, "1,234,567": NAN},
    "ar-EG": {"١٬٠٠٠٫٥": 1000.5, "12": 12},
}  # fmt: skip
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


def module(name: str) -> str:
    """A module of the page, in JavaScript."""
    return f"await import('/page/{files.version()}/{name}')"


async def press_at_the_edge(page: Tab, selector: str) -> None:
    """Press two pixels above the lower edge: a button that moves between press and release is missed."""
    box = await page.locator(selector).bounding_box()
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2)


@pytest.mark.soak
async def test_a_number_is_read_and_written_by_the_locale(page: Tab, page_journal: PageJournal) -> None:
    for name, numbers in [*NUMBERS.items()][:: 1 if SOAK else 3]:  # in CI a comma, an apostrophe, other digits
        async with page.locale(name):
            await page.goto(f"{page_journal.server.url}/health")
            read, again = await page.evaluate(
                f"""async (texts) => {{
                    const {{ parse, write }} = {module("inputs.js")};
                    const word = (value) => (Number.isNaN(value) ? "no number" : value);
                    return [texts.map((text) => word(parse(text))), texts.map((text) => {{
                        const value = parse(text);
                        return word(Number.isNaN(value) ? value : parse(write(value)));
                    }})];
                }}""",
                list(numbers),
            )
        assert dict(zip(numbers, read, strict=True)) == numbers
        assert again == read


async def test_a_time_zone_is_found_by_its_city(page: Tab, page_journal: PageJournal) -> None:
    await page.goto(f"{page_journal.server.url}/health")
    found = await page.evaluate(
        f"""async (texts) => {{
            const {{ zoneField }} = {module("inputs.js")};
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


async def test_settings_refuse_misread_numbers_ask_at_escape_and_are_saved_one_by_one(
    page: Tab, page_journal: PageJournal
) -> None:
    await page.sign_in(page_journal, "settings")
    await page.click("#new-account")
    await page.fill("#edit [name=name]", "Apex")
    for written in ("0,62", "MES 0,62", "0.62, 0.37", "MES"):
        await page.send("#edit", fees=written)
        await page.see("Write 0.62 for all, or MES 0.62, MNQ 0.37", "#edit [data-field=fees]")
    await page.send("#edit", starting_balance="50 k")
    await page.see("Write a number such as 1,234,567.5", "#edit [data-field=starting_balance]")
    await page.keys("Escape")
    await page.see("What you typed is not saved.")
    await page.keys("Escape")  # closes the question
    await page.count("dialog", 1)
    await page.holds("#edit [name=starting_balance]", "50 k")
    await page.press("Close", "dialog")
    await page.agree("Discard it", "What you typed is not saved.")
    assert page_journal.read("/accounts") == []

    async with page.locale("de-DE"):
        await page.reload()
        await page.drawn("settings")
    await page.click("#new-account")
    await page.fill_in("#edit", name="Apex", starting_balance="50000,5", fees="0,62; mes 0,37; mnq 1")
    await page.holds("#edit [name=starting_balance]", "50.000,5")
    await page.save()
    (account,) = page_journal.read("/accounts")
    assert account["starting_balance"] == 50_000.5
    assert account["fees"] == {"default": 0.62, "MES": 0.37, "MNQ": 1}

    await page.reload()
    await page.drawn("settings")
    zone, button = "#days [name=timezone]", "#days .primary"
    await page.fill("#templates [name=plan_template]", "Levels")
    assert await page.locator(zone).evaluate("input => input.list.options.length") > 400
    await page.fill(zone, "Mars/Olympus")
    await page.click(button)
    await page.see("time zone", "#days [data-field=timezone]")
    await page.fill(zone, "EST")
    await press_at_the_edge(page, button)
    await page.see("in EST. Daily limits")
    await page.press("America/New_York", "#days .warn")
    await page.fill("#days [name=breakeven_within]", "2.50")
    page_journal.patch("/me", active_selection=f"account_{account['id']}", timezone="Europe/Berlin")
    await page.click(button)
    await page.agree("Save mine", "This setting was changed in the meantime")
    await page.see("A trading day begins at 00:00 in America/New_York")
    me = page_journal.read("/me")
    assert (me["breakeven_within"], me["active_selection"]) == (2.5, f"account_{account['id']}")
    await page.holds("#templates [name=plan_template]", "Levels")  # it outlives the saving of another form
    await page.click("nav a[href='#/trades']")
    await page.agree("Cancel", "The templates are not saved.")
    await page.click("#templates .primary")
    await page.gone("#templates[data-changed]")
    assert page_journal.read("/me")["plan_template"] == "Levels"


@only_in_soak
async def test_a_new_journal_is_asked_for_its_days(page: Tab, page_journal: PageJournal) -> None:
    page_journal.run_sql("UPDATE users SET timezone = 'America/Chicago'")
    await page.sign_in(page_journal)
    await page.see("Your loss limit counts trades from 17:00 New York")
    page_journal.create("/example-journal")  # whose trades are nobody's
    await page.poll()
    await page.see("Daily loss limit")
    await page.check("#first-days [value=calendar]")
    await page.see("Your loss limit counts trades from 00:00 Chicago.")
    await page.click("#first-days .primary")
    await page.gone("#first-days")
    assert page_journal.read("/me")["timezone"] == "America/Chicago"


GOAL = ("metric", "direction", "target_value", "timeframe")


async def test_goals_are_made_asked_about_changed_and_deleted(page: Tab, page_journal: PageJournal) -> None:
    page_journal.add_trade()
    await page.sign_in(page_journal)
    await page.press("Set a daily loss limit")
    await page.enter("#edit [name=target_value]", "-5", "Enter")
    await page.see("without a sign", "#edit [data-field=target_value]")
    await page.choose("#edit [name=ready]", "Daily loss limit")
    await page.fill("#edit [name=target_value]", "1,500")
    await press_at_the_edge(page, "#edit .primary")
    await page.see("limit −1,500.00")
    (limit,) = page_journal.read("/goals")
    assert [limit[name] for name in GOAL] == ["worst_day", "at_least", -1500, "daily"]

    await page.show("settings")
    await page.click("#new-goal")
    await page.choose("#edit [name=ready]", "Another goal")
    await page.choose("#edit [name=metric]", "Worst day")
    await page.choose("#edit [name=direction]", "At most")
    await page.send("#edit", goal_name="Own", target_value="500")
    await page.see("Did you mean at least −500?")
    assert len(page_journal.read("/goals")) == 1
    await page.agree("Save at least −500")
    await page.click("#goals .link:text('Own')")
    await page.wait_for_selector("#edit")
    (goal,) = (one for one in page_journal.read("/goals") if one["target_value"] == -500)
    page_journal.patch(f"/goals/{goal['id']}", target_value=-200)
    await page.send("#edit", target_value="-100")
    await page.see_all(".versions tbody td", "-100", "-200")
    await page.agree("Keep the stored version", "This goal was changed in the meantime")
    await page.see("Worst day ≥ −200.00")
    await page.click("#goals .link:text('Own')")
    await page.press("Delete", "#edit")
    await page.agree("Delete")
    await page.count("#goals .link", 1)
    assert page_journal.read("/goals", status="all") == [limit]

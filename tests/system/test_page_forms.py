"""The forms of the page at /: numbers, time zones, limits, tags, and the question before text is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx
import pytest
from chromium import Page, PageJournal, create, in_a_browser, stored
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

pytestmark = in_a_browser


@pytest.fixture
def client(page_journal: PageJournal) -> httpx.Client:
    return page_journal.client


@pytest.fixture
def page(browser: Chrome, page_journal: PageJournal) -> Iterator[Page]:
    page = Page(browser, page_journal.server.url)
    page.resize(1280, 900)
    page.sign_in(page_journal.key)
    page.complaints()
    yield page
    page.leave()


# Numbers -------------------------------------------------------------------------------------------------

NAN = "no number"
TABLE: dict[str, dict[str, float | str | None]] = {
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


@contextmanager
def locale_of(page: Page, locale: str) -> Iterator[None]:
    """The page as a browser of that locale draws it."""
    page.browser.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": locale})
    page.browser.refresh()
    page.wait_for_view("today")
    try:
        yield
    finally:
        page.browser.execute_cdp_cmd("Emulation.setLocaleOverride", {})
        page.browser.refresh()


@pytest.mark.parametrize("locale", TABLE)
def test_a_number_is_read_by_the_locale_and_written_so_that_it_is_read_again(page: Page, locale: str) -> None:
    with locale_of(page, locale):
        read, again = page.browser.execute_async_script(
            """
            const [texts, done] = arguments;
            const name = document.querySelector("script[src]").src.replace("app.js", "numbers.js");
            import(name).then(({ parse, write }) => {
                const word = (value) => (Number.isNaN(value) ? "no number" : value);
                done([texts.map((text) => word(parse(text))), texts.map((text) => {
                    const value = parse(text);
                    return word(Number.isNaN(value) ? value : parse(write(value)));
                })]);
            });
            """,
            list(TABLE[locale]),
        )

    assert dict(zip(TABLE[locale], read, strict=True)) == TABLE[locale]
    assert again == read


REASON = "Write a number such as 1,234,567.5"


def account_form(page: Page) -> None:
    page.show("settings")
    page.click("#new-account")
    page.fill("name", "Apex", "#edit")


def test_an_amount_with_separators_is_stored_and_shown_as_it_was_read(
    page: Page, client: httpx.Client
) -> None:
    account_form(page)
    page.fill("starting_balance", "50000.5\t", "#edit")
    shown = page.find("#edit [name=starting_balance]").get_attribute("value")
    page.fill("starting_balance", "25,300.25", "#edit")
    page.fill("fees", "1,000.5; mes 0.62, mnq 0.37", "#edit")
    page.click("#edit .primary")
    page.wait(lambda: not page.all("dialog"))

    (account,) = stored(client, "/accounts")
    assert shown == "50,000.5"
    assert account["starting_balance"] == 25_300.25
    assert account["fees"] == {"default": 1000.5, "MES": 0.62, "MNQ": 0.37}


def test_an_amount_with_a_decimal_comma_is_read_by_the_locale(page: Page, client: httpx.Client) -> None:
    with locale_of(page, "de-DE"):
        account_form(page)
        page.fill("starting_balance", "1,000\t", "#edit")
        shown = page.find("#edit [name=starting_balance]").get_attribute("value")
        page.fill("starting_balance", "1.000,50", "#edit")
        page.fill("fees", "0,62; mes 0,37", "#edit")
        page.click("#edit .primary")
        page.wait(lambda: not page.all("dialog"))

    (account,) = stored(client, "/accounts")
    assert shown == "1"
    assert (account["starting_balance"], account["fees"]) == (1000.5, {"default": 0.62, "MES": 0.37})


def test_what_is_no_number_is_refused_at_its_field_and_nothing_is_sent(
    page: Page, client: httpx.Client
) -> None:
    account_form(page)
    page.fill("starting_balance", "50 k\t", "#edit")
    page.wait(
        lambda: page.find("#edit [data-field=starting_balance]").text == "Write a number such as 1,234,567.5"
    )
    page.click("#edit .primary")

    page.wait(
        lambda: page.find("#edit [data-field=starting_balance]").text == "Write a number such as 1,234,567.5"
    )
    assert page.find("#edit [name=starting_balance]").get_attribute("value") == "50 k"
    assert stored(client, "/accounts") == []


# Prices and times of a trade -----------------------------------------------------------------------------


@pytest.fixture
def open_trade(client: httpx.Client) -> Any:
    account = create(client, "/accounts", name="Main")
    return create(
        client, "/trades", account_id=account["id"], symbol="MNQZ6", direction="long", quantity=1,
        entry_price=25_300.25, opened_at="2026-11-13T15:00:07Z",
    )  # fmt: skip


def trade_form(page: Page, trade: Any) -> None:
    page.show("trades", f"?id={trade['id']}")
    page.find("#trade")
    next(one for one in page.all("#trade button") if one.text.startswith("Change prices")).click()
    page.find("dialog [name=exit_price]")


def test_a_trade_is_closed_by_a_time_without_seconds_and_a_price_with_separators(
    page: Page, client: httpx.Client, open_trade: Any
) -> None:
    trade_form(page, open_trade)
    assert page.find("dialog [name=entry_price]").get_attribute("value") == "25,300.25"
    page.fill("exit_price", "25,310.50", "dialog form")
    page.find("dialog [name=closed_at]").send_keys("11132026", Keys.TAB, "0417PM")
    page.click("dialog .primary")
    page.wait(lambda: not page.all("dialog"))

    trade = stored(client, f"/trades/{open_trade['id']}")
    assert (trade["exit_price"], trade["closed_at"][:19]) == (25_310.5, "2026-11-13T16:17:00")
    assert trade["opened_at"] == open_trade["opened_at"]


def test_a_time_of_which_a_part_is_missing_is_not_sent_as_none(
    page: Page, client: httpx.Client, open_trade: Any
) -> None:
    path = f"/trades/{open_trade['id']}"
    client.patch(path, json={"exit_price": 25_310, "closed_at": "2026-11-13T16:17:30Z"}).raise_for_status()
    trade_form(page, open_trade)
    page.find("dialog [name=closed_at]").send_keys(Keys.DELETE)
    page.click("dialog .primary")

    page.wait(lambda: page.find("dialog [data-field=closed_at]").text == "Complete it, or clear it")
    assert stored(client, path)["closed_at"] is not None


@pytest.mark.parametrize(
    ("typed", "place", "reason"),
    [
        ({"exit_price": "25,310"}, "exit_price", "Needs the time at which the trade closed"),
        ({"gross_pnl": "10"}, "gross_pnl", "Needs the time at which the trade closed"),
        ({"closed_at": f"11132026{Keys.TAB}0417PM"}, "exit_price", "Write the exit price, or the gross P&L"),
        (
            {"gross_pnl": "10", "closed_at": f"11132025{Keys.TAB}0417PM"},
            "closed_at",
            "Must not be before the trade opened",
        ),
    ],
    ids=str,
)
def test_a_reason_is_said_in_the_words_of_the_form(
    page: Page, open_trade: Any, typed: dict[str, str], place: str, reason: str
) -> None:
    trade_form(page, open_trade)
    for name, text in typed.items():
        page.find(f"dialog [name={name}]").send_keys(text)
    page.click("dialog .primary")

    page.wait(lambda: page.find(f"dialog [data-field={place}]").text == reason)


def test_a_reason_without_a_field_is_said_alone(page: Page) -> None:
    said = page.browser.execute_async_script(
        """
        const [done] = arguments;
        const name = document.querySelector("script[src]").src.replace("app.js", "dom.js");
        import(name).then(({ h, showError }) => {
            const message = h("p");
            const details = { fields: { opened_at: "is required" } };
            showError(h("form"), message, { message: "The request is not valid; see details.", details });
            done(message.textContent);
        });
        """
    )

    assert said == "Opened at: is required."


# Time zones and trading days -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "zone", "warning"),
    [
        ("New York", "America/New_York", ""),
        ("america/new york", "America/New_York", ""),
        ("berlin", "Europe/Berlin", ""),
        ("utc", "UTC", ""),
        ("new", "new", ""),
        ("EST", "EST", "EST never changes to summer time; did you mean America/New_York?"),
        ("Etc/GMT+6", "Etc/GMT+6", "did you mean America/Chicago?"),
        ("UTC-5", "UTC-5", "did you mean America/New_York?"),
        ("+01:00", "+01:00", "did you mean Europe/Berlin?"),
        ("Etc/GMT-11", "Etc/GMT-11", "Etc/GMT-11 never changes to summer time; name a city instead."),
    ],
)
def test_a_time_zone_is_found_by_its_city_and_fixed_ones_are_warned_about(
    page: Page, typed: str, zone: str, warning: str
) -> None:
    page.show("settings")
    page.fill("timezone", f"{typed}\t", "#days")

    assert page.find("#days [name=timezone]").get_attribute("value") == zone
    said = " ".join(one.text for one in page.all("#days .warn"))
    assert (warning in said) if warning else said == ""


def test_the_zone_that_was_meant_is_taken_by_a_press(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.fill("timezone", "EST\t", "#days")
    page.click("#days .warn button")
    page.click("#days .primary")

    page.wait_for_text("in America/New_York. Daily limits")
    assert stored(client, "/me")["timezone"] == "America/New_York"


QUESTION = "When does your trading day begin?"


@pytest.fixture
def chicago(page: Page, page_journal: PageJournal) -> Page:
    """The page of a new journal that was begun on a machine in Chicago."""
    with closing(sqlite3.connect(page_journal.db, timeout=30)) as db, db:
        db.execute("UPDATE users SET timezone = 'America/Chicago'")
    page.leave()
    page.sign_in(page_journal.key)
    return page


def test_a_new_journal_is_asked_for_its_days_whatever_the_machine_is_called(
    chicago: Page, client: httpx.Client
) -> None:
    assert QUESTION in chicago.text()
    assert "Your loss limit counts trades from 17:00 New York" in chicago.text()
    chicago.show("import")
    chicago.click("#first-days [value=calendar]")
    chicago.wait_for_text("Your loss limit counts trades from 00:00 Chicago.")
    chicago.click("#first-days [value=futures]")
    chicago.click("#first-days .primary")

    chicago.wait(lambda: QUESTION not in chicago.text())
    me = stored(client, "/me")
    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


def test_days_that_stay_as_they_are_are_not_asked_for_again(chicago: Page, client: httpx.Client) -> None:
    chicago.click("#first-days [value=calendar]")
    chicago.click("#first-days .primary")
    chicago.wait(lambda: QUESTION not in chicago.text())
    chicago.browser.refresh()
    chicago.wait_for_view("today")

    assert QUESTION not in chicago.text()
    assert stored(client, "/me")["timezone"] == "America/Chicago"
    chicago.browser.execute_script("localStorage.setItem('journal-days-answered', '1 of another journal')")
    chicago.browser.refresh()
    chicago.wait_for_view("today")
    assert QUESTION in chicago.text()


def test_the_example_journal_does_not_end_the_question_and_an_own_trade_does(
    chicago: Page, client: httpx.Client
) -> None:
    create(client, "/example-journal")
    chicago.poll()
    chicago.wait_for_text("This is the example journal")
    assert QUESTION in chicago.text()
    account = create(client, "/accounts", name="Own")
    create(
        client, "/trades", account_id=account["id"], symbol="ES", direction="long", quantity=1, entry_price=1,
        opened_at="2026-11-13T15:00:00Z",
    )  # fmt: skip
    chicago.poll()

    chicago.wait(lambda: QUESTION not in chicago.text())


@pytest.mark.parametrize("name", ["Etc/UTC", "Etc/UCT", "GMT", "UCT", "Zulu"])
def test_whatever_a_machine_calls_utc_is_asked_about_until_it_is_answered(
    page: Page, client: httpx.Client, open_trade: Any, name: str
) -> None:
    client.patch("/me", json={"timezone": name}).raise_for_status()
    page.browser.refresh()
    page.wait_for_view("today")

    assert QUESTION in page.text()


def test_the_days_are_asked_for_before_the_first_trade_is_added(page: Page, client: httpx.Client) -> None:
    create(client, "/accounts", name="Main")
    page.show("trades")
    page.click(".title button")
    page.wait_for_text(QUESTION)
    assert page.all("dialog [name=symbol]") == []
    page.click("dialog .primary")

    page.find("dialog [name=symbol]")
    page.wait_for_text("Times are in America/New_York.")
    assert stored(client, "/me")["day_rollover"] == "17:00"


def test_the_question_for_the_days_names_no_zone_that_is_none(page: Page) -> None:
    page.click("#first-days [value=calendar]")
    page.retype("timezone", "nowhere", "#first-days")
    page.wait_for_text("Name a city of your time zone.")
    assert "nowhere." not in page.text()
    page.press(Keys.TAB)
    assert "counts trades from" not in page.text()
    page.retype("timezone", "berlin", "#first-days")

    page.wait_for_text("Your loss limit counts trades from 00:00 Berlin.")


# One click saves -----------------------------------------------------------------------------------------


def test_a_goal_is_created_by_the_first_click_after_a_correction(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.click("#new-goal")
    page.retype("target_value", "-5", "#edit")
    page.press(Keys.ENTER)
    page.wait(lambda: "without a sign" in page.find("#edit [data-field=target_value]").text)
    page.retype("target_value", "500", "#edit")
    page.click_at_the_edge("#edit .primary")

    page.wait(lambda: not page.all("dialog"))
    assert [goal["target_value"] for goal in stored(client, "/goals")] == [-500]


def test_a_trade_is_saved_by_the_first_click_after_a_correction(
    page: Page, client: httpx.Client, open_trade: Any
) -> None:
    trade_form(page, open_trade)
    page.retype("quantity", "two\t", "dialog form")
    page.wait_for_text(REASON)
    page.retype("quantity", "2", "dialog form")
    page.click_at_the_edge("dialog .primary")

    page.wait(lambda: not page.all("dialog"))
    assert stored(client, f"/trades/{open_trade['id']}")["quantity"] == 2


def test_a_time_zone_is_saved_by_the_first_click_after_a_correction(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.retype("timezone", "EST\t", "#days")
    page.wait_for_text("EST never changes to summer time")
    page.retype("timezone", "berlin", "#days")
    page.click_at_the_edge("#days .primary")

    page.wait_for_text("in Europe/Berlin. Daily limits")
    assert stored(client, "/me")["timezone"] == "Europe/Berlin"


def test_a_time_zone_with_a_warning_is_saved_by_the_first_click(page: Page, client: httpx.Client) -> None:
    page.show("settings")
    page.retype("timezone", "EST", "#days")
    page.click_at_the_edge("#days .primary")

    page.wait_for_text("in EST. Daily limits")
    assert stored(client, "/me")["timezone"] == "EST"


# Goals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "typed", "goal"),
    [
        ("Daily loss limit", "1,500", ("worst_day", "at_least", -1500, "daily")),
        ("Weekly loss limit", "500", ("net_pnl", "at_least", -500, "weekly")),
        ("Weekly profit target", "500", ("net_pnl", "at_least", 500, "weekly")),
        ("Monthly profit target", "500", ("net_pnl", "at_least", 500, "monthly")),
        ("Most trades a day", "4", ("max_trades_per_day", "at_most", 4, "daily")),
        ("Monthly drawdown limit", "500", ("max_drawdown", "at_most", 500, "monthly")),
    ],
)
def test_a_ready_made_goal_needs_a_number_without_a_sign(
    page: Page, client: httpx.Client, name: str, typed: str, goal: tuple[object, ...]
) -> None:
    page.show("settings")
    page.click("#new-goal")
    page.fill("ready", name, "#edit")
    page.fill("target_value", "-5", "#edit")
    page.click("#edit .primary")
    page.wait(lambda: "without a sign" in page.find("#edit [data-field=target_value]").text)
    page.fill("target_value", typed, "#edit")
    page.click("#edit .primary")
    page.wait(lambda: not page.all("dialog"))

    (made,) = stored(client, "/goals")
    assert (made["metric"], made["direction"], made["target_value"], made["timeframe"]) == goal
    assert made["goal_name"] == name


def test_a_first_goal_is_made_on_today(page: Page, client: httpx.Client) -> None:
    create(client, "/example-journal")
    for goal in stored(client, "/goals"):
        client.delete(f"/goals/{goal['id']}")
    page.poll()
    page.click("#first-goal")
    page.fill("target_value", "500", "#edit")
    page.click("#edit .primary")

    page.wait_for_text("left before −500.00")
    assert stored(client, "/goals")[0]["target_value"] == -500


def own_goal(page: Page, metric: str, target: str, direction: str = "at least") -> None:
    page.show("settings")
    page.click("#new-goal")
    page.fill("ready", "Another goal", "#edit")
    page.fill("goal_name", "Limit", "#edit")
    page.fill("metric", metric, "#edit")
    page.fill("direction", direction, "#edit")
    page.fill("target_value", target, "#edit")
    page.click("#edit .primary")


def test_a_limit_with_the_wrong_sign_is_asked_about_before_it_is_saved(
    page: Page, client: httpx.Client
) -> None:
    own_goal(page, "Worst day", "500")

    page.wait_for_text("Did you mean −500?")
    assert stored(client, "/goals") == []
    page.click("dialog:last-of-type .primary")
    page.wait(lambda: not page.all("dialog"))
    assert [goal["target_value"] for goal in stored(client, "/goals")] == [-500]


def test_a_limit_with_the_wrong_direction_is_asked_about_when_it_is_edited(
    page: Page, client: httpx.Client
) -> None:
    create(client, "/goals", goal_name="Limit", metric="max_drawdown", target_value=500)
    page.show("settings")
    page.click("#goals .link")
    page.fill("direction", "at least", "#edit")
    page.click("#edit .primary")

    page.wait_for_text("Did you mean at most 500?")
    page.press(Keys.ESCAPE)
    page.wait(lambda: "has the direction at most" in page.find("#edit [data-field=target_value]").text)
    assert [goal["direction"] for goal in stored(client, "/goals")] == ["at_most"]


@pytest.mark.parametrize(
    ("metric", "typed"), [("Worst day", "500"), ("Worst trade", "-500"), ("Net P&L", "-500")]
)
def test_a_limit_at_most_is_asked_about_and_offered_as_the_loss_limit_it_was_meant_as(
    page: Page, client: httpx.Client, metric: str, typed: str
) -> None:
    own_goal(page, metric, typed, "at most")

    page.wait_for_text("Did you mean at least −500?")
    page.click("dialog:last-of-type .primary")
    page.wait(lambda: not page.all("dialog"))
    (goal,) = stored(client, "/goals")
    assert (goal["direction"], goal["target_value"]) == ("at_least", -500)


def test_a_doubtful_goal_is_saved_when_it_is_meant(page: Page, client: httpx.Client) -> None:
    own_goal(page, "Win rate", "250")

    page.wait_for_text("Is this goal meant?")
    page.click("dialog:last-of-type .row button:last-child")
    page.wait(lambda: not page.all("dialog"))
    assert [goal["target_value"] for goal in stored(client, "/goals")] == [250]


@pytest.mark.parametrize(
    ("direction", "reason"),
    [("at_least", "a loss limit is negative: -500."), ("at_most", "a loss limit is at least -500.")],
)
def test_today_never_calls_a_doubtful_goal_on_track(
    page: Page, client: httpx.Client, direction: str, reason: str
) -> None:
    limit = {"goal_name": "Limit", "metric": "worst_day", "target_value": 500, "timeframe": "daily"}
    create(client, "/goals", direction=direction, **limit)
    page.poll()

    page.wait_for_text("Check this goal")
    card = page.find("#goal-1").text
    assert reason in card
    assert [word for word in ("On track", "Behind", "Within limit") if word in card] == []
    page.click("#goal-1 button")
    page.fill("direction", "at least", "#edit")
    page.fill("target_value", "-500", "#edit")
    page.click("#edit .primary")
    page.wait_for_text("left before −500.00")
    assert "Check this goal" not in page.text()


# Tags, and what is typed and not saved --------------------------------------------------------------------


def test_a_first_tag_makes_its_category_and_a_second_try_does_not_make_it_again(
    page: Page, client: httpx.Client
) -> None:
    page.show("settings")
    page.click("#new-tag")
    page.fill("new_category", "Mind", "#edit")
    page.click("#edit .primary")  # without a name
    page.wait(lambda: page.find("#edit [data-field=name]").text)
    page.fill("name", "Patient", "#edit")
    page.click("#edit .primary")
    page.wait(lambda: not page.all("dialog"))

    (category,), (tag,) = stored(client, "/tag-categories"), stored(client, "/tags")
    assert (category["name"], tag["name"], tag["category_id"]) == ("Mind", "Patient", category["id"])


def test_a_category_that_is_refused_is_said_at_its_own_field(page: Page, client: httpx.Client) -> None:
    create(client, "/tag-categories", name="Mind")
    page.show("settings")
    page.click("#new-tag")
    page.fill("name", "Patient", "#edit")
    page.fill("category_id", "New category", "#edit")
    page.fill("new_category", "Mind", "#edit")
    page.click("#edit .primary")

    page.wait(lambda: page.find("#edit [data-field=new_category]").text)
    assert stored(client, "/tags") == []


def test_escape_asks_each_time_before_it_loses_what_was_typed(page: Page) -> None:
    account_form(page)
    for _ in range(2):
        page.press(Keys.ESCAPE)
        page.wait_for_text("What you typed is not saved.")
        page.press(Keys.ESCAPE)  # closes the question
        page.wait(lambda: len(page.all("dialog")) == 1)
        assert page.find("#edit [name=name]").get_attribute("value") == "Apex"
    page.click("dialog .quiet")
    page.wait_for_text("What you typed is not saved.")
    page.click("dialog:last-of-type .danger")

    page.wait(lambda: not page.all("dialog"))


def test_escape_closes_a_form_at_once_in_which_nothing_was_typed(page: Page) -> None:
    page.show("settings")
    page.click("#new-account")
    page.press(Keys.ESCAPE)

    page.wait(lambda: not page.all("dialog"))

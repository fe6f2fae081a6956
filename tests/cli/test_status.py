"""`journal-api status`: what it prints for a journal, on a terminal and into a pipe."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import factories
import pytest
import time_machine
from commands import command, command_in_process, dump, make_journal, on_a_terminal, run_failing, run_ok
from factories import Client, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from starlette.applications import Starlette

from journal_api.cli.status import read_status
from journal_api.cli.status_report import report
from journal_api.cli.text_width import fit_text, text_width
from journal_api.testing import journal_client

SELF_HOSTING = Path(__file__).parents[2] / "docs/self-hosting.md"
# A Wednesday.
TODAY = "2026-03-11"
Clock = time_machine.Traveller


@pytest.fixture
def clock() -> Iterator[Clock]:
    with time_machine.travel(f"{TODAY}T18:00:00Z", tick=False) as traveller:
        yield traveller


async def close_trades(client: Client, account: Any, day: str, *pnl: float) -> None:
    for amount in pnl:
        times = {"opened_at": f"{day}T14:00:00Z", "closed_at": f"{day}T15:00:00Z"}
        await factories.create_trade(client, account["id"], gross_pnl=amount, **times)


async def lines_of(app: Starlette, *, is_colored: bool = False) -> list[str]:
    """What the command prints about the first user."""
    lines = report(await read_status(app.state.database, None))
    return [line if is_colored else click.unstyle(line).rstrip() for line in lines]


async def test_the_page_shows_what_the_command_prints(app: Starlette, client: Client, clock: Clock) -> None:
    unwrap(await client.patch("/me", json={"timezone": "America/New_York"}))
    account = await factories.create_account(client, starting_balance=25000)
    await close_trades(client, account, "2026-03-09", 310, -60)
    await close_trades(client, account, "2026-03-10", -120.5)
    await close_trades(client, account, TODAY, -200, -250, 70)
    for name, metric, target, timeframe in (
        ("Daily loss limit", "worst_day", -500, "daily"),
        ("A good month", "net_pnl", 2000, "monthly"),
        ("Grow the account", "balance_target", 24500, "monthly"),
        ("No mistakes", "mistake_free_rate", 80, "weekly"),
        ("No overtrading, ever again", "max_trades_per_day", 3, "monthly"),
    ):
        await factories.create_goal(client, goal_name=name, metric=metric, target_value=target, timeframe=timeframe)

    lines = await lines_of(app)

    assert "\n".join(lines) + "\n" in SELF_HOSTING.read_text(), "\n".join(lines)


async def test_trades_in_several_currencies_are_listed_by_currency(
    app: Starlette, client: Client, clock: Clock
) -> None:
    for currency, pnl in (("USD", -10), ("EUR", 20.5), ("USD", 0.25)):
        await close_trades(client, await factories.create_account(client, f"{pnl}", currency=currency), TODAY, pnl)
    await factories.create_goal(client, metric="net_pnl", target_value=100)

    lines = await lines_of(app)

    assert "Today  20.50 EUR in 1 trade, -9.75 USD in 2 trades" in lines
    assert "Wed 2026-03-11  20.50 EUR  1 trade" in lines
    assert "                -9.75 USD  2 trades" in lines
    assert "Goal                       -------------- no value" in lines
    assert "  Net P&L at least 100.00, monthly: mixed currencies, 14 days left" in lines


async def test_a_goal_that_is_probably_a_mistake_says_so_instead_of_how_it_stands(
    app: Starlette, client: Client, clock: Clock
) -> None:
    await factories.create_goal(client, metric="worst_day", target_value=500, direction="at_most", timeframe="daily")

    status = await read_status(app.state.database, None)

    assert list(map(click.unstyle, report(status)))[-2:] == [
        "Goal                       check this goal:",
        "  at most 500 never limits a loss; a loss limit is at least -500.",
    ]
    (listed,) = unwrap(await client.get("/goals", params={"with": "snapshot"}))
    assert [goal.warnings for goal in status.goals] == [listed["warnings"]]


async def test_a_loss_beyond_a_limit_and_amounts_of_every_length_fit_into_80_columns(
    app: Starlette, client: Client, clock: Clock
) -> None:
    account = await factories.create_account(client, "Rich", currency="JPY")
    await close_trades(client, account, TODAY, -9999999.99999999, 1)
    for metric, target in (("net_pnl", -1234567.89), ("win_streak", 5), ("expectancy", 1234567.12345678)):
        await factories.create_goal(client, goal_name="界" * 50, metric=metric, target_value=target)

    lines = await lines_of(app)

    assert max(map(text_width, lines)) <= 80
    assert any(line.startswith(f"{'界' * 11}... ") for line in lines)
    assert "8765431.11 JPY beyond" in "\n".join(lines)
    assert "6234567.118456775" not in "\n".join(lines)


async def test_colors_are_of_the_state_alone_and_a_goal_whose_dates_are_not_running_says_so(
    app: Starlette, client: Client, clock: Clock
) -> None:
    await factories.create_goal(client)
    await factories.create_goal(client, timeframe="custom", custom_start="2026-05-01", custom_end="2026-05-31")
    await factories.create_goal(client, metric="worst_day", target_value=-50, timeframe="daily")
    await close_trades(client, await factories.create_account(client), TODAY, -60)

    plain, colored = await lines_of(app), await lines_of(app, is_colored=True)

    assert [line for line in colored if "\x1b" in line] == [
        "Goal                       -------------- \x1b[33mbehind      \x1b[0m 160.00 USD to go",
        "Goal                       -------------- \x1b[31mbroken      \x1b[0m",
    ]
    assert "Goal                       -------------- behind       160.00 USD to go" in plain
    assert "Goal                       not running: 2026-05-01 to 2026-05-31" in plain


async def test_the_bar_of_a_balance_begins_where_the_account_began(
    app: Starlette, client: Client, clock: Clock
) -> None:
    await close_trades(client, await factories.create_account(client, starting_balance=1000), TODAY, 100)
    await factories.create_goal(client, metric="balance_target", target_value=1500)

    assert [line[27:41] for line in await lines_of(app) if "400.00 USD to go" in line] == ["##------------"]


@max_examples(full=200, ci=25)
@given(st.text(max_size=60), st.integers(3, 40))
def test_a_fitted_text_has_the_width_and_is_cut_as_late_as_possible(text: str, width: int) -> None:
    assert text_width(fit_text(text, width)) == width
    assert [fit_text("abcdefgh", columns) for columns in (6, 8, 9)] == ["abc...", "abcdefgh", "abcdefgh "]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with three trades of today, of -380.000001 together, and a daily loss limit of 500."""
    folder = tmp_path_factory.mktemp("filled")
    with journal_client(folder) as client:
        client.create("account", currency="EUR")
        for pnl in (-300, 20, -100.000001):
            client.create("trade", gross_pnl=pnl)
        for name in ("Daily loss limit", "損失を限る " * 10):
            client.create("goal", goal_name=name, metric="worst_day", target_value=-500, timeframe="daily")
    return folder / "journal.db"


def test_an_empty_journal_says_what_to_do_next(db: Path) -> None:
    make_journal(db)

    lines = run_ok("status", "--db", db).splitlines()

    assert lines[0].endswith(", UTC, owner")
    assert lines[2] == "No trades. Import a file: journal-api import FILE --account NAME"
    assert lines[4] == "No active goals. POST /v1/goals creates one; /docs of a server explains it."
    assert max(map(len, lines)) <= 80


def test_a_pipe_gets_two_decimals_without_colors_and_json_all_digits(filled: Path) -> None:
    out = run_ok("status", "--db", filled)
    without_the_letters = command_in_process("status", "--db", filled, settings={"PYTHONIOENCODING": "latin-1"})
    status = json.loads(run_ok("status", "--json", "--db", filled), parse_float=Decimal)

    assert "Today  -380.00 EUR in 3 trades\n" in out
    assert "Daily loss limit           ###----------- within limit 120.00 EUR left\n" in out
    assert "  Worst day at least -500.00 EUR, daily: -380.00 EUR\n" in out
    assert "損失を限る 損失を限る ...  ###-----------" in out  # ten of the letters are two columns wide
    assert max(map(text_width, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert (without_the_letters.code, "?????" in without_the_letters.out) == (0, True)
    assert status["week"] == [
        {"day": status["today"], "currency": "EUR", "trades": 3, "net_pnl": Decimal("-380.000001")}
    ]
    pace = status["goals"][0]["current"]["snapshot_data"]["pace"]
    assert (pace["state"], pace["remaining"]) == ("within_limit", Decimal("119.999999"))


def test_the_status_is_of_the_user_who_is_named_and_a_second_one_of_the_day_writes_nothing(filled: Path) -> None:
    run_ok("users", "add", "Ada", "--db", filled)
    assert "in 3 trades" in run_ok("status", "--db", filled)
    before = dump(filled)

    assert command("status", "--db", filled).err == ""

    assert dump(filled) == before
    assert "No trades." in run_ok("status", "--user", "Ada", "--db", filled)
    assert "there is no user 'Bob'" in run_failing("status", "--user", "Bob", "--db", filled)


@pytest.mark.parametrize(("settings", "is_colored"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_only_a_terminal_has_colors(
    filled: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], is_colored: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    printed = on_a_terminal("status", "--db", filled, settings=settings)

    assert "within limit" in printed
    assert ("\x1b[32m" in printed) == is_colored


async def test_rules_with_their_room_and_checkpoints_that_differ_are_printed(
    app: Starlette, client: Client, clock: Clock
) -> None:
    funded = await factories.create_account(client, "Funded", starting_balance=50000)
    await factories.create_account(client, "Own")
    await factories.put_rules(
        client,
        funded["id"],
        floor={"kind": "end_of_day", "distance": 2000, "locks_at": 50100},
        daily_loss=500,
        profit_target=3000,
        best_day_share=50,
        qualifying_day={"amount": 100, "days": 2},
        minimum_days=2,
    )
    await close_trades(client, funded, "2026-03-09", 800)
    await close_trades(client, funded, TODAY, -450)
    for day, balance in (("2026-03-09", 50800), ("2026-03-10", 50795), (TODAY, 50500.5)):
        await factories.create_checkpoint(client, funded["id"], day=day, balance=balance)
    path = f"/accounts/{funded['id']}/checkpoints/2"
    unwrap(await client.patch(path, json={"accepted": True}))
    manual = await factories.create_account(client, "Manual")
    await factories.create_checkpoint(client, manual["id"], day=TODAY, balance=-0.5)
    beyond = await factories.create_account(client, "Beyond")
    for _ in range(10):
        await factories.insert_trade(app, beyond["id"], gross_pnl=10**10)
    await factories.create_checkpoint(client, beyond["id"], day=TODAY, balance=1)

    lines = await lines_of(app)

    start = lines.index("Funded (closed trades only)")
    assert lines[start : lines.index("", start)] == [
        "Funded (closed trades only)",
        "  floor           within   1550.00 USD left above 48800.00",
        "  daily loss      near     50.00 USD left today",
        "  profit target   open     2650.00 USD to go",
        "  best day share  open     1250.00 USD more, then the best day is 50 %",
        "  qualifying day  open     1 day to go",
        "  minimum days    met",
        "  2026-03-11: the journal has 155.50 USD less than the broker, beyond what was accepted",
    ]
    start = lines.index("Manual")
    assert lines[start + 1 : start + 3] == ["  2026-03-11: the journal has 0.50 USD more than the broker", ""]
    assert lines[lines.index("Beyond") + 1] == "  2026-03-11: the balance is too large to compare"
    assert not any("Own" in line for line in lines)


async def test_what_accounts_cost_and_paid_since_january_is_one_line(
    app: Starlette, client: Client, clock: Clock
) -> None:
    account = await factories.create_account(client, payout_share=90)
    await factories.create_cash(client, account["id"], kind="fee", outside=True, amount=77, day="2025-12-31")
    before = await lines_of(app)
    await factories.create_cash(client, account["id"], kind="fee", outside=True, amount=150, day="2026-01-01")
    await factories.create_cash(client, account["id"], kind="payout", amount=1000, day=TODAY)
    since = await lines_of(app)
    await factories.create_cash(
        client, (await factories.create_account(client, "Euros", currency="EUR"))["id"], day=TODAY
    )

    line = "Accounts: paid 150.00, received 900.00, net 750.00 since January"
    assert [one for one in since if one not in before] == [line]
    assert await lines_of(app) == before


async def test_a_broken_rule_says_since_when_until_the_account_is_archived(
    app: Starlette, client: Client, clock: Clock
) -> None:
    account = await factories.create_account(client, "Funded", starting_balance=50000)
    floor = {"kind": "static", "distance": 500}
    await factories.put_rules(client, account["id"], floor=floor, daily_loss=500, profit_target=100)
    await close_trades(client, account, "2026-03-09", -501)
    await close_trades(client, account, "2026-03-10", 700)
    await factories.create_checkpoint(client, account["id"], day="2026-03-09", balance=1)

    lines = await lines_of(app)
    colored = await lines_of(app, is_colored=True)
    unwrap(await client.patch(f"/accounts/{account['id']}", json={"archived": True}))

    assert "  daily loss      broken   since 2026-03-09" in lines
    assert "  profit target   open     ended with the account" in lines
    assert any("\x1b[31mbroken" in line for line in colored)
    assert not any("Funded" in line for line in await lines_of(app))

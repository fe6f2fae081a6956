"""docs/accounts.md: the examples of its rules are entered over HTTP, and its tables name what there is."""

import json
import re
from typing import Any, get_args

import pytest
import time_machine
from factories import A_TRADE, Client, create_account, create_cash, put_rules, unwrap
from pages import DOCS, cells_of, code_in, rows_under

from journal_api.structs.account_rules import AccountRulesPut, FloorKind
from journal_api.structs.cash import CashKind
from journal_api.structs.cash_flow import CashFlowGroup, CashFlowKey
from journal_api.structs.checkpoints import CheckpointCreate, CheckpointPatch
from journal_api.structs.standings import (
    BestDayStanding,
    FloorStanding,
    RuleStanding,
    RuleState,
    Standing,
    StandingReason,
    TargetStanding,
)

PAGE = DOCS / "accounts.md"
# Further rows of its table of examples.
CORNERS = """
| `daily_loss` 500 | 2: -300 -250 400 | 3 | `daily_loss` broken, `since` 2, `value` 0, `limit` -500, `room` 500 |
| `static` 2000 | 2: 800; 3: -1500 | 3 | `floor` within, `value` 49300, `limit` 48000, `room` 1300, `peak` 50000 |
| `end_of_day` 2000 to 50100 | 2: 2500; 3: payout 2000 | 4 | `floor` near, `value` 50500, `limit` 50100, `room` 400 |
| `end_of_day` 2000 | 2: 800; 3: 600; 4: -500 | 4 | `floor` within, `value` 50900, `limit` 49400, `room` 1500, `peak` 51400, `peak_day` 3 |
| `end_of_day` 2000 | 2: deposit 1000, 200 | 3 | `floor` within, `value` 51200, `limit` 49200, `room` 2000 |
| `qualifying_day` 150 × 3 | 2: 200; 3: 150, payout 100; 4: 149; 5: 300 | 5 | `qualifying_day` open, `value` 1, `limit` 3, `missing` 2 |
| `end_of_day` 2000 | 2: 800; 3: 600 | 3 | `floor` within, `value` 51400, `limit` 48800, `room` 2600, `peak_day` 2 |
| `end_of_day` 2000 | 2: 400; 3: -1600 | 3 | `floor` near, `value` 48800, `limit` 48400, `room` 400 |
| `trade` 2000 | 2: 800 600 -500 | 2 | `floor` within, `value` 50900, `limit` 49400, `room` 1500, `peak` 51400, `peak_trade_id` 2 |
| `end_of_day` 1000 | 2: 1500 -1200 900 | 2 | `floor` within, `limit` 49000, `room` 2200, `locked` false |
| `static` 2000 | 2: -2000; 3: 500 | 3 | `floor` broken, `since` 2, `value` 48500, `limit` 48000, `room` 0 |
| `end_of_day` 2000 | 2: -2100; 3: reset 50000, 300; 4: -100 | 4 | `floor` within, `value` 50200, `limit` 48300, `room` 1900, `peak_day` 3 |
| `end_of_day` 2000 | 2: deposit 1000, 200 | 2 | `floor` within, `value` 51200, `limit` 48000, `room` 3200 |
| `daily_loss` 500 | 2: -300 -200, fee 80 | 2 | `daily_loss` near, `value` -500, `room` 0 |
| `profit_target` 3000 | 2: 1000; 3: 1000, payout 500; 4: 1200 | 4 | `profit_target` met, `since` 4, `value` 3200, `missing` 0 |
| `best_day_share` 50 | 2: 900; 3: 100, payout 500; 4: 600; 5: 200; 6: 400 | 6 | `best_day_share` met, `since` 6, `value` 50, `remaining` 0 |
| `best_day_share` 30 | 2: 300; 3: -400 | 3 | `best_day_share` open, `reason` no_profit, `value` null, `remaining` 1100 |
| `minimum_days` 3 | 2: 100 50; 3: -20; 4: deposit 100; 5: 10 | 5 | `minimum_days` met, `since` 5, `value` 3 |
"""  # noqa: E501
# Accounts with the trades of -300 at 15:00 and of -250 at 22:30 UTC on 2 March.
CALENDARS = [
    (
        ("Europe/Prague", "00:00"),
        "`daily_loss` broken, `since` 2, `value` -550, `room` 0",
        "`daily_loss` broken, `since` 2, `value` 0, `room` 500",
    ),
    (
        ("America/New_York", "17:00"),
        "`daily_loss` within, `value` -300, `room` 200",
        "`daily_loss` within, `value` -250, `room` 250",
    ),
]
EXAMPLES = [
    *rows_under(PAGE, "given"),
    *(
        dict(zip(("given", "days", "at", "standing"), cells_of(line), strict=True))
        for line in CORNERS.split("\n")[1:-1]
    ),
]


def day_of(number: str) -> str:
    return f"2026-03-{int(number):02}"


def rules_in(text: str) -> dict[str, Any]:
    """A body of PUT, from what the page says: `end_of_day` 2000 to 50100."""
    (name,) = code_in(text)
    numbers = [int(number) for number in re.findall(r" (\d+)", text)]
    if name in get_args(FloorKind):
        return {"floor": {"kind": name, **dict(zip(("distance", "locks_at"), numbers, strict=False))}}
    if name == "qualifying_day":
        return {name: dict(zip(("amount", "days"), numbers, strict=True))}
    return {name: numbers[0]}


async def enter(client: Client, account_id: int, days: str) -> None:
    """Enter the days of an example: 2: 800 -300, payout 500; 3: 100. A trade costs 1.50."""
    for day, _, entries in (part.partition(": ") for part in days.split("; ")):
        for entry in entries.split(", "):
            kind, _, amount = entry.partition(" ")
            if kind in get_args(CashKind):
                await create_cash(client, account_id, kind=kind, amount=int(amount), day=day_of(day))
                continue
            for minute, result in enumerate(entry.split()):
                times = {"opened_at": f"{day_of(day)}T10:00:00Z", "closed_at": f"{day_of(day)}T12:{minute:02}:00Z"}
                costs = {"gross_pnl": int(result) + 1.5, "fees": 1.5}
                body = {**A_TRADE, **times, **costs, "account_id": account_id}
                unwrap(await client.post("/trades", json=body))


def told(text: str) -> tuple[str, dict[str, str]]:
    """The rule and its members in a cell: `floor` near, `room` 400."""
    first, *others = text.split(", ")
    members = {code_in(part)[0]: part.rpartition(" ")[2] for part in (first, *others)}
    (rule,) = code_in(first)
    return rule, {"state": members.pop(rule), **members}


def as_told(name: str, value: Any) -> str:
    """A value of a response as the page writes it: the days are those of the month."""
    if isinstance(value, str) and name in ("since", "peak_day", "best_day", "counts_from"):
        return str(int(value.removeprefix("2026-03-")))
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("row", EXAMPLES, ids=[f"{row['given']}: {row['days']}" for row in EXAMPLES])
async def test_an_account_stands_as_the_page_says(client: Client, row: dict[str, str]) -> None:
    account = await create_account(client, starting_balance=50_000)
    await put_rules(client, account["id"], **rules_in(row["given"]))
    await enter(client, account["id"], row["days"])

    path = f"/accounts/{account['id']}/standing"
    standing = unwrap(await client.get(path, params={"at": day_of(row["at"])}))

    rule, members = told(row["standing"])
    assert {name: as_told(name, standing[rule][name]) for name in members} == members
    assert [name for name in AccountRulesPut.__struct_fields__ if standing[name]] == [rule]


async def test_the_same_trades_are_on_other_days_of_accounts_with_other_calendars(client: Client) -> None:
    for (timezone, rollover), *standings in CALENDARS:
        account = await create_account(client, timezone, timezone=timezone, day_rollover=rollover)
        await put_rules(client, account["id"], daily_loss=500)
        for time, result in (("15:00", -300), ("22:30", -250)):
            trade = {**A_TRADE, "closed_at": f"2026-03-02T{time}:00Z", "gross_pnl": result}
            unwrap(await client.post("/trades", json={**trade, "account_id": account["id"]}))
        for day, expected in zip("23", standings, strict=True):
            path = f"/accounts/{account['id']}/standing?at={day_of(day)}"
            rule, members = told(expected)
            standing = unwrap(await client.get(path))[rule]
            assert {name: as_told(name, standing[name]) for name in members} == members, (timezone, day)
        with time_machine.travel("2026-03-02T22:45:00Z", tick=False):  # 23:45 in Prague, 17:45 in New York
            today = unwrap(await client.get(f"/accounts/{account['id']}/standing"))
        assert today["at"] == ("2026-03-02" if timezone == "Europe/Prague" else "2026-03-03")


def test_every_rule_kind_state_reason_and_member_is_explained() -> None:
    rules = rows_under(PAGE, "rule")
    kinds = [code_in(row["`kind`"])[0] for row in rows_under(PAGE, "`kind`") if "the peak" in row]
    explained = {row["of a rule"]: row["what it holds"] for row in rows_under(PAGE, "of a rule")}
    members = {*RuleStanding.__struct_fields__, *TargetStanding.__struct_fields__}

    assert [code_in(row["rule"])[0] for row in rules] == list(AccountRulesPut.__struct_fields__)
    assert kinds == list(get_args(FloorKind))
    assert {state for row in rules for state in code_in(row["state"])} == set(get_args(RuleState))
    assert {name for text in explained for name in code_in(text)} == members
    assert code_in(explained["`reason`"]) == list(get_args(StandingReason))


def test_every_member_and_key_of_a_cash_flow_is_explained() -> None:
    rows = rows_under(PAGE, "of a group and of the `total`")
    text = PAGE.read_text()

    told = [name for row in rows for name in code_in(row["of a group and of the `total`"])]
    assert told == [name for name in CashFlowGroup.__struct_fields__ if name not in ("key", "name")]
    assert [key for key in get_args(CashFlowKey) if f"`{key}`" not in text] == []


def test_every_member_of_a_standing_and_a_checkpoint_is_named() -> None:
    structs = (Standing, FloorStanding, BestDayStanding, CheckpointPatch, CheckpointCreate)
    derived = {"difference", "unexplained", "since", "days"}
    named = {name for struct in structs for name in struct.__struct_fields__} | derived

    page = PAGE.read_text()
    assert {name for name in named if not re.search(rf"[`\"]{name}[`\"]", page)} == {"account_id"}

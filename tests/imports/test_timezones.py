"""The time zone of times without an offset in a file: docs/imports.md#time-zones."""

from pathlib import Path
from typing import Any, NamedTuple

import factories
from commands import import_file, notes_in
from factories import Client, details_of, error_of, unwrap
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

NEW_YORK, CHICAGO, BERLIN, UTC = "America/New_York", "America/Chicago", "Europe/Berlin", "UTC"
DUPLICATES = {"new": 0, "duplicate": 1, "updated": 0, "error": 0}


def fills(*accounts: str, day: str = "2026-03-10") -> str:
    """A file of another program: a purchase at 9:31 and a sale at 9:40 in each account, without a zone."""
    lines = ["Date,Time,Symbol,Side,Quantity,Price,Account"]
    for account in accounts or ("Sim",):
        lines += [f"{day},09:31:00,ES,Buy,1,100,{account}", f"{day},09:40:00,ES,Sell,1,101,{account}"]
    return "\n".join(lines) + "\n"


def trades(*times: str, account: str = "Sim") -> str:
    """A file in the service's own format: a trade of 10 minutes from each time on."""
    rows = [f"ES,long,1,100,101,{time},{time.replace(':31', ':41')},{account}" for time in times]
    return "\n".join(["symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at,account", *rows])


LOCAL, WITH_OFFSET = "2026-03-10T09:31:00", "2026-03-10T09:31:00-04:00"


class Zone(NamedTuple):
    """What a report says about the time zone."""

    name: str
    source: str | None
    replaced: list[str]


def zone_of(report: Any) -> Zone:
    return Zone(report["timezone"], report["timezone_source"], report["replaced_timezones"])


async def import_of(client: Client, file: str, account_id: int | None, **query: Any) -> Any:
    """The report of an import that states a time zone only as given."""
    return unwrap(await factories.send_file(client, file, account_id, **{"timezone": None, **query}))


async def opened(client: Client) -> list[str]:
    return sorted(trade["opened_at"] for trade in unwrap(await client.get("/trades")))


async def test_a_file_of_another_program_is_refused_until_its_zone_is_stated(client: Client, account_id: int) -> None:
    for query in ({}, {"dry_run": "true"}):
        answer = await factories.send_file(client, fills(), account_id, timezone=None, **query)

        assert error_of(answer) == (400, "validation_error")
        assert details_of(answer) == {"fields": {"timezone": "is required: the times in this file have no offset"}}
        assert answer.json()["error"]["message"] == (
            "The times in this file have no offset, and no earlier file in the format 'executions' stated "
            "their time zone. State it once: timezone over HTTP, or --timezone."
        )
    assert await opened(client) == []


async def test_a_file_comes_again_in_its_zone_and_another_stated_one_moves_its_trades(
    client: Client, account_id: int
) -> None:
    updated = {"new": 0, "duplicate": 0, "updated": 1, "error": 0}
    for stated, zone, counts, hour in [
        (NEW_YORK, Zone(NEW_YORK, "stated", []), {**updated, "new": 1, "updated": 0}, 13),
        (None, Zone(NEW_YORK, "remembered", []), DUPLICATES, 13),
        (CHICAGO, Zone(CHICAGO, "stated", [NEW_YORK]), updated, 14),
        (None, Zone(CHICAGO, "remembered", []), DUPLICATES, 14),
    ]:
        report = await import_of(client, fills(), account_id, timezone=stated)

        assert (zone_of(report), report["counts"]) == (zone, counts)
        assert await opened(client) == [f"2026-03-10T{hour}:31:00.000000Z"]


async def test_a_zone_is_remembered_for_one_account_and_one_format(
    client: Client, other_user_client: Client, account_id: int
) -> None:
    await import_of(client, fills(), account_id, timezone=NEW_YORK)
    other_id = (await factories.create_account(client, "Other"))["id"]
    theirs = (await factories.create_account(other_user_client))["id"]
    template = fills().replace("Side", "Buy/Sell")

    answers = [
        await factories.send_file(client, fills(), other_id, timezone=None),
        await factories.send_file(client, template, account_id, timezone=None),
        await factories.send_file(other_user_client, fills(), theirs, timezone=None),
    ]

    assert [answer.status_code for answer in answers] == [400, 400, 400]


async def test_a_file_with_offsets_needs_no_zone_and_none_is_remembered(client: Client, account_id: int) -> None:
    report = await import_of(client, trades(WITH_OFFSET), account_id, timezone=CHICAGO)
    await import_of(client, trades(LOCAL), account_id)

    assert zone_of(report) == Zone(CHICAGO, None, [])
    assert await opened(client) == ["2026-03-10T09:31:00.000000Z", "2026-03-10T13:31:00.000000Z"]


@for_rows("first, second", [(LOCAL, WITH_OFFSET), (WITH_OFFSET, LOCAL)])
async def test_the_same_trades_with_offsets_and_without_are_there_once(
    client: Client, account_id: int, first: str, second: str
) -> None:
    await import_of(client, trades(first, first), account_id, timezone=NEW_YORK)  # two that are alike
    later = trades(second, second, second, second.replace("09:31", "10:31"))
    report = await import_of(client, later, account_id, timezone=NEW_YORK)

    assert [row["verdict"] for row in report["rows"]] == ["duplicate", "duplicate", "new", "new"]


async def test_trades_an_hour_apart_stay_two_when_a_wrong_zone_is_corrected(client: Client, account_id: int) -> None:
    later = LOCAL.replace("09:31", "10:31")
    for first, zone in ((LOCAL, CHICAGO), (later, NEW_YORK), (LOCAL, NEW_YORK)):
        await import_of(client, trades(first), account_id, timezone=zone)

    assert await opened(client) == ["2026-03-10T13:31:00.000000Z", "2026-03-10T14:31:00.000000Z"]


async def test_a_file_of_several_accounts_is_read_in_the_zone_that_all_of_them_have(client: Client) -> None:
    ids = {name: (await factories.create_account(client, name))["id"] for name in ("Eval", "Live")}
    await import_of(client, fills("Eval", "Live"), None, timezone=NEW_YORK)
    await import_of(client, fills(), ids["Live"], timezone=NEW_YORK)

    both = await import_of(client, fills("Eval", "Live"), None)
    one = await import_of(client, fills("Eval"), ids["Eval"])

    assert zone_of(both) == zone_of(one) == Zone(NEW_YORK, "remembered", [])
    assert both["counts"] == {**DUPLICATES, "duplicate": 2}


async def test_the_zone_of_an_account_is_remembered_for_the_names_that_are_mapped_to_it(client: Client) -> None:
    account = await factories.create_account(client, "Main")
    both = {"accounts": ["A:Main", "B:Main"], "account_id": None}
    await factories.create_import(client, fills("A", "B"), timezone=NEW_YORK, **both)

    mapped = await factories.create_import(client, fills("A", "B"), timezone=None, **both)
    into_one = await factories.create_import(client, fills("C"), timezone=None, account_id=account["id"])

    assert (zone_of(mapped)[:2], zone_of(into_one)[:2]) == ((NEW_YORK, "remembered"),) * 2


@for_rows(
    "zone, field, message, replaced",
    [
        (
            *(CHICAGO, "the accounts in this file have different time zones"),
            *(f"'Live' has {CHICAGO}, an account before it {NEW_YORK}.", [CHICAGO, NEW_YORK]),
        ),
        (
            *(None, "the times in this file have no offset"),
            *("no earlier file of 'Live' in the format 'executions'", [NEW_YORK]),
        ),
    ],
)
async def test_a_file_of_accounts_with_different_zones_is_refused_until_its_zone_is_stated(
    client: Client, zone: str | None, field: str, message: str, replaced: list[str]
) -> None:
    for name, known in (("Eval", NEW_YORK), ("Live", zone)):
        account = await factories.create_account(client, name)
        if known:
            await import_of(client, fills(), account["id"], timezone=known)
    before = await opened(client)

    refused = await factories.send_file(client, fills("Eval", "Live"), None, timezone=None)
    unchanged = await opened(client)
    stated = await import_of(client, fills("Eval", "Live"), None, timezone=BERLIN)

    assert details_of(refused)["fields"] == {"timezone": f"is required: {field}"}
    assert message in refused.json()["error"]["message"]
    assert unchanged == before
    assert zone_of(stated) == Zone(BERLIN, "stated", replaced)


async def test_an_account_whose_times_have_offsets_keeps_its_zone(client: Client) -> None:
    ids = {name: (await factories.create_account(client, name))["id"] for name in ("Eval", "Live")}
    await import_of(client, trades(LOCAL), ids["Eval"], timezone=CHICAGO)
    mixed = trades(WITH_OFFSET, account="Eval") + f"\nES,long,1,100,101,{LOCAL},,Live"

    await import_of(client, mixed.replace(f"{LOCAL},,", f"{LOCAL},{LOCAL},"), None, timezone=NEW_YORK)

    zones = [zone_of(await import_of(client, trades(LOCAL), ids[name], dry_run="true")) for name in ("Eval", "Live")]
    assert zones == [Zone(CHICAGO, "remembered", []), Zone(NEW_YORK, "remembered", [])]


ZONES = st.sampled_from([NEW_YORK, CHICAGO, BERLIN])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["import", "dry run", "refused"]), st.none() | ZONES),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("owner"), ZONES),
)


# By whether the file is in the service's own format.
WRONG_ROWS = {True: "\nES,up,1,100,101,2026-03-10T10:31:00,,Sim", False: "2026-03-10,x,ES,Buy,1,100,Sim\n"}


@max_examples(full=300, ci=25)
@given(steps=st.lists(STEPS, max_size=8), is_own=st.booleans())
async def test_the_zone_is_that_of_the_newest_kept_import_whatever_came_before(
    client: Client, steps: list[tuple[str, str | None]], is_own: bool
) -> None:
    unwrap(await client.patch("/me", json={"timezone": UTC}))
    names = {account["name"] for account in unwrap(await client.get("/accounts"))}
    account_id = (await factories.create_account(client, f"Sim {len(names)}"))["id"]
    file = trades(LOCAL) if is_own else fills()
    owner, kept = UTC, list[tuple[int, str]]()
    for step, zone in steps:
        if step == "owner":
            owner = unwrap(await client.patch("/me", json={"timezone": zone}))["timezone"]
        elif step == "undo":
            if kept:
                await client.delete(f"/imports/{kept.pop()[0]}")
        else:
            remembered = kept[-1][1] if kept else None
            expected = zone or remembered or (owner if is_own else None)
            dry_run = {"dry_run": "true"} if step == "dry run" else {}
            if step == "refused":
                wrong = await factories.send_file(client, file + WRONG_ROWS[is_own], account_id, timezone=zone)
                assert wrong.status_code == 400
                continue
            answer = await factories.send_file(client, file, account_id, timezone=zone, **dry_run)
            if expected is None:
                assert error_of(answer) == (400, "validation_error")
                continue
            report = unwrap(answer)
            replaced = [remembered] if zone and remembered not in (None, zone) else []
            source = "stated" if zone else "remembered" if remembered else "owner"
            assert zone_of(report) == Zone(expected, source, replaced)
            if remembered == expected:
                assert report["counts"] == DUPLICATES
            if not dry_run:
                kept.append((report["id"], expected))


# Three losses of one futures day, which begins on March 9 at 17:00 in New York: in UTC on two days.
A_FUTURES_DAY = """\
Date,Time,Symbol,Side,Quantity,Price,Multiplier
2026-03-09,18:00:00,MNQH6,Buy,1,20000.00,2
2026-03-09,18:30:00,MNQH6,Sell,1,19849.95,2
2026-03-09,21:00:00,MNQH6,Buy,1,20000.00,2
2026-03-09,21:30:00,MNQH6,Sell,1,19850.00,2
2026-03-10,09:31:00,MNQH6,Buy,1,20000.00,2
2026-03-10,10:00:00,MNQH6,Sell,1,19850.03,2
"""
DAYS = [
    ("17:00", NEW_YORK, [("2026-03-10", -900.04, False)]),
    ("00:00", UTC, [("2026-03-10", -599.94, True), ("2026-03-09", -300.1, True)]),
]


@for_rows("rollover, zone, days", DAYS)
async def test_a_daily_loss_limit_counts_by_the_trading_days_of_the_owner(
    client: Client, account_id: int, rollover: str, zone: str, days: list[Any]
) -> None:
    unwrap(await client.patch("/me", json={"timezone": zone, "day_rollover": rollover}))
    limit = {"metric": "net_pnl", "target_value": -700, "direction": "at_least", "timeframe": "daily"}
    goal = await factories.create_goal(client, **limit)

    await factories.create_import(client, A_FUTURES_DAY, account_id=account_id, timezone=NEW_YORK)

    snapshots = await factories.snapshots_of(client, goal["id"], to="2026-03-31")
    assert [(one["period_start"], one["actual"], one["achieved"]) for one in snapshots] == days


def test_the_command_says_the_zone_of_times_that_need_one_and_where_it_comes_from(db: Path, tmp_path: Path) -> None:
    file, said = tmp_path / "fills.csv", list[tuple[str, str]]()
    for content, timezone in [
        *((fills(), NEW_YORK), (fills(), None), (fills(), CHICAGO)),
        *((trades(LOCAL), None), (trades(WITH_OFFSET), None)),
    ]:
        file.write_text(content)
        ran = import_file(db, file, timezone=timezone)
        said.append((ran.out.partition("\n")[0], notes_in(ran).partition("Times without an offset are in ")[2]))

    assert said == [
        ("1 new, 0 already there", f"{NEW_YORK}, as stated.\n"),
        ("0 new, 1 already there", f"{NEW_YORK}, as in the last import of this format.\n"),
        ("0 new, 1 updated, 0 already there", f"{CHICAGO}, as stated; earlier imports were in {NEW_YORK}.\n"),
        ("1 new, 0 already there", "UTC, the time zone of the user.\n"),
        ("1 new, 0 already there", ""),
    ]

"""Files of trades sent over HTTP: docs/imports.md."""

import asyncio
import csv
import gzip
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import factories
import pytest
from commands import PATIENCE, dump
from conftest import client_of, new_key_for
from factories import Client, details_of, error_of, unwrap
from proofs import examples
from saved_journals import for_rows
from sql_calls import stopped_at
from starlette.applications import Starlette

from journal_api.settings import Settings

INVALID = (400, "validation_error")
MIB = 2**20


async def list_imports(client: Client) -> Any:
    return unwrap(await client.get("/imports"))


# The report ----------------------------------------------------------------------------------------------


# As long as a name may be, of any characters.
NAME = ("\N{FIRE} a & b=c+d%\N{LATIN SMALL LETTER E WITH ACUTE}.csv" * 20)[:255]


async def test_the_response_has_the_location_and_a_verdict_for_every_row(client: Client, account_id: int) -> None:
    file = factories.build_file({"symbol": "NQ"}, {"symbol": "ES"})

    created = await factories.send_file(client, file, account_id, file_name=NAME, timezone="Asia/Tokyo")

    assert created.status_code == 201
    report = unwrap(created)
    assert created.headers["location"] == f"/v1/imports/{report['id']}"
    assert report == {
        "id": report["id"],
        "dry_run": False,
        "account_id": account_id,
        "format": "round trips",
        "file_name": NAME,
        "sha256": hashlib.sha256(file.encode()).hexdigest(),
        "timezone": "Asia/Tokyo",
        "timezone_source": None,
        "replaced_timezones": [],
        "encoding": "utf-8",
        "date_order": None,
        "one_trade_is": "position",
        "has_pairs": False,
        "rounded": 0,
        "accounts": [],
        "counts": {"new": 2, "duplicate": 0, "updated": 0, "error": 0},
        "fees_applied": [],
        "costs": "none",
        "accounts_without_costs": [account_id],
        "preview": None,
        "left_out": [],
        "warnings": [],
        "failed_check": False,
        "open_at_end": 0,
        "linked": 0,
        "ambiguous": [],
        "columns": None,
        "sample_rows": None,
        "proposed_profile": None,
        "proposal_warnings": None,
        "rows": [
            {"line": line, "verdict": "new", "trade_id": trade["id"], "changed": [], "reason": None}
            for line, trade in enumerate(await factories.list_trades(client), start=2)
        ],
    }


async def test_imports_are_listed_newest_first_with_the_trades_that_are_still_there(
    client: Client, account_id: int
) -> None:
    first = factories.build_file({"external_id": "1"}, {"external_id": "2"})
    second = factories.build_file({"external_id": "2", "fees": "1"}, {"external_id": "3"}, {"external_id": "1"})
    earlier = await factories.create_import(client, first, account_id=account_id, file_name="first.csv")
    later = await factories.create_import(client, second, account_id=account_id)
    await client.delete(f"/trades/{factories.read_ids(earlier)[0]}")

    listed = await list_imports(client)

    def expect(report: Any, found: Any, **members: Any) -> dict[str, Any]:
        return {
            "id": report["id"],
            "account_id": account_id,
            "account_ids": [account_id],
            "format": "round trips",
            "timezone": "UTC",
            "one_trade_is": "position",
            "merged_count": 0,
            "created_at": found["created_at"],
            "updated_at": found["created_at"],
            "counts": report["counts"],
            "sha256": report["sha256"],
            "first_day": "2026-01-05",
            "last_day": "2026-01-05",
            "net_pnl": 1,
            "source": "user",
            **members,
        }

    assert later["counts"] == {"new": 1, "duplicate": 1, "updated": 1, "error": 0}
    assert listed == [
        expect(later, listed[0], file_name=None, trade_count=1),
        # A later file corrected the fees of the remaining trade.
        expect(earlier, listed[1], file_name="first.csv", trade_count=1, net_pnl=0),
    ]
    assert [unwrap(await client.get(f"/imports/{one['id']}")) for one in listed] == listed
    found = await factories.list_trades(client, import_id=later["id"])
    assert [trade["external_id"] for trade in found] == ["2", "3"]


# Dry runs and refusals -----------------------------------------------------------------------------------


async def create_known_trades(client: Client, account_id: int) -> str:
    """Import trades, and return a file with a row of every verdict but error."""
    known = factories.build_file({"external_id": "1"}, {"external_id": "2"})
    await factories.create_import(client, known, account_id=account_id)
    return factories.build_file({"external_id": "1"}, {"external_id": "2", "fees": "3"}, {"external_id": "3"}, {})


async def test_a_dry_run_needs_no_lock_writes_nothing_and_reports_what_the_import_then_does(
    client: Client, settings: Settings, account_id: int
) -> None:
    file = await create_known_trades(client, account_id)
    await factories.snapshots_of(client, (await factories.create_goal(client))["id"])
    before = dump(settings.db)
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        dry_run = await factories.send_file(client, file, account_id, dry_run="true")
        broken = await factories.send_file(client, file + "ES,up", account_id, dry_run="true")

    assert [dry_run.status_code, broken.status_code] == [200, 200]
    assert "location" not in dry_run.headers
    assert dump(settings.db) == before
    report, done = unwrap(dry_run), await factories.create_import(client, file, account_id=account_id)
    assert (report["id"], report["dry_run"], done["dry_run"]) == (None, True, False)
    assert factories.read_verdicts(report) == ["duplicate", "updated", "new", "new"]
    for row in done["rows"][2:]:
        row["trade_id"] = None
    assert {**report, "id": done["id"], "dry_run": False, "preview": None} == done


async def test_a_dry_run_names_the_rows_that_the_import_is_refused_for(client: Client, account_id: int) -> None:
    file = factories.build_file({"row": "1", "copy_of": "9"}, {"row": "2"}, {"quantity": "0"}, {"tags": "Nobody's"}, {})

    report = unwrap(await factories.send_file(client, file, account_id, dry_run="true"))
    refused = await factories.send_file(client, file, account_id)

    wrong = [row for row in report["rows"] if row["verdict"] == "error"]
    assert [row["line"] for row in wrong] == [2, 4, 5]
    assert report["counts"] == {"new": 2, "duplicate": 0, "updated": 0, "error": 3}
    assert details_of(refused) == {"line": 2, "reason": wrong[0]["reason"], "counts": report["counts"], "rows": wrong}


async def test_one_bad_row_leaves_the_journal_as_it_was(client: Client, settings: Settings, account_id: int) -> None:
    place = 700
    await factories.create_import(client, factories.build_file({"external_id": "1"}), account_id=account_id)
    await factories.create_tag(client)
    rows = [{"external_id": str(number), "fees": "1", "tags": "FOMO"} for number in range(701)]
    rows[place] = {"external_id": "bad", "fees": "free"}
    before = dump(settings.db)

    refused = await factories.send_file(client, factories.build_file(*rows), account_id)

    assert error_of(refused) == INVALID
    details = details_of(refused)
    assert details["reason"].startswith("fees must be a number")
    wrong = {"verdict": "error", "trade_id": None, "changed": [], "reason": details["reason"]}
    assert details["rows"] == [{"line": place + 2, **wrong}]
    assert details["line"] == place + 2
    assert refused.json()["error"]["message"] == f"line {place + 2}: {details['reason']}"
    assert dump(settings.db) == before


async def test_the_first_1000_of_very_many_bad_rows_are_named_and_all_are_counted(
    client: Client, account_id: int
) -> None:
    file = factories.build_file(*[{"quantity": "0"}] * 1200, {}, {"row": "1", "copy_of": "9"})

    report = unwrap(await factories.send_file(client, file, account_id, dry_run="true"))
    refused = await factories.send_file(client, file, account_id)

    counts = {"new": 1, "duplicate": 0, "updated": 0, "error": 1201}
    assert report["counts"] == details_of(refused)["counts"] == counts
    assert [row["line"] for row in report["rows"]] == [*range(2, 1002), 1202]
    assert [row["line"] for row in details_of(refused)["rows"]] == list(range(2, 1002))
    assert "(and 1200 more)" in refused.json()["error"]["message"]


HIGH = {"strategy": "Breakout", "setup": "High"}
BAD_ROWS: dict[str, tuple[dict[str, str], str]] = {
    "an external id twice": ({"external_id": "first"}, "external_id 'first' is repeated"),
    "a name of a row twice": ({"row": "first"}, "row 'first' is repeated"),
    "a copy of no row": ({"copy_of": "9"}, "copy_of "),
    "a copy of itself": ({"row": "2", "copy_of": "2"}, "copy_of "),
    "a copy of its copy": ({"row": "x", "copy_of": "y"}, "copy_of "),
    "the other copy of its copy": ({"row": "y", "copy_of": "x"}, "copy_of "),
    "a copy of a line": ({"copy_of": "row 1"}, "copy_of "),
    "a tag of another user": ({"tags": "Theirs"}, "tags "),
    "a strategy of another user": ({"strategy": "Theirs"}, "strategy names 'Theirs'"),
    "an unknown strategy": ({"strategy": "Closing range"}, "strategy names 'Closing range'"),
    "a strategy in another case": ({"strategy": "breakout"}, "strategy names 'breakout'"),
    "a setup of another strategy": ({"strategy": "Fade", "setup": "High"}, "setup names 'High'"),
    "a setup without its strategy": ({"setup": "High"}, "setup needs its strategy"),
    "an unknown confirmation": ({**HIGH, "confirmations": '[["Luck", true, null]]'}, "confirmations "),
    "answers without a setup": (
        {"strategy": "Breakout", "confirmations": '[["Volume", true, null]]'},
        "confirmations ",
    ),
    "an answer of 1": ({**HIGH, "confirmations": '[["Volume", 1, null]]'}, "confirmations "),
    "an answer without notes": ({**HIGH, "confirmations": '[["Volume", true]]'}, "confirmations "),
    "an object of answers": ({**HIGH, "confirmations": '{"Volume": true}'}, "confirmations "),
    "answers that are no JSON": ({**HIGH, "confirmations": "Volume"}, "confirmations "),
    "a NUL in the notes of an answer": (
        {**HIGH, "confirmations": '[["Volume", true, "a\\u0000b"]]'},
        "confirmations must not contain control characters",
    ),
    **{
        f"tags {cell}": ({"tags": cell}, "tags ")
        for cell in ("[FOMO]", '["FOMO"', "[1]", '["FOMO", null]', "FOMO;Luck", "a;b")
    },
}


async def test_rows_that_cannot_be_imported_are_refused_with_their_lines(
    client: Client, other_user_client: Client, account_id: int
) -> None:
    await factories.create_tag(other_user_client, "Theirs")
    await factories.create_strategy(other_user_client, "Theirs")
    await factories.create_strategy(client, **factories.A_CHECKLIST)
    await factories.create_strategy(client, "Fade")
    for name in ("FOMO", "a;b"):
        await factories.create_tag(client, name)
    good = {"external_id": "first", "row": "first", **HIGH, "tags": "FOMO"}
    file = factories.build_file(good, *({"row": "", **row} for row, _ in BAD_ROWS.values()))

    report = unwrap(await factories.send_file(client, file, account_id, dry_run="true"))
    refused = await factories.send_file(client, file, account_id)

    found = {row["line"]: row["reason"] for row in details_of(refused)["rows"]}
    expected = {line: (name, reason) for line, (name, (_, reason)) in enumerate(BAD_ROWS.items(), 3)}
    assert {name: found[line][: len(reason)] for line, (name, reason) in expected.items()} == {
        name: reason for name, (_, reason) in BAD_ROWS.items()
    }
    counts = {"new": 1, "duplicate": 0, "updated": 0, "error": len(BAD_ROWS)}
    assert details_of(refused)["counts"] == report["counts"] == counts
    assert await factories.list_trades(client) == []


# What a request may be -----------------------------------------------------------------------------------


async def in_chunks(size: int) -> AsyncIterator[bytes]:
    for begin in range(0, size, MIB):
        yield b"\xff" * min(MIB, size - begin)


@for_rows(
    "size, announced, error",
    [
        (64 * MIB, {}, INVALID),
        (64 * MIB + 1, {}, (413, "request_too_large")),
        (1, {"Content-Length": str(64 * MIB + 1)}, (413, "request_too_large")),
    ],
)
async def test_a_file_is_refused_from_a_byte_over_64_mib(
    client: Client, account_id: int, size: int, announced: dict[str, str], error: tuple[int, str]
) -> None:
    content = in_chunks(size) if not announced else b"x"

    refused = await client.post(f"/imports?account_id={account_id}", content=content, headers=announced)

    assert ("transfer-encoding" in refused.request.headers) == (not announced)
    assert error_of(refused) == error
    assert details_of(refused).get("max_bytes") == (None if error == INVALID else 64 * MIB)


@for_rows(
    "content_type, encoding, is_accepted",
    [
        *((None, None, True), ("Text/CSV; header=present; charset=UTF-8", None, True)),
        *(("text/html", None, True), ("text/xml; charset=utf-8", None, True), ("text/csv", "identity", True)),
        *(("application/json", None, False), ("multipart/form-data; boundary=x", None, False)),
        *(("", None, False), ("text/csv; charset=utf-16", None, False), ("text/csv", "gzip", False)),
    ],
)
async def test_a_body_of_an_accepted_type_is_read_by_its_content(
    client: Client, account_id: int, content_type: str | None, encoding: str | None, is_accepted: bool
) -> None:
    stated = {"Content-Type": content_type, "Content-Encoding": encoding}
    headers = {name: value for name, value in stated.items() if value is not None}
    content = gzip.compress(factories.A_FILE.encode()) if encoding == "gzip" else factories.A_FILE.encode()

    sent = await client.post(f"/imports?account_id={account_id}", content=content, headers=headers)

    assert ("content-type" in sent.request.headers) == (content_type is not None)
    if is_accepted:
        assert factories.read_verdicts(unwrap(sent)) == ["new"]
    else:
        assert error_of(sent) == (415, "unsupported_media_type")
        assert details_of(sent) == {"allowed": ["text/csv", "text/html", "application/xml", "text/xml"]}
        assert await list_imports(client) == []


@for_rows(
    "query, field",
    [
        ({}, "account_id"),
        ({"account_id": 2}, "account_id"),
        ({"account_id": 3}, "account_id"),
        ({"account_id": 1, "timezone": ""}, "timezone"),
        ({"account_id": 1, "timezone": "EST5"}, "timezone"),
        ({"account_id": 1, "timezone": "america/new_york"}, "timezone"),
        ({"account_id": 1, "file_name": ""}, "file_name"),
        ({"account_id": 1, "file_name": "x" * 256}, "file_name"),
        ({"account_id": 1, "date_order": "sometimes"}, "date_order"),
    ],
)
async def test_a_query_that_is_not_valid_is_refused_with_its_parameter(
    client: Client, other_user_client: Client, query: dict[str, Any], field: str
) -> None:
    await factories.create_account(client)
    await factories.create_account(other_user_client, "Theirs")

    refused = await factories.send_file(client, factories.A_FILE, **query)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == [field]
    assert await list_imports(client) == []


# Verdicts and corrections --------------------------------------------------------------------------------


class Step(NamedTuple):
    """Send rows, enter a trade by hand, edit the first trade, delete one by its number, or expect members of
    the first. `new 2` is a verdict for the second trade of the journal, with what changed.
    """

    how: str
    what: Any
    verdicts: str = ""


Send, Enter, Edit, Delete, Expect = (partial(Step, how) for how in ("send", "enter", "edit", "delete", "expect"))


def with_id(name: str, **cells: str) -> dict[str, str]:
    return {"external_id": name, **cells}


A, B = with_id("a"), with_id("b")
CLOSED_AT = "2026-01-05T15:00:00.000000Z"
SEQUENCES: dict[str, list[Step]] = {
    "a file without rows": [Send([], "")],
    "a file again": [
        Send([{}, {}, {"symbol": "NQ"}, A, factories.OPEN_ROW], "new 1, new 2, new 3, new 4, new 5"),
        Send(
            [{}, {}, {"symbol": "NQ"}, A, factories.OPEN_ROW],
            "duplicate 1, duplicate 2, duplicate 3, duplicate 4, duplicate 5",
        ),
    ],
    "identical trades are as many as the rows": [
        Send([{}], "new 1"),
        Send([{}] * 3, "duplicate 1, new 2, new 3"),
        Send([{}] * 2, "duplicate 1, duplicate 2"),
        Send([{}] * 3, "duplicate 1, duplicate 2, duplicate 3"),
    ],
    "a deleted trade comes back": [
        Send([{}] * 3, "new 1, new 2, new 3"),
        Delete(2),
        Send([{}] * 3, "duplicate 1, new 4, duplicate 3"),
    ],
    "an id that the trader has changed": [Send([A], "new 1"), Edit({"external_id": "other"}), Send([A], "duplicate 1")],
    "a file from before a trade was closed": [
        Send([with_id("a", fees="1", **factories.OPEN_ROW)], "new 1"),
        Send([with_id("a", fees="1")], "updated 1 exit_price closed_at gross_pnl"),
        Send([with_id("a", fees="1", **factories.OPEN_ROW)], "duplicate 1"),
        Expect({"closed_at": CLOSED_AT, "exit_price": 101, "gross_pnl": 1}),
    ],
    "a correction of a trade without an id": [
        Send([{"gross_pnl": "1", "fees": "1"}] * 2, "new 1, new 2"),
        Send(
            [{"gross_pnl": "2", "fees": "3"}, {"gross_pnl": "1", "fees": "1"}], "updated 1 gross_pnl fees, duplicate 2"
        ),
        Send([{"gross_pnl": "2", "fees": "3"}], "duplicate 1"),
        Expect({"net_pnl": -1}),
    ],
    "a trade is corrected once a file by its first row": [
        Send([with_id("a", fees="1")], "new 1"),
        Edit({"external_id": "b"}),
        Send([with_id("a", fees="2"), with_id("b", fees="3")], "updated 1 fees, new 2"),
        Expect({"fees": 2}),
    ],
    "an edit after a file that agreed with an edit": [
        Send([{"fees": "1"}], "new 1"),
        Edit({"fees": 2}),
        Send([{"fees": "2"}], "duplicate 1"),
        Edit({"fees": 3}),
        Send([{"fees": "2"}], "duplicate 1"),
        Expect({"fees": 3}),
    ],
    "a correction that the trader has made already": [
        Send([with_id("a", gross_pnl="1", fees="1")], "new 1"),
        Edit({"fees": 2}),
        Send([with_id("a", gross_pnl="5", fees="2")], "updated 1 gross_pnl"),
        Expect({"net_pnl": 3}),
    ],
    "a correction leaves other fields that the trader edited": [
        Send([with_id("a", fees="1")], "new 1"),
        Edit({"symbol": "MES"}),
        Send([with_id("a", fees="2")], "updated 1 fees"),
        Expect({"symbol": "MES", "fees": 2}),
    ],
    "a trade that the trader reopened stays open": [
        Send([A], "new 1"),
        Edit({"closed_at": None}),
        Send([with_id("a", gross_pnl="5")], "duplicate 1"),
        Expect({"closed_at": None, "exit_price": None, "gross_pnl": None}),
    ],
    **{
        f"an edit of {edit} outlasts the file with the id {name!r}": [
            *(Send([with_id(name, notes="x")], "new 1"), Edit(edit)),
            *(Send([with_id(name, notes="x")], "duplicate 1"), Expect(edit)),
        ]
        for name, edit in [
            *(("", edit) for edit in ({"fees": 7}, {"exit_price": 107}, {"direction": "short"}, {"notes": None})),
            *(("1", edit) for edit in ({"fees": 7}, {"closed_at": None})),
        ]
    },
    "a file without fees": [
        Send([with_id("a", fees="3")], "new 1"),
        Send([A], "duplicate 1"),
        Send([with_id("a", fees="")], "duplicate 1"),
        Send([with_id("a", exit_price="105")], "updated 1 exit_price gross_pnl"),
        Send([with_id("a", exit_price="106", fees="")], "updated 1 exit_price gross_pnl"),
        Expect({"fees": 3, "gross_pnl": 6}),
        Send([with_id("a", fees="0")], "updated 1 exit_price gross_pnl fees"),
        Expect({"fees": 0}),
    ],
    "a trade entered by hand, by its content": [
        Enter({"fees": 1, "grade": "A"}),
        Send([{"fees": "9", "gross_pnl": "9", "grade": "F"}], "updated 1 gross_pnl fees"),
        Send([{"fees": "9", "gross_pnl": "9", "grade": "F"}], "duplicate 1"),
        Expect({"fees": 9, "gross_pnl": 9, "grade": "A"}),
    ],
    "a trade entered by hand, by its id": [
        Enter({"fees": 1, "external_id": "a"}),
        Send([with_id("a", fees="9", gross_pnl="9")], "updated 1 gross_pnl fees"),
        Expect({"fees": 9, "gross_pnl": 9}),
    ],
    "a trade entered by hand that got its id later": [
        Enter({}),
        Edit({"external_id": "a"}),
        Send([with_id("a", quantity="5")], "updated 1 quantity gross_pnl"),
        Expect({"quantity": 5}),
    ],
    "a trade entered open and closed by hand": [
        Enter({"closed_at": None, "exit_price": None}),
        Edit({"closed_at": factories.A_TRADE["closed_at"], "exit_price": 101}),
        Send([{}], "duplicate 1"),
    ],
    "a trade entered by hand, by a row with an id that it has not": [
        Enter({"notes": "mine"}),
        Send([A, B], "duplicate 1, new 2"),
        Send([A, B], "duplicate 1, duplicate 2"),
        Expect({"external_id": "a", "notes": "mine"}),
    ],
    "an imported trade without an id is not one entered by hand": [Send([{}], "new 1"), Send([A], "new 2")],
}


@for_rows("steps", SEQUENCES.values())
async def test_files_and_edits_one_after_another(client: Client, account_id: int, steps: list[Step]) -> None:
    trade_ids: list[int] = []
    for how, what, verdicts in steps:
        if how == "enter":
            trade_ids.append((await factories.create_trade(client, account_id, **what))["id"])
        elif how == "edit":
            await factories.patch_trade(client, trade_ids[0], **what)
        elif how == "delete":
            await client.delete(f"/trades/{trade_ids[what - 1]}")
        elif how == "expect":
            trade = await factories.get_trade(client, trade_ids[0])
            assert {name: trade[name] for name in what} == what
        else:
            file = factories.build_file(*what) if what else ",".join(factories.A_ROW) + "\n"
            report = await factories.create_import(client, file, account_id=account_id)
            trade_ids += [trade_id for trade_id in factories.read_ids(report) if trade_id not in trade_ids]
            found = [
                " ".join([row["verdict"], str(trade_ids.index(row["trade_id"]) + 1), *row["changed"]])
                for row in report["rows"]
            ]
            assert ", ".join(found) == verdicts
            for verdict in ("new", "duplicate", "updated", "error"):
                assert report["counts"][verdict] == factories.read_verdicts(report).count(verdict)


CORRECTIONS: list[tuple[dict[str, str], dict[str, str], dict[str, Any]]] = [
    ({"fees": "1"}, {"fees": "2.5"}, {"fees": 2.5}),
    ({"gross_pnl": "1"}, {"gross_pnl": "-3"}, {"gross_pnl": -3}),
    ({"exit_price": "101"}, {"exit_price": "103"}, {"exit_price": 103, "gross_pnl": 3}),
    ({"entry_price": "100"}, {"entry_price": "99"}, {"entry_price": 99, "gross_pnl": 2}),
    ({"direction": "long"}, {"direction": "short"}, {"direction": "short", "gross_pnl": -1}),
    ({"quantity": "1"}, {"quantity": "4"}, {"quantity": 4, "gross_pnl": 4}),
    ({"multiplier": "1"}, {"multiplier": "50"}, {"multiplier": 50, "gross_pnl": 50}),
    ({"symbol": "ES"}, {"symbol": "ESH6"}, {"symbol": "ESH6", "multiplier": 50, "gross_pnl": 50}),
    ({}, {"opened_at": "2026-01-05T13:00:00Z"}, {"opened_at": "2026-01-05T13:00:00.000000Z"}),
    ({}, {"closed_at": "2026-01-07T15:00:00Z"}, {"closed_at": "2026-01-07T15:00:00.000000Z"}),
    (factories.OPEN_ROW, {}, {"exit_price": 101, "closed_at": CLOSED_AT, "gross_pnl": 1}),
]


@for_rows("before, after, changed", CORRECTIONS)
async def test_a_corrected_row_updates_its_trade_and_lists_what_changed(
    client: Client, account_id: int, before: dict[str, str], after: dict[str, str], changed: dict[str, Any]
) -> None:
    await factories.create_import(client, factories.build_file(with_id("1", **before)), account_id=account_id)
    (trade,) = await factories.list_trades(client)

    second = await factories.create_import(client, factories.build_file(with_id("1", **after)), account_id=account_id)

    (row,) = second["rows"]
    assert (row["verdict"], row["trade_id"]) == ("updated", trade["id"])
    assert sorted(row["changed"]) == sorted(changed)
    (corrected,) = await factories.list_trades(client)
    followed = ("net_pnl", "rr_realized", "trading_day", "updated_at", "contract", "root", "fill_count")
    assert {name for name in trade if trade[name] != corrected[name]} <= {*changed, *followed}
    assert {name: corrected[name] for name in changed} == changed
    assert corrected["updated_at"] > trade["updated_at"]
    assert corrected["trading_day"] == (corrected["closed_at"] and corrected["closed_at"][:10])


async def test_what_the_trader_wrote_outlasts_a_correction(client: Client, account_id: int) -> None:
    strategy = await factories.create_strategy(client, **factories.A_CHECKLIST)
    tag, setup = await factories.create_tag(client), strategy["setups"][0]
    file = factories.build_file(with_id("1", stop_loss="99"))
    (trade_id,) = factories.read_ids(await factories.create_import(client, file, account_id=account_id))
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    wrote = {"grade": "B", "notes": " mine ", "stop_loss": 100.5, "setup_id": setup["setup_id"]}
    before = await factories.patch_trade(client, trade_id, **wrote, tag_ids=[tag["id"]], confirmations=[answer])

    theirs = {"stop_loss": "90", "grade": "F", "notes": "theirs"}
    corrected = await factories.create_import(
        client, factories.build_file(with_id("1", entry_price="98", **theirs)), account_id=account_id
    )

    assert corrected["rows"][0]["changed"] == ["entry_price", "gross_pnl"]
    after = await factories.get_trade(client, trade_id)
    facts = {"entry_price": 98, "gross_pnl": 3, "net_pnl": 3, "rr_realized": 3}
    assert before["initial_risk"] == 1
    assert after == {**before, **facts, "updated_at": after["updated_at"], "fills": after["fills"]}


async def test_a_trade_is_recognised_whether_the_query_or_the_file_names_its_account(
    client: Client, other_user_client: Client
) -> None:
    await factories.create_account(other_user_client, "Sim")
    sim, live = [(await factories.create_account(client, name))["id"] for name in ("Sim", "Live")]
    rows = [{"account": "Sim"}, {"account": " Live "}, {"account": "Sim"}]
    named = [with_id("1", account="Sim"), with_id("1", account="Live")]

    report = unwrap(await factories.send_file(client, factories.build_file(*rows, *named)))
    again = unwrap(await factories.send_file(client, factories.build_file(*rows, *named)))
    in_query = await factories.create_import(client, factories.build_file({}, {}), account_id=sim)
    in_other = await factories.create_import(client, factories.build_file({}, {}), account_id=live)

    ids = factories.read_ids(report)
    assert [trade["account_id"] for trade in await factories.list_trades(client)][:5] == [sim, live, sim, sim, live]
    assert (factories.read_verdicts(report), factories.read_verdicts(again)) == (["new"] * 5, ["duplicate"] * 5)
    assert [row["line"] for row in report["rows"]] == [row["line"] for row in again["rows"]] == [2, 3, 4, 5, 6]
    assert factories.read_ids(again) == ids
    assert factories.read_ids(in_query) == [ids[0], ids[2]]
    assert (factories.read_verdicts(in_other), factories.read_ids(in_other)[0]) == (["duplicate", "new"], ids[1])
    assert await factories.list_trades(other_user_client) == []


async def test_rows_that_stand_on_one_line_of_a_page_are_told_apart(client: Client, account_id: int) -> None:
    def build_page(*rows: dict[str, str]) -> str:
        table = csv.reader(factories.build_file(*rows).splitlines())
        cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in table]
        return f"<html><table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table></html>"

    two = build_page({"symbol": "ES"}, {"symbol": "NQ"})
    files = (build_page({"symbol": "ES"}), two, two)
    reports = [await factories.create_import(client, file, account_id=account_id) for file in files]

    assert [factories.read_verdicts(report) for report in reports] == [
        ["new"],
        ["duplicate", "new"],
        ["duplicate", "duplicate"],
    ]
    assert factories.read_ids(reports[2]) == factories.read_ids(reports[1])


# Copies --------------------------------------------------------------------------------------------------


COPIES: dict[str, list[dict[str, str]]] = {
    "before and after": [{"row": "2", "copy_of": "1"}, {"row": "1"}, {"copy_of": "1"}],
    "far before": [{"copy_of": "1"}, *[{"symbol": "NQ"}] * 600, {"row": "1"}],
    "two copies of a copy": [
        *({"row": "3", "copy_of": "2"}, {"copy_of": "2"}),
        *({"row": "2", "copy_of": "1"}, {"row": "1"}),
    ],
    "a chain, the original last": [*({"row": "3", "copy_of": "2"}, {"row": "2", "copy_of": "1"}, {"row": "1"})],
    "a chain, the original between": [*({"row": "3", "copy_of": "2"}, {"row": "1"}, {"row": "2", "copy_of": "1"})],
}


@for_rows("rows", COPIES.values())
async def test_copies_belong_to_the_original_wherever_they_stand(
    client: Client, account_id: int, rows: list[dict[str, str]]
) -> None:
    dry_run = await factories.create_import(client, factories.build_file(*rows), account_id=account_id, dry_run="true")
    report = await factories.create_import(client, factories.build_file(*rows), account_id=account_id)

    lines = [row["line"] for row in report["rows"]]
    assert lines == [row["line"] for row in dry_run["rows"]] == list(range(2, len(rows) + 2))
    ids = dict(zip(factories.read_ids(report), rows, strict=True))
    (original,) = [trade_id for trade_id, row in ids.items() if row.get("row") == "1"]
    for trade_id, row in ids.items():
        if not row.keys().isdisjoint(("row", "copy_of")):
            source = (await factories.get_trade(client, trade_id))["source_trade_id"]
            assert source == (original if "copy_of" in row else None)


async def test_a_new_copy_of_a_stored_trade_belongs_to_the_stored_original(client: Client, account_id: int) -> None:
    original = await factories.create_trade(client, account_id, external_id="1")
    copy = await factories.create_trade(client, account_id, external_id="2", source_trade_id=original["id"])
    file = factories.build_file(
        with_id("1", row="a"), with_id("2", row="b"), with_id("3", copy_of="a"), with_id("4", copy_of="b")
    )

    report = await factories.create_import(client, file, account_id=account_id)

    assert factories.read_ids(report)[:2] == [original["id"], copy["id"]]
    sources = [trade["source_trade_id"] for trade in await factories.list_trades(client)]
    assert sources == [None, original["id"], original["id"], original["id"]]


# The other columns of round trips ------------------------------------------------------------------------


@for_rows(
    "cell, names",
    [(" FOMO ; Late; FOMO;", ["FOMO", "Late"]), ('["a;b", "FOMO", "a;b"]', ["FOMO", "a;b"]), ("", []), ("[]", [])],
)
async def test_tags_are_separated_by_semicolons_or_a_json_array(
    client: Client, account_id: int, cell: str, names: list[str]
) -> None:
    for name in ("FOMO", "Late", "a;b"):
        await factories.create_tag(client, name)

    report = await factories.create_import(client, factories.build_file({"tags": cell}), account_id=account_id)

    trade = await factories.get_trade(client, *factories.read_ids(report))
    assert sorted(tag["name"] for tag in trade["tags"]) == sorted(names)


async def test_notes_keep_their_white_space_and_a_row_has_the_line_that_it_ends_on(
    client: Client, account_id: int
) -> None:
    notes = ["  two spaces before\tand after  ", "a line\nand another\n", 'she said "wait"; I did, twice', " "]

    report = await factories.create_import(
        client, factories.build_file(*({"notes": one} for one in notes)), account_id=account_id
    )

    assert [trade["notes"] for trade in await factories.list_trades(client)] == notes
    assert [row["line"] for row in report["rows"]] == [2, 5, 6, 7]


# While an import runs ------------------------------------------------------------------------------------

ROWS = examples(full=20_000, ci=100)


@pytest.mark.soak
async def test_reads_are_answered_while_a_large_file_comes_in_and_no_acknowledged_write_is_lost(
    app: Starlette, client: Client, account_id: int
) -> None:
    goal = await factories.create_goal(client, timeframe="daily")
    await factories.snapshots_of(client, goal["id"])
    rows = [{"entry_price": str(number), "exit_price": str(number + 1)} for number in range(1, ROWS + 1)]
    key = await new_key_for(app)
    acknowledged: dict[str, int] = {}

    async def write(writer: int) -> None:
        async with client_of(app, key) as other:
            for number in range(1000):
                name = f"{writer} of {number}"
                response = await other.post("/tag-categories", json={"name": name})
                assert response.status_code == 201 or error_of(response) == (503, "busy")
                acknowledged[name] = response.status_code
                if running.done():
                    return

    with stopped_at("COMMIT") as is_written:
        running = asyncio.create_task(factories.send_file(client, factories.build_file(*rows), account_id))
        await asyncio.to_thread(is_written.wait, PATIENCE)
        writes = [asyncio.create_task(write(writer)) for writer in range(3)]
        for path in ("/tags", "/trades", f"/goals/{goal['id']}/snapshots") * 4:
            assert unwrap(await client.get(path)) == [] or "goals" in path
        assert not running.done()
    await asyncio.gather(*writes)

    assert unwrap(await running)["counts"] == {"new": ROWS, "duplicate": 0, "updated": 0, "error": 0}
    names = {category["name"] for category in unwrap(await client.get("/tag-categories"))}
    assert names == {name for name, status in acknowledged.items() if status == 201}
    assert (await client.get("/trades")).json()["meta"]["pagination"]["total"] == ROWS
    assert (
        await factories.read_actual(client, await factories.create_goal(client, metric="net_pnl", **factories.YEAR))
        == ROWS
    )

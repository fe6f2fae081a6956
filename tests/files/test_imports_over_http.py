"""Files of trades sent over HTTP: docs/imports.md, DECISIONS 22."""

import asyncio
import csv
import gzip
import hashlib
import io
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import dump
from conftest import client_of, new_key_for
from factories import (
    A_FILE,
    A_TRADE,
    create_account,
    create_goal,
    create_import,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    send_file,
    snapshots_of,
    unwrap,
)
from proofs import examples
from starlette.applications import Starlette

from journal_api.settings import Settings

INVALID = (400, "validation_error")
MIB = 2**20
TRADOVATE = (Path(__file__).parents[1] / "data" / "tradovate_position_history.csv").read_text()
PLAIN = {
    "symbol": "ES",
    "direction": "long",
    "quantity": "1",
    "entry_price": "100",
    "exit_price": "101",
    "opened_at": "2026-01-05T14:00:00Z",
    "closed_at": "2026-01-05T15:00:00Z",
}
OPEN = {"exit_price": "", "closed_at": ""}
CHECKLIST: dict[str, Any] = {
    "name": "Breakout",
    "setups": [{"name": "High", "confirmations": [{"name": "Volume"}, {"name": "Trend"}]}],
}


def file_of(*trades: dict[str, str]) -> str:
    """Round trips; each is a long of one ES from 100 to 101 but for those cells."""
    rows = [PLAIN | trade for trade in trades]
    written = io.StringIO()
    table = csv.DictWriter(
        written, list(dict.fromkeys(column for row in rows for column in row)), lineterminator="\n"
    )
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def page_of(*trades: dict[str, str]) -> str:
    """The same as a page of HTML, all of it on one line."""
    table = list(csv.reader(file_of(*trades).splitlines()))
    rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in table]
    return f"<html><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table></html>"


def pairs_of(**cells: str) -> str:
    """The example of a Tradovate export, its first pair with those cells."""
    header, first, *others = csv.reader(TRADOVATE.splitlines())
    first = [cells.get(column, cell) for column, cell in zip(header, first, strict=True)]
    return "".join(",".join(row) + "\n" for row in (header, first, *others))


@pytest.fixture
async def account_id(client: httpx.AsyncClient) -> int:
    """An account to import into."""
    return int((await create_account(client))["id"])


async def get_trade(client: httpx.AsyncClient, trade_id: int) -> Any:
    return unwrap(await client.get(f"/trades/{trade_id}"))


async def trades_in(client: httpx.AsyncClient, **query: Any) -> list[Any]:
    """The trades that match, oldest first."""
    found: list[Any] = unwrap(await client.get("/trades", params={"limit": 200, **query}))
    return sorted(found, key=lambda trade: trade["id"])


async def imports_in(client: httpx.AsyncClient) -> Any:
    return unwrap(await client.get("/imports"))


async def patched(client: httpx.AsyncClient, trade_id: int, **fields: Any) -> Any:
    return unwrap(await client.patch(f"/trades/{trade_id}", json=fields))


async def actual_of(client: httpx.AsyncClient, **goal: Any) -> Any:
    """What a new goal over the whole of 2026 comes to."""
    year = {"timeframe": "custom", "custom_start": "2026-01-01", "custom_end": "2026-12-31"}
    made = await create_goal(client, **year, **goal)
    (snapshot,) = await snapshots_of(client, made["id"])
    return snapshot["actual"]


def verdicts_of(report: Any) -> list[str]:
    return [row["verdict"] for row in report["rows"]]


def ids_of(report: Any) -> list[int | None]:
    return [row["trade_id"] for row in report["rows"]]


# The report ----------------------------------------------------------------------------------------------


async def test_an_import_is_answered_with_its_location_and_a_verdict_for_every_row(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"symbol": "NQ"}, {"symbol": "ES"})

    created = await send_file(client, file, account_id, file_name="May.csv", timezone="Asia/Tokyo")

    assert created.status_code == 201
    report = unwrap(created)
    assert created.headers["location"] == f"/v1/imports/{report['id']}"
    assert report == {
        "id": report["id"],
        "dry_run": False,
        "account_id": account_id,
        "format": "round trips",
        "file_name": "May.csv",
        "sha256": hashlib.sha256(file.encode()).hexdigest(),
        "timezone": "Asia/Tokyo",
        "timezone_source": None,
        "replaced_timezones": [],
        "encoding": "utf-8",
        "date_order": None,
        "rounded": 0,
        "accounts": [],
        "counts": {"new": 2, "duplicate": 0, "updated": 0, "error": 0},
        "fees_applied": [],
        "left_out": [],
        "columns": None,
        "sample_rows": None,
        "proposed_profile": None,
        "rows": [
            {"line": line, "verdict": "new", "trade_id": trade["id"], "changed": [], "reason": None}
            for line, trade in enumerate(await trades_in(client), start=2)
        ],
    }


async def test_what_was_in_the_file_is_what_is_read(client: httpx.AsyncClient, account_id: int) -> None:
    row = {"quantity": "2", "multiplier": "50", "stop_loss": "99", "fees": "4.2", "grade": "A+"}

    report = await create_import(client, file_of({**row, "external_id": "T-1"}), account_id=account_id)

    (trade_id,) = ids_of(report)
    assert trade_id is not None
    trade = await get_trade(client, trade_id)
    assert trade == trade | {
        "account_id": account_id,
        "symbol": "ES",
        "direction": "long",
        "quantity": 2,
        "multiplier": 50,
        "entry_price": 100,
        "exit_price": 101,
        "stop_loss": 99,
        "opened_at": "2026-01-05T14:00:00.000000Z",
        "closed_at": "2026-01-05T15:00:00.000000Z",
        "trading_day": "2026-01-05",
        "gross_pnl": 100,
        "fees": 4.2,
        "net_pnl": 95.8,
        "initial_risk": 100,
        "rr_realized": 0.958,
        "grade": "A+",
        "external_id": "T-1",
        "notes": None,
        "tags": [],
    }


async def test_an_import_is_read_as_it_is_listed_newest_first(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = file_of({"external_id": "1"}, {"external_id": "2"})
    second = file_of({"external_id": "2", "fees": "1"}, {"external_id": "3"}, {"external_id": "1"})
    earlier = await create_import(client, first, account_id=account_id, file_name="first.csv")
    later = await create_import(client, second, account_id=account_id)

    listed = await imports_in(client)

    assert listed == [
        {
            "id": report["id"],
            "account_id": account_id,
            "account_ids": [account_id],
            "format": "round trips",
            "file_name": name,
            "sha256": hashlib.sha256(file.encode()).hexdigest(),
            "timezone": "UTC",
            "counts": counts,
            "trade_count": counts["new"],
            "created_at": found["created_at"],
            "updated_at": found["created_at"],
        }
        for report, found, file, name, counts in zip(
            (later, earlier),
            listed,
            (second, first),
            (None, "first.csv"),
            (
                {"new": 1, "duplicate": 1, "updated": 1, "error": 0},
                {"new": 2, "duplicate": 0, "updated": 0, "error": 0},
            ),
            strict=True,
        )
    ]
    assert [unwrap(await client.get(f"/imports/{one['id']}")) for one in listed] == listed


@pytest.mark.parametrize(
    "file",
    [
        A_FILE.encode(),
        A_FILE.replace("\n", "\r\n").encode("utf-8-sig"),
        A_FILE.encode("utf-16"),
        A_FILE.removesuffix("\n").encode(),
    ],
    ids=["plain", "byte order mark and carriage returns", "UTF-16", "no last line end"],
)
async def test_the_sha256_is_that_of_the_bytes_that_were_sent(client: httpx.AsyncClient, file: bytes) -> None:
    report = await create_import(client, file)

    assert report["sha256"] == hashlib.sha256(file).hexdigest()
    assert report["counts"]["new"] == 1


async def test_a_stranger_sees_nothing_of_an_import_and_cannot_take_it_back(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient
) -> None:
    report = await create_import(client)

    read, undone = [
        await other_user_client.request(how, f"/imports/{report['id']}") for how in ("GET", "DELETE")
    ]
    forced = await other_user_client.delete(f"/imports/{report['id']}?force=true")
    listed, trades = (
        await imports_in(other_user_client),
        await trades_in(other_user_client, import_id=report["id"]),
    )

    assert [error_of(answer) for answer in (read, undone, forced)] == [(404, "not_found")] * 3
    assert (listed, trades) == ([], [])
    assert [one["trade_count"] for one in await imports_in(client)] == [1]


async def test_the_trades_of_an_import_are_those_that_it_added_and_those_that_it_corrected(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(
        client, file_of(*({"external_id": name} for name in ("1", "2", "3"))), account_id=account_id
    )
    file = file_of({"external_id": "2", "fees": "1"}, {"external_id": "3"}, {"external_id": "4"})

    report = await create_import(client, file, account_id=account_id)

    found = await trades_in(client, import_id=report["id"])
    assert [trade["external_id"] for trade in found] == ["2", "4"]


async def test_an_import_counts_the_new_trades_that_are_still_there(
    client: httpx.AsyncClient, account_id: int
) -> None:
    report = await create_import(client, file_of({}, {"symbol": "NQ"}), account_id=account_id)

    await client.delete(f"/trades/{ids_of(report)[0]}")

    (found,) = await imports_in(client)
    assert (found["trade_count"], found["counts"]["new"]) == (1, 2)


async def test_a_file_without_a_row_is_an_import_of_nothing(
    client: httpx.AsyncClient, account_id: int
) -> None:
    report = await create_import(client, ",".join(PLAIN) + "\n", account_id=account_id)

    assert report["rows"] == []
    assert report["counts"] == {"new": 0, "duplicate": 0, "updated": 0, "error": 0}
    assert [one["id"] for one in await imports_in(client)] == [report["id"]]


# The dry run ---------------------------------------------------------------------------------------------


async def make_known(client: httpx.AsyncClient, account_id: int) -> str:
    """Bring trades in; a file with a row of every verdict but error."""
    known = file_of({"external_id": "1"}, {"external_id": "2"})
    await create_import(client, known, account_id=account_id)
    return file_of({"external_id": "1"}, {"external_id": "2", "fees": "3"}, {"external_id": "3"}, {})


async def test_a_dry_run_tells_what_the_import_then_does(client: httpx.AsyncClient, account_id: int) -> None:
    file = await make_known(client, account_id)

    foretold = await send_file(client, file, account_id, dry_run="true")
    done = await create_import(client, file, account_id=account_id)

    told = unwrap(foretold)
    assert foretold.status_code == 200
    assert "location" not in foretold.headers
    assert (told["id"], told["dry_run"], done["dry_run"]) == (None, True, False)
    assert verdicts_of(told) == ["duplicate", "updated", "new", "new"]
    assert ids_of(told) == [*ids_of(done)[:2], None, None]
    for row in done["rows"][2:]:
        row["trade_id"] = None
    assert {**told, "id": done["id"], "dry_run": False} == done


@pytest.mark.parametrize("broken", [False, True], ids=["good", "broken"])
async def test_a_dry_run_writes_nothing_at_all(
    client: httpx.AsyncClient, settings: Settings, account_id: int, broken: bool
) -> None:
    file = await make_known(client, account_id)
    goal = await create_goal(client)
    await snapshots_of(client, goal["id"])
    before = dump(settings.db)

    answer = await send_file(client, file + "ES,up" * broken, account_id, dry_run="true")

    assert answer.status_code == 200
    assert dump(settings.db) == before


async def test_a_dry_run_needs_no_turn_to_write(
    client: httpx.AsyncClient, settings: Settings, account_id: int
) -> None:
    file = await make_known(client, account_id)
    with closing(sqlite3.connect(settings.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        answer = await send_file(client, file, account_id, dry_run="true")

    assert verdicts_of(unwrap(answer)) == ["duplicate", "updated", "new", "new"]


async def test_a_dry_run_names_the_rows_that_the_import_is_refused_for(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({}, {"quantity": "0"}, {"tags": "Nobody's"}, {}, {"opened_at": "today"})

    foretold = unwrap(await send_file(client, file, account_id, dry_run="true"))
    refused = await send_file(client, file, account_id)

    wrong = [row for row in foretold["rows"] if row["verdict"] == "error"]
    assert [row["line"] for row in wrong] == [3, 4, 6]
    assert details_of(refused) == {
        "line": 3,
        "reason": wrong[0]["reason"],
        "counts": foretold["counts"],
        "rows": wrong,
    }
    assert foretold["counts"] == {"new": 2, "duplicate": 0, "updated": 0, "error": 3}


@pytest.mark.parametrize(("word", "status"), [("true", 200), ("1", 200), ("false", 201), ("0", 201)])
async def test_a_dry_run_is_asked_for_with_true_or_1(
    client: httpx.AsyncClient, account_id: int, word: str, status: int
) -> None:
    answer = await send_file(client, A_FILE, account_id, dry_run=word)

    assert answer.status_code == status
    assert len(await imports_in(client)) == (status == 201)


@pytest.mark.parametrize("word", ["", "yes", "True", "2"])
async def test_another_word_for_a_dry_run_is_refused_before_anything_is_written(
    client: httpx.AsyncClient, account_id: int, word: str
) -> None:
    refused = await send_file(client, A_FILE, account_id, dry_run=word)

    assert error_of(refused) == INVALID
    assert set(details_of(refused)["allowed"]) == {"true", "false", "1", "0"}
    assert await imports_in(client) == []


# All rows or none ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, 700], ids=["first", "second", "last of many"])
async def test_one_bad_row_leaves_the_journal_as_it_was(
    client: httpx.AsyncClient, settings: Settings, account_id: int, place: int
) -> None:
    await create_import(client, file_of({"external_id": "1"}), account_id=account_id)
    rows = [{"external_id": str(number), "fees": "1"} for number in range(701)]
    rows[place] = {"external_id": "bad", "fees": "free"}
    before = dump(settings.db)

    refused = await send_file(client, file_of(*rows), account_id)

    assert error_of(refused) == INVALID
    details = details_of(refused)
    assert details["line"] == place + 2
    assert details["reason"].startswith("fees must be a number")
    (wrong,) = details["rows"]
    assert wrong == {
        "line": place + 2,
        "verdict": "error",
        "trade_id": None,
        "changed": [],
        "reason": details["reason"],
    }
    assert refused.json()["error"]["message"] == f"line {place + 2}: {details['reason']}"
    assert dump(settings.db) == before
    assert len(await imports_in(client)) == 1


async def test_of_very_many_bad_rows_all_are_counted_and_the_first_1000_told(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of(*[{"quantity": "0"}] * 1200)

    refused = await send_file(client, file, account_id)

    details = details_of(refused)
    assert details["counts"] == {"new": 0, "duplicate": 0, "updated": 0, "error": 1200}
    assert [row["line"] for row in details["rows"]] == list(range(2, 1002))
    assert "(and 1199 more)" in refused.json()["error"]["message"]


async def test_a_dry_run_tells_the_first_1000_bad_rows_among_all_others_and_counts_the_rest(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of(*[{"quantity": "0"}] * 1200, {}, {"row": "1", "copy_of": "9"})

    foretold = unwrap(await send_file(client, file, account_id, dry_run="true"))

    assert foretold["counts"] == {"new": 1, "duplicate": 0, "updated": 0, "error": 1201}
    assert [row["line"] for row in foretold["rows"]] == [*range(2, 1002), 1202]


async def test_the_first_bad_row_is_the_first_in_the_file_and_the_others_follow(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"row": "1", "copy_of": "9"}, {"row": "2"}, {"row": "3", "direction": "up"})

    refused = await send_file(client, file, account_id)

    assert details_of(refused)["line"] == 2
    assert [row["line"] for row in details_of(refused)["rows"]] == [2, 4]


# What a request may be -----------------------------------------------------------------------------------


async def test_a_file_that_announces_more_than_64_mib_is_413_unread(
    client: httpx.AsyncClient, account_id: int
) -> None:
    headers = {"Content-Length": str(64 * MIB + 1)}

    refused = await client.post(f"/imports?account_id={account_id}", content=A_FILE, headers=headers)

    assert error_of(refused) == (413, "request_too_large")
    assert details_of(refused) == {"max_bytes": 64 * MIB}


@pytest.mark.parametrize(
    ("beyond", "error"), [(0, INVALID), (1, (413, "request_too_large"))], ids=["64 MiB", "a byte more"]
)
async def test_a_file_that_comes_in_chunks_is_413_from_a_byte_over_64_mib(
    client: httpx.AsyncClient, account_id: int, beyond: int, error: tuple[int, str]
) -> None:
    async def in_parts() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield b"\xff" * MIB
        yield b"\xff" * beyond

    refused = await client.post(f"/imports?account_id={account_id}", content=in_parts())

    assert "transfer-encoding" in refused.request.headers
    assert error_of(refused) == error
    assert details_of(refused).get("max_bytes") == (64 * MIB if beyond else None)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/octet-stream"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": ""},
        {"Content-Type": "text/csv; charset=utf-16"},
        {"Content-Type": "text/csv", "Content-Encoding": "gzip"},
    ],
    ids=["JSON", "plain text", "bytes", "a form", "no word", "another charset", "compressed"],
)
@pytest.mark.parametrize("dry_run", ["true", "false"], ids=["dry run", "import"])
async def test_what_says_that_it_is_no_file_of_trades_is_415_with_what_is_taken(
    client: httpx.AsyncClient, account_id: int, headers: dict[str, str], dry_run: str
) -> None:
    content = gzip.compress(A_FILE.encode()) if "Content-Encoding" in headers else A_FILE.encode()
    path = f"/imports?account_id={account_id}&dry_run={dry_run}"

    refused = await client.post(path, content=content, headers=headers)

    assert error_of(refused) == (415, "unsupported_media_type")
    assert details_of(refused) == {"allowed": ["text/csv", "text/html", "application/xml", "text/xml"]}
    assert await imports_in(client) == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/csv"},
        {"Content-Type": "Text/CSV; header=present; charset=UTF-8"},
        {"Content-Type": "text/html"},
        {"Content-Type": "application/xml"},
        {"Content-Type": "text/xml; charset=utf-8"},
        {"Content-Type": "text/csv", "Content-Encoding": "identity"},
    ],
    ids=["no word", "CSV", "CSV in UTF-8", "HTML", "XML", "XML in UTF-8", "not compressed"],
)
async def test_what_says_that_it_is_a_file_of_trades_is_read_by_its_content(
    client: httpx.AsyncClient, account_id: int, headers: dict[str, str]
) -> None:
    content = A_FILE.encode()

    created = await client.post(f"/imports?account_id={account_id}", content=content, headers=headers)

    assert ("content-type" in created.request.headers) == bool(headers)
    assert verdicts_of(unwrap(created)) == ["new"]


@pytest.mark.parametrize("dry_run", ["true", "false"], ids=["dry run", "import"])
async def test_an_account_is_required_unless_the_file_names_them(
    client: httpx.AsyncClient, dry_run: str
) -> None:
    refused = await send_file(client, A_FILE, dry_run=dry_run)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["account_id"]


@pytest.mark.parametrize("dry_run", ["true", "false"], ids=["dry run", "import"])
@pytest.mark.parametrize("whose", ["a stranger's", "nobody's"])
async def test_an_account_that_is_not_the_callers_is_refused_and_named(
    client: httpx.AsyncClient,
    other_user_client: httpx.AsyncClient,
    settings: Settings,
    whose: str,
    dry_run: str,
) -> None:
    theirs = (await create_account(other_user_client, "Theirs"))["id"]
    before = dump(settings.db)

    refused = await send_file(
        client, A_FILE, theirs if whose == "a stranger's" else theirs + 1, dry_run=dry_run
    )

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["account_id"]
    assert dump(settings.db) == before


async def test_the_accounts_that_a_file_names_are_the_callers_own(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient
) -> None:
    sim, live = [(await create_account(client, name))["id"] for name in ("Sim", "Live")]
    await create_account(other_user_client, "Sim")
    await create_account(other_user_client, "Theirs")

    created = await send_file(client, file_of({"account": "Sim"}, {"account": " Live "}, {"account": "Sim"}))
    refused = await send_file(client, file_of({"account": "Sim"}, {"account": "Theirs"}))

    assert [trade["account_id"] for trade in await trades_in(client)] == [sim, live, sim]
    assert unwrap(created)["account_id"] is None
    assert details_of(refused)["line"] == 3
    assert "Theirs" in details_of(refused)["reason"]
    assert await trades_in(other_user_client) == []


async def test_a_row_that_names_no_account_in_a_file_that_names_them_is_refused_with_its_line(
    client: httpx.AsyncClient,
) -> None:
    await create_account(client, "Sim")

    refused = await send_file(client, file_of({"account": "Sim"}, {"account": " "}))

    assert details_of(refused)["line"] == 3
    assert details_of(refused)["reason"].startswith("account ")


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "EST5", "+02:00", "america/new_york", "../UTC"])
async def test_a_zone_that_is_not_of_iana_is_refused_and_named(
    client: httpx.AsyncClient, account_id: int, timezone: str
) -> None:
    refused = await send_file(client, A_FILE, account_id, timezone=timezone)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["timezone"]
    assert await imports_in(client) == []


async def test_times_without_an_offset_are_read_in_the_zone_of_the_query_else_the_owners(
    client: httpx.AsyncClient, account_id: int
) -> None:
    unwrap(await client.patch("/me", json={"timezone": "Europe/Berlin"}))
    times = {"opened_at": "2026-07-05 14:00:00", "closed_at": "2026-07-05 15:00:00"}
    query: list[dict[str, str | None]] = [{"timezone": None}, {"timezone": "America/New_York"}]

    reports = [await create_import(client, file_of(times), account_id=account_id, **one) for one in query]

    assert [report["timezone"] for report in reports] == ["Europe/Berlin", "America/New_York"]
    assert [trade["opened_at"] for trade in await trades_in(client)] == [
        "2026-07-05T12:00:00.000000Z",
        "2026-07-05T18:00:00.000000Z",
    ]


@pytest.mark.parametrize("name", ["", "x" * 256], ids=["empty", "too long"])
async def test_a_file_name_out_of_bounds_is_refused_and_named(
    client: httpx.AsyncClient, account_id: int, name: str
) -> None:
    refused = await send_file(client, A_FILE, account_id, file_name=name)

    assert error_of(refused) == INVALID
    assert list(details_of(refused)["fields"]) == ["file_name"]


async def test_a_file_name_has_up_to_255_characters_of_any_kind(
    client: httpx.AsyncClient, account_id: int
) -> None:
    name = ("\N{FIRE} a & b=c+d%\N{LATIN SMALL LETTER E WITH ACUTE}.csv" * 20)[:255]

    report = await create_import(client, account_id=account_id, file_name=name)

    assert report["file_name"] == name
    assert [one["file_name"] for one in await imports_in(client)] == [name]


async def test_a_header_that_is_nearly_known_is_refused_with_the_missing_columns(
    client: httpx.AsyncClient, settings: Settings, account_id: int
) -> None:
    before = dump(settings.db)

    refused = await send_file(client, "symbol,direction,entry_price,opened_at,Pair ID\n", account_id)

    assert error_of(refused) == INVALID
    assert details_of(refused)["missing"] == {"round trips": ["quantity"]}
    assert dump(settings.db) == before


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0\0", b"{}", b"name,age\nme,7\n"])
async def test_what_is_no_table_of_trades_is_refused_and_like_no_format(
    client: httpx.AsyncClient, account_id: int, content: bytes
) -> None:
    refused = await send_file(client, content, account_id)

    assert error_of(refused) == INVALID
    assert details_of(refused)["missing"] == {}


# Verdicts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [TRADOVATE, file_of({}, {}, {"symbol": "NQ"}, {"external_id": "1"}, OPEN)],
    ids=["tradovate", "round trips"],
)
async def test_a_file_that_comes_again_is_all_duplicates_with_the_ids_of_its_trades(
    client: httpx.AsyncClient, account_id: int, file: str
) -> None:
    first = await create_import(client, file, account_id=account_id)
    before = await trades_in(client)

    again = await create_import(client, file, account_id=account_id)

    assert set(verdicts_of(first)) == {"new"}
    assert set(verdicts_of(again)) == {"duplicate"}
    assert ids_of(again) == ids_of(first) == [trade["id"] for trade in before]
    assert again["counts"] == {"new": 0, "duplicate": 5, "updated": 0, "error": 0}
    assert await trades_in(client) == before


async def test_identical_fills_are_as_many_trades_as_there_are_rows(
    client: httpx.AsyncClient, account_id: int
) -> None:
    counts = [1, 3, 2, 3]

    reports = [await create_import(client, file_of(*[{}] * count), account_id=account_id) for count in counts]

    assert [report["counts"]["new"] for report in reports] == [1, 2, 0, 0]
    assert ids_of(reports[2]) == ids_of(reports[3])[:2]
    assert len(await trades_in(client)) == 3


async def test_a_file_into_two_accounts_is_two_sets_of_trades(client: httpx.AsyncClient) -> None:
    accounts = [(await create_account(client, name))["id"] for name in ("Sim", "Live")]

    reports = [await create_import(client, TRADOVATE, account_id=one) for one in accounts]

    assert [set(verdicts_of(report)) for report in reports] == [{"new"}] * 2
    assert [len(await trades_in(client, account_id=one)) for one in accounts] == [5, 5]


async def test_two_owners_import_one_file_without_meeting(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient
) -> None:
    await create_import(client, TRADOVATE)

    theirs = await create_import(other_user_client, TRADOVATE)

    assert set(verdicts_of(theirs)) == {"new"}
    assert len(await trades_in(client)) == len(await trades_in(other_user_client)) == 5


async def test_a_trade_is_recognised_whether_the_query_or_the_file_names_its_account(
    client: httpx.AsyncClient,
) -> None:
    sim, live = [(await create_account(client, name))["id"] for name in ("Sim", "Live")]
    named = await send_file(client, file_of({"account": "Sim"}, {"account": "Live"}, {"account": "Sim"}))

    in_query = await create_import(client, file_of({}, {}), account_id=sim)
    in_other = await create_import(client, file_of({}, {}), account_id=live)

    ids = ids_of(unwrap(named))
    assert ids_of(in_query) == [ids[0], ids[2]]
    assert (verdicts_of(in_other), ids_of(in_other)[0]) == (["duplicate", "new"], ids[1])


async def test_an_external_id_that_comes_twice_in_a_file_is_an_error_of_the_second_row(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, file_of({"external_id": "1"}), account_id=account_id)
    file = file_of({"external_id": "1"}, {"external_id": "2"}, {"external_id": "1", "symbol": "NQ"})

    foretold = await create_import(client, file, account_id=account_id, dry_run="true")
    refused = await send_file(client, file, account_id)

    assert verdicts_of(foretold) == ["duplicate", "new", "error"]
    assert error_of(refused) == INVALID
    assert details_of(refused)["line"] == 4
    assert details_of(refused)["reason"] == "external_id '1' is repeated"


async def test_an_id_is_recognised_after_the_trader_has_changed_that_of_the_trade(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"external_id": "1"})
    (trade_id,) = ids_of(await create_import(client, file, account_id=account_id))
    assert trade_id is not None
    await patched(client, trade_id, external_id="other")

    report = await create_import(client, file, account_id=account_id)

    assert ids_of(report) == [trade_id]


async def test_an_external_id_is_another_trade_in_another_account_of_the_same_file(
    client: httpx.AsyncClient,
) -> None:
    for name in ("Sim", "Live"):
        await create_account(client, name)
    file = file_of({"account": "Sim", "external_id": "1"}, {"account": "Live", "external_id": "1"})

    created = await send_file(client, file)
    again = await send_file(client, file)

    assert verdicts_of(unwrap(created)) == ["new", "new"]
    assert ids_of(unwrap(again)) == ids_of(unwrap(created))


async def test_a_trade_that_was_deleted_comes_back_with_its_file(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, file_of({}, {}, {}), account_id=account_id)
    await client.delete(f"/trades/{ids_of(first)[1]}")

    again = await create_import(client, file_of({}, {}, {}), account_id=account_id)

    assert verdicts_of(again) == ["duplicate", "new", "duplicate"]
    assert [ids_of(again)[place] == ids_of(first)[place] for place in range(3)] == [True, False, True]


async def test_rows_that_stand_on_one_line_of_a_page_are_told_apart(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, page_of({"symbol": "ES"}), account_id=account_id)

    second = await create_import(client, page_of({"symbol": "ES"}, {"symbol": "NQ"}), account_id=account_id)
    third = await create_import(client, page_of({"symbol": "ES"}, {"symbol": "NQ"}), account_id=account_id)

    assert [verdicts_of(report) for report in (first, second, third)] == [
        ["new"],
        ["duplicate", "new"],
        ["duplicate", "duplicate"],
    ]
    assert ids_of(third) == ids_of(second)
    assert [trade["symbol"] for trade in await trades_in(client)] == ["ES", "NQ"]


# Corrections ---------------------------------------------------------------------------------------------


CORRECTIONS: list[tuple[dict[str, str], dict[str, str], dict[str, Any]]] = [
    ({"fees": "1"}, {"fees": "2.5"}, {"fees": 2.5}),
    ({"gross_pnl": "1"}, {"gross_pnl": "-3"}, {"gross_pnl": -3}),
    ({"exit_price": "101"}, {"exit_price": "103"}, {"exit_price": 103, "gross_pnl": 3}),
    ({"entry_price": "100"}, {"entry_price": "99"}, {"entry_price": 99, "gross_pnl": 2}),
    ({"direction": "long"}, {"direction": "short"}, {"direction": "short", "gross_pnl": -1}),
    ({"quantity": "1"}, {"quantity": "4"}, {"quantity": 4, "gross_pnl": 4}),
    ({"multiplier": "1"}, {"multiplier": "50"}, {"multiplier": 50, "gross_pnl": 50}),
    ({"symbol": "ES"}, {"symbol": "ESH6"}, {"symbol": "ESH6"}),
    ({}, {"opened_at": "2026-01-05T13:00:00Z"}, {"opened_at": "2026-01-05T13:00:00.000000Z"}),
    ({}, {"closed_at": "2026-01-07T15:00:00Z"}, {"closed_at": "2026-01-07T15:00:00.000000Z"}),
    (OPEN, {}, {"exit_price": 101, "closed_at": "2026-01-05T15:00:00.000000Z", "gross_pnl": 1}),
]


@pytest.mark.parametrize(
    ("before", "after", "changed"), CORRECTIONS, ids=[", ".join(changed) for *_, changed in CORRECTIONS]
)
async def test_a_corrected_row_is_told_as_updated_and_lists_what_changed(
    client: httpx.AsyncClient,
    account_id: int,
    before: dict[str, str],
    after: dict[str, str],
    changed: dict[str, Any],
) -> None:
    first = await create_import(client, file_of({"external_id": "1", **before}), account_id=account_id)
    (trade,) = await trades_in(client)

    second = await create_import(client, file_of({"external_id": "1", **after}), account_id=account_id)

    (row,) = second["rows"]
    assert (row["verdict"], row["trade_id"]) == ("updated", trade["id"])
    assert sorted(row["changed"]) == sorted(changed)
    assert second["counts"] == {"new": 0, "duplicate": 0, "updated": 1, "error": 0}
    (corrected,) = await trades_in(client)
    followed = ("net_pnl", "rr_realized", "trading_day", "updated_at")
    assert {name for name in trade if trade[name] != corrected[name]} <= {*changed, *followed}
    assert {name: corrected[name] for name in changed} == changed
    assert corrected["updated_at"] > trade["updated_at"]
    assert corrected["trading_day"] == (corrected["closed_at"] and corrected["closed_at"][:10])
    assert ids_of(first) == [trade["id"]]


async def test_a_file_from_before_a_trade_was_closed_does_not_open_it_again(
    client: httpx.AsyncClient, account_id: int
) -> None:
    earlier, later = [file_of({"external_id": "1", "fees": "1", **cells}) for cells in (OPEN, {})]
    await create_import(client, earlier, account_id=account_id)
    await create_import(client, later, account_id=account_id)
    closed = await trades_in(client)

    report = await create_import(client, earlier, account_id=account_id)

    assert verdicts_of(report) == ["duplicate"]
    assert await trades_in(client) == closed


async def test_fees_and_a_result_are_corrected_where_a_trade_has_no_external_id_too(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = file_of({"gross_pnl": "1", "fees": "1"}, {"gross_pnl": "1", "fees": "1"})
    second = file_of({"gross_pnl": "1", "fees": "1"}, {"gross_pnl": "2", "fees": "3"})
    before = await create_import(client, first, account_id=account_id)

    after = await create_import(client, second, account_id=account_id)

    assert verdicts_of(after) == ["duplicate", "updated"]
    assert after["rows"][1]["changed"] == ["gross_pnl", "fees"]
    assert ids_of(after) == ids_of(before)
    assert [trade["net_pnl"] for trade in await trades_in(client)] == [0, -1]


async def test_a_corrected_file_that_comes_again_is_all_duplicates(
    client: httpx.AsyncClient, account_id: int
) -> None:
    files = [file_of({"external_id": "1", "fees": fees}) for fees in ("1", "2")]
    for file in files:
        await create_import(client, file, account_id=account_id)

    again = await create_import(client, files[1], account_id=account_id)

    assert verdicts_of(again) == ["duplicate"]


async def test_a_trade_is_corrected_once_a_file_by_the_first_row_that_is_it(
    client: httpx.AsyncClient, account_id: int
) -> None:
    first = await create_import(client, file_of({"external_id": "1", "fees": "1"}), account_id=account_id)
    (trade_id,) = ids_of(first)
    assert trade_id is not None
    await patched(client, trade_id, external_id="2")
    file = file_of({"external_id": "1", "fees": "2"}, {"external_id": "2", "fees": "3"})

    report = await create_import(client, file, account_id=account_id)

    assert verdicts_of(report) == ["updated", "duplicate"]
    assert len(set(ids_of(report))) == 1
    assert [trade["fees"] for trade in await trades_in(client)] == [2]


async def test_what_the_trader_wrote_outlasts_a_correction(
    client: httpx.AsyncClient, account_id: int
) -> None:
    strategy = await create_strategy(client, **CHECKLIST)
    tag, setup = await create_tag(client), strategy["setups"][0]
    report = await create_import(
        client, file_of({"external_id": "1", "stop_loss": "99"}), account_id=account_id
    )
    (trade_id,) = ids_of(report)
    assert trade_id is not None
    wrote = {"grade": "B", "notes": " mine ", "stop_loss": 100.5, "setup_id": setup["setup_id"]}
    await patched(client, trade_id, **wrote)
    await client.put(f"/trades/{trade_id}/tags", json={"tag_ids": [tag["id"]]})
    answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
    await client.put(f"/trades/{trade_id}/confirmations", json={"confirmations": [answer]})
    before = await get_trade(client, trade_id)

    corrected = await create_import(
        client,
        file_of(
            {"external_id": "1", "entry_price": "98", "stop_loss": "90", "grade": "F", "notes": "theirs"}
        ),
        account_id=account_id,
    )

    assert corrected["rows"][0]["changed"] == ["entry_price", "gross_pnl"]
    after = await get_trade(client, trade_id)
    facts = {"entry_price": 98, "gross_pnl": 3, "net_pnl": 3, "rr_realized": 3}
    assert before["initial_risk"] == 1
    assert after == {**before, **facts, "updated_at": after["updated_at"]}


@pytest.mark.parametrize("as_first", [True, False], ids=["by external id", "by content"])
@pytest.mark.parametrize(
    "edit",
    [
        {"fees": 7},
        {"gross_pnl": 7},
        {"exit_price": 107},
        {"symbol": "MES"},
        {"direction": "short"},
        {"closed_at": "2026-01-06T15:00:00Z"},
        {"closed_at": None},
        {"grade": "A"},
        {"notes": None},
    ],
    ids=str,
)
async def test_a_traders_own_edit_is_not_reverted_by_the_file_that_brought_the_trade(
    client: httpx.AsyncClient, account_id: int, edit: dict[str, Any], as_first: bool
) -> None:
    file = file_of({"notes": "x", "external_id": "1" if as_first else ""})
    (trade_id,) = ids_of(await create_import(client, file, account_id=account_id))
    assert trade_id is not None
    edited = await patched(client, trade_id, **edit)

    again = await create_import(client, file, account_id=account_id)

    assert (verdicts_of(again), ids_of(again)) == (["duplicate"], [trade_id])
    assert await get_trade(client, trade_id) == edited


async def test_a_traders_own_edit_is_not_reverted_by_a_file_that_said_what_the_trade_already_was(
    client: httpx.AsyncClient, account_id: int
) -> None:
    (trade_id,) = ids_of(await create_import(client, file_of({"fees": "1"}), account_id=account_id))
    assert trade_id is not None
    await patched(client, trade_id, fees=2)
    agreeing = file_of({"fees": "2"})
    agreed = await create_import(client, agreeing, account_id=account_id)
    edited = await patched(client, trade_id, fees=3)

    again = await create_import(client, agreeing, account_id=account_id)

    assert [verdicts_of(report) for report in (agreed, again)] == [["duplicate"]] * 2
    assert await get_trade(client, trade_id) == edited


async def test_a_traders_own_edit_is_not_reverted_by_a_file_that_came_before_a_correcting_one(
    client: httpx.AsyncClient, account_id: int
) -> None:
    silent, telling = file_of({"external_id": "1"}), file_of({"external_id": "1", "fees": "2"})
    (trade_id,) = ids_of(await create_import(client, silent, account_id=account_id))
    assert trade_id is not None
    await create_import(client, telling, account_id=account_id)
    edited = await patched(client, trade_id, gross_pnl=7)

    again = [await create_import(client, file, account_id=account_id) for file in (silent, telling)]

    assert [verdicts_of(report) for report in again] == [["duplicate"]] * 2
    assert await get_trade(client, trade_id) == edited


async def test_a_correction_lists_only_what_the_trader_has_not_corrected_before(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"external_id": "1", "gross_pnl": "1", "fees": "1"})
    (trade_id,) = ids_of(await create_import(client, file, account_id=account_id))
    assert trade_id is not None
    await patched(client, trade_id, fees=2)

    later = file_of({"external_id": "1", "gross_pnl": "5", "fees": "2"})
    report = await create_import(client, later, account_id=account_id)

    assert report["rows"][0]["changed"] == ["gross_pnl"]
    assert (await get_trade(client, trade_id))["net_pnl"] == 3


@pytest.mark.parametrize("external_id", [None, "1"], ids=["by content", "by external id"])
async def test_a_trade_that_was_entered_by_hand_is_recognised_and_never_changed(
    client: httpx.AsyncClient, account_id: int, external_id: str | None
) -> None:
    entered = await create_trade(client, account_id, fees=1, grade="A", external_id=external_id)
    row = {"external_id": external_id or "", "fees": "9", "gross_pnl": "9", "grade": "F"}

    reports = [await create_import(client, file_of(row), account_id=account_id) for _ in range(2)]

    assert [verdicts_of(report) for report in reports] == [["duplicate"]] * 2
    assert [ids_of(report) for report in reports] == [[entered["id"]]] * 2
    assert await get_trade(client, entered["id"]) == entered


async def test_identical_trades_that_were_entered_by_hand_are_counted_against_the_rows(
    client: httpx.AsyncClient, account_id: int
) -> None:
    entered = [(await create_trade(client, account_id))["id"] for _ in range(2)]

    report = await create_import(client, file_of({}, {}, {}), account_id=account_id)

    assert verdicts_of(report) == ["duplicate", "duplicate", "new"]
    assert ids_of(report)[:2] == entered


async def test_a_trade_that_was_entered_open_and_closed_by_hand_is_recognised_as_what_it_is_now(
    client: httpx.AsyncClient, account_id: int
) -> None:
    entered = await create_trade(client, account_id, closed_at=None, exit_price=None)
    closed = await patched(client, entered["id"], closed_at=A_TRADE["closed_at"], exit_price=101)

    report = await create_import(client, file_of({}), account_id=account_id)

    assert (verdicts_of(report), ids_of(report)) == (["duplicate"], [entered["id"]])
    assert await trades_in(client) == [{name: closed[name] for name in (await trades_in(client))[0]}]


async def test_a_trade_that_was_given_its_external_id_by_hand_is_recognised_by_it(
    client: httpx.AsyncClient, account_id: int
) -> None:
    entered = await create_trade(client, account_id)
    named = await patched(client, entered["id"], external_id="1")

    report = await create_import(
        client, file_of({"external_id": "1", "quantity": "5"}), account_id=account_id
    )

    assert (verdicts_of(report), ids_of(report)) == (["duplicate"], [entered["id"]])
    assert await get_trade(client, entered["id"]) == named


async def test_a_trade_of_a_file_without_ids_is_not_taken_for_one_that_was_entered_by_hand(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, file_of({}), account_id=account_id)

    report = await create_import(client, file_of({"external_id": "1"}), account_id=account_id)

    assert verdicts_of(report) == ["new"]


async def test_a_correction_closes_a_trade_again_that_the_trader_has_reopened(
    client: httpx.AsyncClient, account_id: int
) -> None:
    imported = await create_import(client, file_of({"external_id": "1"}), account_id=account_id)
    (trade_id,) = ids_of(imported)
    assert trade_id is not None
    await patched(client, trade_id, closed_at=None)

    await create_import(client, file_of({"external_id": "1", "gross_pnl": "5"}), account_id=account_id)

    trade = await get_trade(client, trade_id)
    assert (trade["closed_at"][:19], trade["exit_price"], trade["gross_pnl"]) == (
        PLAIN["closed_at"][:19],
        101,
        5,
    )


async def test_many_trades_that_were_entered_at_once_are_recognised_too(
    client: httpx.AsyncClient, account_id: int
) -> None:
    entered = [{"account_id": account_id, **A_TRADE, "symbol": symbol} for symbol in ("ES", "NQ", "ES")]
    ids = [trade["id"] for trade in unwrap(await client.post("/trades/bulk", json={"trades": entered}))]

    report = await create_import(
        client, file_of({"symbol": "ES"}, {"symbol": "ES"}, {"symbol": "NQ"}), account_id=account_id
    )

    assert set(verdicts_of(report)) == {"duplicate"}
    assert ids_of(report) == [ids[0], ids[2], ids[1]]


# A file that says nothing of fees ------------------------------------------------------------------------


async def test_an_export_without_fees_never_touches_those_that_the_trader_wrote(
    client: httpx.AsyncClient, account_id: int
) -> None:
    trade_id = ids_of(await create_import(client, pairs_of(), account_id=account_id))[0]
    assert trade_id is not None
    await patched(client, trade_id, fees=4.2)

    again = await create_import(client, pairs_of(), account_id=account_id)
    corrected = await create_import(client, pairs_of(**{"P/L": "-81.00"}), account_id=account_id)

    assert set(verdicts_of(again)) == {"duplicate"}
    assert verdicts_of(corrected)[0] == "updated"
    assert sorted(corrected["rows"][0]["changed"]) == ["gross_pnl", "multiplier"]
    trade = await get_trade(client, trade_id)
    assert (trade["gross_pnl"], trade["multiplier"], trade["fees"]) == (-81, 1, 4.2)


@pytest.mark.parametrize("row", [{}, {"fees": ""}], ids=["no column", "an empty cell"])
async def test_a_row_that_says_nothing_of_fees_never_touches_them(
    client: httpx.AsyncClient, account_id: int, row: dict[str, str]
) -> None:
    file = file_of({"external_id": "1", "fees": "3"})
    (trade_id,) = ids_of(await create_import(client, file, account_id=account_id))
    assert trade_id is not None

    same = await create_import(client, file_of({"external_id": "1", **row}), account_id=account_id)
    other = await create_import(
        client, file_of({"external_id": "1", "exit_price": "105", **row}), account_id=account_id
    )

    assert verdicts_of(same) == ["duplicate"]
    assert other["rows"][0]["changed"] == ["exit_price", "gross_pnl"]
    assert (await get_trade(client, trade_id))["fees"] == 3


async def test_fees_of_nothing_are_no_fees_and_correct_those_of_a_file(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_import(client, file_of({"external_id": "1", "fees": "3"}), account_id=account_id)

    report = await create_import(client, file_of({"external_id": "1", "fees": "0"}), account_id=account_id)

    assert report["rows"][0]["changed"] == ["fees"]
    assert [trade["fees"] for trade in await trades_in(client)] == [0]


# Money ---------------------------------------------------------------------------------------------------


async def test_imported_amounts_are_summed_exactly(client: httpx.AsyncClient, account_id: int) -> None:
    file = file_of({"gross_pnl": "0.1", "fees": "0.01"}, {"gross_pnl": "0.2", "fees": "0.02"})

    await create_import(client, file, account_id=account_id)

    assert await actual_of(client, metric="gross_pnl") == 0.3
    assert await actual_of(client, metric="net_pnl") == 0.27


async def test_a_corrected_amount_is_exact_and_counts_once(
    client: httpx.AsyncClient, account_id: int
) -> None:
    rows = [{"external_id": "1", "gross_pnl": "0.7"}, {"external_id": "2", "gross_pnl": "0.1"}]
    await create_import(client, file_of(*rows), account_id=account_id)

    rows[0]["gross_pnl"] = "0.2"
    await create_import(client, file_of(*rows), account_id=account_id)

    assert await actual_of(client, metric="net_pnl") == 0.3


# Copies --------------------------------------------------------------------------------------------------


async def sources_of(client: httpx.AsyncClient, report: Any) -> list[Any]:
    """The original of each row's trade."""
    sources = {trade["id"]: trade["source_trade_id"] for trade in await trades_in(client)}
    return [sources[trade_id] for trade_id in ids_of(report)]


async def test_copies_in_a_file_are_one_decision_with_their_original(client: httpx.AsyncClient) -> None:
    for name in ("Leader", "A", "B"):
        await create_account(client, name)
    file = file_of(
        {"account": "Leader", "row": "1", "fees": "0.5"},
        {"account": "A", "row": "2", "copy_of": "1", "gross_pnl": "2"},
        {"account": "B", "row": "3", "copy_of": "1", "gross_pnl": "-1"},
    )

    report = unwrap(await send_file(client, file))

    original = ids_of(report)[0]
    assert await sources_of(client, report) == [None, original, original]
    assert await actual_of(client, metric="trade_count") == 1
    assert await actual_of(client, metric="net_pnl") == 1.5


@pytest.mark.parametrize("between", [0, 600], ids=["next to it", "far from it"])
async def test_a_copy_may_stand_before_its_original(
    client: httpx.AsyncClient, account_id: int, between: int
) -> None:
    file = file_of({"row": "1", "copy_of": "9"}, *[{}] * between, {"row": "9"}, {"copy_of": "9"})

    report = await create_import(client, file, account_id=account_id)

    ids = {row["line"]: row["trade_id"] for row in report["rows"]}
    original = ids[between + 3]
    copies = [await get_trade(client, ids[line]) for line in (2, between + 4)]
    assert [copy["source_trade_id"] for copy in copies] == [original] * 2
    assert (await get_trade(client, original))["source_trade_id"] is None


@pytest.mark.parametrize("dry_run", ["true", "false"], ids=["dry run", "import"])
async def test_verdicts_come_in_the_order_of_the_lines(
    client: httpx.AsyncClient, account_id: int, dry_run: str
) -> None:
    file = file_of({"row": "1", "copy_of": "2"}, {"row": "2"}, {})

    report = await create_import(client, file, account_id=account_id, dry_run=dry_run)

    assert [row["line"] for row in report["rows"]] == [2, 3, 4]


CHAIN = [{"row": "1"}, {"row": "2", "copy_of": "1"}, {"row": "3", "copy_of": "2"}]


@pytest.mark.parametrize(
    "order",
    [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)],
    ids=lambda order: " ".join(str(place + 1) for place in order),
)
async def test_a_copy_of_a_copy_is_a_copy_of_the_original_in_whatever_order(
    client: httpx.AsyncClient, account_id: int, order: tuple[int, ...]
) -> None:
    file = file_of(*(CHAIN[place] for place in order))

    created = await send_file(client, file, account_id)

    assert created.status_code == 201
    ids = {row["line"]: row["trade_id"] for row in unwrap(created)["rows"]}
    original = ids[order.index(0) + 2]
    sources = {trade["id"]: trade["source_trade_id"] for trade in await trades_in(client)}
    assert sources == {trade_id: None if trade_id == original else original for trade_id in sources}


async def test_two_copies_of_a_copy_may_stand_before_it_and_the_original(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"row": "3", "copy_of": "2"}, {"copy_of": "2"}, {"row": "2", "copy_of": "1"}, {"row": "1"})

    report = await create_import(client, file, account_id=account_id)

    original = ids_of(report)[-1]
    assert await sources_of(client, report) == [original, original, original, None]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([{"row": "1"}, {"row": "2", "copy_of": "7"}], 3),
        ([{"row": "1"}, {"row": "2", "copy_of": "2"}], 3),
        ([{"row": "1", "copy_of": "2"}, {"row": "2", "copy_of": "1"}], 2),
        ([{"row": "1"}, {"row": "", "copy_of": "row 1"}], 3),
    ],
    ids=["unknown", "itself", "each other", "another name"],
)
async def test_a_copy_of_no_row_is_an_error_with_its_line(
    client: httpx.AsyncClient, settings: Settings, account_id: int, rows: list[dict[str, str]], line: int
) -> None:
    before = dump(settings.db)

    foretold = unwrap(await send_file(client, file_of(*rows), account_id, dry_run="true"))
    refused = await send_file(client, file_of(*rows), account_id)

    assert error_of(refused) == INVALID
    assert details_of(refused)["line"] == line
    assert details_of(refused)["reason"].startswith("copy_of ")
    assert details_of(refused)["counts"] == foretold["counts"]
    assert dump(settings.db) == before


async def test_a_new_copy_of_a_row_that_is_there_already_leads_to_the_stored_original(
    client: httpx.AsyncClient, account_id: int
) -> None:
    original = await create_trade(client, account_id, external_id="1")
    copy = await create_trade(client, account_id, external_id="2", source_trade_id=original["id"])
    file = file_of(
        {"row": "a", "external_id": "1"},
        {"row": "b", "external_id": "2"},
        {"external_id": "3", "copy_of": "a"},
        {"external_id": "4", "copy_of": "b"},
    )

    report = await create_import(client, file, account_id=account_id)

    assert ids_of(report)[:2] == [original["id"], copy["id"]]
    assert await sources_of(client, report) == [None, original["id"], original["id"], original["id"]]


# The other columns of round trips ------------------------------------------------------------------------


async def test_answers_of_the_checklist_come_with_their_confirmations(
    client: httpx.AsyncClient, account_id: int
) -> None:
    await create_strategy(client, **CHECKLIST)
    cell = '[["Volume", true, null], ["Trend", false, "sideways; \\"flat\\""]]'
    row = {"strategy": "Breakout", "setup": "High", "confirmations": cell}

    (trade_id,) = ids_of(await create_import(client, file_of(row), account_id=account_id))

    assert trade_id is not None
    trade = await get_trade(client, trade_id)
    answers = [(one["name"], one["was_present"], one["notes"]) for one in trade["confirmations"]]
    assert answers == [("Volume", True, None), ("Trend", False, 'sideways; "flat"')]
    assert await actual_of(client, metric="protocol_completion_rate") == 0


@pytest.mark.parametrize(
    "row",
    [
        {"setup": "High", "confirmations": '[["Luck", true, null]]'},
        {"setup": "", "confirmations": '[["Volume", true, null]]'},
        {"setup": "High", "confirmations": '[["Volume", 1, null]]'},
        {"setup": "High", "confirmations": '[["Volume", true]]'},
        {"setup": "High", "confirmations": '{"Volume": true}'},
        {"setup": "High", "confirmations": "Volume"},
    ],
    ids=["no such confirmation", "no setup", "no truth value", "too short", "an object", "no JSON"],
)
async def test_answers_that_cannot_be_read_are_an_error_with_the_line(
    client: httpx.AsyncClient, account_id: int, row: dict[str, str]
) -> None:
    await create_strategy(client, **CHECKLIST)
    plain = {"strategy": "Breakout", "setup": "High", "confirmations": ""}

    refused = await send_file(client, file_of(plain, {"strategy": "Breakout", **row}), account_id)

    assert details_of(refused)["line"] == 3
    assert details_of(refused)["reason"].startswith("confirmations ")


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("FOMO", ["FOMO"]),
        (" FOMO ; Late; FOMO;", ["FOMO", "Late"]),
        ('["a;b", "FOMO"]', ["FOMO", "a;b"]),
        ('["a;b", "a;b"]', ["a;b"]),
        ("", []),
        ("[]", []),
    ],
)
async def test_tags_are_parted_by_semicolons_or_a_json_array(
    client: httpx.AsyncClient, account_id: int, cell: str, names: list[str]
) -> None:
    for name in ("FOMO", "Late", "a;b"):
        await create_tag(client, name)

    (trade_id,) = ids_of(await create_import(client, file_of({"tags": cell}), account_id=account_id))

    assert trade_id is not None
    assert sorted(tag["name"] for tag in (await get_trade(client, trade_id))["tags"]) == sorted(names)


@pytest.mark.parametrize("cell", ["[FOMO]", '["FOMO"', "[1]", '["FOMO", null]', "FOMO;Luck", "a;b"])
async def test_tags_that_are_not_in_the_journal_or_no_list_are_an_error_with_the_line(
    client: httpx.AsyncClient, account_id: int, cell: str
) -> None:
    for name in ("FOMO", "a;b"):
        await create_tag(client, name)

    refused = await send_file(client, file_of({"tags": "FOMO"}, {"tags": cell}), account_id)

    assert details_of(refused)["line"] == 3
    assert details_of(refused)["reason"].startswith("tags ")


async def test_what_a_stranger_has_named_is_not_found(
    client: httpx.AsyncClient, other_user_client: httpx.AsyncClient, account_id: int
) -> None:
    await create_tag(other_user_client, "FOMO")
    await create_strategy(other_user_client, **CHECKLIST)
    rows = [{"tags": "FOMO"}, {"strategy": "Breakout"}, {"strategy": "Breakout", "setup": "High"}]

    refused = await send_file(client, file_of(*rows), account_id)

    reasons = [row["reason"] for row in details_of(refused)["rows"]]
    assert [reason.split()[0] for reason in reasons] == ["tags", "strategy", "strategy"]


async def test_a_risk_of_none_is_no_risk_although_there_is_a_stop(
    client: httpx.AsyncClient, account_id: int
) -> None:
    file = file_of({"stop_loss": "99", "initial_risk": "none"}, {"stop_loss": "99", "initial_risk": ""})

    await create_import(client, file, account_id=account_id)

    assert [(trade["stop_loss"], trade["initial_risk"]) for trade in await trades_in(client)] == [
        (99, None),
        (99, 1),
    ]


@pytest.mark.parametrize(
    "notes",
    ["  two spaces before\tand after  ", "a line\nand another\n", 'she said "wait"; I did, twice', " "],
)
async def test_notes_keep_their_white_space(client: httpx.AsyncClient, account_id: int, notes: str) -> None:
    await create_import(client, file_of({"notes": notes}), account_id=account_id)

    assert [trade["notes"] for trade in await trades_in(client)] == [notes]


async def test_a_row_is_named_by_the_line_that_it_ends_on(client: httpx.AsyncClient, account_id: int) -> None:
    file = file_of({"notes": "one"}, {"notes": "two\nlines"}, {"notes": "", "quantity": "0"})

    foretold = await create_import(client, file, account_id=account_id, dry_run="true")

    assert [row["line"] for row in foretold["rows"]] == [2, 4, 5]


# While an import runs ------------------------------------------------------------------------------------

ROWS = examples(full=20_000, ci=6_000)


@pytest.mark.soak
async def test_reads_are_answered_while_a_large_file_comes_in_and_no_acknowledged_write_is_lost(
    app: Starlette, client: httpx.AsyncClient, account_id: int
) -> None:
    goal = await create_goal(client, timeframe="daily")
    await snapshots_of(client, goal["id"])
    columns = list(PLAIN)
    trades = "".join(
        f"ES,long,1,{number},{number + 1},2026-01-05T14:00:00Z,2026-01-05T15:00:00Z\n"
        for number in range(1, ROWS + 1)
    )
    running = asyncio.create_task(send_file(client, ",".join(columns) + "\n" + trades, account_id))
    acknowledged: dict[str, int] = {}
    key = await new_key_for(app)

    async def read(path: str) -> list[int]:
        answers = []
        while not running.done():
            answers.append((await client.get(path)).status_code)
        return answers

    async def write(writer: int) -> None:
        async with client_of(app, key) as other:
            for number in range(1000):
                if running.done():
                    return
                name = f"{writer} of {number}"
                answer = await other.post("/tag-categories", json={"name": name})
                assert answer.status_code == 201 or error_of(answer) == (503, "busy")
                acknowledged[name] = answer.status_code

    reads = asyncio.gather(*(read(path) for path in ("/tags", "/trades", f"/goals/{goal['id']}/snapshots")))
    await asyncio.gather(*(write(writer) for writer in range(3)), reads)

    assert unwrap(await running)["counts"] == {"new": ROWS, "duplicate": 0, "updated": 0, "error": 0}
    assert all(len(answers) > 10 and set(answers) == {200} for answers in reads.result())
    names = {category["name"] for category in unwrap(await client.get("/tag-categories"))}
    assert names == {name for name, status in acknowledged.items() if status == 201}
    assert (await client.get("/trades")).json()["meta"]["pagination"]["total"] == ROWS
    assert await actual_of(client, metric="net_pnl") == ROWS


# Trades entered by hand ----------------------------------------------------------------------------------


async def test_a_trade_entered_by_hand_is_recognised_by_a_row_with_an_id_that_it_has_not(
    client: httpx.AsyncClient, account_id: int
) -> None:
    by_hand = await create_trade(client, account_id, notes="mine")

    first = await create_import(
        client, file_of({"external_id": "a"}, {"external_id": "b"}), account_id=account_id
    )
    again = await create_import(
        client, file_of({"external_id": "a"}, {"external_id": "b"}), account_id=account_id
    )

    assert [row["verdict"] for row in first["rows"]] == ["duplicate", "new"]
    assert [row["verdict"] for row in again["rows"]] == ["duplicate", "duplicate"]
    assert unwrap(await client.get(f"/trades/{by_hand['id']}")) == by_hand


async def test_two_rows_of_one_name_are_refused(client: httpx.AsyncClient, account_id: int) -> None:
    refused = await send_file(client, file_of({"row": "1"}, {"row": "1"}), account_id)

    assert details_of(refused)["reason"] == "row '1' is repeated"


async def test_a_correction_leaves_what_the_trader_has_edited_of_the_other_facts(
    client: httpx.AsyncClient, account_id: int
) -> None:
    trade_id = (
        await create_import(client, file_of({"external_id": "a", "fees": "1"}), account_id=account_id)
    )["rows"][0]["trade_id"]
    await client.patch(f"/trades/{trade_id}", json={"symbol": "MES"})

    report = await create_import(client, file_of({"external_id": "a", "fees": "2"}), account_id=account_id)

    assert report["rows"][0]["changed"] == ["fees"]
    trade = unwrap(await client.get(f"/trades/{trade_id}"))
    assert (trade["symbol"], trade["fees"]) == ("MES", 2)


async def test_a_note_to_an_answer_keeps_the_rules_of_notes(
    client: httpx.AsyncClient, account_id: int
) -> None:
    told = {"strategy": "S", "setup": "T", "confirmations": '[["Volume", true, "a\\u0000b"]]'}

    refused = await send_file(client, file_of(told), account_id)

    assert details_of(refused)["reason"].startswith("confirmations must not contain control characters")

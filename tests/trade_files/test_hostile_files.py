"""Files that are made to do harm: time and memory grow with their length alone, and everything has bounds."""

import asyncio
import io
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from commands import PATIENCE, Server, environment, health, new_key, running, start
from factories import Client, create_account, details_of, error_of, read_file, send_file, unwrap
from file_tables import SAMPLES, read_errors
from starlette.applications import Starlette

from journal_api.database.user_threads import in_thread
from journal_api.trade_files import left_out
from journal_api.trade_files.profiles.proposal import propose_profile
from journal_api.trade_files.readings import split_rows
from journal_api.trade_files.texts import read_text

HEADER = "symbol,direction,quantity,entry_price,opened_at"
ROW = "ES,long,1,1,2026-01-05 14:00:00"
MIB = 1024 * 1024


def page(begin: str, part: str, end: str = "") -> Callable[[int], str]:
    """A page of HTML with so much of the part in a table."""
    return lambda size: f"<html><table><tr>{begin}{part * (size // len(part))}{end}</table>"


def flex(begin: str, part: str, end: str = "") -> Callable[[int], str]:
    """A Flex Query with so much of the part."""
    return lambda size: f"<FlexQueryResponse>{begin}{part * (size // len(part))}{end}</FlexQueryResponse>"


def flex_attributes(size: int) -> str:
    attributes = " ".join(f'a{number}=""' for number in range(size // 10))
    return f"<FlexQueryResponse><Trade {attributes}/></FlexQueryResponse>"


def flex_names(size: int) -> str:
    return "<FlexQueryResponse>" + "".join(f"<a{number}/>" for number in range(size // 10))


def cell(column: str, part: str) -> Callable[[int], str]:
    """A row with a cell of that column made of so much of the part."""
    columns, cells = HEADER.split(","), ROW.split(",")
    if column not in columns:
        columns, cells = [*columns, column], [*cells, ""]

    def file(size: int) -> str:
        cells[columns.index(column)] = '"' + part * (size // len(part)) + '"'
        return f"{','.join(columns)}\n{','.join(cells)}\n"

    return file


def lines(header: str, part: str) -> Callable[[int], str]:
    return lambda size: f"{header}\n" + part * (size // len(part))


def fills_in_any_order(size: int) -> str:
    chance = random.Random(size)
    return "Date,Time,Symbol,Quantity,Price,Side\n" + "".join(
        f"2026-03-{chance.randint(1, 28):02},09:{chance.randint(0, 59):02},A,1,1,B\n" for _ in range(size // 26)
    )


FILLS = "Date,Time,Symbol,Quantity,Price,Side"
TRADERVUE = (
    "Open Datetime,Close Datetime,Symbol,Side,Volume,Exec Count,Entry Price,Exit Price,Gross P&L,Notes\n"
    '2026-03-02 09:41:07,2026-03-02 09:58:30,A,L,2,2,1,2,1,"'
)
# A name, a file of about so many characters, and how many of them.
SHAPES: list[tuple[str, Callable[[int], str], int]] = [
    ("a name without a value in a tag", page("<td ", "a", ">x"), 12_000),
    ("blanks after a name in a tag", page("<td a", " ", ">x"), 12_000),
    ("quotes in a tag", page("<td ", 'a="', ">x"), 12_000),
    ("a tag that never ends", page("<td><", "a", "<b>"), 12_000),
    ("named tags that never end", page("", "<td", "<b>"), 60_000),
    ("a tag over many lines", page("<td", "\n", ">x"), 20_000),
    ("a picture over many lines", page("<img ", "\na", ">"), 40_000),
    ("short tags", page("<td>", "<b>"), 40_000),
    ("entities", page("<td>", "&amp;"), 60_000),
    ("a number of a character", page("<td>", "&#1"), 60_000),
    ("wide cells", page("", "<td colspan=999>"), 60_000),
    ("comments", page("<td>", "<!--"), 40_000),
    ("attributes of XML", flex_attributes, 100_000),
    ("names in XML", flex_names, 200_000),
    ("an attribute of XML over many lines", flex('<Trade symbol="', "a\n", '"/>'), 400_000),
    ("an element of XML without an end", flex("<Trade ", "a\n"), 400_000),
    ("a comment in XML over many lines", flex("<!--", "a\n", "-->"), 400_000),
    ("entities in XML", flex('<Trade symbol="', "&amp;", '"/>'), 200_000),
    ("columns", lambda size: HEADER + "," + ",".join(f"c{number}" for number in range(size // 6)), 24_000),
    ("empty cells of a header", lambda size: HEADER + "," * size, 100_000),
    # Beyond 10,000 each is an error, which takes longer than a row that is skipped.
    ("blank lines", lines(HEADER, "\n"), 40_000),
    ("short rows", lines(HEADER, "x\n"), 10_000),
    ("quotes", lines(HEADER, '"'), 100_000),
    ("lines in a quoted cell", lines(HEADER + '\n"', "x\n"), 40_000),
    ("digits", cell("quantity", "1"), 100_000),
    ("groups of digits", cell("quantity", ",000"), 9_000),
    ("signs of currencies", cell("entry_price", "$"), 9_000),
    ("a date", cell("opened_at", "2026-01-05 "), 100_000),
    ("marks to be put in order", cell("symbol", "a\u0301\u0323"), 100_000),
    ("dashes that an error shows", cell("quantity", "a-"), 9_000),
    ("names", cell("tags", "a;"), 100_000),
    ("brackets of names", cell("tags", "["), 100_000),
    ("names as JSON", lambda size: cell("tags", "[" + '""a"",' * (size // 6) + '""a""]')(1), 100_000),
    ("fills in any order", fills_in_any_order, 12_000),
    ("tags in a note without end", lambda size: TRADERVUE + "<p " * (size // 3) + '"\n', 100_000),
    ("entities in a note", lambda size: TRADERVUE + "&a" * (size // 2) + '"\n', 100_000),
]


# What takes less than this many seconds is no matter, and not to be told from noise.
FLOOR = 0.01


def seconds_for(file: str, enough: float) -> float:
    """Of the processor, at best of five times; the first time that takes less than enough is the last."""
    best = math.inf
    for _ in range(5):
        begun = time.thread_time()
        read_errors(file)
        best = min(best, time.thread_time() - begun)
        if best < enough:
            break
    return best


@pytest.mark.parametrize(("make", "size"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
@pytest.mark.promise(19)
def test_the_time_for_a_file_grows_no_faster_than_its_length(make: Callable[[int], str], size: int) -> None:
    once = max(seconds_for(make(size // 2), enough=FLOOR), FLOOR)

    assert seconds_for(make(2 * size), enough=8 * once) < 8 * once  # 16 would be the square


BILLION_LAUGHS = (
    '<?xml version="1.0"?>\n<!DOCTYPE FlexQueryResponse [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + number)} "{f"&{chr(97 + number)};" * 10}">' for number in range(9))
    + ']>\n<FlexQueryResponse><Trade symbol="&j;"/></FlexQueryResponse>'
)
EXTERNAL_ENTITY = (
    '<?xml version="1.0"?><!DOCTYPE FlexQueryResponse [<!ENTITY file SYSTEM "file:///etc/passwd">]>\n'
    '<FlexQueryResponse><Trade symbol="&file;"/></FlexQueryResponse>'
)
BEYOND = [
    (HEADER + ",c" * 996 + "\n", 1, "has 1001 columns; the maximum is 1000"),
    (f"{HEADER},{'c' * 256}\n", 1, "has a column whose name has over 255 characters"),
    (f"{HEADER}\n{ROW}\n" + "x" * (4 * MIB + 1), 3, "is in a row of over 4194304 characters"),
    (f'{HEADER}\n{ROW}\n"' + f"{'x' * 1023}\n" * 5000, 4098, "is in a row of over 4194304 characters"),
    (f"{HEADER}\n{ROW}\n" + "\n" * 10_001, 10_003, "is blank, and at most 10000 blank rows are skipped"),
    (f"{HEADER}\n{ROW.replace('ES', 'E' * 10_001)}\n", 2, "symbol has over 10000 characters"),
    (f"{HEADER},tags\n{ROW},{'a;' * 1001}\n", 2, "tags must have at most 1000 items"),
    (f"{HEADER},tags\n{ROW},{';' * (MIB + 1)}\n", 2, "tags must have at most 1048576 characters"),
    (
        f'{HEADER},confirmations\n{ROW},"[' + ",".join(['[""a"",true,null]'] * 1001) + ']"\n',
        2,
        "confirmations must have at most 1000 items",
    ),
    ("<table>" + "\n" * 1_100_000, 16 * 65_536 - 6, "follows over 1000000 lines of under 8 characters"),
    (f"<table>\n<tr>{'<td>' * (MIB + 20_000)}", 2, "is in a row of over 4194304 characters"),
    (f"<table>\n<tr><td>{'x' * 65537}</td>\n", 2, "has a cell of over 65536 characters"),
    (flex(f'\n<Trade symbol="{"x" * 65537}"', "/>")(2), 2, "has an element of over 65536 characters"),
    (flex("\n<Trade ", " ")(200_000), 2, "has an element of over 65536 characters"),
    (flex("\n", "<a>")(300), 2, "is in over 100 elements"),
    (flex_names(200_000), 1, "has over 10000 different names of elements and attributes"),
    (BILLION_LAUGHS, 2, "has a document type declaration, which no Flex Query has"),
    (EXTERNAL_ENTITY, 1, "has a document type declaration, which no Flex Query has"),
    (flex('\n<Trade symbol="&', "lol", ';"/>')(3), 2, "is not XML: undefined entity"),
    (
        f"{FILLS}\n" + "".join(f"2026-03-09,09:31,A{number},1,1,B\n" for number in range(10_001)),
        10_002,
        "Symbol is the 10001th: split the file",
    ),
]


@pytest.mark.parametrize(("file", "line", "reason"), BEYOND, ids=[beyond[2] for beyond in BEYOND])
def test_what_is_beyond_a_bound_is_refused_with_its_line_and_the_bound(file: str, line: int, reason: str) -> None:
    assert any(error.startswith(f"line {line}: {reason}") for error in read_errors(file))


WITHIN = {
    "columns": HEADER + "".join(f",c{number}" for number in range(995)) + f"\n{ROW}{',x' * 995}\n",
    "a name of a column": f"{HEADER},{'c' * 255}\n{ROW},x\n",
    "a cell that is not read": f"{HEADER},other\n{ROW},{'x' * 100_000}\n",
    "blank rows": f"{HEADER}\n{ROW}\n" + "\n" * 10_000,
    "notes": f"{HEADER},notes\n{ROW},{'x' * 10_000}\n",
    "a cell and a tag of a page": f"<table><tr><td>{'x' * 65_536}</td></tr><img src='{'y' * 200_000}'>"
    f"<tr><th>{'<th>'.join(HEADER.split(','))}<tr><td>{'<td>'.join(ROW.split(','))}</tr>",
    "cells of a row of a page": f"<table><tr><th>{'<th>'.join(HEADER.split(','))}{'<th>' * 1500}"
    f"<tr><td>{'<td>'.join(ROW.split(','))}{'<td>' * 1500}</tr>",
}


@pytest.mark.parametrize("file", WITHIN.values(), ids=WITHIN)
def test_what_is_within_its_bounds_is_read(file: str) -> None:
    assert len(read_file(file).rows) == 1
    assert read_errors(file) == []


async def test_a_file_of_many_errors_is_not_read_to_its_end(
    client: Client, account_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert left_out.MAX_ERRORS == 100_000
    monkeypatch.setattr(left_out, "MAX_ERRORS", 5000)
    file = f"{HEADER}\n" + "x\n" * 7000

    counts = unwrap(await send_file(client, file, account_id, dry_run="true"))["counts"]
    refused = await send_file(client, file, account_id)

    assert 5000 < counts["error"] < 6000
    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["counts"] == counts


@pytest.mark.parametrize(
    ("begin", "size", "is_found"),
    [(" " * 999 + "\n", 0.9, True), (" " * 999 + "\n", 1.1, False), ("<tr>" * 250, 1.1, False)],
    ids=["within", "beyond", "empty rows of a page beyond"],
)
def test_a_profile_is_proposed_for_a_table_that_begins_in_the_first_mib(
    begin: str, size: float, is_found: bool
) -> None:
    table = "Ticker,Bought,Sold\nES,1,2\n"
    if begin.startswith("<"):
        table = "<tr><td>Ticker<td>Bought<td>Sold<tr><td>ES<td>1<td>2<tr>"

    proposal = propose_profile(io.BytesIO((begin * int(size * MIB / 1000) + table).encode()))

    assert (proposal is not None) is is_found
    assert proposal is None or proposal.columns == ["Ticker", "Bought", "Sold"]


def test_many_columns_that_are_alike_are_not_multiplied_with_each_other() -> None:
    def seconds(columns: int) -> float:
        begun = time.thread_time()
        propose_profile(io.BytesIO((",".join("1" * columns) + "\n").encode() * 120))
        return time.thread_time() - begun

    assert seconds(20) < 16 * max(seconds(5), FLOOR)


@pytest.mark.parametrize("line", ["\n", "\r", ",\n", "<tr>\n", "<tr><td colspan=999>\n"])
def test_blank_lines_are_not_read_to_their_end_where_a_header_or_a_profile_is_searched(line: str) -> None:
    begin = "<table>" if line.startswith("<") else ""
    file = io.BytesIO((begin + line * (2 * MIB // len(line))).encode())

    assert propose_profile(file) is None
    of_proposal = file.tell()
    next(split_rows(read_text(file)))

    assert (of_proposal < MIB / 2, file.tell() < MIB / 2) == (True, True)


def test_of_what_cannot_be_read_an_error_shows_the_beginning() -> None:
    long = '"' + "1 x " * 2000 + '"'

    (reason,) = read_errors(f"{HEADER}\nES,long,{long},1,2026-01-05 14:00:00\n")

    assert len(reason) < 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    db = tmp_path_factory.mktemp("memory") / "journal.db"
    with running(db) as server:
        yield server


@pytest.fixture(scope="module")
def owner(server: Server) -> Iterator[httpx.Client]:
    with server.client(new_key(server.out.with_name("journal.db"))) as owner:
        owner.post("/accounts", json={"name": "Sim"})
        send(owner, f"{HEADER}\n" + f"{ROW}\n" * 2000)  # what is kept of any import
        yield owner


def send(client: httpx.Client, file: str, dry_run: bool = True) -> httpx.Response:
    query = {"account_id": "1", "dry_run": str(dry_run).lower(), "timezone": "UTC"}
    headers = {"Content-Type": "text/csv"}
    return client.post("/imports", params=query, content=file.encode(), headers=headers)


def status_of(pid: int, name: str) -> int:
    """Bytes, as Linux has them."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


HEAVY: dict[str, Callable[[], str]] = {
    "short rows": lambda: f"{HEADER}\n" + "x\n" * 30_000,
    "a header of 8 MiB": lambda: "a," * (4 * MIB),
    "blank lines": lambda: "\r\n" * (4 * MIB),
    "a cell of 7 MiB of names": lambda: f"{HEADER},tags\n{ROW},{'a;' * (7 * MIB // 2)}\n",
    "names as JSON": lambda: f'{HEADER},tags\n{ROW},"[' + '"""",' * 200_000 + '""""]"\n',
    "answers": lambda: f'{HEADER},confirmations\n{ROW},"[' + '["""",true,null],' * 100_000 + '0]"\n',
    "a page with huge cells": lambda: "<html><table><tr>" + ("<td>" + "x" * 65_000) * 120,
    "a page with a huge tag": lambda: "<html><table><tr><td " + "x" * (8 * MIB),
    "names in XML": lambda: flex_names(8 * MIB),
    "elements of XML": lambda: flex("", "<Trade/>")(2 * MIB),
    "notes with a wide character": lambda: f"{HEADER},notes\n" + f"{ROW},{'x' * 2_000_000}😀\n" * 4,
    "copies": lambda: f"{HEADER},copy_of\n" + f"{ROW},1\n" * 5_000,
    "fills": lambda: f"{FILLS}\n" + "2026-03-09,09:31,A,1,1,B\n" * 5_000,
}
# As docs/imports.md has it: times the file, and for a row.
TIMES_THE_FILE, FOR_A_ROW = 25, 128 * MIB


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("make", HEAVY.values(), ids=HEAVY)
@pytest.mark.promise(19)
def test_an_import_takes_no_more_memory_than_documented(
    server: Server, owner: httpx.Client, make: Callable[[], str]
) -> None:
    file, pid = make(), server.process.pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins anew
    before = status_of(pid, "VmRSS")

    answer = send(owner, file)

    taken = status_of(pid, "VmHWM") - before
    is_read = file.startswith((FILLS, f"{HEADER},copy_of"))
    assert answer.status_code in ((200,) if is_read else (200, 400))
    a_row = 4096 * file.count("\n") if is_read else 0
    assert taken < max(TIMES_THE_FILE * len(file.encode()), 16 * MIB, a_row)
    assert taken < FOR_A_ROW


@pytest.mark.promise(19)
async def test_many_files_of_one_user_leave_threads_to_the_others() -> None:
    over = Event()
    own = [asyncio.create_task(in_thread(1, lambda: over.wait(PATIENCE))) for _ in range(50)]
    await asyncio.sleep(0)  # all of them ask for a thread

    answered = await in_thread(2, lambda: "read")
    also = await asyncio.to_thread(lambda: "backed up")

    assert (answered, also) == ("read", "backed up")
    assert not any(task.done() for task in own)
    over.set()
    assert all(await asyncio.gather(*own))


LONG = f"{HEADER}\n" + f"{ROW}\n" * 200_000


@pytest.mark.promise(5)
async def test_an_import_ends_when_its_client_goes_away(app: Starlette, client: Client) -> None:
    await create_account(client, "Sim")
    gone = asyncio.Event()
    sent = [LONG.encode()]

    async def receive() -> dict[str, object]:
        if sent:
            return {"type": "http.request", "body": sent.pop(), "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def no_answer(message: object) -> None:
        raise AssertionError("nobody is there to answer")

    headers = [(b"host", b"localhost"), (b"authorization", client.headers["authorization"].encode())]
    request = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/v1/imports", "raw_path": b"/v1/imports", "root_path": "", "query_string": b"account_id=1",
        "headers": headers, "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    handled = asyncio.create_task(app(request, receive, no_answer))
    for _ in range(50):
        unwrap(await client.get("/accounts"))
    assert not handled.done()

    gone.set()

    async with asyncio.timeout(PATIENCE):
        await handled
    assert unwrap(await client.get("/trades")) == []
    assert unwrap(await send_file(client, f"{HEADER}\n{ROW}\n", 1))["counts"]["new"] == 1


@pytest.mark.promise(19)
def test_sigterm_is_heard_and_others_are_answered_while_a_long_file_is_read(db: Path) -> None:
    with running(db) as server, server.client(new_key(db)) as owner:
        owner.post("/accounts", json={"name": "Sim"})

        def import_it() -> None:
            with suppress(httpx.TransportError):
                send(owner, LONG[: MIB // 2])

        importing_it = Thread(target=import_it)
        importing_it.start()
        answers = [health(server.url).status_code for _ in range(5)]
        assert importing_it.is_alive()
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(PATIENCE)
        importing_it.join()

    assert (set(answers), code) == ({200}, 0)


def test_a_file_that_is_read_whole_before_it_is_stored_locks_nobody_out_meanwhile(
    server: Server, owner: httpx.Client, tmp_path: Path
) -> None:
    db, file = server.out.with_name("journal.db"), tmp_path / "orders.csv"
    orders = (SAMPLES / "tradovate_orders.csv").read_text()
    file.write_text(orders + next(row for row in orders.splitlines(True) if "Canceled" in row) * 15_000)
    arguments = ["import", str(file), "--account", "Sim", "--timezone", "UTC", "--db", str(db)]
    process = start(arguments, environment(), subprocess.DEVNULL, subprocess.DEVNULL)

    written: list[int] = []
    while process.poll() is None:
        body = {"name": f"of {len(written)}"}
        written.append(owner.post("/tag-categories", json=body).status_code)
        time.sleep(0.02)

    assert process.wait(PATIENCE) == 0
    assert len(written) > 5
    assert set(written) == {201}

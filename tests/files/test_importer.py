"""Files of trades: docs/imports.md."""

import asyncio
import csv
import io
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from aiosqlite import Connection
from commands import change, command, done, dump, import_file, make_journal, refused, rows
from conftest import client_of, new_key_for, started
from factories import (
    create_category,
    create_goal,
    create_strategy,
    create_tag,
    insert_account,
    read_file,
    snapshots_of,
)
from hypothesis import example, given
from hypothesis import strategies as st
from proofs import tried

from journal_api.app import create_app
from journal_api.database.database import Database
from journal_api.errors import ValidationFailed
from journal_api.repositories import imports
from journal_api.rules.import_rows import Candidate, Rejected
from journal_api.settings import Settings
from journal_api.structs.imports import Verdict
from journal_api.trade_files import batches, importer

DATA = Path(__file__).parents[1] / "data"
TRADOVATE = DATA / "tradovate_position_history.csv"
ROUND_TRIPS = DATA / "round_trips.csv"
MINIMAL = ("symbol", "direction", "quantity", "entry_price", "opened_at")


# Helpers -----------------------------------------------------------------------------------------------


def table_of(file: Path) -> list[list[str]]:
    """The cells of a file, its header first."""
    return list(csv.reader(file.read_text().splitlines()))


def csv_of(table: Sequence[Sequence[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(table)
    return written.getvalue().encode()


def csv_file(tmp_path: Path, *trades: dict[str, str], name: str = "trades.csv") -> Path:
    """Round trips that have the columns of the first; what is not said is an open long of one ES."""
    plain = dict(zip(MINIMAL, ("ES", "long", "1", "6000", "2026-02-10 09:30:00"), strict=True))
    columns = list(dict.fromkeys([*MINIMAL, *trades[0]]))
    table = [[(plain | trade).get(column, "") for column in columns] for trade in trades]
    file = tmp_path / name
    file.write_bytes(csv_of([columns, *table]))
    return file


def closed(**cells: str) -> dict[str, str]:
    return {"closed_at": "2026-02-10 10:00:00", "exit_price": "6010", **cells}


def read_all(file: Path, zone: str = "UTC") -> list[Candidate | Rejected]:
    with file.open("rb") as opened:
        return list(read_file(opened, zone).candidates)


def read_only(file: Path, zone: str = "UTC") -> dict[str, Any]:
    """The columns, times in UTC, of the one trade in the file; raises ValidationFailed for a broken row."""
    (found,) = read_all(file, zone)
    if isinstance(found, Rejected):
        raise ValidationFailed(f"line {found.line}: {found.reason}")
    return found.columns


def read_one(tmp_path: Path, **cells: str) -> dict[str, Any]:
    """The columns, times in UTC, of the one round trip with those cells."""
    return read_only(csv_file(tmp_path, cells))


def read_pair(tmp_path: Path, zone: str = "UTC", **cells: str) -> dict[str, Any]:
    """The columns of a Tradovate pair: the last of the example but for those cells."""
    header, *_, row = table_of(TRADOVATE)
    file = tmp_path / "pair.csv"
    file.write_bytes(
        csv_of([header, [cells.get(column, cell) for column, cell in zip(header, row, strict=True)]])
    )
    return read_only(file, zone)


def units(amount: str) -> int:
    return int(Decimal(amount) * 10**8)


def reason_of(file: Path) -> str:
    (rejected,) = (one for one in read_all(file) if isinstance(one, Rejected))
    return f"line {rejected.line}: {rejected.reason}"


@asynccontextmanager
async def journal_at(db: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The service in this process on that file, until the end of the block."""
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        yield client


async def prepare(db: Path) -> None:
    """Make an account and what round_trips.csv names."""
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        await insert_account(app)
        setups = [{"name": "Break of the high"}, {"name": "Break of the low"}]
        await create_strategy(client, "Opening range", setups=setups)
        await create_strategy(client, "Fade", setups=[{"name": "Exhaustion"}])
        category_id = (await create_category(client))["id"]
        for name, kind in (("Patient", "custom"), ("FOMO", "mistake"), ("Chased", "mistake")):
            await create_tag(client, name, category_id=category_id, type=kind)


@pytest.fixture
async def catalog(tmp_path: Path) -> Path:
    """A database, closed, with an account and what round_trips.csv names."""
    db = tmp_path / "journal.db"
    await prepare(db)
    return db


class Outcome(NamedTuple):
    new: int
    duplicate: int


class RolledBack:
    """A database whose transactions roll back in the end; `trade_count` is what the last one had."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.reader, self.slow_reader = database.reader, database.slow_reader
        self.read_transaction, self.write = database.read_transaction, database.write
        self.trade_count = 0

    @asynccontextmanager
    async def transaction(self, *, commit: bool = True) -> AsyncIterator[Connection]:
        assert commit
        async with self.database.transaction(commit=False) as db:
            yield db
            ((self.trade_count,),) = await db.execute_fetchall("SELECT count(*) FROM trades")


class Workbench:
    """A database in this process on which imports are tried and taken back, so that each meets the same."""

    def __init__(self, folder: Path) -> None:
        self.db, self.file = folder / "journal.db", folder / "trades.csv"
        self.runner = asyncio.Runner()
        self.runner.run(prepare(self.db))
        self.database = self.runner.run(Database.open(self.db))
        self.before = dump(self.db)

    def close(self) -> None:
        self.runner.run(self.database.close())
        self.runner.close()

    def attempt(self, content: bytes) -> Outcome | ValidationFailed:
        """How the import ends; a refusal has named a line and left nothing, a success has added all rows."""
        self.file.write_bytes(content)
        outcome = self.runner.run(self._attempt())
        if isinstance(outcome, ValidationFailed):
            assert dump(self.db) == self.before
            line = outcome.details["line"]
            assert 1 <= line <= len(content.splitlines()) + 1
            assert str(outcome).startswith(f"line {line}: ")
        return outcome

    async def _attempt(self) -> Outcome | ValidationFailed:
        """An import that is taken back, after a dry run that must say the same."""
        source = imports.Source(1, self.file.name, "0" * 64)
        told: list[list[Verdict]] = [[], []]
        try:
            with self.file.open("rb") as opened:
                found = read_file(opened)
                _, foretold, *_ = await importer.import_trades(
                    self.database, 1, source, found, told[0].extend, dry_run=True
                )
            rolled_back = RolledBack(self.database)
            with self.file.open("rb") as opened:
                found = read_file(opened)
                _, counts, *_ = await importer.import_trades(
                    rolled_back, 1, source, found, told[1].extend, dry_run=False
                )
            assert rolled_back.trade_count == counts.new
        except ValidationFailed as refusal:
            assert not told[1] or foretold.error
            return refusal
        assert counts == foretold
        assert [(one.line, one.verdict) for one in told[0]] == [(one.line, one.verdict) for one in told[1]]
        assert (counts.updated, counts.error) == (0, 0)
        return Outcome(counts.new, counts.duplicate)


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    workbench = Workbench(tmp_path_factory.mktemp("workbench"))
    yield workbench
    workbench.close()


# The command -------------------------------------------------------------------------------------------


def test_a_tradovate_export_is_recognised_by_its_header_and_imported_whole(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"

    ran = import_file(db, TRADOVATE)

    assert (ran.code, ran.out) == (0, "5 new, 0 already there\n")
    assert rows(db, "SELECT format, added, duplicates, file_name FROM imports") == [
        ("Tradovate position history", 5, 0, "tradovate_position_history.csv")
    ]
    assert rows(db, "SELECT sum(gross_pnl), sum(fees), count(*) FROM trades") == [(units("-218"), 0, 5)]
    assert rows(db, "SELECT direction, count(*) FROM trades GROUP BY direction") == [
        ("long", 3),
        ("short", 2),
    ]
    assert rows(db, "SELECT DISTINCT symbol, multiplier FROM trades") == [("MNQH6", units("2"))]


def test_the_pairs_of_an_export_have_the_sides_times_and_ids_of_their_fills(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"

    import_file(db, TRADOVATE, "--timezone", "America/New_York")

    assert rows(
        db,
        """
        SELECT external_id, direction, entry_price / 1000000, exit_price / 1000000, opened_at, closed_at
        FROM trades
        ORDER BY closed_at
        """,
    ) == [
        ("512300418344-512300418383", "long", 2251025, 2249850, *new_york("09:31:04", "09:36:22")),
        ("512300418489-512300418452", "short", 2253000, 2254125, *new_york("09:58:47", "10:05:12")),
        ("512300418580-512300418604", "long", 2247550, 2248800, *new_york("11:02:55", "11:19:30")),
        ("512300418702-512300418733", "long", 2248100, 2246075, *new_york("13:20:41", "13:26:17")),
        ("512300418871-512300418864", "short", 2249225, 2250575, *new_york("14:51:09", "14:51:09")),
    ]


def new_york(*clocks: str) -> list[str]:
    """The instants of the example's day; New York is five hours behind in winter."""
    return [f"2026-02-12T{int(clock[:2]) + 5:02}{clock[2:]}.000000Z" for clock in clocks]


async def test_round_trips_are_recognised_and_imported_with_every_column(catalog: Path) -> None:
    ran = import_file(catalog, ROUND_TRIPS, "--timezone", "America/New_York")

    assert ran.out == "7 new, 0 already there\n"
    assert rows(catalog, "SELECT format FROM imports") == [("round trips",)]
    trades = rows(
        catalog,
        """
        SELECT symbol, direction, quantity, multiplier, entry_price, exit_price, stop_loss, opened_at,
            closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategies.name, setups.name,
            external_id, notes
        FROM trades
        LEFT JOIN strategies ON strategies.id = trades.strategy_id
        LEFT JOIN setups ON setups.id = setup_id
        ORDER BY trades.id
        """,
    )
    assert trades[1] == (
        *("ESH6", "short", units("1"), units("50"), units("6020"), units("6023.5"), units("6023.5")),
        *("2026-02-10T15:15:00.000000Z", "2026-02-10T15:21:33.000000Z", "2026-02-10"),
        *(units("-175"), units("4.6"), units("175"), "C", "Opening range", "Break of the low", "RT-1002"),
        'Stopped out; the plan said "wait"',
    )
    assert [trade[10] and trade[10] / 10**8 for trade in trades] == [650, -175, 612.5, 10, 10, -1234.5, None]
    assert [trade[12] and trade[12] / 10**8 for trade in trades] == [300, 175, 250, None, None, None, 18.7575]
    assert trades[6][8:11] == (None, None, None)
    tags = rows(
        catalog,
        """
        SELECT external_id, group_concat(name, ',')
        FROM (SELECT trades.external_id, tags.name
              FROM trades
              JOIN trade_tags ON trade_id = trades.id
              JOIN tags ON tags.id = tag_id
              ORDER BY trades.id, tags.id)
        GROUP BY external_id
        """,
    )
    assert tags == [("RT-1001", "Patient"), ("RT-1002", "FOMO,Chased"), ("RT-1004", "FOMO")]


async def test_importing_a_file_again_adds_nothing(catalog: Path) -> None:
    for file in (TRADOVATE, ROUND_TRIPS):
        import_file(catalog, file)
    before = rows(catalog, "SELECT * FROM trades"), rows(catalog, "SELECT * FROM trade_tags")

    again = [import_file(catalog, file).out for file in (TRADOVATE, ROUND_TRIPS)]

    assert again == ["0 new, 5 already there\n", "0 new, 7 already there\n"]
    assert before == (rows(catalog, "SELECT * FROM trades"), rows(catalog, "SELECT * FROM trade_tags"))


def test_an_overlapping_export_adds_only_the_rows_that_are_new(tmp_path: Path) -> None:
    db, earlier = tmp_path / "journal.db", tmp_path / "earlier.csv"
    header, *pairs = table_of(TRADOVATE)
    earlier.write_bytes(csv_of([header, *pairs[2:]]))
    import_file(db, earlier)

    later = import_file(db, TRADOVATE)

    assert later.out == "2 new, 3 already there\n"


def test_two_identical_fills_in_one_file_are_two_trades(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    two = csv_file(tmp_path, closed(), closed(), name="two.csv")
    three = csv_file(tmp_path, closed(), closed(), closed(), name="three.csv")

    outcomes = [import_file(db, file).out for file in (two, two, three)]

    assert outcomes == ["2 new, 0 already there\n", "0 new, 2 already there\n", "1 new, 2 already there\n"]


def test_the_same_file_into_two_accounts_is_two_sets_of_trades(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, TRADOVATE, account="Sim")

    other = import_file(db, TRADOVATE, account="Live")

    assert other.out == "5 new, 0 already there\n"
    assert rows(
        db, "SELECT name, count(*) FROM trades JOIN accounts ON accounts.id = account_id GROUP BY name"
    ) == [
        ("Live", 5),
        ("Sim", 5),
    ]


def test_a_corrected_fee_or_result_does_not_make_a_second_trade(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, csv_file(tmp_path, closed(gross_pnl="500", fees="1")))

    corrected = import_file(db, csv_file(tmp_path, closed(gross_pnl="499.5", fees="2.5")))

    assert corrected.out == "0 new, 1 updated, 0 already there\n"


def test_an_account_is_made_once_and_recognised_by_its_name_after_normalising(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, TRADOVATE, account="Caf\N{LATIN SMALL LETTER E WITH ACUTE}")

    again = import_file(db, TRADOVATE, account="  Cafe\N{COMBINING ACUTE ACCENT} ")

    assert again.out == "0 new, 5 already there\n"
    assert rows(db, "SELECT count(*) FROM accounts") == [(1,)]


@pytest.mark.parametrize("place", [0, 2, 4], ids=["first", "middle", "last"])
def test_a_broken_row_anywhere_leaves_the_database_as_it_was(tmp_path: Path, place: int) -> None:
    db, broken = tmp_path / "journal.db", tmp_path / "broken.csv"
    header, *pairs = table_of(TRADOVATE)
    import_file(db, csv_file(tmp_path, closed()))
    before = dump(db)
    pairs[place][header.index("Paired Qty")] = "many"
    broken.write_bytes(csv_of([header, *pairs]))

    line = refused("import", broken, "--account", "Sim", "--timezone", "UTC", "--db", db)

    assert dump(db) == before
    assert f"line {place + 2}: " in line
    assert "Paired Qty" in line
    assert "'many'" in line


def test_a_refused_import_does_not_make_its_account_and_says_one_line(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    make_journal(db)
    before = dump(db)

    refused("import", csv_file(tmp_path, {"quantity": "0"}), "--account", "Sim", "--db", db)

    assert dump(db) == before


async def test_a_header_that_is_nearly_known_is_refused_with_the_format_and_the_missing_column(
    catalog: Path, tmp_path: Path
) -> None:
    file = tmp_path / "other.csv"
    file.write_text("symbol,direction,quantity,entry_price\nES,long,1,6000\n")

    line = refused("import", file, "--account", "Sim", "--db", catalog)

    assert "this looks like round trips, but it has no column 'opened_at'" in line


def test_times_without_an_offset_are_read_in_the_owners_zone_unless_said(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", csv_file(tmp_path, closed())
    make_journal(db, "Europe/Berlin")

    command("import", file, "--account", "Own", "--db", db)
    command("import", file, "--account", "Said", "--timezone", "Asia/Tokyo", "--db", db)

    assert rows(db, "SELECT opened_at FROM trades ORDER BY id") == [
        ("2026-02-10T08:30:00.000000Z",),
        ("2026-02-10T00:30:00.000000Z",),
    ]
    assert rows(db, "SELECT timezone FROM imports ORDER BY id") == [("Europe/Berlin",), ("Asia/Tokyo",)]


def test_the_trading_day_follows_the_owners_zone_and_rollover(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    make_journal(db, "America/New_York", "17:00")
    file = csv_file(
        tmp_path,
        closed(closed_at="2026-02-10 16:59:59"),
        closed(closed_at="2026-02-10 17:00:00"),
        closed(closed_at="2026-02-10 23:30:00"),
    )

    command("import", file, "--account", "Sim", "--db", db)

    days = [day for (day,) in rows(db, "SELECT trading_day FROM trades ORDER BY closed_at")]
    assert days == ["2026-02-10", "2026-02-11", "2026-02-11"]


async def test_an_import_shows_in_the_snapshots_of_a_goal_that_was_read_before(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    async with journal_at(db) as client:
        goal = await create_goal(client, metric="gross_pnl", timeframe="daily", target_value=-200)
        earlier = await snapshots_of(client, goal["id"])

    import_file(db, TRADOVATE)

    async with journal_at(db) as client:
        later = await snapshots_of(client, goal["id"], to="2026-02-28")
    assert "2026-02-12" not in [snapshot["period_start"] for snapshot in earlier]
    assert [(one["period_start"], one["actual"], one["achieved"]) for one in later] == [
        ("2026-02-12", -218, False)
    ]


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ({"strategy": "Closing range"}, "Closing range"),
        ({"strategy": "opening range"}, "opening range"),
        ({"strategy": "Opening range", "setup": "Exhaustion"}, "Exhaustion"),
        ({"setup": "Break of the high"}, "setup"),
        ({"tags": "Patient; Greed"}, "Greed"),
    ],
    ids=["strategy", "other case", "setup of another strategy", "setup alone", "tag"],
)
async def test_a_name_that_is_not_in_the_journal_is_refused_with_its_line(
    catalog: Path, tmp_path: Path, cells: dict[str, str], named: str
) -> None:
    empty = {"strategy": "", "setup": "", "tags": ""}
    file = csv_file(tmp_path, closed(**empty), closed(**(empty | cells)))
    before = dump(catalog)

    line = refused("import", file, "--account", "Sim", "--db", catalog)

    assert "line 3: " in line
    assert named in line
    assert dump(catalog) == before


async def test_names_of_another_user_are_not_found(catalog: Path, tmp_path: Path) -> None:
    done("users", "add", "other", "--db", catalog)
    import_file(catalog, TRADOVATE, "--user", "other")
    file = csv_file(tmp_path, closed(tags="FOMO"))

    line = refused("import", file, "--account", "Sim", "--user", "other", "--db", catalog)

    assert "FOMO" in line


def test_an_import_for_another_user_goes_into_an_account_of_their_own(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, TRADOVATE)
    done("users", "add", "other", "--db", db)

    ran = import_file(db, TRADOVATE, "--user", "other")

    assert ran.out == "5 new, 0 already there\n"
    assert rows(db, "SELECT DISTINCT trades.user_id, account_id, accounts.user_id FROM trades, accounts "
                    "WHERE accounts.id = account_id ORDER BY 1") == [(1, 1, 1), (2, 2, 2)]  # fmt: skip


def test_a_trade_is_known_by_the_bytes_that_earlier_versions_have_stored_of_it(tmp_path: Path) -> None:
    stated = {"multiplier": "1"}
    file = csv_file(
        tmp_path,
        closed(fees="4.36", external_id="", **stated),
        stated,
        closed(fees="0", external_id="a-1", **stated),
    )

    read = [one.columns for one in read_all(file) if isinstance(one, Candidate)]

    assert [(columns["fingerprint"].hex(), columns["content"].hex()) for columns in read] == [
        (
            "24c1885a6f404763fbf6591e2c3702cb",
            "3eb5a9f13b97a9687a6992557a6992554b430e17a4816529bcead293d93a38a3efa013c8dda1e5c3",
        ),
        (
            "bf3f8a86f1f3fc30a7a8398f51e4f737",
            "3eb5a9f13b97a9687a6992557a6992554b430e17dfa2aff1bcead293dfa2aff1dfa2aff100000000",
        ),
        (
            "8b768309c26aa6a68a8f7ce720964c47",
            "3eb5a9f13b97a9687a6992557a6992554b430e17a4816529bcead293d93a38a3efa013c8f4dbdf21",
        ),
    ]


def test_a_trade_that_was_deleted_comes_back_with_the_file(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    import_file(db, TRADOVATE)
    change(db, "DELETE FROM trades WHERE id = 3")

    again = import_file(db, TRADOVATE)

    assert again.out == "1 new, 4 already there\n"


def test_a_trade_that_was_edited_is_still_recognised(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", csv_file(tmp_path, closed(), closed())
    import_file(db, file)
    change(db, "UPDATE trades SET exit_price = 1, symbol = 'edited', fees = 5 WHERE id = 2")

    again = import_file(db, file)

    assert again.out == "0 new, 2 already there\n"


# Rows that repeat an external id -----------------------------------------------------------------------


@pytest.mark.parametrize("rows_between", [0, 1, 2 * batches.COPIES_AT_ONCE])
@pytest.mark.parametrize("second", ["FOMO", "Patient"], ids=["same tag", "other tag"])
def test_an_external_id_that_comes_twice_in_a_file_is_an_error_of_the_second_row(
    workbench: Workbench, tmp_path: Path, second: str, rows_between: int
) -> None:
    others = [closed(external_id=f"T-{number}") for number in range(rows_between)]
    trade = closed(external_id="A-1")
    file = csv_file(tmp_path, {**trade, "tags": "FOMO"}, *others, {**trade, "tags": second})

    outcome = workbench.attempt(file.read_bytes())

    assert isinstance(outcome, ValidationFailed)
    assert str(outcome) == f"line {3 + rows_between}: external_id 'A-1' is repeated"


@pytest.mark.parametrize("broken", [None, 2400], ids=["whole", "broken near the end"])
def test_a_file_of_thousands_of_rows_is_all_or_nothing_too(
    workbench: Workbench, tmp_path: Path, broken: int | None
) -> None:
    trades = [closed(external_id=f"T-{number}", tags="FOMO;Patient") for number in range(2500)]
    if broken:
        trades[broken]["quantity"] = "none"

    outcome = workbench.attempt(csv_file(tmp_path, *trades).read_bytes())

    if isinstance(outcome, ValidationFailed):
        assert outcome.details["line"] == (broken or 0) + 2
    else:
        assert outcome == (2500, 0)


# What the file may look like ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\N{BYTE ORDER MARK}" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace(",", " , "),
    ],
    ids=["byte order mark", "carriage returns", "no last line end", "blank lines", "blanks around cells"],
)
def test_a_file_is_read_whatever_program_wrote_it(workbench: Workbench, change: Any) -> None:
    text = TRADOVATE.read_text()

    outcome = workbench.attempt(change(text).encode())

    assert outcome == (5, 0)


def test_a_column_name_with_a_line_end_in_it_does_not_break_the_error_in_two(
    workbench: Workbench,
) -> None:
    table = [[*row, "x", "x"] for row in table_of(ROUND_TRIPS)]
    table[0][-2:] = ["my\nown", "my\nown"]

    refusal = workbench.attempt(csv_of(table))

    assert isinstance(refusal, ValidationFailed)
    assert len(str(refusal).splitlines()) == 1


def test_columns_may_stand_in_any_order_and_others_are_ignored(workbench: Workbench) -> None:
    turned = [["my own", *reversed(row)] for row in table_of(ROUND_TRIPS)]

    outcome = workbench.attempt(csv_of(turned))

    assert outcome == (7, 0)


def test_a_file_with_a_header_and_no_rows_adds_nothing(workbench: Workbench) -> None:
    header = TRADOVATE.read_bytes().splitlines()[0]

    outcome = workbench.attempt(header + b"\n")

    assert outcome == (0, 0)


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (b"", 1),
        (b"\n", 1),
        (b"\xff\xfe" + "symbol,direction\n".encode("utf-16-le"), 1),
        (b"symbol,direction,quantity,entry_price,opened_at,symbol\n", 1),
        (b"symbol,direction,quantity,entry_price,opened_at\nES,long,1,6000\n", 2),
        (b"symbol,direction,quantity,entry_price,opened_at\nES,long,1,6000,2026-02-10 09:30:00,1\n", 2),
        (b'symbol,direction,quantity,entry_price,opened_at\n"ES"x,long,1,6000,2026-02-10 09:30:00\n', 2),
        (b'symbol,direction,quantity,entry_price,opened_at\n"ES,long,1,6000,2026-02-10 09:30:00\n', 2),
        (b"symbol,direction,quantity,entry_price,opened_at\n" + b"E" * 200_000 + b",long,1,6000,2026\n", 2),
    ],
    ids=[
        "empty",
        "blank",
        "UTF-16",
        "a column twice",
        "a cell less",
        "a cell more",
        "text after a quote",
        "an open quote",
        "a huge cell",
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_with_the_line(
    workbench: Workbench, broken: bytes, line: int
) -> None:
    refusal = workbench.attempt(
        broken if line > 1 else broken + b"ES,long,1,6000,2026-02-10 09:30:00,NQ\n" * bool(broken)
    )

    assert isinstance(refusal, ValidationFailed)
    assert refusal.details["line"] == line


@pytest.mark.parametrize("line", [1, 2, 4, 6])
def test_bytes_that_are_not_utf8_are_refused_with_the_line_they_stand_on(
    workbench: Workbench, line: int
) -> None:
    lines = TRADOVATE.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b"MNQ", b"\xc3\xbcMN\xff").replace(b"Position", b"\xc3\xbc\xff")

    refusal = workbench.attempt(b"".join(lines))

    assert isinstance(refusal, ValidationFailed)
    assert refusal.details["line"] == line
    assert "UTF-8" in str(refusal)


# Cells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("615", "615"),
        ("615.", "615"),
        (".5", "0.5"),
        ("-90.00", "-90"),
        ("+90.00", "90"),
        ("$1,234.56", "1234.56"),
        ("-$1,234.56", "-1234.56"),
        ("(45.25)", "-45.25"),
        ("($45.25)", "-45.25"),
        ("$(1,234.50)", "-1234.5"),
        ("1,234,567.89", "1234567.89"),
        ("0.1", "0.1"),
        ("0.00000001", "0.00000001"),
        ("-0.00", "0"),
        ("10000000000", "10000000000"),
        ("123456789.012345", "123456789.012345"),
        ("0001.50", "1.5"),
    ],
)
def test_an_amount_is_read_exactly(tmp_path: Path, written: str, amount: str) -> None:
    trade = read_one(tmp_path, **closed(gross_pnl=written))

    assert trade["gross_pnl"] == units(amount)


@pytest.mark.parametrize(
    "written",
    [
        *(
            "abc",
            "1e3",
            "0x10",
            "NaN",
            "Infinity",
            "1_000",
            "--5",
            "5-",
            "$",
            "()",
            "-",
            ".",
            "1.2.3",
            "5 USD",
        ),
        *(
            "(5",
            "5)",
            "\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT TWO}",
            "\N{FULLWIDTH DIGIT ONE}",
            "1 00",
        ),
        *("10000000000.01", "-10000000001", "0.000000001", "9" * 5000),
    ],
)
def test_what_is_not_an_amount_within_the_limits_is_refused(tmp_path: Path, written: str) -> None:
    file = csv_file(tmp_path, closed(gross_pnl="1"), closed(gross_pnl=written))

    reason = reason_of(file)

    assert reason.startswith("line 3: gross_pnl must ")


@pytest.mark.parametrize("written", ["12,50", "1,2,3", "1,", "1234,567", "1,23.45", "12,3456"])
def test_a_comma_that_does_not_divide_thousands_is_refused(tmp_path: Path, written: str) -> None:
    file = csv_file(tmp_path, closed(gross_pnl=written))

    reason = reason_of(file)

    assert reason.startswith("line 2: gross_pnl must ")


@pytest.mark.parametrize("written", ["(-45)", "(+45)", "-(45)"])
def test_a_loss_is_not_marked_twice(tmp_path: Path, written: str) -> None:
    file = csv_file(tmp_path, closed(gross_pnl=written))

    reason = reason_of(file)

    assert reason.startswith("line 2: gross_pnl must ")


@pytest.mark.parametrize("sign", ["", "-"], ids=["gain", "loss"])
@pytest.mark.parametrize("zeros", [30, 120], ids=["32 digits", "122 digits"])
def test_an_amount_of_too_many_digits_is_refused_not_rounded(tmp_path: Path, sign: str, zeros: int) -> None:
    file = csv_file(tmp_path, closed(gross_pnl=f"{sign}1.{'0' * zeros}1"))

    reason = reason_of(file)

    assert reason.startswith("line 2: gross_pnl must ")


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("symbol", ""),
        ("symbol", "X" * 41),
        ("symbol", "E\tS"),
        ("direction", ""),
        ("quantity", ""),
        ("quantity", "0"),
        ("quantity", "-1"),
        ("multiplier", "0"),
        ("multiplier", "-50"),
        ("entry_price", ""),
        ("stop_loss", "none"),
        ("fees", "free"),
        ("initial_risk", "0"),
        ("initial_risk", "-5"),
        ("grade", "E"),
        ("grade", "a"),
        ("opened_at", ""),
        ("opened_at", "2026-02-10"),
        ("opened_at", "02/10/2026 09:30:00"),
        ("opened_at", "2026-02-30 09:30:00"),
        ("opened_at", "2026-02-10 24:00:00"),
        ("opened_at", "2026-02-10 09:30:60"),
        ("opened_at", "2026-02-10T09:30:00+25:00"),
        ("opened_at", "1776000000"),
        ("closed_at", "2026-02-10 09:29:59"),
        ("closed_at", "yesterday"),
        ("exit_price", ""),
        ("external_id", "x" * 101),
        ("notes", "x" * 10_001),
        ("notes", "a\0b"),
    ],
)
def test_a_cell_that_breaks_its_rule_is_refused_with_its_line_and_column(
    workbench: Workbench, tmp_path: Path, column: str, cell: str
) -> None:
    plain = closed(multiplier="", stop_loss="", fees="", initial_risk="", grade="", external_id="", notes="")
    file = csv_file(tmp_path, plain, plain, plain | {column: cell}, plain)

    refusal = workbench.attempt(file.read_bytes())

    assert str(refusal).startswith(f"line 4: {column} ")


def test_an_open_trade_has_no_result(workbench: Workbench, tmp_path: Path) -> None:
    for cell in ({"exit_price": "6010"}, {"gross_pnl": "5"}):
        refusal = workbench.attempt(csv_file(tmp_path, cell).read_bytes())

        assert str(refusal).startswith(f"line 2: {next(iter(cell))} ")


@pytest.mark.parametrize(
    ("direction", "exit_price", "multiplier", "earned"),
    [
        ("long", "6010.25", "", "10.25"),
        ("long", "5990", "50", "-500"),
        ("short", "5990", "50", "500"),
        ("short", "6010.25", "2", "-20.5"),
        ("long", "6000", "50", "0"),
    ],
)
def test_a_result_left_out_follows_from_the_prices(
    tmp_path: Path, direction: str, exit_price: str, multiplier: str, earned: str
) -> None:
    trade = read_one(tmp_path, **closed(direction=direction, exit_price=exit_price, multiplier=multiplier))

    assert trade["gross_pnl"] == units(earned)


def test_a_result_that_is_sent_wins_over_the_prices(tmp_path: Path) -> None:
    trade = read_one(tmp_path, **closed(gross_pnl="-3"))

    assert trade["gross_pnl"] == units("-3")


@pytest.mark.parametrize(
    ("direction", "stop", "sent", "risk"),
    [
        ("long", "5995", "", "500"),
        ("short", "6002.5", "", "250"),
        ("long", "5995", "75", "75"),
        ("long", "6005", "", None),
        ("short", "6000", "", None),
        ("long", "", "", None),
    ],
    ids=["long", "short", "sent", "in profit", "at entry", "no stop"],
)
def test_an_initial_risk_left_out_follows_from_the_stop(
    tmp_path: Path, direction: str, stop: str, sent: str, risk: str | None
) -> None:
    trade = read_one(
        tmp_path, direction=direction, stop_loss=stop, initial_risk=sent, quantity="2", multiplier="50"
    )

    assert trade["initial_risk"] == (risk and units(risk))


def test_a_time_with_an_offset_is_that_instant_whatever_the_zone(tmp_path: Path) -> None:
    file = csv_file(tmp_path, {"opened_at": "2026-02-10T09:30:00-05:00"})

    assert read_only(file, "Asia/Tokyo")["opened_at"] == "2026-02-10T14:30:00.000000Z"


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("01/15/2026 09:30:00", "2026-01-15T14:30:00.000000Z"),
        ("07/15/2026 09:30:00", "2026-07-15T13:30:00.000000Z"),
        ("03/06/2026 16:00:00", "2026-03-06T21:00:00.000000Z"),
        ("03/09/2026 16:00:00", "2026-03-09T20:00:00.000000Z"),
        ("03/08/2026 02:30:00", "2026-03-08T07:30:00.000000Z"),
        ("11/01/2026 01:30:00", "2026-11-01T05:30:00.000000Z"),
    ],
    ids=["winter", "summer", "before the change", "after the change", "skipped hour", "repeated hour"],
)
def test_a_wall_clock_time_follows_daylight_saving(tmp_path: Path, local: str, utc: str) -> None:
    trade = read_pair(tmp_path, "America/New_York", **{"Bought Timestamp": local, "Sold Timestamp": local})

    assert (trade["opened_at"], trade["closed_at"]) == (utc, utc)


@pytest.mark.parametrize(
    ("bought_at", "sold_at", "buy_fill", "sell_fill", "direction"),
    [
        ("10:00:00", "10:00:01", "9", "8", "long"),
        ("10:00:01", "10:00:00", "8", "9", "short"),
        ("10:00:00", "10:00:00", "8", "9", "long"),
        ("10:00:00", "10:00:00", "9", "8", "short"),
        ("10:00:00", "10:00:00", "10", "9", "short"),
    ],
    ids=[
        "bought first",
        "sold first",
        "one second, bought first",
        "one second, sold first",
        "ids are numbers",
    ],
)
def test_the_fill_that_came_first_tells_long_from_short(
    tmp_path: Path, bought_at: str, sold_at: str, buy_fill: str, sell_fill: str, direction: str
) -> None:
    trade = read_pair(
        tmp_path,
        **{
            "Bought Timestamp": f"02/12/2026 {bought_at}",
            "Sold Timestamp": f"02/12/2026 {sold_at}",
            "Buy Fill ID": buy_fill,
            "Sell Fill ID": sell_fill,
        },
    )

    bought, sold = units("22510.25"), units("22498.50")
    assert trade["direction"] == direction
    assert (trade["entry_price"], trade["exit_price"]) == (
        (sold, bought) if direction == "short" else (bought, sold)
    )
    assert trade["gross_pnl"] == units("-70.5")


@pytest.mark.parametrize(
    ("bought", "sold", "quantity", "result", "multiplier"),
    [
        ("22510.25", "22498.50", "3", "-70.50", "2"),
        ("6000.00", "6001.25", "2", "125.00", "50"),
        ("72.10", "72.15", "1", "$50.00", "1000"),
        ("1.08250", "1.08255", "1", "6.25", "125000"),
        # The point value of the contract, an MNQ.
        ("6000", "6000", "2", "0.00", "2"),
        ("6000", "6001", "2", "0.00", "2"),
    ],
    ids=["micro", "mini", "oil", "euro", "equal prices", "no result"],
)
def test_the_value_of_a_point_follows_from_the_result(
    tmp_path: Path, bought: str, sold: str, quantity: str, result: str, multiplier: str
) -> None:
    trade = read_pair(
        tmp_path, **{"Buy Price": bought, "Sell Price": sold, "Paired Qty": quantity, "P/L": result}
    )

    assert trade["multiplier"] == units(multiplier)
    assert trade["gross_pnl"] == units(result.strip("$"))


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Contract", ""),
        ("Buy Fill ID", "x1"),
        ("Buy Fill ID", "9" * 5000),
        ("Sell Fill ID", "\N{ARABIC-INDIC DIGIT ONE}"),
        ("Sell Fill ID", "-1"),
        ("Paired Qty", "0"),
        ("Paired Qty", "-3"),
        ("Buy Price", ""),
        ("P/L", ""),
        ("Bought Timestamp", "2026-02-12"),
        ("Sold Timestamp", "02/12/2026 09:31:60"),
        ("Sold Timestamp", "02/30/2026 09:31:04"),
    ],
)
def test_a_cell_of_an_export_that_breaks_its_rule_is_refused_with_its_line_and_column(
    workbench: Workbench, column: str, cell: str
) -> None:
    table = table_of(TRADOVATE)
    table[3][table[0].index(column)] = cell

    refusal = workbench.attempt(csv_of(table))

    assert str(refusal).startswith(f"line 4: {column} ")


# Whatever happens to a file ----------------------------------------------------------------------------

FEW = tried(full=60, short=12)
FILES = st.sampled_from([TRADOVATE, ROUND_TRIPS])
CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", " ", "0", "-1", "1", "nan", "1e9", "\0", "\n", '"', "1,5", "(5)", "02/12/2026 09:31:04"]
    ),
    st.text("0123456789.,$()+-: /T", max_size=20),
)


@FEW
@given(file=FILES, place=st.data(), cell=CELLS)
def test_whatever_a_cell_holds_the_file_comes_in_whole_or_not_at_all(
    workbench: Workbench, file: Path, place: st.DataObject, cell: str
) -> None:
    table = table_of(file)
    row = place.draw(st.integers(0, len(table) - 1))
    table[row][place.draw(st.integers(0, len(table[0]) - 1))] = cell

    outcome = workbench.attempt(csv_of(table))

    if isinstance(outcome, ValidationFailed):
        # A row may end on a later line than it began, or be broken in two by a bare carriage return.
        before, after = (
            len(io.StringIO(csv_of(table[:end]).decode(), newline="").readlines()) for end in (row, row + 1)
        )
        assert before < outcome.details["line"] <= after or row == 0
    else:
        assert sum(outcome) == len(table) - 1


@FEW
@given(file=FILES, where=st.floats(0, 1))
@example(file=TRADOVATE, where=0)
@example(file=TRADOVATE, where=1)
def test_wherever_a_file_is_cut_what_is_left_comes_in_whole_or_not_at_all(
    workbench: Workbench, file: Path, where: float
) -> None:
    content = file.read_bytes()
    left = content[: round(where * len(content))]

    outcome = workbench.attempt(left)

    if not isinstance(outcome, ValidationFailed):
        assert sum(outcome) == len(left.splitlines()) - 1


@pytest.mark.parametrize("file", [TRADOVATE, ROUND_TRIPS], ids=["tradovate", "round trips"])
@FEW
@given(shuffle=st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(workbench: Workbench, file: Path, shuffle: random.Random) -> None:
    header, *trades = table_of(file)
    shuffle.shuffle(trades)

    outcome = workbench.attempt(csv_of([header, *trades]))

    assert outcome == (len(trades), 0)


@FEW
@given(table=st.lists(st.lists(CELLS, min_size=5, max_size=5), max_size=5))
def test_whatever_the_rows_hold_the_file_comes_in_whole_or_not_at_all(
    workbench: Workbench, table: list[list[str]]
) -> None:
    outcome = workbench.attempt(csv_of([MINIMAL, *table]))

    if not isinstance(outcome, ValidationFailed):
        assert sum(outcome) == sum(any(cell.strip() for cell in row) for row in table)


@tried(full=150, short=30)
@given(content=st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_no_file_makes_the_reader_raise_anything_but_a_refusal(workbench: Workbench, content: bytes) -> None:
    outcome = workbench.attempt(content)

    assert isinstance(outcome, ValidationFailed)


@tried(full=150, short=30)
@given(
    content=st.binary(max_size=300) | st.text(max_size=200).map(str.encode),
    header=st.sampled_from([file.read_bytes().splitlines()[0] for file in (TRADOVATE, ROUND_TRIPS)]),
)
def test_nothing_below_a_known_header_raises_anything_but_a_refusal(
    workbench: Workbench, header: bytes, content: bytes
) -> None:
    outcome = workbench.attempt(header + b"\n" + content)

    if not isinstance(outcome, ValidationFailed):
        assert outcome == (0, 0)


@tried(full=150, short=30)
@given(
    amount=st.decimals(-(10**6), 10**6, places=8).filter(lambda amount: len(amount.as_tuple().digits) <= 15),
    dollar=st.sampled_from(["", "$"]),
)
def test_every_way_to_write_an_amount_is_the_same_amount(
    workbench: Workbench, tmp_path_factory: pytest.TempPathFactory, amount: Decimal, dollar: str
) -> None:
    size = f"{dollar}{abs(amount):,f}"
    ways = [f"-{size}", f"({size})"] if amount < 0 else [size, f"+{size}"]
    file = csv_file(tmp_path_factory.getbasetemp(), *(closed(gross_pnl=way) for way in ways))

    read = [one.columns["gross_pnl"] for one in read_all(file) if isinstance(one, Candidate)]

    assert read == [int(amount * 10**8)] * len(ways)

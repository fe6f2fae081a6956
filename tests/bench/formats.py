"""The CPU time of a row of each format, beside `csv.reader` and `executemany` of the same rows."""

import asyncio
import io
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bench import bare
from bench.data import trade_file
from bench.samples import Sample, sample_in, samples
from journal_api.database.database import Database
from journal_api.database.migrations import prepare
from journal_api.repositories import accounts
from journal_api.repositories.imports import Source
from journal_api.server.memory import collect_garbage_less_often
from journal_api.settings import Settings
from journal_api.structs.accounts import AccountCreate
from journal_api.trade_files.importer import import_trades
from journal_api.trade_files.reader import TradeFile, read
from journal_api.trade_files.timezones import FileTimezone
from journal_api.values.types import Name100

TARGET, TARGET_OF_OTHERS = 0.09, 0.05
GENERIC = "round trips"


class ImportCost(Struct, frozen=True):
    """Microseconds of CPU a row, medians of the rounds; `ratio` is the median of their ratios."""

    format: str
    rows: int
    ours: float
    bare: float
    ratio: float
    target: float


def measured(folder: Path, rows: int, rounds: int) -> Iterator[ImportCost]:
    collect_garbage_less_often()  # as the server and the command do
    for sample in samples():
        if sample.file_format.name == GENERIC:
            sample = generic(rows)
        yield cost_of(sample, folder, rows, rounds)


def generic(rows: int) -> Sample:
    """Round trips without columns of names, which the journal would have to know."""
    sample = sample_in(trade_file(rows).decode())
    assert sample is not None
    return sample


def cost_of(sample: Sample, folder: Path, rows: int, rounds: int) -> ImportCost:
    cells = sample.rows if len(sample.rows) == rows else sample.repeated(rows)
    file, table = sample.file(cells), sample.table(cells)
    pairs = [(cpu_of_import(file, folder), cpu_of_bare(table, folder)) for _ in range(rounds)]
    ours, alone = (statistics.median(times) * 10**6 / rows for times in zip(*pairs, strict=True))
    name = sample.file_format.name
    ratio = statistics.median(theirs / mine for mine, theirs in pairs)
    return ImportCost(name, rows, ours, alone, ratio, TARGET if name == GENERIC else TARGET_OF_OTHERS)


def cpu_of_bare(file: bytes, folder: Path) -> float:
    db = folder / "bare.db"
    round_ = bare.imports(db, file)()
    return (round_.cpu or 0) * (file.count(b"\n") - 1)


def cpu_of_import(file: bytes, folder: Path) -> float:
    """The CPU seconds of an import into a new journal."""
    return asyncio.run(imported(file, folder / "import.db"))


async def imported(file: bytes, db: Path) -> float:
    for old in db.parent.glob(f"{db.name}*"):
        old.unlink()
    prepare(Settings(db=db))
    database = await Database.open(db)
    try:
        async with database.transaction() as connection:
            account_id = await accounts.insert(connection, 1, AccountCreate(name=Name100("Sim")))
        started = time.process_time()
        trades = read(io.BytesIO(file), FileTimezone("America/New_York"))
        assert isinstance(trades, TradeFile)
        source = Source(account_id, "file.csv", "0" * 64)
        result = await import_trades(database, 1, source, trades, lambda verdicts: None, dry_run=False)
        assert result.counts.new, trades.format
        return time.process_time() - started
    finally:
        await database.close()

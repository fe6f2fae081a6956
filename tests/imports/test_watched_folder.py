"""A folder whose files are imported by themselves: docs/imports.md#files-by-themselves."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from factories import Client, build_file, create_account, held_writes, list_trades, send_file, unwrap
from starlette.applications import Starlette

from journal_api.imports import watch
from journal_api.imports.import_file import read_file
from journal_api.imports.watched_folder import WatchedFolder

FIRST, SECOND = [build_file({"external_id": number}) for number in ("1", "2")]
CLOSES_NOTHING = b"""\
Exec Time,Spread,Side,Qty,Pos Effect,Symbol,Exp,Strike,Type,Price,Net Price,Order Type
6/16/2026 13:54,STOCK,SELL,-10,TO CLOSE,OBAI,,,STOCK,1.04,1.04,LMT
"""
IN_ACCOUNTS = build_file({"account": "Sim"}, {"account": "Other"})


class Folder:
    """A folder, and what imports its files into the journal of the application."""

    def __init__(self, app: Starlette, path: Path, account: str | None = "Sim") -> None:
        self.path, self.lines = path, list[str]()
        self._imports = watch.FolderImports(path, 1, self.lines.append, account, "UTC")
        self._database = app.state.database

    def add(self, name: str, content: str | bytes = FIRST) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    async def look(self, times: int = 2) -> None:
        for _ in range(times):
            await self._imports.look(self._database)

    def list_files(self) -> list[str]:
        return sorted(str(file.relative_to(self.path)) for file in self.path.rglob("*") if not file.is_dir())


@pytest.fixture
def folder(app: Starlette, tmp_path: Path) -> Folder:
    return Folder(app, tmp_path)


async def list_ids(client: Client) -> list[str]:
    return [trade["external_id"] for trade in await list_trades(client)]


async def test_a_file_that_stands_still_is_imported_as_a_command_would_and_moved(
    client: Client, folder: Folder
) -> None:
    folder.add("day.csv")

    await folder.look()

    assert folder.list_files() == ["imported/day.csv"]
    assert (folder.path / "imported/day.csv").read_text() == FIRST
    assert folder.lines == ["day.csv imported: 1 new, 0 already there"]
    (made,) = unwrap(await client.get("/imports"))
    assert (made["file_name"], made["source"], made["counts"]["new"]) == ("day.csv", "folder", 1)
    assert [account["name"] for account in unwrap(await client.get("/accounts"))] == ["Sim"]
    unwrap(await send_file(client, SECOND, made["account_id"]))
    assert [one["source"] for one in unwrap(await client.get("/imports"))] == ["user", "folder"]


async def test_a_file_that_is_written_slowly_waits_until_it_is_whole(client: Client, folder: Folder) -> None:
    whole = build_file({"external_id": "1"}, {"external_id": "2"})

    with (folder.path / "slow.csv").open("w") as file:
        for part in (whole[:90], whole[90:-40], whole[-40:]):
            file.write(part)
            file.flush()
            await folder.look(1)
            assert (folder.list_files(), folder.lines) == (["slow.csv"], [])
    await folder.look(1)

    assert folder.list_files() == ["imported/slow.csv"]
    assert await list_ids(client) == ["1", "2"]


async def test_an_empty_file_waits_for_its_content(client: Client, folder: Folder) -> None:
    folder.add("day.csv", "")
    await folder.look(3)
    assert (folder.list_files(), folder.lines) == (["day.csv"], [])

    folder.add("day.csv")
    await folder.look()

    assert await list_ids(client) == ["1"]


async def test_a_file_is_imported_however_old_it_is_whatever_its_name_and_again_when_it_comes_back(
    client: Client, folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    written = tmp_path_factory.mktemp("elsewhere") / "old.csv"
    for _ in range(2):
        written.write_text(FIRST)
        os.utime(written, (10**9, 10**9))
        written.rename(folder.path / os.fsdecode(b"day\xff.csv"))
        await folder.look()

    assert await list_ids(client) == ["1"]
    assert folder.list_files() == [os.fsdecode(b"imported/day\xff-2.csv"), os.fsdecode(b"imported/day\xff.csv")]
    assert folder.lines == [
        f"day\N{REPLACEMENT CHARACTER}.csv imported: {counts} already there" for counts in ("1 new, 0", "0 new, 1")
    ]


LEFT_ALONE = (".hidden.csv", "~$book.csv", "day.csv.part", "Day.CSV.crdownload", "x.tmp", "day.csv~")


async def test_hidden_files_unfinished_files_and_links_are_left_alone(
    folder: Folder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.csv").write_text(FIRST)
    (folder.path / "link.csv").symlink_to(elsewhere / "secret.csv")
    (folder.path / "Sim").symlink_to(elsewhere, target_is_directory=True)
    for name in (*LEFT_ALONE, ".git/day.csv", "a/b/day.csv", "imported/day.csv", "refused/day.csv"):
        folder.add(name)
    os.mkfifo(folder.path / "pipe.csv")
    before = folder.list_files()

    await folder.look(3)

    assert (folder.list_files(), folder.lines) == (before, [])


async def test_the_oldest_of_many_files_at_once_is_first_and_none_is_lost(client: Client, folder: Folder) -> None:
    for number in range(40):
        file = folder.add(f"{number}.csv", build_file({"external_id": str(number)}))
        os.utime(file, (10**9 - number, 10**9 - number))

    await folder.look()

    assert await list_ids(client) == [str(number) for number in range(39, -1, -1)]
    assert folder.list_files() == sorted(f"imported/{number}.csv" for number in range(40))


async def test_a_subfolder_chooses_the_account_that_it_is_named_like(client: Client, folder: Folder) -> None:
    other = await create_account(client, "Other")
    folder.add("Other/day.csv")
    folder.add("Unknown/day.csv", SECOND)

    await folder.look(4)

    assert [(trade["account_id"], trade["external_id"]) for trade in await list_trades(client)] == [(other["id"], "1")]
    assert folder.list_files() == ["Unknown/day.csv", "imported/Other/day.csv"]
    assert folder.lines == [
        "Other/day.csv imported: 1 new, 0 already there",
        "no account is named like the folder 'Unknown': its files stay there",
    ]
    await create_account(client, "Unknown")
    await folder.look(1)
    assert folder.list_files() == ["imported/Other/day.csv", "imported/Unknown/day.csv"]


async def test_without_an_account_files_name_their_accounts(app: Starlette, client: Client, tmp_path: Path) -> None:
    accounts = [(await create_account(client, name))["id"] for name in ("Sim", "Other")]
    folder = Folder(app, tmp_path, account=None)
    folder.add("named.csv", IN_ACCOUNTS)
    folder.add("nameless.csv")

    await folder.look()

    assert [trade["account_id"] for trade in await list_trades(client)] == accounts
    assert folder.list_files() == [
        "imported/named.csv", "refused/nameless.csv", "refused/nameless.csv.txt"
    ]  # fmt: skip


HAS_REASON = "refused: refused/ has it with the reason beside it"
REASONS: dict[str, tuple[bytes, str, str, list[str] | None]] = {
    # content, where it goes, what is said, the reasons beside it
    "no table": (
        *(b"garbage", "refused", HAS_REASON),
        ["line 1: this header is of no known format: a dry run of a table proposes a profile"],
    ),
    "bytes": (b"\x00\xff\xfe" * 9, "refused", HAS_REASON, None),
    "no workbook": (b"PK\x03\x04 no", "refused", HAS_REASON, None),
    "bad rows": (
        build_file({}, {"quantity": "0"}, {"fees": "free"}).encode(),
        *("refused", HAS_REASON),
        [
            "line 3: quantity must be greater than 0 ('0') (and 1 more)",
            "line 3: error: quantity must be greater than 0 ('0')",
            "line 4: error: fees must be a number ('free')",
        ],
    ),
    "rows left out": (
        *(CLOSES_NOTHING, "imported", "imported: 0 new, 0 already there, 1 left out: imported/ says why"),
        None,
    ),
}


@pytest.mark.parametrize(("content", "kind", "line", "reasons"), REASONS.values(), ids=REASONS)
async def test_a_file_of_which_nothing_is_imported_is_moved_with_its_reason(
    client: Client, folder: Folder, content: bytes, kind: str, line: str, reasons: list[str] | None
) -> None:
    folder.add("bad.csv", content)
    folder.add("good.csv")

    await folder.look(3)

    assert folder.list_files() == sorted([f"{kind}/bad.csv", f"{kind}/bad.csv.txt", "imported/good.csv"])
    assert (folder.path / kind / "bad.csv").read_bytes() == content
    assert f"bad.csv {line}" in folder.lines
    said = (folder.path / kind / "bad.csv.txt").read_text().splitlines()
    assert said == reasons or (reasons is None and said[0].startswith("line "))
    assert await list_ids(client) == ["1"]


async def test_a_refused_file_is_on_the_list_of_imports_once_until_it_is_imported(
    app: Starlette, client: Client, folder: Folder
) -> None:
    without_account = Folder(app, folder.path, account=None)
    for name in ("day.csv", "other.csv", "day.csv"):
        without_account.add(name)
        await without_account.look()

    day, other = unwrap(await client.get("/imports"))
    described = [(one["file_name"], one["format"], one["source"], one["trade_count"]) for one in (day, other)]
    assert described == [("day.csv", "refused", "folder", 0), ("other.csv", "refused", "folder", 0)]
    assert (await client.delete(f"/imports/{other['id']}")).status_code == 204
    folder.add("day.csv")
    await folder.look()
    assert [one["format"] for one in unwrap(await client.get("/imports"))] == ["round trips"]


async def test_a_file_over_the_limit_is_refused_unread(folder: Folder) -> None:
    os.truncate(folder.add("huge.csv"), watch.MAX_FILE_SIZE + 1)

    await folder.look()

    assert (folder.path / "refused/huge.csv.txt").read_text() == "the file is larger than 67108864 bytes\n"


async def test_a_name_that_is_taken_gets_a_number(folder: Folder) -> None:
    for content in (FIRST, SECOND, FIRST, "bad"):
        folder.add("day.csv", content)
        await folder.look()
    folder.add("bad.csv", "bad")
    folder.add("refused/bad.csv.txt", "mine")
    await folder.look()

    assert folder.list_files() == [
        *("imported/day-2.csv", "imported/day-3.csv", "imported/day.csv"),
        *("refused/bad.csv", "refused/bad.csv-2.txt", "refused/bad.csv.txt"),
        *("refused/day.csv", "refused/day.csv.txt"),
    ]
    assert (folder.path / "imported/day-2.csv").read_text() == SECOND
    assert folder.lines[2] == "day.csv imported: 0 new, 1 already there"


@pytest.mark.parametrize("name", ["ü" * 125 + ".html", "a" * 255, "a." + "b" * 253, "\U0001f600" * 61 + ".csv.csv"])
async def test_a_name_as_long_as_names_may_be_is_shortened_for_a_number_and_the_reason(
    folder: Folder, name: str
) -> None:
    for _ in range(2):
        folder.add(name, "no table")
        await folder.look()

    files = [folder.path / file for file in folder.list_files()]
    reasons = [file for file in files if file.suffix == ".txt"]
    assert (len(files), len(reasons)) == (4, 2)
    assert all(file.read_text().startswith("line 1: this header") for file in reasons)
    assert all("refused/ has it" in line for line in folder.lines)
    assert max(len(os.fsencode(file.name)) for file in files) <= 255


async def test_a_file_that_changes_while_it_is_read_is_imported_again(tmp_path: Path) -> None:
    folder, file = WatchedFolder(tmp_path), tmp_path / "day.csv"
    file.write_text(FIRST)
    folder.find_whole()
    (found,) = folder.find_whole()

    file.write_text(FIRST + FIRST.splitlines()[1])
    folder.put_away(found, "imported")

    assert [file.name for file in (tmp_path / "imported").iterdir()] == []
    assert folder.find_whole() == []
    (again,) = folder.find_whole()
    assert again.path == file


async def test_two_watches_of_a_folder_import_each_file_once(app: Starlette, client: Client, tmp_path: Path) -> None:
    folders = [Folder(app, tmp_path) for _ in range(2)]
    for number in range(20):
        folders[0].add(f"{number}.csv", build_file({"external_id": str(number)}))

    await asyncio.gather(*(folder.look() for folder in folders))

    assert sorted(await list_ids(client)) == sorted(str(number) for number in range(20))
    moved = [re.sub(r"-2(?=\.)", "", name) for name in folders[0].list_files()]  # both may reserve a name
    assert sorted(moved) == sorted(f"imported/{number}.csv" for number in range(20))


async def test_a_file_that_cannot_be_moved_is_imported_once(client: Client, folder: Folder) -> None:
    (folder.path / "imported").write_text("a file has the name of the folder")
    folder.add("day.csv")

    await folder.look(5)

    assert folder.list_files() == ["day.csv", "imported"]
    assert len(unwrap(await client.get("/imports"))) == 1
    assert len(folder.lines) == 1
    assert folder.lines[0].startswith("day.csv stays where it is: ")
    (folder.path / "imported").unlink()
    file = folder.path / "day.csv"
    file.rename(folder.path / "day.part")
    await folder.look(1)
    (folder.path / "day.part").rename(file)
    await folder.look()
    assert folder.list_files() == ["imported/day.csv"]
    assert folder.lines[1:] == ["day.csv imported: 0 new, 1 already there"]


async def test_a_file_waits_for_a_journal_that_is_busy(
    app: Starlette, client: Client, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journal_api.database.database.MAX_WAIT", 0.05)
    folder.add("day.csv")
    async with held_writes(app.state.database):
        await folder.look()
        assert folder.list_files() == ["day.csv"]
    monkeypatch.undo()

    await folder.look(1)

    assert (folder.list_files(), await list_ids(client)) == (["imported/day.csv"], ["1"])


async def test_a_folder_that_is_missing_is_said_once_and_looked_for_again(
    app: Starlette, client: Client, tmp_path: Path
) -> None:
    folder = Folder(app, tmp_path / "drive")
    await folder.look(3)
    assert folder.lines == [f"{tmp_path / 'drive'} cannot be read: No such file or directory"]

    folder.path.mkdir()
    folder.add("day.csv")
    await folder.look()

    assert await list_ids(client) == ["1"]


async def test_a_mistake_of_the_program_leaves_the_file_and_the_others_are_imported(
    client: Client, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(db: Any, user_id: int, content: Any, *choice: Any, **options: Any) -> Any:
        if "bad" in content.name:
            raise ZeroDivisionError("a mistake")
        return await read_file(db, user_id, content, *choice, **options)

    monkeypatch.setattr("journal_api.imports.watch.read_file", fail)
    folder.add("bad.csv")
    folder.add("good.csv", SECOND)

    await folder.look(4)

    assert folder.list_files() == ["bad.csv", "imported/good.csv"]
    assert folder.lines[0] == "bad.csv stays where it is: a mistake"
    assert len(folder.lines) == 2

"""`export --all` and `import-all`: a journal made of the folder answers as the journal that was exported."""

import csv
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import factories
import httpx
import msgspec
import pytest
import time_machine
from commands import command, dump, make_journal, new_key, rows, run_failing, run_ok, running
from conftest import client_of, new_key_for, opened, started
from factories import Client, run_sql, unwrap
from hypothesis import given
from hypothesis import strategies as st
from journals import prepare
from operations import CHANGES, body_of, choices_of, create_one_of_each, file_of, path_of
from pictures import GIF, PNG, jpeg
from proofs import SOAK, examples

from journal_api.app import create_app
from journal_api.database import folder_format, folder_import, migrations, schemas
from journal_api.database.backup import to_nobody
from journal_api.database.folder_export import export_all
from journal_api.database.folder_format import AMOUNTS, LEFT_OUT, decode_cell, encode_cell
from journal_api.database.folder_import import import_all
from journal_api.metrics.groupings import GROUPINGS
from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.structs.reports import REPORTED
from journal_api.web.operation import Operation

NOON = "2026-11-20T12:00:00Z"
TEXTS = ['"quoted", and\r\nin lines\r', "", "=1+1", "-", "\t", " é\u2028\U0001f600 ", '""', "null", "1"]
EXPORTED = [
    *("users", "tag_categories", "tags", "accounts", "cash_movements", "account_rules", "checkpoints"),
    *("account_fees", "instruments", "copy_groups", "copy_group_members", "strategies", "setups"),
    *("confirmations", "imports", "import_timezones", "import_profiles", "example_rows", "trades"),
    *("statements", "restatements", "import_links", "trade_tags", "confirmation_answers", "days", "day_tags"),
    *("picture_contents", "pictures", "goals", "goal_targets", "snapshots", "changed_days"),
]
# Keys and stored responses are secrets, the bytes of pictures are files, the others follow from EXPORTED.
NOT_EXPORTED = {"api_keys", "idempotency_keys", "picture_parts", "trade_facts", "trade_counts"}
NOT_EXPORTED |= {"search_documents", "changed_objects"}
# Integers that are no amounts.
NUMBERS = {
    *("archived", "sort_order", "copy_seconds", "any_quantity", "qualifying_days", "minimum_days", "added"),
    *("updated", "duplicates", "key", "is_left_out", "unlinked", "was_present", "rating", "width", "height"),
    *("bytes", "single", "outside", "follows_selection", "change_cursor", "carries_balance", "achieved", "closed"),
    *("sequence", "facts_cursor", "expired_cursor"),
}


class Journal(NamedTuple):
    app: Any
    client: Client


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
async def journal(app: Any, clock: time_machine.Traveller, client: Client) -> Journal:
    """A journal with rows in every table."""
    await fill(client, clock)
    await store_gif(app)
    return Journal(app, client)


@pytest.fixture
async def other(
    journal: Journal, settings: Settings, tmp_path: Path, clock: time_machine.Traveller
) -> AsyncIterator[Journal]:
    """The journal that is made of the export of the first one, which goes on running."""
    db = tmp_path / "other" / "journal.db"
    for operation in GETS:
        if "snapshots" in operation.path:  # which a read would evaluate now
            await read_all(journal.client, operation, settings.db)
    run_ok("export", "--all", tmp_path / "folder", "--db", settings.db)
    run_ok("import-all", tmp_path / "folder", "--db", db)
    clock.shift(1)
    app = create_app(Settings(db=db))
    async with started(app), client_of(app, await new_key_for(app)) as client:
        yield Journal(app, client)


async def store_gif(app: Any) -> None:
    """Make the first picture one that earlier releases took."""
    values = {"gif": GIF, "sha256": hashlib.sha256(GIF).hexdigest(), "bytes": len(GIF)}
    await run_sql(
        app,
        "UPDATE picture_contents SET media_type = 'image/gif', sha256 = :sha256, bytes = :bytes WHERE id = 1",
        values,
    )
    await run_sql(app, "UPDATE picture_parts SET bytes = :gif WHERE content_id = 1", values)


async def fill(client: Client, clock: time_machine.Traveller) -> None:
    """Write something to every table, in two currencies, and delete the newest of some."""
    await create_one_of_each(client)
    await factories.create_example_journal(client)
    master, copy, euro = [await factories.create_account(client, name, currency="EUR") for name in ("M", "C", "€")]
    unwrap(await client.patch(f"/accounts/{euro['id']}", json={"payout_share": 33.33333333}))
    for body in ({"kind": "fee", "outside": True}, {"kind": "payout", "received": 0.1}, {"kind": "payout"}):
        await factories.create_cash(client, euro["id"], **body)
    group = await factories.create_copy_group(client, "Mirror", [master["id"], copy["id"]])
    unwrap(await client.patch(f"/copy-groups/{group['id']}", json={"master_account_id": master["id"]}))
    for account, fees in product((master, copy), ("1", "2", "2")):
        file = factories.build_file({"external_id": "1", "fees": fees, "opened_at": "2026-01-05T14:00:00"})
        clock.shift(1)
        unwrap(await factories.send_file(client, file, account["id"], "Europe/Berlin"))
    undone = await factories.create_import(client, factories.A_FILE, account_id=euro["id"])
    assert (await client.delete(f"/imports/{undone['id']}")).status_code == 204
    parts = [
        await factories.create_trade(client, euro["id"], notes=text, **{**factories.A_TRADE, "fees": 1})
        for text in TEXTS
    ]
    whole = unwrap(await client.post("/trades/merge", json={"ids": [part["id"] for part in parts[:2]]}))
    unwrap(await client.post("/trades/merge", json={"ids": [part["id"] for part in parts[2:4]]}))
    assert (await client.post(f"/trades/{parts[2]['id']}/split")).is_success
    await factories.create_trade(client, euro["id"], quantity=0.00000001, exit_price=None, closed_at=None)
    tag = await factories.create_tag(client, "Late", type="mistake")
    await client.put(f"/trades/{whole['id']}/tags", json={"tag_ids": [tag["id"]]})
    for number, content in enumerate([PNG, jpeg(), PNG]):
        path = f"/trades/{parts[-1]['id']}" if number else "/days/2026-01-05"
        picture = await factories.create_picture(client, path, content)
        unwrap(await client.patch(f"/pictures/{picture['id']}", json={"caption": f"late {number}"}))
    for day in ("2026-01-05", "2026-01-06", "2026-01-07"):
        await factories.write_day(client, day, plan=TEXTS[0], rating=3, tag_ids=[tag["id"]])
    strategy = await factories.create_strategy(
        client, "Late", setups=[{"name": f"late {one}", "confirmations": [{"name": "late"}]} for one in "ab"]
    )
    unwrap(await client.patch(f"/tag-categories/{tag['category_id']}", json={"single": True}))
    for path, name in ((f"/strategies/{strategy['id']}", "later"), (f"/tags/{tag['id']}", "Latest")):
        unwrap(await client.patch(path, json={"name": name}))
    goals = [
        await factories.create_goal(client, metric=metric, timeframe="daily") for metric in ("net_pnl", "win_rate")
    ]
    unwrap(await client.patch(f"/goals/{goals[0]['id']}", json={"target_value": 7, "status": "paused"}))
    for path in (f"/goals/{goals[1]['id']}", "/days/2026-01-07", f"/trades/{parts[-2]['id']}", "/tags/1"):
        assert (await client.delete(path)).status_code == 204
    unwrap(await client.patch("/me", json={"breakeven_within": 0.5, "plan_template": "", "timezone": "Asia/Tokyo"}))


# What is read of both ------------------------------------------------------------------------------------

# Keys are not exported, so what says something of them differs. Cursors are of one file.
TODAY = str(datetime.now(UTC).date())
PASSING = ("/v1/keys", "/v1/changes")
GETS = [one for one in OPERATIONS if one.method == "GET" and not one.path.startswith(PASSING)]
# The values of the members of queries; the values of a Literal are all tried.
VALUES: dict[str, list[Any]] = {
    **{f"{one}_id": [1, 2, 3, 4, 5] for one in ("account", "copy_group", "strategy", "setup", "tag")},
    "category_id": [1, 2, 3],
    "import_id": [1, 2, 4],
    "symbol": ["ES", "MES"],
    "root": ["MES"],
    "from": ["2026-01-06"],
    "to": ["2026-10-01"],
    "at": ["2026-09-30"],
    "compare_from": ["2026-01-06"],
    "compare_to": ["2026-01-05"],
    "ids": ["3,1,99"],
    "source_trade_id": [1, 2],
    "copies": ["false"],
    "limit": [2],
    "offset": [1, 5],
    "spreadsheet": ["true"],
    "group_by": [*GROUPINGS, "weekday,hour", "tag,account"],
    "metrics": ["net_pnl,win_rate"],
    "stops": ["1,50"],
    "targets": ["2"],
    "sort": [f"-{REPORTED[0]}"],
    "q": ["late", "l", "wait -late", "tag:Latest", "symbol:ES", "a", "b"],
}


def list_queries(operation: Operation) -> list[dict[str, Any]]:
    """Each member of the query with each of its values, beside those without which it is none."""
    fields = msgspec.structs.fields(operation.query)
    literals = choices_of(operation)
    choices = {name: literals.get(name) or VALUES[name] for name in (field.encode_name for field in fields)}
    least = {field.encode_name: choices[field.encode_name][0] for field in fields if field.required}
    return [least, *({**least, name: value} for name, values in choices.items() for value in values)]


def list_paths(operation: Operation, db: Path) -> list[str]:
    """The path with each id that was ever given, and the next."""
    table = operation.path.split("/")[2].replace("-", "_")
    if "{date" in operation.path:
        return [
            path_of(operation, day)
            for (day,) in rows(db, "SELECT trading_day FROM trades UNION SELECT date FROM days")
            if day
        ]
    if "{root" in operation.path:
        return [path_of(operation, root) for (root,) in rows(db, "SELECT root FROM instruments")]
    if "{" not in operation.path:
        return [path_of(operation)]
    ((last,),) = rows(db, "SELECT seq FROM sqlite_sequence WHERE name = ?", table)
    return [path_of(operation, row_id) for row_id in range(1, last + 2)]


async def read_all(client: Client, operation: Operation, db: Path) -> dict[str, Any]:
    """The status, the ETag and the bytes of each answer; in CI of many paths some, one with every other query."""
    paths, (first, *queries) = list_paths(operation, db), list_queries(operation)
    paths = [*paths[:10], *paths[10 :: examples(full=1, ci=10)]]
    asked = [*product(paths, [first]), *product(paths if SOAK else paths[:1], queries[:: examples(full=1, ci=2)])]
    answers = {}
    for path, query in asked:
        answers[f"{path}?{httpx.QueryParams(query)}"] = read(await client.get(path, params=query))
    return answers


def read(answer: httpx.Response) -> tuple[Any, ...]:
    content = re.sub(rb'"req_\w+"', b"", answer.content)
    return answer.status_code, answer.headers.get("etag"), answer.headers["content-type"], content


async def test_every_get_answers_as_before_the_export_and_both_journals_go_on_alike(
    journal: Journal, other: Journal, settings: Settings, tmp_path: Path
) -> None:
    """After all reads every operation that writes, by its order in the table: new ids and answers are the same."""
    count = 0
    for operation in GETS:
        expected = await read_all(journal.client, operation, settings.db)
        assert await read_all(other.client, operation, settings.db) == expected
        assert any(status == 200 for status, *_ in expected.values()), operation.name
        count += len(expected)

    assert count > examples(full=1000, ci=350)
    statuses = []
    for operation in OPERATIONS:
        if operation.method == "GET" or operation.path.startswith("/v1/keys"):
            continue
        path = path_of(operation, "2026-01-06" if "{date" in operation.path else 2)
        sent = {"json": CHANGES[operation.name]} if operation.name in CHANGES else send_of(operation)
        one, two = [await each.client.request(operation.method, path, **sent) for each in (journal, other)]
        assert (one.status_code, *parts_of(one)) == (two.status_code, *parts_of(two)), operation.name
        statuses.append(one.is_success)

    assert sum(statuses) > 30
    folders = [tmp_path / name for name in ("one", "two")]
    for db, folder in zip((settings.db, tmp_path / "other" / "journal.db"), folders, strict=True):
        run_ok("export", "--all", folder, "--db", db)
    assert read_folder(folders[0]) == read_folder(folders[1])


def send_of(operation: Operation) -> dict[str, Any]:
    is_json = operation.consumes == ("application/json",)
    return {"json": body_of(operation)} if is_json else file_of(operation)


def parts_of(answer: httpx.Response) -> tuple[Any, ...]:
    content, touched = without_real_times(re.sub(rb'"req_\w+"', b"", answer.content))
    return None if touched else answer.headers.get("etag"), answer.headers.get("location"), content


def without_real_times(content: bytes) -> tuple[bytes, int]:
    """The content without times of today, which triggers write by a clock that does not stand still."""
    return re.subn(b"%b[0-9T:.]*Z" % TODAY.encode(), b"", content)


def read_folder(folder: Path) -> dict[str, bytes]:
    """Every file but the manifest, which says when it was written."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "manifest.json"]
    return {str(file.relative_to(folder)): without_real_times(file.read_bytes())[0] for file in files}


@pytest.fixture(scope="session")
async def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small journal, which tests copy."""
    folder = tmp_path_factory.mktemp("exported")
    async with opened(Settings(db=folder / "journal.db")) as client:
        await create_one_of_each(client)
        await factories.create_tag(client, "Second")
        unwrap(await client.get("/goals/1/snapshots"))
    export_all(folder / "journal.db", folder / "folder", to_nobody)
    return folder / "folder"


# The folder ----------------------------------------------------------------------------------------------


async def test_an_export_of_the_imported_journal_is_byte_for_byte_the_export(
    journal: Journal, settings: Settings, tmp_path: Path
) -> None:
    db, folders = tmp_path / "other.db", [tmp_path / "first", tmp_path / "second"]

    printed = run_ok("export", "--all", folders[0], "--db", settings.db)
    run_ok("import-all", folders[0], "--db", db)
    run_ok("export", "--all", folders[1], "--db", db)

    assert read_folder(folders[1]) == read_folder(folders[0])
    one, two = [json.loads((folder / "manifest.json").read_bytes()) for folder in folders]
    assert one == two
    assert [name for name, file in one["files"].items() if not file["rows"]] == []
    total = sum(file["rows"] for file in one["files"].values())
    assert printed == f"Exported {total} rows and {one['pictures']} pictures to {folders[0]}\n"
    assert {line.split()[0] for line in run_ok("check", "--full", "--db", db).splitlines()} <= {"ok", "warn"}
    assert stat.S_IMODE(db.stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders[0].rglob("*")} == {0o600, 0o700}


def test_no_key_leaves_the_journal_and_the_id_of_none_is_given_again(db: Path, tmp_path: Path) -> None:
    key = new_key(db)

    run_ok("export", "--all", tmp_path / "folder", "--db", db)
    run_ok("import-all", tmp_path / "folder", "--db", tmp_path / "other.db")
    new_key(tmp_path / "other.db")

    assert rows(tmp_path / "other.db", "SELECT id FROM api_keys") == [(2,)]
    (digest,) = [row[0] for row in rows(db, "SELECT hash FROM api_keys")]
    for content in read_folder(tmp_path / "folder").values():
        assert not any(secret in content for secret in (key.encode(), key[-4:].encode(), digest.hex().encode()))


def test_each_table_and_each_amount_is_known(db: Path) -> None:
    """A new table is exported, or left out on purpose; a new integer is an amount, or none."""
    prepare(db)
    tables = [name for (name,) in rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    mine = [name for name in tables if not re.match(r"sqlite_|search_index", name)]

    assert [name for name in mine if not LEFT_OUT.fullmatch(name)] == EXPORTED
    assert {name for name in mine if LEFT_OUT.fullmatch(name)} == NOT_EXPORTED
    columns = {
        name
        for table in EXPORTED
        for name, kind in rows(db, "SELECT name, type FROM pragma_table_info(?)", table)
        if kind == "INTEGER" and name != "id" and not name.endswith("_id")
    }
    assert {name for name in columns if not AMOUNTS.fullmatch(name)} == NUMBERS


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8")) | st.sampled_from(TEXTS)))
def test_every_text_comes_back_from_its_cell_and_null_is_no_text(texts: list[str | None]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerow(map(encode_cell, [*texts, 1]))
    (cells,) = csv.reader(io.StringIO(file.getvalue(), newline=""), strict=True)

    assert [decode_cell("TEXT", cell) for cell in cells[:-1]] == texts


def test_trades_are_a_table_of_decimal_numbers_and_the_rest_are_lines_of_json(db: Path, tmp_path: Path) -> None:
    make_journal(db)
    file = tmp_path / "trades.csv"
    file.write_text(factories.A_FILE.replace("ES,long,1,100,", "ES,long,2,100.25,"))
    assert command("import", file, "--account", "Sim", "--timezone", "UTC", "--db", db).code == 0

    run_ok("export", "--all", tmp_path / "folder", "--db", db)

    with (tmp_path / "folder" / "trades.csv").open(newline="") as content:
        (trade,) = csv.DictReader(content)
    names = ("id", "account_id", "symbol", "quantity", "entry_price", "gross_pnl", "notes")
    assert [trade[name] for name in names] == ["1", "1", "ES", "2", "100.25", "1.5", ""]
    (account,) = (tmp_path / "folder" / "accounts.jsonl").read_text().splitlines()
    assert json.loads(account)["name"] == "Sim"


async def test_the_folder_holds_one_moment(journal: Journal, settings: Settings, tmp_path: Path) -> None:
    before = rows(settings.db, "SELECT count(*), max(id) FROM tags")

    def write_meanwhile(_: float) -> None:
        made.append(command("users", "add", f"user {len(made)}", "--db", settings.db).code)

    made: list[int] = []
    manifest = export_all(settings.db, tmp_path / "folder", write_meanwhile)

    assert made == [0] * manifest.pictures
    assert manifest.last_ids["users"] == manifest.files["users.jsonl"].rows == 1
    assert rows(settings.db, "SELECT count(*), max(id) FROM tags") == before
    assert rows(settings.db, "SELECT count(*) FROM users") == [(1 + len(made),)]


def test_a_later_release_imports_the_export_and_migrates_it(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next release has one column more."""
    more, version = "ALTER TABLE tags ADD COLUMN pinned INTEGER NOT NULL DEFAULT 7;\n", schemas.VERSION + 1
    scripts = tmp_path / "scripts"
    shutil.copytree(schemas.SCRIPTS, scripts)
    (scripts / f"to_{version}.sql").write_text(more)
    monkeypatch.setattr(schemas, "SCRIPTS", scripts)
    text = schemas.read_schema() + more
    for module, name in product((schemas, migrations, folder_format, folder_import), ("VERSION", "read_schema")):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, version if name == "VERSION" else lambda: text)
    schemas.build_objects.cache_clear()

    import_all(Settings(db=tmp_path / "journal.db"), exported, is_edited=False, report=to_nobody)

    assert rows(tmp_path / "journal.db", "PRAGMA user_version") == [(version,)]
    assert set(rows(tmp_path / "journal.db", "SELECT pinned FROM tags")) == {(7,)}
    export_all(tmp_path / "journal.db", tmp_path / "folder", to_nobody)
    tags = read_folder(exported)["tags.jsonl"].replace(b"}", b',"pinned":7}')
    assert read_folder(tmp_path / "folder") == {**read_folder(exported), "tags.jsonl": tags}
    schemas.build_objects.cache_clear()


RELEASED = sorted(Path(__file__).parents[1].glob("data/export_*.zip"))


@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.stem)
def test_an_export_of_every_release_is_imported(file: Path, db: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "folder")

    import_all(Settings(db=db), tmp_path / "folder", is_edited=False, report=to_nobody)

    assert rows(db, "SELECT name FROM tags ORDER BY id") == [("FOMO",), ("Second",)]
    assert rows(db, "SELECT symbol, net_pnl, contract FROM trades WHERE id = 1") == [("ES", 100000000, "ES")]
    assert rows(db, "SELECT plan FROM days") == [("Wait for the open.",)]


# What is refused -----------------------------------------------------------------------------------------


def change_manifest(**members: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "manifest.json"
        file.write_text(json.dumps({**json.loads(file.read_bytes()), **members}))

    return change


def change_file(name: str, old: str, new: str, count: int = 1) -> Callable[[Path], None]:
    """Change the text, and do not touch the manifest."""

    def change(folder: Path) -> None:
        text = (folder / name).read_bytes().decode()
        assert old in text
        (folder / name).write_bytes(text.replace(old, new, count).encode("utf-8", "surrogatepass"))

    return change


def replace_by_link(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).rename(folder.with_name("elsewhere"))
        (folder / name).symlink_to(folder.with_name("elsewhere"))

    return change


def replace_by_fifo(folder: Path) -> None:
    (folder / "tags.jsonl").unlink()
    os.mkfifo(folder / "tags.jsonl")


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def make_svg(folder: Path) -> None:
    change_file("picture_contents.jsonl", "image/png", "image/svg+xml")(folder)
    (folder / "pictures/1.png").rename(folder / "pictures/1.svg+xml")


def give_two_tags_of_one_category(folder: Path) -> None:
    category = json.loads((folder / "tags.jsonl").read_text().splitlines()[0])["category_id"]
    change_file("tag_categories.jsonl", '"single":0', '"single":1', -1)(folder)
    for name, row in (("tags", {"id": 2, "category_id": category}), ("trade_tags", {"trade_id": 1, "tag_id": 2})):
        first, *_ = (folder / f"{name}.jsonl").read_text().splitlines()
        line = {**json.loads(first), **({"name": "Two", "sort_name": "two"} if "id" in row else {}), **row}
        (folder / f"{name}.jsonl").write_text(f"{first}\n{json.dumps(line)}\n")


TAG = '{"id":1,'
EVIL = '"media_type":"image/../../../../../../../../etc/passwd"'
# What was done to the folder, and a part of the reason. With `--edited`, so that no checksum hides the fault.
HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "no manifest": (remove("manifest.json"), "an incomplete one"),
    "manifest of nothing": (change_manifest(files={}), "account_fees.jsonl is missing"),
    "manifest of more": (change_manifest(pages=1), "unknown field `pages`"),
    "newer schema": (change_manifest(schema=schemas.VERSION + 1), "of another release"),
    "older schema": (change_manifest(schema=9), "of another release"),
    "no schema": (change_manifest(schema=0), "of another release"),
    "manifest no JSON": (change_file("manifest.json", "{", "{{"), "manifest.json: JSON is malformed"),
    "deep manifest": (change_file("manifest.json", "{", "[" * 9999), "manifest.json: "),
    "foreign table": (change_file("manifest.json", "tags.jsonl", "sqlite_schema.jsonl"), "belong to it"),
    "file outside": (change_file("manifest.json", "tags.jsonl", "../../tags.jsonl"), "does not belong to it"),
    "secret table": (change_file("manifest.json", "tags.jsonl", "api_keys.jsonl"), "does not belong to it"),
    "ids too high": (change_manifest(last_ids={"tags": 2**70}), "manifest.json: "),
    "ids without room": (change_manifest(last_ids={"tags": 2**63 - 1}), "manifest.json: "),
    "ids of a text": (change_manifest(last_ids={"tags": "1"}), "manifest.json: "),
    "missing table": (remove("tags.jsonl"), "tags.jsonl: there is no such file"),
    "link": (replace_by_link("tags.jsonl"), "or it is a link"),
    "link of a folder": (replace_by_link("pictures"), "or it is a link"),
    "link of the manifest": (replace_by_link("manifest.json"), "or it is a link"),
    "device": (replace_by_fifo, "tags.jsonl: there is no such file"),
    "missing picture": (remove("pictures/1.png"), "1.png: there is no such file"),
    "longer picture": (change_file("picture_contents.jsonl", '"bytes":', '"bytes":1'), "is not the picture"),
    "other picture": (change_file("picture_contents.jsonl", '"sha256":"', '"sha256":"0'), "is not the picture"),
    "picture with scripts": (make_svg, "is not the picture"),
    "picture outside": (change_file("picture_contents.jsonl", '"media_type":"image/png"', EVIL), "or it is a link"),
    "no columns": (change_file("trades.csv", "id,", "id\n"), "trades.csv: row 0: "),
    "unknown column": (change_file("tags.jsonl", TAG, '{"id":1,"evil":1,'), "row 1: the columns are not id, "),
    "missing column": (change_file("tags.jsonl", TAG, "{"), "row 1: the columns are not id, "),
    "column twice": (change_file("trades.csv", "id,user_id", "id,id"), "row 1: the columns are not id, "),
    "no object": (change_file("tags.jsonl", TAG, "[]\n" + TAG), "row 1: the columns are not id, "),
    "no JSON": (change_file("tags.jsonl", TAG, "x"), "tags.jsonl: row 0: "),
    "deep JSON": (change_file("tags.jsonl", TAG, "[" * 99999), "tags.jsonl: row 0: "),
    "text for a number": (change_file("tags.jsonl", TAG, '{"id":"1",'), "'1' is not INTEGER"),
    "boolean for a number": (change_file("tags.jsonl", TAG, '{"id":true,'), "True is not INTEGER"),
    "number for a text": (change_file("tags.jsonl", '"name":"FOMO"', '"name":1'), "1 is not TEXT"),
    "object for a text": (change_file("tags.jsonl", '"name":"FOMO"', '"name":{}'), "{} is not TEXT"),
    "huge id": (change_file("tags.jsonl", TAG, f'{{"id":{2**64},'), "tags.jsonl: row 1: "),
    "id of 5,000 digits": (change_file("tags.jsonl", TAG, f'{{"id":{"1" * 5000},'), "tags.jsonl: row 0: "),
    "half a character": (change_file("tags.jsonl", "FOMO", r"\ud800"), "tags.jsonl: row 1: "),
    "no UTF-8": (change_file("tags.jsonl", "FOMO", "\ud800"), "tags.jsonl: row 0: "),
    "null": (change_file("tags.jsonl", '"name":"FOMO"', '"name":null'), "NOT NULL constraint failed: tags.name"),
    "tag twice": (change_file("tags.jsonl", '"id":2', '"id":1'), "UNIQUE constraint failed: tags.id"),
    "unknown kind": (change_file("tags.jsonl", '"type":"custom"', '"type":"evil"'), "CHECK constraint failed"),
    "nine decimals": (change_file("trades.csv", ",100,", ",100.000000001,"), "is not AMOUNT"),
    "huge amount": (change_file("trades.csv", ",100,", ",1e999999999,"), "is not AMOUNT"),
    "no amount": (change_file("trades.csv", ",100,", ",NaN,"), "is not AMOUNT"),
    "text for an amount": (change_file("trades.csv", ",100,", ",a,"), "trades.csv: row "),
    "no bytes": (change_file("trades.csv", ",ES,ES,", ",ES,ES,,", 1), "trades.csv: row "),
    "open quote": (change_file("trades.csv", "long", '"long'), "trades.csv: row "),
    "two of one category": (
        give_two_tags_of_one_category,
        "trade_tags.jsonl: trade_id 1: a trade must have at most one",
    ),
    "dangling row": (change_file("tags.jsonl", '"category_id":1', '"category_id":77'), "of tag_categories that"),
}


# Values that the API would refuse: those of a table's first row.
REFUSED_VALUES: dict[str, tuple[Any, str]] = {
    "users.timezone": ("../../etc/passwd", "must be an IANA time zone"),
    "users.day_rollover": ("99:99", "must be a time HH:MM"),
    "users.trading_weekdays": ("[9]", "trading_weekdays"),
    "users.name": ("\x1b[2J", "must not contain control characters"),
    "users.created_at": ("yesterday", "must be a time such as"),
    "users.updated_at": ("2026-01-05T14:30:00+01:00", "must be in UTC"),
    "pictures.id": (2**60, "must be 1 to 9007199254740992"),
    "accounts.timezone": ("localtime", "must be an IANA time zone"),
    "accounts.currency": ("money", "currency"),
    "tags.color": ("red", "color"),
    "strategies.risk_rules": ("[1]", "must be an object or null"),
    "days.date": ("2026-13-01", "is not a valid calendar day"),
    "goals.metric": ("evil", "metric"),
    "goals.goal_name": ("", "must be 1 to 100 characters"),
    "snapshots.snapshot_data": ("{", "snapshot_data"),
    "snapshots.period_end": ("never", "must be a date"),
    "imports.timezone": ("Mars", "must be an IANA time zone"),
    "trades.opened_at": ("yesterday", "must be a time such as"),
    "trades.symbol": ("x" * 41, "must be 1 to 40 characters"),
    "trades.fills": ('[{"id": 1}]', "fills"),
}


def change_value(name: str, value: Any) -> Callable[[Path], None]:
    """Change the column of the first row of a table."""
    table, column = name.split(".")
    file_name = folder_format.table_file(table)

    def change_line(folder: Path) -> None:
        first, *others = (folder / file_name).read_text().splitlines(keepends=True)
        line = json.dumps({**json.loads(first), column: value}) + "\n"
        (folder / file_name).write_text("".join([line, *others]))

    def change_cell(folder: Path) -> None:
        with (folder / file_name).open(newline="") as file:
            header, first, *others = csv.reader(file)
        first[header.index(column)] = value
        with (folder / file_name).open("w", newline="") as file:
            csv.writer(file).writerows([header, first, *others])

    return change_cell if file_name.endswith(".csv") else change_line


HOSTILE |= {name: (change_value(name, value), reason) for name, (value, reason) in REFUSED_VALUES.items()}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_folder_is_refused_in_one_line_and_nothing_is_left(
    exported: Path, tmp_path: Path, name: str
) -> None:
    change, reason = HOSTILE[name]
    folder = tmp_path / "folder"
    shutil.copytree(exported, folder)
    change(folder)

    line = run_failing("import-all", folder, "--edited", "--db", tmp_path / "new" / "journal.db")

    assert reason in line
    assert {file.name for file in (tmp_path / "new").glob("*")} <= {"journal.db.lock"}


def test_a_file_changed_by_hand_is_refused_until_you_say_that_it_was_you(exported: Path, tmp_path: Path) -> None:
    folder, db = tmp_path / "folder", tmp_path / "journal.db"
    shutil.copytree(exported, folder)
    assert '"change_cursor":null' not in (folder / "goals.jsonl").read_text()
    change_file("trades.csv", ",100,101,,", ",100,101,99,")(folder)
    trades = (folder / "trades.csv").read_bytes().decode()
    (folder / "trades.csv").write_bytes(trades.replace("2026-01-05", "2019-03-04").encode())

    line = run_failing("import-all", folder, "--db", db)

    assert line.endswith("; if you changed it on purpose, repeat the command with --edited")
    assert "trades.csv: the file has changed since the export" in line
    assert not db.exists()
    run_ok("import-all", folder, "--edited", "--db", db)
    assert rows(db, "SELECT stop_loss FROM trades WHERE id = 1") == [(99 * 10**8,)]
    moved = rows(db, "SELECT account_id, trading_day FROM trades WHERE trading_day = '2019-03-04'")
    assert {*moved} <= {*rows(db, "SELECT account_id, trading_day FROM changed_days")} != set()
    assert rows(db, "SELECT count(*) FROM goals WHERE change_cursor IS NOT NULL") == [(0,)]


def test_an_import_replaces_an_empty_journal_and_no_other(exported: Path, db: Path) -> None:
    key = new_key(db)

    printed = run_ok("import-all", exported, "--db", db)

    (kept,) = db.parent.glob("journal.db.before-restore-*")
    assert f"into {db}; the replaced file is {kept}" in printed
    assert rows(kept, "SELECT last_four FROM api_keys") == [(key[-4:],)]
    before = dump(db)
    line = run_failing("import-all", exported, "--db", db)
    assert line == f"journal-api: {db.resolve()}: is a journal that is not empty; name a new file with --db"
    assert dump(db) == before


def test_a_journal_with_another_user_or_a_foreign_file_is_not_replaced(exported: Path, db: Path) -> None:
    new_key(db)
    run_ok("users", "add", "Ada", "--db", db)
    assert "is not empty" in run_failing("import-all", exported, "--db", db)
    for content in (b"no journal", b"SQLite format 3\0" + bytes(200)):
        db.write_bytes(content)
        run_failing("import-all", exported, "--db", db)
        assert db.read_bytes() == content


def test_a_running_server_keeps_its_journal_and_can_be_exported(exported: Path, db: Path, tmp_path: Path) -> None:
    with running(db):
        assert "stop it first" in run_failing("import-all", exported, "--db", db)
        run_ok("export", "--all", tmp_path / "folder", "--db", db)

    assert (tmp_path / "folder" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--account", "Sim"], "--all exports everything of all users"),
        (["--user", "owner"], "--all exports everything of all users"),
        (["--spreadsheet"], "--all exports everything of all users"),
        ([], "is not empty; an export overwrites nothing"),
    ],
)
def test_an_export_of_everything_has_no_other_option_and_a_new_folder(
    db: Path, tmp_path: Path, options: list[str], reason: str
) -> None:
    make_journal(db)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").touch()

    assert reason in run_failing("export", "--all", tmp_path / "folder", "--db", db, *options)
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["mine"]

"""The `journal-api` command: docs/self-hosting.md."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import commands
import httpx
import pytest
from click.testing import CliRunner
from commands import Server, change, command, make_journal, new_key, rows, run_failing, run_ok, running
from factories import create_goal, error_of, snapshots_of, unwrap

from journal_api.cli import cli
from journal_api.cli.common import command_line
from journal_api.values.api_keys import SCOPES, is_well_formed, parse_scopes

DATA = Path(__file__).parents[1] / "data"
TRADOVATE = DATA / "tradovate_position_history.csv"
# What the interpreter makes of an argument that is not UTF-8.
NOT_TEXT = os.fsdecode(b"\xff")
IMPORT = f"import {TRADOVATE} --account Sim --timezone UTC"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for the tests that only come to it beside others; its database is `journal_of(server)`."""
    with running(tmp_path_factory.mktemp("server") / "journal.db") as server:
        yield server


def journal_of(server: Server) -> Path:
    return server.err.with_name("journal.db")


# The database ------------------------------------------------------------------------------------------


def test_a_first_user_makes_the_journal_for_its_owner_alone_and_says_so(tmp_path: Path) -> None:
    db = tmp_path / "new" / "folder" / "journal.db"

    ran = command("users", "add", "other", "--db", db)

    assert (ran.code, ran.err) == (0, f"New journal: {db}\n")
    db.with_name("empty.db").touch()
    assert "empty.db: there is no journal" in run_failing("keys", "list", "--db", db.with_name("empty.db"))
    assert run_ok("users", "add", "other", "--db", db.with_name("empty.db"))
    assert stat.S_IMODE(db.stat().st_mode) == 0o600
    assert stat.S_IMODE(db.parent.stat().st_mode) == 0o700
    assert rows(db, "SELECT name FROM users ORDER BY id") == [("owner",), ("other",)]


@pytest.mark.parametrize(
    "line",
    [
        "users list",
        "users remove other --yes",
        "users rename owner other",
        "keys list",
        "keys create test --scopes read",
        "keys revoke 1",
        IMPORT,
        "export trades.csv",
        "backup copy.db",
        "check",
    ],
)
def test_every_other_command_names_the_journal_that_is_missing_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    missing = folder / "data" / "journal.db"

    assert f"{missing}: " in run_failing(*line.split(), "--db", missing)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("line", ["keys list", "users add other", "serve", "check", "backup copy.db"])
def test_a_folder_or_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path, line: str) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()

    is_folder = run_failing(*line.split(), "--db", tmp_path)

    assert is_folder.startswith(f"journal-api: {tmp_path}: is a folder")
    assert str(in_the_way) in run_failing(*line.split(), "--db", in_the_way / "journal.db")


def test_a_command_that_writes_names_the_journal_on_standard_error_and_one_that_reads_does_not(db: Path) -> None:
    make_journal(db)
    writes = ["keys create test --scopes read", "keys revoke 1", "users add other", IMPORT]
    reads = [f"{IMPORT} --dry-run", "keys list", f"export {db.with_name('trades.csv')}"]

    ran = {line: command(*line.split(), "--db", db) for line in [*writes, *reads]}

    assert {each.code for each in ran.values()} == {0}
    assert [line for line, each in ran.items() if f"Journal: {db}\n" in each.err] == writes


def test_the_database_is_named_by_the_option_the_variable_or_the_data_folder(tmp_path: Path) -> None:
    data_folder = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "USERPROFILE": str(tmp_path)}
    variable = {"JOURNAL_DB": str(tmp_path / "variable.db")}

    run_ok("users", "add", "by option", "--db", tmp_path / "option.db", settings=variable)
    run_ok("users", "add", "by variable", settings=variable)
    run_ok("users", "add", "by folder", settings=data_folder)

    found = {file.name: rows(file, "SELECT name FROM users WHERE id > 1") for file in tmp_path.rglob("*.db")}
    assert found == {"option.db": [("by option",)], "variable.db": [("by variable",)], "journal.db": [("by folder",)]}


# Errors -------------------------------------------------------------------------------------------------


ERRORS = {
    "nonsense": "nonsense",
    "keys nonsense": "nonsense",
    "keys create": "NAME",
    "keys create test --scopes": "--scopes",
    "keys create test more --scopes all": "more",
    "keys create test --scopes all --expire 5d": "--expire",
    **{
        f"keys create test --scopes all --expires={text}": "journal-api: --expires "
        for text in ("''", "90", "0d", "-1d", "d", "90h", "1.5d", "'90d '", "\N{ARABIC-INDIC DIGIT NINE}d", "999999d")
    },
    "keys create test --scopes everything": "everything",
    "keys create test --scopes ''": "scope",
    "keys create test --scopes read:tags,write:nothing": "write:nothing",
    "keys create test --scopes READ": "READ",
    "keys create '' --scopes all": "1 to 100",
    f"keys create {'x' * 101} --scopes all": "1 to 100",
    "keys create 'two\nlines' --scopes all": "",
    "keys create test --scopes 'all\nread'": "scope",
    "keys create test --scopes all --user nobody": "there is no user 'nobody'",
    f"keys create {NOT_TEXT} --scopes all": "",
    f"keys create test --scopes all --user {NOT_TEXT}": "",
    "keys revoke": "ID",
    "keys revoke 0": "0",
    "keys revoke one": "one",
    f"keys revoke {2**63 - 1}": f"there is no key {2**63 - 1}",
    f"keys revoke {2**63}": str(2**63),
    "users add": "NAME",
    "users add ' '": "",
    "users add owner": "already in use",
    f"users add {NOT_TEXT}": "",
    "users add Ada --timezone localtime": "journal-api: --timezone must be ",
    "users add Ada --timezone ''": "journal-api: --timezone must be ",
    "users add Ada --day-rollover 5pm": "journal-api: --day-rollover must be ",
    "users remove owner --yes": "only user",
    "users remove Ada --yes": "there is no user 'Ada'",
    f"users remove {NOT_TEXT} --yes": "",
    "import": "FILE",
    "import FILE": "--timezone",
    "import FILE --account ''": "account",
    f"import FILE --account {NOT_TEXT}": "",
    "import FILE --account Sim --timezone Mars/Olympus": "--timezone must be",
    "import FILE --account Sim --user nobody": "there is no user 'nobody'",
    "import . --account Sim": "",
    "import 'missing\n.csv' --account Sim": "missing",
    "import FILE --account Sim --profile nowhere.toml": "does not exist",
    "import UNKNOWN --account Sim --timezone UTC": "header",
    "watch nowhere": "does not exist",
    "serve --port 65536": "port",
    "serve --port http": "port",
    "serve --port 0 --announce --first-key": "--announce",
    "serve --port 0 --lan phone": "--lan must be an IPv4 address of this machine: 'phone'",
    "serve --port 0 --lan ::1": "--lan must be an IPv4 address",
    "serve --port 0 --lan 127.0.0.2 --announce": "--announce prints its JSON line only",
    "serve --port 0 --lan 192.0.2.77": "cannot listen on 192.0.2.77:",
}


@pytest.mark.parametrize(("line", "said"), ERRORS.items(), ids=lambda text: re.sub(r"\W+", " ", text)[-60:])
def test_an_error_is_one_line_that_says_what_is_wrong_and_changes_nothing(db: Path, line: str, said: str) -> None:
    make_journal(db)
    before = commands.dump(db)
    unknown = db.with_name("unknown.csv")
    unknown.write_text("Ticker,Bought\nES,1\n")
    files = {"FILE": str(TRADOVATE), "UNKNOWN": str(unknown)}
    words = [files.get(word, word) for word in shlex.split(line)]

    printed = run_failing(*words, settings={"JOURNAL_DB": str(db)})

    assert re.fullmatch("journal-api: [^\n]+", printed)
    assert said in printed
    assert commands.dump(db) == before


@pytest.mark.parametrize("line", ["--help", "-h", "--version", "keys create -h", "serve --help", ""])
def test_help_and_version_are_no_errors(line: str) -> None:
    assert run_ok(*line.split())


# Users -------------------------------------------------------------------------------------------------


def test_users_are_listed_a_name_a_line_and_found_however_the_name_is_composed(db: Path) -> None:
    run_ok("users", "add", "  Zoe\N{COMBINING DIAERESIS} ", "--db", db)

    listed = run_ok("users", "list", "--db", db)
    key = new_key(db, "--user", "Zoe\N{COMBINING DIAERESIS}")

    assert listed == "owner\nZo\N{LATIN SMALL LETTER E WITH DIAERESIS}\n"
    assert is_well_formed(key)


def test_a_user_is_renamed_unless_the_name_is_taken_or_there_is_no_such_user(db: Path) -> None:
    run_ok("users", "add", "Ada", "--db", db)

    renamed = run_ok("users", "rename", "owner", "Max", "--db", db)

    assert renamed == "User 'owner' is now 'Max'\n"
    assert run_ok("users", "list", "--db", db) == "Max\nAda\n"
    assert "already in use" in run_failing("users", "rename", "Ada", "Max", "--db", db)
    assert "there is no user 'owner'" in run_failing("users", "rename", "owner", "Eve", "--db", db)


def test_a_user_is_removed_with_everything_and_the_other_users_keep_theirs(db: Path) -> None:
    for name in ("Bob", "Ada"):
        before = commands.dump(db) if db.exists() else []
        run_ok("users", "add", name, "--db", db)
        assert commands.import_file(db, TRADOVATE, "--user", name).code == 0
        new_key(db, "--user", name)
    ((trades,),) = rows(db, "SELECT count(*) FROM trades JOIN users ON users.id = user_id WHERE name = 'Ada'")

    ran = command("users", "remove", "Ada", "--yes", "--db", db)

    assert ran.code == 0
    assert ran.out == f"Removed user 'Ada' with trades: {trades}, accounts: 1, imports: 1, keys: 1\n"
    assert ran.err == f"Journal: {db}\n"
    # Changes have no owner and stay; ids are never used again.
    unowned = ('INSERT INTO "changed_', 'INSERT INTO "sqlite')
    kept, expected = ([line for line in lines if not line.startswith(unowned)] for lines in (commands.dump(db), before))
    assert kept == expected
    assert rows(db, "PRAGMA foreign_key_check") == []


@pytest.mark.parametrize(("answer", "names"), [("y\n", ["owner"]), ("n\n", ["owner", "Ada"]), ("", ["owner", "Ada"])])
def test_a_removal_asks_first_and_the_answer_decides(db: Path, answer: str, names: list[str]) -> None:
    run_ok("users", "add", "Ada", "--db", db)

    ran = CliRunner().invoke(cli, ["users", "remove", "Ada", "--db", str(db)], input=answer)

    assert "Delete user 'Ada' with no data from " in ran.stderr
    assert [name for (name,) in rows(db, "SELECT name FROM users ORDER BY id")] == names


# Keys --------------------------------------------------------------------------------------------------


def test_a_new_key_stands_alone_on_standard_output_and_nowhere_else(db: Path) -> None:
    make_journal(db)

    printed = run_ok("keys", "create", "bot", "--scopes", "all", "--db", db)

    assert re.fullmatch(r"tjk_[0-9A-Za-z]{36}\n", printed)
    assert is_well_formed(printed.strip())
    for file in db.parent.iterdir():
        assert printed.strip().encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("named", "scopes"),
    [
        ("all", list(SCOPES)),
        ("read", [scope for scope in SCOPES if scope.startswith("read:")]),
        ("read:tags,write:tags", ["read:tags", "write:tags"]),
        ("read:goals, read:goals", ["read:goals"]),
    ],
)
def test_a_key_has_the_scopes_that_are_named_and_ends_after_the_days_that_are_said(
    db: Path, named: str, scopes: list[str]
) -> None:
    earliest = datetime.now(UTC) + timedelta(days=90)

    new_key(db, "--expires", "90d", scopes=named)

    ((stored, expires_at),) = rows(db, "SELECT scopes, expires_at FROM api_keys")
    assert stored.split() == scopes
    assert earliest <= datetime.fromisoformat(expires_at) <= datetime.now(UTC) + timedelta(days=90)


def test_keys_are_listed_with_their_owner_state_and_scopes_but_not_themselves(db: Path) -> None:
    run_ok("users", "add", "other", "--db", db)
    keys = [
        new_key(db),
        new_key(db, "--user", "other", scopes="read:tags,write:tags"),
        new_key(db, "--expires", "30d"),
        new_key(db, "--expires", "30d"),
    ]
    run_ok("keys", "revoke", "1", "--db", db)
    change(db, "UPDATE api_keys SET expires_at = '2020-01-31T00:00:00.000000Z' WHERE id = 3")

    listed = [line.split("\t") for line in run_ok("keys", "list", "--db", db).splitlines()]

    assert [row[0] for row in listed] == ["1", "2", "3", "4"]
    assert [row[1] for row in listed] == ["owner", "other", "owner", "owner"]
    assert [row[3][-4:] for row in listed] == [key[-4:] for key in keys]
    assert [row[4].split()[0] for row in listed] == ["revoked", "active", "expired", "expires"]
    assert "2020-01-31" in listed[2][4]
    assert listed[1][5].split() == ["read:tags", "write:tags"]
    assert not any(key in cell for key in keys for row in listed for cell in row)


# Beside a running server -------------------------------------------------------------------------------


def test_a_new_key_works_at_once_and_not_after_its_user_is_removed(server: Server) -> None:
    db = journal_of(server)
    run_ok("users", "add", "Ada", "--db", db)

    with server.client(new_key(db, "--user", "Ada")) as client:
        name = unwrap(client.get("/me"))["name"]
        run_ok("users", "remove", "Ada", "--yes", "--db", db)
        gone = client.get("/tags")

    assert (name, error_of(gone)) == ("Ada", (401, "unauthorized"))


async def test_an_import_beside_the_server_shows_in_the_next_read_of_a_goal(server: Server) -> None:
    db = journal_of(server)
    headers = {"Authorization": f"Bearer {new_key(db)}"}
    async with httpx.AsyncClient(
        base_url=f"{server.url}/v1", headers=headers, timeout=commands.PATIENCE, verify=commands.WITHOUT_TLS
    ) as client:
        goal = await create_goal(client, metric="gross_pnl", timeframe="daily")
        before = await snapshots_of(client, goal["id"], to="2026-02-12")

        ran = commands.import_file(db, TRADOVATE)

        after = await snapshots_of(client, goal["id"], to="2026-02-12")
    assert ran.code == 0
    assert (before, [snapshot["actual"] for snapshot in after]) == ([], [-218])


# serve -------------------------------------------------------------------------------------------------


def code_in(printed: str, url: str) -> str:
    """The code in the link that the server printed."""
    (code,) = re.findall(rf"(?m)^    {re.escape(url)}/#code=([\w-]{{43}})$", printed)
    return str(code)


def signed_in(server: Server, code: str) -> httpx.Response:
    return httpx.post(
        f"{server.url}/sign-in", json={"code": code}, timeout=commands.PATIENCE, verify=commands.WITHOUT_TLS
    )


def test_the_first_key_is_printed_once_and_at_every_start_a_link_that_signs_in_once(db: Path) -> None:
    codes: list[str] = []
    printed: list[str] = []
    for name in ("first", "second"):
        with running(db, "--first-key", name=name) as server:
            printed.append(server.out.read_text())
            code = code_in(printed[-1], server.url)
            with server.client(commands.key_in(printed[0])) as client:
                assert client.get("/me").status_code == 200
            answers = [signed_in(server, sent) for sent in (*codes, code, code)]
            errors = server.err.read_text()
        assert code not in errors
        assert "tjk_" not in errors
        assert [answer.status_code for answer in answers] == [401] * len(codes) + [201, 401]
        codes.append(code)

    assert f"\n    {commands.key_in(printed[0])}\n" in printed[0]
    assert "tjk_" not in printed[1]
    assert "phone" not in "".join(printed)  # with its code to photograph
    keys = rows(db, "SELECT name, scopes FROM api_keys ORDER BY id")
    assert [name for name, _ in keys] == ["first key", "Browser", "Browser"]
    assert keys[0][1] == " ".join(SCOPES)
    assert not [file for file in db.parent.glob("journal.db*") if codes[0].encode() in file.read_bytes()]


def test_keys_create_without_scopes_says_the_whole_line_to_type(db: Path) -> None:
    make_journal(db)

    line = run_failing("keys", "create", "my laptop", "--db", db)

    assert line.endswith(f" keys create 'my laptop' --db {db} --scopes all")
    typed = shlex.split(line.partition("say what the key may do: ")[2])
    ran = subprocess.run(typed, env=commands.environment(), capture_output=True, text=True, check=True)
    assert ran.stdout == f"{commands.key_in(ran.stdout)}\n"


@pytest.mark.parametrize(
    ("program", "is_frozen", "line"),
    [
        ("bin/journal-api", False, "{folder}/bin/journal-api status"),
        ("python.py", False, "{python} -m journal_api status"),
        ("bin/journal-api", True, "{python} status"),
    ],
    ids=["installed", "a module", "an executable"],
)
def test_a_line_to_type_runs_this_program_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, is_frozen: bool, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program, "serve"])
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)

    assert command_line("status") == line.format(folder=tmp_path, python=sys.executable)


def test_keys_create_without_scopes_asks_on_a_terminal(db: Path) -> None:
    make_journal(db)
    terminal, of_the_command = os.openpty()
    os.write(terminal, b"nonsense\nread\n")

    out, err = db.with_name("out"), db.with_name("err")
    with out.open("wb") as to_out, err.open("wb") as to_err:
        arguments = ["keys", "create", "mine", "--db", str(db)]
        process = commands.start(arguments, commands.environment(), to_out.fileno(), to_err.fileno(), of_the_command)
        assert process.wait(commands.PATIENCE) == 0

    os.close(terminal)
    os.close(of_the_command)
    assert out.read_text() == f"{commands.key_in(out.read_text())}\n"
    assert "Scopes" in err.read_text()
    assert rows(db, "SELECT scopes FROM api_keys") == [(" ".join(parse_scopes("read")),)]


def test_a_second_server_on_the_same_database_or_address_is_refused_in_one_line(server: Server, db: Path) -> None:
    link = db.with_name("link.db")
    link.symlink_to(journal_of(server))
    taken = str(httpx.URL(server.url).port)
    make_journal(db)

    for name in (journal_of(server), link):
        assert f"a server has {name} open" in run_failing(
            "serve", "--db", name, "--port", str(commands.free_port()), code=3
        )
    assert taken in run_failing("serve", "--db", db, "--port", taken, code=7)
    assert run_failing("serve", "--db", db, "--host", "192.0.2.1", "--port", str(commands.free_port()))
    assert commands.health(server.url).status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_a_server_keeps_a_journal_that_others_could_read_to_itself_and_says_so(db: Path) -> None:
    new_key(db)
    db.chmod(0o644)

    with running(db) as server:
        commands.wait_until(lambda: "other users could read the journal" in server.err.read_text())
        log = server.err.read_text()
        files = [file for file in db.parent.iterdir() if file.name.startswith(db.name)]
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in files}

    assert "journal.db 0644" in log
    assert set(modes.values()) == {0o600}
    assert {"journal.db", "journal.db-wal", "journal.db-shm", "journal.db.lock"} <= set(modes)


def test_the_files_of_a_server_are_its_owners_alone_and_one_is_left_after_ctrl_c(db: Path) -> None:
    with running(db, "--first-key") as server:
        with server.client(commands.key_in(server.out.read_text())) as client:
            unwrap(client.post("/tag-categories", json={"name": "Kept"}))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in db.parent.glob("journal.db*")}

        code = server.stop(signal.SIGINT)

    assert {"journal.db", "journal.db-wal", "journal.db-shm"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert code == 0
    assert not db.with_name("journal.db-wal").exists()
    assert rows(db, "SELECT name FROM tag_categories") == [("Kept",)]


def test_a_server_listens_on_the_port_of_the_variable_makes_no_key_and_writes_the_last_use_of_one(db: Path) -> None:
    key, _ = new_key(db), new_key(db)
    with running(db, by_variables=True) as server, server.client(key) as client:
        assert client.get("/tags").status_code == 200
        server.stop()

    said = server.out.read_text() + server.err.read_text()
    assert [word for word in ("tjk_", "#code=", "others") if word in said] == []
    days = (datetime.now(UTC), datetime.now(UTC) - timedelta(1))
    uses = [line.split("\t")[6] for line in run_ok("keys", "list", "--db", db).splitlines()]
    assert uses[0] in {f"used {day:%Y-%m-%d}" for day in days}
    assert uses[1:] == ["never used"]

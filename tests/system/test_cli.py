"""The `journal-api` command: docs/self-hosting.md."""

import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from commands import (
    PATIENCE,
    WITHOUT_TLS,
    Server,
    change,
    command,
    dump,
    environment,
    free_port,
    health,
    import_file,
    key_in,
    make_journal,
    new_key,
    rows,
    run_failing,
    run_ok,
    running,
    wait_until,
)
from factories import create_goal, error_of, snapshots_of, unwrap

from journal_api.cli import cli
from journal_api.values.api_keys import SCOPES, is_well_formed, parse_scopes

DATA = Path(__file__).parents[1] / "data"
TRADOVATE = DATA / "tradovate_position_history.csv"
# What the interpreter makes of an argument that is not UTF-8.
NOT_TEXT = os.fsdecode(b"\xff")
READ_SCOPES = [scope for scope in SCOPES if scope.startswith("read:")]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where the database is going to be."""
    return tmp_path / "journal.db"


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
    "arguments",
    [
        ("users", "list"),
        ("users", "remove", "other", "--yes"),
        ("keys", "list"),
        ("keys", "create", "test", "--scopes", "read"),
        ("keys", "revoke", "1"),
        ("import", str(TRADOVATE), "--account", "Sim", "--timezone", "UTC"),
        ("export", "trades.csv"),
        ("backup", "copy.db"),
        ("check",),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_other_command_names_the_journal_that_is_missing_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    missing = folder / "data" / "journal.db"

    line = run_failing(*arguments, "--db", missing)

    assert f"{missing}: " in line
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [("keys", "list"), ("users", "add", "other"), ("serve",), ("check",), ("backup", "copy.db")]
)
def test_a_folder_or_a_file_in_the_place_of_a_folder_is_refused(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()

    line = run_failing(*arguments, "--db", tmp_path)

    assert line.startswith(f"journal-api: {tmp_path}: is a folder")
    assert str(in_the_way) in run_failing(*arguments, "--db", in_the_way / "journal.db")


def test_a_command_that_writes_names_the_journal_on_standard_error_and_one_that_reads_does_not(
    db: Path,
) -> None:
    make_journal(db)

    ran = [
        command("keys", "create", "test", "--scopes", "read", "--db", db),
        command("keys", "revoke", "1", "--db", db),
        command("users", "add", "other", "--db", db),
        import_file(db, TRADOVATE),
        import_file(db, TRADOVATE, "--dry-run"),
        command("keys", "list", "--db", db),
        command("export", db.with_name("trades.csv"), "--db", db),
    ]

    named = [f"Journal: {db}\n" in each.err for each in ran]
    assert [each.code for each in ran] == [0] * 7
    assert named == [True, True, True, True, False, False, False]


def test_the_database_is_named_by_the_option_the_variable_or_the_data_folder(tmp_path: Path) -> None:
    data_folder = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "USERPROFILE": str(tmp_path)}
    variable = {"JOURNAL_DB": str(tmp_path / "variable.db")}

    run_ok("users", "add", "by option", "--db", tmp_path / "option.db", settings=variable)
    run_ok("users", "add", "by variable", settings=variable)
    run_ok("users", "add", "by folder", settings=data_folder)

    found = {file.name: rows(file, "SELECT name FROM users WHERE id > 1") for file in tmp_path.rglob("*.db")}
    assert found == {
        "option.db": [("by option",)],
        "variable.db": [("by variable",)],
        "journal.db": [("by folder",)],
    }


# Errors -------------------------------------------------------------------------------------------------


ERRORS = [
    ("nonsense",),
    ("--nonsense",),
    ("keys", "nonsense"),
    ("keys", "create"),
    ("keys", "create", "test"),
    ("keys", "create", "test", "--scopes"),
    ("keys", "create", "test", "more", "--scopes", "all"),
    ("keys", "create", "test", "--scopes", "all", "--expire", "5d"),
    ("keys", "create", "test", "--scopes", "everything"),
    ("keys", "create", "test", "--scopes", ""),
    ("keys", "create", "test", "--scopes", "read:tags,write:nothing"),
    ("keys", "create", "test", "--scopes", "READ"),
    ("keys", "create", "", "--scopes", "all"),
    ("keys", "create", "x" * 101, "--scopes", "all"),
    ("keys", "create", "two\nlines", "--scopes", "all"),
    ("keys", "create", "test", "--scopes", "all\nread"),
    ("keys", "create", "test", "--scopes", "all", "--user", "nobody"),
    ("keys", "create", NOT_TEXT, "--scopes", "all"),
    ("keys", "create", "test", "--scopes", "all", "--user", NOT_TEXT),
    ("keys", "revoke"),
    ("keys", "revoke", "0"),
    ("keys", "revoke", "-1"),
    ("keys", "revoke", "one"),
    ("keys", "revoke", "1"),
    ("keys", "revoke", str(2**63)),
    ("users", "add"),
    ("users", "add", " "),
    ("users", "add", "owner"),
    ("users", "add", NOT_TEXT),
    ("users", "remove"),
    ("users", "remove", "owner", "--yes"),
    ("users", "remove", NOT_TEXT, "--yes"),
    ("import",),
    ("import", "FILE"),
    ("import", "FILE", "--account", ""),
    ("import", "FILE", "--account", NOT_TEXT),
    ("import", "FILE", "--account", "Sim", "--timezone", "Mars/Olympus"),
    ("import", "FILE", "--account", "Sim", "--user", "nobody"),
    ("import", ".", "--account", "Sim"),
    ("import", "missing.csv", "--account", "Sim"),
    ("import", "missing\n.csv", "--account", "Sim"),
    ("serve", "--port", "65536"),
    ("serve", "--port", "http"),
]


@pytest.mark.parametrize("arguments", ERRORS, ids=lambda words: re.sub(r"\W+", " ", " ".join(words))[-60:])
def test_an_error_is_one_line_and_nothing_else(db: Path, arguments: tuple[str, ...]) -> None:
    make_journal(db)
    words = [str(TRADOVATE) if word == "FILE" else word for word in arguments]

    line = run_failing(*words, settings={"JOURNAL_DB": str(db)})

    assert re.fullmatch("journal-api: [^\n]+", line)


def test_a_file_whose_name_is_not_text_is_imported_or_refused_in_one_line(db: Path, tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/\xff.csv"
    Path(os.fsdecode(file)).write_bytes(TRADOVATE.read_bytes())

    ran = command("import", file, "--account", "Sim", "--db", db)

    assert ran.code == 0 or ran.err.count("\n") == 1, ran.err


def test_help_and_version_are_no_errors() -> None:
    for arguments in (
        ("--help",),
        ("-h",),
        ("--version",),
        ("keys", "create", "-h"),
        ("serve", "--help"),
        (),
    ):
        assert run_ok(*arguments)


# Users -------------------------------------------------------------------------------------------------


def test_users_are_listed_a_name_a_line_and_found_however_the_name_is_composed(db: Path) -> None:
    run_ok("users", "add", "  Zoe\N{COMBINING DIAERESIS} ", "--db", db)

    listed = run_ok("users", "list", "--db", db)
    key = new_key(db, "--user", "Zoe\N{COMBINING DIAERESIS}")

    assert listed == "owner\nZo\N{LATIN SMALL LETTER E WITH DIAERESIS}\n"
    assert is_well_formed(key)


def test_a_new_user_starts_with_the_zone_and_rollover_of_the_settings(db: Path) -> None:
    make_journal(db)
    chicago = {"JOURNAL_TIMEZONE": "America/Chicago", "JOURNAL_DAY_ROLLOVER": "16:00"}

    run_ok("users", "add", "other", "--db", db, settings=chicago)

    assert rows(db, "SELECT name, timezone, day_rollover FROM users ORDER BY id") == [
        ("owner", "UTC", "00:00"),
        ("other", "America/Chicago", "16:00"),
    ]


def with_a_journal_of(db: Path, name: str) -> str:
    """A key of a new user who has an account with imported trades and a goal."""
    run_ok("users", "add", name, "--db", db)
    assert import_file(db, TRADOVATE, "--user", name).code == 0
    return new_key(db, "--user", name)


def test_a_user_is_removed_with_everything_and_the_other_users_keep_theirs(db: Path) -> None:
    with_a_journal_of(db, "Bob")
    before = dump(db)
    with_a_journal_of(db, "Ada")
    ((trades,),) = rows(db, "SELECT count(*) FROM trades JOIN users ON users.id = user_id WHERE name = 'Ada'")

    ran = command("users", "remove", "Ada", "--yes", "--db", db)

    assert ran.code == 0
    assert ran.out == f"Removed user 'Ada' with trades: {trades}, accounts: 1, imports: 1, keys: 1\n"
    assert ran.err == f"Journal: {db}\n"
    # Changes have no owner and stay; ids are never used again.
    unowned = ('INSERT INTO "changes', 'INSERT INTO "sqlite')
    kept, expected = (
        [line for line in lines if not line.startswith(unowned)] for lines in (dump(db), before)
    )
    assert kept == expected
    assert rows(db, "PRAGMA foreign_key_check") == []


@pytest.mark.parametrize(
    ("answer", "names"), [("y\n", ["owner"]), ("n\n", ["owner", "Ada"]), ("", ["owner", "Ada"])]
)
def test_a_removal_asks_first_and_the_answer_decides(db: Path, answer: str, names: list[str]) -> None:
    with_a_journal_of(db, "Ada")

    ran = CliRunner().invoke(cli, ["users", "remove", "Ada", "--db", str(db)], input=answer)

    assert "Delete user 'Ada' with trades: " in ran.stderr
    assert [name for (name,) in rows(db, "SELECT name FROM users ORDER BY id")] == names


def test_the_only_user_and_an_unknown_user_cannot_be_removed(db: Path) -> None:
    make_journal(db)

    only = run_failing("users", "remove", "owner", "--yes", "--db", db)
    unknown = run_failing("users", "remove", "Ada", "--yes", "--db", db)

    assert "only user" in only
    assert "there is no user 'Ada'" in unknown
    assert rows(db, "SELECT name FROM users") == [("owner",)]


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
        ("read", READ_SCOPES),
        ("write:tags", ["write:tags"]),
        ("read:tags,write:tags", ["read:tags", "write:tags"]),
        ("read:goals, read:goals", ["read:goals"]),
    ],
)
def test_a_key_has_the_scopes_that_are_named(db: Path, named: str, scopes: list[str]) -> None:
    new_key(db, scopes=named)

    ((stored,),) = rows(db, "SELECT scopes FROM api_keys")
    assert stored.split() == scopes


def test_a_key_ends_after_the_days_that_are_said(db: Path) -> None:
    earliest = datetime.now(UTC) + timedelta(days=90)

    new_key(db, "--expires", "90d")

    ((expires_at,),) = rows(db, "SELECT expires_at FROM api_keys")
    assert earliest <= datetime.fromisoformat(expires_at) <= datetime.now(UTC) + timedelta(days=90)


@pytest.mark.parametrize(
    "expires", ["", "90", "0d", "-1d", "d", "90h", "1.5d", "90d ", "\N{ARABIC-INDIC DIGIT NINE}d", "999999d"]
)
def test_an_expiry_that_is_no_number_of_days_is_refused(db: Path, expires: str) -> None:
    make_journal(db)

    line = run_failing("keys", "create", "bot", "--scopes", "all", f"--expires={expires}", "--db", db)

    assert line.startswith("journal-api: --expires ")


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


def test_a_server_writes_the_last_use_of_a_key_and_the_list_shows_it(db: Path) -> None:
    key, _ = new_key(db), new_key(db)
    with running(db) as server, server.client(key) as client:
        assert client.get("/tags").status_code == 200
        server.stop()

    uses = [line.split("\t")[6] for line in run_ok("keys", "list", "--db", db).splitlines()]

    assert uses[0] in {
        f"used {day:%Y-%m-%d}" for day in (datetime.now(UTC), datetime.now(UTC) - timedelta(1))
    }
    assert uses[1] == "never used"


def test_revoking_a_key_that_does_not_exist_names_it_and_changes_nothing(db: Path) -> None:
    new_key(db)
    before = dump(db)

    line = run_failing("keys", "revoke", "2", "--db", db)

    assert "2" in line
    assert dump(db) == before


# Beside a running server -------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["revoked", "expired", "removed"])
def test_a_new_key_works_at_once_and_not_after_it_is(server: Server, how: str) -> None:
    db = journal_of(server)
    run_ok("users", "add", how, "--db", db)
    key = new_key(db, "--expires", "1d", "--user", how)
    key_id = run_ok("keys", "list", "--db", db).splitlines()[-1].split("\t")[0]

    with server.client(key) as client:
        allowed, name = client.get("/tags"), unwrap(client.get("/me"))["name"]
        match how:
            case "revoked":
                run_ok("keys", "revoke", key_id, "--db", db)
            case "expired":
                change(
                    db, f"UPDATE api_keys SET expires_at = '2020-01-31T00:00:00.000000Z' WHERE id = {key_id}"
                )
            case "removed":
                run_ok("users", "remove", how, "--yes", "--db", db)
        gone = client.get("/tags")

    assert (allowed.status_code, name) == (200, how)
    codes = {"revoked": "key_revoked", "expired": "key_expired", "removed": "unauthorized"}
    assert error_of(gone) == (401, codes[how])
    assert gone.headers["www-authenticate"] == "Bearer"


async def test_an_import_beside_the_server_shows_in_the_next_read_of_a_goal(server: Server) -> None:
    db = journal_of(server)
    headers = {"Authorization": f"Bearer {new_key(db)}"}
    async with httpx.AsyncClient(
        base_url=f"{server.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS
    ) as client:
        goal = await create_goal(client, metric="gross_pnl", timeframe="daily")
        before = await snapshots_of(client, goal["id"], to="2026-02-12")

        ran = import_file(db, TRADOVATE)

        after = await snapshots_of(client, goal["id"], to="2026-02-12")
    assert ran.code == 0
    assert (before, [snapshot["actual"] for snapshot in after]) == ([], [-218])


# serve -------------------------------------------------------------------------------------------------


def code_in(printed: str, url: str) -> str:
    """The code in the link that the server printed."""
    (code,) = re.findall(rf"(?m)^    {re.escape(url)}/#code=([\w-]{{43}})$", printed)
    return str(code)


def signed_in(server: Server, code: str) -> httpx.Response:
    return httpx.post(f"{server.url}/sign-in", json={"code": code}, timeout=PATIENCE, verify=WITHOUT_TLS)


def test_the_first_key_is_printed_once_and_at_every_start_a_link_that_signs_in_once(db: Path) -> None:
    codes: list[str] = []
    printed: list[str] = []
    for name in ("first", "second"):
        with running(db, "--first-key", name=name) as server:
            printed.append(server.out.read_text())
            code = code_in(printed[-1], server.url)
            with server.client(key_in(printed[0])) as client:
                assert client.get("/me").status_code == 200
            answers = [signed_in(server, sent) for sent in (*codes, code, code)]
            errors = server.err.read_text()
        assert code not in errors
        assert "tjk_" not in errors
        assert [answer.status_code for answer in answers] == [401] * len(codes) + [201, 401]
        codes.append(code)

    assert f"\n    {key_in(printed[0])}\n" in printed[0]
    assert "tjk_" not in printed[1]
    keys = rows(db, "SELECT name, scopes FROM api_keys ORDER BY id")
    assert [name for name, _ in keys] == ["first key", "Browser", "Browser"]
    assert keys[0][1] == " ".join(SCOPES)
    assert not [file for file in db.parent.glob("journal.db*") if codes[0].encode() in file.read_bytes()]


def test_the_sign_in_names_a_command_that_makes_a_key_from_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "with a blank"
    folder.mkdir()
    with running(folder / "journal.db") as server:
        line = unwrap(httpx.get(f"{server.url}/sign-in", timeout=PATIENCE, verify=WITHOUT_TLS))
        ran = subprocess.run(
            shlex.split(line), cwd="/", env=environment(), capture_output=True, text=True, check=True
        )
        with server.client(key_in(ran.stdout)) as client:
            assert client.get("/me").status_code == 200


def test_keys_create_without_scopes_says_the_whole_line_to_type(db: Path) -> None:
    make_journal(db)

    line = run_failing("keys", "create", "my laptop", "--db", db)

    assert line.endswith(f" keys create 'my laptop' --db {db} --scopes all")
    typed = shlex.split(line.partition("say what the key may do: ")[2])
    ran = subprocess.run(typed, env=environment(), capture_output=True, text=True, check=True)
    assert ran.stdout == f"{key_in(ran.stdout)}\n"


@pytest.mark.parametrize(("typed", "scopes"), [("", "all"), ("nonsense\nread", "read")])
def test_keys_create_without_scopes_asks_on_a_terminal(db: Path, typed: str, scopes: str) -> None:
    make_journal(db)
    terminal, of_the_command = os.openpty()
    os.write(terminal, f"{typed}\n".encode())

    ran = subprocess.run(
        [sys.executable, "-m", "journal_api", "keys", "create", "mine", "--db", str(db)],
        stdin=of_the_command,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    os.close(terminal)
    os.close(of_the_command)
    assert ran.stdout == f"{key_in(ran.stdout)}\n"
    assert "Scopes" in ran.stderr
    assert rows(db, "SELECT scopes FROM api_keys") == [(" ".join(parse_scopes(scopes)),)]


def test_a_second_server_on_the_same_database_is_refused_by_whatever_name_it_comes(
    server: Server, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(journal_of(server))

    for name in (journal_of(server), link):
        assert f"a server has {name} open" in run_failing("serve", "--db", name, "--port", str(free_port()))
    assert health(server.url).status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_a_server_keeps_a_journal_that_others_could_read_to_itself_and_says_so(db: Path) -> None:
    new_key(db)
    db.chmod(0o644)

    with running(db) as server:
        wait_until(lambda: "other users could read the journal" in server.err.read_text())
        log = server.err.read_text()
        files = [file for file in db.parent.iterdir() if file.name.startswith(db.name)]
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in files}

    assert "journal.db 0644" in log
    assert set(modes.values()) == {0o600}
    assert {"journal.db", "journal.db-wal", "journal.db-shm", "journal.db.lock"} <= set(modes)


def test_an_address_that_cannot_be_listened_on_is_an_error_in_one_line(db: Path) -> None:
    make_journal(db)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        assert port in run_failing("serve", "--db", db, "--port", port)
    assert run_failing("serve", "--db", db, "--host", "192.0.2.1", "--port", str(free_port()))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_the_files_of_a_server_are_its_owners_alone_and_one_is_left_when_it_is_told_to_stop(
    db: Path, how: signal.Signals
) -> None:
    with running(db, "--first-key") as server:
        with server.client(key_in(server.out.read_text())) as client:
            unwrap(client.post("/tag-categories", json={"name": "Kept"}))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in db.parent.glob("journal.db*")}

        code = server.stop(how)

    assert {"journal.db", "journal.db-wal", "journal.db-shm"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert code == 0
    assert not db.with_name("journal.db-wal").exists()
    assert rows(db, "SELECT name FROM tag_categories") == [("Kept",)]


def test_a_server_listens_on_the_port_of_the_variable_makes_no_key_and_has_no_complaint(db: Path) -> None:
    with running(db, by_variables=True) as server:
        answer = health(server.url)
        server.stop()

    said = server.out.read_text() + server.err.read_text()
    assert answer.status_code == 200
    assert "tjk_" not in said
    assert "#code=" not in said
    assert "others" not in said
    assert rows(db, "SELECT count(*) FROM api_keys") == [(0,)]

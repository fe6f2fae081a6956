"""The `journal-api` command: docs/self-hosting.md."""

import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import httpx
import pytest
from click.testing import CliRunner
from commands import (
    PATIENCE,
    WITHOUT_TLS,
    Server,
    change,
    command,
    done,
    dump,
    environment,
    free_port,
    health,
    import_file,
    key_in,
    make_journal,
    new_key,
    refused,
    rows,
    running,
)
from factories import create_goal, error_of, snapshots_of, unwrap

from journal_api.cli import cli, main
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


class Refusal(Protocol):
    def __call__(self, *arguments: str) -> str: ...


@pytest.fixture
def refusal(
    db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Refusal]:
    """What a command that is refused would say last; it runs in this process, which is quicker."""

    def refusal(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["journal-api", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert capsys.readouterr() == ("", "")
        return str(ended.value.code)

    make_journal(db)
    monkeypatch.setenv("JOURNAL_DB", str(db))
    umask = os.umask(0o077)
    yield refusal
    os.umask(umask)


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Refusal, arguments: tuple[str, ...]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    missing = folder / "data" / "journal.db"

    line = refusal(*arguments, "--db", str(missing))

    assert f"{missing}: " in line
    assert list(folder.iterdir()) == []


def test_an_empty_file_is_a_journal_for_no_command_but_those_that_make_one(db: Path) -> None:
    db.touch()

    assert f"{db}: there is no journal" in refused("keys", "list", "--db", db)
    assert done("users", "add", "other", "--db", db)


@pytest.mark.parametrize(
    "arguments", [("keys", "list"), ("users", "add", "other"), ("serve",), ("check",), ("backup", "copy.db")]
)
def test_a_folder_is_refused_as_one(tmp_path: Path, refusal: Refusal, arguments: tuple[str, ...]) -> None:
    line = refusal(*arguments, "--db", str(tmp_path))

    assert line.startswith(f"journal-api: {tmp_path}: is a folder")


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


def test_a_command_that_fails_names_no_journal_that_it_wrote_to(db: Path) -> None:
    make_journal(db)

    assert "there is no key 7" in refused("keys", "revoke", "7", "--db", db)


def test_the_variable_says_where_the_database_is(db: Path) -> None:
    done("users", "add", "other", settings={"JOURNAL_DB": str(db)})

    assert rows(db, "SELECT name FROM users ORDER BY id") == [("owner",), ("other",)]


def test_the_option_wins_over_the_variable(db: Path) -> None:
    variable = db.with_name("variable.db")

    done("users", "add", "other", "--db", db, settings={"JOURNAL_DB": str(variable)})

    assert rows(db, "SELECT name FROM users ORDER BY id") == [("owner",), ("other",)]
    assert not variable.exists()


def test_without_either_the_database_is_in_the_data_folder(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "USERPROFILE": str(tmp_path)}

    done("users", "add", "other", settings=home)

    assert [file.name for file in tmp_path.rglob("journal.db")] == ["journal.db"]


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
def test_an_error_is_one_line_and_nothing_else(refusal: Refusal, arguments: tuple[str, ...]) -> None:
    line = refusal(*(str(TRADOVATE) if word == "FILE" else word for word in arguments))

    assert re.fullmatch("journal-api: [^\n]+", line)


@pytest.mark.parametrize(
    "arguments",
    [("nonsense",), ("keys", "create"), ("keys", "revoke", "7"), ("users", "add", "owner")],
    ids=["no such command", "missing argument", "no such key", "duplicate"],
)
def test_an_error_goes_to_standard_error_and_the_exit_code_is_1(db: Path, arguments: tuple[str, ...]) -> None:
    line = refused(*arguments, settings={"JOURNAL_DB": str(db)})

    assert line.startswith("journal-api: ")


def test_a_file_whose_name_is_not_text_is_imported_or_refused_in_one_line(db: Path, tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/\xff.csv"
    Path(os.fsdecode(file)).write_bytes(TRADOVATE.read_bytes())

    ran = command("import", file, "--account", "Sim", "--db", db)

    assert ran.code == 0 or ran.err.count("\n") == 1, ran.err


def test_a_database_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")

    lines = [refused("users", "list", "--db", path) for path in (tmp_path, in_the_way / "journal.db")]

    assert str(tmp_path) in lines[0]
    assert str(in_the_way) in lines[1]


def test_help_and_version_are_no_errors() -> None:
    for arguments in (
        ("--help",),
        ("-h",),
        ("--version",),
        ("keys", "create", "-h"),
        ("serve", "--help"),
        (),
    ):
        assert done(*arguments)


@pytest.mark.parametrize("arguments", [("--help",), ("serve", "--port", "x"), ("keys", "list", "--db", "/")])
def test_a_forked_command_prints_what_a_new_process_prints(arguments: tuple[str, ...]) -> None:
    forked, new = command(*arguments), command(*arguments, is_new=True)

    assert forked == new


# Users -------------------------------------------------------------------------------------------------


def test_users_are_listed_a_name_a_line(db: Path) -> None:
    done("users", "add", "  Zo\N{LATIN SMALL LETTER E WITH DIAERESIS} ", "--db", db)

    listed = done("users", "list", "--db", db)

    assert listed == "owner\nZo\N{LATIN SMALL LETTER E WITH DIAERESIS}\n"


def test_a_user_is_found_by_their_name_however_it_is_composed(db: Path) -> None:
    decomposed = "Zoe\N{COMBINING DIAERESIS}"
    done("users", "add", decomposed, "--db", db)

    key = new_key(db, "--user", decomposed)

    assert is_well_formed(key)


def test_a_new_user_starts_with_the_zone_and_rollover_of_the_settings(db: Path) -> None:
    make_journal(db)
    chicago = {"JOURNAL_TIMEZONE": "America/Chicago", "JOURNAL_DAY_ROLLOVER": "16:00"}

    done("users", "add", "other", "--db", db, settings=chicago)

    assert rows(db, "SELECT name, timezone, day_rollover FROM users ORDER BY id") == [
        ("owner", "UTC", "00:00"),
        ("other", "America/Chicago", "16:00"),
    ]


def with_a_journal_of(db: Path, name: str) -> str:
    """A key of a new user who has an account with imported trades and a goal."""
    done("users", "add", name, "--db", db)
    assert import_file(db, TRADOVATE, "--user", name).code == 0
    return new_key(db, "--user", name)


def test_a_user_is_removed_with_everything_and_the_other_users_keep_theirs(db: Path) -> None:
    make_journal(db)
    before = dump(db)
    with_a_journal_of(db, "Ada")
    ((trades,),) = rows(db, "SELECT count(*) FROM trades")

    ran = command("users", "remove", "Ada", "--yes", "--db", db)

    assert ran.code == 0
    assert ran.out == f"Removed user 'Ada' with trades: {trades}, accounts: 1, imports: 1, keys: 1\n"
    assert ran.err == f"Journal: {db}\n"
    # Changes have no owner and stay; ids are never used again.
    kept = [line for line in dump(db) if not line.startswith(('INSERT INTO "changes', 'INSERT INTO "sqlite'))]
    assert kept == [line for line in before if not line.startswith('INSERT INTO "sqlite')]
    assert rows(db, "PRAGMA foreign_key_check") == []


def test_the_journal_of_another_user_is_untouched_by_a_removal(db: Path) -> None:
    with_a_journal_of(db, "Ada")
    with_a_journal_of(db, "Bob")
    of_bob = "SELECT * FROM trades WHERE user_id = (SELECT id FROM users WHERE name = 'Bob') ORDER BY id"
    before = rows(db, of_bob)

    done("users", "remove", "Ada", "--yes", "--db", db)

    assert before
    assert rows(db, of_bob) == before


def test_a_removal_asks_first_and_without_an_answer_removes_nobody(db: Path) -> None:
    with_a_journal_of(db, "Ada")
    before = dump(db)

    ran = command("users", "remove", "Ada", "--db", db)

    assert ran.code == 1
    assert "Delete user 'Ada' with trades: " in ran.err
    assert ran.out == ""
    assert dump(db) == before


@pytest.mark.parametrize(("answer", "names"), [("y\n", ["owner"]), ("n\n", ["owner", "Ada"])])
def test_the_answer_decides(db: Path, answer: str, names: list[str]) -> None:
    done("users", "add", "Ada", "--db", db)

    CliRunner().invoke(cli, ["users", "remove", "Ada", "--db", str(db)], input=answer)

    assert [name for (name,) in rows(db, "SELECT name FROM users ORDER BY id")] == names


def test_the_only_user_and_an_unknown_user_cannot_be_removed(db: Path) -> None:
    make_journal(db)

    only = refused("users", "remove", "owner", "--yes", "--db", db)
    unknown = refused("users", "remove", "Ada", "--yes", "--db", db)

    assert "only user" in only
    assert "there is no user 'Ada'" in unknown
    assert rows(db, "SELECT name FROM users") == [("owner",)]


def test_the_key_of_a_removed_user_is_refused_by_a_running_server(server: Server) -> None:
    db = journal_of(server)
    key = with_a_journal_of(db, "leaving")
    with server.client(key) as client:
        allowed = client.get("/trades")
        done("users", "remove", "leaving", "--yes", "--db", db)
        gone = client.get("/trades")

    assert allowed.status_code == 200
    assert error_of(gone) == (401, "unauthorized")


# Keys --------------------------------------------------------------------------------------------------


def test_a_new_key_stands_alone_on_standard_output_and_nowhere_else(db: Path) -> None:
    make_journal(db)

    printed = done("keys", "create", "bot", "--scopes", "all", "--db", db)

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
def test_an_expiry_that_is_no_number_of_days_is_refused(refusal: Refusal, expires: str) -> None:
    line = refusal("keys", "create", "bot", "--scopes", "all", f"--expires={expires}")

    assert line.startswith("journal-api: --expires ")


def test_keys_are_listed_with_their_owner_state_and_scopes_but_not_themselves(db: Path) -> None:
    done("users", "add", "other", "--db", db)
    keys = [
        new_key(db),
        new_key(db, "--user", "other", scopes="read:tags,write:tags"),
        new_key(db, "--expires", "30d"),
        new_key(db, "--expires", "30d"),
    ]
    done("keys", "revoke", "1", "--db", db)
    change(db, "UPDATE api_keys SET expires_at = '2020-01-31T00:00:00.000000Z' WHERE id = 3")

    listed = [line.split("\t") for line in done("keys", "list", "--db", db).splitlines()]

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

    uses = [line.split("\t")[6] for line in done("keys", "list", "--db", db).splitlines()]

    assert uses[0] in {
        f"used {day:%Y-%m-%d}" for day in (datetime.now(UTC), datetime.now(UTC) - timedelta(1))
    }
    assert uses[1] == "never used"


def test_revoking_a_key_that_does_not_exist_names_it_and_changes_nothing(db: Path) -> None:
    new_key(db)
    before = dump(db)

    line = refused("keys", "revoke", "2", "--db", db)

    assert "2" in line
    assert dump(db) == before


# Beside a running server -------------------------------------------------------------------------------


def test_a_new_key_works_at_once_and_a_revoked_one_not_on_the_next_request(server: Server) -> None:
    db = journal_of(server)
    key = new_key(db, scopes="read:tags")
    key_id = done("keys", "list", "--db", db).splitlines()[-1].split("\t")[0]

    with server.client(key) as client:
        allowed = client.get("/tags")
        done("keys", "revoke", key_id, "--db", db)
        gone = client.get("/tags")

    assert allowed.status_code == 200
    assert error_of(gone) == (401, "key_revoked")
    assert gone.headers["www-authenticate"] == "Bearer"


def test_a_key_of_another_user_sees_their_journal_alone(server: Server) -> None:
    db = journal_of(server)
    done("users", "add", "neighbour", "--db", db)
    with server.client(new_key(db)) as client:
        unwrap(client.post("/tag-categories", json={"name": "Owner's"}))

    with server.client(new_key(db, "--user", "neighbour")) as client:
        seen, name = unwrap(client.get("/tag-categories")), unwrap(client.get("/me"))["name"]

    assert (seen, name) == ([], "neighbour")


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


def test_commands_succeed_while_the_server_is_writing(server: Server) -> None:
    db = journal_of(server)

    with server.client(new_key(db)) as client:
        for number in range(8):
            created = client.post("/tag-categories", json={"name": f"Between commands {number}"})
            made = command("keys", "create", f"bot {number}", "--scopes", "all", "--db", db)
            assert (created.status_code, made.code) == (201, 0)

    assert rows(db, "SELECT count(*) FROM api_keys WHERE name LIKE 'bot %'") == [(8,)]


def test_a_key_expires_while_the_server_runs(server: Server) -> None:
    db = journal_of(server)
    key = new_key(db, "--expires", "1d")
    with server.client(key) as client:
        allowed = client.get("/tags")
        key_id = max(int(line.split("\t")[0]) for line in done("keys", "list", "--db", db).splitlines())
        change(db, f"UPDATE api_keys SET expires_at = '2020-01-31T00:00:00.000000Z' WHERE id = {key_id}")
        expired = client.get("/tags")

    assert allowed.status_code == 200
    assert error_of(expired) == (401, "key_expired")


# serve -------------------------------------------------------------------------------------------------


def code_in(printed: str, url: str) -> str:
    """The code in the link that the server printed."""
    (code,) = re.findall(rf"(?m)^    {re.escape(url)}/#code=([\w-]{{43}})$", printed)
    return str(code)


def signed_in(server: Server, code: str) -> httpx.Response:
    return httpx.post(f"{server.url}/sign-in", json={"code": code}, timeout=PATIENCE, verify=WITHOUT_TLS)


def test_the_first_key_is_printed_once_on_a_line_of_its_own_and_has_every_scope(db: Path) -> None:
    with running(db, "--first-key", name="first") as server:
        printed = server.out.read_text()
        key = key_in(printed)
        with server.client(key) as client:
            read = client.get("/me")
        first_errors = server.err.read_text()
        assert f"\n    {key}\n" in printed

    with running(db, "--first-key", name="second") as server:
        with server.client(key) as client:
            read_again = client.get("/me")
        second = server.out.read_text() + server.err.read_text()

    assert (read.status_code, read_again.status_code) == (200, 200)
    assert "tjk_" not in first_errors
    assert "tjk_" not in second
    assert rows(db, "SELECT scopes FROM api_keys") == [(" ".join(SCOPES),)]


def test_every_start_with_first_key_prints_a_link_that_signs_in_once(db: Path) -> None:
    codes: list[str] = []
    for name in ("first", "second"):
        with running(db, "--first-key", name=name) as server:
            code = code_in(server.out.read_text(), server.url)
            answers = [signed_in(server, sent) for sent in (*codes, code, code)]
            assert code not in server.err.read_text()
        assert [answer.status_code for answer in answers] == [401] * len(codes) + [201, 401]
        codes.append(code)

    names = ("first key", "Browser", "Browser")
    assert rows(db, "SELECT name FROM api_keys ORDER BY id") == [(name,) for name in names]
    assert not [file for file in db.parent.glob("journal.db*") if codes[0].encode() in file.read_bytes()]


def test_without_first_key_no_link_is_printed(db: Path) -> None:
    with running(db) as server:
        printed = server.out.read_text()

    assert "#code=" not in printed


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

    line = refused("keys", "create", "my laptop", "--db", db)

    assert line.endswith(f" keys create 'my laptop' --db {db} --scopes all")
    typed = shlex.split(line.partition("say what the key may do: ")[2])
    ran = subprocess.run(typed, env=environment(), capture_output=True, text=True, check=True)
    assert ran.stdout == f"{key_in(ran.stdout)}\n"


@pytest.mark.parametrize(
    ("typed", "scopes"), [("", "all"), ("read:tags", "read:tags"), ("nonsense\nread", "read")]
)
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


def test_a_second_server_on_the_same_database_exits_1_with_one_clear_line(server: Server) -> None:
    db = journal_of(server)

    second = command("serve", "--db", db, "--port", str(free_port()))

    assert second.code == 1
    assert second.err.count("\n") == 1
    assert f"a server has {db} open" in second.err
    assert health(server.url).status_code == 200


def test_a_second_server_that_comes_by_another_name_of_the_database_exits_1_too(
    server: Server, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(journal_of(server))

    with pytest.raises(AssertionError, match=r"a server has \S+ open"), running(link):
        pass


def wait_for_line(server: Server, text: str) -> str:
    """The first line of the server's log with that text."""
    deadline = time.monotonic() + PATIENCE
    while True:
        for line in server.err.read_text().splitlines():
            if text in line:
                return line
        assert time.monotonic() < deadline, f"the server never wrote {text!r}"
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_a_server_keeps_a_journal_that_others_could_read_to_itself_and_says_so(db: Path) -> None:
    new_key(db)
    db.chmod(0o644)

    with running(db) as server:
        line = wait_for_line(server, "other users could read the journal")
        files = [file for file in db.parent.iterdir() if file.name.startswith(db.name)]
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in files}

    assert "journal.db 0644" in line
    assert set(modes.values()) == {0o600}
    assert {"journal.db", "journal.db-wal", "journal.db-shm", "journal.db.lock"} <= set(modes)


def test_a_port_that_is_taken_is_an_error_in_one_line(db: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        ran = command("serve", "--db", db, "--port", str(port))

    assert ran.code == 1
    assert ran.err.count("\n") == 1, ran.err
    assert str(port) in ran.err


def test_an_address_that_is_not_of_this_machine_is_an_error_in_one_line(db: Path) -> None:
    ran = command("serve", "--db", db, "--host", "192.0.2.1", "--port", str(free_port()))

    assert ran.code == 1
    assert ran.err.count("\n") == 1, ran.err


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
    assert "others" not in said
    assert rows(db, "SELECT count(*) FROM api_keys") == [(0,)]

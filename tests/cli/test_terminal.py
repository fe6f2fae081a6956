"""Every command that prints stored text or text of a file, with one hostile text in all of them."""

import io
import json
import re
import sys
import tomllib
from itertools import groupby
from pathlib import Path

import pytest
from commands import change, command, run_ok

from journal_api.cli.common import show_progress
from journal_api.testing import journal_client

# A C1 control sequence, a bidirectional override, a filler of Hangul, a private character and a tag.
HOSTILE = "pwn\x9b2J\u202egpj\u3164\ue000\U000e0041"
WITHOUT_CONTROL = HOSTILE.replace("\x9b", "")  # as a request may store it
UNKNOWN = f"Ticker,Bought,{HOSTILE}\nES,1,{HOSTILE}\n"
STORED = {
    "users": "name",
    "api_keys": "name",
    "accounts": "name",
    "strategies": "name",
    "setups": "name",
    "confirmations": "name",
    "tag_categories": "name",
    "tags": "name",
    "trades": "symbol",
    "goals": "goal_name",
}
GROUPED = ("account", "symbol", "tag", "strategy", "setup", "confirmation")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with the hostile text in every name; no request could store the control character."""
    folder = tmp_path_factory.mktemp("hostile")
    db = folder / "journal.db"
    with journal_client(folder) as client:
        setup = client.create("strategy", setups=[{"name": "S", "confirmations": [{"name": "C"}]}])["setups"][0]
        answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}
        tag = client.create("tag")
        client.create("trade", setup_id=setup["setup_id"], tag_ids=[tag["id"]], confirmations=[answer])
        client.create("goal")
    for table, column in STORED.items():
        change(db, f"UPDATE {table} SET {column} = '{HOSTILE}'")
    change(db, "UPDATE trades SET contract = symbol, root = symbol")
    run_ok("users", "add", WITHOUT_CONTROL, "--db", db)
    return db


def assert_harmless(printed: str) -> None:
    """The hostile text is there, and none of its characters that a terminal would obey or not show."""
    assert "pwn" in printed
    assert [character for character in HOSTILE if not character.isascii() and character in printed] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("users", "list"),
        ("users", "remove", WITHOUT_CONTROL),
        ("users", "remove", WITHOUT_CONTROL, "--yes"),
        ("users", "add", f"{WITHOUT_CONTROL}x"),
        ("keys", "list"),
        ("keys", "create", "New", "--scopes", "all", "--user", f"{WITHOUT_CONTROL}x"),
        ("status",),
        ("status", "--user", WITHOUT_CONTROL),
        ("status", "--json"),
        ("export", f"{WITHOUT_CONTROL}.csv"),
        ("export", "trades.csv", "--account", HOSTILE + "x"),
        ("import", f"{WITHOUT_CONTROL}.csv", "--timezone", "UTC"),
        ("import", f"{WITHOUT_CONTROL}.csv", "--account", "Sim", "--rows", "--dry-run"),
        ("import", f"{WITHOUT_CONTROL}.csv", "--account", WITHOUT_CONTROL),
        ("import", "unknown.csv", "--account", "Sim", "--dry-run"),
        ("backup", f"{WITHOUT_CONTROL}.db"),
        ("restore", f"{WITHOUT_CONTROL}.csv"),
        *(("report", "--by", by, *form) for by in GROUPED for form in ((), ("--csv",), ("--json",))),
        ("report", "--account", HOSTILE + "x"),
    ],
    ids=lambda arguments: " ".join(arguments).replace(HOSTILE, "NAME").replace(WITHOUT_CONTROL, "NAME"),
)
def test_no_command_prints_what_a_terminal_would_obey(db: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    own = tmp_path / "journal.db"
    own.write_bytes(db.read_bytes())
    rows = f"ES,long,1,1,2026-01-05 14:00:00,{HOSTILE}\nES,{HOSTILE},1,1,2026-01-05 14:00:00,A\n"
    (tmp_path / f"{WITHOUT_CONTROL}.csv").write_text(f"symbol,direction,quantity,entry_price,opened_at,account\n{rows}")
    (tmp_path / "unknown.csv").write_text(UNKNOWN)
    paths = [tmp_path / one if one.endswith((".csv", ".db")) else one for one in arguments]

    ran = command(*paths, "--db", own)

    assert_harmless(ran.out + ran.err)


def test_json_shows_the_escapes_and_means_the_text(db: Path) -> None:
    status, report = (
        run_ok(*arguments, "--json", "--db", db) for arguments in (["status"], ["report", "--by", "account"])
    )

    assert_harmless(status)
    assert_harmless(report)
    assert json.loads(status)["user"] == HOSTILE
    assert json.loads(report)["groups"][0]["name"] == HOSTILE


def test_a_proposed_profile_shows_the_escapes_and_means_the_names_of_the_file(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "unknown.csv"
    file.write_text(UNKNOWN)

    proposed = command("import", file, "--account", "Sim", "--dry-run", "--db", db).out

    assert_harmless(proposed)
    assert HOSTILE in tomllib.loads(proposed)["header"]


class Screen(io.StringIO):
    """What is printed on a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_shows_the_share_that_is_done_and_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)

    with show_progress("Reading") as report:
        for share in (0.25, 0.5, 0.5):
            report(share)

    assert [share for share, _ in groupby(re.findall(r"(\d+)%", screen.getvalue()))] == ["0", "25", "50", "100"]

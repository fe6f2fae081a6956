"""The trading days of a new journal: docs/self-hosting.md#trading-days."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from commands import (
    PATIENCE,
    Server,
    command,
    key_in,
    make_journal,
    notes_in,
    rows,
    run_failing,
    run_ok,
    running,
    wait_until,
)
from factories import unwrap

from journal_api.database.migrations import prepare
from journal_api.settings import Settings, SettingsError

# An empty variable is unset.
IN_NEW_YORK = {"JOURNAL_TIMEZONE": "", "TZ": "America/New_York"}
ZONES = "SELECT name, timezone, day_rollover FROM users ORDER BY id"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_the_first_start_says_the_zone_of_the_machine_and_the_request_that_sets_futures_days(
    db: Path,
) -> None:
    with running(db, "--first-key", JOURNAL_TIMEZONE="", TZ="America/New_York") as server:
        key = key_in(server.out.read_text())
        with server.client(key) as client:
            assert unwrap(client.get("/me"))["timezone"] == "America/New_York"
            # A thread writes the log.
            wait_until(lambda: "curl -X PATCH" in server.err.read_text())
            wait_until(lambda: server.err.read_text().endswith("\n"))
            days, request = [json.loads(line)["message"] for line in read_lines(server)[:2]]
            curl = [*shlex.split(request.replace("$KEY", key)), "--silent", "--fail"]
            subprocess.run(curl, timeout=PATIENCE, check=True, capture_output=True)
            me = unwrap(client.get("/me"))

    assert days.startswith("New journal: trading days begin at 00:00 in America/New_York, ")
    assert request.startswith(f"curl -X PATCH {server.url}/v1/me ")
    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


def read_lines(server: Server) -> list[str]:
    """The lines of the log that are about neither a request nor uvicorn."""
    lines = server.err.read_text().splitlines()
    return [line for line in lines if json.loads(line).get("logger") == "journal_api"]


def test_a_later_start_says_nothing_of_trading_days(db: Path) -> None:
    make_journal(db)

    with running(db) as server:
        server.stop()

    assert read_lines(server) == []


@pytest.mark.parametrize(
    ("variables", "zone"),
    [
        ({"TZ": ":Europe/Berlin"}, "Europe/Berlin"),
        ({"TZ": "America/New_York", "JOURNAL_TIMEZONE": "Asia/Tokyo"}, "Asia/Tokyo"),
    ],
    ids=["TZ with a colon", "JOURNAL_TIMEZONE"],
)
def test_a_new_journal_takes_the_zone_of_its_machine_unless_a_setting_names_one(
    db: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], zone: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    settings = Settings.from_environ({**variables, "JOURNAL_DAY_ROLLOVER": "06:00"}, db)
    prepare(settings)

    assert rows(db, ZONES) == [("owner", zone, "06:00")]


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory"])
def test_a_setting_names_a_zone_of_the_list_of_tzdata(name: str) -> None:
    with pytest.raises(SettingsError, match="JOURNAL_TIMEZONE must be an IANA time zone"):
        Settings.from_environ({"JOURNAL_TIMEZONE": name})


def test_a_user_is_added_with_the_zone_of_the_machine(db: Path) -> None:
    ran = command("users", "add", "Ada", "--db", db, settings=IN_NEW_YORK)

    assert (ran.code, notes_in(ran)) == (0, "")
    assert ran.out == "New user 'Ada': trading days begin at 00:00 in America/New_York\n"
    assert rows(db, ZONES)[1] == ("Ada", "America/New_York", "00:00")


def test_a_user_is_added_with_the_days_that_the_options_name(db: Path) -> None:
    run_ok("users", "add", "Ada", "--timezone", "America/New_York", "--day-rollover", "17:00", "--db", db)

    assert rows(db, ZONES) == [("owner", "UTC", "00:00"), ("Ada", "America/New_York", "17:00")]


@pytest.mark.parametrize(
    ("option", "text"), [("--timezone", "localtime"), ("--timezone", ""), ("--day-rollover", "5pm")]
)
def test_a_user_is_not_added_with_other_days(db: Path, option: str, text: str) -> None:
    line = run_failing("users", "add", "Ada", option, text, "--db", db)

    assert line.startswith(f"journal-api: {option} must be ")

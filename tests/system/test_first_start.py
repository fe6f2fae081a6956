"""The trading days of a new journal: docs/self-hosting.md#trading-days."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import (
    PATIENCE,
    Server,
    command,
    environment,
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

# An empty variable is unset.
IN_NEW_YORK = {"JOURNAL_TIMEZONE": "", "TZ": "America/New_York"}
ZONES = "SELECT name, timezone, day_rollover FROM users ORDER BY id"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def log_of(server: Server) -> list[Any]:
    """The lines that are not about a request, after the server has stopped."""
    server.stop()
    lines = [json.loads(line) for line in server.err.read_text().splitlines()]
    return [line["message"] for line in lines if line.get("logger") == "journal_api"]


def zone_of_a_machine(**variables: str) -> str:
    """The zone that a new journal would have on a machine with those variables."""
    code = """
import os
from journal_api.settings import Settings
print(Settings.from_environ(os.environ).timezone)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment({"JOURNAL_TIMEZONE": "", **variables}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return ran.stdout.strip()


def test_the_first_start_says_the_zone_of_the_machine_and_the_request_that_changes_it(db: Path) -> None:
    with running(db, "--first-key", JOURNAL_TIMEZONE="", TZ="America/New_York") as server:
        key = key_in(server.out.read_text())
        with server.client(key) as client:
            assert unwrap(client.get("/me"))["timezone"] == "America/New_York"
        days, request = log_of(server)

    assert days.startswith("New journal: trading days begin at 00:00 in America/New_York, ")
    assert request.startswith(f"curl -X PATCH {server.url}/v1/me ")


def test_the_request_of_the_first_start_sets_futures_days(db: Path) -> None:
    with running(db, "--first-key") as server:
        key = key_in(server.out.read_text())
        # A thread writes the log.
        wait_until(lambda: "curl -X PATCH" in server.err.read_text() and server.err.read_text()[-1] == "\n")
        with server.client(key) as client:
            curl = re.search(r"curl -X PATCH [^\n]+?\}\'", server.err.read_text().replace('\\"', '"'))
            assert curl is not None
            arguments = shlex.split(curl[0].replace("$KEY", key))
            subprocess.run(
                [*arguments, "--silent", "--fail"], timeout=PATIENCE, check=True, capture_output=True
            )
            me = unwrap(client.get("/me"))

    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


def test_a_later_start_says_nothing_of_trading_days(db: Path) -> None:
    make_journal(db)

    with running(db) as server:
        assert log_of(server) == []


def test_a_program_that_starts_the_journal_reads_its_trading_days_in_the_log(db: Path) -> None:
    with running(db, JOURNAL_TIMEZONE="Asia/Tokyo", JOURNAL_DAY_ROLLOVER="06:00") as server:
        assert log_of(server)[0].startswith("New journal: trading days begin at 06:00 in Asia/Tokyo, ")


@pytest.mark.parametrize(
    ("variables", "zone"),
    [
        ({"TZ": "America/New_York"}, "America/New_York"),
        ({"TZ": ":Europe/Berlin"}, "Europe/Berlin"),
        ({"TZ": "America/New_York", "JOURNAL_TIMEZONE": "Asia/Tokyo"}, "Asia/Tokyo"),
    ],
    ids=["TZ", "TZ with a colon", "JOURNAL_TIMEZONE"],
)
def test_a_new_journal_takes_the_zone_of_its_machine_unless_a_setting_names_one(
    variables: dict[str, str], zone: str
) -> None:
    assert zone_of_a_machine(**variables) == zone


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory"])
def test_a_setting_names_a_zone_of_the_list_of_tzdata(db: Path, name: str) -> None:
    line = run_failing("serve", "--db", db, settings={"JOURNAL_TIMEZONE": name})

    assert "JOURNAL_TIMEZONE must be an IANA time zone" in line
    assert not db.exists()


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

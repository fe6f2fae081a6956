"""The trading days of a new journal: docs/self-hosting.md#trading-days."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from commands import PATIENCE, Server, command, key_in, make_journal, notes_in, rows, running, wait_until
from factories import unwrap

from journal_api.database.migrations import prepare
from journal_api.settings import Settings

ZONES = "SELECT name, timezone, day_rollover FROM users ORDER BY id"


def test_the_first_start_says_the_zone_of_the_machine_and_the_request_that_sets_futures_days(db: Path) -> None:
    with running(db, "--first-key", JOURNAL_TIMEZONE="", TZ="America/New_York") as server:
        key = key_in(server.out.read_text())
        with server.client(key) as client:
            assert unwrap(client.get("/me"))["timezone"] == "America/New_York"
            # A thread writes the log.
            wait_until(lambda: "curl -X PATCH" in server.err.read_text())
            wait_until(lambda: server.err.read_text().endswith("\n"))
            days, request = read_messages(server)[:2]
            curl = [*shlex.split(request.replace("$KEY", key)), "--silent", "--fail"]
            subprocess.run(curl, timeout=PATIENCE, check=True, capture_output=True)
            me = unwrap(client.get("/me"))

    assert days.startswith("New journal: trading days begin at 00:00 in America/New_York, ")
    assert request.startswith(f"curl -X PATCH {server.url}/v1/me ")
    assert (me["timezone"], me["day_rollover"]) == ("America/New_York", "17:00")


def test_a_later_start_says_nothing_of_trading_days(db: Path) -> None:
    make_journal(db)

    with running(db) as server:
        server.stop()

    assert read_messages(server) == []


def read_messages(server: Server) -> list[str]:
    """The messages of the log that are about neither a request nor uvicorn."""
    lines = [json.loads(line) for line in server.err.read_text().splitlines()]
    return [line["message"] for line in lines if line.get("logger") == "journal_api"]


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


@pytest.mark.parametrize(
    ("settings", "options", "days"),
    [
        ({"JOURNAL_TIMEZONE": "", "TZ": "America/New_York"}, "", ("America/New_York", "00:00")),
        ({"JOURNAL_TIMEZONE": "America/Chicago", "JOURNAL_DAY_ROLLOVER": "16:00"}, "", ("America/Chicago", "16:00")),
        ({}, "--timezone America/New_York --day-rollover 17:00", ("America/New_York", "17:00")),
    ],
    ids=["the machine", "the settings", "the options"],
)
def test_a_user_is_added_with_the_days_of(
    db: Path, settings: dict[str, str], options: str, days: tuple[str, str]
) -> None:
    make_journal(db)

    ran = command("users", "add", "Ada", *options.split(), "--db", db, settings=settings)

    assert (ran.code, notes_in(ran)) == (0, "")
    assert ran.out == f"New user 'Ada': trading days begin at {days[1]} in {days[0]}\n"
    assert rows(db, ZONES) == [("owner", "UTC", "00:00"), ("Ada", *days)]

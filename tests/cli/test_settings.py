"""Settings from `JOURNAL_*`: docs/self-hosting.md#settings."""

import hashlib
import re
from datetime import timedelta
from pathlib import Path

import httpx
import msgspec
import platformdirs
import pytest
from commands import run_failing
from conftest import BASE_URL, started
from saved_journals import for_rows

from journal_api.app import create_app
from journal_api.settings import Settings, SettingsError

ORIGIN = "http://localhost:5173"
RUN_KEY = "0123456789-abcdefghij_KLMNOPQRST"


def read(**variables: str) -> Settings:
    return Settings.from_environ({f"JOURNAL_{name}": text for name, text in variables.items()})


def test_without_variables_the_defaults_hold() -> None:
    settings = read()

    assert (settings.host, settings.port, settings.db.name) == ("127.0.0.1", 8000, "journal.db")
    assert (settings.day_rollover, settings.max_strategies) == ("00:00", 100)
    assert (settings.allowed_hosts, settings.cors_origins) == ((), ())
    backup = (settings.backup_dir, settings.backup_every, settings.backup_keep)
    assert backup == (None, timedelta(days=1), 14)


@for_rows(
    "name, text, value",
    [
        ("DB", "journals/mine.db", Path("journals/mine.db")),
        ("HOST", "0.0.0.0", "0.0.0.0"),
        ("PORT", "0", 0),
        ("PORT", "65535", 65535),
        ("TIMEZONE", "America/New_York", "America/New_York"),
        ("DAY_ROLLOVER", "17:00", "17:00"),
        ("MAX_STRATEGIES", "0", 0),
        ("MAX_STRATEGIES", "5", 5),
        ("ALLOWED_HOSTS", "journal.lan, nas", ("journal.lan", "nas")),
        ("CORS_ORIGINS", f"{ORIGIN},https://journal.lan", (ORIGIN, "https://journal.lan")),
        ("LOG_LEVEL", "warning", "warning"),
        ("BACKUP_DIR", "backups", Path("backups")),
        ("WATCH", "drop", Path("drop")),
        ("BACKUP_EVERY", "1", timedelta(hours=1)),
        ("BACKUP_EVERY", "24h", timedelta(hours=24)),
        ("BACKUP_EVERY", "9999d", timedelta(days=9999)),
        ("BACKUP_KEEP", "0", 0),
        ("CHECKPOINTS", "false", False),
        ("METRICS", "true", True),
        ("METRICS", "false", False),
        ("RUN_KEY", RUN_KEY, hashlib.sha256(RUN_KEY.encode()).digest()),
        ("RUN_KEY", "x" * 200, hashlib.sha256(b"x" * 200).digest()),
    ],
)
def test_a_variable_sets_its_setting_and_no_other(name: str, text: str, value: object) -> None:
    settings = read(**{"DB": "x.db", name: text})

    assert settings == msgspec.structs.replace(read(DB="x.db"), **{name.lower(): value})


DIGIT = "\N{ARABIC-INDIC DIGIT EIGHT}"
INVALID = {
    "PORT": ["http", "-1", "65536", "80.0", "8_000", " 80", DIGIT, "9" * 5000],
    "TIMEZONE": ["Mars/Olympus", "utc+1", "../UTC", "localtime", "Factory"],
    "DAY_ROLLOVER": ["5pm", "24:00", "17:60", "17:00:00"],
    "MAX_STRATEGIES": ["-1", "many"],
    "CORS_ORIGINS": ["*", "null", f"{ORIGIN},*", "localhost:5173", "file://"],
    "LOG_LEVEL": ["loud", "INFO"],
    "BACKUP_EVERY": ["0", "-1h", "1.5h", "24m", "24 h", "10000d", f"{DIGIT}h", "24h\n"],
    "BACKUP_KEEP": ["-1", "all"],
    "METRICS": ["yes", "1"],
    "TRUSTED_PROXIES": ["*", "proxy.lan", "10.0.0.1/8", "127.0.0.1:80", "999.0.0.1"],
    "USER_HEADER": ["Remote User", "Remote_User", "Remote-User:", "x" * 101],
    "RUN_KEY": [RUN_KEY[:-1], "x" * 201, f"{RUN_KEY}.", f"{RUN_KEY}\n", DIGIT * 32],
}


@for_rows("name, texts", INVALID.items())
def test_a_setting_that_cannot_be_read_is_refused_by_name(name: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(SettingsError, match=f"^JOURNAL_{name} must be ") as refusal:
            read(**{name: text})
        assert name != "RUN_KEY" or text[:8] not in str(refusal.value)


def test_who_is_trusted_and_the_header_are_set_together() -> None:
    both = read(TRUSTED_PROXIES="127.0.0.1 172.18.0.0/16,::1", USER_HEADER="Remote-User")

    assert [str(network) for network in both.trusted_proxies] == ["127.0.0.1/32", "172.18.0.0/16", "::1/128"]
    assert both.user_header == "remote-user"
    for alone in ({"TRUSTED_PROXIES": "127.0.0.1"}, {"USER_HEADER": "Remote-User"}):
        with pytest.raises(SettingsError, match="need each other"):
            read(**alone)


# No browser sends these: what to write instead.
INVALID_ORIGINS = {
    "http://localhost:*": ORIGIN,
    "http://*.example.org": ORIGIN,
    "http://localhost:5173/": ORIGIN,
    "http://localhost:5173/app": ORIGIN,
    "http://Localhost:5173": ORIGIN,
    "localhost:5173": ORIGIN,
    "//localhost:5173": ORIGIN,
    "http://journal.lan:80": "http://journal.lan",
    "https://journal.lan:443": "https://journal.lan",
    "http://ada@journal.lan": "http://journal.lan",
    "tauri://localhost/": "tauri://localhost",
    "chrome-extension://my-extension": "chrome-extension:// and the 32 letters",
    "moz-extension://my-extension": "moz-extension:// and the extension's UUID",
    "file:///home/ada/page.html": "serve the page on a port of localhost",
    "http://journal.lan:65536": ORIGIN,
}


@for_rows("text, instead", INVALID_ORIGINS.items())
def test_an_origin_that_no_browser_sends_is_refused_with_what_to_write_instead(text: str, instead: str) -> None:
    with pytest.raises(SettingsError, match=r"^JOURNAL_CORS_ORIGINS must be origins") as refusal:
        read(CORS_ORIGINS=f"{ORIGIN},{text}")

    assert instead in str(refusal.value)


@for_rows(
    "name, said",
    [
        ("TIMEZNOE", "did you mean JOURNAL_TIMEZONE?"),
        ("TIME_ZONE", "did you mean JOURNAL_TIMEZONE?"),
        ("BACKUPDIR", "did you mean JOURNAL_BACKUP_DIR?"),
        ("CORS_ORIGIN", "did you mean JOURNAL_CORS_ORIGINS?"),
        ("XYZZY", "DB, HOST, PORT, TIMEZONE"),
    ],
)
def test_a_variable_that_is_no_setting_is_refused_with_the_nearest_name(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"^JOURNAL_{name} is not a setting; .*{re.escape(said)}"):
        read(**{name: "x"})


def test_variables_of_other_programs_and_empty_ones_are_no_errors_and_set_nothing() -> None:
    empty = dict.fromkeys(["JOURNAL_PROT", "JOURNAL_PORT", "JOURNAL_TIMEZONE", "JOURNAL_CORS_ORIGINS"], "")
    of_others = dict.fromkeys(["JOURNAL_STREAM", "JOURNAL_URL", "JOURNAL_KEY", "JOURNALISM"], "8:1234")

    assert Settings.from_environ({"JOURNAL_DB": "x.db", **empty, **of_others}) == read(DB="x.db")


def test_a_command_names_the_variable_in_one_line_and_makes_no_database(db: Path) -> None:
    line = run_failing("serve", "--db", db, settings={"JOURNAL_PORT": "eighty"})

    assert line.startswith("journal-api: JOURNAL_PORT must be ")
    assert not db.exists()


def test_settings_that_are_shown_show_neither_the_key_of_the_run_nor_its_hash() -> None:
    settings = read(RUN_KEY=RUN_KEY)
    digest = hashlib.sha256(RUN_KEY.encode()).digest()

    shown = " ".join([str(settings), repr(settings), str(settings.run_key), repr(settings.run_key)])

    assert [text for text in (RUN_KEY, digest.hex(), repr(digest)[2:-1]) if text in shown] == []


async def test_the_preflights_of_desktop_programs_and_extensions_are_answered_for_their_origins_alone(
    tmp_path: Path,
) -> None:
    origins = [
        *("tauri://localhost", "http://tauri.localhost", "app://.", "app://Bundle", "capacitor://localhost"),
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        "moz-extension://0f3a1b2c-1111-4222-8333-444455556666",
        "http://[::1]:5173",
    ]
    requested = {
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization, content-type, x-request-id, if-match",
    }
    methods = {"GET", "POST", "PUT", "PATCH", "DELETE"}
    app = create_app(read(CORS_ORIGINS=" ".join(origins), DB=str(tmp_path / "journal.db")))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with started(app), httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        for origin in origins:
            allowed = await client.options("/goals/1", headers={"Origin": origin, **requested})
            refusal = await client.options("/goals/1", headers={"Origin": origin + "x", **requested})

            assert allowed.status_code == 200
            assert allowed.headers["access-control-allow-origin"] == origin
            assert methods <= {*allowed.headers["access-control-allow-methods"].split(", ")}
            assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
            assert refusal.status_code == 400
            assert "access-control-allow-origin" not in refusal.headers


def test_without_a_home_the_database_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(*args: object, **kwargs: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(platformdirs, "user_data_path", no_home)

    assert Settings.from_environ({"JOURNAL_DB": "/there/journal.db"}).db == Path("/there/journal.db")
    with pytest.raises(SettingsError, match="JOURNAL_DB must be set"):
        Settings.from_environ({})

"""Settings from `JOURNAL_*`: docs/self-hosting.md#settings."""

import hashlib
from pathlib import Path

import httpx
import msgspec
import platformdirs
import pytest
from commands import PATIENCE, rows, run_failing, run_ok, running
from conftest import BASE_URL, started
from hypothesis import given
from hypothesis import strategies as st

from journal_api.app import create_app
from journal_api.settings import Settings, SettingsError

ORIGIN = "http://localhost:5173"
RUN_KEY = "0123456789-abcdefghij_KLMNOPQRST"


def read(**variables: str) -> Settings:
    return Settings.from_environ({f"JOURNAL_{name}": text for name, text in variables.items()})


async def answer_of(settings: Settings, **headers: str) -> httpx.Response:
    """What /health answers to a request with those headers."""
    app = create_app(settings)
    async with started(app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            return await client.get("http://localhost/health", headers=headers)


def preflight_headers(origin: str) -> dict[str, str]:
    """What a browser asks before a PATCH with a key and a JSON body."""
    return {
        "Origin": origin,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type,if-match",
    }


async def preflight(settings: Settings, origin: str) -> httpx.Response:
    """The answer to a preflight from that origin."""
    app = create_app(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with started(app), httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        return await client.options("/goals/1", headers=preflight_headers(origin))


def test_without_variables_the_defaults_hold() -> None:
    settings = read()

    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert (settings.day_rollover, settings.max_strategies) == ("00:00", 100)
    assert (settings.allowed_hosts, settings.cors_origins) == ((), ())
    assert settings.db.name == "journal.db"


@pytest.mark.parametrize(
    ("name", "text", "value"),
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
        ("METRICS", "true", True),
        ("METRICS", "false", False),
        ("RUN_KEY", RUN_KEY, hashlib.sha256(RUN_KEY.encode()).digest()),
        ("RUN_KEY", "x" * 200, hashlib.sha256(b"x" * 200).digest()),
    ],
)
def test_a_variable_sets_its_setting_and_no_other(name: str, text: str, value: object) -> None:
    settings = read(**{"DB": "x.db", name: text})

    assert settings == msgspec.structs.replace(read(DB="x.db"), **{name.lower(): value})


def test_a_variable_that_is_empty_counts_as_not_set() -> None:
    settings = read(DB="x.db", PORT="", TIMEZONE="", CORS_ORIGINS="")

    assert settings == read(DB="x.db")


def test_settings_are_frozen() -> None:
    settings = read()

    with pytest.raises(AttributeError):
        settings.port = 1  # type: ignore[misc]


UNREADABLE = [
    ("PORT", "http"),
    ("PORT", "-1"),
    ("PORT", "65536"),
    ("PORT", "80.0"),
    ("PORT", "8_000"),
    ("PORT", " 80"),
    ("PORT", "\N{ARABIC-INDIC DIGIT EIGHT}"),
    ("PORT", "9" * 5000),
    ("TIMEZONE", "Mars/Olympus"),
    ("TIMEZONE", "utc+1"),
    ("TIMEZONE", "../UTC"),
    ("DAY_ROLLOVER", "5pm"),
    ("DAY_ROLLOVER", "24:00"),
    ("DAY_ROLLOVER", "17:60"),
    ("DAY_ROLLOVER", "17:00:00"),
    ("MAX_STRATEGIES", "-1"),
    ("MAX_STRATEGIES", "many"),
    ("CORS_ORIGINS", "*"),
    ("CORS_ORIGINS", "null"),
    ("CORS_ORIGINS", f"{ORIGIN},*"),
    ("CORS_ORIGINS", "localhost:5173"),
    ("CORS_ORIGINS", "file://"),
    ("LOG_LEVEL", "loud"),
    ("LOG_LEVEL", "INFO"),
    ("METRICS", "yes"),
    ("METRICS", "1"),
    ("RUN_KEY", RUN_KEY[:-1]),
    ("RUN_KEY", "x" * 201),
    ("RUN_KEY", RUN_KEY + "."),
    ("RUN_KEY", RUN_KEY + "\n"),
    ("RUN_KEY", "\N{ARABIC-INDIC DIGIT EIGHT}" * 32),
]


@pytest.mark.parametrize(("name", "text"), UNREADABLE, ids=lambda word: str(word)[:20])
def test_a_setting_that_cannot_be_read_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        read(**{name: text})

    assert str(refusal.value).startswith(f"JOURNAL_{name} must be ")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("JOURNAL_TIMEZNOE", "JOURNAL_TIMEZONE"),
        ("JOURNAL_TIME_ZONE", "JOURNAL_TIMEZONE"),
        ("JOURNAL_BACKUPDIR", "JOURNAL_BACKUP_DIR"),
        ("JOURNAL_CORS_ORIGIN", "JOURNAL_CORS_ORIGINS"),
        ("JOURNAL_XYZZY", None),
    ],
)
def test_a_variable_that_is_no_setting_is_refused_with_the_nearest_name(
    name: str, nearest: str | None
) -> None:
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environ({name: "x"})

    assert str(refusal.value).startswith(f"{name} is not a setting; ")
    assert (f"did you mean {nearest}?" if nearest else "DB, HOST, PORT, TIMEZONE") in str(refusal.value)


def test_variables_of_other_programs_and_empty_ones_are_no_errors() -> None:
    of_others = {
        "JOURNAL_STREAM": "8:1234",
        "JOURNAL_URL": "http://x",
        "JOURNAL_KEY": "tjk_",
        "JOURNALISM": "x",
    }

    assert Settings.from_environ({"JOURNAL_DB": "x.db", "JOURNAL_PROT": "", **of_others}) == read(DB="x.db")


def test_every_command_refuses_a_variable_that_is_no_setting(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"

    line = run_failing("serve", "--db", db, settings={"JOURNAL_PROT": "8001"})

    assert line == "journal-api: JOURNAL_PROT is not a setting; did you mean JOURNAL_PORT?"
    assert not db.exists()


def test_a_key_of_the_run_that_is_refused_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as refusal:
        read(RUN_KEY=RUN_KEY + " ")

    assert RUN_KEY[:8] not in str(refusal.value)


def test_settings_that_are_shown_show_neither_the_key_of_the_run_nor_its_hash() -> None:
    settings = read(RUN_KEY=RUN_KEY)

    shown = " ".join([str(settings), repr(settings), str(settings.run_key), repr(settings.run_key)])

    digest = hashlib.sha256(RUN_KEY.encode()).digest()
    assert settings.run_key == digest
    assert RUN_KEY not in shown
    assert digest.hex() not in shown
    assert repr(digest)[2:-1] not in shown


@pytest.mark.parametrize(
    "arguments", [("users", "list"), ("keys", "list"), ("serve",)], ids=["users", "keys", "serve"]
)
def test_every_command_names_the_variable_in_one_line_and_makes_no_database(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    db = tmp_path / "journal.db"

    line = run_failing(*arguments, "--db", db, settings={"JOURNAL_PORT": "eighty"})

    assert line.startswith("journal-api: JOURNAL_PORT must be ")
    assert "'eighty'" in line
    assert not db.exists()


def test_the_owner_of_a_new_database_has_the_zone_and_rollover_of_the_settings(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    tokyo = {"JOURNAL_TIMEZONE": "Asia/Tokyo", "JOURNAL_DAY_ROLLOVER": "06:00"}
    run_ok("users", "add", "Ada", "--db", db, settings=tokyo)

    run_ok("users", "list", "--db", db, settings={"JOURNAL_TIMEZONE": "Europe/Berlin"})

    owner = rows(db, "SELECT name, timezone, day_rollover FROM users")[0]
    assert owner == ("owner", "Asia/Tokyo", "06:00")


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ((), "localhost:8000", 200),
        ((), "127.0.0.1", 200),
        ((), "[::1]:8000", 200),
        ((), "LOCALHOST", 200),
        ((), "journal.lan", 421),
        ((), "localhost.evil.example", 421),
        ((), "evil.example@localhost", 421),
        (("journal.lan",), "journal.lan:8000", 200),
        (("Journal.LAN",), "journal.lan", 200),
        (("journal.lan",), "localhost", 200),
        (("journal.lan",), "a.journal.lan", 421),
        (("*",), "whatever.example", 200),
    ],
)
async def test_only_the_hosts_on_the_list_are_answered_for(
    tmp_path: Path, allowed: tuple[str, ...], host: str, status: int
) -> None:
    settings = Settings(db=tmp_path / "journal.db", allowed_hosts=allowed)

    answer = await answer_of(settings, Host=host)

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [(ORIGIN, ORIGIN), ("http://evil.example", None), ("null", None), (f"{ORIGIN}.evil.example", None)],
)
async def test_only_the_origins_on_the_list_may_read_answers(
    tmp_path: Path, origin: str, allowed: str | None
) -> None:
    settings = Settings(db=tmp_path / "journal.db", cors_origins=(ORIGIN,))

    answer = await answer_of(settings, Origin=origin)

    assert answer.headers.get("access-control-allow-origin") == allowed


# What the pages of desktop programs and extensions send.
DESKTOP_ORIGINS = [
    "tauri://localhost",
    "http://tauri.localhost",
    "app://.",
    "app://Bundle",
    "capacitor://localhost",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "moz-extension://0f3a1b2c-1111-4222-8333-444455556666",
    "http://[::1]:5173",
]


@pytest.mark.parametrize("origin", DESKTOP_ORIGINS)
async def test_a_preflight_of_a_desktop_program_or_extension_is_answered_for_its_origin_alone(
    tmp_path: Path, origin: str
) -> None:
    settings = msgspec.structs.replace(read(CORS_ORIGINS=origin), db=tmp_path / "journal.db")

    allowed = await preflight(settings, origin)
    refused = await preflight(settings, origin + "x")

    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == origin
    assert "PATCH" in allowed.headers["access-control-allow-methods"]
    assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers


def test_a_running_server_answers_the_preflights_of_all_origins_on_the_list(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    with running(db, JOURNAL_CORS_ORIGINS=" ".join(DESKTOP_ORIGINS)) as server:
        answers = [
            httpx.options(f"{server.url}/v1/goals/1", headers=preflight_headers(origin), timeout=PATIENCE)
            for origin in DESKTOP_ORIGINS
        ]

    assert [answer.headers["access-control-allow-origin"] for answer in answers] == DESKTOP_ORIGINS


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("http://localhost:*", "http://localhost:5173"),
        ("http://*.example.org", "http://localhost:5173"),
        ("http://localhost:5173/", "http://localhost:5173"),
        ("http://localhost:5173/app", "http://localhost:5173"),
        ("http://Localhost:5173", "http://localhost:5173"),
        ("localhost:5173", "http://localhost:5173"),
        ("//localhost:5173", "http://localhost:5173"),
        ("http://journal.lan:80", "http://journal.lan"),
        ("https://journal.lan:443", "https://journal.lan"),
        ("http://ada@journal.lan", "http://journal.lan"),
        ("tauri://localhost/", "tauri://localhost"),
        ("chrome-extension://my-extension", "chrome-extension:// and the 32 letters"),
        ("moz-extension://my-extension", "moz-extension:// and the extension's UUID"),
        ("file:///home/ada/page.html", "serve the page on a port of localhost"),
        ("http://journal.lan:99999", "http://localhost:5173"),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused_with_what_to_write_instead(
    text: str, instead: str
) -> None:
    with pytest.raises(SettingsError) as refusal:
        read(CORS_ORIGINS=f"{ORIGIN},{text}")

    assert str(refusal.value).startswith("JOURNAL_CORS_ORIGINS must be origins")
    assert instead in str(refusal.value)


@given(
    variables=st.dictionaries(
        st.sampled_from(
            ["PORT", "TIMEZONE", "DAY_ROLLOVER", "MAX_STRATEGIES", "ALLOWED_HOSTS", "CORS_ORIGINS", "RUN_KEY"]
        ),
        st.text(max_size=30),
    )
)
def test_whatever_the_variables_hold_settings_are_read_or_refused_by_name(variables: dict[str, str]) -> None:
    try:
        settings = read(**variables)
    except SettingsError as refusal:
        named = str(refusal).split()[0].removeprefix("JOURNAL_")
        assert named in variables
    else:
        assert 0 <= settings.port <= 65535
        assert "*" not in settings.cors_origins


def test_without_a_home_the_database_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(*args: object, **kwargs: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(platformdirs, "user_data_path", no_home)

    assert Settings.from_environ({"JOURNAL_DB": "/there/journal.db"}).db == Path("/there/journal.db")
    with pytest.raises(SettingsError, match="JOURNAL_DB must be set"):
        Settings.from_environ({})

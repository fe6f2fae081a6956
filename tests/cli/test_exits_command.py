"""`journal-api report exits`: the answer of GET /v1/exits on the command line."""

import shutil
from pathlib import Path

import msgspec
import pytest
from commands import change, command, new_key, run_failing, run_ok, running

from journal_api.testing import journal_client


@pytest.fixture(scope="module")
def twenty_trades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """They had a risk of 100, lost 150 and went 150 against the trader, one a day; a tenth made 10."""
    folder = tmp_path_factory.mktemp("twenty")
    with journal_client(folder) as client:
        for day in range(1, 21):
            prices = {"multiplier": 1, "entry_price": 1000, "exit_price": 1010 if day % 10 == 0 else 850 - day}
            times = {"opened_at": f"2026-01-{day:02}T14:00:00Z", "closed_at": f"2026-01-{day:02}T15:00:00Z"}
            client.create("trade", **prices, **times, initial_risk=100, mae=160, mfe=50 if day % 2 else 10)
    return folder / "journal.db"


@pytest.fixture
def db(twenty_trades: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(twenty_trades, tmp_path))


def test_exits_are_a_table_with_the_best_low_end_first(db: Path) -> None:
    out = run_ok("report", "exits", "--stops", "0.5,1", "--targets", "0.5", "--db", db)

    assert out == (
        "20 trades as they were: -1.43 R each, 10.0% won. Without MAE and MFE: 0.\n"
        "Best in the first half: stop 0.5, target 0.5: 0.88..1.38. In the second half: 0.98..1.48.\n"
        "\n"
        "Stop  Target  Changed  Either  Difference      q    Verdict\n"
        "-        0.5       10       0        1.05  0.002     better\n"
        "0.5      0.5       20      10  0.93..1.43  0.125  not shown\n"
        "0.5        -       20       0        0.93  0.125  not shown\n"
        "1        0.5       20      10  0.43..1.18  0.132  not shown\n"
        "1          -       20       0        0.43  0.132  not shown\n"
    )


def test_json_is_what_the_service_answers(db: Path) -> None:
    query = {"unit": "currency", "stops": "50", "from": "2026-01-06"}
    with running(db) as server, server.client(new_key(db)) as client:
        answered = client.get("/exits", params=query).json()["data"]["exits"]

    out = run_ok("report", "exits", "--unit", "currency", "--stops", "50", "--from", "2026-01-06", "--json", "--db", db)

    assert msgspec.json.decode(out) == answered


def test_without_excursions_there_is_nothing_to_tell(db: Path) -> None:
    change(db, "UPDATE trades SET initial_risk = NULL")

    assert run_ok("report", "exits", "--db", db) == "No trade has MAE, MFE and a risk.\n"
    assert "20 trades" in command("report", "exits", "--unit", "currency", "--stops", "50", "--db", db).out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--unit", "currency"), "--stops is needed with unit=currency"),
        (("--stops", "0"), "--stops must be greater than 0"),
        (("--targets", "far"), "--targets must be 1 to 12 numbers above 0"),
        (("--limit", "169"), "169 is not in the range 1<=x<=168"),  # 12 stops, 12 targets, and none of each
        (("--from", "2026-02-01", "--to", "2026-01-01"), "--from must not be after to"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(db: Path, options: tuple[str, ...], reason: str) -> None:
    assert reason in run_failing("report", "exits", *options, "--db", db)

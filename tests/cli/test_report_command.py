"""`journal-api report`: the answers of GET /v1/reports and /v1/exits on the command line (docs/self-hosting.md)."""

import csv
import io
import re
import shutil
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from commands import change, command, import_file, new_key, run_failing, run_ok, running
from factories import unwrap

from journal_api.cli.text_width import text_width
from journal_api.testing import journal_client

FILE = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,103.5,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
ES,long,1,100,99,2026-01-06T14:00:00Z,2026-01-06T15:00:00Z
NQ,long,1,100,100.125,2026-01-06T14:00:00Z,2026-01-06T15:00:00Z
"""


@pytest.fixture(scope="module")
def three_trades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("three")
    file, db = folder / "trades.csv", folder / "journal.db"
    file.write_text(FILE.replace("quantity", "quantity,multiplier").replace("long,1,", "long,1,1,"))
    assert import_file(db, file).code == 0
    return db


@pytest.fixture
def db(three_trades: Path, tmp_path: Path) -> Path:
    """A journal with three trades."""
    return Path(shutil.copy(three_trades, tmp_path))


@pytest.fixture(scope="module")
def db_with_tags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The decisions of docs/statistics.md#the-difference, a day each, with a tag and without."""
    folder = tmp_path_factory.mktemp("tags")
    with journal_client(folder) as client:
        tag = client.create("tag", name="Volume")
        for day, amount in enumerate([190, 10, 110, -130] * 5, 1):
            times = {"opened_at": f"2026-01-{day:02}T14:00:00Z", "closed_at": f"2026-01-{day:02}T15:00:00Z"}
            client.create("trade", gross_pnl=amount, **times, tag_ids=[tag["id"]] if amount in (190, 10) else [])
    return folder / "journal.db"


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


def test_a_report_is_an_aligned_table_of_at_most_80_columns(db: Path) -> None:
    assert run_ok("report", "--by", "symbol", "--db", db) == (
        "       Trades  Net P&L  Win rate  Profit factor  Expectancy  Average R\n"
        "ES          2     2.50     50.0%           3.50        1.25          -\n"
        "                          0-100%\n"
        "NQ          1     0.12    100.0%              -        0.12          -\n"
        "Total       3     2.62     66.7%           3.62        0.88          -\n"
        "                          1-100%\n"
        "- means: no losses, no risk\n"
    )


def test_a_long_name_is_cut_and_nothing_invisible_reaches_the_terminal(db: Path) -> None:
    name = "\u65e5\u672c" * 20 + "\u202e"
    change(db, f"UPDATE accounts SET name = '{name}'")

    lines = run_ok("report", "--by", "account", "--db", db).splitlines()

    assert max(map(text_width, lines)) == 80
    assert lines[1].startswith("\u65e5\u672c")
    assert "\u202e" not in "".join(lines)


def test_csv_has_every_digit_and_no_formula(db: Path) -> None:
    change(db, "UPDATE trades SET symbol = '=1+1', contract = '=1+1' WHERE symbol = 'NQ'")
    out = run_ok("report", "--by", "symbol", "--metrics", "net_pnl,win_rate", "--csv", "--db", db)

    assert list(csv.reader(io.StringIO(out))) == [
        ["key", "name", "net_pnl", "win_rate", "win_rate_low", "win_rate_high"],
        ["ES", "ES", "2.5", "50", "0.15413331", "99.84586669"],
        ["'=1+1", "'=1+1", "0.125", "100", "", ""],
        ["", "total", "2.625", "66.66666667", "0.81245539", "99.79564091"],
    ]


@pytest.mark.parametrize(
    ("path", "query", "options"),
    [
        ("/reports", {"group_by": "weekday"}, "--by weekday"),
        ("/exits", {"unit": "currency", "stops": "50"}, "exits --unit currency --stops 50"),
    ],
)
def test_json_is_what_the_service_answers_beside_a_running_server(
    twenty_trades: Path, path: str, query: dict[str, str], options: str
) -> None:
    db = twenty_trades
    with running(db) as server, server.client(new_key(db)) as client:
        answered = unwrap(client.get(path, params={**query, "from": "2026-01-06"}))
        out = run_ok("report", *options.split(), "--from", "2026-01-06", "--json", "--db", db)

    assert msgspec.json.decode(out) == answered


def test_options_select_sort_and_limit(db: Path) -> None:
    options = "--by symbol --account Sim --to 2026-01-06 --sort net_pnl --metrics net_pnl"

    sorted_out = run_ok("report", *options.split(), "--db", db)
    limited = command("report", "--by", "symbol", "--limit", "1", "--db", db)
    assert run_ok("report", "--by", "symbol", "--limit", "2", "--db", db)

    assert [line.split()[0] for line in sorted_out.splitlines()[1:]] == ["NQ", "ES", "Total"]
    assert limited.err == "1 of 2 groups; --limit shows more.\n"
    assert "NQ" not in limited.out


def test_a_mean_has_its_interval_below_it_from_end_to_end_unless_it_is_in_the_middle(db_with_tags: Path) -> None:
    """The examples of docs/statistics.md#intervals."""
    out = run_ok("report", "--by", "tag", "--metrics", "expectancy,win_rate", "--db", db_with_tags)

    assert out == (
        "            Expectancy  Win rate\n"
        "Volume          100.00    100.0%\n"
        "                ±67.86   66-100%\n"
        "(none)          -10.00     50.0%\n"
        "                ±90.49    20-80%\n"
        "Total            45.00     75.0%\n"
        "        -15.68..102.37    51-90%\n"
        "\n"
        "        Present  Absent    Edge       ±      q     Verdict  Needed\n"
        "Volume       10      10  110.00  105.64  0.045  earns more       -\n"
    )


def test_another_range_stands_beside_each_group_and_the_total(db_with_tags: Path) -> None:
    ranges = ("--from", "2026-01-11", "--compare-to", "2026-01-10", "--by", "tag", "--metrics", "net_pnl")
    lines = run_ok("report", *ranges, "--db", db_with_tags).splitlines()
    volume, *_, total = csv.DictReader(io.StringIO(run_ok("report", *ranges, "--csv", "--db", db_with_tags)))

    assert lines[-5:-1] == [
        "        Now  Before  Difference       ±      q    Verdict  Needed",
        "Volume    4       6           -       -      -    too few       -",
        "(none)    6       4           -       -      -    too few       -",
        "Total    10      10      -22.00  117.84  0.699  not shown     482",
    ]
    assert (volume["net_pnl"], volume["net_pnl_before"], volume["difference_verdict"]) == ("400", "600", "too_few")
    assert (total["net_pnl_before"], total["difference"]) == ("560", "-22")


def test_csv_has_the_ends_of_intervals_and_both_edges(db_with_tags: Path) -> None:
    out = run_ok("report", "--by", "tag", "--metrics", "expectancy", "--csv", "--db", db_with_tags)

    volume, none, total = csv.DictReader(io.StringIO(out))
    assert (volume["expectancy_low"], volume["expectancy_high"]) == ("32.13528512", "167.86471488")
    edge = {name: volume[f"edge_{name}"] for name in ("low", "high", "verdict", "more_needed")}
    assert volume["edge"] == "110"
    assert edge == {"low": "4.36045063", "high": "215.63954937", "verdict": "more", "more_needed": ""}
    assert float(volume["edge_p"]) == float(volume["edge_q"]) == pytest.approx(0.0448, abs=0.00005)
    assert (volume["edge_r"], volume["edge_r_verdict"]) == ("", "too_few")  # no trade has a risk
    assert none["edge"] == none["edge_verdict"] == total["edge"] == ""


def test_without_checklists_there_is_nothing_to_compare(db: Path) -> None:
    assert run_ok("report", "--by", "confirmation", "--db", db) == ("Nothing to compare: no trade has a checklist.\n")
    rows = list(csv.reader(io.StringIO(run_ok("report", "--by", "confirmation", "--csv", "--db", db))))
    assert rows[0][:8] == [*("key", "name", "setup", "strategy"), *("answer", "edge", "edge_low", "edge_high")]
    assert [row[4] for row in rows] == ["answer", "present", "absent", "unanswered", ""]


def test_verdicts_are_words_and_say_how_many_decisions_are_needed(tmp_path: Path) -> None:
    with journal_client(tmp_path, example=True):
        pass

    lines = run_ok("report", "--by", "confirmation", "--db", tmp_path / "journal.db").splitlines()

    assert lines[0].split() == ["Present", "Absent", "Edge", "±", "q", "Verdict", "Needed"]
    assert lines[1].startswith("Volume above average ")
    assert "earns more       -" in lines[1]
    assert any(re.search(r"not shown +[0-9]+$", line) for line in lines)
    assert lines[-1] == "Needed: about how many more trades would make the difference clear."
    assert max(map(text_width, lines)) <= 80


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--from", "2026-02-01", "--to", "2026-01-01"), "--from must not be after to"),
        (("--metrics", "balance_target"), "--metrics balance_target is not a metric of reports"),
        (("--sort", "profit"), "--sort must name"),
        (("--from", "yesterday"), "--from must be a date"),
        (("--compare-to", "2026-01-01"), "--compare-to overlaps the days"),
        (("--account", "Nobody"), "there is no account 'Nobody'"),
        (("--by", "category"), "--category is required with group_by=category"),
        (("--by", "category", "--category", "Mood"), "there is no tag category 'Mood'"),
        (("--csv", "--json"), "--csv and --json exclude each other"),
        (("exits", "--unit", "currency"), "--stops is needed with unit=currency"),
        (("exits", "--stops", "0"), "--stops must be greater than 0"),
        (("exits", "--targets", "far"), "--targets must be 1 to 12 numbers above 0"),
        # 12 stops, 12 targets, and none of each.
        (("exits", "--limit", "169"), "169 is not in the range 1<=x<=168"),
        (("exits", "--from", "2026-02-01", "--to", "2026-01-01"), "--from must not be after to"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(db: Path, options: tuple[str, ...], reason: str) -> None:
    assert reason in run_failing("report", *options, "--db", db)


def test_two_keys_are_two_columns_and_a_line_a_pair(tmp_path: Path) -> None:
    with journal_client(tmp_path, example=True):
        pass
    pairs = ("report", "--by", "weekday,nth", "--db", tmp_path / "journal.db")

    lines = run_ok(*pairs).splitlines()
    head, *rows = csv.reader(run_ok(*pairs, "--csv").splitlines())
    by_answer = csv.DictReader(run_ok("report", "--by", "confirmation,weekday", "--csv", *pairs[-2:]).splitlines())

    assert lines[1].startswith("Monday, 1st ")
    assert any(line.startswith("Monday, ") and "too few" in line for line in lines)
    assert (head[:4], rows[0][:4]) == (["key_1", "key_2", "name_1", "name_2"], ["1", "1", "Monday", "1st"])
    assert (rows[-1][3], "edge_q" in head) == ("total", True)
    edges = {row["answer"]: bool(row["edge_verdict"]) for row in islice(by_answer, 3)}
    assert edges == {"present": True, "absent": False, "unanswered": False}


def test_exits_are_a_table_with_the_best_low_end_first(twenty_trades: Path) -> None:
    out = run_ok("report", "exits", "--stops", "0.5,1", "--targets", "0.5", "--db", twenty_trades)

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


def test_without_excursions_there_is_nothing_to_tell(twenty_trades: Path, tmp_path: Path) -> None:
    db = Path(shutil.copy(twenty_trades, tmp_path))
    change(db, "UPDATE trades SET initial_risk = NULL")

    assert run_ok("report", "exits", "--db", db) == "No trade has MAE, MFE and a risk.\n"
    assert "20 trades" in command("report", "exits", "--unit", "currency", "--stops", "50", "--db", db).out

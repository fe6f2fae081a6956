"""`journal-api report`: the report of GET /v1/reports on the command line (docs/self-hosting.md)."""

import csv
import io
from pathlib import Path

import msgspec
import pytest
from commands import change, command, import_file, new_key, run_failing, run_ok, running

from journal_api.cli.text_width import text_width

FILE = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
ES,long,1,100,103.5,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
ES,long,1,100,99,2026-01-06T14:00:00Z,2026-01-06T15:00:00Z
NQ,long,1,100,100.125,2026-01-06T14:00:00Z,2026-01-06T15:00:00Z
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A journal with three trades."""
    file, db = tmp_path / "trades.csv", tmp_path / "journal.db"
    file.write_text(FILE.replace("quantity", "quantity,multiplier").replace("long,1,", "long,1,1,"))
    assert import_file(db, file).code == 0
    return db


def test_a_report_is_an_aligned_table_of_at_most_80_columns(db: Path) -> None:
    assert run_ok("report", "--by", "symbol", "--db", db) == (
        "       Trades  Net P&L  Win rate  Profit factor  Expectancy  Average R\n"
        "ES          2     2.50     50.0%           3.50        1.25          -\n"
        "NQ          1     0.12    100.0%              -        0.12          -\n"
        "Total       3     2.62     66.7%           3.62        0.88          -\n"
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
        ["key", "name", "net_pnl", "win_rate"],
        ["ES", "ES", "2.5", "50"],
        ["'=1+1", "'=1+1", "0.125", "100"],
        ["", "total", "2.625", "66.66666667"],
    ]


def test_json_is_what_the_service_answers_beside_a_running_server(db: Path) -> None:
    with running(db) as server, server.client(new_key(db)) as client:
        query = {"group_by": "weekday", "from": "2026-01-06"}
        answered = client.get("/reports", params=query).json()["data"]["report"]
        out = run_ok("report", "--by", "weekday", "--from", "2026-01-06", "--json", "--db", db)

    assert msgspec.json.decode(out) == answered


def test_options_select_sort_and_limit(db: Path) -> None:
    options = "--by symbol --account Sim --to 2026-01-06 --sort net_pnl --metrics net_pnl"

    sorted_out = run_ok("report", *options.split(), "--db", db)
    limited = command("report", "--by", "symbol", "--limit", "1", "--db", db)

    assert [line.split()[0] for line in sorted_out.splitlines()[1:]] == ["NQ", "ES", "Total"]
    assert limited.err == "1 of 2 groups; --limit shows more.\n"
    assert "NQ" not in limited.out


def test_confirmations_are_listed_with_their_edge(db: Path) -> None:
    assert run_ok("report", "--by", "confirmation", "--db", db) == (
        "        Present  Absent     Edge  95% from  to\n(none)        0       0  too few         -   -\n"
    )
    rows = list(csv.reader(io.StringIO(run_ok("report", "--by", "confirmation", "--csv", "--db", db))))
    assert [row[4] for row in rows] == ["answer", "present", "absent", "unanswered", ""]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--from", "2026-02-01", "--to", "2026-01-01"), "--from must not be after --to"),
        (("--metrics", "balance_target"), "--metrics balance_target is not a metric of reports"),
        (("--sort", "profit"), "--sort must name"),
        (("--from", "yesterday"), "--from must be a date"),
        (("--account", "Nobody"), "there is no account 'Nobody'"),
        (("--csv", "--json"), "--csv and --json exclude each other"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(db: Path, options: tuple[str, ...], reason: str) -> None:
    assert reason in run_failing("report", *options, "--db", db)

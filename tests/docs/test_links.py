"""The pages: links lead somewhere, and lists of the code, of promises and of pragmas are complete in their pages.

The metrics are in test_goals_page.py, the tours in test_tours.py.
"""

import re
import tomllib
from pathlib import Path

import msgspec
from aiosqlite import Connection
from pages import DOCS, ROOT, blocks_of, code_in, rows_under
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.metrics.groupings import GROUPINGS
from journal_api.positions.plans import BY_HAND
from journal_api.positions.reconcile import CONTRADICTED, OTHER_FILE, OTHER_ZONE
from journal_api.settings import NO_SETTINGS, Settings
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.known_formats import list_known_formats
from journal_api.values.types import decode_value

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]
API, SELF_HOSTING = DOCS / "api.md", DOCS / "self-hosting.md"
DECISIONS = ROOT / "DECISIONS.md"
VARIABLES = [f"JOURNAL_{name.upper()}" for name in Settings.__struct_fields__]


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@for_rows("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading_in_it(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text())

    broken = []
    for path, anchor in links:
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append((path, anchor))
    assert broken == []


def test_the_table_of_settings_has_every_setting_with_its_default() -> None:
    rows = rows_under(SELF_HOSTING, "variable")
    documented = {row["variable"].strip("`"): row["default"].strip("`") for row in rows}
    defaults = Settings(db=Path("journal.db"))

    assert sorted(documented) == sorted(VARIABLES)
    for name in ("host", "port", "day_rollover", "max_strategies"):
        assert documented[f"JOURNAL_{name.upper()}"] == str(getattr(defaults, name))


@for_rows("page", [*PAGES, *sorted(ROOT.glob("docs/deploy/*"))])
def test_no_page_names_a_setting_that_does_not_exist(page: Path) -> None:
    assert {*re.findall(r"\bJOURNAL_[A-Z_]+\b", page.read_text())} <= {*VARIABLES, *NO_SETTINGS}


def test_the_table_of_groupings_has_every_grouping() -> None:
    documented = [name for row in rows_under(API, "`group_by`") for name in code_in(row["`group_by`"])]

    assert sorted([*documented, "none"]) == sorted(GROUPINGS)


@for_rows("name", [one.name for one in list_known_formats()])
def test_every_import_format_is_explained_under_its_name(name: str) -> None:
    assert name.lower() in (DOCS / "formats.md").read_text().lower()


def test_every_reason_of_a_suspect_is_explained() -> None:
    explained = [row["what you see"] for row in rows_under(DOCS / "imports.md", "what you see")]

    reasons = (CONTRADICTED, OTHER_FILE, OTHER_ZONE, BY_HAND)
    assert [one for one in explained if "suspect" in one] == [f"`suspect`: *{reason}*" for reason in reasons]


def test_the_profiles_in_the_page_of_formats_are_valid() -> None:
    trades, of_fills = map(tomllib.loads, blocks_of(DOCS / "formats.md", "toml"))
    common = {member: trades[member] for member in ("name", "header", "symbol", "side", "quantity")}
    fills = {**common, "kind": "fills", "price": "Price", "at": "Date", **of_fills}

    for profile in (trades, fills):
        assert msgspec.convert(profile, ImportProfileCreate, dec_hook=decode_value).kind == profile["kind"]


CODE = [*ROOT.glob("journal_api/**/*.py"), *ROOT.glob("tests/**/*.py"), ROOT / "schema.sql"]


def test_every_heading_that_the_code_cites_exists() -> None:
    cited = {
        (source.relative_to(ROOT), page, anchor)
        for source in CODE
        for page, anchor in re.findall(r"\bdocs/([a-z-]+\.md)#([a-z0-9-]+)", source.read_text())
    }

    assert cited
    assert [cite for cite in sorted(cited) if cite[2] not in anchors_of(DOCS / cite[1])] == []


def numbers_in(cell: str) -> list[int]:
    """The numbers of `11 to 14, 44`."""
    parts = [[int(number) for number in part.split(" to ")] for part in cell.split(", ")]
    return [number for part in parts for number in range(part[0], part[-1] + 1)]


def test_every_decision_has_one_number_and_stands_in_the_index_under_its_area() -> None:
    areas = re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", DECISIONS.read_text(), re.M)
    records = {area: [int(one) for one in re.findall(r"^\*\*(\d+)\.", text, re.M)] for area, text in areas}

    numbers = sorted(number for found in records.values() for number in found)
    assert numbers == list(range(1, len(numbers) + 1))
    assert {row["area"]: numbers_in(row["records"]) for row in rows_under(DECISIONS, "area")} == records


def test_every_decision_that_is_cited_exists() -> None:
    text = "\n".join(source.read_text() for source in CODE)
    cited = re.findall(r"DECISIONS (\d+(?:, \d+)*)", text)
    in_parentheses = re.findall(r"\((\d{1,2}(?:, \d{1,2})*)\)", (DOCS / "performance.md").read_text())

    numbers = {int(number) for part in [*cited, *in_parentheses] for number in part.split(", ")}
    assert len(numbers) > 20
    assert numbers <= {int(one) for one in re.findall(r"^\*\*(\d+)\.", DECISIONS.read_text(), re.M)}


def test_the_rules_of_the_api_are_numbered_without_a_gap() -> None:
    numbers: dict[str, list[int]] = {}
    for letter, number in re.findall(r"^(?:- \*\*|\| )([PGTFMBRC])(\d+)(?:\.\*\*| \|)", API.read_text(), re.M):
        numbers.setdefault(letter, []).append(int(number))

    assert set(numbers) == set("PGTFMBRC")
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


RELIABILITY = DOCS / "reliability.md"
AS_SQLITE_SAYS = {"WAL": "wal", "OFF": "0", "ON": "1", "FULL": "2", "MEMORY": "2"}


def test_promises_are_numbered_without_a_gap_and_each_has_a_test() -> None:
    rows = rows_under(RELIABILITY, "#")
    marks = [
        int(number)
        for file in (ROOT / "tests").glob("*/test_*.py")
        for number in re.findall(r"^@pytest\.mark\.promise\((\d+)\)$", file.read_text(), re.M)
    ]

    assert [int(row["#"]) for row in rows] == list(range(1, len(rows) + 1)) == sorted(set(marks))
    assert all(all(row.values()) for row in rows)


async def test_the_documented_pragmas_are_set_on_the_connection_that_writes(app: Starlette) -> None:
    rows = rows_under(RELIABILITY, "pragma")
    documented = {row["pragma"].strip("`"): row["value"].strip("`") for row in rows}

    async def read_pragmas(db: Connection) -> dict[str, str]:
        rows = {pragma: await db.execute_fetchall(f"PRAGMA {pragma}") for pragma in documented}
        return {pragma: str(next(iter(row))[0]) for pragma, row in rows.items()}

    used = await app.state.database.write(read_pragmas)
    assert used == {pragma: AS_SQLITE_SAYS.get(value, value) for pragma, value in documented.items()}

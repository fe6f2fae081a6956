"""The table of built-in profiles in docs/imports.md is that of the code."""

from pages import DOCS

from journal_api.structs.import_profiles import Columns, ImportProfileCreate
from journal_api.trade_files.profiles.profile_format import built_in_profiles

TITLES = ("format", "rows", "recognised by", "fees", "external id")


def row_of(profile: ImportProfileCreate) -> str:
    costs, ids = profile.costs, profile.external_id
    fees = ", ".join(map(name_of, costs.columns)) if costs else "not stated"
    cells = (
        profile.name,
        "one trade" if profile.kind == "trades" else "one fill",
        ", ".join(map(name_of, profile.header)),
        fees,
        "-".join(map(name_of, ids)) if ids else "",
    )
    return f"| {' | '.join(cells)} |"


def name_of(columns: Columns) -> str:
    names = [columns] if isinstance(columns, str) else columns
    return " or ".join(f"`{name}`" for name in names)


def table() -> str:
    head = [f"| {' | '.join(TITLES)} |", "|---" * len(TITLES) + "|"]
    return "\n".join([*head, *map(row_of, built_in_profiles())])


def test_the_table_of_profiles_is_that_of_the_code() -> None:
    assert table() in (DOCS / "imports.md").read_text()

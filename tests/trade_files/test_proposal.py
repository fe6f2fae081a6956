"""How far a file is searched for the table that a proposed profile is made of."""

import io

import pytest

from journal_api.trade_files.profiles.proposal import Proposal, propose_profile

HEADER, ROW = "Ticker,Way,Size\n", "ES,Up,1\n"


def propose(text: str) -> Proposal | None:
    return propose_profile(io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("lines_before", "columns"), [(0, "Ticker"), (99, "Ticker"), (100, "a"), (1000, "a")]
)
def test_a_header_is_sought_in_100_rows(lines_before: int, columns: str) -> None:
    proposal = propose("a,b,c\n" * lines_before + HEADER + ROW)

    assert proposal is not None
    assert proposal.columns[0] == columns


def test_three_rows_are_shown_with_200_characters_of_a_cell() -> None:
    proposal = propose(HEADER + f"{'x' * 201},Up,1\n" * 4)

    assert proposal is not None
    assert [[len(cell) for cell in row] for row in proposal.sample_rows] == [[200, 2, 1]] * 3


@pytest.mark.parametrize(("row", "short"), [(99, ["Sold"]), (100, ["Sell"])])
def test_the_words_of_the_side_are_sought_in_100_rows_below_the_header(row: int, short: list[str]) -> None:
    preamble = "a,b,c\n" * 99
    proposal = propose(preamble + HEADER + ROW * row + "ES,Sold,1\n")

    assert proposal is not None
    assert proposal.profile.side is not None
    assert proposal.profile.side.short == short


@pytest.mark.parametrize(
    "text", ["", "Ticker\n1\n", "Ticker,\n1,\n"], ids=["nothing", "one column", "one name"]
)
def test_a_table_has_two_columns(text: str) -> None:
    assert propose(text) is None

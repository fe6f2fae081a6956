"""The JSON that tools answer with: small, and without invisible characters."""

import json
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from journal_api.mcp.texts import MAX_LIST_LENGTH, build_page, clip, encode, without_nulls


@given(st.lists(st.none() | st.booleans() | st.integers() | st.text(), max_size=4))
def test_the_json_says_what_the_value_says(value: Any) -> None:
    assert json.loads(encode({"value": value})) == {"value": value}


def test_invisible_characters_alone_are_escaped() -> None:
    """test_visible_text.py has all kinds of them."""
    told = encode({"notes": "Größe – 大 <b>\u202e\x9b\U000e0041"})

    assert told == r'{"notes":"Größe – 大 <b>\u202e\u009b\udb40\udc41"}'


def test_an_amount_keeps_its_digits() -> None:
    assert encode([Decimal("12345678901234.00000001")]) == "[12345678901234.00000001]"


def test_a_clipped_text_says_how_long_it_was() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abcdef... [7 characters]"


def test_nulls_and_empty_lists_are_left_out_at_every_level() -> None:
    assert without_nulls({"a": None, "b": [{"c": None, "d": 0}], "e": [], "f": False}) == {
        "b": [{"d": 0}],
        "f": False,
    }


def test_a_page_says_how_to_get_the_next() -> None:
    assert build_page("trades", [1, 2], 4, 10) == {
        "trades": [1, 2],
        "total": 10,
        "more": "4 further; call again with offset=6",
    }
    assert build_page("trades", [1, 2], 8, 10) == {"trades": [1, 2], "total": 10}
    assert build_page("trades", [], 20, 10) == {"trades": [], "total": 10}


def test_a_page_ends_before_it_grows_too_long() -> None:
    rows = ["x" * (MAX_LIST_LENGTH // 2)] * 5

    page = build_page("trades", rows, 0, 5)

    assert page["trades"] == rows[:1]  # a string is two characters longer in JSON
    assert page["more"] == "4 further; call again with offset=1"


def test_a_row_that_is_too_long_is_a_page_alone() -> None:
    assert build_page("trades", ["x" * 2 * MAX_LIST_LENGTH, "y"], 0, 2)["trades"] == [
        "x" * 2 * MAX_LIST_LENGTH
    ]

"""Which characters of a stored text are escaped before a person or a model reads it."""

import ast
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journal_api.values.visible_text import escape_for_json, escape_invisible


@pytest.mark.parametrize(
    ("character", "escape"),
    [
        ("\x1b", r"\u001b"),
        ("\x9b", r"\u009b"),  # a control sequence introducer of eight bits
        ("\xad", r"\u00ad"),  # soft hyphen
        ("\u034f", r"\u034f"),  # combining grapheme joiner
        ("\u115f", r"\u115f"),  # fillers of Hangul
        ("\u1160", r"\u1160"),
        ("\u3164", r"\u3164"),
        ("\uffa0", r"\uffa0"),
        ("\u2800", r"\u2800"),  # a pattern of Braille without dots
        ("\u200b", r"\u200b"),  # zero-width space
        ("\u202e", r"\u202e"),  # right-to-left override
        ("\u2066", r"\u2066"),
        ("\u2028", r"\u2028"),  # line separator
        ("\ufe0f", r"\ufe0f"),  # a variation selector without an emoji
        ("\ue000", r"\ue000"),  # private
        ("\ufdd0", r"\ufdd0"),  # unassigned
        ("\U000e0041", r"\U000e0041"),  # the tag of the letter A
        ("\U000e0100", r"\U000e0100"),
    ],
)
def test_a_character_that_is_not_seen_is_escaped(character: str, escape: str) -> None:
    assert escape_invisible(f"a{character}b") == f"a{escape}b"


@pytest.mark.parametrize(
    "text",
    [
        "Größe – 大 <b> naïve e\u0301 नमस्ते שלום عربي 한국어 ไทย",
        "no-break\xa0space\u3000wide",
        "\u2764\ufe0f \U0001f469\U0001f3fd\u200d\U0001f680 \U0001f3f3\ufe0f\u200d\U0001f308",
        "1\ufe0f\u20e3 \U0001f1e9\U0001f1ea",
    ],
    ids=["letters", "spaces", "emoji with joiners", "a keycap and a flag"],
)
def test_what_is_seen_stays_as_it_is(text: str) -> None:
    assert escape_invisible(text) == text


def test_no_character_that_could_act_on_a_terminal_passes() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    # Of the planes of private characters, one in 256.
    characters = map(chr, (*range(0xF0000), *range(0xF0000, 0x110000, 256)))

    passed = escape_invisible("".join(one for one in characters if unicodedata.category(one) in hidden))

    assert hidden.isdisjoint(map(unicodedata.category, passed))


@given(st.text())
def test_json_with_escapes_says_what_it_said(text: str) -> None:
    assert json.loads(escape_invisible(json.dumps(text, ensure_ascii=False), escape_for_json)) == text


@given(st.text(alphabet=st.characters(exclude_characters="\\'\n\r", exclude_categories=["Cs"])))
def test_a_text_can_be_read_back_from_its_escapes(text: str) -> None:
    assert ast.literal_eval(f"'{escape_invisible(text)}'") == text

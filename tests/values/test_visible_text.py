"""Which characters of a stored text are escaped before a person or a model reads it."""

import ast
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from saved_journals import for_rows

from journal_api.values.visible_text import escape_for_json, escape_invisible


@for_rows(
    "character",
    [
        *("\x1b", "\x9b"),  # control sequence introducers of seven and eight bits
        *("\xad", "\u034f", "\u200b", "\u2028"),  # soft hyphen, combining joiner, zero-width space, line separator
        *("\u115f", "\u1160", "\u3164", "\uffa0", "\u2800"),  # fillers of Hangul, Braille without dots
        *("\u202e", "\u2066"),  # right-to-left override and an isolate
        "\ufe0f",  # a variation selector without an emoji
        *("\ue000", "\ufdd0"),  # private and unassigned
        *("\U000e0041", "\U000e0100"),  # the tag of the letter A, another selector
    ],
)
def test_a_character_that_is_not_seen_is_escaped(character: str) -> None:
    code = ord(character)

    assert escape_invisible(f"a{character}b") == f"a\\{f'U{code:08x}' if code > 0xFFFF else f'u{code:04x}'}b"


@for_rows(
    "text",
    [
        "Größe – 大 <b> naïve e\u0301 नमस्ते שלום عربي 한국어 ไทย",
        "no-break\xa0space\u3000wide",
        "\u2764\ufe0f \U0001f469\U0001f3fd\u200d\U0001f680 \U0001f3f3\ufe0f\u200d\U0001f308",
        "1\ufe0f\u20e3 \U0001f1e9\U0001f1ea",
    ],
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

"""What a search looks for, read from what was typed: docs/journal.md#search."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from journal_api.rules.search_excerpts import BEGIN, END, MAX_LENGTH, split_marks
from journal_api.rules.search_query import SearchTerms, parse_query


@pytest.mark.parametrize(
    ("typed", "terms"),
    [
        ("", SearchTerms()),
        ('"" - -- tag: "---" *', SearchTerms(match='"tag:" *')),
        ("late entry", SearchTerms(match='"late" * "entry" *')),
        ('"late entry" loss', SearchTerms(match='"late entry" "loss" *')),
        ('loss "late entr', SearchTerms(match='"loss" * "late entr"')),
        ('-news -"late entry"', SearchTerms(exclude='"news" * OR "late entry"')),
        ("stop-loss", SearchTerms(match='"stop-loss" *')),
        ("NOT (a OR b) NEAR title:x", SearchTerms(match='"NOT" * "(a" * "OR" * "b)" * "NEAR" * "title:x" *')),
        ('TAG:Fomo -tag:"Late Entry"', SearchTerms(tags=("fomo",), without_tags=("late entry",))),
        ("symbol:mnq -symbol:es", SearchTerms(symbols=("MNQ", "MNQ"), without_symbols=("ES", "ES"))),
        ("a\x00b", SearchTerms(match='"a" * "b" *')),
    ],
)
def test_words_phrases_and_filters_are_read(typed: str, terms: SearchTerms) -> None:
    assert parse_query(typed) == terms


QUERIES = st.text(max_size=500) | st.text(alphabet="-\"'*():^+{} \x00abtgsymol:ÄöNOTR", max_size=80)


@given(QUERIES)
@example(" ".join("ab" for _ in range(166)))
@hypothesis_settings(max_examples=5000)
def test_no_text_is_a_syntax_error(typed: str) -> None:
    terms = parse_query(typed)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE texts USING fts5 (title, text, prefix = '2 3')")
        for match in filter(None, (terms.match, terms.exclude)):
            db.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (match,)).fetchall()


@given(
    st.lists(
        st.tuples(st.text("ab …é😀", max_size=30), st.text("xyz😀", min_size=1, max_size=30)), max_size=20
    )
)
def test_marks_say_where_in_the_excerpt_the_words_are(parts: list[tuple[str, str]]) -> None:
    marked = "".join(f"{before}{BEGIN}{word}{END}" for before, word in parts)

    excerpt = split_marks(marked)

    plain = "".join(before + word for before, word in parts)
    assert excerpt.text == plain[:MAX_LENGTH]
    words = [excerpt.text[start:end] for start, end in excerpt.marks]
    assert words == [word for _, word in parts][: len(words)]
    assert len(words) == len(parts) or len(plain) > MAX_LENGTH

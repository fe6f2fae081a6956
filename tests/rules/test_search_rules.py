"""What a search looks for, read from what was typed: docs/journal.md#search."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.rules.search import BEGIN, END, MAX_LENGTH, SearchTerms, parse_query, split_marks


@for_rows(
    "typed, terms",
    [
        ("", SearchTerms()),
        ('"" - -- tag: "---" *', SearchTerms(match='"tag:" *')),
        ("late entry", SearchTerms(match='"late" * "entry" *')),
        ('"late entry" loss', SearchTerms(match='"late entry" "loss" *')),
        ('loss "late entr', SearchTerms(match='"loss" * "late entr"')),
        ('-news -"late entry"', SearchTerms(exclude='"news" * OR "late entry"')),
        ("stop-loss", SearchTerms(match='"stop-loss" *')),
        ("NOT (a OR b) NEAR title:x", SearchTerms(match='"NOT" * "OR" * "NEAR" * "title:x" *')),
        ('TAG:Fomo -tag:"Late Entry"', SearchTerms(tags=("fomo",), without_tags=("late entry",))),
        ("symbol:mnq -symbol:es", SearchTerms(symbols=("MNQ", "MNQ"), without_symbols=("ES", "ES"))),
        ("aa\x00b", SearchTerms(match='"aa" * "b" *')),
        ("a late t b", SearchTerms(match='"late" * "b" *')),
        ('-x "a" *b* -c', SearchTerms(match='"a"', exclude='"c" *')),
        ('Late late -late "late"', SearchTerms(match='"Late" * "late"', exclude='"late" *')),
        ("tag:a TAG:A symbol:es symbol:ES x", SearchTerms(match='"x" *', tags=("a",), symbols=("ES", "ES"))),
        ("t a s i o " * 50, SearchTerms(match='"o" *')),
    ],
)
def test_words_phrases_and_filters_are_read(typed: str, terms: SearchTerms) -> None:
    assert parse_query(typed) == terms


def test_different_terms_are_looked_up_and_not_too_many() -> None:
    terms = [f"{letter}b" for letter in "abcdefghijklmnopq"]

    assert parse_query(" ".join(terms[:16] * 5)).match.count("*") == 16
    with pytest.raises(ValidationFailed) as refused:
        parse_query(" ".join(["tag:x", *terms[:16]]))
    assert refused.value.details == {"fields": {"q": "has 17 different terms, at most 16"}}


QUERIES = st.text(max_size=500) | st.text(alphabet="-\"'*():^+{} \x00abtgsymol:ÄöNOTR", max_size=80)


@pytest.fixture
def texts() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE texts USING fts5 (title, text, prefix = '2 3')")
        yield db


@given(typed=QUERIES)
@example(typed=" ".join("ab" for _ in range(166)))
@max_examples(full=5000, ci=200)
def test_no_text_is_a_syntax_error(texts: sqlite3.Connection, typed: str) -> None:
    try:
        terms = parse_query(typed)
    except ValidationFailed:
        return  # too many terms
    for match in filter(None, (terms.match, terms.exclude)):
        texts.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (match,)).fetchall()


@given(st.lists(st.tuples(st.text("ab …é😀", max_size=30), st.text("xyz😀", min_size=1, max_size=30)), max_size=20))
@max_examples(full=100, ci=20)
def test_marks_say_where_in_the_excerpt_the_words_are(parts: list[tuple[str, str]]) -> None:
    marked = "".join(f"{before}{BEGIN}{word}{END}" for before, word in parts)

    text, marks = split_marks(marked)

    plain = "".join(before + word for before, word in parts)
    assert text == plain[:MAX_LENGTH]
    words = [text[start:end] for start, end in marks]
    assert words == [word for _, word in parts][: len(words)]
    assert len(words) == len(parts) or len(plain) > MAX_LENGTH

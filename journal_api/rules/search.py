"""What a search looks for, read from what was typed, and the excerpts of what it found.

Any text is a query: nothing is a syntax error.

Each term reads a part of the index, once: the beginning of words by one letter reads a tenth of it, so such a
term counts only as the last, which may still be typed.
"""

import re
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.values.instruments import list_contracts
from journal_api.values.types import CONTROL, sort_name

# A word or a phrase, perhaps excluded, perhaps the value of a filter. The last quote need not be closed.
TERM = re.compile(r'(-?)(?:(tag|symbol):)?(?:"([^"]*)"?|([^\s"]+))', re.IGNORECASE)
MAX_TERMS = 16
MAX_SYMBOL = 40  # characters; no trade has a longer one


class SearchTerms(NamedTuple):
    """What to look for. `match` and `exclude` are expressions of FTS5, empty for everything and for nothing.

    Tags are sort names, all of which must be there; symbols are roots and contracts, any of which must.
    """

    match: str = ""
    exclude: str = ""
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    without_symbols: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(self)


class Term(NamedTuple):
    kind: str  # text, tag or symbol
    is_excluded: bool
    value: str
    is_phrase: bool


def parse_query(text: str) -> SearchTerms:
    """Return words, "phrases", tag:NAME and symbol:SYM, each excluded by a - before it. Raises ValidationFailed."""
    found: dict[tuple[str, bool], list[str]] = {}
    for term in list_terms(text):
        found.setdefault((term.kind, term.is_excluded), []).extend(list_values(term))
    return SearchTerms(
        match=" ".join(found.get(("text", False), [])),
        exclude=" OR ".join(found.get(("text", True), [])),
        tags=tuple(found.get(("tag", False), ())),
        without_tags=tuple(found.get(("tag", True), ())),
        symbols=tuple(found.get(("symbol", False), ())),
        without_symbols=tuple(found.get(("symbol", True), ())),
    )


def list_terms(text: str) -> list[Term]:
    """Return the terms that are looked up, once each. Case does not tell terms apart."""
    terms: dict[tuple[object, ...], Term] = {}
    matches = TERM.findall(CONTROL.sub(" ", text))
    for place, (minus, name, phrase, word) in enumerate(matches, 1):
        term = Term(name.lower() or "text", bool(minus), (phrase or word).strip(), bool(phrase))
        letters = sum(map(str.isalnum, term.value))
        if not term.value or (term.kind == "text" and not letters):
            continue  # FTS5 has no token of it
        if term.kind == "text" and not term.is_phrase and letters == 1 and place < len(matches):
            continue
        terms.setdefault((*term[:2], term.value.casefold(), term.is_phrase), term)
    if len(terms) > MAX_TERMS:
        raise ValidationFailed(fields={"q": f"has {len(terms)} different terms, at most {MAX_TERMS}"})
    return list(terms.values())


def list_values(term: Term) -> list[str]:
    """Return what the term stands for: an expression of FTS5, a sort name, or symbols."""
    if term.kind == "text":
        return [f'"{term.value}"' if term.is_phrase else f'"{term.value}" *']  # the beginning of a word
    if term.kind == "tag":
        return [sort_name(term.value)]
    return [term.value.upper(), *list_contracts(term.value[:MAX_SYMBOL])]  # it may be a root, or a contract


# FTS5 puts these characters around what it found; no stored text has them.
BEGIN, END = "\x02", "\x03"
MARKED = re.compile(f"{BEGIN}([^{END}]*){END}")
MAX_LENGTH = 400  # characters: a word may be as long as the text


def split_marks(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the excerpt without the characters around what was found, and the [start, end) of each in code points."""
    marks = []
    for index, found in enumerate(MARKED.finditer(marked)):
        start = found.start() - 2 * index  # the characters of earlier marks are not in the text
        if start + len(found[1]) <= MAX_LENGTH:
            marks.append((start, start + len(found[1])))
    return MARKED.sub(r"\1", marked)[:MAX_LENGTH], marks

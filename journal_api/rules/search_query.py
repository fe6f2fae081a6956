"""What a search looks for, read from what was typed. Any text is a query: nothing is a syntax error."""

import re
from typing import NamedTuple

from journal_api.values.instruments import list_contracts
from journal_api.values.types import sort_name

# A word or a phrase, perhaps excluded, perhaps the value of a filter. The last quote need not be closed.
TERM = re.compile(r'(-?)(?:(tag|symbol):)?(?:"([^"]*)"?|([^\s"]+))', re.IGNORECASE)
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
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


def parse_query(text: str) -> SearchTerms:
    """Return the terms of words, "phrases", tag:NAME and symbol:SYM, each excluded by a - before it."""
    found: dict[tuple[str, bool], list[str]] = {}
    for minus, name, phrase, word in TERM.findall(CONTROL.sub(" ", text)):
        value = (phrase or word).strip()
        kind = name.lower() or "text"
        if not value or (kind == "text" and not any(map(str.isalnum, value))):
            continue  # FTS5 has no token of it
        if kind == "text":
            terms = [f'"{phrase}"' if phrase else f'"{word}" *']  # a word may be the beginning of another
        else:
            terms = [sort_name(value)] if kind == "tag" else list_symbols(value)
        found.setdefault((kind, bool(minus)), []).extend(terms)
    return SearchTerms(
        match=" ".join(found.get(("text", False), [])),
        exclude=" OR ".join(found.get(("text", True), [])),
        tags=tuple(found.get(("tag", False), ())),
        without_tags=tuple(found.get(("tag", True), ())),
        symbols=tuple(found.get(("symbol", False), ())),
        without_symbols=tuple(found.get(("symbol", True), ())),
    )


def list_symbols(symbol: str) -> list[str]:
    """Return the symbol in upper case, which may be a root, and the contracts that it may name."""
    return [symbol.upper(), *list_contracts(symbol[:MAX_SYMBOL])]

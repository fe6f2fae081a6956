"""The trades in Interactive Brokers' Flex Query (XML) as rows with the columns of its CSV form.

The parser is the standard library's expat. defusedxml.iterparse is as fast (0.10 s instead of 0.11 s for
10,000 trades), but it tells no lines, and it bounds neither a long attribute, deep nesting nor the number of
names, which expat keeps in memory. A document type declaration, without which there are no entities, is
refused in both.
"""

from collections.abc import Iterable, Iterator, Mapping
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from msgspec.structs import replace

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.named_rows import shorten
from journal_api.trade_files.rows import Cells, read_csv
from journal_api.trade_files.texts import Unreadable

BEGINNINGS = ("<?xml", "<FlexQueryResponse")
# The one attribute of <Trade> that has another name than the column.
ACCOUNT, ACCOUNT_COLUMN = "accountId", "ClientAccountID"
# The beginning of its CSV form with section lines, and the section of the trades.
SECTION_LINES, TRADES = ('"BOF",', '"HEADER",'), "TRNT"
MAX_ELEMENT_LENGTH = 64 * 1024
MAX_DEPTH, MAX_NAMES = 100, 10_000


def read_section(pieces: Iterator[str]) -> Iterator[Cells | Rejected]:
    """Yield the header and the rows of the trades in a file with section lines."""
    has_trades, line = False, 1
    for row in read_csv(pieces, ","):
        line = row.line
        if isinstance(row, Rejected):
            yield row
        elif row.cells[:2] in (["HEADER", TRADES], ["DATA", TRADES]):
            has_trades = True
            yield replace(row, cells=row.cells[2:])
    if not has_trades:
        yield Rejected(line, "has no section of trades: add Trades to the Flex query")


def read_trades(pieces: Iterable[str]) -> Iterator[Cells | Rejected]:
    """Yield a header and the trades. Raises Unreadable for what no Flex Query has: a DTD, deep nesting."""
    query, length = FlexQuery(), 0
    try:
        for part in join_pieces(pieces):
            length += len(part)
            query.parser.Parse(part)
            if length - query.parser.CurrentByteIndex > 2 * MAX_ELEMENT_LENGTH:
                raise query.unreadable(f"has an element of over {MAX_ELEMENT_LENGTH} characters")
            yield from query.take_rows()
        query.parser.Parse(b"", True)
    except ExpatError as error:
        yield from query.take_rows()
        yield Rejected(error.lineno, f"is not XML: {ErrorString(error.code)}")
        return
    if not query.attributes:
        yield Rejected(query.parser.CurrentLineNumber, "has no <Trade>: add Trades to the Flex Query")


def join_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield the text in parts of at least MAX_ELEMENT_LENGTH: many short parts take quadratic time."""
    held: list[str] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= MAX_ELEMENT_LENGTH:
            yield "".join(held).encode()
            held, length = [], 0
    yield "".join(held).encode()


class FlexQuery:
    """Collects the trades while its parser reads the text. Its handlers raise Unreadable."""

    def __init__(self) -> None:
        self.parser = ParserCreate("utf-8")  # whatever the file declares: its text is decoded already
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_dtd
        self.attributes: list[str] = []  # of the first trade
        self._rows: list[Cells] = []
        self._account: dict[str, str] = {}  # the attribute of the statement, for trades without it
        self._depth = 0

    def take_rows(self) -> list[Cells]:
        """Return the rows since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def unreadable(self, reason: str) -> Unreadable:
        return Unreadable(self.parser.CurrentLineNumber, reason)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._check(name, attributes)
        if name == "FlexStatement":
            self._account = {key: value for key, value in attributes.items() if key == ACCOUNT}
        elif name == "Trade":
            self._add(self._account | attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1

    def _refuse_dtd(self, *declaration: object) -> None:
        raise self.unreadable("has a document type declaration, which no Flex Query has")

    def _check(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._depth == 1 and name != "FlexQueryResponse":
            raise self.unreadable(f"is <{shorten(name)}>, and a Flex Query begins with <FlexQueryResponse>")
        if self._depth > MAX_DEPTH:
            raise self.unreadable(f"is in over {MAX_DEPTH} elements")
        if sum(map(len, attributes.values())) > MAX_ELEMENT_LENGTH:
            raise self.unreadable(f"has an element of over {MAX_ELEMENT_LENGTH} characters")
        if len(self.parser.intern) > MAX_NAMES:
            raise self.unreadable(f"has over {MAX_NAMES} different names of elements and attributes")

    def _add(self, trade: Mapping[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if not self.attributes:
            self.attributes = list(trade)
            self._rows.append(Cells(line, [ACCOUNT_COLUMN if name == ACCOUNT else name for name in trade]))
        self._rows.append(Cells(line, [trade.get(name, "") for name in self.attributes]))

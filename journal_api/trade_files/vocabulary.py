"""The words of trade files in all formats and languages, which stand in vocabulary.toml.

Names are compared without letter case, accents, signs and a remark in parentheses.
"""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import filterfalse
from pathlib import Path
from typing import Any

from journal_api.structs.import_profiles import Columns
from journal_api.structs.trades import Direction
from journal_api.values.currencies import CURRENCIES

ANYTHING = "*"
LETTER_AND_DIGIT = re.compile("[A-Za-z][0-9]|[0-9][A-Za-z]")
MAX_NAME_LENGTH = 255  # of a column
# Chinese has no blanks between words, and Korean none beside a purchase (매수), a sale (매도) and what is neither.
KOREAN = "매수|매도|취소|정정|대금|입금|출금"
WORD = re.compile(rf"[一-鿿]|[ก-๛]+|{KOREAN}|[가-힣]+?(?={KOREAN}|[^가-힣]|\Z)|[^\W\d_一-鿿가-힣]+")
CODES = CURRENCIES | {"BTC", "ETH", "GBX"}  # of currencies and coins, and of pence
REMARK = re.compile(
    r"(?: in)? +(?!PNL|QTY|VOL|MAE|MFE|FEE|TAX)[A-Z]{3}\Z"
    r"| *[(\[][^()\[\]]*[)\]] *\Z|(?<=[a-z])(?:UTC|Utc|GMT|Gmt|_utc)\Z"
)
TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
# The names of a member's column in English, and those of other languages with the English one.
NAMES = {member: [group.split("/")[0] for group in names.split()] for member, names in TABLE["columns"].items()}
TRANSLATIONS = {
    other: group.split("/")[0]
    for names in (TABLE["reported"]["names"], *TABLE["columns"].values())
    for group in names.split()
    for other in group.split("/")[1:]
}
COMPOUNDS = re.compile("|".join(f"(?P<{name}>{parts})" for name, parts in TABLE["compounds"].items()))
SYMBOL = "|".join(NAMES["symbol"])
TWO_SYMBOLS = re.compile(f"({SYMBOL})(?:{SYMBOL})")
COSTS, ALONE, PARTS, NO_COSTS, TOTALS, ASKED = (
    tuple(TABLE["costs"][name].split()) for name in ("ends", "alone", "parts", "others", "totals", "asked")
)
FORCED = TABLE["status"]["forced"].split()
STATUS, KINDS, FILLED, UNFILLED, ENDING, CHANGING = (
    frozenset(TABLE["status"][name].split())
    for name in ("columns", "kinds", "filled", "unfilled", "ending", "changing")
)
STATES = STATUS - {"type"}  # which is of orders, while a type may be of trades
PURCHASES, SALES, LONG, SHORT, MOVING, MOVING_ALONE, CANCELLING, REDUCING, YES, CLOSING = (
    frozenset(TABLE["sides"][name].split())
    for name in (
        "purchase",
        "sale",
        "long",
        "short",
        "moving",
        "moving_alone",
        "cancelling",
        "reducing",
        "yes",
        "closing",
    )
)
PURCHASE_ALONE, SALE_ALONE = (frozenset(TABLE["sides"][f"{name}_alone"].split()) for name in ("purchase", "sale"))
PURCHASES, SALES, TICKERS = PURCHASES | PURCHASE_ALONE, SALES | SALE_ALONE, {"btc"} | PURCHASE_ALONE | SALE_ALONE
# Sides of one sign: A and V are a purchase and a sale in Italian and French, C and V in Spanish and Portuguese, K and V
# in German and Dutch, K and S in Polish.
SIGNS: dict[str, Direction | None] = {
    **dict.fromkeys(("1", "+1", "A", "C", "K"), "long"),
    **dict.fromkeys(("-1", "V", "S"), "short"),
}
PAIRS_OF_SIGNS = ({"A", "V"}, {"C", "V"}, {"K", "V"}, {"K", "S"})
SIDES = PURCHASES | SALES | LONG | SHORT | CLOSING | {"open", "opening", "entry", "exit", "out", *"入出开仓"}
KNOWN = frozenset(name for names in NAMES.values() for name in names)
WORDS = {form: english for english, forms in TABLE["words"].items() for form in forms.split()}
EAST_ASIAN = re.compile("[぀-ヿ一-鿿가-힣ᄀ-ᇿ]")
PARTS_OF_NAMES = re.compile("|".join(sorted(filter(EAST_ASIAN.search, WORDS), key=len, reverse=True)))
PIECE = re.compile("[A-Z]?[^\\W\\d_A-Z]+|[A-Z]+")
NAMED_PARTS = {kind: re.compile("|".join(parts.split())) for kind, parts in TABLE["parts"].items()}
REPORTS: list[dict[str, Any]] = TABLE["reports"]  # those without trades
NOTHING, SUMS, NO_TICKERS = (frozenset(TABLE["cells"][name].split()) for name in ("nothing", "sums", "orders"))


@lru_cache(maxsize=8192)
def simplify(name: str) -> str:
    """Return a name without capitals, accents, signs, a currency before or behind it and a remark in parentheses."""
    name = unicodedata.normalize("NFKC", name[:MAX_NAME_LENGTH])  # also of the wide parentheses of a remark
    code, _, rest = name.partition(" ")
    return without_signs(REMARK.sub("", rest if rest and code in CODES else name).replace("%", "percent"))


def without_signs(text: str) -> str:
    """Return the letters and digits of a text, without capitals and accents; Korean letters stay whole."""
    plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))
    return unicodedata.normalize("NFC", plain)


@lru_cache(maxsize=8192)
def translate(name: str) -> str:
    """Return the simple form of a name, in English; of one that is made of parts, the name that stands for it."""
    simple = simplify(name)
    stem = simple.rstrip("23456789")  # Time 2 is the second Time
    name = str(TRANSLATIONS.get(stem, stem))
    if found := COMPOUNDS.fullmatch(name) or TWO_SYMBOLS.fullmatch(name):
        name = found.lastgroup or found[1]
    return name + simple[len(stem) :]


@lru_cache(maxsize=8192)
def spell(name: str) -> str | None:
    """Return the name above that the words of a column make in English, None if they make none.

    Precio de entrada is entryprice, Ausführungskurs executionprice. Romance languages specify a noun behind it.
    """
    words = split_name(name)
    return next((one for order in (words, words[::-1]) if (one := translate("".join(order))) in KNOWN), None)


@lru_cache(maxsize=8192)
def split_name(name: str) -> list[str]:
    """Return the words of a name, in English where they are known."""
    plain = unicodedata.normalize("NFKD", REMARK.sub("", name[:MAX_NAME_LENGTH]))
    pieces = PIECE.findall("".join(filterfalse(unicodedata.combining, plain)))
    return [word for piece in pieces for word in split_compound(piece.casefold()) if word]


def split_compound(piece: str) -> list[str]:
    """Return the English words of a word, of which German and Dutch join two, East Asia all; none of a preposition."""
    if EAST_ASIAN.search(piece):
        parts = PARTS_OF_NAMES.findall(piece)
        return [WORDS[part] for part in parts] if "".join(parts) == piece else [piece]
    ends = [index for index in range(3, len(piece) - 2) if piece[index:] in WORDS]
    starts = [(start, piece[index:]) for index in ends for start in (piece[:index], piece[:index].removesuffix("s"))]
    found = [[WORDS[start], WORDS[end]] for start, end in starts if start in WORDS]
    return [WORDS[piece]] if piece in WORDS else found[0] if found else [piece]


def has_part(name: str, kind: str) -> bool:
    """Return whether a part of a name is one of this kind: of a settlement, of a total."""
    return NAMED_PARTS[kind].search(simplify(name)) is not None


class ColumnNames(dict[str, None]):
    """The names of the columns of a header, which are also found by their simple forms."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(names))
        self.simple: dict[str, str] = {}
        for name in sorted(self, key=lambda name: translate(name) != simplify(name)):
            self.simple.setdefault(translate(name), name)


@lru_cache(maxsize=1024)
def translate_all(names: tuple[str, ...]) -> tuple[dict[str, None], bool]:
    """Return the simple forms of names in their order, and whether one of them stands for all that begin with it."""
    return dict.fromkeys(translate(name) for name in names if name), any(name[-1:] == ANYTHING for name in names)


def find_column(header: Collection[str], columns: Columns | Sequence[str] | None) -> str | None:
    """Return the first of the alternative names that is in the header, None if none is there.

    A name that ends with * stands for all that begin with it.
    """
    header = header if isinstance(header, ColumnNames) else ColumnNames(header)
    names = (columns,) if isinstance(columns, str) else tuple(columns or ())
    known, is_beginning = translate_all(names)
    if known.keys().isdisjoint(header.simple) and not is_beginning:  # nearly all columns of all formats
        return None
    for name in names:
        if name in header:
            return name
        if name[-1:] == ANYTHING and (found := next((one for one in header if one.startswith(name[:-1])), None)):
            return found
    return next((found for name in known if (found := header.simple.get(name))), None)


def find_costs(columns: Iterable[str], *, are_likely: bool = False) -> list[str]:
    """Return the columns of costs, the column of their total if there is one; or those that may be costs as well."""
    amounts = [name for name in columns if not any(part in f"{name.casefold()} {simplify(name)}" for part in NO_COSTS)]
    named = [name for name in amounts if simplify(name).endswith(COSTS)]
    words = {name: f"{simplify(name)} {' '.join(split_name(name))}" for name in amounts if name not in named}
    likely = [name for name in words if simplify(name) in ASKED or any(part in words[name] for part in PARTS)]
    if not named and len(likely) == 1 and simplify(likely[0]).endswith(ALONE):
        named, likely = likely, named
    if are_likely:
        return likely
    return [column for column in amounts if simplify(column) in TOTALS][:1] or named


def is_currency(unit: str) -> bool:
    """Return whether this is a code or the sign of a currency."""
    return unit in CODES or unit[-1:] in {*"$€£¥₹"}


def find_currency_columns(header: Iterable[str]) -> list[str]:
    """Return the columns with the currency of an amount."""
    return [name for name in header if translate(name).rstrip("23456789") in NAMES["currency"]]


def read_words(cell: str) -> set[str]:
    """Return the words of a cell; an abbreviation or a ticker only if it is alone, as B in CLASS B, BTC in Sell BTC."""
    plain = "".join(filterfalse(unicodedata.combining, unicodedata.normalize("NFKD", cell.casefold())))
    words = WORD.findall(unicodedata.normalize("NFC", plain))
    return {word for word in words if not word.isascii() or len(words) == 1 or (len(word) > 2 and word not in TICKERS)}


@lru_cache(maxsize=8192)
def find_direction(cell: str, *, of_fill: bool = False) -> Direction | None:
    """Return the direction that a cell states, None for a cell that states none.

    A purchase opens a long trade. Of a fill `Close Long` is a sale, of a trade a long one. `Cancel Buy` is neither.
    """
    words = read_words(cell)
    if words & CANCELLING:
        return None
    is_purchase, is_sale = bool(words & PURCHASES), bool(words & SALES)
    if is_purchase != is_sale:
        return "long" if is_purchase else "short"
    is_long, is_short = bool(words & LONG), bool(words & SHORT)
    if is_purchase or is_long == is_short:
        return None
    return "long" if is_long != (of_fill and closes(cell)) else "short"


def states_trade(cell: str) -> bool:
    """Return whether a cell states a purchase or a sale, whatever else it states."""
    return bool(read_words(cell) & (PURCHASES | SALES))


def moves_money(cell: str) -> bool:
    """Return whether a cell says that money or coins were moved, and not bought or sold."""
    return not read_words(cell).isdisjoint(MOVING)


def tells_no_trade(cell: str) -> bool:
    """Return whether a cell says why its row is no trade."""
    name = simplify(cell)
    return (
        bool(read_words(cell) & (MOVING | CANCELLING | ENDING | CHANGING))
        or name in MOVING | MOVING_ALONE
        or name.endswith(COSTS)
    )


def is_side(cell: str) -> bool:
    """Return whether a cell states a direction and nothing else."""
    words = read_words(cell)
    is_number = LETTER_AND_DIGIT.search(cell) and not any(len(word) > 1 for word in words)  # L1 is not long
    return find_direction(cell) is not None and words <= SIDES and not is_number


@lru_cache(maxsize=8192)
def closes(cell: str) -> bool:
    """Return whether the side of a fill says that it closes a position."""
    words = read_words(cell)
    return not CLOSING.isdisjoint(words) and "reverse" not in words

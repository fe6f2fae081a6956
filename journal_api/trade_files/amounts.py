"""Amounts in cells, and amounts computed from several cells. What parses a cell raises ValueError."""

import re
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args

from journal_api.errors import ValidationFailed
from journal_api.values.money import Money, Result, rounded

M = TypeVar("M", bound=Money)
Comma = Literal["thousands", "decimals", "either", "shown"]  # shown: decimals, as other numbers of the file show
# 1234.5, -1,234.50, $1,234.50, $-5.00, - 0.08, 90.00 $, 3 250.00, 3'250.00, 1,00,000, 5.00-, a loss in parentheses:
# ($5.00), $(5.00).
BLANK = "[ \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]"
APART = rf"(?:{BLANK}|['’])"
CURRENCY = r"(?:(?:US|HK|NZ|CA|AU|MX|NT|SG|[ACRS])?\$|[£¥฿\u20a0-\u20cf]|Rs\.?)"
DIGITS = (
    rf"(?:(?:[0-9]{{1,3}}(?:(?:,[0-9]{{2}})*(?:,[0-9]{{3}})+|(?:{APART}[0-9]{{3}})+)|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
)
NUMBER = re.compile(
    rf"(?P<sign>[+−-])?{BLANK}?{CURRENCY}?{BLANK}?(?P<plain>{DIGITS})(?:{BLANK}?{CURRENCY})?"
    rf"|(?:{CURRENCY}\(|\({CURRENCY}?)(?P<loss>{DIGITS})\)"
    rf"|{CURRENCY}{BLANK}?-(?P<below>{DIGITS})|(?P<before>{DIGITS})-"
)
# The format of most numbers, which Decimal parses directly.
PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
EXPONENT = re.compile(r"-?[0-9](?:[.,][0-9]{1,17})?[Ee][+-]?[0-9]{1,2}")
# What stands behind or before the number of a program: 0.10 Lots, 10,5 Stück, 0,00 USD, 2.125 USDT, EUR 5.00.
UNIT = re.compile(
    rf"(?<=[0-9.)]){BLANK}?(?:(?i:Lots?|Stakes?|Units?|Contracts?|Shares?|Oz|Stück|Stk|Pcs|kr)\.?|[A-Z][A-Z0-9]{{2,7}})\Z"
    rf"|\A(?:[A-Z]{{3}}|kr\.?){BLANK}(?=[-0-9])"
)
NOT_DIGITS = re.compile(rf",|{APART}")
# Numbers such as 1.234 that could be 1234 or 1.234.
AMBIGUOUS = {
    "decimals": re.compile(r"[^0-9]*[0-9]{1,3}(\.[0-9]{3})+[^0-9]*"),
    "either": re.compile(r"[^0-9]*(?!0,)[0-9]{1,3},[0-9]{3}[^0-9]*"),
}
SWAP = str.maketrans(".,", ",.")
# Numbers in which a comma, or a point, can only begin the decimals: 2,5; 1234,567; 0,052361; 1.234,50.
DECIMALS = {
    sign: re.compile(
        rf"(?:[0-9]+{mark}(?:[0-9]{{1,2}}|[0-9]{{4,}})|(?:[0-9]{{4,}}|0){mark}[0-9]{{3}}"
        rf"|[0-9]{{1,3}}(?:{other}[0-9]{{3}})+{mark}[0-9]+)"
    )
    for sign, mark, other in ((",", ",", r"\."), (".", r"\.", ","))
}
NOT_NUMBER = re.compile(r"[^0-9.,]")
NUMBER_LIKE = re.compile(r"[^0-9:/]{0,6}[0-9.,]+[^0-9:/]{0,6}")

# By meaning of the comma and type, the amounts of cells by their text; those that were rounded are not in it.
CACHED_AMOUNTS: dict[Comma, defaultdict[type[Money], dict[str, Any]]] = {
    comma: defaultdict(dict) for comma in get_args(Comma)
}


def parse_amount(kind: type[M], comma: Comma, cell: str, *, rounds: bool) -> tuple[M, bool]:
    """Return the amount in a cell and whether it `rounds` what a program wrote. Raises ValueError."""
    exact = parse_broker_number(cell, comma) if rounds else parse_cell_number(cell, comma)
    value = rounded(exact, kind.digits) if rounds else exact
    return kind.checked(value), value != exact


def guess_comma(cells: Iterable[str], usual: Comma) -> Comma:
    """Return the meaning of a comma in the numbers of a file: what they show, else the usual one.

    `either`: both a comma and a point begin decimals.
    """
    shown = {
        sign
        for cell in cells
        if ("," in cell or "." in cell) and NUMBER_LIKE.fullmatch(cell)
        for sign, form in DECIMALS.items()
        if form.fullmatch(NOT_NUMBER.sub("", cell))
    }
    if not shown:
        return usual
    return "either" if len(shown) == 2 else "shown" if "," in shown else "thousands"


def parse_cell_number(cell: str, comma: Comma) -> Decimal:
    """Return the number in a cell. Raises ValueError, also for an ambiguous comma."""
    if comma in AMBIGUOUS and AMBIGUOUS[comma].fullmatch(cell):
        raise ValueError("could be thousands or decimals: write 1234,5 with semicolons, 1234.5 with tabs")
    is_decimal = comma in ("decimals", "shown") or (
        comma == "either" and DECIMALS[","].fullmatch(NOT_NUMBER.sub("", cell))
    )
    return parse_number(cell.translate(SWAP) if comma == "shown" or (is_decimal and "," in cell) else cell)


def parse_broker_number(cell: str, comma: Comma) -> Decimal:
    """Return the number in a cell that a program has written: also 6.71e-05, 0.10 Lots."""
    if EXPONENT.fullmatch(cell):
        return Decimal(cell.replace(",", "."))
    return parse_cell_number(UNIT.sub("", cell), comma)


def parse_number(text: str) -> Decimal:
    """Return a number, with commas or blanks between thousands, a currency sign, or a loss in parentheses."""
    if PLAIN.fullmatch(text):
        return Decimal(text)
    match = NUMBER.fullmatch(text)
    if not match:
        raise ValueError("must be a number")
    value = Decimal(NOT_DIGITS.sub("", match["plain"] or match["loss"] or match["below"] or match["before"]))
    return value if match["plain"] and match["sign"] not in ("-", "−") else value.copy_negate()


@lru_cache(maxsize=8192)  # the costs of fills repeat
def derive_amount(column: str, how: str, value: Decimal) -> Result:
    """Return an amount computed from several cells. Raises ValidationFailed if it exceeds a limit."""
    try:
        return Result.checked(value)
    except ValueError as error:
        raise ValidationFailed(fields={column: f"{how} {error}"}) from None

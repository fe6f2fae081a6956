"""Options in the forms in which brokers write them, and their canonical symbol: SPY240422P00496000 (OCC)."""

import re
from datetime import date
from decimal import Decimal
from functools import lru_cache

from journal_api.values.time_formats import MONTHS

ROOT = "(?P<root>[A-Z]{1,6})"
COMPACT_DAY = "(?P<y>[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})"
MONTH = f"(?P<m>{'|'.join(MONTHS).upper()})"
NAMED_DAY = rf"(?P<d>[0-9]{{1,2}}) ?{MONTH} ?(?:20)?(?P<y>[0-9]{{2}})"
MONTH_FIRST = rf"{MONTH} (?P<d>[0-9]{{1,2}}),? '?(?:20)?(?P<y>[0-9]{{2}})"
US_DAY = "(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?:20)?(?P<y>[0-9]{2})"
ISO_DAY = "20(?P<y>[0-9]{2})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
LONG_DAY = f"20{COMPACT_DAY}"
RIGHT = "(?P<right>CALL|PUT|C|P)"
STRIKE = r"\$?(?P<strike>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,5}(?:\.[0-9]+)?)"
THOUSANDTHS = "(?P<thousandths>[0-9]{4,8})"
# Symbols of one word, in which nothing separates the parts.
JOINED_FORMS = (
    rf"{ROOT} *(?:20)?{COMPACT_DAY}(?P<right>[CP])(?P<thousandths>[0-9]{{8}})",  # SPY   240422P00496000
    rf"{ROOT}{COMPACT_DAY}(?P<right>[CP])(?P<strike>[0-9]{{1,2}})",  # NIO221104C12
    rf"{ROOT}{COMPACT_DAY}(?P<right>[CP]){THOUSANDTHS}",  # moomoo's NIO251226P5500 for 5.50
    rf"{ROOT}{COMPACT_DAY}(?P<right>[CP])(?P<strike>[0-9]{{1,5}}\.[0-9]+)",  # SPY240422P496.5
    rf"[.-]{ROOT}{COMPACT_DAY}(?P<right>[CP]){STRIKE}",  # .SPY240422P496, -SPY240422P496
    rf"{ROOT} ?{NAMED_DAY} ?{RIGHT} ?{STRIKE}",  # IWM17Jan24P192.00
    rf"{ROOT} ?{LONG_DAY} ?{RIGHT} ?{STRIKE}",  # DASH 20211112C 230.000
)
# What brokers write before the root and behind it, and behind the day: its time, as in 00:00:00 EDT.
BEFORE, BEHIND, CLOCK = "(?:OPTION EXPIRATION FOR )?", r"(?: 100(?: \([A-Z]+\))?)?", "(?: [0-9:]+ [A-Z]{3})?"
DAYS = (COMPACT_DAY, LONG_DAY, NAMED_DAY, MONTH_FIRST, US_DAY, ISO_DAY)
# SPY 19APR24 496.0 P, SPY 8/4/2023 Call $12.00, SPY Apr 30 '24 $510 Call, SPY 496 P 2024-04-22
ORDERS = (
    "{day} ?{right} ?{strike}",
    "{day} {strike} ?{right}",
    "{strike} ?{right} {day}",
    "{right} ?{strike} {day}",
    "{right} {day} {strike}",
)
FORMS = tuple(
    re.compile(form)
    for form in (
        *JOINED_FORMS,
        *(
            f"{BEFORE}{ROOT}{BEHIND} {order.format(day=day + CLOCK, right=RIGHT, strike=STRIKE)}"
            for day in DAYS
            for order in ORDERS
        ),
        f"{RIGHT} {ROOT} {US_DAY} {STRIKE}(?: .+)?",  # CALL AAPL 01/17/25 150.00 APPLE INC
    )
)
# Texts that only an option has: an unknown form of one. It has a right, and a day or the word CALL or PUT.
A_DAY = (
    r"[0-9]{6}|[0-9]{8}|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"
    rf"|[0-9]{{1,2}}[ -]?(?:{'|'.join(MONTHS).upper()})[ -]?'?[0-9]{{2,4}}"
)
UNKNOWN_FORM = re.compile(
    r"[.-]?[A-Z][A-Z0-9.]{0,7}[ _-]*[0-9]{6,8}[ _-]*[CP][ _-]*[0-9][0-9.,]*"
    r"|(?=.*[0-9]).*\b(?:CALL|PUT)S?\b.*"
    rf"|[.-]?[A-Z][A-Z0-9.]{{0,7}}(?=[ _-])(?=.*(?<![0-9])(?:{A_DAY})(?![0-9]))"
    r"(?=.*(?<![A-Z])[CP](?![A-Z])).*[0-9].*"
)
# The end of a name such as Lucid Group Inc May2025 4.5 C: an expiration, a strike and a right. A fund may have a share
# class of one digit behind its month, as in Sept 2027 1C.
MONTH_NAME = (
    "(?:JAN(?:UARY)?|FEB(?:RUARY)?|MAR(?:CH)?|APR(?:IL)?|MAY|JUNE?|JULY?|AUG(?:UST)?|SEPT?(?:EMBER)?|OCT(?:OBER)?"
    "|NOV(?:EMBER)?|DEC(?:EMBER)?)"
)
EXPIRATION = (
    rf"(?:(?:[0-9]{{1,2}}[ .-]*)?{MONTH_NAME}[ .'-]*(?:20)?[0-9]{{2}}|(?:20)?[0-9]{{2}}(?:0[1-9]|1[0-2])[0-3][0-9]"
    "|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4})"
)
END_OF_NAME = re.compile(
    rf"(?<=[ _-]){EXPIRATION}[ _-]"
    r"(?:\$?[0-9][0-9.,]*[ _-][CP]|\$?[0-9]+(?:[0-9]|[.,][0-9]+)[CP]|[CP][ _-]?\$?[0-9]+(?:[0-9]|[.,][0-9]+))\Z"
)
# SPY APR 26 560 CALL: an option whose day is not known.
WITHOUT_DAY = re.compile(rf"{ROOT} (?:{'|'.join(MONTHS).upper()}) ?[0-9]{{2}} {STRIKE} ?(?:CALL|PUT)")


@lru_cache(maxsize=8192)
def find_option(symbol: str) -> str | None:
    """Return the canonical symbol of an option on a share or an index, None for any other symbol."""
    matches = (form.fullmatch(normalize(symbol)) for form in FORMS)
    return next((write_option(match.groupdict()) for match in matches if match), None)


def normalize(symbol: str) -> str:
    return " ".join(symbol.upper().split())


def write_option(parts: dict[str, str]) -> str | None:
    """Return the canonical symbol, None for a day or a strike that no option has."""
    month = parts["m"]
    number = MONTHS.index(month.lower()) + 1 if month.isalpha() else int(month)
    try:
        expires = date(2000 + int(parts["y"]), number, int(parts["d"]))
    except ValueError:
        return None
    thousandths = Decimal(parts.get("thousandths") or 1000 * Decimal(parts["strike"].replace(",", "")))
    if thousandths != int(thousandths) or not 0 < thousandths < 10**8:
        return None
    return f"{parts['root']}{expires:%y%m%d}{parts['right'][0]}{int(thousandths):08}"


def is_option(symbol: str) -> bool:
    """Return whether the symbol is an option on a share or an index, in a known form."""
    return find_option(symbol) is not None or WITHOUT_DAY.fullmatch(normalize(symbol)) is not None


def looks_like_option(symbol: str) -> bool:
    """Return whether the symbol can only be an option, in whatever form."""
    return UNKNOWN_FORM.fullmatch(normalize(symbol)) is not None


def names_option(symbol: str) -> bool:
    """Return whether the symbol is a name, an expiration, a strike and a right."""
    name = normalize(symbol)
    match = END_OF_NAME.search(name)
    return match is not None and re.search("[A-Z]", name[: match.start()]) is not None


def find_root(symbol: str) -> str:
    return re.split("[^A-Z]", normalize(symbol).lstrip(".-"), maxsplit=1)[0] or symbol

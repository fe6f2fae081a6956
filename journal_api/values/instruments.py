"""Contract symbols and the value of a point (docs/imports.md#point-values)."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from journal_api.errors import ValidationFailed
from journal_api.values.money import PositiveMoney
from journal_api.values.options import find_option, is_option, looks_like_option, names_option
from journal_api.values.time_formats import MONTHS

# Futures that the service knows: the value of a point by contract root.
FILE = Path(__file__).with_name("contract_roots.toml")
# The price of an option on a share is per share, and a contract is for 100 shares.
SHARES_OF_AN_OPTION = PositiveMoney(100)

MONTH_LETTERS, MONTH_NAMES = "FGHJKMNQUVXZ", [month.upper() for month in MONTHS]
MONTH = f"[{MONTH_LETTERS}]"
YEAR = "(?:[0-9]|[0-3][0-9]|20[0-3][0-9])"
MONTH_NAME = f"(?:{'|'.join(MONTH_NAMES)})"
ROOT = "(?P<root>[A-Z0-9]{1,10}?)"
# The names of futures exchanges in symbols. A share's exchange, as in HEN3.DE, is none of them.
EXCHANGE = (
    "(?:CME|CBOT|NYMEX|COMEX|EUREX|CFE|ICE|ICEUS|ICEEUR|GLOBEX|CBT|NYM|CMX|NYB|NYBOT|EUX"
    "|XCME|XCBT|XCEC|XNYM|XEUR|IFUS|IFEU)(?:_MINI)?"
)
# The forms of a symbol that only a future has.
FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?:{EXCHANGE}:|CM\.|[/@]){ROOT}{MONTH}{YEAR}(?:[.:]{EXCHANGE})?",  # /NQM26, CM.MNQU6, CME:ESU2026
        rf"{ROOT}{MONTH}{YEAR}[.:]{EXCHANGE}",  # MESH4.CME
        rf"(?:{EXCHANGE}:|[/@]){ROOT}(?::{EXCHANGE})?",  # CME:MES, /ES, /ES:XCME
        rf"(?:{EXCHANGE}:)?{ROOT}[12]!",  # ES1!
        rf"{ROOT} (?:0[1-9]|1[0-2])-[0-9]{{2}}",  # MNQ 09-26
        rf"{ROOT} {MONTH_NAME} ?[0-9]{{2}}",  # MNQ SEP26
        rf"(?:CON\.)?F\.US\.{ROOT}(?:\.?{MONTH}[0-3][0-9])?",  # F.US.MNQ, F.US.MNQU25, CON.F.US.MNQ.U25
    )
)
# The form that most futures have, and some shares and indices too: ESU6, MNQU26.
PLAIN_FORM = re.compile(rf"{ROOT}{MONTH}{YEAR}")
# If the file says that the symbol is a future, it may be the root alone, and have the day of expiration.
BARE_ROOT = re.compile(r"[A-Z0-9]{1,10}")
EXPIRATION = re.compile(r" [0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
# What an import appends to the symbol of an option: ESU6 2026-09-18 6000 C. Its point value is the future's.
OPTION_SUFFIX = re.compile(r" [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9.]+ [CP]\Z")
# The roots in F.US.EP and F.US.ENQ by their usual names.
OTHER_NAMES = {"EP": "ES", "ENQ": "NQ", "CLE": "CL", "MCLE": "MCL", "GCE": "GC", "SIE": "SI", "NGE": "NG"}
# The month in a future's symbol: MNQU26, MESH4.CME, F.US.MNQ.U25; MNQ 09-26; MNQ SEP26.
MONTH_AND_YEAR = re.compile(rf"(?<=[A-Z0-9.])(?P<letter>{MONTH})(?P<year>{YEAR})(?:[.:]{EXCHANGE})?\Z")
NUMBERED_MONTH = re.compile(r" (?P<month>[0-9]{2})-(?P<year>[0-9]{2})\Z")
NAMED_MONTH = re.compile(rf" (?P<month>{MONTH_NAME}) ?(?P<year>[0-9]{{2}})\Z")
# Shares in Frankfurt with the symbols of contracts on hogs, palladium and silver.
SHARES_OR_FUTURES = frozenset({"HEN3", "PAH3", "SIX2", "SIX3"})
# Shares in São Paulo: ABEV3, KLBN4, HGLG11.
SAO_PAULO = re.compile(r"[A-Z]{4}(?:3|4|11)")
# What the root of an unknown contract looks like. Indices such as SG30 have one letter before the month.
PLAUSIBLE_ROOT = re.compile(r"(?=.*[A-Z])[A-Z0-9]{2,5}")


class ContractRoot(NamedTuple):
    """A root, and the root of the full-size contract on the same market: its own but for micros and minis."""

    root: str
    name: str
    exchange: str
    currency: str
    point_value: PositiveMoney
    full_size: str


def read_contracts(text: str) -> Iterator[ContractRoot]:
    for exchange, currencies in tomllib.loads(text, parse_float=Decimal).items():
        for currency, roots in currencies.items():
            for root, (value, name, *full_size) in roots.items():
                point_value = PositiveMoney.checked(Decimal(value))
                yield ContractRoot(root, name, exchange, currency, point_value, *(full_size or [root]))


CONTRACT_ROOTS = {contract.root: contract for contract in read_contracts(FILE.read_text(encoding="utf-8"))}


class Contract(NamedTuple):
    """The root in the symbol of a contract. `is_certain` means that the symbol can be nothing else."""

    root: str
    is_certain: bool


class InstrumentTable:
    """The built-in point values and the owner's own, which take precedence.

    An own value is for its root, and for the symbol that is exactly that text. So an owner who trades futures
    under the bare name ES, which is otherwise a share, states a point value for ES.
    """

    def __init__(self, own: Mapping[str, PositiveMoney] = MappingProxyType({})) -> None:
        self.own = own

    def point_value(self, symbol: str, *, is_future: bool = False) -> PositiveMoney | None:
        """Return the value of a point of a future or an option, None for any other symbol.

        With `is_future` the symbol may be a bare root. Raises ValidationFailed for `multiplier` if the symbol
        looks like a future whose point value is not known, or like an option in an unknown form.
        """
        name = symbol.upper()
        if name in self.own:
            return self.own[name]
        if is_option(symbol):
            return SHARES_OF_AN_OPTION
        contract = find_contract(symbol, is_future=is_future)
        if contract is None:
            if OPTION_SUFFIX.search(name):  # of a root that is not only letters, as BRK.B
                return SHARES_OF_AN_OPTION
            if looks_like_option(symbol) or names_option(symbol):
                raise report_missing_multiplier(
                    f"{symbol} looks like an option in an unknown form: state it, or write the symbol as"
                    " SPY240422P00496000"
                )
            return None
        if name in SHARES_OR_FUTURES and not is_future:
            raise report_unknown_point_value(symbol, name)
        value = self.of_root(contract.root)
        if value is None and (contract.is_certain or looks_like_future(symbol)):
            raise report_unknown_point_value(symbol, contract.root)
        return value

    def of_root(self, root: str) -> PositiveMoney | None:
        if root in self.own:
            return self.own[root]
        return CONTRACT_ROOTS[root].point_value if root in CONTRACT_ROOTS else None


BUILT_IN = InstrumentTable()


@lru_cache(maxsize=8192)
def find_contract(symbol: str, *, is_future: bool = False) -> Contract | None:
    """Return the contract that a symbol names, of any root; None if no future has such a symbol."""
    name = OPTION_SUFFIX.sub("", symbol.upper())
    if is_future:
        name = EXPIRATION.sub("", name)
        if name in CONTRACT_ROOTS:
            return Contract(name, is_certain=True)
    for form in FORMS:
        if match := form.fullmatch(name):
            root = match["root"]
            return Contract(OTHER_NAMES.get(root, root) if "F.US." in name else root, is_certain=True)
    if match := PLAIN_FORM.fullmatch(name):
        return Contract(match["root"], is_certain=is_future)
    return Contract(name, is_certain=True) if is_future and BARE_ROOT.fullmatch(name) else None


def looks_like_future(symbol: str) -> bool:
    """Return whether a symbol probably names a future, whatever its root."""
    contract = find_contract(symbol)
    if contract is None or contract.is_certain:
        return contract is not None
    name = OPTION_SUFFIX.sub("", symbol.upper())
    return bool(PLAUSIBLE_ROOT.fullmatch(contract.root)) and not SAO_PAULO.fullmatch(name)


def report_unknown_point_value(symbol: str, root: str) -> ValidationFailed:
    return report_missing_multiplier(
        f"{symbol} looks like a future and the value of its point is not known: state it, or set it once with"
        f" PUT /v1/instruments/{root}"
    )


def report_missing_multiplier(why: str) -> ValidationFailed:
    return ValidationFailed(fields={"multiplier": f"is required, because {why}"})


def canonical_symbol(symbol: str, opened_at: str) -> str:
    """Return the one name of a contract: MNQZ26 for `mnqz6`, `MNQ 12-26`, `MNQ DEC26` and `F.US.MNQZ26`.

    The year of one digit is the one next to `opened_at`, a stored timestamp. A future without a month is its
    root behind a slash, an option has no blanks, any other symbol is in upper case.
    """
    return canonical_in_year(symbol, int(opened_at[:4]))


@lru_cache(maxsize=8192)
def canonical_in_year(symbol: str, year: int) -> str:
    if option := find_option(symbol):
        return option
    name, contract = symbol.upper(), find_contract(symbol)
    if contract is None or not is_future_symbol(symbol):
        return name
    suffix = OPTION_SUFFIX.search(name)
    month = find_month(name[: suffix.start()] if suffix else name, year)
    return f"{f'{contract.root}{month}' if month else f'/{contract.root}'}{suffix[0] if suffix else ''}"


@lru_cache(maxsize=8192)
def contract_root(symbol: str) -> str:
    """Return the root of a future, the underlying of an option, or any other symbol, in upper case."""
    if option := find_option(symbol):
        return option[:-15]
    contract = find_contract(symbol)
    return contract.root if contract is not None and is_future_symbol(symbol) else symbol.upper()


def list_bare_names(contract: str, root: str) -> list[str]:
    """Return the canonical symbols of a future without its month: MNQ and /MNQ for MNQZ26, else none."""
    has_month = contract.startswith(root) and len(contract) == len(root) + len("Z26")
    return [root, f"/{root}"] if has_month else []


def full_size_contract(contract: str, root: str) -> str:
    """Return the full-size contract of a canonical symbol: NQZ26 for MNQZ26, any other symbol unchanged."""
    known = CONTRACT_ROOTS.get(root)
    return contract if known is None or contract == root else contract.replace(root, known.full_size, 1)


def is_future_symbol(symbol: str) -> bool:
    """Return whether the symbol is taken for a future's: some shares have the form of one."""
    return looks_like_future(symbol) and symbol.upper() not in SHARES_OR_FUTURES


def find_month(name: str, year: int) -> str | None:
    """Return month and year such as Z26, None without. A year of one digit is from `year` - 1 to `year` + 8."""
    if match := MONTH_AND_YEAR.search(name):
        letter, digits = match["letter"], match["year"]
    elif match := NUMBERED_MONTH.search(name):
        letter, digits = MONTH_LETTERS[int(match["month"]) - 1], match["year"]
    elif match := NAMED_MONTH.search(name):
        letter, digits = MONTH_LETTERS[MONTH_NAMES.index(match["month"])], match["year"]
    else:
        return None
    if len(digits) == 1:
        first = year - 1
        return f"{letter}{(first + (int(digits) - first) % 10) % 100:02d}"
    return f"{letter}{digits[-2:]}"


def list_contracts(symbol: str) -> list[str]:
    """Return the canonical symbols that a symbol may have: several for a year of one digit."""
    return sorted({canonical_symbol(symbol, str(year)) for year in range(1971, 2071, 10)})

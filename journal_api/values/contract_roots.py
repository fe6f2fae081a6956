"""Futures that the service knows, from contract_roots.toml: the value of a point by contract root."""

import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from journal_api.values.money import PositiveMoney

FILE = Path(__file__).with_suffix(".toml")


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

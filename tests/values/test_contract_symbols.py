"""Point values by symbol (docs/imports.md#point-values)."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import max_examples
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.values.instruments import BUILT_IN, CONTRACT_ROOTS, InstrumentTable, canonical_symbol, find_contract
from journal_api.values.money import PositiveMoney
from journal_api.values.options import find_option, looks_like_option, names_option


@for_rows(
    "point_value, symbols",
    [
        (50, ["ESU6", "ESU26", "ESU2026", "/ES:XCME", "@ESU26", "ZCZ6", "ESU6 2026-09-18 6000 C"]),  # and an option
        (20, ["/NQM26", "/NQ", "CON.F.US.ENQ.U25"]),
        (2, ["CM.MNQU6", "CME_MINI:MNQ1!", "MNQ 09-26", "MNQ SEP26", "F.US.MNQ", "F.US.MNQU25", "mnqu6"]),
        (5, ["MESH4.CME", "CME:MES", "CME_MINI:MES"]),
        # Roots that contain digits or end with the letter of a month.
        (125_000, ["6EZ5"]),
        (5, ["M2KH26"]),
        (1000, ["10YU6"]),
        (10, ["ZZ6"]),
        (Decimal("0.1"), ["MBTK6"]),
    ],
)
def test_a_contract_symbol_has_the_point_value_of_its_root(point_value: Decimal | int, symbols: list[str]) -> None:
    assert [BUILT_IN.point_value(symbol) for symbol in symbols] == [point_value] * len(symbols)


# FH6 and XYZM4 have the form of a contract, but are not taken for one.
@for_rows(
    "symbol, name", [("mnqz6", "MNQZ26"), ("NQ1!", "/NQ"), ("FH6", "FH6"), ("xyzm4", "XYZM4"), ("brk.b", "BRK.B")]
)
def test_a_symbol_that_may_be_a_share_is_not_written_as_a_contract(symbol: str, name: str) -> None:
    assert canonical_symbol(symbol, "2026-01-05T14:00:00.000000Z") == name


FORMS_OF_AN_OPTION = """
    SPY240422P00496000 | SPY   240422P00496000 | .SPY240422P496 | -SPY240422P496 | SPY 240422P496 | SPY240422P496000
    SPY22Apr24P496.00 | SPY 22APR24 496 P | SPY 22 APR 24 496 PUT | SPY Apr 22 '24 $496 Put | SPY 4/22/24 Put $496
    SPY 100 (Weeklys) 22 APR 24 496 PUT | SPY 04/22/2024 00:00:00 EDT Put $496.00 | SPY 04/22/2024 496.00 P
    SPY 2024-04-22 496 P | SPY 2024-04-22 496 PUT | spy 240422 496P | SPY  20240422P 496.000 | SPY20240422P00496000
    SPY 496 P 2024-04-22 | SPY P 496 22APR24
"""


@for_rows(
    "symbol, canonical",
    [
        *((form.strip(), "SPY240422P00496000") for form in re.split(r"[|\n]", FORMS_OF_AN_OPTION.strip())),
        ("F     260116C00012500", "F260116C00012500"),
        ("NIO251226P5500", "NIO251226P00005500"),
        ("SPXW 04/22/2024 Call $5,012.50", "SPXW240422C05012500"),
        ("SPY APR 24 496 PUT", None),
        ("BRK.B 2024-04-19 400 C", None),
    ],
)
def test_an_option_in_the_form_of_a_broker_is_worth_100_a_point(symbol: str, canonical: str | None) -> None:
    assert find_option(symbol) == canonical
    assert BUILT_IN.point_value(symbol) == 100


@for_rows(
    "symbol",
    [
        # Shares, some of which have the name of a root.
        "ABEV3 2026-04-17 12.5 P",
        *("ES", "CL", "AAPL", "BRK.B", "Z", "ABEV3", "PETR4", "HGLG11", "VOW3", "HEN3.DE", "7203", "A2M"),
        # Funds and bonds.
        *(
            "iShares MSCI World 2025 C",
            "US Treasury 4.5 May2025",
            "iBonds Dec 2026 Term EUR Corp C",
            "BTP Nov 2028 3.5",
        ),
        *(
            "Target Maturity Sept 2027 1C",
            "Alphabet Inc Class C",
            "Augusta Gold 2026 1 C",
            "Decker 2026 5 C",
            "Mar 25 4.5 C",
        ),
        # Indices, currencies and coins.
        *("US30", "NAS100", "HK50", "SG30", "EU50", "ESTX50", "VIX75", "EURUSD", "BTCUSDT", "XAUUSD", "🔥"),
    ],
)
def test_a_symbol_that_is_not_a_contract_has_no_point_value(symbol: str) -> None:
    assert BUILT_IN.point_value(symbol) is None


@for_rows(
    "said, symbols",
    [
        ("{} looks like an option", ["SPY240230P00496000", "XYZ1  240119C00050000", "NIO251226P500", "SPY 240422P0"]),
        ("{} looks like an option", ["SPY 496 Put", "SPY240422P1.0005", "SPY_042224C496", "SPY 2024.04.22 C 496"]),
        (
            "{} looks like an option",
            ["Lucid Group Inc May2025 4.5 C", "3M Co Jan 26 P120", "Microsoft Corp 2025-05-16 450C"],
        ),
        ("{} looks like a future", ["XYZU6", "QQH26", "/ABC", "FOO 09-26", "F.US.TYA", "ABC1!"]),
        ("PUT /v1/instruments/{}", ["HEN3", "SIX2"]),  # shares or futures
    ],
)
def test_a_symbol_that_could_be_worth_anything_is_refused(said: str, symbols: list[str]) -> None:
    for symbol in symbols:
        with pytest.raises(ValidationFailed, match="multiplier: is required") as caught:
            BUILT_IN.point_value(symbol)
        assert said.format(symbol) in caught.value.details["fields"]["multiplier"]
        assert find_option(symbol) is None


def test_a_bare_root_is_a_future_if_the_file_says_so() -> None:
    assert BUILT_IN.point_value("MNQ", is_future=True) == 2
    assert BUILT_IN.point_value("ES 2026-03-20", is_future=True) == 50
    assert BUILT_IN.point_value("ESH6 2026-03-20", is_future=True) == 50
    with pytest.raises(ValidationFailed):
        BUILT_IN.point_value("TYA", is_future=True)


def test_the_owners_value_takes_precedence() -> None:
    table = InstrumentTable({"ES": PositiveMoney(49), "XYZ": PositiveMoney(7), "HEN3": PositiveMoney(1)})
    assert [table.point_value(symbol) for symbol in ("ESU6", "ES", "XYZU6", "HEN3")] == [49, 49, 7, 1]
    assert table.point_value("MESU6") == 5


@given(st.sampled_from(sorted(CONTRACT_ROOTS)), st.sampled_from("FGHJKMNQUVXZ"), st.integers(0, 39))
def test_every_root_is_found_in_every_form(root: str, month: str, year: int) -> None:
    forms = {f"/{root}{month}{year:02}", f"{root}{month}{year:02}.CME", f"F.US.{root}", f"{root} 09-{year:02}"}
    assert {BUILT_IN.point_value(form) for form in forms} == {CONTRACT_ROOTS[root].point_value}
    assert BUILT_IN.point_value(f"{root}{month}{year:02}") == CONTRACT_ROOTS[root].point_value


@given(st.text(max_size=40))
@max_examples(full=300, ci=40)
def test_any_text_is_a_symbol_or_refused(symbol: str) -> None:
    try:
        BUILT_IN.point_value(symbol)
    except ValidationFailed:
        assert find_contract(symbol) is not None or looks_like_option(symbol) or names_option(symbol)


# The smallest price change of a contract and its value, from the exchanges' specifications.
TICKS = """
    ES 0.25 12.5 | MES 0.25 1.25 | NQ 0.25 5 | YM 1 5 | RTY 0.1 5 | 6E 0.00005 6.25 | 6J 0.0000005 6.25
    6B 0.0001 6.25 | CL 0.01 10 | NG 0.001 10 | RB 0.0001 4.2 | GC 0.1 10 | SI 0.005 25 | HG 0.0005 12.5
    ZB 0.03125 31.25 | ZN 0.015625 15.625 | ZT 0.00390625 7.8125 | ZQ 0.0025 10.4175 | ZC 0.25 12.5 | ZL 0.01 6
    ZM 0.1 10 | LE 0.025 10 | GF 0.025 12.5 | LBR 0.5 13.75 | VX 0.05 50 | FDAX 1 25 | FESX 1 10 | FGBL 0.01 10
    FGBX 0.02 20 | KC 0.05 18.75 | SB 0.01 11.2 | CT 0.01 5 | DX 0.005 5
"""


def test_the_table_has_the_value_of_a_tick() -> None:
    for row in re.split(r"[|\n]", TICKS.strip()):
        root, tick, value = row.split()
        assert CONTRACT_ROOTS[root].point_value * Decimal(tick) == Decimal(value), root

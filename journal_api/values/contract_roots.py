"""Futures that the service knows: the value of a point by contract root.

A point value is the amount, in the contract's currency, that a price change of 1.0 is worth for one contract.
The price is the one that brokers show: grains, meat, coffee, cotton, sugar and soybean oil are quoted in
cents, copper in dollars.
"""

from decimal import Decimal
from typing import NamedTuple

from journal_api.values.money import PositiveMoney


class ContractRoot(NamedTuple):
    root: str
    name: str
    exchange: str
    currency: str
    point_value: PositiveMoney


# Root, point value, name. A line in brackets names the exchange and the currency of the lines below it.
TABLE = """
[CME USD]
ES   50        E-mini S&P 500
MES  5         Micro E-mini S&P 500
NQ   20        E-mini Nasdaq-100
MNQ  2         Micro E-mini Nasdaq-100
RTY  50        E-mini Russell 2000
M2K  5         Micro E-mini Russell 2000
EMD  100       E-mini S&P MidCap 400
NKD  5         Nikkei 225 (dollar)
6A   100000    Australian dollar
6B   62500     British pound
6C   100000    Canadian dollar
6E   125000    Euro FX
6J   12500000  Japanese yen
6M   500000    Mexican peso
6N   100000    New Zealand dollar
6S   125000    Swiss franc
E7   62500     E-mini Euro FX
J7   6250000   E-mini Japanese yen
M6A  10000     Micro AUD/USD
M6B  6250      Micro GBP/USD
M6E  12500     Micro EUR/USD
MCD  10000     Micro CAD/USD
MJY  1250000   Micro JPY/USD
MSF  12500     Micro CHF/USD
BTC  5         Bitcoin
MBT  0.1       Micro Bitcoin
ETH  50        Ether
MET  0.1       Micro Ether
SOL  500       Solana
MSL  25        Micro Solana
XRP  50000     XRP
MXP  2500      Micro XRP
SR1  4167      One-Month SOFR
SR3  2500      Three-Month SOFR
LE   400       Live cattle
GF   500       Feeder cattle
HE   400       Lean hogs
LBR  27.5      Lumber

[CME JPY]
NIY  500       Nikkei 225 (yen)

[CBOT USD]
YM   5         E-mini Dow
MYM  0.5       Micro E-mini Dow
ZT   2000      2-Year T-Note
ZF   1000      5-Year T-Note
ZN   1000      10-Year T-Note
TN   1000      Ultra 10-Year T-Note
ZB   1000      T-Bond
UB   1000      Ultra T-Bond
ZQ   4167      30-Day Fed Funds
2YY  1000      Micro 2-Year Yield
5YY  1000      Micro 5-Year Yield
10Y  1000      Micro 10-Year Yield
30Y  1000      Micro 30-Year Yield
ZC   50        Corn
ZS   50        Soybeans
ZW   50        Chicago SRW wheat
KE   50        KC HRW wheat
ZO   50        Oats
ZM   100       Soybean meal
ZL   600       Soybean oil
XC   10        Mini corn
XK   10        Mini soybeans
XW   10        Mini wheat
MZC  5         Micro corn
MZS  5         Micro soybeans
MZW  5         Micro wheat
MZM  10        Micro soybean meal
MZL  60        Micro soybean oil

[NYMEX USD]
CL   1000      Crude oil
MCL  100       Micro crude oil
QM   500       E-mini crude oil
BZ   1000      Brent last day financial
NG   10000     Henry Hub natural gas
MNG  1000      Micro Henry Hub natural gas
QG   2500      E-mini natural gas
RB   42000     RBOB gasoline
HO   42000     NY Harbor ULSD
PL   50        Platinum
PA   100       Palladium

[COMEX USD]
GC   100       Gold
MGC  10        Micro gold
QO   50        E-mini gold
1OZ  1         1-Ounce gold
SI   5000      Silver
SIL  1000      Micro silver
QI   2500      E-mini silver
HG   25000     Copper
MHG  2500      Micro copper
QC   12500     E-mini copper

[CFE USD]
VX   1000      VIX
VXM  100       Mini VIX

[Eurex EUR]
FDAX 25        DAX
FDXM 5         Mini-DAX
FDXS 1         Micro-DAX
FESX 10        EURO STOXX 50
FSXE 1         Micro-EURO STOXX 50
FESB 50        EURO STOXX Banks
FXXP 50        STOXX Europe 600
FVS  100       VSTOXX
FGBS 1000      Euro-Schatz
FGBM 1000      Euro-Bobl
FGBL 1000      Euro-Bund
FGBX 1000      Euro-Buxl
FBTP 1000      Long-Term Euro-BTP
FOAT 1000      Euro-OAT

[Eurex CHF]
FSMI 10        SMI

[ICE USD]
DX   1000      US Dollar Index
BRN  1000      Brent crude
KC   375       Coffee C
CC   10        Cocoa
CT   500       Cotton No. 2
SB   1120      Sugar No. 11
OJ   150       FCOJ-A
MFS  50        MSCI EAFE
MME  50        MSCI Emerging Markets

[ICE GBP]
Z    10        FTSE 100
"""


def parse_table(table: str) -> dict[str, ContractRoot]:
    """Return the contracts of a table by root."""
    contracts: dict[str, ContractRoot] = {}
    exchange = currency = ""
    for line in filter(None, table.splitlines()):
        if line.startswith("["):
            exchange, currency = line.strip("[]").split()
            continue
        root, point_value, name = line.split(maxsplit=2)
        value = PositiveMoney.checked(Decimal(point_value))
        contracts[root] = ContractRoot(root, name, exchange, currency, value)
    return contracts


CONTRACT_ROOTS = parse_table(TABLE)

# Roots of micro and mini contracts, each with the root of the full-size contract on the same market.
SMALLER_ROOTS = """
ES:  MES          NQ:  MNQ          YM:  MYM          RTY: M2K          VX:  VXM
CL:  MCL QM       NG:  MNG QG       GC:  MGC QO 1OZ   SI:  SIL QI       HG:  MHG QC
6A:  M6A          6B:  M6B          6C:  MCD          6E:  M6E E7       6J:  MJY J7
6S:  MSF          BTC: MBT          ETH: MET          SOL: MSL          XRP: MXP
ZC:  XC MZC       ZS:  XK MZS       ZW:  XW MZW       ZM:  MZM          ZL:  MZL
FDAX: FDXM FDXS   FESX: FSXE
"""


def read_smaller_roots(table: str) -> dict[str, str]:
    """Return the full-size root by the root of the micro or mini contract."""
    full_size, full_sizes = "", {}
    for word in table.split():
        if word.endswith(":"):
            full_size = word.removesuffix(":")
        else:
            full_sizes[word] = full_size
    return full_sizes


FULL_SIZE_ROOTS = read_smaller_roots(SMALLER_ROOTS)

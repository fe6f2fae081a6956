"""The currencies of ISO 4217."""

from typing import Any, ClassVar, Self

# ISO 4217, the codes of currencies that are in use.
CURRENCIES = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD
    CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD
    KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN
    NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
    SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split()  # noqa: SIM905
)


class Currency(str):
    """A currency of ISO 4217, three capital letters."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": "^[A-Z]{3}$", "examples": ["USD"]}

    @classmethod
    def decode(cls, sent: object) -> Self:
        if not isinstance(sent, str) or sent not in CURRENCIES:
            raise ValueError("must be a currency of ISO 4217 such as USD")
        return cls(sent)

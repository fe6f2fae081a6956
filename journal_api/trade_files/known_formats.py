"""All formats of trade files: the modules in formats/ and the built-in profiles."""

from functools import cache

from journal_api.trade_files.dates import DateOrder
from journal_api.trade_files.file_format import KnownFormat, make_known_format
from journal_api.trade_files.formats import (
    executions,
    metatrader,
    ninjatrader_trades,
    round_trips,
    tradervue_trades,
    tradezella_trades,
    tradingview_trades,
)
from journal_api.trade_files.profiles.profile_format import make_known_profile, read_built_in_profiles, set_date_order

MODULES = (
    metatrader.STATEMENT,
    metatrader.HISTORY,
    ninjatrader_trades.FORMAT,
    tradezella_trades.FORMAT,
    tradervue_trades.FORMAT,
    executions.FORMAT,
    executions.TRADEZELLA,
    round_trips.FORMAT,
)


@cache
def list_known_formats(date_order: DateOrder | None = None) -> tuple[KnownFormat, ...]:
    """Return all formats, with dates in a stated order.

    Those with the most columns are first, because they are the most specific.
    """
    profiles = [make_known_profile(set_date_order(profile, date_order)) for profile in read_built_in_profiles()]
    formats = [*map(make_known_format, MODULES), *profiles, tradingview_trades.FORMAT]
    return tuple(sorted(formats, key=lambda known: (known.section is None, -len(known.header))))

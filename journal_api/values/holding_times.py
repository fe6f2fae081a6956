"""Holding times of trades, in ranges."""

from datetime import timedelta

# The ranges by their upper bounds, which are exclusive; the last has none.
RANGES = {
    "under_1m": timedelta(minutes=1),
    "1m_5m": timedelta(minutes=5),
    "5m_15m": timedelta(minutes=15),
    "15m_1h": timedelta(hours=1),
    "1h_4h": timedelta(hours=4),
    "4h_1d": timedelta(days=1),
    "over_1d": timedelta.max,
}
NAMES = {
    "under_1m": "under 1 min",
    "1m_5m": "1 to 5 min",
    "5m_15m": "5 to 15 min",
    "15m_1h": "15 min to 1 h",
    "1h_4h": "1 to 4 h",
    "4h_1d": "4 h to 1 day",
    "over_1d": "1 day and more",
}

"""Value types and calculations that all other layers use: types, clock, money, periods, instruments, API keys."""

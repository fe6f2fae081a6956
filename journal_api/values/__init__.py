"""Value types and calculations that all layers use: types, clock, money, periods, instruments, API keys."""

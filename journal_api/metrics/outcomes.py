"""What a result is, as SQL: a break-even is not farther from 0 than the owner's tolerance."""

TOLERANCE = ":breakeven_within"


def is_win(pnl: str = "pnl", within: str = TOLERANCE) -> str:
    return f"{pnl} > {within}"


def is_loss(pnl: str = "pnl", within: str = TOLERANCE) -> str:
    return f"{pnl} < -{within}"


def is_breakeven(pnl: str = "pnl", within: str = TOLERANCE) -> str:
    return f"{pnl} BETWEEN -{within} AND {within}"


def sign(pnl: str = "pnl", within: str = TOLERANCE) -> str:
    """Return the expression that is 1 for a win, 0 for a break-even and -1 for a loss."""
    return f"({is_win(pnl, within)}) - ({is_loss(pnl, within)})"

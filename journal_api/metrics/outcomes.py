"""What the result of a trade or decision is, within the owner's tolerance: formats of SQL."""

WON, LOST = "{pnl} > {within}", "{pnl} < -{within}"
OUTCOME = f"""CASE WHEN {WON} THEN 'win' WHEN {LOST} THEN 'loss'
    WHEN {{pnl}} IS NOT NULL THEN 'breakeven' ELSE 'open' END"""

"""The words of files for the direction of a trade and the side of a fill, in any letter case."""

from journal_api.structs.trades import Direction

# In English, Portuguese, German, Spanish and French.
LONG = ("long", "l", "buy", "b", "bot", "bought", "compra", "comprado", "kauf", "largo", "achat")
SHORT = ("short", "s", "sell", "sld", "sold", "venda", "vendido", "verkauf", "venta", "corto", "vente")
DIRECTIONS: dict[str, Direction] = {**dict.fromkeys(LONG, "long"), **dict.fromkeys(SHORT, "short")}


def direction(cell: str) -> Direction:
    """Return the direction of a trade, which a file may state by the side of its first fill."""
    word = DIRECTIONS.get(cell.strip().lower())
    if word is None:
        raise ValueError("must be long or short, or the side that opened the trade: buy or sell")
    return word


def is_sale(cell: str) -> bool:
    """Return whether a fill is a sale by its first letter: Buy, BOT, BTO, BTC; Sell, SLD, SS, STO, STC."""
    if cell[:1] not in tuple("BbSs"):
        raise ValueError("must begin with B or S, as Buy and Sell do")
    return cell[0] in "Ss"

"""SQL that recognises trades stored under the Pair ID of Tradovate's Position History by earlier releases.

The ids of its two fills identify a trade now, in Position History and in Performance. Performance has no Pair
ID, so such a trade is recognised by its symbol, direction, quantity, prices and times.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiosqlite import Connection

from journal_api.database.sql import json_list
from journal_api.positions.import_rows import Rejected, ResolvedRow, StoredTrade
from journal_api.positions.trade_identity import (
    CORRECTED_FIELDS,
    IDENTIFYING_FIELDS,
    compute_content_fingerprint,
    read_fill_ids,
)
from journal_api.repositories.new_trades import Kind

# Trades with equal content are matched in the order of their ids, each with one row of the file.
NEXT_OF_EACH_KIND = f"""
    SELECT kind.key, trades.id, source_trade_id, content, {", ".join(CORRECTED_FIELDS)}
    FROM json_each(:kinds) AS kind
    JOIN trades ON trades.id IN (
        SELECT stored.id
        FROM trades AS stored
        JOIN imports ON imports.id = import_id
        WHERE stored.account_id = kind.value ->> '$.account_id'
          AND stored.id > kind.value ->> '$.after'
          AND {" AND ".join(f"{name} = kind.value ->> '$.{name}'" for name in IDENTIFYING_FIELDS)}
          AND format = 'Tradovate position history'
          AND external_id NOT GLOB '*-*'
        ORDER BY stored.id
        LIMIT :most)
    ORDER BY trades.id"""


async def find_stored_under_pair_id(
    db: Connection,
    rows: Sequence[ResolvedRow | Rejected],
    matches: Mapping[int, StoredTrade],
    last_matched: Mapping[Kind, int],
) -> tuple[dict[int, StoredTrade], dict[Kind, int]]:
    """Return the trades of rows that have no match yet, by index, and the last trade of each kind."""
    indexes_by_kind: dict[Kind, list[int]] = {}
    wanted: dict[Kind, dict[str, Any]] = {}
    for index, row in enumerate(rows):
        if (
            isinstance(row, ResolvedRow)
            and index not in matches
            and read_fill_ids(row.columns["external_id"])
        ):
            kind = Kind(row.columns["account_id"], compute_content_fingerprint(row.columns))
            indexes_by_kind.setdefault(kind, []).append(index)
            fields = {name: row.columns[name] for name in ("account_id", *IDENTIFYING_FIELDS)}
            wanted[kind] = {**fields, "after": last_matched.get(kind, 0)}
    if not wanted:
        return {}, {}
    stored: dict[int, StoredTrade] = {}
    last: dict[Kind, int] = {}
    kinds = [(kind, iter(indexes)) for kind, indexes in indexes_by_kind.items()]
    most = max(map(len, indexes_by_kind.values()))
    trade_rows: Iterable[Any] = await db.execute_fetchall(
        NEXT_OF_EACH_KIND, {"kinds": json_list(list(wanted.values())), "most": most}
    )
    for kind_number, trade_id, source_id, content, *values in trade_rows:
        kind, remaining = kinds[kind_number]
        if (place := next(remaining, None)) is not None:
            last[kind] = trade_id
            broker_fields = dict(zip(CORRECTED_FIELDS, values, strict=True))
            stored[place] = StoredTrade(trade_id, source_id, content, broker_fields)
    return stored, last

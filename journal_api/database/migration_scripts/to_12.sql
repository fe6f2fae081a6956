-- Version 12: the journal keeps what files state, and trades are the positions that follow from it. What files
-- stated of a trade before is kept as one statement, with all of its fills.

CREATE TABLE statements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  contract TEXT NOT NULL,
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  key INTEGER NOT NULL,
  trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,
  is_left_out INTEGER NOT NULL DEFAULT 0 CHECK (is_left_out IN (0, 1)),
  stated TEXT NOT NULL
) STRICT;

CREATE TABLE restatements (
  statement_id INTEGER NOT NULL REFERENCES statements (id) ON DELETE CASCADE,
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  PRIMARY KEY (statement_id, import_id)
) STRICT, WITHOUT ROWID;

-- The ids that were made of fills without ids have had no use since statements tell fills.
UPDATE trades
SET external_id = NULL
WHERE content IS NOT NULL AND length(external_id) = 21 AND external_id GLOB 'fill-[0-9a-f]*';

ALTER TABLE trades ADD COLUMN edited TEXT;
UPDATE trades
SET edited = iif(merged IS NULL,
  edited_columns(content, symbol, direction, quantity, multiplier, entry_price, exit_price, opened_at, closed_at,
    gross_pnl, fees),
  edited_of_whole(merged, fees, gross_pnl, fills))
WHERE content IS NOT NULL OR merged IS NOT NULL;

-- The parts of merged trades are statements of their own: splitting the trade gives them back.
CREATE TEMP TABLE told AS
SELECT id AS trade_id, id AS part_id, account_id, contract, import_id, symbol, direction, quantity, multiplier,
  entry_price, exit_price, opened_at, closed_at, gross_pnl, fees, fees_source, external_id, fills, mae, mfe, edited
FROM trades
WHERE import_id IS NOT NULL AND content IS NOT NULL AND merged IS NULL
UNION ALL
SELECT trades.id, part.value ->> '$.id', account_id, contract, part.value ->> '$.import_id',
  part.value ->> '$.symbol', part.value ->> '$.direction', part.value ->> '$.quantity',
  part.value ->> '$.multiplier', part.value ->> '$.entry_price', part.value ->> '$.exit_price',
  part.value ->> '$.opened_at', part.value ->> '$.closed_at', part.value ->> '$.gross_pnl', part.value ->> '$.fees',
  part.value ->> '$.fees_source', part.value ->> '$.external_id', part.value ->> '$.fills', part.value ->> '$.mae',
  part.value ->> '$.mfe', edited
FROM trades, json_tree(merged) AS part
WHERE part.type = 'object'
  AND part.value ->> '$.content' IS NOT NULL
  AND part.value ->> '$.merged' IS NULL
  AND part.value ->> '$.import_id' IN (SELECT id FROM imports);

-- What is not folded with others: rows that the owner keeps, trades that overlap, and those whose fills the owner has
-- edited.
CREATE TEMP TABLE apart AS
SELECT trade_id
FROM (SELECT trade_id, opened, closed,
        max(closed) OVER (PARTITION BY account_id, contract ORDER BY opened, trade_id
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
        lead(opened) OVER (PARTITION BY account_id, contract ORDER BY opened, trade_id) AS following
      FROM (SELECT trade_id, account_id, contract, min(opened_at) AS opened, max(coalesce(closed_at, '9')) AS closed
            FROM told
            GROUP BY trade_id, account_id, contract))
WHERE before > opened OR following < closed
UNION
SELECT trade_id FROM told WHERE edited LIKE '%entry_price%';

INSERT INTO statements (id, account_id, contract, import_id, key, trade_id, stated)
SELECT part_id, account_id, contract, import_id, -part_id, trade_id,
  json_array(
    kind, symbol, multiplier,
    json(iif(fills IS NOT NULL,
      (SELECT json_group_array(json_array(
         iif(value ->> '$.side' = 'buy', 1, -1)
           * CAST(replace(printf('%.8f', value ->> '$.quantity'), '.', '') AS INTEGER),
         iif(value ->> '$.price' IS NULL, NULL,
           CAST(replace(printf('%.8f', value ->> '$.price'), '.', '') AS INTEGER)),
         value ->> '$.at', value ->> '$.external_id',
         iif(states_fees, CAST(replace(printf('%.8f', value ->> '$.fees'), '.', '') AS INTEGER), 0)))
       FROM json_each(fills)),
      iif(closed_at IS NULL,
        json_array(json_array(iif(direction = 'long', quantity, -quantity), entry_price, opened_at, NULL, 0)),
        json_array(
          json_array(iif(direction = 'long', quantity, -quantity), entry_price, opened_at, NULL, 0),
          json_array(iif(direction = 'long', -quantity, quantity), exit_price, closed_at, NULL, 0))))),
    iif(states_fees, fees, NULL), gross_pnl, external_id, NULL, json('true'), mae, mfe, NULL, NULL,
    json('false'), json(iif(kind = 'pair' AND (is_row OR trade_id IN (SELECT trade_id FROM apart)), 'true', 'false')),
    json('true'))
FROM (SELECT *, fees_source = 'file' OR coalesce(edited, '') LIKE '%fees%' AS states_fees FROM told) AS told
JOIN (SELECT id,
        iif(format IN ('MetaTrader 4 statement', 'MetaTrader 5 history', 'cTrader history', 'Match-Trader positions',
            'Tradervue trades', 'TradeZella trades', 'TradingView list of trades', 'round trips')
          OR format IN (SELECT name FROM import_profiles WHERE profile ->> '$.one_trade_is' = 'row'),
          'whole', 'pair') AS kind,
        one_trade_is = 'row' AND (
          format IN ('NinjaTrader trades', 'TopstepX trades', 'Tradovate performance', 'Tradovate position history')
          OR format IN (SELECT name FROM import_profiles WHERE profile ->> '$.kind' = 'trades')) AS is_row
      FROM imports) AS import ON import.id = told.import_id;
DROP TABLE temp.told;
DROP TABLE temp.apart;

-- A file that has corrected a trade states it too.
INSERT OR IGNORE INTO restatements (statement_id, import_id)
SELECT statements.id, import_updates.import_id
FROM import_updates
JOIN statements ON statements.id = import_updates.trade_id
WHERE import_updates.import_id <> statements.import_id;

UPDATE trades
SET merged = state_parts(merged)
WHERE merged IS NOT NULL;

CREATE TABLE new_trades (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  symbol TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('long', 'short')),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  multiplier INTEGER NOT NULL DEFAULT 100000000 CHECK (multiplier > 0),
  entry_price INTEGER NOT NULL, exit_price INTEGER,
  stop_loss INTEGER,
  opened_at TEXT NOT NULL,
  closed_at TEXT,
  trading_day TEXT,
  gross_pnl INTEGER,
  fees INTEGER NOT NULL DEFAULT 0,
  net_pnl INTEGER GENERATED ALWAYS AS (gross_pnl - fees) VIRTUAL,
  initial_risk INTEGER CHECK (initial_risk > 0),
  grade TEXT CHECK (grade IN ('A+', 'A', 'B', 'C', 'D', 'F')),
  strategy_id INTEGER REFERENCES strategies (id) ON DELETE SET NULL,
  setup_id INTEGER REFERENCES setups (id) ON DELETE SET NULL,
  source_trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,
  external_id TEXT,
  notes TEXT,
  import_id INTEGER REFERENCES imports (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  edited TEXT,
  typed TEXT,
  contract TEXT NOT NULL DEFAULT '',
  root TEXT NOT NULL DEFAULT '',
  fills TEXT,
  fees_source TEXT NOT NULL DEFAULT 'typed' CHECK (fees_source IN ('file', 'account', 'typed', 'none')),
  merged TEXT,
  unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1)),
  mae INTEGER CHECK (mae >= 0),
  mfe INTEGER CHECK (mfe >= 0),
  changed_at TEXT,
  UNIQUE (account_id, external_id),
  CHECK ((closed_at IS NULL) = (trading_day IS NULL)),
  CHECK ((closed_at IS NULL) = (gross_pnl IS NULL)),
  CHECK (setup_id IS NULL OR strategy_id IS NOT NULL),
  CHECK (source_trade_id IS NOT id)
) STRICT;

INSERT INTO sqlite_sequence (name, seq)
SELECT 'new_trades', seq FROM sqlite_sequence WHERE name = 'trades';
INSERT INTO new_trades (id, user_id, account_id, symbol, direction, quantity, multiplier, entry_price, exit_price, stop_loss, opened_at, closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id, external_id, notes, import_id, created_at, updated_at, edited, contract, root, fills, fees_source, merged, unlinked, mae, mfe, changed_at)
SELECT id, user_id, account_id, symbol, direction, quantity, multiplier, entry_price, exit_price, stop_loss, opened_at, closed_at, trading_day, gross_pnl, fees, initial_risk, grade, strategy_id, setup_id, source_trade_id, external_id, notes, import_id, created_at, updated_at, edited, contract, root, fills, fees_source, merged, unlinked, mae, mfe, changed_at
FROM trades;
DROP TABLE trades;
ALTER TABLE new_trades RENAME TO trades;

DROP TABLE import_updates;
ALTER TABLE imports DROP COLUMN deleted;
ALTER TABLE import_links DROP COLUMN updated_at;
ALTER TABLE import_links DROP COLUMN written_at;

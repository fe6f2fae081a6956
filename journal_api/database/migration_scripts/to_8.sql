-- Version 8: a trade is a position of fills; contracts by one name; where fees come from; copies that imports link;
-- facts of trades for statistics.

ALTER TABLE trades ADD COLUMN contract TEXT NOT NULL DEFAULT '';
ALTER TABLE trades ADD COLUMN root TEXT NOT NULL DEFAULT '';
ALTER TABLE trades ADD COLUMN fills TEXT;
ALTER TABLE trades ADD COLUMN fees_source TEXT NOT NULL DEFAULT 'typed'
  CHECK (fees_source IN ('file', 'account', 'typed', 'none'));
ALTER TABLE trades ADD COLUMN merged TEXT;
ALTER TABLE trades ADD COLUMN unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1));
-- The last checksum is that of the fees: 0 if no file has stated them.
UPDATE trades SET
  contract = canonical_symbol(symbol, opened_at),
  root = contract_root(symbol),
  fees_source = CASE
    WHEN content IS NULL THEN iif(fees = 0, 'none', 'typed')
    WHEN substr(content, -4) <> x'00000000' THEN 'file'
    ELSE iif(fees = 0, 'none', 'account')
  END;

ALTER TABLE import_updates ADD COLUMN fills TEXT;
ALTER TABLE import_updates ADD COLUMN fees_source TEXT NOT NULL DEFAULT 'file';

CREATE TABLE import_links (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  source_trade_id INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  written_at TEXT NOT NULL,
  PRIMARY KEY (import_id, trade_id)
) STRICT, WITHOUT ROWID;

-- Earlier releases stored every row of a file of pairs as a trade.
ALTER TABLE imports ADD COLUMN one_trade_is TEXT NOT NULL DEFAULT 'position'
  CHECK (one_trade_is IN ('position', 'row'));
UPDATE imports SET one_trade_is = 'row';

ALTER TABLE accounts ADD COLUMN one_trade_is TEXT CHECK (one_trade_is IN ('position', 'row'));

ALTER TABLE copy_groups ADD COLUMN copy_seconds INTEGER NOT NULL DEFAULT 5 CHECK (copy_seconds BETWEEN 0 AND 300);
ALTER TABLE copy_groups ADD COLUMN any_quantity INTEGER NOT NULL DEFAULT 0 CHECK (any_quantity IN (0, 1));

ALTER TABLE users ADD COLUMN facts_cursor INTEGER NOT NULL DEFAULT 0;
CREATE TABLE trade_facts (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  trading_day TEXT NOT NULL,
  closed_at TEXT NOT NULL,
  id INTEGER NOT NULL,
  decision INTEGER NOT NULL,
  fees INTEGER NOT NULL,
  net_pnl INTEGER NOT NULL,
  initial_risk INTEGER,
  r INTEGER,
  grade TEXT,
  is_mistake INTEGER NOT NULL,
  checklist INTEGER,
  answers TEXT,
  local_hour INTEGER NOT NULL,
  held INTEGER NOT NULL,
  contract TEXT NOT NULL,
  root TEXT NOT NULL,
  direction TEXT NOT NULL,
  strategy_id INTEGER,
  setup_id INTEGER,
  PRIMARY KEY (account_id, trading_day, closed_at, id)
) STRICT, WITHOUT ROWID;

-- All days are out of date: the first reader of statistics works out the facts of all trades.
INSERT INTO changes (account_id, trading_day)
SELECT account_id, trading_day FROM trades WHERE trading_day IS NOT NULL
EXCEPT SELECT account_id, trading_day FROM changes;

CREATE TABLE trade_counts (
  user_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  contract TEXT NOT NULL,
  root TEXT NOT NULL,
  direction TEXT NOT NULL,
  outcome TEXT NOT NULL,
  grade TEXT NOT NULL,
  strategy_id INTEGER NOT NULL,
  setup_id INTEGER NOT NULL,
  trades INTEGER NOT NULL,
  PRIMARY KEY (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
) STRICT, WITHOUT ROWID;

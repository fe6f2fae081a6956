-- Version 8: a trade is a position of fills; contracts by one name; where fees come from; copies that imports link;
-- facts of trades for statistics; the calendar and the cash of an account.

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
DROP INDEX trades_of_symbol;
DROP INDEX trades_of_strategy;
DROP INDEX trades_of_setup;
-- Of two indexes that serve a filter alike, SQLite takes the newer one: the partial ones stay newer.
DROP INDEX trades_of_grade;
DROP INDEX trades_open;
DROP INDEX trades_breakeven;
CREATE INDEX trades_of_strategy ON trades (strategy_id, opened_at, id) WHERE strategy_id IS NOT NULL;
CREATE INDEX trades_of_setup ON trades (setup_id, opened_at, id) WHERE setup_id IS NOT NULL;
CREATE INDEX trades_of_contract ON trades (user_id, contract, opened_at, id);
CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
CREATE INDEX trades_breakeven ON trades (user_id, opened_at, id) WHERE net_pnl = 0;
CREATE INDEX trades_without_costs ON trades (user_id, opened_at, id) WHERE fees_source = 'none';
CREATE INDEX trades_merged ON trades (account_id) WHERE merged IS NOT NULL;

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
CREATE INDEX import_links_of_trade ON import_links (trade_id);

-- Earlier releases stored every row of a file of pairs as a trade.
ALTER TABLE imports ADD COLUMN one_trade_is TEXT NOT NULL DEFAULT 'position'
  CHECK (one_trade_is IN ('position', 'row'));
UPDATE imports SET one_trade_is = 'row';

ALTER TABLE accounts ADD COLUMN one_trade_is TEXT CHECK (one_trade_is IN ('position', 'row'));

ALTER TABLE accounts ADD COLUMN timezone TEXT;
ALTER TABLE accounts ADD COLUMN day_rollover TEXT;

CREATE VIEW calendars (account_id, user_id, timezone, day_rollover) AS
SELECT accounts.id, users.id, coalesce(accounts.timezone, users.timezone),
  coalesce(accounts.day_rollover, users.day_rollover)
FROM accounts
JOIN users ON users.id = accounts.user_id;

CREATE VIEW goal_calendars (goal_id, timezone, day_rollover) AS
SELECT goals.id, coalesce(accounts.timezone, users.timezone), coalesce(accounts.day_rollover, users.day_rollover)
FROM goals
JOIN users ON users.id = goals.user_id
LEFT JOIN accounts ON accounts.id = coalesce(goals.account_id, iif(follows_selection, active_account_id, NULL));

CREATE TABLE cash_movements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('deposit', 'withdrawal', 'payout', 'fee', 'adjustment', 'reset')),
  amount INTEGER NOT NULL,
  day TEXT NOT NULL,
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (CASE kind WHEN 'adjustment' THEN amount <> 0 WHEN 'reset' THEN amount >= 0 ELSE amount > 0 END)
) STRICT;
CREATE INDEX cash_of_account ON cash_movements (account_id, day, id);

CREATE TABLE account_rules (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  floor_kind TEXT CHECK (floor_kind IN ('static', 'end_of_day', 'trade')),
  floor_distance INTEGER CHECK (floor_distance > 0),
  floor_locks_at INTEGER,
  daily_loss INTEGER CHECK (daily_loss > 0),
  profit_target INTEGER CHECK (profit_target > 0),
  best_day_share INTEGER CHECK (best_day_share > 0 AND best_day_share <= 10000000000),
  qualifying_amount INTEGER CHECK (qualifying_amount > 0),
  qualifying_days INTEGER CHECK (qualifying_days > 0),
  minimum_days INTEGER CHECK (minimum_days > 0),
  CHECK ((floor_kind IS NULL) = (floor_distance IS NULL)),
  CHECK (floor_locks_at IS NULL OR floor_kind IS NOT NULL),
  CHECK ((qualifying_amount IS NULL) = (qualifying_days IS NULL))
) STRICT;

CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  balance INTEGER NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)),
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, day)
) STRICT;

CREATE TRIGGER changes_of_new_cash AFTER INSERT ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.day);
END;

CREATE TRIGGER changes_of_deleted_cash AFTER DELETE ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.day);
END;

CREATE TRIGGER changes_of_cash AFTER UPDATE OF kind, amount, day ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.day);
  INSERT INTO touched_days VALUES (new.account_id, new.day);
END;

CREATE TRIGGER goals_of_account_calendar AFTER UPDATE OF timezone, day_rollover ON accounts
WHEN (old.timezone, old.day_rollover) IS NOT (new.timezone, new.day_rollover)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;

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
CREATE UNIQUE INDEX facts_of_trade ON trade_facts (id);
DROP TRIGGER changes_of_updated_trade;
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.opened_at, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.contract, old.root, old.direction, old.strategy_id, old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.opened_at, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.contract, new.root, new.direction, new.strategy_id, new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days
  SELECT new.account_id, new.trading_day
  WHERE (old.account_id, old.trading_day) IS NOT (new.account_id, new.trading_day);
END;

CREATE TRIGGER changes_of_timezone AFTER UPDATE OF timezone ON users
WHEN old.timezone <> new.timezone
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE user_id = new.id;
END;

-- All days are out of date: the first reader of statistics works out the facts of all trades.
INSERT INTO touched_days
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

CREATE VIEW counted_trades AS
SELECT user_id, account_id, contract, root, direction, 0 AS net_pnl, grade, strategy_id, setup_id, trades
FROM trade_counts;

CREATE TRIGGER counted_trades_are_counts INSTEAD OF INSERT ON counted_trades
BEGIN
  INSERT INTO trade_counts
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > 0 THEN 'win' WHEN new.net_pnl < 0 THEN 'loss' WHEN new.net_pnl = 0 THEN 'breakeven'
      ELSE 'open' END,
    coalesce(new.grade, ''), coalesce(new.strategy_id, 0), coalesce(new.setup_id, 0), new.trades)
  ON CONFLICT DO UPDATE SET trades = trades + excluded.trades;
END;

CREATE TRIGGER trade_counts_of_nothing AFTER UPDATE OF trades ON trade_counts
WHEN new.trades = 0
BEGIN
  DELETE FROM trade_counts
  WHERE (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
      = (new.user_id, new.account_id, new.contract, new.root, new.direction, new.outcome, new.grade,
         new.strategy_id, new.setup_id);
END;

CREATE TRIGGER counts_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO counted_trades
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade,
    new.strategy_id, new.setup_id, 1);
END;

CREATE TRIGGER counts_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO counted_trades
  VALUES (old.user_id, old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade,
    old.strategy_id, old.setup_id, -1);
END;

CREATE TRIGGER counts_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade, old.strategy_id, old.setup_id)
 IS NOT (new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade, new.strategy_id, new.setup_id)
BEGIN
  INSERT INTO counted_trades
  VALUES (old.user_id, old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade,
    old.strategy_id, old.setup_id, -1);
  INSERT INTO counted_trades
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade,
    new.strategy_id, new.setup_id, 1);
END;
INSERT INTO counted_trades
SELECT user_id, account_id, contract, root, direction, sign, grade, strategy_id, setup_id, count(*)
FROM (SELECT *, (net_pnl > 0) - (net_pnl < 0) AS sign FROM trades)
GROUP BY user_id, account_id, contract, root, direction, sign, grade, strategy_id, setup_id;

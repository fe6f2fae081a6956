-- Version 9: a tolerance of break-even decisions; when the trades of facts were opened; the calendar, the
-- cash and the rules of an account; what the broker says; excursions of trades.

ALTER TABLE users ADD COLUMN breakeven_within INTEGER NOT NULL DEFAULT 0 CHECK (breakeven_within >= 0);
DROP INDEX trades_breakeven;
CREATE INDEX trades_of_result ON trades (account_id, net_pnl) WHERE net_pnl IS NOT NULL;

ALTER TABLE trades ADD COLUMN mae INTEGER CHECK (mae >= 0);
ALTER TABLE trades ADD COLUMN mfe INTEGER CHECK (mfe >= 0);
ALTER TABLE import_updates ADD COLUMN mae INTEGER;
ALTER TABLE import_updates ADD COLUMN mfe INTEGER;
DROP TRIGGER changes_of_updated_trade;
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.opened_at, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.contract, old.root, old.direction, old.strategy_id, old.setup_id, old.source_trade_id,
      old.mae, old.mfe)
 IS NOT (new.account_id, new.trading_day, new.opened_at, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.contract, new.root, new.direction, new.strategy_id, new.setup_id, new.source_trade_id,
      new.mae, new.mfe)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days
  SELECT new.account_id, new.trading_day
  WHERE (old.account_id, old.trading_day) IS NOT (new.account_id, new.trading_day);
END;

-- All facts are worked out again by the next reader: the changes of all days are kept.
DROP TABLE trade_facts;
CREATE TABLE trade_facts (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  trading_day TEXT NOT NULL,
  closed_at TEXT NOT NULL,
  id INTEGER NOT NULL,
  opened_at TEXT NOT NULL,
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
  mae INTEGER,
  mfe INTEGER,
  PRIMARY KEY (account_id, trading_day, closed_at, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX facts_of_trade ON trade_facts (id);
UPDATE users SET facts_cursor = 0;

DROP TRIGGER counted_trades_are_counts;
CREATE TRIGGER counted_trades_are_counts INSTEAD OF INSERT ON counted_trades
BEGIN
  INSERT INTO trade_counts
  SELECT new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > breakeven_within THEN 'win' WHEN new.net_pnl < -breakeven_within THEN 'loss'
      WHEN new.net_pnl IS NOT NULL THEN 'breakeven' ELSE 'open' END,
    coalesce(new.grade, ''), coalesce(new.strategy_id, 0), coalesce(new.setup_id, 0), new.trades
  FROM users
  WHERE id = new.user_id
  ON CONFLICT DO UPDATE SET trades = trades + excluded.trades;
END;

CREATE TRIGGER counts_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  DELETE FROM trade_counts WHERE user_id = new.id;
  INSERT INTO counted_trades
  SELECT user_id, account_id, contract, root, direction, max(net_pnl), grade, strategy_id, setup_id, count(*)
  FROM trades
  WHERE user_id = new.id
  GROUP BY account_id, contract, root, direction, grade, strategy_id, setup_id,
    (net_pnl > new.breakeven_within) - (net_pnl < -new.breakeven_within);
END;

CREATE TRIGGER counts_of_deleted_user AFTER DELETE ON users
BEGIN
  DELETE FROM trade_counts WHERE user_id = old.id;
END;

CREATE TRIGGER goals_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;

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
  accepted_difference INTEGER,
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, day)
) STRICT;

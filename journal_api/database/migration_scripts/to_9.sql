-- Version 9: a tolerance of break-even decisions; when the trades of facts were opened; the calendar, the
-- cash and the rules of an account; what the broker says; excursions of trades.

ALTER TABLE users ADD COLUMN breakeven_within INTEGER NOT NULL DEFAULT 0 CHECK (breakeven_within >= 0);

ALTER TABLE trades ADD COLUMN mae INTEGER CHECK (mae >= 0);
ALTER TABLE trades ADD COLUMN mfe INTEGER CHECK (mfe >= 0);
ALTER TABLE import_updates ADD COLUMN mae INTEGER;
ALTER TABLE import_updates ADD COLUMN mfe INTEGER;

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
UPDATE users SET facts_cursor = 0;

ALTER TABLE accounts ADD COLUMN timezone TEXT;
ALTER TABLE accounts ADD COLUMN day_rollover TEXT;

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

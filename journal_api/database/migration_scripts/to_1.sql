-- The tables of version 1.
--
-- Everywhere: ids leave the service, so they are never used twice (AUTOINCREMENT). Timestamps are RFC 3339
-- text in UTC of one fixed width, so that text order is time order. Days are YYYY-MM-DD. Amounts, prices and
-- quantities are integers of 10^-8. sort_name is the name without its case: the order of lists.

PRAGMA application_id = 0x4A524E4C;  -- "JRNL"

-- Who ---------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  timezone TEXT NOT NULL,
  day_rollover TEXT NOT NULL,
  -- What the front end shows just now; neither means all accounts.
  active_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  active_copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (active_account_id IS NULL OR active_copy_group_id IS NULL)
) STRICT;

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,  -- SHA-256; the key itself is never stored
  last_four TEXT NOT NULL,
  scopes TEXT NOT NULL,  -- separated by spaces
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
) STRICT;

-- Tags --------------------------------------------------------------------------------------------------

CREATE TABLE tag_categories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

CREATE TABLE tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  category_id INTEGER NOT NULL REFERENCES tag_categories (id),
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  color TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('mistake', 'custom')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

-- Accounts and copy groups ------------------------------------------------------------------------------

CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  currency TEXT NOT NULL DEFAULT 'USD',
  starting_balance INTEGER NOT NULL DEFAULT 0,
  broker TEXT,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

CREATE TABLE copy_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  master_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;

CREATE TABLE copy_group_members (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,  -- in one group at most
  copy_group_id INTEGER NOT NULL REFERENCES copy_groups (id) ON DELETE CASCADE,
  quantity_multiplier INTEGER NOT NULL DEFAULT 100000000,
  sort_order INTEGER NOT NULL DEFAULT 0,
  CHECK (quantity_multiplier > 0 AND quantity_multiplier <= 99999000000)
) STRICT;

-- Strategies --------------------------------------------------------------------------------------------

CREATE TABLE strategies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  description TEXT,
  color_tag TEXT NOT NULL,
  account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  -- JSON, token by token as it was sent.
  risk_rules TEXT,
  exit_rules TEXT,
  optimal_conditions TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name),
  CHECK (account_id IS NULL OR copy_group_id IS NULL)
) STRICT;

CREATE TABLE setups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy_id INTEGER NOT NULL REFERENCES strategies (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;

CREATE TABLE confirmations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  setup_id INTEGER NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;

-- The trading record ------------------------------------------------------------------------------------

CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  format TEXT NOT NULL,
  file_name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  timezone TEXT NOT NULL,
  added INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE trades (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  symbol TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('long', 'short')),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  multiplier INTEGER NOT NULL DEFAULT 100000000 CHECK (multiplier > 0),
  entry_price INTEGER NOT NULL,
  exit_price INTEGER,
  stop_loss INTEGER,
  opened_at TEXT NOT NULL,
  closed_at TEXT,
  trading_day TEXT,  -- of closed_at, in the owner's zone and rollover; null while open
  gross_pnl INTEGER,
  fees INTEGER NOT NULL DEFAULT 0,
  net_pnl INTEGER GENERATED ALWAYS AS (gross_pnl - fees) VIRTUAL,
  initial_risk INTEGER CHECK (initial_risk > 0),
  grade TEXT CHECK (grade IN ('A+', 'A', 'B', 'C', 'D', 'F')),
  strategy_id INTEGER REFERENCES strategies (id) ON DELETE SET NULL,
  setup_id INTEGER REFERENCES setups (id) ON DELETE SET NULL,
  source_trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,  -- the original that this row copies
  external_id TEXT,
  notes TEXT,
  import_id INTEGER REFERENCES imports (id) ON DELETE SET NULL,
  -- What the trade was when it was imported, and the how-manieth of its kind: how it is recognised again.
  fingerprint BLOB,
  occurrence INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, external_id),
  UNIQUE (account_id, fingerprint, occurrence),
  CHECK ((closed_at IS NULL) = (trading_day IS NULL)),
  CHECK ((closed_at IS NULL) = (gross_pnl IS NULL)),
  CHECK (setup_id IS NULL OR strategy_id IS NOT NULL),
  CHECK (source_trade_id IS NOT id)
) STRICT;

CREATE TABLE trade_tags (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  PRIMARY KEY (trade_id, tag_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE confirmation_answers (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  confirmation_id INTEGER NOT NULL REFERENCES confirmations (id) ON DELETE CASCADE,
  was_present INTEGER NOT NULL CHECK (was_present IN (0, 1)),
  notes TEXT,
  PRIMARY KEY (trade_id, confirmation_id)
) STRICT, WITHOUT ROWID;

-- Goals -------------------------------------------------------------------------------------------------

CREATE TABLE goals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  goal_name TEXT NOT NULL,
  metric TEXT NOT NULL,
  target_value INTEGER NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('at_least', 'at_most')),
  timeframe TEXT NOT NULL CHECK (timeframe IN ('daily', 'weekly', 'monthly', 'quarterly', 'custom')),
  custom_start TEXT,
  custom_end TEXT,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE CASCADE,
  follows_selection INTEGER NOT NULL DEFAULT 0 CHECK (follows_selection IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'archived')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- The newest change that the snapshots know of; null: the history is to be built anew.
  seen_change INTEGER,
  -- The day on which the snapshots were last true; null: the running period is to be evaluated again.
  fresh_on TEXT,
  CHECK ((account_id IS NOT NULL) + (copy_group_id IS NOT NULL) + follows_selection <= 1),
  CHECK ((timeframe = 'custom') = (custom_start IS NOT NULL)),
  CHECK ((custom_start IS NULL) = (custom_end IS NULL)),
  CHECK (custom_end >= custom_start)
) STRICT;

-- Which target was in force from which day on; the first one from the beginning of time.
CREATE TABLE goal_targets (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  since TEXT NOT NULL,
  target_value INTEGER NOT NULL,
  PRIMARY KEY (goal_id, since)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  period_start TEXT NOT NULL,
  period_end TEXT NOT NULL,
  target INTEGER NOT NULL,
  actual INTEGER,
  achieved INTEGER CHECK (achieved IN (0, 1)),
  closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
  snapshot_data TEXT NOT NULL,  -- JSON: what the number was made of
  computed_at TEXT NOT NULL,
  PRIMARY KEY (goal_id, period_start)
) STRICT, WITHOUT ROWID;

-- What has changed since a goal last looked -------------------------------------------------------------
-- Every write that can move a goal's number leaves its mark here by trigger, so that no code can forget to.
-- A mark is written by DELETE and INSERT, never by OR REPLACE, whose meaning inside a trigger depends on the
-- statement that fired it; the new row has a higher sequence than every row before it. Marks outlive their
-- account or setup, so there is no foreign key.

CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Either the trades that an account closed on a day,
  account_id INTEGER,
  trading_day TEXT,
  -- or the checklist of a setup.
  setup_id INTEGER,
  CHECK ((account_id IS NULL) = (trading_day IS NULL)),
  CHECK ((account_id IS NULL) <> (setup_id IS NULL))
) STRICT;

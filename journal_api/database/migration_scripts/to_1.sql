-- The whole schema of that version, as its release made it: what a file of it has to hold.
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
CREATE INDEX tag_categories_in_order ON tag_categories (user_id, sort_name, id);

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
CREATE INDEX tags_in_order ON tags (user_id, sort_name, id);
CREATE INDEX tags_of_category ON tags (category_id);

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
CREATE INDEX accounts_in_order ON accounts (user_id, sort_name, id);

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
CREATE INDEX copy_groups_in_order ON copy_groups (user_id, sort_name, id);

CREATE TABLE copy_group_members (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,  -- in one group at most
  copy_group_id INTEGER NOT NULL REFERENCES copy_groups (id) ON DELETE CASCADE,
  quantity_multiplier INTEGER NOT NULL DEFAULT 100000000,
  sort_order INTEGER NOT NULL DEFAULT 0,
  CHECK (quantity_multiplier > 0 AND quantity_multiplier <= 99999000000)
) STRICT;
CREATE INDEX members_of_copy_group ON copy_group_members (copy_group_id);

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
CREATE INDEX strategies_in_order ON strategies (user_id, sort_name, id);
CREATE INDEX strategies_of_account ON strategies (account_id);
CREATE INDEX strategies_of_copy_group ON strategies (copy_group_id);

CREATE TABLE setups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy_id INTEGER NOT NULL REFERENCES strategies (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
CREATE INDEX setups_in_order ON setups (strategy_id, sort_order, id);

CREATE TABLE confirmations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  setup_id INTEGER NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
CREATE INDEX confirmations_in_order ON confirmations (setup_id, sort_order, id);

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
CREATE INDEX imports_of_user ON imports (user_id, id);
CREATE INDEX imports_of_account ON imports (account_id);

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
-- The order in which goals count trades; it holds what drawdown and streaks need.
CREATE INDEX trades_in_order ON trades (account_id, trading_day, closed_at, id);
CREATE INDEX trades_of_user ON trades (user_id, opened_at, id);
CREATE INDEX trades_of_strategy ON trades (strategy_id) WHERE strategy_id IS NOT NULL;
CREATE INDEX trades_of_setup ON trades (setup_id) WHERE setup_id IS NOT NULL;
CREATE INDEX trades_of_source ON trades (source_trade_id) WHERE source_trade_id IS NOT NULL;
CREATE INDEX trades_of_import ON trades (import_id) WHERE import_id IS NOT NULL;

CREATE TABLE trade_tags (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  PRIMARY KEY (trade_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trades_of_tag ON trade_tags (tag_id);

CREATE TABLE confirmation_answers (
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  confirmation_id INTEGER NOT NULL REFERENCES confirmations (id) ON DELETE CASCADE,
  was_present INTEGER NOT NULL CHECK (was_present IN (0, 1)),
  notes TEXT,
  PRIMARY KEY (trade_id, confirmation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_of_confirmation ON confirmation_answers (confirmation_id);

-- The copies of a deleted original stay one decision: the oldest of them becomes the original.
CREATE TRIGGER trades_keep_copies_together BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM trades WHERE source_trade_id = old.id)
BEGIN
  UPDATE trades
  SET source_trade_id = (SELECT min(id) FROM trades WHERE source_trade_id = old.id)
  WHERE source_trade_id = old.id
    AND id > (SELECT min(id) FROM trades WHERE source_trade_id = old.id);
END;

-- The answers belong to the setup's checklist, so they go when the trade changes its setup.
CREATE TRIGGER trades_drop_answers_of_old_setup AFTER UPDATE OF setup_id ON trades
WHEN old.setup_id IS NOT new.setup_id
BEGIN
  DELETE FROM confirmation_answers WHERE trade_id = new.id;
END;

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
CREATE INDEX goals_of_user ON goals (user_id, id);
CREATE INDEX goals_of_account ON goals (account_id);
CREATE INDEX goals_of_copy_group ON goals (copy_group_id);

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
CREATE UNIQUE INDEX changes_of_day ON changes (account_id, trading_day) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX changes_of_setup ON changes (setup_id) WHERE setup_id IS NOT NULL;

-- Insert a day here, or null for an open trade, and it is marked.
CREATE VIEW marks (account_id, trading_day) AS
SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;

CREATE TRIGGER marks_are_changes INSTEAD OF INSERT ON marks
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;

CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO marks VALUES (new.account_id, new.trading_day);
END;

CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO marks VALUES (old.account_id, old.trading_day);
END;

CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.closed_at, old.gross_pnl, old.fees, old.initial_risk, old.grade,
      old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.closed_at, new.gross_pnl, new.fees, new.initial_risk, new.grade,
      new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO marks VALUES (old.account_id, old.trading_day);
  INSERT INTO marks VALUES (new.account_id, new.trading_day);
END;

CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

-- When the tag itself is deleted its type can no longer be asked, so every removal counts. When the trade is
-- deleted, the trade's own trigger leaves the mark.
CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;

CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO marks
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
  WHERE tag_id = new.id;
END;

CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
WHEN old.was_present <> new.was_present
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;

CREATE TRIGGER changes_of_longer_checklist AFTER INSERT ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = new.setup_id;
  INSERT INTO changes (setup_id) VALUES (new.setup_id);
END;

CREATE TRIGGER changes_of_shorter_checklist AFTER DELETE ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = old.setup_id;
  INSERT INTO changes (setup_id) VALUES (old.setup_id);
END;

-- What changes every period of a goal: the history is built anew at the next read.

CREATE TRIGGER goals_redefined AFTER UPDATE OF
  metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection ON goals
BEGIN
  UPDATE goals SET seen_change = NULL WHERE id = new.id;
END;

CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.id;
END;

CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.id AND follows_selection;
END;

CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id = new.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;

CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id = old.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;

CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
     OR (follows_selection
         AND user_id IN (SELECT id FROM users
                         WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
END;

-- Balances: an account that comes with money, changes it, or goes.

CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.user_id AND metric = 'balance_target';
END;

CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
WHEN old.starting_balance <> new.starting_balance
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.user_id AND metric = 'balance_target';
END;

-- With an account its trades are out of every goal's sight, the marks that they left included.
CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = old.user_id;
END;

-- The complete current schema. A new database is created from it in one transaction.
--
-- Conventions: ids are visible to clients, so they are never reused (AUTOINCREMENT). Timestamps are RFC 3339
-- text in UTC of fixed width, so that text order is time order. Days are YYYY-MM-DD. Amounts, prices and
-- quantities are integers of 10^-8. sort_name is the case-folded name, by which lists are sorted.

PRAGMA application_id = 0x4A524E4C;  -- "JRNL"

-- Users -------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  timezone TEXT NOT NULL,
  day_rollover TEXT NOT NULL,
  -- The selection that the front end shows; if both are null, all accounts.
  active_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  active_copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  trading_weekdays TEXT NOT NULL DEFAULT '[1,2,3,4,5]',  -- JSON: ISO weekday numbers, ascending
  facts_cursor INTEGER NOT NULL DEFAULT 0,  -- the newest change that the user's rows of trade_facts include
  -- A decision whose net P&L is at most so far from 0 is a break-even.
  breakeven_within INTEGER NOT NULL DEFAULT 0 CHECK (breakeven_within >= 0),
  -- What an empty plan and an empty review are filled with on the page.
  plan_template TEXT,
  review_template TEXT,
  expired_cursor INTEGER NOT NULL DEFAULT 0,  -- earlier cursors have expired: changes after them are not known
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
  revoked_at TEXT,
  last_used_on TEXT  -- the last day, in UTC, on which a request had the key
) STRICT;

-- Responses to POST requests with an Idempotency-Key, kept for a day. The fingerprint is that of the request.
CREATE TABLE idempotency_keys (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  content BLOB NOT NULL,
  created_at TEXT NOT NULL,
  warnings BLOB NOT NULL DEFAULT X'',  -- the encoded member of `meta`
  PRIMARY KEY (user_id, key)
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

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
  -- What one trade is in files of pairs; null: as the newest import of the format, else the position.
  one_trade_is TEXT CHECK (one_trade_is IN ('position', 'row')),
  -- Of its trading days; null: the owner's.
  timezone TEXT,
  day_rollover TEXT,
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX accounts_in_order ON accounts (user_id, sort_name, id);

-- The calendar of the trading days of an account: its own, and the owner's where it has none.
CREATE VIEW calendars (account_id, user_id, timezone, day_rollover) AS
SELECT accounts.id, users.id, coalesce(accounts.timezone, users.timezone),
  coalesce(accounts.day_rollover, users.day_rollover)
FROM accounts
JOIN users ON users.id = accounts.user_id;

-- Money that moves in and out of an account, and resets, which begin its balance anew.
CREATE TABLE cash_movements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('deposit', 'withdrawal', 'payout', 'fee', 'adjustment', 'reset')),
  amount INTEGER NOT NULL,  -- as stated: only an adjustment has a sign; of a reset the new balance
  day TEXT NOT NULL,  -- a trading day of the account
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (CASE kind WHEN 'adjustment' THEN amount <> 0 WHEN 'reset' THEN amount >= 0 ELSE amount > 0 END)
) STRICT;
CREATE INDEX cash_of_account ON cash_movements (account_id, day, id);

-- The rules of an account, by which its standing is judged; a rule that is null does not apply.
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

-- What the broker said the balance was at the end of a day.
CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  balance INTEGER NOT NULL,
  accepted_difference INTEGER,  -- which the owner leaves as it is
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (account_id, day)
) STRICT;

-- The commission that the owner pays per contract and side, by contract root or `default`. An import applies it to
-- files that state no costs.
CREATE TABLE account_fees (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  per_side INTEGER NOT NULL CHECK (per_side >= 0),
  PRIMARY KEY (account_id, root)
) STRICT, WITHOUT ROWID;

-- Point values of contract roots as the owner states them. They override the built-in table.
CREATE TABLE instruments (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  point_value INTEGER NOT NULL CHECK (point_value > 0),
  PRIMARY KEY (user_id, root)
) STRICT, WITHOUT ROWID;

CREATE TABLE copy_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  master_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- A position of a member that opens within so many seconds of one of the master is a copy of it.
  copy_seconds INTEGER NOT NULL DEFAULT 5 CHECK (copy_seconds BETWEEN 0 AND 300),
  any_quantity INTEGER NOT NULL DEFAULT 0 CHECK (any_quantity IN (0, 1)),
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
  -- Free-form JSON with the tokens of the request.
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
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,  -- null: the file named its accounts
  format TEXT NOT NULL,
  file_name TEXT,
  sha256 TEXT NOT NULL,
  timezone TEXT NOT NULL,
  added INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0,  -- number of added trades that were deleted since
  -- Whether rows of pairs were joined to positions. Later files of the account and format are read alike.
  one_trade_is TEXT NOT NULL DEFAULT 'position' CHECK (one_trade_is IN ('position', 'row')),
  -- Who chose the file: a user or a program, or the watch of a folder.
  source TEXT NOT NULL DEFAULT 'user' CHECK (source IN ('user', 'folder'))
) STRICT;
CREATE INDEX imports_of_user ON imports (user_id, id);
CREATE INDEX imports_of_account ON imports (account_id);

-- The accounts that had times without an offset in the file of an import, which were read in its time zone. The
-- newest import of an account and a format determines the zone of later files.
CREATE TABLE import_timezones (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  PRIMARY KEY (import_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_timezones_of_account ON import_timezones (account_id);

-- The owner's descriptions of file formats.
CREATE TABLE import_profiles (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sort_name TEXT NOT NULL,
  profile TEXT NOT NULL,  -- JSON
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX import_profiles_in_order ON import_profiles (user_id, sort_name, id);

-- The rows of the example journal, so that removing it deletes exactly them. Ids are never given out again.
CREATE TABLE example_rows (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  resource TEXT NOT NULL,  -- the name of a table
  row_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, resource, row_id)
) STRICT, WITHOUT ROWID;

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
  trading_day TEXT,  -- of closed_at, in the calendar of the account; null while open
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
  -- A hash that identifies the trade in later imports, and its ordinal among equal hashes of the account.
  fingerprint BLOB,
  occurrence INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- Checksums of the fields in imported files, then eight bytes for each row of pairs that the trade was joined from;
  -- null for a trade that no import added.
  content BLOB,
  -- One name for a contract however brokers write it, such as MNQZ26, and its root MNQ: rules of values/instruments.py.
  contract TEXT NOT NULL DEFAULT '',
  root TEXT NOT NULL DEFAULT '',
  fills TEXT,  -- JSON as in responses; null while the trade is one entry and one exit that its columns state
  fees_source TEXT NOT NULL DEFAULT 'typed' CHECK (fees_source IN ('file', 'account', 'typed', 'none')),
  merged TEXT,  -- JSON: the trades that were merged into this one, and this one as it was before
  unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1)),  -- by the trader: nothing links the trade again
  mae INTEGER CHECK (mae >= 0),  -- the worst loss while the trade was open
  mfe INTEGER CHECK (mfe >= 0),  -- the best profit
  -- When a deletion or a calendar last changed what the trade shows; no edit, but in responses also updated_at.
  touched_at TEXT,
  UNIQUE (account_id, external_id),
  UNIQUE (account_id, fingerprint, occurrence),
  CHECK ((closed_at IS NULL) = (trading_day IS NULL)),
  CHECK ((closed_at IS NULL) = (gross_pnl IS NULL)),
  CHECK (setup_id IS NULL OR strategy_id IS NOT NULL),
  CHECK (source_trade_id IS NOT id)
) STRICT;
-- The order in which goals evaluate trades, as drawdowns and streaks need it.
CREATE INDEX trades_in_order ON trades (account_id, trading_day, closed_at, id);
CREATE INDEX trades_of_user ON trades (user_id, opened_at, id);
CREATE INDEX trades_of_source ON trades (source_trade_id) WHERE source_trade_id IS NOT NULL;
CREATE INDEX trades_of_import ON trades (import_id) WHERE import_id IS NOT NULL;
-- The order of lists of trades, for filters that may select few of many trades.
CREATE INDEX trades_of_account ON trades (account_id, opened_at, id);
CREATE INDEX trades_of_strategy ON trades (strategy_id, opened_at, id) WHERE strategy_id IS NOT NULL;
CREATE INDEX trades_of_setup ON trades (setup_id, opened_at, id) WHERE setup_id IS NOT NULL;
CREATE INDEX trades_of_contract ON trades (user_id, contract, opened_at, id);
CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
CREATE INDEX trades_without_costs ON trades (user_id, opened_at, id) WHERE fees_source = 'none';
CREATE INDEX trades_merged ON trades (account_id) WHERE merged IS NOT NULL;
-- For the trades with one outcome, if they are few.
CREATE INDEX trades_of_result ON trades (account_id, net_pnl) WHERE net_pnl IS NOT NULL;

-- Trades as they were before an import updated them, so that the import can be undone.
CREATE TABLE import_updates (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  written_at TEXT NOT NULL,  -- updated_at as set by the import; if the trade has another, it was edited since
  symbol TEXT NOT NULL,
  direction TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  multiplier INTEGER NOT NULL,
  entry_price INTEGER NOT NULL,
  exit_price INTEGER,
  opened_at TEXT NOT NULL,
  closed_at TEXT,
  gross_pnl INTEGER,
  fees INTEGER NOT NULL,
  content BLOB NOT NULL,
  updated_at TEXT NOT NULL,
  fills TEXT,
  fees_source TEXT NOT NULL DEFAULT 'file',
  mae INTEGER,
  mfe INTEGER,
  PRIMARY KEY (import_id, trade_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_updates_of_trade ON import_updates (trade_id);

-- Copies that an import linked to their original, so that the import can be undone.
CREATE TABLE import_links (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  source_trade_id INTEGER NOT NULL,
  updated_at TEXT NOT NULL,  -- of the trade, before the link
  written_at TEXT NOT NULL,  -- updated_at as set by the link; if the trade has another, it was edited since
  PRIMARY KEY (import_id, trade_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_links_of_trade ON import_links (trade_id);

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

-- The copies of a deleted original stay one decision: the oldest copy becomes the original.
CREATE TRIGGER trades_keep_copies_together BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM trades WHERE source_trade_id = old.id)
BEGIN
  UPDATE trades
  SET source_trade_id = (SELECT min(id) FROM trades WHERE source_trade_id = old.id)
  WHERE source_trade_id = old.id
    AND id > (SELECT min(id) FROM trades WHERE source_trade_id = old.id);
END;

-- Answers belong to the checklist of the setup, so they are deleted when the trade changes its setup.
CREATE TRIGGER trades_drop_answers_of_old_setup AFTER UPDATE OF setup_id ON trades
WHEN old.setup_id IS NOT new.setup_id
BEGIN
  DELETE FROM confirmation_answers WHERE trade_id = new.id;
END;

-- Imports count deleted trades, not existing ones, so that an import need not update its count for each row.
CREATE TRIGGER imports_of_deleted_trade AFTER DELETE ON trades
WHEN old.import_id IS NOT NULL
BEGIN
  UPDATE imports SET deleted = deleted + 1 WHERE id = old.import_id;
END;

-- What statistics read of each closed trade, worked out once (statistics/trade_facts.py). Rows of days that
-- changed since the owner's facts_cursor are out of date.
CREATE TABLE trade_facts (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  trading_day TEXT NOT NULL,
  closed_at TEXT NOT NULL,
  id INTEGER NOT NULL,  -- of the trade
  opened_at TEXT NOT NULL,
  decision INTEGER NOT NULL,  -- the id of the original of a copy, otherwise of the trade
  fees INTEGER NOT NULL,
  net_pnl INTEGER NOT NULL,
  initial_risk INTEGER,
  r INTEGER,  -- null without a risk, and for a quotient over 10^10
  grade TEXT,
  is_mistake INTEGER NOT NULL,
  checklist INTEGER,  -- whether it is wholly confirmed; null without one
  answers TEXT,  -- JSON: the ids of confirmations that were present, and negative of those that were absent
  local_hour INTEGER NOT NULL,  -- in which the trade was opened, in the owner's time zone
  held INTEGER NOT NULL,  -- whole seconds
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

-- The number of trades by what lists are filtered by, so that no page counts trades. Triggers keep it.
CREATE TABLE trade_counts (
  user_id INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  contract TEXT NOT NULL,
  root TEXT NOT NULL,
  direction TEXT NOT NULL,
  outcome TEXT NOT NULL,
  grade TEXT NOT NULL,  -- '' without one
  strategy_id INTEGER NOT NULL,  -- 0 without one
  setup_id INTEGER NOT NULL,  -- 0 without one
  trades INTEGER NOT NULL,
  PRIMARY KEY (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
) STRICT, WITHOUT ROWID;

-- An insert into this view adds `trades` to the count of such trades.
CREATE VIEW counted_trades AS
SELECT user_id, account_id, contract, root, direction, 0 AS net_pnl, grade, strategy_id, setup_id, trades
FROM trade_counts;

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

-- Days --------------------------------------------------------------------------------------------------

-- What the owner wrote on a trading day. A day with nothing written has no row.
CREATE TABLE days (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  date TEXT NOT NULL,
  plan TEXT,  -- Markdown
  review TEXT,  -- Markdown
  rating INTEGER CHECK (rating BETWEEN 1 AND 5),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, date)
) STRICT;

CREATE TABLE day_tags (
  day_id INTEGER NOT NULL REFERENCES days (id) ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  PRIMARY KEY (day_id, tag_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX days_of_tag ON day_tags (tag_id);

-- A day whose only content was a tag that is deleted has nothing written any more.
CREATE TRIGGER days_without_content AFTER DELETE ON day_tags
BEGIN
  DELETE FROM days
  WHERE id = old.day_id
    AND coalesce(plan, review, rating) IS NULL
    AND NOT EXISTS (SELECT 1 FROM day_tags WHERE day_id = old.day_id);
END;

-- Pictures ----------------------------------------------------------------------------------------------

-- What is shown, once for each content of a user, without metadata. The bytes are in parts of 256 KiB, so that nothing
-- holds a whole picture in memory and no other statement steps over one.
CREATE TABLE picture_contents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  media_type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  UNIQUE (user_id, sha256)
) STRICT;

CREATE TABLE picture_parts (
  content_id INTEGER NOT NULL REFERENCES picture_contents (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (content_id, position)
) STRICT;

-- The pictures of trades and of days. A day is a date of the owner: it needs no row of its own.
CREATE TABLE pictures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  trade_id INTEGER REFERENCES trades (id) ON DELETE CASCADE,
  day TEXT,
  content_id INTEGER NOT NULL REFERENCES picture_contents (id),
  caption TEXT,
  sort_order INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((trade_id IS NULL) <> (day IS NULL))
) STRICT;
CREATE INDEX pictures_of_user ON pictures (user_id, day, sort_order, id);
CREATE INDEX pictures_of_trade ON pictures (trade_id, sort_order, id) WHERE trade_id IS NOT NULL;
CREATE INDEX pictures_of_content ON pictures (content_id);

-- The last picture takes its content along.
CREATE TRIGGER contents_of_deleted_picture AFTER DELETE ON pictures
WHEN NOT EXISTS (SELECT 1 FROM pictures WHERE content_id = old.content_id)
BEGIN
  DELETE FROM picture_contents WHERE id = old.content_id;
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
  -- The newest change that the snapshots include; null: the whole history must be rebuilt.
  change_cursor INTEGER,
  -- The current days of the owner's calendars at the last evaluation; null: the current period must be evaluated again.
  evaluated_on TEXT,
  -- Whether a period of the metric starts with the closing balance of the period before.
  carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1)),
  -- The trading day on which the goal was paused or archived; null while it is active.
  stopped_on TEXT,
  CHECK ((account_id IS NOT NULL) + (copy_group_id IS NOT NULL) + follows_selection <= 1),
  CHECK ((timeframe = 'custom') = (custom_start IS NOT NULL)),
  CHECK ((custom_start IS NULL) = (custom_end IS NULL)),
  CHECK (custom_end >= custom_start)
) STRICT;
CREATE INDEX goals_of_user ON goals (user_id, id);
CREATE INDEX goals_of_account ON goals (account_id);
CREATE INDEX goals_of_copy_group ON goals (copy_group_id);

-- The calendar that a goal follows: of one account the account's, otherwise the owner's.
CREATE VIEW goal_calendars (goal_id, timezone, day_rollover) AS
SELECT goals.id, coalesce(accounts.timezone, users.timezone), coalesce(accounts.day_rollover, users.day_rollover)
FROM goals
JOIN users ON users.id = goals.user_id
LEFT JOIN accounts ON accounts.id = coalesce(goals.account_id, iif(follows_selection, active_account_id, NULL));

-- The targets of a goal, each from the day `since` on; the first also applies to all earlier periods.
CREATE TABLE goal_targets (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  since TEXT NOT NULL,
  target_value INTEGER NOT NULL,
  PRIMARY KEY (goal_id, since)
) STRICT, WITHOUT ROWID;

-- Not WITHOUT ROWID, because rows are wide: a page reads few of them, its total only the primary key index.
CREATE TABLE snapshots (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  period_start TEXT NOT NULL,
  period_end TEXT NOT NULL,
  target INTEGER NOT NULL,
  actual INTEGER,
  achieved INTEGER CHECK (achieved IN (0, 1)),
  closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
  snapshot_data TEXT NOT NULL,  -- JSON: the inputs of the value
  computed_at TEXT NOT NULL,
  -- Set for goals that carry a balance; null if the balance exceeds 64 bits.
  opening_balance INTEGER,
  closing_balance INTEGER,
  PRIMARY KEY (goal_id, period_start)
) STRICT;

-- Changes ------------------------------------------------------------------------------------------------
-- Triggers record every write that can change the value of a goal, so that no code has to.
-- A change is written by DELETE and INSERT, so that it gets the highest sequence. OR REPLACE would not do: inside
-- a trigger its effect depends on the statement that fired the trigger. Changes remain when their account or
-- setup is deleted, so there is no foreign key.

CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Either a change of the trades or the cash of an account on a day,
  account_id INTEGER,
  trading_day TEXT,
  -- or a change of the checklist of a setup.
  setup_id INTEGER,
  CHECK ((account_id IS NULL) = (trading_day IS NULL)),
  CHECK ((account_id IS NULL) <> (setup_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX changes_of_day ON changes (account_id, trading_day) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX changes_of_setup ON changes (setup_id) WHERE setup_id IS NOT NULL;

-- An insert into this view records the day as a change. Null, the day of an open trade, is ignored.
--
-- A day is recorded again even if no goal has seen its last change yet: a goal may just be computed from what was
-- written up to that change, and will save a cursor that includes it.
CREATE VIEW touched_days (account_id, trading_day) AS
SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;

CREATE TRIGGER touched_days_are_changes INSTEAD OF INSERT ON touched_days
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;

CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
WHEN new.import_id IS NULL
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;

-- The days of an import are recorded together, when its counts are written after its last trade.
CREATE TRIGGER changes_of_import AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE import_id = new.id;
END;

CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
END;

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

CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

-- When the tag itself is deleted, its type can no longer be read, so every removal is recorded. When the trade
-- is deleted, the trigger of the trade records the day.
CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;

CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO touched_days
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
  WHERE tag_id = new.id;
END;

CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
WHEN old.was_present <> new.was_present
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
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

-- Changes of all periods of a goal: its history is rebuilt at the next read.

CREATE TRIGGER goals_redefined AFTER UPDATE OF
  metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection ON goals
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE id = new.id;
END;

-- The pace of a running period counts the trading days that are left.
CREATE TRIGGER goals_of_trading_weekdays AFTER UPDATE OF trading_weekdays ON users
WHEN old.trading_weekdays <> new.trading_weekdays
BEGIN
  UPDATE goals SET evaluated_on = NULL WHERE user_id = new.id AND status = 'active';
END;

-- The hour in which a trade was opened is another one in another time zone.
CREATE TRIGGER changes_of_timezone AFTER UPDATE OF timezone ON users
WHEN old.timezone <> new.timezone
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE user_id = new.id;
END;

CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;

CREATE TRIGGER goals_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;

CREATE TRIGGER goals_of_account_calendar AFTER UPDATE OF timezone, day_rollover ON accounts
WHEN (old.timezone, old.day_rollover) IS NOT (new.timezone, new.day_rollover)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;

CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id AND follows_selection;
END;

CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = new.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;

CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = old.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;

CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
     OR (follows_selection
         AND user_id IN (SELECT id FROM users
                         WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
END;

-- Balances: an account is added, changes its starting balance, or is deleted.

CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;

CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
WHEN old.starting_balance <> new.starting_balance
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;

-- Another currency decides which amounts can be added.
CREATE TRIGGER goals_of_changed_currency AFTER UPDATE OF currency ON accounts
WHEN old.currency <> new.currency
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;

-- The trades of a deleted account leave the scope of all goals, and so do the changes that they recorded.
CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = old.user_id;
END;

-- Search ------------------------------------------------------------------------------------------------

-- What can be found: the texts of other tables, which triggers keep. A trade without notes costs nothing.
CREATE TABLE search_documents (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  resource TEXT NOT NULL,  -- the name of a table
  row_id INTEGER NOT NULL,
  part INTEGER NOT NULL,  -- of the notes to an answer of a trade the confirmation, otherwise 0
  at TEXT NOT NULL,  -- of a trade when it was opened, of a day its date, otherwise when it was written first
  title TEXT,  -- its name; null for what has none
  text TEXT,
  UNIQUE (resource, row_id, part)
) STRICT;
CREATE INDEX search_documents_of_user ON search_documents (user_id, at);

CREATE VIRTUAL TABLE search_index USING fts5 (
  title, text, content = 'search_documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2',
  prefix = '2 3'
);

CREATE TRIGGER search_index_of_new AFTER INSERT ON search_documents
BEGIN
  INSERT INTO search_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;

CREATE TRIGGER search_index_of_deleted AFTER DELETE ON search_documents
BEGIN
  INSERT INTO search_index (search_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;

-- An insert into this view replaces what can be found of a row; without title and text nothing can.
CREATE VIEW found_texts (user_id, resource, row_id, part, at, title, text) AS
SELECT user_id, resource, row_id, part, at, title, text FROM search_documents;

CREATE TRIGGER found_texts_are_documents INSTEAD OF INSERT ON found_texts
BEGIN
  DELETE FROM search_documents WHERE resource = new.resource AND row_id = new.row_id AND part = new.part;
  INSERT INTO search_documents (user_id, resource, row_id, part, at, title, text)
  SELECT new.user_id, new.resource, new.row_id, new.part, new.at, new.title, new.text
  WHERE coalesce(new.title, new.text) IS NOT NULL;
END;

CREATE TRIGGER search_of_new_trade AFTER INSERT ON trades
WHEN new.notes IS NOT NULL
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes);
END;

CREATE TRIGGER search_of_notes AFTER UPDATE OF notes ON trades
WHEN old.notes IS NOT new.notes
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes);
END;

CREATE TRIGGER search_of_moved_trade AFTER UPDATE OF opened_at ON trades
WHEN old.opened_at <> new.opened_at
BEGIN
  UPDATE search_documents SET at = new.opened_at WHERE resource = 'trades' AND row_id = new.id;
END;

CREATE TRIGGER search_of_deleted_trade AFTER DELETE ON trades
WHEN old.notes IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE resource = 'trades' AND row_id = old.id AND part = 0;
END;

CREATE TRIGGER search_of_new_answer AFTER INSERT ON confirmation_answers
WHEN new.notes IS NOT NULL
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'trades', id, new.confirmation_id, opened_at, NULL, new.notes FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER search_of_answer AFTER UPDATE OF notes ON confirmation_answers
WHEN old.notes IS NOT new.notes
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'trades', id, new.confirmation_id, opened_at, NULL, new.notes FROM trades WHERE id = new.trade_id;
END;

CREATE TRIGGER search_of_deleted_answer AFTER DELETE ON confirmation_answers
WHEN old.notes IS NOT NULL
BEGIN
  DELETE FROM search_documents
  WHERE resource = 'trades' AND row_id = old.trade_id AND part = old.confirmation_id;
END;

CREATE TRIGGER search_of_new_day AFTER INSERT ON days
BEGIN
  INSERT INTO found_texts
  VALUES (new.user_id, 'days', new.id, 0, new.date, NULL,
    coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review));
END;

CREATE TRIGGER search_of_day AFTER UPDATE OF plan, review ON days
WHEN (old.plan, old.review) IS NOT (new.plan, new.review)
BEGIN
  INSERT INTO found_texts
  VALUES (new.user_id, 'days', new.id, 0, new.date, NULL,
    coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review));
END;

CREATE TRIGGER search_of_deleted_day AFTER DELETE ON days
BEGIN
  DELETE FROM search_documents WHERE resource = 'days' AND row_id = old.id AND part = 0;
END;

-- A caption is found as its trade or its day, in a part of its own.
CREATE VIEW captions (picture_id, user_id, resource, row_id, part, at, title, text) AS
SELECT pictures.id, pictures.user_id, iif(day IS NULL, 'trades', 'days'), coalesce(trade_id, pictures.id),
  iif(day IS NULL, -pictures.id, -1), coalesce(day, opened_at), NULL, caption
FROM pictures
LEFT JOIN trades ON trades.id = trade_id;

CREATE TRIGGER search_of_new_picture AFTER INSERT ON pictures
WHEN new.caption IS NOT NULL
BEGIN
  INSERT INTO found_texts
  SELECT user_id, resource, row_id, part, at, title, text FROM captions WHERE picture_id = new.id;
END;

CREATE TRIGGER search_of_caption AFTER UPDATE OF caption, trade_id ON pictures
WHEN (old.caption, old.trade_id) IS NOT (new.caption, new.trade_id)
BEGIN
  DELETE FROM search_documents
  WHERE resource = 'trades' AND row_id = old.trade_id AND part = -old.id;
  INSERT INTO found_texts
  SELECT user_id, resource, row_id, part, at, title, text FROM captions WHERE picture_id = new.id;
END;

CREATE TRIGGER search_of_deleted_picture AFTER DELETE ON pictures
WHEN old.caption IS NOT NULL
BEGIN
  DELETE FROM search_documents
  WHERE (resource, row_id, part) = (
    iif(old.day IS NULL, 'trades', 'days'), coalesce(old.trade_id, old.id), iif(old.day IS NULL, -old.id, -1));
END;

CREATE TRIGGER search_of_new_strategy AFTER INSERT ON strategies
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description);
END;

CREATE TRIGGER search_of_strategy AFTER UPDATE OF name, description ON strategies
WHEN (old.name, old.description) IS NOT (new.name, new.description)
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description);
END;

CREATE TRIGGER search_of_deleted_strategy AFTER DELETE ON strategies
BEGIN
  DELETE FROM search_documents WHERE resource = 'strategies' AND row_id = old.id AND part = 0;
END;

CREATE TRIGGER search_of_new_setup AFTER INSERT ON setups
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'setups', new.id, 0, created_at, new.name, new.description FROM strategies WHERE id = new.strategy_id;
END;

CREATE TRIGGER search_of_setup AFTER UPDATE OF name, description ON setups
WHEN (old.name, old.description) IS NOT (new.name, new.description)
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'setups', new.id, 0, created_at, new.name, new.description FROM strategies WHERE id = new.strategy_id;
END;

CREATE TRIGGER search_of_deleted_setup AFTER DELETE ON setups
BEGIN
  DELETE FROM search_documents WHERE resource = 'setups' AND row_id = old.id AND part = 0;
END;

CREATE TRIGGER search_of_new_tag AFTER INSERT ON tags
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL);
END;

CREATE TRIGGER search_of_tag AFTER UPDATE OF name ON tags
WHEN old.name <> new.name
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL);
END;

CREATE TRIGGER search_of_deleted_tag AFTER DELETE ON tags
BEGIN
  DELETE FROM search_documents WHERE resource = 'tags' AND row_id = old.id AND part = 0;
END;

CREATE TRIGGER search_of_new_goal AFTER INSERT ON goals
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL);
END;

CREATE TRIGGER search_of_goal AFTER UPDATE OF goal_name ON goals
WHEN old.goal_name <> new.goal_name
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL);
END;

CREATE TRIGGER search_of_deleted_goal AFTER DELETE ON goals
BEGIN
  DELETE FROM search_documents WHERE resource = 'goals' AND row_id = old.id AND part = 0;
END;

-- Changes of objects, for clients that follow them (/v1/changes) ------------------------------------------------
-- Triggers record every write to what a response shows, whoever writes. A row moves to the end when its object
-- changes again. The newest row of a user is never deleted, so that `seq` only rises.

CREATE TABLE object_changes (
  user_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  resource TEXT NOT NULL,  -- as in the path of its list, with _ for -
  id ANY NOT NULL,  -- of an instrument its root
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  at TEXT NOT NULL,
  PRIMARY KEY (user_id, seq),
  UNIQUE (user_id, resource, id)
) STRICT, WITHOUT ROWID;

-- An insert into this view records a change of an object.
CREATE VIEW changed_objects (user_id, resource, id, deleted) AS
SELECT user_id, resource, id, deleted FROM object_changes;

CREATE TRIGGER changed_objects_are_recorded INSTEAD OF INSERT ON changed_objects
BEGIN
  INSERT INTO object_changes
  SELECT new.user_id, coalesce(max(seq), 0) + 1, new.resource, new.id, new.deleted,
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  FROM object_changes
  WHERE user_id = new.user_id
  ON CONFLICT (user_id, resource, id) DO UPDATE
  SET seq = excluded.seq, deleted = excluded.deleted, at = excluded.at;
END;

-- Tables whose rows are objects of their own.
CREATE TRIGGER record_new_tag_categories AFTER INSERT ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tag_categories', new.id, 0); END;
CREATE TRIGGER record_changed_tag_categories AFTER UPDATE ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tag_categories', new.id, 0); END;
CREATE TRIGGER record_deleted_tag_categories AFTER DELETE ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'tag_categories', old.id, 1); END;
CREATE TRIGGER record_new_tags AFTER INSERT ON tags
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tags', new.id, 0); END;
CREATE TRIGGER record_changed_tags AFTER UPDATE ON tags
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tags', new.id, 0); END;
CREATE TRIGGER record_deleted_tags AFTER DELETE ON tags
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'tags', old.id, 1); END;
CREATE TRIGGER record_new_copy_groups AFTER INSERT ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'copy_groups', new.id, 0); END;
CREATE TRIGGER record_changed_copy_groups AFTER UPDATE ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'copy_groups', new.id, 0); END;
CREATE TRIGGER record_deleted_copy_groups AFTER DELETE ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'copy_groups', old.id, 1); END;
CREATE TRIGGER record_new_strategies AFTER INSERT ON strategies
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'strategies', new.id, 0); END;
CREATE TRIGGER record_changed_strategies AFTER UPDATE ON strategies
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'strategies', new.id, 0); END;
CREATE TRIGGER record_deleted_strategies AFTER DELETE ON strategies
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'strategies', old.id, 1); END;
CREATE TRIGGER record_new_import_profiles AFTER INSERT ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'import_profiles', new.id, 0); END;
CREATE TRIGGER record_changed_import_profiles AFTER UPDATE ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'import_profiles', new.id, 0); END;
CREATE TRIGGER record_deleted_import_profiles AFTER DELETE ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'import_profiles', old.id, 1); END;
CREATE TRIGGER record_new_accounts AFTER INSERT ON accounts
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'accounts', new.id, 0); END;
CREATE TRIGGER record_changed_accounts AFTER UPDATE ON accounts
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'accounts', new.id, 0); END;
CREATE TRIGGER record_deleted_accounts AFTER DELETE ON accounts
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'accounts', old.id, 1); END;
CREATE TRIGGER record_new_instruments AFTER INSERT ON instruments
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'instruments', new.root, 0); END;
CREATE TRIGGER record_changed_instruments AFTER UPDATE ON instruments
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'instruments', new.root, 0); END;
CREATE TRIGGER record_deleted_instruments AFTER DELETE ON instruments
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'instruments', old.root, 1); END;
CREATE TRIGGER record_changed_users AFTER UPDATE OF
  name, timezone, day_rollover, active_account_id, active_copy_group_id, trading_weekdays, breakeven_within,
  plan_template, review_template ON users
BEGIN INSERT INTO changed_objects VALUES (new.id, 'me', new.id, 0); END;
CREATE TRIGGER record_deleted_users AFTER DELETE ON users
BEGIN DELETE FROM object_changes WHERE user_id = old.id; END;
CREATE TRIGGER record_new_api_keys AFTER INSERT ON api_keys
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'keys', new.id, 0); END;
CREATE TRIGGER record_changed_api_keys AFTER UPDATE OF name, scopes, expires_at, revoked_at ON api_keys
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'keys', new.id, new.revoked_at IS NOT NULL); END;
CREATE TRIGGER record_deleted_api_keys AFTER DELETE ON api_keys
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'keys', old.id, 1); END;

-- Of a goal, what a read computes and stores is no change.
CREATE TRIGGER record_new_goals AFTER INSERT ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
CREATE TRIGGER record_changed_goals AFTER UPDATE OF
  goal_name, metric, target_value, direction, timeframe, custom_start, custom_end, account_id, copy_group_id,
  follows_selection, status, updated_at ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
CREATE TRIGGER record_deleted_goals AFTER DELETE ON goals
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'goals', old.id, 1); END;

-- What belongs to an account has its user, so it is deleted before the account.
CREATE TRIGGER record_parts_of_accounts BEFORE DELETE ON accounts
BEGIN
  DELETE FROM cash_movements WHERE account_id = old.id;
  DELETE FROM checkpoints WHERE account_id = old.id;
END;
CREATE TRIGGER record_new_cash_movements AFTER INSERT ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', new.id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_changed_cash_movements AFTER UPDATE ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', new.id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_deleted_cash_movements AFTER DELETE ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', old.id, 1 FROM accounts WHERE id = old.account_id; END;
CREATE TRIGGER record_new_checkpoints AFTER INSERT ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', new.id, 0 FROM accounts WHERE id = new.account_id;
END;
CREATE TRIGGER record_changed_checkpoints AFTER UPDATE ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', new.id, 0 FROM accounts WHERE id = new.account_id;
END;
CREATE TRIGGER record_deleted_checkpoints AFTER DELETE ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', old.id, 1 FROM accounts WHERE id = old.account_id;
END;
CREATE TRIGGER record_new_account_rules AFTER INSERT ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_changed_account_rules AFTER UPDATE ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_deleted_account_rules AFTER DELETE ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = old.account_id; END;
CREATE TRIGGER record_new_account_fees AFTER INSERT ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_changed_account_fees AFTER UPDATE ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
CREATE TRIGGER record_deleted_account_fees AFTER DELETE ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = old.account_id; END;

-- A day is read by its date, whether anything is written on it or not, so it is never deleted.
CREATE TRIGGER record_new_days AFTER INSERT ON days
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'days', new.date, 0); END;
CREATE TRIGGER record_changed_days AFTER UPDATE ON days
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'days', new.date, 0); END;
CREATE TRIGGER record_deleted_days AFTER DELETE ON days
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'days', old.date, 0); END;
CREATE TRIGGER record_new_day_tags AFTER INSERT ON day_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'days', date, 0 FROM days WHERE id = new.day_id; END;
CREATE TRIGGER record_deleted_day_tags AFTER DELETE ON day_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'days', date, 0 FROM days WHERE id = old.day_id; END;

-- A picture is shown by its trade or its day. A deleted trade is recorded as deleted after its pictures.
CREATE TRIGGER record_new_pictures AFTER INSERT ON pictures
BEGIN
  INSERT INTO changed_objects
  VALUES (new.user_id, iif(new.day IS NULL, 'trades', 'days'), coalesce(new.trade_id, new.day), 0);
END;
CREATE TRIGGER record_changed_pictures AFTER UPDATE ON pictures
BEGIN
  INSERT INTO changed_objects
  VALUES (new.user_id, iif(new.day IS NULL, 'trades', 'days'), coalesce(new.trade_id, new.day), 0);
END;
CREATE TRIGGER record_moved_pictures AFTER UPDATE OF trade_id, day ON pictures
WHEN (old.trade_id, old.day) IS NOT (new.trade_id, new.day)
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id;
  INSERT INTO changed_objects SELECT old.user_id, 'days', old.day, 0 WHERE old.day IS NOT NULL;
END;
CREATE TRIGGER record_deleted_pictures AFTER DELETE ON pictures
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id;
  INSERT INTO changed_objects SELECT old.user_id, 'days', old.day, 0 WHERE old.day IS NOT NULL;
END;

-- Rows that are shown as part of another object.
CREATE TRIGGER record_new_copy_group_members AFTER INSERT ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = new.copy_group_id;
END;
CREATE TRIGGER record_changed_copy_group_members AFTER UPDATE ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = new.copy_group_id;
END;
CREATE TRIGGER record_deleted_copy_group_members AFTER DELETE ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = old.copy_group_id;
END;
CREATE TRIGGER record_moved_copy_group_members AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = old.copy_group_id;
END;
CREATE TRIGGER record_new_setups AFTER INSERT ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = new.strategy_id;
END;
CREATE TRIGGER record_changed_setups AFTER UPDATE ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = new.strategy_id;
END;
CREATE TRIGGER record_deleted_setups AFTER DELETE ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = old.strategy_id;
END;
CREATE TRIGGER record_new_confirmations AFTER INSERT ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = new.setup_id;
END;
CREATE TRIGGER record_changed_confirmations AFTER UPDATE ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = new.setup_id;
END;
CREATE TRIGGER record_deleted_confirmations AFTER DELETE ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = old.setup_id;
END;
CREATE TRIGGER record_new_trade_tags AFTER INSERT ON trade_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
CREATE TRIGGER record_deleted_trade_tags AFTER DELETE ON trade_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id; END;
CREATE TRIGGER record_new_confirmation_answers AFTER INSERT ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
CREATE TRIGGER record_changed_confirmation_answers AFTER UPDATE ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
CREATE TRIGGER record_deleted_confirmation_answers AFTER DELETE ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id; END;

-- The trades of an import are recorded together, when its counts are written after its last trade.
CREATE TRIGGER record_new_trades AFTER INSERT ON trades
WHEN new.import_id IS NULL
 OR (SELECT added + updated + duplicates FROM imports WHERE id = new.import_id) > 0
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'trades', new.id, 0); END;
CREATE TRIGGER record_changed_trades AFTER UPDATE ON trades
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'trades', new.id, 0); END;
CREATE TRIGGER record_deleted_trades AFTER DELETE ON trades
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'trades', old.id, 1); END;
CREATE TRIGGER record_new_imports AFTER INSERT ON imports
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'imports', new.id, 0); END;
CREATE TRIGGER record_changed_imports AFTER UPDATE ON imports
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'imports', new.id, 0); END;
CREATE TRIGGER record_deleted_imports AFTER DELETE ON imports
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'imports', old.id, 1); END;
CREATE TRIGGER record_imported_trades AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO object_changes
  SELECT user_id, last.seq + row_number() OVER (ORDER BY id), 'trades', id, 0,
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  FROM trades
  JOIN (SELECT coalesce(max(seq), 0) AS seq FROM object_changes WHERE user_id = new.user_id) AS last
  WHERE import_id = new.id
  ON CONFLICT DO NOTHING;
END;

-- The trade shows something else, though nobody has edited it. The time is the last of its millisecond, so that it
-- is later than that of an edit.
CREATE TRIGGER trades_touched_by_deleted_tag AFTER DELETE ON trade_tags
WHEN NOT EXISTS (SELECT 1 FROM tags WHERE id = old.tag_id)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
CREATE TRIGGER trades_touched_by_deleted_confirmation AFTER DELETE ON confirmation_answers
WHEN NOT EXISTS (SELECT 1 FROM confirmations WHERE id = old.confirmation_id)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
CREATE TRIGGER trades_touched_unedited AFTER UPDATE OF strategy_id, setup_id, trading_day ON trades
WHEN old.updated_at = new.updated_at
 AND (old.strategy_id, old.setup_id, old.trading_day) IS NOT (new.strategy_id, new.setup_id, new.trading_day)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = new.id; END;

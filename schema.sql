-- The complete current schema but for the triggers of one shape, which database/triggers.py makes from a description.
-- A new database is made of both in one transaction.
--
-- Conventions: ids are visible to clients, so they are never reused (AUTOINCREMENT). Timestamps are RFC 3339
-- text in UTC of fixed width, so that text order is time order. Days are YYYY-MM-DD. Amounts, prices and
-- quantities are integers of 10^-8. sort_name is the case-folded name, by which lists are sorted.

PRAGMA application_id = 0x4A524E4C;  -- "JRNL"

-- Users -------------------------------------------------------------------------------------------------

CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  timezone TEXT NOT NULL, day_rollover TEXT NOT NULL,
  -- The selection that the front end shows; if both are null, all accounts.
  active_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  active_copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  trading_weekdays TEXT NOT NULL DEFAULT '[1,2,3,4,5]',  -- JSON: ISO weekday numbers, ascending
  facts_cursor INTEGER NOT NULL DEFAULT 0,  -- the newest change that the user's rows of trade_facts include
  breakeven_within INTEGER NOT NULL DEFAULT 0 CHECK (breakeven_within >= 0),  -- the largest |net P&L| of a break-even
  plan_template TEXT, review_template TEXT,  -- what the page fills an empty plan and an empty review with
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
  created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT,
  last_used_on TEXT  -- the last day, in UTC, on which a request had the key
) STRICT;

-- Responses to POST requests with an Idempotency-Key, kept for a day. The fingerprint is that of the request.
CREATE TABLE idempotency_keys (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key TEXT NOT NULL, fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL, headers TEXT NOT NULL, content BLOB NOT NULL,
  created_at TEXT NOT NULL,
  warnings BLOB NOT NULL DEFAULT X'',  -- the encoded member of `meta`
  PRIMARY KEY (user_id, key)
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Tags --------------------------------------------------------------------------------------------------

CREATE TABLE tag_categories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  single INTEGER NOT NULL DEFAULT 0 CHECK (single IN (0, 1)),  -- a trade has at most one of its tags
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX tag_categories_in_order ON tag_categories (user_id, sort_name, id);

CREATE TABLE tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  category_id INTEGER NOT NULL REFERENCES tag_categories (id),
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  color TEXT NOT NULL, type TEXT NOT NULL CHECK (type IN ('mistake', 'custom')),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX tags_in_order ON tags (user_id, sort_name, id);
CREATE INDEX tags_of_category ON tags (category_id);

-- Accounts and copy groups ------------------------------------------------------------------------------

CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  currency TEXT NOT NULL DEFAULT 'USD',
  starting_balance INTEGER NOT NULL DEFAULT 0,
  broker TEXT,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  -- What one trade is in files of pairs; null: as the newest import of the format, else the position.
  one_trade_is TEXT CHECK (one_trade_is IN ('position', 'row')),
  timezone TEXT, day_rollover TEXT,  -- of its trading days; null: the owner's
  payout_share INTEGER  -- the percentage of a payout that reaches the owner; null: all
    CHECK (payout_share > 0 AND payout_share <= 10000000000),
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
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  outside INTEGER NOT NULL DEFAULT 0  -- paid by the owner, not from the account: no balance changes
    CHECK (outside = 0 OR (outside = 1 AND kind = 'fee')),
  received INTEGER  -- what of a payout arrived; null: the share of the account
    CHECK (received IS NULL OR (kind = 'payout' AND received BETWEEN 0 AND amount)),
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
  day TEXT NOT NULL, balance INTEGER NOT NULL,
  accepted_difference INTEGER,  -- which the owner leaves as it is
  note TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  UNIQUE (account_id, day)
) STRICT;

-- Commissions per contract and side, by contract root or `default`, which imports apply to files without costs.
CREATE TABLE account_fees (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  root TEXT NOT NULL, per_side INTEGER NOT NULL CHECK (per_side >= 0),
  PRIMARY KEY (account_id, root)
) STRICT, WITHOUT ROWID;

-- Point values of contract roots as the owner states them. They override the built-in table.
CREATE TABLE instruments (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  root TEXT NOT NULL, point_value INTEGER NOT NULL CHECK (point_value > 0),
  PRIMARY KEY (user_id, root)
) STRICT, WITHOUT ROWID;

CREATE TABLE copy_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  master_account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
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
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  description TEXT, color_tag TEXT NOT NULL,
  account_id INTEGER REFERENCES accounts (id) ON DELETE SET NULL,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE SET NULL,
  risk_rules TEXT, exit_rules TEXT, optimal_conditions TEXT,  -- free-form JSON with the tokens of the request
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  UNIQUE (user_id, name),
  CHECK (account_id IS NULL OR copy_group_id IS NULL)
) STRICT;
CREATE INDEX strategies_in_order ON strategies (user_id, sort_name, id);
CREATE INDEX strategies_of_account ON strategies (account_id);
CREATE INDEX strategies_of_copy_group ON strategies (copy_group_id);

CREATE TABLE setups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy_id INTEGER NOT NULL REFERENCES strategies (id) ON DELETE CASCADE,
  name TEXT NOT NULL, description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
CREATE INDEX setups_in_order ON setups (strategy_id, sort_order, id);

CREATE TABLE confirmations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  setup_id INTEGER NOT NULL REFERENCES setups (id) ON DELETE CASCADE,
  name TEXT NOT NULL, description TEXT,
  sort_order INTEGER NOT NULL
) STRICT;
CREATE INDEX confirmations_in_order ON confirmations (setup_id, sort_order, id);

-- The trading record ------------------------------------------------------------------------------------

CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,  -- null: the file named its accounts
  format TEXT NOT NULL, file_name TEXT, sha256 TEXT NOT NULL, timezone TEXT NOT NULL,
  added INTEGER NOT NULL, updated INTEGER NOT NULL, duplicates INTEGER NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  -- Whether rows of pairs were joined to positions. Later files of the account and format are read alike.
  one_trade_is TEXT NOT NULL DEFAULT 'position' CHECK (one_trade_is IN ('position', 'row')),
  source TEXT NOT NULL DEFAULT 'user' CHECK (source IN ('user', 'folder'))  -- folder: its watch chose the file
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
  name TEXT NOT NULL, sort_name TEXT NOT NULL,
  profile TEXT NOT NULL,  -- JSON
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
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
  entry_price INTEGER NOT NULL, exit_price INTEGER, stop_loss INTEGER,
  opened_at TEXT NOT NULL, closed_at TEXT,
  trading_day TEXT,  -- of closed_at, in the calendar of the account; null while open
  gross_pnl INTEGER,
  fees INTEGER NOT NULL DEFAULT 0,
  net_pnl INTEGER GENERATED ALWAYS AS (gross_pnl - fees) VIRTUAL,
  initial_risk INTEGER CHECK (initial_risk > 0),
  -- Checks name values in pairs: SQLite builds a longer list anew for every row, a seventh of an INSERT.
  grade TEXT CHECK (grade IN ('A+', 'A') OR grade IN ('B', 'C') OR grade IN ('D', 'F')),
  strategy_id INTEGER REFERENCES strategies (id) ON DELETE SET NULL,
  setup_id INTEGER REFERENCES setups (id) ON DELETE SET NULL,
  source_trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,  -- the original that this row copies
  external_id TEXT, notes TEXT,
  import_id INTEGER REFERENCES imports (id) ON DELETE SET NULL,  -- the first that tells of it
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  edited TEXT,  -- the names of the columns that the owner has changed since a file stated them; these stay
  typed TEXT,  -- JSON: the columns that the owner had typed before a file told of the trade; undoing it restores them
  -- One name for a contract however brokers write it, such as MNQZ26, and its root MNQ: rules of values/instruments.py.
  contract TEXT NOT NULL DEFAULT '', root TEXT NOT NULL DEFAULT '',
  fills TEXT,  -- JSON as in responses; null while the trade is one entry and one exit that its columns state
  fees_source TEXT NOT NULL DEFAULT 'typed'
    CHECK (fees_source IN ('file', 'account') OR fees_source IN ('typed', 'none')),
  merged TEXT,  -- JSON: the trades that were merged into this one, and this one as it was before
  unlinked INTEGER NOT NULL DEFAULT 0 CHECK (unlinked IN (0, 1)),  -- by the trader: nothing links the trade again
  mae INTEGER CHECK (mae >= 0),  -- the worst loss while the trade was open
  mfe INTEGER CHECK (mfe >= 0),  -- the best profit
  -- When a deletion or a calendar last changed what the trade shows; no edit, but in responses also updated_at.
  changed_at TEXT,
  UNIQUE (account_id, external_id),
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

-- What the files of imports state of fills, each once: trades are the positions that follow from it
-- (positions/book.py). The same in a later file is a restatement; another version of it has the same key.
CREATE TABLE statements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  contract TEXT NOT NULL,
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,  -- the first that states it
  key INTEGER NOT NULL,  -- a hash of what identifies it in files of the format
  trade_id INTEGER REFERENCES trades (id) ON DELETE SET NULL,  -- the last that it is in; null: it closes nothing
  is_left_out INTEGER NOT NULL DEFAULT 0 CHECK (is_left_out IN (0, 1)),  -- because the owner has deleted its trade
  stated TEXT NOT NULL  -- JSON (positions/statements.py)
) STRICT;
CREATE INDEX statements_of_contract ON statements (account_id, contract);
CREATE INDEX statements_of_key ON statements (account_id, key);
CREATE INDEX statements_of_import ON statements (import_id);
CREATE INDEX statements_of_trade ON statements (trade_id);

CREATE TABLE restatements (
  statement_id INTEGER NOT NULL REFERENCES statements (id) ON DELETE CASCADE,
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  PRIMARY KEY (statement_id, import_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX restatements_of_import ON restatements (import_id);

-- Copies that an import linked to their original, so that the import can be undone.
CREATE TABLE import_links (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  source_trade_id INTEGER NOT NULL,
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

-- Of a single category a trade keeps the tag that it has: whoever replaces it deletes it first.
CREATE TRIGGER trade_tags_of_single_categories BEFORE INSERT ON trade_tags
WHEN EXISTS (
  SELECT 1
  FROM tags
  JOIN tag_categories ON tag_categories.id = category_id AND single
  JOIN tags AS other USING (category_id)
  JOIN trade_tags ON tag_id = other.id AND trade_id = new.trade_id
  WHERE tags.id = new.tag_id AND other.id <> new.tag_id)
BEGIN SELECT RAISE(IGNORE); END;

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
BEGIN DELETE FROM confirmation_answers WHERE trade_id = new.id; END;

-- What the owner deletes stays deleted, until a file states it again.
CREATE TRIGGER statements_of_deleted_trade BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM statements WHERE trade_id = old.id)
BEGIN UPDATE statements SET is_left_out = 1 WHERE trade_id = old.id; END;

-- What statistics read of each closed trade, worked out once (statistics/trade_facts.py). Rows of days that
-- changed since the owner's facts_cursor are out of date.
CREATE TABLE trade_facts (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  trading_day TEXT NOT NULL, closed_at TEXT NOT NULL,
  id INTEGER NOT NULL,  -- of the trade
  opened_at TEXT NOT NULL,
  decision INTEGER NOT NULL,  -- the id of the original of a copy, otherwise of the trade
  fees INTEGER NOT NULL, net_pnl INTEGER NOT NULL, initial_risk INTEGER,
  r INTEGER,  -- null without a risk, and for a quotient over 10^10
  grade TEXT, is_mistake INTEGER NOT NULL,
  checklist INTEGER,  -- whether it is wholly confirmed; null without one
  answers TEXT,  -- JSON: the ids of confirmations that were present, and negative of those that were absent
  local_hour INTEGER NOT NULL,  -- in which the trade was opened, in the owner's time zone
  held INTEGER NOT NULL,  -- whole seconds
  contract TEXT NOT NULL, root TEXT NOT NULL, direction TEXT NOT NULL,
  strategy_id INTEGER, setup_id INTEGER,
  mae INTEGER, mfe INTEGER,
  PRIMARY KEY (account_id, trading_day, closed_at, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX facts_of_trade ON trade_facts (id);

-- The number of trades by what lists are filtered by, so that no page counts trades. Triggers keep it.
CREATE TABLE trade_counts (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE, account_id INTEGER NOT NULL,
  contract TEXT NOT NULL, root TEXT NOT NULL, direction TEXT NOT NULL, outcome TEXT NOT NULL,
  grade TEXT NOT NULL, strategy_id INTEGER NOT NULL, setup_id INTEGER NOT NULL,  -- '' and 0 without one
  trades INTEGER NOT NULL,
  PRIMARY KEY (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
) STRICT, WITHOUT ROWID;

-- A kind that no trade has is left out, so that the kinds are those of the trades.
CREATE TRIGGER trade_counts_of_nothing AFTER UPDATE OF trades ON trade_counts
WHEN new.trades = 0
BEGIN
  DELETE FROM trade_counts
  WHERE (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
      = (new.user_id, new.account_id, new.contract, new.root, new.direction, new.outcome, new.grade,
         new.strategy_id, new.setup_id);
END;

-- With another tolerance wins and losses become break-evens, or the other way round.
CREATE TRIGGER trade_counts_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  DELETE FROM trade_counts WHERE user_id = new.id;
  INSERT INTO trade_counts SELECT * FROM counted_trades WHERE user_id = new.id;
END;

-- Days --------------------------------------------------------------------------------------------------

-- What the owner wrote on a trading day. A day with nothing written has no row.
CREATE TABLE days (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  date TEXT NOT NULL,
  plan TEXT, review TEXT,  -- Markdown
  rating INTEGER CHECK (rating BETWEEN 1 AND 5),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
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
  sha256 TEXT NOT NULL, media_type TEXT NOT NULL,
  width INTEGER NOT NULL, height INTEGER NOT NULL, bytes INTEGER NOT NULL,
  UNIQUE (user_id, sha256)
) STRICT;

CREATE TABLE picture_parts (
  content_id INTEGER NOT NULL REFERENCES picture_contents (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, bytes BLOB NOT NULL,
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
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  CHECK ((trade_id IS NULL) <> (day IS NULL))
) STRICT;
CREATE INDEX pictures_of_user ON pictures (user_id, day, sort_order, id);
CREATE INDEX pictures_of_trade ON pictures (trade_id, sort_order, id) WHERE trade_id IS NOT NULL;
CREATE INDEX pictures_of_content ON pictures (content_id);

-- The last picture takes its content along.
CREATE TRIGGER contents_of_deleted_picture AFTER DELETE ON pictures
WHEN NOT EXISTS (SELECT 1 FROM pictures WHERE content_id = old.content_id)
BEGIN DELETE FROM picture_contents WHERE id = old.content_id; END;

-- Goals -------------------------------------------------------------------------------------------------

CREATE TABLE goals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  goal_name TEXT NOT NULL, metric TEXT NOT NULL, target_value INTEGER NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('at_least', 'at_most')),
  timeframe TEXT NOT NULL CHECK (timeframe IN ('daily', 'weekly', 'monthly', 'quarterly', 'custom')),
  custom_start TEXT, custom_end TEXT,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  copy_group_id INTEGER REFERENCES copy_groups (id) ON DELETE CASCADE,
  follows_selection INTEGER NOT NULL DEFAULT 0 CHECK (follows_selection IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'archived')),
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  change_cursor INTEGER,  -- the newest change that the snapshots include; null: rebuild the whole history
  evaluated_on TEXT,  -- the current days of the owner's calendars at the last evaluation; null: evaluate again
  -- Whether a period of the metric starts with the closing balance of the period before.
  carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1)),
  stopped_on TEXT,  -- the trading day on which the goal was paused or archived; null while it is active
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
  since TEXT NOT NULL, target_value INTEGER NOT NULL,
  PRIMARY KEY (goal_id, since)
) STRICT, WITHOUT ROWID;

-- Not WITHOUT ROWID, because rows are wide: a page reads few of them, its total only the primary key index.
CREATE TABLE snapshots (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  period_start TEXT NOT NULL, period_end TEXT NOT NULL,
  target INTEGER NOT NULL, actual INTEGER,
  achieved INTEGER CHECK (achieved IN (0, 1)),
  closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
  snapshot_data TEXT NOT NULL,  -- JSON: the inputs of the value
  computed_at TEXT NOT NULL,
  -- Set for goals that carry a balance; null if the balance exceeds 64 bits.
  opening_balance INTEGER, closing_balance INTEGER,
  PRIMARY KEY (goal_id, period_start)
) STRICT;

-- Changes of days ----------------------------------------------------------------------------------------
-- Triggers record every write that can change the value of a goal, so that no code has to (database/triggers.py).
-- A change is written by DELETE and INSERT, so that it gets the highest sequence. OR REPLACE would not do: inside
-- a trigger its effect depends on the statement that fired the trigger. Changes remain when their account or
-- setup is deleted, so there is no foreign key.
CREATE TABLE changed_days (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER, trading_day TEXT,  -- either a change of the trades or the cash of an account on a day,
  setup_id INTEGER,  -- or a change of the checklist of a setup
  CHECK ((account_id IS NULL) = (trading_day IS NULL)),
  CHECK ((account_id IS NULL) <> (setup_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX changed_days_once ON changed_days (account_id, trading_day) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX changed_setups_once ON changed_days (setup_id) WHERE setup_id IS NOT NULL;

-- An insert into this view records the day as a change. Null, the day of an open trade, is ignored.
-- A day is recorded again even if no goal has seen its last change yet: a goal may just be computed from what was
-- written up to that change, and will save a cursor that includes it.
CREATE VIEW record_change (account_id, trading_day) AS
SELECT account_id, trading_day FROM changed_days WHERE account_id IS NOT NULL;
CREATE TRIGGER changed_days_of_record INSTEAD OF INSERT ON record_change
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changed_days WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changed_days (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;

-- All trades with the tag are mistakes now, or none.
CREATE TRIGGER changed_days_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO record_change
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id WHERE tag_id = new.id;
END;

-- In another time zone a trade was opened in another hour.
CREATE TRIGGER changed_days_of_timezone AFTER UPDATE OF timezone ON users
WHEN old.timezone <> new.timezone
BEGIN
  INSERT INTO record_change SELECT DISTINCT account_id, trading_day FROM trades
  WHERE account_id IN (SELECT id FROM accounts WHERE user_id = new.id);
END;

-- A longer checklist is not wholly confirmed by old answers, a shorter one may be.
CREATE TRIGGER changed_setups_of_new_confirmation AFTER INSERT ON confirmations
BEGIN
  DELETE FROM changed_days WHERE setup_id = new.setup_id;
  INSERT INTO changed_days (setup_id) VALUES (new.setup_id);
END;
CREATE TRIGGER changed_setups_of_deleted_confirmation AFTER DELETE ON confirmations
BEGIN
  DELETE FROM changed_days WHERE setup_id = old.setup_id;
  INSERT INTO changed_days (setup_id) VALUES (old.setup_id);
END;

-- The pace of a running period counts the trading days that are left.
CREATE TRIGGER goals_of_trading_weekdays AFTER UPDATE OF trading_weekdays ON users
WHEN old.trading_weekdays <> new.trading_weekdays
BEGIN UPDATE goals SET evaluated_on = NULL WHERE user_id = new.id AND status = 'active'; END;

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

-- An index of external content is told of every row, and of the texts that a deleted row had.
CREATE TRIGGER search_index_of_new AFTER INSERT ON search_documents
BEGIN INSERT INTO search_index (rowid, title, text) VALUES (new.id, new.title, new.text); END;
CREATE TRIGGER search_index_of_deleted AFTER DELETE ON search_documents
BEGIN
  INSERT INTO search_index (search_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;

-- An insert into this view replaces what can be found of a row; without title and text nothing can.
CREATE VIEW found_texts (user_id, resource, row_id, part, at, title, text) AS
SELECT user_id, resource, row_id, part, at, title, text FROM search_documents;
CREATE TRIGGER search_documents_of_text INSTEAD OF INSERT ON found_texts
BEGIN
  DELETE FROM search_documents WHERE resource = new.resource AND row_id = new.row_id AND part = new.part;
  INSERT INTO search_documents (user_id, resource, row_id, part, at, title, text)
  SELECT new.user_id, new.resource, new.row_id, new.part, new.at, new.title, new.text
  WHERE coalesce(new.title, new.text) IS NOT NULL;
END;

-- Results are in the order of time: a trade that was opened at another time moves with all that is found as it.
CREATE TRIGGER search_documents_of_moved_trade AFTER UPDATE OF opened_at ON trades
WHEN old.opened_at <> new.opened_at
BEGIN UPDATE search_documents SET at = new.opened_at WHERE resource = 'trades' AND row_id = new.id; END;

-- Changes of objects, for clients that follow them (/v1/changes) ------------------------------------------------
-- Triggers record every write to what a response shows, whoever writes (database/triggers.py). A row moves to the end
-- when its object changes again. The newest row of a user is never deleted, so that `seq` only rises.
CREATE TABLE changed_objects (
  user_id INTEGER NOT NULL, seq INTEGER NOT NULL,
  resource TEXT NOT NULL,  -- as in the path of its list, with _ for -
  id ANY NOT NULL,  -- of an instrument its root
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  at TEXT NOT NULL,
  PRIMARY KEY (user_id, seq),
  UNIQUE (user_id, resource, id)
) STRICT, WITHOUT ROWID;

-- An insert into this view records a change of an object. Null, the day of a picture of a trade, is ignored.
CREATE VIEW record_object (user_id, resource, id, deleted) AS
SELECT user_id, resource, id, deleted FROM changed_objects;
CREATE TRIGGER changed_objects_of_record INSTEAD OF INSERT ON record_object
WHEN new.id IS NOT NULL
BEGIN
  INSERT INTO changed_objects
  SELECT new.user_id, coalesce(max(seq), 0) + 1, new.resource, new.id, new.deleted,
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  FROM changed_objects
  WHERE user_id = new.user_id
  ON CONFLICT (user_id, resource, id) DO UPDATE
  SET seq = excluded.seq, deleted = excluded.deleted, at = excluded.at;
END;

-- A user is an object of itself. Statistics and cursors in its row are no change, and nobody follows a deleted user.
CREATE TRIGGER changed_objects_of_user AFTER UPDATE OF
  name, timezone, day_rollover, active_account_id, active_copy_group_id, trading_weekdays, breakeven_within,
  plan_template, review_template ON users
BEGIN INSERT INTO record_object VALUES (new.id, 'me', new.id, 0); END;
CREATE TRIGGER changed_objects_of_deleted_user AFTER DELETE ON users
BEGIN DELETE FROM changed_objects WHERE user_id = old.id; END;

-- What arrived of a payout follows from the share of its account, unless the owner states it.
CREATE TRIGGER payouts_show_the_share AFTER UPDATE OF payout_share ON accounts
WHEN old.payout_share IS NOT new.payout_share
BEGIN
  INSERT INTO record_object
  SELECT new.user_id, 'cash', id, 0
  FROM cash_movements
  WHERE account_id = new.id AND kind = 'payout' AND received IS NULL;
END;

-- What belongs to an account has its user, so it is deleted before the account.
CREATE TRIGGER accounts_take_their_parts_along BEFORE DELETE ON accounts
BEGIN
  DELETE FROM cash_movements WHERE account_id = old.id;
  DELETE FROM checkpoints WHERE account_id = old.id;
END;

-- The trade shows something else, though nobody has edited it. The time is the last of its millisecond, so that it
-- is later than that of an edit.
CREATE TRIGGER trades_changed_by_deleted_tag AFTER DELETE ON trade_tags
WHEN NOT EXISTS (SELECT 1 FROM tags WHERE id = old.tag_id)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
CREATE TRIGGER trades_changed_by_deleted_confirmation AFTER DELETE ON confirmation_answers
WHEN NOT EXISTS (SELECT 1 FROM confirmations WHERE id = old.confirmation_id)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
CREATE TRIGGER trades_changed_unedited AFTER UPDATE OF strategy_id, setup_id ON trades
WHEN old.updated_at = new.updated_at
 AND (old.strategy_id, old.setup_id) IS NOT (new.strategy_id, new.setup_id)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = new.id; END;

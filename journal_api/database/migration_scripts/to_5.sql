-- Version 5: trading weekdays, point values, commissions, time zones of files, import profiles.

ALTER TABLE users ADD COLUMN trading_weekdays TEXT NOT NULL DEFAULT '[1,2,3,4,5]';

CREATE TABLE account_fees (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  per_side INTEGER NOT NULL CHECK (per_side >= 0),
  PRIMARY KEY (account_id, root)
) STRICT, WITHOUT ROWID;
CREATE TABLE instruments (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  root TEXT NOT NULL,
  point_value INTEGER NOT NULL CHECK (point_value > 0),
  PRIMARY KEY (user_id, root)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_timezones (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  PRIMARY KEY (import_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_timezones_of_account ON import_timezones (account_id);
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

-- Another currency decides which amounts can be added.
CREATE TRIGGER goals_of_changed_currency AFTER UPDATE OF currency ON accounts
WHEN old.currency <> new.currency
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;

ALTER TABLE idempotency_keys ADD COLUMN warnings BLOB NOT NULL DEFAULT X'';

ALTER TABLE api_keys ADD COLUMN last_used_on TEXT;

ALTER TABLE goals ADD COLUMN stopped_on TEXT;
UPDATE goals SET stopped_on = coalesce(evaluated_on, substr(updated_at, 1, 10)) WHERE status <> 'active';

-- An import records its days together.
DROP TRIGGER changes_of_inserted_trade;
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
WHEN new.import_id IS NULL
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
CREATE TRIGGER changes_of_import AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE import_id = new.id;
END;

-- The R of a decision leaves out the rows without a risk, so every history is rebuilt at the next read.
UPDATE goals SET change_cursor = NULL;

-- The report that was called performance is Position History. Performance is another report.
UPDATE imports SET format = 'Tradovate position history' WHERE format = 'Tradovate performance';

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

ALTER TABLE idempotency_keys ADD COLUMN warnings BLOB NOT NULL DEFAULT X'';

ALTER TABLE api_keys ADD COLUMN last_used_on TEXT;

ALTER TABLE goals ADD COLUMN stopped_on TEXT;
UPDATE goals SET stopped_on = coalesce(evaluated_on, substr(updated_at, 1, 10)) WHERE status <> 'active';

-- The R of a decision leaves out the rows without a risk, so every history is rebuilt at the next read.
UPDATE goals SET change_cursor = NULL;

-- The report that was called performance is Position History. Performance is another report.
UPDATE imports SET format = 'Tradovate position history' WHERE format = 'Tradovate performance';

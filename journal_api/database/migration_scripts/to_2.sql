-- Version 2: imports that update trades, span accounts and can be undone; idempotency keys.

CREATE TABLE new_imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  format TEXT NOT NULL,
  file_name TEXT,
  sha256 TEXT NOT NULL,
  timezone TEXT NOT NULL,
  added INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  duplicates INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
INSERT INTO sqlite_sequence (name, seq)
SELECT 'new_imports', seq FROM sqlite_sequence WHERE name = 'imports';
INSERT INTO new_imports
SELECT id, user_id, account_id, format, file_name, sha256, timezone, added, 0, duplicates, created_at,
    created_at
FROM imports;
DROP TABLE imports;
ALTER TABLE new_imports RENAME TO imports;

ALTER TABLE trades ADD COLUMN content BLOB;

CREATE TABLE import_updates (
  import_id INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  trade_id INTEGER NOT NULL REFERENCES trades (id) ON DELETE CASCADE,
  written_at TEXT NOT NULL,
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
  PRIMARY KEY (import_id, trade_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL,
  headers TEXT NOT NULL,
  content BLOB NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (user_id, key)
) STRICT;

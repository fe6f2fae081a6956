-- Version 10: what the owner writes on a day, templates of it, pictures, the search, who chose the file
-- of an import, and changes of objects, for clients that follow them.

ALTER TABLE users ADD COLUMN plan_template TEXT;
ALTER TABLE users ADD COLUMN review_template TEXT;
ALTER TABLE users ADD COLUMN expired_cursor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trades ADD COLUMN touched_at TEXT;
ALTER TABLE imports ADD COLUMN source TEXT NOT NULL DEFAULT 'user' CHECK (source IN ('user', 'folder'));

CREATE TABLE days (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  date TEXT NOT NULL,
  plan TEXT,
  review TEXT,
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

-- Keys with every scope, or with every scope that reads, get the scopes of days too.
UPDATE api_keys
SET scopes = replace(scopes, 'read:settings', 'read:days write:days read:settings')
WHERE scopes = 'read:tags write:tags read:strategies write:strategies '
  || 'read:goals write:goals read:accounts write:accounts '
  || 'read:copy_groups write:copy_groups read:trades write:trades '
  || 'read:settings write:settings';
UPDATE api_keys
SET scopes = replace(scopes, 'read:settings', 'read:days read:settings')
WHERE scopes = 'read:tags read:strategies read:goals read:accounts '
  || 'read:copy_groups read:trades read:settings';

CREATE TABLE search_documents (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL,
  resource TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  at TEXT NOT NULL,
  title TEXT,
  text TEXT,
  UNIQUE (resource, row_id, part)
) STRICT;

CREATE TABLE object_changes (
  user_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  resource TEXT NOT NULL,
  id ANY NOT NULL,
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  at TEXT NOT NULL,
  PRIMARY KEY (user_id, seq),
  UNIQUE (user_id, resource, id)
) STRICT, WITHOUT ROWID;

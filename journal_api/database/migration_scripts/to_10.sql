-- Version 10: what the owner writes on a day, templates of it, and the search.

ALTER TABLE users ADD COLUMN plan_template TEXT;
ALTER TABLE users ADD COLUMN review_template TEXT;

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
CREATE INDEX days_of_tag ON day_tags (tag_id);

CREATE TRIGGER days_without_content AFTER DELETE ON day_tags
BEGIN
  DELETE FROM days
  WHERE id = old.day_id
    AND coalesce(plan, review, rating) IS NULL
    AND NOT EXISTS (SELECT 1 FROM day_tags WHERE day_id = old.day_id);
END;

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

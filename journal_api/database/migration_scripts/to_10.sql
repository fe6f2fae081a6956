-- Version 10: pictures of trades and of days.

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
CREATE INDEX pictures_of_user ON pictures (user_id, day, sort_order, id);
CREATE INDEX pictures_of_trade ON pictures (trade_id, sort_order, id) WHERE trade_id IS NOT NULL;
CREATE INDEX pictures_of_content ON pictures (content_id);

CREATE TRIGGER contents_of_deleted_picture AFTER DELETE ON pictures
WHEN NOT EXISTS (SELECT 1 FROM pictures WHERE content_id = old.content_id)
BEGIN
  DELETE FROM picture_contents WHERE id = old.content_id;
END;

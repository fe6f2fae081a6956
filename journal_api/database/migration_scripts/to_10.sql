-- Version 10: what the owner writes on a day, templates of it, pictures, the search, and who chose
-- the file of an import.

ALTER TABLE users ADD COLUMN plan_template TEXT;
ALTER TABLE users ADD COLUMN review_template TEXT;
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
CREATE INDEX days_of_tag ON day_tags (tag_id);

CREATE TRIGGER days_without_content AFTER DELETE ON day_tags
BEGIN
  DELETE FROM days
  WHERE id = old.day_id
    AND coalesce(plan, review, rating) IS NULL
    AND NOT EXISTS (SELECT 1 FROM day_tags WHERE day_id = old.day_id);
END;

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

-- What was written before this version.
INSERT INTO found_texts
SELECT user_id, 'trades', id, 0, opened_at, NULL, notes FROM trades WHERE notes IS NOT NULL;
INSERT INTO found_texts
SELECT user_id, 'trades', trades.id, confirmation_id, opened_at, NULL, confirmation_answers.notes
FROM confirmation_answers
JOIN trades ON trades.id = trade_id
WHERE confirmation_answers.notes IS NOT NULL;
INSERT INTO found_texts
SELECT user_id, 'strategies', id, 0, created_at, name, description FROM strategies;
INSERT INTO found_texts
SELECT user_id, 'setups', setups.id, 0, created_at, setups.name, setups.description
FROM setups
JOIN strategies ON strategies.id = strategy_id;
INSERT INTO found_texts
SELECT user_id, 'tags', id, 0, created_at, name, NULL FROM tags;
INSERT INTO found_texts
SELECT user_id, 'goals', id, 0, created_at, goal_name, NULL FROM goals;

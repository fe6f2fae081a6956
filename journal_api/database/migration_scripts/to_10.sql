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

CREATE TRIGGER record_new_goals AFTER INSERT ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
CREATE TRIGGER record_changed_goals AFTER UPDATE OF
  goal_name, metric, target_value, direction, timeframe, custom_start, custom_end, account_id, copy_group_id,
  follows_selection, status, updated_at ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
CREATE TRIGGER record_deleted_goals AFTER DELETE ON goals
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'goals', old.id, 1); END;

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

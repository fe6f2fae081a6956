-- Version 10: changes of objects, for clients that follow them.

ALTER TABLE users ADD COLUMN expired_cursor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trades ADD COLUMN touched_at TEXT;

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
  name, timezone, day_rollover, active_account_id, active_copy_group_id, trading_weekdays, breakeven_within ON users
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

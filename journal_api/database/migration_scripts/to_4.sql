-- Version 4: the balances of goals in columns, and new names for the change cursor and the touched days.

DROP INDEX goals_by_seen_change;
DROP VIEW marks;
DROP TRIGGER changes_of_inserted_trade;
DROP TRIGGER changes_of_deleted_trade;
DROP TRIGGER changes_of_updated_trade;
DROP TRIGGER changes_of_tagged_trade;
DROP TRIGGER changes_of_untagged_trade;
DROP TRIGGER changes_of_tag_type;
DROP TRIGGER changes_of_new_answer;
DROP TRIGGER changes_of_answer;
DROP TRIGGER changes_of_deleted_answer;
DROP TRIGGER goals_redefined;
DROP TRIGGER goals_of_calendar;
DROP TRIGGER goals_of_selection;
DROP TRIGGER goals_of_new_member;
DROP TRIGGER goals_of_former_member;
DROP TRIGGER goals_of_moved_member;
DROP TRIGGER goals_of_new_balance;
DROP TRIGGER goals_of_changed_balance;
DROP TRIGGER goals_of_deleted_account;

ALTER TABLE goals RENAME COLUMN seen_change TO change_cursor;
ALTER TABLE goals RENAME COLUMN fresh_on TO evaluated_on;
ALTER TABLE goals ADD COLUMN carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1));
UPDATE goals SET carries_balance = 1, change_cursor = NULL WHERE metric = 'balance_target';
ALTER TABLE snapshots ADD COLUMN opening_balance INTEGER;
ALTER TABLE snapshots ADD COLUMN closing_balance INTEGER;

CREATE INDEX goals_by_change_cursor ON goals (change_cursor);
CREATE VIEW touched_days (account_id, trading_day) AS
SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;
CREATE TRIGGER touched_days_are_changes INSTEAD OF INSERT ON touched_days
WHEN new.trading_day IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM changes
                 WHERE account_id = new.account_id
                   AND trading_day = new.trading_day
                   AND sequence > (SELECT coalesce(max(change_cursor), 0) FROM goals))
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
END;
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO touched_days
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
  WHERE tag_id = new.id;
END;
CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
WHEN old.was_present <> new.was_present
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
CREATE TRIGGER goals_redefined AFTER UPDATE OF
  metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection
  ON goals
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE id = new.id;
END;
CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;
CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id AND follows_selection;
END;
CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = new.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;
CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = old.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;
CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
     OR (follows_selection
         AND user_id IN (SELECT id FROM users
                         WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
END;
CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
WHEN old.starting_balance <> new.starting_balance
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = old.user_id;
END;

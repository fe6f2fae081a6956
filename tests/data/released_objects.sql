-- The indexes, views, triggers and the search index of every released schema, each with its first and last version.
-- 1-12
CREATE INDEX tag_categories_in_order ON tag_categories (user_id, sort_name, id);
-- 1-12
CREATE INDEX tags_in_order ON tags (user_id, sort_name, id);
-- 1-12
CREATE INDEX tags_of_category ON tags (category_id);
-- 1-12
CREATE INDEX accounts_in_order ON accounts (user_id, sort_name, id);
-- 1-12
CREATE INDEX copy_groups_in_order ON copy_groups (user_id, sort_name, id);
-- 1-12
CREATE INDEX members_of_copy_group ON copy_group_members (copy_group_id);
-- 1-12
CREATE INDEX strategies_in_order ON strategies (user_id, sort_name, id);
-- 1-12
CREATE INDEX strategies_of_account ON strategies (account_id);
-- 1-12
CREATE INDEX strategies_of_copy_group ON strategies (copy_group_id);
-- 1-12
CREATE INDEX setups_in_order ON setups (strategy_id, sort_order, id);
-- 1-12
CREATE INDEX confirmations_in_order ON confirmations (setup_id, sort_order, id);
-- 1-12
CREATE INDEX imports_of_user ON imports (user_id, id);
-- 1-12
CREATE INDEX imports_of_account ON imports (account_id);
-- 1-12
CREATE INDEX trades_in_order ON trades (account_id, trading_day, closed_at, id);
-- 1-12
CREATE INDEX trades_of_user ON trades (user_id, opened_at, id);
-- 1-7
CREATE INDEX trades_of_strategy ON trades (strategy_id) WHERE strategy_id IS NOT NULL;
-- 1-7
CREATE INDEX trades_of_setup ON trades (setup_id) WHERE setup_id IS NOT NULL;
-- 1-12
CREATE INDEX trades_of_source ON trades (source_trade_id) WHERE source_trade_id IS NOT NULL;
-- 1-12
CREATE INDEX trades_of_import ON trades (import_id) WHERE import_id IS NOT NULL;
-- 1-12
CREATE INDEX trades_of_tag ON trade_tags (tag_id);
-- 1-12
CREATE INDEX answers_of_confirmation ON confirmation_answers (confirmation_id);
-- 1-12
CREATE TRIGGER trades_keep_copies_together BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM trades WHERE source_trade_id = old.id)
BEGIN
  UPDATE trades
  SET source_trade_id = (SELECT min(id) FROM trades WHERE source_trade_id = old.id)
  WHERE source_trade_id = old.id
    AND id > (SELECT min(id) FROM trades WHERE source_trade_id = old.id);
END;
-- 1-12
CREATE TRIGGER trades_drop_answers_of_old_setup AFTER UPDATE OF setup_id ON trades
WHEN old.setup_id IS NOT new.setup_id
BEGIN
  DELETE FROM confirmation_answers WHERE trade_id = new.id;
END;
-- 1-12
CREATE INDEX goals_of_user ON goals (user_id, id);
-- 1-12
CREATE INDEX goals_of_account ON goals (account_id);
-- 1-12
CREATE INDEX goals_of_copy_group ON goals (copy_group_id);
-- 1-10
CREATE UNIQUE INDEX changes_of_day ON changes (account_id, trading_day) WHERE account_id IS NOT NULL;
-- 1-10
CREATE UNIQUE INDEX changes_of_setup ON changes (setup_id) WHERE setup_id IS NOT NULL;
-- 1-3
CREATE VIEW marks (account_id, trading_day) AS
SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;
-- 1-2
CREATE TRIGGER marks_are_changes INSTEAD OF INSERT ON marks
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;
-- 1-3
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO marks VALUES (new.account_id, new.trading_day);
END;
-- 1-3
CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO marks VALUES (old.account_id, old.trading_day);
END;
-- 1-3
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.closed_at, old.gross_pnl, old.fees, old.initial_risk, old.grade,
      old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.closed_at, new.gross_pnl, new.fees, new.initial_risk, new.grade,
      new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO marks VALUES (old.account_id, old.trading_day);
  INSERT INTO marks VALUES (new.account_id, new.trading_day);
END;
-- 1-3
CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 1-3
CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
-- 1-3
CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO marks
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
  WHERE tag_id = new.id;
END;
-- 1-3
CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 1-3
CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
WHEN old.was_present <> new.was_present
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 1-3
CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO marks SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
-- 1-10
CREATE TRIGGER changes_of_longer_checklist AFTER INSERT ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = new.setup_id;
  INSERT INTO changes (setup_id) VALUES (new.setup_id);
END;
-- 1-10
CREATE TRIGGER changes_of_shorter_checklist AFTER DELETE ON confirmations
BEGIN
  DELETE FROM changes WHERE setup_id = old.setup_id;
  INSERT INTO changes (setup_id) VALUES (old.setup_id);
END;
-- 1-3
CREATE TRIGGER goals_redefined AFTER UPDATE OF
  metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection ON goals
BEGIN
  UPDATE goals SET seen_change = NULL WHERE id = new.id;
END;
-- 1-3
CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.id;
END;
-- 1-3
CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.id AND follows_selection;
END;
-- 1-3
CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id = new.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;
-- 1-3
CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id = old.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;
-- 1-3
CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  UPDATE goals SET seen_change = NULL
  WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
     OR (follows_selection
         AND user_id IN (SELECT id FROM users
                         WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
END;
-- 1-3
CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.user_id AND metric = 'balance_target';
END;
-- 1-3
CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
WHEN old.starting_balance <> new.starting_balance
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = new.user_id AND metric = 'balance_target';
END;
-- 1-3
CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET seen_change = NULL WHERE user_id = old.user_id;
END;
-- 2-11
CREATE INDEX import_updates_of_trade ON import_updates (trade_id);
-- 2-12
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
-- 3-11
CREATE TRIGGER imports_of_deleted_trade AFTER DELETE ON trades
WHEN old.import_id IS NOT NULL
BEGIN
  UPDATE imports SET deleted = deleted + 1 WHERE id = old.import_id;
END;
-- 3-12
CREATE INDEX trades_of_account ON trades (account_id, opened_at, id);
-- 3-7
CREATE INDEX trades_of_symbol ON trades (user_id, symbol, opened_at, id);
-- 3-12
CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
-- 3-12
CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
-- 3-8
CREATE INDEX trades_breakeven ON trades (user_id, opened_at, id) WHERE net_pnl = 0;
-- 3-3
CREATE INDEX goals_by_seen_change ON goals (seen_change);
-- 3-3
CREATE TRIGGER marks_are_changes INSTEAD OF INSERT ON marks
WHEN new.trading_day IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM changes
                 WHERE account_id = new.account_id
                   AND trading_day = new.trading_day
                   AND sequence > (SELECT coalesce(max(seen_change), 0) FROM goals))
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;
-- 4-6
CREATE INDEX goals_by_change_cursor ON goals (change_cursor);
-- 4-10
CREATE VIEW touched_days (account_id, trading_day) AS
SELECT account_id, trading_day FROM changes WHERE account_id IS NOT NULL;
-- 4-6
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
-- 4-4
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
-- 4-10
CREATE TRIGGER changes_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
END;
-- 4-7
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
-- 4-10
CREATE TRIGGER changes_of_tagged_trade AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 4-10
CREATE TRIGGER changes_of_untagged_trade AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
-- 4-10
CREATE TRIGGER changes_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO touched_days
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id
  WHERE tag_id = new.id;
END;
-- 4-10
CREATE TRIGGER changes_of_new_answer AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 4-10
CREATE TRIGGER changes_of_answer AFTER UPDATE OF was_present ON confirmation_answers
WHEN old.was_present <> new.was_present
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = new.trade_id;
END;
-- 4-10
CREATE TRIGGER changes_of_deleted_answer AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO touched_days SELECT account_id, trading_day FROM trades WHERE id = old.trade_id;
END;
-- 4-10
CREATE TRIGGER goals_redefined AFTER UPDATE OF
  metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection
  ON goals
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE id = new.id;
END;
-- 4-10
CREATE TRIGGER goals_of_calendar AFTER UPDATE OF timezone, day_rollover ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;
-- 4-10
CREATE TRIGGER goals_of_selection AFTER UPDATE OF active_account_id, active_copy_group_id ON users
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id AND follows_selection;
END;
-- 4-10
CREATE TRIGGER goals_of_new_member AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = new.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;
-- 4-10
CREATE TRIGGER goals_of_former_member AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id = old.copy_group_id
     OR (follows_selection
         AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;
-- 4-10
CREATE TRIGGER goals_of_moved_member AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL
  WHERE copy_group_id IN (old.copy_group_id, new.copy_group_id)
     OR (follows_selection
         AND user_id IN (SELECT id FROM users
                         WHERE active_copy_group_id IN (old.copy_group_id, new.copy_group_id)));
END;
-- 4-10
CREATE TRIGGER goals_of_new_balance AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
-- 4-10
CREATE TRIGGER goals_of_changed_balance AFTER UPDATE OF starting_balance ON accounts
WHEN old.starting_balance <> new.starting_balance
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
-- 4-10
CREATE TRIGGER goals_of_deleted_account AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = old.user_id;
END;
-- 5-12
CREATE INDEX import_timezones_of_account ON import_timezones (account_id);
-- 5-12
CREATE INDEX import_profiles_in_order ON import_profiles (user_id, sort_name, id);
-- 5-10
CREATE TRIGGER goals_of_changed_currency AFTER UPDATE OF currency ON accounts
WHEN old.currency <> new.currency
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;
-- 5-10
CREATE TRIGGER changes_of_inserted_trade AFTER INSERT ON trades
WHEN new.import_id IS NULL
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.trading_day);
END;
-- 5-10
CREATE TRIGGER changes_of_import AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE import_id = new.id;
END;
-- 6-12
CREATE TRIGGER goals_of_trading_weekdays AFTER UPDATE OF trading_weekdays ON users
WHEN old.trading_weekdays <> new.trading_weekdays
BEGIN
  UPDATE goals SET evaluated_on = NULL WHERE user_id = new.id AND status = 'active';
END;
-- 7-10
CREATE TRIGGER touched_days_are_changes INSTEAD OF INSERT ON touched_days
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;
-- 8-12
CREATE INDEX trades_of_strategy ON trades (strategy_id, opened_at, id) WHERE strategy_id IS NOT NULL;
-- 8-12
CREATE INDEX trades_of_setup ON trades (setup_id, opened_at, id) WHERE setup_id IS NOT NULL;
-- 8-12
CREATE INDEX trades_of_contract ON trades (user_id, contract, opened_at, id);
-- 8-12
CREATE INDEX trades_without_costs ON trades (user_id, opened_at, id) WHERE fees_source = 'none';
-- 8-12
CREATE INDEX trades_merged ON trades (account_id) WHERE merged IS NOT NULL;
-- 8-12
CREATE INDEX import_links_of_trade ON import_links (trade_id);
-- 8-12
CREATE UNIQUE INDEX facts_of_trade ON trade_facts (id);
-- 8-8
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.opened_at, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.contract, old.root, old.direction, old.strategy_id, old.setup_id, old.source_trade_id)
 IS NOT (new.account_id, new.trading_day, new.opened_at, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.contract, new.root, new.direction, new.strategy_id, new.setup_id, new.source_trade_id)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days
  SELECT new.account_id, new.trading_day
  WHERE (old.account_id, old.trading_day) IS NOT (new.account_id, new.trading_day);
END;
-- 8-10
CREATE TRIGGER changes_of_timezone AFTER UPDATE OF timezone ON users
WHEN old.timezone <> new.timezone
BEGIN
  INSERT INTO touched_days SELECT DISTINCT account_id, trading_day FROM trades WHERE user_id = new.id;
END;
-- 8-10
CREATE VIEW counted_trades AS
SELECT user_id, account_id, contract, root, direction, 0 AS net_pnl, grade, strategy_id, setup_id, trades
FROM trade_counts;
-- 8-8
CREATE TRIGGER counted_trades_are_counts INSTEAD OF INSERT ON counted_trades
BEGIN
  INSERT INTO trade_counts
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > 0 THEN 'win' WHEN new.net_pnl < 0 THEN 'loss' WHEN new.net_pnl = 0 THEN 'breakeven'
      ELSE 'open' END,
    coalesce(new.grade, ''), coalesce(new.strategy_id, 0), coalesce(new.setup_id, 0), new.trades)
  ON CONFLICT DO UPDATE SET trades = trades + excluded.trades;
END;
-- 8-12
CREATE TRIGGER trade_counts_of_nothing AFTER UPDATE OF trades ON trade_counts
WHEN new.trades = 0
BEGIN
  DELETE FROM trade_counts
  WHERE (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
      = (new.user_id, new.account_id, new.contract, new.root, new.direction, new.outcome, new.grade,
         new.strategy_id, new.setup_id);
END;
-- 8-10
CREATE TRIGGER counts_of_inserted_trade AFTER INSERT ON trades
BEGIN
  INSERT INTO counted_trades
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade,
    new.strategy_id, new.setup_id, 1);
END;
-- 8-10
CREATE TRIGGER counts_of_deleted_trade AFTER DELETE ON trades
BEGIN
  INSERT INTO counted_trades
  VALUES (old.user_id, old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade,
    old.strategy_id, old.setup_id, -1);
END;
-- 8-10
CREATE TRIGGER counts_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade, old.strategy_id, old.setup_id)
 IS NOT (new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade, new.strategy_id, new.setup_id)
BEGIN
  INSERT INTO counted_trades
  VALUES (old.user_id, old.account_id, old.contract, old.root, old.direction, old.net_pnl, old.grade,
    old.strategy_id, old.setup_id, -1);
  INSERT INTO counted_trades
  VALUES (new.user_id, new.account_id, new.contract, new.root, new.direction, new.net_pnl, new.grade,
    new.strategy_id, new.setup_id, 1);
END;
-- 9-12
CREATE INDEX trades_of_result ON trades (account_id, net_pnl) WHERE net_pnl IS NOT NULL;
-- 9-10
CREATE TRIGGER changes_of_updated_trade AFTER UPDATE ON trades
WHEN (old.account_id, old.trading_day, old.opened_at, old.closed_at, old.gross_pnl, old.fees, old.initial_risk,
      old.grade, old.contract, old.root, old.direction, old.strategy_id, old.setup_id, old.source_trade_id,
      old.mae, old.mfe)
 IS NOT (new.account_id, new.trading_day, new.opened_at, new.closed_at, new.gross_pnl, new.fees, new.initial_risk,
      new.grade, new.contract, new.root, new.direction, new.strategy_id, new.setup_id, new.source_trade_id,
      new.mae, new.mfe)
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.trading_day);
  INSERT INTO touched_days
  SELECT new.account_id, new.trading_day
  WHERE (old.account_id, old.trading_day) IS NOT (new.account_id, new.trading_day);
END;
-- 9-10
CREATE TRIGGER counted_trades_are_counts INSTEAD OF INSERT ON counted_trades
BEGIN
  INSERT INTO trade_counts
  SELECT new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > breakeven_within THEN 'win' WHEN new.net_pnl < -breakeven_within THEN 'loss'
      WHEN new.net_pnl IS NOT NULL THEN 'breakeven' ELSE 'open' END,
    coalesce(new.grade, ''), coalesce(new.strategy_id, 0), coalesce(new.setup_id, 0), new.trades
  FROM users
  WHERE id = new.user_id
  ON CONFLICT DO UPDATE SET trades = trades + excluded.trades;
END;
-- 9-10
CREATE TRIGGER counts_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  DELETE FROM trade_counts WHERE user_id = new.id;
  INSERT INTO counted_trades
  SELECT user_id, account_id, contract, root, direction, max(net_pnl), grade, strategy_id, setup_id, count(*)
  FROM trades
  WHERE user_id = new.id
  GROUP BY account_id, contract, root, direction, grade, strategy_id, setup_id,
    (net_pnl > new.breakeven_within) - (net_pnl < -new.breakeven_within);
END;
-- 9-10
CREATE TRIGGER counts_of_deleted_user AFTER DELETE ON users
BEGIN
  DELETE FROM trade_counts WHERE user_id = old.id;
END;
-- 9-10
CREATE TRIGGER goals_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;
-- 9-12
CREATE VIEW calendars (account_id, user_id, timezone, day_rollover) AS
SELECT accounts.id, users.id, coalesce(accounts.timezone, users.timezone),
  coalesce(accounts.day_rollover, users.day_rollover)
FROM accounts
JOIN users ON users.id = accounts.user_id;
-- 9-12
CREATE VIEW goal_calendars (goal_id, timezone, day_rollover) AS
SELECT goals.id, coalesce(accounts.timezone, users.timezone), coalesce(accounts.day_rollover, users.day_rollover)
FROM goals
JOIN users ON users.id = goals.user_id
LEFT JOIN accounts ON accounts.id = coalesce(goals.account_id, iif(follows_selection, active_account_id, NULL));
-- 9-12
CREATE INDEX cash_of_account ON cash_movements (account_id, day, id);
-- 9-10
CREATE TRIGGER changes_of_new_cash AFTER INSERT ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (new.account_id, new.day);
END;
-- 9-10
CREATE TRIGGER changes_of_deleted_cash AFTER DELETE ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.day);
END;
-- 9-10
CREATE TRIGGER changes_of_cash AFTER UPDATE OF kind, amount, day ON cash_movements
BEGIN
  INSERT INTO touched_days VALUES (old.account_id, old.day);
  INSERT INTO touched_days VALUES (new.account_id, new.day);
END;
-- 9-10
CREATE TRIGGER goals_of_account_calendar AFTER UPDATE OF timezone, day_rollover ON accounts
WHEN (old.timezone, old.day_rollover) IS NOT (new.timezone, new.day_rollover)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;
-- 10-12
CREATE INDEX days_of_tag ON day_tags (tag_id);
-- 10-12
CREATE TRIGGER days_without_content AFTER DELETE ON day_tags
BEGIN
  DELETE FROM days
  WHERE id = old.day_id
    AND coalesce(plan, review, rating) IS NULL
    AND NOT EXISTS (SELECT 1 FROM day_tags WHERE day_id = old.day_id);
END;
-- 10-12
CREATE INDEX pictures_of_user ON pictures (user_id, day, sort_order, id);
-- 10-12
CREATE INDEX pictures_of_trade ON pictures (trade_id, sort_order, id) WHERE trade_id IS NOT NULL;
-- 10-12
CREATE INDEX pictures_of_content ON pictures (content_id);
-- 10-12
CREATE TRIGGER contents_of_deleted_picture AFTER DELETE ON pictures
WHEN NOT EXISTS (SELECT 1 FROM pictures WHERE content_id = old.content_id)
BEGIN
  DELETE FROM picture_contents WHERE id = old.content_id;
END;
-- 10-12
CREATE INDEX search_documents_of_user ON search_documents (user_id, at);
-- 10-12
CREATE VIRTUAL TABLE search_index USING fts5 (
  title, text, content = 'search_documents', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2',
  prefix = '2 3'
);
-- 10-12
CREATE TRIGGER search_index_of_new AFTER INSERT ON search_documents
BEGIN
  INSERT INTO search_index (rowid, title, text) VALUES (new.id, new.title, new.text);
END;
-- 10-12
CREATE TRIGGER search_index_of_deleted AFTER DELETE ON search_documents
BEGIN
  INSERT INTO search_index (search_index, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;
-- 10-12
CREATE VIEW found_texts (user_id, resource, row_id, part, at, title, text) AS
SELECT user_id, resource, row_id, part, at, title, text FROM search_documents;
-- 10-10
CREATE TRIGGER found_texts_are_documents INSTEAD OF INSERT ON found_texts
BEGIN
  DELETE FROM search_documents WHERE resource = new.resource AND row_id = new.row_id AND part = new.part;
  INSERT INTO search_documents (user_id, resource, row_id, part, at, title, text)
  SELECT new.user_id, new.resource, new.row_id, new.part, new.at, new.title, new.text
  WHERE coalesce(new.title, new.text) IS NOT NULL;
END;
-- 10-10
CREATE TRIGGER search_of_new_trade AFTER INSERT ON trades
WHEN new.notes IS NOT NULL
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes);
END;
-- 10-10
CREATE TRIGGER search_of_notes AFTER UPDATE OF notes ON trades
WHEN old.notes IS NOT new.notes
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes);
END;
-- 10-10
CREATE TRIGGER search_of_moved_trade AFTER UPDATE OF opened_at ON trades
WHEN old.opened_at <> new.opened_at
BEGIN
  UPDATE search_documents SET at = new.opened_at WHERE resource = 'trades' AND row_id = new.id;
END;
-- 10-10
CREATE TRIGGER search_of_deleted_trade AFTER DELETE ON trades
WHEN old.notes IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE resource = 'trades' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE TRIGGER search_of_new_answer AFTER INSERT ON confirmation_answers
WHEN new.notes IS NOT NULL
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'trades', id, new.confirmation_id, opened_at, NULL, new.notes FROM trades WHERE id = new.trade_id;
END;
-- 10-10
CREATE TRIGGER search_of_answer AFTER UPDATE OF notes ON confirmation_answers
WHEN old.notes IS NOT new.notes
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'trades', id, new.confirmation_id, opened_at, NULL, new.notes FROM trades WHERE id = new.trade_id;
END;
-- 10-10
CREATE TRIGGER search_of_deleted_answer AFTER DELETE ON confirmation_answers
WHEN old.notes IS NOT NULL
BEGIN
  DELETE FROM search_documents
  WHERE resource = 'trades' AND row_id = old.trade_id AND part = old.confirmation_id;
END;
-- 10-10
CREATE TRIGGER search_of_new_day AFTER INSERT ON days
BEGIN
  INSERT INTO found_texts
  VALUES (new.user_id, 'days', new.id, 0, new.date, NULL,
    coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review));
END;
-- 10-10
CREATE TRIGGER search_of_day AFTER UPDATE OF plan, review ON days
WHEN (old.plan, old.review) IS NOT (new.plan, new.review)
BEGIN
  INSERT INTO found_texts
  VALUES (new.user_id, 'days', new.id, 0, new.date, NULL,
    coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review));
END;
-- 10-10
CREATE TRIGGER search_of_deleted_day AFTER DELETE ON days
BEGIN
  DELETE FROM search_documents WHERE resource = 'days' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE VIEW captions (picture_id, user_id, resource, row_id, part, at, title, text) AS
SELECT pictures.id, pictures.user_id, iif(day IS NULL, 'trades', 'days'), coalesce(trade_id, pictures.id),
  iif(day IS NULL, -pictures.id, -1), coalesce(day, opened_at), NULL, caption
FROM pictures
LEFT JOIN trades ON trades.id = trade_id;
-- 10-10
CREATE TRIGGER search_of_new_picture AFTER INSERT ON pictures
WHEN new.caption IS NOT NULL
BEGIN
  INSERT INTO found_texts
  SELECT user_id, resource, row_id, part, at, title, text FROM captions WHERE picture_id = new.id;
END;
-- 10-10
CREATE TRIGGER search_of_caption AFTER UPDATE OF caption, trade_id ON pictures
WHEN (old.caption, old.trade_id) IS NOT (new.caption, new.trade_id)
BEGIN
  DELETE FROM search_documents
  WHERE resource = 'trades' AND row_id = old.trade_id AND part = -old.id;
  INSERT INTO found_texts
  SELECT user_id, resource, row_id, part, at, title, text FROM captions WHERE picture_id = new.id;
END;
-- 10-10
CREATE TRIGGER search_of_deleted_picture AFTER DELETE ON pictures
WHEN old.caption IS NOT NULL
BEGIN
  DELETE FROM search_documents
  WHERE (resource, row_id, part) = (
    iif(old.day IS NULL, 'trades', 'days'), coalesce(old.trade_id, old.id), iif(old.day IS NULL, -old.id, -1));
END;
-- 10-10
CREATE TRIGGER search_of_new_strategy AFTER INSERT ON strategies
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description);
END;
-- 10-10
CREATE TRIGGER search_of_strategy AFTER UPDATE OF name, description ON strategies
WHEN (old.name, old.description) IS NOT (new.name, new.description)
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description);
END;
-- 10-10
CREATE TRIGGER search_of_deleted_strategy AFTER DELETE ON strategies
BEGIN
  DELETE FROM search_documents WHERE resource = 'strategies' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE TRIGGER search_of_new_setup AFTER INSERT ON setups
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'setups', new.id, 0, created_at, new.name, new.description FROM strategies WHERE id = new.strategy_id;
END;
-- 10-10
CREATE TRIGGER search_of_setup AFTER UPDATE OF name, description ON setups
WHEN (old.name, old.description) IS NOT (new.name, new.description)
BEGIN
  INSERT INTO found_texts
  SELECT user_id, 'setups', new.id, 0, created_at, new.name, new.description FROM strategies WHERE id = new.strategy_id;
END;
-- 10-10
CREATE TRIGGER search_of_deleted_setup AFTER DELETE ON setups
BEGIN
  DELETE FROM search_documents WHERE resource = 'setups' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE TRIGGER search_of_new_tag AFTER INSERT ON tags
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL);
END;
-- 10-10
CREATE TRIGGER search_of_tag AFTER UPDATE OF name ON tags
WHEN old.name <> new.name
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL);
END;
-- 10-10
CREATE TRIGGER search_of_deleted_tag AFTER DELETE ON tags
BEGIN
  DELETE FROM search_documents WHERE resource = 'tags' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE TRIGGER search_of_new_goal AFTER INSERT ON goals
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL);
END;
-- 10-10
CREATE TRIGGER search_of_goal AFTER UPDATE OF goal_name ON goals
WHEN old.goal_name <> new.goal_name
BEGIN
  INSERT INTO found_texts VALUES (new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL);
END;
-- 10-10
CREATE TRIGGER search_of_deleted_goal AFTER DELETE ON goals
BEGIN
  DELETE FROM search_documents WHERE resource = 'goals' AND row_id = old.id AND part = 0;
END;
-- 10-10
CREATE VIEW changed_objects (user_id, resource, id, deleted) AS
SELECT user_id, resource, id, deleted FROM object_changes;
-- 10-10
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
-- 10-10
CREATE TRIGGER record_new_tag_categories AFTER INSERT ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tag_categories', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_tag_categories AFTER UPDATE ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tag_categories', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_tag_categories AFTER DELETE ON tag_categories
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'tag_categories', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_tags AFTER INSERT ON tags
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tags', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_tags AFTER UPDATE ON tags
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'tags', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_tags AFTER DELETE ON tags
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'tags', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_copy_groups AFTER INSERT ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'copy_groups', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_copy_groups AFTER UPDATE ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'copy_groups', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_copy_groups AFTER DELETE ON copy_groups
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'copy_groups', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_strategies AFTER INSERT ON strategies
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'strategies', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_strategies AFTER UPDATE ON strategies
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'strategies', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_strategies AFTER DELETE ON strategies
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'strategies', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_import_profiles AFTER INSERT ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'import_profiles', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_import_profiles AFTER UPDATE ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'import_profiles', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_import_profiles AFTER DELETE ON import_profiles
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'import_profiles', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_accounts AFTER INSERT ON accounts
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'accounts', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_accounts AFTER UPDATE ON accounts
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'accounts', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_accounts AFTER DELETE ON accounts
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'accounts', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_instruments AFTER INSERT ON instruments
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'instruments', new.root, 0); END;
-- 10-10
CREATE TRIGGER record_changed_instruments AFTER UPDATE ON instruments
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'instruments', new.root, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_instruments AFTER DELETE ON instruments
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'instruments', old.root, 1); END;
-- 10-10
CREATE TRIGGER record_changed_users AFTER UPDATE OF
  name, timezone, day_rollover, active_account_id, active_copy_group_id, trading_weekdays, breakeven_within,
  plan_template, review_template ON users
BEGIN INSERT INTO changed_objects VALUES (new.id, 'me', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_users AFTER DELETE ON users
BEGIN DELETE FROM object_changes WHERE user_id = old.id; END;
-- 10-10
CREATE TRIGGER record_new_api_keys AFTER INSERT ON api_keys
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'keys', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_api_keys AFTER UPDATE OF name, scopes, expires_at, revoked_at ON api_keys
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'keys', new.id, new.revoked_at IS NOT NULL); END;
-- 10-10
CREATE TRIGGER record_deleted_api_keys AFTER DELETE ON api_keys
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'keys', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_goals AFTER INSERT ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_goals AFTER UPDATE OF
  goal_name, metric, target_value, direction, timeframe, custom_start, custom_end, account_id, copy_group_id,
  follows_selection, status, updated_at ON goals
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'goals', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_goals AFTER DELETE ON goals
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'goals', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_parts_of_accounts BEFORE DELETE ON accounts
BEGIN
  DELETE FROM cash_movements WHERE account_id = old.id;
  DELETE FROM checkpoints WHERE account_id = old.id;
END;
-- 10-10
CREATE TRIGGER record_new_cash_movements AFTER INSERT ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', new.id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_changed_cash_movements AFTER UPDATE ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', new.id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_deleted_cash_movements AFTER DELETE ON cash_movements
BEGIN INSERT INTO changed_objects SELECT user_id, 'cash', old.id, 1 FROM accounts WHERE id = old.account_id; END;
-- 10-10
CREATE TRIGGER record_new_checkpoints AFTER INSERT ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', new.id, 0 FROM accounts WHERE id = new.account_id;
END;
-- 10-10
CREATE TRIGGER record_changed_checkpoints AFTER UPDATE ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', new.id, 0 FROM accounts WHERE id = new.account_id;
END;
-- 10-10
CREATE TRIGGER record_deleted_checkpoints AFTER DELETE ON checkpoints
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'checkpoints', old.id, 1 FROM accounts WHERE id = old.account_id;
END;
-- 10-10
CREATE TRIGGER record_new_account_rules AFTER INSERT ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_changed_account_rules AFTER UPDATE ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_deleted_account_rules AFTER DELETE ON account_rules
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = old.account_id; END;
-- 10-10
CREATE TRIGGER record_new_account_fees AFTER INSERT ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_changed_account_fees AFTER UPDATE ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = new.account_id; END;
-- 10-10
CREATE TRIGGER record_deleted_account_fees AFTER DELETE ON account_fees
BEGIN INSERT INTO changed_objects SELECT user_id, 'accounts', id, 0 FROM accounts WHERE id = old.account_id; END;
-- 10-10
CREATE TRIGGER record_new_days AFTER INSERT ON days
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'days', new.date, 0); END;
-- 10-10
CREATE TRIGGER record_changed_days AFTER UPDATE ON days
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'days', new.date, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_days AFTER DELETE ON days
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'days', old.date, 0); END;
-- 10-10
CREATE TRIGGER record_new_day_tags AFTER INSERT ON day_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'days', date, 0 FROM days WHERE id = new.day_id; END;
-- 10-10
CREATE TRIGGER record_deleted_day_tags AFTER DELETE ON day_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'days', date, 0 FROM days WHERE id = old.day_id; END;
-- 10-10
CREATE TRIGGER record_new_pictures AFTER INSERT ON pictures
BEGIN
  INSERT INTO changed_objects
  VALUES (new.user_id, iif(new.day IS NULL, 'trades', 'days'), coalesce(new.trade_id, new.day), 0);
END;
-- 10-10
CREATE TRIGGER record_changed_pictures AFTER UPDATE ON pictures
BEGIN
  INSERT INTO changed_objects
  VALUES (new.user_id, iif(new.day IS NULL, 'trades', 'days'), coalesce(new.trade_id, new.day), 0);
END;
-- 10-10
CREATE TRIGGER record_moved_pictures AFTER UPDATE OF trade_id, day ON pictures
WHEN (old.trade_id, old.day) IS NOT (new.trade_id, new.day)
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id;
  INSERT INTO changed_objects SELECT old.user_id, 'days', old.day, 0 WHERE old.day IS NOT NULL;
END;
-- 10-10
CREATE TRIGGER record_deleted_pictures AFTER DELETE ON pictures
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id;
  INSERT INTO changed_objects SELECT old.user_id, 'days', old.day, 0 WHERE old.day IS NOT NULL;
END;
-- 10-10
CREATE TRIGGER record_new_copy_group_members AFTER INSERT ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = new.copy_group_id;
END;
-- 10-10
CREATE TRIGGER record_changed_copy_group_members AFTER UPDATE ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = new.copy_group_id;
END;
-- 10-10
CREATE TRIGGER record_deleted_copy_group_members AFTER DELETE ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = old.copy_group_id;
END;
-- 10-10
CREATE TRIGGER record_moved_copy_group_members AFTER UPDATE OF copy_group_id ON copy_group_members
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'copy_groups', id, 0 FROM copy_groups WHERE id = old.copy_group_id;
END;
-- 10-10
CREATE TRIGGER record_new_setups AFTER INSERT ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = new.strategy_id;
END;
-- 10-10
CREATE TRIGGER record_changed_setups AFTER UPDATE ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = new.strategy_id;
END;
-- 10-10
CREATE TRIGGER record_deleted_setups AFTER DELETE ON setups
BEGIN
  INSERT INTO changed_objects SELECT user_id, 'strategies', id, 0 FROM strategies WHERE id = old.strategy_id;
END;
-- 10-10
CREATE TRIGGER record_new_confirmations AFTER INSERT ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = new.setup_id;
END;
-- 10-10
CREATE TRIGGER record_changed_confirmations AFTER UPDATE ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = new.setup_id;
END;
-- 10-10
CREATE TRIGGER record_deleted_confirmations AFTER DELETE ON confirmations
BEGIN
  INSERT INTO changed_objects
  SELECT user_id, 'strategies', strategies.id, 0
  FROM setups
  JOIN strategies ON strategies.id = strategy_id
  WHERE setups.id = old.setup_id;
END;
-- 10-10
CREATE TRIGGER record_new_trade_tags AFTER INSERT ON trade_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
-- 10-10
CREATE TRIGGER record_deleted_trade_tags AFTER DELETE ON trade_tags
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id; END;
-- 10-10
CREATE TRIGGER record_new_confirmation_answers AFTER INSERT ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
-- 10-10
CREATE TRIGGER record_changed_confirmation_answers AFTER UPDATE ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = new.trade_id; END;
-- 10-10
CREATE TRIGGER record_deleted_confirmation_answers AFTER DELETE ON confirmation_answers
BEGIN INSERT INTO changed_objects SELECT user_id, 'trades', id, 0 FROM trades WHERE id = old.trade_id; END;
-- 10-10
CREATE TRIGGER record_new_trades AFTER INSERT ON trades
WHEN new.import_id IS NULL
 OR (SELECT added + updated + duplicates FROM imports WHERE id = new.import_id) > 0
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'trades', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_trades AFTER UPDATE ON trades
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'trades', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_trades AFTER DELETE ON trades
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'trades', old.id, 1); END;
-- 10-10
CREATE TRIGGER record_new_imports AFTER INSERT ON imports
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'imports', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_changed_imports AFTER UPDATE ON imports
BEGIN INSERT INTO changed_objects VALUES (new.user_id, 'imports', new.id, 0); END;
-- 10-10
CREATE TRIGGER record_deleted_imports AFTER DELETE ON imports
BEGIN INSERT INTO changed_objects VALUES (old.user_id, 'imports', old.id, 1); END;
-- 10-10
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
-- 10-10
CREATE TRIGGER trades_touched_by_deleted_tag AFTER DELETE ON trade_tags
WHEN NOT EXISTS (SELECT 1 FROM tags WHERE id = old.tag_id)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
-- 10-10
CREATE TRIGGER trades_touched_by_deleted_confirmation AFTER DELETE ON confirmation_answers
WHEN NOT EXISTS (SELECT 1 FROM confirmations WHERE id = old.confirmation_id)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
-- 10-10
CREATE TRIGGER trades_touched_unedited AFTER UPDATE OF strategy_id, setup_id, trading_day ON trades
WHEN old.updated_at = new.updated_at
 AND (old.strategy_id, old.setup_id, old.trading_day) IS NOT (new.strategy_id, new.setup_id, new.trading_day)
BEGIN UPDATE trades SET touched_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = new.id; END;
-- 11-12
CREATE TRIGGER trade_counts_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  DELETE FROM trade_counts WHERE user_id = new.id;
  INSERT INTO trade_counts SELECT * FROM counted_trades WHERE user_id = new.id;
END;
-- 11-12
CREATE UNIQUE INDEX changed_days_once ON changed_days (account_id, trading_day) WHERE account_id IS NOT NULL;
-- 11-12
CREATE UNIQUE INDEX changed_setups_once ON changed_days (setup_id) WHERE setup_id IS NOT NULL;
-- 11-12
CREATE VIEW record_change (account_id, trading_day) AS
SELECT account_id, trading_day FROM changed_days WHERE account_id IS NOT NULL;
-- 11-12
CREATE TRIGGER changed_days_of_record INSTEAD OF INSERT ON record_change
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changed_days WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changed_days (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;
-- 11-12
CREATE TRIGGER changed_days_of_tag_type AFTER UPDATE OF type ON tags
WHEN old.type <> new.type
BEGIN
  INSERT INTO record_change
  SELECT DISTINCT account_id, trading_day FROM trade_tags JOIN trades ON trades.id = trade_id WHERE tag_id = new.id;
END;
-- 11-12
CREATE TRIGGER changed_days_of_timezone AFTER UPDATE OF timezone ON users
WHEN old.timezone <> new.timezone
BEGIN INSERT INTO record_change SELECT DISTINCT account_id, trading_day FROM trades WHERE user_id = new.id; END;
-- 11-12
CREATE TRIGGER changed_setups_of_new_confirmation AFTER INSERT ON confirmations
BEGIN
  DELETE FROM changed_days WHERE setup_id = new.setup_id;
  INSERT INTO changed_days (setup_id) VALUES (new.setup_id);
END;
-- 11-12
CREATE TRIGGER changed_setups_of_deleted_confirmation AFTER DELETE ON confirmations
BEGIN
  DELETE FROM changed_days WHERE setup_id = old.setup_id;
  INSERT INTO changed_days (setup_id) VALUES (old.setup_id);
END;
-- 11-12
CREATE TRIGGER search_documents_of_text INSTEAD OF INSERT ON found_texts
BEGIN
  DELETE FROM search_documents WHERE resource = new.resource AND row_id = new.row_id AND part = new.part;
  INSERT INTO search_documents (user_id, resource, row_id, part, at, title, text)
  SELECT new.user_id, new.resource, new.row_id, new.part, new.at, new.title, new.text
  WHERE coalesce(new.title, new.text) IS NOT NULL;
END;
-- 11-12
CREATE TRIGGER search_documents_of_moved_trade AFTER UPDATE OF opened_at ON trades
WHEN old.opened_at <> new.opened_at
BEGIN UPDATE search_documents SET at = new.opened_at WHERE resource = 'trades' AND row_id = new.id; END;
-- 11-12
CREATE VIEW record_object (user_id, resource, id, deleted) AS
SELECT user_id, resource, id, deleted FROM changed_objects;
-- 11-12
CREATE TRIGGER changed_objects_of_record INSTEAD OF INSERT ON record_object
WHEN new.id IS NOT NULL
BEGIN
  INSERT INTO changed_objects
  SELECT new.user_id, coalesce(max(seq), 0) + 1, new.resource, new.id, new.deleted,
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  FROM changed_objects
  WHERE user_id = new.user_id
  ON CONFLICT (user_id, resource, id) DO UPDATE
  SET seq = excluded.seq, deleted = excluded.deleted, at = excluded.at;
END;
-- 11-12
CREATE TRIGGER changed_objects_of_user AFTER UPDATE OF
  name, timezone, day_rollover, active_account_id, active_copy_group_id, trading_weekdays, breakeven_within,
  plan_template, review_template ON users
BEGIN INSERT INTO record_object VALUES (new.id, 'me', new.id, 0); END;
-- 11-12
CREATE TRIGGER changed_objects_of_deleted_user AFTER DELETE ON users
BEGIN DELETE FROM changed_objects WHERE user_id = old.id; END;
-- 11-12
CREATE TRIGGER accounts_take_their_parts_along BEFORE DELETE ON accounts
BEGIN
  DELETE FROM cash_movements WHERE account_id = old.id;
  DELETE FROM checkpoints WHERE account_id = old.id;
END;
-- 11-12
CREATE TRIGGER imports_record_their_trades AFTER UPDATE OF added ON imports
BEGIN
  INSERT INTO record_change SELECT DISTINCT account_id, trading_day FROM trades WHERE import_id = new.id;
  INSERT INTO changed_objects
  SELECT user_id, last.seq + row_number() OVER (ORDER BY id), 'trades', id, 0,
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  FROM trades
  JOIN (SELECT coalesce(max(seq), 0) AS seq FROM changed_objects WHERE user_id = new.user_id) AS last
  WHERE import_id = new.id
  ON CONFLICT DO NOTHING;
END;
-- 11-12
CREATE TRIGGER trades_changed_by_deleted_tag AFTER DELETE ON trade_tags
WHEN NOT EXISTS (SELECT 1 FROM tags WHERE id = old.tag_id)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
-- 11-12
CREATE TRIGGER trades_changed_by_deleted_confirmation AFTER DELETE ON confirmation_answers
WHEN NOT EXISTS (SELECT 1 FROM confirmations WHERE id = old.confirmation_id)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = old.trade_id; END;
-- 11-12
CREATE TRIGGER trades_changed_unedited AFTER UPDATE OF strategy_id, setup_id, trading_day ON trades
WHEN old.updated_at = new.updated_at
 AND (old.strategy_id, old.setup_id, old.trading_day) IS NOT (new.strategy_id, new.setup_id, new.trading_day)
BEGIN UPDATE trades SET changed_at = strftime('%Y-%m-%dT%H:%M:%f999Z', 'now') WHERE id = new.id; END;
-- 11-12
CREATE TRIGGER record_new_tag_categories AFTER INSERT ON tag_categories
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'tag_categories', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_tag_categories AFTER UPDATE ON tag_categories
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'tag_categories', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_tag_categories AFTER DELETE ON tag_categories
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'tag_categories', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_tags AFTER INSERT ON tags
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'tags', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_tags AFTER UPDATE ON tags
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'tags', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_tags AFTER DELETE ON tags
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'tags', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_copy_groups AFTER INSERT ON copy_groups
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'copy_groups', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_copy_groups AFTER UPDATE ON copy_groups
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'copy_groups', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_copy_groups AFTER DELETE ON copy_groups
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'copy_groups', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_copy_group_members_in_copy_groups AFTER INSERT ON copy_group_members
BEGIN
  INSERT INTO record_object SELECT copy_groups.user_id, 'copy_groups', copy_groups.id, 0 FROM copy_groups WHERE copy_groups.id = new.copy_group_id;
END;
-- 11-12
CREATE TRIGGER record_changed_copy_group_members_in_copy_groups AFTER UPDATE ON copy_group_members
BEGIN
  INSERT INTO record_object SELECT copy_groups.user_id, 'copy_groups', copy_groups.id, 0 FROM copy_groups WHERE copy_groups.id = new.copy_group_id;
  INSERT INTO record_object SELECT copy_groups.user_id, 'copy_groups', copy_groups.id, 0 FROM copy_groups WHERE copy_groups.id = old.copy_group_id AND old.copy_group_id IS NOT new.copy_group_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_copy_group_members_in_copy_groups AFTER DELETE ON copy_group_members
BEGIN
  INSERT INTO record_object SELECT copy_groups.user_id, 'copy_groups', copy_groups.id, 0 FROM copy_groups WHERE copy_groups.id = old.copy_group_id;
END;
-- 11-12
CREATE TRIGGER record_new_strategies AFTER INSERT ON strategies
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'strategies', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_strategies AFTER UPDATE ON strategies
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'strategies', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_strategies AFTER DELETE ON strategies
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'strategies', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_setups_in_strategies AFTER INSERT ON setups
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM strategies WHERE strategies.id = new.strategy_id;
END;
-- 11-12
CREATE TRIGGER record_changed_setups_in_strategies AFTER UPDATE ON setups
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM strategies WHERE strategies.id = new.strategy_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_setups_in_strategies AFTER DELETE ON setups
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM strategies WHERE strategies.id = old.strategy_id;
END;
-- 11-12
CREATE TRIGGER record_new_confirmations_in_strategies AFTER INSERT ON confirmations
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM setups JOIN strategies ON strategies.id = strategy_id WHERE setups.id = new.setup_id;
END;
-- 11-12
CREATE TRIGGER record_changed_confirmations_in_strategies AFTER UPDATE ON confirmations
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM setups JOIN strategies ON strategies.id = strategy_id WHERE setups.id = new.setup_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_confirmations_in_strategies AFTER DELETE ON confirmations
BEGIN
  INSERT INTO record_object SELECT strategies.user_id, 'strategies', strategies.id, 0 FROM setups JOIN strategies ON strategies.id = strategy_id WHERE setups.id = old.setup_id;
END;
-- 11-12
CREATE TRIGGER record_new_import_profiles AFTER INSERT ON import_profiles
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'import_profiles', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_import_profiles AFTER UPDATE ON import_profiles
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'import_profiles', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_import_profiles AFTER DELETE ON import_profiles
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'import_profiles', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_instruments AFTER INSERT ON instruments
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'instruments', new.root, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_instruments AFTER UPDATE ON instruments
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'instruments', new.root, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_instruments AFTER DELETE ON instruments
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'instruments', old.root, 1;
END;
-- 11-12
CREATE TRIGGER record_new_imports AFTER INSERT ON imports
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'imports', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_imports AFTER UPDATE ON imports
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'imports', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_imports AFTER DELETE ON imports
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'imports', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_accounts AFTER INSERT ON accounts
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'accounts', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_accounts AFTER UPDATE ON accounts
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'accounts', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_accounts AFTER DELETE ON accounts
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'accounts', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_account_rules_in_accounts AFTER INSERT ON account_rules
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_changed_account_rules_in_accounts AFTER UPDATE ON account_rules
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_account_rules_in_accounts AFTER DELETE ON account_rules
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = old.account_id;
END;
-- 11-12
CREATE TRIGGER record_new_account_fees_in_accounts AFTER INSERT ON account_fees
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_changed_account_fees_in_accounts AFTER UPDATE ON account_fees
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_account_fees_in_accounts AFTER DELETE ON account_fees
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'accounts', accounts.id, 0 FROM accounts WHERE accounts.id = old.account_id;
END;
-- 11-12
CREATE TRIGGER record_new_cash_movements_in_cash AFTER INSERT ON cash_movements
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'cash', new.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_changed_cash_movements_in_cash AFTER UPDATE ON cash_movements
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'cash', new.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_cash_movements_in_cash AFTER DELETE ON cash_movements
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'cash', old.id, 1 FROM accounts WHERE accounts.id = old.account_id;
END;
-- 11-12
CREATE TRIGGER record_new_checkpoints AFTER INSERT ON checkpoints
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'checkpoints', new.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_changed_checkpoints AFTER UPDATE ON checkpoints
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'checkpoints', new.id, 0 FROM accounts WHERE accounts.id = new.account_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_checkpoints AFTER DELETE ON checkpoints
BEGIN
  INSERT INTO record_object SELECT accounts.user_id, 'checkpoints', old.id, 1 FROM accounts WHERE accounts.id = old.account_id;
END;
-- 11-12
CREATE TRIGGER record_new_trades AFTER INSERT ON trades
WHEN new.import_id IS NULL OR (SELECT added + updated + duplicates FROM imports WHERE id = new.import_id) > 0
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'trades', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_trades AFTER UPDATE ON trades
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'trades', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_trades AFTER DELETE ON trades
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'trades', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_trade_tags_in_trades AFTER INSERT ON trade_tags
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_changed_trade_tags_in_trades AFTER UPDATE ON trade_tags
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_trade_tags_in_trades AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = old.trade_id;
END;
-- 11-12
CREATE TRIGGER record_new_confirmation_answers_in_trades AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_changed_confirmation_answers_in_trades AFTER UPDATE ON confirmation_answers
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_confirmation_answers_in_trades AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = old.trade_id;
END;
-- 11-12
CREATE TRIGGER record_new_pictures_in_trades AFTER INSERT ON pictures
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_changed_pictures_in_trades AFTER UPDATE ON pictures
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = new.trade_id;
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = old.trade_id AND old.trade_id IS NOT new.trade_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_pictures_in_trades AFTER DELETE ON pictures
BEGIN
  INSERT INTO record_object SELECT trades.user_id, 'trades', trades.id, 0 FROM trades WHERE trades.id = old.trade_id;
END;
-- 11-12
CREATE TRIGGER record_new_pictures_in_days AFTER INSERT ON pictures
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'days', new.day, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_pictures_in_days AFTER UPDATE ON pictures
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'days', new.day, 0;
  INSERT INTO record_object SELECT old.user_id, 'days', old.day, 0 WHERE old.day IS NOT new.day;
END;
-- 11-12
CREATE TRIGGER record_deleted_pictures_in_days AFTER DELETE ON pictures
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'days', old.day, 0;
END;
-- 11-12
CREATE TRIGGER record_new_days AFTER INSERT ON days
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'days', new.date, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_days AFTER UPDATE ON days
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'days', new.date, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_days AFTER DELETE ON days
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'days', old.date, 0;
END;
-- 11-12
CREATE TRIGGER record_new_day_tags_in_days AFTER INSERT ON day_tags
BEGIN
  INSERT INTO record_object SELECT days.user_id, 'days', days.date, 0 FROM days WHERE days.id = new.day_id;
END;
-- 11-12
CREATE TRIGGER record_changed_day_tags_in_days AFTER UPDATE ON day_tags
BEGIN
  INSERT INTO record_object SELECT days.user_id, 'days', days.date, 0 FROM days WHERE days.id = new.day_id;
END;
-- 11-12
CREATE TRIGGER record_deleted_day_tags_in_days AFTER DELETE ON day_tags
BEGIN
  INSERT INTO record_object SELECT days.user_id, 'days', days.date, 0 FROM days WHERE days.id = old.day_id;
END;
-- 11-12
CREATE TRIGGER record_new_goals AFTER INSERT ON goals
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'goals', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_changed_goals AFTER UPDATE OF goal_name, metric, target_value, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection, status, updated_at ON goals
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'goals', new.id, 0;
END;
-- 11-12
CREATE TRIGGER record_deleted_goals AFTER DELETE ON goals
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'goals', old.id, 1;
END;
-- 11-12
CREATE TRIGGER record_new_api_keys_in_keys AFTER INSERT ON api_keys
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'keys', new.id, new.revoked_at IS NOT NULL;
END;
-- 11-12
CREATE TRIGGER record_changed_api_keys_in_keys AFTER UPDATE OF name, scopes, expires_at, revoked_at ON api_keys
BEGIN
  INSERT INTO record_object SELECT new.user_id, 'keys', new.id, new.revoked_at IS NOT NULL;
END;
-- 11-12
CREATE TRIGGER record_deleted_api_keys_in_keys AFTER DELETE ON api_keys
BEGIN
  INSERT INTO record_object SELECT old.user_id, 'keys', old.id, 1;
END;
-- 11-12
CREATE TRIGGER search_new_tags AFTER INSERT ON tags
WHEN coalesce(new.name, NULL) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL;
END;
-- 11-12
CREATE TRIGGER search_changed_tags AFTER UPDATE OF name ON tags
WHEN (old.name) IS NOT (new.name)
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'tags', new.id, 0, new.created_at, new.name, NULL;
END;
-- 11-12
CREATE TRIGGER search_deleted_tags AFTER DELETE ON tags
WHEN coalesce(old.name, NULL) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('tags', old.id, 0);
END;
-- 11-12
CREATE TRIGGER search_new_goals AFTER INSERT ON goals
WHEN coalesce(new.goal_name, NULL) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL;
END;
-- 11-12
CREATE TRIGGER search_changed_goals AFTER UPDATE OF goal_name ON goals
WHEN (old.goal_name) IS NOT (new.goal_name)
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'goals', new.id, 0, new.created_at, new.goal_name, NULL;
END;
-- 11-12
CREATE TRIGGER search_deleted_goals AFTER DELETE ON goals
WHEN coalesce(old.goal_name, NULL) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('goals', old.id, 0);
END;
-- 11-12
CREATE TRIGGER search_new_strategies AFTER INSERT ON strategies
WHEN coalesce(new.name, new.description) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description;
END;
-- 11-12
CREATE TRIGGER search_changed_strategies AFTER UPDATE OF description, name ON strategies
WHEN (old.description, old.name) IS NOT (new.description, new.name)
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'strategies', new.id, 0, new.created_at, new.name, new.description;
END;
-- 11-12
CREATE TRIGGER search_deleted_strategies AFTER DELETE ON strategies
WHEN coalesce(old.name, old.description) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('strategies', old.id, 0);
END;
-- 11-12
CREATE TRIGGER search_new_setups AFTER INSERT ON setups
WHEN coalesce(new.name, new.description) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT strategies.user_id, 'setups', new.id, 0, strategies.created_at, new.name, new.description FROM strategies WHERE strategies.id = new.strategy_id;
END;
-- 11-12
CREATE TRIGGER search_changed_setups AFTER UPDATE OF description, name ON setups
WHEN (old.description, old.name) IS NOT (new.description, new.name)
BEGIN
  INSERT INTO found_texts SELECT strategies.user_id, 'setups', new.id, 0, strategies.created_at, new.name, new.description FROM strategies WHERE strategies.id = new.strategy_id;
END;
-- 11-12
CREATE TRIGGER search_deleted_setups AFTER DELETE ON setups
WHEN coalesce(old.name, old.description) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('setups', old.id, 0);
END;
-- 11-12
CREATE TRIGGER search_new_trades AFTER INSERT ON trades
WHEN coalesce(NULL, new.notes) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes;
END;
-- 11-12
CREATE TRIGGER search_changed_trades AFTER UPDATE OF notes ON trades
WHEN (old.notes) IS NOT (new.notes)
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'trades', new.id, 0, new.opened_at, NULL, new.notes;
END;
-- 11-12
CREATE TRIGGER search_deleted_trades AFTER DELETE ON trades
WHEN coalesce(NULL, old.notes) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('trades', old.id, 0);
END;
-- 11-12
CREATE TRIGGER search_new_confirmation_answers_in_trades AFTER INSERT ON confirmation_answers
WHEN coalesce(NULL, new.notes) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT trades.user_id, 'trades', new.trade_id, new.confirmation_id, trades.opened_at, NULL, new.notes FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER search_changed_confirmation_answers_in_trades AFTER UPDATE OF notes, trade_id ON confirmation_answers
WHEN (old.notes, old.trade_id) IS NOT (new.notes, new.trade_id)
BEGIN
  INSERT INTO found_texts SELECT trades.user_id, 'trades', new.trade_id, new.confirmation_id, trades.opened_at, NULL, new.notes FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER search_deleted_confirmation_answers_in_trades AFTER DELETE ON confirmation_answers
WHEN coalesce(NULL, old.notes) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('trades', old.trade_id, old.confirmation_id);
END;
-- 11-12
CREATE TRIGGER search_new_pictures_in_trades AFTER INSERT ON pictures
WHEN coalesce(NULL, new.caption) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT trades.user_id, 'trades', new.trade_id, -new.id, trades.opened_at, NULL, new.caption FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER search_changed_pictures_in_trades AFTER UPDATE OF caption, trade_id ON pictures
WHEN (old.caption, old.trade_id) IS NOT (new.caption, new.trade_id)
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('trades', old.trade_id, -old.id);
  INSERT INTO found_texts SELECT trades.user_id, 'trades', new.trade_id, -new.id, trades.opened_at, NULL, new.caption FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER search_deleted_pictures_in_trades AFTER DELETE ON pictures
WHEN coalesce(NULL, old.caption) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('trades', old.trade_id, -old.id);
END;
-- 11-12
CREATE TRIGGER search_new_pictures_in_days AFTER INSERT ON pictures
WHEN coalesce(NULL, iif(new.day IS NULL, NULL, new.caption)) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'days', new.id, -1, new.day, NULL, iif(new.day IS NULL, NULL, new.caption);
END;
-- 11-12
CREATE TRIGGER search_changed_pictures_in_days AFTER UPDATE OF caption, day ON pictures
WHEN (old.caption, old.day) IS NOT (new.caption, new.day)
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('days', old.id, -1);
  INSERT INTO found_texts SELECT new.user_id, 'days', new.id, -1, new.day, NULL, iif(new.day IS NULL, NULL, new.caption);
END;
-- 11-12
CREATE TRIGGER search_deleted_pictures_in_days AFTER DELETE ON pictures
WHEN coalesce(NULL, iif(old.day IS NULL, NULL, old.caption)) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('days', old.id, -1);
END;
-- 11-12
CREATE TRIGGER search_new_days AFTER INSERT ON days
WHEN coalesce(NULL, coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review)) IS NOT NULL
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'days', new.id, 0, new.date, NULL, coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review);
END;
-- 11-12
CREATE TRIGGER search_changed_days AFTER UPDATE OF plan, review ON days
WHEN (old.plan, old.review) IS NOT (new.plan, new.review)
BEGIN
  INSERT INTO found_texts SELECT new.user_id, 'days', new.id, 0, new.date, NULL, coalesce(new.plan || char(10, 10) || new.review, new.plan, new.review);
END;
-- 11-12
CREATE TRIGGER search_deleted_days AFTER DELETE ON days
WHEN coalesce(NULL, coalesce(old.plan || char(10, 10) || old.review, old.plan, old.review)) IS NOT NULL
BEGIN
  DELETE FROM search_documents WHERE (resource, row_id, part) = ('days', old.id, 0);
END;
-- 11-12
CREATE TRIGGER day_of_new_trades AFTER INSERT ON trades
WHEN new.import_id IS NULL
BEGIN
  INSERT INTO record_change SELECT new.account_id, new.trading_day;
END;
-- 11-12
CREATE TRIGGER day_of_changed_trades AFTER UPDATE OF account_id, trading_day, opened_at, closed_at, gross_pnl, fees, initial_risk, grade, contract, root, direction, strategy_id, setup_id, source_trade_id, mae, mfe ON trades
WHEN (old.account_id, old.trading_day, old.opened_at, old.closed_at, old.gross_pnl, old.fees, old.initial_risk, old.grade, old.contract, old.root, old.direction, old.strategy_id, old.setup_id, old.source_trade_id, old.mae, old.mfe) IS NOT (new.account_id, new.trading_day, new.opened_at, new.closed_at, new.gross_pnl, new.fees, new.initial_risk, new.grade, new.contract, new.root, new.direction, new.strategy_id, new.setup_id, new.source_trade_id, new.mae, new.mfe)
BEGIN
  INSERT INTO record_change SELECT old.account_id, old.trading_day;
  INSERT INTO record_change SELECT new.account_id, new.trading_day WHERE (old.account_id, old.trading_day) IS NOT (new.account_id, new.trading_day);
END;
-- 11-12
CREATE TRIGGER day_of_deleted_trades AFTER DELETE ON trades
BEGIN
  INSERT INTO record_change SELECT old.account_id, old.trading_day;
END;
-- 11-12
CREATE TRIGGER day_of_new_trade_tags AFTER INSERT ON trade_tags
WHEN EXISTS (SELECT 1 FROM tags WHERE id = new.tag_id AND type = 'mistake')
BEGIN
  INSERT INTO record_change SELECT trades.account_id, trades.trading_day FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER day_of_deleted_trade_tags AFTER DELETE ON trade_tags
BEGIN
  INSERT INTO record_change SELECT trades.account_id, trades.trading_day FROM trades WHERE trades.id = old.trade_id;
END;
-- 11-12
CREATE TRIGGER day_of_new_confirmation_answers AFTER INSERT ON confirmation_answers
BEGIN
  INSERT INTO record_change SELECT trades.account_id, trades.trading_day FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER day_of_changed_confirmation_answers AFTER UPDATE OF was_present ON confirmation_answers
WHEN (old.was_present) IS NOT (new.was_present)
BEGIN
  INSERT INTO record_change SELECT trades.account_id, trades.trading_day FROM trades WHERE trades.id = new.trade_id;
END;
-- 11-12
CREATE TRIGGER day_of_deleted_confirmation_answers AFTER DELETE ON confirmation_answers
BEGIN
  INSERT INTO record_change SELECT trades.account_id, trades.trading_day FROM trades WHERE trades.id = old.trade_id;
END;
-- 11-12
CREATE TRIGGER day_of_new_cash_movements AFTER INSERT ON cash_movements
BEGIN
  INSERT INTO record_change SELECT new.account_id, new.day;
END;
-- 11-12
CREATE TRIGGER day_of_changed_cash_movements AFTER UPDATE OF kind, amount, day ON cash_movements
WHEN (old.kind, old.amount, old.day) IS NOT (new.kind, new.amount, new.day)
BEGIN
  INSERT INTO record_change SELECT old.account_id, old.day;
  INSERT INTO record_change SELECT new.account_id, new.day WHERE (old.account_id, old.day) IS NOT (new.account_id, new.day);
END;
-- 11-12
CREATE TRIGGER day_of_deleted_cash_movements AFTER DELETE ON cash_movements
BEGIN
  INSERT INTO record_change SELECT old.account_id, old.day;
END;
-- 11-12
CREATE TRIGGER goals_of_metric_goals AFTER UPDATE OF metric, direction, timeframe, custom_start, custom_end, account_id, copy_group_id, follows_selection ON goals
WHEN (old.metric, old.direction, old.timeframe, old.custom_start, old.custom_end, old.account_id, old.copy_group_id, old.follows_selection) IS NOT (new.metric, new.direction, new.timeframe, new.custom_start, new.custom_end, new.account_id, new.copy_group_id, new.follows_selection)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE id = new.id;
END;
-- 11-12
CREATE TRIGGER goals_of_timezone_users AFTER UPDATE OF timezone, day_rollover, breakeven_within ON users
WHEN (old.timezone, old.day_rollover, old.breakeven_within) IS NOT (new.timezone, new.day_rollover, new.breakeven_within)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;
-- 11-12
CREATE TRIGGER goals_of_active_account_id_users AFTER UPDATE OF active_account_id, active_copy_group_id ON users
WHEN (old.active_account_id, old.active_copy_group_id) IS NOT (new.active_account_id, new.active_copy_group_id)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id AND follows_selection;
END;
-- 11-12
CREATE TRIGGER goals_of_new_accounts AFTER INSERT ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
-- 11-12
CREATE TRIGGER goals_of_timezone_accounts AFTER UPDATE OF timezone, day_rollover, currency ON accounts
WHEN (old.timezone, old.day_rollover, old.currency) IS NOT (new.timezone, new.day_rollover, new.currency)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id;
END;
-- 11-12
CREATE TRIGGER goals_of_starting_balance_accounts AFTER UPDATE OF starting_balance ON accounts
WHEN (old.starting_balance) IS NOT (new.starting_balance)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.user_id AND carries_balance;
END;
-- 11-12
CREATE TRIGGER goals_of_deleted_accounts AFTER DELETE ON accounts
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = old.user_id;
END;
-- 11-12
CREATE TRIGGER goals_of_new_copy_group_members AFTER INSERT ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE copy_group_id = new.copy_group_id OR (follows_selection AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;
-- 11-12
CREATE TRIGGER goals_of_copy_group_id_copy_group_members AFTER UPDATE OF copy_group_id ON copy_group_members
WHEN (old.copy_group_id) IS NOT (new.copy_group_id)
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE copy_group_id = old.copy_group_id OR (follows_selection AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
  UPDATE goals SET change_cursor = NULL WHERE copy_group_id = new.copy_group_id OR (follows_selection AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = new.copy_group_id));
END;
-- 11-12
CREATE TRIGGER goals_of_deleted_copy_group_members AFTER DELETE ON copy_group_members
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE copy_group_id = old.copy_group_id OR (follows_selection AND user_id IN (SELECT id FROM users WHERE active_copy_group_id = old.copy_group_id));
END;
-- 11-12
CREATE VIEW counted_trades AS SELECT trades.user_id, trades.account_id, trades.contract, trades.root, trades.direction,
    CASE WHEN trades.net_pnl > breakeven_within THEN 'win'
    WHEN trades.net_pnl < -breakeven_within THEN 'loss'
    WHEN trades.net_pnl BETWEEN -breakeven_within AND breakeven_within THEN 'breakeven' ELSE 'open' END AS outcome,
    coalesce(trades.grade, '') AS grade, coalesce(trades.strategy_id, 0) AS strategy_id,
    coalesce(trades.setup_id, 0) AS setup_id, count(*) AS trades
FROM trades
JOIN users ON users.id = trades.user_id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
-- 11-12
CREATE TRIGGER count_new_trades AFTER INSERT ON trades
BEGIN
  INSERT INTO trade_counts SELECT new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > breakeven_within THEN 'win'
    WHEN new.net_pnl < -breakeven_within THEN 'loss'
    WHEN new.net_pnl BETWEEN -breakeven_within AND breakeven_within THEN 'breakeven' ELSE 'open' END AS outcome,
    coalesce(new.grade, '') AS grade, coalesce(new.strategy_id, 0) AS strategy_id,
    coalesce(new.setup_id, 0) AS setup_id, 1 FROM users WHERE users.id = new.user_id ON CONFLICT DO UPDATE SET trades = trades + 1;
END;
-- 11-12
CREATE TRIGGER count_changed_trades AFTER UPDATE OF account_id, contract, root, direction, gross_pnl, fees, grade, strategy_id, setup_id ON trades
WHEN (old.account_id, old.contract, old.root, old.direction, old.gross_pnl, old.fees, old.grade, old.strategy_id, old.setup_id) IS NOT (new.account_id, new.contract, new.root, new.direction, new.gross_pnl, new.fees, new.grade, new.strategy_id, new.setup_id)
BEGIN
  INSERT INTO trade_counts SELECT old.user_id, old.account_id, old.contract, old.root, old.direction,
    CASE WHEN old.net_pnl > breakeven_within THEN 'win'
    WHEN old.net_pnl < -breakeven_within THEN 'loss'
    WHEN old.net_pnl BETWEEN -breakeven_within AND breakeven_within THEN 'breakeven' ELSE 'open' END AS outcome,
    coalesce(old.grade, '') AS grade, coalesce(old.strategy_id, 0) AS strategy_id,
    coalesce(old.setup_id, 0) AS setup_id, -1 FROM users WHERE users.id = old.user_id ON CONFLICT DO UPDATE SET trades = trades + -1;
  INSERT INTO trade_counts SELECT new.user_id, new.account_id, new.contract, new.root, new.direction,
    CASE WHEN new.net_pnl > breakeven_within THEN 'win'
    WHEN new.net_pnl < -breakeven_within THEN 'loss'
    WHEN new.net_pnl BETWEEN -breakeven_within AND breakeven_within THEN 'breakeven' ELSE 'open' END AS outcome,
    coalesce(new.grade, '') AS grade, coalesce(new.strategy_id, 0) AS strategy_id,
    coalesce(new.setup_id, 0) AS setup_id, 1 FROM users WHERE users.id = new.user_id ON CONFLICT DO UPDATE SET trades = trades + 1;
END;
-- 11-12
CREATE TRIGGER count_deleted_trades AFTER DELETE ON trades
BEGIN
  INSERT INTO trade_counts SELECT old.user_id, old.account_id, old.contract, old.root, old.direction,
    CASE WHEN old.net_pnl > breakeven_within THEN 'win'
    WHEN old.net_pnl < -breakeven_within THEN 'loss'
    WHEN old.net_pnl BETWEEN -breakeven_within AND breakeven_within THEN 'breakeven' ELSE 'open' END AS outcome,
    coalesce(old.grade, '') AS grade, coalesce(old.strategy_id, 0) AS strategy_id,
    coalesce(old.setup_id, 0) AS setup_id, -1 FROM users WHERE users.id = old.user_id ON CONFLICT DO UPDATE SET trades = trades + -1;
END;
-- 12-12
CREATE INDEX statements_of_contract ON statements (account_id, contract);
-- 12-12
CREATE INDEX statements_of_key ON statements (account_id, key);
-- 12-12
CREATE INDEX statements_of_import ON statements (import_id);
-- 12-12
CREATE INDEX statements_of_trade ON statements (trade_id);
-- 12-12
CREATE INDEX restatements_of_import ON restatements (import_id);
-- 12-12
CREATE TRIGGER statements_of_deleted_trade BEFORE DELETE ON trades
WHEN EXISTS (SELECT 1 FROM statements WHERE trade_id = old.id)
BEGIN UPDATE statements SET is_left_out = 1 WHERE trade_id = old.id; END;

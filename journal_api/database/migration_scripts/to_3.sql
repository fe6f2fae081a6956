-- Version 3: indexes for filtered lists, a narrow key of snapshots, counts of deleted imported trades, and one change
-- per day and import.

ALTER TABLE imports ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
UPDATE imports SET deleted = added - (SELECT count(*) FROM trades WHERE import_id = imports.id);
CREATE TRIGGER imports_of_deleted_trade AFTER DELETE ON trades
WHEN old.import_id IS NOT NULL
BEGIN
  UPDATE imports SET deleted = deleted + 1 WHERE id = old.import_id;
END;

CREATE INDEX trades_of_account ON trades (account_id, opened_at, id);
CREATE INDEX trades_of_symbol ON trades (user_id, symbol, opened_at, id);
CREATE INDEX trades_of_grade ON trades (user_id, grade, opened_at, id) WHERE grade IS NOT NULL;
CREATE INDEX trades_open ON trades (user_id, opened_at, id) WHERE closed_at IS NULL;
CREATE INDEX trades_breakeven ON trades (user_id, opened_at, id) WHERE net_pnl = 0;

CREATE TABLE new_snapshots (
  goal_id INTEGER NOT NULL REFERENCES goals (id) ON DELETE CASCADE,
  period_start TEXT NOT NULL,
  period_end TEXT NOT NULL,
  target INTEGER NOT NULL,
  actual INTEGER,
  achieved INTEGER CHECK (achieved IN (0, 1)),
  closed INTEGER NOT NULL CHECK (closed IN (0, 1)),
  snapshot_data TEXT NOT NULL,
  computed_at TEXT NOT NULL,
  PRIMARY KEY (goal_id, period_start)
) STRICT;
INSERT INTO new_snapshots SELECT * FROM snapshots;
DROP TABLE snapshots;
ALTER TABLE new_snapshots RENAME TO snapshots;

CREATE INDEX goals_by_seen_change ON goals (seen_change);
DROP TRIGGER marks_are_changes;
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

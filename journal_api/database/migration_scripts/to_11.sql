-- Version 11: logs are named for what has changed, and the numbers of trades are those of a user.

ALTER TABLE changes RENAME TO changed_days;
ALTER TABLE object_changes RENAME TO changed_objects;
ALTER TABLE trades RENAME COLUMN touched_at TO changed_at;

DROP TABLE trade_counts;
CREATE TABLE trade_counts (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id INTEGER NOT NULL,
  contract TEXT NOT NULL,
  root TEXT NOT NULL,
  direction TEXT NOT NULL,
  outcome TEXT NOT NULL,
  grade TEXT NOT NULL,
  strategy_id INTEGER NOT NULL,
  setup_id INTEGER NOT NULL,
  trades INTEGER NOT NULL,
  PRIMARY KEY (user_id, account_id, contract, root, direction, outcome, grade, strategy_id, setup_id)
) STRICT, WITHOUT ROWID;

-- Version 9: a tolerance of break-even decisions; when the trades of facts were opened.

ALTER TABLE users ADD COLUMN breakeven_within INTEGER NOT NULL DEFAULT 0 CHECK (breakeven_within >= 0);
DROP INDEX trades_breakeven;
CREATE INDEX trades_of_result ON trades (account_id, net_pnl) WHERE net_pnl IS NOT NULL;

-- All facts are worked out again by the next reader: the changes of all days are kept.
DROP TABLE trade_facts;
CREATE TABLE trade_facts (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  trading_day TEXT NOT NULL,
  closed_at TEXT NOT NULL,
  id INTEGER NOT NULL,
  opened_at TEXT NOT NULL,
  decision INTEGER NOT NULL,
  fees INTEGER NOT NULL,
  net_pnl INTEGER NOT NULL,
  initial_risk INTEGER,
  r INTEGER,
  grade TEXT,
  is_mistake INTEGER NOT NULL,
  checklist INTEGER,
  answers TEXT,
  local_hour INTEGER NOT NULL,
  held INTEGER NOT NULL,
  contract TEXT NOT NULL,
  root TEXT NOT NULL,
  direction TEXT NOT NULL,
  strategy_id INTEGER,
  setup_id INTEGER,
  PRIMARY KEY (account_id, trading_day, closed_at, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX facts_of_trade ON trade_facts (id);
UPDATE users SET facts_cursor = 0;

DROP TRIGGER counted_trades_are_counts;
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

CREATE TRIGGER counts_of_deleted_user AFTER DELETE ON users
BEGIN
  DELETE FROM trade_counts WHERE user_id = old.id;
END;

CREATE TRIGGER goals_of_breakeven AFTER UPDATE OF breakeven_within ON users
WHEN old.breakeven_within <> new.breakeven_within
BEGIN
  UPDATE goals SET change_cursor = NULL WHERE user_id = new.id;
END;

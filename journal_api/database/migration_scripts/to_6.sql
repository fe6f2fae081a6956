-- Version 6: the pace of goals, the example journal.

CREATE TABLE example_rows (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  resource TEXT NOT NULL,  -- the name of a table
  row_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, resource, row_id)
) STRICT, WITHOUT ROWID;

-- The snapshots of running periods get their pace at the next read.
UPDATE goals SET evaluated_on = NULL WHERE status = 'active';

-- The snapshots of drawdowns get their peak.
UPDATE goals SET change_cursor = NULL WHERE metric = 'max_drawdown';

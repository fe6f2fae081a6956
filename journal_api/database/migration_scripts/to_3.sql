-- Version 3: a narrow key of snapshots, counts of deleted imported trades.

ALTER TABLE imports ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
UPDATE imports SET deleted = added - (SELECT count(*) FROM trades WHERE import_id = imports.id);

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

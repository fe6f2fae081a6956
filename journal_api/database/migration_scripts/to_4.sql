-- Version 4: the balances of goals in columns, and a new name for the change cursor.

ALTER TABLE goals RENAME COLUMN seen_change TO change_cursor;
ALTER TABLE goals RENAME COLUMN fresh_on TO evaluated_on;
ALTER TABLE goals ADD COLUMN carries_balance INTEGER NOT NULL DEFAULT 0 CHECK (carries_balance IN (0, 1));
UPDATE goals SET carries_balance = 1, change_cursor = NULL WHERE metric = 'balance_target';
ALTER TABLE snapshots ADD COLUMN opening_balance INTEGER;
ALTER TABLE snapshots ADD COLUMN closing_balance INTEGER;

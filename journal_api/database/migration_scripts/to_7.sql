-- Version 7: histories are computed while others write, so a changed day is always recorded again.

DROP INDEX goals_by_change_cursor;  -- which served the condition of this trigger
DROP TRIGGER touched_days_are_changes;

CREATE TRIGGER touched_days_are_changes INSTEAD OF INSERT ON touched_days
WHEN new.trading_day IS NOT NULL
BEGIN
  DELETE FROM changes WHERE account_id = new.account_id AND trading_day = new.trading_day;
  INSERT INTO changes (account_id, trading_day) VALUES (new.account_id, new.trading_day);
END;

-- Version 10: who chose the file of an import.

ALTER TABLE imports ADD COLUMN source TEXT NOT NULL DEFAULT 'user' CHECK (source IN ('user', 'folder'));

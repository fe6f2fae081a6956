"""A file into the journal: accounts, zones, verdicts, preview, undo, watch."""

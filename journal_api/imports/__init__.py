"""A file into the journal: accounts, zones, verdicts, preview, watch."""

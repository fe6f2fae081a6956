"""The database file: connections, transactions, schema, lock, backup, restore, check."""

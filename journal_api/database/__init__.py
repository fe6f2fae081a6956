"""The SQLite file: connections, transactions, schema, migrations, lock, backup, restore, check, export."""

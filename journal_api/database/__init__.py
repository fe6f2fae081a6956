"""The SQLite file: connections, transactions, SQL helpers, migrations, backup, restore, check, export."""

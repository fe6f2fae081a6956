"""All SQL, a file per resource: functions of (db, user_id, ...) that return finished JSON text.

SQLite writes the JSON: a read is one statement that steps over its rows on the worker thread and hands back
one text. f-strings hold only constants of the same file and column names that come from a struct.
"""

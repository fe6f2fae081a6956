"""All SQL, and nothing else: a module a resource, and the helpers that they share in sql.py."""

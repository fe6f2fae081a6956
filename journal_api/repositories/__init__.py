"""All SQL of the service: one module per resource, and their shared helpers in sql.py."""

"""All SQL of the service: one module per resource, and their shared helpers in sql.py.

`list_of_user` and `get` return JSON text, `find` a struct, `insert` the new id; `update` writes the members
that differ. `get`, `find` and `delete` raise NotFound for a row of another user, `require` ValidationFailed,
`insert` and `update` DuplicateName.
"""

"""The SQL of resources, a module each. What several rooms share is in database/sql.py.

`list_of_user` and `get` return JSON text, `find` a struct, `insert` the new id; `update` writes the members
that differ. `get`, `find` and `delete` raise NotFound for a row of another user, `require` ValidationFailed,
`insert` and `update` DuplicateName.
"""

"""What crosses the wire, and the rules between its fields, a file per resource.

`XCreate` and `XPatch` come in and refuse unknown members; `X` is what answers carry; `XQuery` is a query.
UNSET means "not sent".
"""

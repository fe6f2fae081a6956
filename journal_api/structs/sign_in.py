"""The body of POST /sign-in."""

from msgspec import Struct


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    code: str
    # Only tell whose journal the code opens; it stays valid.
    dry_run: bool = False

"""The body of POST /sign-in."""

from msgspec import UNSET, Struct, UnsetType


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    # Without a code, the user is the one whom a trusted proxy names.
    code: str | UnsetType = UNSET
    # Only say whose journal would be opened; the code stays valid.
    dry_run: bool = False

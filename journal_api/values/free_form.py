"""Free-form JSON members, stored with every token as the client sent it."""

import re


def free_form(value: bytes) -> bytes:
    """Return the JSON without white space between tokens; the tokens themselves are unchanged.

    Raises ValueError unless the value is an object or null, of at most 64 KiB and 32 levels.
    """
    if len(value) > 64 * 1024:
        raise ValueError("must be at most 64 KiB")
    if value != b"null" and not value.startswith(b"{"):
        raise ValueError("must be an object or null")
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", _STRING.sub(b"", value)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > 32:
        raise ValueError("must be at most 32 levels deep")
    return _STRING_OR_SPACE.sub(lambda match: match[1] or b"", value)


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


_STRING_OR_SPACE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', re.DOTALL)

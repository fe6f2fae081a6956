"""Free-form JSON, kept token by token as it was sent."""

import re


def free_form(sent: bytes) -> bytes:
    """Free-form JSON token by token as it was sent, without the white space around the tokens.

    Raises ValueError unless it is an object or null, of at most 64 KiB and 32 levels.
    """
    if len(sent) > 64 * 1024:
        raise ValueError("must be at most 64 KiB")
    if sent != b"null" and not sent.startswith(b"{"):
        raise ValueError("must be an object or null")
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", _STRING.sub(b"", sent)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > 32:
        raise ValueError("must be at most 32 levels deep")
    return _STRING_OR_SPACE.sub(lambda found: found[1] or b"", sent)


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


_STRING_OR_SPACE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', re.DOTALL)

"""The link that signs a browser in, as text and as a QR code for the camera of a phone."""

import io
import sys

LINK = """\
Open your journal{where}. This link signs a browser in once, within 10 minutes:

    {link}
"""
OPEN_NETWORK = """\
Anyone in this network can read along: the connection is not encrypted. Stop the server outside of your own
network.
"""
# Light modules around the code, because cameras need a margin.
BORDER = 2


def format_link(url: str, code: str, *, is_for_phone: bool) -> str:
    """The text that `serve` prints; for a phone with a QR code, and a sign-in that outlives the tab."""
    link = f"{url}/#code={code}{'&stay' if is_for_phone else ''}"
    if not is_for_phone:
        return LINK.format(where="", link=link)
    text = LINK.format(where=" on a phone in this network, by its camera", link=link)
    return "\n".join((text, *draw(link), OPEN_NETWORK))


def draw(link: str) -> tuple[str, ...]:
    """The QR code for a terminal, nothing if the terminal has no characters for it."""
    import segno  # here, because it takes longer to import than some commands take

    drawn = io.StringIO()
    segno.make(link, error="l", micro=False).terminal(out=drawn, border=BORDER, compact=True)
    text = drawn.getvalue()
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ()
    return (text,)

"""Error messages say what is wrong and what to do about it."""

from typing import Any

import httpx
import pytest

from journal_api.web.quoting import MAX_QUOTE_LENGTH, quoted

LARGE = {"content": b" " * (4 * 1024 * 1024 + 1)}
MEDIA = "Send the body as application/json in UTF-8, without Content-Encoding."


@pytest.mark.parametrize(
    ("method", "path", "options", "expected"),
    [
        ("GET", "/tags", {"headers": {"Authorization": ""}}, "`Authorization: Bearer tjk_...`"),
        ("GET", "/tags", {"headers": {"Authorization": ""}}, "`journal-api keys create`"),
        ("GET", "/trade", {}, "/docs"),
        ("DELETE", "/tags", {}, "This path supports only GET, HEAD, POST."),
        ("GET", "/tags", {"headers": {"Host": "journal.example:8000"}}, "'journal.example:8000'"),
        ("GET", "/tags", {"headers": {"Host": "journal.example:8000"}}, "JOURNAL_ALLOWED_HOSTS"),
        ("POST", "/tags", {"headers": {"Content-Type": "a/b; c"}}, f"Content-Type is 'a/b; c'. {MEDIA}"),
        ("POST", "/tags", {"headers": {"Content-Encoding": "gzip"}}, f"Content-Encoding is 'gzip'. {MEDIA}"),
        ("POST", "/tags", LARGE, "4194304 bytes"),
    ],
)
async def test_a_message_says_what_is_wrong_and_what_to_do(
    client: httpx.AsyncClient, method: str, path: str, options: Any, expected: str
) -> None:
    response = await client.request(method, path, **options)

    assert expected in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("evil.example", "'evil.example'"),
        ("a\x1b[31m\n", "'a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}'"),
        ("x." * MAX_QUOTE_LENGTH, f"'{'x.' * (MAX_QUOTE_LENGTH // 2)}...'"),
        ("tjk_0000000000000000000000000000001A68Am.example", "'tjk_....example'"),
    ],
    ids=["plain", "control characters", "long", "a key"],
)
def test_a_quote_is_printable_short_and_holds_no_key(text: str, quote: str) -> None:
    assert quoted(text) == quote

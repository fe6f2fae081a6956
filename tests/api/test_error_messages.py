"""Error messages say what is wrong and what to do about it."""

from typing import Any

import httpx
import pytest

from journal_api.web.quoting import MAX_QUOTE_LENGTH, quoted


async def message_of(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> str:
    response = await client.request(method, path, **options)
    return str(response.json()["error"]["message"])


async def test_a_missing_key_says_how_to_send_one_and_how_to_create_one(client: httpx.AsyncClient) -> None:
    del client.headers["Authorization"]

    message = await message_of(client, "GET", "/tags")

    assert "`Authorization: Bearer tjk_...`" in message
    assert "`journal-api keys create`" in message


async def test_an_unknown_path_points_to_the_documentation(client: httpx.AsyncClient) -> None:
    assert "/docs" in await message_of(client, "GET", "/trade")


async def test_a_wrong_method_names_the_methods_of_the_path(client: httpx.AsyncClient) -> None:
    assert await message_of(client, "DELETE", "/tags") == "This path supports only GET, HEAD, POST."


async def test_a_wrong_host_is_named_together_with_the_setting(client: httpx.AsyncClient) -> None:
    message = await message_of(client, "GET", "/tags", headers={"Host": "journal.example:8000"})

    assert "'journal.example:8000'" in message
    assert "JOURNAL_ALLOWED_HOSTS" in message


@pytest.mark.parametrize(
    ("header", "value"), [("Content-Type", "text/plain; charset=latin-1"), ("Content-Encoding", "gzip")]
)
async def test_a_wrong_media_type_names_the_header_its_value_and_what_is_accepted(
    client: httpx.AsyncClient, header: str, value: str
) -> None:
    message = await message_of(client, "POST", "/tags", content=b"{}", headers={header: value})

    assert message == (
        f"{header} is '{value}'. Send the body as application/json in UTF-8, without Content-Encoding."
    )


async def test_a_large_body_names_the_limit(client: httpx.AsyncClient) -> None:
    message = await message_of(client, "POST", "/tags", content=b" " * (4 * 1024 * 1024 + 1))

    assert "4194304 bytes" in message


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

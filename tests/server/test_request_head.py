"""Which heads are rejected before the application sees them, to the byte."""

import pytest

from journal_api.server.request_head import (
    CHUNKED_ONLY,
    HEAD_TOO_LARGE,
    MAX_HEAD_SIZE,
    NO_PROXY,
    Headers,
    head_error,
    parse_authority,
)

ROOM = MAX_HEAD_SIZE - len("/") - len("x: \r\n")  # for the value of one header
CHUNKED = (b"transfer-encoding", b"Chunked")


@pytest.mark.parametrize(
    ("method", "headers", "version", "expected"),
    [
        (b"GET", [(b"x", b"v" * ROOM)], "1.1", None),
        (b"GET", [(b"x", b"v" * (ROOM + 1))], "1.1", HEAD_TOO_LARGE),
        (b"GET", [(b"x", b"v" * (ROOM // 2))] * 2, "1.1", HEAD_TOO_LARGE),
        (b"POST", [CHUNKED], "1.1", None),
        (b"POST", [CHUNKED], "1.0", CHUNKED_ONLY),
        (b"POST", [CHUNKED, CHUNKED], "1.1", CHUNKED_ONLY),
        (b"POST", [(b"transfer-encoding", b"gzip")], "1.1", CHUNKED_ONLY),
        (b"POST", [], "1.0", None),
        (b"CONNECT", [], "1.1", NO_PROXY),
    ],
)
def test_a_head_is_rejected_by_its_size_and_its_codings(
    method: bytes, headers: Headers, version: str, expected: str | None
) -> None:
    assert head_error(method, b"/", headers, version) == expected
    assert HEAD_TOO_LARGE.endswith("65536 bytes.")


@pytest.mark.parametrize(
    ("target", "expected"),
    [(b"/v1/tags", None), (b"http://localhost:8000/v1/tags", b"localhost:8000"), (b"//other/v1", None),
     (b"http://a", b"a"), (b"*", None), (b"a/b", None)],
)  # fmt: skip
def test_the_authority_of_an_absolute_target_is_found(target: bytes, expected: bytes | None) -> None:
    assert parse_authority(target) == expected

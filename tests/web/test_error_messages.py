"""Error messages say what is wrong and what to do about it."""

from typing import Any

import pytest
from factories import Client, create_account
from saved_journals import for_rows

from journal_api.structs.reports import REPORTED
from journal_api.web.operation import ContractRootConvertor
from journal_api.web.quoting import MAX_QUOTE_LENGTH, quote

LARGE = {"content": b" " * (4 * 1024 * 1024 + 1)}
MEDIA = "Send the body as application/json in UTF-8, without Content-Encoding."


@for_rows(
    "method, path, options, expected",
    [
        ("GET", "/tags", {"headers": {"Authorization": ""}}, "`Authorization: Bearer tjk_...`"),
        ("GET", "/tags", {"headers": {"Authorization": ""}}, "`journal-api keys create`"),
        ("DELETE", "/tags", {}, "This path supports only GET, HEAD, POST."),
        ("GET", "/tags", {"headers": {"Host": "journal.example:8000"}}, "'journal.example:8000'"),
        ("GET", "/tags", {"headers": {"Host": "journal.example:8000"}}, "JOURNAL_ALLOWED_HOSTS"),
        ("POST", "/tags", {"headers": {"Content-Type": "a/b; c"}}, f"Content-Type is 'a/b; c'. {MEDIA}"),
        ("POST", "/tags", {"headers": {"Content-Encoding": "gzip"}}, f"Content-Encoding is 'gzip'. {MEDIA}"),
        ("POST", "/tags", LARGE, "4194304 bytes"),
        ("POST", "/imports", {"headers": {"Content-Type": "text/csv"}}, "the file is empty"),
    ],
)
async def test_a_message_says_what_is_wrong_and_what_to_do(
    client: Client, method: str, path: str, options: Any, expected: str
) -> None:
    response = await client.request(method, path, **options)

    assert expected in response.json()["error"]["message"]


def unknown_path(path: str, meant: str) -> str:
    return f"There is no path '{path}'{meant} GET /docs lists the paths."


def no_id(text: str) -> str:
    return f"'{text}' is not an id, which is a whole number from 1."


NO_OBJECT = "You have no object at this path: check its id; it may have been deleted."
SNAPSHOTS = "; did you mean '/v1/goals/{id}/snapshots'?"
NO_SLASH = "A path has no slash at its end and no two in a row: use '/v1/tags'."


@for_rows("path, expected", [
        ("/tags", unknown_path("/tags", "; did you mean '/v1/tags'?")),
        ("/tags/", unknown_path("/tags/", "; did you mean '/v1/tags'?")),
        ("/v1/tags/", NO_SLASH),
        ("//v1//tags", NO_SLASH),
        ("/v1/Tag", unknown_path("/v1/Tag", "; did you mean '/v1/tags'?")),
        ("/v1/me/key", unknown_path("/v1/me/key", ".")),
        ("/v1/goals/1/snapshot", unknown_path("/v1/goals/1/snapshot", SNAPSHOTS)),
        ("/v1/", unknown_path("/v1/", ".")),
        ("/v1", unknown_path("/v1", ".")),
        (f"/v1/{'tags.' * 99}", unknown_path(f"/v1/{'tags.' * 99}"[:100] + "...", ".")),
        ("/v1/trades/undefined", no_id("undefined")),
        ("/v1/trades/{id}", no_id("{id}")),
        ("/v1/trades/0", no_id("0")),
        ("/v1/accounts/1/cash/1.0", no_id("1.0")),
        ("/v1/instruments/mnq", f"'mnq' is not {ContractRootConvertor.meaning}."),
        ("/v1/tags%2f1", "A path has no encoded slash (%2F): no id contains one. GET /docs lists the paths."),
        ("/v1/trades/1", NO_OBJECT),
        ("/v1/trades/9999999999999999999", NO_OBJECT),
    ])  # fmt: skip
async def test_an_unknown_path_is_told_from_a_missing_object(client: Client, path: str, expected: str) -> None:
    response = await client.get(f"http://localhost{path}")

    assert response.status_code == 404
    error = response.json()["error"]
    assert (error["code"], error["message"], error["details"]) == ("not_found", expected, {})


@for_rows(
    "body, expected",
    [
        (b"", "The body is empty; send a JSON object."),
        (b" \n", "The body is empty; send a JSON object."),
        (b"{}", "category_id: is required. 1 more in details.fields."),
        (b'{"name": "A", "category_id": "1"}', "category_id: must be int, not str."),
        (b'{"name": "A", "category_id": 1}', "category_id: is not one of your tag categories."),
        (
            b'{"name": "A", "categoryId": 1}',
            "Unknown members: 'categoryId' (did you mean category_id?). category_id: is required.",
        ),
        (b'{"name": "A", "category_id": 1, "sort": 1}', "Unknown members: 'sort'."),
        (
            b'{"name": "A", "category_id": 1, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}',
            "Unknown members: 'a', 'b', 'c', 'd', 'e' and 2 more.",
        ),
    ],
)
async def test_the_message_about_a_body_says_the_first_reason(client: Client, body: bytes, expected: str) -> None:
    response = await client.post("/tags", content=body)

    assert response.status_code == 400
    assert response.json()["error"]["message"] == expected


@for_rows(
    "method, path, body, question",
    [
        ("POST", "/trades/bulk", {"trades": [{"id": 1}]}, "account_id or strategy_id or setup_id"),
        ("POST", "/trades/bulk", {"trades": [{}, {"setup": 1}]}, "setup_id"),
        ("PATCH", "/trades", {"ids": [1], "set": {"setup": 1}}, "setup_id"),
        ("PATCH", "/trades", {"id": 1}, "ids"),
        ("PATCH", "/strategies/1", {"setups": [{"id": 1}]}, "setup_id"),
        ("PATCH", "/strategies/1", {"setups": [{"confirmations": [{"id": 2}]}]}, "confirmation_id"),
        ("GET", "/trades?id=7", None, "ids"),
        ("GET", "/trades?strategyId=2", None, "strategy_id"),
        ("GET", "/goals?state=active", None, "status"),
        ("GET", "/reports?groupBy=day", None, "group_by"),
        ("DELETE", "/tags/1?dryRun=true", None, "dry_run"),
        ("DELETE", "/tags/1?DRY_RUN=true", None, "dry_run"),
    ],
)
async def test_a_wrong_name_is_told_the_names_that_it_may_mean(
    client: Client, method: str, path: str, body: Any, question: str
) -> None:
    refused = await client.request(method, path, json=body)

    assert refused.status_code == 400
    assert f" (did you mean {question}?)" in refused.json()["error"]["message"]


@for_rows(
    "query, reason",
    [
        ("metrics=net_pnl,net_pln", "must name metrics of GET /v1/metrics; 'net_pln' is none"),
        ("sort=-sharpe", "must name metrics of GET /v1/metrics; 'sharpe' is none"),
        (f"metrics=tjk_{'A1' * 15}", "must name metrics of GET /v1/metrics; a part of it is none"),
    ],
)
async def test_an_unknown_metric_is_named_beside_those_there_are(client: Client, query: str, reason: str) -> None:
    response = await client.get(f"/reports?{query}")

    error = response.json()["error"]
    ((path, told),) = error["details"]["fields"].items()
    assert (response.status_code, told, error["message"]) == (400, reason, f"{path}: {reason}.")
    assert error["details"]["allowed"] == REPORTED


@for_rows("header, is_tag", [("{0}", False), ('"{0}', False), ('"{0}x"', True), ('W/"{0}"', True)])
async def test_an_if_match_without_its_quotes_is_told(client: Client, header: str, is_tag: bool) -> None:
    account = await client.get(f"/accounts/{(await create_account(client))['id']}")
    etag = account.headers["etag"].strip('"')

    response = await client.patch(account.request.url, json={"name": "New"}, headers={"If-Match": header.format(etag)})

    assert response.status_code == 412
    assert ("with its double quotes" in response.json()["error"]["message"]) is not is_tag


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("evil.example", "'evil.example'"),
        ("a\x1b[31m\n", "'a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}'"),
        ("x." * MAX_QUOTE_LENGTH, f"'{'x.' * (MAX_QUOTE_LENGTH // 2)}...'"),
        ("tjk_0000000000000000000000000000001A68Am.example", "'tjk_....example'"),
    ],
    ids=["plain", "control characters", "long", "a key"],
)
def test_a_quote_is_printable_short_and_holds_no_key(text: str, expected: str) -> None:
    assert quote(text) == expected

"""Values that no member of a body, no parameter of a query and no path accepts, over the route table.

The bad values of a member follow from its type, so a new member of a known type needs no line here. Every value is
tried in the first place that has the type, and some in each further place.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import factories
import httpx
import msgspec
import pytest
from factories import Client, details_of, error_of, unwrap
from msgspec import Raw, inspect
from operations import body_of, create_one_of_each, dump, for_each, input_of, path_of, title
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.structs.account_rules import FloorPut, QualifyingDayPut, Share
from journal_api.structs.cash import CashDay
from journal_api.structs.copy_groups import QuantityMultiplier
from journal_api.structs.goals import GoalDay
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.structs.many_trades import Charge, TradeRestore
from journal_api.structs.trades import TradeCreate
from journal_api.values.currencies import Currency
from journal_api.values.money import Money, PositiveMoney
from journal_api.values.timestamps import Timestamp
from journal_api.values.types import Day, DayRollover, LongText, Name, Selection, Text, TimeZone
from journal_api.web.operation import Operation

INVALID = (400, "validation_error")
WITH_BODY = [operation for operation in OPERATIONS if operation.body]


# A profile needs other members with each kind, and a column is a text or a list of texts. Its bad values
# are in tests/trade_files/test_profiles.py.
WITH_PLAIN_MEMBERS = [operation for operation in WITH_BODY if operation.body is not ImportProfileCreate]


TRIED: set[tuple[str, str]] = set()


def some_of(texts: list[str], kind: object, where: str) -> list[str]:
    """All values of the type when it is met for the first time there, and then the first and the last two."""
    known = (repr(kind), where) in TRIED
    TRIED.add((repr(kind), where))
    return list(dict.fromkeys([*texts[:1], *texts[-2:]])) if known else texts


OF_OTHER_JSON_TYPES = {
    "string": ["5", "1.5", "true", "[]", '["A"]', "{}", "1e400", "-" + "1" * 5000],
    "number": ['"5"', '""', "true", "false", "[5]", "{}"],
    "integer": ['"1"', '""', "true", "1.0", "1e0", "[1]", "{}", "1" * 4000, "1" * 5000],
    "boolean": ['"true"', "0", "1", "[]", "{}", "1e400", "1" * 5000],
    "object": ['"x"', "5", "1.5", "true", "[]", "[{}]"],
}


def nested(opening: str, closing: str, levels: int) -> str:
    """A free-form object of that depth."""
    return '{"a":' + opening * (levels - 1) + closing * (levels - 1) + "}"


def in_quotes(texts: Iterable[str]) -> list[str]:
    return [json.dumps(text) for text in texts]


TOO_LARGE_A_FREE_FORM = [
    '{"a":"%s"}' % ("x" * (64 * 1024 - 7)),
    '{"a":"%s"}' % ("é" * (32 * 1024 - 3)),
    *(nested("[", "]", levels) for levels in (33, 300)),
    *('{"a":' * (levels - 1) + "{}" + "}" * (levels - 1) for levels in (33, 300)),
]
BAD_VALUES: dict[type, list[str]] = {
    Name: in_quotes(["", "   ", "\t\n", "\u3000", "\u00a0", "\0", *(f"a{one}b" for one in "\0\a\n\t\x1b\x7f\x85")]),
    LongText: in_quotes(["é" * 32_769]),
    Text: in_quotes(["x" * 65_537, "\0", "\x1f", "\x7f", "\x9f"]),
    Money: [
        *("1e400", "-1e400", "1e11", "10000000000.1", "10000000001", "-10000000001", "9" * 4000, "1" * 5000),
        *("0.123456789", "1e-9", "12345678.12345678", "1.234567890123456", "0.1234567890123456"),
    ],
    PositiveMoney: ["0", "0.0", "-0.0", "-1", "1e-400"],
    Share: ["100.00000001", "1000"],
    QuantityMultiplier: ["999.99000001", "1000"],
    Day: in_quotes(
        [
            *("2024-2-3", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-02-00", "24-02-03"),
            *("2024-02-03T00:00", "2024-02-03T00:00:00Z", "20240203", "2024-W05-6", "2024-034", "03.02.2024"),
            *("2024/02/03", "2024\u201002\u201003", " 2024-02-03", "2024-02-03\n", "２０２４-02-03", "today"),
            *("+2024-02-03", "-2024-02-03", "0000-01-01", "0000-00-00", "10000-01-01", ""),
        ]
    ),
    CashDay: in_quotes(["1969-12-31", "2201-01-01"]),
    GoalDay: in_quotes(["1999-12-31", "2101-01-01", "9999-12-31"]),
    Timestamp: in_quotes(
        [
            *("2026-01-05", "2026-02-30T10:00:00Z", "yesterday", "", "2026-01-05T10Z", "20260105T100000Z"),
            *("2026-01-05T25:00:00Z", "2026-01-05T10:00:00+2", "1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z"),
        ]
    ),
    Selection: in_quotes(
        [
            *("account_0", "account_01", "account_-1", "account_+1", "account_1_0", "account_1.0"),
            *("account_1\n", "account_ 1", " account_1", "account_１", "account_٣", "account_"),
            *("account", "ACCOUNT_1", "group_", "group_0", "Group_1", f"account_{2**63}"),
            *(f"group_{2**63}", "account_" + "9" * 4400, "strategy_1", "ALL", " ", "none"),
        ]
    ),
    TimeZone: in_quotes(
        [
            *("", "Mars/Olympus", "+02:00", "utc ", "../../etc/passwd", "/usr/share/zoneinfo/UTC", "America"),
            *("UTC\n", "UTC\0", "a" * 10_000),
            # The first two are in the system's zones of some machines, the third is in every list of zones.
            *("localtime", "posixrules", "Factory", "posix/UTC", "right/UTC"),
        ]
    ),
    DayRollover: in_quotes(
        [*("", "24:00", "17", "17:60", "5:00", "17:00:00", "17.00", " 17:00", "17:00\n"), *("１７:00", "-1:00")]
    ),
    Currency: in_quotes(["usd", "US", "USDT", "ABC", "", "USD\n", "U$D"]),
}
BAD_COLORS = in_quotes(
    [
        *("#3b82f", "3b82f6", "#gggggg", "red", "#１２３４５６", "#3b82f6\n", "#3b82f66", "#3b82f6ff", ""),
        *(" #3b82f6", "#3b82f6 ", "#fff", "#"),
    ]
)


def bad_words(words: Iterable[object]) -> list[str]:
    """What is on no such list of words; nothing for no list."""
    for word in map(str, words):
        return in_quotes(["", "no such word", f" {word}", f"{word}\n", word.swapcase()])
    return []


def bad_values(kind: Any) -> list[str]:
    """JSON texts that a member of this type refuses."""
    match kind:
        case inspect.CustomType(cls=value_type):
            listed = [text for cls in value_type.__mro__ for text in BAD_VALUES.get(cls, [])]
            if issubclass(value_type, Name):
                listed += in_quotes(one * (value_type.max_length + 1) for one in "n🔥")
            schema = value_type.json_schema  # type: ignore[attr-defined]
            listed += bad_words(schema.get("enum", []))
            return [*listed, *OF_OTHER_JSON_TYPES[schema["type"]], "null"]
        case inspect.IntType():
            beyond = [str(kind.le + 1), str(2**64)] if kind.le is not None else []
            beyond += [str(kind.ge - 1), *(["-0"] if kind.ge == 1 else [])] if kind.ge is not None else []
            return [*beyond, *OF_OTHER_JSON_TYPES["integer"], "null"]
        case inspect.BoolType():
            return [*OF_OTHER_JSON_TYPES["boolean"], "null"]
        case inspect.LiteralType():
            return [*bad_words(kind.values), *OF_OTHER_JSON_TYPES["string"], "null"]
        case inspect.StrType():
            return [*(BAD_COLORS if kind.pattern else []), *OF_OTHER_JSON_TYPES["string"], "null"]
        case inspect.Metadata(type=inspect.RawType()):
            return [*TOO_LARGE_A_FREE_FORM, *OF_OTHER_JSON_TYPES["object"]]
    raise AssertionError(f"no bad values for {kind}")


def is_trade(kind: inspect.Type) -> bool:
    """Whether this is a trade of a batch, which is decoded by itself."""
    return isinstance(kind, inspect.Metadata) and "$ref" in (kind.extra_json_schema or {})


LEAST: dict[type, dict[str, Any]] = {
    FloorPut: {"kind": "static", "distance": 1},
    QualifyingDayPut: {"amount": 1, "days": 1},
    TradeRestore: {"id": 1, "set": {}},
    Charge: {"fees": 1, "fees_source": "none"},
}


def least(kind: inspect.Type) -> Any:
    """An item with what is required: another required member of an item needs a value here."""
    if is_trade(kind):
        return {"account_id": 1, **factories.A_TRADE}
    if isinstance(kind, inspect.StructType):
        if kind.cls in LEAST:
            return LEAST[kind.cls]
        required = {field.encode_name for field in kind.fields if field.required}
        names = required or {field.name for field in kind.fields if field.name == "name"}
        values = {"name": "x", "account_id": 1, "confirmation_id": 1, "was_present": True, **factories.A_FILL}
        return {name: value for name, value in values.items() if name in names}
    return 1


def planted(kind: inspect.Type, path: str = "") -> Iterator[tuple[str, Any]]:
    """Values of this type with one bad value in them: for every member each, after the member's path.

    A list gets a good item before the bad one.
    """
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                for place, value in planted(field.type, f"{path}.{field.encode_name}".lstrip(".")):
                    yield place, least(kind) | {field.encode_name: value}
        case inspect.ListType():
            yield from ((path, Raw(text)) for text in (b"null", b"{}", b"5", b'"x"', b"true"))
            if isinstance(least(kind.item_type), dict):
                yield from ((f"{path}[0]", [Raw(text)]) for text in (b"null", b"[]", b"5", b'"x"'))
            for place, item in planted(kind.item_type, f"{path}[1]"):
                yield place, [least(kind.item_type), item]
        case inspect.Metadata(type=inspect.ListType() as items):
            yield from ((path, []) for _ in range(1) if items.min_length)
            yield from planted(items, path)
        case inspect.Metadata(type=inspect.CustomType() as described):
            yield from planted(described, path)
        case inspect.UnionType():
            for one in kind.types:
                if not isinstance(one, inspect.NoneType):
                    yield from (found for found in planted(one, path) if found != (path, Raw(b"null")))
        case _ if is_trade(kind):
            for place, trade in planted(inspect.type_info(TradeCreate), path):
                yield place, least(kind) | trade
        case _:
            yield from ((path, Raw(text.encode())) for text in some_of(bad_values(kind), kind, "body"))


def refusal_of(response: httpx.Response) -> Any:
    """The members that a 400 names; the status and code of another answer."""
    error = error_of(response)
    return list(details_of(response).get("fields", {})) if error == INVALID else error


NULL_DATES = {name: {name: Raw(b"null")} for name in ("custom_start", "custom_end")}


@pytest.mark.usefixtures("unchanged")
@for_each(WITH_PLAIN_MEMBERS)
async def test_a_bad_value_of_a_member_is_refused_at_its_path_and_changes_nothing(
    client: Client, operation: Operation
) -> None:
    faults = []
    for path, value in planted(inspect.type_info(operation.body)):
        if operation.method == "PATCH" and value == NULL_DATES.get(path):
            continue  # what a goal without dates answers may be sent back
        # What is taken back stands alone, in place of the trades that the example names.
        least_body = {} if path.startswith("restore") else body_of(operation) or {}
        content = msgspec.json.encode(least_body | value)
        refused = await client.request(operation.method, path_of(operation, 1), content=content)
        if refusal_of(refused) != [path]:
            faults.append((path, content[:500], refusal_of(refused)))

    assert faults == []


@pytest.mark.usefixtures("unchanged")
@for_each(WITH_BODY)
async def test_an_unknown_member_is_refused_and_changes_nothing(client: Client, operation: Operation) -> None:
    body = {**(body_of(operation) or {}), "no_such_member": 1}

    refused = await client.request(operation.method, path_of(operation, 1), json=body)

    assert error_of(refused) == INVALID
    assert details_of(refused) == {"unknown_fields": ["no_such_member"]}


@for_rows("path", ["/tag-categories", "/tags", "/strategies", "/accounts", "/copy-groups"])
async def test_a_name_is_taken_however_its_letters_are_composed_but_not_in_another_case_or_by_others(
    app: Starlette, client: Client, other_user_client: Client, path: str
) -> None:
    await create_one_of_each(client)
    extra = {"category_id": 1} if path == "/tags" else {}
    rows = [
        unwrap(await client.post(path, json={"name": name, **extra}))
        for name in ("Caf\u00e9", "E\u0301", "Straße", "\ufb01", "a  b", "other")
    ]
    before = dump(app)

    taken = [
        await client.request(method, url, json={"name": name, **body})
        for name in ("Caf\u00e9", " Cafe\u0301\u3000", "\u00c9")
        for method, url, body in (("POST", path, extra), ("PATCH", f"{path}/{rows[-1]['id']}", {}))
    ]
    unchanged = dump(app)
    free = [
        await client.post(path, json={"name": name, **extra}) for name in ("caf\u00e9", "STRASSE", "fi", "a b", "ab")
    ]

    theirs = (await factories.create_category(other_user_client))["id"]
    of_stranger = await other_user_client.post(path, json={"name": "Caf\u00e9", **dict.fromkeys(extra, theirs)})

    assert of_stranger.status_code == 201
    assert [error_of(answer) for answer in taken] == [(409, "duplicate_name")] * 6
    assert unchanged == before
    assert [answer.status_code for answer in free] == [201] * 5


async def test_a_text_keeps_tabs_and_line_breaks_and_everything_that_is_no_control_character(client: Client) -> None:
    trade = await factories.create_trade(client)
    kept = " \ta\r\nb\u2028'\"\\" + "\N{FIRE}" * 9_990

    read = unwrap(await client.patch(f"/trades/{trade['id']}", json={"notes": kept}))

    assert len(kept) == 10_000
    assert read["notes"] == kept


async def test_a_note_in_a_file_keeps_the_rule_of_texts(client: Client) -> None:
    account_id = (await factories.create_account(client))["id"]
    row = 'ES,long,1,100,2026-01-05T14:00:00Z,"a{}b"\n'
    file = "symbol,direction,quantity,entry_price,opened_at,notes\n" + row

    refused = await factories.send_file(client, file.format("\x01"), account_id)
    accepted = await factories.send_file(client, file.format("\t\n"), account_id)

    assert details_of(refused)["reason"].startswith("notes must not contain control characters")
    assert accepted.status_code == 201


NOT_A_NUMBER = ["abc", "", "1.5", "1.0", "1e1", "1_0", "%2B5", "+5", "%207", "7%20", "%EF%BC%97", "%D9%A7",
                "007", "-0", "0x7", "7%00", "7%0a", "%ff", "true", "null", "9" * 5000]  # fmt: skip


def bad_parameters(kind: Any) -> list[str]:
    """Texts, as a query has them, that a parameter of this type refuses."""
    match kind:
        case inspect.UnionType():
            return [text for one in kind.types for text in bad_parameters(one)]
        case inspect.IntType(ge=int(low), le=int(high)):
            return [str(low - 1), str(high + 1), *NOT_A_NUMBER]
        case inspect.LiteralType():
            (word, *_) = kind.values
            return ["", "no-such-word", quote(f"{word} "), quote(f"{word}\0"), "%ff", f"x{word}".upper()]
        case inspect.CustomType():
            return [quote(json.loads(text)) for cls in kind.cls.__mro__ for text in BAD_VALUES.get(cls, [])]
    return []


@pytest.mark.usefixtures("unchanged")
@for_each(OPERATIONS)
async def test_a_bad_value_of_a_parameter_is_refused_and_named_and_changes_nothing(
    client: Client, operation: Operation
) -> None:
    faults: list[tuple[str, object]] = []
    for field in inspect.type_info(operation.query).fields:  # type: ignore[attr-defined]
        for text in some_of(bad_parameters(field.type), field.type, "query"):
            url = f"{path_of(operation, 1)}?{field.encode_name}={text}"
            refused = await client.request(operation.method, url)
            if refusal_of(refused) != [field.encode_name]:
                faults.append((url, refused.text))
            elif (words := words_of(field.type)) != sorted(details_of(refused).get("allowed", [])):
                faults.append((url, words))

    assert faults == []


def words_of(kind: inspect.Type) -> list[str]:
    """The words that a parameter accepts, if only those."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return sorted(str(word) for one in kinds if isinstance(one, inspect.LiteralType) for word in one.values)


@pytest.mark.usefixtures("unchanged")
@for_each(OPERATIONS)
async def test_an_unknown_parameter_is_refused_and_named_and_changes_nothing(
    client: Client, operation: Operation
) -> None:
    refused = await client.request(
        operation.method, f"{path_of(operation, 1)}?no_such=1&dryRun=true&no_such=2", json=body_of(operation)
    )

    assert error_of(refused) == INVALID
    assert details_of(refused) == {"unknown_parameters": ["no_such", "dryRun"]}


async def test_odd_names_of_parameters_are_refused_and_a_hundred_named(client: Client) -> None:
    names = {"%": "%", "%zz": "%zz", "=": "", "=1": "", ";": ";", "%00=%00": "\0", "%ff=%ff": "\ufffd",
             "x[]=1": "x[]", "a" * 60_000: "a" * 100 + "..."}  # fmt: skip

    told = {query: details_of(await client.get(f"/trades?{query}")) for query in names}

    refused = await client.get("/trades", params=dict.fromkeys((f"x{number}" for number in range(150)), 1))

    assert told == {query: {"unknown_parameters": [name]} for query, name in names.items()}
    assert len(details_of(refused)["unknown_parameters"]) == 100


async def test_every_error_of_a_query_is_told_at_once(client: Client) -> None:
    query = "limit=many&offset=-1&from=2026-02-02&to=2026-01-01&symbol=ES&symbol=NQ&side=long&dry_run=1"

    refused = await client.get(f"/trades?{query}")
    range_alone = await client.get("/trades?from=2026-02-02&to=2026-01-01&side=long")
    goal = await factories.create_goal(client)
    of_goal = await client.get(f"/goals/{goal['id']}/snapshots?from=2026-02-02&to=2026-01-01")

    assert details_of(refused) == {
        "fields": {"symbol": "must be sent once", "limit": "must be a whole number", "offset": "must be int >= 0"},
        "unknown_parameters": ["side", "dry_run"],
    }
    assert details_of(range_alone) == {"fields": {"from": "must not be after to"}, "unknown_parameters": ["side"]}
    assert details_of(of_goal) == {"fields": {"from": "must not be after to"}}


async def test_a_parameter_is_refused_before_the_body_and_the_object(client: Client) -> None:
    refused = await client.patch("/tags/999?dryRun=true", content="{", headers={"Content-Type": "text/plain"})

    assert details_of(refused) == {"unknown_parameters": ["dryRun"]}


# By the kind of the parameter.
NOT_IN_A_PATH = {
    "id:row_id": ["abc", "-1", "1.5", quote("١٢"), "0", "0001", "1%0a", "1%2f2", "%201", "1_0", "%ff",
                  str(2**63 - 1), str(2**63), "1" * 4400],
    "date:day": ["2026-02-30", "2026-13-01", "1969-12-31", "2201-01-01", "2026-1-5", "0000-01-01", "today"],
    "root:contract_root": ["mnq", "MNQ-", "ABCDEFGHIJK", "M%20Q", "\u00c9"],
}  # fmt: skip


@pytest.mark.usefixtures("unchanged")
async def test_what_no_path_can_have_is_404_and_changes_nothing(client: Client) -> None:
    answers = {
        (title(operation), value): await client.request(
            operation.method, path_of(operation).replace(path_of(operation).split("/")[2], value), **input_of(operation)
        )
        for kind, values in NOT_IN_A_PATH.items()
        for operation in OPERATIONS
        if f"{{{kind}}}" in operation.path
        for value in some_of(values, kind, operation.method)
    }

    assert {name for name, _ in answers} == {title(one) for one in OPERATIONS if "{" in one.path}
    assert {case: error_of(answer) for case, answer in answers.items() if answer.status_code != 404} == {}

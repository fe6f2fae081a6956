"""The errors of a body that does not fit its struct; and the envelope of every answer."""

import gc
import re
import sys
import time
import tracemalloc
import unicodedata
from typing import Annotated, Any, Literal

import msgspec
import pytest
from factories import Client, details_of, error_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType
from proofs import examples, max_examples
from saved_journals import for_rows

from journal_api.errors import ValidationFailed
from journal_api.values.types import Color, Name50, RowId, Text, require_name, sort_name
from journal_api.web.decoding import decode_json


class Item(Struct, kw_only=True, forbid_unknown_fields=True):
    item_id: RowId | UnsetType = UNSET
    name: Name50 | UnsetType = UNSET
    notes: str = ""

    def __post_init__(self) -> None:
        require_name(self.item_id, self.name)


class Group(Struct, kw_only=True, forbid_unknown_fields=True):
    title: str
    items: Annotated[list[Item], Meta(max_length=2)] = []


class Sample(Struct, kw_only=True, forbid_unknown_fields=True):
    """Every shape of member that the structs of the service have."""

    number: int = 0
    row_id: RowId | None = None
    flag: bool = False
    word: Literal["up", "down"] = "up"
    other_word: Literal["left", "right"] | UnsetType = UNSET
    color: Color = "#000000"
    text: Text | None = None
    short: Annotated[str, Meta(min_length=2, max_length=3)] = "ab"
    name: Name50 | UnsetType = UNSET
    groups: Annotated[list[Group], Meta(max_length=2)] | UnsetType = UNSET


def details_from(content: bytes | str, struct: type[Struct] = Sample) -> dict[str, Any]:
    """The details of the error about the body."""
    with pytest.raises(ValidationFailed) as raised:
        decode_json(content, struct)
    return raised.value.details


A_GROUP = '{"groups": [{"title": "A", "items": '
# A body, and what its error names.
BODIES: list[tuple[str, dict[str, Any]]] = [
    ('{"groups": [{"title": "A"}, {}]}', {"fields": {"groups[1].title": "is required"}}),
    (A_GROUP + '[{"item_id": 1}, {"notes": "B"}]}]}', {"fields": {"groups[0].items[1].name": "is required"}}),
    ('{"no_such": 1}', {"unknown_fields": ["no_such"]}),
    ('{"number": 1, "no_such": [1, {"a": 2}]}', {"unknown_fields": ["no_such"]}),
    ('{"groups": [{"title": "A"}, {"title": "B", "no_such": 1}]}', {"unknown_fields": ["groups[1].no_such"]}),
    (A_GROUP + '[{"name": "B", "id": 7}]}]}', {"unknown_fields": ["groups[0].items[0].id"]}),
    (f'{{"groups": [{{"title": "A", "{"n" * 1_000_000}": 1}}]}}', {"unknown_fields": [f"groups[0].{'n' * 100}..."]}),
    # What is no object has no fields to name.
    *((content, {}) for content in ("[]", '"x"', "null", "5", "1.5", "true")),
    # A member that comes twice.
    ('{"number": "5", "number": 5}', {}),
    ('{"number": 5, "number": "5"}', {"fields": {"number": "must be int, not str"}}),
    (
        '{"groups": [{"title": 5, "title": "A"}]}',
        {"fields": {"groups[0]": "has a member twice, once with a value that is not valid"}},
    ),
    # The rules of an object are asked even if a member of its neighbour is wrong.
    (
        A_GROUP + '[{"notes": "B"}, {"notes": 5}]}]}',
        {"fields": {"groups[0].items[0].name": "is required", "groups[0].items[1].notes": "must be str, not int"}},
    ),
    # Of two lists of words `allowed` is the first.
    (
        '{"other_word": "x", "word": "y"}',
        {
            "fields": {"other_word": "must be one of: left, right", "word": "must be one of: up, down"},
            "allowed": ["left", "right"],
        },
    ),
]


@for_rows("content, details", BODIES)
def test_the_error_of_a_body_names_each_member_with_its_path(content: str, details: dict[str, Any]) -> None:
    assert details_from(content) == details


STRANGE_MEMBERS = [
    *("", " ", ".", ".x", "..x", "x.", "a`b", "`", "a\nb", "\u0000", "$", "$.x", "é", "🔥", '"', "\\"),
    *("a - at b", '" - at `$.evil', "x` - at `$.name", "name` - at `$.groups[0]`"),
    "Object missing required field `name`",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def test_an_unknown_member_of_any_name_is_named_as_it_is() -> None:
    details = {member: details_from(msgspec.json.encode({member: 1})) for member in STRANGE_MEMBERS}

    assert details == {member: {"unknown_fields": [member]} for member in STRANGE_MEMBERS}


@given(TEXTS)
@max_examples(full=200, ci=60)
def test_no_text_of_a_client_confuses_the_parser(text: str) -> None:
    unknown = {"unknown_fields": [f"no_such_{text}"]}

    assert details_from(msgspec.json.encode({f"no_such_{text}": 1})) == unknown
    assert details_from(msgspec.json.encode({"word": f"x{text}"}))["allowed"] == ["up", "down"]


REASONS = [
    ('{"number": "5"}', "number", "must be int, not str"),
    ('{"number": 1.0}', "number", "must be int, not float"),
    ('{"number": true}', "number", "must be int, not bool"),
    ('{"number": null}', "number", "must be int, not null"),
    ('{"number": []}', "number", "must be int, not array"),
    ('{"number": {}}', "number", "must be int, not object"),
    ('{"flag": 1}', "flag", "must be bool, not int"),
    ('{"text": 5}', "text", "must be a string"),
    ('{"row_id": "5"}', "row_id", "must be int | null, not str"),
    ('{"groups": {}}', "groups", "must be array, not object"),
    ('{"groups": null}', "groups", "must be array, not null"),
    ('{"groups": [5]}', "groups[0]", "must be object, not int"),
    ('{"groups": [{"title": "A", "items": [{"name": "B"}, []]}]}', "groups[0].items[1]",
     "must be object, not array"),
    ('{"groups": [{"title": 5}]}', "groups[0].title", "must be str, not int"),
    ('{"row_id": 0}', "row_id", "must be int >= 1"),
    ('{"row_id": 9223372036854775808}', "row_id", "must be int <= 9223372036854775807"),
    ('{"short": "a"}', "short", "must be str of length >= 2"),
    ('{"short": "abcd"}', "short", "must be str of length <= 3"),
    ('{"text": "' + "n" * 10_001 + '"}', "text", "must be at most 10000 characters"),
    (r'{"text": "a\u0000"}', "text", "must not contain control characters except tab and line breaks"),
    ('{"color": "red"}', "color", "must be a colour #RRGGBB"),
    ('{"color": "#gggggg"}', "color", "must be a colour #RRGGBB"),
    ('{"name": ""}', "name", "must be 1 to 50 characters"),
    ('{"name": 5}', "name", "must be a string"),
    (r'{"name": "a\u0000b"}', "name", "must not contain control characters"),
    ('{"groups": [{"title": "A", "items": [{"name": " "}]}]}', "groups[0].items[0].name",
     "must be 1 to 50 characters"),
    ('{"groups": [{"title": "A"}, {"title": "A"}, {"title": "A"}]}', "groups",
     "must be array of length <= 2"),
    ('{"groups": [{"title": "A", "items": [{"name": "A"}, {"name": "A"}, {"name": "A"}]}]}',
     "groups[0].items", "must be array of length <= 2"),
]  # fmt: skip


def test_a_wrong_type_and_a_value_beyond_a_limit_are_told_with_what_was_sent_and_what_is_allowed() -> None:
    details = [(content, details_from(content)) for content, *_ in REASONS]

    assert details == [(content, {"fields": {field: reason}}) for content, field, reason in REASONS]


def test_a_name_takes_every_character_but_control_characters_and_half_ones() -> None:
    # Beyond the first plane, one in 64.
    codes = (*range(0x10000), *range(0x10000, sys.maxunicode, 64))
    refused = {code for code in codes if not is_taken(f"a{chr(code)}b")}

    assert {unicodedata.category(chr(code)) for code in refused} == {"Cc", "Cs"}
    assert len(refused) == 65 + 2048


def is_taken(name: str) -> bool:
    try:
        Name50.decode(name)
    except ValueError:
        return False
    return True


def test_a_word_that_is_not_on_the_list_comes_with_the_list() -> None:
    for member, allowed in (("word", ["up", "down"]), ("other_word", ["left", "right"])):
        for sent in ('"x"', '""', '"UP"', "5", "null", "true", "[]", '"a`b"', r'"\u0000"'):
            assert details_from(f'{{"{member}": {sent}}}') == {
                "fields": {member: f"must be one of: {', '.join(allowed)}"},
                "allowed": allowed,
            }


MEMBERS = st.sampled_from([*Sample.__struct_fields__, *Group.__struct_fields__, *Item.__struct_fields__, "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(MEMBERS, VALUES, max_size=4))
@max_examples(full=400, ci=100)
def test_every_error_is_explained_in_our_words_and_names_the_members_to_blame(sent: dict[str, Any]) -> None:
    try:
        decode_json(msgspec.json.encode(sent), Sample)
    except ValidationFailed as error:
        fields, unknown = (error.details.get(name, {}) for name in ("fields", "unknown_fields"))
        first_words = {re.split(r"[.\[]", path)[0] for path in [*fields, *unknown]}

        assert first_words
        assert all("`" not in reason and " - at " not in reason for reason in fields.values())
        decode_json(msgspec.json.encode({k: v for k, v in sent.items() if k not in first_words}), Sample)


def test_every_member_that_is_wrong_is_named() -> None:
    body = {
        "number": "5",
        "row_id": 0,
        "no_such": 1,
        "groups": [{"title": 5, "items": [{"name": ""}, {"notes": "x"}, [], {"name": "B", "id": 7}]}, {"items": {}}],
        "word": "sideways",
        "flag": True,
    }

    assert details_from(msgspec.json.encode(body)) == {
        "fields": {
            "number": "must be int, not str",
            "row_id": "must be int >= 1",
            "groups[0].title": "must be str, not int",
            "groups[0].items": "must be array of length <= 2",
            "groups[1].items": "must be array, not object",
            "groups[1].title": "is required",
            "word": "must be one of: up, down",
        },
        "unknown_fields": ["no_such"],
        "allowed": ["up", "down"],
    }


def test_a_hundred_errors_are_named_and_no_more() -> None:
    groups = [{"title": number, f"no_such_{number}": 1} for number in range(2)]
    many = {f"no_such_{number}": 1 for number in range(1000)}

    details = details_from(msgspec.json.encode({"groups": groups, **many}))

    assert list(details["fields"]) == ["groups[0].title", "groups[1].title"]
    assert len(details["unknown_fields"]) == 98


@for_rows("start", ['"groups":[', '"x":1,"text":"'])
def test_ten_times_the_body_is_explained_in_ten_times_the_time(start: str) -> None:
    item = {"[": '{"title":5,"x":[]},', '"': r"\u0041", "{": '"m":[{}],'}[start[-1]]
    ends = {"[": "0]", '"': '"', "{": '"m":1}'}

    def seconds(number: int) -> float:
        content = f'{{"number":"5",{start}{item * number}{ends[start[-1]]}}}'.encode()
        began = time.thread_time()
        assert details_from(content)["fields"]
        return time.thread_time() - began

    # A walk of the square would take a hundred times.
    assert min(seconds(200_000) for _ in range(3)) < 50 * min(seconds(20_000) for _ in range(3))


@pytest.mark.promise(22)
async def test_nothing_that_a_client_wrote_is_remembered(client: Client) -> None:
    hostile = ['{" - at `$.%08d😀%s":1}' % (number, "A" * 2**18) for number in range(examples(full=12, ci=4))]  # noqa: UP031
    await client.post("/tags", content=hostile[0])
    gc.disable()  # it goes at once, not when the garbage is collected
    tracemalloc.start()

    try:
        answers = [len((await client.post("/tags", content=body)).content) for body in hostile]
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()

    assert max(answers) < 1000
    # The client here keeps what it sent; the service would have four bytes a character.
    assert kept < 2 * sum(map(len, hostile))


@for_rows(
    "content, said", [(b"{", "JSON"), (b"\xff", "UTF-8"), (b"[" * 100_000, "deep"), (b'{"name":' * 100_000, "deep")]
)
async def test_a_body_that_cannot_be_read_is_told_why(client: Client, content: bytes, said: str) -> None:
    refused = await client.post("/strategies", content=b'{"name": "A", "risk_rules": ' + content)

    assert error_of(refused) == (400, "validation_error")
    assert said in refused.json()["error"]["message"]
    assert details_of(refused) == {}


def test_a_name_is_sorted_by_its_composed_form_without_case() -> None:
    composed = "\N{GREEK SMALL LETTER IOTA WITH DIALYTIKA AND TONOS}"
    assert composed.casefold() != composed

    assert sort_name(composed) == composed

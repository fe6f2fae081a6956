"""v1 only grows: what a new OpenAPI document takes away is told, and stops `make openapi`."""

from collections.abc import Callable
from copy import deepcopy
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import msgspec
import pytest
from openapi_changes import find_removals
from ruamel.yaml import YAML
from saved_journals import for_rows
from write_openapi import write_file

NOT_REQUIRED = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
DOCUMENT: Any = YAML(typ="safe").load("""
paths:
  /health: {get: {security: [], responses: {"200": {}}}}
  /v1/things:
    get: {security: [], responses: {"200": {}}}
    post:
      security: [{key: ["write:things"]}]
      parameters:
        - {name: dry_run, in: query, schema: {type: boolean, default: false}}
        - {name: force, in: query, schema: {type: string, enum: ["0", "1", "false", "true"], default: "false"}}
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/ThingSent"}}}
      responses:
        "201":
          headers: {Location: {schema: {type: string}}, X-Request-Id: {}}
          content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}
        "409": {}
components:
  schemas:
    Part: {type: object, properties: {label: {type: string, maxLength: 50}}}
    State: {type: string, enum: ["on", "off"]}
    ThingSent:
      type: object
      properties:
        name: {type: string, minLength: 1, maxLength: 50}
        kind: {enum: [old, new], default: old}
        sort: {type: string, pattern: "^-?(old|new)$"}
        state: {$ref: "#/components/schemas/State", x-default: "on"}
        note: {anyOf: [{type: string, format: date}, {type: "null"}]}
        size: {type: number, exclusiveMinimum: 0, maximum: 9, x-default: null}
        labels: {type: array, items: {type: string}, readOnly: true}
        parts: {type: array, items: {$ref: "#/components/schemas/Part"}, maxItems: 5}
      required: [name]
      additionalProperties: false
    Thing:
      type: object
      properties: {id: {type: integer}, key: {type: "null"}, kind: {enum: [old, new]}, name: {type: string}}
      required: [id, kind, name]
""")
POST: tuple[str, ...] = ("paths", "/v1/things", "post")
POST_201 = DOCUMENT["paths"]["/v1/things"]["post"]["responses"]["201"]
PARAMETER: tuple[Any, ...] = (*POST, "parameters", 0)
FORCE: tuple[Any, ...] = (*POST, "parameters", 1)
SENT = ("components", "schemas", "ThingSent")
MEMBERS = (*SENT, "properties")
GIVEN = ("components", "schemas", "Thing", "properties")
QUERY = "POST /v1/things, query dry_run"
QUERY_FORCE = "POST /v1/things, query force"
BODY = "POST /v1/things, body"
ANSWER = "POST /v1/things, 201"

Edit = Callable[[Any], None]


def put(*path: Any, value: Any) -> Edit:
    """The edit that makes the value stand at the end of the path."""

    def edit(document: Any) -> None:
        reduce(getitem, path[:-1], document)[path[-1]] = value

    return edit


def drop(*path: Any) -> Edit:
    """The edit after which nothing stands at the end of the path."""

    def edit(document: Any) -> None:
        del reduce(getitem, path[:-1], document)[path[-1]]

    return edit


def edited(edit: Edit) -> Any:
    document = deepcopy(DOCUMENT)
    edit(document)
    return document


@for_rows(
    "edit, line",
    [
        (drop("paths", "/v1/things", "get"), "GET /v1/things: is removed"),
        (drop("paths", "/v1/things", "post"), "POST /v1/things: is removed"),
        (put(*POST, "security", value=[{"key": ["write:all"]}]), "POST /v1/things: needs another scope"),
        (drop(*PARAMETER), f"{QUERY}: is removed"),
        (put(*PARAMETER, "required", value=True), f"{QUERY}: is newly required"),
        (put(*PARAMETER, "schema", "default", value=True), f"{QUERY}: has another default"),
        (put(*FORCE, "schema", value={"type": "boolean", "default": True}), f"{QUERY_FORCE}: has another default"),
        (drop(*POST, "requestBody"), f"{BODY}: is removed"),
        (drop(*POST, "requestBody", "content", "application/json"), f"{BODY}, application/json: is removed"),
        (drop(*MEMBERS, "size"), f"{BODY}.size: is removed"),
        (put(*SENT, "required", value=["name", "size"]), f"{BODY}.size: is newly required"),
        (put(*MEMBERS, "name", "maxLength", value=49), f"{BODY}.name: has a lower maxLength"),
        (put(*MEMBERS, "name", "minLength", value=2), f"{BODY}.name: has a higher minLength"),
        (put(*MEMBERS, "name", "pattern", value="^[a-z]+$"), f"{BODY}.name: has another pattern"),
        (put(*MEMBERS, "sort", "pattern", value="^-?(old|other)$"), f"{BODY}.sort: has another pattern"),
        (put(*MEMBERS, "sort", "pattern", value="^(old|new)$"), f"{BODY}.sort: has another pattern"),
        (put(*MEMBERS, "name", "enum", value=["a", "b"]), f"{BODY}.name: is one of a few words"),
        (put(*MEMBERS, "kind", "enum", value=["old"]), f"{BODY}.kind: is never 'new' any more"),
        (drop(*MEMBERS, "kind", "default"), f"{BODY}.kind: has another default"),
        (put(*MEMBERS, "state", "x-default", value="off"), f"{BODY}.state: has another default"),
        (drop(*MEMBERS, "note", "anyOf", 1), f"{BODY}.note: is no null any more"),
        (put(*MEMBERS, "size", "type", value="integer"), f"{BODY}.size: is no number any more"),
        (put(*MEMBERS, "size", "maximum", value=8.5), f"{BODY}.size: has a lower maximum"),
        (put(*MEMBERS, "size", "exclusiveMinimum", value=1), f"{BODY}.size: has a higher exclusiveMinimum"),
        (put(*MEMBERS, "size", "minimum", value=2), f"{BODY}.size: has a higher minimum"),
        (put(*MEMBERS, "parts", "maxItems", value=4), f"{BODY}.parts: has a lower maxItems"),
        (
            put("components", "schemas", "Part", "additionalProperties", value=False),
            f"{BODY}.parts[]: takes no other members any more",
        ),
        (
            put("components", "schemas", "Part", "properties", "label", "maxLength", value=9),
            f"{BODY}.parts[].label: has a lower maxLength",
        ),
        (drop(*POST, "responses", "409"), "POST /v1/things, 409: is removed"),
        (put(*POST, "responses", value={"409": {}, "default": {}}), "POST /v1/things, 201: is removed"),
        (drop(*POST, "responses", "201", "headers", "Location"), f"{ANSWER}, header Location: is removed"),
        (drop(*POST, "responses", "201", "content"), f"{ANSWER}, application/json: is removed"),
        (drop(*GIVEN, "name"), f"{ANSWER}.name: is removed"),
        (put(*GIVEN[:-1], "required", value=["id", "kind"]), f"{ANSWER}.name: is not always there"),
        (put(*GIVEN, "id", "type", value="string"), f"{ANSWER}.id: may be string"),
        (put(*GIVEN, "name", "type", value=["null", "string"]), f"{ANSWER}.name: may be null"),
        (put(*GIVEN, "name", "format", value="uri"), f"{ANSWER}.name: has another format"),
        (put(*GIVEN, "kind", "enum", value=["new"]), f"{ANSWER}.kind: is never 'old' any more"),
    ],
)
def test_what_is_taken_away_is_told(edit: Edit, line: str) -> None:
    assert find_removals(DOCUMENT, edited(edit)) == [line]


@for_rows(
    "edit",
    [
        put("paths", "/v1/things", "put", value={"security": [], "responses": {}}),
        drop("paths", "/health"),
        put(*PARAMETER, "description", value="Told in other words."),
        put(*POST, "parameters", value=[*DOCUMENT["paths"]["/v1/things"]["post"]["parameters"], NOT_REQUIRED]),
        put(*FORCE, "schema", value={"type": "boolean", "default": False}),
        put(*MEMBERS, "kind", value={"enum": ["old", "new"], "x-default": "old"}),
        drop(*POST, "requestBody", "required"),
        put(*POST, "requestBody", "content", "text/csv", value={"schema": {"type": "string"}}),
        put(*MEMBERS, "color", value={"type": "string"}),
        put(*MEMBERS, "sort", "pattern", value="^-?(old|mid|new)$"),
        drop(*MEMBERS, "name", "minLength"),
        drop(*MEMBERS, "note", "anyOf", 0, "format"),
        put(*MEMBERS, "size", "type", value=["number", "null"]),
        put(*MEMBERS, "labels", value={"type": "array", "items": {"type": "string"}, "maxItems": 9}),
        put(*SENT, "required", value=[]),
        drop(*SENT, "additionalProperties"),
        put(*POST, "responses", "429", value={}),
        put(*POST, "responses", value={"201": POST_201, "default": {}}),
        drop(*POST, "responses", "201", "headers", "X-Request-Id"),
        drop(*MEMBERS, "size", "x-default"),
        put(*POST, "responses", "201", "headers", "ETag", value={}),
        put(*GIVEN, "color", value={"type": "string"}),
        put(*GIVEN, "key", "type", value=["string", "null"]),
        put(*GIVEN, "kind", "enum", value=["old", "new", "newer"]),
        put(*GIVEN, "name", "maxLength", value=50),
        put(*GIVEN, "name", "enum", value=["old", "new"]),
    ],
)
def test_what_grows_or_is_outside_v1_is_not(edit: Edit) -> None:
    assert find_removals(DOCUMENT, edited(edit)) == []
    assert edited(edit) != DOCUMENT


def test_a_document_that_takes_something_away_is_not_written_and_one_that_grows_is(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    first = msgspec.json.encode(DOCUMENT)
    write_file(file, first)

    with pytest.raises(SystemExit, match="GET /v1/things: is removed"):
        write_file(file, msgspec.json.encode(edited(drop("paths", "/v1/things", "get"))))
    assert file.read_bytes() == first

    grown = msgspec.json.encode(edited(put(*MEMBERS, "color", value={"type": "string"})))
    write_file(file, grown)
    assert file.read_bytes() == grown

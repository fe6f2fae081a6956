"""What a new OpenAPI document takes away from the clients of the old one: v1 only grows."""

import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

# What bounds a value from above, from below, and what it has to be like.
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
FORM = ("pattern", "format", "multipleOf", "uniqueItems")
WORDS = re.compile(r"\w+(?:\|\w+)+")  # in a pattern
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
ANYTHING = "anything"
# Described once for all responses.
EVERY_RESPONSE = {"X-Request-Id"}
# What a query says for a boolean, as text.
FLAG_WORDS = {"true", "false", "1", "0"}


def find_removals(old: Json, new: Json) -> list[str]:
    """One line for everything inside v1 that is removed, narrowed, or newly required."""
    old, new = expanded(old, old), expanded(new, new)
    return [
        f"{method.upper()} {path}{line}"
        for path, methods in old["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/v1/") and method != "head"  # described once for all paths
        for line in compare_operations(operation, new["paths"].get(path, {}).get(method))
    ]


def expanded(part: Any, document: Json) -> Any:
    """The part with what it refers to in the place of each reference."""
    if isinstance(part, list):
        return [expanded(item, document) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        found: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        beside = {name: expanded(item, document) for name, item in part.items() if name != "$ref"}
        return {**expanded(found, document), **beside}
    return {name: expanded(item, document) for name, item in part.items()}


def compare_operations(old: Json, new: Json | None) -> Iterator[str]:
    if new is None:
        yield ": is removed"
        return
    if old["security"] != new["security"]:
        yield ": needs another scope"
    yield from compare_parameters(parameters_by_name(old), parameters_by_name(new))
    yield from compare_bodies(old.get("requestBody"), new.get("requestBody"))
    for status, answer in old["responses"].items():
        yield from compare_responses(f", {status}", answer, find_response(new, status))


def find_response(operation: Json, status: str) -> Json | None:
    """The response with the status; `default` stands for every error that is not listed."""
    responses: Json = operation["responses"]
    return responses.get(status, responses.get("default") if status >= "400" else None)


def parameters_by_name(operation: Json) -> dict[str, Json]:
    return {f"{one['in']} {one['name']}": one for one in operation.get("parameters", ())}


def compare_parameters(old: dict[str, Json], new: dict[str, Json]) -> Iterator[str]:
    yield from (f", {name}: is removed" for name in old.keys() - new.keys())
    for name, parameter in new.items():
        if parameter.get("required") and not old.get(name, {}).get("required"):
            yield f", {name}: is newly required"
        if name in old:
            before, after = old[name]["schema"], parameter["schema"]
            if after.get("type") == "boolean" and name.startswith("query "):
                before = as_boolean(before)
            yield from compare_schemas(f", {name}", before, after, sent=True)


def as_boolean(schema: Json) -> Json:
    """The schema of a boolean, if it lists the texts of a boolean: a query says the same for both."""
    if not words(schema) or not FLAG_WORDS.issuperset(words(schema)):
        return schema
    return {"type": "boolean", "default": schema.get("default") in ("true", "1")}


def compare_bodies(old: Json | None, new: Json | None) -> Iterator[str]:
    if old and not new:
        yield ", body: is removed"
    if new and new.get("required") and not (old and old.get("required")):
        yield ", body: is newly required"
    if old and new:
        yield from compare_contents(", body", old, new, sent=True)


def compare_responses(where: str, old: Json, new: Json | None) -> Iterator[str]:
    if new is None:
        yield f"{where}: is removed"
        return
    missing = old.get("headers", {}).keys() - new.get("headers", {}).keys() - EVERY_RESPONSE
    yield from (f"{where}, header {name}: is removed" for name in missing)
    yield from compare_contents(where, old, new, sent=False)


def compare_contents(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    for media_type, content in old.get("content", {}).items():
        if media_type in new.get("content", {}):
            schema = new["content"][media_type]["schema"]
            yield from compare_schemas(where, content["schema"], schema, sent=sent)
        else:
            yield f"{where}, {media_type}: is removed"


def compare_schemas(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    """`sent` is a value that clients send; the others are answered to them."""
    olds, news = kinds(old), kinds(new)
    if sent:
        if read_default(old) not in (ANYTHING, None, read_default(new)):
            yield f"{where}: has another default"
        yield from (f"{where}: is no {kind} any more" for kind in olds if not takes(news, kind))
    else:
        # Generators had no type for a member that is always null.
        yield from (f"{where}: may be {kind}" for kind in news if kind not in olds and olds.keys() != {"null"})
    for kind in olds.keys() & news.keys():
        yield from compare_words(where, olds[kind], news[kind], sent=sent)
        yield from compare_limits(where, olds[kind], news[kind], sent=sent)
        yield from compare_members(where, olds[kind], news[kind], sent=sent)
        if "items" in olds[kind] and "items" in news[kind]:
            yield from compare_schemas(f"{where}[]", olds[kind]["items"], news[kind]["items"], sent=sent)


def read_default(schema: Json) -> Any:
    """What leaving the member out means; bodies say it in `x-default`, unless it is null."""
    return schema.get("default", schema.get("x-default", ANYTHING))


def kinds(schema: Json) -> dict[str, Json]:
    """What is said of a value by its type."""
    if "anyOf" in schema:
        return {kind: part for one in schema["anyOf"] for kind, part in kinds(one).items()}
    named = schema.get("type") or {TYPES[type(word)] for word in words(schema)} or ANYTHING
    found = dict.fromkeys([named] if isinstance(named, str) else sorted(named), schema)
    return {**found, "null": {"type": "null"}} if "null" in found else found  # which has no limits


def words(schema: Json) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def takes(new: dict[str, Json], kind: str) -> bool:
    return kind in new or ANYTHING in new or (kind == "integer" and "number" in new)


def compare_words(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    """A list of what an answer may say hurts nobody who expects any text, but each word of it stays."""
    if sent and words(new) and not words(old):
        yield f"{where}: is one of a few words"
    elif words(old) and words(new):
        yield from (f"{where}: is never {word!r} any more" for word in words(old) if word not in words(new))


def compare_limits(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    """Limits bind who sends; an answer within narrower ones hurts nobody."""
    for name in FORM:
        if old.get(name) != new.get(name) and (name in new or not sent):
            if sent and name == "pattern" and adds_words(old.get(name, ""), new[name]):
                continue
            yield f"{where}: has another {name}"
    for name in UPPER if sent else ():
        if name in new and new[name] < old.get(name, float("inf")):
            yield f"{where}: has a lower {name}"
    for name in LOWER if sent else ():
        if name in new and new[name] > old.get(name, float("-inf")):
            yield f"{where}: has a higher {name}"


def adds_words(old: str, new: str) -> bool:
    """Return whether a pattern is the old one with more words to choose from."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    return WORDS.sub("", old) == WORDS.sub("", new) and all(
        set(fewer.split("|")) <= set(more.split("|")) for fewer, more in zip(before, after, strict=True)
    )


def compare_members(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    before, after = old.get("properties", {}), new.get("properties", {})
    yield from (f"{where}.{name}: is removed" for name in before.keys() - after.keys())
    required, required_now = set(old.get("required", ())), set(new.get("required", ()))
    if sent:
        yield from (f"{where}.{name}: is newly required" for name in required_now - required)
        if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
            yield f"{where}: takes no other members any more"
    else:
        missing = (required - required_now) & after.keys()
        yield from (f"{where}.{name}: is not always there" for name in missing)
    for name in before.keys() & after.keys():
        if sent and before[name].get("readOnly"):
            continue  # it took what was stored alone, and still takes that if it can be written now
        yield from compare_schemas(f"{where}.{name}", before[name], after[name], sent=sent)

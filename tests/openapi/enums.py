"""The closed lists of values in the OpenAPI document, each a named component."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, get_args, get_origin

from journal_api import statistics, structs, values
from journal_api.metrics.metrics import MetricKey

RENAMED = {"Reason": "NullReason", "Unit": "MetricUnit"}
WITHOUT_NAME = ("BelowZero", "ExtraStatistic", "PaceState", "Place")


def find_literals() -> dict[str, tuple[str, ...]]:
    """The values of every Literal type in journal_api.values and journal_api.structs, by its name."""
    packages = [(package.__name__, package.__path__) for package in (values, statistics, structs)]
    modules = [f"{name}.{module.name}" for name, path in packages for module in iter_modules(path)]
    return {
        RENAMED.get(name, name): get_args(kind)
        for module in modules
        for name, kind in vars(import_module(module)).items()
        if get_origin(kind) is Literal and name not in WITHOUT_NAME
    }


ENUMS = {**find_literals(), "MetricKey": tuple(MetricKey.allowed)}
NAMES = {frozenset(values): name for name, values in ENUMS.items()}


def enum_schemas() -> dict[str, Any]:
    """The components, by name."""
    return {name: {"type": "string", "enum": list(values), **name_values(values)} for name, values in ENUMS.items()}


def name_values(values: tuple[str, ...]) -> dict[str, Any]:
    """Names for generated code, which would give `A` and `A+` the same one; none where the values serve."""
    names = [value.upper().replace("+", "_PLUS") for value in values]
    return {"x-enum-varnames": names} if any("+" in value for value in values) else {}


def enum_name(values: Iterable[str]) -> str | None:
    """The name of the component with these values, None if there is none."""
    return NAMES.get(frozenset(values))

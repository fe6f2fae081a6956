"""Explain a path that no route has: a slash too many, no /v1, a word in the place of an id."""

import re
from collections.abc import Sequence
from difflib import get_close_matches

from starlette.routing import Route

from journal_api.web.quoting import quote

MAX_COMPARED_LENGTH = 200


def explain_unknown_path(path: str, routes: Sequence[Route]) -> str:
    """Say what is wrong with the path, and which path is probably meant."""
    plain = "/" + "/".join(filter(None, path.split("/")))
    if route := find_route(path, routes):
        return explain_parameters(path, route)
    if plain != path and find_route(plain, routes):
        return f"A path has no slash at its end and no two in a row: use {quote(plain)}."
    meant = f"/v1{plain}" if find_route(f"/v1{plain}", routes) else find_nearest(plain, routes)
    question = f"; did you mean {quote(meant)}?" if meant else "."
    return f"There is no path {quote(path)}{question} GET /docs lists the paths."


def find_route(path: str, routes: Sequence[Route]) -> Route | None:
    """Return the route that has this path, or has it with other parameters."""
    parts = path.split("/")
    for route in routes:
        expected = route.path_format.split("/")
        if len(parts) == len(expected) and all(
            part if name.startswith("{") else part == name for name, part in zip(expected, parts, strict=True)
        ):
            return route
    return None


def explain_parameters(path: str, route: Route) -> str:
    """Name the first parameter that is not what it should be."""
    for name, part in zip(route.path_format.split("/"), path.split("/"), strict=True):
        convertor = route.param_convertors.get(name.strip("{}"))
        if convertor and not re.fullmatch(convertor.regex, part):
            return f"{quote(part)} is not {getattr(convertor, 'meaning', f'a valid {name}')}."
    return f"There is no path {quote(path)}."


def find_nearest(path: str, routes: Sequence[Route]) -> str:
    if len(path) > MAX_COMPARED_LENGTH:
        return ""
    known = {route.path_format for route in routes}
    return next(iter(get_close_matches(path.lower(), known, n=1, cutoff=0.8)), "")

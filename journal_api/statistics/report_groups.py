"""The groups of a report in which a part of the trades counts."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from msgspec import json

from journal_api.metrics.groupings import GROUPINGS, GroupKeys, find_grouping
from journal_api.statistics.fold import Place

ANSWERS = ("present", "absent", "unanswered")
OneKey = int | str | None
# With two keys a pair.
Key = OneKey | tuple[OneKey, ...]


class GroupPart(NamedTuple):
    """A group of a report, or of a confirmation the decisions with one answer to it."""

    key: Key
    answer: str = "all"


TOTAL = GroupPart(None, "total")
# Of two keys that split decisions, all parts of decisions.
SPLIT_TOTAL = GroupPart(None, "split")
Checklists = Mapping[int, Sequence[int]]


def find_groups(part: str | int | None, place: Place, group_by: GroupKeys, checklists: Checklists) -> list[GroupPart]:
    """Return the groups in which a part of the trades counts, the total among them.

    `checklists` has the confirmations of setups.
    """
    if place == "total" or group_by == ("none",):
        return [TOTAL]
    if len(group_by) > 1:
        groups = find_pairs(json.decode(str(part)), group_by, checklists)
    else:
        groups = [GroupPart(*one) for one in find_keys(part, group_by[0], checklists)]
    return groups if place == "group" else [*groups, TOTAL]


def find_pairs(parts: Sequence[OneKey], group_by: GroupKeys, checklists: Checklists) -> list[GroupPart]:
    """Return the groups of a pair of parts. At most one of the keys gives several, or answers."""
    both = (find_keys(part, key, checklists) for part, key in zip(parts, group_by, strict=True))
    pairs = [
        GroupPart((one, other), answer if other_answer == "all" else other_answer)
        for (one, answer), (other, other_answer) in product(*both)
    ]
    return [*pairs, SPLIT_TOTAL] if find_grouping(group_by).splits else pairs


def find_keys(part: OneKey, group_by: str, checklists: Checklists) -> list[tuple[OneKey, str]]:
    """Return the keys in which a part counts, each with the answer of its decisions.

    The part by tag is a JSON array of tag ids; by confirmation the setup and a JSON array of the ids of the
    confirmations that were present, negative for absent ones.
    """
    if part is None:
        return [(None, "unanswered" if group_by == "confirmation" else "all")]
    if GROUPINGS[group_by].is_list:
        return [(one, "all") for one in json.decode(str(part), type=list[int])]
    if group_by == "confirmation":
        return find_answers(str(part), checklists)
    return [(int(part) if GROUPINGS[group_by].is_number else part, "all")]


def find_answers(part: str, checklists: Checklists) -> list[tuple[OneKey, str]]:
    """Return the answer to each confirmation of the setup, without any the group of no confirmation."""
    setup_id, answers = part.split(" ", 1)
    answered = json.decode(answers, type=set[int])
    return [
        (one, "present" if one in answered else "absent" if -one in answered else "unanswered")
        for one in checklists.get(int(setup_id), ())
    ] or [(None, "unanswered")]

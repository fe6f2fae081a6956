"""The groups of a report in which a part of the trades counts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import json

from journal_api.metrics.groupings import GROUPINGS, GroupBy
from journal_api.statistics.fold import Place

ANSWERS = ("present", "absent", "unanswered")
Key = int | str | None


class GroupPart(NamedTuple):
    """A group of a report, or of a confirmation the decisions with one answer to it."""

    key: Key
    answer: str = "all"


TOTAL = GroupPart(None, "total")


def find_groups(
    part: str | int | None, place: Place, group_by: GroupBy, checklists: Mapping[int, Sequence[int]]
) -> list[GroupPart]:
    """Return the groups in which a part of the trades counts, the total among them.

    The part by tag is a JSON array of tag ids; by confirmation the setup and a JSON array of the ids of the
    confirmations that were present, negative for absent ones. `checklists` has the confirmations of setups.
    """
    if place == "total" or group_by == "none":
        return [TOTAL]
    if part is None:
        groups = [GroupPart(None, "unanswered" if group_by == "confirmation" else "all")]
    elif group_by == "tag":
        groups = [GroupPart(tag_id) for tag_id in json.decode(str(part), type=list[int])]
    elif group_by == "confirmation":
        groups = find_answers(str(part), checklists)
    else:
        groups = [GroupPart(int(part) if GROUPINGS[group_by].is_number else part)]
    return groups if place == "group" else [*groups, TOTAL]


def find_answers(part: str, checklists: Mapping[int, Sequence[int]]) -> list[GroupPart]:
    """Return the answer to each confirmation of the setup, without any the group of no confirmation."""
    setup_id, answers = part.split(" ", 1)
    answered = json.decode(answers, type=set[int])
    return [
        GroupPart(one, "present" if one in answered else "absent" if -one in answered else "unanswered")
        for one in checklists.get(int(setup_id), ())
    ] or [GroupPart(None, "unanswered")]

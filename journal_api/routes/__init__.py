"""The whole route table, in the order of the interface document."""

from starlette.requests import Request

from journal_api.codec import Response, ok
from journal_api.routes import goals, me, metrics, snapshots, strategies, tag_categories, tags
from journal_api.routes.operation import Operation
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch, GoalQuery
from journal_api.structs.me import Me, MePatch
from journal_api.structs.metrics import Metric
from journal_api.structs.setups import Setup
from journal_api.structs.snapshots import Snapshot, SnapshotQuery
from journal_api.structs.strategies import (
    Strategy,
    StrategyCreate,
    StrategyListItem,
    StrategyPatch,
    StrategyQuery,
)
from journal_api.structs.tag_categories import TagCategory, TagCategoryCreate, TagCategoryPatch
from journal_api.structs.tags import Tag, TagCreate, TagPatch, TagQuery


async def health(request: Request) -> Response:
    """Whether the service answers; needs no key."""
    return ok(status='"ok"')


OPERATIONS = [
    Operation("GET", "/tag-categories", tag_categories.list_tag_categories, "read:tags",
              data={"tag_categories": list[TagCategory]}),
    Operation("GET", "/tags", tags.list_tags, "read:tags",
              query=TagQuery, data={"tags": list[Tag]}),
    Operation("POST", "/tag-categories", tag_categories.create_tag_category, "write:tags",
              body=TagCategoryCreate, data={"tag_category": TagCategory}),
    Operation("PATCH", "/tag-categories/{id:row_id}", tag_categories.update_tag_category, "write:tags",
              body=TagCategoryPatch, data={"tag_category": TagCategory}),
    Operation("DELETE", "/tag-categories/{id:row_id}", tag_categories.delete_tag_category, "write:tags"),
    Operation("POST", "/tags", tags.create_tag, "write:tags",
              body=TagCreate, data={"tag": Tag}),
    Operation("PATCH", "/tags/{id:row_id}", tags.update_tag, "write:tags",
              body=TagPatch, data={"tag": Tag}),
    Operation("DELETE", "/tags/{id:row_id}", tags.delete_tag, "write:tags"),
    Operation("GET", "/strategies", strategies.list_strategies, "read:strategies",
              query=StrategyQuery, data={"strategies": list[StrategyListItem]}),
    Operation("GET", "/strategies/{id:row_id}", strategies.get_strategy, "read:strategies",
              data={"strategy": Strategy}),
    Operation("GET", "/strategies/{id:row_id}/setups", strategies.list_setups, "read:strategies",
              data={"setups": list[Setup]}),
    Operation("POST", "/strategies", strategies.create_strategy, "write:strategies",
              body=StrategyCreate, data={"strategy": Strategy}),
    Operation("PATCH", "/strategies/{id:row_id}", strategies.update_strategy, "write:strategies",
              body=StrategyPatch, data={"strategy": Strategy}),
    Operation("DELETE", "/strategies/{id:row_id}", strategies.delete_strategy, "write:strategies"),
    Operation("GET", "/goals", goals.list_goals, "read:goals",
              query=GoalQuery, data={"goals": list[Goal]}),
    Operation("GET", "/goals/{id:row_id}", goals.get_goal, "read:goals", data={"goal": Goal}),
    Operation("GET", "/goals/{id:row_id}/snapshots", snapshots.list_snapshots, "read:goals",
              query=SnapshotQuery, data={"snapshots": list[Snapshot]}),
    Operation("POST", "/goals", goals.create_goal, "write:goals",
              body=GoalCreate, data={"goal": Goal}),
    Operation("PATCH", "/goals/{id:row_id}", goals.update_goal, "write:goals",
              body=GoalPatch, data={"goal": Goal}),
    Operation("DELETE", "/goals/{id:row_id}", goals.delete_goal, "write:goals"),
    Operation("GET", "/metrics", metrics.list_metrics, None, data={"metrics": list[Metric]}),
    Operation("GET", "/me", me.get_me, "read:settings", data={"me": Me}),
    Operation("PATCH", "/me", me.update_me, "write:settings", body=MePatch, data={"me": Me}),
]  # fmt: skip

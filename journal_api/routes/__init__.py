"""The whole route table: the interface document's operations in its order, then the trading record's."""

from starlette.requests import Request

from journal_api.envelope import Response, ok
from journal_api.errors import AccountHasTrades, CategoryHasTags, Conflict, DuplicateName, LimitReached
from journal_api.routes import (
    accounts,
    copy_groups,
    goals,
    imports,
    me,
    metrics,
    snapshots,
    strategies,
    tag_categories,
    tags,
    trades,
)
from journal_api.routes.operation import Operation
from journal_api.structs.accounts import Account, AccountCreate, AccountPatch
from journal_api.structs.copy_groups import (
    CopyGroup,
    CopyGroupCreate,
    CopyGroupListItem,
    CopyGroupPatch,
    MembersPut,
)
from journal_api.structs.goals import Goal, GoalCreate, GoalPatch, GoalQuery
from journal_api.structs.imports import Import, ImportQuery, ImportReport, UndoQuery
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
from journal_api.structs.trades import (
    AnswersPut,
    ExportQuery,
    Trade,
    TradeCreate,
    TradeListItem,
    TradePatch,
    TradeQuery,
    TradesCreate,
    TradeTagsPut,
)


async def health(request: Request) -> Response:
    """Whether the service answers; needs no key."""
    return ok(status='"ok"')


OPERATIONS = [
    Operation("GET", "/tag-categories", tag_categories.list_tag_categories, "read:tags",
              data={"tag_categories": list[TagCategory]}),
    Operation("GET", "/tags", tags.list_tags, "read:tags",
              query=TagQuery, data={"tags": list[Tag]}),
    Operation("POST", "/tag-categories", tag_categories.create_tag_category, "write:tags",
              body=TagCategoryCreate, data={"tag_category": TagCategory}, raises=(DuplicateName,)),
    Operation("PATCH", "/tag-categories/{id:row_id}", tag_categories.update_tag_category, "write:tags",
              body=TagCategoryPatch, data={"tag_category": TagCategory}, raises=(DuplicateName,)),
    Operation("DELETE", "/tag-categories/{id:row_id}", tag_categories.delete_tag_category, "write:tags",
              raises=(CategoryHasTags,)),
    Operation("POST", "/tags", tags.create_tag, "write:tags",
              body=TagCreate, data={"tag": Tag}, raises=(DuplicateName,)),
    Operation("PATCH", "/tags/{id:row_id}", tags.update_tag, "write:tags",
              body=TagPatch, data={"tag": Tag}, raises=(DuplicateName,)),
    Operation("DELETE", "/tags/{id:row_id}", tags.delete_tag, "write:tags"),
    Operation("GET", "/strategies", strategies.list_strategies, "read:strategies",
              query=StrategyQuery, data={"strategies": list[StrategyListItem]}),
    Operation("GET", "/strategies/{id:row_id}", strategies.get_strategy, "read:strategies",
              data={"strategy": Strategy}, tagged=True),
    Operation("GET", "/strategies/{id:row_id}/setups", strategies.list_setups, "read:strategies",
              data={"setups": list[Setup]}),
    Operation("POST", "/strategies", strategies.create_strategy, "write:strategies",
              body=StrategyCreate, data={"strategy": Strategy}, raises=(DuplicateName, LimitReached),
              tagged=True),
    Operation("PATCH", "/strategies/{id:row_id}", strategies.update_strategy, "write:strategies",
              body=StrategyPatch, data={"strategy": Strategy}, raises=(DuplicateName,), tagged=True),
    Operation("DELETE", "/strategies/{id:row_id}", strategies.delete_strategy, "write:strategies",
              tagged=True),
    Operation("GET", "/goals", goals.list_goals, "read:goals",
              query=GoalQuery, data={"goals": list[Goal]}),
    Operation("GET", "/goals/{id:row_id}", goals.get_goal, "read:goals", data={"goal": Goal}, tagged=True),
    Operation("GET", "/goals/{id:row_id}/snapshots", snapshots.list_snapshots, "read:goals",
              query=SnapshotQuery, data={"snapshots": list[Snapshot]}),
    Operation("POST", "/goals", goals.create_goal, "write:goals",
              body=GoalCreate, data={"goal": Goal}, tagged=True),
    Operation("PATCH", "/goals/{id:row_id}", goals.update_goal, "write:goals",
              body=GoalPatch, data={"goal": Goal}, tagged=True),
    Operation("DELETE", "/goals/{id:row_id}", goals.delete_goal, "write:goals", tagged=True),
    Operation("GET", "/accounts", accounts.list_accounts, "read:accounts",
              data={"accounts": list[Account]}),
    Operation("GET", "/accounts/{id:row_id}", accounts.get_account, "read:accounts",
              data={"account": Account}),
    Operation("POST", "/accounts", accounts.create_account, "write:accounts",
              body=AccountCreate, data={"account": Account}, raises=(DuplicateName,)),
    Operation("PATCH", "/accounts/{id:row_id}", accounts.update_account, "write:accounts",
              body=AccountPatch, data={"account": Account}, raises=(DuplicateName,)),
    Operation("DELETE", "/accounts/{id:row_id}", accounts.delete_account, "write:accounts",
              raises=(AccountHasTrades,)),
    Operation("GET", "/copy-groups", copy_groups.list_copy_groups, "read:copy_groups",
              data={"copy_groups": list[CopyGroupListItem]}),
    Operation("GET", "/copy-groups/{id:row_id}", copy_groups.get_copy_group, "read:copy_groups",
              data={"copy_group": CopyGroup}),
    Operation("POST", "/copy-groups", copy_groups.create_copy_group, "write:copy_groups",
              body=CopyGroupCreate, data={"copy_group": CopyGroup}, raises=(DuplicateName,)),
    Operation("PATCH", "/copy-groups/{id:row_id}", copy_groups.update_copy_group, "write:copy_groups",
              body=CopyGroupPatch, data={"copy_group": CopyGroup}, raises=(DuplicateName,)),
    Operation("PUT", "/copy-groups/{id:row_id}/members", copy_groups.replace_members, "write:copy_groups",
              body=MembersPut, data={"copy_group": CopyGroup}, raises=(Conflict,)),
    Operation("DELETE", "/copy-groups/{id:row_id}", copy_groups.delete_copy_group, "write:copy_groups"),
    Operation("GET", "/trades", trades.list_trades, "read:trades",
              query=TradeQuery, data={"trades": list[TradeListItem]}),
    Operation("GET", "/trades/{id:row_id}", trades.get_trade, "read:trades", data={"trade": Trade},
              tagged=True),
    Operation("GET", "/trades/export", trades.export_trades, "read:trades",
              query=ExportQuery, gives="text/csv"),
    Operation("POST", "/trades", trades.create_trade, "write:trades",
              body=TradeCreate, data={"trade": Trade}, raises=(Conflict,), tagged=True),
    Operation("POST", "/trades/bulk", trades.create_trades, "write:trades",
              body=TradesCreate, data={"trades": list[TradeListItem]}),
    Operation("PATCH", "/trades/{id:row_id}", trades.update_trade, "write:trades",
              body=TradePatch, data={"trade": Trade}, raises=(Conflict,), tagged=True),
    Operation("PUT", "/trades/{id:row_id}/tags", trades.replace_tags, "write:trades",
              body=TradeTagsPut, data={"trade": Trade}, tagged=True),
    Operation("PUT", "/trades/{id:row_id}/confirmations", trades.replace_answers, "write:trades",
              body=AnswersPut, data={"trade": Trade}, tagged=True),
    Operation("DELETE", "/trades/{id:row_id}", trades.delete_trade, "write:trades", tagged=True),
    Operation("GET", "/imports", imports.list_imports, "read:trades", data={"imports": list[Import]}),
    Operation("GET", "/imports/{id:row_id}", imports.get_import, "read:trades", data={"import": Import}),
    Operation("POST", "/imports", imports.create_import, "write:trades",
              query=ImportQuery, takes=("text/csv", "text/html"), data={"import": ImportReport},
              statuses=(200, 201)),
    Operation("DELETE", "/imports/{id:row_id}", imports.delete_import, "write:trades", query=UndoQuery),
    Operation("GET", "/metrics", metrics.list_metrics, None, data={"metrics": list[Metric]}),
    Operation("GET", "/me", me.get_me, "read:settings", data={"me": Me}),
    Operation("PATCH", "/me", me.update_me, "write:settings",
              body=MePatch, data={"me": Me}, raises=(DuplicateName,)),
]  # fmt: skip

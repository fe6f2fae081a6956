"""Two owners in one database: what is the other's is as good as not there (docs/reliability.md 14)."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import httpx
import pytest
from commands import dump
from conftest import client_of, new_key_for
from factories import (
    A_FILE,
    A_TRADE,
    create_account,
    create_category,
    create_copy_group,
    create_goal,
    create_import,
    create_import_profile,
    create_key,
    create_strategy,
    create_tag,
    create_trade,
    details_of,
    error_of,
    run_sql,
    send_file,
    unwrap,
)
from msgspec import inspect
from operations import body_of, documented_path_of, path_of
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.structs.trades import TradeCreate
from journal_api.values.api_keys import SCOPES
from journal_api.values.types import Selection
from journal_api.web.operation import Operation

# The ids of one thing of each kind, under the names that fields have for it.
Journal = dict[str, int]

# Of what the one owner has, every first id is this one: it is known before there is such a thing.
FIRST = 7_000_001

# An id by its name, but the broker's: no row of ours.
NOT_OURS = {"external_id"}
# A new group has no members yet, so nobody's account can be its master.
NEVER_TAKEN = [("POST /copy-groups", "master_account_id")]


class Place(NamedTuple):
    """Where a request names a row of the journal."""

    operation: Operation
    is_query: bool
    field: str  # such as setups[].setup_id

    @property
    def row(self) -> str:
        return row_of(self.operation)

    @property
    def name(self) -> str:
        return self.field.split(".")[-1]


def row_of(operation: Operation) -> str:
    return f"{operation.method} {documented_path_of(operation)}"


# Which fields name rows ----------------------------------------------------------------------------------


def places() -> Iterator[Place]:
    """Every place of every operation, as the structs have it."""
    for operation in OPERATIONS:
        for struct in (operation.query, operation.body):
            if struct is not None:
                for field in fields_naming_rows(inspect.type_info(struct)):
                    yield Place(operation, struct is operation.query, field)


def fields_naming_rows(kind: inspect.Type, path: str = "") -> Iterator[str]:
    """The paths of the fields below that type which hold ids, by their names or by what they are."""
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                below = f"{path}.{field.encode_name}".lstrip(".")
                if names_rows(field.encode_name, field.type):
                    yield below
                else:
                    yield from fields_naming_rows(field.type, below)
        case inspect.ListType():
            yield from fields_naming_rows(kind.item_type, f"{path}[]")
        case inspect.UnionType():
            for one in kind.types:
                yield from fields_naming_rows(one, path)
        case inspect.Metadata(extra_json_schema={"$ref": str(reference)}):  # read one by one
            assert reference.endswith("/TradeCreate")
            yield from fields_naming_rows(inspect.type_info(TradeCreate), path)


def names_rows(name: str, kind: inspect.Type) -> bool:
    if name in NOT_OURS:
        return False
    return name.endswith(("_id", "_ids")) or name in ("scope", "active_selection") or is_row_id(kind)


def is_row_id(kind: inspect.Type) -> bool:
    match kind:
        case inspect.UnionType():
            return any(is_row_id(one) for one in kind.types)
        case inspect.IntType():
            return kind.ge == 1 and kind.le == 2**63 - 1
        case inspect.CustomType():
            return isinstance(kind.cls, type) and issubclass(kind.cls, Selection)
    return False


# Requests that name a row --------------------------------------------------------------------------------


def bodies(own: Journal, name: str = "New") -> dict[str, dict[str, Any]]:
    """For each operation whose body names rows one that their owner would see done; `name` is a new one."""
    confirmation = {"confirmation_id": own["confirmation_id"]}
    answers = {"confirmations": [{**confirmation, "was_present": True}]}
    trade = {**A_TRADE, "account_id": own["account_id"], "setup_id": own["setup_id"], **answers}
    return {
        "POST /tags": {"name": name, "category_id": own["category_id"]},
        "PATCH /tags/{id}": {"name": name},
        "POST /strategies": {"name": name},
        "PATCH /strategies/{id}": {
            "setups": [{"name": "New"}, {"setup_id": own["setup_id"], "confirmations": [confirmation]}]
        },
        "POST /goals": {"goal_name": "New", "metric": "net_pnl", "target_value": 1},
        "PATCH /goals/{id}": {"goal_name": name},
        "POST /copy-groups": {"name": name},
        "PATCH /copy-groups/{id}": {"name": name},
        "PUT /copy-groups/{id}/members": {"members": [{"account_id": own["account_id"]}]},
        "POST /trades": trade,
        "POST /trades/bulk": {"trades": [trade, deepcopy(trade)]},
        "PATCH /trades/{id}": {"symbol": "NQ", **answers},
        "PUT /trades/{id}/tags": {"tag_ids": [own["tag_id"]]},
        "PUT /trades/{id}/confirmations": answers,
        "PATCH /me": {"day_rollover": "17:00"},
    }


def planted(body: dict[str, Any], field: str, value: object) -> dict[str, Any]:
    """The body with that value at that place, which is in the last item of each list on the way."""
    *way, name = field.split(".")
    at = body
    for step in way:
        at = at[step.removesuffix("[]")][-1]
    at[name] = value
    return body


def values_at(place: Place, ids: Journal) -> list[object]:
    """What those ids look like there."""
    if place.name in ("scope", "active_selection"):
        return [f"account_{ids['account_id']}", f"group_{ids['copy_group_id']}"]
    if place.name == "tag_ids":
        return [[ids["tag_id"]]]
    return [ids[place.name]]


class Planted(NamedTuple):
    """A request about what is one's own, with an id of `ids` in one place."""

    place: Place
    path: str
    query: dict[str, Any]
    body: dict[str, Any] | None

    def __str__(self) -> str:
        return f"{self.place.row} {self.place.field} {self.query or self.body}"


def requests_with(own: Journal, ids: Journal) -> Iterator[Planted]:
    """A request for every place, and for every form of an id there."""
    for number, place in enumerate(places()):
        path = path_about(place.operation, own)
        for value in values_at(place, ids):
            if place.is_query:
                # A report without groups names nothing.
                groups = {"group_by": "account"} if path == "/reports" else {}
                yield Planted(place, path, {place.field: value, **groups}, None)
            else:
                body = bodies(own, f"New {number}")[place.row]
                yield Planted(place, path, {}, planted(body, place.field, value))


# Which of the ids is in a path, by its first word.
IN_PATHS = {
    "tag-categories": "category_id",
    "tags": "tag_id",
    "strategies": "strategy_id",
    "goals": "goal_id",
    "accounts": "account_id",
    "copy-groups": "copy_group_id",
    "trades": "trade_id",
    "imports": "import_id",
    "import-profiles": "import_profile_id",
    "keys": "key_id",
}


def path_about(operation: Operation, ids: Journal) -> str:
    """Its path, with the one of the ids in it that belongs there."""
    if "{root" in operation.path:
        return path_of(operation, "MNQ")
    if "{id" not in operation.path:
        return path_of(operation)
    return path_of(operation, ids[IN_PATHS[operation.path.split("/")[2]]])


async def ask(client: httpx.AsyncClient, request: Planted) -> httpx.Response:
    sent: dict[str, Any] = {"json": request.body} if request.body is not None else {}
    if request.place.operation.consumes_file:
        sent = {"content": A_FILE, "headers": {"Content-Type": "text/csv"}}
    return await client.request(request.place.operation.method, request.path, params=request.query, **sent)


async def answers_to(client: httpx.AsyncClient, own: Journal, ids: Journal) -> dict[str, Any]:
    """Everything that can be seen of the answers to requests that name those ids, by request."""
    answers = {str(one): whole(await ask(client, one)) for one in requests_with(own, ids)}
    for operation in OPERATIONS:
        if "{id" in operation.path:
            path, body = path_about(operation, ids), bodies(own).get(row_of(operation), body_of(operation))
            for headers in CONDITIONS:
                answer = await client.request(operation.method, path, json=body, headers=headers)
                answers[f"{row_of(operation)} {headers}"] = whole(answer)
    for file in files_naming("Mine", "Theirs"):
        answers[file] = whole(await send_file(client, file))
    return answers


def files_naming(own: str, word: str) -> list[str]:
    """Files that name an account, a strategy or a tag with that word, else what is one's own."""
    columns = ["account", "strategy", "tags"]
    head, row = A_FILE.splitlines()
    names = [[f"{word if one == column else own} {one.rstrip('s')}" for one in columns] for column in columns]
    return ["\n".join([",".join([head, *columns]), ",".join([row, *named])]) for named in names]


# With them an operation looks at what there is before it does anything.
CONDITIONS: list[dict[str, str]] = [{}, {"If-Match": '"x"'}, {"If-Match": "*"}, {"If-None-Match": "*"}]


def whole(response: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """Everything that a caller can see of an answer."""
    return response.status_code, response.headers.multi_items(), response.content


def blamed_in(content: bytes) -> str:
    """The names and ids that the details of an error blame."""
    return str(json.loads(content)["error"]["details"])


# Two journals --------------------------------------------------------------------------------------------


async def make_journal(client: httpx.AsyncClient, word: str) -> Journal:
    """Some of everything, every text of it with that word."""
    category = await create_category(client, f"{word} category")
    tag = await create_tag(client, f"{word} tag", category_id=category["id"], type="mistake")
    account = await create_account(client, f"{word} account", starting_balance=1000)
    group = await create_copy_group(client, f"{word} group", [account["id"]])
    strategy = await create_strategy(
        client,
        f"{word} strategy",
        account_id=account["id"],
        setups=[{"name": f"{word} setup", "confirmations": [{"name": f"{word} confirmation"}]}],
    )
    (setup,) = strategy["setups"]
    await create_strategy(client, f"{word} strategy of the group", copy_group_id=group["id"])
    links = {"strategy_id": strategy["id"], "setup_id": setup["setup_id"], "notes": f"{word} notes"}
    original = await create_trade(client, account["id"], symbol=f"{word}1", **links)
    trade = await create_trade(client, account["id"], symbol=f"{word}2", **links)
    unwrap(await client.put(f"/trades/{original['id']}/tags", json={"tag_ids": [tag["id"]]}))
    goals = [await create_goal(client, goal_name=f"{word} goal", metric=metric) for metric in METRICS]
    await create_goal(client, goal_name=f"{word} goal", account_id=account["id"])
    file = A_FILE.replace("ES", f"{word}3")
    brought = await create_import(client, file, account_id=account["id"], file_name=f"{word}.csv")
    profile = await create_import_profile(client, name=f"{word} profile")
    return {
        "category_id": category["id"],
        "tag_id": tag["id"],
        "account_id": account["id"],
        "master_account_id": account["id"],
        "copy_group_id": group["id"],
        "strategy_id": strategy["id"],
        "setup_id": setup["setup_id"],
        "confirmation_id": setup["confirmations"][0]["confirmation_id"],
        "source_trade_id": original["id"],
        "trade_id": trade["id"],
        "goal_id": goals[0]["id"],
        "import_id": brought["id"],
        "import_profile_id": profile["id"],
        "key_id": (await create_key(client))["id"],
    }


# Goals of all accounts: what the other trades would move them.
METRICS = ["net_pnl", "balance_target", "max_trades_per_day", "protocol_completion_rate"]
THEIRS = dict.fromkeys(
    ["category_id", "tag_id", "account_id", "master_account_id", "copy_group_id", "strategy_id", "setup_id",
     "confirmation_id", "source_trade_id", "goal_id", "import_id", "import_profile_id", "key_id"],
    FIRST,
) | {"trade_id": FIRST + 1}  # fmt: skip


async def make_theirs(app: Starlette, client: httpx.AsyncClient) -> None:
    """The other journal, with the ids that are known beforehand."""
    await run_sql(app, "UPDATE sqlite_sequence SET seq = :seq", {"seq": FIRST - 1})
    assert await make_journal(client, "Theirs") == THEIRS


async def everything_read(client: httpx.AsyncClient, own: Journal) -> dict[str, Any]:
    """All that the operations show of one's own journal, with no filter and with each."""
    answers = {}
    for path in reads(own) + [
        f"/goals/{goal['id']}/snapshots" for goal in unwrap(await client.get("/goals"))
    ]:
        status, headers, content = whole(await client.get(path))
        assert status == 200
        answers[path] = headers, content
    return answers


def reads(own: Journal) -> list[str]:
    """The addresses of every GET about what is one's own."""
    found = []
    for operation in OPERATIONS:
        if operation.method == "GET":
            path = path_about(operation, own)
            filters = [place.name for place in places() if place.operation is operation]
            found += [path, *(f"{path}?{name}={own[name]}" for name in filters)]
    return found


# The proofs ----------------------------------------------------------------------------------------------


@pytest.fixture
def caller(other_user_client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The second user, whose requests all have one id, so that their answers can be compared."""
    other_user_client.headers["X-Request-Id"] = "always-the-same"
    return other_user_client


def test_every_place_that_names_a_row_has_a_request_that_tries_it() -> None:
    in_bodies = {place.row for place in places() if not place.is_query}

    assert in_bodies - set(bodies(THEIRS)) == set()
    assert {place.name for place in places()} - {*THEIRS, "tag_ids", "scope", "active_selection"} == set()


@pytest.mark.promise(14)
async def test_somebody_elses_id_is_answered_like_a_missing_one_and_changes_nothing(
    app: Starlette,
    settings: Settings,
    client: httpx.AsyncClient,
    caller: httpx.AsyncClient,
    record_observation: Callable[[str], None],
) -> None:
    mine = await make_journal(caller, "Mine")
    missing = await answers_to(caller, mine, THEIRS)
    await make_theirs(app, client)
    before = dump(settings.db)

    foreign = await answers_to(caller, mine, THEIRS)

    assert foreign == missing
    in_bodies = [one for one in requests_with(mine, THEIRS) if not one.place.is_query]
    assert [str(one) for one in in_bodies if foreign[str(one)][0] != 400] == []
    assert [str(one) for one in in_bodies if one.place.name not in blamed_in(foreign[str(one)][2])] == []
    assert {status for status, _, _ in foreign.values()} == {200, 400, 404}
    assert dump(settings.db) == before
    by_path = sum("{id" in operation.path for operation in OPERATIONS)
    record_observation(
        f"two users, {len(foreign)} requests naming what is the other's, in {by_path} paths, "
        f"{len(list(places()))} fields of bodies and queries, and files: every answer byte for byte that to "
        "what is missing, no row changed"
    )


async def test_the_same_requests_about_what_is_ones_own_are_done(
    app: Starlette, client: httpx.AsyncClient, caller: httpx.AsyncClient
) -> None:
    await make_journal(caller, "Mine")
    await make_theirs(app, client)

    imports = [await send_file(client, file) for file in files_naming("Theirs", "Theirs")]
    answers = [(one, await ask(client, one)) for one in requests_with(THEIRS, THEIRS)]

    refused = [(one.place.row, one.place.field) for one, answer in answers if answer.status_code >= 300]
    lists = [(one, answer) for one, answer in answers if one.place.operation.method == "GET"]
    assert refused == NEVER_TAKEN
    assert [str(one) for one, answer in lists if b"Theirs" not in answer.content] == []
    assert [answer.status_code for answer in imports] == [201] * 3


@pytest.mark.promise(14)
async def test_no_list_no_export_and_no_number_of_one_user_knows_of_the_other(
    app: Starlette,
    client: httpx.AsyncClient,
    caller: httpx.AsyncClient,
    record_observation: Callable[[str], None],
) -> None:
    mine = await make_journal(caller, "Mine")
    alone = await everything_read(caller, mine)

    await make_theirs(app, client)

    beside = await everything_read(caller, mine)
    theirs = await everything_read(client, THEIRS)
    assert beside == alone
    assert not [path for path, (_, content) in beside.items() if b"Theirs" in content]
    assert not [path for path, (_, content) in theirs.items() if b"Mine" in content]
    record_observation(
        f"two users, {len(beside)} reads, exports and filters: byte for byte as before there was the other"
    )


@pytest.mark.promise(14)
async def test_a_key_of_one_scope_opens_exactly_the_operations_of_that_scope(
    app: Starlette, record_observation: Callable[[str], None]
) -> None:
    tried = 0
    wrong = []
    for scope in (*SCOPES, None):
        async with client_of(app, await new_key_for(app, scopes=(scope,) if scope else ())) as client:
            for operation in OPERATIONS:
                answer = await client.request(operation.method, path_of(operation), json=body_of(operation))
                tried += 1
                if is_open(answer, operation) != (operation.required_scope in (scope, None)):
                    wrong.append((scope, row_of(operation)))

    assert wrong == []
    assert len(SCOPES) == 14
    record_observation(
        f"{len(SCOPES)} scopes and none x {len(OPERATIONS)} operations: {tried} tried, each exactly its own"
    )


def is_open(answer: httpx.Response, operation: Operation) -> bool:
    """Whether the key was let in; if it was not, the scope that it lacks is named."""
    if answer.status_code != 403:
        return answer.status_code != 401
    assert error_of(answer) == (403, "forbidden_scope")
    assert details_of(answer) == {"required_scope": operation.required_scope}
    return False

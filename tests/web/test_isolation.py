"""Two users in one database: what is another's is answered like what is missing (docs/reliability.md 14)."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import quote

import factories
import httpx
import pytest
from commands import dump
from conftest import client_of, new_key_for
from factories import Client, details_of, error_of, run_sql, unwrap
from msgspec import inspect
from operations import choices_of, everything, file_of, input_of, path_of, title
from starlette.applications import Starlette

from journal_api.routes.table import OPERATIONS
from journal_api.settings import Settings
from journal_api.structs.trades import TradeCreate
from journal_api.values.api_keys import SCOPES
from journal_api.values.types import Selection
from journal_api.web.operation import Operation

# The ids of one object of each kind, by the names that members have for them.
Journal = dict[str, int]

# The first id of each kind of the other user, so that it is known before the object exists.
FIRST = 7_000_001
# By the first word of a path, the name of the id in it.
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
    "pictures": "picture_id",
}
IN_BODIES = ["master_account_id", "setup_id", "confirmation_id", "source_trade_id"]
THEIRS = dict.fromkeys([*IN_PATHS.values(), *IN_BODIES], FIRST) | {"trade_id": FIRST + 1}
# Goals of all accounts, which the trades of another user would move.
METRICS = ["net_pnl", "balance_target", "max_trades_per_day", "protocol_completion_rate"]
# With them an operation looks at the object before it does anything.
CONDITIONS: list[dict[str, str]] = [{}, {"If-Match": '"x"'}, {"If-Match": "*"}, {"If-None-Match": "*"}]


class Place(NamedTuple):
    """A member of a body or of a query that names a row."""

    operation: Operation
    is_query: bool
    member: str  # such as setups[].setup_id

    @property
    def name(self) -> str:
        return self.member.split(".")[-1]

    @property
    def is_filter(self) -> bool:
        return self.is_query or self.member.startswith("where.")


# Which members name rows ---------------------------------------------------------------------------------


def places() -> Iterator[Place]:
    """Every place of every operation, read off its structs."""
    for operation in OPERATIONS:
        for struct in (operation.query, operation.body):
            if struct is not None:
                for member in members_naming_rows(inspect.type_info(struct)):
                    yield Place(operation, struct is operation.query, member)


def members_naming_rows(kind: inspect.Type, path: str = "") -> Iterator[str]:
    match kind:
        case inspect.StructType():
            for field in kind.fields:
                below = f"{path}.{field.encode_name}".lstrip(".")
                if names_row(field.encode_name, field.type):
                    yield below
                else:
                    yield from members_naming_rows(field.type, below)
        case inspect.ListType():
            yield from members_naming_rows(kind.item_type, f"{path}[]")
        case inspect.UnionType():
            for one in kind.types:
                yield from members_naming_rows(one, path)
        case inspect.Metadata(extra_json_schema={"$ref": str(reference)}):  # items that are read one by one
            assert reference.endswith("/TradeCreate")
            yield from members_naming_rows(inspect.type_info(TradeCreate), path)


def names_row(name: str, kind: inspect.Type) -> bool:
    """By its name, or because it is a row id or a selection. The external id is the broker's."""
    if isinstance(kind, inspect.UnionType) and any(names_row("", one) for one in kind.types):
        return True
    if isinstance(kind, inspect.CustomType) and isinstance(kind.cls, type) and issubclass(kind.cls, Selection):
        return True
    if isinstance(kind, inspect.IntType) and kind.ge == 1 and kind.le == 2**63 - 1:
        return True
    return name != "external_id" and (name.endswith(("_id", "_ids")) or name in ("scope", "active_selection"))


PLACES = list(places())

# What a day and exits, which have no names, say of one trade.
NAMELESS = (b'"wins":1', b'"without_excursions":1')

# Requests that name a row --------------------------------------------------------------------------------


class Planted(NamedTuple):
    """A request about one's own objects, with another id in one place."""

    place: Place
    path: str
    query: dict[str, Any]
    body: dict[str, Any] | None

    def __str__(self) -> str:
        return f"{title(self.place.operation)} {self.place.member} {self.query or self.body}"


def requests_with(own: Journal, ids: Journal) -> Iterator[Planted]:
    """A request for every place and every form of an id there."""
    for number, place in enumerate(PLACES):
        path = path_about(place.operation, own)
        for value in values_at(place, ids):
            if place.is_query:
                # A report without groups names nothing.
                by = {"group_by": "category" if place.member == "category_id" else "account"}
                groups = by if path in ("/reports", "/cash-flow") else {}
                yield Planted(place, path, {place.member: value, **groups}, None)
            else:
                form = " restore" if place.member.startswith("restore[]") else ""
                body = bodies(own, f"New {number}")[f"{title(place.operation)}{form}"]
                yield Planted(place, path, {}, planted(body, place.member, value))


def path_about(operation: Operation, ids: Journal) -> str:
    if "{root" in operation.path:
        return path_of(operation, "MNQ")
    if "{date" in operation.path:
        return path_of(operation, "2026-01-05")
    if "{id" not in operation.path:
        return path_of(operation)
    return path_of(operation, ids[IN_PATHS[operation.path.split("/")[2]]])


def values_at(place: Place, ids: Journal) -> list[object]:
    if place.name in ("scope", "active_selection"):
        return [f"account_{ids['account_id']}", f"group_{ids['copy_group_id']}"]
    name = "trade_id" if place.member == "restore[].id" else place.name
    return [[ids["tag_id"]]] if name.endswith("tag_ids") else [ids[name]]


def planted(body: dict[str, Any], member: str, value: object) -> dict[str, Any]:
    """The body with that value at that place, in the last item of each list on the way."""
    *way, name = member.split(".")
    at = body
    for step in way:
        at = at[step.removesuffix("[]")]
        at = at[-1] if isinstance(at, list) else at
    at[name] = value
    return body


def bodies(own: Journal, name: str = "New") -> dict[str, dict[str, Any]]:
    """A valid body of each operation whose body names rows; `name` is new."""
    confirmation = {"confirmation_id": own["confirmation_id"]}
    answers = {"confirmations": [{**confirmation, "was_present": True}]}
    trade = {**factories.A_TRADE, "account_id": own["account_id"], "setup_id": own["setup_id"], **answers}
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
        "PATCH /trades": {"where": {}, "set": {"setup_id": own["setup_id"], **answers}},
        "PATCH /trades restore": {
            "restore": [{"id": own["trade_id"], "set": {"setup_id": own["setup_id"], **answers}}]
        },
        "PATCH /trades/{id}": {"symbol": "NQ", **answers},
        "PUT /trades/{id}/tags": {"tag_ids": [own["tag_id"]]},
        "PUT /trades/{id}/confirmations": answers,
        "PATCH /days/{date}": {"plan": name},
        "PATCH /me": {"day_rollover": "17:00"},
    }


def files_naming(own: str, word: str) -> list[str]:
    """Files that name an account, a strategy or a tag with that word, and otherwise what is one's own."""
    columns = ["account", "strategy", "tags"]
    head, row = factories.A_FILE.splitlines()
    names = [[f"{word if one == column else own} {one.rstrip('s')}" for one in columns] for column in columns]
    return ["\n".join([",".join([head, *columns]), ",".join([row, *named])]) for named in names]


async def send(client: Client, request: Planted) -> httpx.Response:
    sent: dict[str, Any] = {"json": request.body} if request.body is not None else {}
    if request.place.operation.consumes_file:
        sent = file_of(request.place.operation)
    return await client.request(request.place.operation.method, request.path, params=request.query, **sent)


async def responses_to(client: Client, own: Journal, ids: Journal) -> dict[str, Any]:
    """The responses to all requests that name those ids, in any place, path or file."""
    responses = {str(one): everything(await send(client, one)) for one in requests_with(own, ids)}
    for operation in OPERATIONS:
        if "{id" in operation.path:
            path, sent = path_about(operation, ids), input_of(operation)
            if title(operation) in bodies(own):
                sent = {"json": bodies(own)[title(operation)]}
            for headers in CONDITIONS:
                both = {**sent, "headers": {**sent.get("headers", {}), **headers}}
                response = await client.request(operation.method, path, **both)
                responses[f"{title(operation)} {headers}"] = everything(response)
    for file in files_naming("Mine", "Theirs"):
        responses[file] = everything(await factories.send_file(client, file))
    return responses


# Two journals --------------------------------------------------------------------------------------------


async def make_journal(client: Client, word: str) -> Journal:
    """Create some of everything; every text of it has that word."""
    category = await factories.create_category(client, f"{word} category")
    tag = await factories.create_tag(client, f"{word} tag", category_id=category["id"], type="mistake")
    account = await factories.create_account(client, f"{word} account", starting_balance=1000)
    await factories.create_cash(client, account["id"], note=f"{word} note")  # with the id of the account
    await factories.create_checkpoint(client, account["id"], note=f"{word} note")
    await factories.put_rules(client, account["id"], daily_loss=500)
    group = await factories.create_copy_group(client, f"{word} group", [account["id"]])
    setups = [{"name": f"{word} setup", "confirmations": [{"name": f"{word} confirmation"}]}]
    strategy = await factories.create_strategy(client, f"{word} strategy", account_id=account["id"], setups=setups)
    (setup,) = strategy["setups"]
    await factories.create_strategy(client, f"{word} strategy of the group", copy_group_id=group["id"])
    links = {"strategy_id": strategy["id"], "setup_id": setup["setup_id"], "notes": f"{word} notes"}
    original = await factories.create_trade(client, account["id"], symbol=f"{word}1", **links)
    trade = await factories.create_trade(
        client, account["id"], symbol=f"{word}2", source_trade_id=original["id"], **links
    )
    unwrap(await client.put(f"/trades/{original['id']}/tags", json={"tag_ids": [tag["id"]]}))
    picture = await factories.create_picture(client, f"/trades/{trade['id']}")
    unwrap(await client.patch(f"/pictures/{picture['id']}", json={"caption": f"{word} caption"}))
    goals = [await factories.create_goal(client, goal_name=f"{word} goal", metric=metric) for metric in METRICS]
    await factories.create_goal(client, goal_name=f"{word} goal", account_id=account["id"])
    for day in ("2026-01-05", f"2026-03-0{len(word)}"):  # of both users, and of one
        await factories.write_day(client, day, plan=f"{word} plan", tag_ids=[tag["id"]])
        await factories.create_picture(client, f"/days/{day}")
    file = factories.A_FILE.replace("ES", f"{word}3")
    imported = await factories.create_import(client, file, account_id=account["id"], file_name=f"{word}.csv")
    profile = await factories.create_import_profile(client, name=f"{word} profile")
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
        "import_id": imported["id"],
        "import_profile_id": profile["id"],
        "key_id": (await factories.create_key(client))["id"],
        "picture_id": picture["id"],
    }


async def make_theirs(app: Starlette, client: Client) -> None:
    """Create the other journal, with the ids that are known beforehand."""
    await run_sql(app, "UPDATE sqlite_sequence SET seq = :seq", {"seq": FIRST - 1})
    assert await make_journal(client, "Theirs") == THEIRS


async def everything_read(client: Client, own: Journal) -> dict[str, Any]:
    """All that reads show of one's own journal, without a filter, with each, and in each form."""
    paths = [f"/goals/{goal['id']}/snapshots" for goal in unwrap(await client.get("/goals"))]
    for operation in OPERATIONS:
        if operation.method == "GET":
            path = path_about(operation, own)
            filters = [place.name for place in PLACES if place.operation is operation]
            by = {"category_id": "&group_by=category"} if path == "/reports" else {}
            paths += [path, *(f"{path}?{name}={own[name]}{by.get(name, '')}" for name in filters)]
            forms = choices_of(operation).items()
            stops = "&stops=1" if path == "/exits" else ""  # which money needs
            paths += [f"{path}?{name}={quote(value)}{stops}" for name, values in forms for value in values]
    found = {path: everything(await client.get(path)) for path in paths}
    assert [path for path, (status, *_) in found.items() if status != 200] == []
    return found


# The proofs ----------------------------------------------------------------------------------------------


@pytest.fixture
def caller(other_user_client: Client) -> Client:
    """The second user; all requests have one id, so that their responses can be compared."""
    other_user_client.headers["X-Request-Id"] = "always-the-same"
    return other_user_client


@pytest.mark.promise(14)
async def test_somebody_elses_id_is_answered_like_a_missing_one_and_changes_nothing(
    app: Starlette,
    settings: Settings,
    client: Client,
    caller: Client,
    record_observation: Callable[[str], None],
) -> None:
    mine = await make_journal(caller, "Mine")
    missing = await responses_to(caller, mine, THEIRS)
    await make_theirs(app, client)
    before = dump(settings.db)

    foreign = await responses_to(caller, mine, THEIRS)

    assert foreign == missing
    assert dump(settings.db) == before
    for request in requests_with(mine, THEIRS):
        if not request.place.is_filter:
            status, _, content = foreign[str(request)]
            assert status == 400, request
            named = request.place.name.removeprefix("add_").removeprefix("remove_")
            assert named in str(json.loads(content)["error"]["details"]), request
    assert {status for status, _, _ in foreign.values()} == {200, 400, 404}
    by_path = sum("{id" in operation.path for operation in OPERATIONS)
    record_observation(
        f"two users, {len(foreign)} requests naming what is the other's, in {by_path} paths, "
        f"{len(PLACES)} members of bodies and queries, and files: every response byte for byte that "
        "to what is missing, no row changed"
    )


async def test_the_same_requests_about_what_is_ones_own_are_done(
    app: Starlette, client: Client, caller: Client
) -> None:
    await make_journal(caller, "Mine")
    await make_theirs(app, client)

    for file in files_naming("Theirs", "Theirs"):
        assert (await factories.send_file(client, file)).status_code == 201
    for request in requests_with(THEIRS, THEIRS):
        response = await send(client, request)
        # A new group has no members yet, so nobody's account can be its master.
        is_master = title(request.place.operation) == "POST /copy-groups" and "master" in request.place.name
        assert response.is_success != is_master, request
        is_theirs = any(word in response.content for word in (b"Theirs", *NAMELESS))
        assert request.place.operation.method != "GET" or is_theirs, request


@pytest.mark.promise(14)
async def test_no_list_no_export_and_no_number_of_one_user_knows_of_the_other(
    app: Starlette, client: Client, caller: Client, record_observation: Callable[[str], None]
) -> None:
    mine = await make_journal(caller, "Mine")
    await factories.create_goal(caller, goal_name="Mine of a day", timeframe="daily")
    alone = await everything_read(caller, mine)

    await make_theirs(app, client)
    await factories.create_goal(client, goal_name="Theirs of a day", timeframe="daily")

    beside = await everything_read(caller, mine)
    theirs = await everything_read(client, THEIRS)
    assert beside == alone
    assert not [path for path, (*_, content) in beside.items() if b"Theirs" in content]
    assert not [path for path, (*_, content) in theirs.items() if b"Mine" in content]
    record_observation(
        f"two users, {len(beside)} reads, exports and filters: byte for byte as before there was the other"
    )


COINS = "Coin,Way,Size,In,Out,From,To\nBTC,Up,1,100,101,05.01.2026 10:00,05.01.2026 11:00\n"
FILLS = "Date,Time,Symbol,Quantity,Price,Side\n3/9/2026,09:31:04,NVTA,200,18.42,Buy\n"
FUTURE = factories.A_FILE.replace("ES", "MNQZ26")


async def dry_runs(client: Client, account_id: int) -> list[Any]:
    """What files that the journal has not seen would do, with and without a stated zone."""
    return [
        everything(await client.get("/instruments")),
        *[
            everything(await factories.send_file(client, file, account_id, zone, dry_run="true"))
            for file in (COINS, FILLS, FUTURE)
            for zone in ("UTC", None)
        ],
    ]


async def test_files_of_one_user_are_read_without_what_the_other_has_told(
    app: Starlette, client: Client, caller: Client
) -> None:
    mine = await make_journal(caller, "Mine")
    alone = await dry_runs(caller, mine["account_id"])

    await make_theirs(app, client)
    theirs = THEIRS["account_id"]
    await factories.create_import_profile(client, name="Coins", header=["Coin", "Way"], symbol="Coin")
    unwrap(await client.put("/instruments/MNQ", json={"point_value": 7}))
    for file in (COINS, FILLS, FUTURE):
        assert (await factories.send_file(client, file, theirs, "America/New_York")).status_code == 201
    unwrap(await client.patch("/me", json={"timezone": "Asia/Tokyo"}))

    assert await dry_runs(caller, mine["account_id"]) == alone


async def test_what_one_user_deletes_without_an_id_stays_the_others(
    app: Starlette, client: Client, caller: Client
) -> None:
    await make_journal(caller, "Mine")
    await make_theirs(app, client)
    for one in (client, caller):
        assert (await one.post("/example-journal")).status_code == 201
    before = [unwrap(await client.get(path)) for path in ("/days?with=text", "/trades", "/example-journal")]

    for path in ("/days/2026-01-05", "/example-journal"):
        assert (await caller.delete(path)).status_code == 204

    assert [unwrap(await client.get(path)) for path in ("/days?with=text", "/trades", "/example-journal")] == before
    assert unwrap(await caller.get("/days/2026-01-05"))["plan"] is None
    assert not unwrap(await caller.get("/example-journal"))["is_loaded"]


@pytest.mark.promise(14)
async def test_a_key_of_one_scope_opens_exactly_the_operations_of_that_scope(
    app: Starlette, record_observation: Callable[[str], None]
) -> None:
    wrong = []
    for scope in (*SCOPES, None):
        async with client_of(app, await new_key_for(app, scopes=(scope,) if scope else ())) as client:
            for operation in OPERATIONS:
                response = await client.request(operation.method, path_of(operation), **input_of(operation))
                if response.status_code == 403:
                    assert error_of(response) == (403, "forbidden_scope")
                    assert details_of(response) == {"required_scope": operation.required_scope}
                is_open = response.status_code not in (401, 403)
                if is_open != (operation.required_scope in (scope, None)):
                    wrong.append((scope, title(operation)))

    assert wrong == []
    assert len(SCOPES) == 16
    record_observation(f"{len(SCOPES)} scopes and none x {len(OPERATIONS)} operations: each opens exactly its own")

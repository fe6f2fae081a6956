"""The search in texts and names: docs/journal.md#search."""

import random
from typing import Any

import factories
import pytest
from conftest import client_of, new_key_for
from factories import Client, error_of, run_sql, unwrap
from proofs import examples
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.values.api_keys import SCOPES

DAY = "2026-01-05"
EVERY_TEXT = "SELECT count(*) FROM search_documents"


async def search(client: Client, q: str, **query: Any) -> Any:
    return unwrap(await client.get("/search", params={"q": q, **query}))


async def find(client: Client, q: str, **query: Any) -> list[str]:
    """The paths of what is found."""
    return [result["path"].removeprefix("/v1") for result in await search(client, q, **query)]


def marked_in(result: Any) -> list[str]:
    return [result["excerpt"][mark["start"] : mark["end"]] for mark in result["marks"]]


@pytest.fixture
async def journal(client: Client) -> dict[str, Any]:
    """A text of every kind, each with the word `revenge` in it."""
    await factories.create_account(client)
    setups = [{"name": "Revenge setup", "description": "After a loss", "confirmations": [{"name": "Calm"}]}]
    strategy = await factories.create_strategy(client, "Other", description="No revenge trades", setups=setups)
    (setup,) = strategy["setups"]
    (confirmation,) = setup["confirmations"]
    answer = {"confirmation_id": confirmation["confirmation_id"], "was_present": False, "notes": "Revengeful"}
    tag = await factories.create_tag(client, "Revenge")
    trade = await factories.create_trade(
        client, 1, notes="Pure revenge, after the loss", tag_ids=[tag["id"]], setup_id=setup["setup_id"]
    )
    unwrap(await client.put(f"/trades/{trade['id']}/confirmations", json={"confirmations": [answer]}))
    goal = await factories.create_goal(client, goal_name="No revenge")
    day = await factories.write_day(client, plan="Wait", review="Révenge after lunch", tag_ids=[tag["id"]])
    return {"strategy": strategy, "setup": setup, "tag": tag, "trade": trade, "goal": goal, "day": day}


async def test_every_text_is_found_names_first_then_the_newest(client: Client, journal: dict[str, Any]) -> None:
    results = await search(client, "revenge")

    assert [(one["resource"], one["path"], one["title"]) for one in results] == [
        ("goals", "/v1/goals/1", "No revenge"),
        ("tags", "/v1/tags/1", "Revenge"),
        ("setups", "/v1/strategies/1", "Revenge setup"),
        ("strategies", "/v1/strategies/1", "Other"),
        ("trades", "/v1/trades/1", "ES long 2026-01-05: Calm"),
        ("trades", "/v1/trades/1", "ES long 2026-01-05"),
        ("days", f"/v1/days/{DAY}", DAY),
    ]
    assert [one["id"] for one in results] == [1] * 7
    assert [marked_in(one) for one in results] == [
        *[["revenge"], ["Revenge"], ["Revenge"], ["revenge"]],
        *[["Revengeful"], ["revenge"], ["Révenge"]],
    ]
    assert results[-1]["excerpt"] == "Wait\n\nRévenge after lunch"


async def test_texts_of_one_moment_are_in_the_order_of_their_ids_whenever_they_were_changed(client: Client) -> None:
    setups = [{"name": "Late A"}, {"name": "Late B"}]
    strategy = await factories.create_strategy(client, setups=setups)
    (first, second) = (setup["setup_id"] for setup in strategy["setups"])
    renamed = [{"setup_id": first, "name": "Later A"}, {"setup_id": second, "name": "Late B"}]

    before = [one["id"] for one in await search(client, "late")]
    unwrap(await client.patch(f"/strategies/{strategy['id']}", json={"setups": renamed}))

    assert [one["id"] for one in await search(client, "late")] == before == [second, first]


@for_rows(
    "typed, found",
    [
        ("reveng loss", ["/strategies/1", "/trades/1"]),
        ('"the loss"', ["/trades/1"]),
        ('"loss the"', []),
        ("revenge -loss -setup", ["/goals/1", "/tags/1", "/strategies/1", "/trades/1", f"/days/{DAY}"]),
        ("tag:revenge", ["/trades/1", "/trades/1", f"/days/{DAY}"]),
        ("tag:revenge lunch", [f"/days/{DAY}"]),
        ("tag:revenge tag:other", []),
        ("revenge -tag:REVENGE", ["/goals/1", "/tags/1", "/strategies/1", "/strategies/1"]),
        ("symbol:es", ["/trades/1", "/trades/1"]),
        ("symbol:ESH6", []),
        ("symbol:es symbol:nq after", ["/trades/1"]),
        ("after -symbol:es", ["/strategies/1", f"/days/{DAY}"]),
        ("REVENGE réVENGE lunch", [f"/days/{DAY}"]),
        ("nothing", []),
        ("", []),
        ("-", []),
        ('"', []),
    ],
)
async def test_words_phrases_exclusions_and_filters(
    client: Client, journal: dict[str, Any], typed: str, found: list[str]
) -> None:
    assert await find(client, typed) == found


async def test_a_tag_may_have_a_name_without_letters(client: Client, journal: dict[str, Any]) -> None:
    for name in ("\N{FIRE}", "!!!"):
        tag = await factories.create_tag(client, name)
        assert await find(client, f"revenge tag:{name}") == []
        await factories.write_day(client, DAY, tag_ids=[tag["id"]])
        assert await find(client, f"revenge tag:{name}") == [f"/days/{DAY}"]
        assert f"/days/{DAY}" not in await find(client, f"revenge -tag:{name}")


async def test_results_come_in_pages(client: Client, journal: dict[str, Any]) -> None:
    whole = await search(client, "revenge")
    for offset in (0, 3, 6, 7, 100):
        page = await client.get("/search", params={"q": "revenge", "limit": 3, "offset": offset})

        assert unwrap(page) == whole[offset : offset + 3]
        assert page.json()["meta"]["pagination"] == {"limit": 3, "offset": offset, "total": 7}


async def test_what_is_changed_or_deleted_is_found_as_it_is_now(
    client: Client, app: Starlette, journal: dict[str, Any]
) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("/trades/1", {"notes": "Calm", "confirmations": []}),
        (f"/days/{DAY}", {"review": None}),
        ("/strategies/1", {"description": None, "setups": [{"setup_id": 1, "name": "Calm setup"}]}),
        ("/tags/1", {"name": "Calm tag"}),
        ("/goals/1", {"goal_name": "Calm goal"}),
    ]
    for path, change in changes:
        unwrap(await client.patch(path, json=change))

    assert await find(client, "revenge") == []
    assert len(await find(client, "calm")) == 4

    for path in ("/trades/1", f"/days/{DAY}", "/strategies/1", "/tags/1", "/goals/1"):
        assert (await client.delete(path)).status_code == 204
    assert await find(client, "calm") == []
    assert await run_sql(app, EVERY_TEXT) == [(0,)]


async def test_a_caption_is_found_as_its_trade_or_its_day(
    client: Client, app: Starlette, journal: dict[str, Any]
) -> None:
    other = await factories.create_trade(client, 1)
    of_day = await factories.create_picture(client, "/days/2026-01-06")
    of_trade = await factories.create_picture(client, "/trades/1")
    of_other = await factories.create_picture(client, f"/trades/{other['id']}")
    for picture in (of_day, of_trade, of_other):
        unwrap(await client.patch(f"/pictures/{picture['id']}", json={"caption": "The sweep"}))

    results = await search(client, "sweep")

    assert [(one["path"], one["title"], one["id"]) for one in results] == [
        ("/v1/days/2026-01-06", "2026-01-06: picture", None),
        (f"/v1/trades/{other['id']}", "ES long 2026-01-05: picture", other["id"]),
        ("/v1/trades/1", "ES long 2026-01-05: picture", 1),
    ]
    assert await find(client, "sweep tag:revenge") == ["/trades/1"]
    await factories.write_day(client, "2026-01-06", tag_ids=[journal["tag"]["id"]])
    assert await find(client, "sweep tag:revenge") == ["/days/2026-01-06", "/trades/1"]

    unwrap(await client.post("/trades/merge", json={"ids": [1, other["id"]]}))
    assert await find(client, "sweep") == ["/days/2026-01-06", "/trades/1", "/trades/1"]
    unwrap(await client.patch(f"/pictures/{of_trade['id']}", json={"caption": None}))
    assert (await client.delete(f"/pictures/{of_day['id']}")).status_code == 204
    assert await find(client, "sweep") == ["/trades/1"]
    assert (await client.delete("/trades/1")).status_code == 204
    assert await find(client, "sweep") == []


async def test_the_newest_trade_comes_first_also_after_it_was_moved(client: Client) -> None:
    await factories.create_account(client)
    for day in (3, 5, 4):
        await factories.create_trade(client, 1, notes="Late", opened_at=f"2026-01-0{day}T10:00:00Z")
    assert await find(client, "late") == ["/trades/2", "/trades/3", "/trades/1"]

    unwrap(await client.patch("/trades/1", json={"opened_at": "2026-01-05T11:00:00Z"}))

    assert await find(client, "late") == ["/trades/1", "/trades/2", "/trades/3"]


async def test_a_trade_without_notes_is_no_text(client: Client, app: Starlette) -> None:
    await factories.create_trade(client)
    await factories.create_trade(client, 1, notes="Late")

    assert await run_sql(app, EVERY_TEXT) == [(1,)]
    assert await find(client, "symbol:es") == ["/trades/2"]


async def test_a_long_text_is_found_with_an_excerpt_around_the_word(client: Client) -> None:
    await factories.write_day(client, plan="😀 word " * 2000 + "needle " + "word " * 2000, review="x" * 60_000)

    (needle,), (long,) = await search(client, "needle"), await search(client, "xxx")

    assert marked_in(needle) == ["needle"]
    assert len(needle["excerpt"]) < 250
    assert len(long["excerpt"]) <= 400


async def test_a_key_finds_what_its_scopes_may_read(client: Client, app: Starlette, journal: dict[str, Any]) -> None:
    found: dict[str, set[str]] = {}
    for scope in SCOPES:
        async with client_of(app, await new_key_for(app, scopes=(scope,))) as narrow:
            found[scope] = {result["resource"] for result in await search(narrow, "revenge")}

    assert {scope: kinds for scope, kinds in found.items() if kinds} == {
        "read:tags": {"tags"},
        "read:strategies": {"strategies", "setups"},
        "read:goals": {"goals"},
        "read:trades": {"trades"},
        "read:days": {"days"},
    }


async def test_nothing_of_another_user_is_found(client: Client, app: Starlette, journal: dict[str, Any]) -> None:
    async with client_of(app, await new_key_for(app, user_id=await factories.insert_user(app))) as stranger:
        for typed in ("revenge", "tag:revenge", "symbol:es", "-nothing"):
            assert await find(stranger, typed) == []
        await factories.write_day(stranger, plan="Revenge of another")
        assert await find(stranger, "revenge") == [f"/days/{DAY}"]
    assert len(await find(client, "revenge")) == 7


@pytest.mark.soak
async def test_any_text_is_a_query(client: Client, journal: dict[str, Any]) -> None:
    random.seed(5)
    letters = "abrevenge \"-:*()'^+{}[]\\%_\x00\n\tÄß𝔘😀tagsymbolNEARANDORNOT"

    for _ in range(examples(full=300, ci=100)):
        typed = "".join(random.choices(letters, k=random.randrange(60)))
        assert isinstance(await search(client, typed), list)
    assert error_of(await client.get("/search", params={"q": "x" * 501})) == (400, "validation_error")

"""Merging trades into one position, and splitting it again: docs/api.md#merging-trades."""

import random
from typing import Any

import factories
import pytest
from factories import Client, details_of, error_of, patch_trade, run_sql, unwrap
from operations import dump
from positions import first_in_first_out, performance, random_fills
from proofs import examples
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.structs.trades import TradeListItem

Json = dict[str, Any]
DAY = "2026-01-05T"
# A merge and a split leave their days among the changes.
KEEPS_A_RECORD = ("changed_days", "changed_objects", "sqlite_sequence")


async def create_part(client: Client, opened: str, closed: str | None, **fields: Any) -> Any:
    """A long of 1 from 100 to 101 in the account 1, with those times of day."""
    times = {"opened_at": f"{DAY}{opened}:00Z", "closed_at": closed and f"{DAY}{closed}:00Z"}
    price = {} if closed else {"exit_price": None}
    return await factories.create_trade(client, 1, **{"symbol": "MNQZ6", **times, **price, **fields})


async def merge(client: Client, *trades: Any) -> Any:
    return unwrap(await client.post("/trades/merge", json={"ids": [trade["id"] for trade in trades]}))


async def split(client: Client, trade: Any) -> Any:
    return unwrap(await client.post(f"/trades/{trade['id']}/split"))


def journal(app: Starlette) -> Json:
    """Every row of the journal but the record of changed days."""
    kept = {name: rows for name, rows in dump(app).items() if name not in KEEPS_A_RECORD}
    # Texts that come back have new ids, which nobody sees.
    return kept | {"search_documents": sorted((row[1:] for row in kept["search_documents"]), key=repr)}


@pytest.fixture(autouse=True)
async def account(client: Client) -> Any:
    account = await factories.create_account(client)
    assert account["id"] == 1
    return account


# The sum of the parts ------------------------------------------------------------------------------------


TIMES = ["14:00", "14:10", "14:10", "14:15", "14:20", "14:40"]


async def test_parts_that_touch_are_one_position_with_the_sums_of_the_parts(client: Client) -> None:
    second = await create_part(client, "14:10", "14:20", quantity=3, exit_price=105, fees=1.5)
    first = await create_part(client, "14:00", "14:10", gross_pnl=7, fees=1, initial_risk=40, symbol="mnqz6", mae=3)
    third = await create_part(client, "14:15", "14:40", quantity=2, exit_price=90)

    whole = await merge(client, third, first, second)

    expected = {
        "id": first["id"],
        "symbol": "mnqz6",
        "contract": "MNQZ26",
        "quantity": 5,
        "entry_price": 100,
        "exit_price": pytest.approx((101 + 3 * 105 + 2 * 90) / 6),
        "gross_pnl": 7 + 30 - 40,
        "fees": 2.5,
        "net_pnl": -5.5,
        "initial_risk": 40,
        "mae": None,
        "opened_at": first["opened_at"],
        "closed_at": third["closed_at"],
        "merged_ids": [second["id"], third["id"]],
        "fill_count": 6,
    }
    assert {name: whole[name] for name in expected} == expected
    assert [one["id"] for one in whole["fills"]] == [1, 2, 3, 4, 5, 6]
    assert [one["at"][11:16] for one in whole["fills"]] == TIMES
    assert await factories.get_trade(client, whole) == whole
    assert await factories.list_trades(client) == [{name: whole[name] for name in TradeListItem.__struct_fields__}]


async def test_open_parts_are_one_open_position_that_can_be_closed(client: Client) -> None:
    first = await create_part(client, "14:00", None)
    second = await create_part(client, "14:10", "14:30", quantity=2)
    third = await create_part(client, "14:20", None, entry_price=103)

    whole = await merge(client, first, second, third)
    body = {"side": "sell", "quantity": 2, "price": 110, "at": f"{DAY}15:00:00Z"}
    closed = unwrap(await client.post(f"/trades/{whole['id']}/fills", json=body))
    refused = await client.post(f"/trades/{whole['id']}/split")
    await client.delete(f"/trades/{whole['id']}/fills/5")
    parts = await split(client, whole)

    assert (whole["quantity"], whole["closed_at"], whole["gross_pnl"]) == (4, None, None)
    assert closed["gross_pnl"] == (2 * 1 + 10 + 7) * 2
    assert error_of(refused) == (409, "conflict")
    assert [part["id"] for part in parts] == [first["id"], second["id"], third["id"]]


async def test_a_result_without_an_exit_price_is_in_the_sum(client: Client) -> None:
    first = await create_part(client, "14:00", "14:10", gross_pnl=7, exit_price=None)
    second = await create_part(client, "14:10", "14:20")

    whole = await merge(client, first, second)
    annotated = await patch_trade(client, whole["id"], grade="A", fees=3)

    assert (whole["gross_pnl"], whole["exit_price"], annotated["gross_pnl"]) == (9, None, 9)


async def test_a_merged_trade_is_annotated_like_any_other(client: Client) -> None:
    parts = [await create_part(client, f"14:{minute}0", f"14:{minute + 1}0") for minute in range(3)]
    whole = await merge(client, *parts)

    same = await patch_trade(client, whole["id"], **whole)
    doubled = await patch_trade(client, whole["id"], multiplier=20)
    refused = await client.patch(f"/trades/{whole['id']}", json={"quantity": 3})

    assert same == whole
    assert (whole["gross_pnl"], doubled["gross_pnl"]) == (6, 60)
    assert list(details_of(refused)["fields"]) == ["quantity"]


REFUSED: dict[str, tuple[Json, str]] = {
    "of another direction": ({"direction": "short"}, "must be of one direction"),
    "of another contract": ({"symbol": "MESZ6", "multiplier": 2}, "must be of one symbol or contract root"),
    "with another multiplier": ({"multiplier": 3}, "must have one multiplier"),
    "of another account": ({"account_id": 2}, "must be of one account"),
    "later": ({"opened_at": f"{DAY}15:00:01Z"}, "must touch or overlap in time"),
    "earlier": ({"opened_at": f"{DAY}10:00:00Z", "closed_at": f"{DAY}11:00:00Z"}, "must touch or overlap"),
    "with notes too long for one": ({"notes": "x" * 9_999}, "have notes of 10002 characters together"),
}


@for_rows("fields, reason", REFUSED.values())
async def test_trades_that_are_no_position_are_not_merged(
    app: Starlette, client: Client, fields: Json, reason: str
) -> None:
    await factories.create_account(client, "Other")
    first = await create_part(client, "14:00", "15:00", notes="y")
    other = {"symbol": "MNQZ6", "opened_at": f"{DAY}14:30:00Z", "closed_at": f"{DAY}15:30:00Z", **fields}
    second = await factories.create_trade(client, other.pop("account_id", 1), **other)
    before = journal(app)

    refused = await client.post("/trades/merge", json={"ids": [first["id"], second["id"]]})

    assert error_of(refused) == (400, "validation_error")
    assert reason in details_of(refused)["fields"]["ids"]
    assert journal(app) == before


async def test_only_ones_own_trades_are_merged_and_only_several(client: Client, other_user_client: Client) -> None:
    mine = await create_part(client, "14:00", "15:00")
    theirs = await factories.create_trade(other_user_client)

    foreign = await client.post("/trades/merge", json={"ids": [mine["id"], theirs["id"]]})
    missing = await client.post("/trades/merge", json={"ids": [mine["id"], 99]})
    alone = await client.post("/trades/merge", json={"ids": [mine["id"], mine["id"]]})
    not_merged = await client.post(f"/trades/{mine['id']}/split")
    not_mine = await client.post(f"/trades/{theirs['id']}/split")

    for refused, number in ((foreign, theirs["id"]), (missing, 99)):
        assert f"these are not: {number}" in details_of(refused)["fields"]["ids"]
    assert details_of(alone)["fields"] == {"ids": "must name two trades at least"}
    assert (error_of(not_merged)[0], error_of(not_mine)[0]) == (409, 404)


async def test_rows_of_pairs_that_share_a_fill_share_it_when_they_are_merged(client: Client) -> None:
    file = """\
symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp
MNQH6,1,3,1,100,103,$6.00,02/12/2026 09:00:00,02/12/2026 09:02:00
MNQH6,2,3,2,101,103,$8.00,02/12/2026 09:01:00,02/12/2026 09:02:00
MNQH6,4,5,1,101,103,$4.00,02/12/2026 09:02:00,02/12/2026 09:02:00
"""
    rows = factories.read_ids(unwrap(await factories.send_file(client, file, 1, one_trade_is="row")))

    whole = await merge(client, *({"id": trade_id} for trade_id in rows))
    as_positions = unwrap(await factories.send_file(client, file, 1, one_trade_is="position", dry_run=True))

    found = [(one["external_id"], one["side"], one["quantity"]) for one in whole["fills"]]
    assert found == [("1", "buy", 1), ("2", "buy", 2), ("3", "sell", 3), ("4", "buy", 1), ("5", "sell", 1)]
    assert (whole["quantity"], whole["gross_pnl"]) == (3, 18)
    assert set(factories.read_ids(as_positions)) == {whole["id"]}
    assert len(await split(client, whole)) == 3


# Annotations ---------------------------------------------------------------------------------------------


async def create_annotated(client: Client) -> tuple[list[Any], list[Any], Any]:
    """Three parts of one position with all that a trader writes, the tags, and the setup."""
    tags = [await factories.create_tag(client, name) for name in ("FOMO", "Patient", "Late")]
    strategy = await factories.create_strategy(client, **factories.A_CHECKLIST)
    (setup,) = strategy["setups"]
    answers = [{"confirmation_id": setup["confirmations"][0]["confirmation_id"], "was_present": True}]
    first = await create_part(client, "14:00", "14:10", notes="One", tag_ids=[tags[0]["id"]])
    second = await create_part(
        client, "14:10", "14:20", grade="B", setup_id=setup["setup_id"], confirmations=answers, stop_loss=90, mae=4
    )
    third = await create_part(
        client, "14:20", "14:30", grade="A", notes="Three", tag_ids=[tags[1]["id"], tags[0]["id"]]
    )
    return [first, second, third], tags, setup


async def test_annotations_are_joined(client: Client) -> None:
    parts, tags, setup = await create_annotated(client)

    whole = await merge(client, *parts)

    assert (whole["grade"], whole["notes"], whole["initial_risk"]) == ("B", "One\n\nThree", 20)
    assert whole["tag_ids"] == [tags[0]["id"], tags[1]["id"]]
    assert (whole["setup_id"], whole["confirmations"]) == (setup["setup_id"], parts[1]["confirmations"])


async def test_excursions_of_the_whole_go_with_a_split(client: Client) -> None:
    parts = [await create_part(client, "14:00", "14:10", mae=mae) for mae in (3, 5)]
    whole = await merge(client, *parts)
    await client.patch(f"/trades/{whole['id']}", json={"mae": 8, "mfe": 9})

    assert [(part["mae"], part["mfe"]) for part in await split(client, whole)] == [(3, None), (5, None)]


async def test_what_was_annotated_since_the_merge_stays_on_the_first(client: Client) -> None:
    parts, tags, _ = await create_annotated(client)
    whole = await merge(client, *parts)
    changed = await patch_trade(
        client, whole["id"], grade="F", notes="One\n\nThree\n\nAfter all: no", tag_ids=[tags[1]["id"], tags[2]["id"]]
    )

    first, *others = await split(client, whole)

    assert (first["grade"], first["notes"]) == ("F", "One\n\nAfter all: no")
    assert first["tag_ids"] == [tags[2]["id"]]
    assert first["setup_id"] is None
    assert first["updated_at"] > changed["updated_at"]
    assert [await factories.get_trade(client, part) for part in others] == parts[1:]


async def test_fees_of_before_the_merge_come_back(client: Client) -> None:
    parts = [await create_part(client, "14:00", "14:10"), await create_part(client, "14:10", "14:20", fees=2)]
    whole = await merge(client, *parts)
    await patch_trade(client, whole["id"], fees=9)

    restored = await split(client, whole)

    assert [part["fees"] for part in restored] == [0, 2]


async def test_answers_given_since_the_merge_stay_on_the_first(client: Client) -> None:
    parts, _, setup = await create_annotated(client)
    whole = await merge(client, *parts)
    asked = [one["confirmation_id"] for one in setup["confirmations"]]
    answers = [{"confirmation_id": one, "was_present": False} for one in asked]
    answered = unwrap(await client.put(f"/trades/{whole['id']}/confirmations", json={"confirmations": answers}))

    await split(client, whole)
    first, second = [await factories.get_trade(client, part) for part in parts[:2]]

    assert (first["setup_id"], first["confirmations"]) == (setup["setup_id"], answered["confirmations"])
    assert second == parts[1]


async def test_a_part_loses_what_was_deleted_while_it_was_merged(client: Client) -> None:
    parts, tags, setup = await create_annotated(client)
    original = await create_part(client, "14:20", "14:30")
    parts[2] = await patch_trade(client, parts[2]["id"], source_trade_id=original["id"])
    whole = await merge(client, *parts)
    await patch_trade(client, whole["id"], strategy_id=None, source_trade_id=None)
    (strategy,) = unwrap(await client.get("/strategies"))
    for path in (f"/strategies/{strategy['id']}", f"/tags/{tags[1]['id']}", f"/trades/{original['id']}"):
        assert (await client.delete(path)).status_code == 204

    _, second, third = await split(client, whole)

    assert (second["strategy_id"], second["setup_id"], setup["setup_id"]) == (None, None, 1)
    assert (third["tag_ids"], third["source_trade_id"]) == ([tags[0]["id"]], None)


async def test_a_taken_external_id_keeps_a_split_from_being_done(client: Client) -> None:
    first = await create_part(client, "14:00", "14:10")
    second = await create_part(client, "14:10", "14:20", external_id="T-2")
    whole = await merge(client, first, second)
    taker = await create_part(client, "16:00", "16:10", external_id="T-2")

    refused = await client.post(f"/trades/{whole['id']}/split")
    await patch_trade(client, taker["id"], external_id=None)

    assert error_of(refused) == (409, "conflict")
    assert details_of(refused)["fields"] == {"external_id": "is taken"}
    assert [part["external_id"] for part in await split(client, whole)] == [None, "T-2"]


async def test_a_copy_is_merged_with_its_original_and_comes_back_as_its_copy(client: Client) -> None:
    copy = await factories.create_trade(client)
    original = await factories.create_trade(client, copy["account_id"])
    copy = await patch_trade(client, copy["id"], source_trade_id=original["id"])

    whole = await merge(client, copy, original)
    parts = await split(client, whole)

    assert whole["source_trade_id"] is None
    assert [one["source_trade_id"] for one in parts] == [original["id"], None]


async def test_copies_of_parts_stay_one_decision_and_come_back(client: Client) -> None:
    other = await factories.create_account(client, "Follower")
    masters = [await create_part(client, f"14:{minute}0", f"14:{minute + 1}0") for minute in range(2)]
    copies = [
        await factories.create_trade(client, other["id"], source_trade_id=master["id"], symbol="MNQZ6", **times(master))
        for master in masters
    ]

    whole = await merge(client, *masters)
    copy = await merge(client, *copies)
    report = unwrap(await client.get("/reports", params={"metrics": "trade_count"}))
    split_copies = await split(client, copy)
    await split(client, whole)

    assert copy["source_trade_id"] == whole["id"]
    assert report["total"]["statistics"]["trades"] == 2
    assert report["total"]["statistics"]["decisions"] == 1
    assert [one["source_trade_id"] for one in split_copies] == [whole["id"]] * 2
    assert [await factories.get_trade(client, one) for one in copies] == copies


def times(trade: Any) -> Json:
    return {name: trade[name] for name in ("opened_at", "closed_at")}


# Imports -------------------------------------------------------------------------------------------------

CHAIN = [
    {"opened_at": f"{DAY}14:00:00Z", "closed_at": f"{DAY}14:10:00Z"},
    {"opened_at": f"{DAY}14:10:00Z", "closed_at": f"{DAY}14:20:00Z", "exit_price": "105"},
    {"opened_at": f"{DAY}14:20:00Z", "closed_at": f"{DAY}14:30:00Z", "fees": "2"},
]
FILES = {
    "by content": factories.build_file(*CHAIN),
    "by external id": factories.build_file(*({**row, "external_id": f"T-{row['opened_at']}"} for row in CHAIN)),
    "equal rows": factories.build_file(CHAIN[0], CHAIN[0], CHAIN[1]),
}


@for_rows("file", FILES.values())
async def test_an_import_recognises_the_parts_of_a_merged_trade(app: Starlette, client: Client, file: str) -> None:
    ids = factories.read_ids(unwrap(await factories.send_file(client, file, 1)))
    undone = journal(app)
    whole = await merge(client, *({"id": trade_id} for trade_id in ids))

    tried = unwrap(await factories.send_file(client, file, 1, dry_run=True))
    again = unwrap(await factories.send_file(client, file, 1))

    for report in (tried, again):
        assert report["counts"]["duplicate"] == 1
        assert factories.read_ids(report) == [whole["id"]]
    assert await factories.get_trade(client, whole) == whole
    await client.delete(f"/imports/{again['id']}")
    await split(client, whole)
    assert journal(app) == undone


async def test_rows_beside_a_trade_that_was_merged_of_typed_parts_are_left_to_the_owner(client: Client) -> None:
    parts = [
        await factories.create_trade(client, 1, **{name: value for name, value in row.items() if name != "fees"})
        for row in ({**row, "exit_price": float(row.get("exit_price", 101))} for row in CHAIN)
    ]
    whole = await merge(client, parts[0], await merge(client, *parts[1:]))

    report = unwrap(await factories.send_file(client, FILES["by external id"], 1))

    assert report["counts"]["suspect"] == 3
    assert await factories.get_trade(client, whole) == whole
    assert [trade["id"] for trade in await factories.list_trades(client)] == [whole["id"]]


async def test_a_file_that_corrects_a_part_corrects_the_merged_trade(client: Client) -> None:
    ids = factories.read_ids(unwrap(await factories.send_file(client, FILES["by external id"], 1)))
    whole = await merge(client, *({"id": trade_id} for trade_id in ids))

    report = unwrap(await factories.send_file(client, FILES["by external id"].replace("105", "106"), 1))

    assert report["counts"]["updated"] == 1
    corrected = await factories.get_trade(client, whole)
    assert (corrected["gross_pnl"], corrected["fees"]) == (whole["gross_pnl"] + 1, whole["fees"])


async def test_the_typed_part_of_a_whole_is_what_was_typed_once_the_import_of_the_others_is_undone(
    app: Starlette, client: Client
) -> None:
    imported = unwrap(await factories.send_file(client, factories.build_file(*CHAIN[1:]), 1))
    first = await factories.create_trade(client, 1, **CHAIN[0], entry_price=99)
    whole = await merge(client, first, *({"id": trade_id} for trade_id in factories.read_ids(imported)))

    undone = await client.delete(f"/imports/{imported['id']}")

    assert (undone.status_code, undone.headers["x-trades-deleted"]) == (204, str(len(CHAIN) - 1))
    assert whole["id"] == first["id"]
    assert [await factories.get_trade(client, one) for one in await factories.list_trades(client)] == [first]
    assert await run_sql(app, "PRAGMA foreign_key_check") == []


async def test_a_file_that_came_twice_is_joined_by_either_import(client: Client) -> None:
    file = performance(first_in_first_out(random_fills(1, 60)))
    first, again = [await factories.create_import(client, file, account_id=1, one_trade_is="row") for _ in range(2)]

    tried = [await client.post(f"/imports/{one['id']}/join?dry_run=1") for one in (first, again)]

    assert again["counts"]["new"] == 0
    joined, joined_again = (one.json()["data"]["joined"] for one in tried)
    assert joined_again == joined > 0


async def test_a_goal_sees_the_merge_and_the_split(client: Client) -> None:
    ids = factories.read_ids(unwrap(await factories.send_file(client, FILES["by content"], 1)))
    goal = unwrap(
        await client.post("/goals", json={"goal_name": "Few", "metric": "max_trades_per_day",
                                          "target_value": 2, "direction": "at_most", "timeframe": "daily"})
    )  # fmt: skip
    path = f"/goals/{goal['id']}/snapshots?from=2026-01-05&to=2026-01-05"

    seen = [unwrap(await client.get(path))[0]["actual"]]
    whole = await merge(client, *({"id": trade_id} for trade_id in ids))
    seen.append(unwrap(await client.get(path))[0]["actual"])
    await split(client, whole)
    seen.append(unwrap(await client.get(path))[0]["actual"])

    assert seen == [3, 1, 3]


# Brute force ---------------------------------------------------------------------------------------------


@pytest.mark.soak
@for_rows("seed", range(examples(full=30, ci=3)))
async def test_any_merges_that_are_split_again_leave_the_journal_as_it_was(
    app: Starlette, client: Client, seed: int
) -> None:
    chosen = random.Random(seed)
    tags = [await factories.create_tag(client, name) for name in ("FOMO", "Patient")]
    (setup,) = (await factories.create_strategy(client, **factories.A_CHECKLIST))["setups"]
    answers = [{"confirmation_id": one["confirmation_id"], "was_present": True} for one in setup["confirmations"]]
    checked = {"setup_id": setup["setup_id"], "confirmations": answers}
    rows, minute = [], 0
    for _ in range(12):
        minute += chosen.choice((0, 0, 3))
        end = minute + chosen.randint(1, 5)
        times = {"opened_at": f"{DAY}14:{minute:02}:00Z", "closed_at": f"{DAY}14:{end:02}:00Z"}
        rows.append({**times, "quantity": str(chosen.randint(1, 3)), "exit_price": str(chosen.randint(90, 110))})
        minute = end if chosen.random() < 0.7 else minute
    ids = factories.read_ids(unwrap(await factories.send_file(client, factories.build_file(*rows), 1)))
    for trade_id in ids:
        if chosen.random() < 0.5:
            await patch_trade(client, trade_id, notes=f"{trade_id}", grade=chosen.choice("ABC"))
            await patch_trade(client, trade_id, tag_ids=[chosen.choice(tags)["id"]], **chosen.choice([{}, checked]))
    states, merged = [journal(app)], []
    total = sum(trade["gross_pnl"] for trade in await factories.list_trades(client))
    for _ in range(30):
        left = sorted(await factories.list_trades(client), key=lambda trade: str(trade["opened_at"]))
        begin = chosen.randrange(len(left))
        ids = [trade["id"] for trade in left[begin : begin + chosen.randint(2, 4)]]
        response = await client.post("/trades/merge", json={"ids": ids})
        if response.status_code == 200:
            merged.append(unwrap(response))
            states.append(journal(app))
            found = await factories.list_trades(client)
            assert sum(trade["gross_pnl"] for trade in found) == pytest.approx(total)
            assert [trade["quantity"] for trade in found if trade["id"] == merged[-1]["id"]] == [
                largest(merged[-1]["fills"])
            ]
    assert merged
    for whole in reversed(merged):
        assert journal(app) == states.pop()
        await split(client, whole)
    assert journal(app) == states.pop()


def largest(fills: list[Json]) -> float:
    size, sizes = 0.0, []
    for one in fills:
        size += one["quantity"] if one["side"] == "buy" else -one["quantity"]
        sizes.append(size)
    assert size == 0
    assert min(sizes) >= 0
    return float(max(sizes))

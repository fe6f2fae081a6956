"""Many trades of the same content: written down, and recognised by the rows of a file, in linear time."""

import time
from collections.abc import Iterable
from random import Random
from typing import Any

import factories
import httpx
import pytest
from factories import Client, unwrap
from proofs import examples
from saved_journals import for_rows
from sql_calls import count_steps
from starlette.applications import Starlette


def build_identical(external_ids: Iterable[str]) -> str:
    """A file of rows with the content of A_TRADE."""
    return factories.build_file(*({"external_id": name} for name in external_ids))


def numbered(number: int) -> list[str]:
    return [f"fill-{n}" for n in range(number)]


async def write_down(client: Client, account_id: int, number: int) -> list[int]:
    """The ids of so many identical trades, entered by hand."""
    trades = [{"account_id": account_id, **factories.A_TRADE}] * number
    return [trade["id"] for trade in unwrap(await client.post("/trades/bulk", json={"trades": trades}))]


@for_rows("is_imported", [True, False])
@pytest.mark.promise(19)
async def test_four_times_the_rows_beside_as_many_identical_trades_take_no_sixteen_times_the_work(
    app: Starlette, client: Client, is_imported: bool
) -> None:
    steps_since_last = await count_steps(app)
    steps, seconds = [], []
    for number in (125, 500):
        account_id = (await factories.create_account(client, f"{number}"))["id"]
        if is_imported:
            await factories.create_import(client, build_identical([""] * number), account_id=account_id)
        else:
            await write_down(client, account_id, number)
        steps_since_last()
        begun = time.process_time()
        await factories.send_file(client, build_identical(numbered(number)), account_id)
        seconds.append(time.process_time() - begun)
        steps.append(steps_since_last())

    assert 0 < steps[1] < 6 * steps[0]
    assert seconds[1] < 10 * seconds[0]


@pytest.mark.promise(19)
async def test_identical_trades_are_written_down_in_as_many_steps_beside_many_of_them_as_beside_few(
    app: Starlette, client: Client, account_id: int
) -> None:
    steps_since_last = await count_steps(app)
    taken = []
    for _ in range(3):
        await write_down(client, account_id, 1000)
        taken.append(steps_since_last())

    assert 0 < taken[2] < 1.2 * taken[0]


async def test_each_row_is_another_of_the_identical_trades_in_whatever_batch_it_comes(
    client: Client, account_id: int
) -> None:
    by_hand = await write_down(client, account_id, 700)

    report = await factories.create_import(client, build_identical(numbered(1200)), account_id=account_id)

    assert report["counts"] == {"new": 500, "duplicate": 700, "updated": 0, "error": 0}
    assert factories.read_ids(report)[:700] == by_hand


async def test_rows_with_and_without_an_id_share_the_identical_trades_among_them(
    client: Client, account_id: int
) -> None:
    by_hand = await write_down(client, account_id, 5)

    report = await factories.create_import(client, build_identical(["a", "", "b", "", "c", "d"]), account_id=account_id)

    assert factories.read_verdicts(report) == ["duplicate"] * 5 + ["new"]
    assert sorted(factories.read_ids(report)[:5]) == by_hand


async def test_trades_between_that_are_no_candidates_are_passed_over(client: Client, account_id: int) -> None:
    by_hand = await write_down(client, account_id, 2)
    brought = await factories.create_import(client, build_identical([""] * 4), account_id=account_id)
    by_hand += await write_down(client, account_id, 3)
    await client.delete(f"/trades/{by_hand[0]}")
    unwrap(await client.patch(f"/trades/{by_hand[3]}", json={"external_id": "another"}))

    report = await factories.create_import(client, build_identical(numbered(4)), account_id=account_id)

    assert brought["counts"]["new"] == 2
    assert factories.read_ids(report)[:3] == by_hand[2:]
    assert factories.read_verdicts(report) == ["duplicate"] * 3 + ["new"]


async def test_identical_trades_of_another_account_or_content_are_not_taken(client: Client, account_id: int) -> None:
    other_id = (await factories.create_account(client, "Other"))["id"]
    (mine,) = await write_down(client, account_id, 1)
    await write_down(client, other_id, 2)
    file = factories.build_file({"external_id": "a"}, {"external_id": "b"}, {"external_id": "c", "exit_price": "102"})

    report = await factories.create_import(client, file, account_id=account_id)

    assert factories.read_verdicts(report) == ["duplicate", "new", "new"]
    assert factories.read_ids(report)[0] == mine
    assert len(await factories.list_trades(client)) == 5


def random_file(random: Random) -> str:
    """Round trips of which some are equal, some have ids, and perhaps one is refused."""
    has_ids = random.random() < 0.7
    rows = []
    for _ in range(random.randint(1, 12)):
        minute = random.randint(0, 3)
        exit_price, closed_at = random.choice([("", ""), ("5001.25", f"2026-03-08T10:3{minute}:00")])
        external_id = random.choice(["", "", "", *"abcdefgh", "12-34", *"stuvwxyz"]) if has_ids else ""
        opened_at = f"2026-03-08T10:0{minute}:00"
        cells = (random.choice("12"), external_id, exit_price, opened_at, closed_at)
        columns = ("quantity", "external_id", "exit_price", "opened_at", "closed_at")
        rows.append(dict(zip(columns, cells, strict=True)))
    return factories.build_file(*rows)


def read_outcome(response: httpx.Response) -> list[Any]:
    body = response.json()
    rows = body["data"]["import"]["rows"] if response.is_success else body["error"]["details"]["rows"]
    return [(row["line"], row["verdict"], row["reason"], row["changed"]) for row in rows]


async def stored(client: Client, account_id: int) -> list[dict[str, Any]]:
    """The imported trades of an account, without what differs between two accounts."""
    own = ("id", "account_id", "created_at", "updated_at")
    return [
        {name: value for name, value in trade.items() if name not in own}
        for trade in await factories.list_trades(client, account_id=account_id)
        if trade["symbol"] != "OTHER"
    ]


@pytest.mark.soak
async def test_a_file_has_the_same_verdicts_in_an_empty_account_and_beside_other_trades(client: Client) -> None:
    for seed in range(examples(full=300, ci=6)):
        first, second = (random_file(Random(f"{seed} {turn}")) for turn in "ab")
        empty, used = [await factories.create_account(client, f"{name} {seed}") for name in ("empty", "used")]
        await factories.create_trade(client, used["id"], symbol="OTHER")

        outcomes = []
        for account in (empty, used):
            answers = [await factories.send_file(client, file, account["id"]) for file in (first, first, second)]
            outcomes.append(([read_outcome(answer) for answer in answers], await stored(client, account["id"])))

        assert outcomes[0] == outcomes[1], seed

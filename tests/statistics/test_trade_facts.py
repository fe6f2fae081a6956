"""The stored facts of trades, in transactions of one day each."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from factories import A_TRADE, Client, unwrap

from journal_api.statistics import trade_facts


@pytest.fixture(autouse=True)
def one_day_at_a_time() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trade_facts, "DAYS", 1)
        yield


async def test_trades_may_move_to_days_whose_facts_are_stored_before_those_of_their_old_days(
    client: Client, account_id: int
) -> None:
    for day in (7, 6, 5):  # the newest first, as in most exports
        times = {"opened_at": f"2026-01-{day:02}T12:00:00Z", "closed_at": f"2026-01-{day:02}T13:00:00Z"}
        trade = {**A_TRADE, "account_id": account_id, **times}
        last = unwrap(await client.post("/trades", json=trade))
    days = [group["key"] for group in (await read_days(client))["groups"]]

    unwrap(await client.patch("/me", json={"timezone": "Pacific/Auckland"}))

    assert days == ["2026-01-05", "2026-01-06", "2026-01-07"]
    moved = await read_days(client)
    assert [group["key"] for group in moved["groups"]] == ["2026-01-06", "2026-01-07", "2026-01-08"]
    assert moved["total"]["statistics"]["trades"] == 3
    with pytest.MonkeyPatch.context() as patch:  # as when the file cannot be written
        patch.setattr(trade_facts, "refresh", lambda *_: asyncio.sleep(0))
        unwrap(await client.patch(f"/trades/{last['id']}", json={"fees": 9}))
        assert (await read_days(client))["total"]["statistics"]["trades"] == 3


async def read_days(client: Client) -> Any:
    return unwrap(await client.get("/reports?group_by=day"))

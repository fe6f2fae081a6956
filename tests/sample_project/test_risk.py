"""What open trades risk: a project of its own, which tests itself against a journal."""

import asyncio

import httpx
import pytest

from journal_api.testing import MakeJournal, open_journal

A_TRADE = {
    "symbol": "MES",
    "direction": "long",
    "quantity": 1,
    "multiplier": 5,
    "entry_price": 6500,
    "stop_loss": 6490,
    "opened_at": "2026-11-02T15:00:00Z",
}


def read_risk(client: httpx.Client) -> float:
    response = client.get("/trades", params={"outcome": "open"}).raise_for_status()
    return float(sum(trade["initial_risk"] for trade in response.json()["data"]["trades"]))


def test_an_open_trade_risks_the_way_to_its_stop(journal: httpx.Client) -> None:
    assert read_risk(journal) == 0
    account = journal.post("/accounts", json={"name": "Mine"}).json()["data"]["account"]

    journal.post("/trades", json={"account_id": account["id"], **A_TRADE}).raise_for_status()

    assert read_risk(journal) == 50


def test_the_example_has_an_open_trade(example_journal: httpx.Client) -> None:
    assert read_risk(example_journal) == 30


def test_a_key_that_may_not_read_trades_is_refused(make_journal: MakeJournal) -> None:
    with pytest.raises(httpx.HTTPStatusError, match="403"):
        read_risk(make_journal(scopes="read:tags,write:trades", example=True))


def test_an_asynchronous_program_has_a_journal_too() -> None:
    async def count_trades() -> int:
        async with open_journal(example=True) as journal:
            answer = await journal.get("/trades")
            return int(answer.json()["meta"]["pagination"]["total"])

    assert asyncio.run(count_trades()) == 124

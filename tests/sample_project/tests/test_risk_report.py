import asyncio
from decimal import Decimal

import httpx
import pytest
from risk_report import PAGE, Refused, at_risk_now, report

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


def make_account(journal: httpx.Client) -> int:
    made = journal.post("/accounts", json={"name": "Mine"})
    return int(made.json()["data"]["account"]["id"])


def test_nothing_is_at_risk_in_an_empty_journal(journal: httpx.Client) -> None:
    assert report(journal, Decimal(100)) == "at risk now: 0"


def test_an_open_trade_risks_the_way_to_its_stop(journal: httpx.Client) -> None:
    sent = journal.post("/trades", json={"account_id": make_account(journal), **A_TRADE})
    assert sent.status_code == 201

    assert report(journal, Decimal(100)) == "at risk now: 50"


def test_the_days_beyond_the_limit_are_told(example_journal: httpx.Client) -> None:
    assert report(example_journal, Decimal(125)).splitlines() == [
        "at risk now: 30",
        "2026-08-20: lost 157.44, 32.44 too much",
        "2026-09-25: lost 126.96, 1.96 too much",
        "2026-10-30: lost 134.90, 9.90 too much",
    ]


def test_every_page_is_read(journal: httpx.Client) -> None:
    trades = [{"account_id": make_account(journal), **A_TRADE}] * (PAGE + 1)
    assert journal.post("/trades/bulk", json={"trades": trades}).status_code == 201

    assert report(journal, Decimal(100)) == f"at risk now: {50 * (PAGE + 1)}"


def test_a_key_that_may_not_read_trades_is_refused(make_journal: MakeJournal) -> None:
    journal = make_journal(scopes="read:tags,write:trades", example=True)

    with pytest.raises(Refused, match="forbidden_scope"):
        report(journal, Decimal(100))


def test_a_dashboard_hears_what_is_at_risk() -> None:
    async def dashboard() -> Decimal:
        async with open_journal(example=True) as journal:
            return await at_risk_now(journal)

    assert asyncio.run(dashboard()) == 30

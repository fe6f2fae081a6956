"""New trades of a file and strategies that are restricted to accounts: docs/api.md T11, docs/imports.md."""

from typing import Any

import factories
import pytest
from factories import Client, details_of, error_of, unwrap

REASON = "strategy is restricted to other accounts"


@pytest.fixture
async def restrictions(client: Client) -> dict[str, dict[str, Any]]:
    """Members of a strategy that restrict it to the account Own, in two ways, or to none; Other is free."""
    own = await factories.create_account(client, "Own")
    await factories.create_account(client, "Other")
    group, empty = (
        await factories.create_copy_group(client, "A", [own["id"]]),
        await factories.create_copy_group(client, "B"),
    )
    return {
        "account": {"account_id": own["id"]},
        "group": {"copy_group_id": group["id"]},
        "group without members": {"copy_group_id": empty["id"]},
        "all accounts": {},
    }


def build_rows(setup: str = "") -> str:
    """A trade of the strategy in each of the two accounts."""
    row = {"strategy": "Breakout", "setup": setup}
    return factories.build_file({"account": "Own", **row}, {"account": "Other", **row})


@pytest.mark.parametrize(
    ("way", "setup", "wrong_lines"),
    [
        ("account", "", [3]),
        ("group", "Retest", [3]),
        ("group without members", "", [2, 3]),
        ("all accounts", "Retest", []),
    ],
)
async def test_a_new_trade_of_another_account_is_an_error_of_its_row(
    client: Client, restrictions: Any, way: str, setup: str, wrong_lines: list[int]
) -> None:
    await factories.create_strategy(client, "Breakout", setups=[{"name": "Retest"}], **restrictions[way])

    report = unwrap(await factories.send_file(client, build_rows(setup), dry_run="true"))
    sent = await factories.send_file(client, build_rows(setup))

    verdicts = {line: ("error", REASON) if line in wrong_lines else ("new", None) for line in (2, 3)}
    assert {row["line"]: (row["verdict"], row["reason"]) for row in report["rows"]} == verdicts
    if wrong_lines:
        assert error_of(sent) == (400, "validation_error")
        assert (details_of(sent)["line"], details_of(sent)["reason"]) == (wrong_lines[0], REASON)
    assert len(unwrap(await client.get("/trades"))) == (0 if wrong_lines else 2)


async def test_a_trade_that_the_strategy_had_before_is_recognised_and_stays(client: Client, restrictions: Any) -> None:
    strategy = await factories.create_strategy(client, "Breakout")
    await factories.create_import(client, build_rows(), account_id=None)
    unwrap(await client.patch(f"/strategies/{strategy['id']}", json=restrictions["account"]))

    again = await factories.create_import(client, build_rows(), account_id=None)

    assert again["counts"] == {"new": 0, "duplicate": 2, "updated": 0, "error": 0}
    assert {trade["strategy_id"] for trade in await factories.list_trades(client)} == {strategy["id"]}

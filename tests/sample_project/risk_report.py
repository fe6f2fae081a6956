"""What open trades risk, and the days that lost more than they should.

JOURNAL_URL=http://127.0.0.1:8000/v1 JOURNAL_KEY=tjk_... python risk_report.py 100
"""

import json
import os
import sys
from collections import defaultdict
from decimal import Decimal
from typing import Any

import httpx

PAGE = 200


class Refused(Exception):
    """The journal would not say."""


def report(client: httpx.Client, daily_limit: Decimal) -> str:
    """A line for what is at risk, then a line for every day beyond the limit, oldest first."""
    trades = read_trades(client)
    lines = [f"at risk now: {at_risk(trades)}"]
    for day, result in sorted(results_by_day(trades).items()):
        if result < -daily_limit:
            lines.append(f"{day}: lost {-result}, {-result - daily_limit} too much")
    return "\n".join(lines)


def read_trades(client: httpx.Client) -> list[Any]:
    trades: list[Any] = []
    while True:
        answer = client.get("/trades", params={"limit": PAGE, "offset": len(trades)})
        body = read(answer)
        trades += body["data"]["trades"]
        if len(trades) >= body["meta"]["pagination"]["total"]:
            return trades


async def at_risk_now(client: httpx.AsyncClient) -> Decimal:
    """What the open trades risk, for a dashboard that asks often."""
    answer = await client.get("/trades", params={"outcome": "open", "limit": PAGE})
    return at_risk(read(answer)["data"]["trades"])


def read(answer: httpx.Response) -> Any:
    """The body, its numbers as exact as they were sent; raises Refused."""
    body = json.loads(answer.text, parse_float=Decimal)
    if not body["ok"]:
        raise Refused(body["error"]["code"])
    return body


def at_risk(trades: list[Any]) -> Decimal:
    return sum((trade["initial_risk"] or Decimal() for trade in trades if not trade["closed_at"]), Decimal())


def results_by_day(trades: list[Any]) -> dict[str, Decimal]:
    results: dict[str, Decimal] = defaultdict(Decimal)
    for trade in trades:
        if trade["closed_at"]:
            results[trade["trading_day"]] += trade["net_pnl"]
    return results


def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['JOURNAL_KEY']}"}
    with httpx.Client(base_url=os.environ["JOURNAL_URL"], headers=headers) as client:
        sys.stdout.write(report(client, Decimal(sys.argv[1])) + "\n")


if __name__ == "__main__":
    main()

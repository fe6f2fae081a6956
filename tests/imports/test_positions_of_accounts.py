"""Fills of several accounts in one file: each account has its own positions, whatever the others do."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import httpx
import pytest
from factories import create_account, read_file, send_file, unwrap
from positions import (
    FileFill,
    book_positions,
    executions,
    first_in_first_out,
    position_history,
    random_fills,
)
from proofs import examples

from journal_api.positions.fills import decode_fills
from journal_api.positions.import_rows import Candidate

pytestmark = pytest.mark.soak
NAMES = ("DEMO1", "DEMO2", "DEMO3")
FILLS = examples(full=1000, ci=150)


def random_accounts(seed: int, count: int) -> dict[str, list[FileFill]]:
    """Fills of three accounts at the same times, with the same ids and symbols."""
    return {name: random_fills(3 * seed + number, count) for number, name in enumerate(NAMES)}


def write_fills(accounts: Mapping[str, Iterable[FileFill]]) -> list[str]:
    """The lines of a file of fills, in the order of time."""
    header, *_ = executions([]).decode().splitlines()
    lines = [
        f"{line},{name}"
        for name, fills in accounts.items()
        for line in executions(fills).decode().splitlines()[1:]
    ]
    return [f"{header},Account", *sorted(lines, key=lambda line: line[:19])]


def write_pairs(accounts: Mapping[str, Iterable[FileFill]]) -> list[str]:
    """The lines of a file of pairs, an account after the other."""
    header, *_ = position_history([]).decode().splitlines()
    files = {name: position_history(first_in_first_out(fills)).decode() for name, fills in accounts.items()}
    return [
        header,
        *(line.replace(NAMES[0], name) for name, file in files.items() for line in file.splitlines()[1:]),
    ]


FORMS = [write_fills, write_pairs]


def show(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A stored position: symbol, direction, size, times, result and number of fills."""
    return (
        *(
            row["symbol"],
            row["direction"],
            row["quantity"] / 10**8,
            row["opened_at"][:19],
            row["closed_at"][:19],
        ),
        *(row["gross_pnl"] / 10**8, len(decode_fills(row["fills"])) if row["fills"] else 2),
    )


def expected(fills: Sequence[FileFill]) -> list[tuple[Any, ...]]:
    names = ("symbol", "direction", "quantity", "opened_at", "closed_at", "gross", "fills")
    return sorted(
        tuple(one[name].isoformat() if name.endswith("_at") else one[name] for name in names)
        for one in book_positions(fills)
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(examples(full=530, ci=4)))  # a million positions
def test_each_account_of_a_file_has_the_positions_of_its_own_book(
    seed: int, form: Callable[[Mapping[str, Iterable[FileFill]]], list[str]]
) -> None:
    accounts = random_accounts(seed, FILLS)

    file = read_file("\n".join(form(accounts)), one_trade_is=lambda file_format: "position")
    found = defaultdict[str | None, list[tuple[Any, ...]]](list)
    for row in file.candidates:
        assert isinstance(row, Candidate)
        found[row.imported.account].append(show(row.columns))

    assert {name: sorted(rows) for name, rows in found.items()} == {
        name: expected(fills) for name, fills in accounts.items()
    }


@pytest.mark.parametrize("seed", range(examples(full=60, ci=4)))
async def test_files_of_fills_that_cut_several_accounts_at_once_are_the_positions_of_each(
    client: httpx.AsyncClient, seed: int
) -> None:
    accounts = random_accounts(seed, 40)
    ids = {name: (await create_account(client, name))["id"] for name in NAMES}
    header, *lines = write_fills(accounts)
    cut = 1 + seed * 7 % (len(lines) - 1)

    for part in (lines[:cut], lines[cut:], lines):
        last = unwrap(await send_file(client, "\n".join([header, *part])))

    assert (last["counts"]["new"], last["counts"]["updated"]) == (0, 0)
    for name, account_id in ids.items():
        trades = unwrap(await client.get(f"/trades?account_id={account_id}&limit=200"))
        found = [
            (
                *(
                    one["symbol"],
                    one["direction"],
                    one["quantity"],
                    one["opened_at"][:19],
                    one["closed_at"][:19],
                ),
                *(one["gross_pnl"], one["fill_count"]),
            )
            for one in trades
        ]
        assert sorted(found) == expected(accounts[name])

"""Fills of several accounts in one file: each account has its own positions, whatever the others do."""

from collections.abc import Callable, Iterable, Mapping

import pytest
from factories import Client, create_account, send_file, unwrap
from positions import (
    FileFill,
    executions,
    expected_positions,
    first_in_first_out,
    position_history,
    random_fills,
    read_positions,
    stored_positions,
)
from proofs import examples
from saved_journals import for_rows

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
        f"{line},{name}" for name, fills in accounts.items() for line in executions(fills).decode().splitlines()[1:]
    ]
    return [f"{header},Account", *sorted(lines, key=lambda line: line[:19])]


def write_pairs(accounts: Mapping[str, Iterable[FileFill]]) -> list[str]:
    """The lines of a file of pairs, an account after the other."""
    header, *_ = position_history([]).decode().splitlines()
    files = {name: position_history(first_in_first_out(fills)).decode() for name, fills in accounts.items()}
    return [header, *(line.replace(NAMES[0], name) for name, file in files.items() for line in file.splitlines()[1:])]


@pytest.mark.parametrize("form", [write_fills, write_pairs])
@pytest.mark.parametrize("seed", range(examples(full=530, ci=4)))  # a million positions
def test_each_account_of_a_file_has_the_positions_of_its_own_book(
    seed: int, form: Callable[[Mapping[str, Iterable[FileFill]]], list[str]]
) -> None:
    accounts = random_accounts(seed, FILLS)

    assert read_positions("\n".join(form(accounts))) == {
        name: expected_positions(fills) for name, fills in accounts.items()
    }


@for_rows("seed", range(examples(full=60, ci=4)))
async def test_files_of_fills_that_cut_several_accounts_at_once_are_the_positions_of_each(
    client: Client, seed: int
) -> None:
    accounts = random_accounts(seed, 40)
    ids = {name: (await create_account(client, name))["id"] for name in NAMES}
    header, *lines = write_fills(accounts)
    cut = 1 + seed * 7 % (len(lines) - 1)

    for part in (lines[:cut], lines[cut:], lines):
        last = unwrap(await send_file(client, "\n".join([header, *part])))

    assert (last["counts"]["new"], last["counts"]["updated"]) == (0, 0)
    for name, account_id in ids.items():
        found = await stored_positions(client, account_id=account_id)
        assert found == expected_positions(accounts[name])

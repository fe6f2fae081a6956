"""The fixtures that pytest finds by itself where journal-api is installed (journal_api/testing.py).

Nothing but pytest is imported until a test asks for one of them.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import TYPE_CHECKING, Unpack

import pytest

if TYPE_CHECKING:
    import httpx

    from journal_api.testing import MakeJournal, Options


@pytest.fixture
def make_journal() -> "Iterator[MakeJournal]":
    """Make a fresh journal and give an httpx client of it: `make_journal(scopes="read:tags", example=True)`.

    The arguments are those of `journal_api.testing.journal_client`. Every journal ends with the test.
    """
    from journal_api.testing import journal_client

    with ExitStack() as opened:

        def make(folder: "str | PathLike[str] | None" = None, **options: "Unpack[Options]") -> "httpx.Client":
            return opened.enter_context(journal_client(folder, **options))

        yield make


@pytest.fixture
def journal(make_journal: "MakeJournal") -> "httpx.Client":
    """An httpx client of a fresh, empty journal, with every scope."""
    return make_journal()


@pytest.fixture
def example_journal(make_journal: "MakeJournal") -> "httpx.Client":
    """An httpx client of a fresh copy of the example journal, with every scope."""
    return make_journal(example=True)

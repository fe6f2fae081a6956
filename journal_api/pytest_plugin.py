"""A pytest plugin with fixtures for projects that use the journal; see journal_api.testing.

The fixtures import journal_api.testing when they are used, so that the plugin costs other tests nothing.
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
    """A function that creates a journal and returns its httpx client: `make_journal(scopes="read:tags")`.

    It takes the arguments of `journal_api.testing.journal_client`. The journals are closed after the test.
    """
    from journal_api.testing import journal_client

    with ExitStack() as journals:

        def make(folder: "str | PathLike[str] | None" = None, **options: "Unpack[Options]") -> "httpx.Client":
            return journals.enter_context(journal_client(folder, **options))

        yield make


@pytest.fixture
def journal(make_journal: "MakeJournal") -> "httpx.Client":
    """An httpx client of a new, empty journal, with every scope."""
    return make_journal()


@pytest.fixture
def example_journal(make_journal: "MakeJournal") -> "httpx.Client":
    """An httpx client of a new copy of the example journal, with every scope."""
    return make_journal(example=True)

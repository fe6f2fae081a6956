"""A pytest plugin with fixtures for projects that use the journal; see journal_api.testing.

The fixtures import journal_api.testing when they are used, so that the plugin costs other tests nothing.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from typing import TYPE_CHECKING, Unpack

import pytest

if TYPE_CHECKING:
    from journal_api.testing import Journal, MakeJournal, Options


@pytest.fixture
def make_journal() -> "Iterator[MakeJournal]":
    """A function that creates a journal and returns its client: `make_journal(scopes="read:tags")`.

    It takes the arguments of `journal_api.testing.journal_client`. The journals are closed after the test.
    """
    from journal_api.testing import journal_client

    with ExitStack() as journals:

        def make(
            folder: "str | PathLike[str] | None" = None, *, serve: bool = False, **options: "Unpack[Options]"
        ) -> "Journal":
            return journals.enter_context(journal_client(folder, serve=serve, **options))

        yield make


@pytest.fixture
def journal(make_journal: "MakeJournal") -> "Journal":
    """A client of a new, empty journal, with every scope."""
    return make_journal()


@pytest.fixture
def example_journal(make_journal: "MakeJournal") -> "Journal":
    """A client of a new copy of the example journal, with every scope."""
    return make_journal(example=True)


@pytest.fixture
def journal_server(make_journal: "MakeJournal") -> "Journal":
    """A client of a new, empty journal that listens on a loopback port: `url` and `key` are for programs."""
    return make_journal(serve=True)

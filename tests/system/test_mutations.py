"""The list of mutations of `make mutations` fits the code and the tests as they are."""

import pytest
from mutations import MUTATIONS, Mutation, files_of_tests, times_in_file

TESTS = files_of_tests()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.file}: {mutation.before}")
def test_the_text_that_a_mutation_replaces_stands_exactly_once_in_its_file(mutation: Mutation) -> None:
    assert times_in_file(mutation) == 1
    assert mutation.after != mutation.before


def test_the_tests_that_must_notice_a_mutation_exist() -> None:
    names = {name for mutation in MUTATIONS for name in mutation.tests.split()}

    assert names
    assert names <= TESTS.keys()

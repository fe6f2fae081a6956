"""The list of mutations of `make mutations` fits the code and the tests as they are."""

from mutations import MUTATIONS, files_of_tests, times_in_file

TESTS = files_of_tests()


def test_the_text_that_a_mutation_replaces_stands_exactly_once_in_its_file() -> None:
    times = {f"{one.file}: {one.before}": times_in_file(one) for one in MUTATIONS}

    assert {text: count for text, count in times.items() if count != 1} == {}
    assert [one for one in MUTATIONS if one.after == one.before] == []


def test_the_tests_that_must_notice_a_mutation_exist() -> None:
    names = {name for mutation in MUTATIONS for name in mutation.tests.split()}

    assert names
    assert names <= TESTS.keys()

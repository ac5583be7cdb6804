"""The cases that stand for a product of parameters."""

import itertools

import pytest

import covering


@pytest.mark.parametrize("sizes", [(2, 2), (3, 7), (8, 2), (2, 2, 2), (4, 2, 2), (4, 3, 3, 2)])
def test_all_required_pairs_are_covered_by_few_cases(sizes):
    cases = list(itertools.product(*[[f"{f}{value}" for value in range(size)] for f, size in enumerate(sizes)]))
    kept = [cases[i] for i in covering.covering(cases)]
    for chosen in itertools.combinations(range(len(sizes)), min(len(sizes) - 1, 2)):
        wanted = {tuple(case[f] for f in chosen) for case in cases}
        assert {tuple(case[f] for f in chosen) for case in kept} == wanted
    if len(cases) > 4:
        assert len(kept) <= len(cases) // 2 + 1


def test_one_parameter_or_few_cases_keep_all():
    assert covering.covering([("a",), ("b",), ("c",), ("d",), ("e",)]) == [0, 1, 2, 3, 4]
    assert covering.covering([()]) == [0]


def test_parameters_of_one_mark_go_together():
    class Mark:
        def __init__(self, names):
            self.args = (names, [])

    class Item:
        class callspec:
            params = {"a": 1, "b": 2, "c": 3}

        @staticmethod
        def iter_markers(_):
            return [Mark("a, b"), Mark(["c"])]

    assert covering.case_of(Item) == ("[1, 2]", "[3]")

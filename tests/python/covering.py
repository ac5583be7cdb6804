"""Which cases of the product of a test's parameters are run unless all are asked for."""

import hashlib
import itertools


def case_of(item) -> tuple[str, ...]:
    """A value of each mark: its parameters go together."""
    marks = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [mark.replace(",", " ").split() if isinstance(mark, str) else mark for mark in marks]
    return tuple(repr([item.callspec.params[name] for name in of_mark]) for of_mark in names)


def covering(cases: list[tuple[str, ...]]) -> list[int]:
    """The numbers of cases that have each value of two parameters, or each pair of values of three and more. Of few, all."""
    if len(cases) <= 4 or len(cases[0]) < 2:
        return list(range(len(cases)))

    def has(case):
        return set(itertools.combinations(enumerate(case), 1 if len(case) == 2 else 2))

    left = set().union(*map(has, cases))
    order = sorted(range(len(cases)), key=lambda i: hashlib.sha256(repr(cases[i]).encode()).digest())  # mixed, always alike
    chosen = []
    while left:
        best = max(order, key=lambda i: len(has(cases[i]) & left))
        chosen.append(best)
        left -= has(cases[best])
    return sorted(chosen)

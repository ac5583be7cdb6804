"""Some of the systems of drawn_problems.py, which draws any number over all that the command and the package accept."""

import pytest

pytest.importorskip("numpy")

import drawn_problems
import problem_judgements

RUNS, RUNS_AT_LENGTH, SEED = 20, 400, 20261130


@pytest.fixture
def library(fl):
    """That of the package, which a process of its own loads."""
    import pathlib
    from fairlead import _library
    return pathlib.Path(_library.where())


def test_problems_of_all_kinds_are_solved_or_refused_for_the_right_reason(command, library, fake_cuda, at_length, monkeypatch):
    monkeypatch.setattr(drawn_problems, "FAKE_CUDA", fake_cuda)
    outcomes = drawn_problems.campaign(range(RUNS_AT_LENGTH if at_length else RUNS), SEED, command, library, jobs=2)
    assert sum(outcomes.values()) == (RUNS_AT_LENGTH if at_length else RUNS)


@pytest.mark.parametrize("index", [3, 5])
def test_a_wrong_solution_is_noticed(command, library, index, monkeypatch):
    load = drawn_problems.np.load

    def off(path):
        x = load(path)
        if hasattr(x, "files"):
            return {name: changed(x[name]) for name in x.files}
        return changed(x)

    def changed(x):
        x.flat[0] += 1e4 * drawn_problems.np.finfo(x.dtype).eps * abs(x).max()
        return x

    drawn_problems.campaign([index], 1, command, library)
    monkeypatch.setattr(drawn_problems.np, "load", off)
    with pytest.raises(problem_judgements.Wrong, match="backward error|optimal|A X"):
        drawn_problems.campaign([index], 1, command, library)

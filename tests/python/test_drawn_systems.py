"""Some of the systems of drawn_systems.py, which draws any number."""

import concurrent.futures

import pytest

pytest.importorskip("numpy")

import drawn_systems  # noqa: E402

RUNS, RUNS_AT_LENGTH, SEED = 16, 200, 20261121


@pytest.mark.parametrize("general", [False, True], ids=["symmetric", "general"])
def test_systems_drawn_from_a_seed_are_solved_as_numpy_does(command, general, at_length):
    def one(index):
        try:
            drawn_systems.try_one(command, SEED, index, general=general)
        except drawn_systems.Wrong as wrong:
            return str(wrong)

    runs = (RUNS_AT_LENGTH if at_length else RUNS) // (2 if general else 1)
    print(f"seed {SEED}, {runs} runs")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(one, range(runs)) if text]
    assert not wrong, "\n".join(wrong)


def test_systems_on_devices_and_ranks_are_solved_as_numpy_does(command, fake_cuda, at_length):
    for index in range(RUNS_AT_LENGTH if at_length else 6):
        drawn_systems.try_one(command, SEED, index, kinds=("cuda", "emulated"), fake_cuda=fake_cuda)


@pytest.mark.parametrize("general", [False, True], ids=["symmetric", "general"])
def test_systems_over_ranks_are_solved_as_numpy_does(command, general, at_length):
    for index in range(RUNS_AT_LENGTH if at_length else 6):
        drawn_systems.try_one(command, SEED, index, general=general, over_ranks=True)


def test_a_wrong_solution_is_detected(command, monkeypatch):
    """Each solution is changed by some roundings before it is compared."""
    load = drawn_systems.np.load

    def off(path):
        x = load(path)
        x.flat[0] += 100 * drawn_systems.roundings(x.dtype) * (abs(x).max() + 1)
        return x

    monkeypatch.setattr(drawn_systems.np, "load", off)
    with pytest.raises(drawn_systems.Wrong):
        for index in range(4):
            drawn_systems.try_one(command, SEED, index)

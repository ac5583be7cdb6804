"""fairlead plan: what it states before a run, compared with the run; errors; the JSON."""

import json
import numbers
import os

import numpy as np
import pytest
from methods import METHODS, matrix_for

FIELDS = {"method": str, "method_reason": str, "rows": int, "columns": int, "right_hand_sides": int, "element": str, "tile": int,
          "workers": int, "memory_limit_bytes": int, "least_memory_bytes": int, "in_core_memory_bytes": int,
          "disk_space_bytes": int, "free_disk_space_bytes": int, "input_bytes_read": int, "output_bytes_written": int,
          "bytes_read": int, "bytes_written": int, "check_bytes_read": int, "check_bytes_written": int,
          "seconds": numbers.Real, "least_seconds": numbers.Real, "most_seconds": numbers.Real, "phases": list,
          "assumptions": list}


@pytest.fixture
def planned(fairlead):
    """Runs a plan; gives its JSON, and the text as `planned.text`."""

    def run(*words):
        done = fairlead("plan", *words, *([] if "--workers" in words else ["--workers", 2]), "--json", "plan.json")
        assert done.returncode == 0, done.stderr
        run.text = done.stdout
        return json.loads((fairlead.folder / "plan.json").read_text())

    return run


def save_matrix(folder, method, n, element="f8", seed=4):
    np.save(folder / "A.npy", matrix_for(method, n, seed).astype(element))
    np.save(folder / "b.npy", np.ones(n, element))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("element", ["f4", "f8"])
@pytest.mark.parametrize("share", [0.4, 1])
def test_a_run_moves_the_bytes_of_its_plan(fairlead, planned, method, element, share):
    """With one worker and a policy that does not depend on times; those of other runs depend on them by more than the tolerance."""
    n, tile = 1500, 96
    save_matrix(fairlead.folder, method, n, element)
    words = ["A.npy", "b.npy", "--method", method, "--tile", tile, "--workers", 1, "--scheduler", "eager"]
    whole = planned(*words, "--memory", "1GiB")
    least, most = whole["least_memory_bytes"], whole["in_core_memory_bytes"]
    memory = int(least + share * (most - least))
    plan = planned(*words, "--memory", memory)
    done = fairlead("solve", *words, "--memory", memory, "-o", "x.npy", "--json", "run.json")
    assert done.returncode == 0, done.stderr
    run = json.loads((fairlead.folder / "run.json").read_text())
    for key in ("bytes_read", "bytes_written"):
        assert abs(plan[key] - run[key]) <= max(0.3 * run[key], 24 * tile**2 * int(element[1])), key
    assert plan["tile"] == run["tile"] and plan["method"] == run["method"]
    assert plan["input_bytes_read"] >= run["input_bytes_read"]
    assert (plan["disk_space_bytes"] == 0) == (share == 1)


def test_the_least_memory_suffices_and_less_does_not(fairlead, planned):
    n = 300
    for method in METHODS:
        save_matrix(fairlead.folder, method, n)
        words = ["A.npy", "b.npy", "--method", method, "--workers", 2]
        least = planned("A.npy", "b.npy", "--method", method)["least_memory_bytes"]
        done = fairlead("solve", *words, "--memory", least, "-o", "x.npy")
        assert done.returncode == 0, f"{method}: {done.stderr}"
        done = fairlead("plan", *words, "--memory", least - 4096)
        assert done.returncode == 1 and "at least" in done.stderr, f"{method}: {done.stderr}"
        done = fairlead("solve", *words, "--memory", int(least * 0.9), "-o", "x.npy")
        assert done.returncode != 0, method


def test_a_sample_of_the_matrix_decides_the_method(fairlead, planned):
    n = 300
    a = np.random.default_rng(2).standard_normal((n, n))
    for matrix, method, reason in ((a @ a.T + np.eye(n), "cholesky", "positive definite"), (a, "lu", "not symmetric"),
                                   (a + a.T, "ldlt", "not positive definite"), (a[:, :20], "qr", "more rows")):
        np.save(fairlead.folder / "A.npy", matrix)
        plan = planned("A.npy")
        assert plan["method"] == method and reason in plan["method_reason"]


def test_a_shape_needs_no_file(planned):
    plan = planned("--rows", 100000, "--memory", "2GiB", "--method", "cholesky")
    assert plan["rows"] == plan["columns"] == 100000 and plan["element"] == "FP64"
    assert 40e9 < plan["disk_space_bytes"] < 42e9 and plan["output_bytes_written"] == 800000
    # n^3 / (3 sqrt(2) sqrt(M)) elements are the bound of the bytes that are read; the policy sees a part of the tasks at a time.
    bound = 8 * 1e15 / (3 * 2**0.5 * (2**31 / 8) ** 0.5)
    assert bound < plan["bytes_read"] < 6 * bound
    assert plan["least_seconds"] <= plan["seconds"] <= plan["most_seconds"]
    single = planned("--rows", 3000, "--columns", 200, "--type", "f4", "--sides", 7)
    assert (single["method"], single["element"], single["right_hand_sides"]) == ("qr", "FP32", 7)
    assert single["output_bytes_written"] == 200 * 7 * 4


def test_the_json_has_its_fields(planned):
    plan = planned("--rows", 500)
    assert list(plan) == list(FIELDS)
    for name, kind in FIELDS.items():
        assert isinstance(plan[name], kind), name
    for phase in plan["phases"]:
        assert set(phase) == {"name", "seconds", "counts"}
    assert abs(sum(phase["seconds"] for phase in plan["phases"]) - plan["seconds"]) <= 1e-9 * plan["seconds"]
    for word in ("Method", "Memory", "Disk space", "Bytes", "Time"):
        assert word in planned.text


@pytest.mark.parametrize("words, status, message", [
    ([], 2, "give A.npy, or --rows N"),
    (["missing.npy"], 1, "missing.npy"),
    (["--rows", 10, "--method", "cholesy"], 2, "did you mean"),
    (["--rows", 10, "--method", "gemm"], 2, "not a factorization"),
    (["--rows", 10, "--memry", "1GiB"], 2, "did you mean --memory?"),
    (["--rows", 10, "--columns", 20, "--method", "lu"], 1, "square"),
    (["--rows", 0], 2, "at least 1"),
    (["--rows", 10, "--refine", "--method", "lu"], 2, "requires a symmetric matrix"),
    (["--rows", 5000, "--memory", "1MiB"], 1, "at least"),
    (["--rows", 10, "--tile", 4, "--memory", "1GiB", "--devices", "cuda:0"], 2, "devices"),
])
def test_errors_state_what_to_do(fairlead, words, status, message):
    done = fairlead("plan", *words)
    assert done.returncode == status and message in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3


def test_a_disk_that_is_too_small_is_an_error(fairlead):
    free = os.statvfs(fairlead.folder)
    n = int((4 * free.f_bavail * free.f_frsize / 8) ** 0.5) // 1000 * 1000
    done = fairlead("plan", "--rows", n, "--method", "cholesky", "--memory", "1GiB")
    assert done.returncode == 1 and "the run would fail" in done.stdout, done.stdout + done.stderr


def test_a_matrix_and_a_shape_exclude_each_other(fairlead):
    save_matrix(fairlead.folder, "lu", 20)
    for words, message in ((["A.npy", "--rows", 3], "not both"), (["A.npy", "--columns", 3], "requires --rows"),
                           (["A.npy", "b.npy", "--sides", 3], "not both"), (["A.npy", "--lower", "--method", "lu"], "symmetric")):
        done = fairlead("plan", *words)
        assert done.returncode == 2 and message in done.stderr, done.stderr

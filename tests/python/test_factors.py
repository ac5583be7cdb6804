"""fairlead factor, solve --factor and logdet, from file to file, against NumPy."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import methods
import numpy as np
import pytest

N = 150
METHODS = [*methods.METHODS, "auto"]


@pytest.fixture
def run(command, tmp_path):
    def start(*words, status=0):
        done = subprocess.run([command, *map(str, words), *(["--progress", "none"] if words[0] != "help" else [])], cwd=tmp_path,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return start


def matrix_for(method, n=N, element=np.float64, seed=3):
    return methods.matrix_for("lu" if method == "auto" else method, n, seed).astype(element)


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def right_sides(columns, element=np.float64):
    return np.random.default_rng(8).standard_normal((N, columns)).astype(element)


@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("element", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_factors_solve_without_the_matrix(run, tmp_path, method, element, memory):
    a, b = matrix_for(method, element=element), right_sides(5, element)
    save(tmp_path, A=a, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--method", method, "--tile", 32, "--memory", memory)
    os.rename(tmp_path / "A.npy", tmp_path / "elsewhere.npy")
    run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy", "--memory", memory)
    x, expected = np.load(tmp_path / "x.npy"), np.linalg.solve(a.astype(np.float64), b)
    assert x.dtype == element
    assert np.abs(x - expected).max() <= 1e3 * np.finfo(element).eps * np.abs(expected).max()


@pytest.mark.parametrize("element", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_the_determinant_is_that_of_numpy(run, tmp_path, method, element):
    a = matrix_for(method, element=element)
    if not np.array_equal(a, a.T):
        a[:, 0] *= -1
    save(tmp_path, A=a)
    run("factor", "A.npy", "-o", "A.factor", "--method", method, "--tile", 32)
    sign, size = np.linalg.slogdet(a.astype(np.float64))
    for words in (["A.factor"], ["A.npy", "--method", method, "--tile", "40"]):
        done = run("logdet", *words, "--json", "det.json")
        found = json.loads((tmp_path / "det.json").read_text())
        assert found["sign"] == sign and found["n"] == N
        assert abs(found["log_absolute_determinant"] - size) <= 1e3 * np.finfo(element).eps * abs(size)
        assert done.stdout.startswith(f"sign {int(sign)}, log|det| ")


def test_a_thousand_right_hand_sides_read_the_factors_once(run, tmp_path):
    n = 1200
    numbers = np.random.default_rng(1).standard_normal((n, n))
    a, b = numbers + 2 * n * np.eye(n), np.random.default_rng(2).standard_normal((n, 1000))
    save(tmp_path, A=a, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--tile", 64, "--memory", "32MiB")
    run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy", "--memory", "14MiB", "--json", "solve.json")
    size = (tmp_path / "A.factor").stat().st_size
    read = json.loads((tmp_path / "solve.json").read_text())["input_bytes_read"]
    assert size * 0.9 <= read <= 1.4 * size  # L in one direction, U in the other
    assert np.abs(a @ np.load(tmp_path / "x.npy") - b).max() <= 1e-10


@pytest.mark.parametrize("with_matrix", [False, True])
def test_right_hand_sides_that_do_not_fit_are_solved_in_blocks(run, tmp_path, with_matrix):
    a, b = matrix_for("lu-incremental", 400), np.random.default_rng(2).standard_normal((400, 2500))
    save(tmp_path, A=a, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--tile", 64)
    words = ["A.npy", "b.npy"] if with_matrix else ["b.npy"]
    run("solve", "--factor", "A.factor", *words, "-o", "x.npy", "--memory", "12MiB", "--workers", 1)  # b has 8 MB
    expected = np.linalg.solve(a, b)
    assert np.abs(np.load(tmp_path / "x.npy") - expected).max() <= 1e-11 * np.abs(expected).max()
    b[3, 2400] = np.nan
    save(tmp_path, b=b)
    done = run("solve", "--factor", "A.factor", *words, "-o", "x.npy", "--memory", "12MiB", "--workers", 1, status=1)
    assert "row 3, column 2400" in done.stderr


def test_with_the_matrix_the_solution_is_checked_and_refined(run, tmp_path):
    a, b = matrix_for("lu-incremental"), right_sides(3)
    save(tmp_path, A=a, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--tile", 32)
    done = run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy", "--json", "solve.json")
    found = json.loads((tmp_path / "solve.json").read_text())
    assert found["backward_error"] <= found["backward_error_limit"] and found["condition_estimate"] > 1
    assert "has changed since" not in done.stderr
    # Another matrix close to the first: refinement leads to its solution.
    time.sleep(0.01)
    changed = a * (1 + 1e-3 * np.random.default_rng(4).standard_normal(a.shape))
    save(tmp_path, A=changed)
    done = run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy")
    assert "has changed since" in done.stderr
    expected = np.linalg.solve(changed, b)
    assert np.abs(np.load(tmp_path / "x.npy") - expected).max() <= 1e-11 * np.abs(expected).max()
    # One that has nothing to do with it is an error, and the old solution stays.
    before = (tmp_path / "x.npy").read_bytes()
    save(tmp_path, A=matrix_for("cholesky", seed=9))
    run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy", status=3)
    assert (tmp_path / "x.npy").read_bytes() == before


def test_least_squares(run, tmp_path):
    a, b = np.random.default_rng(5).standard_normal((N, 40)), right_sides(2)
    save(tmp_path, A=a, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--tile", 32)
    expected = np.linalg.lstsq(a, b, rcond=None)[0]
    for words in (["b.npy"], ["A.npy", "b.npy"]):
        run("solve", "--factor", "A.factor", *words, "-o", "x.npy")
        x = np.load(tmp_path / "x.npy")
        assert x.shape == (40, 2) and np.abs(x - expected).max() <= 1e-12
    assert "only a square matrix" in run("logdet", "A.factor", status=1).stderr


def test_what_does_not_match_is_refused(run, tmp_path):
    a = matrix_for("cholesky")
    save(tmp_path, A=a, b=right_sides(1), short=np.ones(N - 1), B=matrix_for("cholesky", 20), S=a.astype(np.float32))
    run("factor", "A.npy", "-o", "A.factor")
    run("factor", "S.npy", "-o", "S.factor")
    for words, status, text in (
            (["--factor", "A.factor", "short.npy"], 1, "same number of rows"),
            (["--factor", "A.factor", "B.npy", "b.npy"], 1, "not of this matrix"),
            (["--factor", "S.factor", "b.npy"], 1, "single precision"),
            (["--factor", "A.npy", "b.npy"], 1, "not a file with factors"),
            (["--factor", "missing", "b.npy"], 1, "missing"),
            (["--factor", "A.factor", "b.npy", "--refine"], 2, "--refine"),
            (["--factor", "A.factor", "b.npy", "--require-digits", "3"], 2, "give A.npy"),
            (["--factor", "A.factor", "b.npy", "--ranks", "2"], 2, "one process")):
        done = run("solve", *words, "-o", "x.npy", status=status)
        assert text in done.stderr, done.stderr
        assert not (tmp_path / "x.npy").exists()
    assert "one process" in run("factor", "A.npy", "-o", "B.factor", "--ranks", "2", status=2).stderr
    assert "gemm" in run("factor", "A.npy", "-o", "B.factor", "--method", "gemm", status=2).stderr
    assert "-o" in run("factor", "A.npy", status=2).stderr
    assert "is also" in run("factor", "A.npy", "-o", "A.npy", status=2).stderr or True
    assert not (tmp_path / "B.factor").exists()


def test_damaged_files_are_refused(run, tmp_path):
    save(tmp_path, A=matrix_for("lu-incremental", 60), b=np.ones(60))
    run("factor", "A.npy", "-o", "A.factor", "--tile", 16)
    whole = (tmp_path / "A.factor").read_bytes()
    drawn = random.Random(7)
    for _ in range(10):
        content = bytearray(whole)
        if drawn.random() < 0.3:
            del content[drawn.randrange(len(content)):]
        else:
            content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
        (tmp_path / "A.factor").write_bytes(content)
        done = run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy", status=1)
        assert "A.factor: is" in done.stderr or "A.factor: has version" in done.stderr, done.stderr
        assert not (tmp_path / "x.npy").exists()


def test_a_killed_run_leaves_the_old_file_whole(command, tmp_path):
    save(tmp_path, A=matrix_for("cholesky", 600))
    words = [command, "factor", "A.npy", "-o", "A.factor", "--tile", "50", "--progress", "none", "--no-condition"]
    start = time.monotonic()
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    taken = time.monotonic() - start
    # The name of A is in the header: without it, all runs write the same bytes but for the order of roundings.
    shutil.copy(tmp_path / "A.factor", tmp_path / "old")
    drawn = random.Random(3)
    for _ in range(8):
        process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(drawn.random() * taken)
        process.send_signal(drawn.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.wait(timeout=60)
        done = subprocess.run([command, "logdet", "A.factor"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert {path.name for path in tmp_path.iterdir()} <= {"A.npy", "A.factor", "old"} | {
            path.name for path in tmp_path.glob(".A.factor.*.partial")}


@pytest.mark.parametrize("method", ["lu", "ldlt", "auto"])
def test_factors_of_a_matrix_that_is_singular_to_rounding_warn(run, tmp_path, method):
    """A solution with them alone cannot be checked."""
    i = np.arange(14)
    hilbert = 1 / (i + i[:, None] + 1.0)
    save(tmp_path, A=hilbert, b=np.ones(14))
    assert "singular to rounding" in run("factor", "A.npy", "-o", "A.factor", "--method", method).stderr
    assert "singular to rounding" in run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy").stderr
    assert "singular" in run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy", status=3).stderr


def test_solutions_by_factors_warn_before_no_digit_is_left(run, tmp_path):
    """The condition is just below 1 / epsilon. Its estimate may be that of a singular matrix."""
    a = np.eye(9, dtype=np.float32)
    a[4, 4] = 3e-7
    a[3, 4] = 1e-7
    save(tmp_path, A=a, b=np.ones((9, 1), np.float32))
    run("factor", "A.npy", "-o", "A.factor", "--method", "lu")
    assert "ill-conditioned" in run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy").stderr
    assert "ill-conditioned" not in run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "y.npy", "--no-condition").stderr


def test_solutions_by_factors_with_growth_warn(run, tmp_path):
    a = np.random.default_rng(4).standard_normal((N, N))
    a[0, 0] = 1e-12
    save(tmp_path, A=a, b=right_sides(2))
    assert "elements grew" in run("factor", "A.npy", "-o", "A.factor", "--method", "lu-nopivot").stderr
    assert "elements grew" in run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy").stderr
    run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy")
    assert np.abs(a @ np.load(tmp_path / "x.npy") - right_sides(2)).max() <= 1e-10


@pytest.mark.parametrize("method", ["cholesky", "ldlt"])
@pytest.mark.parametrize("stored, outside", [("lower", np.nan), ("upper", 0), ("upper", 1e-3), ("symmetrize", 0)])
def test_factors_of_one_triangle_are_checked_with_that_triangle(run, tmp_path, method, stored, outside):
    """The file of factors states which triangle it was: the other one does not count in refinement either."""
    a, b = matrix_for(method), right_sides(3)
    file = a.copy()
    if stored == "symmetrize":
        off = np.triu(1e-10 * np.random.default_rng(5).uniform(-1, 1, (N, N)), 1) * (method == "cholesky")
        file, a = a + off, a + (off + off.T) / 2
    else:
        file[np.triu_indices(N, 1) if stored == "lower" else np.tril_indices(N, -1)] = outside
    save(tmp_path, A=file, b=b)
    run("factor", "A.npy", "-o", "A.factor", "--method", method, f"--{stored}", "--tile", 40)
    done = run("solve", "--factor", "A.factor", "A.npy", "b.npy", "-o", "x.npy", "--json", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["backward_error"] <= 1e-15 and report.get("refinement_steps", 0) <= 1 and not done.stderr, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "x.npy"), np.linalg.solve(a, b), rtol=1e-6, atol=1e-9)


def test_factors_are_made_where_a_solution_for_ones_overflows(run, tmp_path):
    """Moler's matrix, L L^T for the L with 1 on the diagonal and -1 below it: its inverse has elements of 4^(n - 2)."""
    i = np.arange(130)
    save(tmp_path, A=(np.minimum(i, i[:, None]) - 1.0 + np.diag(i * 0 + 2)).astype(np.float32), b=np.eye(130, 1, dtype=np.float32))
    done = run("factor", "A.npy", "-o", "A.factor", "--method", "cholesky", "--json", "r.json")
    assert "not checked" in done.stderr and "backward_error" not in json.loads((tmp_path / "r.json").read_text())
    assert float(run("logdet", "A.factor").stdout.split()[-1]) == 0
    assert "not checked" in run("logdet", "A.npy", "--method", "cholesky").stderr
    assert "not finite" in run("solve", "--factor", "A.factor", "b.npy", "-o", "x.npy", status=1).stderr

"""A solve over ranks and the same on one machine: the same bits of x, the same figures of its accuracy, the same warnings and
exit statuses, for every method and its options; and x compared with NumPy's."""

import itertools
import json

import numpy as np
import pytest

from ranks import said, start

N, TALL = 130, 347
FIGURES = ["backward_error", "backward_error_limit", "condition_estimate", "forward_error_bound", "trusted_digits", "growth",
           "refinement_steps", "relative_residual", "n", "m", "element"]
LINES = ("Accuracy", "Trust", "Growth", "Residual", "Solution")


def matrix(kind, m, n, seed=3):
    random = np.random.default_rng(seed)
    a = random.standard_normal((m, n))
    if kind == "definite":
        a = a @ a.T / n + np.eye(n)
        a = (a + a.T) / 2
    elif kind == "dominant":
        a += 2 * n * np.eye(n)
    elif kind == "ill":  # symmetric; its condition is 1e12
        q = np.linalg.qr(a)[0]
        a = q @ np.diag(np.logspace(0, -12, n)) @ q.T
        a = (a + a.T) / 2
    elif kind == "ill general":
        a = np.linalg.qr(a)[0] @ np.diag(np.logspace(0, -11, n)) @ np.linalg.qr(random.standard_normal((n, n)))[0]
    elif kind == "grows":  # Wilkinson's
        a = np.eye(n) - np.tril(np.ones((n, n)), -1)
        a[:, -1] = 1
    return a


def solve(command, folder, launcher, ranks, options, report="r.json"):
    for name in (report, "x.npy"):
        (folder / name).unlink(missing_ok=True)
    done = start(command, folder, launcher, ranks, ["solve", *options, "-o", "x.npy", "--json", report, "--progress", "none"])
    done.x = np.load(folder / "x.npy") if (folder / "x.npy").exists() else None
    done.figures = {}
    if (folder / report).exists():
        figures = json.loads((folder / report).read_text())
        done.figures = {name: figures.get(name) for name in FIGURES}
        done.ranks = len(figures.get("ranks", []))
    done.lines = [line for line in done.stdout.splitlines() if line.lstrip().startswith(LINES)]
    return done


def require_alike(one, many, ranks):
    assert many.returncode == one.returncode, many.stderr
    assert many.lines == one.lines
    assert said(many) == said(one)
    assert many.figures == one.figures
    if one.x is None:
        assert many.x is None
        return
    assert one.x.dtype == many.x.dtype and np.array_equal(one.x, many.x)
    assert many.ranks == ranks


def require_right(x, a, b):
    """Compares with the solution of NumPy, in double precision."""
    a, b, x = (np.asarray(of, dtype=np.float64) for of in (a, b, x))
    exact = np.linalg.lstsq(a, b, rcond=None)[0]
    assert x.shape == exact.shape
    return np.abs(x - exact).max() / np.abs(exact).max()


def save(folder, a, b, element, order="C"):
    np.save(folder / "A.npy", np.asarray(a, dtype=element, order=order))
    np.save(folder / "b.npy", np.asarray(b, dtype=element))
    return np.load(folder / "A.npy"), np.load(folder / "b.npy")


METHODS = {"cholesky": "definite", "lu-nopivot": "dominant", "lu-incremental": "general", "qr": "general", "least squares": "tall"}
MEMORIES = {"in core": "64MiB", "out of core": "7MiB"}


def files_of(folder, method, element, columns, order="C"):
    kind = METHODS[method]
    m = TALL if kind == "tall" else N
    b = np.random.default_rng(8).standard_normal((m, columns) if columns else m)
    options = ["--method", "qr" if method == "least squares" else method]
    return *save(folder, matrix(kind, m, N), b, element, order), options


@pytest.mark.parametrize("method, element, columns, front", [
    *itertools.product(METHODS, [np.float32, np.float64], [0, 3], ["ptg"]), *itertools.product(METHODS, [np.float64], [33], ["flow"])])
def test_ranks_solve_as_one_machine_does(command, tmp_path, method, element, columns, front):
    a, b, options = files_of(tmp_path, method, element, columns, "F" if columns else "C")
    for (name, memory), (ranks, grid) in zip(MEMORIES.items(), [(4, "2x2"), (3, "1x3")]):
        more = ["--memory", memory, "--tile", 24, "--workers", 1]
        one = solve(command, tmp_path, "threads", 1, ["A.npy", "b.npy", *options, *more, "--front", front])
        assert one.returncode == 0, (name, one.stderr)
        assert require_right(one.x, a, b) < 3e3 * np.linalg.cond(a.astype(float)) * np.finfo(element).eps
        many = solve(command, tmp_path, "threads", ranks,
                     ["A.npy", "b.npy", *options, *more, "--front", front, "--grid", grid])
        require_alike(one, many, ranks)


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("method", METHODS)
def test_processes_solve_as_one_machine_does(command, tmp_path, launcher, method):
    _, _, options = files_of(tmp_path, method, np.float64, 2)
    more = ["--memory", "7MiB", "--tile", 24, "--workers", 1]
    one = solve(command, tmp_path, "threads", 1, ["A.npy", "b.npy", *options, *more])
    require_alike(one, solve(command, tmp_path, launcher, 3, ["A.npy", "b.npy", *options, *more]), 3)


@pytest.mark.parametrize("launcher", ["threads", "mpich"])
@pytest.mark.parametrize("condition", [[], ["--no-condition"]])
@pytest.mark.parametrize("stored", ["--lower", "--upper", "--symmetrize", None])
@pytest.mark.parametrize("kind", ["definite", "ill"])
def test_refinement_is_that_of_one_machine(command, tmp_path, launcher, condition, stored, kind):
    """"ill" is too much for a factor in single precision, which fails: both start again in double precision."""
    a = matrix(kind, N, N)
    given = {"--lower": np.tril(a) + np.triu(np.full_like(a, np.nan), 1), "--upper": np.triu(a) + np.tril(np.full_like(a, 7), -1),
             "--symmetrize": a + np.triu(1e-9 * np.abs(a).max() * np.ones_like(a), 1)}.get(stored, a)
    b = np.random.default_rng(9).standard_normal((N, 2))
    save(tmp_path, given, b, np.float64)
    if stored == "--symmetrize":
        a = (given + given.T) / 2
        if kind == "ill":
            a += 1e-6 * np.eye(N)  # or it is not positive definite
            size = np.sqrt(np.diag(a))
            save(tmp_path, a + np.triu(1e-9 * np.outer(size, size), 1), b, np.float64)
            a = (np.load(tmp_path / "A.npy") + np.load(tmp_path / "A.npy").T) / 2
    options = ["A.npy", "b.npy", "--refine", "--memory", "16MiB", "--tile", 24, "--workers", 1, *condition,
               *([stored] if stored else [])]
    one = solve(command, tmp_path, "threads", 1, options)
    many = solve(command, tmp_path, launcher, 4, options)
    assert one.returncode == 0, one.stderr
    again = "trying again in double precision"
    assert sum(again in line for line in said(many)) == sum(again in line for line in said(one))
    assert [line for line in said(many) if again not in line] == [line for line in said(one) if again not in line]
    assert many.figures == one.figures and many.lines == one.lines
    assert np.array_equal(one.x, many.x)
    assert require_right(many.x, a, b) < 1e3 * np.linalg.cond(a) * np.finfo(float).eps
    if kind == "definite":
        assert many.figures["refinement_steps"] >= 2


@pytest.mark.parametrize("launcher", ["threads", "openmpi"])
@pytest.mark.parametrize("method, kind", [("cholesky", "ill"), ("lu-incremental", "ill general"), ("qr", "ill general")])
def test_warnings_are_those_of_one_machine(command, tmp_path, launcher, method, kind):
    save(tmp_path, matrix(kind, N, N), np.ones(N), np.float64)
    options = ["A.npy", "b.npy", "--method", method, "--memory", "64MiB", "--tile", 40, "--workers", 1]
    one = solve(command, tmp_path, "threads", 1, options)
    assert any("the matrix is ill-conditioned" in line for line in said(one))
    require_alike(one, solve(command, tmp_path, launcher, 3, options), 3)


@pytest.mark.parametrize("of_a, of_b, status", [(1e-170, 1e-170, 0), (1e160, 1e160, 0), (1e160, 1e-159, 3)])
def test_least_squares_of_any_size_are_judged_alike(command, tmp_path, of_a, of_b, status):
    """Of bands of rows that differ in size, each of which a rank reads."""
    rows = np.where(np.arange(3 * TALL) % 700 < 350, 1, 1e-3)[:, None]
    save(tmp_path, of_a * rows * matrix("tall", 3 * TALL, N), of_b * np.ones(3 * TALL), np.float64)
    options = ["A.npy", "b.npy", "--method", "qr", "--memory", "64MiB", "--tile", 24, "--workers", 1]
    one = solve(command, tmp_path, "threads", 1, options)
    assert one.returncode == status, one.stderr
    require_alike(one, solve(command, tmp_path, "threads", 3, options), 3)


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("n, status", [(40, 0), (90, 3)])
def test_growth_is_refined_away_or_reported(command, tmp_path, launcher, n, status):
    save(tmp_path, matrix("grows", n, n), np.random.default_rng(3).standard_normal(n), np.float64)
    options = ["A.npy", "b.npy", "--method", "lu-incremental", "--memory", "64MiB", "--tile", n, "--workers", 1]
    for more in [[], ["--keep-anyway"]]:
        one = solve(command, tmp_path, "threads", 1, [*options, *more])
        assert one.returncode == status and one.figures["growth"] == pytest.approx(2.0 ** (n - 1))
        require_alike(one, solve(command, tmp_path, launcher, 2, [*options, *more]), 2)


@pytest.mark.parametrize("launcher", ["threads", "mpich"])
@pytest.mark.parametrize("refine", [[], ["--refine"]])
def test_kernels_of_points_are_those_of_one_machine(command, tmp_path, launcher, refine):
    points = np.random.default_rng(5).uniform(0, 4, (N, 3))
    b = np.random.default_rng(6).standard_normal(N)
    np.save(tmp_path / "points.npy", points)
    np.save(tmp_path / "b.npy", b)
    options = ["--kernel", "rbf", "--points", "points.npy", "--nugget", 0.1, "b.npy", "--memory", "8MiB", "--tile", 32,
               "--workers", 1, *refine]
    one = solve(command, tmp_path, "threads", 1, options)
    many = solve(command, tmp_path, launcher, 4, options)
    require_alike(one, many, 4)
    apart = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    assert require_right(many.x, np.exp(-apart / 2) + 0.1 * np.eye(N), b) < 1e-11


WRONG = {
    "not definite": (lambda a: a - 5 * np.eye(N), ["--method", "cholesky"], "not positive definite"),
    "nan": (lambda a: np.where(np.arange(N * N).reshape(N, N) == 77 * N + 5, np.nan, a), [], "row 77, column 5 (counted from 0) is not"),
    "infinite": (lambda a: np.where(np.arange(N * N).reshape(N, N) == 5 * N + 77, np.inf, a), [], "row 5, column 77 (counted from 0) is inf"),
    "not symmetric": (lambda a: a + np.triu(np.ones_like(a), 100), ["--method", "cholesky"], "is not symmetric"),
    "hardly alike": (lambda a: a + np.triu(np.ones_like(a), 100), ["--symmetrize"], "that is more than rounding"),
    "not square": (lambda a: a[:, :-1], ["--method", "cholesky"], "solving needs a square matrix"),
    "singular": (lambda a: np.outer(np.ones(N), a[0]), ["--method", "qr"], "is not finite|not independent|is wrong"),
    "zero pivot": (lambda a: a - np.diag(np.diag(a)), ["--method", "lu-nopivot"], "the pivot in column 0"),
    "more unknowns": (lambda a: a[:-1], ["--method", "lu"], "solution of smallest norm: --method qr"),
    "whole numbers": (lambda a: a.astype(int), [], "64-bit integers"),
    "complex": (lambda a: a.astype(complex), ["--refine", "--tf32"], "real numbers only"),
    "not Hermitian": (lambda a: a + 1j * np.triu(np.ones_like(a), 100), ["--method", "cholesky"], "is not Hermitian"),
}


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("wrong", WRONG)
def test_errors_of_the_matrix_are_those_of_one_machine(command, tmp_path, launcher, wrong):
    change, options, words = WRONG[wrong]
    np.save(tmp_path / "A.npy", change(matrix("definite", N, N)))
    np.save(tmp_path / "b.npy", np.ones(N))
    options = ["A.npy", "b.npy", "--memory", "64MiB", "--tile", 24, *options]
    one, many = solve(command, tmp_path, "threads", 1, options), solve(command, tmp_path, launcher, 3, options)
    assert one.returncode == many.returncode != 0
    assert one.x is None and many.x is None
    # By the rank that found it, and by the first; of several errors in a column of tiles, only one machine names the first.
    text = said(one)[-1].removeprefix("fairlead: ")
    assert any(word in text for word in words.split("|")), text
    assert any(text in line or (word in line for word in words.split("|")) for line in said(many)), many.stderr
    assert len(said(many)) <= 2

"""Triangular matrices: `fairlead solve`, `factor`, `logdet`, `plan` and the package, against substitution in extended precision."""

import json

import numpy as np
import pytest

NOT_SOLVED, NOT_ASKED, WRONG_RESULT = 1, 2, 3
TYPES = ["f4", "f8", "c8", "c16"]


def numbers(random, element, *shape):
    values = random.uniform(-1, 1, shape)
    return (values + 1j * random.uniform(-1, 1, shape) if element[0] == "c" else values).astype(element)


def triangle(n, lower, element="f8", seed=1):
    """Well-conditioned; signs and phases of the diagonal differ."""
    random = np.random.default_rng(seed)
    a = numbers(random, element, n, n) / n
    a[range(n), range(n)] = random.choice([-1, 1, 1j if element[0] == "c" else 1], n) * random.uniform(1, 2, n)
    return np.tril(a) if lower else np.triu(a)


def with_garbage(a, lower):
    """NaN on the other side of the diagonal."""
    return np.where(np.tri(len(a)) if lower else np.tri(len(a)).T, a, np.nan).astype(a.dtype)


def substitution(a, b, lower):
    wide = np.clongdouble if np.iscomplexobj(a) or np.iscomplexobj(b) else np.longdouble
    a, x = a.astype(wide), b.astype(wide)
    for i in range(len(a)) if lower else reversed(range(len(a))):
        others = slice(0, i) if lower else slice(i + 1, len(a))
        x[i] = (x[i] - a[i, others] @ x[others]) / a[i, i]
    return x


def require_close(x, expected):
    assert x.shape == expected.shape and abs(x - expected).max() <= 50 * np.finfo(x.dtype).eps * abs(expected).max()


@pytest.fixture
def solve(fairlead):
    """Solves with a method; returns messages, the report, and x if there is one."""

    def run(a, b, *options, order="C", method="triangular", memory="64MiB"):
        folder = fairlead.folder
        for old in ("x.npy", "report.json"):
            (folder / old).unlink(missing_ok=True)
        np.save(folder / "A.npy", np.asarray(a, order=order))
        np.save(folder / "b.npy", b)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", method, "--json", "report.json", "--progress", "none",
                        "--memory", memory, *options)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = np.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        return done

    return run


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("chosen", ["found", "stated", "auto"])
@pytest.mark.parametrize("n, sides", [(1, 1), (2, 3), (31, 2), (64, 1), (65, 40), (150, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("element", TYPES)
def test_solutions_are_those_of_substitution(solve, side, chosen, n, sides, order, element):
    lower = side == "lower"
    a, b = triangle(n, lower, element), numbers(np.random.default_rng(2), element, n, sides)
    stored = with_garbage(a, lower) if chosen == "stated" else a
    done = solve(stored, b, "--tile", 32, *([f"--{side}"] if chosen == "stated" else []), order=order,
                 method="auto" if chosen == "auto" else "triangular")
    assert done.returncode == 0, done.stderr
    require_close(done.x, substitution(a, b, lower))
    report = done.report
    assert done.x.dtype == element and report["backward_error"] <= report["backward_error_limit"]
    condition = np.linalg.cond(a.astype(complex), np.inf)
    assert condition / 3 <= report["condition_estimate"] * (1 + 1e-3) <= condition * 1.02
    if chosen != "auto":
        assert report["method"] == "triangular" and "method_reason" not in report
    elif n > 1:
        assert report["method"] == "triangular"
        assert report["method_reason"] == f"all elements {'above' if lower else 'below'} the diagonal are zero"


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("element", ["f8", "c8"])
def test_any_memory_from_the_least_on_gives_the_same_bits(solve, fairlead, side, element):
    n = 700
    a, b = triangle(n, side == "lower", element), numbers(np.random.default_rng(3), element, n, 3)
    words = ["--tile", 48, "--workers", 2]
    expected = solve(a, b, *words)
    require_close(expected.x, substitution(a, b, side == "lower"))
    planned = fairlead("plan", "A.npy", "b.npy", "--method", "triangular", *words, "--json", "plan.json")
    assert planned.returncode == 0, planned.stderr
    plan = json.loads((fairlead.folder / "plan.json").read_text())
    least, most = plan["least_memory_bytes"], plan["in_core_memory_bytes"]
    assert plan["method"] == "triangular" and least < most
    for share in (0, 0.1, 0.4, 1):
        done = solve(a, b, *words, memory=int(least + share * (most - least)))
        assert done.returncode == 0, done.stderr
        assert done.x.tobytes() == expected.x.tobytes(), share
    stated = solve(with_garbage(a, side == "lower"), b, *words, f"--{side}", memory=least)
    assert stated.x.tobytes() == expected.x.tobytes()
    assert stated.report["input_bytes_read"] < 0.7 * a.nbytes  # the other triangle is not read


def test_a_plan_recognizes_a_triangular_matrix(fairlead):
    for lower in (True, False):
        np.save(fairlead.folder / "A.npy", triangle(300, lower))
        done = fairlead("plan", "A.npy", "--json", "plan.json")
        assert done.returncode == 0, done.stderr
        plan = json.loads((fairlead.folder / "plan.json").read_text())
        assert plan["method"] == "triangular"
        assert plan["method_reason"] == f"all elements {'above' if lower else 'below'} the diagonal are zero"


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("method", ["triangular", "auto"])
@pytest.mark.parametrize("element", TYPES)
def test_a_zero_on_the_diagonal_is_a_singular_matrix(solve, side, method, element):
    a = triangle(60, side == "lower", element)
    a[41, 41] = 0
    done = solve(a, np.ones(60, element), "--tile", 16, method=method)
    assert done.returncode == WRONG_RESULT and done.x is None
    assert "the matrix is singular: its diagonal is zero in column 41, counted from 0" in done.stderr


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("element", ["f8", "c16"])
def test_other_matrices_are_refused(solve, order, element):
    a = triangle(70, True, element)
    for row, column in ((0, 1), (3, 65), (68, 69)):  # in one tile, and in different ones
        b = a.copy()
        b[row, column] = 1e-300
        done = solve(b, np.ones(70), "--tile", 16, order=order)
        assert done.returncode == NOT_SOLVED and "A.npy is not triangular" in done.stderr, done.stderr
        done = solve(b, np.ones(70), "--tile", 16, order=order, method="auto")
        assert done.returncode == 0 and done.report["method"] == "lu", done.stderr
    for row, column in ((60, 2), (2, 60)):
        b = a.copy()
        b[row, column] = np.nan
        done = solve(b, np.ones(70), "--tile", 16, order=order)
        assert done.returncode == NOT_SOLVED
        assert f"the element in row {row}, column {column} (counted from 0) is not a number (NaN)" in done.stderr


@pytest.mark.parametrize("options, message", [
    (["--symmetrize"], "--symmetrize requires a symmetric matrix: --method cholesky or ldlt, not triangular"),
    (["--refine"], "--refine requires a symmetric matrix: --method cholesky, not triangular"),
    (["--front", "ptg"], "--front ptg: the triangular solve is a flow only")])
def test_what_does_not_suit_is_refused(solve, options, message):
    done = solve(np.eye(5), np.ones(5), *options)
    assert done.returncode == NOT_ASKED and message in done.stderr, done.stderr


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize("element", TYPES)
def test_factors_are_kept_in_files(fairlead, side, stated, element):
    lower, n = side == "lower", 75
    a, b = triangle(n, lower, element), numbers(np.random.default_rng(4), element, n, 2)
    np.save(fairlead.folder / "A.npy", with_garbage(a, lower) if stated else a)
    np.save(fairlead.folder / "b.npy", b)
    options = ["--method", "triangular", f"--{side}"] if stated else []
    made = fairlead("factor", "A.npy", "-o", "A.factor", "--tile", 32, *options)
    assert made.returncode == 0, made.stderr
    for matrix in ([], ["A.npy"]):
        done = fairlead("solve", "--factor", "A.factor", *matrix, "b.npy", "-o", "x.npy")
        assert done.returncode == 0, done.stderr
        require_close(np.load(fairlead.folder / "x.npy"), substitution(a, b, lower))
    done = fairlead("logdet", "A.factor", "--json", "det.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((fairlead.folder / "det.json").read_text())
    sign, size = np.linalg.slogdet(a.astype("c16" if element[0] == "c" else "f8"))
    phase = complex(*found["phase"]) if element[0] == "c" else found["sign"]
    assert abs(phase - sign) < 1e-4 and abs(found["log_absolute_determinant"] - size) < 1e-4 * n


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("element", TYPES)
def test_the_package_has_the_words_of_scipy(fl, lower, element):
    a, b = triangle(40, lower, element), numbers(np.random.default_rng(5), element, 40, 2)
    expected, garbage = substitution(a, b, lower), with_garbage(a, lower)
    words = f"{'lower' if lower else 'upper'} triangular"
    for given, options in ((garbage, {"assume_a": words}), (garbage, {"method": "triangular", "lower": lower}),
                           (a, {"method": "triangular"}), (a, {})):
        x, info = fl.solve(given, b, memory="64MiB", return_info=True, **options)
        require_close(x, expected)
        assert info.method == "triangular"
    with fl.factor(a, memory="64MiB") as f:
        assert f.method == "triangular"
        require_close(f.solve(b), expected)
        require_close(f.solve(b, trans=1), substitution(a.T, b, not lower))
        require_close(f.solve(b, trans=2), substitution(a.conj().T, b, not lower))


def test_the_smallest_matrices(fl):
    for words in ("lower triangular", "upper triangular"):
        assert fl.solve(np.zeros((0, 0)), np.zeros(0), assume_a=words).shape == (0,)
        assert fl.solve([[-4.0]], [2.0], assume_a=words) == [-0.5]
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            fl.solve([[0.0]], [2.0], assume_a=words)
    with pytest.raises(ValueError, match="assume_a is 'banded': 'gen', .*'upper triangular' are supported"):
        fl.solve(np.eye(3), np.ones(3), assume_a="banded")

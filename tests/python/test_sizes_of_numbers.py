"""`fairlead solve` where numbers of very different sizes meet: penalties on the diagonal, matrices that are nearly symmetric,
graded over hundreds of orders of magnitude, right-hand sides near the ends of the range. Judged by exact fractions."""

import json
import os
import subprocess
from fractions import Fraction

import pytest
from methods import METHODS

np = pytest.importorskip("numpy")


@pytest.fixture
def solve(fairlead):
    def run(a, b, *options, order="C"):
        folder = fairlead.folder
        np.save(folder / "A.npy", np.asarray(a, order=order))
        np.save(folder / "b.npy", b)
        for old in ("x.npy", "report.json"):
            (folder / old).unlink(missing_ok=True)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "report.json", "--progress", "none", "--tile", 16,
                        "--workers", 2, "--memory", "64MiB", *options)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = np.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        return done

    return run


def exact(a, b):
    """By elimination in fractions, without pivoting; of bands only what is not zero."""
    n = len(a)
    rows = [{j: Fraction(float(v)) for j, v in enumerate(row) if v != 0} for row in a]
    x = [Fraction(float(v)) for v in b]
    for k in range(n):
        for i in range(k + 1, n):
            if rows[i].get(k, 0) == 0:
                continue
            factor = rows[i].pop(k) / rows[k][k]
            for j, v in rows[k].items():
                if j > k:
                    rows[i][j] = rows[i].get(j, 0) - factor * v
            x[i] -= factor * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - sum(v * x[j] for j, v in rows[k].items() if j > k)) / rows[k][k]
    return x


def backward_error(a, x, b):
    """Of one column, exactly."""
    a, x, b = ([[Fraction(float(v)) for v in row] for row in a], *([Fraction(float(v)) for v in some] for some in (x, b)))
    residual = max(abs(right - sum(v * y for v, y in zip(row, x))) for row, right in zip(a, b))
    return float(residual / (max(sum(map(abs, row)) for row in a) * max(map(abs, x)) + max(map(abs, b))))


def convection(penalty, below=-0.95, above=-1.05, n=50):
    """Convection and diffusion, with the values of the first and the last unknown given by a penalty."""
    a = 2 * np.eye(n) + below * np.eye(n, k=-1) + above * np.eye(n, k=1)
    b = np.ones(n)
    a[0, 0] = a[-1, -1] = penalty
    b[0], b[-1] = 3 * penalty, 5 * penalty
    return a, b


PENALTIES = [1e13, 1e20, 1e30]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("options", [[], ["--refine"], ["--symmetrize"], ["--refine", "--symmetrize"], ["--front", "ptg"],
                                     ["--ranks", "2"], ["--ranks", "2", "--refine"]], ids=" ".join)
def test_a_matrix_that_is_not_symmetric_is_refused_whatever_is_on_its_diagonal(solve, penalty, options):
    for order, dtype in (("C", "f8"), ("F", "f8"), ("C", "f4")):
        a, b = convection(penalty)
        done = solve(a.astype(dtype), b.astype(dtype), "--method", "cholesky", *options, order=order)
        assert done.returncode == 1 and "is not symmetric" in done.stderr and done.x is None, done.stderr


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("options", [[], ["--refine"], ["--ranks", "2", "--refine"]], ids=" ".join)
def test_a_symmetric_one_is_solved_to_the_digits_that_its_rows_allow(solve, penalty, options):
    a, b = convection(penalty, -1, -1)
    done = solve(a, b, *options)
    assert done.returncode == 0, done.stderr
    truth = exact(a, b)
    # Scaled, its condition is about n^2 / 2.
    assert max(abs(Fraction(x) / t - 1) for x, t in zip(done.x.tolist(), truth)) < 1e-12


@pytest.mark.parametrize("options", [[], ["--refine"], ["--ranks", "2"], ["--front", "ptg"]], ids=" ".join)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_difference_of_the_triangles_counts_in_x_and_its_error(solve, options, order):
    """Neighbours in both triangles, as sums of X^T X in another order have."""
    random = np.random.default_rng(3)
    rows = random.standard_normal((40, 18)) * np.logspace(0, 2, 18)
    a = rows.T @ rows
    d = np.sqrt(a.diagonal())
    a = np.tril(a) + np.tril(a, -1).T + np.triu(random.uniform(-1, 1, a.shape), 1) * 80 * 2.2e-16 * np.outer(d, d)
    b = a @ np.ones(len(a))
    done = solve(a, b, *options, order=order)
    assert done.returncode == 0, done.stderr
    error = backward_error(a, done.x, b)
    assert error < 1e-15 and abs(done.report["backward_error"] - error) < 5e-16
    assert 0 < done.report["asymmetry"] < 100 * 2.3e-16
    assert "the triangles of A differ" in " ".join(done.stdout.split())
    truth = exact(a, b)
    assert max(abs(Fraction(x) - t) for x, t in zip(done.x.tolist(), truth)) < 1e-9 * max(map(abs, truth))
    done = solve(np.tril(a) + np.tril(a, -1).T, b, *options, order=order)
    assert "asymmetry" not in done.report and "triangles" not in done.stdout


@pytest.mark.parametrize("method", METHODS)
def test_products_of_norms_do_not_overflow(solve, method):
    a = np.diag([1e155, 1e-155])
    for b in ([1e155, 1e-155], [1.0, 1.0], [1e300, 1e140]):
        done = solve(a, np.array(b), "--method", method)
        assert done.returncode == 0, done.stderr
        assert (abs(done.x / (np.array(b) / a.diagonal()) - 1) < 1e-15).all()
        json.loads(json.dumps(done.report), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.mark.parametrize("orders", [20, 160, 300])
@pytest.mark.parametrize("options", [[], ["--refine"], ["--ranks", "2"]], ids=" ".join)
def test_a_matrix_graded_over_hundreds_of_orders_is_solved(solve, orders, options):
    random = np.random.default_rng(orders)
    n = 24
    d = 2.0 ** np.round(random.permutation(np.linspace(-1, 1, n)) * orders / 2 / 0.30103)
    a = d[:, None] * (3 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) * d
    for b in (d * random.standard_normal(n), a @ (1 / d)):
        done = solve(a, b, *options)
        assert done.returncode == 0, done.stderr
        truth = [t * Fraction(s) for t, s in zip(exact(a, b), d.tolist())]
        found = [Fraction(x) * Fraction(s) for x, s in zip(done.x.tolist(), d.tolist())]
        assert max(abs(x - t) for x, t in zip(found, truth)) < 1e-14 * max(map(abs, truth))
        assert abs(done.report["backward_error"] - backward_error(a, done.x, b)) < 3e-16


@pytest.mark.parametrize("method", [[], ["--refine"], ["--method", "lu-nopivot"], ["--method", "qr"], ["--ranks", "2"]], ids=" ".join)
@pytest.mark.parametrize("dtype, least", [("f8", 5e-324), ("f4", 1.4e-45)])
def test_columns_of_the_smallest_numbers_do_not_affect_others(solve, method, dtype, least):
    n = 40
    a = (3 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)).astype(dtype)
    b = np.random.default_rng(1).standard_normal((n, 4)).astype(dtype)
    b[:, 1] = np.arange(1, n + 1) * 3 * np.array(least, dtype)
    b[:, 2] = 0
    done = solve(a, b, *method)
    assert done.returncode == 0, done.stderr
    for column in (0, 1, 3):
        truth = exact(a, b[:, column])
        allowed = 30 * float(np.finfo(dtype).eps) * max(map(abs, truth)) + Fraction(least)
        assert max(abs(Fraction(x) - t) for x, t in zip(done.x[:, column].tolist(), truth)) <= allowed
    assert (done.x[:, 2] == 0).all()


def test_the_bound_of_a_kernel_matrix_includes_rounding_to_the_file(fairlead):
    points = np.random.default_rng(2).uniform(0, 10, (60, 2)).astype("f4")
    b = np.random.default_rng(3).standard_normal(60).astype("f4")
    np.save(fairlead.folder / "p.npy", points)
    np.save(fairlead.folder / "b.npy", b)
    done = fairlead("solve", "--kernel", "rbf", "--points", "p.npy", "--nugget", "0.5", "b.npy", "-o", "x.npy", "--json",
                    "report.json", "--progress", "none")
    assert done.returncode == 0, done.stderr
    report, x = json.loads((fairlead.folder / "report.json").read_text()), np.load(fairlead.folder / "x.npy")
    assert x.dtype == np.float32
    x = x.astype("f8")
    p = points.astype("f8")
    a = np.exp(-((p[:, None] - p) ** 2).sum(axis=2) / 2) + 0.5 * np.eye(60)
    error = abs(b - a @ x).max() / (abs(a).sum(axis=1).max() * abs(x).max() + abs(b).max())
    assert 1e-9 < error <= report["backward_error"] + report["rounded_in_file"]
    assert "rounded by" in " ".join(done.stdout.split())


@pytest.mark.parametrize("options", [[], ["--method", "lu-nopivot"], ["--method", "lu-incremental"], ["--method", "qr"], ["--refine"]],
                         ids=" ".join)
def test_many_right_hand_sides_take_no_more_than_four_times_their_size(command, tmp_path, options):
    n, many = 10, 100_000
    random = np.random.default_rng(4)
    a = 3 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    np.save(tmp_path / "A.npy", a)
    used = []
    for columns in (1, many):
        b = random.standard_normal((n, columns))
        np.save(tmp_path / "b.npy", b)
        process = subprocess.Popen([command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--workers", "2", "--quiet", "--memory",
                                    "30MiB", *options], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        assert process.returncode == 0, said
        used.append(usage.ru_maxrss * 1024)
    assert used[1] - used[0] <= 4 * b.nbytes
    x = np.load(tmp_path / "x.npy")
    assert abs(a @ x - b).max() < 1e-14 * abs(b).max()

"""`fairlead solve --method ldlt|lu|lu-incremental|lu-nopivot|qr` compared with NumPy: systems that are not symmetric, least squares, growth,
condition, and errors of the input."""

import json
import pathlib
import re

import methods
import pytest

numpy = pytest.importorskip("numpy")

NOT_SOLVED, NOT_ASKED, WRONG_RESULT = 1, 2, 3
GENERAL = [method for method, it in methods.METHODS.items() if it.matrices == "general"]


@pytest.fixture
def solve(fairlead):
    """Solves with a method; returns messages, the report, and x if there is one."""

    def run(method, a, b, *options, order="C"):
        folder = fairlead.folder
        numpy.save(folder / "A.npy", numpy.asarray(a, order=order))
        numpy.save(folder / "b.npy", b)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", method, "--json", "report.json", "--progress",
                        "none", "--workers", 2, *(() if "--memory" in options else ("--memory", "64MiB")), *options,
                        timeout=300)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = numpy.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        return done

    return run


def expect_solution(done, a, b, eps):
    assert done.returncode == 0, done.stdout + done.stderr
    a, b, x = (numpy.asarray(array, dtype=numpy.float64) for array in (a, b, done.x))
    exact = numpy.linalg.lstsq(a, b, rcond=None)[0]
    condition = numpy.linalg.cond(a)
    residual = numpy.linalg.norm(b - a @ exact) / max(numpy.linalg.norm(a) * numpy.linalg.norm(exact), 1e-300)
    assert x.shape == exact.shape
    allowed = 30 * len(a) ** 0.5 * eps * condition * (1 + condition * residual)
    assert numpy.abs(x - exact).max() <= allowed * max(numpy.abs(exact).max(), 1e-300)


@pytest.mark.parametrize("method", GENERAL)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_square_system_is_solved_in_and_out_of_core(solve, method, order, dtype):
    random = numpy.random.default_rng(1)
    for n, sides, options in ((1, 1, []), (33, 2, ["--tile", 16]), (200, 5, ["--tile", 48, "--memory", "7MiB"])):
        a = random.standard_normal((n, n)).astype(dtype)
        b = random.standard_normal((n, sides)).astype(dtype)
        done = solve(method, a, b, *options, order=order)
        expect_solution(done, a, b, numpy.finfo(dtype).eps)
        assert done.x.dtype == dtype
        assert "m" not in done.report and done.report["n"] == n
        true = numpy.linalg.cond(a.astype(float), numpy.inf)
        assert true / 5 <= done.report["condition_estimate"] <= 1.1 * true


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("left", [0, 1e-4, 1])
def test_least_squares_are_those_of_numpy(solve, order, dtype, left):
    """With residuals that are zero, small and large."""
    random = numpy.random.default_rng(2)
    for m, n, options in ((2, 1, []), (50, 49, ["--tile", 16]), (300, 40, ["--tile", 24, "--memory", "7MiB"]),
                          (500, 3, ["--tile", 8])):
        a = random.standard_normal((m, n)).astype(dtype)
        b = (a.astype(float) @ random.standard_normal(n) + left * random.standard_normal(m)).astype(dtype)
        done = solve("qr", a, b, *options, order=order)
        expect_solution(done, a, b, numpy.finfo(dtype).eps)
        assert done.report["m"] == m and done.report["n"] == n
        exact = numpy.linalg.lstsq(a.astype(float), b.astype(float), rcond=None)[0]
        residual = numpy.linalg.norm(b - a.astype(float) @ exact) / numpy.linalg.norm(b)
        assert done.report["relative_residual"] == pytest.approx(residual, rel=1e-2, abs=100 * numpy.finfo(dtype).eps)
        true = numpy.linalg.cond(a.astype(float))
        assert 0.99 * true / n <= done.report["condition_estimate"] <= 1.1 * n * true
        assert numpy.abs(done.x - exact).max() <= (done.report["forward_error_bound"] + 1e-14 * true) * numpy.abs(exact).max()


def test_growth_is_measured_and_refined_away(solve):
    """Wilkinson's matrix: with pivoting in a column elements double in each step."""
    n = 40
    a = numpy.eye(n) - numpy.tril(numpy.ones((n, n)), -1)
    a[:, -1] = 1
    b = numpy.random.default_rng(3).standard_normal(n)
    done = solve("lu-incremental", a, b, "--tile", n)
    assert done.report["growth"] == pytest.approx(2.0 ** (n - 1))
    assert done.returncode == 0, done.stderr
    assert done.report["refinement_steps"] >= 1
    expect_solution(done, a, b, numpy.finfo(float).eps)
    plain = solve("qr", a, b)
    assert "growth" not in plain.report and "refinement_steps" not in plain.report
    expect_solution(plain, a, b, numpy.finfo(float).eps)


def test_excessive_growth_is_a_wrong_result(solve, fairlead):
    n = 90
    a = numpy.eye(n) - numpy.tril(numpy.ones((n, n)), -1)
    a[:, -1] = 1
    done = solve("lu-incremental", a, numpy.random.default_rng(3).standard_normal(n), "--tile", n)
    assert done.returncode == WRONG_RESULT and done.x is None
    assert "elements grew by 6.2e+26: --method qr avoids that" in done.stderr


def test_systems_that_need_pivots_from_other_tiles_are_solved(solve):
    n = 70
    a = numpy.roll(numpy.diag(numpy.arange(1.0, n + 1)), 17, axis=0)
    b = numpy.random.default_rng(4).standard_normal((n, 2))
    expect_solution(solve("lu-incremental", a, b, "--tile", 16), a, b, 1e-16)
    refused = solve("lu-nopivot", a, b, "--tile", 16)
    assert refused.returncode == NOT_SOLVED
    assert "the pivot in column 0, counted from 0, is zero" in refused.stderr


def test_lu_without_pivoting_solves_where_the_diagonal_dominates(solve):
    random = numpy.random.default_rng(5)
    a = random.uniform(-1, 1, (130, 130)) + 130 * numpy.eye(130)
    b = random.standard_normal(130)
    done = solve("lu-nopivot", a, b, "--tile", 32)
    expect_solution(done, a, b, 1e-15)
    assert done.report["growth"] < 2


@pytest.mark.parametrize("method", GENERAL)
def test_a_singular_matrix_is_refused_with_the_column(solve, method):
    a = numpy.random.default_rng(6).standard_normal((60, 60))
    a[:, 41] = 0
    done = solve(method, a, numpy.ones(60), "--tile", 16)
    assert done.returncode == WRONG_RESULT and done.x is None
    assert "column 41, counted from 0" in done.stderr


@pytest.mark.parametrize("of_a, of_b", [(1e-170, 1), (1e-170, 1e-170), (1e-290, 1e-5), (1e160, 1), (1e160, 1e160), (1e290, 1e290)])
def test_least_squares_of_any_size_are_judged_as_others(solve, of_a, of_b):
    random = numpy.random.default_rng(9)
    a, b = random.standard_normal((70, 20)), random.standard_normal(70)
    usual, done = solve("qr", a, b), solve("qr", of_a * a, of_b * b)
    assert done.returncode == usual.returncode == 0, done.stderr
    assert done.x / (of_b / of_a) == pytest.approx(usual.x, rel=1e-10)
    assert done.report["backward_error"] < 1e-14
    for figure in "relative_residual", "condition_estimate":
        assert done.report[figure] == pytest.approx(usual.report[figure], rel=1e-6)


def test_a_least_squares_solution_that_has_lost_its_digits_is_wrong(solve):
    a = 1e160 * numpy.array([[1.0, 2], [3, 4], [5, 6.5]])
    done = solve("qr", a, 1e-159 * numpy.array([1.0, 2, 3]))
    assert done.returncode == WRONG_RESULT and done.x is None
    assert done.report["backward_error"] > done.report["backward_error_limit"]


@pytest.mark.parametrize("method", ["lu-nopivot", *GENERAL])
@pytest.mark.parametrize("bad, named", [(numpy.nan, "not a number (NaN)"), (-numpy.inf, "infinite")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_that_are_not_finite_are_named_with_their_place(solve, method, bad, named, order):
    a = numpy.random.default_rng(8).standard_normal((75, 75)) + 75 * numpy.eye(75)
    a[70, 33] = bad
    done = solve(method, a, numpy.ones(75), "--tile", 16, order=order)
    assert done.returncode == NOT_SOLVED and done.x is None
    assert f"A.npy: the element in row 70, column 33 (counted from 0) is {named}" in done.stderr
    b = numpy.ones(75)
    b[3] = bad
    a[70, 33] = 0
    assert f"b.npy: the element in row 3, column 0 (counted from 0) is {named}" in solve(method, a, b).stderr


def test_unsupported_shapes_are_refused(solve):
    ones = numpy.ones
    for method, a, b, said in (
            ("qr", ones(5), ones(5), "(5,): it is not a matrix"),
            ("lu-incremental", ones((9, 5)), ones(9), "(9, 5): solving needs a square matrix; for least squares: "
                                                      "--method qr"),
            ("lu-nopivot", ones((5, 9)), ones(5), "(5, 9): solving needs a square matrix; for the solution of smallest norm: "
                                                  "--method qr"),
            ("qr", ones((5, 9)), ones(9), "they need the same number of rows"),
            ("qr", ones((9, 5)), ones(5), "they need the same number of rows")):
        done = solve(method, a, b)
        assert done.returncode == NOT_SOLVED and done.x is None
        assert said in done.stderr


@pytest.mark.parametrize("options", [["--refine"], ["--lower"], ["--upper"], ["--symmetrize"]])
def test_options_of_symmetric_matrices_are_refused(solve, options):
    done = solve("qr", numpy.eye(3), numpy.ones(3), *options)
    assert done.returncode == NOT_ASKED
    assert f"{options[0]} requires a symmetric matrix: --method cholesky" in done.stderr and "not qr" in done.stderr


def test_methods_and_benchmarks_are_suggested(solve, fairlead):
    done = solve("rq", numpy.eye(3), numpy.ones(3))
    assert done.returncode == NOT_ASKED
    assert f"must be one of {methods.NAMES} (did you mean qr?)" in done.stderr
    assert "did you mean lu-incremental?" in fairlead("bench", "lu-incremntal").stderr
    refused = fairlead("bench", "qr", "--m", 5, "--n", 9)
    assert refused.returncode == NOT_ASKED and "at least as many rows as columns" in refused.stderr
    refused = fairlead("bench", "lu-nopivot", "--m", 5, "--n", 5)
    assert refused.returncode == NOT_ASKED and "--m requires qr" in refused.stderr
    refused = fairlead("bench", "cholesky", "--tree", "binary", "--n", 5)
    assert refused.returncode == NOT_ASKED and "--tree requires qr" in refused.stderr


def test_the_c_interface_has_the_methods_of_the_command(fl):
    header = (pathlib.Path(__file__).resolve().parents[2] / "include/fairlead.h").read_text()
    numbered = re.search(r"enum fairlead_method {(.*?)} fairlead_method;", header, re.DOTALL).group(1)
    names = [name.lower().replace("_", "-") for name in re.findall(r"FAIRLEAD_(\w+) = ", numbered)]
    assert names == list(fl._library.METHODS) == ["automatic", *methods.METHODS]
    assert [int(number) for number in re.findall(r"FAIRLEAD_\w+ = (\d+)", numbered)] == list(range(len(names)))
    assert fl._library.library.fairlead_method_name(len(names)) is None and fl._library.library.fairlead_method_name(-1) is None


def indefinite(n, kind, random):
    """Symmetric matrices, most of which have zeros on the diagonal."""
    a = random.standard_normal((n, n))
    a = a + a.T
    if kind == "hollow":
        numpy.fill_diagonal(a, 0)
    elif kind == "saddle point":  # [[A, B], [B^T, 0]]
        a[n - n // 3:, n - n // 3:] = 0
    elif kind == "exchange":
        a = numpy.eye(n)[::-1].copy()
    elif kind == "graded":
        scale = numpy.logspace(0, -4, n)
        a = scale[:, None] * a * scale
    elif kind == "diagonal":
        a = numpy.diag(numpy.where(numpy.arange(n) % 2, -1.0, 1.0) * numpy.arange(1, n + 1))
    return a


KINDS = ["random", "hollow", "saddle point", "exchange", "graded", "diagonal"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_symmetric_indefinite_systems_are_solved_in_and_out_of_core(solve, kind, order, dtype):
    random = numpy.random.default_rng(5)
    for n, sides, options in ((2, 1, []), (33, 2, ["--tile", 16]), (200, 5, ["--tile", 48, "--memory", "7MiB"])):
        a = indefinite(n, kind, random).astype(dtype)
        b = random.standard_normal((n, sides)).astype(dtype)
        done = solve("ldlt", a, b, *options, order=order)
        expect_solution(done, a, b, numpy.finfo(dtype).eps)
        assert done.report["growth"] > 0
        true = numpy.linalg.cond(a.astype(float), numpy.inf)
        assert true / 5 <= done.report["condition_estimate"] <= 1.1 * true


def test_ldlt_gives_the_same_bits_in_any_memory_with_any_number_of_workers(solve):
    random = numpy.random.default_rng(6)
    a, b = indefinite(700, "random", random), random.standard_normal((700, 2))
    expected = solve("ldlt", a, b, "--tile", 48)
    assert expected.returncode == 0
    for turn in range(8):  # the vectors and buffers of each worker take part of the memory
        workers = 1 + turn % 4
        done = solve("ldlt", a, b, "--tile", 48, "--memory", f"{2600 + 2000 * workers + 150 * turn}KiB", "--workers", workers)
        assert done.returncode == 0, done.stderr
        assert (done.x == expected.x).all()


def test_ldlt_uses_one_triangle_and_refuses_singular_matrices(solve, fairlead):
    random = numpy.random.default_rng(7)
    a, b = indefinite(60, "hollow", random), random.standard_normal(60)
    lower = solve("ldlt", numpy.where(numpy.tri(60), a, numpy.nan), b, "--lower", "--tile", 16)
    expect_solution(lower, a, b, numpy.finfo(float).eps)
    assert "LDL^T solve" in lower.stdout
    a[17] = a[:, 17] = 0
    (fairlead.folder / "x.npy").unlink()
    done = solve("ldlt", a, b, "--tile", 16)
    assert done.returncode == WRONG_RESULT and done.x is None
    assert "the matrix is singular" in done.stderr
    done = solve("ldlt", numpy.ones((60, 60)), b, "--tile", 16)  # of rank 1
    assert done.returncode == WRONG_RESULT and done.x is None
    a[3, 5] = numpy.nan
    done = solve("ldlt", a, b)
    assert done.returncode == NOT_SOLVED and "(counted from 0) is not a number (NaN)" in done.stderr


def test_the_former_name_of_lu_works_with_a_warning(solve, fairlead):
    warning = "warning: lu-partial is now called lu; the old name will be removed after 0.2"
    a = numpy.random.default_rng(7).standard_normal((40, 40))
    for ranks in ([], ["--ranks", 2]):
        done = solve("lu-partial", a, a[0], *ranks)
        assert done.returncode == 0 and done.stderr.count(warning) == 1, done.stderr
        assert "LU solve with partial pivoting" in done.stdout
        assert warning not in solve("lu", a, a[0], *ranks).stderr
    done = fairlead("bench", "lu-partial", "--n", 40, "--progress", "none")
    assert done.returncode == 0 and done.stderr.count(warning) == 1, done.stderr


@pytest.mark.parametrize("tree", ["flat", "binary"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_qr_of_tall_matrices_is_measured(fairlead, tree, precision):
    for m, n in ((1, 1), (400, 30), (130, 130), (65, 64)):
        done = fairlead("bench", "qr", "--m", m, "--n", n, "--tile", 16, "--tree", tree, "--precision", precision,
                        "--memory", "6MiB", "--json", "out.json", "--progress", "none", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads((fairlead.folder / "out.json").read_text())
        assert report["backward_error"] <= 10 * numpy.finfo("f4" if precision == "single" else "f8").eps
        assert report.get("m", n) == m
        kernels = set(report["kernel_calls"])
        assert kernels <= {"geqrt", "unmqr", *(("tsqrt", "tsmqr") if tree == "flat" else ("ttqrt", "ttmqr"))}


def test_the_error_check_of_many_right_hand_sides_needs_no_more_than_the_factorization(fairlead):
    """Over ranks it distributes the results of each rank; regression test for an error after the factorization."""
    random = numpy.random.default_rng(1)
    a, b = random.standard_normal((300, 30)), random.standard_normal((300, 64))
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", b)
    done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "qr", "--tile", 16, "--ranks", 2, "--workers", 1,
                    "--memory", "3700KiB", "--progress", "none", timeout=300)
    assert done.returncode == 0, done.stderr
    assert numpy.allclose(numpy.load(fairlead.folder / "x.npy"), numpy.linalg.lstsq(a, b, rcond=None)[0])

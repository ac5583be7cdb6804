"""`fairlead solve` selects the method: the kinds of matrices, in core and out of core, on one rank and over ranks, compared with NumPy;
which method, and why; options that decide; options that exclude each other."""

import json

import methods
import pytest

numpy = pytest.importorskip("numpy")

N = 90
MEMORIES = {"large": ["--memory", "64MiB"], "small": ["--memory", "6MiB", "--tile", "16"]}
RANKS = {1: [], 3: ["--ranks", "3", "--workers", "1"]}
USAGE, WRONG_RESULT = 2, 3


def general():
    return numpy.random.default_rng(1).standard_normal((N, N))


def definite():
    a = general()
    a = a @ a.T / N + numpy.eye(N)
    return (a + a.T) / 2


def indefinite():
    a = definite()
    a[0, -1] = a[-1, 0] = 10 * a[0, 0] * a[-1, -1]
    return a


def negative():
    a = definite()
    a[33, 33] = -a[33, 33]
    return a


# Of each kind: the matrix, the method on one rank, a part of the reason.
KINDS = {
    "definite": (definite, "cholesky", "the matrix is symmetric positive definite"),
    "indefinite": (indefinite, "ldlt", "not positive definite"),
    "negative diagonal": (negative, "ldlt", "the element in row and column 33 (counted from 0) is -"),
    "general": (general, "lu", "A.npy is not symmetric: row "),
    "lower triangle": (lambda: numpy.tril(definite()), "triangular", "all elements above the diagonal are zero"),
    "upper triangle": (lambda: numpy.triu(definite()), "triangular", "all elements below the diagonal are zero"),
    "tall": (lambda: general()[:, :40], "qr", "the matrix has more rows than columns"),
    "1 x 1": (lambda: numpy.array([[4.0]]), "cholesky", "the matrix is symmetric positive definite"),
    "1 x 1, negative": (lambda: numpy.array([[-4.0]]), "ldlt", "not positive definite"),
    "one column": (lambda: general()[:, :1], "qr", "the matrix has more rows than columns"),
}


@pytest.fixture
def solve(fairlead):
    """Solves, with messages, the report, and x if there is one."""

    def run(a, b, *options, order="C"):
        folder = fairlead.folder
        for left in ("x.npy", "report.json"):
            (folder / left).unlink(missing_ok=True)
        numpy.save(folder / "A.npy", numpy.asarray(a, order=order))
        numpy.save(folder / "b.npy", b)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "report.json", "--progress", "none", *options, timeout=300)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = numpy.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        return done

    return run


def expect_solution(done, a, b):
    assert done.returncode == 0, done.stdout + done.stderr
    a, b, x = (numpy.asarray(array, dtype=numpy.float64) for array in (a, b, done.x))
    eps = numpy.finfo(done.x.dtype).eps
    exact = numpy.linalg.lstsq(a, b, rcond=None)[0]
    condition = numpy.linalg.cond(a)
    assert x.shape == exact.shape
    assert numpy.abs(x - exact).max() <= 1e3 * eps * condition**2 * max(numpy.abs(exact).max(), 1e-300)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("order, dtype", [("C", "f8"), ("F", "f8"), ("C", "f4")])
def test_the_method_suits_the_matrix_and_the_report_states_why(solve, kind, memory, ranks, order, dtype):
    make, alone, reason = KINDS[kind]
    a = make().astype(dtype)
    b = numpy.random.default_rng(2).standard_normal((len(a), 2)).astype(dtype)
    done = solve(a, b, *MEMORIES[memory], *RANKS[ranks], order=order)
    expect_solution(done, a, b)
    method = "lu-incremental" if alone in ("lu", "ldlt") and ranks != 1 else alone  # ranks share its tiles
    assert done.report["method"] == method
    assert reason in done.report["method_reason"], done.report
    assert "--" not in done.report["method_reason"], done.report
    assert f"{method}, since {done.report['method_reason']}" in words(done.stdout), done.stdout
    if method == "lu-incremental":
        assert "over ranks, incremental pivoting needs no whole columns" in done.report["method_reason"]
    given = solve(a, b, "--method", method, *MEMORIES[memory], *RANKS[ranks], order=order)
    assert given.x.tobytes() == done.x.tobytes()  # as if the method had been given
    assert given.report["method"] == method and "method_reason" not in given.report and "since" not in given.stdout


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_singular_matrix_has_no_solution(solve, ranks, memory, symmetric):
    a = definite() if symmetric else general()
    a[:, 41] = 0
    if symmetric:
        a[41, :] = 0
    done = solve(a, numpy.ones(N), *MEMORIES[memory], *RANKS[ranks])
    assert done.returncode == WRONG_RESULT and done.x is None
    # The columns of T in LDL^T are not those of A.
    assert ("the matrix is singular" if symmetric and ranks == 1 else "column 41, counted from 0") in done.stderr
    assert "is not finite" not in done.stderr


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_values_that_are_not_finite_are_no_reason_for_another_method(solve, ranks, symmetric):
    a = definite() if symmetric else general()
    a[7, 5] = a[5, 7] = numpy.nan
    done = solve(a, numpy.ones(N), *MEMORIES["large"], *RANKS[ranks])
    assert done.returncode == 1 and done.x is None
    assert "column 5 (counted from 0) is not a number" in done.stderr or "column 7 (counted from 0) is not a number" in done.stderr


def test_a_graph_has_a_method_with_a_graph(solve):
    a = general()
    done = solve(a, a[0], "--front", "ptg", *MEMORIES["large"])
    expect_solution(done, a, a[0])
    assert done.report["method"] == "lu-incremental" and done.report["front"] == "ptg"
    assert "LU with partial pivoting is not available as a graph" in done.report["method_reason"]
    done = solve(indefinite(), a[0], "--front", "ptg", *RANKS[3], *MEMORIES["large"])
    assert done.report["method"] == "lu-incremental" and done.report["front"] == "ptg"
    done = solve(definite(), a[0], "--front", "ptg", *MEMORIES["large"])
    assert done.report["method"] == "cholesky"
    refused = solve(a, a[0], "--front", "ptg", "--method", "lu")
    assert refused.returncode == USAGE and "partial pivoting is a flow only" in refused.stderr, refused.stderr


@pytest.mark.parametrize("ranks", RANKS)
def test_refinement_continues_with_another_method(solve, ranks):
    for make, alone in ((indefinite, "ldlt"), (general, "lu")):
        a = make()
        done = solve(a, a[0], "--refine", *MEMORIES["large"], *RANKS[ranks])
        expect_solution(done, a, a[0])
        assert done.report["method"] == (alone if ranks == 1 else "lu-incremental")
    done = solve(definite(), a[0], "--refine", *MEMORIES["large"], *RANKS[ranks])
    assert done.report["method"] == "cholesky" and done.report["refinement_steps"] >= 1


@pytest.mark.parametrize("ranks", RANKS)
def test_options_decide_the_method(solve, ranks):
    a = definite()
    stored = solve(numpy.tril(a), a[0], "--lower", *MEMORIES["large"], *RANKS[ranks])
    expect_solution(stored, a, a[0])
    assert (stored.report["method"], stored.report["method_reason"]) == ("cholesky", "one triangle of a symmetric matrix is stored")
    mean = solve(a, a[0], "--symmetrize", *MEMORIES["large"], *RANKS[ranks])
    assert (mean.report["method"], mean.report["method_reason"]) == ("cholesky", "the mean of the triangles is symmetric")
    square = general()
    square[:, 41] = square[:, 5]
    reduced = solve(square, a[0], "--rank-tolerance", "1e-12", *MEMORIES["large"], *RANKS[ranks])
    assert reduced.returncode == 0, reduced.stderr
    assert (reduced.report["method"], reduced.report["method_reason"]) == ("qr", "--rank-tolerance requires it")
    assert reduced.report["numerical_rank"] == N - 1
    # The mean of triangles that differ too much is no reason for another method.
    differs = a + numpy.triu(a, 1) * 1e-3
    refused = solve(differs, a[0], "--symmetrize", *MEMORIES["large"], *RANKS[ranks])
    assert refused.returncode == 1 and refused.x is None and "not symmetric" in refused.stderr, refused.stderr


@pytest.mark.parametrize("dtype", ["f4", "c16"])
@pytest.mark.parametrize("options, method", [([], "ldlt"), (["--front", "ptg"], "lu-incremental"), (RANKS[3], "lu-incremental"),
                                             ([*RANKS[3], "--refine"], "lu-incremental")])
@pytest.mark.parametrize("stored", ["lower", "upper", "symmetrize"])
def test_a_triangle_of_an_indefinite_matrix_suffices_everywhere(solve, stored, options, method, dtype):
    """Without LDL^T, that is over ranks and as a graph, LU reads the triangle as all of the matrix."""
    a = indefinite().astype(dtype)
    if dtype == "c16":
        a = a + 0.3j * (numpy.tril(general(), -1) - numpy.tril(general(), -1).T)
    file, off = a.copy(), numpy.triu(1e-5 * abs(a), 1).astype(dtype)
    if stored == "symmetrize":
        file, a = a + off, a + (off + off.conj().T) / 2
    else:
        file[numpy.triu_indices(N, 1) if stored == "lower" else numpy.tril_indices(N, -1)] = numpy.nan
    if stored == "symmetrize" and dtype == "c16":
        file, a = a, (a + a.conj().T) / 2
    b = general()[0].astype(dtype)
    done = solve(file, b, f"--{stored}", *options, *MEMORIES["small"])
    assert done.returncode == 0 and done.report["method"] == method, done.stderr
    eps = numpy.finfo(dtype).eps
    assert abs(a @ done.x - b).max() <= 30 * N * eps * abs(a).max() * abs(done.x).max()


@pytest.mark.parametrize("options", [["--refine"], ["--refine", "--tf32"], ["--refine", "--front", "ptg"], ["--refine", *RANKS[3]]])
def test_refinement_has_no_effect_on_least_squares(solve, options):
    a, b = general()[:, :40], general()[:, :2]
    done = solve(a, b, *options, *MEMORIES["large"])
    expect_solution(done, a, b)
    assert done.report["method"] == "qr"


def test_a_kernel_has_cholesky(fairlead):
    numpy.save(fairlead.folder / "points.npy", numpy.random.default_rng(4).uniform(0, 4, (N, 2)))
    numpy.save(fairlead.folder / "b.npy", numpy.ones(N))
    for ranks in RANKS.values():
        done = fairlead("solve", "--kernel", "rbf", "--points", "points.npy", "--nugget", 0.1, "b.npy", "-o", "x.npy", "--json",
                        "report.json", "--memory", "16MiB", *ranks)
        assert done.returncode == 0, done.stderr
        report = json.loads((fairlead.folder / "report.json").read_text())
        assert (report["method"], report["method_reason"]) == ("cholesky", "the matrix of a kernel is symmetric positive definite")


def test_the_matrix_is_read_once_if_it_fits_in_memory(solve):
    """To find that Cholesky does not suit, to factor, and to check."""
    a = general()
    large, small = (solve(a, a[0], *MEMORIES[memory]).report for memory in ("large", "small"))
    assert large["input_bytes_read"] <= 1.1 * large["input_bytes"] + 4096 < small["input_bytes_read"]


def test_the_method_can_be_emulated_devices_own(solve):
    a = general()
    done = solve(a, a[0], "--devices", "emulated:memory=1MiB", "--tile", "16", *MEMORIES["large"])
    expect_solution(done, a, a[0])
    assert done.report["method"] == "lu"


@pytest.mark.parametrize("options, message", [
    (["--rank-tolerance", "0.1", "--refine"], "--refine requires a symmetric matrix: --method cholesky, and --rank-tolerance requires "
                                              "--method qr: give one"),
    (["--rank-tolerance", "0.1", "--lower"], "--lower requires a symmetric matrix: --method cholesky or ldlt, or a triangular one: --method "
                                              "triangular, and --rank-tolerance requires"),
    (["--rank-tolerance", "1"], "below 1"),
    (["--method", "lu", "--symmetrize"], "--symmetrize requires a symmetric matrix: --method cholesky or ldlt, not lu"),
    (["--method", "automatic"], f"must be one of {methods.NAMES}")])
def test_options_of_different_methods_exclude_each_other(solve, options, message):
    done = solve(numpy.eye(3), numpy.ones(3), *options)
    assert done.returncode == USAGE and message in done.stderr, done.stderr

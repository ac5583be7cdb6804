"""`fairlead solve`, `factor` and `logdet` with complex matrices, compared with NumPy."""

import json
import pathlib

import methods
import pytest

numpy = pytest.importorskip("numpy")

WRONG_RESULT = 3
METHODS = [*methods.METHODS, "auto"]
OF_ANY_MATRIX = [method for method, it in methods.METHODS.items() if it.matrices == "general"]


def random_of(seed, *shape):
    random = numpy.random.default_rng(seed)
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


def definite(n, seed=1):
    a = random_of(seed, n, n)
    return a @ a.conj().T / n + numpy.eye(n)


def hermitian(n, seed=1):
    a = random_of(seed, n, n)
    return a + a.conj().T


def quasidefinite(n, seed=1):
    a = definite(n, seed)
    a[n // 2:, n // 2:] *= -1
    return a


def symmetric(n, seed=1):
    a = random_of(seed, n, n)
    return a + a.T


def dominant(n, seed=1):
    return random_of(seed, n, n) + 4 * n * numpy.eye(n) * (0.6 + 0.8j)


def matrix_for(method, n, seed=1):
    kinds = {"general": lambda n, seed: random_of(seed, n, n), "symmetric": quasidefinite, "dominant": dominant, "definite": definite}
    return methods.matrix_for(method, n, seed, True, kinds)


def backward_error(a, x, b):
    a, x, b = (numpy.asarray(array, dtype=numpy.complex128).reshape(len(array), -1) for array in (a, x, b))
    residual = abs(b - a @ x).max(axis=0)
    return (residual / (abs(a).sum(axis=1).max() * abs(x).max(axis=0) + abs(b).max(axis=0))).max()


@pytest.fixture
def solve(fairlead):
    """Solves with files in the folder; returns messages, the report, and x if there is one."""

    def run(a, b, *options, output="x.npy", memory="64MiB"):
        folder = fairlead.folder
        for name, array in (("A", a), ("b", b)):
            if array is not None:
                numpy.save(folder / f"{name}.npy", array)
        for old in (output, "report.json"):
            (folder / old).unlink(missing_ok=True)
        done = fairlead("solve", *([] if a is None else ["A.npy"]), "b.npy", "-o", output, "--json", "report.json",
                        "--progress", "none", "--memory", memory, *options)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = numpy.load(folder / output) if (folder / output).exists() else None
        return done

    run.folder = fairlead.folder
    return run


def in_order(a, order, byte_order):
    return numpy.array(a, dtype=a.dtype.newbyteorder(byte_order), order=order)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("memory", ["64MiB", "quarter"])
@pytest.mark.parametrize("n", [1, 2, 31, 64, 130])
@pytest.mark.parametrize("byte_order", ["<", ">"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("element", ["c8", "c16"])
@pytest.mark.parametrize("method", METHODS)
def test_solutions_are_those_of_numpy(solve, method, element, order, byte_order, n, memory, workers):
    if memory == "quarter":
        n = 4 * n + 600  # the smallest limit is a few MiB
    a = in_order(matrix_for(method, n).astype(element), order, byte_order)
    b = in_order(random_of(2, n, 3).astype(element), order, byte_order)
    # A quarter of the matrix, in addition to the memory of vectors and readers.
    limit = "64MiB" if memory == "64MiB" else f"{(a.nbytes // 4 >> 20) + 5 * workers + 6}MiB"
    done = solve(a, b, "--method", method, "--tile", 32, "--workers", workers, memory=limit)
    assert done.returncode == 0, done.stderr
    assert done.x.dtype == numpy.dtype(element) and done.x.shape == b.shape
    epsilon = numpy.finfo(done.x.dtype).eps
    a, b = a.astype(numpy.complex128), b.astype(numpy.complex128)
    expected, condition = numpy.linalg.solve(a, b), numpy.linalg.cond(a, numpy.inf)
    assert abs(done.x - expected).max() <= 20 * epsilon * condition * abs(expected).max()
    report = done.report
    assert report["element"] == ("complex FP32" if element == "c8" else "complex FP64")
    assert report["method"] == {"auto": "cholesky"}.get(method, method)
    assert report["backward_error"] <= report["backward_error_limit"]
    assert condition / 3 <= report["condition_estimate"] * (1 + 1e-3) <= condition * 1.02
    # The bound holds for x as computed.
    assert abs(done.x - expected).max() <= report["forward_error_bound"] * abs(expected).max() + 1e-13 * condition
    if method not in [*OF_ANY_MATRIX, "ldlt"]:  # random matrices may be ill-conditioned
        assert report["trusted_digits"] >= (4 if element == "c8" else 12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [1, 3, 20, 70])
@pytest.mark.parametrize("method", ["cholesky", "lu"])
def test_the_backward_error_is_that_of_numpy(solve, method, columns, order):
    n = 150
    a, b = matrix_for(method, n, 3).astype("c8"), random_of(4, n, columns).astype("c8")
    done = solve(numpy.array(a, order=order), numpy.array(b, order=order), "--method", method, "--tile", 48)
    assert done.returncode == 0, done.stderr
    assert done.report["backward_error"] == pytest.approx(backward_error(a, done.x, b), rel=1e-6)


def test_a_vector_stays_a_vector(solve):
    done = solve(definite(20), random_of(1, 20))
    assert done.returncode == 0 and done.x.shape == (20,)


@pytest.mark.parametrize("of_b", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("of_a", ["f4", "f8", "c8", "c16"])
def test_types_are_promoted_as_numpy_does(solve, of_a, of_b):
    def part(array, element):
        return (array if element.startswith("c") else array.real).astype(element)

    a, b = part(definite(60), of_a), part(random_of(5, 60, 2), of_b)
    done = solve(a, b, "--tile", 16)
    assert done.returncode == 0, done.stderr
    wide = numpy.complex128 if "c" in of_a + of_b else numpy.float64
    expected = numpy.linalg.solve(a.astype(wide), b.astype(wide))
    assert done.x.dtype == numpy.result_type(a, b)
    assert abs(done.x - expected).max() <= 1e3 * numpy.finfo(done.x.dtype).eps * abs(expected).max()


def test_the_method_is_chosen_and_the_report_states_why(solve):
    b = random_of(6, 80)
    done = solve(definite(80), b)
    assert done.report["method"] == "cholesky"
    assert done.report["method_reason"] == "the matrix is Hermitian positive definite"
    indefinite = hermitian(80)
    done = solve(indefinite, b)
    assert done.returncode == 0, done.stderr
    assert done.report["method"] == "ldlt"
    assert done.report["method_reason"].startswith("the matrix is not positive definite: the element in row and column")
    assert backward_error(indefinite, done.x, b) < 1e-14
    general = random_of(7, 80, 80)
    general.imag[numpy.diag_indices(80)] = 0
    done = solve(general, b)
    assert done.returncode == 0 and done.report["method"] == "lu"
    assert "A.npy is not Hermitian: row " in done.report["method_reason"]
    assert backward_error(general, done.x, b) < 1e-14
    # Symmetric is not Hermitian.
    done = solve(symmetric(80), b)
    assert done.returncode == 0 and done.report["method"] == "ldlt"
    assert "A.npy is not Hermitian: row " in done.report["method_reason"]
    assert backward_error(symmetric(80), done.x, b) < 1e-14


def test_complex_solutions_have_no_more_roundings_than_lapacks(solve):
    """Elements grow in the blocks of LDL^T; LAPACK's test programs accept 30 roundings, 15 epsilon."""
    random, n = numpy.random.default_rng(2), 120
    q = numpy.linalg.qr(random.standard_normal((n, n)) + 1j * random.standard_normal((n, n)))[0]
    a = (q * 10.0 ** -random.uniform(0, 1, n) @ q.T).astype("c8")
    a = numpy.tril(a) + numpy.tril(a, -1).T
    b = (random.standard_normal((n, 200)) + 1j * random.standard_normal((n, 200))).astype("c8")
    done = solve(a, b, "--method", "ldlt", "--tile", 40)
    assert done.returncode == 0, done.stderr
    a, b, x = (array.astype("c16") for array in (a, b, done.x))
    errors = abs(b - a @ x).max(axis=0) / (abs(a).sum(axis=1).max() * abs(x).max(axis=0) + abs(b).max(axis=0))
    assert errors.max() <= 15 * numpy.finfo("f4").eps


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("n", [1, 2, 31, 64, 250])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("of_diagonal", ["complex", "real"])
@pytest.mark.parametrize("method", ["auto", "ldlt"])
@pytest.mark.parametrize("element", ["c8", "c16"])
def test_a_symmetric_matrix_is_solved_by_ldlt(solve, element, method, of_diagonal, order, n, memory, workers):
    a, b = symmetric(n).astype(element), random_of(2, n, 3).astype(element)
    if of_diagonal == "real" and n > 1:
        a.imag[numpy.diag_indices(n)] = 0
    done = solve(numpy.array(a, order=order), b, "--method", method, "--tile", 24, "--workers", workers, memory=memory)
    assert done.returncode == 0, done.stderr
    a, b = a.astype("c16"), b.astype("c16")
    expected, condition = numpy.linalg.solve(a, b), numpy.linalg.cond(a, numpy.inf)
    epsilon = numpy.finfo(element).eps
    assert done.report["method"] == "ldlt"
    assert backward_error(a, done.x, b) < 30 * epsilon
    assert abs(done.x - expected).max() <= 20 * epsilon * condition * abs(expected).max()
    assert condition / 3 <= done.report["condition_estimate"] * (1 + 1e-3) <= condition * 1.02
    assert abs(done.x - expected).max() <= done.report["forward_error_bound"] * abs(expected).max() + 1e-13 * condition


@pytest.mark.parametrize("element", ["c8", "c16"])
@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
def test_factors_of_a_symmetric_matrix_are_kept(fairlead, element, memory):
    folder = fairlead.folder
    a, b = symmetric(150).astype(element), random_of(4, 150, 5).astype(element)
    numpy.save(folder / "A.npy", a)
    numpy.save(folder / "b.npy", b)
    done = fairlead("factor", "A.npy", "-o", "A.factor", "--tile", 32, "--memory", memory)
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.solve(a.astype("c16"), b.astype("c16"))
    close = 1e4 * numpy.finfo(element).eps
    for words in (["b.npy"], ["A.npy", "b.npy"]):
        done = fairlead("solve", "--factor", "A.factor", *words, "-o", "x.npy", "--memory", memory)
        assert done.returncode == 0, done.stderr
        assert abs(numpy.load(folder / "x.npy") - expected).max() <= close * abs(expected).max()
    phase, log_absolute = numpy.linalg.slogdet(a.astype("c16"))
    assert fairlead("logdet", "A.factor", "--json", "determinant.json").returncode == 0
    found = json.loads((folder / "determinant.json").read_text())
    assert found["log_absolute_determinant"] == pytest.approx(log_absolute, rel=close)
    assert abs(complex(*found["phase"]) - phase) < close


def test_triangles_of_a_symmetric_matrix_may_differ_by_rounding(solve):
    a, b = symmetric(120), random_of(1, 120)
    a *= 1 + 1e-15 * random_of(2, 120, 120).real
    done = solve(a, b)
    assert done.returncode == 0 and done.report["method"] == "ldlt" and done.report["refinement_steps"] >= 1
    assert backward_error(a, done.x, b) < 3e-16
    a[70, 3] *= 1 + 1e-12
    done = solve(a, b)
    assert done.returncode == 0 and done.report["method"] == "lu"
    done = solve(a, b, "--method", "ldlt")
    assert done.returncode != 0 and done.x is None and "A.npy is not Hermitian" in done.stderr


def test_one_triangle_is_that_of_a_hermitian_matrix(solve):
    b = random_of(1, 60)
    for option in ("--lower", "--upper"):
        done = solve(hermitian(60), b, option)
        assert done.returncode == 0 and done.report["method"] == "ldlt"
        assert backward_error(hermitian(60), done.x, b) < 1e-14
        done = solve(symmetric(60), b, option, "--method", "ldlt")
        assert done.returncode != 0 and done.x is None
        assert "which is not real; one triangle, or a mean, is that of a Hermitian matrix" in done.stderr


def test_a_positive_diagonal_does_not_make_a_matrix_definite(solve):
    a = hermitian(90)
    numpy.fill_diagonal(a, 1)
    b = random_of(8, 90, 2)
    done = solve(a, b, "--tile", 32)
    assert done.returncode == 0, done.stderr
    assert done.report["method"] == "ldlt"
    assert "the matrix is not positive definite: the factorization fails in column" in done.report["method_reason"]
    assert backward_error(a, done.x, b) < 1e-14
    refused = solve(a, b, "--method", "cholesky")
    assert refused.returncode != 0 and refused.x is None and "is not positive definite" in refused.stderr


@pytest.mark.parametrize("stored", ["lower", "upper", "symmetrize"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_triangle_or_the_mean_is_a_hermitian_matrix(solve, stored, order):
    n = 150
    a, b = definite(n), random_of(9, n, 2)
    given = a.copy()
    if stored == "symmetrize":
        given += 1e-10 * random_of(10, n, n)
        a = (given + given.conj().T) / 2
    else:
        given[numpy.triu_indices(n, 1) if stored == "lower" else numpy.tril_indices(n, -1)] = 7 + 5j
    done = solve(numpy.array(given, order=order), b, f"--{stored}", "--tile", 48)
    assert done.returncode == 0, done.stderr
    assert backward_error(a, done.x, b) < 1e-14
    assert abs(done.x - numpy.linalg.solve(a, b)).max() < 1e-11


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("value, words", [(complex(0, numpy.nan), "not a number (NaN)"),
                                          (complex(1, -numpy.inf), "infinite")])
@pytest.mark.parametrize("method", ["cholesky", "lu"])
def test_imaginary_parts_must_be_finite(solve, method, value, words, order):
    a, b = definite(70), random_of(1, 70)
    a[40, 3] = value
    done = solve(numpy.array(a, order=order), b, "--method", method, "--tile", 32)
    assert done.returncode != 0 and done.x is None
    assert f"A.npy: the element in row 40, column 3 (counted from 0) is {words}" in done.stderr
    b[7] = complex(2, numpy.nan)
    done = solve(definite(70), b, "--method", method)
    assert done.returncode != 0 and done.x is None
    assert "b.npy: the element in row 7, column 0 (counted from 0) is not a number (NaN)" in done.stderr


def test_the_diagonal_of_a_hermitian_matrix_is_real(solve):
    a, b = definite(60), random_of(1, 60)
    a[33, 33] += 0.5j
    for options in (["--method", "cholesky"], ["--lower"], ["--upper"]):
        done = solve(a, b, *options)
        assert done.returncode != 0 and done.x is None, options
        assert "A.npy is not Hermitian: the element on the diagonal in row 33 (counted from 0) is " in done.stderr
        assert "+0.5" in done.stderr and "which is not real" in done.stderr
    done = solve(a, b)
    assert done.returncode == 0 and done.report["method"] == "lu"
    assert backward_error(a, done.x, b) < 1e-14
    # To rounding it is.
    a[33, 33] = a[33, 33].real * (1 + 1e-16j)
    done = solve(a, b, "--method", "cholesky")
    assert done.returncode == 0 and backward_error(a, done.x, b) < 1e-15


def test_triangles_that_differ_by_rounding_are_refined(solve):
    a, b = definite(120), random_of(1, 120)
    a *= 1 + 1e-15 * random_of(2, 120, 120).real
    a.imag[numpy.diag_indices(120)] = 0
    done = solve(a, b, "--method", "cholesky")
    assert done.returncode == 0 and done.report["refinement_steps"] >= 1
    assert backward_error(a, done.x, b) < 3e-16


@pytest.mark.parametrize("options, words", [
    (["--refine", "--tf32"], "--tf32 is available for real numbers only"),
    (["--devices", "cuda"], "--devices cuda: complex numbers are computed on cores; use --devices none"),
])
def test_what_is_for_real_matrices_is_refused(solve, options, words):
    done = solve(definite(30), random_of(1, 30), *options)
    assert done.returncode not in (0, WRONG_RESULT) and done.x is None
    assert words in done.stderr


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("columns", [1, 3, 20])
@pytest.mark.parametrize("shape", [(2, 1), (40, 20), (170, 130), (700, 60)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("element", ["c8", "c16"])
def test_least_squares_solutions_are_those_of_numpy(solve, element, order, shape, columns, memory, ranks):
    a, b = random_of(1, *shape).astype(element), random_of(2, shape[0], columns).astype(element)
    done = solve(numpy.array(a, order=order), b, "--tile", 32, "--workers", 1, *(["--ranks", ranks] if ranks > 1 else []),
                 memory=memory)
    assert done.returncode == 0, done.stderr
    epsilon = numpy.finfo(element).eps
    a, b = a.astype("c16"), b.astype("c16")
    expected, _, rank, values = numpy.linalg.lstsq(a, b, rcond=None)
    condition, residual = values[0] / values[-1], numpy.linalg.norm(b - a @ expected, axis=0)
    size = numpy.linalg.norm(expected, axis=0)
    off = numpy.linalg.norm(done.x - expected, axis=0)
    assert done.x.dtype == numpy.dtype(element) and done.x.shape == (shape[1], columns)
    assert (off <= 20 * epsilon * (condition * size + condition ** 2 * residual / values[0])).all()
    report = done.report
    assert report["method"] == "qr" and report["method_reason"] == "the matrix has more rows than columns"
    assert report["numerical_rank"] == rank == shape[1]
    assert report["backward_error"] <= report["backward_error_limit"]
    relative = (residual / numpy.linalg.norm(b, axis=0)).max()
    assert report["relative_residual"] == pytest.approx(relative, rel=1e-5, abs=epsilon)
    bound = report["forward_error_bound"] * abs(done.x).max()
    assert abs(done.x - expected).max() <= bound + 1e-13 * condition


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("element", ["c8", "c16"])
def test_dependent_columns_have_the_smallest_solution(solve, element, ranks):
    a, b = random_of(1, 90, 40).astype(element), random_of(2, 90, 11).astype(element)
    a[:, 30] = (2 - 3j) * a[:, 5]
    a[:, 39] = 0
    done = solve(a, b, "--tile", 16, *(["--ranks", ranks] if ranks > 1 else []))
    assert done.returncode == 0, done.stderr
    assert "the columns of the matrix are linearly dependent: 38 of 40 columns are independent" in done.stderr
    expected, _, _, values = numpy.linalg.lstsq(a.astype("c16"), b.astype("c16"), rcond=1e-4)
    assert abs(done.x - expected).max() <= 1e3 * numpy.finfo(element).eps * abs(expected).max()
    assert done.report["numerical_rank"] == 38
    assert done.report["largest_singular_value"] == pytest.approx(values[0], rel=1e-5)
    assert done.report["smallest_singular_value"] == pytest.approx(values[37], rel=1e-4)


def test_a_square_singular_matrix_has_a_solution_with_a_rank_tolerance(solve):
    a, x = random_of(1, 60, 60), random_of(2, 60)
    a[:, 20] = 1j * a[:, 10]
    done = solve(a, a @ x, "--rank-tolerance", 1e-12)
    assert done.returncode == 0, done.stderr
    assert done.report["numerical_rank"] == 59
    numpy.testing.assert_allclose(done.x, numpy.linalg.lstsq(a, a @ x, rcond=1e-12)[0], atol=1e-11)


@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("element", ["c8", "c16"])
def test_factors_of_least_squares_are_kept(fairlead, element, memory):
    folder = fairlead.folder
    a, b = random_of(1, 300, 70).astype(element), random_of(2, 300, 3).astype(element)
    numpy.save(folder / "A.npy", a)
    numpy.save(folder / "b.npy", b)
    done = fairlead("factor", "A.npy", "-o", "A.factor", "--tile", 32, "--memory", memory)
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.lstsq(a.astype("c16"), b.astype("c16"), rcond=None)[0]
    for words in (["b.npy"], ["A.npy", "b.npy"]):
        done = fairlead("solve", "--factor", "A.factor", *words, "-o", "x.npy", "--memory", memory)
        assert done.returncode == 0, done.stderr
        x = numpy.load(folder / "x.npy")
        assert x.shape == (70, 3) and abs(x - expected).max() <= 1e3 * numpy.finfo(element).eps * abs(expected).max()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("columns", [1, 20])
@pytest.mark.parametrize("of_a", ["c8", "c16"])
@pytest.mark.parametrize("stored", [None, "lower", "upper", "symmetrize"])
def test_refinement_has_the_accuracy_of_double_precision(solve, stored, of_a, columns, memory, ranks):
    a, b = definite(250).astype(of_a), random_of(2, 250, columns)
    if stored in ("lower", "upper"):
        a[numpy.triu_indices(250, 1) if stored == "lower" else numpy.tril_indices(250, -1)] = 7j
    options = [] if stored is None else [f"--{stored}"]
    done = solve(a, b, "--refine", "--tile", 64, *options, *(["--ranks", ranks] if ranks > 1 else []), memory=memory)
    assert done.returncode == 0, done.stderr
    half = numpy.tril(a.astype("c16"), -1) if stored != "upper" else numpy.triu(a.astype("c16"), 1).conj().T
    whole = half + half.conj().T + numpy.diag(a.diagonal().real)
    assert backward_error(whole, done.x, b) < 1e-15
    expected = numpy.linalg.solve(whole, b)
    assert abs(done.x - expected).max() <= 1e-13 * abs(expected).max()
    assert done.report["refinement_steps"] >= 2 and done.report["method"] == "cholesky"
    condition = numpy.linalg.cond(whole, numpy.inf)
    assert condition / 3 <= done.report["condition_estimate"] <= condition * 1.02
    assert abs(done.x - expected).max() <= done.report["forward_error_bound"] * abs(expected).max()


def test_refinement_falls_back_to_double_precision(solve):
    vectors = numpy.linalg.qr(random_of(1, 120, 120))[0]
    a = (vectors * numpy.geomspace(1, 1e-9, 120)) @ vectors.conj().T
    a = (a + a.conj().T) / 2
    done = solve(a, random_of(2, 120), "--refine", "--tile", 32)
    assert done.returncode == 0, done.stderr
    assert "trying again in double precision" in done.stderr
    assert done.report["element"] == "complex FP64" and done.report["backward_error"] < 1e-15
    # Not definite, which single precision finds out, too.
    indefinite = hermitian(120)
    done = solve(indefinite, random_of(2, 120), "--refine", "--tile", 32)
    assert done.returncode == 0 and backward_error(indefinite, done.x, random_of(2, 120)) < 1e-14


def test_a_refined_solution_is_rounded_to_the_files_precision(solve):
    a, b = definite(60).astype("c8"), random_of(1, 60).astype("c8")
    done = solve(a, b, "--refine")
    assert done.returncode == 0 and done.x.dtype == "c8"
    expected = numpy.linalg.solve(a.astype("c16"), b.astype("c16"))
    assert abs(done.x - expected).max() <= 6e-8 * abs(expected).max()
    assert 0 < done.report["rounded_in_file"] <= 6e-8


def test_a_real_matrix_of_points_needs_real_right_hand_sides(solve):
    numpy.save(solve.folder / "points.npy", numpy.random.default_rng(1).uniform(0, 9, (50, 2)))
    done = solve(None, random_of(2, 50), "--kernel", "rbf", "--points", "points.npy")
    assert done.returncode != 0 and done.x is None
    assert "--kernel is available for real numbers only" in done.stderr
    numpy.save(solve.folder / "points.npy", random_of(1, 50, 2))
    done = solve(None, numpy.ones(50), "--kernel", "rbf", "--points", "points.npy")
    assert done.returncode != 0 and "holds complex numbers" in done.stderr


@pytest.mark.parametrize("shape", [(0, 0), (3, 4), (3,)])
def test_other_shapes_are_refused(solve, shape):
    done = solve(numpy.ones(shape, dtype="c16"), numpy.ones(shape[0], dtype="c16"), "--method", "lu")
    assert done.returncode not in (0, WRONG_RESULT) and done.x is None
    assert str(shape) in done.stderr


def test_a_singular_matrix_is_named(solve):
    a = random_of(1, 50, 50)
    a[:, 20] = 0
    done = solve(a, random_of(2, 50), "--method", "lu")
    assert done.returncode != 0 and done.x is None
    assert "the matrix is singular: the pivot in column 20, counted from 0, is zero" in done.stderr
    done = solve(a, random_of(2, 50), "--method", "lu-nopivot")
    assert done.returncode != 0 and done.x is None
    a = random_of(1, 50, 50)
    a[:, 20] = 1j * a[:, 10]
    done = solve(a, random_of(2, 50))
    assert done.returncode == WRONG_RESULT and done.x is None


@pytest.mark.parametrize("scale", [1e-305, 1e-160, 1e160, 1e305])
def test_sizes_of_numbers_do_not_matter(solve, scale):
    a, b = definite(60), random_of(2, 60, 2)
    expected = numpy.linalg.solve(a, b)
    for of_a, of_b in ((scale, scale), (1, scale)):
        done = solve(a * of_a, b * of_b)
        assert done.returncode == 0, done.stderr
        assert abs(done.x / (of_b / of_a) - expected).max() < 1e-12 * abs(expected).max()


def test_the_front_ends_agree(solve):
    a, b = definite(100), random_of(2, 100, 2)
    flow = solve(a, b, "--tile", 32, "--method", "cholesky")
    graph = solve(a, b, "--tile", 32, "--method", "cholesky", "--front", "ptg")
    assert graph.returncode == 0, graph.stderr
    numpy.testing.assert_array_equal(graph.x, flow.x)
    indefinite = hermitian(100)
    done = solve(indefinite, b, "--tile", 32, "--front", "ptg")
    assert done.returncode == 0, done.stderr
    assert done.report["method"] == "lu-incremental" and backward_error(indefinite, done.x, b) < 1e-14
    for method in ("qr", "lu-incremental"):
        flow = solve(a, b, "--tile", 32, "--method", method)
        graph = solve(a, b, "--tile", 32, "--method", method, "--front", "ptg")
        assert graph.returncode == 0, graph.stderr
        numpy.testing.assert_array_equal(graph.x, flow.x)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("element", ["c8", "c16"])
@pytest.mark.parametrize("method", [*METHODS, "not definite", "not Hermitian"])
def test_ranks_have_the_same_bits(solve, method, element, ranks):
    a, alone = {"not definite": (hermitian(130), "lu-incremental"),
                "not Hermitian": (random_of(1, 130, 130), "lu-incremental")}.get(method, (None, method))  # ranks share its columns
    chosen = method if a is None else "auto"
    a, b = (matrix_for(method, 130) if a is None else a).astype(element), random_of(2, 130, 2).astype(element)
    one = solve(a, b, "--method", alone, "--tile", 24)
    many = solve(a, b, "--method", chosen, "--tile", 24, "--ranks", ranks)
    assert one.returncode == many.returncode == 0, many.stderr
    numpy.testing.assert_array_equal(many.x, one.x)
    for name in ("method", "backward_error", "condition_estimate", "forward_error_bound", "trusted_digits"):
        assert many.report[name] == one.report[name], name
    assert len(many.report["ranks"]) == ranks


@pytest.mark.parametrize("memory", ["8MiB", "64MiB"])
@pytest.mark.parametrize("element", ["c8", "c16"])
@pytest.mark.parametrize("method", METHODS)
def test_factors_solve_without_the_matrix(fairlead, method, element, memory):
    n, folder = 150, fairlead.folder
    a, b = matrix_for(method, n, 3).astype(element), random_of(4, n, 5).astype(element)
    numpy.save(folder / "A.npy", a)
    numpy.save(folder / "b.npy", b)
    done = fairlead("factor", "A.npy", "-o", "A.factor", "--method", method, "--tile", 32, "--memory", memory)
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.solve(a.astype("c16"), b.astype("c16"))
    for words in (["b.npy"], ["A.npy", "b.npy"]):
        done = fairlead("solve", "--factor", "A.factor", *words, "-o", "x.npy", "--memory", memory)
        assert done.returncode == 0, done.stderr
        x = numpy.load(folder / "x.npy")
        assert x.dtype == numpy.dtype(element)
        assert abs(x - expected).max() <= 1e4 * numpy.finfo(x.dtype).eps * abs(expected).max()
    phase, log_absolute = numpy.linalg.slogdet(a.astype("c16"))
    for path in ("A.factor", "A.npy"):
        options = ["--method", method] if path == "A.npy" else []
        done = fairlead("logdet", path, "--json", "determinant.json", "--tile", 32, *options)
        assert done.returncode == 0, done.stderr
        found = json.loads((folder / "determinant.json").read_text())
        close = 1e3 * numpy.finfo(x.dtype).eps
        assert found["log_absolute_determinant"] == pytest.approx(log_absolute, rel=close)
        assert abs(complex(*found["phase"]) - phase) < close
        assert done.stdout.startswith("phase ")


def test_real_right_hand_sides_of_complex_factors_and_the_other_way_round(fairlead):
    folder = fairlead.folder
    numpy.save(folder / "A.npy", definite(40))
    numpy.save(folder / "real.npy", definite(40).real)
    numpy.save(folder / "b.npy", random_of(1, 40))
    numpy.save(folder / "ones.npy", numpy.ones(40))
    for matrix in ("A", "real"):
        assert fairlead("factor", f"{matrix}.npy", "-o", f"{matrix}.factor").returncode == 0
    done = fairlead("solve", "--factor", "A.factor", "ones.npy", "-o", "x.npy")
    assert done.returncode == 0, done.stderr
    numpy.testing.assert_allclose(numpy.load(folder / "x.npy"), numpy.linalg.solve(definite(40), numpy.ones(40)), rtol=1e-12)
    done = fairlead("solve", "--factor", "real.factor", "b.npy", "-o", "y.npy")
    assert done.returncode != 0 and not (folder / "y.npy").exists()
    assert "real.factor has factors of a real matrix, and b.npy is complex: solve for its real and imaginary parts" in done.stderr


def test_a_graph_in_jdf_is_of_real_matrices(fairlead):
    numpy.save(fairlead.folder / "A.npy", definite(40))
    example = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf/cholesky.jdf"
    done = fairlead("jdf", "run", example, "--matrix", "A=A.npy", "-o", "A=out.npy", "--tile", 16)
    assert done.returncode != 0 and "A.npy: holds complex numbers; real ones are needed here" in done.stderr


@pytest.mark.parametrize("element", ["<c8", "<c16", ">c16"])
@pytest.mark.parametrize("options", [{}, {"chunks": (64, 64)}, {"chunks": (30, 150), "compression": "gzip"}])
def test_hdf5_datasets_may_be_complex(fairlead, options, element):
    h5py = pytest.importorskip("h5py")
    a, b = definite(150).astype(element), random_of(2, 150).astype(element)
    with h5py.File(fairlead.folder / "A.h5", "w") as file:
        file.create_dataset("a", data=a, **options)
        file.create_dataset("records", data=numpy.zeros((3, 3), dtype=[("x", "f8"), ("y", "f8")]))
    numpy.save(fairlead.folder / "b.npy", b)
    done = fairlead("solve", "A.h5::a", "b.npy", "-o", "x.npy")
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.solve(a.astype("c16"), b.astype("c16"))
    assert abs(numpy.load(fairlead.folder / "x.npy") - expected).max() <= 1e4 * numpy.finfo(element).eps * abs(expected).max()
    done = fairlead("solve", "A.h5::records", "b.npy", "-o", "y.npy")
    assert done.returncode != 0 and "A.h5::/records: holds elements of another type than numbers" in done.stderr


@pytest.mark.parametrize("element", ["c8", "c16"])
@pytest.mark.parametrize("zarr_format", [{"chunks": (70, 110)}, {"chunks": (64, 17), "order": "F", "compressor": None}])
def test_zarr_arrays_may_be_complex(fairlead, zarr_format, element):
    zarr = pytest.importorskip("zarr")
    n = 150
    a, b = definite(n).astype(element), random_of(2, n).astype(element)
    a[:70, 110:] = a[110:, :70] = 2 - 1j  # may be left out as the fill value
    a[110:, :70] = 2 + 1j
    array = zarr.open(str(fairlead.folder / "A.zarr"), mode="w", shape=a.shape, dtype=a.dtype, fill_value=2 - 1j, **zarr_format)
    array[...] = a
    numpy.save(fairlead.folder / "b.npy", b)
    done = fairlead("solve", "A.zarr", "b.npy", "-o", "x.npy", "--method", "lu")
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.solve(a.astype("c16"), b.astype("c16"))
    assert abs(numpy.load(fairlead.folder / "x.npy") - expected).max() <= 1e4 * numpy.finfo(element).eps * abs(expected).max()

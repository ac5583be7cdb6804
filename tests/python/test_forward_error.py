"""How far the solution of `fairlead solve` can be trusted: the bound of its error against exact solutions, the condition,
--require-digits, and singular matrices."""

import fractions
import json

import pytest

numpy = pytest.importorskip("numpy")

import exact_systems

SOLVED, NOT_SOLVED, NOT_ASKED, NOT_TRUSTED = 0, 1, 2, 3


@pytest.fixture
def solve(fairlead):
    """Solves with a method; gives what the command says, the report, and x if there is one."""

    def run(method, a, b, *options):
        folder = fairlead.folder
        numpy.save(folder / "A.npy", a)
        numpy.save(folder / "b.npy", b)
        for left in ("x.npy", "report.json"):
            (folder / left).unlink(missing_ok=True)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", method, "--json", "report.json", "--progress",
                        "none", "--workers", 2, "--memory", "64MiB", *options, timeout=300)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = numpy.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        return done

    return run


def reflected(spectrum, seed):
    return exact_systems.symmetric(two_sided(spectrum, seed, seed))


def two_sided(spectrum, seed, other):
    n = len(spectrum)

    def reflection(seed):
        v = numpy.random.default_rng(seed).standard_normal(n)
        v /= numpy.linalg.norm(v)
        return numpy.eye(n) - 2 * numpy.outer(v, v)

    return reflection(seed) @ numpy.diag(spectrum) @ reflection(other)


def test_the_bound_holds_and_is_close(command, at_length):
    """Against solutions in whole numbers; all 300 systems with --long."""
    runs = range(300) if at_length else [*range(24), 35, 43, 69, 84, 99, 118, 131, 150, 158, 207]
    ratios = exact_systems.campaign(command, runs, 1)
    assert len(ratios) >= 0.8 * len(runs)
    assert numpy.median(ratios) <= 100


@pytest.mark.parametrize("n", [300, 700])
def test_the_bound_is_close_where_the_matrix_is_large(solve, n):
    """Of whole numbers, so that the right-hand side is exact."""
    random = numpy.random.default_rng(n)
    a = random.integers(-9, 10, (n, n)).astype(float)
    x = random.integers(-9, 10, (n, 3)).astype(float)
    spd = a @ a.T + numpy.eye(n)
    for method, matrix in (("lu-incremental", a), ("qr", a), ("cholesky", spd)):
        done = solve(method, matrix, matrix @ x)
        assert done.returncode == SOLVED, done.stderr
        error = (abs(done.x - x).max(axis=0) / abs(x).max(axis=0)).max()
        assert error <= done.report["forward_error_bound"] <= 300 * n ** 0.5 * error, method


def test_a_warning_comes_when_fewer_than_a_third_of_the_digits_are_certain(solve):
    for power in range(4, 14):
        a = reflected(numpy.r_[numpy.ones(60), 10.0 ** -power], 3)
        done = solve("cholesky", a, a @ numpy.ones(61))
        assert done.returncode == SOLVED, done.stderr
        digits = done.report["trusted_digits"]
        assert ("the matrix is ill-conditioned" in done.stderr) == (3 * digits < 15), (power, digits)
        assert ("in the infinity norm" in done.stderr) == (3 * digits < 15)
        assert 14 - power - 3 <= digits <= 16 - power
    assert "in the infinity norm" in done.stdout or "infinity norm" in done.stdout


def test_each_column_is_judged_by_its_own_size(solve):
    """One of the columns is a million times larger: the other's digits are not covered by it."""
    a = reflected(numpy.logspace(0, -6, 50), 4)
    b = a @ numpy.c_[1e6 * numpy.ones(50), numpy.random.default_rng(1).standard_normal(50)]
    both, small = solve("cholesky", a, b), solve("cholesky", a, b[:, 1])
    assert both.report["forward_error_bound"] >= small.report["forward_error_bound"] / 2
    assert both.report["forward_error_bound"] <= 200 * small.report["forward_error_bound"]
    assert "each column" in both.stdout and "each column" not in small.stdout


@pytest.mark.parametrize("scale", [1e-140, 1, 1e140])
def test_the_bound_does_not_depend_on_scaling(solve, scale):
    random = numpy.random.default_rng(5)
    a = random.standard_normal((40, 40))
    plain = solve("lu-incremental", a, a.sum(axis=1))
    scaled = solve("lu-incremental", scale * a, scale * a.sum(axis=1))
    assert scaled.report["forward_error_bound"] == pytest.approx(plain.report["forward_error_bound"], rel=0.5)


@pytest.mark.parametrize("spread", [100, 250])
def test_a_graded_matrix_is_not_singular(solve, spread):
    """D A D over 2 x 100 orders and more: the condition is beyond any type, and the solution has all its digits."""
    n = 12
    d = 2.0 ** numpy.linspace(-spread, spread, n).round()
    core = numpy.eye(n) + 0.1
    a, x = d[:, None] * core * d, 1 / d
    done = solve("cholesky", a, d * (core @ numpy.ones(n)))
    assert done.returncode == SOLVED, done.stderr
    assert done.report["trusted_digits"] >= 12
    assert abs(done.x - x).max() <= done.report["forward_error_bound"] * x.max()


@pytest.mark.parametrize("options", [["--tile", 24], ["--tile", 24, "--ranks", 2], ["--tile", 200]])
def test_the_bound_holds_where_the_residual_has_the_signs_of_the_inverse(solve, options):
    """Then the error is the bound itself, so an estimate of it may not be lower. All rows of this inverse are alike."""
    i = numpy.arange(180)
    a = (0.95 ** abs(i - i[:, None])).astype("f4")
    for seed in (23, 15, 11):
        b = (a.astype("f8") @ numpy.random.default_rng(seed).standard_normal(180)).astype("f4")
        done = solve("cholesky", a, b, *options)
        exact = numpy.linalg.solve(a.astype("f8"), b.astype("f8"))
        assert abs(done.x - exact).max() <= done.report["forward_error_bound"] * abs(exact).max()


def growing(n, seed):
    """Elements nearly double in each step: the factors are those of another matrix."""
    random = numpy.random.default_rng(seed)
    a = numpy.eye(n) - numpy.tril(random.uniform(0.9, 1, (n, n)), -1)
    a[:, -1] = 1 + random.uniform(-0.1, 0.1, n)
    return (a * 10.0 ** random.uniform(-2, 0, n)).astype("f4")


def test_the_condition_is_never_above_the_true_one_where_elements_grow(solve):
    estimated = 0
    for n in (24, 25, 26):
        for seed in range(3):
            a = growing(n, seed)
            b = numpy.random.default_rng(9).standard_normal(n).astype("f4")
            done = solve("lu-incremental", a, b, "--tile", n, "--keep-anyway")
            assert done.returncode in (SOLVED, NOT_TRUSTED), done.stderr
            assert done.report["growth"] > 1e4
            if "condition_estimate" in done.report:
                estimated += 1
                assert done.report["condition_estimate"] <= 1.001 * numpy.linalg.cond(a.astype(float), numpy.inf)
    assert estimated >= 5


@pytest.mark.parametrize("method, a", [
    ("cholesky", reflected(numpy.logspace(0, -8, 60), 1)), ("lu-incremental", two_sided(numpy.logspace(0, -8, 60), 1, 2)),
    ("lu-nopivot", numpy.eye(60) + numpy.triu(numpy.ones((60, 60)), 1) * 0.4), ("qr", two_sided(numpy.logspace(0, -8, 60), 1, 2)),
    ("qr", two_sided(numpy.logspace(0, -8, 60), 1, 2)[:, :40])])
@pytest.mark.parametrize("ranks", [[], ["--ranks", 2]])
def test_more_digits_than_are_certain_can_be_required(solve, method, a, ranks):
    b = a.sum(axis=1)
    plain = solve(method, a, b, *ranks)
    assert plain.returncode == SOLVED, plain.stderr
    certain = plain.report["trusted_digits"]
    assert 0 < certain < 15
    enough = solve(method, a, b, "--require-digits", certain, *ranks)
    assert enough.returncode == SOLVED and numpy.array_equal(enough.x, plain.x)
    too_few = solve(method, a, b, "--require-digits", certain + 1, *ranks)
    assert too_few.returncode == NOT_TRUSTED and too_few.x is None
    assert f"--require-digits asks for {certain + 1}" in too_few.stderr and "--keep-anyway writes it" in too_few.stderr
    kept = solve(method, a, b, "--require-digits", certain + 1, "--keep-anyway", *ranks)
    assert kept.returncode == NOT_TRUSTED and numpy.array_equal(kept.x, plain.x)


@pytest.mark.parametrize("options, said", [
    (["--require-digits", 3, "--no-condition"], "--require-digits needs the estimate"), (["--require-digits", 0], "require-digits"),
    (["--require-digits", 16], "require-digits"), (["--require-digits", "many"], "require-digits")])
def test_invalid_required_digits_are_a_usage_error(solve, options, said):
    done = solve("cholesky", numpy.eye(3), numpy.ones(3), *options)
    assert done.returncode == NOT_ASKED and said in done.stderr and done.x is None


def test_single_precision_has_six_digits_to_require(solve):
    a, b = numpy.eye(3, dtype="f4"), numpy.ones(3, dtype="f4")
    assert solve("cholesky", a, b, "--require-digits", 6).returncode == SOLVED
    done = solve("cholesky", a, b, "--require-digits", 7)
    assert done.returncode == NOT_ASKED and "the solution is in single precision, which has 6" in done.stderr


def rank(a):
    """By fractions."""
    rows = [[fractions.Fraction(int(value)) for value in row] for row in a]
    count = 0
    for column in range(a.shape[1]):
        pivot = next((row for row in rows[count:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(count, pivot)
        for row in rows[count + 1:]:
            factor = row[column] / pivot[column]
            row[:] = [of_row - factor * of_pivot for of_row, of_pivot in zip(row, pivot)]
        count += 1
    return count


def singular(n, missing, seed):
    random = numpy.random.default_rng(seed)
    a = random.integers(-3, 4, (n, n - missing)) @ random.integers(-3, 4, (n - missing, n))
    assert rank(a) == n - missing
    return a.astype(float)


@pytest.mark.parametrize("method", ["lu", "lu-incremental", "qr"])
@pytest.mark.parametrize("ranks", [[], ["--ranks", 2]])
def test_a_singular_matrix_has_its_own_status(solve, method, ranks):
    """Of whole numbers: some meet a zero pivot, others one that is zero but for rounding."""
    for seed in range(3 if ranks else 12):
        n = 2 + 3 * seed
        a = singular(n, 1 + seed % 2 if n > 2 else 1, seed)
        for b in (a.sum(axis=1), numpy.arange(1.0, n + 1)):
            done = solve(method, a, b, *ranks)
            assert done.returncode == NOT_TRUSTED and done.x is None, (seed, done.stderr, done.report)
            assert "singular" in done.stderr or "not independent" in done.stderr or "the result is wrong" in done.stderr
            kept = solve(method, a, b, "--keep-anyway", *ranks)
            assert kept.returncode == NOT_TRUSTED


def test_a_singular_semidefinite_matrix_is_never_solved_by_cholesky(solve):
    for seed in range(12):
        n = 2 + 3 * seed
        factor = numpy.random.default_rng(seed).integers(-3, 4, (n, n - 1))
        a = factor @ factor.T
        assert rank(a) < n
        done = solve("cholesky", a.astype(float), a.sum(axis=1).astype(float))
        assert done.x is None
        assert (done.returncode, "not positive definite" in done.stderr) in ((NOT_SOLVED, True), (NOT_TRUSTED, False)), done.stderr


def test_a_right_hand_side_that_is_orthogonal_to_the_columns_is_not_blamed_on_the_matrix(solve):
    random = numpy.random.default_rng(6)
    a = random.standard_normal((60, 5))
    q = numpy.linalg.qr(a, mode="complete")[0]
    done = solve("qr", a, q[:, 20])
    assert done.returncode == SOLVED, done.stderr
    assert "ill-conditioned" not in done.stderr and "b is nearly orthogonal to the columns" in done.stderr
    assert done.report["condition_estimate"] < 100 and done.report["trusted_digits"] == 0


@pytest.mark.parametrize("left", [0, 1e-6, 1])
def test_least_squares_are_bounded_closely(solve, left):
    """b = A x + r of whole numbers with A^T r = 0, so that x is exact."""
    random = numpy.random.default_rng(7)
    a = numpy.r_[random.integers(-9, 10, (40, 6)), numpy.zeros((5, 6), int)].astype(float)
    x = random.integers(-9, 10, 6).astype(float)
    b = a @ x
    b[-5:] = left * 2.0 ** 10
    done = solve("qr", a, b)
    assert done.returncode == SOLVED and done.stderr == "", done.stderr
    error = abs(done.x - x).max() / abs(x).max()
    assert error <= done.report["forward_error_bound"] <= max(1e-13, 1e-12 * left)


def without_warning(done, x, digits):
    assert done.returncode == SOLVED and done.stderr == "", done.stderr
    assert done.report["trusted_digits"] >= digits
    error = numpy.abs(done.x - x).max() / numpy.abs(x).max()
    assert error <= done.report["forward_error_bound"], (error, done.report["forward_error_bound"])


@pytest.mark.parametrize("method", ["lu", "lu-incremental", "qr"])
@pytest.mark.parametrize("seed", range(4))
def test_a_random_square_matrix_gives_no_warning(solve, method, seed):
    """Normal entries, whole numbers after scaling, so that b is exact. The condition is about n times a few tens."""
    drawn = numpy.random.default_rng(seed)
    a = numpy.round(1e4 * drawn.standard_normal((200, 200)))
    x = drawn.integers(-1000, 1000, 200).astype(float)
    without_warning(solve(method, a, a @ x, "--quiet"), x, 9)


@pytest.mark.parametrize("options", [[], ["--refine"]], ids=["double", "refined"])
@pytest.mark.parametrize("noise", [1e-2, 1e-4])
def test_a_usual_gaussian_process_gives_no_warning(solve, noise, options):
    drawn = numpy.random.default_rng(1)
    points = drawn.random((300, 2))
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    kernel = numpy.exp(-distance / (2 * 0.2 ** 2)) + noise * numpy.eye(300)
    b = numpy.sin(6 * points[:, 0]) + 0.1 * drawn.standard_normal(300)
    wide = kernel.astype(numpy.longdouble)
    x = numpy.linalg.solve(kernel, b)
    for _ in range(3):  # the residual in 64 bits of mantissa
        x = x + numpy.linalg.solve(kernel, (b - wide @ x).astype(float)).astype(numpy.longdouble)
    without_warning(solve("cholesky", kernel, b, "--quiet", *options), x, 8)

"""`fairlead solve --method qr` with linearly dependent columns, compared with exact solutions in rational numbers and with
numpy.linalg.lstsq."""

import fractions
import json

import pytest

numpy = pytest.importorskip("numpy")

NOT_SOLVED, NOT_ASKED = 1, 2
RUNS, RUNS_AT_LENGTH, SEED = 24, 400, 20261128


@pytest.fixture
def solve(fairlead):
    def run(a, b, *options, order="C", memory="64MiB"):
        folder = fairlead.folder
        numpy.save(folder / "A.npy", numpy.asarray(a, order=order))
        numpy.save(folder / "b.npy", b)
        (folder / "x.npy").unlink(missing_ok=True)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "qr", "--json", "report.json", "--progress",
                        "none", "--workers", 2, "--memory", memory, *options, timeout=300)
        done.x = numpy.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        done.report = json.loads((folder / "report.json").read_text()) if done.x is not None else None
        return done

    return run


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transposed(a):
    return [list(column) for column in zip(*a)]


def solved(a, b):
    """a^-1 b by elimination, for a regular a."""
    rows = [list(left) + list(right) for left, right in zip(a, b)]
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def smallest_solution(a, b):
    """The rank, and exactly the least squares solution of smallest norm: with A = C F, where C has the columns of A that
    do not depend on those before and F the rows of its reduced echelon form, F^T (F F^T)^-1 (C^T C)^-1 C^T b."""
    a = [[fractions.Fraction(int(value)) for value in row] for row in a]
    b = [[fractions.Fraction(int(value)) for value in row] for row in b]
    echelon, pivots = [list(row) for row in a], []
    for column in range(len(a[0])):
        k = len(pivots)
        pivot = next((i for i in range(k, len(a)) if echelon[i][column] != 0), None)
        if pivot is None:
            continue
        echelon[k], echelon[pivot] = echelon[pivot], echelon[k]
        echelon[k] = [value / echelon[k][column] for value in echelon[k]]
        for i in range(len(a)):
            if i != k:
                echelon[i] = [x - echelon[i][column] * y for x, y in zip(echelon[i], echelon[k])]
        pivots.append(column)
    if not pivots:
        return 0, [[fractions.Fraction(0)] * len(b[0]) for _ in a[0]]
    c, f = [[row[j] for j in pivots] for row in a], echelon[:len(pivots)]
    y = solved(product(transposed(c), c), product(transposed(c), b))
    return len(pivots), product(transposed(f), solved(product(f, transposed(f)), y))


def norms(vectors):
    """By column, rounded once at the end."""
    return numpy.array([float(sum(value * value for value in column)) ** 0.5 for column in zip(*vectors)])


def draw(random):
    """Whole numbers: a product of m x r and r x n."""
    n = int(random.integers(1, 9))
    m = n + int(random.integers(1, 6))
    rank = int(random.integers(0, n + 1))
    a = random.integers(-4, 5, (m, rank)) @ random.integers(-2, 3, (rank, n))
    if random.random() < 0.2:
        a[:, random.integers(n)] = 0
    if random.random() < 0.2 and n > 1:
        a[:, 0] = a[:, -1]
    sides = int(random.choice([1, 2, 11]))
    b = random.integers(-9, 10, (m, sides))
    kind = random.choice(["any", "any", "consistent", "orthogonal", "zero"])
    if kind == "consistent":
        b = a @ random.integers(-3, 4, (n, sides))
    if kind == "zero":
        b[:, 0] = 0
    if kind == "orthogonal":
        # What is left of b, times its denominators.
        _, x = smallest_solution(a, b)
        left = [[fractions.Fraction(int(p)) - q for p, q in zip(*rows)] for rows in zip(b, product(a.tolist(), x))]
        common = 1
        for row in left:
            for value in row:
                common = numpy.lcm(common, value.denominator) if common < 1 << 20 else common
        whole = [[value * int(common) for value in row] for row in left]
        if all(value.denominator == 1 and abs(value) < 1 << 22 for row in whole for value in row):
            b = numpy.array([[int(value) for value in row] for row in whole])
    return a, b


def test_systems_of_whole_numbers_have_the_exact_smallest_solution(solve, at_length):
    random = numpy.random.default_rng(SEED)
    for index in range(RUNS_AT_LENGTH if at_length else RUNS):
        a, b = draw(random)
        dtype = random.choice(["float64", "float64", "float32"])
        options = ["--tile", random.choice([1, 2, 3, 16])]
        options += [[], ["--no-condition"], ["--front", "ptg"], ["--ranks", 2, "--workers", 1]][int(random.integers(4))]
        done = solve(a.astype(dtype), b.astype(dtype), *options, order=random.choice(["C", "F"]))
        case = f"seed {SEED}, run {index}: {dtype} {options}\n{a.tolist()}\n{b.tolist()}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, case
        rank, exact = smallest_solution(a, b)
        assert done.report["numerical_rank"] == rank, case
        assert ("linearly dependent" in done.stderr) == (rank < a.shape[1]), case
        values = numpy.linalg.svd(a.astype(float), compute_uv=False)
        condition = values[0] / values[rank - 1] if rank > 0 else 1
        left = [[fractions.Fraction(int(p)) - q for p, q in zip(*rows)] for rows in zip(b, product(a.tolist(), exact))]
        expected, eps = numpy.array(exact, dtype=float), numpy.finfo(dtype).eps
        size = norms(exact) + norms(left) / max(values[rank - 1] if rank > 0 else 1, 1e-300) + norms(b) / max(values[0], 1)
        distance = numpy.linalg.norm(done.x - expected, axis=0)
        assert (distance <= 200 * eps * condition * size).all(), (case, distance, size)
        # The residual is that of the x in the file, and not below the least.
        in_file = [[fractions.Fraction(int(p)) - q for p, q in zip(*rows)]
                   for rows in zip(b, product(a.tolist(), [[fractions.Fraction(float(v)) for v in row] for row in done.x]))]
        sizes = norms(b)
        relative = max([p / q for p, q in zip(norms(in_file), sizes) if q > 0], default=0)
        least = max([p / q for p, q in zip(norms(left), sizes) if q > 0], default=0)
        assert done.report["relative_residual"] == pytest.approx(relative, rel=1e-9, abs=1e-13), case
        assert done.report["relative_residual"] >= least * (1 - 1e-12) - 1e-15, case
        assert relative - least <= done.report["residual_excess_bound"] + 1e-15, case  # both are rounded numbers of about 1
        if "could not be less" in done.stdout:
            assert relative - least <= 0.01 * relative, case


def test_b_orthogonal_to_the_columns_has_the_solution_zero(solve):
    a = numpy.array([[1.0, 2], [1, 2], [-1, -2], [0, 0]])
    b = numpy.array([1.0, 0, 1, 3])
    done = solve(a, b)
    assert done.returncode == 0, done.stderr
    assert numpy.abs(done.x).max() <= 1e-15 and done.report["numerical_rank"] == 1
    assert done.report["relative_residual"] == pytest.approx(1, rel=1e-15) and "could not be less" in done.stdout


@pytest.mark.parametrize("options", [[], ["--tile", 3], ["--ranks", 2, "--workers", 1]])
def test_a_matrix_of_zeros_has_rank_zero(solve, options):
    done = solve(numpy.zeros((7, 4)), numpy.arange(14.0).reshape(7, 2), *options)
    assert done.returncode == 0, done.stderr
    assert (done.x == 0).all() and done.report["numerical_rank"] == 0
    assert "condition_estimate" not in done.report


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_larger_systems_are_those_of_numpy_in_and_out_of_core(solve, dtype, order):
    """The tiles of A leave memory for R in one piece, which then leaves it for them."""
    random = numpy.random.default_rng(3)
    m, n, rank = 420, 260, 190
    a = (random.standard_normal((m, rank)) @ random.standard_normal((rank, n))).astype(dtype)
    b = random.standard_normal((m, 9)).astype(dtype)
    for options, memory in (([], "64MiB"), (["--front", "ptg"], "64MiB"), (["--tile", 40], "5800KiB")):
        done = solve(a, b, *options, order=order, memory=memory)
        assert done.returncode == 0, done.stderr
        eps = numpy.finfo(dtype).eps
        x, _, found, values = numpy.linalg.lstsq(a.astype(float), b.astype(float), rcond=eps * m)
        assert done.report["numerical_rank"] == found == rank
        assert done.report["rank_tolerance"] == pytest.approx(eps * m)
        assert done.report["largest_singular_value"] == pytest.approx(values[0], rel=1e3 * eps)
        assert done.report["smallest_singular_value"] == pytest.approx(values[rank - 1], rel=1e5 * eps)
        assert done.report["dropped_singular_value"] <= eps * m * values[0]
        assert done.report["condition_estimate"] == pytest.approx(values[0] / values[rank - 1], rel=1e5 * eps)
        assert numpy.linalg.norm(done.x - x) <= 1e3 * eps * values[0] / values[rank - 1] * numpy.linalg.norm(x)
    assert done.report["evictions"] > 0


def test_the_tolerance_decides_which_singular_values_count(solve):
    """Singular values 1, 0.1, and 1e-6: with and without the last."""
    random = numpy.random.default_rng(4)
    u, v = (numpy.linalg.qr(random.standard_normal(shape))[0] for shape in ((30, 3), (3, 3)))
    a, b = u @ numpy.diag([1, 0.1, 1e-6]) @ v, random.standard_normal(30)
    for options, rank, rcond in (([], 3, 1e-14), (["--rank-tolerance", "0.9e-6"], 3, 0.9e-6),
                                 (["--rank-tolerance", "1.1e-6"], 2, 1.1e-6), (["--rank-tolerance", "0.5"], 1, 0.5),
                                 (["--rank-tolerance", "0"], 3, 1e-14)):
        done = solve(a, b, *options)
        assert done.returncode == 0, done.stderr
        assert done.report["numerical_rank"] == rank
        x = numpy.linalg.lstsq(a, b, rcond=rcond)[0]
        assert numpy.linalg.norm(done.x - x) <= 1e-8 * numpy.linalg.norm(x)
    # Left out on request, not by rounding: the residual is that of x, and it says of which rank that is the least.
    done = solve(a, b, "--rank-tolerance", "0.5")
    assert done.report["relative_residual"] == pytest.approx(numpy.linalg.norm(b - a @ done.x) / numpy.linalg.norm(b))
    assert "could not be less with a matrix of that rank" in done.stdout


@pytest.mark.parametrize("below", [True, False])
@pytest.mark.parametrize("condition", [[], ["--no-condition"]])
def test_columns_that_hardly_differ_are_decided_as_by_numpy(solve, below, condition):
    random = numpy.random.default_rng(5)
    m, n = 60, 20
    a, b = random.standard_normal((m, n)), random.standard_normal((m, 2))
    a[:, 7] = a[:, 3] + (1e-16 if below else 1e-11) * random.standard_normal(m)
    done = solve(a, b, "--tile", 8, *condition)
    x, _, rank, _ = numpy.linalg.lstsq(a, b, rcond=None)
    assert done.returncode == 0, done.stderr
    assert done.report["numerical_rank"] == rank == n - below
    assert numpy.linalg.norm(done.x - x) <= (1e-10 if below else 1e-3) * numpy.linalg.norm(x)
    assert ("condition_estimate" in done.report) != bool(condition)


@pytest.mark.parametrize("size_of_a, size_of_b", [(1e300, 1e300), (1e300, 1e-5), (1e-300, 1e-290), (1e-160, 1)])
def test_large_and_small_numbers_neither_overflow_nor_vanish(solve, size_of_a, size_of_b):
    random = numpy.random.default_rng(6)
    a, b = random.integers(-4, 5, (9, 4)).astype(float), random.integers(-9, 10, 9).astype(float)
    a[:, 2] = a[:, 0] - a[:, 1]
    usual, done = solve(a, b), solve(size_of_a * a, size_of_b * b)
    assert usual.returncode == done.returncode == 0, done.stderr
    assert done.report["numerical_rank"] == 3
    assert done.x / (size_of_b / size_of_a) == pytest.approx(usual.x, rel=1e-12)


def test_columns_graded_over_three_hundred_orders_are_cut_as_by_numpy(solve):
    a = numpy.random.default_rng(7).standard_normal((12, 4)) * numpy.array([1e300, 1e150, 1, 1e-5])
    b = 1e290 * numpy.arange(12.0)
    done = solve(a, b)
    assert done.returncode == 0 and done.report["numerical_rank"] == 1, done.stderr
    assert done.x[0] == pytest.approx(numpy.linalg.lstsq(a / 1e300, b / 1e300, rcond=None)[0][0], rel=1e-10)
    # Columns that are independent whatever their size: x follows from the solution for columns of one size.
    sizes, narrow = abs(a[:, :2]).max(axis=0) / 1e150, a[:, :2] / 1e150
    kept = solve(narrow, b / 1e150, "--rank-tolerance", "0")
    assert kept.returncode == 0 and kept.report["numerical_rank"] == 2, kept.stderr
    assert kept.x == pytest.approx(numpy.linalg.lstsq(narrow / sizes, b / 1e150, rcond=None)[0] / sizes, rel=1e-9)


def test_a_singular_square_system_has_the_smallest_solution_on_request(solve):
    random = numpy.random.default_rng(8)
    a, b = random.integers(-4, 5, (40, 40)).astype(float), random.standard_normal(40)
    a[:, 11] = a[:, 3] + a[:, 30]
    done = solve(a, b, "--tile", 16, "--rank-tolerance", "1e-12")
    assert done.returncode == 0, done.stderr
    assert done.report["numerical_rank"] == 39
    x = numpy.linalg.lstsq(a, b, rcond=1e-12)[0]
    assert numpy.linalg.norm(done.x - x) <= 1e-9 * numpy.linalg.norm(x)
    assert solve(a, b, "--tile", 16).returncode != 0


def test_without_memory_for_the_decision_there_is_an_error(solve):
    random = numpy.random.default_rng(9)
    a, b = random.standard_normal((900, 700)), random.standard_normal(900)
    a[:, 650] = a[:, 20]
    done = solve(a, b, "--tile", 50, memory="6500KiB")
    assert done.returncode == NOT_SOLVED and done.x is None
    assert "deciding its rank takes R, 700 x 700, in one piece" in done.stderr
    a[:, 650] += random.standard_normal(900)
    assert solve(a, b, "--tile", 50, memory="6500KiB").returncode == 0


@pytest.mark.parametrize("options, said", [(["--rank-tolerance", "-1"], "rank-tolerance"), (["--rank-tolerance", "1"], "below 1"),
                                           (["--method", "lu-nopivot", "--rank-tolerance", "0.1"], "requires --method qr")])
def test_invalid_tolerances_are_refused(solve, options, said):
    done = solve(numpy.eye(3), numpy.ones(3), *options)
    assert done.returncode == NOT_ASKED and said in done.stderr

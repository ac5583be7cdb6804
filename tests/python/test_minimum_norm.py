"""Systems with more unknowns than equations: the solution of smallest norm, compared with numpy.linalg.lstsq."""

import json

import pytest

numpy = pytest.importorskip("numpy")

NOT_SOLVED, WRONG, SEED = 1, 3, 20261130
TYPES = ("f4", "f8", "c8", "c16")


def drawn(rng, shape, dtype):
    real = rng.normal(size=shape)
    return (real + 1j * rng.normal(size=shape) if dtype.startswith("c") else real).astype(dtype)


def wide(dtype):
    return "c16" if dtype.startswith("c") else "f8"


def epsilon(dtype):
    return numpy.finfo(dtype).eps


@pytest.fixture
def solve(fairlead):
    def run(a, b, *options, memory="64MiB"):
        folder = fairlead.folder
        numpy.save(folder / "A.npy", a)
        numpy.save(folder / "b.npy", b)
        (folder / "x.npy").unlink(missing_ok=True)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "report.json", "--progress", "none", "--memory",
                        memory, *options, timeout=300)
        done.x = numpy.load(folder / "x.npy") if (folder / "x.npy").exists() else None
        done.report = json.loads((folder / "report.json").read_text()) if done.x is not None else None
        return done

    return run


def require_smallest(x, a, b, dtype, rank=None):
    """Against LAPACK in double precision, within what rounding of the data may change."""
    m, n = a.shape
    exact = numpy.linalg.lstsq(a.astype(wide(dtype)), b.astype(wide(dtype)), rcond=epsilon(dtype) * n)
    values = exact[3]
    kept = values[values > epsilon(dtype) * n * values[0]]
    assert rank is None or len(kept) == rank
    within = 30 * n * epsilon(dtype) * kept[0] / kept[-1]
    if rank is not None:  # the residual moves the solution by the square of the condition
        within *= 1 + kept[0] / kept[-1]
    difference = numpy.linalg.norm(x - exact[0], axis=0)
    assert (difference <= within * numpy.maximum(numpy.linalg.norm(exact[0], axis=0), 1e-300)).all(), (difference, within)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 2), (1, 90), (16, 17), (40, 111), (70, 200), (130, 131)])
def test_independent_equations(solve, dtype, order, shape):
    rng = numpy.random.default_rng(SEED + shape[0])
    a = numpy.asarray(drawn(rng, shape, dtype), order=order)
    for sides in ((), (3,)):
        b = drawn(rng, shape[:1] + sides, dtype)
        done = solve(a, b, "--tile", 16, "--workers", 2)
        assert done.returncode == 0, done.stderr
        assert done.x.shape == shape[1:] + sides and done.x.dtype == numpy.dtype(dtype)
        require_smallest(done.x, a, b, dtype)
        report = done.report
        assert report["method"] == "qr" and report["numerical_rank"] == shape[0]
        assert report["backward_error"] <= report["backward_error_limit"]
        exact = numpy.linalg.lstsq(a.astype(wide(dtype)), b.astype(wide(dtype)), rcond=None)[0]
        actual = numpy.linalg.norm(done.x - exact, axis=0) / numpy.linalg.norm(exact, axis=0)
        assert (actual <= report["forward_error_bound"]).all(), (actual, report["forward_error_bound"])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape, rank", [((30, 80), 11), ((5, 40), 1), ((64, 65), 63), ((20, 50), 0)])
@pytest.mark.parametrize("consistent", [True, False])
def test_dependent_equations(solve, dtype, shape, rank, consistent):
    """Without a solution, the nearest ones count, as in NumPy."""
    rng = numpy.random.default_rng(SEED + rank)
    left, right = rng.integers(-9, 9, (shape[0], rank)), rng.integers(-9, 9, (rank, shape[1]))
    a = (left @ right).astype(dtype)  # exact in each type
    b = a @ drawn(rng, (shape[1], 2), dtype) if consistent else drawn(rng, (shape[0], 2), dtype)
    done = solve(a, b, "--tile", 16)
    assert done.returncode == 0, done.stderr
    assert "the rows of the matrix are linearly dependent" in done.stderr and f"{rank} of {shape[0]} rows" in done.stderr
    assert done.report["numerical_rank"] == rank
    if rank:
        require_smallest(done.x, a, b, dtype, rank)
    else:
        assert not done.x.any()


@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_out_of_core(solve, dtype):
    rng = numpy.random.default_rng(SEED)
    a, b = drawn(rng, (500, 1500), dtype), drawn(rng, 500, dtype)  # 6 MB
    done = solve(a, b, "--tile", 64, memory="8MiB")
    assert done.returncode == 0, done.stderr
    assert done.report["bytes_written"] > 0
    require_smallest(done.x, a, b, dtype)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("dependent", [False, True])
def test_over_ranks(solve, ranks, dtype, dependent):
    rng = numpy.random.default_rng(SEED)
    a, b = drawn(rng, (60, 150), dtype), drawn(rng, (60, 2), dtype)
    if dependent:
        a[20:] = a[:20].repeat(2, axis=0)
        b[20:] = b[:20].repeat(2, axis=0)
    done = solve(a, b, "--tile", 16, "--ranks", ranks)
    assert done.returncode == 0, done.stderr
    require_smallest(done.x, a, b, dtype, 20 if dependent else None)


def test_extreme_numbers(solve):
    rng = numpy.random.default_rng(SEED)
    a, b = rng.normal(size=(20, 50)), rng.normal(size=20)
    expected = numpy.linalg.lstsq(a, b, rcond=None)[0]
    for of_a, of_b in ((300, 0), (-300, 0), (0, 300), (0, -300), (150, -150), (300, 300)):
        done = solve(a * 2.0**of_a, b * 2.0**of_b)
        assert done.returncode == 0, done.stderr
        assert numpy.allclose(done.x * 2.0 ** (of_a - of_b), expected, rtol=1e-10)


def test_mistakes_name_the_matrix_as_stored(solve, fairlead):
    a, b = numpy.ones((70, 90)), numpy.ones(70)
    a[33, 71] = numpy.nan
    assert "A.npy: the element in row 33, column 71 (counted from 0) is not a number" in solve(a, b).stderr
    for options in (["--method", "lu"], ["--method", "cholesky"]):
        done = solve(numpy.ones((5, 9)), numpy.ones(5), *options)
        assert done.returncode != 0 and done.x is None
    done = fairlead("factor", "A.npy", "-o", "A.factor")
    assert done.returncode == NOT_SOLVED and "fewer rows than columns" in done.stderr, done.stderr
    assert solve(numpy.ones((5, 9)), numpy.ones(9)).returncode == NOT_SOLVED


@pytest.mark.parametrize("dtype", TYPES)
def test_lstsq_of_the_package(fl, dtype):
    rng = numpy.random.default_rng(SEED)
    for shape in ((1, 3), (20, 31), (64, 200)):
        a = drawn(rng, shape, dtype)
        for b in (drawn(rng, shape[0], dtype), drawn(rng, (shape[0], 4), dtype)):
            x, info = fl.lstsq(a, b, memory="64MiB", return_info=True)
            assert x.dtype == numpy.dtype(dtype) and info.rank == shape[0] and info.method == "qr"
            require_smallest(x, a, b, dtype)
            require_smallest(fl.lstsq(numpy.asfortranarray(a)[::1], b), a, b, dtype)
    real = drawn(rng, (10, 25), "f8")
    mixed = drawn(rng, 10, "c16")
    assert numpy.allclose(fl.lstsq(real, mixed), numpy.linalg.lstsq(real.astype("c16"), mixed, rcond=None)[0])

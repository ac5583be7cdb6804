"""`fairlead solve` compared with NumPy: ill-conditioned and graded systems, precisions, triangles, wrong results, and files that
must not be lost."""

import json
import os
import subprocess
import textwrap
from fractions import Fraction

import methods
import pytest

numpy = pytest.importorskip("numpy")

WRONG_RESULT = 3


@pytest.fixture
def solve(fairlead):
    """Solves, with files in the folder; returns messages, the report, and x if there is one."""

    def run(a, b, *options, output="x.npy", **settings):
        folder = fairlead.folder
        if a is not None:
            numpy.save(folder / "A.npy", a)
        numpy.save(folder / "b.npy", b)
        matrix = [] if a is None else ["A.npy"]
        done = fairlead("solve", *matrix, "b.npy", "-o", output, "--json", "report.json", "--progress", "none",
                        "--workers", 2, "--memory", "64MiB", *options, timeout=300, **settings)
        done.report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
        done.x = numpy.load(folder / output) if (folder / output).exists() else None
        return done

    run.folder = fairlead.folder
    return run


def reflected(spectrum, seed):
    """H D H with a random reflection H: its condition is that of D."""
    random = numpy.random.default_rng(seed)
    v = random.standard_normal(len(spectrum))
    v /= numpy.linalg.norm(v)
    h = numpy.eye(len(spectrum)) - 2 * numpy.outer(v, v)
    a = h @ numpy.diag(spectrum) @ h
    return (a + a.T) / 2


def hilbert(n):
    i = numpy.arange(n)
    return 1 / (i[:, None] + i + 1)


def graded(n, seed):
    random = numpy.random.default_rng(seed)
    d = 10 ** random.uniform(-3, 3, n)
    return d[:, None] * (0.9 * numpy.eye(n) + 0.1) * d


def kernel(n, seed):
    x = numpy.random.default_rng(seed).uniform(0, 10, n)
    return numpy.exp(-((x[:, None] - x) ** 2) / 2) + 1e-8 * numpy.eye(n)


SYSTEMS = [(name, make, seed) for seed in range(3) for name, make in {
    "even": lambda seed: reflected(numpy.linspace(1, 2, 150), seed),
    "geometric": lambda seed: reflected(numpy.logspace(0, -9, 150), seed),
    "one small": lambda seed: reflected(numpy.r_[numpy.ones(120), 1e-11], seed),
    "graded": lambda seed: graded(90, seed),
    "kernel": lambda seed: kernel(130, seed),
}.items()] + [("hilbert", lambda n: hilbert(n), n) for n in (4, 8, 11)]


@pytest.mark.parametrize("name, make, seed", SYSTEMS, ids=[f"{name}-{seed}" for name, _, seed in SYSTEMS])
def test_the_condition_and_the_forward_error_are_those_of_numpy(solve, name, make, seed):
    a = make(seed)
    truth = numpy.random.default_rng(100 + seed).standard_normal(len(a))
    done = solve(a, a @ truth, "--tile", 32)
    assert done.returncode == 0, done.stderr
    condition = numpy.linalg.cond(a, 1)
    # Near 10^16 NumPy's own inverse has few digits.
    slack = 1 + 100 * condition * 2.2e-16
    assert condition / 3 / slack <= done.report["condition_estimate"] <= condition * 1.01 * slack
    assert done.report["condition_sweeps"] == 4
    # The right-hand side is rounded, too: its share is at most the condition times half a rounding.
    error = abs(done.x - truth).max() / abs(truth).max()
    assert error <= done.report["forward_error_bound"] + 4 * condition * 1.2e-16
    warned = "the matrix is ill-conditioned" in done.stderr
    assert warned == (done.report["trusted_digits"] < 5)
    assert done.report["trusted_digits"] == min(15, int(-numpy.floor(numpy.log10(done.report["forward_error_bound"]))) - 1)


def test_hilberts_matrix_of_order_12_is_singular_to_rounding(solve):
    done = solve(hilbert(12), numpy.ones(12))
    assert done.returncode == WRONG_RESULT and done.x is None
    assert "the matrix is singular to rounding" in done.stderr and "no digit of the solution can be trusted" in done.stderr
    assert done.report["trusted_digits"] == 0
    kept = solve(hilbert(12), numpy.ones(12), "--keep-anyway")
    assert kept.returncode == WRONG_RESULT and len(kept.x) == 12


def test_the_estimate_goes_along_with_refinement(solve):
    a = reflected(numpy.r_[numpy.ones(150), 1e-3], 1)
    done = solve(a, numpy.ones(151), "--refine", "--tile", 32)
    assert done.returncode == 0
    condition = numpy.linalg.cond(a, 1)
    assert condition / 3 <= done.report["condition_estimate"] <= condition * 1.01
    assert done.report["condition_sweeps"] == 0
    assert "condition estimate" not in [phase["name"] for phase in done.report["phases"]]


def test_the_estimate_can_be_left_out(solve):
    done = solve(hilbert(11), numpy.ones(11), "--no-condition")
    assert done.returncode == 0 and done.stderr == ""
    assert "condition_estimate" not in done.report


@pytest.mark.parametrize("of_a", ["float32", "float64"])
@pytest.mark.parametrize("of_b", ["float32", "float64"])
def test_types_are_promoted_as_numpy_does(solve, of_a, of_b):
    a = reflected(numpy.logspace(0, -3, 100), 5).astype(of_a)
    a = (a + a.T) / 2
    b = numpy.random.default_rng(5).standard_normal((100, 3)).astype(of_b)
    expected = numpy.linalg.solve(a, b)
    for options in ([], ["--refine"]):
        done = solve(a, b, *options)
        assert done.returncode == 0, done.stderr
        assert done.x.dtype == expected.dtype and done.x.shape == expected.shape
        close = 1e-2 if expected.dtype == numpy.float32 else 1e-11
        assert abs(done.x - expected).max() <= close * abs(expected).max()


def corrupt_tiny(n):
    """A system so small that its elements have a few digits only: no one can solve it to rounding."""
    a = reflected(numpy.logspace(0, -1, n), 7) * 1e-318
    return (numpy.tril(a) + numpy.tril(a, -1).T), numpy.full(n, 1e-318)


@pytest.mark.parametrize("options", [[], ["--refine"]])
def test_a_wrong_result_has_its_own_status_and_no_file(solve, fairlead, options):
    a, b = corrupt_tiny(80)
    done = solve(a, b, *options)
    assert done.returncode == WRONG_RESULT, done.stdout + done.stderr
    assert done.x is None
    assert done.report["backward_error"] > done.report["backward_error_limit"]
    assert "the result is wrong: its backward error is" in done.stderr
    assert "--keep-anyway" in done.stderr
    assert sorted(path.name for path in fairlead.folder.iterdir()) == ["A.npy", "b.npy", "report.json"]

    kept = solve(a, b, "--keep-anyway", *options)
    assert kept.returncode == WRONG_RESULT
    assert kept.x is not None and kept.x.shape == b.shape


TOO_LARGE_OR_SMALL = {"large": (1e-30, [1e10, 1, 2]), "small": (1e30, [1e-20, 1e-10])}


@pytest.mark.parametrize("ranks", [[], ["--ranks", 3]])
@pytest.mark.parametrize("what, points", [("large", False), ("small", False), ("small", True)])
def test_a_solution_beyond_its_files_type_is_a_wrong_result(solve, what, points, ranks):
    """Refined in double precision, and right there; the file of the solution is in single precision."""
    size, b = TOO_LARGE_OR_SMALL[what]
    of_file, a = numpy.float32, size * numpy.eye(len(b))
    options = ["--refine", *ranks]
    if points:  # far apart: the kernel matrix is diagonal
        numpy.save(solve.folder / "points.npy", 100 * numpy.arange(len(b), dtype=of_file)[:, None])
        options += ["--kernel", "rbf", "--points", "points.npy", "--nugget", size]
    given = None if points else a.astype(of_file)
    done = solve(given, numpy.array(b, of_file), *options)
    assert done.returncode == WRONG_RESULT, done.stdout + done.stderr
    assert done.x is None and "trusted_digits" not in done.report
    assert "too large or too small for single precision" in done.stderr and "--keep-anyway" in done.stderr
    kept = solve(given, numpy.array(b, of_file), "--keep-anyway", *options)
    assert kept.returncode == WRONG_RESULT and kept.x.dtype == of_file
    wide = solve(given, numpy.array(b), *options)  # the file is in double precision then
    assert wide.returncode == 0, wide.stderr
    assert wide.x == pytest.approx(numpy.array(b) / size, rel=1e-6)


def test_small_numbers_in_a_column_of_large_ones_may_vanish_in_the_file(solve):
    """A solution that decays as fast is right to rounding, as it is where all is computed in single precision."""
    b = numpy.float32([1, 1e-20, 1e-40, 0])
    done = solve(1e10 * numpy.eye(4, dtype=numpy.float32), b, "--refine")
    assert done.returncode == 0, done.stderr
    assert done.x == pytest.approx([1e-10, 1e-30, 0, 0], rel=1e-6, abs=1e-45)


@pytest.mark.parametrize("options", [[], ["--no-condition"], ["--refine"], ["--ranks", 3]])
def test_a_solution_is_right_where_the_norm_of_the_matrix_overflows(solve, options):
    a = numpy.array([[1.2, 0.9], [0.9, 1.2]]) * 1e308
    b = numpy.array([1e-10, 2.1e-10])
    done = solve(a, b, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    (p, q), (r, s) = [[Fraction(x) for x in row] for row in a.tolist()]
    c, d = (Fraction(x) for x in b.tolist())
    exact = (s * c - q * d) / (p * s - q * r), (p * d - r * c) / (p * s - q * r)
    for x, right in zip(done.x.tolist(), exact):
        assert abs(Fraction(x) - right) <= 4 * Fraction(5e-324)  # the distance of numbers of this size
    assert "condition_estimate" not in done.report


def test_an_old_solution_stays_if_the_new_one_is_wrong(solve, fairlead):
    numpy.save(fairlead.folder / "x.npy", numpy.arange(3.0))
    done = solve(*corrupt_tiny(80))
    assert done.returncode == WRONG_RESULT
    assert (done.x == numpy.arange(3.0)).all()


def test_flipped_bits_on_the_disk_are_detected(fairlead, command):
    """Out of core; of all that is read back from the spill file, one number in each of five tiles has one bit wrong: in the
    tile's last row and first column, which is used on the diagonal, too. Five, since a tile may be dropped unused."""
    folder = fairlead.folder
    (folder / "flip.c").write_text(textwrap.dedent(r"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <stdatomic.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <unistd.h>
        static atomic_int reads;
        /* The spill file has no name: no links lead to it. */
        static void flip(int file, char* to, ssize_t got) {
          struct stat state;
          if (got < 64 * 64 * 8 || fstat(file, &state) != 0 || !S_ISREG(state.st_mode) || state.st_nlink != 0) return;
          int read = atomic_fetch_add(&reads, 1) - atoi(getenv("FLIP_READ"));
          if (read < 0 || read >= 5) return;
          to[63 * 8 + 7] ^= 0x04; /* a bit of the exponent of one double */
        }
        ssize_t pread64(int file, void* to, size_t size, off64_t at) {
          ssize_t (*next)(int, void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pread64");
          ssize_t got = next(file, to, size, at);
          flip(file, to, got);
          return got;
        }
        ssize_t pread(int file, void* to, size_t size, off_t at) { return pread64(file, to, size, at); }
        """))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "flip.so", folder / "flip.c", "-ldl"], check=True)

    def bench(what, which, checksums):
        return subprocess.run([command, "bench", what, checksums, "--n", "900", "--tile", "64", "--workers", "2", "--progress", "none",
                               "--scheduler", "eager", "--memory", "5MiB"],
                              cwd=folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "LD_PRELOAD": str(folder / "flip.so"), "FLIP_READ": str(which)})

    for what in ("cholesky", "lu-nopivot", "gemm"):
        for checksums in ("--checksums", "--no-checksums"):
            untouched = bench(what, 10**9, checksums)
            assert untouched.returncode == 0, untouched.stderr
        noticed = bench(what, 30, "--checksums")
        assert noticed.returncode == 1
        assert noticed.stderr.count("came back from the disk otherwise than it was written") == 1, noticed.stderr
        flipped = bench(what, 30, "--no-checksums")
        assert flipped.returncode == WRONG_RESULT, what + flipped.stdout + flipped.stderr
        assert "the result is wrong: its backward error is" in flipped.stderr


@pytest.mark.parametrize("what", [*methods.METHODS, "gemm"])
def test_benchmarks_of_the_smallest_problems_pass(fairlead, what):
    """With n = 1 and the first seed, A B is tiny compared with the C that it is added to, and C is rounded to its own size."""
    for n, seed in ((1, 47164), (1, 5), (2, 6), (3, 7)):
        done = fairlead("bench", what, "--n", n, "--seed", seed, "--progress", "none", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("option", ["--lower", "--upper"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_triangle_is_enough(solve, order, option, dtype):
    a = reflected(numpy.logspace(0, -2, 300), 9).astype(dtype)
    a = numpy.tril(a) + numpy.tril(a, -1).T
    half = numpy.tril(a) if option == "--lower" else numpy.triu(a)
    other = numpy.triu(numpy.full_like(a, numpy.nan), 1)
    half = half + (other if option == "--lower" else other.T)  # garbage in the unused triangle
    half = numpy.asarray(half, order=order)
    b = numpy.random.default_rng(9).standard_normal((300, 2)).astype(dtype)
    expected = numpy.linalg.solve(a.astype("float64"), b)
    for more in ([], ["--refine"], ["--memory", "6MiB", "--tile", 32]):
        done = solve(half, b, option, *more)
        assert done.returncode == 0, done.stderr
        assert abs(done.x - expected).max() <= (1e-3 if dtype == "float32" else 1e-11) * abs(expected).max()
    assert solve(half, b, "--method", "cholesky").returncode == 1  # an error without the option


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_mean_of_two_triangles_is_solved_with_on_request(solve, order):
    random = numpy.random.default_rng(3)
    a = reflected(numpy.logspace(0, -2, 300), 3)
    noisy = numpy.asarray(a + 1e-11 * random.standard_normal(a.shape), order=order)
    b = random.standard_normal(300)
    done = solve(noisy, b, "--method", "cholesky")
    assert done.returncode == 1 and "--symmetrize" in done.stderr
    expected = numpy.linalg.solve((noisy + noisy.T) / 2, b)
    for more in ([], ["--memory", "6MiB", "--tile", 32], ["--refine"]):
        done = solve(noisy, b, "--symmetrize", *more)
        assert done.returncode == 0, done.stderr
        assert abs(done.x - expected).max() <= 1e-12 * abs(expected).max()
    noisy[7, 200] += 1e-3
    done = solve(noisy, b, "--symmetrize")
    assert done.returncode == 1 and "row 7, column 200" in done.stderr and "more than rounding" in done.stderr


def test_rounding_in_the_other_triangle_is_no_error_of_the_solution(solve):
    """Within the tolerance, but the residual of the whole file would be that of another matrix."""
    a = reflected(numpy.ones(200) + 1e-3, 3)
    other = a + numpy.triu(numpy.full_like(a, 80 * 2.2e-16), 1)
    done = solve(other, numpy.ones(200))
    assert done.returncode == 0, done.stderr
    assert done.report["backward_error"] < 1e-15


def test_the_bound_includes_rounding_to_the_file(solve):
    """x is refined to double precision, and its file is in single."""
    n = 150
    a = reflected(numpy.logspace(0, -2, n), 5).astype("f4")
    a = numpy.tril(a) + numpy.tril(a, -1).T
    b = numpy.random.default_rng(5).standard_normal((n, 3)).astype("f4")
    done = solve(a, b, "--refine")
    assert done.returncode == 0 and done.x.dtype == numpy.float32, done.stderr
    a, b, x = (array.astype("f8") for array in (a, b, done.x))
    of_file = (abs(b - a @ x).max(axis=0) / (abs(a).sum(axis=1).max() * abs(x).max(axis=0) + abs(b).max(axis=0))).max()
    computed, rounded = done.report["backward_error"], done.report["rounded_in_file"]
    assert computed < 1e-15 < of_file <= computed + rounded and rounded <= 6e-8
    assert f"before it was rounded by {rounded:.1e} to the single precision of its file" in " ".join(done.stdout.split())
    in_double = solve(a, b, "--refine")
    assert in_double.returncode == 0 and "rounded_in_file" not in in_double.report and "rounded by" not in in_double.stdout


@pytest.mark.parametrize("scale, said", [(1e307, "is infinite, or too large for single precision; trying again"), (numpy.inf, "is infinite")])
def test_overflow_of_single_precision_is_not_reported_as_infinite(solve, scale, said):
    a = reflected(numpy.linspace(1, 2, 30), 6)
    a[0, 0] *= scale
    done = solve(a, numpy.ones(30), "--refine")
    assert said in done.stderr and (done.returncode == 1) == numpy.isinf(scale), done.stderr


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("memory", [[], ["--memory", "6MiB", "--tile", 32]])
def test_refinement_solves_with_the_file_and_judges_symmetry_in_the_files_precision(solve, order, memory):
    """The tiles are in single precision: what they agree in says nothing of the file."""
    n = 200
    random = numpy.random.default_rng(11)
    a = reflected(numpy.logspace(0, -2, n), 11)
    b = random.standard_normal((n, 2))
    noise = random.uniform(-1, 1, (n, n))
    size = numpy.sqrt(a.diagonal())
    barely = numpy.asarray(a + numpy.triu(noise, 1) * 30 * 2.2e-16 * numpy.outer(size, size), order=order)
    done = solve(barely, b, "--refine", *memory)
    assert done.returncode == 0, done.stderr
    residual = abs(b - barely @ done.x).max(axis=0)
    assert (residual <= 4 * 2.2e-16 * (abs(a).sum(axis=1).max() * abs(done.x).max(axis=0) + abs(b).max(axis=0))).all()

    for size, options in ((1e-9, []), (1e-6, ["--symmetrize"])):
        for row, column in ((7, 150), (7, 9)):  # in a separate tile, and next to the diagonal
            odd = numpy.array(a, order=order)
            odd[row, column] += size
            done = solve(odd, b, "--method", "cholesky", "--refine", *options, *memory)
            assert done.returncode == 1 and f"row {row}, column {column}" in done.stderr, done.stderr

    noisy = numpy.asarray(a + noise * 1e-11, order=order)
    done = solve(noisy, b, "--refine", "--symmetrize", *memory)
    assert done.returncode == 0, done.stderr
    expected = numpy.linalg.solve((noisy + noisy.T) / 2, b)
    assert abs(done.x - expected).max() <= 1e-12 * abs(expected).max()


def test_triangle_options_exclude_each_other_and_require_files(solve):
    a = numpy.eye(5)
    for options in (["--lower", "--upper"], ["--lower", "--symmetrize"]):
        done = solve(a, numpy.ones(5), *options)
        assert done.returncode == 2 and "exclude each other" in done.stderr


def links_of(folder, name):
    os.link(folder / name, folder / "hard.npy")
    os.symlink(folder / name, folder / "soft.npy")
    os.symlink("soft.npy", folder / "softer.npy")
    return [name, f"./{name}", str(folder / name), "hard.npy", "soft.npy", "softer.npy"]


@pytest.mark.parametrize("name", ["A.npy", "b.npy"])
def test_an_output_over_an_input_is_refused(fairlead, name):
    folder = fairlead.folder
    numpy.save(folder / "A.npy", 2 * numpy.eye(5))
    numpy.save(folder / "b.npy", numpy.ones(5))
    before = {path: (folder / path).read_bytes() for path in ("A.npy", "b.npy")}
    for output in links_of(folder, name):
        for option in ("-o", "--json", "--report", "--trace", "--event-log"):
            own = [] if option == "-o" else ["-o", "x.npy"]
            done = fairlead("solve", "A.npy", "b.npy", option, output, *own)
            assert done.returncode == 2, (option, output)
            assert "is the same file as" in done.stderr
            assert {path: (folder / path).read_bytes() for path in before} == before
            assert not (folder / "x.npy").exists()


@pytest.mark.parametrize("setting", ["cuda-kernels", "blas"])
def test_an_output_over_a_loaded_file_is_refused(fairlead, setting):
    folder = fairlead.folder
    numpy.save(folder / "A.npy", 2 * numpy.eye(5))
    numpy.save(folder / "b.npy", numpy.ones(5))
    (folder / "K").write_bytes(b"kernels")
    done = fairlead("solve", "A.npy", "b.npy", f"--{setting}", "./K", "-o", "K")
    assert done.returncode == 2 and f"is the same file as --{setting} ./K" in done.stderr
    assert (folder / "K").read_bytes() == b"kernels"
    done = fairlead("solve", "A.npy", "b.npy", "--cuda-kernels", "none", "-o", "none")
    assert done.returncode == 0, done.stderr


def test_overwrite_replaces_an_input(fairlead):
    folder = fairlead.folder
    numpy.save(folder / "A.npy", 2 * numpy.eye(5))
    numpy.save(folder / "b.npy", numpy.ones(5))
    done = fairlead("solve", "A.npy", "b.npy", "-o", "b.npy", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert abs(numpy.load(folder / "b.npy") - 0.5).max() < 1e-15


def test_two_outputs_in_one_file_are_refused(fairlead):
    folder = fairlead.folder
    numpy.save(folder / "A.npy", 2 * numpy.eye(5))
    numpy.save(folder / "b.npy", numpy.ones(5))
    os.symlink("x.npy", folder / "y.npy")  # what it leads to is not there yet
    for output in ("x.npy", "./x.npy", "y.npy"):
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", output)
        assert done.returncode == 2 and "are the same file" in done.stderr
    done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "/dev/null", "--report", "/dev/null")
    assert done.returncode == 0, done.stderr

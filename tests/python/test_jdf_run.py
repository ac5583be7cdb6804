"""`fairlead jdf run` from .npy to .npy, compared with NumPy: the examples in and out of core, in both precisions, for sizes that do
not divide, under several policies, with emulated devices; and errors of the input."""

import pathlib
import signal
import subprocess
import time

import pytest

numpy = pytest.importorskip("numpy")

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf"
NOT_DONE, NOT_ASKED = 1, 2


@pytest.fixture
def run(fairlead):
    """Runs an example, in single precision if the matrices are; returns messages and outputs."""

    def run(name, matrices, output, *options, order="C", text=None):
        folder = fairlead.folder
        text = text or (EXAMPLES / name).read_text()
        if next(iter(matrices.values())).dtype == numpy.float32:
            text = text.replace("tile_d", "tile_s")
        (folder / name).write_text(text)
        given = []
        for letter, matrix in matrices.items():
            numpy.save(folder / f"{letter}.npy", numpy.asarray(matrix, order=order))
            given += ["--matrix", f"{letter}={letter}.npy"]
        done = fairlead("jdf", "run", name, *given, "-o", f"{output}=out.npy", "--workers", 2, "--progress", "none", *options,
                        timeout=300)
        done.result = numpy.load(folder / "out.npy") if (folder / "out.npy").exists() else None
        return done

    return run


def random_matrix(shape, dtype, seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(dtype)


def positive_definite(n, dtype):
    a = random_matrix((n, n), numpy.float64)
    return (a @ a.T / n + numpy.eye(n)).astype(dtype)


def expect_product(done, product, expected, dtype):
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.result.dtype == dtype
    expected = expected.astype(numpy.float64)
    error = numpy.abs(product(done.result.astype(numpy.float64)) - expected).max()
    assert error <= 30 * len(expected) * numpy.finfo(dtype).eps * numpy.abs(expected).max()


def expect_cholesky(done, a, dtype):
    expect_product(done, lambda out: numpy.tril(out) @ numpy.tril(out).T, a, dtype)
    assert (numpy.triu(done.result, 1) == numpy.triu(a, 1)).all()  # what is above is as it was


def expect_lu(done, a, dtype):
    expect_product(done, lambda lu: (numpy.tril(lu, -1)[:, :min(a.shape)] + numpy.eye(len(a), min(a.shape)))
                   @ numpy.triu(lu)[:min(a.shape)], a, dtype)


def dominant(m, n, dtype):
    return random_matrix((m, n), dtype) + (2 * max(m, n)) * numpy.eye(m, n, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, tile", [(1, 8), (64, 32), (100, 32), (333, 50), (200, 300)])
def test_cholesky(run, n, tile, dtype):
    a = positive_definite(n, dtype)
    expect_cholesky(run("cholesky.jdf", {"A": a}, "A", "--tile", tile), a, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, tile", [(1, 1, 4), (96, 96, 32), (250, 250, 64), (130, 250, 48), (192, 100, 64)])
def test_lu(run, m, n, tile, dtype):
    a = dominant(m, n, dtype)
    expect_lu(run("lu.jdf", {"A": a}, "A", "--tile", tile), a, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, k, tile", [(1, 1, 1, 4), (96, 64, 32, 32), (150, 70, 210, 64)])
def test_gemm(run, m, n, k, tile, dtype):
    a, b, c = random_matrix((m, k), dtype, 1), random_matrix((k, n), dtype, 2), random_matrix((m, n), dtype, 3)
    done = run("gemm.jdf", {"A": a, "B": b, "C": c}, "C", "--tile", tile, "--set", "alpha=1.5", "--set", "beta=-0.5")
    expect_product(done, lambda out: out, 1.5 * a.astype(float) @ b - 0.5 * c.astype(float), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, columns, tile", [(1, 1, 4), (96, 32, 32), (250, 70, 64), (333, 1, 50)])
def test_trsm(run, n, columns, tile, dtype):
    a = numpy.tril(random_matrix((n, n), dtype)) + (2 * n) * numpy.eye(n, dtype=dtype)
    b = random_matrix((n, columns), dtype, 2)
    expect_product(run("trsm.jdf", {"A": a, "B": b}, "B", "--tile", tile), lambda x: a.astype(float) @ x, b, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, n, tile, memory", [(1, 1, 4, "1GiB"), (96, 96, 32, "1GiB"), (250, 130, 48, "1GiB"), (130, 250, 48, "1GiB"),
                                                (700, 500, 64, "3MiB")])
def test_qr(run, fairlead, m, n, tile, memory, dtype):
    tiles, text = (EXAMPLES / "tiles.h").read_text(), (EXAMPLES / "qr.jdf").read_text()
    if dtype == "float32":
        text = text.replace("double", "float").replace("CORE_d", "CORE_s")
    (fairlead.folder / "tiles.h").write_text(tiles)
    a, block = random_matrix((m, n), dtype), 4
    of_t = f"T={block * -(-m // tile)},{n},{block},{tile}"
    done = run("qr.jdf", {"A": a}, "A", "--tile", tile, "--matrix", of_t, "--precision",
               "single" if dtype == "float32" else "double", "--allow-c", "--memory", memory, text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    r, exact = numpy.triu(done.result)[:min(m, n)].astype(float), a.astype(float)
    error = numpy.abs(r.T @ r - exact.T @ exact).max()  # A^T A = R^T Q^T Q R
    assert error <= 100 * m * numpy.finfo(dtype).eps * numpy.abs(exact.T @ exact).max()


def solved_by_pairs(factors, diagonal, lower, exchanges, right, tile, block):
    """What lu-incremental.jdf has left, on a right-hand side, row by row and block by block; `exchanges` count from 1."""
    n, x = len(factors), right.astype(numpy.longdouble)
    starts = list(range(0, n, tile))
    for k, first in enumerate(starts):
        size = min(tile, n - first)
        for left in range(0, size, block):
            right_end = min(left + block, size)
            for i in range(left, right_end):
                other = exchanges[k, first + i] - 1
                x[[first + i, first + other]] = x[[first + other, first + i]]
            for i in range(left, right_end):
                x[first + i + 1:first + size] -= diagonal[first + i + 1:first + size, i] * x[first + i]
        for m in range(k + 1, len(starts)):
            below = slice(starts[m], starts[m] + tile)
            for left in range(0, size, block):
                right_end = min(left + block, size)
                for i in range(left, right_end):
                    if exchanges[m, first + i] > tile:
                        other = starts[m] + exchanges[m, first + i] - tile - 1
                        x[[first + i, other]] = x[[other, first + i]]
                for i in range(left, right_end):
                    triangle = lower[m * block + i - left + 1:m * block + right_end - left, first + i]
                    x[first + i + 1:first + right_end] -= triangle * x[first + i]
                x[below] -= factors[below, first + left:first + right_end].astype(numpy.longdouble) @ x[first + left:first + right_end]
    for i in reversed(range(n)):
        x[i] = (x[i] - factors[i, i + 1:] @ x[i + 1:]) / factors[i, i]
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, tile, block, memory", [(1, 4, 2, "1GiB"), (96, 32, 8, "1GiB"), (250, 48, 7, "1GiB"), (100, 150, 16, "1GiB"),
                                                    (600, 64, 16, "3MiB")])
def test_lu_with_incremental_pivoting(run, fairlead, n, tile, block, memory, dtype):
    (fairlead.folder / "tiles.h").write_text((EXAMPLES / "tiles.h").read_text())
    text = (EXAMPLES / "lu-incremental.jdf").read_text()
    if dtype == "float32":
        text = text.replace("CORE_d", "CORE_s")
    a, tiles = random_matrix((n, n), dtype), -(-n // tile)
    if n > 1:
        a[0, 0] = 0  # which is no pivot
    done = run("lu-incremental.jdf", {"A": a}, "A", "--tile", tile, "--matrix", f"D={n},{tile},{tile},{tile}", "--matrix",
               f"L={block * tiles},{n},{block},{tile}", "--matrix", f"IPIV={tiles},{n},1,{tile}", "-o", "D=D.npy", "-o", "L=L.npy",
               "-o", "IPIV=P.npy", "--precision", "single" if dtype == "float32" else "double", "--allow-c", "--memory", memory,
               text=text)
    assert done.returncode == 0, done.stdout + done.stderr
    if memory != "1GiB":
        assert "read" in done.stdout
    raw, exchanges = numpy.load(fairlead.folder / "P.npy"), numpy.zeros((tiles, n), dtype=int)
    for first in range(0, n, tile):  # numbers of type int lie at the beginning of a tile
        count = min(tile, n - first)
        for m in range(tiles):
            exchanges[m, first:first + count] = numpy.ascontiguousarray(raw[m, first:first + count]).view("int32")[:count]
    b = random_matrix(n, dtype, 2)
    factors, diagonal, lower = done.result, numpy.load(fairlead.folder / "D.npy"), numpy.load(fairlead.folder / "L.npy")
    x = solved_by_pairs(factors, diagonal, lower, exchanges, b, tile, block)
    exact = a.astype(numpy.longdouble)
    epsilon = numpy.finfo(dtype).eps

    def backward_error(x):
        residual = numpy.abs(b - exact @ x).max()
        return residual / (numpy.abs(exact).sum(axis=1).max() * numpy.abs(x).max() + numpy.abs(b).max())

    # LAPACK's error is that of partial pivoting; by pairs elements may grow by a factor of two for each tile of a column.
    assert backward_error(x) <= 8 * tiles * (backward_error(numpy.linalg.solve(a, b)) + epsilon)
    # The largest of a column comes first in its tile, so no factor is larger than one.
    assert max(numpy.abs(numpy.tril(diagonal[first:first + tile], -1)).max(initial=0) for first in range(0, n, tile)) <= 1


def test_lu_with_incremental_pivoting_of_a_singular_matrix(run, fairlead):
    (fairlead.folder / "tiles.h").write_text((EXAMPLES / "tiles.h").read_text())
    a = random_matrix((100, 100), "float64")
    a[:, 70] = 0
    done = run("lu-incremental.jdf", {"A": a}, "A", "--tile", 32, "--matrix", "D=100,32,32,32", "--matrix", "L=32,100,8,32", "--matrix",
               "IPIV=4,100,1,32", "--allow-c")
    assert done.returncode == NOT_DONE and done.result is None
    assert "TSTRF(3, 2) sets INFO to 71" in done.stderr or "TSTRF(3,2) sets INFO to 71" in done.stderr, done.stderr


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("memory", ["1GiB", "3MiB"])
def test_rectangular_tiles(run, order, memory, dtype):
    m, n, k = 550, 333, 401
    a, b, c = random_matrix((m, k), dtype, 1), random_matrix((k, n), dtype, 2), random_matrix((m, n), dtype, 3)
    done = run("gemm.jdf", {"A": a, "B": b, "C": c}, "C", "--tiles", "A=96x40", "--tiles", "B=40x64", "--tiles", "C=96x64",
               "--set", "alpha=1.5", "--set", "beta=-0.5", "--memory", memory, order=order)
    expect_product(done, lambda out: out, 1.5 * a.astype(float) @ b - 0.5 * c.astype(float), dtype)


def test_rectangular_tiles_of_all_matrices(run):
    a = dominant(96, 50, "float64")
    # Of two columns of tiles each body takes the whole: what it does is to count its tile's places.
    text = """descA [type = "tiled_matrix *"]
ONE(m, n)
m = 0 .. descA->mt-1
n = 0 .. descA->nt-1
: descA(m, n)
RW A <- descA(m, n)
     -> descA(m, n)
BODY
{
  int rows = m == descA->mt-1 ? descA->m - m * descA->mb : descA->mb;
  int columns = n == descA->nt-1 ? descA->n - n * descA->nb : descA->nb;
  tile_dlaset('A', rows, columns, 1.0 * m, 100.0 + n, A, descA->mb);
}
END
"""
    done = run("one.jdf", {"A": a}, "A", "--tiles", "20x30", text=text)
    assert done.returncode == 0, done.stderr
    expected = numpy.zeros_like(a)
    for i in range(0, 96, 20):
        for j in range(0, 50, 30):
            piece = expected[i:i + 20, j:j + 30]
            piece[:] = i // 20
            numpy.fill_diagonal(piece, 100 + j // 30)
    assert (done.result == expected).all()


@pytest.mark.parametrize("options, message", [
    (["--tiles", "A=3"], "ROWSxCOLUMNS"), (["--tiles", "0x3"], "ROWSxCOLUMNS"), (["--tiles", "3x4x5"], "ROWSxCOLUMNS"),
    (["--tiles", "X=3x4"], "has no X"), (["--tiles", "A=3x4", "--tiles", "A=4x4"], "already given"),
    (["--tiles", "3x4", "--tile", "8"], "both set"),
])
def test_invalid_tiles_are_refused(run, options, message):
    done = run("cholesky.jdf", {"A": positive_definite(20, "float64")}, "A", *options)
    assert done.returncode == NOT_ASKED and message in done.stderr, done.stderr


def test_a_file_for_square_tiles_refuses_others(run):
    done = run("cholesky.jdf", {"A": positive_definite(40, "float64")}, "A", "--tiles", "8x10")
    assert done.returncode == NOT_DONE and done.result is None, done.stderr


@pytest.mark.parametrize("scheduler", ["auto", "lws", "eager", "darts", "blocks", "dmdas"])
def test_out_of_core_under_policies(run, scheduler):
    a = positive_definite(900, "float64")  # 6.5 MB
    options = ["--tile", 64, "--memory", "3MiB"]
    if scheduler != "auto":
        options += ["--scheduler", scheduler]
    done = run("cholesky.jdf", {"A": a}, "A", *options)
    expect_cholesky(done, a, numpy.float64)
    assert "read" in done.stdout
    b = dominant(600, 600, "float32")
    expect_lu(run("lu.jdf", {"A": b}, "A", *options), b, numpy.float32)


def test_memory_of_the_largest_task_is_enough(run):
    n, tile = 400, 80
    a = positive_definite(n, "float64")
    pages = -(-tile * tile * 8 // 4096) * 4096
    smallest = None
    for kib in range(2 * 1024, 2 * 1024 + 8 * pages // 1024, 16):  # two workers' buffers come before
        done = run("cholesky.jdf", {"A": a}, "A", "--tile", tile, "--memory", f"{kib}KiB")
        if done.returncode == 0:
            smallest = kib
            expect_cholesky(done, a, numpy.float64)
            break
        assert "memory" in done.stderr and done.result is None, done.stderr
    assert smallest is not None
    for kib in (smallest + 4, smallest + 64, smallest + 300):
        expect_cholesky(run("cholesky.jdf", {"A": a}, "A", "--tile", tile, "--memory", f"{kib}KiB"), a, numpy.float64)


def test_emulated_devices(run):
    a = positive_definite(300, "float64")
    expect_cholesky(run("cholesky.jdf", {"A": a}, "A", "--tile", 64, "--devices", "emulated:memory=300KiB,count=2"), a,
                    numpy.float64)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_output_is_stored_as_the_input(run, fairlead, order):
    a = positive_definite(150, "float64")
    expect_cholesky(run("cholesky.jdf", {"A": a}, "A", "--tile", 64, order=order), a, numpy.float64)
    assert numpy.load(fairlead.folder / "out.npy", mmap_mode="r").flags.f_contiguous == (order == "F")


def test_an_output_may_replace_its_input(run, fairlead):
    a = positive_definite(90, "float64")
    done = run("cholesky.jdf", {"A": a}, "A", "--tile", 32)
    again = fairlead("jdf", "run", "cholesky.jdf", "--matrix", "A=A.npy", "-o", "A=A.npy", "--overwrite", "--tile", 32)
    assert again.returncode == 0, again.stderr
    assert (numpy.load(fairlead.folder / "A.npy") == done.result).all()


def test_matrices_without_a_file_are_zero(fairlead):
    numpy.save(fairlead.folder / "A.npy", numpy.eye(70))
    numpy.save(fairlead.folder / "B.npy", random_matrix((70, 50), "float64"))
    done = fairlead("jdf", "run", EXAMPLES / "gemm.jdf", "--matrix", "A=A.npy", "--matrix", "descB=B.npy", "--matrix",
                    "C=70,50,32,32", "--set", "alpha=2", "--set", "beta=1", "-o", "C=out.npy", "--tile", 32)
    assert done.returncode == 0, done.stderr
    assert numpy.allclose(numpy.load(fairlead.folder / "out.npy"), 2 * numpy.load(fairlead.folder / "B.npy"))


SHIFT = """
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
MOVE(k)
k = 0 .. descA->mt-2
: descA(k, 0)
READ A <- descA(k, 0)
       -> descB(k + 1, 0)
WRITE N <- NEW
        -> (k == 0) ? descB(0, 0)
BODY
{
    if (k == 0) tile_dlaset('A', descA->mb, descA->nb, 0.0, 7.0, N, descA->mb);
}
END
"""


def test_values_are_stored_in_other_tiles(run, fairlead):
    a = random_matrix((96, 32), "float64")
    numpy.save(fairlead.folder / "B.npy", a)
    done = run("shift.jdf", {"A": a}, "B", "--matrix", "B=96,32,32,32", "--tile", 32, text=SHIFT)
    assert done.returncode == 0, done.stderr
    assert (done.result[32:] == a[:64]).all()
    assert (done.result[:32] == 7 * numpy.eye(32)).all()


OVERLAP = """
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
ADD(k)
k = 0 .. descA->mt-1
: descA(k, 0)
READ B <- (k == 0) ? descB(0, 0)
       <- (k <= 1) ? descB(1, 0)
       <- descB(2, 0)
RW   A <- descA(k, 0)
       -> descA(k, 0)
BODY
{
    tile_dgeadd(descA->mb, descA->nb, 1.0, B, descB->mb, 1.0, A, descA->mb);
}
END
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_input_whose_guard_holds_is_used(run, dtype):
    a, b = random_matrix((160, 32), dtype), random_matrix((96, 32), dtype, seed=2)
    done = run("overlap.jdf", {"A": a, "B": b}, "A", "--tile", 32, text=OVERLAP)
    assert done.returncode == 0, done.stderr
    assert (done.result == a + numpy.concatenate([b, b[64:], b[64:]])).all()


def test_numerical_failure_names_the_column(run):
    a = positive_definite(200, "float64")
    a[140, 140] = -1
    done = run("cholesky.jdf", {"A": a}, "A", "--tile", 64)
    assert done.returncode == NOT_DONE and done.result is None
    assert "POTRF(2) sets INFO to 141" in done.stderr and "not positive definite" in done.stderr
    a = dominant(100, 100, "float64")
    a[0, 0] = 0
    done = run("lu.jdf", {"A": a}, "A", "--tile", 32)
    assert done.returncode == NOT_DONE and "GETRF(0) sets INFO to 1:" in done.stderr


def test_an_unchecked_failure_of_a_body(run):
    text = (EXAMPLES / "cholesky.jdf").read_text()
    text = text.replace("int failed = tile_dpotrf", "tile_dpotrf")
    text = text.replace("    if (failed != 0 && *INFO == 0) *INFO = k * descA->mb + failed;\n", "")
    a = -numpy.eye(50)
    done = run("cholesky.jdf", {"A": a}, "A", "--tile", 32, text=text)
    assert done.returncode == NOT_DONE
    assert "tile_dpotrf of POTRF(0) returns 1: the leading minor" in done.stderr


def refused(done, code, *texts):
    assert done.returncode == code, done.stdout + done.stderr
    for text in texts:
        assert text in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_input(run, fairlead):
    a = numpy.eye(64)
    cholesky = EXAMPLES / "cholesky.jdf"
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "tall.npy", numpy.eye(64, 32))
    refused(fairlead("jdf", "run", cholesky), NOT_DONE, "cholesky.jdf works on descA: give --matrix descA=FILE.npy")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "B=A.npy"), NOT_ASKED, "has no B")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "decA=A.npy"), NOT_ASKED, "did you mean descA?")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=none.npy"), NOT_DONE, "none.npy: cannot be opened")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=tall.npy", "--tile", 16), NOT_DONE,
            "and descA has 4 x 2 tiles")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=64,64,16,8"), NOT_DONE,
            "uses 16 x 16 of T, which is a tile of 16 x 8")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=A.npy", "-o", "B=x.npy"), NOT_ASKED, "has no B")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=A.npy", "-o", "x.npy"), NOT_ASKED, "NAME=FILE.npy")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=A.npy", "-o", "A=A.npy"), NOT_ASKED, "--overwrite")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=A.npy", "-o", "A=none/x.npy"), NOT_DONE, "none")
    refused(fairlead("jdf", "run", EXAMPLES / "gemm.jdf", *(word for name in "ABC" for word in
                                                            ("--matrix", f"{name}={name}.npy" if name == "A" else
                                                             f"{name}=64,64,16,16")), "--tile", 16),
            NOT_DONE, "gemm.jdf:63", "alpha has no value: give --set alpha=...")
    refused(fairlead("jdf", "run", cholesky, "--matrix", "A=A.npy", "--record-flow", "x"), NOT_ASKED, "fairlead simulate jdf")
    single = cholesky.read_text().replace("tile_d", "tile_s")
    refused(run("cholesky.jdf", {"A": a}, "A", text=single), NOT_DONE, "cholesky.jdf:28:18",
            "tile_spotrf is for tiles of float; T has double here")


def test_bodies_in_c_are_reported(run):
    text = (EXAMPLES / "cholesky.jdf").read_text()
    for wrong, what in (("printf(\"%d\", k);", "printf(...) is not an interpreted function"),
                        ("for (int i = 0; i < k; ++i) ;", "for(...)"),
                        ("tile_dpotf('L', 3, T, 3);", "did you mean tile_dpotrf?"),
                        ("tile_dpotrf('L', 3, T);", "3 of 4 arguments: tile_dpotrf(uplo, n, A, lda)"),
                        ("tile_dpotrf('L', 3, k, 3);", "a flow of POTRF stands here"),
                        ("double x = T[0];", "T is a flow, not a number")):
        done = run("cholesky.jdf", {"A": numpy.eye(32)}, "A", text=text.replace("int failed", wrong + " int failed", 1))
        refused(done, NOT_DONE, "cholesky.jdf:28:", "error:", "this body is C that is not interpreted")
        assert what.split("(")[0] in done.stderr, done.stderr
    # A READ flow is not changed.
    wrong = text.replace("T, descA->mb, C, descA->mb);", "C, descA->mb, T, descA->mb);", 1)
    refused(run("cholesky.jdf", {"A": numpy.eye(32)}, "A", text=wrong), NOT_DONE, "T is changed here, and READ there")


def test_an_invalid_graph_does_not_run(run):
    text = (EXAMPLES / "cholesky.jdf").read_text().replace("T SYRK(k-1, k)", "T SYRK(k-1, k+1)", 1)
    done = run("cholesky.jdf", {"A": numpy.eye(100)}, "A", "--tile", 20, text=text)
    refused(done, NOT_DONE, "cannot run with these sizes")
    assert done.result is None


def test_a_read_of_the_matrix_gives_its_initial_value(run):
    text = '''
A [ type = "tiled_matrix *" ]
W(k)
k = 0 .. A->mt-1
: A(k, 0)
RW X <- A(k, 0)
     -> A(k, 0)
CTL c -> c R(k)
BODY
END
R(k)
k = 0 .. A->mt-1
: A(k, 0)
READ Y <- A(k, 0)
CTL c <- c W(k)
BODY
END
'''
    done = run("later.jdf", {"A": numpy.eye(64, 16)}, "A", "--tile", 16, text=text)
    refused(done, NOT_DONE, "later.jdf:14:11: Y of R(0) takes A(0,0) from memory after X of W(0) has left a value there")


def test_a_call_beyond_the_tile_is_an_error(run):
    text = (EXAMPLES / "cholesky.jdf").read_text()
    text = text.replace("int rows = k == descA->mt-1 ? descA->m - k * descA->mb : descA->mb;", "int rows = descA->mb;", 1)
    done = run("cholesky.jdf", {"A": numpy.eye(50)}, "A", "--tile", 32, text=text)
    refused(done, NOT_DONE, "tile_dpotrf of POTRF(1) uses 32 x 32 of T, which is a tile of 18 x 18")


def test_interrupted(command, fairlead):
    folder = fairlead.folder
    n = 6000
    numpy.save(folder / "A.npy", numpy.eye(n))
    process = subprocess.Popen([command, "jdf", "run", EXAMPLES / "cholesky.jdf", "--matrix", "A=A.npy", "-o", "A=out.npy",
                                "--tile", "64", "--workers", "1", "--memory", "64MiB", "--progress", "none"], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    began = time.monotonic()
    while "fairlead: tasks" not in fairlead("status", process.pid).stdout:
        assert process.poll() is None and time.monotonic() - began < 60
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    rest = process.communicate()[1]
    assert process.wait(60) == 130, rest
    assert time.monotonic() - began < 30
    assert "interrupted" in rest
    assert sorted(path.name for path in folder.iterdir()) == ["A.npy"]


PASSED_ON = """
descD [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
/* A task for each use of a tile: it names the tile RW, but does nothing with it. */
PASS(k, n)
  k = 0 .. descB->mt-1
  n = 0 .. descB->nt-1
  : descD(k, 0)
  RW D <- descD(k, 0)
       -> D ADD(k, n)
BODY
/* nothing */
END
ADD(k, n)
  k = 0 .. descB->mt-1
  n = 0 .. descB->nt-1
  : descB(k, n)
  READ D <- D PASS(k, n)
  RW   B <- descB(k, n)
         -> descB(k, n)
BODY
{
  tile_dgeadd(8, 8, 1.0, D, 8, 2.0, B, 8);
}
END
"""


@pytest.mark.parametrize("options", [(), ("--ranks", 3)])
def test_tasks_that_only_pass_a_tile_on_do_not_change_it(run, options):
    d, b = random_matrix((32, 8), numpy.float64), random_matrix((32, 24), numpy.float64, seed=2)
    done = run("passed.jdf", {"descD": d, "descB": b}, "descB", "--tile", 8, *options, text=PASSED_ON)
    assert done.returncode == 0, done.stderr
    assert (done.result == numpy.tile(d, 3) + 2 * b).all()

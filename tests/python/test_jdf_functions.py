"""Each function on tiles that bodies of JDF files may call, in both precisions, compared with NumPy: one task on one tile each."""

import itertools

import pytest

numpy = pytest.importorskip("numpy")

N, M = 7, 5  # of tiles of 8, so that columns are farther apart than they are long

TASK = """
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
descC [ type = "tiled_matrix *" ]
ONE(k)
k = 0 .. 0
: descC(0, 0)
RW A <- descA(0, 0)
     -> descA(0, 0)
RW B <- descB(0, 0)
     -> descB(0, 0)
RW C <- descC(0, 0)
     -> descC(0, 0)
BODY
{{
    {call}
}}
END
"""


@pytest.fixture
def call(fairlead):
    """The values of A, B and C after the call."""

    def call(text, dtype, **matrices):
        given = []
        for letter in "ABC":
            matrix = matrices.get(letter, numpy.zeros((1, 1))).astype(dtype)
            numpy.save(fairlead.folder / f"{letter}.npy", matrix)
            given += ["--matrix", f"{letter}={letter}.npy", "-o", f"{letter}={letter}_out.npy"]
        text = text.replace("tile_", "tile_s" if dtype == numpy.float32 else "tile_d")
        (fairlead.folder / "one.jdf").write_text(TASK.format(call=text))
        done = fairlead("jdf", "run", "one.jdf", *given, "--tile", 8, "--workers", 1, "--quiet")
        assert done.returncode == 0, done.stderr
        return [numpy.load(fairlead.folder / f"{letter}_out.npy") for letter in "ABC"]

    return call


@pytest.fixture(params=[numpy.float32, numpy.float64])
def dtype(request):
    return request.param


def random_matrix(rows, columns, seed=0):
    return numpy.random.default_rng(seed).standard_normal((rows, columns))


def triangle(a, uplo, diag="N"):
    part = numpy.tril(a) if uplo == "L" else numpy.triu(a)
    return part if diag == "N" else part - numpy.diag(numpy.diag(part)) + numpy.eye(len(a))


def op(a, trans):
    return a if trans == "N" else a.T


def expect(found, expected, dtype):
    assert numpy.abs(found - expected).max() <= 200 * numpy.finfo(dtype).eps * max(1, numpy.abs(expected).max())


@pytest.mark.parametrize("trans_a, trans_b", itertools.product("NT", "NTC"))
def test_gemm(call, dtype, trans_a, trans_b):
    k = 6
    a, b, c = random_matrix(N, k, 1), random_matrix(k, M, 2), random_matrix(N, M, 3)
    out = call(f"tile_gemm('{trans_a}', '{trans_b}', {N}, {M}, {k}, 1.5, A, 8, B, 8, -0.5, C, 8);", dtype,
               A=op(a, trans_a), B=op(b, trans_b), C=c)[2]
    expect(out, 1.5 * a @ b - 0.5 * c, dtype)


@pytest.mark.parametrize("uplo, trans", itertools.product("LU", "NT"))
def test_syrk(call, dtype, uplo, trans):
    a, c = random_matrix(N, M, 1), random_matrix(N, N, 2)
    out = call(f"tile_syrk('{uplo}', '{trans}', {N}, {M}, 2.0, A, 8, 3.0, C, 8);", dtype, A=op(a, trans), C=c)[2]
    full = 2 * a @ a.T + 3 * c
    expect(out, triangle(full, uplo) + c - triangle(c, uplo), dtype)


@pytest.mark.parametrize("side, uplo", itertools.product("LR", "LU"))
def test_symm(call, dtype, side, uplo):
    order = N if side == "L" else M
    a, b, c = random_matrix(order, order, 1), random_matrix(N, M, 2), random_matrix(N, M, 3)
    out = call(f"tile_symm('{side}', '{uplo}', {N}, {M}, 2.0, A, 8, B, 8, 0.5, C, 8);", dtype, A=a, B=b, C=c)[2]
    part = triangle(a, uplo)
    whole = part + part.T - numpy.diag(numpy.diag(part))
    expect(out, 2 * (whole @ b if side == "L" else b @ whole) + 0.5 * c, dtype)


@pytest.mark.parametrize("side, uplo, trans, diag", itertools.product("LR", "LU", "NT", "NU"))
def test_trsm_and_trmm(call, dtype, side, uplo, trans, diag):
    order = N if side == "L" else M
    a, b = random_matrix(order, order, 1) / 4 + 2 * numpy.eye(order), random_matrix(N, M, 2)
    t = op(triangle(a, uplo, diag), trans)
    letters = f"'{side}', '{uplo}', '{trans}', '{diag}', {N}, {M}, 0.5, A, 8, B, 8"
    multiplied = call(f"tile_trmm({letters});", dtype, A=a, B=b)[1]
    expect(multiplied, 0.5 * (t @ b if side == "L" else b @ t), dtype)
    solved = call(f"tile_trsm({letters});", dtype, A=a, B=b)[1]
    expect(t @ solved if side == "L" else solved @ t, 0.5 * b, dtype)


@pytest.mark.parametrize("uplo", "LU")
def test_potrf_and_trtri(call, dtype, uplo):
    a = random_matrix(N, N, 1)
    a = a @ a.T + numpy.eye(N)
    out = call(f"tile_potrf('{uplo}', {N}, A, 8);", dtype, A=a)[0]
    factor = triangle(out, uplo)
    expect(factor @ factor.T if uplo == "L" else factor.T @ factor, a, dtype)
    for diag in "NU":
        t = random_matrix(N, N, 2) / 4 + 2 * numpy.eye(N)
        inverse = triangle(call(f"tile_trtri('{uplo}', '{diag}', {N}, A, 8);", dtype, A=t)[0], uplo, diag)
        expect(inverse @ triangle(t, uplo, diag), numpy.eye(N), dtype)


@pytest.mark.parametrize("m, n", [(N, N), (N, M), (M, N)])
@pytest.mark.parametrize("name", ["getrf_without_pivots", "getrf_nopiv"])
def test_getrf(call, dtype, name, m, n):
    a = random_matrix(m, n, 1) + 10 * numpy.eye(m, n)
    lu = call(f"tile_{name}({m}, {n}, A, 8);", dtype, A=a)[0].astype(float)
    k = min(m, n)
    expect((numpy.tril(lu, -1)[:, :k] + numpy.eye(m, k)) @ numpy.triu(lu)[:k], a, dtype)


@pytest.mark.parametrize("what", "LUA")
def test_lacpy_and_laset(call, dtype, what):
    a, b = random_matrix(N, M, 1).astype(dtype), random_matrix(N, M, 2).astype(dtype)
    part = {"L": numpy.tril, "U": numpy.triu, "A": numpy.asarray}[what](numpy.ones((N, M)))
    out = call(f"tile_lacpy('{what}', {N}, {M}, A, 8, B, 8);", dtype, A=a, B=b)[1]
    assert (out == numpy.where(part, a, b)).all()
    out = call(f"tile_laset('{what}', {N}, {M}, 3.0, 4.0, B, 8);", dtype, B=b)[1]
    assert (out == numpy.where(part, 3 + numpy.eye(N, M), b)).all()


def test_geadd_and_scale(call, dtype):
    a, b = random_matrix(N, M, 1), random_matrix(N, M, 2)
    expect(call(f"tile_geadd({N}, {M}, 2.0, A, 8, 0.5, B, 8);", dtype, A=a, B=b)[1], 2 * a + 0.5 * b, dtype)
    expect(call(f"tile_scale({N}, {M}, -3.0, A, 8);", dtype, A=a)[0], -3 * a, dtype)


def test_statements_of_bodies(call):
    """Declarations, choices, blocks and the end of a body."""
    text = """
    const int n = 3, m = n + 1;
    double factor = n > 2 ? 0.5 : 2.0;
    int again = 0;
    if (m == 4) { again = 1; factor = factor * 3; } else factor = 100.0;
    if (again != 1) tile_scale(n, n, 1000.0, A, 8);
    { int n = 2; tile_scale(n, 1, factor, A, 8); }
    (void)m;
    ;
    if (again) return;
    tile_scale(8, 8, 1000.0, A, 8);
    """
    a = random_matrix(8, 8)
    expected = a.copy()
    expected[:2, 0] *= 1.5
    expect(call(text, numpy.float64, A=a)[0], expected, numpy.float64)


@pytest.mark.parametrize("beta", [-2.0, 0.0])
@pytest.mark.parametrize("trans", "NT")
def test_empty_products_scale_c(call, dtype, beta, trans):
    c = random_matrix(N, N, 3)
    a = random_matrix(N, N, 1)
    result = call(f"tile_gemm('{trans}', 'N', {N}, {M}, 0, 1.0, A, 8, B, 8, {beta}, C, 8);", dtype, A=a, B=a, C=c)[2]
    expected = c.astype(dtype)
    expected[:, :M] *= dtype(beta)
    assert (result == expected).all()
    result = call(f"tile_syrk('L', '{trans}', {N}, 0, 1.0, A, 8, {beta}, C, 8);", dtype, A=a, C=c)[2]
    lower = numpy.tri(N, dtype=bool)
    assert (result[lower] == c.astype(dtype)[lower] * dtype(beta)).all() and (result[~lower] == c.astype(dtype)[~lower]).all()


@pytest.mark.parametrize("text, says", [("tile_dgemm('N', 'N', 4, 4, -1, 1.0, A, 8, B, 8, 1.0, C, 8);", "4 x -1 of A"),
                                        ("tile_dgemm('N', 'N', 4, 4, 0, 1.0, A, 2, B, 8, 1.0, C, 8);", "columns are 2 apart")])
def test_negative_sizes_are_refused(fairlead, text, says):
    numpy.save(fairlead.folder / "a.npy", numpy.ones((8, 8)))
    (fairlead.folder / "one.jdf").write_text(TASK.format(call=text))
    done = fairlead("jdf", "run", "one.jdf", *(word for letter in "ABC" for word in ("--matrix", f"{letter}=a.npy")), "-o", "C=c.npy",
                    "--tile", 8, "--workers", 1, "--quiet")
    assert done.returncode == 1 and says in done.stderr, done.stderr

"""Drawn calls of the package, compared with NumPy: types, layouts, kinds of matrices, shapes of b, methods and options."""

import random
import warnings

import pytest

numpy = pytest.importorskip("numpy")

# Relative to the size of the solution and the condition number.
TOLERANCE = {"f": 2e-6, "d": 1e-14, "F": 4e-6, "D": 2e-14}
STRUCTURES = ("general", "symmetric", "hermitian", "positive", "tall")
TYPES = ("f8", "f4", "c16", "c8", "<f8", ">f8", ">f4", ">c8", ">c16", "i4", "u2", "?")


def drawn_matrix(rng, structure, rows, columns, a_type="f8"):
    elements = rng.integers(-1000, 1000, (rows, columns)) / 250
    if numpy.dtype(a_type).kind == "c":
        elements = elements + 1j * rng.integers(-1000, 1000, (rows, columns)) / 250
    if structure == "symmetric":
        elements = elements + elements.T
    if structure in ("hermitian", "positive"):
        elements = elements + elements.conj().T
    if structure == "positive":
        elements += numpy.eye(rows) * 8 * rows
    return elements


def computed(dtype):
    """The type with which NumPy's linear algebra computes, in native byte order."""
    dtype = numpy.dtype(dtype)
    return numpy.dtype("f8") if dtype.kind in "biu" else dtype.newbyteorder("=")


def wide(a):
    return a.astype("c16" if a.dtype.kind == "c" else "f8")


def in_layout(rng, a, layout):
    """The same elements, and the array or object by which they are given."""
    rows, columns = a.shape
    if layout == "c":
        return numpy.ascontiguousarray(a)
    if layout == "fortran":
        return numpy.asfortranarray(a)
    if layout in ("gap", "fortran gap"):
        base = numpy.zeros((rows + 2, columns + 5), a.dtype, order="C" if layout == "gap" else "F")
        view = base[1:rows + 1, 2:columns + 2]
        view[...] = a
        return view
    if layout == "strided":
        base = numpy.zeros((2 * rows, 3 * columns), a.dtype)
        view = base[::2, ::3]
        view[...] = a
        return view
    if layout == "reversed":
        return numpy.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1]
    if layout == "read-only":
        copy = a.copy()
        copy.flags.writeable = False
        return copy
    if layout == "unaligned":
        memory = numpy.zeros(a.nbytes + 1, "u1")[1:].view(a.dtype).reshape(a.shape)
        memory[...] = a
        return memory
    if layout == "list":
        return a.tolist()
    raise ValueError(layout)


LAYOUTS = ("c", "fortran", "gap", "fortran gap", "strided", "reversed", "read-only", "unaligned", "list", "function", "sliced",
           "map", "file")


class Sliced:
    """An array outside of memory: it has shape, type and slices."""

    def __init__(self, a):
        self._a, self.shape, self.dtype = a, a.shape, a.dtype

    def __getitem__(self, slices):
        return self._a[slices]


def given(rng, a, layout, folder):
    """The matrix and the arguments by which a call gets it."""
    if layout == "function":
        return (lambda rows, columns: a[numpy.ix_(rows, columns)]), {"shape": a.shape, "dtype": a.dtype}
    if layout == "sliced":
        return Sliced(a), {}
    if layout in ("map", "file"):
        path = folder / f"a{rng.integers(1 << 40)}.npy"
        numpy.save(path, a)
        return (numpy.load(path, mmap_mode="r") if layout == "map" else path), {}
    return in_layout(rng, a, layout), {}


def compare(x, exact, a, dtype):
    """x has NumPy's type and shape, and as many digits as the condition permits."""
    assert x.dtype == dtype and x.shape == exact.shape
    if x.size == 0:
        return
    condition = numpy.linalg.cond(wide(a))
    worst = numpy.abs(x - exact).max() / max(numpy.abs(exact).max(), 1e-30)
    assert worst <= 8 * TOLERANCE[dtype.char] * condition * a.shape[0], f"condition {condition:.1e}"


def mirrored(a, structure):
    """The same type, and exactly symmetric or Hermitian, after it was rounded."""
    below = numpy.tril(a, -1)
    if a.dtype == bool:
        return numpy.tril(a) | below.T
    above = below.T if structure == "symmetric" else below.T.conj()
    diagonal = numpy.diag(numpy.diag(a) if structure == "symmetric" else numpy.diag(a).real.astype(a.dtype))
    return (below + above + diagonal).astype(a.dtype)


def well_posed(a):
    return min(a.shape) == 0 or numpy.linalg.cond(wide(a)) < (1e4 if a.dtype.itemsize == 4 or a.dtype.char == "F" else 1e9)


def drawn_call(seed):
    """A matrix, its structure and layout, and b."""
    choose, rng = random.Random(seed), numpy.random.default_rng(seed)
    while True:
        structure, layout, a_type, b_type = (choose.choice(kinds) for kinds in (STRUCTURES, LAYOUTS, TYPES, TYPES))
        n = choose.choice((0, 1, 1, 2, 3, 7, 40, 97, 131))
        rows = n + choose.choice((1, 5, 30)) if structure == "tall" else n
        if structure == "tall" and numpy.dtype(a_type).kind == "c":
            continue  # QR of complex matrices has tests of its own
        a = drawn_matrix(rng, structure, rows, n, a_type)
        a = (numpy.abs(numpy.rint(a)) if a_type == "u2" else numpy.rint(a) if a_type == "i4" else a).astype(a_type)
        if layout == "file" and (a.dtype.kind not in "fc" or a.size == 0):
            continue
        if layout in ("map", "list") and a.size == 0:
            continue
        if structure in ("symmetric", "hermitian", "positive"):
            a = mirrored(a, structure)
        if not well_posed(a):
            continue
        shape = (rows,) if choose.random() < 0.5 else (rows, choose.choice((0, 1, 2, 5)))
        b = rng.integers(-90, 90, shape) / 7
        b = (b + 1j * rng.integers(-90, 90, shape) / 7 if numpy.dtype(b_type).kind == "c" else b).astype(b_type)
        return choose, rng, structure, layout, a, b


ASSUMED = {"general": (None, "gen"), "symmetric": (None, "gen", "sym"), "hermitian": (None, "gen", "her"),
           "positive": (None, "gen", "her", "pos")}


@pytest.mark.parametrize("part", range(4))
@pytest.mark.filterwarnings("ignore:The matrix is ill-conditioned")
@pytest.mark.filterwarnings("ignore:The matrix is not quite symmetric")
@pytest.mark.filterwarnings("ignore:At most")
def test_solutions_are_those_of_numpy(fl, tmp_path, at_length, part):
    for seed in range(part, 1500 if at_length else 320, 4):
        choose, rng, structure, layout, a, b = drawn_call(seed)
        matrix, options = given(rng, a, layout, tmp_path)
        message = f"seed {seed}: {structure}, {layout}, {a.dtype.str}, {b.dtype.str}, {a.shape}, b {b.shape}"
        dtype = numpy.result_type(computed(numpy.asarray(matrix).dtype if layout == "list" else a.dtype), computed(b.dtype))
        if 0 in a.shape or b.size == 0:
            exact = numpy.zeros((a.shape[1], *b.shape[1:]))
        else:
            exact = numpy.linalg.lstsq(wide(a), wide(b), rcond=None)[0]
        before = b.copy()
        try:
            if structure == "tall":
                x = fl.lstsq(matrix, b, memory="64MiB", workers=2, **options)
            else:
                assumed = choose.choice(ASSUMED[structure] if a.dtype != bool else (None, "gen"))
                message += f", {assumed}"
                x = fl.solve(matrix, b, assume_a=assumed, memory="64MiB", workers=2, **options)
            compare(x, exact, a, dtype)
        except Exception as error:
            raise AssertionError(message) from error
        assert (b == before).all(), message


def mistaken(choose, rng):
    """Arguments that NumPy refuses, or that it has no answer for."""
    n = choose.choice((1, 2, 5, 40))
    a, b = rng.normal(size=(n, n)), rng.normal(size=n)
    return choose.choice((
        lambda: (rng.normal(size=(n, n + 1)), b),
        lambda: (rng.normal(size=(n + 1, n)), rng.normal(size=n + 1)),
        lambda: (rng.normal(size=n), b),
        lambda: (numpy.float64(3), b),
        lambda: (a, rng.normal(size=n + 1)),
        lambda: (a, rng.normal(size=(n + 2, 3))),
        lambda: (numpy.zeros((n, n)), b),
        lambda: (numpy.ones((n + 1, n + 1)), rng.normal(size=n + 1)),
        lambda: (a.astype("f2"), b),
        lambda: (a.astype("c8").astype(object), b),
        lambda: (a, b.astype("f2")),
        lambda: (a.astype("M8[s]"), b),
        lambda: (a.astype("U9"), b),
        lambda: (a, b.astype("S9")),
        lambda: (rng.normal(size=(0, n)), rng.normal(size=0)),
    ))()


def test_mistakes_have_the_classes_of_numpy(fl, at_length):
    for seed in range(400 if at_length else 60):
        a, b = mistaken(random.Random(seed), numpy.random.default_rng(seed))
        with pytest.raises(Exception) as of_numpy:
            numpy.linalg.solve(a, b)
        kind = next(kind for kind in (numpy.linalg.LinAlgError, ValueError, TypeError) if issubclass(of_numpy.type, kind))
        with pytest.raises(kind):
            fl.solve(a, b, memory="64MiB")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:The matrix is ill-conditioned")
def test_factors_solve_as_numpy_does(fl, tmp_path, layout):
    rng = numpy.random.default_rng(LAYOUTS.index(layout))
    for number, (name, structure, a_type) in enumerate(
            [("lu", "general", "f8"), ("ldl", "symmetric", "f4"), ("cholesky", "positive", ">f8"), ("qr", "general", "f8"),
             ("factor", "positive", "f4"), ("lu", "general", "c16"), ("cholesky", "positive", ">c8"), ("factor", "hermitian", "c16")]):
        n = (5, 33, 64, 12, 1, 33, 21, 64)[number]
        a = drawn_matrix(rng, structure, n, n, a_type).astype(a_type)
        matrix, options = given(rng, a, layout, tmp_path)
        of_list = numpy.asarray(matrix) if layout == "list" else a
        b = rng.normal(size=(n, 3)).astype("f4" if numpy.finfo(of_list.dtype).bits == 32 else "f8")
        dtype = numpy.result_type(computed(of_list.dtype), b.dtype)
        with getattr(fl, name)(matrix, memory="64MiB", workers=2, **options) as f:
            assert f.shape == (n, n) and f.dtype == dtype
            for trans, transposed in ((0, a), (1, a.T), (2, a.conj().T)):
                compare(f.solve(b, trans=trans), numpy.linalg.solve(wide(transposed), wide(b)), a, dtype)
            complex_b = b[:, 0] + b[:, 1].astype("F" if dtype.char in "fF" else "D") * 1j
            compare(f.solve(complex_b), numpy.linalg.solve(wide(a), wide(complex_b)), a, complex_b.dtype)
            sign, log_absolute = numpy.linalg.slogdet(wide(a))
            close = 1e-4 if dtype.char in "fF" else 1e-11
            found = f.slogdet()
            assert abs(found.sign - sign) < close and isinstance(found.sign, complex if dtype.kind == "c" else float)
            assert found.logabsdet == pytest.approx(log_absolute, rel=close, abs=close)
            if f.method in ("cholesky", "ldlt"):
                eigenvalues = numpy.linalg.eigvalsh(wide(a))
                assert f.inertia() == ((eigenvalues > 0).sum(), (eigenvalues < 0).sum(), 0)
            else:
                with pytest.raises(ValueError, match="inertia"):
                    f.inertia()
            if name != "qr":
                f.save(tmp_path / name)
                with fl.load(tmp_path / name, memory="32MiB") as g:
                    assert (g.solve(b) == f.solve(b)).all()
                    assert g.method == f.method and g.info is None and g.condition == f.condition
        assert abs(fl.slogdet(matrix, **options).sign - sign) < close
        compare(fl.inv(matrix, memory="64MiB", **options), numpy.linalg.inv(wide(a)), a, dtype)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("structure, assumed", [("positive", "pos"), ("positive", None), ("symmetric", "sym")])
def test_one_triangle_of_a_symmetric_matrix(fl, structure, assumed, lower):
    rng = numpy.random.default_rng(7)
    a, b = drawn_matrix(rng, structure, 50, 50), rng.normal(size=50)
    stored = numpy.tril(a) if lower else numpy.triu(a)
    exact = numpy.linalg.solve(a, b)
    assert numpy.allclose(fl.solve(stored, b, assume_a=assumed, lower=lower), exact, rtol=1e-9, atol=1e-12)
    assert numpy.allclose(fl.factor(stored, assume_a=assumed, lower=lower).solve(b), exact, rtol=1e-9, atol=1e-12)
    assert numpy.allclose(fl.solve(stored, b, assume_a="gen", lower=lower), numpy.linalg.solve(stored, b), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind, text", [("good", ""), ("ill-conditioned", "solutions may have 2 right digits"),
                                        ("singular", "solutions may have no right digit"), ("growth", "elements grew")])
def test_loaded_factors_that_cannot_be_trusted_warn(fl, tmp_path, kind, text):
    """A solve by them alone is not checked."""
    a = numpy.random.default_rng(6).standard_normal((60, 60))
    if kind == "growth":
        a[0, 0] = 1e-12
    else:
        u, values, vh = numpy.linalg.svd(a)
        a = u * numpy.append(numpy.ones(59), {"good": 0.1, "ill-conditioned": 3e-12, "singular": 1e-18}[kind]) @ vh
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fl.factor(a, method="lu-nopivot" if kind == "growth" else "lu").save(tmp_path / "A.factor")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fl.load(tmp_path / "A.factor").close()
    assert [text in str(warning.message).lower() for warning in caught] == ([True] if text else [])

"""Products by the package, compared with NumPy's: kinds of matrices, orders, shapes, sinks, elements that are not finite."""

import itertools
import os
import pathlib
import re
import subprocess
import sys

import numpy
import pytest

LinAlgError = numpy.linalg.LinAlgError


def drawn(shape, dtype="f8", seed=0):
    rng = numpy.random.default_rng(seed)
    a = rng.normal(size=shape)
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * rng.normal(size=shape)
    return a.astype(dtype) if numpy.dtype(dtype).kind in "fc" else (10 * a).astype(dtype)


def close(c, a, b):
    """Within the roundings of sums of so many products."""
    wide = numpy.result_type(a, b, "f8")
    expected = numpy.asarray(a, wide) @ numpy.asarray(b, wide)
    size = numpy.abs(numpy.asarray(a, wide)) @ numpy.abs(numpy.asarray(b, wide))
    return bool((abs(c - expected) <= 4 * numpy.finfo(c.dtype).eps * a.shape[1] ** 0.5 * size + 1e-300).all())


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 300, 5), (130, 1, 301), (257, 190, 33), (3, 2000, 2), (600, 500, 700)])
@pytest.mark.parametrize("b_type", ["f4", "f8", "c8", "c16", "i4"])
@pytest.mark.parametrize("a_type", ["f4", "f8", "c8", "c16", ">f8"])
def test_types_and_shapes(fl, a_type, b_type, shape):
    m, k, n = shape
    a, b = drawn((m, k), a_type), drawn((k, n), b_type, 1)
    c = fl.multiply(a, b, memory="64MiB")
    assert c.shape == (m, n) and close(c, a, b)
    assert c.dtype == numpy.result_type(*(numpy.float64 if x.dtype.kind in "biu" else x.dtype.newbyteorder("=") for x in (a, b)))


VIEWS = {
    "C": lambda a: numpy.ascontiguousarray(a),
    "F": lambda a: numpy.asfortranarray(a),
    "rows of a larger one": lambda a: numpy.concatenate([a, a])[: len(a)],
    "columns of a larger one": lambda a: numpy.concatenate([a, a], axis=1)[:, : a.shape[1]],
    "every second": lambda a: numpy.repeat(numpy.repeat(a, 2, 0), 2, 1)[::2, ::2],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "broadcast": lambda a: numpy.broadcast_to(a[:1], a.shape),
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("of_b", VIEWS)
@pytest.mark.parametrize("of_a", VIEWS)
def test_views(fl, of_a, of_b):
    a, b = VIEWS[of_a](drawn((83, 61))), VIEWS[of_b](drawn((61, 97), seed=1))
    assert close(fl.multiply(a, b, memory="8MiB"), numpy.asarray(a), numpy.asarray(b))


def test_files_maps_functions_and_datasets(fl, tmp_path):
    a, b = drawn((140, 120)), drawn((120, 90), "f4", 1)
    numpy.save(tmp_path / "A.npy", a)
    numpy.save(tmp_path / "B.npy", numpy.asfortranarray(b))

    class Dataset:
        def __init__(self, values):
            self.values, self.shape, self.dtype = values, values.shape, values.dtype

        def __getitem__(self, index):
            return self.values[index]

    def function(of):
        return lambda rows, columns: of[numpy.ix_(rows, columns)]

    kinds_of_a = [(str(tmp_path / "A.npy"), {}), (numpy.load(tmp_path / "A.npy", mmap_mode="r"), {}), (Dataset(a), {}),
                  (function(a), {"shape_a": a.shape})]
    kinds_of_b = [(tmp_path / "B.npy", {}), (Dataset(b), {}), (function(b), {"shape_b": b.shape, "dtype_b": "f4"})]
    for (left, of_left), (right, of_right) in itertools.product(kinds_of_a, kinds_of_b):
        c = fl.multiply(left, right, memory="8MiB", **of_left, **of_right)
        assert c.dtype == numpy.float64 and close(c, a, b)
    single = fl.multiply(function(b.T), str(tmp_path / "B.npy"), shape_a=b.T.shape, dtype_a="f4", memory="8MiB")
    assert single.dtype == numpy.float32 and close(single, b.T, b)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_little_memory_and_a_file(fl, tmp_path, dtype):
    a, b = drawn((1100, 900), dtype), drawn((900, 1000), dtype, 1)
    path = tmp_path / "C.npy"
    c = fl.multiply(a, b, memory="2MiB", out=path)
    assert isinstance(c, numpy.memmap) and not c.flags.writeable and c.dtype == dtype and close(c, a, b)
    assert close(numpy.load(path), a, b) and sorted(p.name for p in tmp_path.iterdir()) == ["C.npy"]
    fl.multiply(str(path), numpy.eye(1000, dtype=dtype), memory="2MiB", out=path)  # which it replaces
    assert close(numpy.load(path), a, b)


OUTS = {
    "C": numpy.zeros((40, 30)),
    "F": numpy.zeros((40, 30), order="F"),
    "columns of a larger one": numpy.zeros((40, 90))[:, 30:60],
    "every second": numpy.zeros((80, 60))[::2, ::2],
    "complex": numpy.zeros((40, 30), "c16"),
    "single": numpy.zeros((40, 30), "f4"),
    "big-endian": numpy.zeros((40, 30), ">f8"),
}


@pytest.mark.parametrize("kind", OUTS)
def test_products_are_written_where_the_caller_wants_them(fl, kind):
    a, b, out = drawn((40, 50)), drawn((50, 30), seed=1), OUTS[kind]
    assert fl.multiply(a, b, out=out, memory="8MiB") is out
    assert numpy.allclose(out, a @ b, rtol=1e-5)
    base = out.base if out.base is not None else out
    assert numpy.count_nonzero(base) == 40 * 30


def test_a_factor_may_be_where_the_product_goes(fl):
    a = drawn((50, 50))
    expected = a @ a
    assert numpy.allclose(fl.multiply(a, a, out=a, memory="8MiB"), expected) and numpy.allclose(a, expected)
    b = drawn((50, 50))
    expected = b.T @ b
    assert numpy.allclose(fl.multiply(b.T, b, out=b.T, memory="8MiB"), expected) and numpy.allclose(b.T, expected)


def test_vectors(fl):
    a, b = drawn((40, 50)), drawn(50, seed=1)
    assert fl.multiply(a, b).shape == (40,) and numpy.allclose(fl.multiply(a, b), a @ b)
    out = numpy.zeros(80)[::2]
    assert fl.multiply(a, b.tolist(), out=out) is out and numpy.allclose(out, a @ b)


@pytest.mark.parametrize("a, b", [((0, 5), (5, 3)), ((4, 0), (0, 3)), ((4, 5), (5, 0)), ((4, 0), (0,)), ((0, 0), (0, 0))])
def test_products_without_elements(fl, tmp_path, a, b):
    a, b = numpy.ones(a, "f4"), numpy.ones(b)
    c = fl.multiply(a, b)
    assert c.shape == (a @ b).shape and c.dtype == numpy.float64 and not c.any()
    out = numpy.ones(c.shape)
    assert fl.multiply(a, b, out=out) is out and not out.any()
    if b.ndim == 2:
        assert fl.multiply(a, b, out=tmp_path / "C.npy").shape == c.shape


@pytest.mark.parametrize("memory", ["64MiB", "1MiB"])
@pytest.mark.parametrize("columns", [1, 60])
def test_elements_that_are_not_finite(fl, columns, memory):
    a, b = drawn((300, 200)), drawn((200, columns), seed=1)
    for i, value in enumerate([numpy.nan, numpy.inf, -numpy.inf]):
        a[10 * i, 7 * i] = value
        b[20 * i + 3, i % columns] = value
    a[50], b[:, columns // 2] = 0, 1
    a[60, :2], b[:2, 0] = numpy.inf, [1, -1]
    with numpy.errstate(invalid="ignore"):
        expected = a @ b
    c = fl.multiply(a, b, memory=memory)
    assert numpy.array_equal(numpy.isnan(c), numpy.isnan(expected)) and numpy.isnan(c).any()
    assert numpy.allclose(c, expected, equal_nan=True) and numpy.isinf(c).any()


@pytest.mark.parametrize("call, kind, text", [
    (lambda fl: fl.multiply(numpy.ones((2, 3)), numpy.ones((2, 3))), ValueError, "as many columns as b has rows"),
    (lambda fl: fl.multiply(numpy.ones((2, 3)), numpy.ones(2)), ValueError, "as many columns as b has rows"),
    (lambda fl: fl.multiply(numpy.ones(3), numpy.ones((3, 2))), LinAlgError, "1-dimensional"),
    (lambda fl: fl.multiply(numpy.ones((2, 3)), 3.0), LinAlgError, "0-dimensional"),
    (lambda fl: fl.multiply(numpy.ones((1, 2, 2)), numpy.eye(2)), ValueError, "stacks"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2, dtype="f2")), TypeError, "b has the type float16"),
    (lambda fl: fl.multiply(numpy.ma.masked_equal(numpy.eye(2), 0), numpy.eye(2)), TypeError, "a is a masked array"),
    (lambda fl: fl.multiply(numpy.eye(2), lambda r, c: 1), TypeError, "b is a function"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), shape_b=(2, 2)), ValueError, "b is none"),
    (lambda fl: fl.multiply("missing.npy", numpy.eye(2)), FileNotFoundError, "missing.npy"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), out="C.h5"), ValueError, ".npy"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.ones(2), out="C.npy"), ValueError, "vector"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), out="/no/folder/C.npy"), OSError, "/no/folder"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), out=numpy.eye(3)), ValueError, "out has the shape"),
    (lambda fl: fl.multiply(numpy.eye(2), 1j * numpy.eye(2), out=numpy.eye(2)), TypeError, "cannot hold complex128"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), memory="64KiB", workers=2), MemoryError, "memory"),
    (lambda fl: fl.multiply(numpy.eye(2), numpy.eye(2), workers=0), ValueError, "workers"),
    (lambda fl: fl.multiply(lambda r, c: 1 / 0, numpy.eye(2), shape_a=(2, 2)), ZeroDivisionError, "division"),
    (lambda fl: fl.multiply(lambda r, c: numpy.ones((9, 9)), numpy.eye(2), shape_a=(2, 2)), ValueError, "block of the rows"),
])
def test_mistakes(fl, call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call(fl)


def test_the_memory_limit_holds_for_matrices_that_functions_compute(fl, tmp_path):
    # A, B and C are 48 MiB each; the limit is 24 MiB, and the process may grow by little more.
    code = """
import resource, numpy as np, fairlead as fl
n = 2500
def f(rows, columns): return (rows[:, None] + columns) / 1000.0
fl.multiply(f, f, shape_a=(100, 100), shape_b=(100, 100), workers=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
c = fl.multiply(f, f, shape_a=(n, n), shape_b=(n, n), memory="24MiB", workers=2, out="C.npy")
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
assert grown < 24 + 24, grown
k = np.arange(n)
assert np.allclose(c[7, ::100], f(np.array([7]), k) @ f(k, k[::100]))
"""
    root = pathlib.Path(fl.__file__).parents[1]
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(root)})
    assert (done.returncode, done.stderr) == (0, "")

"""Drawn flows of the package give what the same functions give one after the other in NumPy, in core and out of core."""

import os
import pathlib
import random
import subprocess
import sys

import pytest

numpy = pytest.importorskip("numpy")

# Numbers stay whole and small, so that each order of the elements gives the same sum.
MODULUS = 1009


def remainder(x):
    return int(x.sum(dtype="f8")) % MODULUS


def pattern(shape, start):
    return (numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) * 7 + start) % MODULUS


def replace(x, start):
    x[...] = pattern(x.shape, start)


def change(x, y, factor, *, shift=3):
    x[...] = (x * factor + remainder(y) + shift) % MODULUS


def collect(total, *parts):
    for part in parts:
        total[...] = (total * 5 + int(part.max())) % MODULUS


def exchange(x, y):
    x_sum, y_sum = remainder(x), remainder(y)
    x[...] = (x + y_sum) % MODULUS
    y[...] = (y + x_sum) % MODULUS


def codelets_of(fl):
    for function, modes in [(replace, {"x": fl.Out}), (change, {"x": fl.InOut, "y": fl.In}),
                            (collect, {"total": fl.InOut, "parts": fl.In}), (exchange, {"x": fl.InOut, "y": fl.InOut})]:
        function.__annotations__ = modes
    return {function: fl.codelet(function) for function in (replace, change, collect, exchange)}


def array_in_place(rng, dtype):
    """One of the layouts that tasks use in place."""
    base = pattern((12, 15, 4), rng.randrange(99)).astype(dtype)
    return rng.choice([
        lambda: base, lambda: numpy.asfortranarray(base), lambda: base[:, :, 0], lambda: base[::2, 1:9], lambda: base[0, 0, 0:1].reshape(()),
        lambda: base.ravel()[5:], lambda: base.transpose(2, 0, 1), lambda: base.reshape(3, 4, 5, 3, 4), lambda: base[3, :, ::2].T,
    ])()


def drawn_task(rng, data):
    """A function, the numbers of its data, and its other arguments."""
    function = rng.choice([replace, change, change, collect, exchange])
    if function is replace:
        return function, [rng.randrange(data)], (rng.randrange(MODULUS),), {}
    if function is change:
        chosen = rng.sample(range(data), 2)
        return function, chosen, (rng.randrange(2, 9),), rng.choice([{}, {"shift": rng.randrange(99)}])
    if function is collect:
        return function, rng.sample(range(data), rng.randrange(2, min(data, 9))), (), {}
    return function, rng.sample(range(data), 2), (), {}


def run_drawn(fl, rng, memory, workers, rows, tile, tasks):
    codelets = codelets_of(fl)
    dtypes = [rng.choice(["f8", "f4", "i8", "i4", "u2"]) for _ in range(2)]
    matrices = [pattern((rows, rows + 3), i).astype(dtype) for i, dtype in enumerate(dtypes)]
    singles = [array_in_place(rng, rng.choice(["f8", "i4"])) for _ in range(3)]
    expected_matrices, expected_singles = [m.copy() for m in matrices], [numpy.array(s) for s in singles]
    stored = numpy.zeros((3, 5), "i8")
    parts, references = [], []
    with fl.Runtime(memory=memory, workers=workers) as rt:
        tiled = [rt.tiled(m, tile=tile) for m in matrices]
        for a, expected in zip(tiled, expected_matrices):
            for t in a.tiles():
                parts.append(t)
                row, column = t.row * a.tile[0], t.column * a.tile[1]
                references.append(expected[row:row + t.shape[0], column:column + t.shape[1]])
        parts += [rt.data(s) for s in singles] + [rt.data((3, 5), "i8")]
        references += [*expected_singles, stored]
        with rt.flow() as flow, rt.flow() as other:
            for number in range(tasks):
                function, chosen, values, named = drawn_task(rng, len(parts))
                flow.submit(codelets[function], *(parts[i] for i in chosen), *values, priority=rng.choice([0, 0, 5, -2]), **named)
                function(*(references[i] for i in chosen), *values, **named)
                if number % 50 == 20:
                    i = rng.randrange(len(parts))
                    numpy.testing.assert_array_equal(parts[i].read(), references[i])
                if number % 70 == 30:
                    i = rng.randrange(len(parts))
                    parts[i].write(number)
                    references[i][...] = number
                if number % 90 == 40:  # what was collected before comes first, for the other flow too
                    flow.flush()
                    other.submit(codelets[replace], parts[0], number)
                    other.flush()
                    replace(references[0], number)
        for a, expected in zip(tiled, expected_matrices):
            numpy.testing.assert_array_equal(numpy.asarray(a), expected)
            numpy.testing.assert_array_equal(a.read(numpy.empty(a.shape, a.dtype)), expected)
        for single, expected in zip(singles, expected_singles):
            numpy.testing.assert_array_equal(single, expected)
        numpy.testing.assert_array_equal(parts[-1].read(), stored)
        return rt.statistics()


@pytest.mark.parametrize("seed", range(12))
def test_drawn_flows_in_core(fl, seed):
    rng = random.Random(seed)
    rows, tile = rng.choice([(40, 13), (25, 25), (64, (16, 9)), (7, 3)])
    statistics = run_drawn(fl, rng, "32MiB", 1 + seed % 3, rows, tile, 300)
    assert statistics.bytes_written == 0


@pytest.mark.parametrize("seed", range(4))
def test_drawn_flows_out_of_core(fl, seed):
    rng = random.Random(100 + seed)
    statistics = run_drawn(fl, rng, "4MiB", 1 + seed % 2, 1100, 230, 250)
    assert statistics.bytes_written > 1 << 20 and statistics.peak_memory <= 4 << 20


def test_the_same_without_the_compiled_module(request):
    library = request.config.getoption("--library")
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "--library", str(pathlib.Path(library).resolve()),
                          "-k", "in_core and (1 or 2) or out_of_core and 3 or both_are_used"],
                         env={**os.environ, "LIBFAIRLEAD_TASKS": "plain"}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_both_are_used(fl, request):
    has_module = pathlib.Path(request.config.getoption("--library")).with_name("_tasks.abi3.so").exists()
    can_load = has_module and sys.version_info >= (3, 10)
    assert fl._task_core.is_compiled == (can_load and os.environ.get("LIBFAIRLEAD_TASKS") != "plain")


def cholesky(fl, flow, a):
    nt = a.grid[0]
    for k in range(nt):
        flow.submit(fl.kernels.potrf, a[k, k])
        for i in range(k + 1, nt):
            flow.submit(fl.kernels.trsm, a[k, k], a[i, k])
        for j in range(k + 1, nt):
            flow.submit(fl.kernels.syrk, a[j, k], a[j, j])
            for i in range(j + 1, nt):
                flow.submit(fl.kernels.gemm, a[i, k], a[j, k], a[i, j])


@pytest.mark.parametrize("dtype, n, tile, memory", [("f8", 500, 64, "16MiB"), ("f4", 130, 50, "16MiB"), ("c16", 90, 31, "16MiB"), ("c8", 64, 64, "16MiB"),
                                                    ("f8", 1000, 100, "2MiB")])
def test_cholesky_of_kernels(fl, dtype, n, tile, memory):
    rng = numpy.random.default_rng(n)
    g = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if numpy.dtype(dtype).kind == "c" else 0)
    k = (g @ g.conj().T / n + numpy.eye(n)).astype(dtype)
    with fl.Runtime(memory=memory, workers=2) as rt:
        a = rt.tiled(k, tile=tile, lower=True)
        with rt.flow() as flow:
            cholesky(fl, flow, a)
        numpy.testing.assert_allclose(numpy.tril(a.to_numpy()), numpy.linalg.cholesky(k), atol=1e-4 if dtype in ("f4", "c8") else 1e-12)
        assert rt.statistics().bytes_written > 0 or memory != "2MiB"


def test_lu_and_products_of_kernels(fl):
    rng = numpy.random.default_rng(3)
    n, tile = 100, 30
    m = rng.normal(size=(n, n)) + 2 * n * numpy.eye(n)
    b = rng.normal(size=(n, n))
    with fl.Runtime(memory="16MiB", workers=2) as rt:
        a, x, c = rt.tiled(m, tile=tile), rt.tiled(b, tile=tile), rt.tiled((n, n), tile=tile)
        nt = a.grid[0]
        with rt.flow() as flow:
            for i in range(nt):
                for j in range(nt):
                    for k in range(nt):
                        flow.submit(fl.kernels.gemm_add, a[i, k], x[k, j], c[i, j])
            for k in range(nt):
                flow.submit(fl.kernels.getrf, a[k, k])
                for i in range(k + 1, nt):
                    flow.submit(fl.kernels.trsm_upper, a[k, k], a[i, k])
                    flow.submit(fl.kernels.trsm_lower, a[k, k], a[k, i])
                for i in range(k + 1, nt):
                    for j in range(k + 1, nt):
                        flow.submit(fl.kernels.gemm_lu, a[i, k], a[k, j], a[i, j])
        lu = a.to_numpy()
        numpy.testing.assert_allclose((numpy.tril(lu, -1) + numpy.eye(n)) @ numpy.triu(lu), m, atol=1e-10)
        numpy.testing.assert_allclose(c.to_numpy(), m @ b, atol=1e-10)

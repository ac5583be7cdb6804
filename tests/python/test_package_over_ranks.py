"""The Python package in processes that mpirun has started: solutions against NumPy's over methods, types, forms of the matrix and
memory; errors have the same type in all processes."""

import os
import pathlib
import subprocess
import sys

import pytest

from ranks import LAUNCHERS, SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREAMBLE = """
import sys
import numpy as np
import fairlead as fl

def system(n, m=None, dtype="f8", sides=1, seed=1, structure="gen"):
    numbers = np.random.default_rng(seed)
    draw = lambda *shape: numbers.standard_normal(shape) + (1j * numbers.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)
    a = draw(m or n, n)
    if structure == "pos":
        a = a @ a.conj().T + n * np.eye(n)
    elif structure == "sym":
        a = a + a.T
    return a.astype(dtype), (draw(m or n, sides) if sides else draw(m or n)).astype(dtype)

def require(x, a, b, exact=None):
    assert x.dtype == b.dtype and x.shape == (a.shape[1], *b.shape[1:]), (x.dtype, x.shape)
    wide = "c16" if a.dtype.kind == "c" else "f8"
    exact = np.linalg.lstsq(a.astype(wide), b.astype(wide), rcond=None)[0]
    eps = np.finfo(a.dtype).eps
    assert np.abs(x - exact).max() <= 1e3 * np.linalg.cond(a.astype(wide)) ** (1 if a.shape[0] == a.shape[1] else 2) * eps \\
        * np.abs(exact).max(), np.abs(x - exact).max()
"""


@pytest.fixture
def script(fl, tmp_path):
    """Runs lines of Python in that many processes. Returns the process of the launcher."""
    pytest.importorskip("numpy")

    def run(ranks, lines, launcher="openmpi", timeout=100):
        file = tmp_path / "script.py"
        file.write_text(PREAMBLE + lines)
        done = subprocess.run([*LAUNCHERS[launcher], str(ranks), sys.executable, file], cwd=tmp_path, capture_output=True, text=True,
                              timeout=timeout, env={**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT / "python")})
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.mark.parametrize("launcher, ranks", [("openmpi", 2), ("mpich", 2)])
def test_solutions_are_those_of_numpy(script, launcher, ranks):
    done = script(ranks, """
for n in (1, 2, 70, 301):
    for dtype in ("f4", "f8", "c8", "c16"):
        for structure, methods in (("pos", (None, "cholesky", "lu")), ("sym", ("ldlt",)), ("gen", (None, "lu", "qr", "lu-incremental"))):
            a, b = system(n, dtype=dtype, structure=structure, sides=n % 3)
            for method in methods if n == 70 or dtype == "f8" else methods[:1]:
                x, info = fl.solve(a, b, method=method, comm="world", digits=None, return_info=True, settings={"tile": 32})
                require(x, a, b)
                assert info.backward_error <= info.backward_error_limit
# Views, the other order, a function, a file, little memory, several orders of the same values.
a, b = system(500)
asked = []
def blocks(rows, columns):
    asked.append(len(rows) * len(columns))
    return a[np.ix_(rows, columns)]
for form in (np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2], a.astype(">f8"), blocks):
    require(fl.solve(form, b, comm="world", shape=(500, 500) if form is blocks else None), a, b)
assert sum(asked) < 2.5 * a.size, sum(asked) / a.size  # read into tiles and checked; together all processes read it all
require(fl.solve(a, b, comm="world", memory="4000KiB", settings={"tile": 32}, method="lu"), a, b)
for m, n in ((300, 40), (40, 300)):
    a, b = system(n, m)
    require(fl.lstsq(a, b, comm="world"), a, b)
print("solved")
""", launcher)
    assert done.stdout.count("solved") == ranks


def test_errors_have_the_same_type_everywhere(script):
    done = script(3, """
rank = int(__import__("os").environ["OMPI_COMM_WORLD_RANK"])
def expect(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")
a, b = system(100, sides=0)
singular = a.copy()
singular[:, 70] = singular[:, 71]
expect(np.linalg.LinAlgError, "singular", lambda: fl.solve(singular, b, comm="world", method="lu", settings={"tile": 16}))
expect(np.linalg.LinAlgError, "positive definite", lambda: fl.solve(-np.eye(100), b, comm="world", assume_a="pos"))
expect(np.linalg.LinAlgError, "not triangular", lambda: fl.solve(a, b, comm="world", method="triangular"))
expect(ValueError, "different right-hand sides", lambda: fl.solve(a, b + rank, comm="world"))
expect(ValueError, "different matrices", lambda: fl.solve(a + rank, b, comm="world"))
expect(ValueError, "of the same shape", lambda: fl.solve(a[:100 - rank, :100 - rank], b[:100 - rank], comm="world"))
expect(MemoryError, "memory", lambda: fl.solve(a, b, comm="world", memory="64KiB"))
expect(ValueError, "no-such", lambda: fl.solve(a, b, comm="world", settings={"no_such": 1}))
for at_once in (True, False):  # at the first block, or in a task
    def failing(rows, columns):
        if rank == 1 and (at_once or len(columns) > 1):
            raise KeyError("of rank 1")
        return a[np.ix_(rows, columns)]
    try:
        fl.solve(failing, b, comm="world", shape=(100, 100))
    except KeyError:
        assert rank == 1
    except Exception as error:
        assert rank != 1 and "rank 1" in str(error), error
expect(ValueError, "half", lambda: fl.solve(a, b, comm="half"))
expect(TypeError, "int", lambda: fl.solve(a, b, comm=3))
require(fl.solve(a, b, comm="world"), a, b)
print("done")
""")
    assert done.stdout.count("done") == 3


def test_communicators_of_mpi4py(script):
    pytest.importorskip("mpi4py")
    done = script(2, """
from mpi4py import MPI
world = MPI.COMM_WORLD
a, b = system(120)
require(fl.solve(a, b, comm=world), a, b)
require(fl.solve(a, b, comm=world.Dup()), a, b)
# Each process its own system.
own, sides = system(60 + world.rank, seed=world.rank)
require(fl.solve(own, sides, comm=MPI.COMM_SELF), own, sides)
require(fl.solve(own, sides), own, sides)
for _ in range(100):
    require(fl.solve(a, b, comm=world, condition=False), a, b)
assert world.allreduce(1) == 2
print("done")
""")
    assert done.stdout.count("done") == 2


def test_a_process_without_mpirun_is_the_only_one(fl):
    numpy = pytest.importorskip("numpy")
    a = numpy.array([[3.0, 1.0], [1.0, 2.0]])
    assert numpy.allclose(fl.solve(a, [9.0, 8.0], comm="world"), [2, 3])

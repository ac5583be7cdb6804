"""How often `fairlead solve` reads a matrix, and in how many calls: once and in few where memory holds it, and a known number of times else.
The calls are counted by the library of tests/shim, which stands between the command and the C library."""

import json
import os
import pathlib
import struct
import subprocess

import pytest

numpy = pytest.importorskip("numpy")

N = 800
SHIM = "shim/libpreloaded_shim.so"
PLAN = struct.Struct("=BBB5xQQQ12QQ")  # tests/shim/plan.hpp; of calls, the first are pread and preadv


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    m = numpy.random.default_rng(1).standard_normal((N, N))
    a = m @ m.T / N + numpy.eye(N)
    numpy.save(folder / "rows.npy", a)
    numpy.save(folder / "columns.npy", numpy.asfortranarray(a))
    numpy.save(folder / "b.npy", m[0])
    return folder


@pytest.fixture
def solve(command, fake_cuda, folder):
    def run(matrix, *options):
        """The number of calls that read, and how often the matrix was read."""
        shim = pathlib.Path(fake_cuda).parent / SHIM
        assert shim.exists(), "build the tests: the library that counts calls is one of them"
        plan = folder / "plan"
        plan.write_bytes(bytes(PLAN.size))
        done = subprocess.run([command, "solve", matrix, "b.npy", "-o", "x.npy", "--overwrite", "--workers", "2", "--quiet", "--json", "run.json",
                               *map(str, options)], cwd=folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LD_PRELOAD": str(shim), "SHIM_PLAN": str(plan)})
        assert done.returncode == 0, done.stderr
        assert numpy.allclose(numpy.load(folder / matrix) @ numpy.load(folder / "x.npy"), numpy.load(folder / "b.npy"), atol=1e-10)
        report = json.loads((folder / "run.json").read_text())
        bytes_of_file = 8 * N * N
        assert report["input_bytes_read"] >= bytes_of_file / 2
        return PLAN.unpack(plan.read_bytes())[6], report["input_bytes_read"] / bytes_of_file

    return run


@pytest.mark.parametrize("matrix", ["rows.npy", "columns.npy"])
@pytest.mark.parametrize("tile", [32, 100])
def test_refinement_reads_a_matrix_that_fits_once(solve, matrix, tile):
    calls, times = solve(matrix, "--refine", "--tile", tile, "--memory", "64MiB")
    assert times <= 1.1 and calls <= 100


@pytest.mark.parametrize("matrix", ["rows.npy", "columns.npy"])
@pytest.mark.parametrize("tile, memory", [(32, "12MiB"), (100, "7MiB")])
def test_refinement_in_little_memory_reads_it_once_for_the_factor_and_for_each_residual(solve, matrix, tile, memory):
    """Three residuals: of the first solution, and after two steps."""
    calls, times = solve(matrix, "--refine", "--tile", tile, "--memory", memory)
    assert times <= 4.5 and calls <= 20_000


@pytest.mark.parametrize("tile, memory", [(32, "64MiB"), (100, "64MiB"), (32, "7MiB")])
def test_without_refinement_it_is_read_for_the_factor_and_for_the_residual(solve, tile, memory):
    calls, times = solve("rows.npy", "--tile", tile, "--memory", memory)
    assert times <= 2.1 and calls <= 12_000

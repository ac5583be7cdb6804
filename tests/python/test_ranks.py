"""bench and solve on several ranks: threads of one process, and processes that mpirun of Open MPI or MPICH has started.
Solutions are compared with NumPy's, over methods, precisions, grids and memory that is too small."""

import json

import numpy as np
import pytest

from ranks import said, start

SIZE = 301

@pytest.fixture
def on_ranks(command, tmp_path):
    """Runs the command on that many ranks: by a launcher, or with --ranks."""

    return lambda launcher, ranks, *arguments: start(command, tmp_path, launcher, ranks, arguments)


def system(folder, method, element, columns):
    numbers = np.random.default_rng(SIZE + columns)
    a = numbers.standard_normal((SIZE, SIZE))
    if method == "cholesky":
        a = a @ a.T + SIZE * np.eye(SIZE)
        a = (a + a.T) / 2
    elif method == "ldlt":
        a = a + a.T
    elif method == "lu-nopivot":
        a += 2 * SIZE * np.eye(SIZE)
    a = a.astype(element)
    b = numbers.standard_normal((SIZE, columns) if columns > 1 else SIZE).astype(element)
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    return a.astype(np.float64), b.astype(np.float64)


def require_solved(folder, a, b, element):
    x = np.load(folder / "x.npy")
    assert x.dtype == element and x.shape == b.shape
    x = x.astype(np.float64)
    error = np.abs(a @ x - b).sum(axis=0).max() / (np.linalg.norm(a, 1) * np.abs(x).sum(axis=0).max())
    assert error < 50 * np.finfo(element).eps
    exact = np.linalg.solve(a, b)
    assert np.abs(x - exact).max() < 1e3 * np.linalg.cond(a) * np.finfo(element).eps * np.abs(exact).max()


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("method", ["cholesky", "ldlt", "lu-nopivot", "lu", "lu-incremental", "qr"])
@pytest.mark.parametrize("element, columns, ranks, more", [
    (np.float64, 1, 4, ["--tile", 48, "--memory", "4300KiB", "--grid", "1x4"]),
    (np.float32, 3, 3, ["--tile", 64, "--memory", "64MiB"]),
    (np.float64, 2, 2, ["--tile", 64, "--memory", "4800KiB", "--front", "flow"]),
])
def test_solutions_are_those_of_numpy(on_ranks, tmp_path, launcher, method, element, columns, ranks, more):
    a, b = system(tmp_path, method, element, columns)
    done = on_ranks(launcher, ranks, "solve", "a.npy", "b.npy", "-o", "x.npy", "--method", method, *more)
    assert done.returncode == 0, done.stderr
    # In single precision the random matrices leave little.
    assert all("the matrix is ill-conditioned" in line for line in said(done)) and len(said(done)) <= 1
    assert f"{ranks} ranks" in done.stdout
    assert done.stdout.count("Solved") == 1  # one report for all
    require_solved(tmp_path, a, b, element)


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
def test_grids_give_the_same_bits(on_ranks, tmp_path, launcher):
    system(tmp_path, "cholesky", np.float64, 2)
    solutions = []
    for ranks, grid, front in [(1, "1x1", "ptg"), (2, "2x1", "ptg"), (4, "2x2", "flow"), (6, "2x3", "ptg")]:
        done = on_ranks(launcher, ranks, "solve", "a.npy", "b.npy", "-o", "x.npy", "--tile", 50, "--memory", "32MiB",
                        "--grid", grid, "--front", front)
        assert done.returncode == 0, done.stderr
        solutions.append(np.load(tmp_path / "x.npy"))
    for other in solutions[1:]:
        assert np.array_equal(solutions[0], other)


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("front", ["flow", "ptg", "jdf"])
def test_bench_counts_what_ranks_send(on_ranks, tmp_path, launcher, front):
    """Each tile of a column of L goes once to each other rank that needs it: counted here from the algorithm."""
    tiles, rows, columns = 6, 2, 2
    done = on_ranks(launcher, 4, "bench", "cholesky", "--n", 6 * 40, "--tile", 40, "--memory", "64MiB", "--front", front,
                    "--json", "r.json", "-q")
    assert done.returncode == 0, done.stderr

    def owner(i, j):
        return i % rows * columns + j % columns

    values = 0
    for k in range(tiles):
        values += len({owner(i, k) for i in range(k + 1, tiles)} - {owner(k, k)})
        for i in range(k + 1, tiles):
            readers = {owner(i, j) for j in range(k + 1, i + 1)} | {owner(m, i) for m in range(i, tiles)}
            values += len(readers - {owner(i, k)})
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["grid"] == "2 x 2"
    assert sum(rank["payloads"] for rank in report["ranks"]) == values
    assert sum(rank["payload_bytes"] for rank in report["ranks"]) == values * 40 * 40 * 8
    if front != "jdf":  # the JDF file has tasks that pass tiles on
        assert sum(rank["tasks"] for rank in report["ranks"]) == tiles * (tiles + 1) * (tiles + 2) // 6
    assert report["backward_error"] < report["backward_error_limit"]


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("place, value, words", [
    ((250, 250), -1e3, "not positive definite: the factorization fails in column 250"),
    ((200, 7), np.nan, "row 200, column 7 (counted from 0) is not a number"),
    ((9, 5), 77.0, "is not symmetric: row 5, column 9 (counted from 0)"),
])
def test_an_error_of_one_rank_ends_all_ranks(on_ranks, tmp_path, launcher, place, value, words):
    a, _ = system(tmp_path, "cholesky", np.float64, 1)
    a[place] = value
    np.save(tmp_path / "a.npy", a)
    done = on_ranks(launcher, 3, "solve", "a.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 64, "--memory", "64MiB")
    assert done.returncode == 1
    assert any(words in line for line in said(done)), done.stderr
    assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("place, value, reason", [
    ((250, 250), -1e3, "the matrix is not positive definite: the element in row and column 250 (counted from 0) is -1000"),
    ((9, 5), 77.0, "a.npy is not symmetric: row 5, column 9 (counted from 0) is "),
    ((9, 9), 1e-3, "the matrix is not positive definite: the factorization fails in column "),
])
@pytest.mark.parametrize("more", [[], ["--refine"]])
def test_all_ranks_go_on_with_a_method_for_the_matrix(on_ranks, tmp_path, launcher, place, value, reason, more):
    a, b = system(tmp_path, "cholesky", np.float64, 1)
    a[place] = value
    np.save(tmp_path / "a.npy", a)
    done = on_ranks(launcher, 3, "solve", "a.npy", "b.npy", "-o", "x.npy", "--tile", 64, "--memory", "64MiB", "--json", "r.json", *more)
    assert done.returncode == 0, done.stderr
    require_solved(tmp_path, a, b, np.float64)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["method"] == "lu-incremental"
    assert report["method_reason"].startswith(reason), report["method_reason"]
    assert report["method_reason"].endswith("; over ranks, incremental pivoting needs no whole columns of the matrix")


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("options, words", [
    (["--grid", "2x2"], "--grid 2x2 is for 4 ranks; there are 3"),
    (["--grid", "3"], "give rows and columns of ranks, such as 2x3"),
    (["--front", "flow", "--record-flow", "f"], "does not work with several"),
    (["--memory", "1MiB", "--tile", "512"], "leaves nothing for tiles"),
])
def test_usage_errors_are_printed_once(on_ranks, tmp_path, launcher, options, words):
    system(tmp_path, "cholesky", np.float64, 1)
    done = on_ranks(launcher, 3, "solve", "a.npy", "b.npy", "-o", "x.npy", *options)
    assert done.returncode == 2
    assert len(said(done)) == 1 and words in said(done)[0], done.stderr


def test_ranks_option_conflicts_with_mpirun(on_ranks):
    done = on_ranks("mpich", 2, "bench", "cholesky", "--n", 100, "--ranks", 3)
    assert done.returncode == 2 and "mpirun started 2 ranks" in done.stderr


BENCHES = {"cholesky": ["cholesky"], "lu-nopivot": ["lu-nopivot"], "lu-incremental": ["lu-incremental"], "qr": ["qr"],
           "tall qr": ["qr", "--m", 1300], "tall qr by a binary tree": ["qr", "--m", 1300, "--tree", "binary"], "gemm": ["gemm"]}


@pytest.mark.parametrize("launcher", ["threads", "openmpi", "mpich"])
@pytest.mark.parametrize("what", BENCHES)
@pytest.mark.parametrize("n, precision, memory, front", [(190, "single", "64MiB", "ptg"), (600, "double", "1400KiB", "flow")])
def test_bench_computes_the_same_bits(on_ranks, tmp_path, launcher, what, n, precision, memory, front):
    """In core and out of core, as on one machine: by a digest, and by the check of the result."""
    options = ["--n", n, "--tile", 32, "--precision", precision, "--memory", memory, "--front", front, "--workers", 1,
               "--digest", "--json", "r.json"]
    reports = []
    for ranks in (1, 4):
        done = on_ranks("threads" if ranks == 1 else launcher, ranks, "bench", *BENCHES[what], *options)
        assert (done.returncode, said(done)) == (0, []), done.stderr
        assert done.stdout.count("Computed") == 1
        reports.append(json.loads((tmp_path / "r.json").read_text()))
    for figure in ["factor_digest", "backward_error", "growth", "refinement_steps", "n", "m"]:
        assert reports[0].get(figure) == reports[1].get(figure), figure
    assert len(reports[1]["ranks"]) == 4
    assert 0 < reports[1]["backward_error"] < reports[1]["backward_error_limit"]
    assert (sum(rank["bytes_written"] for rank in reports[1]["ranks"]) > 0) == (memory != "64MiB")


@pytest.mark.parametrize("launcher", ["threads", "mpich"])
@pytest.mark.parametrize("what", ["cholesky", "lu-nopivot", "gemm"])
def test_bench_by_jdf_is_the_same_over_ranks(on_ranks, tmp_path, launcher, what):
    digests = set()
    for ranks in (1, 3):
        done = on_ranks("threads" if ranks == 1 else launcher, ranks, "bench", what, "--n", 190, "--tile", 24, "--memory",
                        "64MiB", "--front", "jdf", "--digest", "--json", "r.json")
        assert (done.returncode, said(done)) == (0, []), done.stderr
        digests.add(json.loads((tmp_path / "r.json").read_text())["factor_digest"])
    assert len(digests) == 1


WAYS = [["--eager-limit", 0], ["--eager-limit", "8KiB"], ["--eager-limit", 0, "--broadcast-tree", 2],
        ["--eager-limit", "8KiB", "--broadcast-tree", 2]]


@pytest.mark.parametrize("launcher, front, n, tile, memory", [
    ("threads", "ptg", 200, 14, "64MiB"), ("threads", "flow", 200, 14, "64MiB"), ("mpich", "ptg", 200, 14, "64MiB"),
    ("mpich", "flow", 200, 14, "64MiB"), ("openmpi", "ptg", 200, 14, "64MiB"), ("threads", "flow", 1000, 20, "2MiB"),
    ("mpich", "ptg", 1000, 20, "2MiB")])
def test_the_transfer_protocol_does_not_change_results(on_ranks, tmp_path, launcher, front, n, tile, memory):
    """On request, with the announcing message (eager), and along broadcast trees: the same bits, in core and out of core."""
    digests, values, messages = set(), set(), []
    for way in WAYS:
        done = on_ranks(launcher, 4, "bench", "cholesky", "--n", n, "--tile", tile, "--memory", memory, "--front", front,
                        "--workers", 1, "--digest", "--json", "r.json", *way)
        assert (done.returncode, said(done)) == (0, []), done.stderr
        report = json.loads((tmp_path / "r.json").read_text())
        assert 0 < report["backward_error"] < report["backward_error_limit"]
        assert (sum(rank["bytes_written"] for rank in report["ranks"]) > 0) == (memory != "64MiB")
        digests.add(report["factor_digest"])
        values.add(sum(rank["payload_bytes"] for rank in report["ranks"]))
        messages.append(sum(rank["messages"] for rank in report["ranks"]))
    assert len(digests) == 1
    assert len(values) == 1
    assert messages[1] < messages[0] and messages[3] < messages[2]

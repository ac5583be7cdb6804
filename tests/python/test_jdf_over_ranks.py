"""`fairlead jdf run` on several ranks, threads of one process and processes of both MPIs: the bits of one rank, whatever the
grid and the memory; and an error on one rank ends all of them, with a message that names place and rank."""

import json
import pathlib

import numpy as np
import pytest

from ranks import said, start

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf"
LAUNCHERS = ["threads", "openmpi", "mpich"]
ROOMY, TIGHT = "64MiB", "2500KiB"


def random(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def definite(n):
    a = random(n, n, n)
    return a @ a.T / n + np.eye(n)


def dominant(m, n):
    return random(m + n, m, n) + 2 * max(m, n) * np.eye(m, n)


def close(found, expected, element):
    size = np.abs(expected).max() * len(expected)
    return np.abs(found - expected).max() <= 100 * size * np.finfo(element).eps


def is_cholesky(out, of):
    factor = np.tril(out)
    return factor @ factor.T, of["A"]


def is_lu(out, of):
    m, n = out.shape
    return (np.tril(out, -1)[:, :min(m, n)] + np.eye(m, min(m, n))) @ np.triu(out)[:min(m, n)], of["A"]


def is_product(out, of):
    return out, 1.5 * of["A"] @ of["B"] - 0.5 * of["C"]


def is_solution(out, of):
    return np.tril(of["A"]) @ out, of["B"]


def is_qr(out, of):
    r = np.triu(out)[:out.shape[1]]
    return r.T @ r, of["A"].T @ of["A"]


# The file; its matrices; the result; more options; the check of the result.
FILES = {
    "cholesky": (lambda: {"A": definite(333)}, "A", ["--tile", 50], is_cholesky),
    "lu": (lambda: {"A": dominant(250, 330)}, "A", ["--tile", 48], is_lu),
    "gemm": (lambda: {"A": random(1, 150, 210), "B": random(2, 210, 70), "C": random(3, 150, 70)}, "C",
             ["--tile", 32, "--set", "alpha=1.5", "--set", "beta=-0.5"], is_product),
    "trsm": (lambda: {"A": dominant(333, 333), "B": random(4, 333, 70)}, "B", ["--tile", 50], is_solution),
    "qr": (lambda: {"A": random(5, 250, 130)}, "A",
           ["--tile", 48, "--matrix", "T=24,130,4,48", "--allow-c"], is_qr),
    "lu-incremental": (lambda: {"A": dominant(200, 200)}, "A",
                       ["--tile", 64, "--matrix", "D=200,64,64,64", "--matrix", "L=32,200,8,64", "--matrix", "IPIV=4,200,1,64",
                        "--allow-c"], None),
}
SINGLE = [("tile_d", "tile_s"), ("CORE_d", "CORE_s"), ("double", "float")]


@pytest.fixture
def jdf(command, tmp_path):
    """Runs a file on that many ranks; returns messages and results."""

    def run(launcher, ranks, name, options, memory=ROOMY):
        (tmp_path / "out.npy").unlink(missing_ok=True)
        done = start(command, tmp_path, launcher, ranks, ["jdf", "run", name, *options, "--memory", memory, "--workers", 1,
                                                          "--progress", "none", *([] if memory == ROOMY else ["--check"])])
        done.out = np.load(tmp_path / "out.npy") if (tmp_path / "out.npy").exists() else None
        return done

    return run


def prepared(folder, name, element):
    """Writes the file and its matrices; returns these, the options, and the check."""
    make, output, options, judge = FILES[name]
    text = (EXAMPLES / f"{name}.jdf").read_text()
    if element == np.float32:
        for double, single in SINGLE:
            text = text.replace(double, single)
    (folder / "it.jdf").write_text(text)
    (folder / "tiles.h").write_text((EXAMPLES / "tiles.h").read_text())
    given = []
    matrices = {letter: matrix.astype(element) for letter, matrix in make().items()}
    for letter, matrix in matrices.items():
        np.save(folder / f"{letter}.npy", matrix)
        given += ["--matrix", f"{letter}={letter}.npy"]
    given += [*options, "-o", f"{output}=out.npy", "--precision", "single" if element == np.float32 else "double"]
    return {letter: matrix.astype(float) for letter, matrix in matrices.items()}, given, judge


@pytest.mark.parametrize("element", [np.float64, np.float32])
@pytest.mark.parametrize("name", FILES)
def test_results_have_the_bits_of_one_rank(tmp_path, jdf, at_length, name, element):
    """In core and out of core, on grids of every launcher: without --long half of them in each precision. lu-incremental has a
    column of tiles next to the diagonal of A, which needs one column of ranks."""
    matrices, options, judge = prepared(tmp_path, name, element)
    one = jdf("threads", 1, "it.jdf", options)
    assert one.returncode == 0, one.stderr
    assert one.out.dtype == element
    if judge is not None:
        found, expected = judge(one.out.astype(float), matrices)
        assert close(found, expected, element)
    grids = [("threads", 2, TIGHT), ("openmpi", 6, TIGHT), ("mpich", 3, TIGHT), ("mpich", 4, ROOMY)]
    for launcher, ranks, memory in grids if at_length else grids[element == np.float32::2]:
        grid = ["--grid", f"{ranks}x1"] if name == "lu-incremental" else []
        done = jdf(launcher, ranks, "it.jdf", [*options, *grid], memory)
        assert (done.returncode, said(done)) == (0, []), done.stderr
        assert np.array_equal(done.out, one.out), (launcher, ranks, memory)
        assert f"{ranks} ranks" in done.stdout and done.stdout.count("Computed") == 1


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_grids_and_orders_give_the_same_bits(tmp_path, jdf, launcher, order):
    a = definite(301)
    np.save(tmp_path / "A.npy", np.asarray(a, order=order))
    options = ["--matrix", "A=A.npy", "--tile", 40, "-o", "A=out.npy"]
    file = EXAMPLES / "cholesky.jdf"
    one = jdf("threads", 1, file, options).out
    for grid in ["1x4", "4x1", "2x2"]:
        done = jdf(launcher, 4, file, [*options, "--grid", grid], TIGHT)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(done.out, one) and np.isfortran(done.out) == (order == "F")
        assert f"4 ranks ({grid[0]} x {grid[2]})" in done.stdout


ROUND = """
A  [ type = "tiled_matrix *" ]
NT [ type = int ]
PASS(k)
k = 0 .. NT
: A(k % 2)
RW T <- (k == 0) ? A(0) : T PASS(k-1)
     -> (k == NT) ? A(0) : T PASS(k+1)
BODY
{
    tile_dscale(4, 1, 2.0, T, 4);
}
END
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("grid", ["5x1", "1x5"])
def test_a_value_passes_through_a_one_dimensional_collection(tmp_path, jdf, launcher, grid):
    """A column of tiles is distributed by rows."""
    (tmp_path / "round.jdf").write_text(ROUND)
    np.save(tmp_path / "A.npy", np.arange(11.0))
    done = jdf(launcher, 5, "round.jdf", ["--matrix", "A=A.npy", "--tiles", "A=4x1", "--set", "NT=20", "-o", "A=out.npy",
                                          "--grid", grid])
    assert (done.returncode, said(done)) == (0, []), done.stderr
    expected = np.arange(11.0)
    expected[:4] *= 2.0 ** 21
    assert np.array_equal(done.out, expected)


COUNTS = """
A    [ type = "tiled_matrix *" ]
seen [ type = "int *" ]
most [ type = "int *" ]
PUT(k)
k = 0 .. 5
: A(k, 0)
RW T <- A(k, 0)
     -> A(k, 0)
BODY
{
    if (k == 4) *seen = 7;
    *most = 3;
}
END
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_results_of_bodies_in_globals_are_printed_from_any_rank(tmp_path, jdf, launcher):
    (tmp_path / "counts.jdf").write_text(COUNTS)
    done = jdf(launcher, 3, "counts.jdf", ["--matrix", "A=6,1,1,1"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("seen is 7") == 1 and done.stdout.count("most is 3") == 1


# Errors: a command that each rank runs before, options, the exit status if it is fixed, and the message of some rank.
NOT_THERE = "A.npy: cannot be opened for reading"
WRONG = {
    "no such member": ("", ["--set", "descA->mz=3"], None, "mz"),
    "no such global": ("", ["--set", "beta=3"], 2, "beta"),
    "no number": ("", ["--set", "descA->mt=x"], 2, "descA->mt"),
    "an invalid graph": ("", ["--set", "descA->mt=9"], 1, "POTRF"),
    "no matrix": ("rm -f A.npy", [], 1, NOT_THERE),
    "not positive definite": ("cp -p ../0/bad.npy A.npy; sleep 0.2", [], 1, "cholesky.jdf:28:18: tile_dpotrf of POTRF(4) returns 1"),
    "not a number": ("cp -p ../0/nan.npy A.npy; sleep 0.2", [], 1, "row 130, column 7 (counted from 0) is not a number"),
    "no JDF": ("rm -f cholesky.jdf", [], 1, "cholesky.jdf"),
    "no JDF on one": ("[ $rank = 2 ] && rm -f cholesky.jdf", [], 1, "cholesky.jdf"),
    "another JDF on one": ("[ $rank = 1 ] && echo >> cholesky.jdf", [], 1, "cholesky.jdf differs between rank 1 and rank 0"),
    "a mistake in the JDF": ("sed -i 's/T TRSM/T TRASM/' cholesky.jdf", [], 1, "cholesky.jdf:"),
    "no place for the output": ("", ["-o", "A=no/such/out.npy"], 1, "no/such/out.npy"),
    "the output is the input": ("", ["-o", "A=A.npy"], 2, "it would be lost"),
    "no such policy": ("", ["--scheduler", "best"], 2, "best"),
    "no such type": ("", ["--type", "LOWR_TILE=lower"], 2, "has a type of that name"),
    "no such part": ("", ["--type", "LOWER_TILE=left"], 2, "strictly_lower"),
    "too little memory on one": ("[ $rank = 1 ] && export FAIRLEAD_MEMORY=1100KiB", [], None, "rank 1"),
    "too little memory on all": ("export FAIRLEAD_MEMORY=1100KiB", [], None, "memory"),
    "no place to spill on one": ("[ $rank = 2 ] && export FAIRLEAD_DISK_DIRECTORY=/no/such/place", [], 1, "/no/such/place"),
    "a grid of another size": ("", ["--grid", "2x2"], 2, "--grid 2x2 is for 4 ranks; there are 3"),
    "an option for one rank": ("", ["--event-log", "log"], 2, "--event-log"),
}


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("wrong", WRONG)
def test_an_error_on_one_rank_ends_all_ranks(command, tmp_path, launcher, wrong):
    """Ranks in folders of their own, of which the first has the matrix and all have the graph."""
    before, options, status, words = WRONG[wrong]
    a = definite(333)
    for rank in range(3):
        (tmp_path / "where" / str(rank)).mkdir(parents=True)
        (tmp_path / "where" / str(rank) / "cholesky.jdf").write_text((EXAMPLES / "cholesky.jdf").read_text())
    first = tmp_path / "where/0"
    np.save(first / "A.npy", a)
    a[200, 200] = -5
    np.save(first / "bad.npy", a)
    a[130, 7] = np.nan
    np.save(first / "nan.npy", a)
    memory = [] if "MEMORY" in before else ["--memory", ROOMY]
    done = start(command, tmp_path, launcher, 3,
                 ["jdf", "run", "cholesky.jdf", "--matrix", "A=A.npy", "--tile", 50, "--workers", 1, *memory,
                  *([] if "-o" in options else ["-o", "A=out.npy"]), *options], before=before + '\necho "began $rank" >&2')
    assert done.stderr.count("began") == 3
    assert done.returncode != 0 and (status is None or done.returncode == status), done.stderr
    assert words in done.stderr, done.stderr
    assert len(said(done)) <= (1 if status == 2 else 3), done.stderr
    assert not list(tmp_path.glob("where/*/out.npy"))
    assert wrong == "no matrix" or np.load(first / "A.npy").shape == (333, 333)
    assert not list(tmp_path.glob("where/*/.*"))  # nor a part of it


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_files_of_the_first_rank_are_used_by_all(command, tmp_path, launcher):
    for rank in range(3):
        (tmp_path / "where" / str(rank)).mkdir(parents=True)
        (tmp_path / "where" / str(rank) / "lu.jdf").write_text((EXAMPLES / "lu.jdf").read_text())
    a = dominant(250, 330)
    np.save(tmp_path / "where/0/A.npy", a)
    done = start(command, tmp_path, launcher, 3, ["jdf", "run", "lu.jdf", "--matrix", "A=A.npy", "--tile", 48, "--workers", 1,
                                                  "--memory", TIGHT, "-o", "A=out.npy"], before="true")
    assert (done.returncode, said(done)) == (0, []), done.stderr
    found, expected = is_lu(np.load(tmp_path / "where/0/out.npy"), {"A": a})
    assert close(found, expected, np.float64)
    assert not list(tmp_path.glob("where/[12]/out.npy"))


ELSEWHERE = """
descA [ type = "tiled_matrix *" ]
SHIFT(i)
i = 0 .. descA->mt-2
: descA(i, 0)
READ A <- descA(i+1, 0)
RW   B <- descA(i, 0)
       -> descA(i, 0)
BODY
END
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("check", ["--check", "--no-check"])
def test_data_of_other_ranks_are_named_with_their_place(tmp_path, jdf, launcher, check):
    (tmp_path / "shift.jdf").write_text(ELSEWHERE)
    done = jdf(launcher, 2, "shift.jdf", ["--matrix", "A=40,10,10,10", "--grid", "2x1", check])
    assert done.returncode == 1
    if check == "--check":
        assert "shift.jdf:6:11: descA(1,0) is rank 1's, and is taken as A of SHIFT(0), which runs on rank 0" in done.stderr
        assert done.stderr.count("shift.jdf:6:11") == 3
    else:
        # Any of the ranks with such an access may report it.
        assert any(f"descA({i}, 0), which belongs to rank {i % 2}" in line for i in (1, 2, 3) for line in said(done)), done.stderr


TYPES = (pathlib.Path(__file__).resolve().parents[1] / "compiled_jdf/types.jdf").read_text()  # tests/compiled_jdf compiles it
EXPLAINED = ["--type", "LOWER_TILE=lower", "--type", "UPPER_TILE=upper", "--type", "MINE=upper"]


def bytes_of_graphs(folder):
    ranks = json.loads((folder / "r.json").read_text())["ranks"]
    return sum(pair["graphs_bytes"] for rank in ranks for pair in rank["from"])


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("eager", [0, 100000])
@pytest.mark.parametrize("element", [np.float64, np.float32])
def test_types_of_dependencies_select_the_sent_part(tmp_path, jdf, launcher, eager, element):
    """Counted: of each diagonal tile the triangle that a rank needs. On 4 x 1 ranks nothing of it stays at home."""
    n, tile, tiles = 110, 30, 4
    a, b, c = (random(len(shape), *shape).astype(element) for shape in ((n, n), (n, tile), (tiles * tile, tile)))
    for name, matrix in {"A": a, "B": b, "C": c}.items():
        np.save(tmp_path / f"{name}.npy", matrix)
    (tmp_path / "types.jdf").write_text(TYPES.replace("tile_d", "tile_s") if element == np.float32 else TYPES)
    options = ["--matrix", "A=A.npy", "--matrix", "B=B.npy", "--matrix", "C=C.npy", "--tile", tile, "-o", "A=out.npy", "-o", "B=b.npy",
               "-o", "C=c.npy", "--grid", "4x1", "--json", "r.json", "--eager-limit", eager]
    done = jdf(launcher, 4, "types.jdf", options + EXPLAINED)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    expected, sums = a.copy(), b.copy()
    for k in range(tiles):
        rows = slice(k * tile, min(n, (k + 1) * tile))
        expected[rows, rows] += np.tril(a[rows, rows])
        sums[rows, :expected[rows, rows].shape[1]] += np.triu(a[rows, rows])
        full, of_c = np.full((tile, tile), 5), slice(k * tile, (k + 1) * tile)
        left = np.tril(full, -1) if k % 2 == 0 else np.triu(full, 1) + 7 * np.eye(tile)
        c[of_c] = np.where(left != 0, left, c[of_c])
    assert np.array_equal(done.out, expected) and np.array_equal(np.load(tmp_path / "b.npy"), sums)
    assert np.array_equal(np.load(tmp_path / "c.npy"), c)
    in_parts = bytes_of_graphs(tmp_path)
    done = jdf(launcher, 4, "types.jdf", options + [word.split("=")[0] + "=full" if "=" in word else word for word in EXPLAINED])
    assert done.returncode == 0, done.stderr
    orders = [tile] * (tiles - 1) + [n - (tiles - 1) * tile]
    saved = sum(3 * (m * m - m * (m + 1) // 2) for m in orders)
    assert bytes_of_graphs(tmp_path) - in_parts == saved * np.dtype(element).itemsize


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_type_without_a_definition_is_an_error(tmp_path, jdf, ranks):
    """Also for a copy for a task that changes it."""
    (tmp_path / "types.jdf").write_text(TYPES)
    options = ["--matrix", "A=40,40,10,10", "--matrix", "B=40,10,10,10", "--matrix", "C=40,10,10,10", "--grid", f"{ranks}x1"]
    for missing, line in (["MINE", "67:51"], ["LOWER_TILE", "16:24"]):
        given = [word for pair in zip(EXPLAINED[::2], EXPLAINED[1::2], strict=True) if missing not in pair[1] for word in pair]
        done = jdf("threads", ranks, "types.jdf", options + given)
        assert done.returncode != 0 and f"types.jdf:{line}: " in done.stderr and f"--type {missing}=" in done.stderr, done.stderr


BOTH_ENDS = """
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
GIVE(k)
  k = 0 .. descA->mt-1
  : descA(k, 0)
  READ T <- descA(k, 0)
         -> U TAKE(k) [type = lower]
         -> C TWICE(k) [type = strictly_lower]
BODY
END
TAKE(k)
  k = 0 .. descA->mt-1
  : descB(k, 0)
  READ U <- T GIVE(k) [type = upper]
  RW   B <- descB(k, 0)
         -> descB(k, 0)
BODY
{
    tile_dgeadd(descA->mb, descA->mb, 1.0, U, descA->mb, 1.0, B, descB->mb);
}
END
TWICE(k)
  k = 0 .. descA->mt-1
  : descB(k, 0)
  RW C <- T GIVE(k)     [type = strictly_upper]
       -> descA(k, 0)   [type = strictly_upper]
BODY
{
    tile_dscale(descA->mb, descA->mb, 2.0, C, descA->mb);
}
END
"""


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("memory", ["1600KiB", ROOMY])
@pytest.mark.parametrize("element", [np.float64, np.float32])
def test_the_ends_of_an_edge_may_have_different_types(tmp_path, jdf, ranks, memory, element):
    tile, tiles = 100, 9  # 1.4 MiB; 1 MiB is needed in addition to tiles
    a, b = random(1, tile * tiles, tile).astype(element), random(2, tile * tiles, tile).astype(element)
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "B.npy", b)
    (tmp_path / "ends.jdf").write_text(BOTH_ENDS.replace("tile_d", "tile_s") if element == np.float32 else BOTH_ENDS)
    done = jdf("threads", ranks, "ends.jdf", ["--matrix", "A=A.npy", "--matrix", "B=B.npy", "--tile", tile, "-o", "A=out.npy",
                                              "-o", "B=b.npy", "--grid", f"{ranks}x1"], memory=memory)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    for k in range(tiles):
        rows = slice(k * tile, (k + 1) * tile)
        given, strict = (a[rows].T[np.triu_indices(tile, off)] for off in (0, 1))  # of the transpose: column after column
        cut = np.zeros((2, tile, tile), element)
        cut[0].T[np.tril_indices(tile)] = given
        cut[1].T[np.tril_indices(tile, -1)] = strict
        b[rows] += cut[0]
        a[rows] = np.where(np.triu(np.ones((tile, tile)), 1) != 0, 2 * cut[1], a[rows])
    assert np.array_equal(done.out, a) and np.array_equal(np.load(tmp_path / "b.npy"), b)

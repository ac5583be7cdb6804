"""Ranks with different files: the first rank reads files for all that only it can read. And errors on some ranks only: each
rank must end with a status other than zero, and the error is printed. And signals."""

import os
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from ranks import ENVIRONMENT, LAUNCHERS, said, start
from solutions import backward_error
from test_ranks_alike import METHODS, N, files_of, matrix, require_alike, require_right, save, solve

PROCESSES = ["openmpi", "mpich"]
SMALL = ["--memory", "7MiB", "--tile", 24, "--workers", 1, "--progress", "none"]


@pytest.fixture
def apart(command, tmp_path):
    """Runs ranks in folders of their own, of which the first has the files; `before` is what each does there first."""

    def run(launcher, ranks, *options, before=""):
        for rank in range(ranks):
            (tmp_path / "where" / str(rank)).mkdir(parents=True, exist_ok=True)
        first = tmp_path / "where/0"
        for file in tmp_path.glob("*.npy"):
            (first / file.name).write_bytes(file.read_bytes())
        done = start(command, tmp_path, launcher, ranks, ["solve", *options], before=before)
        done.first = first
        done.x = np.load(first / "x.npy") if (first / "x.npy").exists() else None
        done.figures, done.ranks, done.lines = None, ranks, None
        assert not list((tmp_path / "where").glob("[1-9]/x.npy"))
        return done

    return run


SEEN = {"nothing": "", "one of both": "[ $rank = 0 ] || cp ../0/b.npy .", "a part": "[ $rank = 0 ] || head -c 9000 ../0/A.npy > A.npy",
        "another": "[ $rank = 0 ] || { cp ../0/*.npy .; touch -d 2001-01-01 A.npy; }", "the same": "[ $rank = 0 ] || cp -p ../0/*.npy ."}


@pytest.mark.parametrize("launcher", PROCESSES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("element, order", [(np.float64, "C"), (np.float32, "F")])
def test_files_of_the_first_rank_are_solved_by_all(command, tmp_path, apart, launcher, method, element, order):
    """Out of core, to the same bits; no rank has all of the matrix in memory."""
    a, b, options = files_of(tmp_path, method, element, 2, order)
    one = solve(command, tmp_path, "threads", 1, ["A.npy", "b.npy", *options, *SMALL])
    done = apart(launcher, 3, "A.npy", "b.npy", "-o", "x.npy", *options, *SMALL)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(done.x, one.x)
    assert require_right(done.x, a, b) < 3e3 * np.linalg.cond(a.astype(float)) * np.finfo(element).eps


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("refine", [[], ["--refine"]])
@pytest.mark.parametrize("stored", [[], ["--lower"], ["--upper"], ["--symmetrize"]])
def test_ranks_with_different_files_use_those_of_the_first(tmp_path, apart, seen, refine, stored):
    a, b = save(tmp_path, matrix("definite", N, N), np.ones((N, 2)), np.float64)
    done = apart("mpich", 3, "A.npy", "b.npy", "-o", "x.npy", *refine, *stored, *SMALL, before=SEEN[seen])
    assert (done.returncode, said(done)) == (0, [])
    assert require_right(done.x, a, b) < 1e-12


@pytest.mark.parametrize("launcher", PROCESSES)
def test_points_of_the_first_rank_define_the_kernel_of_all(tmp_path, apart, launcher):
    points = np.random.default_rng(5).uniform(0, 4, (N, 70))
    b = np.random.default_rng(6).standard_normal(N)
    np.save(tmp_path / "points.npy", points)
    np.save(tmp_path / "b.npy", b)
    options = ["--kernel", "rbf", "--points", "points.npy", "--length-scale", 3, "--nugget", 0.1, "b.npy", "-o", "x.npy", *SMALL]
    done = apart(launcher, 3, *options)
    assert (done.returncode, said(done)) == (0, [])
    apart_by = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    assert require_right(done.x, np.exp(-apart_by / 18) + 0.1 * np.eye(N), b) < 1e-11
    points[3, 4] = np.nan
    np.save(tmp_path / "points.npy", points)
    done = apart(launcher, 3, *options)
    assert done.returncode == 1 and len(said(done)) == 1
    assert "row 3, column 4 (counted from 0) is not a number" in said(done)[0]


@pytest.mark.parametrize("place, value, words", [
    ((99, 99), -1e3, "not positive definite"), ((88, 7), np.nan, "row 88, column 7 (counted from 0) is not a number"),
    ((9, 5), 77.0, "is not symmetric: row 5, column 9"), ((7, 88), np.inf, "row 7, column 88 (counted from 0) is infinite")])
@pytest.mark.parametrize("refine", [[], ["--refine"]])
def test_the_first_rank_checks_what_it_reads(tmp_path, apart, place, value, words, refine):
    a = matrix("definite", N, N)
    a[place] = value
    save(tmp_path, a, np.ones(N), np.float64)
    done = apart("mpich", 3, "A.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", *SMALL, *refine)
    assert done.returncode == 1 and done.x is None
    assert any(words in line for line in said(done)), done.stderr
    assert "symmetric" not in words or "trying again" not in done.stderr


# A command that each rank runs before, more options, the status, the message of one rank.
WRONG = {
    "the first has no matrix": ("rm -f A.npy", [], 1, "A.npy: cannot be opened for reading"),
    "the first has a part": ("[ $rank = 0 ] && head -c 9000 A.npy > B.npy && mv B.npy A.npy", [], 1, "A.npy: is truncated"),
    "the first has no right-hand side": ("rm -f b.npy", [], 1, "b.npy: cannot be opened for reading"),
    "b has another size": ("cp -p ../0/c.npy b.npy; sleep 0.2", [], 1, "they need the same number of rows"),
    "b is not finite": ("[ $rank = 0 ] && cp d.npy b.npy", [], 1, "b.npy: the element in row 3, column 0"),
    "b is not finite for a factor in single precision": ("[ $rank = 0 ] && cp d.npy b.npy", ["--refine"], 1,
                                                         "b.npy: the element in row 3, column 0"),
    "no place for x": ("", ["-o", "no/such/x.npy"], 1, "no/such/x.npy"),
    "x is A": ("", ["-o", "A.npy"], 2, "it would be lost"),
    "a misspelt option": ("", ["--metod", "qr"], 2, "metod"),
    "no such policy": ("", ["--scheduler", "best"], 2, "best"),
    "too little memory on one": ("[ $rank = 1 ] && export FAIRLEAD_MEMORY=1MiB", [], 2, "rank 1"),
    "too little memory on all": ("export FAIRLEAD_MEMORY=1MiB", [], 2, "leaves nothing for tiles"),
    "no place to spill on one": ("[ $rank = 2 ] && export FAIRLEAD_DISK_DIRECTORY=/no/such/place", [], 1, "/no/such/place"),
    "no such BLAS on one": ("[ $rank = 1 ] && export FAIRLEAD_BLAS=nowhere", [], 2, "rank 1: usage error: no BLAS \"nowhere\" is found"),
    "an invalid setting": ("[ $rank = 1 ] && export FAIRLEAD_WORKERS=many", [], 2, "many"),
}


@pytest.mark.parametrize("launcher", PROCESSES)
@pytest.mark.parametrize("wrong", WRONG)
def test_an_error_on_one_rank_ends_all_ranks(tmp_path, apart, launcher, wrong):
    before, options, status, words = WRONG[wrong]
    a = matrix("definite", N, N)
    save(tmp_path, a, np.ones((N, 40)), np.float64)
    np.save(tmp_path / "c.npy", np.ones(N + 1))
    np.save(tmp_path / "d.npy", np.where(np.arange(N) == 3, np.inf, 1))
    memory = [] if "MEMORY" in before else ["--memory", "64MiB"]
    done = apart(launcher, 3, "A.npy", "b.npy", *memory, "--tile", 24, *([] if "WORKERS" in before else ["--workers", 1]),
                 *([] if "-o" in options else ["-o", "x.npy"]), *options, before=before + '\necho "began $rank" >&2')
    assert done.stderr.count("began") == 3
    assert done.returncode == status, done.stderr
    assert any(words in line for line in said(done)), done.stderr
    assert len(said(done)) <= (1 if status == 2 else 2), done.stderr
    assert "trying again" not in done.stderr
    assert done.x is None or wrong == "x is A"


def test_a_full_disk_for_the_solution_ends_all(command, tmp_path):
    """Files may grow to 600 KB: enough for the spill file, but not for x."""
    save(tmp_path, matrix("definite", N, N), np.ones((N, 600)), np.float64)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    done = subprocess.run([command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--ranks", "4", "--memory", "64MiB", "--tile", "24",
                           "--workers", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=120, preexec_fn=small_files)
    assert done.returncode == 1 and len(said(done)) == 1, done.stderr
    assert "x.npy" in said(done)[0] and "File too large" in said(done)[0]
    assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("launcher", PROCESSES)
@pytest.mark.parametrize("method", ["cholesky", "lu-nopivot"])
def test_devices_may_be_set_on_one_rank_only(tmp_path, apart, launcher, method):
    a, b = save(tmp_path, matrix("definite", N, N) + N * np.eye(N), np.ones(N), np.float64)
    done = apart(launcher, 2, "A.npy", "b.npy", "-o", "x.npy", "--method", method, *SMALL,
                 before="[ $rank = 1 ] && export FAIRLEAD_DEVICES=none")
    assert (done.returncode, said(done)) == (0, [])
    assert require_right(done.x, a, b) < 1e-12


@pytest.mark.parametrize("launcher", PROCESSES)
def test_ranks_of_unequal_memory_choose_the_same_tiles(command, tmp_path, apart, launcher):
    a, b = save(tmp_path, matrix("definite", N, N), np.ones(N), np.float64)
    done = apart(launcher, 3, "A.npy", "b.npy", "-o", "x.npy", "--workers", 1,
                 before="export FAIRLEAD_MEMORY=$((5 + 4 * rank))MiB")
    assert (done.returncode, said(done)) == (0, [])
    assert require_right(done.x, a, b) < 1e-12


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("words", [["solve", "a.npy", "b.npy", "-o", "x.npy"], ["solve", "a.npy", "b.npy", "-o", "x.npy", "--method", "lu-nopivot"]],
                         ids=["cholesky", "lu-nopivot"])
def test_a_signal_leaves_a_solution_or_a_nonzero_status(command, tmp_path, launcher, words):
    """To all ranks: at a random time, or right after x appears."""
    numbers = np.random.default_rng(4)
    a = numbers.standard_normal((200, 200))
    a, b = a @ a.T + 200 * np.eye(200), numbers.standard_normal(200)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    x, pids = tmp_path / "x.npy", tmp_path / "pids"
    line = [*LAUNCHERS[launcher], "3", "sh", "-c", 'echo $$ >> pids; exec "$@"', "sh", command, *words, "--tile", "32", "--workers", "1",
            "--memory", "16MiB", "--progress", "none", "--json", "r.json"]
    seconds = None
    for moment in [None, *["there"] * 3, *numbers.uniform(0.2, 1, 2)]:
        for file in (x, pids):
            file.unlink(missing_ok=True)
        began = time.monotonic()
        run = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        if moment == "there":
            while not x.exists() and run.poll() is None:
                pass
        elif moment is not None:
            while time.monotonic() < began + moment * seconds and run.poll() is None:
                pass
        if moment is not None:
            for pid in pids.read_text().split() if pids.exists() else []:
                try:
                    os.kill(int(pid), signal.SIGINT)
                except ProcessLookupError:
                    pass
        said_by_it = run.communicate(timeout=120)
        seconds = seconds or time.monotonic() - began
        assert (run.returncode == 0) == x.exists() and (moment not in (None, "there") or run.returncode == 0), (moment, run.returncode, said_by_it)
        if run.returncode == 0:
            assert backward_error(a, np.load(x), b) <= 20 * np.finfo(np.float64).eps

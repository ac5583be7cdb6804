"""The description of MPI by `fairlead info`; and an MPI that only the main thread may call, by a library between it and Fairlead
that requests MPI_THREAD_FUNNELED and ends a process in which another thread calls."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from ranks import ENVIRONMENT, LAUNCHERS, said, start
from solutions import backward_error

BETWEEN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void by_the_first(const char *what) {
  if (syscall(SYS_gettid) == getpid()) return;
  fprintf(stderr, "fairlead: another thread has called %s\n", what);
  abort();
}
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given) {
  (void)wanted;
  return PMPI_Init_thread(argc, argv, LEVEL, given);
}
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
  by_the_first("MPI_Isend");
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
  by_the_first("MPI_Irecv");
  return PMPI_Irecv(b, n, t, from, tag, c, r);
}
int MPI_Testsome(int n, MPI_Request *r, int *count, int *which, MPI_Status *s) {
  by_the_first("MPI_Testsome");
  return PMPI_Testsome(n, r, count, which, s);
}
int MPI_Start(MPI_Request *r) {
  by_the_first("MPI_Start");
  return PMPI_Start(r);
}
int MPI_Cancel(MPI_Request *r) {
  by_the_first("MPI_Cancel");
  return PMPI_Cancel(r);
}
"""


@pytest.fixture
def between(command, tmp_path):
    """Runs the command by a launcher, with that library before its MPI."""

    def run(launcher, ranks, level, *arguments):
        compiler = shutil.which(f"mpicc.{launcher}")
        if compiler is None:
            pytest.skip(f"there is no mpicc of {launcher}")
        (tmp_path / "between.c").write_text(BETWEEN)
        library = tmp_path / "between.so"
        subprocess.run([compiler, "-shared", "-fPIC", f"-DLEVEL={level}", "-o", library, tmp_path / "between.c"], check=True)
        return subprocess.run([*LAUNCHERS[launcher], str(ranks), "env", f"LD_PRELOAD={library}", command, *map(str, arguments)],
                              cwd=tmp_path, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)

    return run


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("front", ["ptg", "flow"])
@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_the_main_thread_polls_with_mpi_thread_funneled(command, between, tmp_path, launcher, front, workers):
    options = ["bench", "cholesky", "--n", 300, "--tile", 32, "--memory", "64MiB", "--front", front, "--digest", "--json", "r.json"]
    alone = start(command, tmp_path, "threads", 1, options)
    assert alone.returncode == 0, alone.stderr
    expected = json.loads((tmp_path / "r.json").read_text())["factor_digest"]
    done = between(launcher, 3, "MPI_THREAD_FUNNELED", *options, "--workers", workers)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["factor_digest"] == expected
    assert "called by the program's thread alone" in report["network"]
    assert sum(rank["payloads"] for rank in report["ranks"]) > 0


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_solve_out_of_core_by_one_thread(between, tmp_path, launcher):
    random = np.random.default_rng(3)
    a = random.standard_normal((700, 700)) + 1400 * np.eye(700)
    b = random.standard_normal(700)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    done = between(launcher, 2, "MPI_THREAD_FUNNELED", "solve", "a.npy", "b.npy", "-o", "x.npy", "--method", "lu-nopivot", "--tile", 40, "--memory",
                   "6MiB", "--workers", 2)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert np.abs(np.load(tmp_path / "x.npy") - np.linalg.solve(a, b)).max() < 1e-12


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_errors_are_reported_with_one_thread(between, tmp_path, launcher):
    np.save(tmp_path / "a.npy", -np.eye(200))
    np.save(tmp_path / "b.npy", np.ones(200))
    done = between(launcher, 3, "MPI_THREAD_FUNNELED", "solve", "a.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 32,
                   "--memory", "64MiB")
    assert done.returncode != 0 and any("not positive definite" in line for line in said(done)), done.stderr
    assert not any("another thread" in line for line in said(done)), done.stderr


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_without_threads_it_is_refused(between, launcher):
    done = between(launcher, 2, "MPI_THREAD_SINGLE", "bench", "cholesky", "--n", 100)
    if done.returncode == 0:
        pytest.skip("this MPI provides more than was requested")
    assert "MPI_THREAD_FUNNELED or a higher level" in done.stderr, done.stderr


def test_info_lists_the_available_mpis(fairlead):
    done = fairlead("info", "--json", "i.json")
    assert done.returncode == 0, done.stderr
    assert "this process is a single rank: mpirun -n 2 fairlead info reports more" in done.stdout
    mpi = json.loads((fairlead.folder / "i.json").read_text())["mpi"]
    assert [it["name"] for it in mpi["plugins"]] == ["Open MPI", "MPICH"] and mpi["ranks"] == 1
    for it in mpi["plugins"]:
        assert it["plugin"] == "" or it["plugin"] in done.stdout


@pytest.mark.parametrize("launcher, name", [("openmpi", "Open MPI"), ("mpich", "MPICH")])
@pytest.mark.parametrize("ranks", [1, 3])
def test_info_describes_the_mpi_that_started_it(command, tmp_path, launcher, name, ranks):
    done = start(command, tmp_path, launcher, ranks, ["info", "--json", "i.json"])
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert done.stdout.count("workers ") <= 2 and done.stdout.count(f"{name}: ") == 1
    mpi = json.loads((tmp_path / "i.json").read_text())["mpi"]
    assert mpi["ranks"] == ranks
    if "description" not in mpi:
        assert ranks == 1
        return
    assert name in mpi["description"] and "called by" in mpi["description"] and "workers" in mpi["driven_by"]
    assert f"{ranks} ranks by {mpi['description']}" in done.stdout
    if ranks > 1:  # Open MPI: 4 KiB with its head; MPICH: from 1 KiB on
        assert 256 <= mpi["eager_bytes"] <= 1 << 20
        assert f"messages of up to {mpi['eager_bytes']} bytes are sent" in done.stdout


def test_info_measures_the_eager_limit_of_open_mpi(command, tmp_path):
    def measured(limit):
        done = subprocess.run(["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "btl_vader_eager_limit",
                               str(limit), "-n", "2", command, "info", "--json", "i.json"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "i.json").read_text())["mpi"]["eager_bytes"]

    for limit in (2048, 32768):
        # Never more; less if other processes use the cores for the whole timeout of a message.
        found = []
        while not found or (max(found) < limit - 128 and len(found) < 8):
            found.append(measured(limit))
        assert limit - 128 <= max(found) <= limit, found


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("front, memory", [("ptg", "64MiB"), ("flow", "1400KiB"), ("jdf", "1400KiB")])
def test_a_network_thread_polls(command, tmp_path, launcher, front, memory):
    """The same bits, in core and out of core, where workers do not look at the network."""
    options = ["bench", "cholesky", "--n", 600, "--tile", 32, "--memory", memory, "--front", front, "--workers", 1, "--digest",
               "--json", "r.json"]
    digests = set()
    for ranks, thread in ((1, "auto"), (3, "off"), (3, "on")):
        done = start(command, tmp_path, "threads" if ranks == 1 else launcher, ranks, [*options, "--network-thread", thread])
        assert (done.returncode, said(done)) == (0, []), done.stderr
        report = json.loads((tmp_path / "r.json").read_text())
        assert 0 < report["backward_error"] < report["backward_error_limit"]
        assert ("driven by a thread of its own" in report.get("network", "")) == (thread == "on")
        if ranks > 1:
            assert (sum(rank["bytes_written"] for rank in report["ranks"]) > 0) == (memory != "64MiB")
        digests.add(report["factor_digest"])
    assert len(digests) == 1


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_it_solves_and_reports_errors(command, tmp_path, launcher):
    numbers = np.random.default_rng(3)
    a = numbers.standard_normal((300, 300))
    a = a @ a.T + 300 * np.eye(300)
    b = numbers.standard_normal(300)
    for broken in (False, True):
        if broken:
            a[200, 200] = -1e6
        np.save(tmp_path / "a.npy", a)
        np.save(tmp_path / "b.npy", b)
        (tmp_path / "x.npy").unlink(missing_ok=True)
        done = start(command, tmp_path, launcher, 3, ["solve", "a.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 48, "--memory",
                                                      "6MiB", "--network-thread", "on", "--workers", 2])
        if broken:
            assert done.returncode == 1 and any("not positive definite" in line for line in said(done)), done.stderr
            assert not (tmp_path / "x.npy").exists()
        else:
            assert (done.returncode, said(done)) == (0, []), done.stderr
            assert backward_error(a, np.load(tmp_path / "x.npy"), b) <= 20 * np.finfo(np.float64).eps


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_network_thread_on_is_refused_with_mpi_thread_funneled(between, launcher):
    done = between(launcher, 2, "MPI_THREAD_FUNNELED", "bench", "cholesky", "--n", 100, "--tile", 32, "--memory", "16MiB",
                   "--network-thread", "on")
    assert done.returncode == 2
    assert len(said(done)) == 1 and "--network-thread on: this MPI may be called by the program's thread alone" in said(done)[0]


@pytest.mark.parametrize("launcher, workers", [("openmpi", 1), ("mpich", 1), ("mpich", 2)])
def test_a_core_without_a_worker_gets_a_network_thread(command, tmp_path, launcher, workers):
    """By default, if its ranks have more cores than workers: two ranks share those of this machine."""
    cores = len(os.sched_getaffinity(0))
    line = [*LAUNCHERS[launcher], "2", command, "bench", "cholesky", "--n", "200", "--tile", "32", "--memory", "16MiB",
            "--workers", str(workers), "--json", "r.json"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    assert (done.returncode, said(done)) == (0, []), done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert ("driven by a thread of its own" in report["network"]) == (workers < cores // 2)

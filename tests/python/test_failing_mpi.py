"""An MPI that fails on one rank in the middle of a run, or a rank that exits there, by a library between MPI and Fairlead: all ranks
end with an error, and none waits forever."""

import re
import shutil
import subprocess

import pytest

from ranks import ENVIRONMENT, LAUNCHERS, said

BETWEEN = r"""
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
static int is_the_one(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  return rank && atoi(rank) == 1;
}
static int comes(void) {
  static atomic_int sent;
  return is_the_one() && atomic_fetch_add(&sent, 1) >= AFTER;
}
static int fails(void) { return MPI_ERR_OTHER; }
static int leaves(void) {
  exit(0);
  return 0;
}
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given) {
  (void)wanted;
  return PMPI_Init_thread(argc, argv, LEVEL, given);
}
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {
  return comes() ? WHAT : PMPI_Isend(b, n, t, to, tag, c, r);
}
int MPI_Ireduce_scatter_block(const void *b, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r) {
  return is_the_one() && AT_THE_END ? fails() : PMPI_Ireduce_scatter_block(b, to, n, t, op, c, r);
}
"""
NEVER = 1 << 30


@pytest.fixture
def run(command, tmp_path):
    """Runs three ranks that send much; the MPI of rank 1 fails."""

    def run(launcher, what, after, at_the_end=0, level="MPI_THREAD_MULTIPLE"):
        compiler = shutil.which(f"mpicc.{launcher}")
        if compiler is None:
            pytest.skip(f"there is no mpicc of {launcher}")
        (tmp_path / "between.c").write_text(BETWEEN)
        library = tmp_path / "between.so"
        subprocess.run([compiler, "-shared", "-fPIC", f"-DLEVEL={level}", f"-DAFTER={after}", f"-DWHAT={what}",
                        f"-DAT_THE_END={at_the_end}", "-o", library, tmp_path / "between.c"], check=True)
        line = [*LAUNCHERS[launcher], "3", "env", f"LD_PRELOAD={library}", command, "bench", "cholesky", "--n", "600", "--tile", "32",
                "--memory", "64MiB", "--workers", "2"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)

    return run


@pytest.mark.parametrize("level", ["MPI_THREAD_MULTIPLE", "MPI_THREAD_FUNNELED"])
@pytest.mark.parametrize("after", [0, 5, 60])
@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_an_error_in_the_middle_ends_all(run, launcher, after, level):
    done = run(launcher, "fails()", after, level=level)
    assert done.returncode != 0
    assert any(re.search(r"MPI could not send a (message|value|chunk)", line) for line in said(done)), done.stderr
    assert any(re.search(r"rank 1 on .* cannot communicate: its MPI has failed", line) for line in said(done)), done.stderr
    assert "terminate called" not in done.stderr, done.stderr


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_an_error_at_the_end_ends_all(run, launcher):
    done = run(launcher, "fails()", NEVER, at_the_end=1)
    assert done.returncode != 0
    assert any("MPI could not" in line for line in said(done)), done.stderr
    assert any(re.search(r"rank 1 on .* cannot communicate: its MPI has failed", line) for line in said(done)), done.stderr
    assert "terminate called" not in done.stderr, done.stderr


@pytest.mark.parametrize("after", [5, 60])
@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_a_rank_that_exits_in_the_middle_is_named_whatever_its_status(run, launcher, after):
    done = run(launcher, "leaves()", after)
    assert done.returncode != 0
    assert any(re.search(r"rank 1 on .* has ended while others needed it", line) for line in said(done)), done.stderr


NO_COUNTERS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
int eventfd(unsigned first, int flags) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  static int asked;
  if (rank && atoi(rank) == RANK && flags == EFD_CLOEXEC && asked++ == 0) {  // MPI's do not wait; the lifeline's is the first
    errno = EMFILE;
    return -1;
  }
  return ((int (*)(unsigned, int))dlsym(RTLD_NEXT, "eventfd"))(first, flags);
}
"""


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_ranks_of_which_one_has_no_descriptors_for_a_lifeline_compute_without(command, tmp_path, launcher, rank):
    (tmp_path / "counters.c").write_text(NO_COUNTERS)
    subprocess.run(["cc", "-shared", "-fPIC", f"-DRANK={rank}", "-o", "counters.so", "counters.c", "-ldl"], cwd=tmp_path, check=True)
    line = [*LAUNCHERS[launcher], "3", "env", f"LD_PRELOAD={tmp_path}/counters.so", command, "bench", "cholesky", "--n", "300", "--tile",
            "32", "--memory", "64MiB", "--workers", "1"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    expected = f"fairlead: warning: rank {rank}: ranks cannot watch each other: cannot create an event counter: Too many open files"
    assert expected in said(done), done.stderr

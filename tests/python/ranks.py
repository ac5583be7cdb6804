"""Shared by tests of commands over ranks: starting ranks, in one folder or each in its own, and their messages."""

import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile

# Open MPI's launchers make one folder for all of a machine, and take it away: two that do so at the same time fail.
OWN_FOLDER = tempfile.mkdtemp(prefix="fairlead-")
atexit.register(shutil.rmtree, OWN_FOLDER, ignore_errors=True)
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_orte_tmpdir_base": OWN_FOLDER}
SLEEPING_YIELD = pathlib.Path(__file__).resolve().parents[2] / "build/release/tests/shim/libsleeping_yield.so"
# There are more ranks than cores: those of Open MPI that wait sleep (tests/shim/sleeping_yield.cpp).
SLEEPING = ["-x", f"LD_PRELOAD={SLEEPING_YIELD}"] if SLEEPING_YIELD.exists() else []
ENVIRONMENT = {**os.environ, **SETTINGS}
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", *SLEEPING, "-n"], "mpich": ["mpirun.mpich", "-n"]}
# Each process goes to where/RANK, and does there what the first argument says before it becomes the command.
APART = """rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; cd "where/$rank" || exit 99; eval "$1"; shift; exec "$@" """


def start(command, folder, launcher, ranks, arguments, timeout=120, before=None):
    """Runs on that many ranks: by a launcher, or with --ranks. `before`: shell commands of each process, which then has its
    own folder and $rank."""
    line = [str(command), *map(str, arguments)]
    if launcher == "threads":
        line += ["--ranks", str(ranks)] if ranks > 1 else []
    else:
        if before is not None:
            line = ["sh", "-c", APART, "sh", before, *line]
        line = [*LAUNCHERS[launcher], str(ranks), *line]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=timeout, env=ENVIRONMENT)


def said(done):
    """The messages of the command, without those of launchers."""
    return [line for line in done.stderr.splitlines() if line.startswith("fairlead")]

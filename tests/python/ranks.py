"""Shared by tests of commands over ranks: starting ranks, in one folder or each in its own, and their messages."""

import atexit
import os
import shutil
import subprocess
import tempfile

# Open MPI's launchers make one folder for all of a machine, and take it away: two that do so at the same time fail.
OWN_FOLDER = tempfile.mkdtemp(prefix="fairlead-")
atexit.register(shutil.rmtree, OWN_FOLDER, ignore_errors=True)
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_orte_tmpdir_base": OWN_FOLDER}
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n"], "mpich": ["mpirun.mpich", "-n"]}
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

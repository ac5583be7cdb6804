"""All ranks of a machine, their launcher and MPI's buffers, in one memory cgroup: they stay below the sum of their limits and so
much for each process, out of core, and as the third rank gets more small values than it has room for. The kernel
reclaims the page cache before it kills, so a process that is not killed needed no more."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
import uuid

import pytest

import ranks

MIB = 1 << 20
RANKS = 4
LIMIT = 24 * MIB  # of each rank
EXTRA = 40 * MIB  # for each process, in addition to the limit: the program and its libraries, MPI's buffers, bookkeeping


class MemoryCgroup:
    """A child of the cgroup of this process, with a memory limit and without swap."""

    def __init__(self, limit):
        at = self.own_folder()
        self.folder = at / f"fairlead-{uuid.uuid4().hex}"
        self.version = 2 if (at / "cgroup.controllers").exists() else 1
        self.folder.mkdir()
        try:
            if self.version == 2:
                self.write("memory.max", limit)
                if (self.folder / "memory.swap.max").exists():
                    self.write("memory.swap.max", 0)
            else:
                self.write("memory.limit_in_bytes", limit)
        except OSError:
            self.folder.rmdir()
            raise

    @staticmethod
    def own_folder():
        """Of version 1 if that counts memory here, else of version 2."""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                return next(at for at in (pathlib.Path("/sys/fs/cgroup/memory" + path), pathlib.Path("/sys/fs/cgroup/memory"))
                            if at.exists())
        return pathlib.Path("/sys/fs/cgroup" + path)

    def write(self, name, value):
        (self.folder / name).write_text(str(value))

    def killed(self):
        """The number of processes that the kernel killed for lack of memory."""
        text = (self.folder / ("memory.events" if self.version == 2 else "memory.oom_control")).read_text()
        return int(dict(line.split() for line in text.splitlines())["oom_kill"])

    def most(self):
        """The peak memory, page cache included; None if the kernel does not report it."""
        file = self.folder / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes")
        return int(file.read_text()) if file.exists() else None

    def remove(self):
        """Removes the cgroup and kills its processes."""
        until = time.monotonic() + 20
        while True:
            for process in map(int, (self.folder / "cgroup.procs").read_text().split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            try:
                return self.folder.rmdir()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def run(self, line, folder):
        begin = f'echo $$ > "{self.folder}/cgroup.procs" && exec "$@"'
        return subprocess.run(["sh", "-c", begin, "sh", *map(str, line)], cwd=folder, capture_output=True, text=True, timeout=300,
                              env=ranks.ENVIRONMENT)


@pytest.fixture
def cgroup_of():
    made = []

    def make(limit):
        try:
            made.append(MemoryCgroup(limit))
        except (OSError, StopIteration) as error:
            pytest.skip(f"no memory cgroup can be made here: {error}")
        return made[-1]

    yield make
    for each in made:
        each.remove()


def launched(launcher, command, *arguments):
    return [*ranks.LAUNCHERS[launcher], RANKS, command, *arguments]


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_ranks_stay_below_the_sum_of_their_limits(command, cgroup_of, tmp_path, launcher):
    cgroup = cgroup_of(RANKS * (LIMIT + EXTRA))
    done = cgroup.run(launched(launcher, command, "bench", "cholesky", "--n", 6144, "--tile", 192, "--workers", 1, "--memory", LIMIT,
                               "--progress", "none"), tmp_path)
    most = cgroup.most()
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-1000:]
    assert cgroup.killed() == 0
    print(f"{launcher}: {most / MIB:.0f} MiB" if most else "")


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_a_lower_limit_kills_a_process(command, cgroup_of, tmp_path, launcher):
    """Otherwise the test above would be vacuous."""
    cgroup = cgroup_of(RANKS * LIMIT)
    done = cgroup.run(launched(launcher, command, "bench", "cholesky", "--n", 6144, "--tile", 192, "--workers", 1, "--memory", LIMIT,
                               "--progress", "none"), tmp_path)
    assert done.returncode != 0 or cgroup.killed() != 0

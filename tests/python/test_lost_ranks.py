"""Ranks of mpirun that are killed or stopped at drawn moments of a run: another rank says which it was, and nothing is
left of the job, whether the launcher cleans up or not. With `--moments 5` there are five of each of ten kinds, fifty in all."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import uuid

import numpy as np
import pytest

RANKS = 4
OPENMPI = ["mpirun.openmpi", "--oversubscribe"]
LAUNCHERS = {
    "openmpi": [*OPENMPI, "-n"],
    "openmpi, others live": [*OPENMPI, "--mca", "orte_abort_on_non_zero_status", "0", "-n"],
    "openmpi, recovery": [*OPENMPI, "--enable-recovery", "-n"],  # its status is 0 whatever ranks do
    "mpich": ["mpirun.mpich", "-n"],
    "mpich, others live": ["mpirun.mpich", "-disable-auto-cleanup", "-n"],
}
RANK_VARIABLE = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
JOB_VARIABLE = "LOST_RANKS_JOB"  # identifies all processes of a job


def environment_of(process):
    try:
        text = pathlib.Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def state_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def shared_memory_of(process):
    """Files in memory that still have a name."""
    try:
        text = pathlib.Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return set()
    return set(re.findall(r"/dev/shm/\S+(?=\n)", text))


class Job:
    """A command under a launcher, in a folder of its own."""

    def __init__(self, launcher, folder, command, arguments):
        self.mark = uuid.uuid4().hex
        self.rank_variable = RANK_VARIABLE[launcher.partition(",")[0]]
        self.folder = folder
        for name in ("spill", "tmp"):
            shutil.rmtree(folder / name, ignore_errors=True)  # of a launcher that end() has killed
            (folder / name).mkdir()
        self.shared_memory = set()
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "TMPDIR": str(folder / "tmp"), JOB_VARIABLE: self.mark}
        line = [*LAUNCHERS[launcher], str(RANKS), command, *map(str, arguments), "--disk-directory", "spill"]
        self.process = subprocess.Popen(line, cwd=folder, env=environment, text=True, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, start_new_session=True)
        self.lines = []  # when each came
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append((time.monotonic(), line.rstrip()))

    def processes(self):
        """All processes of the job, with those of the launcher."""
        found = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
        return [process for process in found
                if state_of(process) not in "XZ" and environment_of(process).get(JOB_VARIABLE) == self.mark]

    def ranks(self):
        """The process of each rank, once all of them watch each other; before, nothing."""
        names = pathlib.Path("/proc/net/unix").read_text()
        listening = {int(process) for process in re.findall(r"@fairlead rank (\d+) ", names)}
        found = {}
        for process in self.processes():
            number = environment_of(process).get(self.rank_variable)
            if number is not None and process in listening:
                found[int(number)] = process
        # Each rank but the first has a line to its parent: the socket of that name at the parent's end.
        lines = len(re.findall(rf" 03 +\d+ @fairlead rank {found.get(0, 0)} ", names))
        return found if len(found) == RANKS and lines >= RANKS - 1 else {}

    def wait_until(self, there, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := there():
                return found
            time.sleep(0.02)
        return there()

    def said(self, pattern, since):
        """The time until a line that matches the pattern."""
        for at, line in list(self.lines):
            if re.search(pattern, line):
                return at - since
        return None

    def left_of(self, ranks):
        """Those of the ranks that are there. MPICH's launcher is of more than one process."""
        return set(self.processes()) & set(ranks.values())

    def is_over(self):
        return not self.processes()

    def end(self):
        for process in self.processes():
            os.kill(process, signal.SIGKILL)
        self.process.wait()
        self.reader.join()


@pytest.fixture
def problem(tmp_path):
    """A run of some seconds that spills, and a short one that also reads and writes files; each with the seconds that it may
    take."""
    numbers = np.random.default_rng(7)
    a = numbers.standard_normal((900, 900))
    np.save(tmp_path / "a.npy", a @ a.T + 900 * np.eye(900))
    np.save(tmp_path / "b.npy", numbers.standard_normal(900))
    return [(["bench", "cholesky", "--n", 6000, "--tile", 200, "--memory", "24MiB", "--json", "r.json"], 5),
            (["solve", "a.npy", "b.npy", "-o", "x.npy", "--tile", 60, "--memory", "8MiB"], 1)]


def require_result(folder, subcommand):
    """That a job has done what it is for, whatever its launcher says; see `problem`."""
    if subcommand == "bench":
        report = json.loads((folder / "r.json").read_text())
        assert len(report["ranks"]) == RANKS and 0 < report["backward_error"] < report["backward_error_limit"]
    else:
        a, b, x = (np.load(folder / name) for name in ("a.npy", "b.npy", "x.npy"))
        error = np.abs(a @ x - b).sum() / (np.linalg.norm(a, 1) * np.abs(x).sum())
        assert error < 50 * np.finfo(np.float64).eps


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("what", ["killed", "stopped"])
def test_a_lost_rank_is_named_and_nothing_is_left(command, tmp_path, problem, request, launcher, what):
    moments = request.config.getoption("--moments")
    if moments == 1 and what == "stopped" and launcher not in ("openmpi", "mpich, others live"):
        pytest.skip("with --moments 2 or more: who is stopped takes the timeout")
    timeout = 10 if moments > 1 else 3
    numbers = random.Random(f"{launcher} {what}")
    longest_delays = [1] if moments == 1 else [seconds for _, seconds in problem]
    counted = 0
    longest = {"named": 0.0, "ended": 0.0}
    for moment in range(4 * moments):
        if counted == moments:
            break
        which = numbers.randrange(len(longest_delays))
        arguments = problem[which][0]
        lost, longest_delay = numbers.randrange(RANKS), longest_delays[which]
        delay = numbers.uniform(0, longest_delay)
        longest_delays[which] = delay  # if this moment does not count, the run is over by then
        for result in ("r.json", "x.npy"):
            (tmp_path / result).unlink(missing_ok=True)
        job = Job(launcher, tmp_path, command, [*arguments, "--rank-timeout", timeout])
        try:
            ranks = job.wait_until(job.ranks, 60)
            where = f"moment {moment}: rank {lost} of {arguments[0]} after {delay:.3f} s"
            if not ranks and job.process.poll() == 0:
                continue  # it ended before the check
            assert ranks, f"{where}: not all ranks came: {job.lines}"
            time.sleep(delay)
            job.shared_memory = set().union(*map(shared_memory_of, ranks.values()))
            some_had_ended = any(state_of(process) in "XZ" for rank, process in ranks.items() if rank != lost)
            try:
                os.kill(ranks[lost], signal.SIGKILL if what == "killed" else signal.SIGSTOP)
            except ProcessLookupError:
                continue
            began = time.monotonic()
            over = job.wait_until(job.is_over, 20)
            ended = time.monotonic() - began
            if job.process.poll() == 0 and state_of(ranks[lost]) == "X" and job.said(r"rank \d+ on", began) is None:
                require_result(tmp_path, arguments[0])  # its work was complete
                continue
            if not over and job.said(r"rank \d+ on", began) is None and job.left_of(ranks) == {ranks[lost]}:
                # The other ranks have ended without an error: this one was stopped during its exit, and continues.
                os.kill(ranks[lost], signal.SIGCONT)
                assert job.wait_until(job.is_over, 20) and job.process.wait() == 0, f"{where}: {job.lines}"
                require_result(tmp_path, arguments[0])
                continue
            assert over, f"{where}: {job.processes()} are left after 20 s: {job.lines}"
            job.process.wait()
            job.reader.join()
            name = rf"rank {lost} on {re.escape(socket.gethostname())} \(process {ranks[lost]}\) "
            named = job.said(name + ("is gone" if what == "killed" else rf"has not answered for ({timeout}|10) s"), began)
            if named is None and what == "killed" and some_had_ended:
                require_result(tmp_path, arguments[0])  # MPI_Finalize had completed: no other rank was left to notice
            else:
                assert named is not None, f"{where}: no rank reported it: {job.lines}"
                # Before a rank has read its settings, the default timeout of ten seconds applies.
                assert named < (5 if what == "killed" else 15), f"{where}: {named}"
            assert job.process.returncode != 0 or launcher == "openmpi, recovery", where
            assert os.listdir(tmp_path / "spill") == [] and os.listdir(tmp_path / "tmp") == [], where
            assert not [path for path in job.shared_memory if os.path.exists(path)], where
            if named is None:
                continue
            counted += 1
            longest_delays[which] = longest_delay
            longest = {"named": max(longest["named"], named), "ended": max(longest["ended"], ended)}
        finally:
            job.end()
    assert counted == moments
    print(json.dumps({"launcher": launcher, "what": what, "moments": counted, **longest}))


@pytest.mark.parametrize("launcher", ["openmpi, others live", "mpich, others live"])
def test_a_rank_that_is_lost_during_finalize_leaves_nothing(command, tmp_path, problem, request, launcher):
    """While the result is written, the others wait in MPI_Finalize."""
    numbers = random.Random(launcher)
    counted = 0
    for _ in range(40):
        if counted == 2 * request.config.getoption("--moments"):
            break
        job = Job(launcher, tmp_path, command, [*problem[1][0], "--rank-timeout", 3])
        try:
            ranks = job.wait_until(job.ranks, 60)
            job.wait_until(lambda: job.said("writing", 0) is not None, 20)
            time.sleep(numbers.uniform(0, 0.01))
            lost = numbers.randrange(1, RANKS)
            try:
                os.kill(ranks[lost], signal.SIGSTOP)
            except (KeyError, ProcessLookupError):
                continue  # it is over
            over = job.wait_until(job.is_over, 20)
            if not over and job.left_of(ranks) == {ranks[lost]} and job.said("not answered", 0) is None:
                continue  # no other rank was left to notice
            assert over, f"rank {lost}: {job.processes()} are left after 20 s: {job.lines}"
            if job.process.wait() == 0 and job.said("not answered", 0) is None:
                require_result(tmp_path, "solve")  # its work was complete
                continue
            assert job.process.wait() != 0 and job.said(rf"rank {lost} on .* has not answered", 0) is not None, job.lines
            counted += 1
        finally:
            job.end()
    assert counted > 0


def test_a_job_that_is_stopped_and_continued_completes(command, tmp_path):
    """As by Ctrl-Z, for longer than the timeout of ranks."""
    job = Job("mpich", tmp_path, command, ["bench", "cholesky", "--n", 4000, "--tile", 100, "--rank-timeout", 3])
    try:
        ranks = job.wait_until(job.ranks, 60)
        assert ranks
        for what, seconds in ((signal.SIGSTOP, 5), (signal.SIGCONT, 0)):
            for process in ranks.values():
                os.kill(process, what)
            time.sleep(seconds)
        assert job.process.wait(240) == 0, job.lines
        assert job.said(r"rank \d+ on", 0) is None, job.lines
    finally:
        job.end()


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGQUIT, ignored by the ranks"])
def test_a_signal_to_the_launcher_ends_the_whole_job_or_nothing(command, tmp_path, problem, launcher, name):
    """Launchers end their job at a signal, ignore it, or pass it on to the ranks, which may ignore it: jobs in the background of a
    shell inherit that for SIGQUIT. A job that is not ended completes with its result."""
    number = getattr(signal, name.partition(",")[0])
    before = signal.signal(number, signal.SIG_IGN if "ignored" in name else signal.SIG_DFL)
    try:
        job = Job(launcher, tmp_path, command, [*problem[0][0], "--rank-timeout", 3])
    finally:
        signal.signal(number, before)
    try:
        ranks = job.wait_until(job.ranks, 60)
        assert ranks, job.lines
        time.sleep(random.Random(f"{launcher} {name}").uniform(0, 1))
        shared_memory = set().union(*map(shared_memory_of, ranks.values()))
        began = time.monotonic()
        os.kill(job.process.pid, number)
        over = job.wait_until(job.is_over, 240)
        assert over, f"{job.processes()} are left: {job.lines}"
        status = job.process.wait()
        ended = time.monotonic() - began
        print(json.dumps({"launcher": launcher, "signal": name, "status": status, "seconds": round(ended, 3)}))
        if status == 0:
            require_result(tmp_path, "bench")
        else:
            assert "ignored" not in name, job.lines
            assert ended < 20
        assert os.listdir(tmp_path / "spill") == [] and os.listdir(tmp_path / "tmp") == []
        assert not [path for path in shared_memory if os.path.exists(path)]
    finally:
        job.end()

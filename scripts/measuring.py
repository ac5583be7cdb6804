"""Shared by the scripts that measure and check: paths of the programs, and runs with priority over other processes."""

import json
import math
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

MIB = 1 << 20
ROOT = pathlib.Path(__file__).resolve().parents[1]
OVER_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # environment of mpirun

# Programs of a build that need a package of scripts/packages.txt, by what they measure.
PEERS = {"overhead_peers_openmp": ("GCC OpenMP", "g++"), "overhead_peers_tbb": ("oneTBB", "libtbb-dev"),
         "overhead_peers_starpu": ("StarPU", "libstarpu-dev"), "task_patterns_peers_openmp": ("GCC OpenMP", "g++"),
         "task_patterns_openmpi": ("Open MPI", "libopenmpi-dev"),
         "cholesky_peers_scalapack": ("ScaLAPACK", "libscalapack-openmpi-dev")}

# Two-sided 95 % quantiles of Student's t by degrees of freedom; beyond the table, the normal distribution is close enough.
T_95 = [math.inf, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12,
        2.11, 2.10, 2.09, 2.09]


def undisturbed():
    """Raises the priority if permitted; the kernel first shares processors between autogroups."""
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20")
        os.nice(-20)
    except OSError:
        pass


def program(build: pathlib.Path, name: str) -> pathlib.Path:
    """The `fairlead` command or a program of bench/; exits with the build command if it is not built."""
    path = build / ("apps/fairlead" if name == "fairlead" else "bench") / name
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} does not exist: cmake --preset release && cmake --build --preset release")
    return path


def core_type(build: pathlib.Path) -> str:
    """The fastest core type of OpenBLAS on this machine, determined by Fairlead."""
    return json.loads(run([program(build, "lapack_potrf"), "--n", 1024, "--threads", 1, "--repetitions", 1, "--json"], 1800))["core_type"]


def python_environment(folder: pathlib.Path, packages: list) -> pathlib.Path:
    """The Python of a virtual environment with these packages, which is made if it does not exist."""
    python = folder.resolve() / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    return python


def missing_peers(build: pathlib.Path, *names: str) -> list[str]:
    """For each of these programs that the build lacks, a sentence."""
    return [f"{PEERS[name][0]} was not measured: {name} is not built (package {PEERS[name][1]})." for name in names
            if not os.access(build / "bench" / name, os.X_OK)]


def missing_mpi(build: pathlib.Path) -> list[str]:
    """Why ranks cannot run: a sentence, or nothing."""
    if shutil.which("mpirun.openmpi") is None:
        return ["Ranks were not measured: there is no mpirun.openmpi (package openmpi-bin)."]
    if not (build / "plugins/fairlead-openmpi.so").exists():
        return ["Ranks were not measured: the plug-in for Open MPI is not built (package libopenmpi-dev)."]
    return []


def missing_cgroup() -> list[str]:
    """Why a program cannot run in a memory cgroup: a sentence, or nothing."""
    try:
        Cgroup(64 * MIB).remove()
    except OSError as error:
        return [f"The mapped file was not measured: no memory cgroup can be made ({error.strerror or error}); this needs root."]
    return []


def processor() -> str:
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else os.uname().machine}"


def commit(folder: pathlib.Path = ROOT) -> str:
    """Its name, marked if tracked files outside of docs/ have changes."""
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, text=True, capture_output=True).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return git("rev-parse", "--short=8", "HEAD") + ("-dirty" if changed else "")


def source_of(build: pathlib.Path) -> pathlib.Path:
    """The tree from which a build directory is made."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_HOME_DIRECTORY:"):
            return pathlib.Path(line.partition("=")[2])
    return ROOT


class Cgroup:
    """A memory cgroup of a given size below the first hierarchy with the memory controller, v1 or v2."""

    def __init__(self, limit: int):
        self.folder, self.limit_file, self.peak_file = self.place()
        self.folder.mkdir()
        (self.folder / self.limit_file).write_text(str(limit))
        for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            try:
                (self.folder / swap).write_text(str(limit) if "memsw" in swap else "0")
            except OSError:
                pass  # swap is not accounted here

    @staticmethod
    def place() -> tuple[pathlib.Path, str, str]:
        name = f"fairlead-check-{os.getpid()}"
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, options, *_ = line.split()
            root = pathlib.Path(place)
            if kind == "cgroup" and "memory" in options.split(","):
                return root / name, "memory.limit_in_bytes", "memory.max_usage_in_bytes"
            if kind == "cgroup2" and "memory" in (root / "cgroup.controllers").read_text().split():
                if "memory" not in (root / "cgroup.subtree_control").read_text().split():
                    (root / "cgroup.subtree_control").write_text("+memory")
                return root / name, "memory.max", "memory.peak"
        raise OSError("no hierarchy has the memory controller")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text().strip()
        except OSError:
            return "unknown"

    def figures(self) -> str:
        peak = self.read(self.peak_file)
        events = {}
        for name in ("memory.oom_control", "memory.events"):
            for line in self.read(name).splitlines():
                key, _, value = line.partition(" ")
                events[key] = value
        peak = f"{int(peak) / MIB:.0f} MiB at most" if peak.isdigit() else "peak unknown"
        return f"{peak}, page cache included, {events.get('oom_kill', '?')} processes killed"

    def remove(self):
        self.folder.rmdir()


class Failed(Exception):
    """A program failed; names it, with its output."""


def run(command: list, limit_seconds: float, enter: "Cgroup | None" = None, **more) -> str:
    """Runs it with priority, in the cgroup if given, and returns its output."""
    words = [str(word) for word in command]

    def prepare():
        if enter is not None:
            enter.enter()
        undisturbed()

    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit_seconds, preexec_fn=prepare,
                              **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(words)}\n  did not finish within {limit_seconds:.0f} s") from None
    if done.returncode != 0:
        raise Failed(f"{shlex.join(words)}\n  failed with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def bench(fairlead: pathlib.Path, options: dict, folder: pathlib.Path, limit_seconds: float, more: tuple | list = (),
          ranks: int = 0, what: str = "cholesky") -> dict:
    """The report of `fairlead bench WHAT` with these options, and the words in `more`. `folder`: its spill directory.
    `ranks`: started by mpirun."""
    launcher = ["mpirun.openmpi", "-n", ranks] if ranks else []
    with tempfile.TemporaryDirectory(prefix="fairlead-report-") as state:
        report = pathlib.Path(state) / "report.json"
        run([*launcher, fairlead, *bench_words(options, what), "--progress", "none", "--disk-directory", folder, "--json", report,
             *more], limit_seconds, env={**os.environ, **OVER_MPI})
        return json.loads(report.read_text())


def by_script(name: str, words: list, limit_seconds: float) -> str:
    """What the script writes to the file that its option --json names."""
    with tempfile.TemporaryDirectory(prefix="fairlead-bench-") as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [str(word) for word in (ROOT / "scripts" / name, *words, "--json", out)]
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{shlex.join(command)}\n  did not finish within {limit_seconds:.0f} s") from None
        if done.returncode != 0:
            raise Failed(f"{shlex.join(command)}\n  failed with status {done.returncode}")
        return out.read_text()


def bench_words(options: dict, what: str = "cholesky") -> list[str]:
    """bench cholesky --n 1024 ...; a value of None is left out, True is a flag."""
    words = ["bench", what]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def node(report: dict, name: str) -> dict:
    return next(one for one in report["nodes"] if one["name"] == name)


def reserved_bytes(report: dict) -> int:
    """The part of the memory limit that is not for tiles."""
    return report["memory_limit_bytes"] - node(report, "RAM")["capacity_bytes"]


def median(values) -> float:
    return statistics.median(list(values))


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The geometric mean of ratios measured in pairs, and its 95 % interval."""
    logarithms = [math.log(ratio) for ratio in ratios]
    mean = statistics.mean(logarithms)
    t = T_95[len(ratios) - 1] if len(ratios) <= len(T_95) else 1.96
    half = t * statistics.stdev(logarithms) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.inf
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)

"""What the scripts that measure and check share: where the programs are, and running one ahead of other processes."""

import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def undisturbed():
    """Ahead of other processes where that is allowed: the kernel shares processors between groups first."""
    os.setsid()
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-20")
        os.nice(-20)
    except OSError:
        pass


def program(build: pathlib.Path, name: str) -> pathlib.Path:
    """The `fairlead` command or a program of bench/; ends with what to do if it is not built."""
    path = build / ("apps/fairlead" if name == "fairlead" else "bench") / name
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: cmake --preset release && cmake --build --preset release")
    return path


class Failed(Exception):
    """A program ended with an error; says which, and what it printed."""


def run(command: list, limit_seconds: float, **more) -> str:
    """Runs it undisturbed and returns what it prints."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit_seconds, preexec_fn=undisturbed,
                              **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(words)}\n  did not end within {limit_seconds:.0f} s") from None
    if done.returncode != 0:
        raise Failed(f"{shlex.join(words)}\n  ended with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def bench(fairlead: pathlib.Path, options: dict, folder: pathlib.Path, limit_seconds: float) -> dict:
    """`fairlead bench cholesky` with these options: its report. `folder`: where it spills."""
    with tempfile.TemporaryDirectory(prefix="fairlead-report-") as state:
        report = pathlib.Path(state) / "report.json"
        run([fairlead, *bench_words(options), "--progress", "none", "--disk-directory", folder, "--json", report],
            limit_seconds)
        return json.loads(report.read_text())


def bench_words(options: dict) -> list[str]:
    """bench cholesky --n 1024 ...; a value of None is left out, True is a flag."""
    words = ["bench", "cholesky"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words


def node(report: dict, name: str) -> dict:
    return next(one for one in report["nodes"] if one["name"] == name)


def reserved_bytes(report: dict) -> int:
    """What of the memory limit is not for tiles."""
    return report["memory_limit_bytes"] - node(report, "RAM")["capacity_bytes"]


def median(values) -> float:
    return statistics.median(list(values))

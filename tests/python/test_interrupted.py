"""Every command, interrupted at a random moment: it ends by that signal or with a status of its own within two seconds, and
leaves nothing but what it has completed. A few moments of each command; with --long, 1,000 in all."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import numpy
import pytest

JDF = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SOLVE = "solve A.npy b.npy -o x.npy --tile 100 --workers 2 --progress none"
COMMANDS = {
    "cholesky": SOLVE,
    "refine": SOLVE + " --refine",
    "lu": SOLVE + " --method lu",
    "lu-incremental": SOLVE + " --method lu-incremental",
    "qr": SOLVE + " --method qr",
    "reports": SOLVE + " --json j.json --report p.html --trace t.json --record-flow f.flow",
    "ranks": SOLVE.replace("--workers 2", "--workers 1 --ranks 2"),
    "devices": SOLVE.replace("--workers 2", "--workers 1 --devices emulated:memory=4MiB"),
    "bench": "bench cholesky --n 1000 --tile 100 --workers 2 --memory 24MiB --progress none --json j.json --record-flow f.flow",
    "jdf run": "jdf run cholesky.jdf --matrix descA=A.npy -o descA=L.npy --tile 100 --workers 2 --progress none",
    "jdf check": "jdf check cholesky.jdf --matrix descA=6000,6000,100,100",
    "jdf draw": "jdf draw cholesky.jdf --matrix descA=600,600,100,100 -o c.svg",
    "jdf compile": "jdf compile cholesky.jdf -o c.cpp",
    "simulate": "simulate cholesky --n 9600 --json s.json --report s.html",
    "experiment": "experiment list",
    "calibrate": "calibrate --json c.json",
    "info": "info --json i.json",
    "machines": "machines",
}
# What a command keeps of the machine, and where it computes.
KEPT = ("cache",)


def started(command, words, folder):
    environment = {"PATH": os.environ["PATH"], "FAIRLEAD_CACHE_DIRECTORY": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
    return subprocess.Popen([command, *words.split()], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in KEPT}


@pytest.fixture(scope="module")
def place(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "tmp").mkdir()
    n = 1000
    away = numpy.abs(numpy.subtract.outer(numpy.arange(n), numpy.arange(n)))
    matrix = 1.0 / (1 + away)
    matrix[numpy.diag_indices(n)] = 2 * n
    numpy.save(folder / "A.npy", matrix)
    numpy.save(folder / "b.npy", numpy.ones(n))
    shutil.copy(JDF / "cholesky.jdf", folder)
    started(command, SOLVE, folder).communicate(timeout=300)  # the BLAS is timed
    (folder / "x.npy").unlink(missing_ok=True)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_ends_at_once_and_leaves_nothing(command, place, at_length, name):
    words = COMMANDS[name]
    before = files_of(place)
    began = time.monotonic()
    undisturbed = started(command, words, place)
    undisturbed.communicate(timeout=600)
    takes = time.monotonic() - began
    complete = {path: (place / path).stat().st_size for path in files_of(place) - before}
    in_time = 0
    for run in range(56 if at_length else 3):
        for path in complete:
            (place / path).unlink(missing_ok=True)
        drawn = random.Random(f"{name} {run}")
        number = drawn.choice(SIGNALS)
        child = started(command, words, place)
        time.sleep(drawn.uniform(0, min(takes, 10)))
        child.send_signal(number)
        sent = time.monotonic()
        _, errors = child.communicate(timeout=60)
        seconds, what = time.monotonic() - sent, f"{words}, run {run}, {number.name}: {child.returncode} {errors.decode()}"
        in_time += child.returncode != undisturbed.returncode
        assert child.returncode in (-number, 128 + number, undisturbed.returncode), what
        assert seconds < 2 or child.returncode == undisturbed.returncode, f"ended after {seconds:.1f} s: {what}"
        left = files_of(place) - before
        if child.returncode == undisturbed.returncode:
            assert left == complete.keys(), what
        elif "x.npy" not in left and "L.npy" not in left:
            assert left <= complete.keys(), what
        if name == "jdf compile":
            assert left in (set(), complete.keys()), what  # its three files go together
        assert not [path for path in left if path.endswith((".partial", ".new")) or path.startswith("tmp/")], what
    print(f"{name}: {in_time} interrupted in time, of a run of {takes:.2f} s")

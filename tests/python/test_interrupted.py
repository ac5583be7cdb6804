"""Every command, interrupted at a random moment: it ends by that signal or with the status of an undisturbed run within two seconds, and
leaves only complete files. A few moments of each command; with --long, 1,000 in all."""

import io
import json
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
    "ldlt": SOLVE + " --method ldlt",
    "lu-nopivot": SOLVE + " --method lu-nopivot",
    "lu-incremental": SOLVE + " --method lu-incremental",
    "qr": SOLVE + " --method qr",
    "reports": SOLVE + " --json j.json --report p.html --trace t.json --record-flow f.flow",
    "ranks": SOLVE.replace("--workers 2", "--workers 1 --ranks 2"),
    "devices": SOLVE.replace("--workers 2", "--workers 1 --devices emulated:memory=4MiB"),
    "factor": "factor A.npy -o A.factor --tile 100 --workers 2 --progress none",
    "stored factor": "solve --factor kept/A.factor b.npy -o x.npy --workers 2 --progress none",
    "bench": "bench cholesky --n 1000 --tile 100 --workers 2 --memory 24MiB --progress none --json j.json --record-flow f.flow",
    "jdf run": "jdf run cholesky.jdf --matrix descA=A.npy -o descA=L.npy --tile 100 --workers 2 --progress none",
    "jdf check": "jdf check cholesky.jdf --matrix descA=6000,6000,100,100",
    "jdf draw": "jdf draw cholesky.jdf --matrix descA=600,600,100,100 -o c.svg",
    "jdf compile": "jdf compile cholesky.jdf -o c.cpp",
    "simulate": "simulate cholesky --n 9600 --json s.json --report s.html",
    "experiment list": "experiment list",
    "experiment run": "experiment run darts/fig-13-77-tiles --quick --again --output out --progress none",
    "experiment of ranks": "experiment run dague/constants --quick --again --output out --progress none",
    "calibrate": "calibrate --json c.json --again --amount 64MiB",
    "info": "info --json i.json",
    "machines": "machines",
}
# What a command keeps of the machine, and where it computes.
KEPT = ("cache",)


def started(command, words, folder):
    environment = {"PATH": os.environ["PATH"], "FAIRLEAD_CACHE_DIRECTORY": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
    return subprocess.Popen([command, *words.split()], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=with_default_signals)


def with_default_signals():
    """A shell starts programs in the background with SIGINT ignored, and they would inherit it."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in KEPT}


def packets(data):
    """How many packets a trace has; None if the last one is cut short. Each is a field of protobuf: tag, length, bytes."""
    at = count = 0
    while at < len(data):
        length = shift = 0
        tag, at = data[at], at + 1
        while at < len(data):
            byte, at = data[at], at + 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        at, count = at + length, count + 1
        if tag != 0x0a or at > len(data):
            return None
    return count


def is_whole(path, data, complete):
    """Whether a file's bytes are those of a complete file, as far as two runs make the same: numbers to rounding, reports by their form."""
    if path.endswith(".npy"):
        got, expected = (numpy.load(io.BytesIO(it)) for it in (data, complete))
        return got.shape == expected.shape and got.dtype == expected.dtype and numpy.allclose(got, expected, rtol=1e-6, atol=1e-12)
    if path == "t.json":
        return bool(packets(data))
    if path.endswith(".factor"):
        return len(data) == len(complete) and data[:4096] == complete[:4096]  # the header is written last
    if path.endswith(".json"):
        got, expected = json.loads(data), json.loads(complete)
        return (list(got) == list(expected)) if isinstance(expected, dict) else len(got) == len(expected)
    if path.endswith(".html"):
        return data.rstrip().endswith(b"</html>") and len(data) > len(complete) / 2
    if path.endswith(".flow"):
        return data.splitlines()[-1] == complete.splitlines()[-1]  # end DATA TASKS
    return data == complete


def cut_is_whole(path, data):
    try:
        return is_whole(path, data[:-8], data)
    except (ValueError, EOFError):
        return False


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
    (folder / "kept").mkdir()
    factored = started(command, "factor A.npy -o kept/A.factor --tile 100", folder)
    assert factored.wait(timeout=300) == 0
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_ends_at_once_and_leaves_nothing(command, place, at_length, name):
    words = COMMANDS[name]
    before = files_of(place)
    began = time.monotonic()
    undisturbed = started(command, words, place)
    undisturbed.communicate(timeout=600)
    takes = time.monotonic() - began
    complete = {path: (place / path).read_bytes() for path in files_of(place) - before}
    for path, data in complete.items():
        assert is_whole(path, data, data) and not (len(data) > 8 and cut_is_whole(path, data)), path
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
        assert seconds < 2, f"ended after {seconds:.1f} s: {what}"
        left = files_of(place) - before
        assert left <= complete.keys(), what
        assert left == complete.keys() or child.returncode != undisturbed.returncode, what
        for path in left:
            assert is_whole(path, (place / path).read_bytes(), complete[path]), f"{path} is cut short: {what}"
        if name == "jdf compile":
            assert left in (set(), complete.keys()), what  # its three files go together
        assert not [path for path in left if path.endswith((".partial", ".new")) or path.startswith("tmp/")], what
    print(f"{name}: {in_time} interrupted in time, of a run of {takes:.2f} s")

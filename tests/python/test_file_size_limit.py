"""Files that may not grow (`ulimit -f`): each command that writes ends with a message and a status of its own, not by SIGXFSZ, and
leaves no part of a file."""

import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

numpy = pytest.importorskip("numpy")

JDF = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf"
SOLVE = "solve A.npy b.npy -o x.npy --tile 100 --no-condition"
SIMULATE = "simulate cholesky --n 3840 --scheduler eager"
COMMANDS = [
    SOLVE, "solve A.npy b.npy -o x.npy --memory 9MiB --tile 100", "solve A.npy b.npy -o x.npy --ranks 2",
    "bench cholesky --n 200 --tile 100 --json run.json", "bench cholesky --n 200 --tile 100 --report run.html",
    "bench cholesky --n 200 --tile 100 --trace run.pftrace", "bench cholesky --n 200 --tile 100 --record-flow run.flow",
    "jdf compile cholesky.jdf -o c.cpp", "jdf draw cholesky.jdf --matrix descA=600,600,100,100 -o c.svg",
    "jdf run cholesky.jdf --matrix descA=A.npy -o descA=L.npy --tile 100", "jdf run cholesky.jdf --matrix descA=A.npy --tile 100 --json run.json",
    SIMULATE + " --csv run.csv", SIMULATE + " --json run.json", SIMULATE + " --report run.html", SIMULATE + " --trace run.pftrace",
    "compare cholesky --n 3840 --scheduler eager,lws --csv run.csv", "experiment run dague/fig-5 --quick --cache-directory none --output out",
    "calibrate --again --amount 16MiB --machine-file mine.toml", "calibrate --again --amount 16MiB --json run.json",
    "info --json run.json", "machines summit", "help --markdown",
]
TO_STDOUT = ("machines summit", "help --markdown")
OUTPUT = re.compile(r"(?:json|report|trace|record-flow|csv|-o)[ =](?:descA=)?(\w+)\b")
def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def kept(command, tmp_path_factory):
    """A cache of measurements, so that each case does not time the BLAS again."""
    folder = tmp_path_factory.mktemp("cache")
    subprocess.run([command, "bench", "cholesky", "--n", "200", "--quiet", "--cache-directory", folder], cwd=folder, timeout=120, check=True)
    return folder


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("limit", [0, 100])
def test_ends_with_a_message(command, kept, tmp_path, words, limit):
    random = numpy.random.default_rng(1)
    m = random.standard_normal((1000, 1000))
    numpy.save(tmp_path / "A.npy", m @ m.T + 1000 * numpy.eye(1000))
    numpy.save(tmp_path / "b.npy", m[0])
    shutil.copy(JDF / "cholesky.jdf", tmp_path)
    before = files(tmp_path)
    with open(tmp_path / "stdout", "wb") as out:
        done = subprocess.run([command, *words.split()], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                              stdout=out if words in TO_STDOUT else subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], "FAIRLEAD_CACHE_DIRECTORY": str(kept)},
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    (tmp_path / "stdout").unlink()
    said = done.stderr.decode()
    assert done.returncode == 1 and "File too large" in said, (done.returncode, said)
    named = OUTPUT.search(words)
    assert (named is None or named[1] in said or "calibrate" in words) and files(tmp_path) == before, said

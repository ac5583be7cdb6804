"""Each default that a help text names can be typed as that option, as far as it has an effect there."""

import re
import shutil
import subprocess

import pytest

numpy = pytest.importorskip("numpy")

from test_jdf_over_ranks import EXAMPLES

# With these arguments a command runs in a moment.
COMMANDS = {
    "solve": ["A.npy", "b.npy", "-o", "x.npy"],
    "factor": ["A.npy", "-o", "A.factor"],
    "logdet": ["A.npy"],
    "plan": ["--rows", "256"],
    "bench": ["cholesky", "--n", "256"],
    "info": [],
    "calibrate": None,
    "simulate": ["cholesky", "--n", "3840", "--scheduler", "eager"],
    "simulate jdf": ["cholesky.jdf", "--matrix", "descA=3840,3840,1920,1920", "--scheduler", "eager"],
    "compare": ["cholesky", "--n", "3840"],
    "experiment": None,
    "jdf": ["check", "cholesky.jdf", "--matrix", "descA=400,400,100,100"],
    "jdf run": ["cholesky.jdf", "--matrix", "A=A.npy"],
}
# Sizes, and what goes with other options only: refused where it has no effect, whatever its value.
APART = {"n", "m", "memory-fraction", "host-memory", "eager-limit", "broadcast-tree", "receive-into", "ranks-per-node", "grid", "phase",
         "neighbours", "length-scale", "nugget"}


def defaults(text):
    """Options and the words of their defaults; not flags, nor what is described in words of people."""
    for block in re.findall(r"^  (-.*(?:\n {10,}.*)*)", text, re.M):
        flat = " ".join(block.split())
        name = re.search(r"--(\[no-\])?([a-z0-9-]+)", flat)
        for default in re.findall(r"\(default ([^()]*)", flat):
            word = re.split(r"[:;]|, ", default)[0]
            if name[1] is None and re.fullmatch(r"[^\s$~]+", word):
                yield name[2], word


@pytest.fixture
def run(command, tmp_path):
    numpy.save(tmp_path / "A.npy", 3 * numpy.eye(256))
    numpy.save(tmp_path / "b.npy", numpy.ones(256))
    shutil.copy(EXAMPLES / "cholesky.jdf", tmp_path)
    return lambda *arguments: subprocess.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)


def typed(run, name):
    return list(defaults(run(*name.split(), "--help-all").stdout))


@pytest.mark.parametrize("name", COMMANDS)
def test_is_read(run, name):
    """Values are looked at one after the other; the last one is wrong, and no other is."""
    given = typed(run, name)
    assert given
    number = next(option for option in ("disk-threads", "seed", "workers", "most") if f"--{option} N" in run(*name.split(), "--help-all").stdout)
    done = run(*name.split(), *(COMMANDS[name] or ["list"] * (name == "experiment")), *(it for option, word in given for it in (f"--{option}", word)),
               f"--{number}", "wrong")
    assert done.returncode == 2 and done.stderr.startswith(f"fairlead: --{number} wrong"), done.stderr


@pytest.mark.parametrize("name", [name for name, arguments in COMMANDS.items() if arguments is not None])
def test_is_taken(run, name):
    done = run(*name.split(), *COMMANDS[name], *(it for option, word in typed(run, name) if option not in APART and
                                                 f"--{option}" not in COMMANDS[name] for it in (f"--{option}", word)))
    assert done.returncode == 0, done.stderr

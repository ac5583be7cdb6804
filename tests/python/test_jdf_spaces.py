"""Spaces of tasks that a JDF file makes as large or as odd as it likes: each command ends by itself, or by the first signal."""

import signal
import subprocess
import time

import pytest

PASSED_ON = """
descA [ type = "tiled_matrix *" ]

T({parameters})
{ranges}
: descA({place}, 0)
RW A <- descA({place}, 0)
     -> descA({place}, 0)
BODY
END
"""


def written(folder, ranges, place="p"):
    parameters = ", ".join(line.split("=")[0].strip() for line in ranges.split("\n"))
    path = folder / "space.jdf"
    path.write_text(PASSED_ON.format(parameters=parameters, ranges=ranges, place=place))
    return path.name


# The ends of q are 0 for all p that there are: as many tasks as p has numbers, found from the data of each rank.
BOUNDS = ["(1 << p) - 1 - p", "(2 << p) >> (p + 2)", "p ^ p", "p & ~p", "(p | 1) - 1 - p + p % 1", "p / 4",
          "(p > 3) || 0", "p == 0 ? 0 : 0", "!(p < 9)", "-p + p", "%{ return p - p; %}"]


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_of_any_operator_over_ranks(fairlead, bound):
    if bound.startswith("(1"):
        rows = 2  # 1 << p is larger than p + 1 beyond
    else:
        rows = 3
    name = written(fairlead.folder, f"p = 0 .. {rows - 1}\nq = 0 .. {bound}")
    done = fairlead("jdf", "run", name, "--matrix", f"A={4 * rows},4,4,4", "--ranks", 2, "--no-check", "--progress", "none", timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ranges, says", [
    ("p = 0 .. 2147483646\nq = 1 .. 0", ""),
    ("p = 0 .. 0\nq = 0 .. 5 .. 0", "step of 0"),
    ("p = 0 .. 0\nq = 5 .. 0", ""),
])
def test_spaces_that_hold_nothing(fairlead, ranges, says):
    name = written(fairlead.folder, ranges)
    done = fairlead("jdf", "check", name, "--matrix", "A=4,4,4,4", timeout=120)
    assert says in done.stdout + done.stderr


ENDLESS = "p = 0 .. 2147483646\nq = 0 .. 2147483646\nr = 1 .. 0"


@pytest.mark.parametrize("arguments", [["jdf", "run", "--no-check", "--progress", "none"],
                                       ["jdf", "run", "--no-check", "--progress", "none", "--ranks", "2"]], ids=["run", "ranks"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_signal_ends_a_walk_through_an_endless_space(command, fairlead, arguments, number):
    name = written(fairlead.folder, ENDLESS, place="0")
    process = subprocess.Popen([command, *arguments[:2], name, "--matrix", "A=4,4,4,4", "--workers", "1", *arguments[2:]],
                               cwd=fairlead.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    began = time.monotonic()
    while "fairlead: tasks" not in fairlead("status", process.pid).stdout:
        assert time.monotonic() - began < 60
        if process.poll() is not None:
            break
    process.send_signal(number)
    rest = process.communicate(timeout=30)[1]
    assert process.returncode in (1, 128 + number, -number), rest

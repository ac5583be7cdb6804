"""Spaces of tasks in JDF files: bounds of any operator, which depend on other indices; empty, endless and malformed spaces, which end in
an error, or at the first signal."""

import signal
import subprocess
import time

import pytest

numpy = pytest.importorskip("numpy")

# A chain of tasks for each p, each of which doubles a tile.
CHAIN = """
T{n}(p, q)
  p = 0 .. 3
  q = {first} .. {last} .. {step}
: descA({place}, {n})
RW A <- (q == {first}) ? descA(p, {n}) : A T{n}(p, q - ({step}))
     -> (q + ({step}) > {last}) ? descA(p, {n}) : A T{n}(p, q + ({step}))
BODY
  tile_dscale(1, 1, 2.0, A, descA->mb);
END
"""
# The range of q in JDF, and the same in Python.
RANGES = [
    ("0", "((1 << p) - 1)", "1", lambda p: range(2**p)),
    ("0", "((8 >> p) - 1)", "1", lambda p: range(8 // 2**p)),
    ("0", "(p ^ 5)", "1", lambda p: range((5, 4, 7, 6)[p] + 1)),
    ("0", "((1 << (p ^ 1)) - 1)", "1", lambda p: range((2, 1, 8, 4)[p])),
    ("(1 << p)", "((2 << p) - 1)", "1", lambda p: range(2**p, 2 * 2**p)),
    ("0", "8", "(1 << p)", lambda p: range(0, 9, 2**p)),
    ("(p >> 1)", "((p << 1) ^ 3)", "1", lambda p: range(p // 2, (3, 1, 7, 5)[p] + 1)),
    ("0", "((p & 2) | (1 >> p))", "1", lambda p: range((1, 0, 2, 2)[p] + 1)),
    ("0", "(~p & 3)", "1", lambda p: range(4 - p)),
    ("0", "((p + 5) % 4 - 1)", "1", lambda p: range((1, 2, 3, 0)[p])),  # nothing for p = 3
    ("0", "(p == 0 ? 3 : !(p < 2))", "1", lambda p: range((4, 1, 2, 2)[p])),
    ("0", "%{ return (p ^ 1) / 2 + (p > 1 || p < 0); %}", "1", lambda p: range((1, 1, 3, 3)[p])),
]


@pytest.mark.parametrize("ranks, checked", [(1, "--no-check"), (2, "--no-check"), (2, "--check"), (3, "--no-check")])
def test_bounds_of_any_operator(fairlead, ranks, checked):
    text = 'descA [ type = "tiled_matrix *" ]\n'
    for n, (first, last, step, _) in enumerate(RANGES):
        place = "p" if n % 2 else f"(q - ({first})) % 4"
        text += CHAIN.format(n=n, first=first, last=last, step=step, place=place)
    (fairlead.folder / "chains.jdf").write_text(text)
    numpy.save(fairlead.folder / "A.npy", numpy.ones((4, len(RANGES))))
    done = fairlead("jdf", "run", "chains.jdf", "--matrix", "A=A.npy", "--tile", 1, "-o", "A=out.npy", "--ranks", ranks, checked, "--quiet",
                    timeout=60)
    assert done.returncode == 0, done.stderr
    expected = [[2.0**len(tasks(p)) for *_, tasks in RANGES] for p in range(4)]
    assert numpy.array_equal(numpy.load(fairlead.folder / "out.npy"), expected)


# Of all tasks that the range of a local index names, the guard leaves one.
GUARDED = """
descA [ type = "tiled_matrix *" ]
T(k)
  k = 0 .. 3
: descA(k, 0)
RW A <- descA(k, 0)
     -> [i = 0 .. 7] (i == (k ^ 2) + 1) ? A U(i)
BODY
  tile_dscale(1, 1, 2.0, A, descA->mb);
END
U(i)
  i = 1 .. 4
: descA(i - 1, 0)
RW A <- A T((i - 1) ^ 2)
     -> descA((i - 1) ^ 2, 0)
BODY
  tile_dscale(1, 1, 3.0, A, descA->mb);
END
"""


@pytest.mark.parametrize("options", [[], ["--no-check"], ["--no-check", "--ranks", "2", "--grid", "2x1"]], ids=" ".join)
def test_guards_of_local_indices(fairlead, options):
    (fairlead.folder / "guarded.jdf").write_text(GUARDED)
    numpy.save(fairlead.folder / "A.npy", 1 + numpy.arange(4.0)[:, None])
    done = fairlead("jdf", "run", "guarded.jdf", "--matrix", "A=A.npy", "--tile", 1, "-o", "A=out.npy", "--quiet", *options, timeout=60)
    assert done.returncode == 0, done.stderr
    assert numpy.array_equal(numpy.load(fairlead.folder / "out.npy"), 6 * numpy.load(fairlead.folder / "A.npy"))


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


def written(fairlead, ranges, place="0"):
    parameters = ", ".join(line.split("=")[0].strip() for line in ranges.split("\n"))
    (fairlead.folder / "space.jdf").write_text(PASSED_ON.format(parameters=parameters, ranges=ranges, place=place))
    return ["space.jdf", "--matrix", "descA=4,4,4,4"]


@pytest.mark.parametrize("options", [[], ["--no-check"]], ids=["checked", "unchecked"])
def test_a_shift_by_an_index_bounds_tasks_over_ranks(fairlead, options):
    given = written(fairlead, "p = 0 .. 0\nq = 0 .. (1 << p) - 1", place="p")
    done = fairlead("jdf", "run", *given, "--ranks", 2, *options, timeout=60)
    assert done.returncode == 0, done.stderr


HUGE = "p = 0 .. 2147483646\nq = 0 .. 2147483646\n"


@pytest.mark.parametrize("options", [["check"], ["run"], ["run", "--no-check"], ["run", "--no-check", "--ranks", "2"]], ids=" ".join)
@pytest.mark.parametrize("ranges, says", [
    ("p = 0 .. 0\nq = 5 .. 0", "there is no task"),
    ("p = 0 .. 2000000\nq = 1 .. 0", "there is no task"),
    ("p = 0 .. 0\nq = 0 .. 5 .. 0", "space.jdf:5"),
    ("p = 0 .. 0\nq = 0 .. 5 .. p", "space.jdf:"),
    (HUGE + "r = 0 .. 2147483646", "T has "),
], ids=["empty", "empty, many", "step 0", "step 0, of an index", "too many"])
def test_empty_malformed_and_huge_spaces_end(fairlead, options, ranges, says):
    given = written(fairlead, ranges)
    began = time.monotonic()
    done = fairlead("jdf", options[0], *given, *options[1:], timeout=60)
    if says == "there is no task" and "--no-check" in options:  # it runs, and does nothing
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 1 and says in done.stderr, (done.returncode, done.stdout, done.stderr)
    assert time.monotonic() - began < 30


def test_a_space_in_which_nothing_is_found_for_long_is_an_error(fairlead):
    done = fairlead("jdf", "run", *written(fairlead, HUGE + "r = 1 .. 0"), "--no-check", "--progress", "none", timeout=60)
    assert done.returncode == 1 and "space.jdf:3:1: T " in done.stderr, done.stderr


@pytest.mark.parametrize("arguments", [["check"], ["run", "--no-check"], ["run", "--no-check", "--ranks", "2"], ["run"]], ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_signal_ends_a_walk_through_an_endless_space(command, fairlead, arguments, number):
    given = written(fairlead, HUGE + "r = 1 .. q % 100000 == 7")
    process = subprocess.Popen([command, "jdf", arguments[0], *given, *arguments[1:]], cwd=fairlead.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    began = time.monotonic()
    rest = process.communicate(timeout=30)[1]
    assert process.returncode in (128 + number, -number) and time.monotonic() - began < 2, rest

"""`fairlead jdf run` on graphs of more than 100,000 tasks, which are not looked at as a whole before they run: a wrong edge, of all tasks
or of a single one, ends in an error that names it; without one the values are right."""

import time

import pytest

numpy = pytest.importorskip("numpy")

# Tasks T add B to A, in a chain of 20,000 for each of 8 rows; U halves what comes of it. 160,008 tasks.
CHAINS = """descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
T(r, k)
  r = 0 .. 7
  k = 0 .. 19999
: descA(r, 0)
RW A <- (k == 0) ? descA(r, 0) : A T(r, k - 1)
     {gives}
READ B <- descB(r, 0)
BODY
  tile_dgeadd(1, 1, 1.0, B, descB->mb, 1.0, A, descA->mb);
END

U(r)
  r = 0 .. 7
: descA({place}, 0)
RW A <- A T(r, {last})
     -> descA(r, 0)
BODY
  tile_dscale(1, 1, 0.5, A, descA->mb);
END
"""
RIGHT = "-> (k < 19999) ? A T(r, k + 1) : A U(r)"
ONE = "k == 7777 && r == 3"
# What the giver states, from where U takes its value, and what the error names: the line of the edge and its task.
MISTAKES = {
    "surplus, all": (RIGHT + "\n     -> A U(r)", "19999", [":9:", "U("]),
    "surplus, one": (f"{RIGHT}\n     -> ({ONE}) ? A U(r)", "19999", [":9:", "T(3, 7777)", "U(3)"]),
    "surplus, in the chain": (f"{RIGHT}\n     -> ({ONE}) ? A T(r, k + 5)", "19999", [":9:", "T(3, 7777)", "T(3, 7782)"]),
    "twice, one": (f"{RIGHT}\n     -> ({ONE}) ? A T(r, k + 1)", "19999", [":9:", "T(3, 7777)"]),
    "missing, all": ("-> (k < 19998) ? A T(r, k + 1)\n     -> (k == 19999) ? A U(r)", "19999", [":7:", "T(", "19999)"]),
    "missing, one": (f"-> (k < 19999 && !({ONE})) ? A T(r, k + 1)\n     -> (k == 19999) ? A U(r)", "19999", [":7:", "T(3, 7778)"]),
    "shifted, all": (RIGHT.replace("k + 1)", "k + 2)"), "19999", [":8:", "T("]),
    "shifted, one": (RIGHT.replace("k + 1)", f"k + 1 + ({ONE}))"), "19999", [":8:", "T(3, 7777)", "T(3, 7779)"]),
    "taken elsewhere": (RIGHT, "19998 + (r != 3)", [":8:", "T(3, 19999)", "U(3)"]),
}
OPTIONS = [[], ["--no-check"], ["--ranks", "2", "--grid", "2x1"], ["--ranks", "2", "--grid", "2x1", "--no-check"]]


@pytest.fixture
def run(fairlead):
    def run(gives, last, options, place="r"):
        (fairlead.folder / "big.jdf").write_text(CHAINS.format(gives=gives, last=last, place=place))
        numpy.save(fairlead.folder / "A.npy", numpy.arange(8.0)[:, None])
        numpy.save(fairlead.folder / "B.npy", 1 + numpy.arange(8.0)[:, None])
        return fairlead("jdf", "run", "big.jdf", "--matrix", "A=A.npy", "--matrix", "B=B.npy", "--tile", 1, "-o", "A=out.npy", "--quiet",
                        *options, timeout=60)

    return run


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("gives", [RIGHT, f"{RIGHT}\n     -> ({ONE}) ? A T(r, k + 20000)"], ids=["right", "one to no task"])
def test_right_graphs_give_right_values(run, fairlead, gives, options):
    """What goes to no task goes nowhere, as in PaRSEC."""
    done = run(gives, "19999", options, place="7 - r")
    assert done.returncode == 0, done.stderr
    rows = numpy.arange(8.0)[:, None]
    assert numpy.array_equal(numpy.load(fairlead.folder / "out.npy"), (rows + 20000 * (1 + rows)) / 2)


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_edge_is_named(run, fairlead, mistake, options):
    gives, last, named = MISTAKES[mistake]
    began = time.monotonic()
    done = run(gives, last, options)
    assert done.returncode == 1 and not (fairlead.folder / "out.npy").exists(), done.stderr
    assert time.monotonic() - began < 30
    assert all(it in done.stderr for it in ["big.jdf" + named[0], *named[1:]]), done.stderr


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("tasks", [8, 120000])
def test_tasks_that_change_one_tile_in_no_order_are_an_error_of_the_graph(fairlead, tasks, options):
    (fairlead.folder / "two.jdf").write_text("""descA [ type = "tiled_matrix *" ]
T(k)
  k = 0 .. %d
: descA(0, 0)
RW A <- descA(0, 0)
     -> descA(0, 0)
BODY
  tile_dscale(1, 1, 2.0, A, descA->mb);
END
""" % (tasks - 1))
    done = fairlead("jdf", "run", "two.jdf", "--matrix", "descA=4,4,4,4", "-o", "descA=out.npy", "--quiet", *options, timeout=60)
    assert done.returncode == 1 and "two.jdf" in done.stderr and "internal" not in done.stderr, done.stderr
    assert not (fairlead.folder / "out.npy").exists()

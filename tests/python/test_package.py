"""The package inside Python: errors, warnings, interrupts, exceptions of functions, threads, forks, memory, the report."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

import pytest

numpy = pytest.importorskip("numpy")
LinAlgError = numpy.linalg.LinAlgError


def positive(n):
    rows = numpy.arange(n)
    return numpy.exp(-numpy.abs(rows[:, None] - rows)) + numpy.eye(n)


def test_examples_of_docstrings(fl):
    names = [module.name for module in pkgutil.iter_modules(fl.__path__) if module.name != "__main__"]
    modules = [fl, *(importlib.import_module(f"fairlead.{name}") for name in names)]
    tried = sum(doctest.testmod(module, raise_on_error=True).attempted for module in modules)
    assert tried > 20


def test_every_public_function_has_a_docstring(fl):
    for name in fl.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(fl, name)), name


@pytest.mark.parametrize("call, kind, text", [
    (lambda fl: fl.solve(numpy.ones((2, 3)), [1, 2]), LinAlgError, "must be square"),
    (lambda fl: fl.solve(numpy.ones(3), [1, 2, 3]), LinAlgError, "1-dimensional"),
    (lambda fl: fl.solve(3.0, [1]), LinAlgError, "0-dimensional"),
    (lambda fl: fl.solve(numpy.eye(2)[None], [1, 2]), ValueError, "stacks"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2, 3]), ValueError, "same number of rows"),
    (lambda fl: fl.solve(numpy.eye(2), 1.0), ValueError, "0 dimensions"),
    (lambda fl: fl.solve(numpy.ones((3, 3)), [1, 2, 3]), LinAlgError, "singular"),
    (lambda fl: fl.solve(-numpy.eye(3), [1, 2, 3], assume_a="pos"), LinAlgError, "positive definite"),
    (lambda fl: fl.solve([[1, numpy.nan], [0, 1]], [1, 2]), LinAlgError, "NaN"),
    (lambda fl: fl.solve(numpy.eye(2), [1, numpy.inf]), LinAlgError, "inf"),
    (lambda fl: fl.solve(numpy.eye(2, dtype="c32"), [1, 2]), TypeError, "complex256"),
    (lambda fl: fl.solve(numpy.eye(2), [1j, 2], out=numpy.zeros(2)), TypeError, "cannot hold complex128"),
    (lambda fl: fl.solve(numpy.eye(2, dtype="c16"), [1, 2], assume_a="sym", lower=True), NotImplementedError, "both triangles"),
    (lambda fl: fl.solve(numpy.eye(2, dtype="f2"), [1, 2]), TypeError, "float16"),
    (lambda fl: fl.solve(numpy.eye(2).astype(object), [1, 2]), TypeError, "object"),
    (lambda fl: fl.solve([["a"]], [1]), TypeError, "<U1"),
    (lambda fl: fl.solve(numpy.zeros((2, 2), [("re", "f8"), ("im", "f8")]), [1, 2]), TypeError, "fields re, im"),
    (lambda fl: fl.solve(numpy.ma.masked_equal(numpy.eye(2), 0), [1, 2]), TypeError, "masked"),
    (lambda fl: fl.solve(numpy.eye(2), numpy.ma.masked_equal([1, 2], 1)), TypeError, "masked"),
    (lambda fl: fl.solve("missing.npy", [1]), FileNotFoundError, "missing.npy"),
    (lambda fl: fl.solve(__file__, [1]), ValueError, "test_package.py"),
    (lambda fl: fl.solve(numpy.eye(2), "b.npy"), TypeError, "b is a path"),
    (lambda fl: fl.solve(lambda r, c: 1, [1]), TypeError, "shape=(rows, columns)"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], shape=(2, 2)), ValueError, "function"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], assume_a="banded"), ValueError, "banded"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], method="gauss"), ValueError, "gauss"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], method="lu", assume_a="gen"), ValueError, "exclude"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], memory="much"), ValueError, "much"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], memory=-1), ValueError, "memory"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], memory="100KiB"), MemoryError, "by the option memory"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], workers=0), ValueError, "workers"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], settings={"memmory": 1}), ValueError, "memmory"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], digits=40), ValueError, "digits"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], out=[0, 0]), TypeError, "list"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], out=numpy.zeros(3)), ValueError, "out has the shape"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], out=numpy.zeros(2, int)), TypeError, "cannot hold"),
    (lambda fl: fl.solve(numpy.eye(2), [1, 2], overwrite=True), TypeError, "overwrite"),
    (lambda fl: fl.lstsq(numpy.ones((2, 3)), [1, 2, 3]), ValueError, "b"),
    (lambda fl: fl.lstsq(numpy.ones((3, 2)), [1, 2, 3], rcond=-1), ValueError, "rank tolerance"),
    (lambda fl: fl.cholesky(numpy.ones((3, 2))), LinAlgError, "square"),
    (lambda fl: fl.lu(numpy.eye(2), shapes=1), TypeError, "shapes"),
    (lambda fl: fl.lu(numpy.zeros((0, 0))), ValueError, "without elements"),
    (lambda fl: fl.lu(numpy.eye(2)).solve([1, 2], trans=5), ValueError, "trans"),
    (lambda fl: fl.lu(numpy.eye(2, dtype="f4")).solve([1.0, 2.0]), ValueError, "single precision"),
    (lambda fl: fl.qr(numpy.eye(3, 2)).solve([1, 2], trans=True), ValueError, "square"),
    (lambda fl: fl.lu(numpy.diag([1.0, -1])).logdet(), LinAlgError, "not positive"),
    (lambda fl: fl.lu(numpy.diag([1.0, 1j])).logdet(), LinAlgError, "not positive"),
    (lambda fl: fl.slogdet(numpy.ones((3, 2))), LinAlgError, "square"),
    (lambda fl: fl.slogdet([[numpy.nan]]), LinAlgError, "NaN"),
    (lambda fl: fl.inv(numpy.ones((3, 2))), LinAlgError, "square"),
    (lambda fl: fl.inv(numpy.ones((3, 3))), LinAlgError, "singular"),
    (lambda fl: fl.inv(numpy.eye(2), out=numpy.zeros(2)), ValueError, "out has the shape"),
    (lambda fl: fl.inv(numpy.eye(2), out="inverse.h5"), ValueError, ".npy"),
    (lambda fl: fl.inv(numpy.eye(2), out="/no/folder/inverse.npy"), OSError, "/no/folder"),
    (lambda fl: fl.plan(), TypeError, "one of a, n and shape"),
    (lambda fl: fl.plan(numpy.eye(2), n=5), TypeError, "one of a, n and shape"),
    (lambda fl: fl.plan(n=0), ValueError, "0"),
    (lambda fl: fl.plan(n=5, right_hand_sides=0), ValueError, "right_hand_sides"),
    (lambda fl: fl.plan(n=5, dtype="f2"), TypeError, "float16"),
    (lambda fl: fl.plan(n=100_000, memory="100KiB"), MemoryError, "memory"),
    (lambda fl: fl.plan(shape=(5, 9), method="lu"), ValueError, "square"),
    (lambda fl: fl.lu(numpy.eye(2)).save("/no/folder/f"), OSError, "/no/folder"),
    (lambda fl: fl.load("missing.factor"), FileNotFoundError, "missing.factor"),
    (lambda fl: fl.load(__file__), ValueError, "test_package.py"),
    (lambda fl: fl.show_config("xml"), ValueError, "xml"),
])
def test_mistakes(fl, call, kind, text):
    with pytest.raises(kind, match=re.escape(text)) as caught:
        call(fl)
    assert kind is not ValueError or type(caught.value) is ValueError


def test_the_classes_of_errors_are_those_of_numpy(fl):
    for a, b in [(numpy.ones((2, 3)), [1, 2]), (numpy.ones(3), [1, 2, 3]), (numpy.eye(2), [1, 2, 3]), (numpy.ones((3, 3)), [1, 2, 3]),
                 (numpy.eye(2, dtype="f2"), [1, 2])]:
        with pytest.raises((LinAlgError, ValueError, TypeError)) as of_numpy:
            numpy.linalg.solve(a, b)
        with pytest.raises(of_numpy.type):
            fl.solve(a, b)


@pytest.mark.parametrize("a, b", [((0, 0), (0,)), ((0, 0), (0, 3)), ((4, 4), (4, 0)), ((5, 0), (5,)), ((5, 0), (5, 2))])
def test_systems_without_elements(fl, a, b):
    x = fl.lstsq(numpy.ones(a), numpy.ones(b)) if a[0] != a[1] else fl.solve(numpy.ones(a), numpy.ones(b))
    assert x.shape == (a[1], *b[1:]) and x.dtype == numpy.float64


@pytest.mark.parametrize("shape, order, dtype", [((9,), "C", "f8"), ((9, 2), "F", "f8"), ((9, 2), "C", "f8"), ((9,), "C", ">f8"),
                                                 ((9, 2), "F", "f4")])
def test_a_solution_is_written_where_the_caller_wants_it(fl, shape, order, dtype):
    a, b = positive(9), numpy.arange(numpy.prod(shape), dtype="f8").reshape(shape)
    out = numpy.zeros(shape, dtype, order)
    assert fl.solve(a, b, out=out) is out
    assert numpy.allclose(out, numpy.linalg.solve(a, b), rtol=1e-5)
    in_place = numpy.array(b, order=order)
    assert numpy.allclose(fl.solve(a, in_place, out=in_place), numpy.linalg.solve(a, b))
    strided = numpy.zeros((2 * shape[0], *shape[1:]))[::2]
    assert numpy.allclose(fl.lu(a).solve(b, out=strided), numpy.linalg.solve(a, b))
    readonly = numpy.zeros(shape)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fl.solve(a, b, out=readonly)


def test_the_warning_of_least_squares_names_the_condition_that_counts_squared(fl):
    rng = numpy.random.default_rng(2)
    a = rng.normal(size=(20_000, 8))
    a[:, 1] = a[:, 2] + 1e-6 * a[:, 1]
    with pytest.warns(fl.LinAlgWarning, match="the condition of the matrix .* counts squared: trust the first"):
        fl.lstsq(a, a @ rng.normal(size=8) + rng.normal(size=20_000))


def test_the_report(fl):
    a = positive(300)
    x, info = fl.solve(a, a @ numpy.ones(300), memory="64MiB", return_info=True)
    assert numpy.allclose(x, 1) and info.method == "cholesky" and "positive definite" in info.method_reason
    assert info.shape == (300, 300) and info.right_hand_sides == 1 and info.dtype == numpy.float64
    assert 0 < info.backward_error < info.backward_error_limit and info.digits >= 12 and info.forward_error < 1e-12
    assert info.condition == pytest.approx(numpy.linalg.cond(a, numpy.inf), rel=0.5)
    assert info.rank is None and info.growth is None and info.warnings == () and info.seconds > 0
    assert "reading" in [name for name, _, _ in info.phases] and "cholesky" in str(info)
    assert fl.solve(a, numpy.ones(300), condition=False, return_info=True)[1].condition is None
    assert fl.solve(a, numpy.ones(300), refine=True, return_info=True)[1].refinement_steps > 0
    with pytest.warns(fl.LinAlgWarning, match="linearly dependent"):
        x, info = fl.lstsq(numpy.ones((9, 2)), numpy.ones(9), return_info=True)
    assert info.rank == 1 and numpy.allclose(x, 0.5)


def test_an_ill_conditioned_matrix_is_a_warning_and_has_a_report(fl):
    hilbert = 1 / (numpy.arange(9)[:, None] + numpy.arange(9) + 1)
    with pytest.warns(fl.LinAlgWarning, match="ill-conditioned|digit") as seen:
        line = inspect.currentframe().f_lineno + 1
        fl.solve(hilbert, numpy.ones(9))
    assert seen[0].filename == __file__ and seen[0].lineno == line
    with pytest.raises(LinAlgError, match="digits") as caught:
        fl.solve(hilbert, numpy.ones(9), digits=8)
    assert caught.value.info.condition > 1e10
    assert issubclass(fl.LinAlgWarning, RuntimeWarning) and fl.LinAlgWarning is fl.LinAlgWarning


def test_exceptions_of_functions_arrive_with_their_traceback(fl):
    def broken(rows, columns):
        return 1 / numpy.zeros(0)[len(rows)]

    with pytest.raises(IndexError) as caught:
        fl.solve(broken, numpy.ones(50), shape=(50, 50))
    assert "zeros(0)" in "".join(traceback.format_tb(caught.value.__traceback__))
    for block, kind, text in [(lambda rows, columns: numpy.ones(3), ValueError, "has the shape (3,) instead of"),
                              (lambda rows, columns: numpy.ones((len(rows), len(columns))) * 1j, TypeError, "complex128"),
                              (lambda rows, columns: None, TypeError, "object")]:
        with pytest.raises(kind, match=re.escape(text)):
            fl.solve(block, numpy.ones(50), shape=(50, 50))


def endless(rows, columns):
    time.sleep(0.01)
    return numpy.equal.outer(rows, columns) * 9 + 1 / (1 + rows[:, None] + columns)


class Alarm(Exception):
    pass


@pytest.mark.parametrize("number, kind", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, Alarm)])
def test_signals_end_a_call_within_a_second(fl, number, kind):
    def ring(*_):
        raise Alarm

    signal.signal(signal.SIGALRM, ring)
    for call in (lambda: fl.solve(endless, numpy.ones(9000), shape=(9000, 9000), memory="64MiB"),
                 lambda: fl.factor(endless, shape=(9000, 9000), memory="64MiB")):
        seconds = []
        for _ in range(2):  # the shorter one counts: other programs may keep the processors busy
            sent = []
            sender = threading.Timer(0.4, lambda sent=sent: (sent.append(time.monotonic()), os.kill(os.getpid(), number)))
            sender.start()
            with pytest.raises(kind):
                call()
            seconds.append(time.monotonic() - sent[0])
            sender.join()
        assert min(seconds) < 1


def test_interrupted_factors_stay_usable(fl):
    a = numpy.random.default_rng(3).normal(size=(700, 700))
    b = numpy.ones((700, 4000))
    with fl.lu(a, memory="256MiB") as f:
        before = f.solve(b[:, 0])
        sender = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                f.solve(b)
        sender.join()
        assert (f.solve(b[:, 0]) == before).all()


def test_other_threads_of_python_run_during_a_call(fl):
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.005):
            ticks.append(time.monotonic())

    a = numpy.random.default_rng(5).normal(size=(1500, 1500))
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    fl.solve(a, numpy.ones(1500))
    end = time.monotonic()
    over.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > (end - start) / 0.1


def test_threads_share_factors_and_solve_at_the_same_time(fl):
    a = positive(200)
    f, found = fl.cholesky(a, workers=1), []

    def use(number):
        b = numpy.full(200, float(number))
        found.append(numpy.allclose(a @ f.solve(b), b) and numpy.allclose(a @ fl.solve(a, b, workers=1), b))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 6


def test_closed_factors(fl):
    f = fl.lu(positive(5))
    f.close()
    f.close()
    assert "closed" in repr(f)
    with pytest.raises(ValueError, match="closed"):
        f.solve(numpy.ones(5))


def run(code, **options):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = {**os.environ, "PYTHONPATH": os.path.join(root, "python"), **options}
    return subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60, env=environment)


def test_a_forked_process_solves_and_refuses_the_factors_of_its_parent(fl):
    done = run("""
import os, warnings, numpy as np, fairlead as fl
warnings.simplefilter("ignore", DeprecationWarning)  # of os.fork() itself, where threads run
a = np.eye(40) * 2
f = fl.lu(a, workers=1)
child = os.fork()
if child == 0:
    good = bool(np.allclose(fl.solve(a, np.ones(40), workers=1), 0.5))
    try: f.solve(np.ones(40)); good = False
    except ValueError as error: good &= 'forked' in str(error)
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0 and (f.solve(np.ones(40)) == 0.5).all()
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_end_of_the_interpreter_with_factors(fl):
    done = run("import numpy as np, fairlead as fl; f = fl.lu(np.eye(30)); g = fl.lu(np.eye(30)); f.me = f")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_library_is_an_import_error(fl):
    done = run("import fairlead", LIBFAIRLEAD="/no/libfairlead.so")
    assert done.returncode == 1 and "ImportError: The shared library of Fairlead cannot be loaded" in done.stderr


def test_the_command_is_a_module(fl, command):
    root = os.path.dirname(os.path.dirname(fl.__file__))
    done = subprocess.run([sys.executable, "-m", "fairlead", "--version"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": root, "PATH": f"{command.parent}:{os.environ['PATH']}"})
    assert done.returncode == 0 and fl.__version__ in done.stdout


def test_what_was_found(fl, capsys):
    assert fl.show_config() is None
    shown = capsys.readouterr().out
    assert fl.__version__ in shown and "libfairlead.so" in shown
    assert fl.show_config("dicts")["blas"] in shown


def test_datasets_of_other_packages(fl, tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    a = positive(60)
    b = numpy.arange(60.0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        assert numpy.allclose(a @ fl.solve(file.create_dataset("a", data=a), b), b)
        assert numpy.allclose(a @ fl.solve(file.create_dataset("f4", data=a.astype("f4")), b), b, atol=1e-3)
    assert numpy.allclose(a @ fl.solve(f"{tmp_path / 'a.h5'}::a", b), b)
    assert numpy.allclose(a @ fl.solve(zarr.array(a, chunks=(16, 16)), b), b)


def test_the_memory_limit_holds_for_a_matrix_that_a_function_computes(fl):
    # 3,000 x 3,000 doubles are 69 MiB; the limit is 24 MiB, and the process may grow by little more.
    done = run("""
import resource, numpy as np, fairlead as fl
n = 3000
def f(rows, columns): return np.equal.outer(rows, columns) * 4.0 + 1 / (1.0 + rows[:, None] + columns)
small = np.eye(100)
fl.solve(small, np.ones(100), workers=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x, info = fl.solve(f, np.ones(n), shape=(n, n), memory="24MiB", workers=2, return_info=True)
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
assert grown < 24 + 24, grown
assert info.bytes_read > 0 and info.digits > 10
rows = np.arange(5)
assert np.allclose(f(rows, np.arange(n)) @ x, 1)
""")
    assert (done.returncode, done.stderr) == (0, "")

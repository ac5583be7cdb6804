"""Tasks of the package inside Python: mistakes, failures of bodies, interrupts, views, lifetimes, threads, forks, exits."""

import gc
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

import pytest

numpy = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def rt(fl):
    with fl.Runtime(memory="32MiB", workers=2) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def scale(fl):
    @fl.codelet
    def scale(x: fl.InOut, f: float = 2.0):
        x *= f

    return scale


def submitted(rt, *arguments, **named):
    with rt.flow() as flow:
        flow.submit(*arguments, **named)
        flow.wait()


def value(x):
    return x


@pytest.mark.parametrize("call, kind, text", [
    (lambda fl, rt, s: fl.Runtime(memory="much"), ValueError, "much"),
    (lambda fl, rt, s: fl.Runtime(memory=0), ValueError, "memory"),
    (lambda fl, rt, s: fl.Runtime(workers=0), ValueError, "workers"),
    (lambda fl, rt, s: fl.Runtime(settings={"memmory": 1}), ValueError, "memmory"),
    (lambda fl, rt, s: fl.Runtime(settings={"scheduler": "fastest"}), ValueError, "fastest"),
    (lambda fl, rt, s: fl.codelet(value), TypeError, "value has no data: annotate"),
    (lambda fl, rt, s: fl.codelet(lambda x: 0), TypeError, "no data"),
    (lambda fl, rt, s: fl.codelet(3), TypeError, "callable"),
    (lambda fl, rt, s: rt.tiled((3, 4, 5)), ValueError, "two dimensions"),
    (lambda fl, rt, s: rt.tiled((0, 4)), ValueError, "(0, 4)"),
    (lambda fl, rt, s: rt.tiled((4, 4), tile=0), ValueError, "tile is 0"),
    (lambda fl, rt, s: rt.tiled((4, 4), tile=(1, 2, 3)), ValueError, "tile is (1, 2, 3)"),
    (lambda fl, rt, s: rt.tiled(numpy.ones(3)), ValueError, "(3,)"),
    (lambda fl, rt, s: rt.tiled((4, 4), dtype=object), TypeError, "plain bytes"),
    (lambda fl, rt, s: rt.tiled((4, 4))[1, 0], IndexError, "no tile (1, 0)"),
    (lambda fl, rt, s: rt.tiled((4, 4))[0], TypeError, "a[i, j]"),
    (lambda fl, rt, s: rt.tiled((4, 4))[[0], 0], TypeError, "list"),
    (lambda fl, rt, s: rt.tiled((4, 4))[1.0, 0], TypeError, "float"),
    (lambda fl, rt, s: rt.tiled((4, 4))[-2, 0], IndexError, "no tile (-2, 0)"),
    (lambda fl, rt, s: rt.tiled((4, 4))[1 << 70, 0], IndexError, "no tile"),
    (lambda fl, rt, s: rt.tiled((4, 4), tile=2, lower=True)[0, 1], IndexError, "no tile (0, 1)"),
    (lambda fl, rt, s: rt.tiled((4, 4)).read(numpy.ones(4)), ValueError, "shape (4, 4)"),
    (lambda fl, rt, s: rt.tiled((4, 4)).write(numpy.ones(3)), ValueError, "broadcast"),
    (lambda fl, rt, s: numpy.array(rt.data((2,)).__array__(copy=False)), ValueError, "copy=False"),
    (lambda fl, rt, s: rt.data(numpy.ones(3)[::-1]), ValueError, "strides (-8,)"),
    (lambda fl, rt, s: rt.data(numpy.broadcast_to(1.0, (3,)).copy()[:0]), ValueError, "at least one element"),
    (lambda fl, rt, s: rt.data((3, 0)), ValueError, "at least one element"),
    (lambda fl, rt, s: rt.data(numpy.ones(3), "f4"), TypeError, "convert it first"),
    (lambda fl, rt, s: rt.data("abc"), TypeError, "is a str"),
    (lambda fl, rt, s: rt.data(numpy.ma.ones(3)), TypeError, "MaskedArray"),
    (lambda fl, rt, s: rt.data(numpy.array([None])), TypeError, "plain bytes"),
    (lambda fl, rt, s: rt.data(numpy.frombuffer(b"12345678")), ValueError, "read-only"),
    (lambda fl, rt, s: rt.data((3,)).read(numpy.ones(4)), ValueError, "out must be"),
    (lambda fl, rt, s: rt.data((3,)).write([1, 2]), ValueError, "broadcast"),
    (lambda fl, rt, s: submitted(rt), TypeError, "codelet"),
    (lambda fl, rt, s: submitted(rt, value, rt.data((3,))), TypeError, "fairlead.codelet"),
    (lambda fl, rt, s: submitted(rt, s), TypeError, "missing a required argument: 'x'"),
    (lambda fl, rt, s: submitted(rt, s, rt.data((3,)), 1, 2), TypeError, "too many positional arguments"),
    (lambda fl, rt, s: submitted(rt, s, rt.data((3,)), g=1), TypeError, "'g'"),
    (lambda fl, rt, s: submitted(rt, s, numpy.ones(3)), TypeError, "is given a ndarray where it needs a datum"),
    (lambda fl, rt, s: submitted(rt, s, rt.data((3,)), priority=1 << 40), OverflowError, "priority"),
    (lambda fl, rt, s: submitted(rt, s, rt.data((3,)), priority="high"), TypeError, "str"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, rt.data((3, 3))), TypeError, "tiles of one type"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, 3), TypeError, "is given a int"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, rt.tiled((3, 3), dtype="i8")[0, 0]), TypeError, "potrf needs tiles"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, rt.tiled((3, 4))[0, 0]), ValueError, "3 x 4"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.trsm, rt.tiled((3, 3))[0, 0]), ValueError, "needs 2 tiles"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, rt.tiled((3, 3))[0, 0], f=1), TypeError, "only tiles"),
    (lambda fl, rt, s: submitted(rt, fl.kernels.potrf, rt.tiled((3, 3))[0, 0]), numpy.linalg.LinAlgError, "potrf"),
    (lambda fl, rt, s: submitted(rt, s, rt.data((1 << 23,))), MemoryError, "64 MiB"),
])
def test_mistakes(fl, rt, scale, call, kind, text):
    with pytest.raises(kind, match=re.escape(text)) as caught:
        call(fl, rt, scale)
    assert kind is not ValueError or type(caught.value) is ValueError


def test_data_of_another_runtime(fl, rt, scale):
    with fl.Runtime(memory="16MiB") as other:
        x = other.data((3,))
        with pytest.raises(ValueError, match="another runtime"):
            submitted(rt, scale, x)
    with pytest.raises(ValueError, match="another runtime"):
        submitted(rt, scale, x)
    for use in (x.read, lambda: x.write(0), other.flow, other.statistics, lambda: other.data((3,))):
        with pytest.raises(ValueError, match="closed"):
            use()
    other.close()
    with rt.flow() as flow:
        pass
    for use in (flow.wait, lambda: flow.submit(scale, rt.data((3,)))):
        with pytest.raises(ValueError, match="the flow is closed"):
            use()
    flow.close()
    flow.flush()


def test_an_exception_of_a_body_arrives_with_its_traceback(fl, rt, scale):
    class OwnError(Exception):
        pass

    @fl.codelet(name="divide")
    def body(x: fl.InOut, by):
        if by == 0:
            raise OwnError("by zero")
        x /= by

    x, y = rt.data(numpy.ones(3), name="x"), rt.data(numpy.ones(3))
    with rt.flow() as flow:
        flow.submit(body, x, 2)
        flow.submit(body, x, 0)
        flow.submit(scale, x)
        flow.submit(scale, y)
        with pytest.raises(OwnError, match="by zero") as caught:
            flow.wait()
        names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert names[-1] == "body"
        note = caught.value.__notes__[0]
        line = test_an_exception_of_a_body_arrives_with_its_traceback.__code__.co_firstlineno + 13
        assert f"the task divide(x), submitted at {__file__}:{line}, failed: OwnError: by zero" in note and "1 task" in note
        assert (y.read() == 2).all()
        with pytest.raises(RuntimeError, match="x"):
            x.read()
        x.write(5)
        flow.submit(scale, x, 3)
        flow.wait()
    assert (x.read() == 15).all()
    with pytest.raises(OwnError), rt.flow() as flow:
        flow.submit(body, x, 0)
    with pytest.raises(ZeroDivisionError), rt.flow() as flow:  # the exception of the program comes first
        flow.submit(body, x, 0)
        raise ZeroDivisionError


def test_views(fl, rt):
    kept = []

    @fl.codelet
    def look(a: fl.In, b: fl.InOut, c: fl.Out, *rest: fl.In):
        kept.append([(x.flags.writeable, x.shape, x.dtype, x.flags.f_contiguous, x.flags.owndata) for x in (a, b, c, *rest)])
        b.shape = (1, *b.shape)  # changes this view only
        with pytest.raises(ValueError, match="read-only"):
            a[...] = 1

    a = rt.tiled((7, 5), tile=(4, 3), dtype="c8")
    for _ in range(2):
        submitted(rt, look, a[0, 0], a[1, 0], a[-1, -1], rt.data((2, 3, 4, 5), "u1"), rt.data(numpy.ones((2, 2), "<U3")))
    views = [(False, (4, 3), "c8", True, False), (True, (3, 3), "c8", True, False), (True, (3, 2), "c8", True, False),
             (False, (2, 3, 4, 5), "u1", False, False), (False, (2, 2), "<U3", False, False)]
    assert kept == [views, views]


def test_values_live_as_long_as_their_tasks(fl, rt, scale):
    class Value:
        pass

    @fl.codelet
    def use(x: fl.InOut, v, w=None, *, named=None):
        assert isinstance(v, Value) and (w is None or isinstance(named, Value))

    x = rt.data((3,))
    kept, expected = [], sys.getrefcount(use)
    with rt.flow() as flow:
        for number in range(500):
            v = Value()
            kept.append(weakref.ref(v))
            flow.submit(use, x, v, **({"w": 1, "named": Value()} if number % 2 else {}))
        del v
    # Some are released by a worker a little later.
    assert sum(reference() is not None for reference in kept) <= 4
    flow = rt.flow()
    for _ in range(500):
        flow.submit(use, x, Value())
    flow.cancel()
    flow.submit(use, x, "wrong")
    flow.close()
    gc.collect()
    assert abs(sys.getrefcount(use) - expected) <= 4


def test_data_are_freed_when_nothing_refers_to_them(fl, scale):
    with fl.Runtime(memory="16MiB", workers=1) as rt:
        for _ in range(30):
            a = rt.tiled((512, 512), tile=256)  # 2 MiB
            array = numpy.ones(1000)
            with rt.flow() as flow:
                for t in a.tiles():
                    flow.submit(scale, t)
                flow.submit(scale, rt.data(array), 3)
                del a, t
            assert (array == 3).all()
            reference = weakref.ref(array)
            del array
        assert rt.statistics().bytes_written == 0
        rt.flush()
        assert reference() is None


def test_a_closed_runtime_leaves_nothing(fl, scale):
    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    for _ in range(5):
        with fl.Runtime(memory="16MiB", workers=2) as rt:
            x, a = rt.data(numpy.ones(5)), rt.tiled(numpy.eye(4), tile=2)
            submitted(rt, scale, x)
            submitted(rt, fl.kernels.potrf, a[0, 0])
    del x, a, rt
    gc.collect()
    assert threads() <= before


def test_ctrl_c_ends_a_flow(fl):
    @fl.codelet
    def busy(x: fl.InOut, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    seconds = 30 if fl._task_core.is_compiled else 0.1  # without the compiled module, bodies end on their own
    with fl.Runtime(memory="16MiB", workers=2) as rt:
        data = [rt.data((3,)) for _ in range(3)]
        begin = time.monotonic()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), rt.flow() as flow:
            for i in range(3000):
                flow.submit(busy, data[i % 3], seconds)
        assert time.monotonic() - begin < 3
        submitted(rt, busy, rt.data((3,)), 0)  # the runtime stays usable


def test_bodies_that_use_their_runtime(fl, rt, scale):
    x = rt.data((3,))

    @fl.codelet
    def nested(y: fl.InOut):
        x.read()

    with pytest.raises(ValueError, match="body"):
        submitted(rt, nested, rt.data((3,)))


def test_threads_share_a_runtime(fl, rt, scale):
    arrays = [numpy.ones(3) for _ in range(6)]

    def work(array):
        x = rt.data(array)
        with rt.flow() as flow:
            for _ in range(20):
                flow.submit(scale, x)

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((array == 2.0**20).all() for array in arrays)


def test_a_forked_child_has_no_part_in_it(fl, rt, scale):
    x = rt.data(numpy.ones(3))
    submitted(rt, scale, x)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            x.read()
            text = "no error"
        except ValueError as error:
            text = str(error)
        try:
            rt.close()
            with fl.Runtime(memory="16MiB", workers=1) as own:
                y = own.data(numpy.ones(3))
                submitted(own, scale, y)
                text += f" {y.read()[0]}"
        except BaseException as error:  # noqa: BLE001
            text += f" {error!r}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    assert "fork" in text and text.endswith(" 2.0")
    submitted(rt, scale, x)


def test_a_program_may_end_with_a_runtime(fl, request):
    program = """
import time, numpy as np, fairlead as fl
@fl.codelet
def slow(x: fl.InOut): time.sleep(0.005)
rt = fl.Runtime(memory="16MiB", workers=2)
flow = rt.flow()
x = rt.data(np.ones(3))
for _ in range(1000): flow.submit(slow, x)
flow.flush()
print("end")
"""
    environment = {**os.environ, "LIBFAIRLEAD": os.environ["LIBFAIRLEAD"], "PYTHONPATH": str(pathlib.Path(fl.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=20)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


def test_names_reports_and_pickles(fl, rt, scale):
    a = rt.tiled((10, 10), tile=4, name="A")
    assert repr(a) == "<TiledMatrix 10 x 10 float64, 3 x 3 tiles>" and repr(a[2, 1]) == "<Tile 2 x 4 float64>"
    assert a[numpy.int64(2), -2] is a[2, 1] and a[-1, -1] is a[2, 2]
    assert (a[2, 1].row, a[2, 1].column) == (2, 1) and len(list(a.tiles())) == 9
    assert repr(scale).startswith("<codelet scale(x: ") and repr(fl.kernels.gemm) == "<kernel gemm>"
    array = numpy.ones(2)
    assert scale(array, 5) is None and (array == 5).all()  # the function itself
    submitted(rt, scale, a[0, 0])
    report = rt.report()
    assert {"scheduler", "tasks", "links", "nodes", "workers"} <= report.keys() and len(report["workers"]) == 2
    assert report["tasks"] == rt.statistics().tasks > 0
    for one in (a, a[0, 0], rt):
        with pytest.raises((TypeError, ValueError)):
            pickle.dumps(one)


def test_tasks_that_commute(fl, rt):
    order = []

    @fl.codelet
    def add(total: fl.Commute, number):
        before = total[0]
        order.append(number)
        total[0] = before + number

    total = numpy.zeros(1)
    x = rt.data(total)
    with rt.flow() as flow:
        for number in range(200):
            flow.submit(add, x, number)
    assert total[0] == sum(range(200)) and sorted(order) == list(range(200))


def test_numbers_of_any_type(fl, rt, scale):
    record = numpy.zeros(5, [("a", "i4"), ("b", "S3")])
    x = rt.data(record)

    @fl.codelet
    def set_field(r: fl.InOut):
        r["a"] = range(5)

    submitted(rt, set_field, x)
    assert record["a"].tolist() == [0, 1, 2, 3, 4]
    odd = rt.tiled((7, 9), tile=4, dtype=numpy.dtype([("x", "f8"), ("y", "f4")]))  # 12 bytes
    assert (odd.to_numpy()["x"] == 0).all()
    assert rt.data(numpy.array(3.0)).read().shape == ()

"""Simulations in Python: equal to those of the command, with makespans computed by hand, sweeps, tables, policies, mistakes."""

import importlib.util
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

numpy = pytest.importorskip("numpy")

# Two cores and a card with its own memory; copies take a second for each gigabyte, without latency.
DESK = {
    "name": "desk",
    "processor": {
        "core": {"kind": "cpu", "rate": [{"kernel": "*", "gflops": 1}]},
        "card": {"kind": "cuda", "rate": [{"kernel": "gemm", "gflops": 4}]},
    },
    "host": {"cores": 2, "core": "core", "memory": "16GB"},
    "device": [{"processor": "card", "memory": "4GB", "bandwidth": "1GB/s", "latency_microseconds": 0}],
}
MEASURED = ("decision_nanoseconds_per_task", "simulation_seconds")


def simulated(fl, tasks, sizes=0, **settings):
    table = fl.simulate(fl.Workload.from_tasks(tasks, sizes=sizes), machine=DESK, **settings)
    return table["seconds"]


def drawn_settings():
    """Combinations of options that the command and Python take alike."""
    draw = random.Random(7)
    choices = {
        "n": [1920, 3840, 4000],
        "tile": [480, 960],
        "precision": ["single", "double", None],
        "machine": ["v100-pcie", "summit", "p100"],
        "gpus": [1, 2, None],
        "memory": ["100MB", "40%", None],
        "noise": [None, 10],
        "window": [None, 20],
        "advice": [None, "cyclic"],
        "peers": [None, False],
        "misjudged": [None, "gemm:2"],
        "priorities": [None, "time"],
        "first_run": [None, True],
    }
    for _ in range(12):
        yield {
            "workload": draw.choice(["cholesky", "lu", "gemm", "wavefront:sweeps=2"]),
            "scheduler": draw.choice(["eager", "darts", "dmda", "auto", "near"]),
            "seed": draw.randint(1, 5),
            **{key: draw.choice(values) for key, values in choices.items()},
        }
    yield {"workload": "cholesky", "scheduler": "eager,lws", "seed": 1, "n": 4800, "tile": 480, "machine": "epyc-7642",
           "cores": 4, "memory": "200MB"}
    yield {"workload": "lu", "scheduler": "auto", "seed": 2, "n": 3000, "tile": 300, "machine": "griffon", "ranks": 4}
    yield {"workload": "gemm", "scheduler": "eager", "seed": 2, "n": 3000, "tile": 500, "front": "ptg"}
    yield {"workload": "lu", "scheduler": "darts", "seed": 2, "n": 3000, "tile": 500, "front": "jdf"}
    yield {"workload": "qr", "scheduler": "darts", "seed": 2, "n": 3000, "tile": 500, "front": "jdf"}


def as_option(key, value):
    if isinstance(value, bool):
        return f"--{'' if value else 'no-'}{key.replace('_', '-')}"
    return f"--{key.replace('_', '-')}={value}"


def test_results_are_those_of_the_command(fl, fairlead):
    for settings in drawn_settings():
        given = {key: value for key, value in settings.items() if value is not None and key != "workload"}
        outcome = fairlead("simulate", settings["workload"], "--json", "runs.json",
                           *(as_option(key, value) for key, value in given.items()))
        seed, scheduler = given.pop("seed"), given.pop("scheduler").split(",")
        if outcome.returncode == 2:
            with pytest.raises(ValueError) as caught:
                fl.simulate(settings["workload"], scheduler=scheduler, seeds=[seed], **given)
            assert re.sub("--", "", outcome.stderr).strip() == f"fairlead: {caught.value}"
            continue
        expected = json.loads((fairlead.folder / "runs.json").read_text())
        table = fl.simulate(settings["workload"], scheduler=scheduler, seeds=[seed], **given)
        assert len(table) == len(expected)
        for row, run in zip(table, expected):
            for key in MEASURED:
                run.pop(key, None)
            assert {key: row[key] for key in run} == run, settings


def test_a_recorded_flow_is_simulated_as_by_the_command(fl, fairlead):
    (fairlead.folder / "run.flow").write_text(
        "fairlead-flow 1\ncodelet 0 cpu nanoseconds a\nfile 0 f\nphase 1\ndatum 0 80 -1 -1 -1 empty e\n"
        "task 0 0:1 0 1000000 w0\nphase 2\ntask 0 0:1 0 2000000 r0\nend 1 2\n")
    path = fairlead.folder / "run.flow"
    for phase in (None, 2):
        options = [] if phase is None else ["--phase", phase]
        assert fairlead("simulate", "--recorded", path, "--machine", "griffon", "--json", "r.json", *options).returncode == 0
        expected = json.loads((fairlead.folder / "r.json").read_text())[0]
        row = fl.simulate(path, machine="griffon", phase=phase)[0]
        assert (row["seconds"], row["tasks"]) == (expected["seconds"], expected["tasks"])


def test_names_are_those_of_the_command(fl, fairlead):
    def first_words(*arguments):
        lines = fairlead(*arguments).stdout.split("\n\n")[0].splitlines()
        return [line.split()[0] for line in lines if line and not line.startswith(" ")]

    assert fl.machines() == first_words("machines")
    assert fl.workloads() == first_words("simulate", "list")
    assert set(fl.schedulers()) <= set(first_words("schedulers"))
    table = fl.simulate("cholesky", n=960, tile=960, machine="griffon", scheduler="all")
    assert [*table["scheduler"]] == fl.schedulers()


def test_a_chain_takes_the_sum(fl):
    tasks = (fl.SimTask(updates=["x"], duration=seconds) for seconds in (1, 2.5, 0.5))  # a generator
    assert simulated(fl, tasks, {"x": 8}, gpus=0) == [4.0]


def test_a_fork_takes_the_longest_branch(fl):
    first = fl.SimTask(duration=1)
    branches = [fl.SimTask(duration=seconds, after=[first]) for seconds in (2, 3)]
    last = fl.SimTask(duration=1, after=branches)
    assert simulated(fl, [first, *branches, last], gpus=0) == [5.0]
    assert simulated(fl, [first, *branches, last], gpus=0, cores=1) == [7.0]


def test_each_kind_of_processor_has_its_durations(fl):
    tasks = [fl.SimTask(duration={"cpu": 3, "cuda": 1}) for _ in range(4)]
    assert simulated(fl, tasks, gpus=0) == [6.0]
    assert simulated(fl, tasks) == [4.0]  # on the card alone
    assert simulated(fl, tasks, cores=1, scheduler="heft-tm") == [3.0]
    named = [fl.SimTask(duration={"core": 2}), fl.SimTask(duration={"card": 3})]
    assert simulated(fl, named, cores=1, scheduler="eager") == [3.0]
    with pytest.raises(ValueError, match="no processor of the machine desk that is used can run task"):
        simulated(fl, [fl.SimTask(duration={"cpu": 1})])


def test_copies_take_their_time(fl):
    # 2 s in, 1 s of computing, 1 s home; the first datum is only written.
    task = fl.SimTask(reads=["a", "b"], writes=["c"], duration=1)
    assert simulated(fl, [task], {"a": 10**9, "b": 10**9, "c": 10**9}) == pytest.approx([4.0])


def test_operations_count_at_the_rate_of_the_kernel(fl):
    tasks = [fl.SimTask(flops=4e9, kind="gemm"), fl.SimTask(flops=2e9, kind="other")]
    assert simulated(fl, tasks, gpus=0, cores=1) == [6.0]
    assert simulated(fl, tasks[:1]) == [1.0]


def list_schedule(durations, edges, workers):
    """The makespan when each idle worker takes the ready task that became ready first, of equal ones the earlier."""
    waits = [sum(head == task for _, head in edges) for task in range(len(durations))]
    ready = [task for task, count in enumerate(waits) if count == 0]
    running, now = [], 0.0
    while ready or running:
        while ready and len(running) < workers:
            task = ready.pop(0)
            running.append((now + durations[task], task))
        now = min(running)[0]
        for end, task in sorted(running):
            if end == now:
                running.remove((end, task))
                for tail, head in edges:
                    if tail == task:
                        waits[head] -= 1
                        if waits[head] == 0:
                            ready.append(head)
    return now


def test_drawn_graphs_take_the_time_of_a_list_schedule(fl):
    draw = random.Random(3)
    for _ in range(10):
        n = draw.randint(2, 20)
        # Sums of different powers of two: no two tasks finish at the same time.
        durations = [2.0 ** -(i + 1) + draw.randint(1, 4) for i in range(n)]
        edges = [pair for pair in itertools.combinations(range(n), 2) if draw.random() < 0.3]
        tasks = []
        for i, seconds in enumerate(durations):
            tasks.append(fl.SimTask(duration=seconds, after=[tasks[tail] for tail, head in edges if head == i]))
        for cores in (1, 2):
            expected = list_schedule(durations, edges, cores)
            found = simulated(fl, tasks, gpus=0, cores=cores, scheduler="eager", pipeline_depth=1)
            assert found == pytest.approx([expected], abs=1e-6), (durations, edges, cores)


def test_the_order_of_tasks(fl):
    a = fl.SimTask(duration=1)
    tasks = [a, fl.SimTask(duration=2, after=[a])]
    row = fl.simulate(tasks, machine=DESK, gpus=0, cores=1, order=True)[0]
    assert row["order"] == [(0, 0, 0.0, 1.0), (1, 0, 1.0, 3.0)]


def test_lists_make_all_combinations(fl):
    settings = {"n": range(960, 2881, 960), "memory": ("100MB", None), "gpus": numpy.array([1, 2])}
    table = fl.simulate(["cholesky", "lu"], tile=960, machine="v100-pcie", scheduler=["eager", "darts"], seeds=[3, 5],
                        noise=5, **settings)
    assert len(table) == 2 * 3 * 2 * 2 * 2 * 2
    assert set(table.varied) == {"workload", "n", "memory", "gpus", "scheduler"}
    keys = [(row["workload"], row["n"], row.get("memory"), row["gpus"], row["scheduler"], row["seed"]) for row in table]
    assert len(set(keys)) == len(table) and keys[:3] == [
        ("cholesky", 960, "100MB", 1, "eager", 3), ("cholesky", 960, "100MB", 1, "eager", 5),
        ("cholesky", 960, "100MB", 1, "darts", 3)]
    again = fl.simulate(["cholesky", "lu"], tile=960, machine="v100-pcie", scheduler=["eager", "darts"], seeds=[3, 5],
                        noise=5, workers=1, **settings)
    assert table["command_digest"] == again["command_digest"]


def test_groups_have_intervals(fl):
    table = fl.simulate("cholesky", n=2880, tile=960, machine="v100-pcie", gpus=1, noise=20, seeds=5,
                        scheduler=["eager", "darts"])
    grouped = table.group()
    assert grouped.columns == ["scheduler", "runs", "finished", "seconds", "seconds_low", "seconds_high"]
    for row, rows in zip(grouped, (table[:5], table[5:])):
        values = numpy.array(rows["seconds"])
        half = 2.7764 * values.std(ddof=1) / math.sqrt(5)
        assert row["runs"] == row["finished"] == 5
        assert [row["seconds"], row["seconds_low"], row["seconds_high"]] == pytest.approx(
            [values.mean(), values.mean() - half, values.mean() + half])
    assert table.group("machine", value="gflops")["gflops"] == pytest.approx([numpy.mean(table["gflops"])])
    assert math.isnan(table[:1].group("scheduler")[0]["seconds_low"])
    with pytest.raises(KeyError, match="no column 'speed'"):
        table.group(value="speed")


def test_students_quantiles(fl):
    from fairlead._simulation_table import student_quantile

    # From printed tables of the distribution.
    for degrees, quantile in ((1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (31, 2.040), (40, 2.021),
                              (60, 2.000), (120, 1.980), (1000, 1.962)):
        assert student_quantile(degrees) == pytest.approx(quantile, abs=6e-4)


def test_tables(fl):
    table = fl.simulate("cholesky", n=[960, 1920], tile=960, machine="v100-pcie", gpus=1, seeds=2)
    lines = str(table).splitlines()
    assert lines[0].split()[:3] == ["n", "seed", "seconds"] and len(lines) == 5
    assert isinstance(table[1:], fl.SimulationTable) and len(table[1:]) == 3 and len(list(table)) == 4
    assert table.to_dict()["n"] == table["n"] == [960, 960, 1920, 1920]
    assert repr(table) == f"<SimulationTable of 4 rows and {len(table.columns)} columns>"
    assert "<th>seconds</th>" in table._repr_html_()
    with pytest.raises(KeyError, match="no column 'time'"):
        table["time"]
    for method, package in (("to_pandas", "pandas"), ("to_arrow", "pyarrow")):
        if importlib.util.find_spec(package):
            assert int(str(getattr(table, method)()["n"][2])) == 1920
        else:
            with pytest.raises(ImportError, match=f"{package} is not installed"):
                getattr(table, method)()


def test_show_prints_columns(fl, capsys):
    table = fl.simulate("gemm", n=960, tile=960, machine="v100-pcie", gpus=1)
    table.show(["n", "tasks"])
    assert capsys.readouterr().out == "  n  tasks\n960      1\n"


def test_a_run_that_does_not_finish_is_a_row(fl):
    row = fl.simulate("cholesky", n=9600, tile=4800, machine="v100-pcie", gpus=1, memory="200MB")[0]
    assert not row["finished"] and "seconds" not in row and "memory" in row["problem"]


class Eager:
    """Mixed into classes of policies below."""

    def __init__(self):
        self.tasks = []

    def ready(self, task, released_by):
        self.tasks.append(task)

    def pick(self, worker, must):
        for task in self.tasks:
            if self.view.can_run(task, worker):
                self.tasks.remove(task)
                return task
        return None


def test_a_policy_in_python_decides_as_one_in_cpp(fl):
    class Mine(Eager, fl.Policy):
        pass

    table = fl.simulate("lu", n=4800, tile=960, machine="v100-pcie", gpus=2, memory="100MB", scheduler=[Mine, "eager"])
    assert table["command_digest"][0] == table["command_digest"][1] and table["scheduler"] == ["Mine", "eager"]


def test_a_policy_sees_the_run(fl):
    seen = {"finished": 0, "victims": 0, "upcoming": 0}

    class Watching(Eager, fl.Policy):
        name = "watching"

        def attached(self):
            assert [worker.is_device for worker in self.view.workers] == [True] and self.view.now == 0
            assert self.view.bytes(0) == 250_000_000

        def pick(self, worker, must):
            task = super().pick(worker, must)
            if task is not None:
                node = self.view.workers[worker].node
                accesses = self.view.accesses(task)
                assert [mode for _, mode in accesses] == ["read", "read-write"] and self.view.kind(task) == "gemm"
                assert self.view.priority(task) == task
                absent = [self.view.bytes(datum) for datum, _ in accesses if self.view.residency(datum, node) == "absent"]
                assert self.view.missing_bytes(task, node) == sum(absent)
                assert self.view.estimate(task, worker) == 0.5
                if self.view.residency(accesses[0][0], node) == "absent":
                    assert self.view.transfer_time(accesses[0][0], node) == pytest.approx(0.25)
            return task

        def finished(self, task, worker, seconds):
            assert seconds == 0.5 and worker == 0
            seen["finished"] += 1

        def victim(self, node, candidates):
            seen["victims"] += 1
            return candidates[-1]

        def upcoming(self, worker):
            seen["upcoming"] += 1
            return [datum for task in self.tasks[:1] for datum, _ in self.view.accesses(task)]

    tasks = [fl.SimTask(reads=[("a", i)], updates=[("c", i)], duration={"cpu": 2, "cuda": 0.5}, kind="gemm", priority=i)
             for i in range(24)]
    row = fl.simulate(fl.Workload.from_tasks(tasks, sizes=250_000_000), machine=DESK, memory="2GB", pipeline_depth=1,
                      scheduler=Watching)[0]
    assert row["finished"] and row["scheduler"] == "watching" and row["seconds"] > 3
    assert seen["finished"] == 24 and seen["victims"] > 0 and seen["upcoming"] > 0


@pytest.mark.parametrize("pick, kind, text", [
    (lambda _: 1 // 0, ZeroDivisionError, ""),
    (lambda _: 77, ValueError, "picked task 77, which is not ready"),
    (lambda _: "x", TypeError, ""),
])
def test_mistakes_of_policies(fl, pick, kind, text):
    class Wrong(Eager, fl.Policy):
        def pick(self, worker, must):
            return pick(worker)

    with pytest.raises(kind, match=text or None):
        fl.simulate("cholesky", n=4800, tile=960, machine="v100-pcie", gpus=1, scheduler=["eager", Wrong])


@pytest.mark.parametrize("call, kind, text", [
    (lambda fl: fl.simulate("choleski"), ValueError, "did you mean cholesky"),
    (lambda fl: fl.simulate("cholesky", memmory="1GB"), ValueError, "did you mean memory"),
    (lambda fl: fl.simulate("cholesky", scheduler="dart"), ValueError, "did you mean darts"),
    (lambda fl: fl.simulate("cholesky", machine="sumit"), ValueError, "did you mean summit"),
    (lambda fl: fl.simulate("cholesky", n="many"), ValueError, "n many"),
    (lambda fl: fl.simulate("cholesky", n=[]), ValueError, "n is an empty list"),
    (lambda fl: fl.simulate("cholesky", n=1j), TypeError, "n is a complex"),
    (lambda fl: fl.simulate("cholesky", seeds=0), ValueError, "seeds is 0"),
    (lambda fl: fl.simulate("cholesky", seeds=[0]), ValueError, "from 1 on"),
    (lambda fl: fl.simulate("cholesky", workers=0), ValueError, "workers is 0"),
    (lambda fl: fl.simulate("cholesky", csv="file"), ValueError, 'no setting "csv"'),
    (lambda fl: fl.simulate("cholesky", gpus=0, streams=2), ValueError, "streams has no effect here"),
    (lambda fl: fl.simulate("cholesky", machine={"host": {}}), ValueError, "the machine:"),
    (lambda fl: fl.simulate("cholesky", machine={"host": {"cores": object()}}), TypeError, "cores of the machine"),
    (lambda fl: fl.simulate(7), TypeError, "the workload is a int"),
    (lambda fl: fl.simulate([]), ValueError, "workload is an empty list"),
    (lambda fl: fl.simulate(x for x in ()), ValueError, "no tasks"),
    (lambda fl: fl.simulate(x for x in "ab"), TypeError, "task 0 is a str"),
    (lambda fl: fl.simulate([fl.SimTask()]), ValueError, "task 0 has neither a duration nor flops"),
    (lambda fl: fl.simulate([fl.SimTask(duration=-1)]), ValueError, "the duration of task 0 is -1"),
    (lambda fl: fl.simulate([fl.SimTask(duration={})]), ValueError, "task 0 runs on no processor"),
    (lambda fl: fl.simulate([fl.SimTask(reads="x", duration=1)]), TypeError, "write ['x']"),
    (lambda fl: fl.simulate([fl.SimTask(duration=1, after=[fl.SimTask()])]), ValueError, "does not come earlier"),
    (lambda fl: fl.simulate([fl.SimTask(duration=1)] * 2), ValueError, "task 1 is the same object as task 0"),
    (lambda fl: fl.Workload.from_tasks([fl.SimTask(reads=["x"], duration=1)], sizes={"y": 1}), ValueError, "uses 'x'"),
    (lambda fl: fl.Workload.from_tasks([fl.SimTask(reads=["x"], duration=1)], sizes={"x": 1.5}), ValueError, "'x' is 1.5"),
    (lambda fl: fl.simulate("cholesky", ranks=2, scheduler=fl.Policy), ValueError, "for one machine"),
    (lambda fl: fl.simulate("cholesky", scheduler=fl.Policy), NotImplementedError, "no function ready"),
])
def test_mistakes(fl, call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call(fl)


def test_ctrl_c_ends_a_sweep(fl):
    began = time.monotonic()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fl.simulate("cholesky", n=57_600, tile=480, machine="v100-pcie", memory="500MB", scheduler="what-if", seeds=50)
    assert time.monotonic() - began < 5
    assert fl.simulate("cholesky", n=960, tile=960)[0]["finished"]


def test_networkx_is_not_imported(fl):
    code = "import sys, fairlead; sys.exit(any(name in sys.modules for name in ('networkx', 'pandas', 'pyarrow')))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0

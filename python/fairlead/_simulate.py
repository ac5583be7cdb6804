"""simulate: task graphs on simulated machines, for all combinations of settings."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import numbers
import os
import threading
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from . import _library
from . import _simulation_library as _lib
from ._arrays import is_array, is_mapping, is_path, is_sequence, path_text
from ._machine import machine_text
from ._policy import Policy, PolicyRun
from ._simulation_table import SimulationTable
from ._workload import SimTask, Workload

_LISTS = (list, tuple, range, set, frozenset, np.ndarray)


@dataclasses.dataclass
class _Point:
    """A combination of settings without scheduler and seed. Its simulation is made by its first run."""

    workload: Workload
    given: dict[str, Any]
    runs_left: int = 0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    simulation: _lib.SimulationHandle | None = None

    def start_run(self) -> _lib.SimulationHandle:
        with self.lock:
            if self.simulation is None:
                settings = {key: value for key, value in self.given.items() if key != "machine"}
                machine = self.given.get("machine")
                if isinstance(machine, str):
                    settings["machine"] = machine
                texts = {key.replace("_", "-"): _text(value, key) for key, value in settings.items()}
                text = None if machine is None or isinstance(machine, str) else machine_text(machine)
                self.simulation = _lib.SimulationHandle(self.workload.handle, texts, text)
            return self.simulation

    def end_run(self) -> None:
        with self.lock:
            self.runs_left -= 1
            if self.runs_left == 0:
                self.simulation = None


@dataclasses.dataclass
class _Run:
    point: _Point
    scheduler: str | type[Policy]
    seed: int

    def result(self, order: bool, cancelled: Any) -> dict[str, Any]:
        simulation = self.point.start_run()
        if isinstance(self.scheduler, str):
            return simulation.run(self.scheduler, self.seed, order, cancelled)
        policy = PolicyRun(self.scheduler())
        return policy.result(lambda: simulation.run("", self.seed, order, cancelled, policy.functions))


def _text(value: Any, key: str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (str, numbers.Real)):
        return str(value)
    if is_path(value):
        return path_text(value)
    raise TypeError(f"{key} is a {type(value).__name__}: pass text, a number, or a list of them")


def schedulers() -> list[str]:
    """
    The names of all scheduling policies of the library.

    Examples
    --------
    >>> import fairlead as fl
    >>> "darts" in fl.schedulers()
    True
    """
    return _lib.names("scheduler")


def machines() -> list[str]:
    """
    The names of all machines that are included in the library.

    Examples
    --------
    >>> import fairlead as fl
    >>> "summit" in fl.machines()
    True
    """
    return _lib.names("machine")


def workloads() -> list[str]:
    """
    The names of all workloads of the library.

    Examples
    --------
    >>> import fairlead as fl
    >>> "cholesky" in fl.workloads()
    True
    """
    return _lib.names("workload")


def _is_policy(scheduler: Any) -> bool:
    return isinstance(scheduler, type) and issubclass(scheduler, Policy)


def _is_list(value: Any) -> bool:
    return isinstance(value, _LISTS)


def _values(value: Any) -> list[Any]:
    """The elements of a list of values, or the value alone."""
    if not _is_list(value):
        return [value]
    return value.tolist() if is_array(value) else list(value)


def _workload_of(given: Any) -> Workload:
    if isinstance(given, Workload):
        return given
    if isinstance(given, str):
        return Workload.named(given)
    if is_path(given):
        return Workload.open(given)
    if callable(getattr(given, "nodes", None)):
        return Workload.from_graph(given)
    if isinstance(given, Iterable):
        return Workload.from_tasks(cast("Iterable[Any]", given))
    raise TypeError(f"the workload is a {type(given).__name__}: pass a name, a path, a Workload, a graph, or tasks")


def _workloads(given: Any) -> list[Workload]:
    if not is_sequence(given) or (given and isinstance(given[0], SimTask)):
        return [_workload_of(given)]
    return [_workload_of(one) for one in given]


def _seeds(given: Any) -> list[int]:
    if isinstance(given, numbers.Integral):
        if given < 1:
            raise ValueError(f"seeds is {given}: it is the number of runs, or a list of seeds")
        return list(range(1, int(given) + 1))
    seeds = [int(seed) for seed in given]
    if not seeds or min(seeds) < 1:
        raise ValueError(f"the seeds are {seeds}: they are numbers from 1 on")
    return seeds


def simulate(
    workload: Any,
    *,
    scheduler: Any = "auto",
    seeds: Any = 1,
    machine: Any = None,
    workers: int | None = None,
    order: bool = False,
    **settings: Any,
) -> SimulationTable:
    """
    Simulate task graphs on machines that need not exist, under scheduling policies, in virtual time.

    Parameters
    ----------
    workload : str, path, Workload, graph, iterable of SimTask, or list of these
        The name of a workload of the library, such as "cholesky" or "qr:tree=binary"; the path of a file for `Workload.open`; a
        graph of networkx for `Workload.from_graph`; or tasks.
    scheduler : str, subclass of Policy, or list, optional
        Policies; "all": those that `schedulers` lists. The default "auto" is the policy of a real run.
    seeds : int or list of int, optional
        The number of runs with different seeds, or these seeds.
    machine : str, dict or list, optional
        A machine that ``fairlead machines`` lists, the path of a machine file, or its content as a dictionary.
    workers : int, optional
        The number of simultaneous simulations; by default the number of cores.
    order : bool, optional
        Add a column ``order``: the tasks by start time, as (number of the task, worker, start, end).
    **settings
        Options of ``fairlead simulate``, with underscores: ``n``, ``tile``, ``precision``, ``gpus``, ``cores``, ``memory``,
        ``host_memory``, ``noise``, ``ranks``, ... None is the default.

    Each value may be a list, tuple, range, set or array: then all combinations are simulated.

    Returns
    -------
    SimulationTable
        A row for each combination and seed: the settings, and the fields that ``fairlead simulate --json`` writes.

    Examples
    --------
    >>> import fairlead as fl
    >>> table = fl.simulate("cholesky", n=[4800, 9600], tile=960, machine="v100-pcie", gpus=2, scheduler=["eager", "darts"])
    >>> print(table)                             # doctest: +ELLIPSIS
       n  scheduler  seconds  gflops  percent_of_peak  bytes_to_devices
    4800  eager  ...
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}: at least one is needed")
    graphs = _workloads(workload)
    axes = {key: _values(value) for key, value in {"machine": machine, **settings}.items()}
    policies = [one if _is_policy(one) else _text(one, "scheduler") for one in _values(scheduler)]
    if "all" in policies:
        policies = [*(one for one in policies if one != "all"), *schedulers()]
    for key, values in {"workload": graphs, "scheduler": policies, **axes}.items():
        if not values:
            raise ValueError(f"{key} is an empty list")
    runs: list[_Run] = []
    for which, values in itertools.product(graphs, itertools.product(*axes.values())):
        given = {key: value for key, value in zip(axes, values) if value is not None}
        point = _Point(which, given)
        new = [_Run(point, one, seed) for one in policies for seed in _seeds(seeds)]
        point.runs_left = len(new)
        runs += new
    varied = [key for key, values in {"workload": graphs, **axes, "scheduler": policies}.items() if len(values) > 1]
    return SimulationTable(_run_all(runs, workers or len(os.sched_getaffinity(0)), order), varied)


def _name_of(value: Any) -> Any:
    """Of a machine that is a dictionary; otherwise the value."""
    return value.get("name", "machine") if is_mapping(value) else value


def _run_all(runs: list[_Run], workers: int, order: bool) -> list[dict[str, Any]]:
    stop = threading.Event()

    def is_cancelled(_: Any) -> bool:
        return stop.is_set()

    cancelled = _library.CancelFunction(is_cancelled)

    def run(one: _Run) -> dict[str, Any]:
        fields = one.result(order, cancelled)
        one.point.end_run()
        settings = {key: _name_of(value) for key, value in one.point.given.items()}
        return {"workload": one.point.workload.name, **settings, "scheduler": "", "seed": one.seed, **fields}

    pool = concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="fairlead-simulation")
    try:
        futures = [pool.submit(run, one) for one in runs]
        concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_EXCEPTION)
        for future in futures:
            if future.done() and future.exception() is not None:
                raise future.exception()  # type: ignore[misc]
        return [future.result() for future in futures]
    finally:  # also after an exception of a signal handler, such as KeyboardInterrupt
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)

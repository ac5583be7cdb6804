"""Workloads of simulations: tasks and data that a program states."""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _simulation_library as _lib

Duration = Union[float, Mapping[str, float], None]  # noqa: UP007 - Python 3.9 evaluates it

# A duration without a processor holds on all of these.
_ALL_KINDS = ("cpu", "cuda", "opencl")


@dataclasses.dataclass(eq=False)
class SimTask:
    """
    A task of a workload.

    Parameters
    ----------
    reads, writes, updates, commutes : sequence of hashable, optional
        The data that it reads, replaces, changes, or changes in any order with its neighbours. A datum is any key; `sizes` of
        `Workload.from_tasks` has its bytes. One that is in both `reads` and `writes` is updated.
    duration : float or dict, optional
        In seconds: on any processor, or by processor. A processor has its name in the machine file, or that of its kind:
        "cpu", "cuda", "opencl". Without a duration, `flops` at the machine's rate of the kernel determine it.
    kind : str, optional
        The name of the kernel.
    flops : float, optional
        Operations.
    priority : int, optional
    after : sequence of SimTask, optional
        Earlier tasks that must have finished, in addition to those that follow from the data.
    name : str, optional
        For messages.

    Examples
    --------
    >>> import fairlead as fl
    >>> a = fl.SimTask(writes=["x"], duration=1.0)
    >>> b = fl.SimTask(reads=["x"], duration={"cpu": 2.0, "cuda": 0.5}, kind="gemm", after=[a])
    """

    reads: Sequence[Hashable] = ()
    writes: Sequence[Hashable] = ()
    duration: Duration = None
    kind: str = "task"
    updates: Sequence[Hashable] = ()
    commutes: Sequence[Hashable] = ()
    flops: float | None = None
    priority: int = 0
    after: Sequence[SimTask] = ()
    name: str = ""


class _Arrays:
    """Collects the arrays of a task list."""

    def __init__(self, size_of: Callable[[Hashable], int], title: str) -> None:
        self._size_of = size_of
        self.title = title
        self._data: dict[Hashable, int] = {}
        self._sizes: list[int] = []
        self._kernels: dict[str, int] = {}
        self._processors: dict[str, int] = {}
        self._numbers: dict[SimTask, int] = {}
        self._durations: list[Duration] = []
        self._columns: dict[str, list[Any]] = {name: [] for name in ("kernels", "priorities", "flops")}
        self._accessed: list[int] = []
        self._modes: list[int] = []
        self._first_accesses = [0]
        self._predecessors: list[int] = []
        self._first_predecessors = [0]

    def add(self, task: Any) -> None:
        if not isinstance(task, SimTask):
            raise TypeError(f"task {len(self._numbers)} is a {type(task).__name__}: a workload consists of SimTask objects")
        number = len(self._numbers)
        if task in self._numbers:
            raise ValueError(f"{self._text(task, number)} is the same object as task {self._numbers[task]}")
        for datum, mode in self._accesses(task):
            self._accessed.append(self._datum(datum, task, number))
            self._modes.append(mode)
        self._first_accesses.append(len(self._accessed))
        for before in task.after:
            if before not in self._numbers:
                raise ValueError(f"{self._text(task, number)}: `after` has a task that does not come earlier")
            self._predecessors.append(self._numbers[before])
        self._first_predecessors.append(len(self._predecessors))
        self._durations.append(self._duration(task, number))
        self._columns["kernels"].append(self._kernels.setdefault(str(task.kind), len(self._kernels)))
        self._columns["priorities"].append(task.priority)
        self._columns["flops"].append(0.0 if task.flops is None else task.flops)
        self._numbers[task] = number

    @staticmethod
    def _text(task: SimTask, number: int) -> str:
        return f"task {number}" + (f" ({task.name})" if task.name else "")

    @staticmethod
    def _accesses(task: SimTask) -> Iterable[tuple[Hashable, int]]:
        modes: dict[Hashable, int] = {}
        for data, mode in (
            (task.reads, _lib.READ),
            (task.writes, _lib.WRITE),
            (task.updates, _lib.READ_WRITE),
            (task.commutes, _lib.COMMUTATIVE),
        ):
            if isinstance(data, (str, bytes)):
                raise TypeError(f"the data of a task are a sequence: write [{data!r}]")
            for datum in data:
                modes[datum] = mode if modes.get(datum, mode) == mode else max(_lib.READ_WRITE, mode)
        return modes.items()

    def _datum(self, datum: Hashable, task: SimTask, number: int) -> int:
        if datum not in self._data:
            try:
                size = self._size_of(datum)
            except KeyError:
                raise ValueError(f"{self._text(task, number)} uses {datum!r}, whose size is not in `sizes`") from None
            if not isinstance(size, numbers.Real) or size != int(size) or size < 0:
                raise ValueError(f"the size of {datum!r} is {size!r}: it is a number of bytes")
            self._data[datum] = len(self._data)
            self._sizes.append(int(size))
        return self._data[datum]

    def _duration(self, task: SimTask, number: int) -> Duration:
        duration = task.duration
        if duration is None:
            if task.flops is None:
                raise ValueError(f"{self._text(task, number)} has neither a duration nor flops")
            return None
        for processor, seconds in duration.items() if isinstance(duration, Mapping) else [("", duration)]:
            if not isinstance(seconds, numbers.Real) or not 0 <= seconds < math.inf:
                raise ValueError(f"the duration of {self._text(task, number)} is {seconds!r}: it is in seconds, from 0 on")
            for name in [processor] if processor else _ALL_KINDS:
                self._processors.setdefault(str(name), len(self._processors))
        if isinstance(duration, Mapping) and not duration:
            raise ValueError(f"{self._text(task, number)} runs on no processor: its duration is an empty dictionary")
        return duration

    def handle(self) -> _lib.WorkloadHandle:
        if not self._numbers:
            raise ValueError("the workload has no tasks")
        seconds = np.full((len(self._durations), len(self._processors)), np.nan)
        for row, duration in zip(seconds, self._durations):
            if isinstance(duration, Mapping):
                for processor, value in duration.items():
                    row[self._processors[str(processor)]] = value
            elif duration is not None:
                row[:] = duration
        arrays = {
            "data_bytes": np.array(self._sizes, dtype=np.uint64),
            "task_kernels": np.array(self._columns["kernels"]),
            "first_accesses": np.array(self._first_accesses),
            "accessed_data": np.array(self._accessed),
            "access_modes": np.array(self._modes),
            "priorities": np.array(self._columns["priorities"]),
            "flops": np.array(self._columns["flops"], dtype=float),
            "seconds": seconds,
        }
        if self._predecessors:
            arrays["first_predecessors"] = np.array(self._first_predecessors)
            arrays["predecessors"] = np.array(self._predecessors)
        texts = {
            "data_names": [str(datum) for datum in self._data],
            "kernel_names": list(self._kernels),
            "processor_names": list(self._processors),
        }
        return _lib.WorkloadHandle.from_arrays(self.title, arrays, texts)


class Workload:
    """
    A task graph for `simulate`. The functions `from_...` and `open` make one.

    Attributes
    ----------
    name : str
    """

    def __init__(self, name: str, handle: _lib.WorkloadHandle) -> None:
        self.name = name
        self.handle = handle

    def __repr__(self) -> str:
        return f"Workload({self.name!r})"

    @classmethod
    def named(cls, name: str) -> Workload:
        """A workload of the library, with options after its name: ``"qr:tree=binary"``."""
        return cls(name, _lib.WorkloadHandle.named(name))

    @classmethod
    def from_tasks(
        cls,
        tasks: Iterable[SimTask],
        *,
        sizes: Mapping[Any, int] | Callable[[Any], int] | int = 0,
        name: str = "tasks",
    ) -> Workload:
        """
        A workload of tasks in program order. Tasks that use the same data depend on each other as in a sequential program.

        Parameters
        ----------
        tasks : iterable of SimTask
            For example a generator.
        sizes : mapping, function or int, optional
            The bytes of each datum, or those of all. A datum that is written before it is read has no value at first.
        name : str, optional

        Examples
        --------
        >>> import fairlead as fl
        >>> chain = (fl.SimTask(updates=["x"], duration=2.0) for _ in range(3))
        >>> fl.simulate(fl.Workload.from_tasks(chain, sizes={"x": 8}), machine="griffon", cores=2)["seconds"]
        [6.0]
        """
        def size_of(datum: Any) -> int:
            if callable(sizes):
                return sizes(datum)
            return sizes[datum] if isinstance(sizes, Mapping) else sizes

        arrays = _Arrays(size_of, name)
        for task in tasks:
            arrays.add(task)
        return cls(name, arrays.handle())

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        *,
        duration: str = "duration",
        bytes: str = "bytes",
        flops: str = "flops",
        kind: str = "kind",
        priority: str = "priority",
        default_duration: Duration = None,
        name: str | None = None,
    ) -> Workload:
        """
        A workload of a directed graph as networkx has them: nodes are tasks, and edges are dependencies.

        Parameters
        ----------
        graph : graph with ``nodes(data=True)`` and ``edges(data=True)``
        duration, flops, kind, priority : str, optional
            Names of the attributes of nodes for these properties of `SimTask`.
        bytes : str, optional
            Name of the attribute with sizes. On an edge: of a datum that the first task writes and the second one reads. On a
            node: of its result, which all tasks read that follow it by edges without a size.
        default_duration : float or dict, optional
            Of nodes without the attribute.
        """
        from ._workload_files import graph_tasks

        attributes = {"duration": duration, "bytes": bytes, "flops": flops, "kind": kind, "priority": priority}
        tasks, sizes = graph_tasks(graph, attributes, default_duration)
        return cls.from_tasks(tasks, sizes=sizes, name=name or str(getattr(graph, "name", "") or "graph"))

    @classmethod
    def from_dot(cls, text: str, *, name: str | None = None, **attributes: Any) -> Workload:
        """A workload of a directed graph in the language DOT of Graphviz. ``attributes``: as for `from_graph`."""
        from ._dot import read_dot

        graph = read_dot(text, name or "DOT text")
        return cls.from_graph(graph, name=name or graph.name or None, **attributes)

    @classmethod
    def from_wfcommons(
        cls, text: str, *, processor: str = "cpu", default_duration: float | None = None, name: str | None = None
    ) -> Workload:
        """
        A workflow of WfCommons, as JSON text (WfFormat 1.3 to 1.6): its tasks, the files that they read and write, and their
        measured runtimes.

        Parameters
        ----------
        processor : str, optional
            The kind of processor that runs the tasks.
        default_duration : float, optional
            Of tasks without a runtime; by default they are an error.
        """
        from ._workload_files import wfcommons_tasks

        title, tasks, sizes = wfcommons_tasks(text, name or "WfCommons text", processor, default_duration)
        return cls.from_tasks(tasks, sizes=sizes, name=name or title)

    @classmethod
    def from_starpu(
        cls,
        text: str,
        *,
        processors: Mapping[int, str] | None = None,
        time_unit: float = 1e-3,
        name: str | None = None,
    ) -> Workload:
        """
        The tasks of a StarPU run, as ``starpu_fxt_tool`` writes them to ``tasks.rec``.

        Parameters
        ----------
        processors : mapping, optional
            The processor of each StarPU worker: ``{0: "cuda", 1: "cpu"}``. A task can then run on each processor that ran a
            task of its kernel and footprint, and takes the mean time of these. By default all processors are alike, and a task
            takes the time that was measured.
        time_unit : float, optional
            Seconds in a unit of StartTime and EndTime; milliseconds by default.
        """
        from ._workload_files import starpu_tasks

        tasks, sizes = starpu_tasks(text, name or "tasks.rec", processors, time_unit)
        return cls.from_tasks(tasks, sizes=sizes, name=name or "tasks.rec")

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> Workload:
        """
        A workload in a file: ``.dot`` or ``.gv``, ``.json`` of WfCommons, ``.rec`` of StarPU; all others are flows that a
        program of Fairlead recorded. ``options``: of the function ``from_...``.
        """
        path = os.fspath(path)
        readers: dict[str, Callable[..., Workload]] = {
            ".dot": cls.from_dot,
            ".gv": cls.from_dot,
            ".json": cls.from_wfcommons,
            ".rec": cls.from_starpu,
        }
        reader = readers.get(os.path.splitext(path)[1].lower())
        if reader is None:
            if options:
                raise TypeError(f"{path} is read as a recorded flow, which takes no options")
            return cls(path, _lib.WorkloadHandle.recorded(path))
        with open(path, encoding="utf-8") as file:
            try:
                text = file.read()
            except UnicodeDecodeError as error:
                raise ValueError(f"{path} is not text in UTF-8: {error.reason} at byte {error.start}") from None
        return reader(text, name=path, **options)

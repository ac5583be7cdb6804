"""Scheduling policies in Python, for simulations."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_uint8, c_uint32
from typing import Any, NamedTuple

from . import _library
from . import _simulation_library as _lib

_RESIDENCY = ("absent", "in flight", "valid", "evicting")
_MODES = ("read", "write", "read-write", "commutative")


class SimWorker(NamedTuple):
    """A worker of a simulation."""

    number: int
    is_device: bool
    node: int
    """The memory node where its tasks work."""


class SimView:
    """The state of a simulated run, for its policy. Use it only while the policy is called.

    Tasks, data, workers and memory nodes are numbers; tasks and data in program order.

    Attributes
    ----------
    workers : list of SimWorker
        The cores first, then the devices.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self.workers: list[SimWorker] = []

    def _open(self, handle: Any) -> None:
        self._handle = handle
        if not self.workers:
            count = _library.library.fairlead_policy_view_workers(handle, None, 0)
            found = (_lib.WorkerStruct * count)()
            _library.library.fairlead_policy_view_workers(handle, found, count)
            self.workers = [SimWorker(i, bool(one.is_device), one.node) for i, one in enumerate(found)]

    @property
    def now(self) -> float:
        """The time of the run in seconds."""
        return float(_library.library.fairlead_policy_view_now(self._handle))

    def can_run(self, task: int, worker: int) -> bool:
        """Whether the worker can run this unfinished task."""
        return bool(_library.library.fairlead_policy_view_can_run(self._handle, task, worker))

    def estimate(self, task: int, worker: int) -> float:
        """The predicted duration in seconds; NaN if the worker cannot run the task."""
        return float(_library.library.fairlead_policy_view_estimate(self._handle, task, worker))

    def priority(self, task: int) -> int:
        return int(_library.library.fairlead_policy_view_priority(self._handle, task))

    def kind(self, task: int) -> str:
        """The name of the kernel of an unfinished task."""
        name = _library.library.fairlead_policy_view_kernel(self._handle, task)
        return "" if name is None else str(name, "utf-8", "replace")

    def missing_bytes(self, task: int, node: int) -> int:
        """The bytes that the task reads and that are absent from the node."""
        return int(_library.library.fairlead_policy_view_missing_bytes(self._handle, task, node))

    def accesses(self, task: int) -> list[tuple[int, str]]:
        """The data of an unfinished task, each with "read", "write", "read-write" or "commutative"."""
        count = _library.library.fairlead_policy_view_accesses(self._handle, task, None, None, 0)
        data, modes = (c_uint32 * count)(), (c_uint8 * count)()
        _library.library.fairlead_policy_view_accesses(self._handle, task, data, modes, count)
        return [(datum, _MODES[mode]) for datum, mode in zip(data, modes)]

    def bytes(self, datum: int) -> int:
        return int(_library.library.fairlead_policy_view_bytes(self._handle, datum))

    def residency(self, datum: int, node: int) -> str:
        """ "absent", "in flight", "valid" or "evicting"."""
        return _RESIDENCY[int(_library.library.fairlead_policy_view_residency(self._handle, datum, node))]

    def transfer_time(self, datum: int, node: int) -> float:
        """Seconds of a copy of the datum to the node on an idle link; 0 if it is there."""
        return float(_library.library.fairlead_policy_view_transfer_time(self._handle, datum, node))


class Policy:
    """
    A scheduling policy for `simulate`: derive a class, and pass the class as ``scheduler``. Each run makes an object.

    ``ready`` and ``pick`` are required. The functions of policies in C++ have the same names and meanings.

    Attributes
    ----------
    view : SimView
    name : str
        In results; by default that of the class.

    Examples
    --------
    >>> import fairlead as fl
    >>> class Shortest(fl.Policy):
    ...     def __init__(self):
    ...         self.tasks = []
    ...     def ready(self, task, released_by):
    ...         self.tasks.append(task)
    ...     def pick(self, worker, must):
    ...         able = [task for task in self.tasks if self.view.can_run(task, worker)]
    ...         if not able:
    ...             return None
    ...         best = min(able, key=lambda task: self.view.estimate(task, worker))
    ...         self.tasks.remove(best)
    ...         return best
    >>> table = fl.simulate("cholesky", n=4800, tile=960, machine="v100-pcie", gpus=1, scheduler=[Shortest, "eager"])
    >>> table["scheduler"]
    ['Shortest', 'eager']
    """

    name: str = ""
    view: SimView

    def attached(self) -> None:
        """Called once, before all other functions; ``view`` is available from now on."""

    def ready(self, task: int, released_by: int | None) -> None:
        """All predecessors of the task have finished, the last one on the worker ``released_by``."""
        raise NotImplementedError(f"{type(self).__name__} has no function ready")

    def finished(self, task: int, worker: int, seconds: float) -> None:
        """The task has finished after so many seconds."""

    def pick(self, worker: int, must: bool) -> int | None:
        """The next task for the worker, or None: none now. ``must``: nothing runs and nothing is in flight; None then selects
        the oldest ready task."""
        raise NotImplementedError(f"{type(self).__name__} has no function pick")

    def victim(self, node: int, candidates: Sequence[int]) -> int:
        """The datum to evict from the node, one of the candidates; the least recently used one is the first."""
        return candidates[0]

    def upcoming(self, worker: int) -> Sequence[int]:
        """The data that tasks of this worker will read next, most urgent first; they are prefetched."""
        return ()


class PolicyRun:
    """A policy in one run: the functions for the library, and the exception that one of them raised."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        policy.view = SimView()
        self._raised: BaseException | None = None
        self.functions = _lib.PolicyStruct(
            struct_bytes=ctypes.sizeof(_lib.PolicyStruct), name=(policy.name or type(policy).__name__).encode()
        )
        for name, function_type in _lib.POLICY_FUNCTIONS.items():
            if name in ("attached", "ready", "pick") or getattr(type(policy), name) is not getattr(Policy, name):
                setattr(self.functions, name, function_type(self._guarded(getattr(self, f"_{name}"))))

    def result(self, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """run(), or the exception of the policy."""
        try:
            return run()
        except RuntimeError:
            if self._raised is not None:
                raise self._raised from None
            raise

    def _guarded(self, function: Callable[..., None]) -> Callable[..., int]:
        def call(_: Any, view: Any, *arguments: Any) -> int:
            self._policy.view._open(view)
            try:
                function(*arguments)
            except BaseException as error:  # noqa: BLE001 - result() raises it
                self._raised = self._raised or error
                return 1
            return 0

        return call

    def _attached(self) -> None:
        self._policy.attached()

    def _ready(self, task: int, released_by: int) -> None:
        self._policy.ready(task, None if released_by < 0 else released_by)

    def _finished(self, task: int, worker: int, seconds: float) -> None:
        self._policy.finished(task, worker, seconds)

    def _pick(self, worker: int, must: int, task: Any) -> None:
        picked = self._policy.pick(worker, bool(must))
        task[0] = -1 if picked is None else picked

    def _victim(self, node: int, candidates: Any, count: int, datum: Any) -> None:
        datum[0] = self._policy.victim(node, candidates[:count])

    def _upcoming(self, worker: int, data: Any, capacity: int, count: Any) -> None:
        wanted = list(self._policy.upcoming(worker))[:capacity]
        for i, datum in enumerate(wanted):
            data[i] = datum
        count[0] = len(wanted)

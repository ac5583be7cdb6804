"""Runtimes: workers, memory, and a file to spill to."""

from __future__ import annotations

import atexit
import collections
import ctypes
import dataclasses
import html
import json
import operator
import os
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from . import _task_library as tasks
from ._arrays import ELEMENTS, is_sequence
from ._errors import Calls, check
from ._flow import Flow
from ._library import library
from ._solver import Memory, set_resources
from ._task_data import Datum, TiledMatrix, element_type, single_datum

LAST_PORT = 65535

_open: weakref.WeakSet[Runtime] = weakref.WeakSet()


class _RuntimeCalls(Calls):
    """A signal, such as that of Ctrl-C, also ends the bodies that are running."""

    def __init__(self, flows: set[Flow]) -> None:
        super().__init__()
        self._flows = flows

    def keep(self, error: BaseException) -> None:
        super().keep(error)
        for flow in tuple(self._flows):
            flow._interrupt(type(error))  # noqa: SLF001


@dataclasses.dataclass(frozen=True)
class RuntimeStatistics:
    """What a runtime has done so far. Sizes are in bytes.

    Attributes
    ----------
    workers, devices : int
    capacity, peak_memory : int
        What tasks can use at the same time in main memory, and what they have used.
    tasks, tasks_cancelled : int
        Finished, and finished without having run.
    bytes_read, bytes_written : int
        From and to the spill file.
    bytes_moved : int
        Over all links, also those of devices.
    evictions : int
    """

    workers: int
    devices: int
    capacity: int
    peak_memory: int
    tasks: int
    tasks_cancelled: int
    bytes_read: int
    bytes_written: int
    bytes_moved: int
    evictions: int


class LiveAddress(str):
    """The address of a live page. A notebook shows it as a link."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        link = html.escape(self)
        return f'<a href="{link}" target="_blank" rel="noopener noreferrer">{html.escape(self.split("?")[0])}</a>'


class Runtime:
    """
    Workers that run tasks, and memory for their data, which may be larger: the rest is in a file. Use it in a ``with`` block.

    Parameters
    ----------
    memory : int or str, optional
        Limit for the data in memory, in bytes or as ``"2GiB"``. Default: what is free.
    workers : int, optional
        Threads that compute. Default: one for each core.
    settings : mapping, optional
        Other settings: ``{"disk-directory": "/scratch"}``.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> @fl.codelet
    ... def scale(x: fl.InOut, f: float):
    ...     x *= f
    >>> with fl.Runtime(memory="16MiB") as rt:
    ...     a = rt.tiled(np.ones((100, 100)), tile=40)
    ...     with rt.flow() as flow:
    ...         for t in a.tiles():
    ...             flow.submit(scale, t, 2.0)
    ...     np.asarray(a).sum()
    20000.0
    """

    def __init__(self, *, memory: Memory = None, workers: int | None = None, settings: Mapping[str, object] | None = None) -> None:
        self.flows: set[Flow] = set()
        self._calls = _RuntimeCalls(self.flows)
        self._process = os.getpid()
        self._matrices = 0
        # Objects to free: other threads, and bodies, must not wait for the library.
        self._garbage: collections.deque[tuple[Any, ...]] = collections.deque()
        self._kernels: dict[tuple[str, int], int] = {}
        given = tasks.RuntimeOptions()
        check(library.fairlead_runtime_options_init(ctypes.byref(given), ctypes.sizeof(given)))
        texts = set_resources(given, memory, workers, settings)
        pairs = [_library.Setting(os.fsencode(key), os.fsencode(text)) for key, text in texts.items()]
        given.settings = (_library.Setting * len(pairs))(*pairs)
        given.setting_count = len(pairs)
        given.own_thread = 1
        given.cancelled = self._calls.question
        handle = ctypes.c_void_p()
        self._handle: int | None = None
        check(library.fairlead_runtime_create(ctypes.byref(given), ctypes.byref(handle)))
        self._handle = handle.value
        _open.add(self)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._end()
        self.close()

    def tiled(
        self,
        a: Any,
        tile: int | tuple[int, int] = 512,
        dtype: npt.DTypeLike | None = None,
        *,
        lower: bool = False,
        name: str | None = None,
    ) -> TiledMatrix:
        """
        Make a matrix in tiles.

        Parameters
        ----------
        a : array or tuple of int
            The elements, which are copied; or the shape of a matrix of zeros.
        tile : int or tuple of int
            Rows and columns of a tile.
        dtype : dtype, optional
            Default: that of the array, or float64.
        lower : bool
            Only the tiles on and below the diagonal exist.
        name : str, optional
            For messages.
        """
        elements: np.ndarray[Any, Any] | None = None
        if is_sequence(a) and all(isinstance(n, (int, np.integer)) for n in a):
            shape = tuple(int(n) for n in a)
        else:
            elements = np.asarray(a)
            shape = elements.shape
        if len(shape) != 2 or min(shape) < 1:
            raise ValueError(f"the shape is {shape}: a matrix has two dimensions, and at least one element")
        sides = (tile, tile) if isinstance(tile, (int, np.integer)) else tuple(tile)
        if len(sides) != 2 or min(sides) < 1:
            raise ValueError(f"the tile is {tile}: it has a number of rows and one of columns")
        of_elements: npt.DTypeLike = np.float64 if elements is None else elements.dtype
        what = name or self._next_name()
        element = element_type(of_elements if dtype is None else dtype, what)
        sides = (min(int(sides[0]), shape[0]), min(int(sides[1]), shape[1]))
        matrix = TiledMatrix(self, (shape[0], shape[1]), element, sides, lower, elements is None, what)
        if elements is not None:
            matrix.write(elements)
        return matrix

    def data(self, a: Any, dtype: npt.DTypeLike | None = None, *, name: str | None = None) -> Datum:
        """
        Make a datum: an array that tasks use as a whole.

        Parameters
        ----------
        a : array or tuple of int
            An array, which is used in place: tasks change it, and it must not be changed or read otherwise until a wait. Or a
            shape: the runtime stores the array, whose elements are zero.
        dtype : dtype, optional
            For a shape. Default: float64.
        name : str, optional
            For messages.
        """
        return single_datum(self, a, dtype, name or self._next_name())

    def flow(self) -> Flow:
        """A new flow. Several flows of a runtime share its data, in the order of their submissions."""
        return Flow(self)

    def flush(self) -> None:
        """Give the library the tasks that flows have collected."""
        for flow in tuple(self.flows):
            flow.flush()
        self._free_garbage()

    def wait(self) -> None:
        """Wait for the tasks of all flows. Raises as `Flow.wait`."""
        for flow in tuple(self.flows):
            flow.wait()

    def statistics(self) -> RuntimeStatistics:
        """Counters of the tasks and bytes so far."""
        counted = tasks.Statistics()
        self.call_with_runtime(library.fairlead_runtime_statistics, ctypes.byref(counted), ctypes.sizeof(counted))
        fields = [field[0] for field in counted._fields_[1:]]  # noqa: SLF001
        names = {"capacity_bytes": "capacity", "peak_bytes": "peak_memory"}
        return RuntimeStatistics(**{names.get(name, name): getattr(counted, name) for name in fields})

    def report(self) -> dict[str, Any]:
        """The counters of all links, memory nodes and workers."""
        text = ctypes.c_char_p()
        self.call_with_runtime(library.fairlead_runtime_report, ctypes.byref(text))
        assert text.value is not None
        return json.loads(text.value)  # type: ignore[no-any-return]

    def remove_checkpoint(self) -> None:
        """Remove the checkpoint of the setting ``checkpoint``, since the results are safe elsewhere."""
        self.call_with_runtime(library.fairlead_runtime_remove_checkpoint)

    def live(self, port: int = 0) -> LiveAddress:
        """
        Open a page about the run for a browser: progress, rate, memory, links, workers, and why nothing runs.

        The page lasts as long as the runtime. The settings ``live-address`` and ``live-token`` apply. In a notebook, the result
        is shown as a link.

        Parameters
        ----------
        port : int
            Default: a free one.

        Returns
        -------
        LiveAddress
            The address, a ``str``, which contains a random token. A second call returns the same one.

        Raises
        ------
        OSError
            The port is in use, or the system refuses a socket. The run is not affected.
        """
        if not 0 <= operator.index(port) <= LAST_PORT:
            raise ValueError(f"the port is {port}: give a number from 0 to {LAST_PORT}")
        address = ctypes.c_char_p()
        self.call_with_runtime(library.fairlead_runtime_live, port, ctypes.byref(address))
        assert address.value is not None
        return LiveAddress(address.value.decode())

    def close(self) -> None:
        """Wait for all tasks and end the workers. Data and flows cannot be used afterwards."""
        if self._handle is None:
            return
        try:
            self.wait()
        finally:
            self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        """Runs no more tasks."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is None or self._process != os.getpid():  # the child of a fork has no part in it
            return
        _open.discard(self)
        for flow in tuple(self.flows):
            library.fairlead_flow_cancel(flow._handle)  # noqa: SLF001
            flow.close()
        for kernel in self._kernels.values():
            library.fairlead_codelet_free(kernel)
        library.fairlead_runtime_free(handle)
        self._free_garbage()

    def kernel(self, kernel: Any, element: int) -> int:
        """The handle of a codelet of the library, for tiles of this type."""
        if element < 0:
            raise TypeError(f"{kernel.name} needs tiles of one type: {', '.join(map(str, ELEMENTS))}")
        key = kernel.name, element
        if key not in self._kernels:
            handle = ctypes.c_void_p()
            number = tasks.KERNELS.index(kernel.name)
            self.call_with_runtime(library.fairlead_codelet_kernel, number, element, ctypes.byref(handle))
            self._kernels[key] = handle.value or 0
        return self._kernels[key]

    def call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library, and raises what it reports."""
        if self._handle is None:
            raise ValueError("the runtime is closed")
        self.check(function(*arguments))

    def check(self, status: int) -> None:
        """Raises what a call of the library has reported, or a signal handler has raised during it."""
        self._calls.check(status)

    def call_with_runtime(self, function: Any, *arguments: Any) -> None:
        self._free_garbage()
        self.call(function, self._handle, *arguments)

    def _next_name(self) -> str:
        self._matrices += 1
        return f"data {self._matrices}"

    def free_later(self, free: Any, handle: int, kept: object) -> None:
        """Any thread, also in a body."""
        self._garbage.append((free, handle, kept))
        if self._handle is None:  # no task uses it
            self._free_garbage()

    def _free_garbage(self) -> None:
        while True:
            try:
                free, handle, _ = self._garbage.popleft()
            except IndexError:
                return
            free(handle)


@atexit.register
def _close_all() -> None:
    """A runtime that is still open at exit: its workers would call bodies in an interpreter that ends."""
    for runtime in tuple(_open):
        runtime._end()  # noqa: SLF001

"""What is called for each task, in Python: the same classes as in the compiled module ``_tasks``, which is faster.

`TaskBuffer` collects submissions in a list of words for ``fairlead_flow_submit_words``. A task that runs a body has one
argument: the number under which `_kept` has the objects that it needs.
"""

from __future__ import annotations

import array
import ctypes
import itertools
import sys
import time
from typing import Any

from . import _task_library as tasks
from ._library import library

# When collected tasks are submitted.
_WORDS_AT_ONCE, _SECONDS_AT_ONCE = 1 << 13, 0.002

# By number: arguments, keyword arguments, the flow and the codelet of a task that has not run.
_kept: dict[int, tuple[tuple[Any, ...], dict[str, Any] | None, TaskBuffer, Body]] = {}
_numbers = itertools.count(1)


class Handle:
    """A datum of the library."""

    __slots__ = ("_element", "_handle", "_layout", "_owner")

    def __init__(self, owner: Any, word: int, layout: Any, element: int) -> None:
        self._owner, self._handle, self._layout, self._element = owner, word, layout, element


class Grid:
    """The tiles of a matrix, row by row; None where there is none."""

    def __init__(self, tiles: list[Any], columns: int) -> None:
        self._tiles, self._columns = tiles, columns

    def __getitem__(self, at: tuple[int, int]) -> Any:
        if isinstance(at, tuple) and len(at) == 2:  # pyright: ignore[reportUnnecessaryIsInstance] - callers may pass anything
            row, column = at
            if type(row) is type(column) is int and 0 <= column < self._columns and 0 <= row < len(self._tiles) // self._columns:
                tile = self._tiles[row * self._columns + column]
                if tile is not None:
                    return tile
        return self._missing(at)

    def _missing(self, at: Any) -> Any:
        raise NotImplementedError


class Body:
    """The function of a codelet. ``modes``: by positional parameter, -1 for a value. ``list_mode``: of all further arguments."""

    _handle = 0

    def __init__(self, function: Any, modes: tuple[int, ...], list_mode: int, simple: bool) -> None:
        self.function, self._modes, self._list_mode, self._simple = function, modes, list_mode, simple

    def bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
        raise NotImplementedError

    def modes_of(self, arguments: tuple[Any, ...]) -> Any:
        """Pairs of a mode and an argument."""
        return itertools.zip_longest(self._modes, arguments, fillvalue=self._list_mode)


class KernelBase:
    """A kind of task of the library."""

    def __init__(self, number: int) -> None:
        self._number = number


class TaskBuffer:
    """Collects the tasks of a flow."""

    def __init__(self) -> None:
        self._handle = 0
        self._words: list[int] = []
        self._kernels: dict[tuple[int, int], int] = {}
        self._interrupted = False
        self._first = 0.0  # when the first of the collected tasks came

    def submit(self, codelet: Any, /, *arguments: Any, priority: int = 0, **named: Any) -> None:
        """
        Add a task. It may start at once, when the tasks before it with which it shares data have finished.

        Parameters
        ----------
        codelet : Codelet or Kernel
        *arguments
            A datum for each parameter annotated with In, Out or InOut, and values for the others, which the task keeps.
        priority : int
            Tasks with a higher one come first.
        """
        if self._handle == 0:
            raise ValueError("the flow is closed")
        if priority != ctypes.c_int32(priority).value:
            raise OverflowError("the priority is too large")
        last = []
        if isinstance(codelet, Body):
            keywords = None
            if named or not codelet._simple or len(arguments) != len(codelet._modes):
                arguments, keywords = codelet.bind(arguments, named)
            word, data = codelet._handle, [_word_of(x, "a task") for mode, x in codelet.modes_of(arguments) if mode >= 0]
            last = [next(_numbers)]
            _kept[last[0]] = arguments, keywords, self, codelet
        elif not isinstance(codelet, KernelBase):
            raise TypeError("submit() needs a codelet or a kernel first: decorate the function with fairlead.codelet")
        elif named:
            raise TypeError("a kernel has only tiles as arguments")
        else:
            data = [_word_of(tile, "a kernel") for tile in arguments]
            elements = {tile._element for tile in arguments}
            element = elements.pop() if len(elements) == 1 else -1
            key = codelet._number, element
            if key not in self._kernels:
                self._kernels[key] = self._kernel_word(codelet, element)
            word = self._kernels[key]
        frame = sys._getframe(1)
        head = (word, priority & 0xFFFFFFFFFFFFFFFF, self._file_word(frame.f_code.co_filename), frame.f_lineno)
        now = time.monotonic()
        self._first = self._first if self._words else now
        self._words += (*head, len(data) + (len(last) << 32), *data, *last)
        if len(self._words) >= _WORDS_AT_ONCE or now - self._first >= _SECONDS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Give the library the tasks that were collected. Other functions do this when it is needed."""
        words, self._words = self._words, []
        if not words:
            return
        packed = array.array("Q", words)
        submitted = ctypes.c_size_t()
        address = packed.buffer_info()[0]
        status = library.fairlead_flow_submit_words(self._handle, address, len(packed), ctypes.byref(submitted))
        if submitted.value * tasks.HEAD_WORDS < len(words):
            _forget(words, submitted.value)
        self._check(status)

    def _interrupt(self, _: Any) -> None:
        """Start no more bodies. The compiled module also raises the exception in those that are running."""
        self._interrupted = True

    def _drop(self) -> None:
        words, self._words = self._words, []
        _forget(words, 0)

    def _check(self, status: int) -> None:
        raise NotImplementedError

    def _keep(self, error: BaseException) -> int:
        raise NotImplementedError

    def _kernel_word(self, kernel: Any, element: int) -> int:
        raise NotImplementedError

    def _file_word(self, name: str) -> int:
        raise NotImplementedError


def _word_of(given: Any, what: str) -> int:
    if isinstance(given, Handle):
        return given._handle
    raise TypeError(
        f"{what} is given a {type(given).__name__} where it needs a datum: a tile of a matrix, or the result of Runtime.data"
    )


def _forget(words: list[int], submitted: int) -> None:
    """Discards what the tasks after the first ones keep."""
    at = 0
    while at < len(words):
        counts = words[at + tasks.HEAD_WORDS - 1]
        data, arguments = counts & 0xFFFFFFFF, counts >> 32
        at += tasks.HEAD_WORDS + data + arguments
        if submitted > 0:
            submitted -= 1
        elif arguments:
            _kept.pop(words[at - 1], None)


def _run(call: Any) -> int:
    _, views, count, arguments, _ = call[0:5]
    values, keywords, flow, codelet = _kept.pop(ctypes.c_uint64.from_address(arguments).value)
    if flow._interrupted:
        return -1
    try:
        words = (ctypes.c_uint64 * (tasks.VIEW_WORDS * count)).from_address(views)
        at = 0
        given: list[Any] = []
        for mode, argument in codelet.modes_of(values):
            if mode >= 0:
                address, _, _, _, _, _, _, *strides = words[at : at + tasks.VIEW_WORDS]
                argument = argument._layout.view(address, *strides, mode != tasks.IN)
                at += tasks.VIEW_WORDS
            given.append(argument)
        codelet.function(*given, **(keywords or {}))
    except BaseException as error:  # noqa: BLE001 - it must not reach the library
        return flow._keep(error)
    return 0


def _release(_: int | None, arguments: int) -> None:
    _kept.pop(ctypes.c_uint64.from_address(arguments).value, None)


_body = tasks.BodyFunction(_run)
_release_body = tasks.ReleaseFunction(_release)
body_function: int = ctypes.cast(_body, ctypes.c_void_p).value or 0
release_function: int = ctypes.cast(_release_body, ctypes.c_void_p).value or 0


def connect(_: int) -> None:
    """The compiled module gets the address of ``fairlead_flow_submit_words``."""


"""From statuses of the library to exceptions and warnings of Python, and exceptions that functions of the program raise."""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
import warnings
from collections.abc import Generator, Iterable
from typing import Any, cast

import numpy as np

from . import _library


class SingularMatrixError(np.linalg.LinAlgError):
    """A pivot is exactly zero."""


class CheckpointStop(Exception):  # noqa: N818 - the run can be resumed
    """The run was stopped after a checkpoint, as requested; the same program resumes it."""


_EXCEPTIONS: dict[int, type[Exception]] = {
    _library.USAGE: ValueError,
    _library.CONFIG: ValueError,
    _library.INPUT: ValueError,
    _library.NUMERICAL: np.linalg.LinAlgError,
    _library.SINGULAR: SingularMatrixError,
    _library.MEMORY: MemoryError,
    _library.SYSTEM: OSError,
    _library.UNSUPPORTED: NotImplementedError,
    _library.STOPPED: CheckpointStop,
}


@functools.cache
def linalg_warning() -> type[Warning]:
    """The class of warnings, derived from SciPy's if SciPy is installed. SciPy is imported only when it is needed."""
    base: type[Warning] = RuntimeWarning
    with contextlib.suppress(ImportError):
        base = importlib.import_module("scipy.linalg").LinAlgWarning
    name, text = "LinAlgWarning", "The solution may be less accurate than it seems: the text states why."
    made: Any = type(name, (base,), {"__module__": "fairlead", "__doc__": text})
    return cast("type[Warning]", made)


def warn(texts: Iterable[str], stacklevel: int) -> None:
    """Issues a warning for each text. ``stacklevel``: 1 for the caller of this function."""
    for text in texts:
        warnings.warn(text[:1].upper() + text[1:] + ".", linalg_warning(), stacklevel=stacklevel + 1)


class Calls:
    """The calls with one object of the library, one at a time: keeps the first exception that is raised during a call.

    The library asks ``question`` every 50 ms, on the thread of the call, whether to cancel it. On the main thread this is when
    Python runs signal handlers, so that Ctrl-C raises KeyboardInterrupt there. The library is then asked to end the call, and
    `check` raises the exception.
    """

    def __init__(self) -> None:
        self._raised: BaseException | None = None
        self._lock = threading.Lock()
        answers = self._answers()
        next(answers)
        # Not a function: Python runs signal handlers before the first line of a function, where no `try` catches what they
        # raise. A generator is resumed inside its `try`.
        self.question = _library.CancelFunction(answers.send)

    def _answers(self) -> Generator[int, object, None]:
        while True:
            try:
                while True:
                    yield int(self._raised is not None)
            except GeneratorExit:
                return
            except BaseException as error:  # noqa: BLE001 - raised by a signal handler
                self.keep(error)

    def keep(self, error: BaseException) -> None:
        """Called on any thread."""
        with self._lock:
            if self._raised is None:
                self._raised = error

    def check(self, status: int) -> None:
        """Raises the exception of a call that returned this status."""
        raised, self._raised = self._raised, None
        if status == _library.OK:
            if raised is not None and not isinstance(raised, Exception):
                raise raised  # KeyboardInterrupt, too late for the library
            return
        if raised is not None:
            raise raised
        raise exception_of(status)


def exception_of(status: int) -> Exception:
    return _EXCEPTIONS.get(status, RuntimeError)(_library.error_text())


def check(status: int) -> None:
    """Raises the exception of a status."""
    if status != _library.OK:
        raise exception_of(status)

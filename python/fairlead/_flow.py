"""Flows: tasks in program order."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any

from ._library import library
from ._task_core import TaskBuffer

if TYPE_CHECKING:
    from ._runtime import Runtime

# Names of files for messages of the library, which keeps pointers to them.
_files: dict[str, ctypes.Array[ctypes.c_char]] = {}


class Flow(TaskBuffer):
    """
    Tasks in program order. Their accesses to data determine which of them may run at the same time. Made by `Runtime.flow`; use
    it in a ``with`` block, at whose end it waits.
    """

    def __new__(cls, runtime: Runtime) -> Flow:
        return super().__new__(cls)

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self._runtime = runtime
        self._failures: list[BaseException] = []
        self._lock = threading.Lock()
        handle = ctypes.c_void_p()
        runtime.call_with_runtime(library.fairlead_flow_create, ctypes.byref(handle))
        self._handle = handle.value or 0
        runtime.flows.add(self)

    def __enter__(self) -> Flow:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.wait()
            else:
                self.cancel()
        finally:
            self.close()

    def wait(self) -> None:
        """
        Wait until all tasks have finished.

        Raises
        ------
        Exception
            The first exception that a body raised, with its traceback. Its note names the task. Tasks that needed the results
            of this task did not run.
        """
        if self._handle == 0:
            raise ValueError("the flow is closed")
        self.flush()
        status = ctypes.c_int()
        try:
            self._runtime.call(library.fairlead_flow_wait, self._handle, ctypes.byref(status))
        except Exception as error:
            failures, self._failures = self._failures, []
            if not 0 < status.value <= len(failures):
                raise
            failure = failures[status.value - 1]
            _add_note(failure, str(error))
            raise failure from None

    def use_checkpoints(self, **identity: object) -> int:
        """
        Make checkpoints of the tasks that are submitted from now on, up to the next wait.

        Needs a runtime with the setting ``checkpoint``. When the program runs again and submits the same tasks, those that are
        finished in the checkpoint are skipped. Which tasks are submitted must not depend on values. Tasks may write only data
        that the runtime stores.

        Parameters
        ----------
        **identity : object
            What decides the result, such as sizes and the name of the input. A checkpoint with other values is refused.

        Returns
        -------
        int
            How many of the tasks are finished. 0 without the setting.

        Raises
        ------
        ValueError
            The checkpoint is of another computation. `submit` and `wait` may raise it, too.
        """
        self.flush()
        texts = [text.encode() for key, value in identity.items() for text in (key, str(value))]
        finished = ctypes.c_uint64()
        self._runtime.call(library.fairlead_flow_use_checkpoints, self._handle,
                           (ctypes.c_char_p * len(texts))(*texts), len(identity), ctypes.byref(finished))
        return finished.value

    def cancel(self) -> None:
        """Do not run the tasks that have not started. Running bodies end on their own."""
        if self._handle != 0:
            self._drop()
            self._runtime.call(library.fairlead_flow_cancel, self._handle)

    def close(self) -> None:
        """Wait for the tasks and discard their failures."""
        handle = self._handle
        if handle != 0:
            self._drop()
            self._handle = 0
            self._runtime.flows.discard(self)
            library.fairlead_flow_wait(handle, None)  # otherwise the library prints failures
            library.fairlead_flow_free(handle)
            self._failures.clear()

    def _keep(self, error: BaseException) -> int:
        """Keeps the exception of a body. Returns its number, from 1 on. Called in the body."""
        text = str(error)
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        library.fairlead_body_error(text.encode(errors="replace"))
        with self._lock:
            self._failures.append(error)
            return len(self._failures)

    def _check(self, status: int) -> None:
        self._runtime.check(status)

    def _kernel_word(self, kernel: Any, element: int) -> int:
        return self._runtime.kernel(kernel, element)

    def _file_word(self, name: str) -> int:
        if name not in _files:
            _files[name] = ctypes.create_string_buffer(name.encode(errors="replace"))
        return ctypes.addressof(_files[name])


def _add_note(error: BaseException, text: str) -> None:
    """The note of Python 3.11; earlier versions do not show it."""
    notes = getattr(error, "__notes__", [])
    error.__notes__ = [*notes, text]  # type: ignore[attr-defined]

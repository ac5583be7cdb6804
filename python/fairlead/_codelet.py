"""Codelets: kinds of tasks whose bodies are functions of Python."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _task_library as tasks
from ._errors import check
from ._library import library
from ._task_core import Body, body_function, release_function

if TYPE_CHECKING:
    from typing import TypeAlias

    In: TypeAlias = np.ndarray[Any, Any]
    Out: TypeAlias = np.ndarray[Any, Any]
    InOut: TypeAlias = np.ndarray[Any, Any]
    Commute: TypeAlias = np.ndarray[Any, Any]
else:

    class In:
        """Annotation of a parameter of a body: it reads the datum. The array is read-only."""

    class Out:
        """Annotation of a parameter of a body: it replaces the datum. The array has any content before."""

    class InOut:
        """Annotation of a parameter of a body: it reads and changes the datum."""

    class Commute:
        """The same; neighbouring tasks that commute on a datum run one at a time, in any order."""


_MODES = {"In": tasks.IN, "Out": tasks.OUT, "InOut": tasks.INOUT, "Commute": tasks.COMMUTE}
_MODE_OF = {In: tasks.IN, Out: tasks.OUT, InOut: tasks.INOUT, Commute: tasks.COMMUTE}

def _mode_of(parameter: inspect.Parameter) -> int:
    """-1: the parameter is a value."""
    annotation = parameter.annotation
    if isinstance(annotation, str):  # from __future__ import annotations
        return _MODES.get(annotation.rpartition(".")[2], -1)
    return next((mode for marker, mode in _MODE_OF.items() if annotation is marker), -1)


class Codelet(Body):
    """A kind of task. Made by `codelet`. A call runs the function itself, without a runtime."""

    def __new__(cls, function: Callable[..., Any], name: str | None = None) -> Codelet:
        return super().__new__(cls)

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.name = name or getattr(function, "__qualname__", repr(function)).rpartition("<locals>.")[2]
        self.__doc__, self.__wrapped__ = function.__doc__, function
        self._signature = inspect.signature(function)
        parameters = list(self._signature.parameters.values())
        for parameter in parameters:
            if _mode_of(parameter) >= 0 and parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                raise TypeError(f"{self.name}: the datum {parameter.name} must be a positional parameter")
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._list = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        list_mode = -1 if self._list is None else _mode_of(self._list)
        self._names = tuple(p.name for p in positional)
        self._defaults = {p.name: p.default for p in positional if p.default is not p.empty}
        self._is_plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        self._least = len(positional) + (list_mode >= 0)
        of_parameters = tuple(_mode_of(parameter) for parameter in positional)
        super().__init__(function, of_parameters, list_mode, len(positional) == len(parameters))
        modes = [mode for mode in (*of_parameters, list_mode) if mode >= 0]
        if not modes:
            raise TypeError(
                f"{self.name} has no data: annotate parameters with fairlead.In, Out or InOut, as in (x: fl.InOut, f: float)"
            )
        handle = ctypes.c_void_p()
        functions = (body_function, release_function, id(self))
        array = (ctypes.c_int * len(modes))(*modes)
        given = (self.name.encode(), *functions, array, len(modes), int(list_mode >= 0))
        check(library.fairlead_codelet_create(*given, ctypes.byref(handle)))
        self._handle = handle.value or 0

    def __del__(self) -> None:
        if self._handle:
            library.fairlead_codelet_free(self._handle)

    def __repr__(self) -> str:
        return f"<codelet {self.name}{self._signature}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
        """All positional arguments of the function in their order, and the others."""
        if self._is_plain and len(arguments) <= len(self._names) and named.keys() <= set(self._names[len(arguments) :]):
            with contextlib.suppress(KeyError):  # an argument is missing: see below
                given = {**self._defaults, **named} if named else self._defaults
                return (*arguments, *(given[name] for name in self._names[len(arguments) :])), None
        bound = self._signature.bind(*arguments, **named)
        bound.apply_defaults()
        if len(bound.args) < self._least:
            raise TypeError(f"{self.name}: the list {self._list} needs at least one datum")
        return bound.args, bound.kwargs or None


@overload
def codelet(function: Callable[..., Any], /) -> Codelet: ...
@overload
def codelet(*, name: str | None = None) -> Callable[[Callable[..., Any]], Codelet]: ...
def codelet(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """
    Make a kind of task of a function, as a decorator.

    Annotations state how the function uses its data: ``In``, ``Out``, ``InOut`` and ``Commute``. It gets arrays that are views of the data's
    memory. They are valid until it returns: keep a copy, never a view. All other parameters are values, which the task keeps.
    ``*parts: In`` takes any number of data.

    Parameters
    ----------
    function : callable
        Runs on any worker, several at the same time. An exception ends the flow; `Flow.wait` raises it.
    name : str, optional
        For messages, and for the durations that the scheduler learns. Default: the name of the function.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> @fl.codelet
    ... def add(total: fl.InOut, *parts: fl.In, factor=1.0):
    ...     for part in parts:
    ...         total += factor * part
    >>> with fl.Runtime(memory="16MiB") as rt:
    ...     data = [rt.data(np.full(3, float(i))) for i in range(4)]
    ...     with rt.flow() as flow:
    ...         flow.submit(add, *data, factor=2.0)
    ...     data[0].read()
    array([12., 12., 12.])
    """
    if function is None:
        return functools.partial(Codelet, name=name)
    return Codelet(function, name)

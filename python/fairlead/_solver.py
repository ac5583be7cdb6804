"""Options, and one call of the library's solver."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from . import _library
from ._errors import Calls, check
from ._info import SolveInfo, report_of

Memory = Union[int, str, None]  # noqa: UP007 - Python 3.9 evaluates it

# Of SciPy: the names of structures, with the method for each.
_ASSUMED = {
    "gen": "lu",
    "general": "lu",
    "sym": "ldlt",
    "symmetric": "ldlt",
    "her": "ldlt",
    "hermitian": "ldlt",
    "pos": "cholesky",
    "positive definite": "cholesky",
    "lower triangular": "triangular",
    "upper triangular": "triangular",
}


def method_of(method: str | None, assume_a: str | None) -> str:
    """Raises ValueError for unknown names, and if both are given."""
    if method is not None and assume_a is not None:
        raise ValueError("method and assume_a exclude each other: both select the factorization")
    if assume_a is not None:
        if assume_a not in _ASSUMED:
            raise ValueError(f"assume_a is {assume_a!r}: {', '.join(map(repr, _ASSUMED))} are supported")
        return _ASSUMED[assume_a]
    if method is None:
        return "automatic"
    if method.replace("_", "-") not in _library.METHODS:
        raise ValueError(f"method is {method!r}: {', '.join(_library.METHODS)} are supported")
    return method.replace("_", "-")


def set_resources(given: Any, memory: Memory, workers: int | None, settings: Mapping[str, object] | None) -> dict[str, str]:
    """Sets memory and workers of a struct of options. Returns the settings as texts, with a memory that is one."""
    texts = {key.replace("_", "-"): setting_text(value) for key, value in (settings or {}).items()}
    if isinstance(memory, str):
        texts["memory"] = memory
    elif memory is not None:
        given.memory_bytes = at_least(1, memory, "memory")
    if workers is not None:
        given.workers = at_least(1, workers, "workers")
    return texts


class Options:
    """The options of a call for the library, with the memory that they refer to."""

    def __init__(
        self,
        calls: Calls,
        *,
        memory: Memory = None,
        workers: int | None = None,
        settings: Mapping[str, object] | None = None,
        method: str | None = None,
        assume_a: str | None = None,
        lower: bool | None = None,
        refine: bool = False,
        condition: bool = True,
        digits: int | None = None,
        rank_tolerance: float | None = None,
        over_ranks: bool = False,
    ) -> None:
        given = _library.Options()
        check(_library.library.fairlead_options_init(ctypes.byref(given), ctypes.sizeof(given)))
        texts = set_resources(given, memory, workers, settings)
        if digits is not None:
            given.required_digits = at_least(1, digits, "digits")
        if rank_tolerance is not None:
            given.rank_tolerance = _not_negative(rank_tolerance)
        method = method_of(method, assume_a)
        given.method = _library.METHODS.index(method)
        if assume_a in ("lower triangular", "upper triangular"):
            lower = assume_a.startswith("lower")
        self._symmetric_triangle = lower is not None and assume_a in ("sym", "symmetric")
        if lower is not None and method != "lu":  # SciPy ignores it for general matrices
            given.stored = _library.STORED.index("lower" if lower else "upper")
        given.refine, given.condition = bool(refine), bool(condition)
        given.over_ranks = over_ranks
        pairs = [_library.Setting(os.fsencode(key), os.fsencode(text)) for key, text in texts.items()]
        given.settings = (_library.Setting * len(pairs))(*pairs)
        given.setting_count = len(pairs)
        given.cancelled = calls.question
        self.given = given
        self.calls = calls  # the function `cancelled` belongs to it

    def require_type(self, dtype: np.dtype[Any]) -> None:
        """Raises NotImplementedError if matrices of this type are not supported."""
        if self._symmetric_triangle and dtype.kind == "c":
            raise NotImplementedError("one triangle of a complex symmetric matrix is not supported: pass both triangles")

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.given)


def setting_text(value: object) -> str:
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def at_least(least: int, value: Any, what: str) -> int:
    number = int(value)
    if number != value or number < least or number > np.iinfo(np.int32).max and what != "memory":
        raise ValueError(f"{what} is {value!r}: it is a whole number from {least} on")
    return number


def _not_negative(value: float) -> float:
    if not value >= 0:
        raise ValueError(f"the rank tolerance is {value}: it is a fraction from 0 on")
    return float(value)


class Solver:
    """A solver of the library, for one call at a time. Use it in a ``with`` block, or call `free`."""

    def __init__(self, options: Options) -> None:
        self.handle = ctypes.c_void_p()
        check(_library.library.fairlead_solver_create(options.pointer, ctypes.byref(self.handle)))
        self.options = options
        self.calls = options.calls

    def free(self) -> None:
        _library.library.fairlead_solver_free(self.handle)

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def info(self) -> SolveInfo:
        return report_of(self.handle)

    def check(self, calls: Calls, status: int) -> SolveInfo:
        """The report of a call that returned ``status``. Its error has the report, too, as the attribute ``info``."""
        info = self.info()
        try:
            calls.check(status)
        except np.linalg.LinAlgError as error:
            error.info = info  # type: ignore[attr-defined]
            raise
        return info

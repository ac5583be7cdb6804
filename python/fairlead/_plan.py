"""plan: what a solve is expected to need."""

from __future__ import annotations

import ctypes
import dataclasses
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._arrays import DTYPES, ELEMENTS, computed_type
from ._errors import Calls
from ._matrix import Matrix
from ._solver import Memory, Options, Solver


@dataclasses.dataclass(frozen=True)
class SolvePlan:
    """What a solve is expected to need. ``str(plan)`` is a table. Sizes are in bytes.

    Attributes
    ----------
    method, method_reason : str
        By which it will solve, and why, if it was chosen.
    shape : tuple of int
        Of the matrix.
    right_hand_sides : int
    dtype : numpy.dtype
        Of the solution.
    tile, workers : int
    memory, least_memory, in_core_memory : int
        The limit; the smallest possible one; the smallest one without a spill file.
    disk_space, free_disk_space : int
        Of the spill file, and in its directory.
    input_bytes, output_bytes : int
        Read from a and b in all passes, and of x.
    spill_bytes_read, spill_bytes_written, check_bytes_read, check_bytes_written : int
        From and to the spill file: until x is known, and to check it.
    seconds, least_seconds, most_seconds : float
        Until x is checked, and the bounds between which that is expected.
    phases : tuple of (str, float, bool)
        Name, seconds, and whether they count as solution, not as checks.
    assumptions : tuple of str
        What was not measured.
    """

    method: str
    method_reason: str
    shape: tuple[int, int]
    right_hand_sides: int
    dtype: np.dtype[Any]
    tile: int
    workers: int
    memory: int
    least_memory: int
    in_core_memory: int
    disk_space: int
    free_disk_space: int
    input_bytes: int
    output_bytes: int
    spill_bytes_read: int
    spill_bytes_written: int
    check_bytes_read: int
    check_bytes_written: int
    seconds: float
    least_seconds: float
    most_seconds: float
    phases: tuple[tuple[str, float, bool], ...]
    assumptions: tuple[str, ...]
    _text: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self._text


def _of(plan: _library.Plan) -> SolvePlan:
    phases = [plan.phases[i] for i in range(plan.phase_count)]
    return SolvePlan(
        method=_library.METHODS[int(plan.method)],
        method_reason=plan.method_reason.decode(),
        shape=(plan.rows, plan.columns),
        right_hand_sides=plan.right_hand_sides,
        dtype=DTYPES[plan.precision],
        tile=plan.tile,
        workers=plan.workers,
        memory=plan.memory_bytes,
        least_memory=plan.least_memory_bytes,
        in_core_memory=plan.in_core_memory_bytes,
        disk_space=plan.disk_bytes,
        free_disk_space=plan.free_disk_bytes,
        input_bytes=plan.input_bytes,
        output_bytes=plan.output_bytes,
        spill_bytes_read=plan.spill_bytes_read,
        spill_bytes_written=plan.spill_bytes_written,
        check_bytes_read=plan.check_bytes_read,
        check_bytes_written=plan.check_bytes_written,
        seconds=plan.seconds,
        least_seconds=plan.least_seconds,
        most_seconds=plan.most_seconds,
        phases=tuple((phase.name.decode(), phase.seconds, bool(phase.counts)) for phase in phases),
        assumptions=tuple(plan.assumptions[i].decode() for i in range(plan.assumption_count)),
        _text=plan.text.decode().rstrip("\n"),
    )


def plan(
    a: Any = None,
    *,
    n: int | None = None,
    right_hand_sides: int = 1,
    assume_a: str | None = None,
    method: str | None = None,
    lower: bool | None = None,
    memory: Memory = None,
    refine: bool = False,
    condition: bool = True,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
) -> SolvePlan:
    """
    Predict what `solve` needs, in seconds at most: memory, disk space, bytes that are moved, and time.

    Parameters
    ----------
    a : matrix or int, optional
        As for `solve`; some of its elements are read to choose the method. Or n.
    n : int, optional
        For an n x n matrix that need not exist. It is assumed to be positive definite, unless `method` or `assume_a` is given.
    right_hand_sides : int, optional
        The number of columns of b.
    shape, dtype : optional
        Of a function, or of a matrix that need not exist; the default type is float64.
    assume_a, method, lower, memory, refine, condition, workers, settings
        As for `solve`.

    Returns
    -------
    SolvePlan

    Examples
    --------
    >>> import fairlead as fl
    >>> plan = fl.plan(n=20_000, memory="1GiB", workers=2)
    >>> plan.method, plan.disk_space > 1.6e9, plan.seconds > plan.least_seconds > 0
    ('cholesky', True, True)
    >>> print(plan)                             # doctest: +ELLIPSIS
    Method          cholesky, since ...
    Matrix          20,000 x 20,000 in double precision, 1 right-hand side
    ...
    """
    if isinstance(a, numbers.Integral) and n is None:
        a, n = None, int(a)
    if sum(given is not None for given in (a, n)) + (shape is not None and a is None) != 1:
        raise TypeError("pass one of a, n and shape: a matrix, or the size of one that need not exist")
    if right_hand_sides < 1:
        raise ValueError(f"right_hand_sides is {right_hand_sides}: at least one is needed")
    calls, planned = Calls(), _library.Plan()
    out = (ctypes.byref(planned), ctypes.sizeof(planned))
    options: dict[str, Any] = {
        "method": method,
        "assume_a": assume_a,
        "lower": lower,
        "memory": memory,
        "refine": refine,
        "condition": condition,
        "workers": workers,
        "settings": settings,
    }
    if a is None:
        rows, columns = (n, n) if shape is None else (int(shape[0]), int(shape[1]))
        element = computed_type(np.float64 if dtype is None else dtype, "a")
        given = Options(calls, **options)
        given.require_type(element)
        with Solver(given) as solver:
            problem = (solver.handle, rows, columns, ELEMENTS[element], right_hand_sides)
            calls.check(_library.library.fairlead_solver_plan_shape(*problem, *out))
            return _of(planned)
    with Matrix(a, calls, shape, dtype) as matrix, Solver(Options(calls, **options)) as solver:
        solver.options.require_type(matrix.dtype)
        if matrix.handle is None:
            raise ValueError(f"a has the shape {matrix.shape}: a matrix without elements needs no plan")
        calls.check(_library.library.fairlead_solver_plan(solver.handle, matrix.handle, right_hand_sides, *out))
        return _of(planned)

"""solve_triangular."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, in_kind_of, is_path
from ._matrix import is_function, is_sliced
from ._solve import _solved
from ._solver import Memory

_TRANSPOSES = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}
_Block = Callable[[Any, Any], Any]


def _by_blocks(a: Any) -> _Block:
    """The function of the rows and columns of an array or a dataset."""
    return lambda rows, columns: a[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _with_unit_diagonal(block: _Block) -> _Block:
    def of(rows: Any, columns: Any) -> Any:
        elements = np.array(block(rows, columns))
        elements[np.equal.outer(rows, columns)] = 1
        return elements

    return of


def _transposed(block: _Block) -> _Block:
    return lambda rows, columns: np.asarray(block(columns, rows)).T


def solve_triangular(
    a: Any,
    b: npt.ArrayLike,
    trans: Union[int, str] = 0,  # noqa: UP007 - Python 3.9 evaluates it
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    memory: Memory = None,
    condition: bool = True,
    digits: int | None = None,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
    out: np.ndarray[Any, Any] | None = None,
    return_info: bool = False,
) -> Any:
    """
    Solve ``a x = b`` for a triangular matrix that may be larger than memory.

    The elements on the other side of the diagonal are not read. The solution is checked.

    Parameters
    ----------
    a, b
        As for `solve`. A path is possible for ``trans=0`` without a unit diagonal; of other files, open an array first.
    trans : {0, 1, 2, "N", "T", "C"}
        Solve ``a x = b``, ``a.T x = b`` or ``a.conj().T x = b``.
    lower : bool
        Whether a is lower triangular; otherwise it is upper triangular.
    unit_diagonal : bool
        The elements on the diagonal are 1, whatever a holds there.
    overwrite_b, check_finite : bool
        As for `solve`: not used.
    memory, condition, digits, workers, settings, shape, dtype, out, return_info
        As for `solve`.

    Returns
    -------
    x : array, shape (n,) or (n, k)
    info : SolveInfo
        If `return_info` is true.

    Raises
    ------
    numpy.linalg.LinAlgError
        An element of the diagonal is zero, or the solution cannot be trusted.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> a = np.array([[2.0, 7.0], [1.0, 4.0]])
    >>> fl.solve_triangular(a, [4.0, 10.0], lower=True)
    array([2., 2.])
    >>> fl.solve_triangular(a, [4.0, 10.0], trans="T", lower=True, unit_diagonal=True)
    array([-6., 10.])
    """
    if trans not in _TRANSPOSES:
        raise ValueError(f"trans is {trans!r}: {', '.join(map(repr, _TRANSPOSES))} are supported")
    how, in_file = _TRANSPOSES[trans], is_path(a)
    if in_file and (how or unit_diagonal):
        raise TypeError("a is a path: with trans or unit_diagonal pass an array, such as numpy.load(path, mmap_mode='r')")
    in_memory = not (in_file or is_function(a) or is_sliced(a))
    matrix: Any = as_array(a, "a") if in_memory else a
    sides = as_array(b, "b")
    if unit_diagonal or how and not in_memory:
        size: Any = shape
        if not is_function(a):
            size, dtype = matrix.shape, matrix.dtype
        block: _Block = a if is_function(a) else _by_blocks(matrix)
        block = _with_unit_diagonal(block) if unit_diagonal else block
        matrix = _transposed(block) if how else block
        shape = size[::-1] if size is not None and how else size
    elif how:
        matrix = matrix.T
    options = {
        "method": "triangular",
        "lower": bool(lower) != bool(how),
        "memory": memory,
        "condition": condition,
        "digits": digits,
        "workers": workers,
        "settings": settings,
    }
    if how == 2:  # a^H x = b is the conjugate of a^T y = conj(b)
        sides = np.conj(sides)
    x, info = _solved(matrix, sides, True, shape, dtype, out, options)
    if how == 2:
        np.conjugate(x, out=x)
    x = x if out is not None else in_kind_of(x, a, b)
    return (x, info) if return_info else x

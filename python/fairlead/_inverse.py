"""inv."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Solution
from ._factorization import Factorization, factored
from ._solver import Memory

_LEAST_COLUMNS = 64  # that are solved for at once: fewer use the processor badly


def _write_columns(factors: Factorization, inverse: np.ndarray[Any, Any]) -> None:
    n = factors.shape[0]
    width = max(_LEAST_COLUMNS, -(-n // 32))
    for first in range(0, n, width):
        identity = np.eye(n, min(width, n - first), -first, dtype=factors.dtype, order="F")
        inverse[:, first : first + width] = factors.solve(identity)


def _in_file(factors: Factorization, path: str) -> np.ndarray[Any, Any]:
    unfinished = f"{path}.part"
    try:
        open_memmap: Any = getattr(np.lib.format, "open_memmap")  # noqa: B009 - NumPy's stubs have no types of its parameters
        inverse = open_memmap(unfinished, "w+", factors.dtype, factors.shape, fortran_order=True)
        _write_columns(factors, inverse)
        inverse.flush()
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
    return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]


def inv(
    a: Any,
    *,
    assume_a: str | None = None,
    method: str | None = None,
    lower: bool | None = None,
    memory: Memory = None,
    condition: bool = True,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
    out: np.ndarray[Any, Any] | str | os.PathLike[str] | None = None,
) -> Any:
    """
    The inverse of a square matrix.

    To solve systems, `solve` and `factor` are faster and more accurate. The matrix is factored within the memory limit, and
    blocks of n / 32 columns of the inverse are computed in addition to it.

    Parameters
    ----------
    a, assume_a, method, lower, memory, condition, workers, settings, shape, dtype
        As for `factor`.
    out : array or path, optional
        Where to write the inverse. A path is that of a ``.npy`` file, which is written completely or not at all.

    Returns
    -------
    array, shape (n, n)
        `out`, if it is an array; a read-only memory map, if it is a path.

    Examples
    --------
    >>> import fairlead as fl
    >>> fl.inv([[1.0, 2.0], [0.0, 4.0]])
    array([[ 1.  , -0.5 ],
           [ 0.  ,  0.25]])
    """
    options = {
        "method": method,
        "assume_a": assume_a,
        "lower": lower,
        "memory": memory,
        "condition": condition,
        "workers": workers,
        "settings": settings,
    }
    if isinstance(out, (str, os.PathLike)):
        path, given = os.fspath(out), None
        if not path.endswith(".npy"):
            raise ValueError(f"out is {path!r}: the name of a file ends with .npy")
    else:
        path, given = None, out
    factors, (n, _), element = factored(a, shape, dtype, options, square=True)
    if path is None or factors is None:
        inverse = Solution(n, n, element, False, given)
        if factors is not None:
            with factors:
                _write_columns(factors, inverse.columns if given is None else given)
        if path is None:
            return inverse.result(a) if given is None else given
        np.save(path, inverse.columns)
        return np.load(path)
    with factors:
        return _in_file(factors, path)

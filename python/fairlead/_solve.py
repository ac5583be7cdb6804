"""solve, lstsq."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._arrays import ELEMENTS, Solution, right_hand_sides
from ._errors import warn
from ._idle_solvers import solver_for
from ._info import SolveInfo
from ._matrix import Matrix
from ._ranks import over_ranks
from ._solver import Memory


def _solved(
    a: Any, b: Any, square: bool, shape: Any, dtype: npt.DTypeLike | None, out: Any, options: Mapping[str, Any]
) -> tuple[Any, SolveInfo]:
    with solver_for(options) as solver, Matrix(a, solver.calls, shape, dtype) as matrix:
        rows, columns = matrix.shape
        if square and rows != columns:
            raise np.linalg.LinAlgError(f"a has the shape {matrix.shape}: it must be square; for least squares: lstsq")
        sides, is_vector = right_hand_sides(b, rows, matrix.dtype)
        solution = Solution(columns, sides.shape[1], sides.dtype, is_vector, out)
        solver.options.require_type(matrix.dtype)
        if matrix.handle is None or sides.size == 0:
            info = SolveInfo(shape=matrix.shape, right_hand_sides=sides.shape[1], dtype=sides.dtype)
            return solution.result(a, b), info
        info = solver.check(
            solver.calls,
            _library.library.fairlead_solver_solve(
                solver.handle,
                matrix.handle,
                ELEMENTS[sides.dtype],
                sides.ctypes.data,
                sides.shape[1],
                solution.columns.ctypes.data,
            ),
        )
    warn(info.warnings, stacklevel=3)
    return solution.result(a, b), info


def solve(
    a: Any,
    b: npt.ArrayLike,
    *,
    assume_a: str | None = None,
    lower: bool | None = None,
    memory: Memory = None,
    method: str | None = None,
    refine: bool = False,
    condition: bool = True,
    digits: int | None = None,
    workers: int | None = None,
    comm: Any = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
    out: np.ndarray[Any, Any] | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    return_info: bool = False,
) -> Any:
    """
    Solve ``a x = b`` for a square matrix that may be larger than memory.

    The solution is checked: one that is wrong is an error.

    Parameters
    ----------
    a : array, path, dataset or function
        An array of NumPy, also a memory map or a view, which is read in place or by blocks and never copied as a whole; an
        array of another package that exports its memory by DLPack, such as a tensor of PyTorch; the path of a ``.npy``, HDF5
        or Zarr file, or ``"file::name"`` for one of its matrices; an object with shape, dtype and slices, such as a dataset of
        h5py or zarr; or a function ``f(rows, columns)`` that returns the block of these rows and columns, which are arrays of
        consecutive indices. Threads call the function at the same time.
    b : array_like, shape (n,) or (n, k)
        One right-hand side, or k as columns.
    assume_a : {"gen", "sym", "her", "pos", "lower triangular", "upper triangular"}, optional
        The structure of a, as in `scipy.linalg.solve`: also a complex "sym" matrix is not conjugated. By default the structure
        is found out.
    lower : bool, optional
        Read only the lower (True) or upper (False) triangle of a symmetric or triangular matrix. By default both are read. A
        difference between those of a symmetric one is an error or a warning, and one of a triangular matrix must be zero.
        Ignored for a general matrix.
    memory : int or str, optional
        Limit of the memory for matrices and vectors, in bytes or as in ``"2GiB"``. Default: what is free.
    method : str, optional
        The factorization, instead of `assume_a`: "cholesky", "ldlt", "lu", "qr" or another one of the command's `--method`.
    refine : bool, optional
        Factor in single precision and refine the solution to double. For positive definite matrices.
    condition : bool, optional
        Estimate the condition number and the forward error.
    digits : int, optional
        Fewer decimal digits that can be trusted are an error.
    workers : int, optional
        Threads that compute. Default: one for each core.
    comm : mpi4py.MPI.Comm or "world", optional
        The processes that solve the system together, each with its own memory: all that ``mpirun`` or ``srun`` has started,
        which ``MPI.COMM_WORLD`` of mpi4py has. "world" needs no mpi4py. All of them call with the same system and options, and
        all get the solution. A function is asked only for the blocks that its process needs. Default: this process alone.
    settings : mapping, optional
        Other settings of Fairlead: ``{"disk-directory": "/scratch"}``.
    shape, dtype : optional
        Of a matrix that a function computes. The default type is float64.
    out : array, optional
        Where to write the solution. It may be b.
    overwrite_a, overwrite_b, check_finite : bool, optional
        Permissions in SciPy, which are not used: a and b stay unchanged, and elements that are not finite are an error.
    return_info : bool, optional
        Return ``(x, info)`` instead of x.

    Returns
    -------
    x : array, shape (n,) or (n, k)
        In single precision if a and b are, otherwise in double; complex if a or b is. An array of the package of a or b, if one
        of them is not of NumPy.
    info : SolveInfo
        If `return_info` is true.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is not square, singular, not finite, or unsuitable for the method, or the solution cannot be trusted. The
        attribute ``info`` has the report, if one was made.
    ValueError
        Shapes or options do not match, or a file cannot be read.
    TypeError
        The type of an array is not supported.
    MemoryError
        The memory limit is too small.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> a = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> fl.solve(a, [9.0, 8.0])
    array([2., 3.])

    A matrix that is computed by blocks, in 64 MiB of memory:

    >>> points = np.linspace(0, 1, 500)
    >>> def kernel(rows, columns):
    ...     return np.exp(-np.abs(points[rows, None] - points[columns])) + np.equal.outer(rows, columns)
    >>> x, info = fl.solve(kernel, points, shape=(500, 500), memory="64MiB", return_info=True)
    >>> info.method, info.digits >= 12
    ('cholesky', True)
    """
    options = {
        "method": method,
        "assume_a": assume_a,
        "lower": lower,
        "memory": memory,
        "refine": refine,
        "condition": condition,
        "digits": digits,
        "workers": workers,
        "over_ranks": over_ranks(comm),
        "settings": settings,
    }
    x, info = _solved(a, b, True, shape, dtype, out, options)
    return (x, info) if return_info else x


def lstsq(
    a: Any,
    b: npt.ArrayLike,
    *,
    rcond: float | None = None,
    memory: Memory = None,
    condition: bool = True,
    digits: int | None = None,
    workers: int | None = None,
    comm: Any = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
    out: np.ndarray[Any, Any] | None = None,
    return_info: bool = False,
) -> Any:
    """
    Find the x that minimizes the two norm of ``b - a x``, and of all such x the one of least norm.

    The matrix may be larger than memory.

    Parameters
    ----------
    a, b
        As for `solve`; a has the shape (m, n).
    rcond : float, optional
        Singular values up to this fraction of the largest count as zero. Default: epsilon times max(m, n) unless m = n, as in
        NumPy; a square matrix is not examined.
    memory, condition, digits, workers, comm, settings, shape, dtype, out, return_info
        As for `solve`.

    Returns
    -------
    x : array, shape (n,) or (n, k)
        Unlike `numpy.linalg.lstsq`, without residuals, rank and singular values: the first two are in `info`.
    info : SolveInfo
        If `return_info` is true.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> t = np.arange(4.0)
    >>> x, info = fl.lstsq(np.column_stack([np.ones(4), t]), [1.0, 3.0, 5.0, 7.0], return_info=True)
    >>> np.allclose(x, [1, 2]), info.rank
    (True, 2)
    """
    options = {
        "method": "qr",
        "rank_tolerance": rcond,
        "memory": memory,
        "condition": condition,
        "digits": digits,
        "workers": workers,
        "over_ranks": over_ranks(comm),
        "settings": settings,
    }
    x, info = _solved(a, b, False, shape, dtype, out, options)
    return (x, info) if return_info else x

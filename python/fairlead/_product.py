"""multiply."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._arrays import ELEMENTS, as_array, in_kind_of, is_foreign, is_path, require_out
from ._errors import Calls
from ._matrix import Matrix, is_function, layout_of
from ._solver import Memory, Options


def _in_place(out: np.ndarray[Any, Any] | None, dtype: np.dtype[Any], factors: tuple[Any, ...]) -> bool:
    """Whether the library can write the product to ``out``: its layout permits it, and no factor is in its memory."""
    if out is None or out.dtype != dtype or layout_of(out) is None:
        return False
    arrays = [as_array(factor, "a factor") for factor in factors if isinstance(factor, np.ndarray) or is_foreign(factor)]
    return not any(np.may_share_memory(out, array) for array in arrays)


def _as_column(b: Any) -> tuple[Any, bool]:
    """b, a vector as a matrix of one column; and whether it is a vector."""
    if is_path(b) or is_function(b):
        return b, False
    if hasattr(b, "shape") and len(b.shape) != 1:
        return b, False
    array = as_array(b, "b")
    return (array[:, None], True) if array.ndim == 1 else (array, False)


def multiply(
    a: Any,
    b: Any,
    *,
    memory: Memory = None,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    shape_a: tuple[int, int] | None = None,
    dtype_a: npt.DTypeLike | None = None,
    shape_b: tuple[int, int] | None = None,
    dtype_b: npt.DTypeLike | None = None,
    out: np.ndarray[Any, Any] | str | os.PathLike[str] | None = None,
) -> Any:
    """
    The product of two matrices that may be larger than memory.

    Blocks of the product stay in memory while blocks of a and b are read, each as often as there are rows or columns of such
    blocks. Nothing but the product is written.

    Parameters
    ----------
    a, b : array, path, dataset or function
        As the a of `solve`. Elements that are not finite are allowed. b may be a vector.
    memory, workers, settings
        As for `solve`. The memory of a and b, and of `out` or the product in memory, is in addition to the limit.
    shape_a, dtype_a, shape_b, dtype_b : optional
        Of a matrix that a function computes. The default type is float64.
    out : array or path, optional
        Where to write the product. A path is that of a ``.npy`` file, which is written completely or not at all.

    Returns
    -------
    array, shape (m, n) or (m,)
        In single precision if a and b are, otherwise in double; complex if a or b is. `out`, if it is an array; a read-only
        memory map, if it is a path. Otherwise an array of the package of a or b, if one of them is not of NumPy.

    Raises
    ------
    ValueError
        Shapes or options do not match, or a file cannot be read.
    TypeError
        The type of an array is not supported.
    MemoryError
        The memory limit is too small.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> fl.multiply(np.array([[1.0, 2.0], [3.0, 4.0]]), np.eye(2))
    array([[1., 2.],
           [3., 4.]])

    The products of all pairs of columns of a matrix in a file, in another file, in 64 MiB of memory:

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "X.npy")
    ...     np.save(path, np.arange(30_000.0).reshape(10_000, 3))
    ...     x = np.load(path, mmap_mode="r")
    ...     gram = fl.multiply(x.T, path, memory="64MiB", out=os.path.join(folder, "G.npy"))
    ...     gram.shape, bool(np.allclose(gram, x.T @ x))
    ((3, 3), True)
    """
    calls, given = Calls(), (a, b)
    b, is_vector = _as_column(b)
    with Matrix(a, calls, shape_a, dtype_a, "a") as left, Matrix(b, calls, shape_b, dtype_b, "b") as right:
        if left.shape[1] != right.shape[0]:
            raise ValueError(f"a has the shape {left.shape} and b {right.shape}: a needs as many columns as b has rows")
        rows, columns, dtype = left.shape[0], right.shape[1], np.result_type(left.dtype, right.dtype)
        options = Options(calls, memory=memory, workers=workers, settings=settings)
        empty = left.handle is None or right.handle is None
        call = (left.handle, right.handle, options.pointer, ELEMENTS[dtype])
        if isinstance(out, (str, os.PathLike)):
            path = os.fspath(out)
            if not path.endswith(".npy"):
                raise ValueError(f"out is {path!r}: the name of a file ends with .npy")
            if is_vector:
                raise ValueError("b is a vector: the product is a vector, and a file is written for a matrix")
            if empty:
                np.save(path, np.zeros((rows, columns), dtype))
                return np.load(path)
            function = _library.library.fairlead_multiply_to_file
            calls.check(function(*call, _library.ROW_MAJOR, os.fsencode(path)))
            return np.load(path, mmap_mode="r")
        require_out(out, (rows,) if is_vector else (rows, columns), dtype)
        in_place = not is_vector and _in_place(out, dtype, given)
        product: np.ndarray[Any, Any] = out if in_place and out is not None else np.empty((rows, columns), dtype)
        if empty:
            product[...] = 0
        else:
            order, leading_dimension = layout_of(product) or (_library.ROW_MAJOR, 0)
            function = _library.library.fairlead_multiply
            calls.check(function(*call, order, leading_dimension, product.ctypes.data))
    if in_place:
        return out
    if is_vector:
        product = product[:, 0]
    if out is None:
        return in_kind_of(product, *given)
    out[...] = product
    return out

"""The kinds of matrices that the functions accept, as handles of the library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._arrays import (
    DTYPES,
    ELEMENTS,
    as_array,
    computed_type,
    is_foreign,
    is_path,
    path_text,
)
from ._errors import Calls, check

Block = Callable[[int, int, int, int], Any]


class Matrix:
    """A matrix for one call. Use it in a ``with`` block.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
        float32, float64, complex64 or complex128.
    handle : ctypes.c_void_p
        None for a matrix without elements.
    """

    def __init__(
        self, a: Any, calls: Calls, shape: tuple[int, int] | None, dtype: npt.DTypeLike | None, name: str = "a"
    ) -> None:
        self._name = name
        self.handle: ctypes.c_void_p | None = None
        self._kept: tuple[Any, ...] = ()  # what the library uses until the handle is freed
        self._calls = calls
        if is_function(a):
            self._of_function(a, shape, dtype)
        elif shape is not None or dtype is not None:
            raise ValueError(f"shape and dtype are for a matrix that a function computes, and {name} is none")
        elif is_path(a):
            self._of_file(path_text(a))
        elif is_sliced(a):
            self._of_blocks(lambda r, r_end, c, c_end: a[r:r_end, c:c_end], _matrix_shape(a.shape), a.dtype)
        else:
            self._of_array(as_array(a, name))

    def __enter__(self) -> Matrix:
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            _library.library.fairlead_matrix_free(self.handle)
            self.handle = None

    def _describe(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> ctypes.c_void_p | None:
        """A handle to fill, or None if there are no elements."""
        self.shape, self.dtype = shape, dtype
        self.handle = ctypes.c_void_p() if 0 not in shape else None
        return self.handle

    def _of_file(self, path: str) -> None:
        self.handle = ctypes.c_void_p()
        file = path.split("::")[0]
        if not os.path.exists(file):
            raise FileNotFoundError(f"{file} does not exist")
        check(_library.library.fairlead_matrix_open(os.fsencode(path), ctypes.byref(self.handle)))
        rows, columns, element = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int()
        sizes = (ctypes.byref(rows), ctypes.byref(columns), ctypes.byref(element))
        check(_library.library.fairlead_matrix_shape(self.handle, *sizes))
        self.shape, self.dtype = (rows.value, columns.value), DTYPES[element.value]

    def _of_array(self, a: np.ndarray[Any, Any]) -> None:
        shape = _matrix_shape(a.shape)
        layout = layout_of(a)
        if layout is None:
            self._of_blocks(lambda r, r_end, c, c_end: a[r:r_end, c:c_end], shape, a.dtype)
            return
        handle = self._describe(shape, a.dtype)
        self._kept = (a,)
        if handle is not None:
            order, leading_dimension = layout
            given = (a.ctypes.data, ELEMENTS[a.dtype], order, *shape, leading_dimension)
            check(_library.library.fairlead_matrix_from_memory(*given, ctypes.byref(handle)))

    def _of_function(self, f: Callable[..., Any], shape: tuple[int, int] | None, dtype: npt.DTypeLike | None) -> None:
        if shape is None:
            raise TypeError(f"{self._name} is a function: pass shape=(rows, columns)")
        self._of_blocks(
            lambda r, r_end, c, c_end: f(_indices(r, r_end), _indices(c, c_end)),
            _matrix_shape(tuple(int(n) for n in shape)),
            np.float64 if dtype is None else dtype,
        )

    def _of_blocks(self, block: Block, shape: tuple[int, int], dtype: npt.DTypeLike) -> None:
        handle = self._describe(shape, computed_type(dtype, self._name))
        if handle is None:
            return
        item, calls, element_type, name = self.dtype.itemsize, self._calls, self.dtype, self._name

        def fill(_: int | None, row: int, rows: int, column: int, columns: int, out: int, leading_dimension: int) -> int:
            try:
                elements = as_array(block(row, row + rows, column, column + columns), f"a block of {name}")
                if elements.shape != (rows, columns):
                    raise ValueError(
                        f"the block of the rows {row} to {row + rows - 1} and the columns {column} to "
                        f"{column + columns - 1} has the shape {elements.shape} instead of {(rows, columns)}"
                    )
                if elements.dtype.kind == "c" and element_type.kind != "c":
                    raise TypeError(f"a block of {name} has the type {elements.dtype}: pass dtype={elements.dtype}")
                memory = (ctypes.c_char * (((columns - 1) * leading_dimension + rows) * item)).from_address(out)
                strides = (item, leading_dimension * item)
                np.ndarray((rows, columns), element_type, memory, strides=strides)[...] = elements  # type: ignore[arg-type]
            except BaseException as error:  # noqa: BLE001 - it must not reach the library
                calls.keep(error)
                return 1
            return 0

        function = _library.BlockFunction(fill)
        self._kept = (function,)
        given = (function, None, ELEMENTS[self.dtype], *shape)
        check(_library.library.fairlead_matrix_from_function(*given, ctypes.byref(handle)))


def _indices(first: int, end: int) -> npt.NDArray[np.intp]:
    return np.arange(first, end, dtype=np.intp)  # pyright: ignore[reportUnknownMemberType] - partial in NumPy 1.24


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) < 2:
        raise np.linalg.LinAlgError(f"{len(shape)}-dimensional array given: a matrix has two dimensions")
    if len(shape) > 2:
        raise ValueError(f"a has the shape {shape}: stacks of matrices are not supported, pass one at a time")
    if min(shape) < 0:
        raise ValueError(f"a has the shape {shape}: a size is negative")
    return shape[0], shape[1]


def is_function(a: Any) -> bool:
    """Whether it computes blocks of a matrix."""
    return callable(a) and not hasattr(a, "__array__")


def is_sliced(a: Any) -> bool:
    """Whether it is an array outside of memory, such as a dataset of h5py or zarr: it is read by slices."""
    if is_foreign(a) or isinstance(a, (np.ndarray, np.generic)):
        return False
    if not all(hasattr(a, name) for name in ("shape", "dtype", "__getitem__")):
        return False
    return isinstance(a.dtype, np.dtype) and not hasattr(a, "__array_interface__") and not hasattr(a, "iloc")


def layout_of(a: np.ndarray[Any, Any]) -> tuple[int, int] | None:
    """The order and the leading dimension in which the library can read the array in place."""
    if a.dtype not in ELEMENTS or not a.dtype.isnative or not a.flags.aligned:
        return None
    for order, (lines, length), (outer, inner) in (
        (_library.ROW_MAJOR, a.shape, a.strides),
        (_library.COLUMN_MAJOR, a.shape[::-1], a.strides[::-1]),
    ):
        if length > 1 and inner != a.itemsize:
            continue
        if lines <= 1:
            return order, 0
        if outer % a.itemsize == 0 and outer >= length * a.itemsize:
            return order, outer // a.itemsize
    return None

"""Types and shapes of arrays, by NumPy's rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library

DTYPES: dict[int, np.dtype[Any]] = {
    _library.FLOAT32: np.dtype(np.float32),
    _library.FLOAT64: np.dtype(np.float64),
    _library.COMPLEX64: np.dtype(np.complex64),
    _library.COMPLEX128: np.dtype(np.complex128),
}
ELEMENTS: dict[np.dtype[Any], int] = {dtype: element for element, dtype in DTYPES.items()}

# Of DLPack: memory that the host can read, and names for the devices whose memory it cannot.
_HOST = (1, 3, 11, 13)  # memory of the host, also pinned for CUDA or ROCm; managed memory of CUDA
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI"}


def computed_type(dtype: npt.DTypeLike, what: str) -> np.dtype[Any]:
    """The type in which the elements are computed with. Raises TypeError for a type that is not supported."""
    given = np.dtype(dtype)
    if given.fields is not None:
        fields = ", ".join(given.names or ())
        raise TypeError(f"{what} has a structured type with the fields {fields}: pass one of them, {what}[name]")
    if given.kind in "biu":
        return np.dtype(np.float64)
    native = given.newbyteorder("=")
    if native in ELEMENTS:
        return native
    raise TypeError(f"{what} has the type {given}: float32, float64, complex64, complex128 and integers are supported")


def _from_dlpack(given: Any, what: str) -> np.ndarray[Any, Any]:
    """The memory of an array of another package, not copied."""
    device = given.__dlpack_device__()[0]
    if device not in _HOST:
        name = _DEVICES.get(int(device), f"number {int(device)} of DLPack")
        raise TypeError(
            f"{what} is in the memory of a device ({name}): pass a copy in the memory of the host, for example {what}.cpu() of "
            f"PyTorch, {what}.get() of CuPy or jax.device_get({what})"
        )
    try:
        return np.from_dlpack(given)
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"{what} cannot be read as an array: {error}") from error


def is_foreign(given: Any) -> bool:
    """Whether it is an array of another package that exports its memory, such as a tensor of PyTorch."""
    return hasattr(given, "__dlpack__") and hasattr(given, "__dlpack_device__") and not isinstance(given, np.ndarray)


# Predicates that do not narrow the type of their argument to one with unknown parameters.


def is_array(given: Any) -> bool:
    return isinstance(given, np.ndarray)


def is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike))


def path_text(given: str | os.PathLike[str]) -> str:
    return os.fspath(given)


def is_sequence(given: Any) -> bool:
    return isinstance(given, (list, tuple))


def is_list(given: Any) -> bool:
    return isinstance(given, list)


def is_tuple(given: Any) -> bool:
    return isinstance(given, tuple)


def is_mapping(given: Any) -> bool:
    return isinstance(given, Mapping)


def as_array(given: Any, what: str) -> np.ndarray[Any, Any]:
    """An array in memory, not copied if it is one. Raises TypeError for masked arrays and unsupported types."""
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array: fill the masked elements first, {what}.filled(value)")
    array = _from_dlpack(given, what) if is_foreign(given) else np.asarray(given)
    computed_type(array.dtype, what)
    return array


def in_kind_of(x: np.ndarray[Any, Any], *arguments: Any) -> Any:
    """x as an array of the package of the first argument that is not NumPy's, if that package imports arrays by DLPack."""
    for given in arguments:
        if not is_foreign(given):
            continue
        module = sys.modules.get(type(given).__module__.partition(".")[0])
        namespace = given.__array_namespace__() if hasattr(given, "__array_namespace__") else module
        if hasattr(namespace, "from_dlpack"):
            # Some packages import arrays in row-major order only.
            return namespace.from_dlpack(np.ascontiguousarray(x))  # type: ignore[union-attr]
    return x


def right_hand_sides(given: Any, rows: int, matrix: np.dtype[Any], what: str = "b") -> tuple[np.ndarray[Any, Any], bool]:
    """The columns one after the other, in the type of the solution for a matrix of that type; and whether b is a vector."""
    if is_path(given):
        raise TypeError(f"{what} is a path: pass an array, numpy.load(path, mmap_mode='r') for a file of NumPy")
    b = as_array(given, what)
    if b.ndim not in (1, 2):
        raise ValueError(f"{what} has {b.ndim} dimensions: pass a vector, or a matrix of columns")
    if b.shape[0] != rows:
        raise ValueError(f"{what} has the shape {b.shape}, and the matrix {rows} rows: they need the same number of rows")
    dtype = np.result_type(matrix, computed_type(b.dtype, what))
    columns = b.reshape(rows, -1) if b.size else b.reshape(rows, 1 if b.ndim == 1 else b.shape[1])
    return np.asarray(columns, dtype=dtype, order="F"), b.ndim == 1


def require_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises TypeError or ValueError if ``out`` is given and cannot receive a result of this shape and type."""
    if out is None:
        return
    if not is_array(out):
        raise TypeError(f"out is a {type(out).__name__}: an array of NumPy is needed")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}: the result has {shape}")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"out has the type {out.dtype}: it cannot hold {dtype}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")


class Solution:
    """Memory for x: the caller's ``out`` itself where its layout permits."""

    def __init__(self, rows: int, columns: int, dtype: np.dtype[Any], is_vector: bool, out: Any) -> None:
        shape = (rows,) if is_vector else (rows, columns)
        self._out = out
        require_out(out, shape, dtype)
        if out is not None and out.dtype == dtype and out.flags.f_contiguous and out.flags.aligned:
            self.columns: np.ndarray[Any, Any] = out
        else:
            self.columns = np.empty(shape, dtype, order="F")

    def result(self, *arguments: Any) -> Any:
        """x, of the kind of the arguments of the call."""
        if self._out is None:
            return in_kind_of(self.columns, *arguments)
        if self._out is self.columns:
            return self.columns
        self._out[...] = self.columns
        return self._out

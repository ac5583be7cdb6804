"""Data of a runtime: single arrays, and the tiles of matrices."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _task_library as tasks
from ._arrays import ELEMENTS, is_array, is_foreign, is_tuple
from ._errors import check
from ._library import library
from ._task_core import Grid, Handle

if TYPE_CHECKING:
    from ._runtime import Runtime

_Array = np.ndarray[Any, Any]

def element_type(dtype: npt.DTypeLike, what: str) -> np.dtype[Any]:
    """Raises TypeError for elements that are no plain bytes."""
    given = np.dtype(dtype)
    if given.hasobject or given.itemsize == 0:
        raise TypeError(f"{what} has the type {given}, whose elements are not stored as plain bytes")
    return given


class ArrayLayout(NamedTuple):
    """An array of NumPy, and how the library sees its memory."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]  # in the memory of the runtime, and of arrays that are read
    # By dimension of the library, the axis of the array; empty: one dimension, for an array without gaps.
    axes: tuple[int, ...]

    def view(self, address: int, stride_0: int, stride_1: int, stride_2: int, writeable: bool) -> _Array:
        """The array at this address. Strides: of the library, in elements."""
        item = self.dtype.itemsize
        array: _Array
        memory: Any  # NumPy's stubs know no arrays of ctypes
        if self.axes:
            steps = [0] * len(self.shape)
            for axis, stride in zip(self.axes, (stride_0, stride_1, stride_2)):
                steps[axis] = stride * item
            size = item + sum((n - 1) * step for n, step in zip(self.shape, steps))
            memory = (ctypes.c_char * size).from_address(address)
            array = np.ndarray(self.shape, self.dtype, memory, 0, steps)
        else:
            memory = (ctypes.c_char * (item * _product(self.shape))).from_address(address)
            array = np.ndarray(self.shape, self.dtype, memory, order=self.order)
        if not writeable:
            array.flags.writeable = False
        return array

    def empty(self) -> _Array:
        array: _Array = np.empty(self.shape, self.dtype, order=self.order)
        return array

    def suits(self, array: _Array) -> bool:
        """Whether the library can copy from and to the array."""
        return bool(self.axes or (array.flags.f_contiguous if self.order == "F" else array.flags.c_contiguous))

    def byte_strides(self, array: _Array) -> Any:
        if not self.axes:
            return None
        return (ctypes.c_int64 * 3)(*(array.strides[axis] for axis in self.axes))


class _Owner:
    """Frees an object of the library, when no task and no part of the program uses it any more."""

    def __init__(self, runtime: Runtime, free: Any, handle: int, array: _Array | None = None) -> None:
        self.runtime, self._free, self.handle, self._array = runtime, free, handle, array

    def __del__(self) -> None:
        # The library uses the memory of the array until it has freed the object.
        self.runtime.free_later(self._free, self.handle, self._array)


class Datum(Handle):
    """An array that tasks use: made by `Runtime.data`, or a tile of a `TiledMatrix`.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    __slots__ = ("__weakref__",)

    _layout: ArrayLayout
    _owner: _Owner

    @property
    def shape(self) -> tuple[int, ...]:
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._layout.dtype

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' x '.join(map(str, self.shape))} {self.dtype}>"

    def read(self, out: _Array | None = None) -> _Array:
        """A copy of the value that the tasks submitted so far leave, in ``out`` if given. Waits for them."""
        layout = self._layout
        if out is None:
            out = layout.empty()
        elif not is_array(out) or (out.shape, out.dtype) != layout[:2] or not out.flags.writeable:
            raise ValueError(f"out must be a writeable array of the shape {self.shape} and the type {self.dtype}")
        direct = out if layout.suits(out) else layout.empty()
        self._owner.runtime.flush()
        self._owner.runtime.call(library.fairlead_datum_read, self._handle, direct.ctypes.data, layout.byte_strides(direct))
        if direct is not out:
            out[...] = direct
        return out

    def write(self, value: npt.ArrayLike) -> None:
        """Replace the value, after the tasks submitted so far."""
        layout = self._layout
        array = np.broadcast_to(np.asarray(value, self.dtype), self.shape)
        if not layout.suits(array):
            array = np.array(array, order=layout.order)
        self._owner.runtime.flush()
        self._owner.runtime.call(library.fairlead_datum_write, self._handle, array.ctypes.data, layout.byte_strides(array))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> _Array:
        return _converted(self.read(), dtype, copy)


def _converted(value: _Array, dtype: npt.DTypeLike | None, copy: bool | None) -> _Array:
    if copy is False:
        raise ValueError("the value is read into a new array: copy=False is not possible")
    return value if dtype is None else value.astype(dtype, copy=False)


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for n in shape:
        product *= n
    return product


def _checked_shape(shape: Any) -> tuple[int, ...]:
    several: Any = shape
    sizes = (int(several),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in several)
    if min(sizes, default=1) < 1:
        raise ValueError(f"the shape is {sizes}: data have at least one element")
    return sizes


def single_datum(runtime: Runtime, given: Any, dtype: npt.DTypeLike | None, name: str) -> Datum:
    """The array itself, used in place, or a new datum of a shape."""
    array: _Array | None = None
    order: Literal["C", "F"] = "C"
    axes: tuple[int, ...] = ()
    if isinstance(given, (int, np.integer, tuple, list)):
        shape, element = _checked_shape(given), element_type(np.float64 if dtype is None else dtype, name)
        # The library computes zeros by pages, in which whole elements must fit: they are bytes for it.
        layout = _flat(_product(shape) * element.itemsize, 1)
        address, content = None, tasks.ZEROS
    else:
        array = np.from_dlpack(given) if is_foreign(given) else given
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"{name} is a {type(given).__name__}: pass an array of NumPy, or a shape")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            raise TypeError(f"{name} has the type {array.dtype}, and is used in place: convert it first")
        shape, element = array.shape, element_type(array.dtype, name)
        layout, order, axes = _layout_in_place(array, name)
        address, content = array.ctypes.data, tasks.HAS_VALUE
    handle = ctypes.c_void_p()
    arguments = (name.encode(), ctypes.byref(layout), address, content, ctypes.byref(handle))
    runtime.call_with_runtime(library.fairlead_datum_create, *arguments)
    assert handle.value is not None
    owner = _Owner(runtime, library.fairlead_datum_free, handle.value, array)
    return Datum(owner, handle.value, ArrayLayout(shape, element, order, axes), -1)


def _flat(elements: int, element_bytes: int) -> tasks.Layout:
    return tasks.Layout(element_bytes, 1, (elements, 1, 1), (1, 0, 0))


def _layout_in_place(array: _Array, name: str) -> tuple[tasks.Layout, Literal["C", "F"], tuple[int, ...]]:
    """The layout for the library, the order if there are no gaps, and the axes otherwise."""
    if array.size == 0:
        raise ValueError(f"{name} has the shape {array.shape}: data have at least one element")
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only, and tasks use it in place: pass a copy")
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return _flat(array.size, array.itemsize), "C" if array.flags.c_contiguous else "F", ()
    axes = tuple(sorted(range(array.ndim), key=lambda axis: (array.shape[axis] == 1, array.strides[axis])))
    strides = [array.strides[axis] // array.itemsize for axis in axes]
    if array.ndim > 3 or min(array.strides) <= 0 or any(step % array.itemsize for step in array.strides):
        raise ValueError(f"{name} has the strides {array.strides}: pass an array without gaps, or one of up to three dimensions")
    extents = [array.shape[axis] for axis in axes]
    pad = 3 - array.ndim
    return tasks.Layout(array.itemsize, array.ndim, (*extents, *[1] * pad), (*strides, *[0] * pad)), "C", axes


class Tile(Datum):
    """A tile of a `TiledMatrix`, column-major.

    Attributes
    ----------
    row, column : int
        Counted in tiles.
    """

    __slots__ = ("column", "row")

    row: int
    column: int


def _tile(owner: _Owner, handle: int, layout: ArrayLayout, row: int, column: int) -> Tile:
    tile = Tile(owner, handle, layout, ELEMENTS.get(layout.dtype, -1))
    tile.row, tile.column = row, column
    return tile


class TiledMatrix(Grid):
    """A matrix in tiles, each of which is a datum. Made by `Runtime.tiled`. The tiles are in the runtime's memory and, if that
    is full, in its spill file. ``a[i, j]`` is a tile; ``numpy.asarray(a)`` copies the elements to an array.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    tile : tuple of int
        Rows and columns of a full tile; those at the end may be smaller.
    grid : tuple of int
        The number of rows and columns of tiles.
    """

    def __new__(cls, *_: Any, **__: Any) -> TiledMatrix:
        return super().__new__(cls)

    def __init__(
        self, runtime: Runtime, shape: tuple[int, int], dtype: np.dtype[Any], tile: tuple[int, int], lower: bool, zeros: bool, name: str
    ) -> None:
        self.shape, self.dtype, self.tile, self.lower = shape, dtype, tile, lower
        self.grid = (-(-shape[0] // tile[0]), -(-shape[1] // tile[1]))
        # The library computes zeros by pages, in which whole elements must fit.
        computed = zeros and 4096 % dtype.itemsize == 0
        super().__init__(self._made_tiles(runtime, tasks.ZEROS if computed else tasks.NO_VALUE, name), self.grid[1])
        if zeros and not computed:
            for one in self.tiles():
                one.write(np.zeros((), dtype))

    def _made_tiles(self, runtime: Runtime, content: int, name: str) -> list[Tile | None]:
        (rows, columns), (tile_rows, tile_columns) = self.shape, self.tile
        tiling = tasks.Tiling(ctypes.sizeof(tasks.Tiling), self.dtype.itemsize, rows, columns, tile_rows, tile_columns, int(self.lower))
        handle = ctypes.c_void_p()
        runtime.call_with_runtime(library.fairlead_tiles_create, name.encode(), ctypes.byref(tiling), content, ctypes.byref(handle))
        assert handle.value is not None
        owner = _Owner(runtime, library.fairlead_tiles_free, handle.value)
        dtype = self.dtype

        @functools.cache  # most tiles have the same
        def layout_of(m: int, n: int) -> ArrayLayout:
            return ArrayLayout((m, n), dtype, "F", (0, 1))

        tiles: list[Tile | None] = []
        for i in range(self.grid[0]):
            for j in range(self.grid[1]):
                if self.lower and j > i:
                    tiles.append(None)
                    continue
                check(library.fairlead_tiles_at(owner.handle, i, j, ctypes.byref(handle)))
                layout = layout_of(min(tile_rows, rows - i * tile_rows), min(tile_columns, columns - j * tile_columns))
                tiles.append(_tile(owner, handle.value, layout, i, j))
        return tiles

    def __repr__(self) -> str:
        return f"<TiledMatrix {self.shape[0]} x {self.shape[1]} {self.dtype}, {self.grid[0]} x {self.grid[1]} tiles>"

    def _missing(self, at: Any) -> Tile:
        """The tile of an index that may be negative."""
        if not is_tuple(at) or len(at) != 2:
            raise TypeError(f"{at!r} is no index of a tile: give a row and a column, as in a[i, j]")
        row, column = (operator.index(n) + (count if n < 0 else 0) for n, count in zip(at, self.grid))
        tile = self._tiles[row * self.grid[1] + column] if 0 <= row < self.grid[0] and 0 <= column < self.grid[1] else None
        if tile is None:
            raise IndexError(f"there is no tile {at!r} in {self!r}")
        return tile  # type: ignore[no-any-return]

    def tiles(self) -> Iterator[Tile]:
        """All tiles, row by row."""
        return (tile for tile in self._tiles if tile is not None)

    def read(self, out: _Array | None = None) -> _Array:
        """A copy of the elements that the tasks submitted so far leave; zeros above the diagonal if only the lower tiles exist."""
        if out is None:
            out = (np.zeros if self.lower else np.empty)(self.shape, self.dtype, order="F")
        elif not is_array(out) or out.shape != self.shape or out.dtype != self.dtype:
            raise ValueError(f"out must be an array of the shape {self.shape} and the type {self.dtype}")
        for tile in self.tiles():
            tile.read(self._part(out, tile))
        return out

    to_numpy = read

    def write(self, value: npt.ArrayLike) -> None:
        """Replace the elements, after the tasks submitted so far."""
        array = np.broadcast_to(np.asarray(value), self.shape)
        for tile in self.tiles():
            tile.write(self._part(array, tile))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> _Array:
        return _converted(self.read(), dtype, copy)

    def _part(self, array: _Array, tile: Tile) -> _Array:
        row, column = tile.row * self.tile[0], tile.column * self.tile[1]
        return array[row : row + tile.shape[0], column : column + tile.shape[1]]

"""The functions and structs of ``fairlead_tasks.h`` for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint16,
    c_uint64,
    c_void_p,
)

from ._library import CancelFunction, Setting, library

IN, OUT, INOUT, COMMUTE = range(4)
NO_VALUE, HAS_VALUE, ZEROS = range(3)
KERNELS = ("potrf", "trsm", "syrk", "gemm", "getrf", "trsm_upper", "trsm_lower", "gemm_lu", "gemm_add")

# The argument points to a Call.
BodyFunction = ctypes.CFUNCTYPE(c_int, POINTER(c_uint64))
ReleaseFunction = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class RuntimeOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("memory_bytes", c_uint64),
        ("workers", c_uint64),
        ("settings", POINTER(Setting)),
        ("setting_count", c_size_t),
        ("own_thread", c_int32),
        ("cancelled", CancelFunction),
        ("cancelled_context", c_void_p),
    ]


class Statistics(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("workers", c_uint64),
        ("devices", c_uint64),
        ("capacity_bytes", c_uint64),
        ("peak_bytes", c_uint64),
        ("tasks", c_uint64),
        ("tasks_cancelled", c_uint64),
        ("bytes_read", c_uint64),
        ("bytes_written", c_uint64),
        ("bytes_moved", c_uint64),
        ("evictions", c_uint64),
    ]


class Layout(ctypes.Structure):
    _fields_ = [
        ("element_bytes", c_uint64),
        ("dimensions", c_int32),
        ("extents", c_int64 * 3),
        ("strides", c_int64 * 3),
    ]


class Tiling(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("element_bytes", c_uint64),
        ("rows", c_int64),
        ("columns", c_int64),
        ("tile_rows", c_int32),
        ("tile_columns", c_int32),
        ("lower_only", c_int32),
    ]


# The struct fairlead_view in words of 8 bytes: address, datum, access, bytes of an element, extents, strides.
VIEW_WORDS = 10
# Of a task for fairlead_flow_submit_words(), before its data.
HEAD_WORDS = 5

_FUNCTIONS = {
    "runtime_options_init": (c_int, [POINTER(RuntimeOptions), c_size_t]),
    "runtime_create": (c_int, [POINTER(RuntimeOptions), POINTER(c_void_p)]),
    "runtime_statistics": (c_int, [c_void_p, POINTER(Statistics), c_size_t]),
    "runtime_report": (c_int, [c_void_p, POINTER(c_char_p)]),
    "runtime_live": (c_int, [c_void_p, c_uint16, POINTER(c_char_p)]),
    "runtime_remove_checkpoint": (c_int, [c_void_p]),
    "runtime_free": (None, [c_void_p]),
    "datum_create": (c_int, [c_void_p, c_char_p, POINTER(Layout), c_void_p, c_int, POINTER(c_void_p)]),
    "datum_free": (None, [c_void_p]),
    "datum_read": (c_int, [c_void_p, c_void_p, POINTER(c_int64)]),
    "datum_write": (c_int, [c_void_p, c_void_p, POINTER(c_int64)]),
    "tiles_create": (c_int, [c_void_p, c_char_p, POINTER(Tiling), c_int, POINTER(c_void_p)]),
    "tiles_at": (c_int, [c_void_p, c_int64, c_int64, POINTER(c_void_p)]),
    "tiles_free": (None, [c_void_p]),
    "body_error": (None, [c_char_p]),
    "codelet_create": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, POINTER(c_int), c_size_t, c_int32, POINTER(c_void_p)]),
    "codelet_kernel": (c_int, [c_void_p, c_int, c_int, POINTER(c_void_p)]),
    "codelet_free": (None, [c_void_p]),
    "flow_create": (c_int, [c_void_p, POINTER(c_void_p)]),
    "flow_submit_words": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "flow_use_checkpoints": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_uint64)]),
    "flow_wait": (c_int, [c_void_p, POINTER(c_int)]),
    "flow_cancel": (c_int, [c_void_p]),
    "flow_free": (None, [c_void_p]),
}
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(library, f"fairlead_{_name}")
    _function.restype, _function.argtypes = _result, _arguments

"""The shared library: where it is, and the functions and structs of ``fairlead.h`` for ctypes."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any

# Of the binary interface: the name of the library contains it (docs/compatibility.md).
INTERFACE = "0.1"

CancelFunction = ctypes.CFUNCTYPE(c_int, c_void_p)
BlockFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_int64, c_int64, c_void_p, c_int64)

(OK, USAGE, CONFIG, INPUT, NUMERICAL, MEMORY, SYSTEM, CALLBACK, CANCELLED, UNSUPPORTED, OTHER, SINGULAR, TASK,
 STOPPED) = range(14)
FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = range(4)
ROW_MAJOR, COLUMN_MAJOR = range(2)
STORED = ("both", "mean", "lower", "upper")


class Setting(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("memory_bytes", c_uint64),
        ("workers", c_uint64),
        ("method", c_int),
        ("stored", c_int),
        ("tile", c_int32),
        ("refine", c_int32),
        ("condition", c_int32),
        ("required_digits", c_int32),
        ("rank_tolerance", c_double),
        ("settings", POINTER(Setting)),
        ("setting_count", c_size_t),
        ("cancelled", CancelFunction),
        ("cancelled_context", c_void_p),
        ("over_ranks", c_int32),
    ]


class Phase(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("seconds", c_double), ("counts", c_int32)]


class Report(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("method", c_int),
        ("precision", c_int),
        ("method_reason", c_char_p),
        ("rows", c_int64),
        ("columns", c_int64),
        ("right_hand_sides", c_int64),
        ("backward_error", c_double),
        ("backward_error_limit", c_double),
        ("condition", c_double),
        ("forward_error", c_double),
        ("growth", c_double),
        ("asymmetry", c_double),
        ("residual", c_double),
        ("rank", c_int64),
        ("digits", c_int32),
        ("refinement_steps", c_int32),
        ("tile", c_int32),
        ("seconds", c_double),
        ("bytes_read", c_uint64),
        ("bytes_written", c_uint64),
        ("phases", POINTER(Phase)),
        ("phase_count", c_size_t),
        ("warnings", POINTER(c_char_p)),
        ("warning_count", c_size_t),
    ]


class Properties(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("method", c_int),
        ("precision", c_int),
        ("rows", c_int64),
        ("columns", c_int64),
        ("condition", c_double),
        ("growth", c_double),
        ("backward_error", c_double),
    ]


class Plan(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("method", c_int),
        ("precision", c_int),
        ("method_reason", c_char_p),
        ("rows", c_int64),
        ("columns", c_int64),
        ("right_hand_sides", c_int64),
        ("tile", c_int32),
        ("workers", c_uint64),
        ("memory_bytes", c_uint64),
        ("least_memory_bytes", c_uint64),
        ("in_core_memory_bytes", c_uint64),
        ("disk_bytes", c_uint64),
        ("free_disk_bytes", c_uint64),
        ("input_bytes", c_uint64),
        ("output_bytes", c_uint64),
        ("spill_bytes_read", c_uint64),
        ("spill_bytes_written", c_uint64),
        ("check_bytes_read", c_uint64),
        ("check_bytes_written", c_uint64),
        ("seconds", c_double),
        ("least_seconds", c_double),
        ("most_seconds", c_double),
        ("phases", POINTER(Phase)),
        ("phase_count", c_size_t),
        ("assumptions", POINTER(c_char_p)),
        ("assumption_count", c_size_t),
        ("text", c_char_p),
    ]


# The functions by name: the type of the result, and those of the arguments. Handles are void pointers.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "error_text": (c_char_p, []),
    "kernels_name": (c_int, [POINTER(Options), c_char_p, c_size_t]),
    "method_name": (c_char_p, [c_int]),
    "options_init": (c_int, [POINTER(Options), c_size_t]),
    "matrix_from_memory": (c_int, [c_void_p, c_int, c_int, c_int64, c_int64, c_int64, POINTER(c_void_p)]),
    "matrix_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "matrix_from_function": (c_int, [BlockFunction, c_void_p, c_int, c_int64, c_int64, POINTER(c_void_p)]),
    "matrix_shape": (c_int, [c_void_p, POINTER(c_int64), POINTER(c_int64), POINTER(c_int)]),
    "matrix_free": (None, [c_void_p]),
    "multiply": (c_int, [c_void_p, c_void_p, POINTER(Options), c_int, c_int, c_int64, c_void_p]),
    "multiply_to_file": (c_int, [c_void_p, c_void_p, POINTER(Options), c_int, c_int, c_char_p]),
    "solver_create": (c_int, [POINTER(Options), POINTER(c_void_p)]),
    "solver_solve": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_int64, c_void_p]),
    "solver_factor": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "solver_plan": (c_int, [c_void_p, c_void_p, c_int64, POINTER(Plan), c_size_t]),
    "solver_plan_shape": (c_int, [c_void_p, c_int64, c_int64, c_int, c_int64, POINTER(Plan), c_size_t]),
    "solver_report": (c_int, [c_void_p, POINTER(Report), c_size_t]),
    "solver_free": (None, [c_void_p]),
    "factors_load": (c_int, [c_char_p, POINTER(Options), POINTER(c_void_p)]),
    "factors_solve": (c_int, [c_void_p, c_int, c_int, c_void_p, c_int64, c_void_p]),
    "factors_multiply_lower": (c_int, [c_void_p, c_int, c_void_p, c_int64, c_void_p]),
    "factors_log_determinant": (c_int, [c_void_p, POINTER(c_double), POINTER(c_double)]),
    "factors_inertia": (c_int, [c_void_p, POINTER(c_int64), POINTER(c_int64), POINTER(c_int64)]),
    "factors_save": (c_int, [c_void_p, c_char_p]),
    "factors_describe": (c_int, [c_void_p, POINTER(Properties), c_size_t]),
    "factors_free": (None, [c_void_p]),
}


def _candidates() -> list[str]:
    """Where the library may be, the first one preferred."""
    if given := os.environ.get("LIBFAIRLEAD"):
        return [given]
    name = f"libfairlead.so.{INTERFACE}"
    packaged = pathlib.Path(__file__).with_name("lib") / name
    return [str(packaged)] if packaged.exists() else [name]


def _load() -> tuple[ctypes.CDLL, str]:
    failures: list[str] = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            failures.append(str(error))
    raise ImportError(
        f"The shared library of Fairlead cannot be loaded: {'; '.join(failures)}. Install the package with the library "
        "(pip install .), or set LIBFAIRLEAD to the path of libfairlead.so."
    )


library, path = _load()
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(library, f"fairlead_{_name}")
    _function.restype, _function.argtypes = _result, _arguments

version: str = library.fairlead_version().decode()
if version.split(".")[:2] != INTERFACE.split("."):
    raise ImportError(f"{path} is Fairlead {version}; this package needs {INTERFACE}.")


def _method_names() -> tuple[str, ...]:
    names: list[str] = []
    while name := library.fairlead_method_name(len(names)):
        names.append(name.decode())
    return tuple(names)


# Each at its number: "automatic", "cholesky", "ldlt", ...
METHODS = _method_names()


def error_text() -> str:
    """The text of the last error on this thread."""
    return str(library.fairlead_error_text(), "utf-8", "replace")


def where() -> str:
    """The path of the loaded library."""
    if os.sep in path:
        return path
    try:
        maps = pathlib.Path("/proc/self/maps").read_text()
    except OSError:
        return path
    return next((line.split(maxsplit=5)[5] for line in maps.splitlines() if path in line), path)


def kernels_name() -> str:
    """The name of the BLAS library, or why none can be loaded."""
    text = ctypes.create_string_buffer(200)
    status = library.fairlead_kernels_name(None, text, len(text))
    return text.value.decode() if status == OK else error_text()


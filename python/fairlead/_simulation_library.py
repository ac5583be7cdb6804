"""The functions and structs of ``fairlead_simulation.h`` for ctypes, and its objects with their memory."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._errors import check

READ, WRITE, READ_WRITE, COMMUTATIVE = range(4)


class TaskList(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("title", c_char_p),
        ("data_count", c_size_t),
        ("data_bytes", POINTER(c_uint64)),
        ("data_names", POINTER(c_char_p)),
        ("task_count", c_size_t),
        ("kernel_count", c_size_t),
        ("kernel_names", POINTER(c_char_p)),
        ("task_kernels", POINTER(c_uint32)),
        ("first_accesses", POINTER(c_uint64)),
        ("accessed_data", POINTER(c_uint32)),
        ("access_modes", POINTER(c_uint8)),
        ("first_predecessors", POINTER(c_uint64)),
        ("predecessors", POINTER(c_uint32)),
        ("priorities", POINTER(c_int32)),
        ("flops", POINTER(c_double)),
        ("processor_count", c_size_t),
        ("processor_names", POINTER(c_char_p)),
        ("seconds", POINTER(c_double)),
    ]


class SimulationOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("settings", POINTER(_library.Setting)),
        ("setting_count", c_size_t),
        ("machine", c_char_p),
    ]


# The functions of a policy by name: the types of the arguments after the context and the view.
_POLICY_ARGUMENTS: dict[str, list[Any]] = {
    "attached": [],
    "ready": [c_uint64, c_int32],
    "finished": [c_uint64, c_uint32, c_double],
    "pick": [c_uint32, c_int32, POINTER(c_int64)],
    "victim": [c_uint32, POINTER(c_uint32), c_size_t, POINTER(c_uint32)],
    "upcoming": [c_uint32, POINTER(c_uint32), c_size_t, POINTER(c_size_t)],
}
POLICY_FUNCTIONS = {
    name: ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, *arguments) for name, arguments in _POLICY_ARGUMENTS.items()
}


class PolicyStruct(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("name", c_char_p),
        ("context", c_void_p),
        ("attached", POLICY_FUNCTIONS["attached"]),
        ("ready", POLICY_FUNCTIONS["ready"]),
        ("finished", POLICY_FUNCTIONS["finished"]),
        ("pick", POLICY_FUNCTIONS["pick"]),
        ("victim", POLICY_FUNCTIONS["victim"]),
        ("upcoming", POLICY_FUNCTIONS["upcoming"]),
    ]


class WorkerStruct(ctypes.Structure):
    _fields_ = [("is_device", c_int32), ("node", c_uint32)]


class RunOptions(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", c_size_t),
        ("scheduler", c_char_p),
        ("seed", c_uint64),
        ("record_order", c_int32),
        ("cancelled", _library.CancelFunction),
        ("cancelled_context", c_void_p),
        ("policy", POINTER(PolicyStruct)),
    ]


class TaskRun(ctypes.Structure):
    _fields_ = [("task", c_uint64), ("worker", c_uint32), ("start", c_double), ("end", c_double)]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "workload_name": (c_char_p, [c_size_t]),
    "machine_name": (c_char_p, [c_size_t]),
    "scheduler_name": (c_char_p, [c_size_t]),
    "workload_by_name": (c_int, [c_char_p, POINTER(c_void_p)]),
    "workload_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "workload_from_tasks": (c_int, [POINTER(TaskList), POINTER(c_void_p)]),
    "workload_free": (None, [c_void_p]),
    "simulation_create": (c_int, [c_void_p, POINTER(SimulationOptions), POINTER(c_void_p)]),
    "simulation_free": (None, [c_void_p]),
    "simulation_run": (c_int, [c_void_p, POINTER(RunOptions), POINTER(c_void_p)]),
    "simulation_result_json": (c_char_p, [c_void_p]),
    "simulation_result_order": (c_int, [c_void_p, POINTER(POINTER(TaskRun)), POINTER(c_size_t)]),
    "simulation_result_free": (None, [c_void_p]),
    "policy_view_now": (c_double, [c_void_p]),
    "policy_view_workers": (c_size_t, [c_void_p, POINTER(WorkerStruct), c_size_t]),
    "policy_view_can_run": (c_int32, [c_void_p, c_uint64, c_uint32]),
    "policy_view_estimate": (c_double, [c_void_p, c_uint64, c_uint32]),
    "policy_view_priority": (c_int32, [c_void_p, c_uint64]),
    "policy_view_kernel": (c_char_p, [c_void_p, c_uint64]),
    "policy_view_missing_bytes": (c_uint64, [c_void_p, c_uint64, c_uint32]),
    "policy_view_accesses": (c_size_t, [c_void_p, c_uint64, POINTER(c_uint32), POINTER(c_uint8), c_size_t]),
    "policy_view_bytes": (c_uint64, [c_void_p, c_uint32]),
    "policy_view_residency": (c_int, [c_void_p, c_uint32, c_uint32]),
    "policy_view_transfer_time": (c_double, [c_void_p, c_uint32, c_uint32]),
}
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(_library.library, f"fairlead_{_name}")
    _function.restype, _function.argtypes = _result, _arguments

_library_of_simulations = _library.library


def names(of: str) -> list[str]:
    """All names of the library: of "workload", "machine" or "scheduler"."""
    name_of = getattr(_library_of_simulations, f"fairlead_{of}_name")
    numbers = itertools.count()
    return [name.decode() for name in iter(lambda: name_of(next(numbers)), None)]


class WorkloadHandle:
    """A workload of the library."""

    def __init__(self, handle: c_void_p) -> None:
        self.handle = handle

    def __del__(self) -> None:
        _library_of_simulations.fairlead_workload_free(self.handle)

    @classmethod
    def named(cls, name: str) -> WorkloadHandle:
        handle = c_void_p()
        check(_library_of_simulations.fairlead_workload_by_name(os.fsencode(name), ctypes.byref(handle)))
        return cls(handle)

    @classmethod
    def recorded(cls, path: str) -> WorkloadHandle:
        handle = c_void_p()
        check(_library_of_simulations.fairlead_workload_open(os.fsencode(path), ctypes.byref(handle)))
        return cls(handle)

    @classmethod
    def from_arrays(
        cls,
        title: str,
        arrays: Mapping[str, npt.NDArray[Any]],
        texts: Mapping[str, Sequence[str]],
    ) -> WorkloadHandle:
        """``arrays`` and ``texts``: by the members of the struct; absent ones are null."""
        given = TaskList(struct_bytes=ctypes.sizeof(TaskList), title=title.encode())
        types: dict[str, Any] = {field[0]: field[1] for field in TaskList._fields_}
        kept: dict[str, Any] = {}
        for name, array in arrays.items():
            kept[name] = np.ascontiguousarray(array, dtype=np.dtype(types[name]._type_))
            setattr(given, name, kept[name].ctypes.data_as(types[name]))
        for name, names in texts.items():
            kept[name] = (c_char_p * len(names))(*(text.encode() for text in names))
            setattr(given, name, kept[name])
        given.data_count = len(arrays["data_bytes"])
        given.task_count = len(arrays["task_kernels"])
        given.kernel_count = len(texts["kernel_names"])
        given.processor_count = len(texts["processor_names"])
        handle = c_void_p()
        check(_library_of_simulations.fairlead_workload_from_tasks(ctypes.byref(given), ctypes.byref(handle)))
        return cls(handle)


class SimulationHandle:
    """A workload on a machine, with settings. Any thread may run it."""

    def __init__(self, workload: WorkloadHandle, settings: Mapping[str, str], machine: str | None) -> None:
        pairs = [_library.Setting(key.encode(), os.fsencode(text)) for key, text in settings.items()]
        options = SimulationOptions(
            struct_bytes=ctypes.sizeof(SimulationOptions),
            settings=(_library.Setting * len(pairs))(*pairs),
            setting_count=len(pairs),
            machine=None if machine is None else machine.encode(),
        )
        self.handle = c_void_p()
        check(
            _library_of_simulations.fairlead_simulation_create(
                workload.handle, ctypes.byref(options), ctypes.byref(self.handle)
            )
        )

    def __del__(self) -> None:
        _library_of_simulations.fairlead_simulation_free(self.handle)

    def run(
        self, scheduler: str, seed: int, record_order: bool, cancelled: Any, policy: PolicyStruct | None = None
    ) -> dict[str, Any]:
        """The fields of the result, and `order`, if it is recorded. ``cancelled``: a CancelFunction. ``policy``: instead of
        ``scheduler``."""
        options = RunOptions(
            struct_bytes=ctypes.sizeof(RunOptions),
            scheduler=os.fsencode(scheduler),
            seed=seed,
            record_order=record_order,
            cancelled=cancelled,
            policy=None if policy is None else ctypes.pointer(policy),
        )
        result = c_void_p()
        check(
            _library_of_simulations.fairlead_simulation_run(self.handle, ctypes.byref(options), ctypes.byref(result))
        )
        try:
            fields: dict[str, Any] = json.loads(_library_of_simulations.fairlead_simulation_result_json(result))
            if record_order:
                runs, count = POINTER(TaskRun)(), c_size_t()
                check(
                    _library_of_simulations.fairlead_simulation_result_order(
                        result, ctypes.byref(runs), ctypes.byref(count)
                    )
                )
                fields["order"] = [(run.task, run.worker, run.start, run.end) for run in runs[: count.value]]
            return fields
        finally:
            _library_of_simulations.fairlead_simulation_result_free(result)

"""What is called for each task: the compiled module, or the same in Python."""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from . import _library
from . import _task_library as tasks


def _compiled() -> Any:
    """The compiled module: of a wheel, of a build folder, or installed with the library. None: there is none."""
    name, ending = "_tasks.abi3.so", ".abi3.so"
    has_interface = sys.version_info >= (3, 10) and ending in importlib.machinery.EXTENSION_SUFFIXES
    if not has_interface or os.environ.get("LIBFAIRLEAD_TASKS") == "plain":
        return None
    folders = [pathlib.Path(__file__).parent]
    if os.sep in (library := _library.where()):
        place = pathlib.Path(library).resolve().parent
        folders += [place, place / "fairlead"]
    for folder in folders:
        if not (folder / name).exists():
            continue
        loader = importlib.machinery.ExtensionFileLoader("fairlead._tasks", str(folder / name))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    return None


if TYPE_CHECKING:
    from ._plain_tasks import (
        Body,
        Grid,
        Handle,
        KernelBase,
        TaskBuffer,
        body_function,
        release_function,
    )

    is_compiled: bool
else:
    _module = _compiled()
    is_compiled = _module is not None
    if _module is None:
        from . import _plain_tasks as _module
    Handle, Grid, Body = _module.Handle, _module.Grid, _module.Body
    KernelBase, TaskBuffer = _module.KernelBase, _module.TaskBuffer
    body_function, release_function = _module.body_function, _module.release_function
    _submit = ctypes.cast(tasks.library.fairlead_flow_submit_words, ctypes.c_void_p).value
    _module.connect(_submit)
    sys.modules["fairlead._tasks"] = _module

__all__ = ["Body", "Grid", "Handle", "KernelBase", "TaskBuffer", "body_function", "is_compiled", "release_function"]

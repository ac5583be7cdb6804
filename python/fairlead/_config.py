"""What was found on this machine, and the command ``fairlead``."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

from . import _library


def command() -> str | None:
    """The path of the command, or None."""
    library = pathlib.Path(_library.where())
    for folder in (library.parent.parent / "bin", library.parents[2] / "bin" if len(library.parents) > 2 else library):
        if (folder / "fairlead").is_file():
            return str(folder / "fairlead")
    return shutil.which("fairlead")


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """
    Print the version, the shared library, the BLAS library and the command.

    Parameters
    ----------
    mode : {"stdout", "dicts"}
        ``"dicts"``: return a dictionary instead.

    Examples
    --------
    >>> import fairlead as fl
    >>> sorted(fl.show_config("dicts"))
    ['blas', 'command', 'library', 'version']
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode is {mode!r}: 'stdout' and 'dicts' are supported")
    found = {
        "version": _library.version,
        "library": _library.where(),
        "blas": _library.kernels_name(),
        "command": command() or "not installed",
    }
    if mode == "dicts":
        return found
    for key, value in found.items():
        print(f"{key:8} {value}")
    return None

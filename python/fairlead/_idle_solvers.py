"""Solvers that are kept for the next call with the same options. A new one loads the BLAS and examines the machine, which takes
longer than a small solve."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator, Hashable, Mapping
from typing import Any, Optional

from ._errors import Calls
from ._solver import Options, Solver, setting_text

_MOST_IDLE = 4
_idle: list[tuple[Hashable, Solver]] = []  # the least recently used one first
_lock = threading.Lock()

_Key = Optional[Hashable]  # noqa: UP045 - Python 3.9 evaluates it


def _configuration() -> Hashable:
    """What solvers read when they are made: the environment, and the configuration file."""
    directory = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
    path = os.environ.get("FAIRLEAD_CONFIG") or os.path.join(directory, "fairlead", "config.toml")
    try:
        found = os.stat(path)
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
    except OSError:
        stamp = None
    return (tuple(os.environ.items()), stamp)


def _key(options: Mapping[str, Any]) -> _Key:
    """None: the solver is not kept."""
    given: Mapping[str, object] = options["settings"] or {}
    settings = tuple((name.replace("_", "-"), setting_text(value)) for name, value in given.items())
    others = tuple((name, value) for name, value in options.items() if name != "settings")
    key = (os.getpid(), others, settings, _configuration())
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _take(key: _Key) -> Solver | None:
    with _lock:
        for place in reversed(range(len(_idle))):
            if _idle[place][0] == key:
                return _idle.pop(place)[1]
    return None


def _keep(key: Hashable, solver: Solver) -> None:
    with _lock:
        _idle.append((key, solver))
        oldest = _idle.pop(0)[1] if len(_idle) > _MOST_IDLE else None
    if oldest is not None:
        oldest.free()


@contextlib.contextmanager
def solver_for(options: Mapping[str, Any]) -> Generator[Solver, None, None]:
    """A solver with these options of `Options`, for the calling thread."""
    key = _key(options)
    solver = (None if key is None else _take(key)) or Solver(Options(Calls(), **options))
    try:
        yield solver
    except BaseException:
        solver.free()
        raise
    if key is None:
        solver.free()
    else:
        _keep(key, solver)

"""Fairlead solves systems of linear equations and least squares problems whose matrix may be larger than memory, and reports
how far the solution can be trusted.

>>> import numpy as np, fairlead as fl
>>> x, info = fl.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), [3.0, 5.0], memory="64MiB", return_info=True)
>>> x, info.method
(array([0.8, 1.4]), 'cholesky')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import kernels
from ._codelet import Codelet, Commute, In, InOut, Out, codelet
from ._config import show_config
from ._factorization import (
    Factorization,
    Inertia,
    SlogdetResult,
    cholesky,
    det,
    factor,
    ldl,
    load,
    lu,
    qr,
    slogdet,
)
from ._errors import CheckpointStop
from ._flow import Flow
from ._info import SolveInfo
from ._inverse import inv
from ._library import version as __version__
from ._plan import SolvePlan, plan
from ._policy import Policy, SimView
from ._product import multiply
from ._runtime import Runtime, RuntimeStatistics
from ._simulate import machines, schedulers, simulate, workloads
from ._simulation_table import SimulationTable
from ._solve import lstsq, solve
from ._task_data import Datum, Tile, TiledMatrix
from ._triangular import solve_triangular
from ._workload import SimTask, Workload

if TYPE_CHECKING:

    class LinAlgWarning(RuntimeWarning):
        """The solution may be less accurate than it seems: the text states why."""


def __getattr__(name: str) -> Any:
    # Not an attribute from the start: it imports SciPy, if that is installed.
    if name == "LinAlgWarning":
        from ._errors import linalg_warning

        return linalg_warning()
    raise AttributeError(f"module 'fairlead' has no attribute {name!r}")


__all__ = [
    "CheckpointStop",
    "Codelet",
    "Commute",
    "Datum",
    "Factorization",
    "Flow",
    "In",
    "InOut",
    "Inertia",
    "LinAlgWarning",
    "Out",
    "Policy",
    "Runtime",
    "RuntimeStatistics",
    "SimTask",
    "SimView",
    "SimulationTable",
    "SlogdetResult",
    "SolveInfo",
    "SolvePlan",
    "Tile",
    "TiledMatrix",
    "Workload",
    "__version__",
    "cholesky",
    "codelet",
    "det",
    "factor",
    "inv",
    "kernels",
    "ldl",
    "load",
    "lstsq",
    "lu",
    "machines",
    "multiply",
    "plan",
    "qr",
    "schedulers",
    "show_config",
    "simulate",
    "slogdet",
    "solve",
    "solve_triangular",
    "workloads",
]

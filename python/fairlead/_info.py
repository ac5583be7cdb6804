"""How good a solution is, and what it cost."""

from __future__ import annotations

import ctypes
import dataclasses
import math
from typing import Any

import numpy as np

from . import _library
from ._arrays import DTYPES


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


@dataclasses.dataclass(frozen=True)
class SolveInfo:
    """The report of a solve or a factorization. A value that is not known is None.

    Attributes
    ----------
    method : str
        By which the system was solved: "cholesky", "ldlt", "lu", "qr", ...
    method_reason : str
        Why, if the method was chosen; otherwise empty.
    shape : tuple of int
        Of the matrix.
    right_hand_sides : int
    dtype : numpy.dtype
        Of the computation.
    backward_error, backward_error_limit : float
        Norm of ``b - A x`` relative to ``|A| |x| + |b|``, in the infinity norm, the largest over the right-hand sides. Above
        the limit the solution is wrong, and an error.
    condition : float or None
        An estimate of the condition number in the infinity norm.
    forward_error : float or None
        A bound of the relative error of x in the infinity norm.
    digits : int or None
        Decimal digits of x that can be trusted, by that bound.
    growth : float or None
        Of LU: the largest element of U divided by that of A.
    asymmetry : float or None
        The largest difference between the triangles, relative to the elements.
    residual : float or None
        Of least squares: norm of ``b - A x`` relative to that of b, in the two norm.
    rank : int or None
        Of least squares: the number of independent columns.
    refinement_steps, tile : int
    seconds : float
        Without checks and estimates.
    phases : tuple of (str, float, bool)
        Name, seconds, and whether they count in ``seconds``.
    bytes_read, bytes_written : int
        From and to the spill file.
    warnings : tuple of str
    """

    method: str = "automatic"
    method_reason: str = ""
    shape: tuple[int, int] = (0, 0)
    right_hand_sides: int = 0
    dtype: np.dtype[Any] = dataclasses.field(default_factory=lambda: np.dtype(np.float64))
    backward_error: float = 0.0
    backward_error_limit: float = 0.0
    condition: float | None = None
    forward_error: float | None = None
    digits: int | None = None
    growth: float | None = None
    asymmetry: float | None = None
    residual: float | None = None
    rank: int | None = None
    refinement_steps: int = 0
    tile: int = 0
    seconds: float = 0.0
    phases: tuple[tuple[str, float, bool], ...] = ()
    bytes_read: int = 0
    bytes_written: int = 0
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        reason = f", since {self.method_reason}" if self.method_reason else ""
        lines = [
            f"{self.shape[0]} x {self.shape[1]}, {self.dtype}, by {self.method}{reason}",
            f"backward error {self.backward_error:.2g}, limit {self.backward_error_limit:.2g}",
        ]
        if self.condition is not None:
            digits = f", {self.digits} digits can be trusted" if self.digits is not None else ""
            lines.append(f"condition {self.condition:.2g}{digits}")
        lines.append(f"{self.seconds:.3g} s, {self.bytes_read} bytes read and {self.bytes_written} written")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def info_of(report: _library.Report) -> SolveInfo:
    phases = [report.phases[i] for i in range(report.phase_count)]
    return SolveInfo(
        method=_library.METHODS[int(report.method)],
        method_reason=report.method_reason.decode(),
        shape=(report.rows, report.columns),
        right_hand_sides=report.right_hand_sides,
        dtype=DTYPES[report.precision],
        backward_error=report.backward_error,
        backward_error_limit=report.backward_error_limit,
        condition=_known(report.condition),
        forward_error=_known(report.forward_error),
        digits=report.digits if report.digits >= 0 else None,
        growth=_known(report.growth),
        asymmetry=_known(report.asymmetry),
        residual=_known(report.residual),
        rank=report.rank if report.rank >= 0 else None,
        refinement_steps=report.refinement_steps,
        tile=report.tile,
        seconds=report.seconds,
        phases=tuple((phase.name.decode(), phase.seconds, bool(phase.counts)) for phase in phases),
        bytes_read=report.bytes_read,
        bytes_written=report.bytes_written,
        warnings=tuple(report.warnings[i].decode() for i in range(report.warning_count)),
    )


def report_of(solver: ctypes.c_void_p) -> SolveInfo:
    """Of the solver's last call. Without a report, that is after an early error, all values are defaults."""
    report = _library.Report()
    _library.library.fairlead_solver_report(solver, ctypes.byref(report), ctypes.sizeof(report))
    return info_of(report)

"""Fairlead's own tasks on tiles, for `Flow.submit`: they run without Python.

>>> import numpy as np, fairlead as fl
>>> def cholesky(flow, a):
...     nt = a.grid[0]
...     for k in range(nt):
...         flow.submit(fl.kernels.potrf, a[k, k])
...         for i in range(k + 1, nt):
...             flow.submit(fl.kernels.trsm, a[k, k], a[i, k])
...         for j in range(k + 1, nt):
...             flow.submit(fl.kernels.syrk, a[j, k], a[j, j])
...             for i in range(j + 1, nt):
...                 flow.submit(fl.kernels.gemm, a[i, k], a[j, k], a[i, j])
>>> x = np.arange(60)
>>> k = np.exp(-np.abs(x[:, None] - x) / 9)
>>> with fl.Runtime(memory="16MiB") as rt:
...     a = rt.tiled(k, tile=25, lower=True)
...     with rt.flow() as flow:
...         cholesky(flow, a)
...     bool(np.allclose(np.tril(a), np.linalg.cholesky(k)))
True
"""

from __future__ import annotations

from . import _task_library as tasks
from ._task_core import KernelBase


class Kernel(KernelBase):
    """A kind of task of the library. Its data are tiles of one type: float32, float64, complex64 or complex128."""

    def __new__(cls, name: str, doc: str) -> Kernel:
        return super().__new__(cls)

    def __init__(self, name: str, doc: str) -> None:
        super().__init__(tasks.KERNELS.index(name))
        self.name, self.__doc__ = name, doc

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


potrf = Kernel("potrf", "``(a)``: the lower triangle of a becomes L with a = L L^H.")
trsm = Kernel("trsm", "``(l, a)``: a := a L^-H, with the lower triangle of l.")
syrk = Kernel("syrk", "``(a, c)``: c := c - a a^H, the lower triangle.")
gemm = Kernel("gemm", "``(a, b, c)``: c := c - a b^H.")
getrf = Kernel("getrf", "``(a)``: a becomes L and U with a = L U, without pivoting.")
trsm_upper = Kernel("trsm_upper", "``(u, a)``: a := a U^-1, with the upper triangle of u.")
trsm_lower = Kernel("trsm_lower", "``(l, a)``: a := L^-1 a, with the lower triangle of l, whose diagonal is 1.")
gemm_lu = Kernel("gemm_lu", "``(a, b, c)``: c := c - a b.")
gemm_add = Kernel("gemm_add", "``(a, b, c)``: c := c + a b, for real matrices.")

__all__ = ["Kernel", "gemm", "gemm_add", "gemm_lu", "getrf", "potrf", "syrk", "trsm", "trsm_lower", "trsm_upper"]

"""Factors that serve any number of solves: factor, cholesky, lu, ldl, qr, load; and slogdet, det."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library
from ._arrays import DTYPES, ELEMENTS, Solution, right_hand_sides
from ._errors import Calls, SingularMatrixError, check, warn
from ._info import SolveInfo, _known
from ._matrix import Matrix
from ._solver import Memory, Options, Solver, at_least


class SlogdetResult(NamedTuple):
    """A determinant: its sign, of a complex matrix a number of absolute value 1, and the logarithm of its absolute value."""

    sign: complex
    logabsdet: float


class Inertia(NamedTuple):
    """The numbers of eigenvalues of a symmetric or Hermitian matrix by their sign."""

    positive: int
    negative: int
    zero: int


class Factorization:
    """
    The factors of a matrix. Made by `factor`, `cholesky`, `lu`, `ldl`, `qr` and `load`.

    They hold memory, threads and perhaps a spill file, until they are closed or no longer referenced. Any thread may use them;
    calls run one after the other. A forked process has to load or make its own.

    Attributes
    ----------
    shape : tuple of int
        Of the matrix.
    dtype : numpy.dtype
        Of the factors.
    method : str
    condition, growth, backward_error : float or None
        As in `SolveInfo`, of the matrix when it was factored.
    info : SolveInfo or None
        The report of the factorization; None if the factors were loaded.
    """

    def __init__(self, handle: ctypes.c_void_p, calls: Calls, options: Options, info: SolveInfo | None) -> None:
        self._handle = handle
        self._calls = calls
        self._lock = threading.Lock()
        # The factors refer to the function in the options.
        self._finalizer = weakref.finalize(self, _free, handle, calls, options)
        properties = _library.Properties()
        size = ctypes.sizeof(properties)
        check(_library.library.fairlead_factors_describe(handle, ctypes.byref(properties), size))
        self.shape: tuple[int, int] = (properties.rows, properties.columns)
        self.dtype = DTYPES[properties.precision]
        self.method = _library.METHODS[int(properties.method)]
        self.condition = _known(properties.condition)
        self.growth = _known(properties.growth)
        self.backward_error = _known(properties.backward_error)
        self.info = info

    def __repr__(self) -> str:
        closed = "" if self._finalizer.alive else ", closed"
        return f"<Factorization of {self.shape[0]} x {self.shape[1]}, {self.dtype}, by {self.method}{closed}>"

    def __enter__(self) -> Factorization:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the factors. May be called again."""
        with self._lock:
            self._finalizer()

    def _call(self, function: Any, *arguments: Any) -> None:
        with self._lock:
            if not self._finalizer.alive:
                raise ValueError("the factorization is closed")
            self._calls.check(function(self._handle, *arguments))

    def solve(
        self, b: npt.ArrayLike, trans: bool | int = False, out: np.ndarray[Any, Any] | None = None
    ) -> Any:
        """
        Solve ``a x = b``, or the least squares problem if a has more rows than columns.

        All columns of b are solved in one sweep over the factors in each direction. The solution is not checked.

        Parameters
        ----------
        b : array_like, shape (m,) or (m, k)
            In single precision if the factors are.
        trans : {0, 1, 2}, optional
            Solve with the transpose of a (1, or True), or its conjugate transpose (2), as in `scipy.linalg.lu_solve`.
        out : array, optional
            Where to write the solution.

        Returns
        -------
        x : array, shape (n,) or (n, k)
        """
        if trans not in (0, 1, 2):
            raise ValueError(f"trans is {trans!r}: 0 for a, 1 for its transpose, 2 for its conjugate transpose")
        rows, columns = self.shape
        if trans and rows != columns:
            raise ValueError(f"the matrix has the shape {self.shape}: a transposed solve needs a square one")
        sides, is_vector = right_hand_sides(b, rows, self.dtype)
        solution = Solution(columns, sides.shape[1], sides.dtype, is_vector, out)
        if sides.size:
            self._call(
                _library.library.fairlead_factors_solve,
                int(trans),
                ELEMENTS[sides.dtype],
                sides.ctypes.data,
                sides.shape[1],
                solution.columns.ctypes.data,
            )
        return solution.result(b)

    def multiply_lower(self, z: npt.ArrayLike, out: np.ndarray[Any, Any] | None = None) -> Any:
        """
        The product ``L z``, with ``a = L L^H`` factored by `cholesky`.

        Parameters
        ----------
        z : array_like, shape (n,) or (n, k)
            In single precision if the factors are, complex if they are.
        out : array, optional
            Where to write the product. It may be z.

        Returns
        -------
        array, shape (n,) or (n, k)

        Examples
        --------
        >>> import numpy as np, fairlead as fl
        >>> fl.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).multiply_lower(np.eye(2))
        array([[2., 0.],
               [1., 2.]])
        """
        self._require_cholesky("a product with L")
        columns, is_vector = right_hand_sides(z, self.shape[0], self.dtype, "z")
        product = Solution(self.shape[0], columns.shape[1], columns.dtype, is_vector, out)
        if columns.size:
            self._call(
                _library.library.fairlead_factors_multiply_lower,
                ELEMENTS[columns.dtype],
                columns.ctypes.data,
                columns.shape[1],
                product.columns.ctypes.data,
            )
        return product.result(z)

    def sample(self, rng: Any = None, k: int | None = None) -> np.ndarray[Any, Any]:
        """
        Draw from the normal distribution with mean zero and covariance a, factored by `cholesky`.

        Parameters
        ----------
        rng : numpy.random.Generator or seed, optional
            As for `numpy.random.default_rng`.
        k : int, optional
            The number of draws. They are the same as those of k calls.

        Returns
        -------
        array, shape (n,) or (n, k)
            One draw, or k as columns. For a complex a the real and the imaginary part of each standard normal variable have
            the variance 1/2.

        Examples
        --------
        >>> import numpy as np, fairlead as fl
        >>> f = fl.cholesky(np.array([[1.0, 0.9], [0.9, 1.0]]))
        >>> np.round(np.cov(f.sample(np.random.default_rng(1), k=100_000)), 1)
        array([[1. , 0.9],
               [0.9, 1. ]])
        """
        self._require_cholesky("a draw from the normal distribution")
        count = 1 if k is None else at_least(0, k, "k")
        real = np.float32 if self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1) == 4 else np.float64
        shape = (count, self.shape[0])
        generator = np.random.default_rng(rng)
        if self.dtype.kind == "c":
            parts = generator.standard_normal((*shape, 2), dtype=real)
            z = (parts * real(0.5**0.5)).view(self.dtype)[..., 0]
        else:
            z = generator.standard_normal(shape, dtype=real)
        x = z.T if count else np.empty(shape[::-1], self.dtype)
        self.multiply_lower(x, out=x)
        return x[:, 0] if k is None else x

    def _require_cholesky(self, what: str) -> None:
        if self.method != "cholesky":
            raise ValueError(f"the factors are by {self.method}: {what} needs those of cholesky")

    def slogdet(self) -> SlogdetResult:
        """The sign of the determinant of a, and the logarithm of its absolute value."""
        phase, log_absolute = (ctypes.c_double * 2)(), ctypes.c_double()
        self._call(_library.library.fairlead_factors_log_determinant, phase, ctypes.byref(log_absolute))
        sign = complex(*phase) if self.dtype.kind == "c" else phase[0]
        return SlogdetResult(sign, log_absolute.value if sign else -math.inf)

    def logdet(self) -> float:
        """The logarithm of the determinant. Raises LinAlgError if it is not positive: see `slogdet`."""
        sign, log_absolute = self.slogdet()
        if abs(sign - 1) > 8 * self.shape[0] * np.finfo(self.dtype).eps:  # of a complex sign, within its roundings
            raise np.linalg.LinAlgError("the determinant is not positive: slogdet() returns its sign, too")
        return log_absolute

    def inertia(self) -> Inertia:
        """
        The numbers of positive, negative and zero eigenvalues of a, from factors by `cholesky` or `ldl`.

        Takes much longer than a solve with factors by `ldl`, and needs memory beyond the limit: that of a column of tiles.
        Eigenvalues within rounding errors of zero count as zero.

        Examples
        --------
        >>> import numpy as np, fairlead as fl
        >>> fl.ldl(np.diag([3.0, -1.0, -2.0, 5.0])).inertia()
        Inertia(positive=2, negative=2, zero=0)
        """
        counts = [ctypes.c_int64() for _ in range(3)]
        self._call(_library.library.fairlead_factors_inertia, *map(ctypes.byref, counts))
        return Inertia(*(count.value for count in counts))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, completely or not at all. `load` reads it, also in another program."""
        self._call(_library.library.fairlead_factors_save, os.fsencode(path))


def _free(handle: ctypes.c_void_p, *_kept: object) -> None:
    _library.library.fairlead_factors_free(handle)


def load(
    path: str | os.PathLike[str],
    *,
    memory: Memory = None,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
) -> Factorization:
    """
    Open a file with factors, which are read when a solve needs them, within the memory limit.

    Parameters
    ----------
    path : str or path
        Must stay unchanged as long as the factors are used.
    memory, workers, settings
        As for `solve`.

    Examples
    --------
    >>> import os, tempfile, numpy as np, fairlead as fl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "A.factor")
    ...     fl.lu(np.array([[0.0, 2.0], [1.0, 0.0]])).save(path)
    ...     with fl.load(path, memory="64MiB") as f:
    ...         print(f.solve([4.0, 3.0]), f.slogdet().sign)
    [3. 2.] -1.0
    """
    calls = Calls()
    options = Options(calls, memory=memory, workers=workers, settings=settings)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)} does not exist")
    handle = ctypes.c_void_p()
    calls.check(_library.library.fairlead_factors_load(os.fsencode(path), options.pointer, ctypes.byref(handle)))
    factors = Factorization(handle, calls, options, None)
    warn(_doubts(factors), stacklevel=2)
    return factors


def _doubts(factors: Factorization) -> list[str]:
    """Why solutions by these factors may be wrong."""
    epsilon = float(np.finfo(factors.dtype).eps)
    texts: list[str] = []
    if factors.condition is not None:
        lost, ill = factors.condition * epsilon, f"condition {factors.condition:.0e}"
        if not lost < 1:
            texts.append(f"the matrix is singular to rounding ({ill}): solutions may have no right digit")
        elif 3 * int(-math.log10(max(lost, epsilon))) < int(-math.log10(epsilon)):
            texts.append(f"the matrix is ill-conditioned ({ill}): solutions may have {int(-math.log10(lost))} right digits")
    roundings = min(10 * factors.shape[0] ** 0.5, max(90, 2 * factors.shape[0] ** 0.5))
    limit = roundings * epsilon * (8**0.5 if factors.dtype.kind == "c" else 1)
    if factors.backward_error is not None and not factors.backward_error <= limit:
        texts.append(f"elements grew in the factorization: solutions have a backward error of {factors.backward_error:.1e}")
    return texts


def factored(
    a: Any, shape: Any, dtype: npt.DTypeLike | None, options: Mapping[str, Any], square: bool = False, stacklevel: int = 3
) -> tuple[Factorization | None, tuple[int, int], np.dtype[Any]]:
    """The factors, none of a matrix without elements; its shape and type."""
    calls = Calls()
    with Matrix(a, calls, shape, dtype) as matrix:
        rows, columns = matrix.shape
        given = Options(calls, **options)
        given.require_type(matrix.dtype)
        method = _library.METHODS[int(given.given.method)]
        if rows != columns and (square or method not in ("qr", "automatic")):
            needs = "it must be square" if square else f"{method} needs a square matrix"
            raise np.linalg.LinAlgError(f"a has the shape {matrix.shape}: {needs}")
        if rows < columns:
            raise ValueError(f"a has the shape {matrix.shape}: factors need at least as many rows as columns; factor a.T")
        if matrix.handle is None:
            return None, matrix.shape, matrix.dtype
        handle = ctypes.c_void_p()
        with Solver(given) as solver:
            info = solver.check(
                calls,
                _library.library.fairlead_solver_factor(solver.handle, matrix.handle, ctypes.byref(handle)),
            )
    factors = Factorization(handle, calls, given, info)
    warn(info.warnings, stacklevel=stacklevel)
    return factors, matrix.shape, matrix.dtype


def _required(factored: tuple[Factorization | None, tuple[int, int], np.dtype[Any]]) -> Factorization:
    factors, shape, _ = factored
    if factors is None:
        raise ValueError(f"a has the shape {shape}: a matrix without elements has no factors")
    return factors


def factor(
    a: Any,
    *,
    assume_a: str | None = None,
    method: str | None = None,
    lower: bool | None = None,
    memory: Memory = None,
    condition: bool = True,
    workers: int | None = None,
    settings: Mapping[str, object] | None = None,
    shape: tuple[int, int] | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Factorization:
    """
    Factor a matrix, by the method that suits it.

    The factors are checked by a solve. They are in single precision if a is.

    Parameters
    ----------
    a, assume_a, method, lower, memory, condition, workers, settings, shape, dtype
        As for `solve`. A matrix with more rows than columns is factored by QR.

    Returns
    -------
    Factorization

    Examples
    --------
    >>> import math, numpy as np, fairlead as fl
    >>> f = fl.factor(np.array([[4.0, 2.0], [2.0, 3.0]]))
    >>> f
    <Factorization of 2 x 2, float64, by cholesky>
    >>> f.solve([8.0, 7.0]), round(math.exp(f.logdet()), 12)
    (array([1.25, 1.5 ]), 8.0)
    """
    given = {
        "method": method,
        "assume_a": assume_a,
        "lower": lower,
        "memory": memory,
        "condition": condition,
        "workers": workers,
        "settings": settings,
    }
    return _required(factored(a, shape, dtype, given))


def cholesky(a: Any, *, lower: bool | None = None, **options: Any) -> Factorization:
    """
    Factor a symmetric positive definite matrix. Options as for `factor`.

    Examples
    --------
    >>> import numpy as np, fairlead as fl
    >>> fl.cholesky(np.array([[4.0, 0.0], [0.0, 9.0]])).solve([8.0, 9.0])
    array([2., 1.])
    """
    return _factored_by("cholesky", a, {"lower": lower, **options})


def lu(a: Any, **options: Any) -> Factorization:
    """Factor a square matrix by LU with partial pivoting. Options as for `factor`."""
    return _factored_by("lu", a, options)


def ldl(a: Any, **options: Any) -> Factorization:
    """Factor a symmetric matrix. Options as for `factor`."""
    return _factored_by("ldlt", a, options)


def qr(a: Any, **options: Any) -> Factorization:
    """Factor a matrix with at least as many rows as columns, for least squares. Options as for `factor`."""
    return _factored_by("qr", a, options)


def _factored_by(method: str, a: Any, options: Mapping[str, Any]) -> Factorization:
    unknown = set(options) - {"lower", "memory", "condition", "workers", "settings", "shape", "dtype"}
    if unknown:
        raise TypeError(f"unexpected keyword argument {sorted(unknown)[0]!r}")
    given = {key: value for key, value in options.items() if key not in ("shape", "dtype")}
    return _required(factored(a, options.get("shape"), options.get("dtype"), {"method": method, **given}, stacklevel=4))


def slogdet(
    a: Any, *, shape: tuple[int, int] | None = None, dtype: npt.DTypeLike | None = None, **options: Any
) -> SlogdetResult:
    """
    The sign of the determinant of a square matrix, and the logarithm of its absolute value.

    Options as for `factor`, which it calls. The sign of a complex matrix is a complex number of absolute value 1. For a matrix
    that is exactly singular the result is 0 and -inf, as in NumPy.

    Examples
    --------
    >>> import math, numpy as np, fairlead as fl
    >>> sign, logabsdet = fl.slogdet(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sign, round(math.exp(logabsdet), 12)
    (-1.0, 6.0)
    """
    try:
        factors, _, _ = factored(a, shape, dtype, {"condition": False, **options}, square=True)
    except SingularMatrixError:
        return SlogdetResult(0.0, -math.inf)
    if factors is None:
        return SlogdetResult(1.0, 0.0)
    with factors:
        return factors.slogdet()


def det(a: Any, **options: Any) -> complex:
    """
    The determinant of a square matrix, which overflows to infinity for many large ones: see `slogdet`.

    Options as for `factor`.

    Examples
    --------
    >>> import fairlead as fl
    >>> round(fl.det([[1, 2], [3, 4]]), 12)
    -2.0
    """
    sign, logabsdet = slogdet(a, **options)
    with np.errstate(over="ignore"):
        return sign * float(np.exp(logabsdet)) if sign else sign

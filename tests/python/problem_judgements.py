"""What is right, by NumPy in extended precision: solutions, least squares, determinants and inverses of drawn_problems.py."""

import re

import numpy as np


class Wrong(Exception):
    """What was done that should not be done."""


def wide(array):
    return array.astype(np.clongdouble if np.iscomplexobj(array) else np.longdouble)


def double(array):
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def columns(array):
    return array.reshape(len(array), -1)


def ratio_of(r, by):
    return float(np.where(r > 0, r / np.where(by > 0, by, np.finfo(np.longdouble).tiny), 0).max())


def backward_errors(a, x, b):
    """In the infinity norm, as solve.md defines it; and LAPACK's xGET02, without its factor 1 / eps: both of the worst column."""
    a, x, b = wide(a), wide(columns(x)), wide(columns(b))
    r, size = abs(b - a @ x), abs(a)
    stated = ratio_of(r.max(axis=0), size.sum(axis=1).max() * abs(x).max(axis=0) + abs(b).max(axis=0))
    return stated, ratio_of(r.sum(axis=0), size.sum(axis=0).max() * abs(x).sum(axis=0))


def stated_limit(n, type_):
    limit = min(10 * n**0.5, max(90, 2 * n**0.5)) * float(np.finfo(type_).eps)
    return limit * (8**0.5 if np.dtype(type_).kind == "c" else 1)


def inverse_of(a):
    size = abs(a).max()
    return np.linalg.inv(double(a / size)) / np.float64(size)


def condition_of(a, inverse):
    return float(abs(a).sum(axis=1).max() * abs(inverse).sum(axis=1).max())


def refined(a, inverse, b):
    b, size = wide(columns(b)), np.maximum(abs(columns(b)).max(axis=0).astype(np.longdouble), np.finfo(np.longdouble).tiny)
    b = b / size
    x = wide(inverse @ double(b))
    for _ in range(4):
        x = x + inverse @ double(b - wide(a) @ x)
    return x * size


def errors_of(x, exact):
    size = abs(exact).max(axis=0)
    return (abs(wide(columns(x)) - exact).max(axis=0) / np.where(size > 0, size, 1)).astype(float)


def sensitivity_of(a, inverse, exact, b, roundings=1, x=None):
    """Skeel's: how far relative changes of single elements move x. With `x` and the roundings of a residual, LAPACK's bound of its
    error."""
    changes = roundings * (abs(wide(a)) @ abs(exact) + abs(wide(columns(b))))
    if x is not None:
        changes = changes + abs(wide(columns(b)) - wide(a) @ wide(columns(x)))
    moved, size = (abs(inverse) @ changes).max(axis=0), abs(exact).max(axis=0)
    return float((moved / np.where(size > 0, size, 1)).max())


def without_growth(problem, method):
    return method not in ("lu-incremental", "lu-nopivot", "auto", "ldlt") or method != "ldlt" and problem.kind in ("dominant", "definite")


def expect_method(problem, method, report, machine, tolerance):
    found, a = report["method"], problem.stored
    if method != "auto":
        expected = (method,)
    elif a.shape[0] > a.shape[1] or tolerance:
        expected = ("qr",)
    elif problem.kind == "definite":
        expected = ("cholesky",)
    elif problem.kind == "triangle" and machine.ranks == 1 and not machine.graph:
        expected = ("triangular",)
    elif np.array_equal(a, a.conj().T) or np.array_equal(a, a.T) or problem.triangle:
        expected = ("cholesky", "ldlt") if machine.ranks == 1 and not machine.graph else ("cholesky", "lu-incremental")
        expected += ("lu", "lu-incremental") if machine.level < 1 or problem.kind != "indefinite" else ()
    else:
        expected = ("lu", "lu-incremental")
    if found not in expected:
        raise Wrong(f"the method is {found}, expected {' or '.join(expected)}")


def solution(problem, method, x, report, text, machine, refine, digits, tolerance, by_factors=False, parts_apart=False):
    """`parts_apart`: complex right-hand sides of a real matrix count as two columns."""
    a, b, type_ = problem.a, problem.b, problem.type
    m, n = a.shape
    if x.dtype != type_ or x.shape != (n, *b.shape[1:]) or not np.isfinite(x).all():
        raise Wrong(f"x is {x.dtype}{x.shape}, expected {type_}{(n, *b.shape[1:])}; finite: {np.isfinite(x).all()}")
    if not by_factors:
        expect_method(problem, method, report, machine, tolerance)
    if parts_apart and type_.kind == "c" and problem.stored.dtype.kind == "f":
        x, b = (np.hstack([columns(array).real, columns(array).imag]) for array in (x, b))
    if m > n:
        return least_squares(problem, x, b, report, text, tolerance)
    epsilon = float(np.finfo(type_).eps)
    error, ratio = backward_errors(a, x, b)
    limit = 15 * epsilon if report["method"] != "lu-nopivot" or problem.kind in ("dominant", "definite") else stated_limit(n, type_)
    if not max(error, ratio) <= limit:
        raise Wrong(f"the backward error is {error / epsilon:.3g} eps, the ratio of xGET02 {ratio / epsilon:.3g}")
    stated = report["backward_error"]
    of_wide = epsilon if refine and epsilon > 1e-10 else 0  # the stated one is that before rounding to the file
    if abs(stated - error) > 0.02 * stated + epsilon + of_wide + (report.get("rounded_in_file") or 0) or not stated <= report["backward_error_limit"]:
        raise Wrong(f"the backward error is {error:.4g}, stated {stated:.4g}")
    expected = {stated_limit(n, type_), stated_limit(n, x.dtype)}
    expected |= {stated_limit(n, np.result_type(x.dtype, "f8"))} if refine else set()
    if min(abs(report["backward_error_limit"] / limit - 1) for limit in expected) > 0.01:
        raise Wrong(f"the limit is {report['backward_error_limit']}, documented {expected}")
    if report.get("condition_estimate") is None:
        return None
    inverse = inverse_of(a)
    condition, exact = condition_of(a, inverse), refined(a, inverse, b)
    bound, errors = report["forward_error_bound"], errors_of(x, exact)
    in_single = report.get("rounded_in_file") or refine or by_factors
    slack = 1 + (condition * 1e-6 if in_single else condition * 10 * epsilon)
    if not 0.1 / slack * condition <= report["condition_estimate"] <= 1.05 * slack * condition:
        raise Wrong(f"the condition is {condition:.4g}, estimated as {report['condition_estimate']:.4g}")
    if bound is not None and not (errors <= bound * (1 + 1e-6) + 1e-17 * condition * 1e-2).all():
        raise Wrong(f"the error is {errors.max():.4g}, the bound {bound:.4g}")
    expected = sensitivity_of(a, inverse, exact, b, 10 * epsilon, x)
    if expected < 0.01 and (bound is None or bound > 4 * slack * expected + epsilon):
        raise Wrong(f"a bound of {bound} is far too large: that of the residual is {expected:.3g}")
    warned(report, text, type_, digits)
    return None


def warned(report, text, type_, digits):
    trusted, every = report["trusted_digits"], 6 if np.finfo(type_).eps > 1e-10 else 15
    if 3 * trusted < every and "digit" not in text:
        raise Wrong(f"{trusted} digits can be trusted, without a warning: {text}")
    if digits and trusted < digits:
        raise Wrong(f"{trusted} digits, where {digits} are required")


def too_few_digits(problem, digits):
    a, b = problem.a, problem.b
    if a.shape[0] > a.shape[1]:
        values = np.linalg.svd(double(a), compute_uv=False)
        sensitivity = float(values[0] / values[-1]) ** 2 if values[-1] > 0 else np.inf
    else:
        inverse = inverse_of(a)
        sensitivity = sensitivity_of(a, inverse, refined(a, inverse, b), b)
    if digits <= -np.log10(100 * float(np.finfo(problem.type).eps) * sensitivity) - 1:
        raise Wrong(f"{digits} digits are refused; roundings move x by {float(np.finfo(problem.type).eps) * sensitivity:.3g}")
    return "refused: too few digits"


def optimality(a, x, b, norm):
    """|| A^H r || relative to || A || (|| A || || x || + || b ||), the worst column; and || r ||."""
    unknowns, sides = wide(columns(x)), wide(columns(b))
    r = sides - wide(a) @ unknowns
    def size(array):
        return np.sqrt((abs(array) ** 2).sum(axis=0))
    return ratio_of(size(wide(a).conj().T @ r), norm * (norm * size(unknowns) + size(sides))), size(r), size(sides)


def least_squares(problem, x, b, report, text, tolerance):
    a, epsilon = problem.a, float(np.finfo(problem.type).eps)
    m, n = a.shape
    of_files = float(np.finfo(problem.type).eps)
    if not a.any():
        if x.any() or report["numerical_rank"] != 0:
            raise Wrong("the matrix is zero, so the smallest x is")
        return
    scale = np.float64(abs(a).max())
    u, values, vh = np.linalg.svd(double(a) / scale, full_matrices=False)
    rcond = tolerance or of_files * max(m, n)
    counted = values > rcond * values[0]
    if (abs(values / values[0] / rcond - 1) < 0.9).any() or ((values / values[0] > rcond / 10) & (values / values[0] < 10 * rcond)).any():
        return  # rounding decides the rank
    rank = int(counted.sum())
    if report["numerical_rank"] != rank:
        raise Wrong(f"the rank is {rank}, stated {report['numerical_rank']}; singular values {values}")
    if rank < n and "dependent" not in text:
        raise Wrong(f"the rank is {rank} of {n}, without a warning: {text}")
    normal, left, sides = optimality(a, x, b, float(values[0] * scale))
    by = (u.conj().T @ double(columns(b)))[:rank]
    exact = vh[:rank].conj().T @ (by / values[:rank, None]) / scale
    condition = values[0] / values[rank - 1]
    dropped = values[rank] / values[0] if rank < n else 0
    if not normal <= 15 * epsilon + 2 * dropped:
        raise Wrong(f"|| A^H r || is {normal / epsilon:.3g} eps")
    norm_of = np.linalg.norm(exact, axis=0)
    allowed = condition * (norm_of + (sides + condition * left).astype(float) / (values[0] * scale)) * (40 * n**0.5 * epsilon + 4 * dropped)
    distance = np.linalg.norm(double(columns(x)) - exact, axis=0)
    if not (distance <= allowed).all():
        raise Wrong(f"x is {distance.max():.3g} from that of the singular value decomposition, allowed {allowed.max():.3g}")
    if "relative_residual" in report or report.get("residual") is not None:
        stated = report.get("relative_residual", report.get("residual"))
        true = float((left / np.where(sides > 0, sides, 1)).max())
        if abs(stated - true) > 1e-6 * true + 20 * epsilon:
            raise Wrong(f"the residual is {true:.6g}, stated {stated:.6g}")


def factors_do_not_serve(problem):
    """Why factors are refused for these right-hand sides; nothing if they serve."""
    a, b = problem.stored.dtype, problem.b.dtype
    if np.finfo(a).eps > np.finfo(b).eps:
        return "factors in single precision"
    if a.kind == "f" and b.kind == "c":
        return "real factors, complex sides"
    return ""


def unchecked(problem, method, x, trans=0, warned=""):
    """By factors alone, so without refinement. Blocks of LDL^T and of incremental pivoting let elements grow, and a warning says so if
    ones are not solved for well."""
    if "elements grew" in warned or "Elements grew" in warned:
        return
    a, b, type_ = problem.a, problem.b, problem.type
    epsilon = float(np.finfo(type_).eps)
    if x.dtype != type_ or x.shape != (a.shape[1], *b.shape[1:]) or not np.isfinite(x).all():
        raise Wrong(f"x is {x.dtype}{x.shape}, expected {type_}{(a.shape[1], *b.shape[1:])}; finite: {np.isfinite(x).all()}")
    if a.shape[0] > a.shape[1]:
        normal, _, _ = optimality(a, x, b, float(np.linalg.norm(double(a / abs(a).max()), 2) * abs(a).max()))
        if not normal <= 60 * epsilon:
            raise Wrong(f"by factors, || A^H r || is {normal / epsilon:.3g} eps")
        return
    error, ratio = backward_errors(a if trans == 0 else a.T if trans == 1 else a.conj().T, x, b)
    limit = (40 if without_growth(problem, method) else 1000) * epsilon
    if not max(error, ratio) <= limit:
        raise Wrong(f"by factors, the backward error is {error / epsilon:.3g} eps, the ratio of xGET02 {ratio / epsilon:.3g}, transposed: {trans}")


def in_report(report, type_):
    sign = complex(*report["phase"]) if np.dtype(type_).kind == "c" else complex(report["sign"])
    return sign, report["log_absolute_determinant"]


def determinant(problem, method, phase, logarithm):
    a, n = problem.a, len(problem.a)
    epsilon = float(np.finfo(problem.stored.dtype).eps)
    scale = 2.0 ** np.floor(np.log2(np.float64(abs(a).max())))
    sign, log_scaled = np.linalg.slogdet(double(a) / scale)
    exact = log_scaled + n * np.log(scale)
    inverse = inverse_of(a)
    condition = float(np.einsum("ij,ji->", abs(inverse), abs(a).astype(float))) if method != "qr" else condition_of(a, inverse)
    limit = (16 if without_growth(problem, method) else 200) * epsilon * (n + abs(exact) + condition)
    if limit > 0.1:
        return
    off = max(abs(logarithm - exact), abs(phase - sign))
    if not off <= limit:
        raise Wrong(f"log |det| is {logarithm:.10g}, exactly {exact:.10g}; sign {phase:.6g}, exactly {sign:.6g}; allowed {limit:.3g}")
    if problem.symmetric and abs(phase.imag) > limit:
        raise Wrong(f"the determinant of a Hermitian matrix is real, not of phase {phase}")


def determinant_of_singular(problem, report):
    a = double(problem.stored)
    with np.errstate(all="ignore"):
        bound = np.log(np.linalg.norm(a, axis=1)).sum() + np.log(100 * len(a) ** 2 * float(np.finfo(problem.stored.dtype).eps))
    if report["log_absolute_determinant"] is not None and not report["log_absolute_determinant"] <= bound:
        raise Wrong(f"log |det| of a singular matrix is {report['log_absolute_determinant']:.4g}, at most {bound:.4g} by rounding")


def inverse(problem, method, x):
    a, epsilon = wide(problem.a), float(np.finfo(problem.stored.dtype).eps)
    if x.dtype != problem.stored.dtype or x.shape != a.shape:
        raise Wrong(f"the inverse is {x.dtype}{x.shape}, expected {problem.stored.dtype}{a.shape}")
    size = abs(a).sum(axis=1).max() * abs(wide(x)).sum(axis=1).max()
    off = float(abs(a @ wide(x) - np.eye(len(a))).sum(axis=1).max() / size)
    if not off <= (40 if without_growth(problem, method) else 1000) * epsilon:
        raise Wrong(f"|| A X - I || is {off / epsilon:.3g} eps")

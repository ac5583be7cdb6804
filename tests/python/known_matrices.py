#!/usr/bin/env python3
"""Matrices of known trouble (matrix_gallery.py), solved by the command as a user does, and judged by extended precision and by
LAPACK's results through NumPy.

  /usr/bin/python3 tests/python/known_matrices.py [--runs 3104] [--first 0] [--seed 1] [--only RUN] [--keep FOLDER]
                                                  [--command build/installed/bin/fairlead]

A run is one matrix of one element type, solved by `auto` and another method. 388 runs have each kind of matrix with each of four
element types; eight times that have each of them in eight capacities, from the least that the command states up to all in memory.
Storage order, tile, ranks, devices, front, kept factors and the determinant are drawn. pytest runs some.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import matrix_gallery
import methods
import numpy as np
from matrix_gallery import symmetric

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_SOLVED, USAGE, NOT_TRUSTED = 1, 2, 3
TYPES = ("f8", "c16", "f4", "c8")
SIZES = (1, 2, 5, 17, 33, 50, 67, 97, 130, 180)
CAPACITIES = 8
ALL = 64 << 20
TILES = (8, 16, 24, 40, 64)
METHODS = ("lu", "lu-incremental", "lu-nopivot", "qr", "cholesky", "ldlt")
AS_GRAPH = ("lu-incremental", "lu-nopivot", "qr", "cholesky")


class Wrong(Exception):
    """What the command did that it should not do."""


# Extended precision: 64 bits, and 4,932 decades on each side of 1.

def extended(array):
    return array.astype(np.clongdouble if np.iscomplexobj(array) else np.longdouble)


def powers_of_two(sizes):
    exponents = np.frexp(np.where(sizes > 0, sizes, 1))[1]
    return np.ldexp(np.longdouble(1), exponents)


class Truth:
    """Solutions, condition and determinant by LU with complete pivoting of the equilibrated matrix, refined."""

    def __init__(self, a):
        self.a, n = extended(a), len(a)
        self.rows = powers_of_two(abs(self.a).max(axis=1))
        self.columns = powers_of_two(abs(self.a / self.rows[:, None]).max(axis=0))
        w = self.a / self.rows[:, None] / self.columns
        p, q, self.regular, swaps = np.arange(n), np.arange(n), True, 0
        for k in range(n):
            size = abs(w[k:, k:].real) + abs(w[k:, k:].imag)
            i, j = np.unravel_index(size.argmax(), size.shape)
            if size[i, j] == 0:
                self.regular = False
                return
            swaps += int(i > 0) + int(j > 0)
            for order, at in ((p, i), (q, j)):
                order[[k, k + at]] = order[[k + at, k]]
            w[[k, k + i]] = w[[k + i, k]]
            w[:, [k, k + j]] = w[:, [k + j, k]]
            w[k + 1 :, k] /= w[k, k]
            w[k + 1 :, k + 1 :] -= np.outer(w[k + 1 :, k], w[k, k + 1 :])
        self.w, self.p, self.q = w, p, q
        pivots = np.diag(w)
        self.phase = np.prod(pivots / abs(pivots)) * (-1) ** swaps
        self.log_determinant = np.log(abs(pivots)).sum() + np.log(self.rows).sum() + np.log(self.columns).sum()
        self.inverse = self.sweep(np.eye(n, dtype=self.a.dtype))
        size, of_inverse = abs(self.a), abs(self.inverse)
        self.condition = float(size.sum(axis=1).max() * of_inverse.sum(axis=1).max())
        # Of the scaled matrix: how far roundings move the determinant.
        self.scaled_condition = float(np.einsum("ij,ji->", of_inverse, size))

    def sweep(self, r):
        y = (r / self.rows[:, None])[self.p]
        n = len(y)
        for k in range(n):
            y[k + 1 :] -= np.outer(self.w[k + 1 :, k], y[k])
        for k in reversed(range(n)):
            y[k] /= self.w[k, k]
            y[:k] -= np.outer(self.w[:k, k], y[k])
        x = np.empty_like(y)
        x[self.q] = y
        return x / self.columns[:, None]

    def sensitivity(self, b):
        """Skeel's: how far relative changes of single elements of A and b move x, in the infinity norm; the worst column."""
        b = extended(b)
        x = self.solve(b)[0]
        moved = abs(self.inverse) @ (abs(self.a) @ abs(x) + abs(b))
        size = abs(x).max(axis=0)
        return float((moved.max(axis=0) / np.where(size > 0, size, 1)).max())

    def solve(self, b):
        """x, and how far it may be off relative to the largest component of each column."""
        b = extended(b) + np.zeros((1, 1), self.a.dtype)
        x = self.sweep(b)
        for _ in range(3):
            step = self.sweep(b - self.a @ x)
            x = x + step
        size = abs(x).max(axis=0)
        return x, abs(step).max(axis=0) / np.where(size > 0, size, 1) + 1e-18


def lapacks_ratio(a, x, b):
    """LAPACK's xGET02, without its factor 1 / eps: || b - A x || / (|| A || || x ||) of the worst column, one norms. What the spacing of
    denormal numbers costs does not count."""
    least = np.finfo(x.dtype).smallest_subnormal
    a, x, b = extended(a), extended(x), extended(b)
    norm = abs(a).sum(axis=0).max()
    r = np.maximum(abs(b - a @ x) - abs(a).sum(axis=1)[:, None] * np.longdouble(least), 0).sum(axis=0)
    by = norm * abs(x).sum(axis=0)
    return float(np.where(r > 0, r / np.where(by > 0, by, 1e-4900), 0).max())


def backward_error(a, x, b):
    """As solve.md defines it."""
    a, x, b = extended(a), extended(x), extended(b)
    r, by = abs(b - a @ x).max(axis=0), abs(a).sum(axis=1).max() * abs(x).max(axis=0) + abs(b).max(axis=0)
    return float(np.where(r > 0, r / np.where(by > 0, by, 1), 0).max())


def partial_pivoting(a):
    """L below the diagonal, U, and the order of the rows, in the type of `a`, in which NumPy has them for double precision only."""
    w, order = a.copy(), np.arange(len(a))
    for k in range(len(w)):
        i = k + int((abs(w[k:, k].real) + abs(w[k:, k].imag)).argmax())
        for rows in (w, order):
            rows[[k, i]] = rows[[i, k]]
        if w[k, k] != 0:
            w[k + 1 :, k] /= w[k, k]
            w[k + 1 :, k + 1 :] -= np.outer(w[k + 1 :, k], w[k, k + 1 :])
    return w, order


def lapacks_determinant(a):
    """Phase and logarithm, by xGETRF."""
    w, order = partial_pivoting(a)
    pivots = extended(np.diag(w))
    swaps = np.linalg.slogdet(np.eye(len(a))[order])[0]
    return swaps * np.prod(pivots / abs(pivots)), np.log(abs(pivots)).sum()


def lapacks_solution(a, b):
    """Of xGESV; nothing if it fails."""
    if a.dtype in (np.float64, np.complex128):
        try:
            x = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            return None
    else:
        w, order = partial_pivoting(a)
        x = b[order]
        for k in range(len(x)):
            x[k + 1 :] -= np.outer(w[k + 1 :, k], x[k])
        for k in reversed(range(len(x))):
            x[k] /= w[k, k]
            x[:k] -= np.outer(w[:k, k], x[k])
    return x if np.isfinite(x).all() else None


def by_reflections(a, b):
    """x of QR as xGEQRF does it, without blocks, in the type of `a`."""
    w, x = a.copy(), b.copy()
    n = len(w)
    for k in range(n):
        v = w[k:, k].copy()
        size = np.linalg.norm(v / abs(v).max()) * abs(v).max() if abs(v).max() > 0 else 0
        if size == 0:
            continue
        v[0] += size * (v[0] / abs(v[0]) if v[0] != 0 else 1)
        v /= np.linalg.norm(v / abs(v).max()) * abs(v).max()
        for part in (w[k:, k:], x[k:]):
            part -= 2 * np.outer(v, v.conj() @ part)
    for k in reversed(range(n)):
        x[k] /= w[k, k]
        x[:k] -= np.outer(w[:k, k], x[k])
    return x if np.isfinite(x).all() else None


# Problems.

@dataclasses.dataclass
class Problem:
    kind: matrix_gallery.Kind
    a: np.ndarray
    b: np.ndarray
    symmetric: bool = False  # of a complex matrix: Hermitian
    equals_transpose: bool = False
    definite: object = None  # nothing: rounding decides
    truth: object = None
    ratio: float = 0.0  # of LAPACK's driver
    growth: float = 1.0  # of partial pivoting


def of_type(a, kind, name, random):
    """With unitary factors if complex, so that a symmetric matrix becomes a Hermitian one or, one time in three, equals its transpose."""
    if name.startswith("c") and not kind.refused:
        def phases(n):
            return 1j ** random.integers(0, 4, n) if kind.exact else np.exp(2j * np.pi * random.random(n))

        left = phases(len(a))
        if a.shape[0] == a.shape[1] and np.array_equal(a, a.T):
            if random.random() < 1 / 3:
                return symmetric(left[:, None] * a * left).astype(name)
            below = np.tril(left[:, None] * a * left.conj(), -1)
            a = below + below.conj().T + np.diag(np.diag(a))
        else:
            a = left[:, None] * a * phases(a.shape[1])
    return a.astype(name)


def right_hand_sides(a, random):
    sides = int(random.choice([1, 1, 3]))
    if random.random() < 0.5:
        return (extended(a) @ random.standard_normal((a.shape[1], sides))).astype(a.dtype)
    sizes = np.minimum(abs(a).max(axis=1, initial=0), np.finfo(a.dtype).max / 8)
    b = np.where(sizes > 0, sizes, 1)[:, None] * random.standard_normal((len(a), sides))
    return (b * (1 if a.dtype.kind == "f" else 0.6 + 0.8j)).astype(a.dtype)


def definiteness(a):
    diagonal = np.diag(a).real
    if (diagonal <= 0).any():
        return False
    by = np.sqrt(diagonal.astype(np.longdouble))
    scaled = a / by[:, None] / by
    least = np.linalg.eigvalsh(scaled.astype(np.complex128 if np.iscomplexobj(a) else np.float64))[0]
    unsure = 4 * len(a) * np.finfo(a.dtype).eps
    return None if abs(least) <= unsure else bool(least > 0)


def type_and_level(index):
    """Types follow each other from kind to kind; in `CAPACITIES` times four turns each kind meets each pair."""
    turn, kind = divmod(index, len(matrix_gallery.KINDS))
    return TYPES[(turn + kind) % len(TYPES)], (turn // len(TYPES) + kind) % CAPACITIES


def draw(index, seed):
    """The problem, a generator for the choice of methods and options, and the number of the capacity."""
    kind = matrix_gallery.KINDS[index % len(matrix_gallery.KINDS)]
    random = np.random.default_rng([seed, index])
    name, level = type_and_level(index)
    n = min(int(random.choice(SIZES)), kind.largest)
    a = kind.make(matrix_gallery.Draw(n, random, 30 if name in ("f4", "c8") else 300))
    a = of_type(a, kind, name, random)
    problem = Problem(kind, a, right_hand_sides(np.where(np.isfinite(a), a, 0), random))
    if a.shape[0] == a.shape[1] and not kind.refused:
        problem.symmetric, problem.equals_transpose = np.array_equal(a, a.conj().T), np.array_equal(a, a.T)
        problem.definite = problem.symmetric and definiteness(a)
        problem.truth = Truth(a)
        with np.errstate(all="ignore"):
            x = lapacks_solution(a, problem.b)
            problem.growth = float(abs(np.triu(partial_pivoting(a)[0])).max() / abs(a).max())
        problem.ratio = np.inf if x is None else lapacks_ratio(a, x, problem.b)
    return problem, random, level


def variants(problem, random):
    """Methods, and options of each."""
    a = problem.a
    if problem.kind.refused:
        methods = [str(random.choice(("lu", "lu-nopivot", "auto")))]
    elif a.shape[0] > a.shape[1]:
        methods = [str(random.choice(("auto", "qr")))]
    else:
        every = [m for m in METHODS if m != "ldlt" or problem.symmetric or problem.equals_transpose]
        if not problem.symmetric and random.random() < 0.9:
            every.remove("cholesky")
        methods = ["auto", str(random.choice(every))]
    for method in methods:
        kinds = {"plain": 0.25, "ranks": 0.15, "devices": 0.1, "graph": 0.1, "refine": 0.15, "factors": 0.15, "determinant": 0.1}
        kind = random.choice(list(kinds), p=list(kinds.values()))
        options = []
        if kind == "ranks":
            options = ["--ranks", "3"]
        elif kind == "devices" and not np.iscomplexobj(a):
            options = ["--devices", "emulated:memory=4MiB,bandwidth=10GB/s"]
        elif kind == "graph" and method in AS_GRAPH:
            options = ["--front", "ptg"]
        elif kind == "refine" and method in ("auto", "cholesky") and a.dtype in (np.float64, np.complex128):
            options = ["--refine"]
        action = kind if kind in ("factors", "determinant") and not problem.kind.refused and a.shape[0] == a.shape[1] else "solve"
        options += ["--workers", "1" if "--ranks" in options else str(random.integers(1, 3)), "--tile", str(random.choice(TILES))]
        yield method, action, options


# The command.

class Command:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.least, self.fixed = {}, {}

    def run(self, *words):
        words = [str(self.path), *map(str, words), "--progress", "none"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300)
        if done.returncode < 0:
            raise Wrong(f"{' '.join(words[1:])}: ended by signal {-done.returncode}: {done.stderr}")
        return done

    def needed(self, words, limit):
        """The limit that the command states to need instead of this one, if it does."""
        done = self.run(*words, "--memory", limit)
        stated = re.search(r"([0-9.]+) (KiB|MiB) are needed|at least ([0-9.]+) (KiB|MiB)", done.stderr)
        if done.returncode not in (NOT_SOLVED, USAGE) or stated is None:
            return None
        number, unit = stated.group(1) or stated.group(3), stated.group(2) or stated.group(4)
        return int(float(number) * (1 << (10 if unit == "KiB" else 20)))

    def least_memory(self, key, words, fixed):
        """The least limit with which the command does not state that it needs more; `fixed` has what it needs for any tiles."""
        limit = self.fixed[fixed]
        if key not in self.least:
            for _ in range(40):
                stated = self.needed(words, limit)
                if stated is None:
                    break
                if stated <= limit:  # messages are rounded
                    self.fixed[fixed] = limit = limit + (16 << 10)
                else:
                    limit = stated
            else:
                raise Wrong(f"{' '.join(map(str, words))}: no limit is enough, not even {limit}")
            self.least[key] = limit
        return self.least[key]


def capacity(command, problem, method, options, level):
    if level == CAPACITIES - 1 or problem.kind.refused:
        return ALL
    words = ["solve", "A.npy", "b.npy", "-o", "least.npy", "--overwrite", "--keep-anyway", "--method", method, *options]
    at = options.index("--tile")
    fixed = (problem.a.dtype, problem.b.shape[1], *options[:at])
    if fixed not in command.fixed:
        command.fixed[fixed] = command.needed(words, 1 << 20) or ALL
    least = command.least_memory((fixed, options[at + 1], problem.a.shape, method, problem.symmetric, problem.definite), words, fixed)
    return least + problem.a.nbytes * 3 // 2 * level // (CAPACITIES - 2)


# Judgements. Each raises by `wrong`.

def judge_refusal(problem, done, wrong):
    """Of a square matrix without a solution: is that justified, and explained?"""
    truth, status, text = problem.truth, done.returncode, done.stderr
    epsilon = np.finfo(problem.a.dtype).eps
    if status == NOT_SOLVED and done.method == "cholesky":
        if not problem.symmetric and "ot symmetric" in text.replace("ot Hermitian", "ot symmetric"):
            return "not symmetric"
        if problem.symmetric and not problem.definite and "is not positive definite" in text:
            return "not definite"
    if status == NOT_SOLVED and problem.ratio > 15 * epsilon and "elements grew in the factorization" in text:
        return "LAPACK fails"
    if status == NOT_SOLVED and done.method == "lu-nopivot" and not problem.kind.dominant and (
            "without pivoting" in text or "elements grew in the factorization" in text):
        return "no LU without pivoting"
    if status in (NOT_SOLVED, NOT_TRUSTED) and problem.kind.make is matrix_gallery.denormals:
        return "denormal"
    if status != NOT_TRUSTED:
        raise wrong("refused")
    if problem.kind.singular or not truth.regular:
        return "singular"
    if truth.condition >= 0.3 / epsilon and ("singular" in text or "are not independent" in text):
        if truth.sensitivity(problem.b) < 0.01 / epsilon and done.method != "lu-nopivot":
            # Of a graded matrix single elements decide: LAPACK may have digits.
            with np.errstate(all="ignore"):
                x = (by_reflections if done.method == "qr" else lapacks_solution)(problem.a, problem.b)
            exact = truth.solve(problem.b)[0]
            off = np.inf if x is None else float((abs(extended(x) - exact).max(axis=0) / abs(exact).max(axis=0)).max())
            if off < 0.01:
                raise wrong(f"refused; LAPACK's solution is off by {off:.3g}")
        return "singular to rounding"
    if abs(truth.solve(problem.b)[0]).max() > np.finfo(problem.a.dtype).max:
        return "too large for the file"
    if problem.ratio > 15 * epsilon:
        return "LAPACK fails"
    if done.method == "lu-nopivot" and not problem.kind.dominant and problem.definite is not True:
        return "growth without pivoting"
    raise wrong(f"refused; LAPACK's ratio is {problem.ratio / epsilon:.3g} eps, the condition {truth.condition:.3g}")


def judge_solution(problem, done, report, x, wrong):
    a, b, truth, epsilon = problem.a, problem.b, problem.truth, np.finfo(problem.a.dtype).eps
    if problem.kind.singular:
        # The estimate of the condition is a lower bound, and may be just below 1 / eps.
        if "no digit of the solution can be trusted" not in done.stderr or report["condition_estimate"] < 0.03 / epsilon:
            raise wrong("a singular matrix was solved")
        return
    if done.method == "cholesky" and (not problem.symmetric or problem.definite is False):
        raise wrong("not a positive definite matrix")
    if x.dtype != a.dtype or x.shape != b.shape or not np.isfinite(x).all():
        raise wrong(f"x: {x.dtype} {x.shape}, finite: {np.isfinite(x).all()}")
    # 15 eps are the 30 roundings of LAPACK's test programs. Without pivots where they are needed, x is refined to the stated limit only.
    accepted = 15 if done.method != "lu-nopivot" or problem.kind.dominant or problem.definite else 200
    if "--refine" in done.args:  # LAPACK's xSPOSV refines until || r || <= sqrt(n) eps || A || || x || in the infinity norm
        accepted = max(accepted, 4 * len(a) ** 0.5)
    ratio, limit = lapacks_ratio(a, x, b), max(accepted * epsilon, 4 * problem.ratio)
    if not ratio <= limit:
        raise wrong(f"the ratio of xGET02 is {ratio / epsilon:.3g} eps, that of LAPACK's driver {problem.ratio / epsilon:.3g}")
    error = backward_error(a, x, b)
    stated = report["backward_error"]
    roundings = epsilon / (1 if np.iscomplexobj(a) else 2) + (report.get("rounded_in_file") or 0)
    if abs(error - stated) > 0.01 * stated + roundings and abs(a).max() > 1e-290 and abs(x).max() > 1e-290:
        raise wrong(f"the backward error is {error:.4g}, stated {stated:.4g}")
    if report["method"] == "lu" and np.isfinite(problem.growth):
        done.growth = report["growth"] / problem.growth
        if not 0.25 <= done.growth <= 4:
            raise wrong(f"the growth is {report['growth']:.4g}, that of partial pivoting {problem.growth:.4g}")
    if not truth.regular:
        if report["trusted_digits"]:
            raise wrong("digits of a matrix that is singular in extended precision")
        return
    judge_bounds(problem, done, report, x, wrong)


def judge_bounds(problem, done, report, x, wrong):
    truth, epsilon = problem.truth, np.finfo(problem.a.dtype).eps
    exact, unsure = truth.solve(problem.b)
    size = abs(exact).max(axis=0)
    errors = abs(extended(x) - exact).max(axis=0) / np.where(size > 0, size, 1)
    bound = report["forward_error_bound"]
    if bound is None:
        if report["trusted_digits"] != 0 or ("ill-conditioned" not in done.stderr and "lost digits" not in done.stderr):
            raise wrong("neither bound nor warning")
    elif (unsure > 0.1 * bound).any():
        raise wrong(f"a bound of {bound:.3g}, and extended precision does not suffice ({unsure.max():.3g})")
    # The bound rests on an estimate of || A^-1 diag(w) ||, which may be too small (run 374 with the kernels of SkylakeX).
    elif not (errors <= bound * 1.2 + unsure).all():
        raise wrong(f"the error is {errors.max():.4g}, the bound {bound:.4g}, the condition {truth.condition:.3g}")
    done.tightness = float(bound / errors.max()) if bound and errors.max() > 0 else None
    least = 0 if done.method == "lu-nopivot" and not problem.kind.dominant else 0.1  # with growth the factors are of another matrix
    if truth.condition < 0.01 / epsilon and not least * truth.condition <= report["condition_estimate"] <= 1.05 * truth.condition:
        raise wrong(f"the condition is {truth.condition:.5g}, estimated as {report['condition_estimate']:.5g}")


def judge_determinant(problem, done, found, wrong):
    a, truth, epsilon = problem.a, problem.truth, np.finfo(problem.a.dtype).eps
    if problem.kind.singular:
        # Rounding makes it that of a matrix nearby, as with LAPACK. Hadamard's bound is that of determinants.
        bound = np.log(np.linalg.norm(a.astype(np.complex128), axis=1)).sum() + np.log(10 * len(a) ** 2 * epsilon)
        if not found["log_absolute_determinant"] <= bound:
            raise wrong(f"log |det| of a singular matrix is {found['log_absolute_determinant']:.4g}, at most {bound:.4g} by rounding")
        return
    if not truth.regular or problem.kind.make is matrix_gallery.denormals:
        return
    # QR and LDL^T by blocks depend on the sizes of rows.
    by_blocks = done.method == "ldlt" or done.method == "auto" and not problem.definite and (problem.symmetric or problem.equals_transpose)
    condition = truth.condition if done.method == "qr" or by_blocks else truth.scaled_condition
    if condition * len(a) * epsilon > 0.01:
        return
    if done.method == "lu-nopivot" and not problem.kind.dominant and not problem.definite:
        return
    phase = complex(*found["phase"]) if np.iscomplexobj(a) else found["sign"]
    with np.errstate(all="ignore"):
        sign, size = lapacks_determinant(a)
    lapack = max(abs(float(size) - float(truth.log_determinant)), abs(complex(sign) - complex(truth.phase)))
    off = max(abs(found["log_absolute_determinant"] - float(truth.log_determinant)), abs(phase - complex(truth.phase)))
    growth = 16 if done.method in ("auto", "lu-incremental", "ldlt") else 1
    limit = max(10 * lapack, 4 * growth * epsilon * (len(a) + abs(float(truth.log_determinant)) + condition))
    if not off <= limit:
        raise wrong(f"the determinant is off by {off:.3g}, LAPACK's by {lapack:.3g}; sign {phase}, {complex(truth.phase):.6g}")
    if problem.symmetric:
        negative = int((np.linalg.eigvalsh(a) < 0).sum())
        values = abs(np.linalg.eigvalsh(a))
        if values.min() > 10 * len(a) * epsilon * values.max() and np.sign(phase.real) != (-1) ** negative:
            raise wrong(f"{negative} eigenvalues are negative, and the sign of the determinant is {phase}")


def judge_unchecked(problem, method, done, x, wrong):
    """Of factors without the matrix, so without refinement."""
    epsilon = np.finfo(problem.a.dtype).eps
    if done.returncode == NOT_TRUSTED:
        return
    if done.returncode == NOT_SOLVED and "is not finite in row" in done.stderr and (
            problem.ratio == np.inf or not problem.truth.regular or problem.truth.condition > 1 / epsilon):
        return
    if done.returncode != 0 or x is None:
        raise wrong("factors that were saved without an error")
    if problem.kind.singular:
        if not done.stderr:
            raise wrong("a singular matrix was solved by its factors, without a warning")
        return
    without_growth = method in ("cholesky", "qr") or problem.kind.dominant
    ratio = lapacks_ratio(problem.a, x, problem.b) if np.isfinite(x).all() else np.inf
    if "elements grew in the factorization" in done.stderr or problem.kind.make is matrix_gallery.denormals:
        return
    if problem.truth.regular and (without_growth or method == "lu") and not ratio <= max(30 * epsilon, 8 * problem.ratio):
        raise wrong(f"by factors alone the ratio of xGET02 is {ratio / epsilon:.3g} eps, that of LAPACK's driver {problem.ratio / epsilon:.3g}")


def judge_least_squares(problem, done, report, x, wrong):
    a, b, epsilon = problem.a, problem.b, np.finfo(problem.a.dtype).eps
    double = np.complex128 if np.iscomplexobj(a) else np.float64
    found, _, rank, values = np.linalg.lstsq(a.astype(double), b.astype(double), rcond=epsilon * len(a))
    if report["numerical_rank"] != rank:
        raise wrong(f"the rank is {rank}, stated {report['numerical_rank']}")
    unknowns = extended(x)
    r = extended(b) - extended(a) @ unknowns
    norm = float(values[0])
    size = norm * np.linalg.norm(x.astype(double), axis=0) + np.linalg.norm(b.astype(double), axis=0)
    normal = np.linalg.norm((extended(a).conj().T @ r).astype(double), axis=0) / np.where(size * norm > 0, size * norm, 1)
    if not (normal <= 15 * epsilon).all():
        raise wrong(f"|| A^H r || is {normal.max() / epsilon:.3g} eps")
    if rank < a.shape[1]:
        least = values[rank - 1]
        by = epsilon * values[0] / least * (1 + np.linalg.norm(r.astype(double), axis=0) / least)
        if not (np.linalg.norm(x - found, axis=0) <= 200 * by * (1 + np.linalg.norm(found, axis=0))).all():
            raise wrong("not the solution of minimum norm")
        return
    m, n = a.shape
    scale = np.longdouble(values[-1])
    whole = Truth(np.block([[scale * np.eye(m, dtype=np.longdouble), extended(a)], [extended(a).conj().T, np.zeros((n, n), np.longdouble)]]))
    exact, unsure = whole.solve(np.vstack([b, np.zeros((n, b.shape[1]))]))
    exact = exact[m:]
    errors = abs(unknowns - exact).max(axis=0) / abs(exact).max(axis=0)
    bound = report["forward_error_bound"]
    if bound is None:
        if report["trusted_digits"] != 0 or "warning" not in done.stderr and "ill-conditioned" not in done.stderr:
            raise wrong("neither bound nor warning")
    elif not (errors <= bound * (1 + 1e-6) + 1e4 * unsure).all():
        raise wrong(f"the error is {errors.max():.4g}, the bound {bound:.4g}")


def judge_smallest(problem, x, wrong):
    """Of many solutions, that of smallest norm."""
    in_double = np.result_type(problem.a.dtype, "f8")
    exact, _, _, values = np.linalg.lstsq(problem.a.astype(in_double), problem.b.astype(in_double), rcond=None)
    if x.shape != exact.shape or not np.isfinite(x).all():
        raise wrong(f"x: {x.shape}, finite: {np.isfinite(x).all()}")
    off = np.linalg.norm(x - exact, axis=0) / np.linalg.norm(exact, axis=0)
    if not (off <= 30 * len(exact) * np.finfo(problem.a.dtype).eps * values[0] / values[-1]).all():
        raise wrong(f"off by {off.max():.3g} from the smallest solution")
    return "smallest solution"


def judge(problem, done, report, x, wrong):
    """A word for the statistics."""
    a = problem.a
    if a.shape[0] < a.shape[1] and done.method in ("auto", "qr") and done.returncode == 0:
        return judge_smallest(problem, x, wrong)
    if problem.kind.refused:
        if done.returncode != NOT_SOLVED or problem.kind.refused not in done.stderr:
            raise wrong("to be refused")
        return "refused"
    if a.shape[0] > a.shape[1]:
        if done.returncode == NOT_SOLVED and "deciding its rank takes R" in done.stderr:
            return "more memory for the rank"
        if done.returncode != 0:
            raise wrong("can be solved")
        judge_least_squares(problem, done, report, x, wrong)
        return "least squares"
    if done.returncode != 0:
        return judge_refusal(problem, done, wrong)
    judge_solution(problem, done, report, x, wrong)
    return "solved"


# Runs.

def load(path):
    return np.load(path) if path.exists() else None


def in_json(path):
    return json.loads(path.read_text()) if path.exists() else None


def try_one(command, problem, method, action, options, memory, said):
    folder = command.folder
    for old in ("x.npy", "unchecked.npy", "report.json", "A.factor", "determinant.json"):
        (folder / old).unlink(missing_ok=True)
    common = ["--memory", memory, *options]
    matrix = ["--method", method]

    def wrong(why):
        return Wrong(f"{said}: exit status {done.returncode}, {done.stderr.strip()}: {why}")

    if action != "solve":
        if action == "factors":
            done = command.run("factor", "A.npy", "-o", "A.factor", *matrix, *common)
        if action == "determinant" or done.returncode == 0:
            given = ["A.factor"] if action == "factors" else ["A.npy", *matrix]
            done = command.run("logdet", *given, "--json", "determinant.json", *common[: None if action == "determinant" else -2])
        done.method = method
        if done.returncode != 0:
            return judge_refusal(problem, done, wrong)
        judge_determinant(problem, done, in_json(folder / "determinant.json"), wrong)
        if action == "determinant":
            return "determinant"
        matrix, common = ["--factor", "A.factor"], common[:-2]
        done = command.run("solve", "b.npy", "-o", "unchecked.npy", "--overwrite", *matrix, *common)
        judge_unchecked(problem, method, done, load(folder / "unchecked.npy"), wrong)
    done = command.run("solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "report.json", *matrix, *common)
    done.method, x, report = method, load(folder / "x.npy"), in_json(folder / "report.json")
    if (x is not None) != (done.returncode == 0):
        raise wrong("only a status of 0 has a solution")
    said_before = judge(problem, done, report, x, wrong)
    return said_before + "".join(f", {name} {getattr(done, name):.3g}" for name in ("growth", "tightness") if getattr(done, name, None)) + (
        ", out of core" if report and report.get("evictions") else "")


def campaign(path, runs, seed, report=lambda text: None, keep=None):
    """Raises Wrong with all that is wrong; gives how often each outcome was met."""
    wrong, outcomes = [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="fairlead-known-") as place:
        command = Command(path, pathlib.Path(keep or place))
        for index in runs:
            problem, random, level = draw(index, seed)
            order = random.choice(["C", "F"])
            np.save(command.folder / "A.npy", np.array(problem.a, order=order))
            np.save(command.folder / "b.npy", problem.b)
            for method, action, options in variants(problem, random):
                said = f"run {index}: {problem.kind.name} {problem.a.shape} {problem.a.dtype} {order}, "
                said += f"{action} {method} {' '.join(options)}"
                try:
                    memory = capacity(command, problem, method, options, level)
                    said += f" --memory {memory}"
                    outcome = try_one(command, problem, method, action, options, memory, said)
                    outcomes[outcome.split(",")[0]] += 1
                    outcomes["out of core"] += "out of core" in outcome
                    report(f"{said}: {outcome}")
                except (Wrong, subprocess.TimeoutExpired) as why:
                    wrong.append(str(why))
                    report(f"WRONG {why}")
    if wrong:
        raise Wrong(f"{len(wrong)} are wrong, of {sum(outcomes.values()) + len(wrong)}:\n" + "\n".join(wrong))
    return outcomes


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=CAPACITIES * len(TYPES) * len(matrix_gallery.KINDS))
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--keep", help="folder for the files of the last run")
    options.add_argument("--command", type=pathlib.Path, default=ROOT / "build/installed/bin/fairlead")
    given = options.parse_args()
    runs = range(given.first, given.first + given.runs) if given.only is None else [given.only]
    try:
        outcomes = campaign(given.command.resolve(), runs, given.seed, lambda text: print(text, flush=True), given.keep)
    except Wrong as wrong:
        print(wrong)
        return 1
    print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

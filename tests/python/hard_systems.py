#!/usr/bin/env python3
"""Systems on which solvers err silently, drawn from a seed, and judged by exact arithmetic as a user sees them: a solution with
status 0 is within the stated bound of the exact one, its residual is the stated one, and solvable systems are solved.

  /usr/bin/python3 tests/python/hard_systems.py [--runs 400] [--seed 1] [--only RUN] [--command build/installed/bin/fairlead]

Penalties on the diagonal, symmetric and not; triangles that differ by rounding; dependent columns; singular squares; rows and
columns graded over 300 orders; right-hand sides that no column reaches; many right-hand sides of any size. Every fifth run is over
ranks or on devices. pytest runs some.
"""

import argparse
import dataclasses
import fractions
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from exact_systems import Wrong, exact_solution, symmetric, whole
from test_rank_deficient import smallest_solution

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE_CUDA = ROOT / "build/release/tests/fake_cuda"
NOT_SOLVED, NOT_TRUSTED = 1, 3


@dataclasses.dataclass
class System:
    a: np.ndarray
    b: np.ndarray
    methods: tuple
    solvable: bool = True  # with a status of 0; else it must not end with 0
    minimum_norm: bool = False  # whole numbers whose columns may depend on each other
    options: tuple = ()


def columns_of(random):
    return int(random.choice([1, 1, 2, 7]))


def penalties(n, random):
    """Boundary conditions by large numbers on the diagonal, which scale out."""
    a = 2 * np.eye(n) - 0.97 * np.eye(n, k=1) - 0.97 * np.eye(n, k=-1)
    at = random.choice(n, max(1, n // 10), replace=False)
    a[at, at] = 10.0 ** random.uniform(6, 30)
    b = random.standard_normal((n, columns_of(random)))
    b[at] *= a[at, at][:, None]
    return System(a, b, ("cholesky", "cholesky", "lu-incremental", "lu-nopivot"))


def penalties_not_symmetric(n, random):
    """Convection between penalties: no symmetric matrix, however large the diagonal."""
    n = max(n, 4)
    system = penalties(n, random)
    convection = 10.0 ** random.uniform(-9, -1.5)
    system.a += convection * (np.eye(n, k=-1) - np.eye(n, k=1))
    system.methods = ("cholesky", "lu-incremental", "lu-nopivot")
    return system


def nearly_symmetric(n, random):
    """A product that was summed in another order above the diagonal."""
    d = 10.0 ** random.uniform(-8, 8, n)
    m = random.standard_normal((n, n)) / np.sqrt(n)
    a = d[:, None] * (m @ m.T + np.eye(n)) * d
    a = symmetric(a) * (1 + 2e-16 * np.triu(random.integers(-8, 9, (n, n)), 1))
    return System(a, d[:, None] * random.standard_normal((n, columns_of(random))), ("cholesky",))


def dependent_columns(n, random):
    n = int(random.integers(2, 7))
    rank = int(random.integers(1, n + 1))
    m = n + int(random.integers(1, 12))
    a = random.integers(-3, 4, (m, rank)) @ random.integers(-3, 4, (rank, n))
    b = random.integers(-9, 10, (m, columns_of(random)))
    return System(a.astype(float), b.astype(float), ("qr",), minimum_norm=True)


def singular_square(n, random):
    n = int(random.integers(2, 8))
    a = random.integers(-3, 4, (n, n - 1)) @ random.integers(-3, 4, (n - 1, n))
    b = random.integers(-9, 10, (n, columns_of(random)))
    if random.random() < 0.5:
        return System(a.astype(float), b.astype(float), ("qr",), minimum_norm=True, options=("--rank-tolerance", "1e-12"))
    return System(a.astype(float), b.astype(float), ("qr", "lu-incremental"), solvable=False)


def graded_symmetric(n, random):
    d = np.ldexp(1.0, random.integers(-490, 490, n).astype(np.int32))
    core = symmetric(0.8 * np.eye(n) + 0.2 * random.uniform(0, 1, (n, n)) / n)
    a = d[:, None] * core * d
    return System(a, d[:, None] * random.standard_normal((n, columns_of(random))), ("cholesky",))


def graded(n, random):
    rows = np.ldexp(1.0, random.integers(-490, 490, n).astype(np.int32))
    a = rows[:, None] * (random.uniform(-1, 1, (n, n)) + n * np.eye(n))
    return System(a, rows[:, None] * random.standard_normal((n, columns_of(random))), ("lu-incremental", "lu-nopivot"))


def two_sizes(n, random):
    """Products of its norms overflow."""
    power = float(random.integers(140, 155))
    a = np.diag(10.0 ** np.where(random.random(n) < 0.5, power, -power))
    return System(a, np.diag(a)[:, None] * random.integers(1, 9, (n, columns_of(random))), ("cholesky", "lu-nopivot", "lu-incremental"))


def orthogonal_side(n, random):
    """The nearest x is small or zero, and the residual all of b."""
    n = int(random.integers(1, 6))
    m = n + int(random.integers(1, 8))
    a = random.integers(-3, 4, (m, n))
    gram = [[fractions.Fraction(int(v)) for v in row] for row in a]
    b = random.integers(-5, 6, (m, 1))
    rank, x = smallest_solution(a.tolist(), b.tolist())
    denominator = int(np.lcm.reduce([v[0].denominator for v in x]))
    off = [[denominator * int(b[i, 0]) - denominator * sum(g * v[0] for g, v in zip(gram[i], x))] for i in range(m)]
    b = np.array([[float(v[0])] for v in off])
    if random.random() < 0.5:
        b = b + a @ random.integers(-1, 2, (n, 1)) * 2.0 ** -int(random.integers(0, 40))
    return System(a.astype(float), b, ("qr",), minimum_norm=True)


def many_sides(n, random):
    """Of any size, zero and denormal ones among them."""
    n = int(random.integers(2, 13))
    a = symmetric(random.uniform(-1, 1, (n, n))) + n * np.eye(n)
    b = random.standard_normal((n, int(random.integers(50, 400))))
    b *= 10.0 ** random.uniform(-300, 250, b.shape[1])
    b[:, random.random(b.shape[1]) < 0.1] = 0
    b[:, random.random(b.shape[1]) < 0.1] *= 1e-320
    return System(a, b, ("cholesky", "lu-nopivot", "lu-incremental", "qr"))


KINDS = (penalties, penalties_not_symmetric, nearly_symmetric, dependent_columns, singular_square, graded_symmetric, graded, two_sizes,
         orthogonal_side, many_sides)
PLAIN = ((), (), ("--tile", "8"), ("--memory", "12MiB", "--tile", "16"), ("--front", "ptg"), ("--workers", "3"))
OVER_RANKS = (("--ranks", "2"), ("--ranks", "3", "--tile", "5"))
ON_DEVICES = (("--devices", "emulated:memory=4MiB,bandwidth=10GB/s", "--tile", "8"),
              ("--devices", "cuda:0,memory=4MiB,workspace=4KiB", "--tile", "8"))


def draw(index, seed):
    """Name, system, method and options."""
    random = np.random.default_rng([seed, index])
    make = KINDS[index % len(KINDS)]
    system = make(int(random.integers(2, 48)), random)
    method = str(random.choice(system.methods))
    options = PLAIN[random.integers(len(PLAIN))]
    if index // len(KINDS) % 5 == 0:
        options = (OVER_RANKS + (ON_DEVICES if method == "cholesky" else ()))[index // 50 % (4 if method == "cholesky" else 2)]
    if random.random() < 0.5:
        system.a = np.asfortranarray(system.a)
    return make.__name__, system, method, [*options, *system.options]


def environment(options):
    if "cuda" not in " ".join(options):
        return None
    return {**os.environ, "LD_LIBRARY_PATH": str(FAKE_CUDA), "FAKE_CUDA": "devices=1", "FAIRLEAD_CUDA_KERNELS": str(FAKE_CUDA / "kernels")}


def residual_of(a, b, x):
    """|| b - A x || / || b || of the worst column, by whole numbers until the last rounding."""
    (wa, ea), (wb, eb), (wx, ex) = whole(a), whole(b), whole(x)
    worst = 0.0
    for c in range(b.shape[1]):
        power = min(eb, ea + ex)
        side = wb[:, c] << (eb - power)
        off = side - (wa.dot(wx[:, c]) << (ea + ex - power))
        size = sum(int(v) ** 2 for v in side)
        if size:
            worst = max(worst, float(fractions.Fraction(sum(int(v) ** 2 for v in off), size)) ** 0.5)
    return worst


def judge_minimum_norm(system, report, x, wrong):
    """Compares rank, solution and residual with those of rational arithmetic."""
    numbers, power = whole(system.b)
    rank, exact = smallest_solution(system.a.astype(int).tolist(), numbers.tolist())
    if report.get("numerical_rank", rank) != rank:
        raise wrong(f"the rank is {rank}")
    exact = [[value * fractions.Fraction(2) ** power for value in row] for row in exact]
    bound = report.get("forward_error_bound")
    for c in range(x.shape[1]):
        size = max(abs(row[c]) for row in exact)
        off = max(abs(fractions.Fraction(float(v)) - row[c]) for v, row in zip(x[:, c], exact))
        if bound is not None and off > bound * size:
            raise wrong(f"column {c} is off by {float(off / size) if size else float(off):.3g}")
    if system.a.shape[0] > system.a.shape[1]:
        judge_residual(system, report, x, wrong)


def judge_residual(system, report, x, wrong):
    stated, true = report["relative_residual"], residual_of(system.a, system.b, x)
    if abs(stated - true) > 1e-10 * true + 1e-14:
        raise wrong(f"the residual is {true}, stated {stated}")


def judge(system, done, report, x, wrong):
    if not system.solvable:
        if done.returncode != NOT_TRUSTED:
            raise wrong("a singular matrix")
        return
    differs = np.triu(np.abs(system.a - system.a.T)) if system.a.shape[0] == system.a.shape[1] else None
    if "--method cholesky" in " ".join(done.args) and differs.any():
        scale = np.minimum(np.sqrt(np.outer(np.diag(system.a), np.diag(system.a))),
                           1024 * np.minimum.outer(np.diag(system.a), np.diag(system.a)))
        scale = np.maximum(scale, np.maximum(abs(system.a), abs(system.a.T)))
        if (differs > 100 * 2.3e-16 * scale).any():
            if done.returncode != NOT_SOLVED or "is not symmetric" not in done.stderr:
                raise wrong("a matrix that is not symmetric")
            return
    if done.returncode != 0:
        raise wrong("it can be solved")
    if not np.isfinite(x).all():
        raise wrong("numbers that are not finite")
    if system.minimum_norm:
        return judge_minimum_norm(system, report, x, wrong)
    bound = report["forward_error_bound"]
    errors = exact_solution(system.a, system.b)(x)
    if bound is None:
        too_small = (system.b != 0).any(0) & (abs(system.b).max(0) < 1e-300)
        if report["trusted_digits"] != 0 or ("have lost digits" if too_small.any() else "ill-conditioned") not in done.stderr:
            raise wrong("no bound and no warning")
    elif not max(errors) <= bound:
        raise wrong(f"the error is {max(errors):.3g}, the bound {bound:.3g}")


def try_one(command, folder, index, seed):
    name, system, method, options = draw(index, seed)
    np.save(folder / "A.npy", system.a)
    np.save(folder / "b.npy", system.b)
    for kept in ("x.npy", "report.json"):
        (folder / kept).unlink(missing_ok=True)
    defaults = [] if "--memory" in options else ["--memory", "64MiB"]
    defaults += [] if "--workers" in options else ["--workers", "2"]
    words = [command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--json", "report.json", "--progress", "none", "--method", method,
             *defaults, *options]
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=300, env=environment(options))
    said = f"run {index}: {name} {system.a.shape}, {method} {' '.join(options)}: exit status {done.returncode}, {done.stderr.strip()}"
    written = (folder / "x.npy").exists()

    def wrong(why):
        return Wrong(f"{said}: {why}")

    if written != (done.returncode == 0):
        raise wrong("only a status of 0 has a solution")
    judge(system, done, json.loads((folder / "report.json").read_text()) if written else None, np.load(folder / "x.npy") if written else None, wrong)
    return said


def campaign(command, runs, seed, report=lambda text: None):
    """Raises Wrong with all that is wrong."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="fairlead-hard-") as place:
        for index in runs:
            try:
                report(try_one(command, pathlib.Path(place), index, seed))
            except (Wrong, subprocess.TimeoutExpired) as why:
                wrong.append(str(why))
                report(f"WRONG {why}")
    if wrong:
        raise Wrong(f"{len(wrong)} of {len(runs)}:\n" + "\n".join(wrong))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--command", type=pathlib.Path, default=ROOT / "build/installed/bin/fairlead")
    given = options.parse_args()
    runs = range(given.runs) if given.only is None else [given.only]
    try:
        campaign(given.command.resolve(), runs, given.seed, lambda text: print(text, flush=True))
    except Wrong as wrong:
        print(wrong)
        return 1
    print(f"{len(runs)} systems: all as stated")
    return 0


if __name__ == "__main__":
    sys.exit(main())

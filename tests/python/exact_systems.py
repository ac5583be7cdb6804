#!/usr/bin/env python3
"""Systems whose exact solutions are known, drawn from a seed: `fairlead solve` may never be further from the exact solution than
the bound that it states, and the bound should be close.

  /usr/bin/python3 tests/python/exact_systems.py [--runs 300] [--seed 1] [--only RUN] [--command build/installed/bin/fairlead]

The oracle is arithmetic with whole numbers: files hold multiples of powers of two. pytest runs some.
"""

import argparse
import fractions
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG_RESULT = 3


# Whole numbers: a matrix is one of these times a power of two.

def whole(array):
    """Whole numbers and the exponent of two by which they are to be multiplied."""
    pairs = [math.frexp(float(value)) for value in array.ravel()]
    least = min((e for m, e in pairs if m), default=0) - 53
    numbers = [int(math.ldexp(m, 53)) << (e - 53 - least) if m else 0 for m, e in pairs]
    return np.array(numbers, dtype=object).reshape(array.shape), least


def eliminated(a, b):
    """x = numbers / determinant by Bareiss's elimination without fractions; nothing if `a` is singular."""
    a, b = a.tolist(), b.tolist()
    n, before = len(a), 1
    for k in range(n):
        pivot = next((i for i in range(k, n) if a[i][k]), None)
        if pivot is None:
            return None
        a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // before
            b[i] = [(of_i * a[k][k] - a[i][k] * of_k) // before for of_i, of_k in zip(b[i], b[k])]
            a[i][k] = 0
        before = a[k][k]
    determinant = a[n - 1][n - 1]
    x = [None] * n
    for i in reversed(range(n)):
        x[i] = [(value * determinant - sum(a[i][j] * x[j][c] for j in range(i + 1, n))) // a[i][i]
                for c, value in enumerate(b[i])]
    return np.array(x, dtype=object), determinant


BITS = 700  # of the solution behind the point


def refined(a, b, guess):
    """x 2^BITS of A x = b, all of whole numbers, by steps whose residuals are exact; `guess` solves approximately."""
    x = np.zeros((a.shape[1], b.shape[1]), dtype=object)
    target = b * (1 << BITS)
    for _ in range(200):
        r = target - a.dot(x)
        size = max(int(abs(v)).bit_length() for v in r.ravel())
        if size == 0:
            return x
        shift = max(0, size - 500)
        step = guess(np.array([[float(v >> shift) for v in row] for row in r]))
        added = np.array([[int(v) for v in row] for row in step], dtype=object) * (1 << shift)
        x = x + added
        largest = [max(map(abs, x[:, c])) for c in range(x.shape[1])]
        if all(max(map(abs, added[:, c])) <= largest[c] >> 110 for c in range(x.shape[1])):
            return x
    return None


def exact_solution(a, b):
    """Of the square or least squares system: a function that gives how far an x is from the exact one, relative to the largest
    element of that in each column. Nothing if A is singular."""
    (wa, ea), (wb, eb) = whole(a), whole(b)
    if a.shape[0] != a.shape[1]:
        wb, wa, eb, ea = wa.T.dot(wb), wa.T.dot(wa), ea + eb, 2 * ea
    x = None
    if len(wa) > 12 and a.shape[0] == a.shape[1] and np.linalg.cond(a) < 1e12:
        inverse = np.linalg.inv(np.ldexp(a, -ea))
        numbers = refined(wa, wb, lambda r: inverse @ r)
        x = None if numbers is None else (numbers, 1 << BITS)
    if x is None:
        x = eliminated(wa, wb)
    if x is None:
        return None
    numbers, by = x
    power = eb - ea  # x = numbers / by 2^power

    def errors(found):
        """|found - x| / || x || of each column, by whole numbers."""
        wf, ef = whole(found)
        result = []
        for c in range(numbers.shape[1]):
            # found = wf 2^ef, so found by 2^-power = wf by 2^(ef - power) is compared with the numbers.
            up = ef - power
            mine = [int(v) * by for v in wf[:, c]]
            exact = [int(v) for v in numbers[:, c]]
            mine, exact = ([v << up for v in mine], exact) if up >= 0 else (mine, [v << -up for v in exact])
            size = max(map(abs, exact))
            off = max(abs(m - e) for m, e in zip(mine, exact))
            result.append(0.0 if off == 0 else math.inf if size == 0 else float(fractions.Fraction(off, size)))
        return result

    return errors


# Kinds of systems: A, and the options that suit it.

def symmetric(a):
    return np.tril(a) + np.tril(a, -1).T


def reflected(n, random, least):
    v = random.standard_normal(n)
    v /= np.linalg.norm(v)
    h = np.eye(n) - 2 * np.outer(v, v)
    return symmetric(h @ np.diag(np.logspace(0, least, n)) @ h)


def even(n, random):
    m = random.standard_normal((n, n))
    return symmetric(m @ m.T / n + np.eye(n))


def spectrum(n, random):
    return reflected(n, random, -random.uniform(0, 10))


def mild_spectrum(n, random):
    return reflected(n, random, -random.uniform(0, 5))


def hilbert(n, random):
    i = np.arange(min(n, int(random.integers(3, 12))))
    return 1 / (i[:, None] + i + 1)


def graded(n, random):
    d = 10.0 ** random.uniform(-6, 6, n)
    return symmetric(d[:, None] * (0.9 * np.eye(n) + 0.1) * d)


def gaussian_process(n, random):
    x = random.uniform(0, 10, n)
    return symmetric(np.exp(-((x[:, None] - x) ** 2) / 2) + 10.0 ** random.uniform(-8, -1) * np.eye(n))


def differences(n, random):
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def integers(n, random):
    m = random.integers(-3, 4, (n, n)).astype(float)
    return m @ m.T + np.eye(n)


def normal(n, random):
    return random.standard_normal((n, n))


def turned(n, random):
    u, v = (np.linalg.qr(random.standard_normal((n, n)))[0] for _ in range(2))
    return u @ np.diag(np.logspace(0, -random.uniform(0, 10), n)) @ v


def rows_scaled(n, random):
    return 10.0 ** random.uniform(-5, 5, (n, 1)) * random.standard_normal((n, n))


def columns_scaled(n, random):
    return random.standard_normal((n, n)) * 10.0 ** random.uniform(-3, 3, n)


def growing(n, random):
    """Elements double in each step of partial pivoting."""
    n = min(n, 40)
    a = np.eye(n) - np.tril(np.ones((n, n)), -1) + 1e-3 * random.standard_normal((n, n))
    a[:, -1] = 1
    return a


def whole_numbers(n, random):
    return random.integers(-4, 5, (n, n)) + 0.5 * np.eye(n)


def triangle(n, random):
    return np.triu(random.uniform(-1, 1, (n, n))) + np.eye(n)


def dominant(n, random):
    return random.uniform(-1, 1, (n, n)) + n * np.eye(n)


def vandermonde(n, random):
    return np.vander(np.linspace(0, 1, min(n, 9)))


def tall(n, random):
    n = min(n, int(random.integers(1, 11)))
    return random.standard_normal((n + int(random.integers(1, 60)), n)) * 10.0 ** (-random.uniform(0, 1) * np.arange(n) / 2)


def fitted(n, random):
    return np.vander(np.linspace(0, 1, int(random.integers(20, 80))), min(n, int(random.integers(2, 7))))


DEFINITE = (even, spectrum, hilbert, graded, gaussian_process, differences, integers)
GENERAL = (normal, turned, rows_scaled, columns_scaled, growing, whole_numbers, triangle, vandermonde)
TALL = (tall, fitted)
OPTIONS = {"cholesky": ([], [], ["--refine"], ["--ranks", "2"], ["--memory", "7MiB", "--tile", "16"], ["--front", "ptg"]),
           "lu-nopivot": ([], ["--ranks", "2"]), "lu-incremental": ([], ["--tile", "12"], ["--memory", "7MiB", "--tile", "16"]),
           "qr": ([], ["--tile", "16"], ["--ranks", "2"])}


def draw(index, seed):
    """Name, method, options, A and b."""
    random = np.random.default_rng([seed, index])
    method = ("cholesky", "cholesky", "cholesky", "lu-nopivot", "lu-incremental", "lu-incremental", "qr", "tall")[index % 8]
    kinds = {"cholesky": DEFINITE, "lu-nopivot": (dominant,), "tall": TALL}.get(method, GENERAL)
    make = kinds[index // 8 % len(kinds)]
    method = "qr" if method == "tall" else method
    options = list(OPTIONS[method][random.integers(len(OPTIONS[method]))])
    single = random.random() < 0.2 and make in (even, differences, integers, normal, dominant, tall)
    dtype = np.float32 if single else np.float64
    a = make(int(random.integers(2, 60)), random).astype(dtype)
    columns = int(random.choice([1, 1, 1, 2, 5, 20]))
    shape = (a.shape[1], columns)
    of_b = random.integers(4)
    if of_b == 0:
        b = random.standard_normal((len(a), columns))
    elif of_b == 1:
        b = a.astype(float) @ random.integers(-9, 10, shape)
    else:
        b = a.astype(float) @ random.standard_normal(shape)
    if len(a) > a.shape[1] and of_b != 0:
        b += 10.0 ** random.uniform(-12, 0) * random.standard_normal(b.shape)
    b = b.astype(dtype)
    return f"{make.__name__} {a.shape} {dtype.__name__}, {columns} columns", method, options, a, b


class Wrong(Exception):
    """A bound that does not hold."""


def try_one(command, folder, index, seed):
    """The bound over the true error of the worst column; nothing where no bound was stated, or the exact solution was found."""
    name, method, options, a, b = draw(index, seed)
    np.save(folder / "A.npy", a)
    np.save(folder / "b.npy", b)
    memory = [] if "--memory" in options else ["--memory", "64MiB"]
    words = [command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--method", method, "--json", "report.json", "--progress", "none",
             "--workers", "1", *memory, *options, "--keep-anyway", "--overwrite"]
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=300)
    said = f"run {index}: {name}, {method} {' '.join(options)}: exit status {done.returncode}, {done.stderr}"
    errors = exact_solution(a.astype(float), b.astype(float))
    if errors is None or done.returncode not in (0, WRONG_RESULT):
        raise Wrong(said)
    report = json.loads((folder / "report.json").read_text())
    bound = report.get("forward_error_bound")
    x = np.load(folder / "x.npy").astype(float)
    if bound is None or not np.isfinite(x).all():
        if "trusted_digits" in report and report["trusted_digits"] != 0:
            raise Wrong(said)
        return None, said
    error = max(errors(x.reshape(len(x), -1)))
    if not error <= bound:
        raise Wrong(f"{said}: the error is {error:.3g}, the bound {bound:.3g}, the condition {report['condition_estimate']:.3g}")
    true = np.linalg.cond(a.astype(float), np.inf) if a.shape[0] == a.shape[1] else None
    if true and true < 1e12 and not report["condition_estimate"] <= 1.02 * true:
        raise Wrong(f"{said}: the condition is {true:.4g}, estimated as {report['condition_estimate']:.4g}")
    return (bound / error if error > 0 else None), f"{said} error {error:.2g}, bound {bound:.2g}"


def campaign(command, runs, seed, report=lambda text: None):
    """The ratios of bounds and errors; raises Wrong with every bound that does not hold."""
    ratios, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="fairlead-exact-") as place:
        for index in runs:
            try:
                ratio, said = try_one(command, pathlib.Path(place), index, seed)
                report(f"{ratio or 0:8.1f}  {said}")
                if ratio:
                    ratios.append(ratio)
            except Wrong as why:
                wrong.append(str(why))
    if wrong:
        raise Wrong(f"{len(wrong)} of {len(runs)}:\n" + "\n".join(wrong))
    return ratios


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--command", type=pathlib.Path, default=ROOT / "build/installed/bin/fairlead")
    given = options.parse_args()
    runs = range(given.runs) if given.only is None else [given.only]
    try:
        ratios = campaign(given.command.resolve(), runs, given.seed, lambda text: print(text.rstrip(), flush=True))
    except Wrong as wrong:
        print(wrong)
        return 1
    print(f"{len(ratios)} systems: the bound is {np.median(ratios):.3g} times the error in the median, "
          f"90 % below {np.quantile(ratios, 0.9):.3g}, at most {max(ratios):.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Shared by tests of devices: x compared with NumPy's solution, from file to file, over the product of options."""

import concurrent.futures
import itertools
import os

import numpy as np

N, SIDES = 210, 3
TILES = [30, 64, 100]  # the first divides n
PRECISIONS = {"single": (np.float32, []), "double": (np.float64, []), "refined": (np.float64, ["--refine"])}
MEMORIES = ["some", "all"]


def policies_of(run):
    return [line.split()[0] for line in run("schedulers").stdout.split("\n\n")[0].splitlines() if not line.startswith(" ")]


def with_sizes(devices, tile, element):
    pages = -(-tile * tile * np.dtype(element).itemsize // 4096) * 4096
    return devices.format(three=3 * pages, four=4 * pages, five=5 * pages)


def backward_error(a, x, b):
    r = np.abs(b.astype(np.longdouble) - a.astype(np.longdouble) @ x.astype(np.longdouble)).max()
    return float(r / (np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()))


def check_solutions(run, folder, method, devices, one_in):
    """`run` runs the command in the folder; `devices`: by name, with sizes in tiles."""
    random = np.random.default_rng(30)
    m = random.standard_normal((N, N))
    a = {"cholesky": m @ m.T / N + np.eye(N), "lu-nopivot": m + 2 * N * np.eye(N), "qr": m + 9 * np.eye(N)}[method]
    b = random.standard_normal((N, SIDES))
    solutions = {}
    for element in (np.float32, np.float64):
        name = np.dtype(element).name
        for file, matrix in (("A", a), ("b", b)):
            np.save(folder / f"{method}-{file}-{name}.npy", matrix.astype(element))
        exact = [matrix.astype(element).astype(np.float64) for matrix in (a, b)]
        solutions[name] = (*exact, np.linalg.solve(*exact), np.linalg.cond(exact[0]))

    def try_one(case):
        policy, machine, precision, tile, memory = case
        element, extra = PRECISIONS[precision]
        name, eps = np.dtype(element).name, np.finfo(element).eps
        output = "-".join(map(str, (method, *case))).replace(" ", "-") + ".npy"
        options = ["--method", method, "--tile", tile, "--scheduler", policy, *extra, "--devices",
                   with_sizes(devices[machine], tile, element), "--memory", {"some": "9MiB", "all": "64MiB"}[memory]]
        done = run("solve", f"{method}-A-{name}.npy", f"{method}-b-{name}.npy", "-o", output, "--workers", 2,
                   "--progress", "none", *options)
        if done.returncode != 0:
            return f"{options}: exit status {done.returncode}\n{done.stderr}"
        exact, sides, expected, condition = solutions[name]
        x = np.load(folder / output).astype(np.float64)
        error, distance = backward_error(exact, x, sides), np.abs(x - expected).max() / np.abs(expected).max()
        if not error <= 20 * eps or not distance <= 100 * condition * eps:
            return f"{options}: backward error {error:.2e}, distance to NumPy's solution {distance:.2e}"
        return None

    # --refine is Cholesky's. Of the product one in so many, a number that no count of values divides: so each value meets
    # each other one.
    precisions = [name for name in PRECISIONS if method == "cholesky" or name != "refined"]
    policies = policies_of(run)
    cases = list(itertools.product(policies, devices, precisions, TILES, MEMORIES))[::one_in]
    assert {case[0] for case in cases} == set(policies)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(try_one, cases) if text]
    assert not wrong, f"{len(wrong)} of {len(cases)} are wrong:\n" + "\n".join(wrong[:20])

"""What a user gets: x, from file to file, under each two of the options (--long: under their product), against NumPy's
solution of the same system. Bits of x may differ between policies (reductions do not occur here, so they do not differ
much); what is compared is the backward error in extended precision, and the distance to the other solution."""

import concurrent.futures
import itertools
import json
import os
import subprocess

import numpy as np
import pytest

N, TILE, SIDES = 150, 32, 3
DEVICES = {
    "none": [],
    "one": ["--devices", "emulated:memory=64KiB"],
    "two": ["--devices", "emulated:memory=48KiB,copies=blocking + emulated:memory=1MiB,speed=0.5,bandwidth=4GB/s"],
}
PRECISIONS = {"single": (np.float32, []), "double": (np.float64, []), "refined": (np.float64, ["--refine"])}
# For a system that is not symmetric, by LU and QR; the last ones have more equations than unknowns.
METHODS = {"lu-incremental single": ("general", np.float32, ["--method", "lu-incremental"]),
           "lu-incremental double": ("general", np.float64, ["--method", "lu-incremental"]),
           "lu-nopivot double": ("dominant", np.float64, ["--method", "lu-nopivot"]),
           "qr single": ("general", np.float32, ["--method", "qr"]),
           "qr double": ("general", np.float64, ["--method", "qr"]),
           "least squares single": ("tall", np.float32, ["--method", "qr"]),
           "least squares double": ("tall", np.float64, ["--method", "qr"])}
# The minimum; in addition a third of the matrix; more than all of it.
CAPACITIES = ["least", "some", "all"]


@pytest.fixture(scope="module")
def policies(command):
    """The names of all policies."""
    listed = subprocess.run([command, "schedulers"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.split("\n\n")[0].splitlines() if not line.startswith(" ")]


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """Files of a symmetric positive definite system in both precisions, and its solution by NumPy."""
    folder = tmp_path_factory.mktemp("system")
    random = np.random.default_rng(20)
    m = random.standard_normal((N, N))
    a = m @ m.T / N + np.eye(N)
    b = random.standard_normal((N, SIDES))
    solutions = {}
    for element in (np.float32, np.float64):
        name = np.dtype(element).name
        np.save(folder / f"A-{name}.npy", a.astype(element))
        np.save(folder / f"b-{name}.npy", b.astype(element))
        exact = [np.load(folder / f"{file}-{name}.npy").astype(np.float64) for file in "Ab"]
        solutions[name] = (*exact, np.linalg.solve(*exact))
    return folder, solutions


def smallest_memory(command, folder, element, extra):
    """The least that it runs with: found by halving, since what it reserves depends on everything else."""
    low, high = 4 << 20, 12 << 20
    while high - low > 1 << 14:
        middle = (low + high) // 2
        done = solve(command, folder, element, ["--memory", str(middle), *extra], "probe.npy")
        low, high = (low, middle) if done.returncode == 0 else (middle, high)
    return high


def solve(command, folder, element, options, output):
    return subprocess.run(
        [command, "solve", f"A-{element}.npy", f"b-{element}.npy", "-o", output, "--tile", str(TILE), "--workers", "2",
         "--progress", "none", *options],
        cwd=folder, capture_output=True, text=True, timeout=120)


def backward_error(a, x, b):
    r = np.abs(b.astype(np.longdouble) - a.astype(np.longdouble) @ x.astype(np.longdouble)).max()
    return float(r / (np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()))


def test_every_option_gives_the_solution(command, policies, system, at_length):
    folder, solutions = system
    least = {(devices, precision): smallest_memory(command, folder, np.dtype(element).name, [*extra, *DEVICES[devices]])
             for devices, (precision, (element, extra)) in itertools.product(DEVICES, PRECISIONS.items())}

    def try_one(case):
        policy, devices, precision, capacity = case
        element, extra = PRECISIONS[precision]
        name = np.dtype(element).name
        memory = least[devices, precision] + {"least": 0, "some": N * N * 8 // 3, "all": 4 * N * N * 8}[capacity]
        output = "-".join(case) + ".npy"
        options = ["--scheduler", policy, *DEVICES[devices], *extra, "--memory", str(memory)]
        done = solve(command, folder, name, options, output)
        if done.returncode != 0:
            return f"{options}: exit status {done.returncode}\n{done.stderr}"
        a, b, expected = solutions[name]
        x = np.load(folder / output).astype(np.float64)
        (folder / output).unlink()
        eps = np.finfo(element).eps
        error, distance = backward_error(a, x, b), np.abs(x - expected).max() / np.abs(expected).max()
        if not error <= 4 * eps or not distance <= 400 * eps:
            return f"{options}: backward error {error:.2e}, distance to NumPy's solution {distance:.2e}"
        return None

    # Each policy with each two of the others; a third policy has the three together.
    cases = [(policy, devices, precision, capacity)
             for (p, policy), (d, devices), (e, precision), (c, capacity)
             in itertools.product(enumerate(policies), enumerate(DEVICES), enumerate(PRECISIONS), enumerate(CAPACITIES))
             if at_length or (p + d + e + c) % 3 == 0]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(try_one, cases) if text]
    assert not wrong, f"{len(wrong)} of {len(cases)} are wrong:\n" + "\n".join(wrong[:20])


@pytest.fixture(scope="module")
def systems(tmp_path_factory):
    """Files of systems that are not symmetric, by kind."""
    random = np.random.default_rng(21)
    made = {}
    for kind, (m, n, diagonal) in {"general": (N, N, 0), "dominant": (N, N, N), "tall": (2 * N + 7, N // 2, 0)}.items():
        folder = tmp_path_factory.mktemp(kind)
        a, b = random.standard_normal((m, n)) + diagonal * np.eye(m, n), random.standard_normal((m, SIDES))
        solutions = {}
        for element in (np.float32, np.float64):
            name = np.dtype(element).name
            np.save(folder / f"A-{name}.npy", a.astype(element))
            np.save(folder / f"b-{name}.npy", b.astype(element))
            exact = [np.load(folder / f"{file}-{name}.npy").astype(np.float64) for file in "Ab"]
            solutions[name] = (*exact, np.linalg.lstsq(*exact, rcond=None)[0], np.linalg.cond(exact[0]))
        made[kind] = folder, solutions
    return made


def test_every_option_gives_the_solution_by_lu_and_by_qr(command, policies, systems, at_length):
    least = {(devices, method): smallest_memory(command, systems[kind][0], np.dtype(element).name,
                                                [*extra, *DEVICES[devices]])
             for devices, (method, (kind, element, extra)) in itertools.product(DEVICES, METHODS.items())}

    def try_one(case):
        policy, devices, method, capacity = case
        kind, element, extra = METHODS[method]
        folder, solutions = systems[kind]
        name = np.dtype(element).name
        memory = least[devices, method] + {"least": 0, "some": N * N * 8 // 2, "all": 6 * N * N * 8}[capacity]
        output = "-".join(case).replace(" ", "-") + ".npy"
        options = ["--scheduler", policy, *DEVICES[devices], *extra, "--memory", str(memory)]
        done = solve(command, folder, name, options, output)
        if done.returncode != 0:
            return f"{options}: exit status {done.returncode}\n{done.stderr}"
        a, b, expected, condition = solutions[name]
        x = np.load(folder / output).astype(np.float64)
        (folder / output).unlink()
        eps = np.finfo(element).eps
        normal = np.abs(a.T @ (b - a @ x)).max() / (np.linalg.norm(a) ** 2 * np.abs(x).max() + np.linalg.norm(a) * np.abs(b).max())
        error = normal if kind == "tall" else backward_error(a, x, b)
        distance = np.abs(x - expected).max() / np.abs(expected).max()
        if not error <= 20 * eps or not distance <= 100 * condition * eps:
            return f"{options}: backward error {error:.2e}, distance to NumPy's solution {distance:.2e}"
        return None

    # Each policy with every other method, or with each; each method with each machine and each capacity, under some policies.
    machines = list(itertools.product(DEVICES, CAPACITIES))
    cases = [(policy, machines[(p + m) % 9][0], method, machines[(p + m) % 9][1])
             for (p, policy), (m, method) in itertools.product(enumerate(policies), enumerate(METHODS))
             if at_length or (p + m) % 2 == 0]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(try_one, cases) if text]
    assert not wrong, f"{len(wrong)} of {len(cases)} are wrong:\n" + "\n".join(wrong[:20])


OPERATIONS = ["cholesky", "ldlt", "lu-nopivot", "lu", "lu-incremental", "qr", "gemm"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_policy_computes_what_bench_checks(command, policies, tmp_path, operation, at_length):
    others = 0 if at_length else OPERATIONS.index(operation) % 2  # every other policy, and then the others
    for policy in policies[others::1 if at_length else 2]:
        subprocess.run([command, "bench", operation, "--n", "150", "--tile", "32", "--memory", "16MiB", "--workers", "2",
                        "--scheduler", policy, *DEVICES["two"], "--progress", "none", "--json", "out.json"],
                       cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
        error = json.loads((tmp_path / "out.json").read_text())["backward_error"]
        assert error < 1e-13, f"{policy}: backward error {error}"

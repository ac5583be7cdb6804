"""OpenCL devices as a user has them, from file to file: x against NumPy's solution over the options' values, what bench
checks, and what is said where there is no device. Needs a platform, here PoCL, whose devices are the cores."""

import concurrent.futures
import itertools
import json
import os
import subprocess
import tempfile

import numpy as np
import pytest

N, SIDES = 210, 3
TILES = [30, 64, 100]  # the first divides n
DEVICES = {
    "tight": "opencl:0,memory={three}",
    "ample": "opencl:0,memory=8MiB",
    "two": "opencl:0,memory={four} + opencl:1,memory=2MiB,queues=2",
    "beside emulated": "opencl:1,memory={four} + emulated:memory={three},copies=blocking",
    "too small": "opencl:0,memory=4KiB",
}
PRECISIONS = {"single": (np.float32, []), "double": (np.float64, []), "refined": (np.float64, ["--refine"])}
MEMORIES = ["some", "all"]


@pytest.fixture(scope="module")
def run(command, tmp_path_factory):
    """The command, with PoCL's compiled kernels kept from one test to the next, and two devices of it."""
    folder = tmp_path_factory.mktemp("opencl")
    cache = os.path.join(tempfile.gettempdir(), "fairlead-tests-pocl")
    os.makedirs(cache, exist_ok=True)
    settings = {"POCL_CACHE_DIR": cache, "POCL_DEVICES": "pthread pthread", **os.environ}

    def run(*arguments, **more):
        return subprocess.run([command, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=240,
                              env={**settings, **more})

    run.folder = folder
    return run


@pytest.fixture(scope="module")
def devices(run):
    done = run("info", "--json", "info.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((run.folder / "info.json").read_text())["opencl"]
    if len(found["devices"]) < 2:
        pytest.skip(f"OpenCL has {len(found['devices'])} devices: {found['problem']}")
    assert [line for line in done.stdout.splitlines() if line.startswith("opencl") and found["devices"][0]["name"] in line]
    return found["devices"]


@pytest.fixture(scope="module")
def policies(run):
    return [line.split()[0] for line in run("schedulers").stdout.split("\n\n")[0].splitlines() if not line.startswith(" ")]


def with_sizes(devices, tile, element):
    pages = -(-tile * tile * np.dtype(element).itemsize // 4096) * 4096
    return devices.format(three=3 * pages, four=4 * pages)


def backward_error(a, x, b):
    r = np.abs(b.astype(np.longdouble) - a.astype(np.longdouble) @ x.astype(np.longdouble)).max()
    return float(r / (np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()))


@pytest.mark.parametrize("method", ["cholesky", "lu", "qr"])
def test_every_option_gives_the_solution(run, devices, policies, method, at_length):
    random = np.random.default_rng(30)
    m = random.standard_normal((N, N))
    a = {"cholesky": m @ m.T / N + np.eye(N), "lu": m + 2 * N * np.eye(N), "qr": m + 9 * np.eye(N)}[method]
    b = random.standard_normal((N, SIDES))
    solutions = {}
    for element in (np.float32, np.float64):
        name = np.dtype(element).name
        for file, matrix in (("A", a), ("b", b)):
            np.save(run.folder / f"{method}-{file}-{name}.npy", matrix.astype(element))
        exact = [matrix.astype(element).astype(np.float64) for matrix in (a, b)]
        solutions[name] = (*exact, np.linalg.solve(*exact), np.linalg.cond(exact[0]))

    def try_one(case):
        policy, machine, precision, tile, memory = case
        element, extra = PRECISIONS[precision]
        name, eps = np.dtype(element).name, np.finfo(element).eps
        output = "-".join(map(str, (method, *case))).replace(" ", "-") + ".npy"
        options = ["--method", method, "--tile", tile, "--scheduler", policy, *extra, "--devices",
                   with_sizes(DEVICES[machine], tile, element), "--memory", {"some": "9MiB", "all": "64MiB"}[memory]]
        done = run("solve", f"{method}-A-{name}.npy", f"{method}-b-{name}.npy", "-o", output, "--workers", 2,
                   "--progress", "none", *options)
        if done.returncode != 0:
            return f"{options}: exit status {done.returncode}\n{done.stderr}"
        exact, sides, expected, condition = solutions[name]
        x = np.load(run.folder / output).astype(np.float64)
        error, distance = backward_error(exact, x, sides), np.abs(x - expected).max() / np.abs(expected).max()
        if not error <= 20 * eps or not distance <= 100 * condition * eps:
            return f"{options}: backward error {error:.2e}, distance to NumPy's solution {distance:.2e}"
        return None

    # --refine is Cholesky's. Of the product one in so many, a number that no count of values divides: so each value meets
    # each other one.
    precisions = [name for name in PRECISIONS if method == "cholesky" or name != "refined"]
    cases = list(itertools.product(policies, DEVICES, precisions, TILES, MEMORIES))[::7 if at_length else 41]
    assert {case[0] for case in cases} == set(policies)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(try_one, cases) if text]
    assert not wrong, f"{len(wrong)} of {len(cases)} are wrong:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("operation", ["cholesky", "lu", "gemm"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_bench_computes_on_the_device(run, devices, operation, precision):
    done = run("bench", operation, "--n", 256, "--tile", 64, "--memory", "16MiB", "--workers", 1, "--precision", precision,
               "--devices", "opencl:0,memory=256KiB", "--scheduler", "eager", "--progress", "none", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((run.folder / "out.json").read_text())
    assert report["backward_error"] < (1e-5 if precision == "single" else 1e-13)
    moved = [link for link in report["links"] if link["name"] == "opencl 0"]
    assert moved, report["links"]


def test_what_is_not_there_is_said(run):
    nothing = {"OCL_ICD_VENDORS": "/nonexistent"}
    done = run("info", **nothing)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("opencl"))
    assert "no device: " in line
    done = run("bench", "cholesky", "--n", 64, "--devices", "opencl:0,memory=1MiB", **nothing)
    assert done.returncode == 2
    assert '"opencl:0,memory=1MiB" is not there: ' in done.stderr


@pytest.mark.parametrize("given, said", [("opencl:0,memroy=1MiB", "did you mean memory?"), ("opencl:0", "needs a memory size"),
                                         ("opencl:77,memory=1MiB", "is not there; OpenCL has 0: "),
                                         ("opencl:0,memory=4000TB", "which has"), ("opncl:0", "did you mean opencl?")])
def test_what_is_misspelt_is_said(run, devices, given, said):
    done = run("bench", "cholesky", "--n", 64, "--devices", given)
    assert done.returncode == 2
    assert said in done.stderr

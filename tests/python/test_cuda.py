"""CUDA devices as a user has them, from file to file: x against NumPy's solution over the options' values, what bench checks,
and what is said where there is no device. On the fake driver (tests/fake_cuda), which ends a program badly when something
is done with it that is not ordered or not allowed."""

import itertools
import json
import os
import re
import subprocess

import numpy as np
import pytest

from ranks import ENVIRONMENT, LAUNCHERS
from solutions import check_solutions

DEVICES = {
    "tight": "cuda:0,memory={four}",
    "ample": "cuda:0,memory=8MiB,streams=3",
    "two": "cuda:0,memory={five} + cuda:1,memory=2MiB,streams=2",
    "no peers": "cuda:0,memory={five},peers=off + cuda:1,memory=2MiB,peers=30GB/s",
    "with emulated": "cuda:1,memory={five},workspace=4KiB + emulated:memory={three},copies=blocking",
    "too small": "cuda:0,memory=8KiB",
}


@pytest.fixture(scope="module")
def run(command, fake_cuda, tmp_path_factory):
    """The command with the fake driver: two devices, with a different order of operations in each run."""
    folder = tmp_path_factory.mktemp("cuda")
    runs = iter(range(1, 1_000_000))

    def run(*arguments, **more):
        settings = {**os.environ, "LD_LIBRARY_PATH": str(fake_cuda), "FAKE_CUDA": f"devices=2,seed={next(runs)}",
                    "FAIRLEAD_CUDA_KERNELS": str(fake_cuda / "kernels")}  # whether there was an nvcc or not
        return subprocess.run([command, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=240,
                              env={**settings, **more})

    run.folder = folder
    return run


@pytest.mark.parametrize("method", ["cholesky", "lu-nopivot", "qr"])
def test_every_option_gives_the_solution(run, method, at_length):
    check_solutions(run, run.folder, method, DEVICES, 7 if at_length else 41)


@pytest.mark.parametrize("operation", ["cholesky", "lu-nopivot", "gemm"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_bench_computes_on_the_device(run, operation, precision):
    done = run("bench", operation, "--n", 256, "--tile", 64, "--memory", "16MiB", "--workers", 1, "--precision", precision,
               "--devices", "cuda:0,memory=256KiB,streams=2", "--scheduler", "eager", "--progress", "none", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((run.folder / "out.json").read_text())
    assert report["backward_error"] < (1e-5 if precision == "single" else 1e-13)
    moved = [link for link in report["links"] if link["name"] == "cuda 0"]
    assert moved, report["links"]


def calls_of(run) -> dict:
    return {name: int(times) for name, times in (line.split() for line in (run.folder / "calls.txt").read_text().splitlines())}


QR_DEVICES = {"one": "cuda:0,memory=4MiB", "streams": "cuda:0,memory=4MiB,streams=2", "two": "cuda:0,memory=2MiB + cuda:1,memory=4MiB",
              "two, streams": "cuda:0,memory=2MiB,streams=2 + cuda:1,memory=4MiB,streams=2", "tight": "cuda:0,memory={},streams=1",
              "two, tight": "cuda:0,memory={},streams=2 + cuda:1,memory={}"}


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("devices", QR_DEVICES)
def test_least_squares_agree_with_numpy(run, devices, precision):
    """Square systems go by the flat tree, tall ones by pairs of tiles. With fixed-order all of QR is on the devices."""
    element = np.float32 if precision == "single" else np.float64
    random = np.random.default_rng(8)
    for (m, n), (fixed, tile) in itertools.product([(150, 150), (390, 50)], [(["--fixed-order"], 32), ([], 50)]):
        a, b = random.standard_normal((m, n)).astype(element), random.standard_normal((m, 2)).astype(element)
        np.save(run.folder / "QA.npy", a)
        np.save(run.folder / "Qb.npy", b)
        list_of_them = QR_DEVICES[devices].replace("{}", f"{12 * tile * tile * np.dtype(element).itemsize}B")
        done = run("solve", "QA.npy", "Qb.npy", "-o", "Qx.npy", "--overwrite", "--method", "qr", "--tile", tile, "--workers", 1, "--memory",
                   "9MiB", "--devices", list_of_them, *fixed, "--progress", "none", "--no-condition",
                   FAKE_CUDA=f"devices=2,seed={m + tile},calls=calls.txt")
        assert done.returncode == 0, done.stderr
        x, expected = np.load(run.folder / "Qx.npy"), np.linalg.lstsq(a.astype(float), b.astype(float), rcond=None)[0]
        limit = 100 * np.linalg.cond(a.astype(float)) * np.finfo(element).eps
        assert np.abs(x[:n] - expected).max() <= limit * np.abs(expected).max(), (m, n, fixed, tile)
        if fixed:
            letter, calls = "S" if precision == "single" else "D", calls_of(run)
            assert calls[f"cublas{letter}trmm_v2"] > 0 and calls["cuModuleLoadData"] in (1, 2), calls


@pytest.mark.parametrize("tree", ["flat", "binary"])
@pytest.mark.parametrize("m", [256, 700])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_bench_qr_computes_on_the_device(run, tree, m, precision):
    done = run("bench", "qr", "--n", 256, *(["--m", m] if m > 256 else []), "--tree", tree, "--tile", 60, "--memory", "16MiB", "--workers", 1,
               "--precision", precision, "--devices", "cuda:0,memory=256KiB,streams=2", "--fixed-order", "--progress", "none",
               "--json", "out.json", FAKE_CUDA=f"devices=1,seed={m},calls=calls.txt")
    assert done.returncode == 0, done.stderr
    report = json.loads((run.folder / "out.json").read_text())
    assert report["backward_error"] < (1e-5 if precision == "single" else 1e-13)
    assert calls_of(run)["cuLaunchKernel"] > 100


def test_without_own_kernels_qr_runs_on_cores(run):
    a, b = symmetric(run.folder, 200)
    report = solved(run, "--overwrite", "--method", "qr", "--devices", "cuda:0,memory=4MiB", "--cuda-kernels", "none", "--fixed-order",
                    FAKE_CUDA="devices=1,seed=3,calls=calls.txt")
    assert np.allclose(np.load(run.folder / "x.npy"), np.linalg.solve(a, b), rtol=1e-9)
    assert "cuLaunchKernel" not in calls_of(run) and report["devices"].startswith("as named"), calls_of(run)
    done = run("solve", "A.npy", "b.npy", "-o", "y.npy", "--method", "qr", "--cuda-kernels", "not-there")
    assert done.returncode == 2 and "cuda-kernels: not-there cannot be read" in done.stderr


@pytest.mark.parametrize("column", [0, 77, 209])
def test_the_error_names_the_column_that_is_not_positive_definite(run, column):
    a = np.eye(210)
    a[column, column] = -1
    np.save(run.folder / "A.npy", a)
    np.save(run.folder / "b.npy", np.ones((210, 1)))
    done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 50, "--progress", "none",
               "--devices", "cuda:0,memory=1MiB")
    assert done.returncode not in (0, 99), done.stderr
    assert f"column {column}," in done.stderr


def test_info_names_devices_or_says_why_there_are_none(run, fake_cuda):
    done = run("info", "--json", "info.json")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("cuda"))
    assert "0: Fake CUDA device 0 (compute capability 9.0), 1.0 GiB of memory" in lines[first]
    assert "1: Fake CUDA device 1" in lines[first + 1]
    found = json.loads((run.folder / "info.json").read_text())["cuda"]
    assert [device["name"] for device in found["devices"]] == ["Fake CUDA device 0", "Fake CUDA device 1"]
    assert found["problem"] is None
    done = run("info", FAKE_CUDA="devices=0")
    assert next(line for line in done.stdout.splitlines() if line.startswith("cuda")).endswith("names no device")


@pytest.mark.parametrize("peers, how", [("all", "directly"), ("none", "through RAM: the driver provides no peer access")])
def test_info_lists_devices_that_copy_to_each_other(run, peers, how):
    done = run("info", "--json", "info.json", FAKE_CUDA=f"devices=3,peers={peers}")
    assert done.returncode == 0, done.stderr
    assert f"0 and 1, 0 and 2, 1 and 2 copy to each other {how}" in done.stdout
    assert json.loads((run.folder / "info.json").read_text())["cuda"]["peers"] == ([[0, 1], [0, 2], [1, 2]] if peers == "all" else [])


def bytes_of(report: dict, wire: str) -> int:
    return sum(cause["bytes"] for link in report["links"] if link["name"] == wire for way in ("from_home", "to_home")
               for cause in link[way].values())


# Of four devices each of two ranks has two.
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("peers, why", [("all", None), ("none", "no access to"), ("silent", "do not arrive")])
def test_devices_copy_to_each_other_or_the_report_states_why_not(run, ranks, peers, why):
    a, b = symmetric(run.folder, 300)
    devices = " + ".join(f"cuda:{i},memory=256KiB" for i in range(2 * ranks))
    words = ("--ranks", ranks) if ranks > 1 else ()
    report = solved(run, "--tile", 50, "--workers", 1, "--memory", "8MiB", "--devices", devices, "--fixed-order", *words,
                    FAKE_CUDA=f"devices={2 * ranks},seed=7,peers={peers}")
    assert np.allclose(np.load(run.folder / "x.npy"), np.linalg.solve(a, b), rtol=1e-9)
    if why is None:
        assert bytes_of(report, "cuda 0 - cuda 1") > 0 and "through RAM" not in report["devices"], report
    else:
        assert f"cuda 0 and cuda 1 copy through RAM: the driver gives cuda 0 {'no ' if peers == 'none' else ''}access" in report["devices"]
        assert why in report["devices"] and not any(link["name"] == "cuda 0 - cuda 1" for link in report["links"])


def test_missing_devices_are_reported(run):
    done = run("bench", "cholesky", "--n", 64, "--devices", "cuda:0,memory=1MiB", FAKE_CUDA="devices=0")
    assert done.returncode == 2
    assert '"cuda:0,memory=1MiB" is not there: ' in done.stderr


@pytest.mark.parametrize("given, said", [("cuda:0,memroy=1MiB", "did you mean memory?"), ("cuda:0", "needs a memory size"),
                                         ("cuda:77,memory=1MiB", "is not there; CUDA has 0: "),
                                         ("cuda:0,memory=4000TB", "which has"), ("cdua:0", "did you mean cuda?")])
def test_misspelt_options_are_reported(run, given, said):
    done = run("bench", "cholesky", "--n", 64, "--devices", given)
    assert done.returncode == 2
    assert said in done.stderr


# At any of these times; the error names the lost device, and a solution is right.
@pytest.mark.parametrize("after", [1, 5, 20, 60])
def test_a_lost_device_gives_the_solution_or_an_error(run, after):
    random = np.random.default_rng(5)
    m = random.standard_normal((210, 210))
    a, b = m @ m.T + 210 * np.eye(210), random.standard_normal((210, 2))
    np.save(run.folder / "A.npy", a)
    np.save(run.folder / "b.npy", b)
    done = run("solve", "A.npy", "b.npy", "-o", f"x{after}.npy", "--tile", 40, "--progress", "none", "--method", "cholesky",
               "--devices", "cuda:0,memory=1MiB,streams=2", FAKE_CUDA=f"devices=1,seed={after},lost={after}")
    if done.returncode == 0:
        assert np.allclose(np.load(run.folder / f"x{after}.npy"), np.linalg.solve(a, b), rtol=1e-9)
    else:
        assert done.returncode != 99 and "cuda 0" in done.stderr and "CUDA_ERROR_LAUNCH_FAILED (719)" in done.stderr


def test_a_failing_call_gives_the_solution_or_an_error_without_a_file(run, at_length):
    a, b = symmetric(run.folder, 210, seed=6)
    x = run.folder / "x.npy"
    solve = ("solve", "A.npy", "b.npy", "-o", "x.npy", "--overwrite", "--tile", 40, "--progress", "none", "--method", "cholesky",
             "--devices", "cuda:0,memory=1MiB,streams=2", "--fixed-order")  # or cores may take all tasks
    good = run(*solve, FAKE_CUDA="devices=1,seed=6,calls=calls.txt")
    assert good.returncode == 0, good.stderr
    called = [line.split() for line in (run.folder / "calls.txt").read_text().splitlines()]
    assert len(called) > 20
    random = np.random.default_rng(6)
    failed = 0
    for name, times in called if at_length else [called[i] for i in random.permutation(len(called))[:16]]:
        x.unlink(missing_ok=True)
        status, call = random.choice([2, 719]), random.integers(1, int(times) + 1)
        done = run(*solve, FAKE_CUDA=f"devices=1,seed=6,fail={name},call={call},status={status}")
        what = f"{name}, call {call}, status {status}: {done.returncode}, {done.stderr}"
        refused = re.search("Free|Release|Destroy|Unregister|Unload", name) and \
            re.search("not given back|registered at the end", done.stderr)  # by the driver
        if done.returncode == 0 or done.returncode == 99 and refused:
            assert np.allclose(np.load(x), np.linalg.solve(a, b), rtol=1e-9), what
        else:
            failed += 1
            assert done.returncode in (1, 2) and not x.exists() and re.search("cuda|cublas|cusolver", done.stderr.lower()), what
    assert failed > 0


def symmetric(folder, n: int, seed: int = 3):
    """A.npy and b.npy there, and the solution."""
    random = np.random.default_rng(seed)
    a = random.uniform(-1, 1, (n, n))
    a = (a + a.T) / 2 + n * np.eye(n)
    b = random.uniform(-1, 1, (n, 2))
    np.save(folder / "A.npy", a)
    np.save(folder / "b.npy", b)
    return a, b


def solved(run, *arguments, **environment) -> dict:
    done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--progress", "none", "--json", "out.json", "--no-condition",
               *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads((run.folder / "out.json").read_text())


# The cores take more than a second; the matrix is computed from points, which need no large file.
def test_a_gpu_is_found_and_used_by_default(run):
    n = 7000
    random = np.random.default_rng(4)
    points, b = random.uniform(0, 10, (n, 3)), random.uniform(-1, 1, n)
    np.save(run.folder / "points.npy", points)
    np.save(run.folder / "sides.npy", b)
    done = run("solve", "--kernel", "rbf", "--points", "points.npy", "--nugget", 1, "sides.npy", "-o", "x.npy", "--progress", "none",
               "--json", "out.json", "--no-condition", "--workers", 1, "--blas-products", "library", FAKE_CUDA="devices=1,seed=4")
    assert done.returncode == 0, done.stderr
    report = json.loads((run.folder / "out.json").read_text())
    if report["devices"].startswith("none looked for") or "would take about" in report["devices"]:
        pytest.skip("this core is too fast: " + report["devices"])
    assert report["devices"].startswith("cuda:0 (Fake CUDA device 0, "), report["devices"]
    wire = next(link for link in report["links"] if link["name"] == "cuda 0")
    assert sum(cause["bytes"] for cause in wire["from_home"].values()) > 0
    x = np.load(run.folder / "x.npy")
    for row in range(0, n, 500):
        distances = ((points - points[row]) ** 2).sum(axis=1)
        assert abs(np.exp(-distances / 2) @ x + x[row] - b[row]) < 1e-9


def test_the_report_states_why_no_device_is_used(run):
    symmetric(run.folder, 200)
    assert solved(run)["devices"].startswith("none looked for: the cores take about ")
    assert solved(run, "--devices", "none")["devices"] == "none, as set by --devices"
    assert solved(run, "--method", "qr")["devices"].startswith("none looked for: the cores take about ")
    assert solved(run, "--method", "qr", "--cuda-kernels", "none")["devices"] == "none: QR factorization runs only on cores"
    incremental = solved(run, "--method", "lu-incremental")["devices"]
    assert incremental == "none: LU factorization with incremental pivoting runs only on cores"
    words = ("solve", "A.npy", "b.npy", "-o", "x.npy", "--overwrite", "--progress", "none")
    assert "Devices" not in run(*words).stdout  # too small a problem to say anything about them
    assert "none looked for" in run(*words, "--report-text", "full").stdout
    done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--devices", "cuda:0,memory=1MiB", FAKE_CUDA="devices=0")
    assert done.returncode == 2 and "is not there" in done.stderr


@pytest.mark.parametrize("ranks, devices, parts", [
    (2, "cuda:0,memory=2MiB + cuda:1,memory=2MiB", ["rank 0: cuda:0,memory=2MiB", "rank 1: cuda:1,memory=2MiB"]),
    (4, "cuda:0,memory=4MiB", [f"rank {rank}: cuda:0,memory=1048576B" for rank in range(4)])])
def test_ranks_of_a_machine_share_its_devices(run, ranks, devices, parts):
    a, b = symmetric(run.folder, 300)
    report = solved(run, "--ranks", ranks, "--tile", 50, "--workers", 1, "--memory", "8MiB", "--devices", devices)
    assert np.allclose(np.load(run.folder / "x.npy"), np.linalg.solve(a, b), rtol=1e-9)
    for part in parts:
        assert part in report["devices"], report["devices"]


# All tasks that have bodies for CUDA devices run there.
SMALL = ("--n", 320, "--tile", 40, "--workers", 1, "--memory", "8MiB", "--fixed-order", "--progress", "none", "--report-text", "full", "--json",
         "out.json")


def landed(report: dict) -> int:
    assert report["backward_error"] < 1e-13
    assert all((rank["payloads_into_devices"] == 0) == (rank["payload_bytes_into_devices"] == 0) for rank in report["ranks"])
    return sum(rank["payloads_into_devices"] for rank in report["ranks"])


@pytest.mark.parametrize("operation", ["cholesky", "lu-nopivot", "gemm"])
@pytest.mark.parametrize("into", ["auto", "host", "advised", "random"])
def test_values_of_other_ranks_arrive_in_the_reported_memory(run, operation, into):
    for ranks, devices in [(2, "cuda:0,memory=1MiB"), (4, "cuda:0,memory=512KiB + cuda:1,memory=512KiB"), (2, "emulated:memory=1MiB")]:
        done = run("bench", operation, *SMALL, "--ranks", ranks, "--devices", devices, "--receive-into", into, "--eager-limit", 0)
        assert done.returncode == 0, done.stderr
        report = json.loads((run.folder / "out.json").read_text())
        # Without advice; emulated devices are not written by MPI directly.
        assert (landed(report) > 0) == (into == "random" or into == "auto" and "cuda" in devices), (devices, report["ranks"])
        expected = {"auto": "in RAM or in cuda 0, where the task is expected to run that reads them", "host": "in RAM, as set by --receive-into",
                    "advised": "as the program advises", "random": "by chance"}[into]
        if into == "auto" and "cuda" not in devices:
            expected = "in RAM: none of the devices is one of CUDA"
        assert expected in report["receive_memory"] and report["receive_memory"] in " ".join(done.stdout.split()), (report["receive_memory"], done.stdout)
    done = run("bench", operation, *SMALL, "--ranks", 2, "--devices", "none", "--receive-into", into)
    if into in ("auto", "host"):
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2 and f"--receive-into {into}: no device is used" in done.stderr, done.stderr


def over_mpi(command, fake_cuda, folder, launcher: str, aware: bool, *arguments, ranks=2):
    settings = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(fake_cuda), "FAKE_CUDA": "devices=2", "FAIRLEAD_CUDA_KERNELS": str(fake_cuda / "kernels")}
    preload = ["env", f"LD_PRELOAD={fake_cuda / f'libfake_cuda_{launcher}.so.1'}"] if aware else []
    return subprocess.run([*LAUNCHERS[launcher], str(ranks), *preload, str(command), *map(str, arguments)], cwd=folder, capture_output=True,
                          text=True, timeout=240, env=settings)


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("aware", [False, True])
def test_a_cuda_aware_mpi_writes_to_devices(command, fake_cuda, tmp_path, launcher, aware):
    words = ("--devices", "cuda:0,memory=1MiB + cuda:1,memory=1MiB")
    for tile in (16, 80):  # of 2 KiB, and of 51,200 bytes, which are offered to processes of the machine
        asked = (*SMALL, *words, "--tile", tile)
        done = over_mpi(command, fake_cuda, tmp_path, launcher, aware, "bench", "cholesky", *asked)
        assert done.returncode == 0, done.stderr
        report = json.loads((tmp_path / "out.json").read_text())
        assert (landed(report) > 0) == aware, report["ranks"]
        assert ("in RAM or in cuda 0" in report["receive_memory"]) == aware
        if not aware:
            assert " reports that it does not receive into memory of CUDA devices (MPIX_" in report["receive_memory"]
    done = over_mpi(command, fake_cuda, tmp_path, launcher, aware, "bench", "cholesky", *SMALL, *words, "--receive-into", "random")
    if aware:
        assert done.returncode == 0 and landed(json.loads((tmp_path / "out.json").read_text())) > 0, done.stderr
    else:
        assert done.returncode != 0 and "--receive-into random: " in done.stderr, done.stderr
    done = over_mpi(command, fake_cuda, tmp_path, launcher, aware, "info", "--json", "info.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "info.json").read_text())["mpi"]["into_cuda_devices"] == aware
    assert ("values arrive in RAM or directly in the memory of CUDA devices" if aware else "values arrive in RAM: ") in done.stdout


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("small", [0, 1])
@pytest.mark.parametrize("words", [("bench", "gemm", "--n", 90), ("solve", "A.npy", "b.npy", "-o", "x.npy")], ids=["bench", "solve"])
def test_a_refusal_on_some_ranks_is_a_usage_error(command, fake_cuda, tmp_path, launcher, small, words):
    """MPICH's launcher combines the statuses of all ranks by "or": 2, and 1 of a notified rank, would be 3, a wrong result."""
    symmetric(tmp_path, 90)
    # Enough for one rank, but two of three share the one that is named first.
    parts = [f"cuda:{i},memory={'24KiB' if i == small else '2MiB'},streams=2,workspace=8KiB" for i in (small, 1 - small)]
    done = over_mpi(command, fake_cuda, tmp_path, launcher, False, *words, "--tile", 20, "--workers", 1, "--devices", " + ".join(parts), ranks=3)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(f'"cuda:{small},memory=12288B') == done.stderr.count("leave nothing") == 1, done.stderr
    assert not (tmp_path / "x.npy").exists()


def conditioned(folder, n: int, condition: float, smallest: float = 1):
    """A.npy with such a condition, b.npy, and the solution."""
    random = np.random.default_rng(8)
    q, _ = np.linalg.qr(random.standard_normal((n, n)))
    a = (q * np.geomspace(smallest / condition, smallest, n)) @ q.T
    a, b = (a + a.T) / 2, random.standard_normal((n, 2))
    np.save(folder / "A.npy", a)
    np.save(folder / "b.npy", b)
    return a, b


def error_of(a, b, x) -> float:
    size = np.abs(a).sum(axis=1).max() * np.abs(x).sum(axis=1).max() + np.abs(b).sum(axis=1).max()
    return np.abs(b - a @ x).max() / size


TF32 = {"cores": "none", "one": "cuda:0,memory=2MiB,streams=2", "two": "cuda:0,memory=300KiB + cuda:1,memory=2MiB",
        "emulated": "emulated:memory=1MiB"}


# The fake cuBLAS rounds in that mode, so the factor is as coarse as TF32 is. What is left of it after refinement is the same x.
@pytest.mark.parametrize("name", TF32)
@pytest.mark.parametrize("condition, again", [(20, []), (1e5, ["single"]), (1e10, ["single", "double"])])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_factor_in_tf32_is_refined_or_recomputed(run, name, condition, again, ranks):
    a, b = conditioned(run.folder, 240, condition)
    rounds = "cuda" in TF32[name]
    words = ("--tile", 40, "--workers", 1, "--memory", "16MiB", "--devices", TF32[name], "--fixed-order", *(("--ranks", ranks) if ranks > 1 else ()))
    reports, said = [], []
    for tf32 in ((), ("--tf32",)):
        done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--overwrite", "--progress", "none", "--json", "out.json", "--refine", *tf32, *words)
        assert done.returncode == 0, done.stderr
        reports.append(json.loads((run.folder / "out.json").read_text()))
        said.append(re.findall("trying again in ([a-z]+) precision", done.stderr))
        assert error_of(a, b, np.load(run.folder / "x.npy")) < 240**0.5 * 2.3e-16
    expected = again if rounds else again[1:]
    # Over ranks, a failure in TF32 is repeated in double; no rank knows whether another one has a device.
    assert said[1] == expected or ranks > 1 and again and said[1] in (["double"], again), (said, done.stderr)
    truth = np.linalg.solve(a, b)
    assert np.abs(np.load(run.folder / "x.npy") - truth).max() <= 1e-14 * max(condition, 100) * np.abs(truth).max()
    if not again:
        assert reports[1]["operation"].endswith("products in TF32") and "calls_in_tf32" not in reports[0]
        assert (reports[1]["calls_in_tf32"] > 0) == rounds
        more = reports[1]["refinement_steps"] - reports[0]["refinement_steps"]
        assert more > 0 if rounds else more == 0, reports
        assert ("calls of cuBLAS in TF32" if rounds else "nothing was in TF32") in reports[1]["devices"]


def test_an_indefinite_matrix_is_an_error_also_in_tf32(run):
    a, _ = conditioned(run.folder, 120, 20)
    a[77, 77] = -1
    np.save(run.folder / "A.npy", a)
    (run.folder / "x.npy").unlink(missing_ok=True)
    done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 40, "--refine", "--tf32", "--devices",
               "cuda:0,memory=1MiB", "--progress", "none")
    assert done.returncode == 1 and "column 77," in done.stderr and not (run.folder / "x.npy").exists(), done.stderr


@pytest.mark.parametrize("words, said", [
    (("solve", "A.npy", "b.npy", "-o", "y.npy", "--tf32"), "--tf32 requires --refine"),
    (("solve", "A.npy", "b.npy", "-o", "y.npy", "--tf32", "--method", "qr"), "--tf32 requires a symmetric matrix"),
    (("bench", "lu-nopivot", "--n", 64, "--precision", "tf32"), "--precision tf32 requires cholesky, not lu-nopivot")])
def test_tf32_is_refused_where_it_has_no_effect(run, words, said):
    conditioned(run.folder, 60, 5)
    done = run(*words)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_bench_uses_the_error_limit_of_tf32(run):
    errors = {}
    for precision in ("single", "tf32"):
        done = run("bench", "cholesky", "--n", 256, "--tile", 64, "--memory", "16MiB", "--workers", 1, "--precision", precision, "--devices",
                   "cuda:0,memory=256KiB,streams=2", "--fixed-order", "--progress", "none", "--json", "out.json")
        assert done.returncode == 0, done.stderr
        report = json.loads((run.folder / "out.json").read_text())
        errors[precision] = report["backward_error"]
        assert (report.get("calls_in_tf32", 0) > 0) == (precision == "tf32")
    assert errors["tf32"] != errors["single"] and max(errors.values()) < 1e-5


@pytest.mark.parametrize("column", [0, 63, 149])
def test_a_zero_pivot_is_named_by_its_column(run, column):
    a = np.eye(150)
    a[column, column] = 0
    np.save(run.folder / "A.npy", a)
    np.save(run.folder / "b.npy", np.ones(150))
    done = run("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "lu-nopivot", "--tile", 64, "--devices", "cuda:0,memory=1MiB",
               "--progress", "none", "--scheduler", "eager")
    assert done.returncode not in (0, 99) and f"column {column}," in done.stderr, done.stderr


def test_calibrate_writes_a_machine_that_the_simulator_takes(run):
    done = run("calibrate", "--devices", "cuda:0,memory=2MiB,streams=2", "--machine-file", "fake.toml", "--tiles", "32", "--amount",
               "16MiB", "--progress", "none", "--workers", 1, "--memory", "32MiB", "--json", "measured.json")
    assert done.returncode == 0, done.stderr
    assert "Fake CUDA device 0" in done.stdout
    measured = json.loads((run.folder / "measured.json").read_text())["measured"]
    there = {(one["kernel"], one["precision"], one["tile"]) for one in measured["kernels"] if one["processor"] != "core"}
    assert there >= {(kernel, precision, 32) for kernel in ("gemm", "syrk", "trsm", "potrf", "geqrt", "unmqr", "tsqrt", "tsmqr",
                                                            "ttqrt", "ttmqr") for precision in ("single", "double")}
    assert all(one["seconds"] > 0 for one in measured["kernels"])
    done = run("simulate", "cholesky", "--machine", "./fake.toml", "--n", 256, "--tile", 32, "--cores", 1, "--json", "sim.json")
    assert done.returncode == 0, done.stderr
    assert measured["peers"] == []
    done = run("calibrate", "--devices", "cuda:0,memory=2MiB,count=2", "--machine-file", "two.toml", "--tiles", "16", "--amount",
               "16MiB", "--progress", "none", "--workers", 1, "--memory", "32MiB", "--precision", "single", "--json", "measured.json")
    assert done.returncode == 0, done.stderr
    [pair] = json.loads((run.folder / "measured.json").read_text())["measured"]["peers"]
    assert (pair["first"], pair["second"]) == ("cuda 0", "cuda 1") and pair["bytes_per_second"] > 0 and pair["back_bytes_per_second"] > 0
    assert "[[peers]]\nbetween = [[0, 1]]\n" in (run.folder / "two.toml").read_text() and "cuda 0 to cuda 1: " in done.stdout
    done = run("simulate", "cholesky", "--machine", "./two.toml", "--n", 256, "--tile", 16, "--cores", 1, "--precision", "single",
               "--memory", "256KiB", "--json", "sim.json")
    assert done.returncode == 0, done.stderr
    done = run("calibrate", "--machine-file", "none.toml", "--amount", "16MiB", "--progress", "none", FAKE_CUDA="devices=0")
    assert done.returncode == 0, done.stderr  # a machine of cores

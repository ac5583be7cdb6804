"""OpenCL devices as a user has them, from file to file: x against NumPy's solution over the options' values, what bench
checks, and the errors without a device. Needs a platform, here PoCL, whose devices are the cores."""

import json
import os
import subprocess

import pytest

from pocl import pocl_settings
from solutions import check_solutions

DEVICES = {
    "tight": "opencl:0,memory={three}",
    "ample": "opencl:0,memory=8MiB",
    "two": "opencl:0,memory={four} + opencl:1,memory=2MiB,queues=2",
    "with emulated": "opencl:1,memory={four} + emulated:memory={three},copies=blocking",
    "too small": "opencl:0,memory=4KiB",
}


@pytest.fixture(scope="module")
def run(command, tmp_path_factory):
    """The command, with PoCL's compiled kernels kept from one test to the next, and two devices of it."""
    folder = tmp_path_factory.mktemp("opencl")
    settings = {**pocl_settings(), **os.environ}

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


@pytest.mark.parametrize("method", ["cholesky", "lu-nopivot", "qr"])
def test_every_option_gives_the_solution(run, devices, method, at_length):
    check_solutions(run, run.folder, method, DEVICES, 7 if at_length else 41)


@pytest.mark.parametrize("operation", ["cholesky", "lu-nopivot", "gemm"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_bench_computes_on_the_device(run, devices, operation, precision):
    done = run("bench", operation, "--n", 256, "--tile", 64, "--memory", "16MiB", "--workers", 1, "--precision", precision,
               "--devices", "opencl:0,memory=256KiB", "--scheduler", "eager", "--progress", "none", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((run.folder / "out.json").read_text())
    assert report["backward_error"] < (1e-5 if precision == "single" else 1e-13)
    moved = [link for link in report["links"] if link["name"] == "opencl 0"]
    assert moved, report["links"]


def test_missing_devices_are_reported(run):
    nothing = {"OCL_ICD_VENDORS": "/dev/null/vendors"}
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
def test_misspelt_options_are_reported(run, devices, given, said):
    done = run("bench", "cholesky", "--n", 64, "--devices", given)
    assert done.returncode == 2
    assert said in done.stderr


def over_wires(report: dict) -> tuple[int, int]:
    """To devices and from them."""
    both = [sum(cause["bytes"] for link in report["links"] if link["name"].startswith("opencl") for cause in link[way].values())
            for way in ("from_home", "to_home")]
    return both[0], both[1]


# The file is of two devices; with fixed-order all products run on the one that is used, so one worker has all tasks.
def test_a_calibrated_machine_predicts_the_bytes_of_a_run(run, devices):
    if len(devices) < 2:
        pytest.skip("two devices are needed")
    done = run("calibrate", "--devices", "opencl:0,memory=8MiB + opencl:1,memory=8MiB", "--machine-file", "pocl.toml", "--tiles", "32,64",
               "--amount", "16MiB", "--progress", "none", "--workers", 1, "--memory", "32MiB")
    assert done.returncode == 0, done.stderr
    text = (run.folder / "pocl.toml").read_text()
    assert text.count("[[device]]") == 2 and text.count("on_cores = ") == 2 and 'kernel = "gemm", precision = "double"' in text
    assert text.count("duplex = false") == 3  # of both, and of the disk
    for kibibytes in (128, 256, 640):
        done = run("bench", "gemm", "--n", 512, "--tile", 64, "--memory", "32MiB", "--workers", 1, "--devices",
                   f"opencl:0,memory={kibibytes}KiB", "--scheduler", "eager", "--fixed-order", "--pipeline-depth", 1, "--progress", "none",
                   "--json", "run.json")
        assert done.returncode == 0, done.stderr
        done = run("simulate", "gemm", "--machine", "./pocl.toml", "--n", 512, "--tile", 64, "--gpus", 1, "--cores", 0, "--memory",
                   f"{kibibytes}KiB", "--scheduler", "eager", "--pipeline-depth", 1, "--json", "sim.json")
        assert done.returncode == 0, done.stderr
        predicted = json.loads((run.folder / "sim.json").read_text())[0]
        to_devices, _ = over_wires(json.loads((run.folder / "run.json").read_text()))
        assert to_devices == predicted["bytes_to_devices"], kibibytes

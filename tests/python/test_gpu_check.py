"""scripts/gpu-check from the first step to the page, on the fake driver and with tiny sizes: every step of its three calls ends
well and writes down what it found; where there is no device it says in a line what is missing."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import gpu_page  # noqa: E402


@pytest.fixture(scope="module")
def check(fake_cuda, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu-check")
    build = fake_cuda.parents[1]
    if not (build / "bench/gpu_wires").exists():
        pytest.skip(f"{build} has no bench programs")

    def check(call, driver="devices=2,seed=3", **environment):
        return subprocess.run([sys.executable, ROOT / "scripts/gpu-check", call, "--memory", "64MiB", "--tiny", "--binaries", build,
                               "--json", folder / "found.json"], cwd=folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "LD_LIBRARY_PATH": str(fake_cuda), "FAKE_CUDA": driver,
                                   "FAIRLEAD_CUDA_KERNELS": str(fake_cuda / "kernels"), **environment})

    check.folder = folder
    return check


def test_every_step_succeeds_and_is_on_the_page(check):
    for call in ("probe", "test", "bench"):
        done = check(call)
        assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads((check.folder / "found.json").read_text())
    assert data["fake"] is True
    assert set(data["calls"]) == {"probe", "test", "bench"}
    assert data["calls"]["bench"]["command"] == "bench --memory 64MiB --tiny"  # and not where files lie
    problems = {one["step"]: one["problem"] for one in data["steps"] if "problem" in one}
    assert set(problems) <= {"under memcheck", "under racecheck", "random programs"}, problems
    # The fake driver cannot run kernels that it has not got: the programs are not taken for right.
    assert problems["random programs"].startswith("program 1 under")
    operations = {(run["operation"], run["tree"]) for one in data["steps"] if one["step"] == "right results" for run in one["result"]["runs"]}
    assert operations == {("cholesky", ""), ("lu-nopivot", ""), ("gemm", ""), ("qr", ""), ("qr", "binary tree")}
    runs = [run for one in data["steps"] if one["step"].startswith(("cholesky, ", "same bits")) for run in one["result"]["runs"]]
    assert len(runs) >= 6 and all(run["residual"] < 1e-12 and run["bytes_over_wires"] > 0 for run in runs)
    # With --fixed-order the same bits, whatever the memory and the streams.
    assert len({run["digest"] for one in data["steps"] if one["step"].startswith("same bits") for run in one["result"]["runs"]}) == 1
    [peer] = next(one["result"]["peers"] for one in data["steps"] if one["step"] == "wires between devices")
    assert peer["device"] == 1 and peer["access"] and all(one["there"] > 0 and one["both"] > 0 for one in peer["wires"])
    runs = next(one["result"]["runs"] for one in data["steps"] if one["step"] == "TF32 with refinement")
    assert [run["calls_in_tf32"] for run in runs[:2]] == [None, None] and runs[2]["calls_in_tf32"] > 0
    assert runs[2]["refinement_steps"] > runs[1]["refinement_steps"] and all(run["backward_error"] < 4e-15 for run in runs)
    unified = {one["step"]: one["result"] for one in data["steps"] if one["step"].startswith("unified")}
    assert {step.removeprefix("unified, ") for step in unified} == set(gpu_page.PLACES)
    assert all(run["residual"] < 1e-12 for result in unified.values() for run in result["runs"])
    text = gpu_page.section(data, "found.json")
    for word in ("registered, to device", "| 0 and 1 |", "potrf", "independent", "cuSOLVER's dpotrf", "cuSOLVER's dgeqrf", "qr, 512KiB", "cublasXt",
                 "kernels all together", "predicted from the machine file", "solve --refine --tf32, n = 256", "GB over the link", "CUDA graph", "4 chains in parallel", "of a recording",
                 "n = 256, in managed memory, with advice and prefetch, 4 streams"):
        assert word in text


def test_missing_devices_are_reported_in_a_line(check):
    done = check("probe", "devices=0", LD_LIBRARY_PATH="/dev/null/libraries")
    assert done.returncode == 1
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith("gpu-check: nothing can be measured here: ") and "libcuda.so.1" in line


def test_figures_of_the_fake_driver_are_not_published(tmp_path):
    (tmp_path / "docs/data").mkdir(parents=True)
    assert gpu_page.measured(tmp_path) == gpu_page.NOTHING
    (tmp_path / "docs/data/gpu-fake.json").write_text(json.dumps({"fake": True, "steps": []}))
    with pytest.raises(ValueError, match="fake driver"):
        gpu_page.measured(tmp_path)


def test_the_page_equals_the_recorded_files():
    page = (ROOT / "docs/notes/accelerators.md").read_text()
    assert page == gpu_page.with_measured(page, gpu_page.measured(ROOT))

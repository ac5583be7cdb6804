"""On a machine whose cores other programs use, `fairlead` reports them, and keeps no misleading figures."""

import contextlib
import json
import os
import re
import subprocess
import sys

import pytest

SPIN = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); print(flush=True)\nwhile True: pass"


@contextlib.contextmanager
def others_on(core, count):
    """Starts processes that compute all the time on that core."""
    started = [subprocess.Popen([sys.executable, "-c", SPIN, str(core)], stdout=subprocess.PIPE) for _ in range(count)]
    try:
        for process in started:
            process.stdout.readline()
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture
def on_core(command, tmp_path):
    """Runs the command on one core alone: (status, output, errors)."""
    core = min(os.sched_getaffinity(0))

    def run(*arguments):
        return subprocess.run([command, *map(str, arguments), "--cache-directory", tmp_path / "cache"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=300,
                              preexec_fn=lambda: os.sched_setaffinity(0, {core}))

    run.core = core
    run.folder = tmp_path
    return run


def test_other_programs_are_reported_as_the_limit_of_a_run(on_core):
    on_core("info")  # what is timed once, before others come
    with others_on(on_core.core, 4):
        done = on_core("bench", "cholesky", "--n", 1536, "--tile", 256, "--memory-fraction", 4, "--workers", 1, "--progress", "none",
                       "--json", "run.json", "--report", "run.html")
    assert done.returncode == 0, done.stderr
    report = json.loads((on_core.folder / "run.json").read_text())
    worker = report["worker_times"][0]
    if "cpu_seconds" not in worker:
        pytest.skip("this kernel does not count it")
    assert report["limited_by"]["factor"] == "other_programs"
    assert report["limited_by"]["runnable_on_core_part"] < 0.6  # a fifth, if the system is fair
    assert worker["cpu_seconds"] < 0.7 * worker["busy_seconds"]
    assert "Limited by      other programs: your workers had a core for" in done.stdout
    assert "Limited by <b>other programs</b>" in (on_core.folder / "run.html").read_text()


def test_more_workers_than_cores_are_not_blamed_on_others(on_core):
    on_core("info")
    done = on_core("bench", "cholesky", "--n", 1536, "--tile", 128, "--memory-fraction", 4, "--workers", 4, "--progress", "none",
                   "--json", "run.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((on_core.folder / "run.json").read_text())["limited_by"]["factor"] == "too_many_workers"


def test_timings_of_a_busy_machine_are_kept(on_core):
    with others_on(on_core.core, 8):
        first = on_core("bench", "cholesky", "--n", 64, "--progress", "none", "--json", "1.json")
    assert first.returncode == 0 and "timing the BLAS" in first.stderr, first.stderr
    second = on_core("bench", "cholesky", "--n", 64, "--progress", "none", "--json", "2.json")
    assert "timing the BLAS" not in second.stderr
    kernels = [json.loads((on_core.folder / name).read_text())["kernels"] for name in ("1.json", "2.json")]
    assert kernels[0] == kernels[1]


def test_calibration_on_a_busy_machine_keeps_no_misleading_figures(on_core):
    """Whether the disk's threads had a core depends on the disk; that the computing ones had not is certain."""
    what = ["calibrate", "--disk-directory", on_core.folder, "--amount", "16MiB", "--devices", "none", "--workers", 1, "--tiles", 32,
            "--precision", "double"]
    with others_on(on_core.core, 8):
        busy = on_core(*what, "--machine-file", "busy.toml")
    assert busy.returncode == 0, busy.stderr
    said = re.search(r"fairlead: other programs used the cores for (\d+) % of the time, so rates are too low: "
                     "measure again when the machine is idle", busy.stderr)
    assert said, busy.stderr
    assert int(said[1]) >= 50  # eight ninths, if the system is fair
    assert f"other programs used the cores for {said[1]} % of the time" in (on_core.folder / "busy.toml").read_text()
    kept = re.search("\nNot kept for later runs: (.*)", busy.stdout)
    assert ("Kept for later runs in" in busy.stdout) != bool(kept)
    again = on_core("calibrate", "--disk-directory", on_core.folder, "--amount", "16MiB", "--devices", "none")
    assert again.returncode == 0, again.stderr
    if kept:  # what was measured while the disk's threads had no core is measured again
        assert re.search("the threads that measured .* had no core for .* % of the time, because other programs used them", kept[1])
        assert ": writing" in again.stderr
    else:
        assert "All of it was measured before" in again.stdout


@pytest.mark.parametrize("wrong", [["--disk-directory", "/dev/null/directory"], ["--devices", "emulatd:memory=1MiB"],
                                   ["--record-flow", "/dev/null/x"]], ids=lambda words: words[0])
def test_errors_are_reported_before_timing(on_core, wrong):
    done = on_core("bench", "cholesky", "--n", 64, *wrong)
    assert done.returncode in (1, 2)
    assert "timing the BLAS" not in done.stderr and wrong[1].split(":")[0] in done.stderr


@pytest.mark.skipif(not os.path.exists("/usr/bin/valgrind"), reason="valgrind is not installed")
def test_the_command_runs_under_valgrind(command, tmp_path):
    done = subprocess.run(["valgrind", "--error-exitcode=9", "--quiet", command, "bench", "cholesky", "--n", "64", "--tile", "32",
                           "--workers", "1", "--progress", "none", "--cache-directory", "none", "--blas", "libopenblas.so.0",
                           "--blas-coretype", "Haswell"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "timing the BLAS" not in done.stderr

"""`fairlead bench` and `fairlead solve` with --front ptg and jdf compared with --front flow: the same tasks and the same bits, in core,
out of core, under policies and with devices; interruption; and usage errors."""

import json
import re
import signal
import subprocess
import time

import pytest

numpy = pytest.importorskip("numpy")

OPERATIONS = {"cholesky": [], "lu-nopivot": [], "lu-incremental": [], "qr": [], "qr, binary": ["--tree", "binary"],
              "qr, tall": ["--m", 600, "--tree", "binary"], "gemm": []}


@pytest.fixture
def bench(fairlead):
    """Gives the report of a benchmark."""

    def run(operation, front, *options):
        done = fairlead("bench", operation.split(",")[0], *OPERATIONS[operation], "--front", front, "--tile", 48, "--workers", 2,
                        "--digest", "--json", "report.json", "--progress", "none", *options, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads((fairlead.folder / "report.json").read_text())
        assert report["front"] == front
        assert not [file for file in fairlead.folder.iterdir() if file.name != "report.json"]
        return report

    return run


def expect_alike(by_graph, by_flow):
    for key in ("tasks", "factor_digest", "backward_error", "n", "tile", "memory_limit_bytes"):
        assert by_graph[key] == by_flow[key], key
    calls = [{name: kernel["calls"] for name, kernel in report["kernel_calls"].items()} for report in (by_graph, by_flow)]
    assert calls[0] == calls[1]
    assert [phase["name"] for phase in by_graph["phases"]] == [phase["name"] for phase in by_flow["phases"]]


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_tasks_and_the_result_are_those_of_a_flow(bench, operation, precision):
    for n in (1, 331):
        for memory in (["--memory-fraction", 0.3], ["--memory", "64MiB"]):
            sizes = ["--n", n, "--precision", precision, *memory]
            expect_alike(bench(operation, "ptg", *sizes), bench(operation, "flow", *sizes))


@pytest.mark.parametrize("operation", ["cholesky", "lu-incremental", "qr, binary", "gemm"])
def test_policies_out_of_core_and_devices_give_the_same_result(bench, operation):
    expected = bench(operation, "flow", "--n", 400, "--memory", "64MiB")["factor_digest"]
    for options in (["--scheduler", "blocks"], ["--scheduler", "darts"], ["--scheduler", "dmdas"], ["--scheduler", "eager"],
                    ["--devices", "emulated:memory=1MiB"], ["--scheduler", "dmdas", "--devices", "emulated:memory=1MiB,count=2"]):
        assert bench(operation, "ptg", "--n", 400, "--memory-fraction", 0.3, *options)["factor_digest"] == expected, options


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("operation", ["cholesky", "lu-nopivot", "gemm"])
def test_a_jdf_file_gives_the_same_tasks_and_result(bench, operation, precision):
    for n in (1, 331):
        sizes = ["--n", n, "--precision", precision]
        by_flow = bench(operation, "flow", *sizes, "--memory", "64MiB")
        for options in (["--memory", "64MiB"], ["--memory-fraction", 0.3], ["--memory-fraction", 0.3, "--scheduler", "darts"],
                        ["--memory-fraction", 0.4, "--scheduler", "eager", "--devices", "emulated:memory=1MiB"]):
            by_file = bench(operation, "jdf", *sizes, *options)
            assert by_file["factor_digest"] == by_flow["factor_digest"], options
            # Extra tasks, which compute nothing, forward its tiles of A and B.
            if operation != "gemm" and "64MiB" in options:
                expect_alike(by_file, by_flow)


@pytest.mark.parametrize("method", ["cholesky", "lu-nopivot", "lu-incremental", "qr"])
def test_a_system_is_solved_to_the_same_bits(fairlead, method):
    random = numpy.random.default_rng(2)
    n = 230
    a = random.standard_normal((n, n))
    a = a @ a.T + n * numpy.eye(n)
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", random.standard_normal((n, 3)))
    for options in ([], ["--memory", "7MiB", "--tile", 32], *([["--refine"]] if method == "cholesky" else [])):
        found = []
        for front in ("flow", "ptg"):
            done = fairlead("solve", "A.npy", "b.npy", "-o", f"{front}.npy", "--method", method, "--front", front, "--progress", "none",
                            "--workers", 2, *options)
            assert done.returncode == 0, done.stderr
            found.append((fairlead.folder / f"{front}.npy").read_bytes())
        assert found[0] == found[1], options


def started(command, folder, *options):
    """Starts a benchmark and waits for the middle of its factorization."""
    run = subprocess.Popen([command, "bench", *map(str, options), "--progress", "none", "--workers", "2",
                            "--disk-directory", folder], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        status = subprocess.run([command, "status", str(run.pid)], capture_output=True, text=True, timeout=60).stdout
        if re.search(r"(factorization|product), [1-9][0-9]* of [0-9]+ tasks finished", status):
            return run
        assert run.poll() is None, "it ended before its status was read"
    run.kill()
    pytest.fail(f"it did not start: {status}")


@pytest.mark.parametrize("operation, front", [("cholesky", "ptg"), ("qr", "ptg"), ("gemm", "ptg"), ("cholesky", "jdf")])
@pytest.mark.parametrize("memory", [["--memory-fraction", "0.2"], ["--memory", "2GiB"]])
def test_an_interrupted_graph_leaves_no_file(command, tmp_path, operation, front, memory):
    run = started(command, tmp_path, operation, "--n", 6000, "--tile", 64, "--front", front, *memory)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert out == "" and "rror" not in err
    assert list(tmp_path.iterdir()) == []


def test_wrong_options_and_inputs_are_errors(fairlead):
    refused = fairlead("bench", "cholesky", "--front", "jfd", "--n", 100)
    assert refused.returncode == 2
    assert "front" in refused.stderr and "flow, ptg, jdf" in refused.stderr
    refused = fairlead("bench", "qr", "--front", "jdf", "--n", 100)
    assert refused.returncode == 2 and "there is no JDF file for qr" in refused.stderr
    refused = fairlead("bench", "cholesky", "--front", "ptg", "--n", 100, "--record-flow", "flow.txt")
    assert refused.returncode == 2 and "--record-flow records flows" in refused.stderr
    assert not (fairlead.folder / "flow.txt").exists()
    numpy.save(fairlead.folder / "A.npy", -numpy.eye(100))
    numpy.save(fairlead.folder / "b.npy", numpy.ones(100))
    for front in ("flow", "ptg"):
        failed = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "cholesky", "--tile", 30, "--front", front)
        assert failed.returncode == 1 and "not positive definite" in failed.stderr and "column 0" in failed.stderr
    for front in ("flow", "ptg"):
        refused = fairlead("bench", "qr", "--n", 3000, "--tile", 1000, "--memory", "20MiB", "--front", front)
        assert refused.returncode == 1 and "at once" in refused.stderr and "Use smaller tiles" in refused.stderr, refused.stderr

"""Runs with a checkpoint that are killed at random moments and resumed until they are complete, compared with NumPy; and checkpoints
that must be refused. A few runs of each kind; with --long, hundreds."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import methods
import numpy as np
import pytest

N = 1200
# The bytes of all elements are about 11 MB, and of tasks of LU and QR about 2 MB.
MEMORY = {"in core": "64MiB", "out of core": "6MiB"}
OPTIONS = ["--tile", "80", "--checkpoint", "C", "--checkpoint-period", "0.02s", "--progress", "none"]


def system_for(method, folder, n=N, seed=1, dtype="f8"):
    is_complex = np.dtype(dtype).kind == "c"
    a = methods.matrix_for(method, n, seed, is_complex).astype(dtype)
    x = np.random.default_rng(seed + 100).standard_normal(n).astype(dtype)
    np.save(folder / "A.npy", a)
    np.save(folder / "b.npy", (a @ x).astype(dtype))
    return a


def started(command, words, folder):
    return subprocess.Popen([command, *map(str, words)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def completed(command, words, folder):
    """The process, which ran to its end, and what it printed."""
    process = started(command, words, folder)
    out, errors = process.communicate(timeout=300)
    return process.returncode, out, errors


def seconds_of(command, words, folder):
    begin = time.monotonic()
    status, _, errors = completed(command, words, folder)
    assert status == 0, errors
    return time.monotonic() - begin


def check_solution(folder, a):
    x, b = np.load(folder / "x.npy"), np.load(folder / "b.npy")
    scale = np.linalg.norm(a, np.inf) * np.linalg.norm(x, np.inf) + np.linalg.norm(b, np.inf)
    assert np.linalg.norm(a @ x - b, np.inf) <= 50 * len(b) * np.finfo(a.dtype).eps * scale


def kill_until_complete(command, words, folder, draws, whole, with_signals=False):
    """Kills the command at random moments, until it has survived; the last time undisturbed. How many runs were resumed."""
    resumed = 0
    for attempt in range(7):
        process = started(command, words, folder)
        if attempt < 6:
            try:
                process.wait(draws.uniform(0.1, 1.1) * whole)
            except subprocess.TimeoutExpired:
                process.send_signal(draws.choice([signal.SIGTERM, signal.SIGKILL]) if with_signals else signal.SIGKILL)
        _, errors = process.communicate(timeout=300)
        resumed += "are finished in the checkpoint" in errors
        if process.returncode == 0:
            return resumed
        # Before its handlers are installed, a process ends by the signal itself.
        assert process.returncode in (-signal.SIGKILL, -signal.SIGTERM, 75, 128 + signal.SIGTERM), errors
    pytest.fail(f"the last run failed: {errors}")


@pytest.mark.parametrize("method", sorted(set(methods.METHODS) - {"triangular"}) + ["auto"])
@pytest.mark.parametrize("memory", MEMORY)
def test_killed_runs_are_resumed(command, tmp_path, at_length, method, memory):
    draws = random.Random(f"{method} {memory}")
    a = system_for(method, tmp_path)
    words = ["solve", "A.npy", "b.npy", "-o", "x.npy", "--memory", MEMORY[memory], *OPTIONS]
    if method != "auto":
        words += ["--method", method]
    whole = seconds_of(command, words, tmp_path)
    resumed = 0
    for round_number in range(40 if at_length else 1):
        (tmp_path / "x.npy").unlink()
        with_signals = (round_number + len(method) + len(memory)) % 2 == 1
        resumed += kill_until_complete(command, words, tmp_path, draws, whole, with_signals)
        check_solution(tmp_path, a)
        assert not (tmp_path / "C").exists()
    assert resumed > 0 or not at_length


def test_killed_runs_with_refinement_are_resumed(command, tmp_path):
    a = system_for("cholesky", tmp_path)
    words = ["solve", "A.npy", "b.npy", "-o", "x.npy", "--memory", "8MiB", "--refine", *OPTIONS]
    whole = seconds_of(command, words, tmp_path)
    kill_until_complete(command, words, tmp_path, random.Random(1), whole)
    check_solution(tmp_path, a)


@pytest.mark.parametrize("dtype", ["f4", "c8", "c16"])
def test_killed_runs_of_other_types_are_resumed(command, tmp_path, dtype):
    a = system_for("lu", tmp_path, n=900, dtype=dtype)
    words = ["solve", "A.npy", "b.npy", "-o", "x.npy", "--memory", "12MiB", "--method", "lu", *OPTIONS]
    whole = seconds_of(command, words, tmp_path)
    kill_until_complete(command, words, tmp_path, random.Random(dtype), whole)
    check_solution(tmp_path, a)


def test_kept_factors_are_resumed(command, tmp_path):
    a = system_for("ldlt", tmp_path)
    words = ["factor", "A.npy", "-o", "A.factor", "--method", "ldlt", "--memory", "8MiB", *OPTIONS]
    whole = seconds_of(command, words, tmp_path)
    kill_until_complete(command, words, tmp_path, random.Random(1), whole)
    status, _, errors = completed(command, ["solve", "--factor", "A.factor", "b.npy", "-o", "x.npy"], tmp_path)
    assert status == 0, errors
    check_solution(tmp_path, a)


def stopped_run(command, folder, words):
    """A directory C with a checkpoint of a part of the tasks, after SIGTERM. Returns what the run printed."""
    index = folder / "C/index"

    def version():
        try:
            return index.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    for attempt in range(40):
        process = started(command, words, folder)
        seen = set()
        # No index, and three of them; or the first one, on a machine that is too busy to see three.
        while process.poll() is None and len(seen) < (4 if attempt < 8 else 2):
            seen.add(version())
            time.sleep(0.002)
        process.terminate()
        _, errors = process.communicate(timeout=300)
        if process.returncode == 75:
            assert index.exists(), errors
            (folder / "x.npy").unlink(missing_ok=True)
            return errors
        assert process.returncode == 0, errors
    pytest.fail("all runs ended before they were stopped")


WORDS = ["solve", "A.npy", "b.npy", "-o", "x.npy", "--method", "lu", "--memory", "8MiB", *OPTIONS]


def test_a_run_stops_after_a_time(command, tmp_path):
    a = system_for("lu", tmp_path)
    for attempt in range(100):
        status, _, errors = completed(command, [*WORDS, "--stop-after", f"{0.3 + 0.1 * attempt:.1f}s"], tmp_path)
        if status == 0:
            break
        assert status == 75 and "it can be resumed from C" in errors, errors
    assert status == 0
    check_solution(tmp_path, a)


def test_the_last_checkpoint_has_a_limit(command, tmp_path):
    a = system_for("lu", tmp_path, 1500)
    words = [*WORDS, "--memory", "64MiB", "--disk-bandwidth", "1MB/s"]  # 18 s for the matrix
    for attempt in range(20):  # a checkpoint before the first task has no data to write
        began = time.monotonic()
        status, _, errors = completed(command, [*words, "--stop-after", f"{0.01 + 0.02 * attempt}s", "--stop-limit", "0.3s"], tmp_path)
        assert status == 75, errors
        if "the time of stop-limit has passed" in errors:
            break
        shutil.rmtree(tmp_path / "C", ignore_errors=True)
    assert "the time of stop-limit has passed" in errors, errors
    assert time.monotonic() - began < 9
    shutil.rmtree(tmp_path / "C", ignore_errors=True)
    assert completed(command, WORDS, tmp_path)[0] == 0
    check_solution(tmp_path, a)


def test_a_run_is_resumed_elsewhere(command, tmp_path):
    a = system_for("lu", tmp_path)
    errors = stopped_run(command, tmp_path, WORDS)
    assert "it can be resumed from C" in errors
    assert sorted(path.name.split("-")[0] for path in (tmp_path / "C").iterdir()) == ["data", "index"]
    # On other workers, by another policy, in other memory, on an emulated device.
    other = ["--workers", "1", "--scheduler", "lws", "--memory", "32MiB", "--devices", "emulated:memory=8MiB"]
    status, _, errors = completed(command, [*WORDS, *other], tmp_path)
    assert status == 0 and "are finished in the checkpoint" in errors, errors
    check_solution(tmp_path, a)
    assert not (tmp_path / "C").exists()


def test_fixed_order_gives_the_same_bits(command, tmp_path):
    system_for("lu", tmp_path)
    words = [*WORDS, "--fixed-order", "--workers", "2"]
    assert completed(command, words, tmp_path)[0] == 0
    undisturbed = (tmp_path / "x.npy").read_bytes()
    stopped_run(command, tmp_path, words)
    assert completed(command, words, tmp_path)[0] == 0
    assert (tmp_path / "x.npy").read_bytes() == undisturbed


def test_a_checkpoint_of_another_computation_is_refused(command, tmp_path):
    a = system_for("lu", tmp_path)
    stopped_run(command, tmp_path, WORDS)

    def refusal(*more, words=WORDS):
        status, _, errors = completed(command, [*words, *more], tmp_path)
        assert status == 1 and not (tmp_path / "x.npy").exists(), errors
        return errors

    assert "its tile is 80, and that of this run is 100" in refusal("--tile", "100")
    assert "its method is" in refusal("--method", "qr")
    unpivoted = [word if word != "lu" else "lu-nopivot" for word in WORDS]
    assert "--front flow" in completed(command, [*unpivoted, "--front", "ptg", "--checkpoint", "D"], tmp_path)[2]
    assert "no checkpoints" in completed(command, [*WORDS, "--ranks", "2"], tmp_path)[2]
    status = os.stat(tmp_path / "A.npy")
    changed = a.copy()
    changed[0, 0] += 1
    np.save(tmp_path / "A.npy", changed)
    assert "its file of the matrix is" in refusal()
    os.utime(tmp_path / "A.npy", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "its matrix is digest" in refusal()
    np.save(tmp_path / "A.npy", a.astype("f4"))
    assert "is of another computation" in refusal()
    np.save(tmp_path / "A.npy", a)
    os.utime(tmp_path / "A.npy", ns=(status.st_atime_ns, status.st_mtime_ns))
    data = next((tmp_path / "C").glob("data-*"))
    data.rename(tmp_path / "elsewhere")
    assert "is missing" in refusal()
    (tmp_path / "elsewhere").rename(data)
    assert completed(command, WORDS, tmp_path)[0] == 0
    check_solution(tmp_path, a)


def test_damaged_checkpoints_are_refused(command, tmp_path, at_length):
    system_for("lu", tmp_path, n=600)
    stopped_run(command, tmp_path, WORDS)
    index = (tmp_path / "C/index").read_bytes()
    draws = random.Random(1)
    for damage in range(100 if at_length else 6):
        damaged = bytearray(index)
        if damage % 3 == 0:
            damaged = damaged[:draws.randrange(len(damaged))]
        else:
            damaged[draws.randrange(len(damaged))] ^= 1 << draws.randrange(8)
        (tmp_path / "C/index").write_bytes(damaged)
        status, _, errors = completed(command, WORDS, tmp_path)
        assert status == 1 and "C/index" in errors, errors
        assert not (tmp_path / "x.npy").exists()
    (tmp_path / "C/index").write_bytes(index)
    assert completed(command, WORDS, tmp_path)[0] == 0


@pytest.mark.parametrize("setting", ["--checkpoint-period", "--stop-after"])
@pytest.mark.parametrize("value", ["0", "soon", "5x", "1s2h", "-3s", ""])
def test_a_time_is_checked(command, tmp_path, setting, value):
    system_for("lu", tmp_path, n=50)
    status, _, errors = completed(command, [*WORDS, f"{setting}={value}"], tmp_path)
    assert status == 2 and setting.strip("-") in errors, errors


def test_commands_without_checkpoints_refuse_them(command, tmp_path):
    status, _, errors = completed(command, ["bench", "cholesky", "--n", "100", "--checkpoint", "C"], tmp_path)
    assert status == 2 and "--checkpoint" in errors, errors
    assert not (tmp_path / "C").exists()


def test_kernel_matrices_and_determinants(command, tmp_path):
    draws = random.Random(1)
    np.save(tmp_path / "points.npy", np.random.default_rng(1).uniform(size=(1500, 3)))
    np.save(tmp_path / "b.npy", np.ones(1500))
    kernel = ["solve", "--kernel", "rbf", "--points", "points.npy", "--length-scale", "0.5", "--nugget", "1e-2", "b.npy", "-o", "x.npy"]
    common = ["--memory", "8MiB", *OPTIONS]
    whole = seconds_of(command, [*kernel, *common], tmp_path)
    undisturbed = np.load(tmp_path / "x.npy")
    kill_until_complete(command, [*kernel, *common], tmp_path, draws, whole)
    np.testing.assert_allclose(np.load(tmp_path / "x.npy"), undisturbed, rtol=1e-6, atol=1e-6 * abs(undisturbed).max())
    a = system_for("lu", tmp_path)
    words = ["logdet", "A.npy", *common]
    for _ in range(6):
        process = started(command, words, tmp_path)
        try:
            process.wait(draws.uniform(0.1, 1) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
    status, out, errors = completed(command, words, tmp_path)
    sign, logarithm = np.linalg.slogdet(a)
    assert status == 0, errors
    assert out.split() == ["sign", f"{sign:g},", "log|det|", out.split()[-1]]
    assert float(out.split()[-1]) == pytest.approx(logarithm, rel=1e-10)
    assert not (tmp_path / "C").exists()


def test_a_directory_that_cannot_be_made(command, tmp_path):
    system_for("lu", tmp_path, n=50)
    for directory in ("missing/C", "A.npy"):
        status, _, errors = completed(command, [*WORDS, "--checkpoint", directory], tmp_path)
        assert status == 1 and directory in errors, errors


def test_the_log_of_a_run_with_checkpoints_is_replayed(command, tmp_path):
    system_for("lu", tmp_path, n=600)
    status, _, errors = completed(command, [*WORDS, "--event-log", "log"], tmp_path)
    assert status == 0, errors
    status, out, errors = completed(command, ["replay-log", "log"], tmp_path)
    assert status == 0, out + errors


def test_the_package_has_checkpoints(fl, tmp_path):
    a = system_for("lu", tmp_path, n=300)
    b = np.load(tmp_path / "b.npy")
    x = fl.solve(a, b, memory="16MiB", settings={"checkpoint": str(tmp_path / "C"), "tile": 50})
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-6)
    assert not (tmp_path / "C").exists()


PROGRAM = """
import os, signal, sys, time
import numpy as np
import fairlead as fl

killed_after, steps = int(sys.argv[1]), int(sys.argv[2])
ran = 0

@fl.codelet
def double(x: fl.InOut):
    global ran
    ran += 1
    if ran == killed_after:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.003)
    x *= 2

with fl.Runtime(memory="256KiB", workers=2, settings={"checkpoint": "C", "checkpoint-period": "0.001s"}) as rt:
    a = rt.tiled(np.arange(128.0 * 128).reshape(128, 128), tile=32)
    with rt.flow() as flow:
        finished = flow.use_checkpoints(program="double", steps=steps)
        for _ in range(steps):
            for tile in a.tiles():
                flow.submit(double, tile)
        flow.wait()
    np.save("result.npy", np.asarray(a))
    rt.remove_checkpoint()
    print(finished, ran)
"""


def test_flows_of_the_package_are_resumed(fl, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(fl.__file__).parents[1])}

    def run(killed_after, steps=20):
        return subprocess.run([sys.executable, "program.py", str(killed_after), str(steps)], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=120)

    finished = 0
    for killed_after in (150, 200, 250, 300, 310):  # on a busy machine, the first checkpoints may have no finished task
        assert run(killed_after).returncode == -signal.SIGKILL
        if (tmp_path / "C/index").exists():
            refused = run(0, steps=21)
            assert refused.returncode == 1 and "its steps is 20, and that of this run is 21" in refused.stderr
        last = run(0)
        assert last.returncode == 0, last.stderr
        finished, ran = map(int, last.stdout.split())
        assert finished + ran == 20 * 16
        np.testing.assert_array_equal(np.load(tmp_path / "result.npy"), 2.0**20 * np.arange(128.0 * 128).reshape(128, 128))
        assert not (tmp_path / "C").exists()
        if finished > 0:
            break
    assert finished > 0


def test_a_solve_of_the_package_stops(fl, tmp_path):
    a = system_for("lu", tmp_path, n=1500)
    settings = {"checkpoint": str(tmp_path / "C"), "stop-after": "0.01s", "tile": 100}
    with pytest.raises(fl.CheckpointStop, match="can be resumed"):
        fl.solve(a, np.load(tmp_path / "b.npy"), memory="16MiB", settings=settings)
    del settings["stop-after"]
    b = np.load(tmp_path / "b.npy")
    np.testing.assert_allclose(a @ fl.solve(a, b, memory="16MiB", settings=settings), b, rtol=1e-6)

"""Files that another program changes while they are read: in their values, cut short for a moment or for good, longer. The error
names the file, and blames neither the matrix nor the machine."""

import os
import subprocess
import threading
import time

import pytest

numpy = pytest.importorskip("numpy")

N, COLUMNS = 1200, 300
METHODS = {
    "cholesky": "definite.npy b.npy --method cholesky",
    "refine": "definite.npy b.npy --refine",
    "lu-nopivot": "dominant.npy b.npy --method lu-nopivot",
    "lu-incremental": "dominant.npy b.npy --method lu-incremental",
    "qr": "tall.npy b.npy --method qr",
    "ranks": "definite.npy b.npy --ranks 2 --workers 1",
}
BLAMED = ("has changed while it was read", "has become shorter while it was read", "is truncated")


@pytest.fixture(scope="module")
def matrices():
    random = numpy.random.default_rng(1)
    m = random.standard_normal((N, N))
    return {"definite.npy": m @ m.T / N + numpy.eye(N), "dominant.npy": m + 3 * N * numpy.eye(N), "tall.npy": m[:, :COLUMNS].copy(), "b.npy": m[0].copy()}


def change(path, how, columns, stop):
    file = os.open(path, os.O_RDWR)
    size, drawn = os.fstat(file).st_size, numpy.random.default_rng(2)
    header = size - 8 * N * columns
    for turn in range(1, 10**9):
        if how == "values":  # the diagonal, by which the matrix stays as it was: symmetric and definite, or dominant
            for i in range(0, columns if columns > 1 else N, 7):
                add = 4 * N if path.name == "dominant.npy" else 50
                os.pwrite(file, numpy.float64(add * (1 + drawn.random())).tobytes(), header + 8 * (i * columns + (i if columns > 1 else 0)))
        elif how == "cut for a moment":
            os.ftruncate(file, size // 2)
            time.sleep(0.002)
            os.ftruncate(file, size)
            time.sleep(0.002)
        elif how == "cut":
            time.sleep(0.1)
            os.ftruncate(file, size // 3)
        else:
            os.ftruncate(file, size + 8 * turn)
            time.sleep(0.001)
        if stop.is_set() or how == "cut":
            break
    os.close(file)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("changed", ["A", "b"])
@pytest.mark.parametrize("how", ["values", "cut for a moment", "cut", "longer"])
def test_a_changed_file_is_named_as_the_cause(command, tmp_path, matrices, method, changed, how):
    words = METHODS[method].split()
    for name in words[:2]:
        numpy.save(tmp_path / name, matrices[name])
    name = words[0] if changed == "A" else "b.npy"
    columns = 1 if changed == "b" else matrices[name].shape[1]
    stop = threading.Event()
    writer = threading.Thread(target=change, args=(tmp_path / name, how, columns, stop))
    writer.start()
    try:
        done = subprocess.run([command, "solve", *words, "-o", "x.npy", "--memory", "64MiB", "--no-condition", "--progress", "none"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=120)
    finally:
        stop.set()
        writer.join()
    assert "memory or a library has failed" not in done.stderr
    assert (tmp_path / "x.npy").exists() == (done.returncode == 0)
    if how == "longer":  # what the header promises is there all the time
        assert done.returncode == 0, done.stderr
        x = numpy.load(tmp_path / "x.npy")
        assert numpy.allclose(x, numpy.linalg.lstsq(matrices[words[0]], matrices["b.npy"], rcond=None)[0], rtol=1e-6, atol=1e-9)
    elif done.returncode != 0:  # 0: it was read before, or at one moment
        assert done.returncode in (1, 3) and any(f"{name}{':' if 'truncated' in it or 'shorter' in it else ''} {it}" in done.stderr for it in BLAMED), done.stderr
    if how == "values" and changed == "A" and method in ("cholesky", "lu-nopivot", "qr"):  # read once more for the error
        assert done.returncode == 3, done.stderr

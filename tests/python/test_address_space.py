"""Under a limit of address space (ulimit -v), as batch systems set it, the command works, or ends with an error that states
what to do: OpenBLAS would request a buffer forever."""

import resource
import subprocess

import pytest

numpy = pytest.importorskip("numpy")

MIB = 1 << 20


@pytest.mark.parametrize("memory", [[], ["--memory", "32MiB"]], ids=["auto", "32MiB"])
@pytest.mark.parametrize("workers", [1, 2, 64, 400, 65534])
def test_a_run_under_a_limit_of_addresses_ends(command, tmp_path, workers, memory):
    random = numpy.random.default_rng(4)
    m = random.standard_normal((300, 300))
    a, b = m @ m.T / 300 + numpy.eye(300), random.standard_normal(300)
    numpy.save(tmp_path / "A.npy", a)
    numpy.save(tmp_path / "b.npy", b)
    solved = []
    for limit in (96, 192, 256, 320, 384, 512, 768, 1024, 4096, 16384):
        done = subprocess.run([command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--tile", "64", "--workers", str(workers),
                               "--progress", "none", "--config", "none", *memory],
                              cwd=tmp_path, capture_output=True, text=True, timeout=240,
                              preexec_fn=lambda most=limit * MIB: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        if done.returncode == 0:
            solved.append(limit)
            x = numpy.load(tmp_path / "x.npy")
            assert abs(x - numpy.linalg.solve(a, b)).max() < 1e-10
        else:
            assert done.returncode in (1, 2), f"{limit} MiB: {done.returncode} {done.stderr}"
            assert any(word in done.stderr for word in
                       ("--workers", "--memory", "cannot load the library", "addresses", "fewer workers", "Use a higher limit")), done.stderr
    if workers <= 2 or (workers == 64 and not memory):  # what is taken by itself leaves room for the workers' own addresses
        assert 16384 in solved

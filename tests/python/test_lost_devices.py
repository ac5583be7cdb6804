"""`fairlead bench` and `fairlead solve` with an emulated device that is lost in the middle: the right answer, or an error and an
exit status that says so; never a wrong answer. Whether the device has data to lose depends on the
policy and the workers' speed; that each loss is reported is tested with certain losses, in
tests/backend/emulated/lost_device_test.cpp."""

import json

import pytest

numpy = pytest.importorskip("numpy")


def devices(after, others=""):
    return f"emulated:memory=256KiB,bandwidth=2GB/s,lost={after}{others}"


@pytest.mark.parametrize("scheduler", ["eager", "dmdas", "darts"])
@pytest.mark.parametrize("others", ["", "+emulated:memory=256KiB,bandwidth=2GB/s"])
def test_a_benchmark_is_right_or_fails(fairlead, scheduler, others):
    def run(*options):
        return fairlead("bench", "cholesky", "--n", 480, "--tile", 48, "--workers", 2, "--memory", "64MiB", "--digest", "--json",
                        "report.json", "--progress", "none", *options, timeout=120)

    assert run().returncode == 0
    expected = json.loads((fairlead.folder / "report.json").read_text())["factor_digest"]
    for after in (1, 2, 5, 17, 60, 140, 100000):
        (fairlead.folder / "report.json").unlink(missing_ok=True)
        done = run("--scheduler", scheduler, "--devices", devices(after, others))
        if done.returncode == 0:
            report = json.loads((fairlead.folder / "report.json").read_text())
            assert report["factor_digest"] == expected, after
            lost = [node["name"] for node in report["nodes"] if "lost" in node]
            assert lost in ([], ["emulated 0"]) and (lost == [] or after < 100000)
            assert ("Lost" in done.stdout) == bool(lost), done.stdout
        else:
            assert after < 100000
            assert "emulated 0" in done.stderr and "is lost" in done.stderr or "copies and tasks" in done.stderr, done.stderr


def test_a_system_is_solved_or_no_solution_is_written(fairlead):
    random = numpy.random.default_rng(4)
    a = random.standard_normal((300, 300))
    a = a @ a.T + 300 * numpy.eye(300)
    b = random.standard_normal((300, 2))
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", b)
    for after in (1, 3, 10, 30, 90, 100000):
        (fairlead.folder / "x.npy").unlink(missing_ok=True)
        done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--workers", 2, "--tile", 48, "--memory", "64MiB", "--scheduler",
                        "dmdas", "--progress", "none", "--devices", devices(after), timeout=120)
        if done.returncode == 0:
            assert numpy.abs(numpy.load(fairlead.folder / "x.npy") - numpy.linalg.solve(a, b)).max() < 1e-10
        else:
            assert after < 100000
            assert "emulated 0" in done.stderr, done.stderr
            assert not (fairlead.folder / "x.npy").exists()

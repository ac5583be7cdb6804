"""Calls of the package with the same options use one solver, one after the other; with other options, another one."""

import concurrent.futures
import os
import warnings

import pytest

numpy = pytest.importorskip("numpy")


def system(n=40, seed=1):
    random = numpy.random.default_rng(seed)
    a = random.standard_normal((n, n))
    return a + a.T + 4 * n * numpy.eye(n), random.standard_normal(n)


@pytest.fixture
def made(fl, monkeypatch):
    """The number of solvers that were made since."""
    from fairlead import _idle_solvers
    made, new = [], _idle_solvers.Solver
    monkeypatch.setattr(_idle_solvers, "_idle", [])
    monkeypatch.setattr(_idle_solvers, "Solver", lambda options: made.append(options) or new(options))
    return made


def test_equal_options_share_a_solver(fl, made):
    a, b = system()
    for _ in range(3):
        x, info = fl.solve(a, b, assume_a="pos", settings={"disk_threads": 2}, return_info=True)
        assert numpy.allclose(a @ x, b) and info.method == "cholesky"
    assert len(made) == 1
    # Settings are equal as texts; a matrix of another kind needs no other solver.
    assert numpy.allclose(fl.solve(lambda r, c: a[numpy.ix_(r, c)], b, shape=a.shape, assume_a="pos",
                                   settings={"disk-threads": "2"}), x)
    assert len(made) == 1


@pytest.mark.parametrize("other", [{"condition": False}, {"assume_a": "gen"}, {"workers": 1}, {"memory": "1GiB"}, {"digits": 3},
                                   {"settings": {"disk-threads": 3}}, {"method": "qr"}])
def test_other_options_have_another_solver(fl, made, other):
    a, b = system()
    plain = fl.solve(a, b, return_info=True)[1]
    x, info = fl.solve(a, b, return_info=True, **other)
    assert numpy.allclose(a @ x, b) and len(made) == 2
    assert (info.condition is None) == (other == {"condition": False})
    assert (info.method == plain.method) == ("assume_a" not in other and "method" not in other)


def test_the_environment_and_the_configuration_file_count(fl, made, monkeypatch, tmp_path):
    a, b = system()
    path = tmp_path / "fairlead.toml"
    path.write_text("workers = 1\n")
    monkeypatch.setenv("FAIRLEAD_CONFIG", str(path))
    fl.solve(a, b)
    path.write_text("worker = 1\n")
    with pytest.raises(ValueError, match="workers"):
        fl.solve(a, b)
    path.write_text("workers = 1\n")
    monkeypatch.setenv("FAIRLEAD_SCHEDULER", "none such")
    with pytest.raises(ValueError, match="none such"):
        fl.solve(a, b)
    monkeypatch.delenv("FAIRLEAD_SCHEDULER")
    assert numpy.allclose(a @ fl.solve(a, b), b)


def test_a_call_that_fails_leaves_no_trace(fl, made):
    a, b = system()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fl.solve(lambda r, c: 1 / 0, b, shape=a.shape)
        with pytest.raises(numpy.linalg.LinAlgError):
            fl.solve(numpy.zeros_like(a), b)
        x, info = fl.solve(a, b, return_info=True)
        assert numpy.allclose(a @ x, b) and info.method == "cholesky"


def test_threads_have_solvers_of_their_own(fl, made):
    def solved(seed):
        a, b = system(seed=seed)
        return numpy.allclose(a @ fl.solve(a, b, assume_a=("pos", "gen", "sym")[seed % 3]), b)

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        assert all(threads.map(solved, range(200)))
    from fairlead import _idle_solvers
    assert len(_idle_solvers._idle) <= 4


def test_a_child_makes_its_own(fl, made):
    a, b = system()
    fl.solve(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of os.fork() itself, where threads run
        child = os.fork()
    if child == 0:
        os._exit(0 if numpy.allclose(a @ fl.solve(a, b), b) and len(made) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    fl.solve(a, b)
    assert len(made) == 1

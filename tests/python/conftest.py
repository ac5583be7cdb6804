"""Shared by the tests of the installed command: its path, and how to run it in an empty folder."""

import collections
import importlib
import os
import pathlib
import signal
import subprocess
import sys

import covering
import pytest

# NumPy's BLAS gets one thread here: more would spin on cores that other tests need. The command keeps its default.
with pytest.MonkeyPatch.context() as environment:
    environment.setenv("OPENBLAS_NUM_THREADS", "1")
    import numpy as np  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A shell starts background jobs with SIGINT ignored, which they inherit; some tests send it to this process or its children.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--command", default=str(ROOT / "build/installed/bin/fairlead"),
                     help="the installed fairlead program")
    parser.addoption("--library", default=str(ROOT / "build/release/libfairlead.so"),
                     help="the shared library that the Python package loads")
    parser.addoption("--fake-cuda", default=str(ROOT / "build/release/tests/fake_cuda"),
                     help="the folder with the fake driver of CUDA devices")
    parser.addoption("--long", action="store_true", help="all cases, where tests have a choice of them")
    parser.addoption("--moments", type=int, default=1,
                     help="drawn moments at which a rank is lost, of each kind of loss")


def pytest_collection_modifyitems(config, items):
    """Selects cases that cover the product of a test's parameters. --long runs all."""
    if config.getoption("--long"):
        return
    functions = collections.defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            functions[item.nodeid.split("[")[0]].append(item)
    left_out = set()
    for cases in functions.values():
        kept = set(covering.covering([covering.case_of(item) for item in cases]))
        left_out |= {item for i, item in enumerate(cases) if i not in kept}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def command(request) -> pathlib.Path:
    path = pathlib.Path(request.config.getoption("--command")).resolve()
    if not path.exists():
        if not list((ROOT / "apps/fairlead").glob("*.cpp")):
            pytest.skip("the command line program does not exist yet")
        pytest.fail(f"{path} is not there: cmake --install build/release --prefix build/installed")
    return path


@pytest.fixture(scope="session")
def fake_cuda(request) -> pathlib.Path:
    folder = pathlib.Path(request.config.getoption("--fake-cuda")).resolve()
    if not (folder / "libcuda.so.1").exists():
        pytest.fail(f"{folder} has no fake driver of CUDA devices: build the tests, or say by --fake-cuda where it is")
    return folder


@pytest.fixture(scope="session")
def fl(request):
    """The Python package on the shared library of the build tree."""
    pytest.importorskip("numpy")
    library = pathlib.Path(request.config.getoption("--library")).resolve()
    if not library.exists():
        pytest.fail(f"{library} is not there: build the target fairlead_shared, or say by --library where it is")
    os.environ["LIBFAIRLEAD"] = str(library)
    sys.path.insert(0, str(ROOT / "python"))
    return importlib.import_module("fairlead")


@pytest.fixture(scope="session")
def at_length(request) -> bool:
    return request.config.getoption("--long")


@pytest.fixture
def fairlead(command, tmp_path):
    """Runs the command with arguments in an empty folder, `fairlead.folder`; gives status, stdout, stderr."""

    def run(*arguments, timeout=300):
        return subprocess.run([command, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True,
                              timeout=timeout)

    run.folder = tmp_path
    return run

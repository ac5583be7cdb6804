"""File names and types: links, `-`, removed directories, and the type names in .npy headers."""

import os
import subprocess
import threading

import pytest

numpy = pytest.importorskip("numpy")

A = 3 * numpy.eye(8)
B = numpy.arange(8.0)


def save(folder):
    numpy.save(folder / "A.npy", A)
    numpy.save(folder / "b.npy", B)


def solve(fairlead, output, *more):
    return fairlead("solve", "A.npy", "b.npy", "-o", output, "--quiet", "--memory", "64MiB", *more, timeout=120)


def test_a_dangling_link_is_followed(fairlead):
    save(fairlead.folder)
    (fairlead.folder / "there").mkdir()
    (fairlead.folder / "link.npy").symlink_to("second.npy")
    (fairlead.folder / "second.npy").symlink_to("there/x.npy")
    assert solve(fairlead, "link.npy").returncode == 0
    assert (fairlead.folder / "link.npy").is_symlink() and (fairlead.folder / "second.npy").is_symlink()
    assert numpy.allclose(numpy.load(fairlead.folder / "there/x.npy"), B / 3)


def test_a_link_to_itself_is_an_error(fairlead):
    save(fairlead.folder)
    (fairlead.folder / "loop.npy").symlink_to("loop.npy")
    done = solve(fairlead, "loop.npy")
    assert done.returncode == 1 and "loop.npy" in done.stderr
    assert (fairlead.folder / "loop.npy").is_symlink()


@pytest.mark.parametrize("option", ["-o", "--json", "--report", "--trace"])
def test_a_minus_is_not_a_file_name(fairlead, option):
    save(fairlead.folder)
    done = solve(fairlead, "-") if option == "-o" else solve(fairlead, "x.npy", option, "-")
    assert done.returncode == 1 and "./-" in done.stderr
    assert not (fairlead.folder / "-").exists()


def test_a_removed_working_directory_is_reported(command, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(["sh", "-c", 'cd "$1" && rmdir "$1" && exec "$2" bench cholesky --n 64 --json run.json --disk-directory /tmp',
                           "sh", gone, command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "has been removed" in done.stderr and "not permitted" not in done.stderr


def with_type(folder, name, values, written):
    """Saves with another spelling of the type in the header."""
    numpy.save(folder / name, values)
    data = (folder / name).read_bytes()
    old = repr(values.dtype.str).encode()
    new = repr(written).encode()
    begin, end = data.index(old), data.index(b"\n")
    header = data[:begin] + new + data[begin + len(old):end].rstrip()
    assert len(header) <= end
    (folder / name).write_bytes(header.ljust(end) + data[end:])


@pytest.mark.parametrize("written", ["float64", "<d", "d", "double", "=d", "float", "|f8", ">d"])
def test_all_spellings_of_numpy_types_are_accepted(fairlead, written):
    save(fairlead.folder)
    with_type(fairlead.folder, "b.npy", B.astype(numpy.dtype(written)), written)
    assert numpy.array_equal(numpy.load(fairlead.folder / "b.npy"), B)  # NumPy reads it so
    assert solve(fairlead, "x.npy").returncode == 0
    assert numpy.allclose(numpy.load(fairlead.folder / "x.npy"), B / 3)


@pytest.mark.parametrize("type_, words", [("int64", "64-bit integers"), ("float16", "16-bit floating point"),
                                          ("complex256", "complex numbers"), ("float65", "unknown type")])
def test_other_types_are_named_in_the_error(fairlead, type_, words):
    save(fairlead.folder)
    with_type(fairlead.folder, "b.npy", numpy.zeros(8), type_)
    done = solve(fairlead, "x.npy")
    assert done.returncode != 0 and words in done.stderr and f"'{type_}'" in done.stderr


def test_a_matrix_that_changes_while_it_is_read_is_named_as_the_cause(command, tmp_path):
    n = 1200
    random = numpy.random.default_rng(1)
    m = random.standard_normal((n, n))
    numpy.save(tmp_path / "A.npy", m @ m.T / n + numpy.eye(n))
    numpy.save(tmp_path / "b.npy", random.standard_normal(n))
    stop = threading.Event()

    def change():
        file = os.open(tmp_path / "A.npy", os.O_RDWR)
        while not stop.is_set():
            for i in range(0, n, 7):  # the diagonal, so that the matrix stays symmetric and definite
                os.pwrite(file, numpy.float64(50 + 50 * random.random()).tobytes(), 128 + 8 * (i * n + i))
        os.close(file)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        done = subprocess.run([command, "solve", "A.npy", "b.npy", "-o", "x.npy", "--memory", "64MiB", "--no-condition"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=120)
    finally:
        stop.set()
        writer.join()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "A.npy has changed while it was read" in done.stderr
    assert "memory or a library has failed" not in done.stderr and not (tmp_path / "x.npy").exists()


def test_sizes_with_one_letter_and_documented_defaults_are_accepted(fairlead):
    save(fairlead.folder)
    assert solve(fairlead, "x.npy", "--memory", "1G").returncode == 0
    runs = [fairlead("simulate", "cholesky", "--n", "7680", "--scheduler", "eager", *more, timeout=60)
            for more in ([], ["--memory", "all", "--window", "all", "--json", "none"])]
    assert [done.returncode for done in runs] == [0, 0], runs[1].stderr
    without_time = [[line.split()[:-1] for line in done.stdout.splitlines()] for done in runs]  # the time of decisions is measured
    assert without_time[0] == without_time[1]
    assert not (fairlead.folder / "none").exists()


def test_the_flow_file_of_the_documentation_is_read_with_either_end_of_line(fairlead):
    import pathlib
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/workloads.md").read_text()
    text = page[page.index("```\nfairlead-flow 1\n") + 4:]
    text = text[:text.index("```")]
    runs = []
    for end in ("\n", "\r\n"):
        (fairlead.folder / "run.flow").write_bytes(text.replace("\n", end).encode())
        runs.append(fairlead("simulate", "--recorded", "run.flow", "--machine", "summit", "--cores", 2, "--scheduler", "eager", "--json", "run.json",
                             timeout=60))
        assert runs[-1].returncode == 0, runs[-1].stderr
    assert "3 tasks" in runs[0].stdout
    assert [line.split()[:-1] for line in runs[0].stdout.splitlines()] == [line.split()[:-1] for line in runs[1].stdout.splitlines()]

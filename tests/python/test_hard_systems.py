"""Systems on which solvers err silently, as a user sees them, judged by exact arithmetic: some of the campaign of hard_systems.py."""

import pytest

numpy = pytest.importorskip("numpy")

import hard_systems


def test_solutions_are_right_or_refused_for_the_right_reason(command, fake_cuda, at_length, monkeypatch):
    """All 2,000 systems with --long."""
    monkeypatch.setattr(hard_systems, "FAKE_CUDA", fake_cuda)
    hard_systems.campaign(command, range(2000 if at_length else 30), 1)


def test_a_column_of_tiny_numbers_is_not_blamed_on_the_matrix(fairlead):
    a = 4 * numpy.eye(5) + 1
    b = numpy.ones((5, 3))
    b[:, 1] *= 1e-320
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", b)
    done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--workers", 1, "--memory", "64MiB")
    assert done.returncode == 0, done.stderr
    assert "so small that they have lost digits (below 1e-307)" in done.stderr
    assert "ill-conditioned" not in done.stderr
    numpy.testing.assert_allclose(numpy.load(fairlead.folder / "x.npy")[:, [0, 2]], 1 / 9, rtol=1e-14)


@pytest.mark.parametrize("method, rows", [("cholesky", 5), ("lu-nopivot", 5), ("lu-incremental", 5), ("qr", 5), ("qr", 9)])
def test_a_column_of_zeros_does_not_lower_the_digits_of_others(fairlead, method, rows):
    numpy.save(fairlead.folder / "A.npy", 4 * numpy.eye(rows, 5) + 1)
    numpy.save(fairlead.folder / "b.npy", numpy.outer(numpy.arange(1, rows + 1), [1.0, 0.0, 1e10]))
    done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--method", method, "--require-digits", 13, "--workers", 1, "--memory", "64MiB")
    assert (done.returncode, "trusted" in done.stderr) == (0, False), done.stderr
    assert not numpy.load(fairlead.folder / "x.npy")[:, 1].any()

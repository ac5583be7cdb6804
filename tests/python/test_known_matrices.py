"""Matrices of known trouble, compared with LAPACK: some of the campaign of known_matrices.py."""

import pytest

numpy = pytest.importorskip("numpy")

import known_matrices
import matrix_gallery

EVERY = known_matrices.CAPACITIES * len(known_matrices.TYPES) * len(matrix_gallery.KINDS)


def test_known_matrices_are_solved_as_by_lapack(command, at_length):
    """Each kind, of each element type, in each capacity with --long."""
    known_matrices.campaign(command, range(0, EVERY, 1 if at_length else 187), 1)


def test_each_type_meets_each_kind_and_capacity():
    kinds = len(matrix_gallery.KINDS)
    assert len({(index % kinds, known_matrices.type_and_level(index)) for index in range(EVERY)}) == EVERY


@pytest.mark.parametrize("index", [28, 51])
def test_a_wrong_solution_is_noticed(command, index, monkeypatch):
    load = known_matrices.np.load

    def off(path):
        x = load(path)
        x.flat[0] += 1e5 * numpy.finfo(x.dtype).eps * abs(x).max()
        return x

    known_matrices.campaign(command, [index], 1)
    monkeypatch.setattr(known_matrices.np, "load", off)
    with pytest.raises(known_matrices.Wrong, match="xGET02|bound|LAPACK"):
        known_matrices.campaign(command, [index], 1)


def test_extended_precision_solves_what_double_precision_cannot():
    n = 11
    a = matrix_gallery.hilbert(matrix_gallery.Draw(n, numpy.random.default_rng(1), 300))
    truth = known_matrices.Truth(a)
    inverse = matrix_gallery.inverse_hilbert(matrix_gallery.Draw(n, None, 300))
    assert truth.condition == pytest.approx(numpy.linalg.norm(a, numpy.inf) * numpy.linalg.norm(inverse, numpy.inf), rel=0.5)
    x = numpy.arange(1.0, n + 1)[:, None]
    found, unsure = truth.solve(known_matrices.extended(a) @ x)
    assert unsure.max() < 1e-4 and abs(found - x).max() < 1e-3
    assert truth.phase == 1 and float(truth.log_determinant) == pytest.approx(-numpy.linalg.slogdet(inverse)[1], rel=1e-3)

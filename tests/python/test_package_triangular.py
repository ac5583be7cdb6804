"""fl.solve_triangular against the known solution: types, triangles, transposes, unit diagonals and kinds of matrices, with
elements that must not be read on the other side; and what it refuses."""

import itertools

import pytest

np = pytest.importorskip("numpy")

N = 90
FORMS = ("rows", "columns", "view", "function", "dataset")


def in_form(a, form, folder):
    """The matrix as the package may get it, and further arguments."""
    if form == "columns":
        return np.asfortranarray(a), {}
    if form == "view":
        wide = np.zeros([2 * n for n in a.shape], a.dtype)
        wide[::2, ::2] = a
        return wide[::2, ::2], {}
    if form == "function":
        return (lambda rows, columns: a[np.ix_(rows, columns)]), {"shape": a.shape, "dtype": a.dtype}
    if form == "dataset":
        import h5py
        file = h5py.File(folder / "a.h5", "w")
        return file.create_dataset("a", data=a, chunks=(40, 40)), {}
    return a, {}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_the_solution_is_the_known_one(fl, tmp_path, dtype):
    random = np.random.default_rng(1)
    dtype = np.dtype(dtype)
    limit = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12
    for lower, trans, unit, form in itertools.product((False, True), (0, 1, "T", 2, "C"), (False, True), FORMS):
        a = random.uniform(-1, 1, (N, N)) / N + (1j * random.uniform(-1, 1, (N, N)) / N if dtype.kind == "c" else 0)
        a = (a + np.diag(random.uniform(1, 2, N))).astype(dtype)
        triangle = np.tril(a) if lower else np.triu(a)
        if unit:
            np.fill_diagonal(triangle, 1)
        operator = {0: triangle, 1: triangle.T, "T": triangle.T, 2: triangle.conj().T, "C": triangle.conj().T}[trans]
        known = random.standard_normal((N, 2)).astype(dtype)
        a[np.triu_indices(N, 1) if lower else np.tril_indices(N, -1)] = np.nan
        given, more = in_form(a, form, tmp_path)
        x, info = fl.solve_triangular(given, operator @ known, trans, lower, unit, return_info=True, **more)
        assert x.dtype == dtype and abs(x - known).max() < limit, (lower, trans, unit, form)
        assert info.method == "triangular" and info.backward_error <= info.backward_error_limit


def test_files_and_results_in_place(fl, tmp_path):
    a = np.triu(np.random.default_rng(3).uniform(1, 2, (30, 30)))
    b, out = a @ np.arange(30.0), np.empty(30)
    np.save(tmp_path / "a.npy", a)
    assert np.allclose(fl.solve_triangular(tmp_path / "a.npy", b, memory="8MiB"), np.arange(30.0))
    assert fl.solve_triangular(a, b, out=out) is out and np.allclose(out, np.arange(30.0))
    assert fl.solve_triangular([[2.0]], [4.0]) == 2 and fl.solve_triangular([[2.0]], [4.0], unit_diagonal=True) == 4
    assert fl.solve_triangular(np.zeros((0, 0)), np.zeros(0)).shape == (0,)


def test_a_warning_names_the_line_of_the_caller(fl):
    with pytest.warns(fl.LinAlgWarning) as caught:
        fl.solve_triangular([[1e-14, 1.0], [0.0, 1.0]], [1.0, 1.0])
    assert [one.filename for one in caught] == [__file__]


def test_what_it_refuses(fl, tmp_path):
    a, b = np.eye(3), np.ones(3)
    np.save(tmp_path / "a.npy", a)
    for words, kind, text in (((np.zeros((3, 3)), b), np.linalg.LinAlgError, "singular"), ((a, b, "X"), ValueError, "trans is 'X'"),
                              ((a[:2], b[:2]), np.linalg.LinAlgError, "square"), ((a, b[:2]), ValueError, "rows"),
                              (([1.0, 2.0], b, 1, True, True), np.linalg.LinAlgError, "dimension"),
                              ((tmp_path / "a.npy", b, 1), TypeError, "path")):
        with pytest.raises(kind, match=text):
            fl.solve_triangular(*words)

"""`fairlead solve` with matrices in Zarr arrays and HDF5 files, which other libraries write, compared with NumPy."""

import pytest

numpy = pytest.importorskip("numpy")
h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")

N = 300


def matrix():
    random = numpy.random.default_rng(5)
    a = random.standard_normal((N, N))
    return a @ a.T + N * numpy.eye(N)


def save_zarr(folder, name, a, **options):
    array = zarr.open(str(folder / name), mode="w", shape=a.shape, dtype=a.dtype, **options)
    array[...] = a
    return name


def save_hdf5(folder, name, a, **options):
    with h5py.File(folder / name, "w") as file:
        file.create_dataset("data/matrix", data=a, **options)
        file["data/other"] = numpy.zeros(3)
    return f"{name}::/data/matrix"


STORED = {
    "zarr": lambda folder, a: save_zarr(folder, "A.zarr", a, chunks=(70, 110)),
    "zarr by columns": lambda folder, a: save_zarr(folder, "A.zarr", a, chunks=(300, 17), order="F", compressor=None),
    "hdf5": lambda folder, a: save_hdf5(folder, "A.h5", a),
    "hdf5 in chunks": lambda folder, a: save_hdf5(folder, "A.h5", a, chunks=(64, 64), compression="gzip"),
}


@pytest.mark.parametrize("method", ["cholesky", "lu-nopivot", "qr"])
@pytest.mark.parametrize("stored", STORED)
def test_the_solution_is_that_of_the_npy_file(fairlead, stored, method):
    a, b = matrix(), numpy.random.default_rng(6).standard_normal((N, 2))
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", b)
    solutions = []
    for name in ("A.npy", STORED[stored](fairlead.folder, a)):
        done = fairlead("solve", name, "b.npy", "-o", "x.npy", "--method", method, "--memory", "8MiB", "--workers", 2,
                        "--tile", 48, "--fixed-order")
        assert done.returncode == 0, done.stderr
        assert f"{name} x = b.npy" in done.stdout
        solutions.append(numpy.load(fairlead.folder / "x.npy"))
    numpy.testing.assert_allclose(solutions[1], numpy.linalg.solve(a, b), rtol=1e-11)
    numpy.testing.assert_allclose(solutions[1], solutions[0], rtol=1e-11)


def test_right_hand_sides_may_be_in_one_file_with_the_matrix(fairlead):
    a, b = matrix(), numpy.random.default_rng(6).standard_normal(N)
    with h5py.File(fairlead.folder / "system.h5", "w") as file:
        file["a"], file["b"] = a, b
    done = fairlead("solve", "system.h5::a", "system.h5::b", "-o", "x.npy")
    assert done.returncode == 0, done.stderr
    numpy.testing.assert_allclose(numpy.load(fairlead.folder / "x.npy"), numpy.linalg.solve(a, b), rtol=1e-11)


@pytest.mark.parametrize("stored", STORED)
def test_a_missing_value_is_named(fairlead, stored):
    a = matrix()
    a[123, 45] = numpy.nan
    name = STORED[stored](fairlead.folder, a)
    numpy.save(fairlead.folder / "b.npy", numpy.ones(N))
    done = fairlead("solve", name, "b.npy", "-o", "x.npy")
    assert done.returncode != 0
    assert f"{name}: the element in row 123, column 45 (counted from 0) is not a number (NaN)" in done.stderr


def test_the_solution_does_not_replace_the_file_of_a_dataset(fairlead):
    name = save_hdf5(fairlead.folder, "A.h5", matrix())
    numpy.save(fairlead.folder / "b.npy", numpy.ones(N))
    before = (fairlead.folder / "A.h5").read_bytes()
    done = fairlead("solve", name, "b.npy", "-o", "A.h5")
    assert done.returncode != 0
    assert "is the same file as the matrix" in done.stderr
    assert (fairlead.folder / "A.h5").read_bytes() == before


def test_ranks_read_the_same_array(fairlead):
    a, b = matrix(), numpy.ones(N)
    numpy.save(fairlead.folder / "b.npy", b)
    name = save_zarr(fairlead.folder, "A.zarr", a, chunks=(70, 110))
    done = fairlead("solve", name, "b.npy", "-o", "x.npy", "--ranks", 2, "--memory", "32MiB")
    assert done.returncode == 0, done.stderr
    numpy.testing.assert_allclose(numpy.load(fairlead.folder / "x.npy"), numpy.linalg.solve(a, b), rtol=1e-11)

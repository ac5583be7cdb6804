"""Complex matrices, arrays of other packages, plans, inverses and determinants in the Python package, compared with NumPy."""

import os
import sys
import types

import pytest

numpy = pytest.importorskip("numpy")


def random_of(seed, *shape):
    rng = numpy.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@pytest.mark.parametrize("a_type", ["f4", "f8", "c8", "c16", "i4", "?"])
@pytest.mark.parametrize("b_type", ["f4", "f8", "c8", "c16", "i4", "?"])
def test_types_are_promoted_as_numpy_does(fl, a_type, b_type):
    a, b = numpy.eye(3).astype(a_type), numpy.ones(3).astype(b_type)
    assert fl.solve(a, b).dtype == numpy.linalg.solve(a, b).dtype
    if numpy.dtype(a_type).kind not in "c":
        assert fl.lstsq(a, b).dtype == numpy.linalg.solve(a, b).dtype


def test_assumed_structures_of_complex_matrices(fl):
    a, b = random_of(1, 70, 70), random_of(2, 70, 3)
    symmetric, hermitian = a + a.T, a + a.conj().T
    definite = a @ a.conj().T + 70 * numpy.eye(70)
    for matrix, assumed, method in [(a, "gen", "lu"), (symmetric, "sym", "ldlt"), (hermitian, "her", "ldlt"),
                                    (definite, "her", "ldlt"), (definite, "pos", "cholesky"), (definite, None, "cholesky")]:
        x, info = fl.solve(matrix, b, assume_a=assumed, return_info=True)
        assert numpy.allclose(matrix @ x, b) and info.dtype == numpy.complex128
        assert method is None or info.method == method
    for lower in (True, False):
        stored = numpy.tril(definite) if lower else numpy.triu(definite)
        assert numpy.allclose(definite @ fl.solve(stored, b, assume_a="pos", lower=lower), b)
        assert numpy.allclose(definite @ fl.cholesky(stored, lower=lower).solve(b), b)


def test_a_real_matrix_is_solved_in_real_numbers(fl):
    a, b = numpy.random.default_rng(3).normal(size=(60, 60)), random_of(4, 60, 2)
    x, info = fl.solve(a, b, method="qr", return_info=True)
    assert numpy.allclose(a @ x, b) and info.right_hand_sides == 2 and info.dtype == numpy.complex128
    tall = numpy.random.default_rng(5).normal(size=(60, 7))
    assert numpy.allclose(fl.lstsq(tall, b), numpy.linalg.lstsq(tall, b, rcond=None)[0])


def test_complex_matrices_in_files_and_functions(fl, tmp_path):
    a, b = random_of(6, 50, 50), random_of(7, 50)
    numpy.save(tmp_path / "a.npy", a)
    numpy.save(tmp_path / "single.npy", a.astype("c8"))
    for matrix, options in [(tmp_path / "a.npy", {}), (lambda r, c: a[numpy.ix_(r, c)], {"shape": a.shape, "dtype": complex})]:
        assert numpy.allclose(a @ fl.solve(matrix, b, memory="32MiB", **options), b)
        assert numpy.allclose(a @ fl.solve(matrix, b.real, memory="32MiB", **options), b.real)
    x = fl.solve(tmp_path / "single.npy", b.astype("c8"))
    assert x.dtype == numpy.complex64 and numpy.allclose(a @ x, b, atol=1e-3)


class Tensor:
    """An array of another package, which exports its memory by DLPack and is nothing else for NumPy."""

    def __init__(self, elements, device=(1, 0), error=None):
        self.elements, self._device, self._error = elements, device, error
        self.shape, self.dtype = elements.shape, elements.dtype

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **options):
        if self._error is not None:
            raise self._error
        return self.elements.__dlpack__(**options)

    def __getitem__(self, slices):
        raise AssertionError("it is read by DLPack")

    def __array__(self, *_, **__):
        raise AssertionError("it is read by DLPack")


class NamespacedTensor(Tensor):
    def __array_namespace__(self):
        return types.SimpleNamespace(from_dlpack=lambda x: NamespacedTensor(numpy.from_dlpack(x)))


@pytest.fixture
def package(monkeypatch):
    """A package whose arrays Tensor and Unimported are, the former with a function that imports arrays."""
    module = types.SimpleNamespace(from_dlpack=lambda x: Tensor(numpy.from_dlpack(x)))
    monkeypatch.setitem(sys.modules, "tensors", module)
    monkeypatch.setattr(Tensor, "__module__", "tensors.core")
    return module


@pytest.mark.parametrize("kind", [Tensor, NamespacedTensor])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i8"])
def test_arrays_of_other_packages(fl, package, kind, dtype):
    elements = (numpy.random.default_rng(8).integers(-9, 9, (20, 20)) + 40 * numpy.eye(20)).astype(dtype)
    b = numpy.arange(40).reshape(20, 2).astype(dtype)
    exact = numpy.linalg.solve(elements, b)
    for a in (elements, numpy.asfortranarray(elements), numpy.repeat(elements, 2, axis=1)[:, ::2]):
        for given in ((kind(a), b), (a, kind(b)), (kind(a), kind(b))):
            x = fl.solve(*given)
            assert type(x) is kind and x.dtype == exact.dtype
            assert numpy.allclose(x.elements, exact, rtol=1e-3)
    out = numpy.empty_like(exact)
    assert fl.solve(kind(elements), b, out=out) is out
    f = fl.lu(kind(elements))
    assert type(f.solve(b)) is numpy.ndarray and type(f.solve(kind(b[:, 0]))) is kind
    assert type(fl.inv(kind(elements))) is kind
    assert fl.slogdet(kind(elements)).sign == pytest.approx(numpy.linalg.slogdet(elements)[0], abs=1e-4)


def test_other_packages_without_an_import(fl):
    x = fl.solve(Tensor(numpy.eye(3)), Tensor(numpy.ones(3)))
    assert type(x) is numpy.ndarray and (x == 1).all()


@pytest.mark.parametrize("number, name", [(2, "CUDA"), (10, "ROCm"), (8, "Metal"), (99, "99")])
def test_arrays_in_the_memory_of_devices_are_refused(fl, number, name):
    with pytest.raises(TypeError, match=rf"a is in the memory of a device \(.*{name}.*a.cpu\(\)"):
        fl.solve(Tensor(numpy.eye(3), device=(number, 0)), numpy.ones(3))
    with pytest.raises(TypeError, match="b is in the memory of a device"):
        fl.solve(numpy.eye(3), Tensor(numpy.ones(3), device=(number, 0)))


def test_arrays_that_cannot_be_exported_are_refused(fl):
    with pytest.raises(TypeError, match="a cannot be read as an array: it requires gradients"):
        fl.solve(Tensor(numpy.eye(3), error=BufferError("it requires gradients")), numpy.ones(3))
    with pytest.raises(TypeError, match="float16"):
        fl.solve(Tensor(numpy.eye(3, dtype="f2")), numpy.ones(3))


def test_plans(fl):
    plan = fl.plan(n=3000, memory="32MiB", workers=2)
    assert plan.method == "cholesky" and plan.shape == (3000, 3000) and plan.right_hand_sides == 1
    assert plan.dtype == numpy.float64 and plan.memory == 32 << 20 and plan.workers == 2 and plan.tile > 0
    assert plan.least_memory < plan.memory < 36 << 20 < plan.in_core_memory
    assert plan.disk_space > 36 << 20 and plan.free_disk_space > 0 and plan.output_bytes == 24_000
    assert plan.input_bytes > 36 << 20 and plan.spill_bytes_written > 0 and plan.spill_bytes_read > 0
    assert 0 < plan.least_seconds <= plan.seconds <= plan.most_seconds
    assert "factorization" in [name for name, _, _ in plan.phases] and any("positive definite" in text for text in plan.assumptions)
    lines = str(plan).splitlines()
    assert lines[1].split(maxsplit=1) == ["Matrix", "3,000 x 3,000 in double precision, 1 right-hand side"]
    assert "--" not in str(plan) and "_text" not in repr(plan)
    assert fl.plan(3000, memory="32MiB", workers=2).disk_space == plan.disk_space
    single = fl.plan(n=3000, dtype="c8", assume_a="gen", memory="32MiB", right_hand_sides=3)
    assert single.method == "lu" and single.dtype == numpy.complex64 and single.right_hand_sides == 3
    assert "complex single precision" in str(single)
    tall = fl.plan(shape=(4000, 30), memory="1GiB")
    assert tall.method == "qr" and tall.disk_space == 0


def test_plans_of_matrices(fl, tmp_path):
    a = numpy.random.default_rng(9).normal(size=(300, 300))
    numpy.save(tmp_path / "a.npy", a)
    asked = []

    def block(rows, columns):
        asked.append(len(rows) * len(columns))
        return a[numpy.ix_(rows, columns)]

    for matrix, options in [(a, {}), (tmp_path / "a.npy", {}), (block, {"shape": a.shape})]:
        plan = fl.plan(matrix, memory="64MiB", **options)
        assert plan.method == "lu" and "symmetric" in plan.method_reason and plan.shape == (300, 300)
    assert 0 < sum(asked) < a.size
    with pytest.raises(ZeroDivisionError):
        fl.plan(lambda rows, columns: 1 / 0, shape=(300, 300))


def test_the_table_of_a_plan_is_of_the_solve(fl):
    a = numpy.random.default_rng(10).normal(size=(900, 900))
    # A policy without estimates: the measured times of a busy machine lead others to another order of the tasks. How
    # close the bytes are is the subject of tests/solver/plan_test.cpp.
    options = {"memory": "8MiB", "workers": 1, "settings": {"scheduler": "eager", "cache-directory": "none"}}
    plan = fl.plan(a, **options)
    _, info = fl.solve(a, numpy.ones(900), return_info=True, **options)
    assert info.method == plan.method and info.tile == plan.tile
    read = plan.spill_bytes_read + plan.check_bytes_read
    assert 0.5 * read <= info.bytes_read <= 2 * read


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200])
@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
def test_inverses(fl, tmp_path, n, dtype):
    a = (random_of(11, n, n) if dtype == "c16" else random_of(11, n, n).real).astype(dtype) + 3 * n * numpy.eye(n, dtype=dtype)
    exact = numpy.linalg.inv(a.astype("c16"))
    close = {"rtol": 1e-3 if dtype == "f4" else 1e-10, "atol": 1e-6 if dtype == "f4" else 1e-12}
    inverse = fl.inv(a, memory="64MiB")
    assert inverse.dtype == a.dtype and numpy.allclose(inverse, exact, **close)
    for order in "CF":
        out = numpy.full((n, n), numpy.nan, dtype, order)
        assert fl.inv(a, out=out) is out and numpy.allclose(out, exact, **close)
    in_place = a.copy()
    assert numpy.allclose(fl.inv(in_place, out=in_place), exact, **close)
    mapped = fl.inv(a, out=tmp_path / "inverse.npy")
    assert isinstance(mapped, numpy.memmap) and not mapped.flags.writeable and numpy.allclose(mapped, exact, **close)
    assert numpy.array_equal(numpy.load(tmp_path / "inverse.npy"), mapped) and os.listdir(tmp_path) == ["inverse.npy"]


def test_inverses_without_elements(fl, tmp_path):
    assert fl.inv(numpy.zeros((0, 0), "f4")).shape == (0, 0)
    assert fl.inv(numpy.zeros((0, 0)), out=tmp_path / "inverse.npy").shape == (0, 0)


SINGULAR = [numpy.zeros((1, 1)), numpy.zeros((4, 4)), numpy.ones((3, 3)), numpy.array([[1.0, 2], [3, 6]]), numpy.diag([1.0, 0, 2]),
            numpy.diag([1.0, 0, -2]), numpy.diag([-1.0, 0]), numpy.array([[0, 0], [1.0, 0]]), numpy.ones((70, 70)) * -1,
            numpy.ones((3, 3)) * 1j]


@pytest.mark.parametrize("number", range(len(SINGULAR)))
@pytest.mark.filterwarnings("ignore:The matrix is ill-conditioned")
def test_determinants_of_singular_matrices_are_zero(fl, number):
    for dtype in ("f8", "f4", "c16") if SINGULAR[number].dtype.kind == "f" else ("c16", "c8"):
        a = SINGULAR[number].astype(dtype)
        assert fl.slogdet(a) == numpy.linalg.slogdet(a) == (0, -numpy.inf)
        assert fl.det(a) == 0


def test_determinants(fl):
    assert fl.slogdet(numpy.zeros((0, 0))) == numpy.linalg.slogdet(numpy.zeros((0, 0))) == (1, 0)
    a = random_of(12, 30, 30)
    assert fl.det(a) == pytest.approx(numpy.linalg.det(a)) and fl.det(a.real) == pytest.approx(numpy.linalg.det(a.real))
    assert fl.det(numpy.eye(400) * 1e3) == numpy.inf
    assert fl.cholesky(numpy.eye(3) * (2 + 0j)).logdet() == pytest.approx(3 * numpy.log(2))
    hermitian = a @ a.conj().T
    assert fl.lu(hermitian).logdet() == pytest.approx(numpy.linalg.slogdet(hermitian)[1])

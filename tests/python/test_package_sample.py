"""Draws from normal distributions and products with L, by the package, compared with NumPy."""

import numpy
import pytest

KINDS = ["f4", "f8", "c8", "c16"]


def covariance(n, dtype, seed=3):
    rng = numpy.random.default_rng(seed)
    factor = rng.normal(size=(n, n)) / n**0.5
    if numpy.dtype(dtype).kind == "c":
        factor = factor + 1j * rng.normal(size=(n, n)) / n**0.5
    return (factor @ factor.conj().T + numpy.eye(n)).astype(dtype)


@pytest.mark.parametrize("memory, n", [("64MiB", 1), ("64MiB", 333), ("8MiB", 1200)])
@pytest.mark.parametrize("dtype", KINDS)
def test_the_product_with_l_is_that_of_numpy(fl, dtype, n, memory):
    a = covariance(n, dtype)
    with fl.cholesky(a, memory=memory, condition=False) as f:
        lower = f.multiply_lower(numpy.eye(n, dtype=dtype))
        assert lower.dtype == a.dtype
        size = numpy.finfo(dtype).eps * n**0.5 * 10
        assert abs(lower - numpy.linalg.cholesky(a)).max() < size
        assert abs(lower @ lower.conj().T - a).max() < size
        assert numpy.array_equal(f.multiply_lower(lower[:, n // 2]), f.multiply_lower(lower[:, n // 2:n // 2 + 1])[:, 0])


@pytest.mark.parametrize("dtype", KINDS)
def test_draws_have_the_covariance(fl, dtype):
    a = covariance(6, dtype)
    x = fl.cholesky(a).sample(numpy.random.default_rng(8), k=200_000)
    assert x.shape == (6, 200_000) and x.dtype == a.dtype
    assert abs(x.mean(axis=1)).max() < 0.02
    assert abs(x @ x.conj().T / x.shape[1] - a).max() < 0.03
    if numpy.dtype(dtype).kind == "c":
        assert abs(x @ x.T / x.shape[1]).max() < 0.03  # the parts are independent


@pytest.mark.parametrize("dtype", KINDS)
def test_draws_follow_from_the_generator(fl, dtype):
    f = fl.cholesky(covariance(40, dtype))
    three = f.sample(numpy.random.default_rng(5), k=3)
    rng = numpy.random.default_rng(5)
    for column in three.T:
        one = f.sample(rng)
        assert one.shape == (40,) and abs(one - column).max() < 100 * numpy.finfo(dtype).eps
    assert numpy.array_equal(f.sample(5), three[:, 0]) or abs(f.sample(5) - three[:, 0]).max() < 1e-5
    assert f.sample(5, k=0).shape == (40, 0)
    assert not numpy.array_equal(f.sample(), f.sample())


def test_draws_with_loaded_factors(fl, tmp_path):
    a = covariance(400, "f8")
    fl.cholesky(a).save(tmp_path / "K.factor")
    with fl.load(tmp_path / "K.factor", memory="2MiB") as f:
        assert numpy.allclose(f.sample(3), numpy.linalg.cholesky(a) @ numpy.random.default_rng(3).standard_normal(400))


def test_products_are_written_where_the_caller_wants_them(fl):
    a = covariance(30, "f8")
    f = fl.cholesky(a)
    z = numpy.asfortranarray(numpy.arange(60.0).reshape(30, 2))
    expected = numpy.linalg.cholesky(a) @ z
    strided = numpy.zeros((60, 2))[::2]
    assert f.multiply_lower(z, out=strided) is strided and numpy.allclose(strided, expected)
    assert f.multiply_lower(z, out=z) is z and numpy.allclose(z, expected)
    assert numpy.allclose(f.multiply_lower(1j * z), 1j * numpy.linalg.cholesky(a) @ z)


@pytest.mark.parametrize("method", ["lu", "ldlt", "qr"])
def test_other_factors_have_no_such_l(fl, method):
    f = fl.factor(covariance(9, "f8"), method=method)
    for call in (lambda: f.sample(1), lambda: f.multiply_lower(numpy.ones(9))):
        with pytest.raises(ValueError, match=f"the factors are by {method}.*cholesky"):
            call()


def test_mistakes(fl):
    f = fl.cholesky(covariance(9, "f8"))
    with pytest.raises(ValueError, match="z has the shape"):
        f.multiply_lower(numpy.ones(8))
    with pytest.raises(numpy.linalg.LinAlgError, match="z: the element in row 2"):
        f.multiply_lower([0, 0, numpy.nan, 0, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="k is -1"):
        f.sample(1, k=-1)
    f.close()
    with pytest.raises(ValueError, match="closed"):
        f.sample(1)

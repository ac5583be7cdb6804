"""Matrices of known trouble: of the galleries of Higham and of MATLAB, of LAPACK's test programs, and of application programs.

Each function takes a `Draw` and returns a matrix in double precision. `KINDS` has the properties that the name alone does not show.
"""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass
class Draw:
    n: int
    random: np.random.Generator
    decades: int  # orders of magnitude on each side of 1 that a matrix may use


@dataclasses.dataclass
class Kind:
    make: object
    exact: bool = False  # whole numbers that every element type holds: complex ones by factors 1, i, -1, -i
    singular: bool = False  # in exact arithmetic
    dominant: bool = False  # LU needs no pivoting
    largest: int = 1 << 30
    refused: str = ""  # what the message states

    @property
    def name(self):
        return self.make.__name__


def grid(n):
    i = np.arange(n)
    return i[:, None], i[None, :]


def symmetric(a):
    return np.tril(a) + np.tril(a, -1).T


def orthogonal(m, n, random):
    return np.linalg.qr(random.standard_normal((m, n)))[0]


# Growth of elements with partial pivoting.

def wilkinson_growth(d):
    a = np.eye(d.n) - np.tril(np.ones((d.n, d.n)), -1)
    a[:, -1] = 1
    return a


def generalized_growth(d):
    """gfpp: the growth of Wilkinson's matrix, without its zeros."""
    n = d.n
    u = np.zeros((n, n))
    u[:-1, :-1] = np.triu(d.random.uniform(0.5, 1, (n - 1, n - 1)))
    u[:, -1] = 2.0 ** np.arange(n)
    a = (np.eye(n) - np.tril(np.ones((n, n)), -1)) @ u
    a[:, -1] *= abs(a).max() / abs(a[:, -1]).max()
    return a


def foster(d):
    """A Volterra integral equation by the trapezoidal rule (Foster 1994)."""
    n, step, k, c = d.n, 0.5, 1.0, 1.0
    a = np.eye(n)
    for i in range(1, n):
        a[i, 0] = -k * step / 2
        a[i, 1:i] = -k * step
        a[i, i] = 1 - k * step / 2
    a[:, -1] -= 1 / c
    return a


def wright(d):
    """A two-point boundary value problem by multiple shooting (Wright 1993)."""
    blocks = max(1, d.n // 2)
    step = 0.3 * np.array([[-1 / 6, 1], [1, -1 / 6]])
    e = np.eye(2) + step + step @ step / 2
    a = np.eye(2 * blocks)
    for k in range(1, blocks):
        a[2 * k : 2 * k + 2, 2 * k - 2 : 2 * k] = -e
    a[:2, -2:] = np.eye(2)
    return a


def sines(d):
    i, j = grid(d.n)
    return math.sqrt(2 / (d.n + 1)) * np.sin((i + 1) * (j + 1) * math.pi / (d.n + 1))


def orthogonal_growth(d):
    """A random orthogonal matrix with one small singular value grows by n / (4 log n) (Higham, Higham and Pranesh 2021)."""
    u, v = orthogonal(d.n, d.n, d.random), orthogonal(d.n, d.n, d.random)
    values = np.ones(d.n)
    values[-1] = 1e-3
    return u * values @ v.T


# Ill-conditioned by formula.

def hilbert(d):
    i, j = grid(d.n)
    return 1 / (i + j + 1)


def inverse_hilbert(d):
    n = d.n
    return np.array([[float((-1) ** (i + j) * (i + j + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1)
                            * math.comb(i + j, i) ** 2) for j in range(n)] for i in range(n)])


def kahan(d):
    s, c = math.sin(1.2), math.cos(1.2)
    return s ** np.arange(d.n)[:, None] * (np.eye(d.n) - c * np.triu(np.ones((d.n, d.n)), 1))


def lotkin(d):
    a = hilbert(d)
    a[0] = 1
    return a


def pascal(d):
    return np.array([[float(math.comb(i + j, i)) for j in range(d.n)] for i in range(d.n)])


def frank(d):
    i, j = grid(d.n)
    return np.where(j >= i - 1, d.n - np.maximum(i, j), 0.0)


def moler(d):
    i, j = grid(d.n)
    return np.where(i == j, i + 1.0, np.minimum(i, j) - 1.0)


def lehmer(d):
    i, j = grid(d.n)
    return (np.minimum(i, j) + 1) / (np.maximum(i, j) + 1)


def minij(d):
    i, j = grid(d.n)
    return np.minimum(i, j) + 1.0


def cauchy(d):
    i, j = grid(d.n)
    return 1 / (i + j + 2 + 0.5 * (i > j))


def vandermonde(d):
    return np.vander(np.linspace(-1, 1, d.n), increasing=True)


def chebyshev_vandermonde(d):
    i, j = grid(d.n)
    return np.cos(i * np.arccos(np.linspace(-1, 1, d.n))[None, :])


def prolate(d):
    i, j = grid(d.n)
    k = np.where(i == j, 1, i - j)
    return np.where(i == j, 0.5, np.sin(0.5 * math.pi * k) / (math.pi * k))


def triangle_of_ones(d):
    return np.triu(-np.ones((d.n, d.n)), 1) + np.eye(d.n)


def dorr(d):
    """Diagonally dominant, tridiagonal and ill-conditioned."""
    n, theta = d.n, 0.01
    h = 1 / (n + 1)
    half, term = (n + 1) // 2, theta / h**2
    i = np.arange(1, n + 1)
    drift = (0.5 - i * h) / h
    below = np.where(i <= half, -term, -term + drift)
    above = np.where(i <= half, -term - drift, -term)
    return np.diag(-(below + above)) + np.diag(below[1:], -1) + np.diag(above[:-1], 1)


# Graded.

def powers(d, part=1.0):
    return 10.0 ** d.random.uniform(-part * d.decades, part * d.decades, d.n)


def graded_rows(d):
    return powers(d)[:, None] * d.random.standard_normal((d.n, d.n))


def graded_columns(d):
    return d.random.standard_normal((d.n, d.n)) * powers(d, 0.4)


def graded_both(d):
    return powers(d, 0.45)[:, None] * d.random.standard_normal((d.n, d.n)) * powers(d, 0.2)


def graded_downwards(d):
    fall = 10.0 ** -np.linspace(0, d.decades / 20, d.n)
    return fall[:, None] * d.random.standard_normal((d.n, d.n)) * fall


def graded_upwards(d):
    return graded_downwards(d)[::-1, ::-1].copy()


def graded_definite(d):
    by = powers(d, 0.45)
    return symmetric(by[:, None] * (0.8 * np.eye(d.n) + 0.2) * by)


def graded_indefinite(d):
    by = powers(d, 0.1)
    return symmetric(by[:, None] * (d.random.standard_normal((d.n, d.n))) * by)


# Structured.

def toeplitz(d):
    i, j = grid(d.n)
    return d.random.standard_normal(2 * d.n)[i - j + d.n]


def kac_murdock_szego(d):
    i, j = grid(d.n)
    return 0.95 ** abs(i - j)


def hankel(d):
    i, j = grid(d.n)
    return d.random.standard_normal(2 * d.n)[i + j]


def circulant(d):
    i, j = grid(d.n)
    return d.random.standard_normal(d.n)[(j - i) % d.n]


def hadamard(d):
    a = np.ones((1, 1))
    while len(a) * 2 <= max(d.n, 1):
        a = np.block([[a, a], [a, -a]])
    return a


def clement(d):
    n = max(2, d.n - d.n % 2)  # that of odd order is singular
    k = np.arange(1, n)
    return np.diag(k + 0.0, -1) + np.diag(k[::-1] + 0.0, 1)


def fiedler(d):
    i, j = grid(d.n)
    return abs(i - j) + 0.0


def forsythe(d):
    a = 0.5 * np.eye(d.n) + np.eye(d.n, k=1)
    a[-1, 0] += 1e-8
    return a


def grcar(d):
    return sum(np.eye(d.n, k=k) for k in range(4)) - np.eye(d.n, k=-1)


def differences(d):
    return 2 * np.eye(d.n) - np.eye(d.n, k=1) - np.eye(d.n, k=-1)


def wilkinson_tridiagonal(d):
    """Wilkinson's W+ of pairs of close eigenvalues."""
    return np.diag(abs(np.arange(d.n) - (d.n - 1) / 2)) + np.eye(d.n, k=1) + np.eye(d.n, k=-1)


def random_tridiagonal(d):
    return sum(np.diag(d.random.standard_normal(d.n - abs(k)), k) for k in ((-1, 0, 1) if d.n > 1 else (0,)))


def arrow(d):
    a = np.diag(d.random.uniform(1, 2, d.n))
    a[0], a[:, 0] = 1, 1
    return a


def companion(d):
    a = np.eye(d.n, k=-1)
    a[0] = d.random.integers(-9, 10, d.n)
    a[0, -1] = 7
    return a


def parter(d):
    i, j = grid(d.n)
    return 1 / (i - j + 0.5)


def pei(d):
    return np.ones((d.n, d.n)) + 1e-3 * np.eye(d.n)


def ris(d):
    i, j = grid(d.n)
    return 0.5 / (d.n - i - j - 0.5)


def lesp(d):
    k = np.arange(1, d.n + 1.0)
    return np.diag(-(2 * k + 3)) + np.diag(k[1:], 1) + np.diag(1 / k[1:], -1)


def jordan_block(d):
    return 0.9 * np.eye(d.n) + np.eye(d.n, k=1)


def involutory(d):
    n = d.n
    a = hilbert(d)
    factor = -n
    a[:, 0] *= factor
    for i in range(n - 1):
        factor = -(n + i + 1) * (n - i - 1) * factor / (i + 1) ** 2
        a[i + 1] *= factor
    return a


# Symmetric indefinite and relatives.

def indefinite(d):
    return symmetric(d.random.standard_normal((d.n, d.n)))


def hollow(d):
    return np.ones((d.n, d.n)) - np.eye(d.n) if d.n > 1 else np.ones((1, 1))


def exchange(d):
    return np.eye(d.n)[::-1].copy()


def saddle_point(d):
    n = max(d.n, 3)
    k = n // 3
    h, g = d.random.standard_normal((n - k, n - k)), d.random.standard_normal((k, n - k))
    return symmetric(np.block([[h @ h.T / n + np.eye(n - k), g.T], [g, np.zeros((k, k))]]))


def saddle_point_with_small_block(d):
    """A zero block, and above it numbers of 1e-6."""
    n = max(d.n, 2)
    k = n // 2
    return symmetric(np.block([[1e-6 * np.eye(n - k), np.zeros((n - k, k))],
                               [d.random.standard_normal((k, n - k)), np.zeros((k, k))]]))


def quasi_definite(d):
    n = max(d.n, 2)
    k = n // 2
    h, e = (m @ m.T / n + 0.1 * np.eye(len(m)) for m in (d.random.standard_normal((s, s)) for s in (n - k, k)))
    return symmetric(np.block([[h, np.zeros((n - k, k))], [d.random.standard_normal((k, n - k)), -e]]))


def pairs_of_pivots(d):
    """Block diagonal: blocks of 1 x 1, and of 2 x 2 with a zero diagonal."""
    a, i = np.zeros((d.n, d.n)), 0
    while i < d.n:
        if i + 1 < d.n and d.random.random() < 0.5:
            a[i, i + 1] = a[i + 1, i] = d.random.integers(1, 4)
            i += 2
        else:
            a[i, i] = d.random.choice([-3, -1, 2])
            i += 1
    return a


def skew_and_diagonal(d):
    m = d.random.standard_normal((d.n, d.n))
    return m - m.T + np.diag(d.random.uniform(0.1, 1, d.n))


def skew(d):
    n = max(2, d.n - d.n % 2)
    m = d.random.standard_normal((n, n))
    return m - m.T


# Prescribed singular values, by the modes of LAPACK's xLATMS.

def of_values(d, values):
    return orthogonal(d.n, d.n, d.random) * values @ orthogonal(d.n, d.n, d.random).T


def condition(d):
    return 10.0 ** d.random.uniform(0, d.decades / 25)


def one_large_value(d):
    return of_values(d, np.where(np.arange(d.n) == 0, 1, 1 / condition(d)))


def one_small_value(d):
    return of_values(d, np.where(np.arange(d.n) == d.n - 1, 1 / condition(d), 1))


def geometric_values(d):
    return of_values(d, np.geomspace(1, 1 / condition(d), d.n))


def arithmetic_values(d):
    return of_values(d, np.linspace(1, 1 / condition(d), d.n))


def log_uniform_values(d):
    return of_values(d, condition(d) ** -d.random.uniform(0, 1, d.n))


def normal_values(d):
    return of_values(d, d.random.standard_normal(d.n))


def definite_of_geometric_values(d):
    q = orthogonal(d.n, d.n, d.random)
    return symmetric(q * np.geomspace(1, 1 / condition(d), d.n) @ q.T)


# Singular.

def zero_column(d):
    a = d.random.integers(-4, 5, (d.n, d.n)).astype(float)
    a[:, d.random.integers(d.n)] = 0
    return a


def equal_rows(d):
    n = max(d.n, 2)
    a = d.random.integers(-4, 5, (n, n)).astype(float)
    a[d.random.integers(n // 2, n)] = a[0]
    return a


def rank_deficient(d):
    n = max(d.n, 2)
    rank = int(d.random.integers(1, n))
    return (d.random.integers(-2, 3, (n, rank)) @ d.random.integers(-2, 3, (rank, n))).astype(float)


def rank_deficient_symmetric(d):
    n = max(d.n, 2)
    m = d.random.integers(-2, 3, (n, int(d.random.integers(1, n))))
    return (m * d.random.choice([-1, 1], m.shape[1]) @ m.T).astype(float)


def semidefinite(d):
    n = max(d.n, 2)
    m = d.random.integers(-2, 3, (n, int(d.random.integers(1, n))))
    return (m @ m.T).astype(float)


def ones(d):
    return np.ones((max(d.n, 2), max(d.n, 2)))


def zeros(d):
    return np.zeros((d.n, d.n))


def odd_clement(d):
    n = max(3, d.n - 1 + d.n % 2)
    k = np.arange(1, n)
    return np.diag(k + 0.0, -1) + np.diag(k[::-1] + 0.0, 1)


def graph_laplacian(d):
    n = max(d.n, 3)
    m = np.triu(d.random.random((n, n)) < 4 / n, 1) | np.eye(n, k=1, dtype=bool)
    m = (m | m.T).astype(float)
    return np.diag(m.sum(axis=1)) - m


def rosser(d):
    return np.array([[611, 196, -192, 407, -8, -52, -49, 29], [196, 899, 113, -192, -71, -43, -8, -44],
                     [-192, 113, 899, 196, 61, 49, 8, 52], [407, -192, 196, 611, 8, 44, 59, -23],
                     [-8, -71, 61, 8, 411, -599, 208, 208], [-52, -43, 49, 44, -599, 411, 208, 208],
                     [-49, -8, 8, 59, 208, 208, 99, -911], [29, -44, 52, -23, 208, 208, -911, 99]], dtype=float)


def shifted_rosser(d):
    return rosser(d) + np.eye(8)


def nearly_singular(d):
    """The distance to a singular matrix is 1e-12 or, in single precision, 1e-4."""
    n = max(d.n, 2)
    a = d.random.standard_normal((n, n))
    a[:, -1] = a[:, 0] + 10.0 ** (-d.decades / 25) * d.random.standard_normal(n)
    return a


# Extremes of size and shape.

def identity(d):
    return np.eye(d.n)


def permutation(d):
    return np.eye(d.n)[d.random.permutation(d.n)]


def random_normal(d):
    return d.random.standard_normal((d.n, d.n))


def dominant(d):
    return d.random.uniform(-1, 1, (d.n, d.n)) + d.n * np.eye(d.n)


def huge(d):
    return 10.0**d.decades * random_normal(d)


def huge_definite(d):
    return 10.0**d.decades * kac_murdock_szego(d)


def tiny(d):
    return 10.0**-d.decades * random_normal(d)


def tiny_definite(d):
    return 10.0**-d.decades * kac_murdock_szego(d)


def tiny_indefinite(d):
    return 10.0**-d.decades * indefinite(d)


def denormals(d):
    """Whole multiples of the least positive number."""
    least = 2.0 ** (-1074 if d.decades > 100 else -149)
    return d.random.integers(-9, 10, (d.n, d.n)) * least + 20.0 * d.n * least * np.eye(d.n)


def one_number(d):
    return np.array([[d.random.choice([-3.0, 1e-20, 5.0, 1e20])]])


def one_zero(d):
    return np.zeros((1, 1))


def no_numbers(d):
    return np.zeros((0, 0))


def wide(d):
    return d.random.standard_normal((d.n, d.n + int(d.random.integers(1, 9))))


def with_nan(d):
    a = d.random.standard_normal((d.n, d.n)) + d.n * np.eye(d.n)
    a[d.random.integers(d.n), d.random.integers(d.n)] = np.nan
    return a


def with_infinity(d):
    a = d.random.standard_normal((d.n, d.n)) + d.n * np.eye(d.n)
    a[d.random.integers(d.n), d.random.integers(d.n)] = d.random.choice([-np.inf, np.inf])
    return a


# More rows than columns.

def rows_of(d):
    return d.n + int(d.random.integers(1, d.n + 20))


def tall(d):
    return d.random.standard_normal((rows_of(d), d.n))


def tall_of_geometric_values(d):
    return orthogonal(rows_of(d), d.n, d.random) * np.geomspace(1, 10.0 ** (-d.decades / 75), d.n) @ orthogonal(d.n, d.n, d.random)


def tall_vandermonde(d):
    return np.vander(np.linspace(0, 1, 3 * d.n), min(d.n, 4), increasing=True)


def laeuchli(d):
    return np.vstack([np.ones(d.n), 10.0 ** (-d.decades / 75) * np.eye(d.n)])


def tall_rank_deficient(d):
    rank = int(d.random.integers(1, d.n + 1))
    return (d.random.integers(-2, 3, (rows_of(d), rank)) @ d.random.integers(-2, 3, (rank, d.n))).astype(float)


KINDS = [
    Kind(wilkinson_growth, exact=True, largest=60), Kind(generalized_growth, largest=60), Kind(foster, largest=130), Kind(wright),
    Kind(sines), Kind(orthogonal_growth), Kind(hilbert, largest=18), Kind(inverse_hilbert, largest=12), Kind(kahan, largest=130), Kind(lotkin, largest=18),
    Kind(pascal, largest=28), Kind(frank), Kind(moler, exact=True), Kind(lehmer), Kind(minij, exact=True), Kind(cauchy, largest=18),
    Kind(vandermonde, largest=25), Kind(chebyshev_vandermonde, largest=60), Kind(prolate, largest=30), Kind(triangle_of_ones, exact=True),
    Kind(dorr, largest=60), Kind(graded_rows), Kind(graded_columns), Kind(graded_both), Kind(graded_downwards),
    Kind(graded_upwards), Kind(graded_definite), Kind(graded_indefinite), Kind(toeplitz), Kind(kac_murdock_szego), Kind(hankel),
    Kind(circulant), Kind(hadamard, exact=True), Kind(clement, exact=True), Kind(fiedler, exact=True), Kind(forsythe), Kind(grcar, exact=True),
    Kind(differences, exact=True), Kind(wilkinson_tridiagonal, exact=True), Kind(random_tridiagonal), Kind(arrow), Kind(companion, exact=True),
    Kind(parter), Kind(pei), Kind(ris), Kind(lesp, dominant=True), Kind(jordan_block), Kind(involutory, largest=12), Kind(indefinite),
    Kind(hollow, exact=True), Kind(exchange, exact=True), Kind(saddle_point), Kind(saddle_point_with_small_block), Kind(quasi_definite),
    Kind(pairs_of_pivots, exact=True), Kind(skew_and_diagonal), Kind(skew), Kind(one_large_value), Kind(one_small_value),
    Kind(geometric_values), Kind(arithmetic_values), Kind(log_uniform_values), Kind(normal_values), Kind(definite_of_geometric_values),
    Kind(zero_column, exact=True, singular=True), Kind(equal_rows, exact=True, singular=True), Kind(rank_deficient, exact=True, singular=True),
    Kind(rank_deficient_symmetric, exact=True, singular=True), Kind(semidefinite, exact=True, singular=True),
    Kind(ones, exact=True, singular=True), Kind(zeros, exact=True, singular=True), Kind(odd_clement, exact=True, singular=True),
    Kind(graph_laplacian, exact=True, singular=True), Kind(rosser, exact=True, singular=True), Kind(shifted_rosser, exact=True),
    Kind(nearly_singular), Kind(identity, exact=True, dominant=True), Kind(permutation, exact=True), Kind(random_normal),
    Kind(dominant, dominant=True), Kind(huge), Kind(huge_definite), Kind(tiny), Kind(tiny_definite), Kind(tiny_indefinite),
    Kind(denormals, exact=True, dominant=True), Kind(one_number), Kind(one_zero, exact=True, singular=True),
    Kind(no_numbers, refused="is empty: its shape is (0, 0)"), Kind(wide, refused="has the shape ("),
    Kind(with_nan, refused="is not a number (NaN)"), Kind(with_infinity, refused="is infinite"),
    Kind(tall), Kind(tall_of_geometric_values), Kind(tall_vandermonde), Kind(laeuchli), Kind(tall_rank_deficient, exact=True)]

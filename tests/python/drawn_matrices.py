"""Kinds of matrices for random tests, each drawn from a NumPy generator."""

import numpy as np

# Matrices: symmetric positive definite, some of them barely.

def even(n, random):
    m = random.standard_normal((n, n))
    return m @ m.T / n + np.eye(n)


def reflected(n, random):
    """H D H with a reflection H: the condition is up to a million."""
    v = random.standard_normal(n)
    v /= np.linalg.norm(v)
    h = np.eye(n) - 2 * np.outer(v, v)
    return h @ np.diag(np.logspace(0, -random.uniform(0, 6), n)) @ h


def graded(n, random):
    d = 10 ** random.uniform(-3, 3, n)
    return d[:, None] * (0.9 * np.eye(n) + 0.1) * d


def kernel(n, random):
    x = random.uniform(0, 10, n)
    return np.exp(-((x[:, None] - x) ** 2) / 2) + 10 ** random.uniform(-3, 0) * np.eye(n)


def differences(n, random):
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def arrow(n, random):
    a = np.diag(random.uniform(1, 2, n))
    a[-1, :] = a[:, -1] = random.uniform(-1, 1, n)
    a[-1, -1] = n + 1
    return a


def diagonal(n, random):
    return np.diag(10 ** random.uniform(-5, 5, n))


def integers(n, random):
    m = random.integers(-3, 4, (n, n)).astype(float)
    return m @ m.T + np.eye(n)


def ones(n, random):
    return np.ones((n, n)) + random.uniform(0.1, 2) * np.eye(n)


def blocks(n, random):
    a = even(n, random)
    a[: n // 2, n // 2 :] = a[n // 2 :, : n // 2] = 0
    return a


def penalties(n, random):
    """Boundary conditions put on the diagonal, as finite element programs do."""
    a = differences(n, random) if random.random() < 0.5 else even(n, random)
    fixed = random.integers(n, size=1 + n // 20)
    a[fixed, fixed] = 10 ** random.uniform(13, 30)
    return a


def far_graded(n, random, most=498):
    """D A D over up to 600 orders of magnitude."""
    a = differences(n, random) if random.random() < 0.5 else reflected(n, random)
    a = np.tril(a) + np.tril(a, -1).T
    d = 2.0 ** np.round(random.uniform(-1, 1, n) * random.choice([most // 5, most]))
    return d[:, None] * a * d


MATRICES = (even, reflected, graded, kernel, differences, arrow, diagonal, integers, ones, blocks, penalties, far_graded)


# Without symmetry; m rows and n columns, m >= n, of full rank as a rule.

def uneven(m, n, random):
    return random.standard_normal((m, n))


def of_spectrum(m, n, random):
    """Two reflections around a diagonal."""
    u, v = (np.linalg.qr(random.standard_normal((k, 1)), mode="complete")[0] for k in (m, n))
    return u[:, :n] * np.logspace(0, -random.uniform(0, 5), n) @ v


def scaled(m, n, random):
    return 10 ** random.uniform(-2, 2, (m, 1)) * random.standard_normal((m, n))


def shifted(m, n, random):
    """Of rows in another order, so that no pivot is where it is looked for first."""
    return np.roll(np.eye(m, n) * 10 ** random.uniform(-1, 1, n), int(random.integers(m)), axis=0)


def whole(m, n, random):
    return random.integers(-4, 5, (m, n)) + 0.5 * np.eye(m, n)


GENERAL = (uneven, of_spectrum, scaled, shifted, whole)

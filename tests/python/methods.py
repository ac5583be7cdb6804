"""The methods of `fairlead solve`, with what tests need of each. test_methods.py compares the names with those of the command."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Method:
    matrices: str  # that it suits: "definite", "symmetric", "dominant", "triangular", "general"


METHODS = {
    "cholesky": Method("definite"),
    "ldlt": Method("symmetric"),
    "lu": Method("general"),
    "lu-incremental": Method("general"),
    "lu-nopivot": Method("dominant"),
    "qr": Method("general"),
    "triangular": Method("triangular"),
}
NAMES = ", ".join(["auto", *METHODS])  # as in messages


def matrix_for(method, n, seed=3, is_complex=False, kinds=()):
    """Well-conditioned. A symmetric one is indefinite; `kinds`: functions of n and seed for kinds of matrices, in place of those here."""
    kind = METHODS[method].matrices if method in METHODS else "definite"
    if kind in kinds:
        return kinds[kind](n, seed)
    random = np.random.default_rng(seed)
    a = random.standard_normal((n, n)) + (1j * random.standard_normal((n, n)) if is_complex else 0)
    if kind == "definite":
        return a @ a.conj().T / n + np.eye(n)
    if kind == "symmetric":
        a = a + a.conj().T
    if kind == "dominant":
        return a + 4 * n * np.eye(n)
    if kind == "triangular":
        return np.tril(a) + 2 * n * np.eye(n)
    return a + (2 * n * np.eye(n))[::-1]

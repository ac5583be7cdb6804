#!/usr/bin/env python3
"""Times a factorization by LAPACK with its own threads: the baseline of scripts/bench-methods.

  lapack_factor.py dgetrf|dsytrf|dgeqrf|zpotrf N THREADS LIBRARY [A.npy]

Factors the matrix of a file, or random elements in [-1, 1), in column-major order, and prints the seconds as JSON.
"""

import ctypes
import json
import sys
import time

import numpy as np

COLUMNS_AT_ONCE = 256


def random_matrix(n: int) -> np.ndarray:
    a, random = np.empty((n, n), order="F"), np.random.default_rng(1)
    for j in range(0, n, COLUMNS_AT_ONCE):
        a[:, j:j + COLUMNS_AT_ONCE] = random.uniform(-1, 1, a[:, j:j + COLUMNS_AT_ONCE].shape)
    return a


def seconds_of(library: ctypes.CDLL, routine: str, a: np.ndarray) -> float:
    n = a.shape[0]
    size, info, length = ctypes.c_int(n), ctypes.c_int(), ctypes.c_int(n * COLUMNS_AT_ONCE)
    pivots, tau, work = np.zeros(n, np.int32), np.empty(n), np.empty(n * COLUMNS_AT_ONCE)

    def at(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    by_size, lower, one = ctypes.byref(size), ctypes.c_char_p(b"L"), ctypes.c_size_t(1)
    arguments = {"dgetrf": [by_size, by_size, at(a), by_size, at(pivots), ctypes.byref(info)],
                 "dsytrf": [lower, by_size, at(a), by_size, at(pivots), at(work), ctypes.byref(length), ctypes.byref(info), one],
                 "dgeqrf": [by_size, by_size, at(a), by_size, at(tau), at(work), ctypes.byref(length), ctypes.byref(info)],
                 "zpotrf": [lower, by_size, at(a), by_size, ctypes.byref(info), one]}[routine]
    call = getattr(library, routine + "_")
    begin = time.perf_counter()
    call(*arguments)
    seconds = time.perf_counter() - begin
    if info.value != 0:
        sys.exit(f"{routine} returned {info.value}")
    return seconds


def main():
    routine, n, threads, library = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), ctypes.CDLL(sys.argv[4])
    library.openblas_set_num_threads(threads)
    a = np.asfortranarray(np.load(sys.argv[5])) if len(sys.argv) > 5 else random_matrix(n)
    # Starts the library's threads and touches its buffers.
    small = min(n, 1024)
    seconds_of(library, routine, np.asfortranarray(a[:small, :small]))
    print(json.dumps({"seconds": seconds_of(library, routine, a)}))


if __name__ == "__main__":
    main()

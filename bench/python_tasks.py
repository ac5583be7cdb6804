#!/usr/bin/env python3
"""What a task costs that Python submits, compared with the same flow in C++ (python_tasks_flow.cpp).

PYTHONPATH=python LIBFAIRLEAD=build/release/libfairlead.so bench/python_tasks.py build/release/bench/python_tasks_flow

Runs alternate. Prints medians, and ratios of neighbouring runs: wall-clock times, and those of all processors, which other
programs on the machine disturb less.
"""

import argparse
import os
import statistics
import subprocess
import time

import fairlead as fl
import numpy as np
from fairlead import kernels


@fl.codelet
def empty(x: fl.InOut):
    pass


def cholesky(flow, a):
    nt = a.grid[0]
    for k in range(nt):
        flow.submit(kernels.potrf, a[k, k], priority=3 * (nt - k))
        for m in range(k + 1, nt):
            flow.submit(kernels.trsm, a[k, k], a[m, k], priority=3 * nt - m - 2 * k)
        for j in range(k + 1, nt):
            flow.submit(kernels.syrk, a[j, k], a[j, j], priority=3 * nt - 2 * j - k)
            for m in range(j + 1, nt):
                flow.submit(kernels.gemm, a[m, k], a[j, k], a[m, j], priority=3 * nt - m - j - k)


def timed(run):
    """Seconds, of the wall clock and of all processors."""
    begin, before = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - begin, time.process_time() - before


def in_python(workers, tasks, tiles, side):
    times = {}
    with fl.Runtime(memory="256MiB", workers=workers) as rt:
        vector = rt.tiled(np.zeros((64, 1)), tile=1)
        data = list(vector.tiles())

        def empty_tasks():
            with rt.flow() as flow:
                submit = flow.submit
                for i in range(tasks):
                    submit(empty, data[i % 64])

        times["empty"] = (tasks, *timed(empty_tasks))
        n = tiles * side
        a = rt.tiled(np.ones((n, n)) + n * np.eye(n), tile=side, lower=True)

        def factorization():
            with rt.flow() as flow:
                cholesky(flow, a)

        count = tiles * (tiles + 1) * (tiles + 2) // 6
        times["cholesky"] = (count, *timed(factorization))
    return times


def in_cpp(program, *arguments):
    lines = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (int(tasks), float(wall), float(processor)) for name, tasks, wall, processor in map(str.split, lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="python_tasks_flow")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--tasks", type=int, default=100_000, help="with empty bodies")
    parser.add_argument("--tiles", type=int, default=84, help="in a row: 84 are 102,340 tasks")
    parser.add_argument("--sides", type=int, nargs="+", default=[4, 32])
    options = parser.parse_args()
    print(f"compiled module: {fl._task_core.is_compiled}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("microseconds a task     wall: C++  Python  ratio   processors: C++  Python  ratio")
    for workers in options.workers:
        for side in options.sides:
            runs = []
            for _ in range(options.repetitions):
                arguments = workers, options.tasks, options.tiles, side
                runs.append((in_cpp(options.program, *arguments), in_python(*arguments)))
            for name in ("empty", "cholesky") if side == options.sides[0] else ("cholesky",):
                count = runs[0][0][name][0]
                cells = []
                for kind in (1, 2):
                    pairs = [(c[name][kind] / count * 1e6, p[name][kind] / count * 1e6) for c, p in runs]
                    ratio = statistics.median(p / c for c, p in pairs)
                    cells.append([statistics.median(c for c, _ in pairs), statistics.median(p for _, p in pairs), ratio])
                what = f"{name}, {workers} workers" + (f", tiles of {side}" if name == "cholesky" else "")
                print(f"{what:32} {cells[0][0]:6.2f} {cells[0][1]:7.2f} {cells[0][2]:6.2f} "
                      f"{cells[1][0]:15.2f} {cells[1][1]:7.2f} {cells[1][2]:6.2f}", flush=True)


if __name__ == "__main__":
    main()

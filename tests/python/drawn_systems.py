#!/usr/bin/env python3
"""Systems and options drawn from a seed, solved from file to file and judged by NumPy: kinds of matrices, triangles, types
and orders of files, right-hand sides, precisions, machines, memory, outputs, and where the options are given.

  /usr/bin/python3 tests/python/drawn_systems.py [--runs 2000] [--seed 1] [--only RUN] [--first RUN] [--jobs 1]
                                                 [--general] [--over-ranks] [--devices cuda,opencl,emulated]
                                                 [--command build/release/apps/fairlead/fairlead]
                                                 [--fake-cuda build/release/tests/fake_cuda]

Prints each failure with the command that repeats it, and at the end how the backward errors of the right solutions are
distributed, in roundings: the limit of docs/solve.md rests on that. Every fifth run is of `bench`. With --general, all are
of `solve --method lu-nopivot|lu-incremental|qr`. With --devices, each run has one to three of these kinds, mostly small ones, and there
are all fronts, and ranks: cuda on the driver of tests/fake_cuda, which ends a run with status 99 if something was out of order,
opencl on PoCL. pytest runs some.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's: threads that spin would be in the way of those judged
import numpy as np

from drawn_matrices import GENERAL, MATRICES, even, far_graded, penalties, uneven
from pocl import pocl_settings
from ranks import LAUNCHERS, SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE_CUDA = ROOT / "build/release/tests/fake_cuda"
LIMIT_SECONDS = 300
NOT_SOLVED, NOT_TRUSTED = 1, 3
POLICIES = ("auto eager lws lfq dmda dmdas near nearer heteroprio laheteroprio heft-tm heft-tm-pr heft-tmdp heft-tmdp-pr static "
            "heft-tm-init heft-tmdp-init ap ap-dplasma darts darts-belady darts-chain darts-defer blocks what-if owner-load "
            "owner-user owner-random urgent").split()

MOST_OF_DEVICE = 960 << 20  # the fake driver's have 1 GiB

# Options of the subcommand are not settings: they are valid on the command line only.
OF_COMMANDS = ("refine", "tf32", "no-condition", "overwrite", "lower", "upper", "symmetrize", "front", "ranks", "grid")


class Wrong(Exception):
    """A wrong result or message of a run."""


def roundings(dtype):
    return float(np.finfo(dtype).eps)


def save(path, array, order, version):
    """As numpy.save, with a format version and order."""
    with open(path, "wb") as file:
        np.lib.format.write_array(file, np.asarray(array, order=order), version=version)


@dataclasses.dataclass
class Run:
    """One run: its options as drawn, and what is expected."""
    seed: int
    index: int
    command: pathlib.Path
    folder: pathlib.Path
    kinds: tuple = ()  # of devices; empty: emulated ones, if any
    fake_cuda: pathlib.Path = FAKE_CUDA
    over_ranks: bool = False  # for certain
    options: dict = dataclasses.field(default_factory=dict)
    words: list = dataclasses.field(default_factory=list)
    description: str = ""
    launcher: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.random = np.random.default_rng([self.seed, self.index])
        self.drawn_for_devices = np.random.default_rng([self.seed, self.index, 2])

    def chance(self, x):
        return self.random.random() < x

    def one_of(self, *things):
        return things[self.random.integers(len(things))]

    # The machine.

    def draw_machine(self, n, element):
        side = self.one_of(1, 1, 2, 3, 5, 8, 12)
        self.tile = max(1, -(-n // side))
        self.tile_bytes = -(-self.tile ** 2 * element // 4096) * 4096
        self.all_bytes = side * (side + 1) // 2 * self.tile_bytes
        set_ = self.options.__setitem__
        set_("tile", self.tile)
        set_("workers", int(self.random.integers(1, 5)))
        set_("scheduler", POLICIES[self.index % len(POLICIES)])
        self.devices = [self.draw_capacity() for _ in range(self.one_of(0, 0, 1, 2))]
        self.device_words = [self.one_of("", ",copies=blocking", ",speed=0.5", ",workers=2", ",latency=0", ",duplex=no")
                             for _ in self.devices]
        self.device_kinds = ["emulated:"] * len(self.devices)
        self.capacity = self.draw_capacity()
        for key, values in {"window": (1, 3, 40), "pipeline-depth": (1, 2, 8), "disk-threads": (1, 2),
                            "spin": (0,), "fixed-order": (True,), "fast-path": (False,), "checksums": (True, False),
                            "keep-durations": (False,), "bind-threads": (False,), "seed": (7,)}.items():
            if self.chance(0.2):
                set_(key, self.one_of(*values))
        if "checksums" not in self.options and self.chance(0.3):
            set_("checksums", False)

    def draw_devices(self, fronts, ranks=True):
        """Of the kinds that were asked for; and by which front, over how many ranks. After draw_machine()."""
        random = self.drawn_for_devices
        if self.over_ranks:
            self.options["front"] = str(random.choice(fronts))
            self.draw_ranks(random)
        if not self.kinds:
            return
        count = int(random.integers(1, 4))
        self.devices = [self.draw_capacity() for _ in range(count)]
        self.device_kinds, self.device_words = [], []
        for i in range(count):
            kind = self.kinds[0] if i == 0 else str(random.choice(self.kinds))
            words = ""
            if kind == "emulated":
                words = self.one_of("", ",copies=blocking", ",peers=5GB/s", ",workers=2")
            else:
                several = {"cuda": "streams", "opencl": "queues"}[kind]
                at_once, workspace = int(random.choice([1, 1, 2, 3, 4])), int(random.choice([0, 4096, 20000, 1 << 18]))
                words += f",{several}={at_once}" if at_once > 1 else ""
                words += f",workspace={workspace}" if workspace else ""
                words += ",peers=off" if kind == "cuda" and random.random() < 0.2 else ""
                self.devices[i] += at_once * (-(-workspace // 4096) * 4096 or (self.devices[i] // 6 + 4096))
                self.devices[i] = min(self.devices[i], MOST_OF_DEVICE)
            self.device_kinds.append("emulated:" if kind == "emulated" else f"{kind}:{random.integers(2)},")
            self.device_words.append(words)
        self.options["front"] = str(random.choice(fronts))
        if self.options["front"] != "flow":
            self.options.pop("record-flow", None)
        if ranks and not self.over_ranks and random.random() < 0.35:
            self.draw_ranks(random)

    def draw_ranks(self, random):
        many = int(random.choice([2, 3, 4]))
        how = str(random.choice(["threads", "threads", *LAUNCHERS]))
        if how == "threads":
            self.options["ranks"] = many
        else:
            self.launcher = [*LAUNCHERS[how], str(many)]
        if random.random() < 0.5:
            self.options["grid"] = str(random.choice({2: ["2x1"], 3: ["1x3", "3x1"], 4: ["2x2", "4x1"]}[many]))
        for key, values in {"eager-limit": ("0", "8KiB", "1MiB"), "broadcast-tree": (2, 3), "node-local-reads": ("off",),
                            "network-thread": ("on", "off")}.items():
            if random.random() < 0.3:
                self.options[key] = values[random.integers(len(values))]
        for key in ("event-log", "record-flow", "window"):
            self.options.pop(key, None)

    def environment(self):
        """The environment that provides the devices."""
        launched = {**SETTINGS, "OMPI_MCA_orte_tmpdir_base": str(self.folder.parent)} if self.launcher else {}
        if not self.kinds:
            return launched
        return {"LD_LIBRARY_PATH": str(self.fake_cuda), "FAKE_CUDA": f"devices=2,seed={self.index + 1},peers=seed",
                "FAIRLEAD_CUDA_KERNELS": str(self.fake_cuda / "kernels"),
                **pocl_settings(), **launched}

    def draw_capacity(self):
        return int(self.one_of(self.random.integers(3, 6) * self.tile_bytes,
                               self.random.uniform(0.2, 0.8) * self.all_bytes, 2 * self.all_bytes + 65536))

    # Running: options on the command line, in the environment, or in a file.

    def place_options(self, extra):
        options = dict(self.options, memory=max(65536, self.capacity + extra))
        if self.devices:
            options["devices"] = " + ".join(f"{kind}memory={max(8192 if self.kinds else 4096, memory)}{words}" for kind, memory, words
                                            in zip(self.device_kinds, self.devices, self.device_words))
        # The place of each option does not depend on the memory.
        random = np.random.default_rng([self.seed, self.index, 1])
        elsewhere = random.random() < 0.3
        words, environment, lines = [], {}, []
        for key, value in options.items():
            place = random.integers(3) if elsewhere and key not in OF_COMMANDS else 0
            text = value if isinstance(value, str) else str(value).lower()
            if place == 0 and isinstance(value, bool):
                if value or key in ("checksums", "fast-path", "keep-durations", "bind-threads"):
                    words.append(f"--{key}" if value else f"--no-{key}")
            elif place == 0:
                words += [f"--{key}", text] if random.random() < 0.5 else [f"--{key}={text}"]
            elif place == 1:
                environment["FAIRLEAD_" + key.upper().replace("-", "_")] = text
            else:
                lines.append(f"{key} = {json.dumps(value)}\n")
        if lines:
            (self.folder / "settings.toml").write_text("".join(lines))
        words += ["--config", "settings.toml" if lines else "none"]
        return words, environment

    def start(self, extra):
        words, environment = self.place_options(extra)
        all_words = [str(word) for word in [*self.launcher, self.command, *self.words, *words]]
        environment |= self.environment()
        self.description = f"{' '.join(f'{key}={value}' for key, value in environment.items())} {shlex.join(all_words)}"
        try:
            return subprocess.run(all_words, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                                  env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise Wrong(f"it has not ended after {LIMIT_SECONDS} s") from None

    def run_with_enough(self, restore=lambda: None):
        """Runs with more memory until it is enough."""
        extra = 0
        for _ in range(40):
            restore()
            done = self.start(extra)
            # 137: the launcher kills the other ranks.
            if done.returncode not in (1, 2, 137) or not re.search("[Aa]llow | at least ", done.stderr):
                return done
            needed = re.search(r"([0-9.]+) ([KMG])iB are needed in addition", done.stderr)
            at_least = int((float(needed[1]) + 0.06) * 1024 ** " KMG".index(needed[2])) if needed else 0
            if at_least > extra:
                extra = at_least
            else:
                extra += max(self.capacity // 2, 1 << 17)
                self.devices = [min(memory + memory // 2 + 4096, MOST_OF_DEVICE) for memory in self.devices]
        raise Wrong(f"no memory is enough: {done.stderr}")


def draw_size(run):
    return int(run.random.integers(*run.one_of(*[(1, 60)] * 4, *[(60, 250)] * 4, (250, 700), (700, 1600))))


# bench checks its own result.

def bench(run):
    operation = run.one_of("cholesky", "lu-nopivot", "gemm")
    single = run.chance(0.5)
    n = draw_size(run)
    run.draw_machine(n, 4 if single else 8)
    if operation != "cholesky":
        run.all_bytes *= 2
    run.options["seed"] = int(run.random.integers(1 << 30))
    run.draw_devices(["flow", "ptg", "jdf"])
    run.words = ["bench", operation, "--n", n, "--precision", "single" if single else "double", "--json", "report.json",
                 "--quiet"]
    done = run.run_with_enough()
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    report = json.loads((run.folder / "report.json").read_text())
    dtype = np.float32 if single else np.float64
    return f"bench {operation} {np.dtype(dtype).name}", n, report["backward_error"] / roundings(dtype)


# solve

def draw_matrix(run, n, dtype, computed):
    """As it is in the file, the options that say which triangle counts, and what is solved with, in double precision."""
    drawn = draw_any_matrix(run, n, dtype, run.one_of(*MATRICES))
    return drawn if factors(drawn[2], computed) else draw_any_matrix(run, n, dtype, even)


def factors(a, dtype):
    """Whether rounding cannot make it indefinite, however it is factored."""
    d = 1 / np.sqrt(a.diagonal())
    a = np.tril(a) + np.tril(a, -1).T
    try:
        np.linalg.cholesky(d[:, None] * a * d - 2 * len(a) * roundings(dtype) * np.eye(len(a)))
        return True
    except np.linalg.LinAlgError:
        return False


def draw_any_matrix(run, n, dtype, make):
    a = make(n, run.random, 25) if make is far_graded and dtype == np.float32 else make(n, run.random)
    if make not in (penalties, far_graded) and run.chance(0.15):
        a *= 2.0 ** run.random.integers(*((-40, 40) if dtype == np.float32 else (-300, 300)))
    a = a.astype(dtype)
    a = np.tril(a) + np.tril(a, -1).T
    upper = np.triu_indices(n, 1)
    which = run.one_of("", "", "lower", "upper", "symmetrize")
    options = {which: True} if which else {}
    file = a.copy()
    if which in ("lower", "upper"):
        garbage = run.one_of(np.nan, np.inf, 0, 1e30)
        file[upper if which == "lower" else upper[::-1]] = garbage
    elif which == "symmetrize":
        # Neighbours in both triangles: their mean is what counts.
        file[upper] += (sizes_of_pairs(a)[upper] * dtype(1e-5 if dtype == np.float32 else 1e-9)
                        * run.random.uniform(-1, 1, len(upper[0]))).astype(dtype)
        a = (file.astype(np.longdouble) + file.T) / 2
    elif run.chance(0.2):
        # Rounding as in sums of X^T X. The system is that of the file, whatever triangle is factored.
        file[upper] += (sizes_of_pairs(a)[upper] * roundings(dtype) * 3 * run.random.uniform(-1, 1, len(upper[0]))).astype(dtype)
        a = file
    return file, options, a.astype(np.float64)


def sizes_of_pairs(a):
    """The sizes relative to which mirrored elements may differ by roundings."""
    d = abs(a.diagonal().astype(np.float64))
    return np.minimum(np.sqrt(d)[:, None] * np.sqrt(d), 1000 * np.minimum.outer(d, d))


def spoil(run, file):
    """Makes the matrix unsolvable; returns a pattern of the error."""
    n = len(file)
    how = run.one_of("indefinite", "not finite", "asymmetric", "wrong rows")
    i = int(run.random.integers(n))
    if how == "asymmetric" and n > 1 and not set(run.options) & {"lower", "upper"}:
        file[i, i - 1] = file[i - 1, i] + abs(file).max()
        return "not symmetric"
    if how == "not finite":
        file[i, i] = run.one_of(np.nan, np.inf, -np.inf)
        return "finite|NaN|inf"
    if how == "wrong rows":
        return "number of rows"
    file[i, i] = -abs(file[i, i]) - 1
    return "positive definite"


def refined(a, inverse, b):
    """NumPy's solution, refined in extended precision."""
    size = np.maximum(abs(b).max(axis=0).astype(np.longdouble), np.finfo(np.longdouble).tiny)  # columns of any size
    b = b / size
    x = (inverse @ b.astype(np.float64)).astype(np.longdouble)
    for _ in range(4):
        x += inverse @ (b - a.astype(np.longdouble) @ x).astype(np.float64)
    return x * size


def backward_error(a, x, b):
    a, b, least = a.astype(np.longdouble), b.astype(np.longdouble), float(np.finfo(x.dtype).smallest_subnormal)
    norm = abs(a).sum(axis=1).max()
    r = abs(b - a @ x.astype(np.longdouble)).max(axis=0)
    # The error of x is at least the spacing of the smallest numbers.
    r = np.maximum(r - norm * np.longdouble(least), 0)
    size = norm * abs(x.astype(np.longdouble)).max(axis=0) + abs(b).max(axis=0)
    return float(np.divide(r, size, out=np.zeros_like(r), where=r != 0).max())


def error_of_scaled(a, x, b, least):
    """By how much x is off where the diagonal is scaled to ones, which is what a factorization by Cholesky keeps small however
    the matrix is graded; and the condition then."""
    d = np.sqrt(a.diagonal()).astype(np.longdouble)
    h = (a / d / d[:, None]).astype(np.float64)
    inverse = np.linalg.inv(h)
    truth = refined(h, inverse, (b.reshape(len(a), -1) / d[:, None]))
    x = x.reshape(len(a), -1) * d[:, None]
    # Columns without subnormal numbers.
    full = abs(x / d[:, None]).min(axis=0) > least
    norm = abs(truth).max(axis=0)
    condition = float(abs(h).sum(axis=0).max() * abs(inverse).sum(axis=0).max())
    return float((full * abs(x - truth).max(axis=0) / np.where(norm == 0, 1, norm)).max()), condition


def solve(run):
    n = draw_size(run)
    of_points = run.chance(0.1)
    a_type, b_type = (run.one_of(np.float32, np.float64, np.float64) for _ in "ab")
    refine = run.chance(0.3)
    if refine:
        run.options["refine"] = True
    expects = None
    in_single = a_type == b_type == np.float32
    out_type = np.float32 if in_single else np.float64
    computed = np.float32 if in_single and not refine and not of_points else np.float64
    if of_points:
        points = run.random.uniform(0, 10, (n, run.one_of(1, 2, 3))).astype(a_type)
        nugget, scale = run.random.uniform(0.01, 1), run.random.uniform(0.2, 2)
        p = points.astype(np.float64)
        a = np.exp(-((p[:, None, :] - p) ** 2).sum(axis=2) / (2 * scale ** 2)) + nugget * np.eye(n)
        run.words = ["solve", "--kernel", "rbf", "--points", "A.npy", "--nugget", repr(nugget), "--length-scale",
                     repr(scale), "b.npy"]
        file = points
    else:
        file, triangle, a = draw_matrix(run, n, a_type, computed)
        run.options.update(triangle)
        run.words = ["solve", "A.npy", "b.npy"]
        if run.chance(0.08):
            expects = spoil(run, file)
            run.words += ["--method", "cholesky"]
    columns = run.one_of(1, 1, 2, 3, 16, 33) if n > 20 or run.chance(0.9) else 9000
    b = run.random.standard_normal((n, columns)) * 10.0 ** run.random.integers(-8, 8)
    if not of_points and run.chance(0.5):
        # Of the size of each row, as for a solution whose numbers are alike.
        sized = (b.T * np.sqrt(a.diagonal())).T
        b = sized if abs(sized).max() < 1e-4 * np.finfo(b_type).max else b
    if run.chance(0.1):
        b[:, 0] = run.one_of(0, 1e-322 if b_type == np.float64 else 1e-44)
    b = b.astype(b_type)
    if columns == 1 and run.chance(0.5):
        b = b[:, 0]
    run.draw_machine(n, 4 if computed == np.float32 or refine else 8)

    foreign = ">" if run.chance(0.1) else "="
    rows_off = np.concatenate([b, b[:1]]) if expects == "number of rows" else b
    versions = [(1, 0), (2, 0), (3, 0)]
    save(run.folder / "A.npy", file.astype(file.dtype.newbyteorder(foreign)), run.one_of("C", "F"), run.one_of(*versions))
    save(run.folder / "b.npy", rows_off.astype(b.dtype.newbyteorder(run.one_of("=", foreign))), run.one_of("C", "F"),
         run.one_of(*versions))
    output = draw_output(run)
    for option in ("json", "report", "trace", "event-log", "record-flow"):
        if run.chance(0.8 if option == "json" else 0.05):
            run.options[option] = f"{option}.out"
    if run.chance(0.1):
        run.options["no-condition"] = True
    run.options["progress"] = run.one_of("none", "lines")
    run.draw_devices(["flow", "ptg"])
    if refine and "cuda" in run.kinds and run.drawn_for_devices.random() < 0.4:
        run.options["tf32"] = True
    quiet = run.chance(0.3)
    if quiet:
        run.words.append("--quiet")

    before = contents(run.folder)

    def restore():
        for name in set(contents(run.folder)) - set(before):
            (run.folder / name).unlink()
        for name, content in before.items():
            if (run.folder / name).read_bytes() != content:
                (run.folder / name).write_bytes(content)

    done = run.run_with_enough(restore)
    if quiet and done.stdout:
        raise Wrong(f"--quiet, and it prints {done.stdout}")
    if expects:
        if done.returncode != NOT_SOLVED or not re.search(expects, done.stderr):
            raise Wrong(f"expected an error about '{expects}': exit status {done.returncode}, {done.stderr}")
        after = contents(run.folder)
        for log in ("settings.toml", "json.out", "report.out", "trace.out", "event-log.out", "record-flow.out"):
            after.pop(log, None)
        if after != before:
            raise Wrong(f"not solved, it has changed files: {sorted(after)}")
        return None
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    return judge(run, n, a, b, before, output, out_type, computed)


# solve --method: matrices that are not symmetric, and more equations than unknowns.

def draw_general(run, m, n, dtype, dominant):
    """A matrix with independent columns, in the precision of this type."""
    for make in (run.one_of(*GENERAL), uneven):
        a = make(m, n, run.random)
        if dominant:
            a += np.diag(1 + abs(a).sum(axis=1))
        if run.chance(0.15):
            a *= 2.0 ** run.random.integers(*((-30, 30) if dtype == np.float32 else (-150, 150)))
        a = a.astype(dtype)
        if np.linalg.cond(a.astype(np.float64)) < 0.01 / roundings(dtype):
            return a
    raise AssertionError("a random matrix is singular")


def dependent(run, m, n, dtype):
    """Whole numbers times a power of two, exact in both types; some columns depend on others."""
    rank = int(run.random.integers(0, n))
    a = run.random.integers(-4, 5, (m, rank)) @ (run.random.integers(-2, 3, (rank, n)) * (run.random.random((rank, n)) < 8 / n))
    if run.chance(0.3):
        a[:, run.random.integers(n)] = 0
    if run.chance(0.3):
        a[:, 0] = a[:, -1]
    return (a * 2.0 ** run.random.integers(*((-30, 30) if dtype == np.float32 else (-150, 150)))).astype(dtype)


def rank_of(s, m, n, eps):
    """That of numpy.linalg.lstsq; None where rounding decides it."""
    tolerance = eps * max(m, n) * s[0]
    near = (s > tolerance / 10) & (s < 10 * tolerance) if s[0] > 0 else np.zeros(len(s), bool)
    return None if near.any() else int((s > tolerance).sum())


def spoil_general(run, a):
    how = run.one_of("not finite", "wrong rows", *(["zero column"] if a.shape[0] == a.shape[1] else []))
    i, j = (int(run.random.integers(size)) for size in a.shape)
    if how == "not finite":
        a[i, j] = run.one_of(np.nan, np.inf, -np.inf)
        return "finite|NaN|inf"
    if how == "zero column":
        a[:, j] = 0
        return f"column {j}, counted from 0"
    return "number of rows"


def solve_general(run):
    n = draw_size(run)
    method = run.one_of("lu-nopivot", "lu-incremental", "lu-incremental", "qr", "qr", "qr")
    m = n + int(run.random.integers(1, 2 * n + 2)) if method == "qr" and run.chance(0.6) else n
    single = run.chance(0.4)
    a_type, b_type = (np.float32,) * 2 if single else (run.one_of(np.float32, np.float64), np.float64)
    of_dependent = m > n and run.chance(0.4)
    file = dependent(run, m, n, a_type) if of_dependent else draw_general(run, m, n, a_type, method == "lu-nopivot")
    a = file.astype(np.float64)
    expects = spoil_general(run, file) if run.chance(0.08) else None
    columns = run.one_of(1, 1, 2, 3, 16, 33)
    b = a @ run.random.standard_normal((n, columns)) * 10.0 ** run.random.integers(-8, 8)
    b += run.one_of(0, 1e-5, 1) * (abs(b).max(axis=0) + (of_dependent and not b.any())) * run.random.standard_normal(b.shape)
    if m > n and run.chance(0.2):
        # Orthogonal to the columns, but for rounding.
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        u = u[:, s > 1e-9 * s[0]]
        b = run.random.standard_normal(b.shape)
        b -= u @ (u.T @ b)
        b -= u @ (u.T @ b)
    b = b.astype(b_type)
    if columns == 1 and run.chance(0.5):
        b = b[:, 0]
    run.words = ["solve", "A.npy", "b.npy", "--method", method]
    run.draw_machine(m, 4 if single else 8)
    run.all_bytes *= 2
    rows_off = np.concatenate([b, b[:1]]) if expects == "number of rows" else b
    foreign = ">" if run.chance(0.1) else "="
    save(run.folder / "A.npy", file.astype(file.dtype.newbyteorder(foreign)), run.one_of("C", "F"), (1, 0))
    save(run.folder / "b.npy", rows_off.astype(b.dtype.newbyteorder(foreign)), run.one_of("C", "F"), (1, 0))
    output = draw_output(run)
    for option in ("json", "report", "event-log"):
        if run.chance(0.8 if option == "json" else 0.05):
            run.options[option] = f"{option}.out"
    run.draw_devices(["flow", "ptg"])
    run.words.append("--quiet")
    before = contents(run.folder)

    def restore():
        for name in set(contents(run.folder)) - set(before):
            (run.folder / name).unlink()
        for name, content in before.items():
            (run.folder / name).write_bytes(content)

    done = run.run_with_enough(restore)
    if expects:
        # A column of zeros makes the matrix singular.
        status = NOT_TRUSTED if expects.startswith("column") and method != "lu-nopivot" else NOT_SOLVED
        if done.returncode != status or not re.search(expects, done.stderr):
            raise Wrong(f"expected an error about '{expects}': exit status {done.returncode}, {done.stderr}")
        return None
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    x = np.load(run.folder / output)
    out_type = np.float32 if single else np.float64
    if x.dtype != out_type or x.shape != (n, *b.shape[1:]):
        raise Wrong(f"x is {x.dtype}{x.shape}, expected {np.dtype(out_type)}{(n, *b.shape[1:])}")
    eps = roundings(out_type)
    report = json.loads((run.folder / "json.out").read_text()) if "json" in run.options else None
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    rank = rank_of(s, m, n, eps) if m > n else n
    if rank is None:
        return None
    if report and report.get("numerical_rank", rank) != rank:
        raise Wrong(f"the rank is {rank}, found as {report['numerical_rank']}")
    u, s, vt = u[:, :rank], s[:rank], vt[:rank]
    b2, x2 = (array.reshape(len(array), -1).astype(np.longdouble) for array in (b, x))
    residual = b2 - a.astype(np.longdouble) @ x2
    size = np.linalg.norm(a) * np.linalg.norm(x2.astype(float), axis=0) + np.linalg.norm(b2.astype(float), axis=0)
    # By so much of b, in the space that A spans, x could be excused. Of a matrix whose small singular values count as zero
    # rounding turns that space: there, by so much of A.
    weights = 1 if rank == n else (s / s[0])[:, None] if rank else 1
    error = float((np.linalg.norm(weights * (u.T @ residual.astype(float)), axis=0) / np.where(size == 0, 1, size)).max())
    if not error <= 40 * eps:
        raise Wrong(f"the backward error is {error / eps:.3g} roundings")
    exact = vt.T @ ((u.T @ b2.astype(float)) / s[:, None])
    norm, condition = np.linalg.norm(exact, axis=0), s[0] / s[-1] if rank else 1
    norm_of_b, largest = np.linalg.norm(b2.astype(float), axis=0), s[0] if rank else 1
    left = np.linalg.norm(b2.astype(float) - a @ exact, axis=0)
    # Wedin's bound; where b is orthogonal to what A spans, x is rounding of b.
    allowed = condition * (norm + norm_of_b / largest + condition * left / largest)
    distance = np.linalg.norm((x2 - exact).astype(float), axis=0)
    if not (distance <= 40 * n ** 0.5 * eps * allowed).all():
        raise Wrong(f"x is {distance.max():.3g} from NumPy's solution, with condition {condition:.3g}")
    if report and m > n:
        size = np.where(norm_of_b == 0, 1, norm_of_b)
        said, is_so = report["relative_residual"], np.linalg.norm(residual.astype(float), axis=0) / size
        if not abs(said - is_so.max()) <= 1e-6 * is_so.max() + 1e-13:
            raise Wrong(f"the residual is {is_so.max():.6g}, reported as {said:.6g}")
        # The least residual is NumPy's, in double precision.
        if not (is_so - left / size <= report["residual_excess_bound"] + 1e-12).all():
            raise Wrong(f"the residual exceeds the least by {(is_so - left / size).max():.9g}, "
                        f"above the bound of {report['residual_excess_bound']:.9g}")
    if report and rank:
        if report["n"] != n or report.get("m", n) != m or ("growth" in report) != (method != "qr"):
            raise Wrong(f"the report is of {report.get('m')} x {report['n']}")
        if condition * eps < 0.01 and not condition / (4 * n) <= report["condition_estimate"] <= 1.1 * n * condition:
            raise Wrong(f"the condition is {condition:.4g}, estimated as {report['condition_estimate']:.4g}")
    return f"solve --method {method}{'' if m == n else ', tall'} {np.dtype(out_type).name}", n, error / eps


def draw_output(run):
    """x.npy: new, over an old one, by a link, or over an input."""
    output = run.one_of("x.npy", "x.npy", "x.npy", "old.npy", "./sub/x.npy", "link.npy", "b.npy", "A.npy")
    if output in ("old.npy", "link.npy"):
        np.save(run.folder / "old.npy", np.arange(5))
    if output == "link.npy":
        (run.folder / output).hardlink_to(run.folder / "old.npy")
    if output in ("b.npy", "A.npy"):
        run.options["overwrite"] = True
    (run.folder / "sub").mkdir()
    run.words += ["-o", output]
    return output


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def judge(run, n, a, b, before, output, out_type, computed):
    after = contents(run.folder)
    output = str(pathlib.PurePath(output))
    allowed = set(before) | {output, "settings.toml", *(run.options[key] for key in
                             ("json", "report", "trace", "event-log", "record-flow") if key in run.options)}
    if set(after) != allowed - ({"settings.toml"} - set(after)):
        raise Wrong(f"files: {sorted(after)}, expected {sorted(allowed)}")
    for name in before:
        if name != output and after[name] != before[name]:
            raise Wrong(f"{name} was changed")
    x = np.load(run.folder / output)
    if x.dtype != out_type or x.shape != b.shape or not x.flags.c_contiguous:
        raise Wrong(f"x is {x.dtype}{x.shape}, expected {np.dtype(out_type)}{b.shape}")
    error = backward_error(a, x, b)
    eps = roundings(out_type)
    limit = min(10 * n ** 0.5, max(90, 2 * n ** 0.5)) * eps
    # Columns of a few numbers that all round the same way; a solution that is rounded to single is off by that.
    if not error <= min(limit, 40 * eps):
        raise Wrong(f"the backward error is {error / eps:.3g} roundings")
    least = 16 * float(np.finfo(out_type).tiny)
    distance, condition = error_of_scaled(a, x, b, least)
    if not distance <= (10 + n ** 0.5) * condition * eps:
        raise Wrong(f"x is {distance:.3g} from NumPy's solution in the scaled norm, with condition {condition:.3g} there")
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(a)
        except np.linalg.LinAlgError:  # graded so far that NumPy cannot
            inverse = np.full_like(a, np.inf)
        condition = float(abs(a).sum(axis=0).max() * abs(inverse).sum(axis=0).max())
    graded = not condition < 1e18
    truth = x.astype(np.longdouble) if graded else refined(a, inverse, b)
    norm = abs(truth).max(axis=0)
    distance = float(((norm > least) * abs(x - truth).max(axis=0) / np.where(norm == 0, 1, norm)).max())
    if not distance <= 4 * condition * error + 8 * eps:
        raise Wrong(f"x is {distance:.3g} from NumPy's solution, with condition {condition:.3g}, error {error:.3g}")
    if "json" in run.options:
        check_report(run, n, error, distance, condition, eps, out_type == computed)
    return ("solve --refine" if run.options.get("refine") else "solve") + f" {np.dtype(out_type).name}", n, error / eps


def check_report(run, n, error, distance, condition, eps, same_type):
    report = json.loads((run.folder / run.options["json"]).read_text())
    if report["n"] != n or report["tile"] != run.tile:
        raise Wrong(f"the report is of n = {report['n']}, tile {report['tile']}")
    said = report["backward_error"]
    if same_type and not abs(said - error) <= 0.05 * error + n ** 0.5 * 2.3e-16:
        raise Wrong(f"the report says a backward error of {said:.4g}; it is {error:.4g}")
    if not same_type and not error <= said + report["rounded_in_file"] + n ** 0.5 * 2.3e-16:
        raise Wrong(f"the report says a backward error of {said:.4g} and {report['rounded_in_file']:.4g} by rounding; it is {error:.4g}")
    if not said <= report["backward_error_limit"]:
        raise Wrong("the backward error is above the limit, and the exit status 0")
    if run.options.get("no-condition"):
        if "condition_estimate" in report:
            raise Wrong("--no-condition, and there is an estimate")
        return
    if condition * eps < 0.1:
        # It is estimated from the factor, which may be one of TF32.
        slack = 1 + 100 * condition * (2.0 ** -11 if report.get("calls_in_tf32") else eps)
        if not condition / 10 / slack <= report["condition_estimate"] <= 1.01 * condition * slack:
            raise Wrong(f"the condition is {condition:.4g}, estimated as {report['condition_estimate']:.4g}")
        # The oracle is a refined solution in extended precision.
        bound = report["forward_error_bound"]
        if bound is not None and not distance <= 1.01 * bound + 1e-18 * condition:
            raise Wrong(f"x is off by {distance:.4g}, above the bound of {report['forward_error_bound']:.4g}")


def try_one(command, seed, index, keep=None, general=False, kinds=(), fake_cuda=FAKE_CUDA, over_ranks=False):
    """What was solved, n, and its backward error in roundings, or None; raises Wrong."""
    with tempfile.TemporaryDirectory(prefix="fairlead-drawn-") as place:
        run = Run(seed, index, command, pathlib.Path(place) / "run", tuple(kinds), fake_cuda, over_ranks)
        run.folder.mkdir()
        try:
            return (solve_general if general else bench if index % 5 == 4 else solve)(run)
        except Wrong as wrong:
            if keep:
                shutil.copytree(run.folder, keep, dirs_exist_ok=True)
            raise Wrong(f"{wrong}\n  {run.description}\nAgain by:\n  {sys.executable} {pathlib.Path(__file__)} "
                        f"--seed {seed} --only {index}{' --general' if general else ''}"
                        f"{' --devices ' + ','.join(kinds) if kinds else ''}{' --over-ranks' if over_ranks else ''}") from None


def table(results):
    groups = collections.defaultdict(list)
    for what, n, error in results:
        groups[what].append((error, n))
        groups["all, n " + next(text for most, text in ((59, "below 60"), (249, "60 to 249"), (699, "250 to 699"),
                                                        (1 << 60, "from 700")) if n <= most)].append((error, n))
        groups["all"].append((error, n))
    yield f"{'backward errors, in roundings':32}{'runs':>6}{'median':>8}{'99 %':>8}{'largest':>9}  of n ="
    for what in sorted(groups, key=lambda what: (what.startswith("all"), what)):
        errors = sorted(groups[what])
        yield (f"{what:32}{len(errors):6}{np.median([e for e, _ in errors]):8.2f}"
               f"{np.quantile([e for e, _ in errors], 0.99):8.2f}{errors[-1][0]:9.2f}  {errors[-1][1]}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--only", type=int)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--general", action="store_true", help="systems that are not symmetric, and least squares, only")
    options.add_argument("--devices", default="", help="kinds of devices, the first of which each run has: cuda,opencl,emulated")
    options.add_argument("--over-ranks", action="store_true", help="each run is over several ranks, of one process or more")
    options.add_argument("--fake-cuda", type=pathlib.Path, default=FAKE_CUDA, help="the folder with the fake driver")
    options.add_argument("--keep", type=pathlib.Path, help="with --only: where the files of a failure are left")
    options.add_argument("--command", type=pathlib.Path, default=ROOT / "build/release/apps/fairlead/fairlead")
    given = options.parse_args()
    command = given.command.resolve()
    kinds = tuple(filter(None, given.devices.split(",")))
    runs = range(given.first, given.first + given.runs) if given.only is None else [given.only]
    print(f"seed {given.seed}, {len(runs)} runs from {runs[0]}", flush=True)
    began, results, failures = time.monotonic(), [], 0

    def one(index):
        try:
            return try_one(command, given.seed, index, given.keep, given.general, kinds, given.fake_cuda.resolve(),
                           given.over_ranks)
        except Wrong as wrong:
            return wrong

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for index, result in zip(runs, pool.map(one, runs)):
            if isinstance(result, Wrong):
                failures += 1
                print(f"WRONG, run {index}: {result}", flush=True)
            elif result:
                results.append(result)
            if index % 100 == 99:
                print(f"{index + 1} runs, {failures} failures, {time.monotonic() - began:.0f} s", flush=True)
    if results:
        print("\n".join(table(results)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

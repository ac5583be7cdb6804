#!/usr/bin/env python3
"""Systems drawn from a seed over the whole product of what the command and the Python package accept, judged by NumPy: method, element
types, formats, byte and storage order, triangle, memory, scheduler, tile, workers, devices, ranks, front, refinement, numbers of
right-hand sides; solved at once, by kept factors, transposed, in place, inverted, and their determinants.

  /usr/bin/python3 tests/python/drawn_problems.py [--runs 3000] [--first 0] [--seed 1] [--only RUN] [--keep FOLDER]
                                                  [--command build/installed/bin/fairlead] [--library build/release/libfairlead.so]

A failure is a wrong result with status 0, a refusal of what the documentation promises, a crash, a run that does not end, a file that
should not be there, or a missing warning. Each is printed with the command that repeats it. pytest runs some.
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
import subprocess
import sys
import tempfile
import traceback

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import problem_judgements as judgements
from pocl import pocl_settings
from problem_judgements import Wrong
from ranks import LAUNCHERS, SETTINGS
from stored_matrices import npy, store

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE_CUDA = ROOT / "build/release/tests/fake_cuda"
OPENCL = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")  # a driver whose devices are the cores
CALLS = pathlib.Path(__file__).with_name("package_calls.py")
NOT_SOLVED, USAGE, NOT_TRUSTED = 1, 2, 3
SCHEDULERS = ("auto eager lws lfq dmda dmdas near nearer urgent heteroprio laheteroprio heft-tm heft-tm-pr heft-tmdp heft-tmdp-pr "
              "static heft-tm-init heft-tmdp-init ap ap-dplasma darts darts-belady darts-chain darts-defer blocks what-if").split()
LIMIT_SECONDS = 120
ALL = 96 << 20


def one_of(random, *things):
    return things[random.integers(len(things))]


# Problems.

@dataclasses.dataclass
class Problem:
    kind: str
    a: np.ndarray  # as it counts
    b: np.ndarray
    methods: tuple
    stored: np.ndarray = None  # as in the file
    triangle: str = ""
    error: str = ""  # a pattern of the message
    statuses: tuple = (NOT_SOLVED,)

    @property
    def type(self):
        return np.result_type(self.stored.dtype, self.b.dtype)

    @property
    def symmetric(self):
        return self.kind in ("definite", "indefinite")


def unitary(m, n, random, is_complex):
    w = random.standard_normal((m, n))
    return np.linalg.qr(w + 1j * random.standard_normal((m, n)) if is_complex else w)[0]


def mirrored(a):
    """The Hermitian matrix with this lower triangle."""
    return np.tril(a, -1) + np.tril(a, -1).conj().T + np.diag(np.diag(a).real).astype(a.dtype)


def draw_matrix(kind, m, n, random, dtype):
    is_complex, single = dtype.kind == "c", dtype.itemsize // (2 if dtype.kind == "c" else 1) == 4
    decades = random.uniform(0, one_of(random, 2, 2, 3 if single else 8))
    values = 10.0 ** -random.uniform(0, decades, n)
    values[0] = 1
    if kind == "definite":
        q = unitary(n, n, random, is_complex)
        a = mirrored(q * values @ q.conj().T)
    elif kind == "indefinite":
        q = unitary(n, n, random, is_complex)
        a = mirrored(q * (values * random.choice([-1, 1], n)) @ q.conj().T)
        a[-1, -1] = -abs(a[-1, -1]) if n > 1 else -1
        if n > 3 and random.random() < 0.3:  # a saddle point
            k = n // 3
            g = unitary(n - k, k, random, is_complex)
            a = mirrored(np.block([[np.diag(values[: n - k]), g], [g.conj().T, np.zeros((k, k))]]))
    elif kind == "equals_transpose":
        q = unitary(n, n, random, True)
        a = q * values @ q.T
        a = np.tril(a) + np.tril(a, -1).T
    elif kind == "dominant":
        a = unitary(n, n, random, is_complex) + 2 * np.eye(n) * random.uniform(1, 3, n)
        a += np.diag(abs(a).sum(axis=1))
    elif kind == "dependent":
        rank = int(random.integers(1, n + 1))
        a = random.integers(-3, 4, (m, rank)) @ random.integers(-2, 3, (rank, n)) + 0.0
        a = a * (1j ** random.integers(0, 4, m))[:, None] if is_complex else a
    else:
        a = unitary(m, n, random, is_complex) * values @ unitary(n, n, random, is_complex).conj().T
        if m == n and random.random() < 0.2:
            a = (np.eye(n)[random.permutation(n)] * values).astype(a.dtype)
    if random.random() < 0.2:
        a = a * 2.0 ** int(random.integers(-30, 31) if single else random.integers(-200, 201))
    return a.astype(dtype)


METHODS = {"definite": ("auto", "auto", "cholesky", "cholesky", "ldlt", "lu", "lu-incremental", "lu-nopivot", "qr"),
           "indefinite": ("auto", "auto", "ldlt", "ldlt", "lu", "lu-incremental", "qr"),
           "equals_transpose": ("auto", "ldlt", "lu", "qr"),
           "general": ("auto", "lu", "lu", "lu-incremental", "qr"),
           "dominant": ("auto", "lu", "lu-incremental", "lu-nopivot", "lu-nopivot", "qr"),
           "tall": ("auto", "qr"), "dependent": ("auto", "qr")}


def draw_problem(random):
    a_type, b_type = (np.dtype(one_of(random, "f4", "f8", "c8", "c16")) for _ in "ab")
    if random.random() < 0.4:
        b_type = a_type
    kind = one_of(random, "definite", "definite", "indefinite", "equals_transpose", "general", "general", "dominant", "tall", "dependent")
    if kind == "equals_transpose" and a_type.kind != "c":
        kind = "general"
    n = int(random.integers(*one_of(random, (1, 8), (8, 40), (8, 40), (40, 120), (120, 220))))
    m = n + int(random.integers(1, 2 * n + 3)) if kind in ("tall", "dependent") else n
    a = draw_matrix(kind, m, n, random, a_type)
    sides = int(one_of(random, 1, 1, 1, 2, 3, 7, 33, n + 5, min(3 * n + 1, 400)))
    is_complex = b_type.kind == "c"
    size = np.float64(abs(a).max()) or 1.0
    if random.random() < 0.5:
        x = random.standard_normal((n, sides)) + (1j * random.standard_normal((n, sides)) if is_complex else 0)
        b = a.astype(np.complex128) @ x if is_complex else (a.astype(np.complex128) @ x).real
    else:
        b = size * (random.standard_normal((m, sides)) + (1j * random.standard_normal((m, sides)) if is_complex else 0))
    if kind == "dependent":
        b = np.round(b / size * 4) * size  # nothing else than what the columns span, and what they do not
    if random.random() < 0.1:
        b[:, random.integers(sides)] = 0
    if (np.finfo(b_type).max < 1e50) and not 1e-25 < abs(b).max() < 1e25:
        b = b / size  # single precision does not hold it
    b = b.astype(b_type)
    if sides == 1 and random.random() < 0.6:
        b = b[:, 0]
    return Problem(kind, a, b, METHODS[kind], a)


def draw_triangular(like, random):
    """A triangular matrix of the same shape and types; what is on the other side may not count."""
    n, which, a_type = len(like.a), one_of(random, "lower", "upper"), like.a.dtype
    is_complex = a_type.kind == "c"
    part = random.uniform(-1, 1, (n, n)) + (1j * random.uniform(-1, 1, (n, n)) if is_complex else 0)
    diagonal = random.uniform(1, 4, n) * (np.exp(2j * np.pi * random.random(n)) if is_complex else random.choice([-1, 1], n))
    cut = np.tril if which == "lower" else np.triu
    a = (cut(part, -1 if which == "lower" else 1) / n**0.5 + np.diag(diagonal)).astype(a_type)
    a *= a_type.type(2.0 ** int(random.integers(-30, 31)))
    sides = judgements.double(like.b) * float(abs(a).max()) / (float(abs(like.b).max()) or 1)
    problem = Problem("triangle", a, sides.reshape(like.b.shape).astype(like.b.dtype), ("auto", "triangular", "triangular", "lu", "qr"), a)
    if random.random() < 0.4:
        problem.stored, problem.triangle, problem.methods = with_garbage(a, which, random), which, ("triangular",)
    return problem


def with_garbage(a, triangle, random):
    """A copy of the matrix, of which only that triangle counts."""
    stored, n = a.copy(), len(a)
    stored[np.triu_indices(n, 1) if triangle == "lower" else np.tril_indices(n, -1)] = one_of(random, np.nan, np.inf, 0, 1e30)
    return stored


def draw_triangle(problem, random):
    """Of a symmetric matrix, one triangle may be all that counts, or the mean."""
    n, a, which = len(problem.a), problem.a, one_of(random, "lower", "upper", "symmetrize")
    stored = a.copy()
    if which == "symmetrize":
        off = (1e-5 if a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1) == 4 else 1e-10) * abs(a).max()
        change = np.triu(off * random.uniform(-1, 1, (n, n)), 1)
        diagonal = np.sqrt(abs(np.diag(a).real.astype(float)))
        change *= np.minimum(1, diagonal[:, None] * diagonal / abs(a).max()) if (diagonal > 0).all() else 0
        stored = (stored + change).astype(a.dtype)
        wide = stored.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)
        problem.a = (wide + wide.conj().T) / 2
    else:
        stored = with_garbage(a, which, random)
    problem.stored, problem.triangle = stored, which


def spoil(problem, random):
    """Makes the problem unsolvable, in a way that the message has to name."""
    stored = problem.stored = problem.stored.copy()
    m, n = stored.shape
    ways = ["nan", "infinite", "rows", "infinite side"]
    ways += ["zero column", "equal columns"] if m == n and problem.kind in ("general", "dominant") else []
    ways += ["asymmetric"] if problem.symmetric and n > 1 and not problem.triangle else []
    ways += ["not definite"] if problem.kind == "definite" and not problem.triangle else []
    how = one_of(random, *ways)
    i, j = int(random.integers(m)), int(random.integers(n))
    problem.kind = how
    if how in ("nan", "infinite"):
        if problem.triangle == "lower":
            i, j = max(i, j), min(i, j)
        elif problem.triangle == "upper":
            i, j = min(i, j), max(i, j)
        stored[i, j] = np.nan if how == "nan" else one_of(random, np.inf, -np.inf)
        problem.error = "is not a number|is not finite" if how == "nan" else "is infinite|is not finite"
    elif how == "rows":
        problem.b = np.concatenate([problem.b, problem.b[:1]])
        problem.error = "rows"
    elif how == "infinite side":
        problem.b = problem.b.copy()
        problem.b.flat[random.integers(problem.b.size)] = np.inf
        problem.error = "is infinite|is not finite"
    elif how in ("zero column", "equal columns"):
        if how == "equal columns":
            stored[...] = np.round(stored / abs(stored).max() * 8)
        stored[:, j] = stored[:, j - 1] if how == "equal columns" and n > 1 else 0
        problem.methods = ("auto", "lu", "lu-incremental", "qr")
        problem.error, problem.statuses = "singular|are not independent|dependent", (NOT_TRUSTED,)
    elif how == "asymmetric":
        stored[i, i - 1] += 2 * abs(stored).max()
        problem.methods, problem.error = ("cholesky", "ldlt"), "is not symmetric|is not Hermitian"
    else:
        stored[i, i] = -abs(stored[i, i]) - abs(stored).max()
        problem.methods, problem.error = ("cholesky",), "is not positive definite"


# Machines.

@dataclasses.dataclass
class Machine:
    options: list = dataclasses.field(default_factory=list)
    launcher: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    ranks: int = 1
    graph: bool = False
    level: float = 1.0  # of memory: 0 is the least, 1 all


def draw_machine(problem, method, action, random, folder):
    machine, n = Machine(), len(problem.stored)
    add = machine.options.extend
    if random.random() < 0.85:
        tile = int(one_of(random, 1, 3, 5, 8, 16, 24, 40, n, n + 1, 2 * n + 7, 1000))
        add(["--tile", str(max(tile, n // 16))])
    add(["--workers", str(random.integers(1, 4))])
    if random.random() < 0.6:
        add(["--scheduler", one_of(random, *SCHEDULERS)])
    named = method if method != "auto" else ""
    if action == "solve" and random.random() < 0.2 and named not in ("ldlt", "triangular"):
        machine.ranks = int(random.integers(2, 4))
        how = one_of(random, "threads", "threads", "threads", *LAUNCHERS)
        if how == "threads":
            add(["--ranks", str(machine.ranks)])
        else:
            machine.launcher = [*LAUNCHERS[how], str(machine.ranks)]
            machine.environment |= {**SETTINGS, "OMPI_MCA_orte_tmpdir_base": str(folder.parent)}
        if random.random() < 0.4:
            add(["--grid", f"{machine.ranks}x1" if random.random() < 0.5 else f"1x{machine.ranks}"])
    if action == "solve" and named not in ("lu", "ldlt", "triangular") and random.random() < 0.2:
        machine.graph = True
        add(["--front", "ptg"])
    if random.random() < 0.2:
        kinds = ["emulated"] + (["cuda", "cuda"] if problem.type.kind == "f" and not machine.launcher and FAKE_CUDA.exists() else [])
        kind = one_of(random, *kinds)
        memory = one_of(random, "1MiB", "4MiB", "16MiB")
        add(["--devices", f"emulated:memory={memory},bandwidth=10GB/s" if kind == "emulated" else f"cuda:0,memory={memory},workspace=4KiB"])
        if kind == "cuda":
            machine.environment |= {"LD_LIBRARY_PATH": str(FAKE_CUDA), "FAKE_CUDA": "devices=1", "FAIRLEAD_CUDA_KERNELS": str(FAKE_CUDA / "kernels")}
    for option, values in {"--window": ("1", "5", "60"), "--pipeline-depth": ("1", "3"), "--disk-threads": ("1",), "--spin": ("0",),
                           "--no-checksums": None, "--no-huge-pages": None, "--no-fast-path": None, "--no-bind-threads": None,
                           "--no-keep-durations": None, "--fixed-order": None, "--seed": ("5",)}.items():
        if random.random() < 0.1:
            add([option] + ([one_of(random, *values)] if values else []))
    machine.level = float(one_of(random, 0, 0, 0.2, 0.5, 1, 1))
    return machine


def add_opencl(machine, problem, random):
    """Some problems of real numbers get a device whose driver compiles the kernels, in place of an emulated one or of none."""
    options = machine.options
    if problem.type.kind != "f" or machine.launcher or not OPENCL.exists():
        return
    at = options.index("--devices") if "--devices" in options else len(options)
    has_devices = at < len(options)
    if has_devices and not options[at + 1].startswith("emulated"):
        return
    if random.random() > (0.5 if has_devices else 0.07):
        return
    options[at:at + 2] = ["--devices", f"opencl:0,memory={one_of(random, '2MiB', '16MiB')}{one_of(random, '', ',queues=2')}"]
    machine.environment |= pocl_settings(devices=1)


# Runs.

class Run:
    def __init__(self, seed, index, folder, command, library):
        self.random = np.random.default_rng([seed, index])
        self.other = np.random.default_rng([seed, index, 1])  # for what was added later: problems keep their numbers
        self.index, self.folder, self.command, self.library = index, folder, command, library
        self.said, self.last = "", None

    def start(self, words, machine, elsewhere=()):
        words = [*map(str, [*machine.launcher, self.command, *words, "--progress", "none"])]
        self.last = " ".join([*(f"{k}={v}" for k, v in machine.environment.items()), shlex.join(words)])
        try:
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                                  env={**os.environ, **machine.environment})
        except subprocess.TimeoutExpired:
            raise Wrong(f"it has not ended after {LIMIT_SECONDS} s") from None
        if done.returncode < 0 or done.returncode > 3 and not machine.launcher:
            raise Wrong(f"exit status {done.returncode}: {done.stderr}")
        return done

    def within_memory(self, call, level, bytes_of_matrix):
        """Calls with a limit of memory; raises it as far as the messages ask for."""
        limit = ALL if level == 1 else 256 << 10
        for _ in range(60):
            done = call(limit)
            asked = re.search(r"at least ([0-9.]+) ([KMG]?)i?B|([0-9.]+) ([KMG]?)i?B are needed|[Aa]llow ([0-9.]+) ([KMG]?)i?B", done.stderr)
            room = re.search(r"limit that is larger by ([0-9.]+) (?:bytes|([KMG])iB)", done.stderr)
            if done.returncode not in (NOT_SOLVED, USAGE) or not (asked or room):
                return done
            if room:
                limit += int(float(room[1]) * 1024 ** " KMG".index(room[2] or " ")) + 65536
                continue
            number, unit = next((asked[i], asked[i + 1]) for i in (1, 3, 5) if asked[i])
            needed = int(float(number) * 1024 ** " KMG".index(unit or " "))
            extra = int(level * bytes_of_matrix) if level < 1 and limit == 256 << 10 else 0
            limit = max(needed, limit + (32 << 10)) + extra
        raise Wrong(f"no limit is enough, not even {limit}: {done.stderr}")

    def contents(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def expect_files(self, before, new):
        after = self.contents()
        extra = set(after) - set(before) - set(new)
        if extra or set(before) - set(after):
            raise Wrong(f"files: {sorted(extra)} are left, {sorted(set(before) - set(after))} are missing")
        for name in set(before) - set(new):
            if after[name] != before[name]:
                raise Wrong(f"{name} was changed")


def report_of(folder):
    path = folder / "report.json"
    return json.loads(path.read_text()) if path.exists() else None


def triangle_options(problem):
    return [f"--{problem.triangle}"] if problem.triangle else []


def expect_refusal(run, problem, done, before, output):
    if problem.kind == "equal columns" and done.returncode == 0 and "digit" in done.stderr:
        return f"refused: {problem.kind}, warned"
    if done.returncode not in problem.statuses or not re.search(problem.error, done.stderr):
        raise Wrong(f"expected an error with '{problem.error}': exit status {done.returncode}, {done.stderr}")
    run.expect_files(before, [])
    return f"refused: {problem.kind}"


def solve(run, problem, method, machine):
    random, folder = run.random, run.folder
    words = [run.a, run.b]
    options = [] if method == "auto" and random.random() < 0.5 else ["--method", method]
    options += triangle_options(problem) + machine.options
    refine = method in ("auto", "cholesky") and random.random() < (0.5 if problem.kind == "definite" else 0.1)
    options += ["--refine"] if refine else []
    tolerance = 0.0
    if not refine and method in ("auto", "qr") and problem.kind in ("tall", "dependent") and random.random() < 0.3:
        tolerance = one_of(random, 1e-4, 1e-5)
        options += ["--rank-tolerance", str(tolerance)]
    digits = int(random.integers(1, 13 if np.finfo(problem.type).eps < 1e-10 else 6)) if random.random() < 0.1 else 0
    options += ["--require-digits", str(digits)] if digits else ["--no-condition"] if random.random() < 0.15 else []
    keeps = run.other.random() < (0.5 if digits else 0.05)
    options += ["--keep-anyway"] if keeps else []
    in_place = [name for name in (run.b, run.b, run.a) if name.endswith(".npy")]
    output = one_of(random, "x.npy", "x.npy", "old.npy", "sub/x.npy", *in_place)
    (folder / "sub").mkdir()
    if output == "old.npy":
        np.save(folder / output, np.arange(3))
    options += ["-o", output, "--json", "report.json"] + (["--overwrite"] if output in in_place else [])
    options += ["--quiet"] if random.random() < 0.3 else []
    before, input_in_place = run.contents(), (folder / output).read_bytes() if output in in_place else None

    def call(limit):
        nonlocal options, machine
        if input_in_place is not None:
            (folder / output).write_bytes(input_in_place)
        return run.start(["solve", *words, *options, "--memory", limit], machine)

    done = run.within_memory(call, machine.level, problem.stored.nbytes)
    if "--quiet" in options and done.stdout:
        raise Wrong(f"--quiet, and it prints {done.stdout}")
    report = report_of(folder)
    (folder / "report.json").unlink(missing_ok=True)
    if problem.error:
        return expect_refusal(run, problem, done, before, output)
    if done.returncode == NOT_TRUSTED and digits and "--require-digits asks" in done.stderr:
        run.expect_files(before, [output] if keeps else [])
        if keeps:
            judgements.solution(problem, method, np.load(folder / output), report, done.stderr, machine, refine, 0, tolerance)
        return judgements.too_few_digits(problem, digits)
    if done.returncode != 0:
        run.expect_files(before, [])
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    run.expect_files(before, [output])
    x = np.load(folder / output)
    judgements.solution(problem, method, x, report, done.stderr, machine, refine, digits, tolerance)
    if "--fixed-order" in options:
        again = call(re.search(r"--memory (\d+)", run.last)[1])
        if again.returncode or np.load(folder / output).tobytes() != x.tobytes():
            raise Wrong(f"again with --fixed-order: exit status {again.returncode}, {again.stderr}, or other bits")
    elif machine.ranks > 1 and "--tile" in options and "--devices" not in options and report["method"] == method and random.random() < 0.5:
        alone = Machine([], environment=machine.environment)
        options = [word for i, word in enumerate(options) if not {"--ranks", "--grid"} & {word, options[i - 1]}]
        machine = alone
        again = run.within_memory(call, 1.0, problem.stored.nbytes)
        if again.returncode or np.load(folder / output).tobytes() != x.tobytes():
            raise Wrong(f"on one rank: exit status {again.returncode}, {again.stderr}, or other bits")
    return f"solved by {report['method']}"


def determinant(run, problem, method, machine):
    options = ["--method", method, *triangle_options(problem), *machine.options, "--json", "report.json"]
    before = run.contents()
    done = run.within_memory(lambda limit: run.start(["logdet", run.a, *options, "--memory", limit], machine), machine.level, problem.stored.nbytes)
    report = report_of(run.folder)
    (run.folder / "report.json").unlink(missing_ok=True)
    run.expect_files(before, [])
    if problem.stored.shape[0] != problem.stored.shape[1]:
        if done.returncode != NOT_SOLVED or "only a square matrix" not in done.stderr:
            raise Wrong(f"exit status {done.returncode}: {done.stderr}")
        return "refused: determinant of a tall matrix"
    if problem.error and problem.kind not in ("rows", "infinite side"):
        if problem.kind in ("zero column", "equal columns") and done.returncode == 0:
            judgements.determinant_of_singular(problem, report)
            return "determinant of a singular matrix"
        return expect_refusal(run, problem, done, before, None)
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    judgements.determinant(problem, method, *judgements.in_report(report, problem.stored.dtype))
    return "determinant"


def factors(run, problem, method, machine):
    """Factor, with perhaps less memory solve by the factors, without the matrix and with it, and the determinant."""
    random, folder = run.random, run.folder
    options = ["--method", method, *triangle_options(problem), *machine.options]
    before = run.contents()
    done = run.within_memory(lambda limit: run.start(["factor", run.a, "-o", "A.factor", *options, "--memory", limit], machine),
                             machine.level, problem.stored.nbytes)
    if problem.error and problem.kind not in ("rows", "infinite side"):
        if problem.kind == "equal columns" and done.returncode == 0 and "singular" in done.stderr:
            return "refused: equal columns, warned"
        return expect_refusal(run, problem, done, before, None)
    if done.returncode == NOT_SOLVED and "Kept factors need independent ones" in done.stderr and len(problem.a) > problem.a.shape[1]:
        run.expect_files(before, [])
        return "refused: dependent columns have no factors to keep"
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    run.expect_files(before, ["A.factor"])
    with_matrix, before = random.random() < 0.4, run.contents()
    given = (["--tile", "7"] if random.random() < 0.05 else []) + ["--workers", str(random.integers(1, 4))]
    given += ["--scheduler", one_of(random, *SCHEDULERS)] if random.random() < 0.5 else []
    words = ["solve", "--factor", "A.factor", *([run.a] if with_matrix else []), run.b, "-o", "x.npy", "--json", "report.json", *given]
    done = run.within_memory(lambda limit: run.start([*words, "--memory", limit], Machine()), one_of(random, 0, 0.3, 1), problem.stored.nbytes)
    warned = done.stderr
    report = report_of(folder)
    (folder / "report.json").unlink(missing_ok=True)
    refused = judgements.factors_do_not_serve(problem)
    if refused:
        if done.returncode not in (NOT_SOLVED, USAGE) or not done.stderr:
            raise Wrong(f"{refused}: exit status {done.returncode}, {done.stderr}")
        run.expect_files(before, [])
        return "refused: " + refused
    if problem.error:
        return expect_refusal(run, problem, done, before, None)
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode}: {done.stderr}")
    run.expect_files(before, ["x.npy"])
    x = np.load(folder / "x.npy")
    if with_matrix:
        judgements.solution(problem, method, x, report, done.stderr, machine, False, 0, 0, by_factors=True)
    else:
        judgements.unchecked(problem, method, x, warned=warned)
    if problem.kind not in ("tall", "dependent"):
        done = run.start(["logdet", "A.factor", "--json", "report.json"], Machine())
        if done.returncode != 0:
            raise Wrong(f"exit status {done.returncode}: {done.stderr}")
        judgements.determinant(problem, method, *judgements.in_report(report_of(folder), problem.stored.dtype))
    return "factors, checked" if with_matrix else "factors"


def package(run, problem, method, machine):
    """The same by the package, in a process of its own."""
    random, folder = run.random, run.folder
    square = problem.stored.shape[0] == problem.stored.shape[1]
    call = one_of(random, *(["solve", "solve", "factor", "factor", "inv", "slogdet"] if square else ["lstsq", "lstsq", "factor"]))
    if problem.kind == "dependent":
        call = "lstsq"
    if problem.error and problem.kind in ("rows", "infinite side"):
        call = "solve" if square else "lstsq"
    settings = {"tile": int(one_of(random, 3, 8, 40, 1000))} if random.random() < 0.5 else {}
    settings |= {"scheduler": one_of(random, *SCHEDULERS)} if random.random() < 0.4 else {}
    settings |= {"fixed-order": True} if random.random() < 0.1 else {}
    if "tile" in settings:
        settings["tile"] = max(settings["tile"], len(problem.stored) // 16)
    if problem.triangle == "symmetrize":
        problem.triangle, problem.a, problem.stored = "", problem.stored, problem.stored
        problem.a = problem.stored = mirrored(problem.stored)
    forms = ["rows", "columns", "padded", "strided", "reversed", "foreign", "memmap", "function", "path"]
    forms += ["dataset"] if run.a.split("::")[0].endswith(".h5") else []
    spec = {"call": call, "a": one_of(random, *forms), "b": one_of(random, "rows", "columns", "strided", "foreign"),
            "out": one_of(random, "", "", "", "b", "columns", "rows", "wide"), "path": run.a, "trans": int(random.integers(3)),
            "save": bool(random.integers(2)), "settings": settings, "workers": int(random.integers(1, 4)), "method": "" if method == "auto" else method,
            "lower": {"": None, "lower": True, "upper": False}[problem.triangle], "refine": method in ("auto", "cholesky") and random.random() < 0.3}
    if problem.triangle == "" and spec["a"] in ("path", "dataset") and problem.stored is not run.stored:
        spec["a"] = "rows"
    np.savez(folder / "given.npz", a=problem.stored, b=problem.b)
    before = run.contents()
    environment = {"LIBFAIRLEAD": str(run.library), "PYTHONPATH": str(ROOT / "python"), **machine.environment}

    def attempt(limit):
        (folder / "call.json").write_text(json.dumps({**spec, "memory": limit}))
        run.last = f"{call} of the package: {(folder / 'call.json').read_text()}"
        try:
            done = subprocess.run([sys.executable, str(CALLS)], cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                                  env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise Wrong(f"it has not ended after {LIMIT_SECONDS} s") from None
        if done.returncode not in (0, 1):
            raise Wrong(f"exit status {done.returncode}: {done.stderr}")
        return done

    done = run.within_memory(attempt, machine.level, problem.stored.nbytes)
    results = dict(np.load(folder / "results.npz")) if (folder / "results.npz").exists() else {}
    found = json.loads((folder / "found.json").read_text()) if (folder / "found.json").exists() else {}
    for name in ("results.npz", "found.json", "call.json"):
        (folder / name).unlink(missing_ok=True)
    run.expect_files(before, [])
    if problem.error and (call in ("solve", "lstsq") or problem.kind not in ("rows", "infinite side")):
        singular = problem.kind in ("zero column", "equal columns")
        if singular and call == "slogdet" and done.returncode == 0:
            judgements.determinant_of_singular(problem, {"log_absolute_determinant": found["logabsdet"]})
            return "determinant of a singular matrix"
        if singular and done.returncode == 0 and found["warnings"]:
            return "refused: singular, warned"
        if done.returncode != 1 or not re.search(problem.error, done.stderr) or "Error" not in done.stderr:
            raise Wrong(f"expected an exception with '{problem.error}': {done.returncode}, {done.stderr}")
        return f"refused: {problem.kind}"
    if call == "factor":
        refused = judgements.factors_do_not_serve(problem)
        if refused and done.returncode == 1 and "Error" in done.stderr:
            return "refused: " + refused
    if done.returncode != 0:
        raise Wrong(f"exception: {done.stderr}")
    if call in ("solve", "lstsq"):
        judgements.solution(problem, method, results["x"], found["info"], "\n".join(found["warnings"]), Machine(level=machine.level), spec["refine"], 0, 0,
                            parts_apart=True)
    elif call == "inv":
        judgements.inverse(problem, method, results["x"])
    elif call == "slogdet":
        judgements.determinant(problem, method, complex(*found["sign"]), found["logabsdet"])
    else:
        judgements.unchecked(problem, method, results["x"], spec["trans"] if square else 0, "\n".join(found["warnings"]))
        if square:
            judgements.determinant(problem, method, complex(*found["sign"]), found["logabsdet"])
    return f"package: {call}"


ACTIONS = {solve: 0.5, factors: 0.18, determinant: 0.07, package: 0.25}


def try_one(seed, index, folder, command, library):
    """What was done, in a few words; raises Wrong."""
    run = Run(seed, index, folder, command, library)
    random = run.random
    problem = draw_problem(random)
    action = random.choice(list(ACTIONS), p=list(ACTIONS.values()))
    if problem.a.shape[0] == problem.a.shape[1] > 1 and run.other.random() < 0.12:
        problem = draw_triangular(problem, run.other)
    triangles = problem.symmetric and random.random() < 0.5
    if triangles:
        draw_triangle(problem, random)
        problem.methods = ("auto", "ldlt", "cholesky") if problem.kind == "definite" else ("auto", "ldlt")
    if random.random() < 0.1:
        spoil(problem, random)
    method = one_of(random, *problem.methods)
    machine = draw_machine(problem, method, {solve: "solve"}.get(action, "other"), random, folder)
    add_opencl(machine, problem, run.other)
    run.stored = problem.stored
    run.a = store(folder, "A", problem.stored, random)
    run.b = store(folder, "b", problem.b, random) if random.random() < 0.5 else npy(folder, "b", problem.b, random)
    run.said = (f"run {index}: {action.__name__}, {problem.kind} {problem.stored.shape} {problem.stored.dtype}, "
                f"b {problem.b.shape} {problem.b.dtype}, {method}")
    try:
        with np.errstate(all="ignore"):
            return run.said, action(run, problem, method, machine)
    except Wrong as wrong:
        raise Wrong(f"{run.said}: {wrong}\n  {run.last}") from None
    except Exception:  # of the judgement: it is no reason to end the campaign
        raise Wrong(f"{run.said}: {traceback.format_exc()}\n  {run.last}") from None


def campaign(runs, seed, command, library, report=lambda text: None, jobs=1, keep=None):
    """Raises Wrong with all that is wrong; gives how often each outcome was met."""
    wrong, outcomes = [], collections.Counter()

    def one(index):
        with tempfile.TemporaryDirectory(prefix="fairlead-problems-") as place:
            folder = pathlib.Path(keep or place) / "run"
            folder.mkdir(parents=True)
            try:
                return try_one(seed, index, folder, command, library)
            except Wrong as why:
                return None, f"{why}\nAgain by:\n  {sys.executable} {pathlib.Path(__file__)} --seed {seed} --only {index}"

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for said, outcome in pool.map(one, runs):
            if said is None:
                wrong.append(outcome)
                report(f"WRONG {outcome}")
            else:
                outcomes[outcome] += 1
                report(f"{said}: {outcome}")
    if wrong:
        raise Wrong(f"{len(wrong)} of {len(runs)} are wrong:\n" + "\n".join(wrong))
    return outcomes


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=3000)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--keep", help="an empty folder for the files of the run of --only")
    options.add_argument("--command", type=pathlib.Path, default=ROOT / "build/installed/bin/fairlead")
    options.add_argument("--library", type=pathlib.Path, default=ROOT / "build/release/libfairlead.so")
    given = options.parse_args()
    runs = range(given.first, given.first + given.runs) if given.only is None else [given.only]
    try:
        outcomes = campaign(runs, given.seed, given.command.resolve(), given.library.resolve(), lambda text: print(text, flush=True), given.jobs,
                            given.keep)
    except Wrong as wrong:
        print(wrong)
        return 1
    print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

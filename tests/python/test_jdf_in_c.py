"""`--allow-c`: the C compiler builds the C in a JDF file, which is loaded for check, draw, run and simulate; results are compared with
NumPy. Errors if C is not allowed, does not compile, or lacks values; and no leftover files."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

numpy = pytest.importorskip("numpy")

NOT_DONE = 1
# Ranges, locals, globals and priorities that only C can say: with loops, a macro and functions of the prologue; and a body in C.
SCALE = """
extern "C" %{
#include "parsec.h"
#define LAST (descA->mt - 1)
static int log2_of(int n) { int out = 0; while (n > 1) { n /= 2; ++out; } return out; }
static double half(int n) { return n / 2.0; }
%}
count [type = int hidden = on default = "(int)descA->mt"]
descA [type = "parsec_tiled_matrix_t*"]
scale [type = double]
depth [type = int hidden = on default = "log2_of(count)"]
steps [type = int hidden = on default = %{ int n = 0; for (int i = 0; i < descA->mt; ++i) ++n; return n; %}]

SCALE(k, l)
  k = 0 .. %{ int n = -1; for (int i = 0; i < descA->mt; ++i) ++n; return n; %}
  l = 0 .. depth
  twice = %{ int t = k; t += k; return t; %}
  : descA(k, 0)
  RW A <- (l == 0) ? descA(k, 0) : A SCALE(k, l-1)
       -> %{ int t = depth; return l == t; %} ? descA(k, 0) : A SCALE(k, l+1)
  ; half(twice) * steps
BODY
{
  int rows = k == LAST ? descA->m - k * descA->mb : descA->mb;
  double *a = A;
  for (int j = 0; j < descA->n; ++j)
    for (int i = 0; i < rows; ++i)
      a[i + j * descA->mb] = a[i + j * descA->mb] * scale + twice + this_task->locals.l.value;
}
END
"""
ROWS, COLUMNS, TILE, DEPTH = 203, 20, 20, 3  # 11 tiles: 8 <= 11 < 16


def scaled(a):
    out = a.astype(numpy.float64)
    for k in range(0, len(a), TILE):
        for step in range(DEPTH + 1):
            out[k:k + TILE] = out[k:k + TILE] * 2 + 2 * (k // TILE) + step
    return out


@pytest.fixture
def file(fairlead):
    """Writes a file, and runs the command on it."""

    def file(action, *options, text=SCALE, matrix="descA=203,20,20,20", **more):
        (fairlead.folder / "scale.jdf").write_text(text)
        command = ["simulate", "jdf"] if action == "simulate" else ["jdf", action]
        return fairlead(*command, "scale.jdf", "--matrix", matrix, "--set", "scale=2", *options, **more)

    return file


@pytest.fixture
def no_rest(tmp_path, monkeypatch):
    """A folder for temporary files, which must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def run_scale(file, fairlead, *options, dtype=numpy.float64, text=SCALE, order="C"):
    a = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS)).astype(dtype)
    numpy.save(fairlead.folder / "A.npy", numpy.asarray(a, order=order))
    done = file("run", "--allow-c", "-o", "descA=out.npy", "--tile", TILE, "--workers", 2, "--progress", "none", *options,
                text=text, matrix="descA=A.npy", timeout=300)
    assert done.returncode == 0, done.stderr
    out = numpy.load(fairlead.folder / "out.npy")
    assert out.dtype == dtype
    assert numpy.allclose(out, scaled(a), rtol=20 * numpy.finfo(dtype).eps)


@pytest.mark.parametrize("options", [(), ("--memory", "3MiB"), ("--scheduler", "blocks", "--no-check"), ("--scheduler", "dmdas")])
def test_bodies_in_c(file, fairlead, no_rest, options):
    run_scale(file, fairlead, *options)


@pytest.mark.parametrize("type_of_body", ["CPU", "cpu", "Cpu"])
def test_bodies_in_c_whose_type_is_the_processor(file, fairlead, no_rest, type_of_body):
    assert SCALE.count("\nBODY\n") == 1
    run_scale(file, fairlead, text=SCALE.replace("\nBODY\n", f"\nBODY [type = {type_of_body}]\n"))


def test_bodies_in_c_on_float_in_the_order_of_fortran(file, fairlead, no_rest):
    run_scale(file, fairlead, dtype=numpy.float32, text=SCALE.replace("double *a", "float *a"), order="F")


def test_check_draw_and_simulate(file, fairlead, no_rest):
    done = file("check", "--allow-c")
    assert done.returncode == 0 and "scale.jdf: 44 tasks, 33 edges, no errors" in done.stdout, done.stderr
    done = file("draw", "--allow-c", "-o", "g.svg")
    assert done.returncode == 0 and "44 tasks" in done.stdout, done.stderr
    assert (fairlead.folder / "g.svg").read_text().count("SCALE(") >= 44
    text = SCALE.replace("SCALE(k, l)\n", "SCALE(k, l) [flops = %{ int f = 1; for (int i = 0; i < 6; ++i) f *= 10; return f + k; %}]\n")
    done = file("simulate", "--allow-c", "--machine", "epyc-7642", text=text)
    assert done.returncode == 0 and "of unknown cost" not in done.stdout, done.stdout + done.stderr


def test_blas_calls_next_to_interpreted_bodies(fairlead, no_rest):
    """One class calls BLAS from C, with a scratch pool and INFO; the other is interpreted."""
    text = """
extern "C" %{
#include "core_blas.h"
#include "parsec/private_mempool.h"
%}
descA [type = "parsec_tiled_matrix_t *"]
descB [type = "const parsec_tiled_matrix_t *"]
pool  [type = "parsec_memory_pool_t *"]
INFO  [type = "int *"]
SQUARE(k)
k = 0 .. descA->mt-1
: descA(k, 0)
READ B <- descB(k, 0)
RW A <- descA(k, 0)
     -> A FACTOR(k)
BODY [type = RECURSIVE]
{ recursive_call_without_a_definition(); }
END
BODY
{ if (k >= 0) return PARSEC_HOOK_RETURN_NEXT; }
END
BODY
{
  double *copy = parsec_private_memory_pop(pool);
  int n = CLEAN_NB(descA, 0), rows = CLEAN_MB(descA, k);
  CORE_dlacpy(PlasmaUpperLower, rows, n, B, BLKLDD(descB, k), copy, descA->mb);
  CORE_dgemm(PlasmaTrans, PlasmaNoTrans, n, n, rows, 1.0, copy, descA->mb, copy, descA->mb, 1.0, A, BLKLDD(descA, k));
  parsec_private_memory_push(pool, copy);
}
END
FACTOR(k)
k = 0 .. descA->mt-1
: descA(k, 0)
RW A <- A SQUARE(k)
     -> descA(k, 0)
BODY
{ int failed = tile_dpotrf('L', 16, A, descA->mb); if (failed != 0) *INFO = failed; }
END
"""
    b = numpy.random.default_rng(2).standard_normal((64, 16))
    a = numpy.vstack([numpy.eye(16)] * 4)
    for name, matrix in (("A", a), ("B", b)):
        numpy.save(fairlead.folder / f"{name}.npy", matrix)
    (fairlead.folder / "two.jdf").write_text(text)
    done = fairlead("jdf", "run", "two.jdf", "--matrix", "A=A.npy", "--matrix", "B=B.npy", "-o", "A=out.npy", "--tile", 16,
                    "--allow-c", "--quiet")
    assert done.returncode == 0, done.stderr
    out = numpy.load(fairlead.folder / "out.npy")
    for k in range(4):
        piece = b[16 * k:16 * k + 16]
        assert numpy.allclose(numpy.tril(out[16 * k:16 * k + 16]), numpy.linalg.cholesky(piece.T @ piece + numpy.eye(16)))


def test_info_set_by_a_body_in_c_ends_the_run(file, fairlead, no_rest):
    text = SCALE.replace("scale [type", "INFO [type = \"int *\"]\nscale [type").replace("  double *a = A;", "  *INFO = 7; return 0;\n  double *a = A;")
    numpy.save(fairlead.folder / "A.npy", numpy.eye(ROWS, COLUMNS))
    done = file("run", "--allow-c", "--tile", TILE, text=text, matrix="descA=A.npy")
    assert done.returncode == NOT_DONE and "sets INFO to 7" in done.stderr


def test_the_error_names_the_body_that_sets_info_and_no_concurrent_one(fairlead, no_rest):
    """FAILS still runs while OTHER ends; AFTER shows that OTHER has finished. At most two seconds, if AFTER never runs."""
    text = """
extern "C" %{
#include <stdatomic.h>
#include <time.h>
static atomic_int begun, set, after;
static void wait_for(atomic_int *what) { const time_t last = time(NULL) + 2; while (!atomic_load(what) && time(NULL) <= last); }
%}
descA [type = "parsec_tiled_matrix_t *"]
INFO  [type = "int *"]
FAILS(k)
k = 0 .. 0
: descA(k, 0)
RW A <- descA(k, 0)
     -> descA(k, 0)
BODY
{ wait_for(&begun); *INFO = 7; atomic_store(&set, 1); wait_for(&after); }
END
OTHER(k)
k = 1 .. 1
: descA(k, 0)
RW A <- descA(k, 0)
     -> A AFTER(k)
BODY
{ atomic_store(&begun, 1); wait_for(&set); }
END
AFTER(k)
k = 1 .. 1
: descA(k, 0)
RW A <- A OTHER(k)
     -> descA(k, 0)
BODY
{ atomic_store(&after, 1); }
END
"""
    numpy.save(fairlead.folder / "A.npy", numpy.eye(32, 16))
    (fairlead.folder / "concurrent.jdf").write_text(text)
    done = fairlead("jdf", "run", "concurrent.jdf", "--matrix", "A=A.npy", "--tile", 16, "--allow-c", "--quiet", "--workers", 2)
    assert done.returncode == NOT_DONE and "FAILS(0) sets INFO to 7" in done.stderr


def test_without_allow_c_no_code_is_built(file, no_rest):
    done = file("check")
    assert done.returncode == NOT_DONE
    assert "scale.jdf:15:14: error: the result is known only in C" in done.stderr and "--allow-c" in done.stderr
    done = file("run", "--no-allow-c")
    assert done.returncode == NOT_DONE and "--allow-c has the C compiler build it" in done.stderr


def test_errors_in_c_name_the_jdf_line(file, no_rest):
    done = file("check", "--allow-c", text=SCALE.replace("int out = 0;", "int out = nothing;"))
    assert done.returncode == NOT_DONE and "scale.jdf:5:" in done.stderr and "nothing" in done.stderr, done.stderr
    done = file("check", "--allow-c", text=SCALE.replace("int n = -1;", "int n = there_is_none(k);"))
    assert done.returncode == NOT_DONE and "scale.jdf:15:" in done.stderr and "there_is_none" in done.stderr, done.stderr
    done = file("run", "--allow-c", text=SCALE.replace("double *a = A;", "double *a = B;"))
    assert done.returncode == NOT_DONE and "scale.jdf:25:" in done.stderr, done.stderr
    done = file("check", "--allow-c", text=SCALE.replace("static int log2_of(int n) {", "int log2_of(int n); static int f(int n) {"))
    assert done.returncode == NOT_DONE and "undefined symbol: log2_of" in done.stderr, done.stderr


def test_missing_values_for_c_are_named(file, fairlead, no_rest):
    (fairlead.folder / "scale.jdf").write_text(SCALE.replace("log2_of(count)", "log2_of(descA->mt)"))
    done = fairlead("jdf", "check", "scale.jdf", "--set", "scale=2", "--set", "descA->mt=3", "--allow-c")
    assert done.returncode == NOT_DONE and "give --matrix descA=M,N,MB,NB" in done.stderr, done.stderr
    text = SCALE.replace("scale [type = double]", "scale [type = double]\ntree [type = \"struct tree *\"]\nleaves [type = int]")
    done = file("check", "--allow-c", text=text.replace("int t = k;", "int t = leaves;").replace("; half(twice)", "; twice"))
    assert done.returncode == 0, done.stderr  # a local that only bodies need
    done = file("check", "--allow-c", text=text.replace("int n = -1;", "int n = leaves;"))
    assert done.returncode == NOT_DONE and "leaves has no value: give --set leaves=..." in done.stderr, done.stderr
    done = file("check", "--allow-c", text=text.replace("int n = -1;", "int n = tree != NULL;"))
    assert done.returncode == NOT_DONE and "tree is a pointer, which only a program can set" in done.stderr, done.stderr


def test_compilers(file, monkeypatch, no_rest, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    done = file("check", "--allow-c")
    assert done.returncode == NOT_DONE and '"no-such-compiler" cannot be started' in done.stderr and "CC" in done.stderr
    monkeypatch.setenv("CC", "cc -DLAST_IS_GIVEN")
    text = SCALE.replace("#define LAST", "#ifndef LAST_IS_GIVEN\n#error CC has no arguments\n#endif\n#define LAST")
    assert file("check", "--allow-c", text=text).returncode == 0


@pytest.mark.parametrize("signals", [1, 2])
def test_interrupted_while_it_compiles(command, fairlead, no_rest, monkeypatch, signals):
    """With a compiler that never ends: one signal ends it, and a second one does not wait for that."""
    slow = fairlead.folder / "slow"
    slow.write_text("#!/bin/sh\n" + ("trap 'echo > signalled' TERM\n" if signals == 2 else "") +
                    "echo $$ > started\nwhile :; do sleep 0.1; done\n")
    slow.chmod(0o755)
    (fairlead.folder / "scale.jdf").write_text(SCALE)
    process = subprocess.Popen([command, "jdf", "check", "scale.jdf", "--matrix", "descA=203,20,20,20", "--set", "scale=2",
                                "--allow-c"], cwd=fairlead.folder, env={**os.environ, "CC": str(slow)}, stderr=subprocess.PIPE,
                               text=True)

    def wait_for(file):
        began = time.monotonic()
        while not (fairlead.folder / file).exists() or not (fairlead.folder / file).read_text():
            assert process.poll() is None and time.monotonic() - began < 60
            time.sleep(0.01)

    wait_for("started")
    process.send_signal(signal.SIGINT)
    if signals == 2:
        wait_for("signalled")  # or both of them would count as one
        process.send_signal(signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT
    if signals == 2:
        os.killpg(int((fairlead.folder / "started").read_text()), signal.SIGKILL)


KERNELS = pathlib.Path(__file__).resolve().parents[1] / "compiled_jdf/kernels.jdf"
M, N, SHORT, SIDE, COUNT = 13, 11, 9, 16, 23


@pytest.mark.parametrize("dtype", [numpy.float64, numpy.float32])
def test_every_kernel_of_the_headers(fairlead, no_rest, dtype):
    """All that bodies of DPLASMA find in Fairlead's compatibility headers, each compared with NumPy."""
    random = numpy.random.default_rng(5)
    a, b, c = (random.uniform(-1, 1, (M, SIDE * COUNT)).astype(dtype) for _ in range(3))

    def tile(matrix, k):
        return matrix[:, SIDE * k:SIDE * (k + 1)]

    for k in (0, 1):
        tile(a, k)[:N, :N] = (lambda x: x @ x.T + N * numpy.eye(N))(tile(a, k)[:N, :N])
    for k in (3, 4, 13):
        tile(a, k)[:M, :M] += N * numpy.eye(M)
    for k in (14, 17, 19):
        tile(b, k)[:] = tile(a, k)
    for name, matrix in (("A", a), ("B", b), ("C", c)):
        numpy.save(fairlead.folder / f"{name}.npy", matrix)
    text = KERNELS.read_text()
    if dtype == numpy.float32:
        text = text.replace("CORE_d", "CORE_s").replace("FLOPS_D", "FLOPS_S").replace("typedef double", "typedef float")
    (fairlead.folder / "kernels.jdf").write_text(text)
    files = [word for name in "ABC" for word in ("--matrix", f"{name}={name}.npy", "-o", f"{name}={name}_out.npy")]
    done = fairlead("jdf", "run", "kernels.jdf", *files, "--tile", SIDE, "--allow-c", "--quiet", "--workers", 2, timeout=300)
    assert done.returncode == 0, done.stderr
    outs = [numpy.load(fairlead.folder / f"{name}_out.npy").astype(numpy.float64) for name in "ABC"]

    def before(k):
        return [tile(matrix, k).astype(numpy.float64) for matrix in (a, b, c)]

    def after(k):
        return [tile(matrix, k) for matrix in outs]

    def same(got, wanted):
        assert numpy.abs(got - wanted).max() <= 200 * numpy.finfo(dtype).eps * max(1, numpy.abs(wanted).max())

    low, up = numpy.tril, numpy.triu
    x, out = before(0)[0], after(0)[0]
    same(low(out[:N, :N]), numpy.linalg.cholesky(x[:N, :N]))
    x, out = before(1)[0], after(1)[0]
    same(up(out[:N, :N]), numpy.linalg.cholesky(x[:N, :N]).T)
    x, out = before(2)[0], after(2)[0]
    same(low(out[:N, :N]), low(low(x[:N, :N]).T @ low(x[:N, :N])))
    x, out = before(3)[0], after(3)[0]
    same(up(out[:N, :N]) @ up(x[:N, :N]), numpy.eye(N))
    (x, y, _), out = before(4), after(4)[1]
    same(out[:, :N] @ up(x[:N, :N]).T, 2 * y[:, :N])
    (x, y, _), out = before(5), after(5)[1]
    same(out[:, :N], 2 * (low(x[:, :M], -1) + numpy.eye(M)) @ y[:, :N])
    (x, y, z), out = before(6), after(6)[2]
    same(low(out[:, :M]), low(2 * x[:, :N] @ x[:, :N].T - 0.5 * z[:, :M]))
    same(up(out[:, :M], 1), up(z[:, :M], 1))
    (x, y, z), out = before(7), after(7)[2]
    same(up(out[:N, :N]), up(2 * x[:, :N].T @ x[:, :N] - 0.5 * z[:N, :N]))
    (x, y, z), out = before(8), after(8)[2]
    product = x[:, :N] @ y[:, :N].T
    same(low(out[:, :M]), low(2 * (product + product.T) - 0.5 * z[:, :M]))
    (x, y, z), out = before(9), after(9)[2]
    same(out[:, :N], 2 * (low(x[:, :M]) + low(x[:, :M], -1).T) @ y[:, :N] - 0.5 * z[:, :N])
    (x, y, z), out = before(10), after(10)[2]
    same(out[:, :M], 2 * x[:, :N] @ y[:, :N].T - 0.5 * z[:, :M])
    (x, y, z), out = before(11), after(11)[2]
    same(out[:, :N], x[:, :N])
    same(out[:, N:], z[:, N:])  # a body writes no further than it says
    x, out = before(12)[0], after(12)[0]
    same(out[:, :N], low(x[:, :N], -1) + up(numpy.full((M, N), 3.0), 1) + numpy.vstack([4 * numpy.eye(N), numpy.zeros((M - N, N))]))
    x, out = before(13)[0], after(13)[0]
    same((low(out[:, :N], -1) + numpy.eye(M, N)) @ up(out[:N, :N]), x[:, :N])
    x, (r, q_b, _) = before(14)[0], after(14)
    same(up(r[:N, :N]).T @ up(r[:N, :N]), x[:, :N].T @ x[:, :N])
    same(q_b[:, :N], numpy.vstack([up(r[:N, :N]), numpy.zeros((M - N, N))]))
    (x, y, _), (r, below, applied) = before(15), after(15)
    same(up(r[:N, :N]).T @ up(r[:N, :N]), up(x[:N, :N]).T @ up(x[:N, :N]) + y[:, :N].T @ y[:, :N])
    same(applied[:N, :N], up(r[:N, :N]))
    same(below[:, :N], numpy.zeros((M, N)))
    x, (lu, eliminated, _) = before(17)[0], after(17)
    same(eliminated[:N, :N], up(lu[:N, :N]))
    same(abs(numpy.prod(numpy.diag(lu)[:N])), abs(numpy.linalg.det(x[:N, :N])))  # rows were exchanged, and no more
    assert numpy.abs(low(lu[:N, :N], -1)).max() <= 1
    (x, _, _), (u, below, applied) = before(18), after(18)
    same(applied[:N, :N], up(u[:N, :N]))
    same(below[:, :N], numpy.zeros((M, N)))
    same(low(u[:N, :N], -1), low(x[:N, :N], -1))  # the part below U belongs to another matrix
    x, (l, b_q, _) = before(19)[0], after(19)
    same(low(l[:N, :N]) @ low(l[:N, :N]).T, x[:N, :M] @ x[:N, :M].T)
    same(b_q[:N, :M], numpy.hstack([low(l[:N, :N]), numpy.zeros((N, M - N))]))
    (x, y, _), (l, right, applied) = before(20), after(20)
    same(low(l[:N, :N]) @ low(l[:N, :N]).T, low(x[:N, :N]) @ low(x[:N, :N]).T + y[:N, :M] @ y[:N, :M].T)
    same(applied[:N, :N], low(l[:N, :N]))
    same(right[:N, :M], numpy.zeros((N, M)))
    (x, y, _), (r, below, applied) = before(21), after(21)
    same(up(r[:N, :N]).T @ up(r[:N, :N]), up(x[:N, :N]).T @ up(x[:N, :N]) + up(y[:SHORT, :N]).T @ up(y[:SHORT, :N]))
    same(applied[:N, :N], up(r[:N, :N]))
    same(below[:SHORT, :N], low(y[:SHORT, :N], -1))  # the part below the triangle belongs to another matrix
    (x, y, _), (l, right, applied) = before(22), after(22)
    same(low(l[:N, :N]) @ low(l[:N, :N]).T, low(x[:N, :N]) @ low(x[:N, :N]).T + low(y[:N, :SHORT]) @ low(y[:N, :SHORT]).T)
    same(applied[:N, :N], low(l[:N, :N]))
    same(right[:N, :SHORT], up(y[:N, :SHORT], 1))
    helpers, flops, _ = after(16)
    same(helpers[:8, 0], [28, 43, 23, 13 + 1600, 16 + 100 * COUNT, -1, ord("U") + 1000 * ord("T"), 1])
    same(flops[:12, 0], [48, 36, 24, 39, 12, 18, 14, 11, 14, 45, 90, 216])


@pytest.mark.parametrize("seed", range(3))
def test_the_next_run_removes_files_of_a_killed_one(command, fairlead, no_rest, seed):
    """Killed at random times, between the first folder and the last answer; the folder of a live run stays."""
    (fairlead.folder / "scale.jdf").write_text(SCALE)
    words = ["jdf", "check", "scale.jdf", "--matrix", "descA=203,20,20,20", "--set", "scale=2", "--allow-c"]
    slow = fairlead.folder / "slow"
    slow.write_text("#!/bin/sh\necho $$ > started\nexec sleep 60\n")
    slow.chmod(0o755)
    live = subprocess.Popen([command, *words], cwd=fairlead.folder, env={**os.environ, "CC": str(slow)}, stderr=subprocess.PIPE)
    began = time.monotonic()
    while not (fairlead.folder / "started").exists() or not (fairlead.folder / "started").read_text():
        assert live.poll() is None and time.monotonic() - began < 60
        time.sleep(0.01)
    folders = set(no_rest.iterdir())
    assert len(folders) == 1
    own = no_rest / "fairlead-compiler-paper"  # a user's own directory with such a name
    own.mkdir()
    (own / "thesis.tex").write_text("years of work")
    folders.add(own)
    random = numpy.random.default_rng(seed)
    for _ in range(4):
        process = subprocess.Popen([command, *words], cwd=fairlead.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        process.wait(60)
    (no_rest / "fairlead-new-compiler-abcdef").mkdir()  # as one that was killed before its folder had its name
    began = time.monotonic()
    while True:  # a compiler that goes on by itself may write until it ends
        assert fairlead(*words).returncode == 0
        if set(no_rest.iterdir()) == folders or time.monotonic() - began > 20:
            break
    assert set(no_rest.iterdir()) == folders  # the live one's, and the user's
    (own / "thesis.tex").unlink()
    own.rmdir()
    os.kill(int((fairlead.folder / "started").read_text()), signal.SIGKILL)
    assert live.wait(60) == NOT_DONE


# As current files of DPLASMA: one matrix with two names, of which C sets the hidden one; types in C that are a whole tile; the header
# and the epilogue for PaRSEC's compiler, and names of PLASMA.
TWO_NAMES = """
extern "C" %{
#include "dplasmajdf.h"
#include "dplasmajdf_lapack_dtt.h"
#include "two.h"
#include "other.h"
#if PLASMA_VERSION_MAJOR < 2 || defined(printlog) == 0
#error "no PLASMA"
#endif
void dpotrf_(char *uplo, int *n, double *a, int *lda, int *info, size_t length_of_uplo); /* as some lapack.h */
static int last_norm(void) { return PlasmaMaxNorm == 177 && dplasmaInfNorm == PlasmaInfNorm ? PlasmaRowwise : 0; }
%}
%option termdet = "local"
ddescA [type = "dplasma_data_collection_t*"]
descA  [type = "parsec_tiled_matrix_t*" hidden = on default = "((dplasma_data_collection_t*)ddescA)->dc_original" aligned = ddescA]
ADD(m)
  m = 0 .. descA->mt-1
  last = %{ return last_norm(); %}
  : ddescA(m, 0)
  RW A <- ddescA(m, 0) [type = %{ return ADTT_READ(ddescA, loc, DEFAULT, TILED); %}]
       -> A TWICE(m)   [type = %{ return ADTT_CP(_f_A, ddescA, loc, DEFAULT); %}]
BODY
{
  printlog("ADD(%d) of %d, %s\\n", m, evaluated(m), there_is_none);
  double *a = A;
  for (int j = 0; j < CLEAN_NB(descA, 0); ++j)
    for (int i = 0; i < CLEAN_MB(descA, m); ++i) a[i + j * LDA(ddescA, A)] += last;
}
END
TWICE(m)
  m = 0 .. descA->mt-1
  : descA(m, 0)
  RW A <- A ADD(m)     [type = %{ return ADTT_CP(_f_A, ddescA, loc, DEFAULT); %}]
       -> ddescA(m, 0) [type = %{ return ADTT_READ(ddescA, loc, DEFAULT, TILED); %}]
BODY
{
  double *a = A;
  for (int j = 0; j < CLEAN_NB(descA, 0); ++j)
    for (int i = 0; i < CLEAN_MB(descA, m); ++i) a[i + j * descA->mb] *= 2;
}
END
extern "C" %{
parsec_taskpool_t *two_New(parsec_tiled_matrix_t *A)
{
  parsec_two_taskpool_t *tp = parsec_two_new(A);
  tp->arenas_datatypes[PARSEC_two_DEFAULT_ADT_IDX] = adt;
  return (parsec_taskpool_t *)tp;
}
int main(int argc, char **argv) { return two_New(0) != 0; }
%}
"""


@pytest.mark.parametrize("options", [(), ("--ranks", 3)])
def test_a_file_in_the_style_of_dplasma(fairlead, no_rest, options):
    a = numpy.random.default_rng(2).standard_normal((23, 7))
    numpy.save(fairlead.folder / "A.npy", a)
    (fairlead.folder / "two.jdf").write_text(TWO_NAMES)
    (fairlead.folder / "other.jdf").write_text("")  # of whose header PaRSEC's compiler makes
    done = fairlead("jdf", "run", "two.jdf", "--allow-c", "--matrix", "ddescA=A.npy", "--tile", 8, "-o", "ddescA=out.npy", "--progress",
                    "none", *options, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "note: the C behind the task classes is left out" in done.stderr, done.stderr
    assert (numpy.load(fairlead.folder / "out.npy") == 2 * (a + 402)).all()
    done = fairlead("jdf", "check", "two.jdf", "--allow-c", "--matrix", "ddescA=23,7,8,8")
    assert done.returncode == 0 and "6 tasks, 3 edges, no errors" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count('"termdet" has no effect here') == 1, done.stderr
    done = fairlead("jdf", "check", "two.jdf", "--allow-c", "--matrix", "descA=23,7,8,8")  # that is the same matrix
    assert done.returncode == 0 and "6 tasks, 3 edges, no errors" in done.stdout, done.stdout + done.stderr
    done = fairlead("jdf", "check", "two.jdf", "--set", "descA->mt=3")
    assert done.returncode == 0 and "6 tasks, 3 edges, no errors" in done.stdout, done.stdout + done.stderr
    done = fairlead("jdf", "compile", "two.jdf", "-o", "two.cpp")
    assert done.returncode == 0 and "is left out" in done.stderr, done.stderr
    assert "two_New" not in (fairlead.folder / "two_bodies.c").read_text()

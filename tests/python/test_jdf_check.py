"""What `fairlead jdf check` and `run` find in data and numbers: places outside a matrix, NEW that is read before it is written, numbers that
do not fit the type of what they are given to, unused results; and files without errors."""

import random
import re

import pytest

numpy = pytest.importorskip("numpy")

NOT_DONE, NOT_ASKED = 1, 2
# One place each: where the task runs, its input, its output.
PLACES = """
descA [ type = "tiled_matrix *" ]
MOVE(k)
  k = 0 .. 0
  : descA({runs})
  RW A <- descA({takes})
       -> descA({goes})
BODY
  tile_dscale(1, 1, 2.0, A, descA->mb);
END
"""
LINES = {"runs": 5, "takes": 6, "goes": 7}


@pytest.fixture
def jdf(fairlead):
    def jdf(action, text, *options, name="it.jdf"):
        (fairlead.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return fairlead("jdf", action, name, *options, timeout=120)

    return jdf


def places(drawn, rows, columns):
    """Three places, of which some are outside; which are."""
    text, outside = {}, set()
    for which in LINES:
        i, j = drawn.randrange(-1, rows + 1), drawn.randrange(-1, columns + 1)
        if not (0 <= i < rows and 0 <= j < columns):
            outside.add(which)
        text[which] = f"{i}, {j}"
    return PLACES.format(**text), outside


@pytest.mark.parametrize("seed", range(12))
def test_data_outside_the_matrix(jdf, seed):
    """Tiles are counted here, by rounding up."""
    drawn = random.Random(seed)
    m, n, mb, nb = (drawn.randrange(1, 20) for _ in range(4))
    rows, columns = -(-m // mb), -(-n // nb)
    text, outside = places(drawn, rows, columns)
    given = (["--matrix", f"descA={m},{n},{mb},{nb}"] if seed % 2 else
             ["--set", f"descA->mt={rows}", "--set", f"descA->nt={columns}"])
    if not seed % 2:
        text = text.replace("k = 0 .. 0", "k = 0 .. descA->mt*0 + descA->nt*0")
    done = jdf("check", text, *given)
    assert (done.returncode == NOT_DONE) == bool(outside), done.stdout + done.stderr
    assert done.stderr.count(f"and descA has {rows} x {columns} tiles") == len(outside), done.stderr
    for which in outside:
        assert f"it.jdf:{LINES[which]}:" in done.stderr, done.stderr


@pytest.mark.parametrize("which, options", [(which, []) for which in LINES] +
                         [(which, ["--no-check", *ranks]) for which in ("takes", "goes") for ranks in ([], ["--ranks", 2])])
def test_run_names_line_and_column_of_data_outside(jdf, which, options):
    text = PLACES.format(**{**dict.fromkeys(LINES, "0, 0"), which: "0, 9"})
    column = text.splitlines()[LINES[which] - 1].index("descA") + 1
    done = jdf("run", text, "--matrix", "descA=4,4,4,4", *options)
    assert done.returncode == NOT_DONE and f"it.jdf:{LINES[which]}:{column}" in done.stderr, done.stderr


@pytest.mark.parametrize("options", [[], ["--no-check"], ["--no-check", "--ranks", 2]], ids=["checked", "unchecked", "ranks"])
@pytest.mark.parametrize("old, new, checked, unchecked", [
    ("k = 0 .. 0", "k = 0 .. 1 / i", ":4:26", ":3:1"),
    ("k = 0 .. 0", "k = 0 .. 4 .. i", ":4:29", ":3:1"),
    ("<- descA(0, 0)", "<- descA(i / i, 0)", ":6:19", ":"),
], ids=["division", "step", "division in a place"])
def test_run_names_line_and_column_of_wrong_expressions(jdf, options, old, new, checked, unchecked):
    """Without a check, of a range the task class, and of others the file."""
    text = PLACES.format(**dict.fromkeys(LINES, "0, 0")).replace("MOVE(k)", "MOVE(i, k)").replace("  k = 0 .. 0", "  i = 0 .. 0  k = 0 .. 0")
    done = jdf("run", text.replace(old, new), "--matrix", "descA=4,4,4,4", *options)
    assert done.returncode == NOT_DONE and f"it.jdf{unchecked if options else checked}" in done.stderr, done.stderr


@pytest.mark.parametrize("body, options, said", [
    ("  tile_dscale(5, 4, 2.0, A, descA->mb);", [], ":9:"), ("{ return PARSEC_HOOK_RETURN_ERROR; }", ["--allow-c"], ":8:"),
    ("{ return 7; }", ["--allow-c"], ":8:")])
def test_run_names_the_line_of_a_body_that_fails(jdf, body, options, said):
    text = PLACES.format(**dict.fromkeys(LINES, "0, 0")).replace("  tile_dscale(1, 1, 2.0, A, descA->mb);", body)
    text = text if not options else 'extern "C" %{ int unused; %}\n' + text[1:].replace("tiled_matrix *", "tiled_matrix_desc_t *")
    done = jdf("run", text, "--matrix", "descA=4,4,4,4", *options)
    assert done.returncode == NOT_DONE and f"it.jdf{said}" in done.stderr, done.stderr


NEW = """
descA [ type = "tiled_matrix *" ]
MAKE(k)
  k = 0 .. 0
  : descA(0, 0)
  {access} N <- NEW
       -> N USE(k)
BODY
{body}
END
USE(k)
  k = 0 .. 0
  : descA(0, 0)
  {use} N <- N MAKE(k)
  RW A <- descA(0, 0)
       -> descA(0, 0)
BODY
  tile_dlacpy('A', descA->mb, descA->nb, N, descA->mb, A, descA->mb);
END
"""
WRITES = "  tile_dlaset('A', descA->mb, descA->nb, 1.0, 1.0, N, descA->mb);"


@pytest.mark.parametrize("access, body, use, wrong", [("RW", WRITES, "READ", False), ("RW", "{ /* nothing */ }", "READ", True),
                                                      ("READ", "", "READ", True), ("RW", "", "RW", False), ("WRITE", WRITES, "READ", False)])
def test_new_is_read_before_it_is_written(jdf, access, body, use, wrong):
    done = jdf("check", NEW.format(access=access, body=body, use=use), "--matrix", "descA=4,4,4,4")
    assert (done.returncode == NOT_DONE) == wrong, done.stdout + done.stderr
    assert ("it.jdf:14:" in done.stderr and "(it.jdf:6:" in done.stderr and "which no task has written" in done.stderr) == wrong, done.stderr


NUMBERS = """
N [ type = {type} ]
descA [ type = "tiled_matrix *" ]
T(k)
  k = 0 .. (N > 0) ? 0 : 1
  : descA(0, 0)
  RW A <- (k == 0) ? descA(0, 0) : NULL
       -> (k == 0) ? descA(0, 0)
BODY
END
"""
RANGES = {"int": (-2**31, 2**31 - 1), "int32_t": (-2**31, 2**31 - 1), "short": (-2**15, 2**15 - 1), "unsigned": (0, 2**32 - 1),
          "size_t": (0, 2**64 - 1), "int64_t": (-2**63, 2**63 - 1)}


@pytest.mark.parametrize("of", RANGES)
def test_numbers_that_do_not_fit_their_type(jdf, of):
    least, most = RANGES[of]
    for value in {least, most, most + 1, max(least - 1, -2**63), 0, -1}:
        if value >= 2**64:
            continue  # no number of C
        written = f"({value + 1}) - 1" if value == -2**63 else f"{value}u" if value >= 2**63 else str(value)
        done = jdf("check", NUMBERS.format(type=of), "--matrix", "descA=4,4,4,4", "--set", f"N={written}")
        fits = least <= value <= most
        assert (done.returncode == 0) == fits, (value, done.stdout + done.stderr)
        assert fits or f"{least} to {most}" in done.stderr, (value, done.stderr)


def test_defaults_and_sizes_that_do_not_fit(jdf):
    text = NUMBERS.format(type="int hidden = on default = 2147483648")
    for action, more in (("check", []), ("compile", ["-o", "it.cpp"]), ("run", ["--matrix", "descA=4,4,4,4"])):
        done = jdf(action, text, *more)
        assert done.returncode == NOT_DONE and "it.jdf:2:" in done.stderr and "2147483648 does not fit N" in done.stderr, done.stderr
    _, own, matrix, rest = NUMBERS.split("\n", 3)  # a default may name what stands before it
    text = "\n".join(["", matrix, own, rest]).format(type='int hidden = on default = "descA->mb * 1L * descA->mb"')
    done = jdf("check", text, "--matrix", "descA=90000,90000,90000,90000")
    assert done.returncode == NOT_DONE and "8100000000 does not fit N" in done.stderr, done.stderr
    text = NUMBERS.format(type="int").replace("N > 0", "descA->bsiz > N")
    done = jdf("check", text, "--matrix", "descA=90000,90000,90000,90000", "--set", "N=1")
    assert done.returncode == NOT_DONE and "it.jdf:5:" in done.stderr and "8100000000" in done.stderr, done.stderr
    for size in ("2147483648", "9" * 30):
        for action in ("check", "run"):
            done = jdf(action, NUMBERS.format(type="int"), "--set", "N=1", "--matrix", f"descA={size},4,4,4")
            assert done.returncode == NOT_ASKED and "sizes are" in done.stderr, done.stderr


def test_a_byte_order_mark_is_ignored(jdf):
    text = b"\xef\xbb\xbf" + NUMBERS.format(type="int").encode()
    assert jdf("check", text, "--set", "N=1", "--matrix", "descA=4,4,4,4").returncode == 0
    done = jdf("check", b"\xef\xbb\xbfN [ type = int ]\nT(k)\n  k = 0 .. M\nBODY\nEND\n")
    assert "it.jdf:3:12: error" in done.stderr, done.stderr


def test_a_read_value_may_return_to_its_datum(jdf):
    """To its own datum: nothing is written, so others may read it meanwhile. To another one, it is written."""
    text = """
descA [ type = "tiled_matrix *" ]
BACK(k)
  k = 0 .. 3
  : descA(0, 0)
  READ A <- descA(0, 0)
         -> (k == 0) ? descA({place})
BODY
END
LOOK(k)
  k = 0 .. 0
  : descA(1, 0)
  READ A <- descA(1, 0)
BODY
END
"""
    done = jdf("check", text.replace("{place}", "0, 0"), "--matrix", "descA=8,4,4,4")
    assert done.returncode == 0 and "no errors" in done.stdout, done.stderr
    done = jdf("check", text.replace("{place}", "1, 0"), "--matrix", "descA=8,4,4,4")
    assert done.returncode == NOT_DONE and "read and written in no order" in done.stderr, done.stderr


def test_unused_results_are_warned_about(jdf):
    text = PLACES.format(**dict.fromkeys(LINES, "0, 0")).replace("-> descA(0, 0)", "-> (k > 0) ? descA(0, 0)")
    done = jdf("check", text, "--matrix", "descA=4,4,4,4")
    assert done.returncode == 0 and "it.jdf:6:" in done.stderr and "no output takes it" in done.stderr, done.stderr


def test_check_knows_types(jdf):
    """Two tasks that change one value may change different parts of it, not the same."""
    text = """
descA [ type = "tiled_matrix *" ]
GIVE(k)
  k = 0 .. 0
  : descA(0, 0)
  RW A <- descA(0, 0)
       -> A ONE(k) [type = MINE]
       -> A TWO(k) [type = lower]
BODY
END
"""
    for name, of in (("ONE", "MINE"), ("TWO", "lower")):
        text += f"""{name}(k)
  k = 0 .. 0
  : descA(0, 0)
  RW A <- A GIVE(k) [type = {of}]
       -> descA(0, 0) [type = {of}]
BODY
  tile_dscale(1, 1, 2.0, A, descA->mb);
END
"""
    given = ["--matrix", "descA=4,4,4,4"]
    assert jdf("check", text, *given, "--type", "MINE=strictly_upper").returncode == 0
    done = jdf("check", text, *given, "--type", "OTHER=upper")
    assert done.returncode == NOT_ASKED and "no dependency of it.jdf has a type of that name" in done.stderr, done.stderr


def test_options_without_effect_are_warned_about_once(jdf):
    text = """%option dynamic = on
%option dynamic = off
%option termdet = "local"
descA [ type = "tiled_matrix *" ]
""" + "".join(f"""
T{n}(k) [ startup_fn = begin{n} dynamic = yes termdet = "local" ]
  k = 0 .. 0
  : descA({n}, 0)
  RW A <- descA({n}, 0)
       -> descA({n}, 0)
BODY [ evaluate = never ]
END
""" for n in range(3))
    done = jdf("check", text, "--matrix", "descA=12,4,4,4")
    assert done.returncode == 0, done.stderr
    for name, place in (("dynamic", "1:9"), ("termdet", "3:9"), ("startup_fn", "6:9"), ("evaluate", "11:8")):
        assert done.stderr.count(f'"{name}" has no effect here') == 1 and f'it.jdf:{place}: warning: "{name}" has' in done.stderr, done.stderr

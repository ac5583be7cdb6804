"""Types of dependencies in `fairlead jdf run`, compared with NumPy: a task that changes a value given with a `type` changes a copy of that part,
on one rank as over several, in core and out of core; and which types are refused, and where."""

import pytest

numpy = pytest.importorskip("numpy")

NOT_DONE = 1
ROWS, COLUMNS, TILE = 11, 9, 4
# Each tile is given on, cleared whole, and goes home: {read}, {given}, {taken}, {kept} and {home} are where types may stand.
CLEAR = """
descA [ type = "tiled_matrix *" ]
GIVE(m, n)
  m = 0 .. descA->mt-1
  n = 0 .. descA->nt-1
  : descA(m, n)
  RW A <- descA(m, n) {read}
       -> A CLEAR(m, n) {given}
BODY
END
CLEAR(m, n)
  m = 0 .. descA->mt-1
  n = 0 .. descA->nt-1
  rows = m == descA->mt-1 ? descA->m - m * descA->mb : descA->mb
  columns = n == descA->nt-1 ? descA->n - n * descA->nb : descA->nb
  : descA({row}, n)
  RW A <- A GIVE(m, n) {taken}
       -> A KEEP(m, n) {kept}
BODY
  tile_dlaset('A', rows, columns, 0.0, 0.0, A, descA->mb);
END
KEEP(m, n)
  m = 0 .. descA->mt-1
  n = 0 .. descA->nt-1
  : descA(m, n)
  RW A <- A CLEAR(m, n)
       -> descA(m, n) {home}
BODY
END
"""
WHERE = ("read", "given", "taken", "kept", "home")
LOWER = "[type = lower]"


def matrix():
    return numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS))


def cleared(a, part):
    """Tile by tile, what `part` says of an element's row and column in its tile is 0."""
    out = a.copy()
    for i in range(ROWS):
        for j in range(COLUMNS):
            if part(i % TILE, j % TILE):
                out[i, j] = 0
    return out


def in_lower(i, j):
    return i >= j


def text_with(row="m", **types):
    return CLEAR.format(row=row, **{where: types.get(where, "") for where in WHERE})


@pytest.fixture
def run(fairlead):
    def run(text, *options, name="it.jdf"):
        (fairlead.folder / name).write_text(text)
        numpy.save(fairlead.folder / "A.npy", matrix())
        (fairlead.folder / "out.npy").unlink(missing_ok=True)
        done = fairlead("jdf", "run", name, "--matrix", "A=A.npy", "--tile", TILE, "-o", "A=out.npy", "--progress", "none", *options,
                        timeout=120)
        done.result = numpy.load(fairlead.folder / "out.npy") if (fairlead.folder / "out.npy").exists() else None
        return done

    return run


def expect(done, expected):
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.result == expected).all(), numpy.argwhere(done.result != expected)[:5]


@pytest.mark.parametrize("types, part", [
    ({"given": LOWER, "home": LOWER}, in_lower),
    ({"taken": LOWER, "home": LOWER}, in_lower),
    ({"given": LOWER, "taken": LOWER, "home": LOWER}, in_lower),
    ({"given": LOWER, "taken": LOWER, "kept": LOWER, "home": LOWER}, in_lower),  # of the same type there is no second copy
    ({"read": LOWER, "home": LOWER}, in_lower),
    ({"read": LOWER, "given": LOWER, "home": LOWER}, in_lower),
    ({"kept": LOWER, "home": LOWER}, in_lower),  # copied only after it was cleared
    ({"given": LOWER}, in_lower),  # no more than there is goes home
    ({"given": "[type = strictly_upper]", "home": "[type = strictly_upper]"}, lambda i, j: i < j),
    ({"given": "[type = FULL]", "home": "[type = DEFAULT]"}, lambda i, j: True),
    ({"given": "[type_remote = lower]", "home": LOWER}, lambda i, j: True),  # that is no copy, on one rank
    ({}, lambda i, j: True)])
def test_a_value_of_a_type_is_a_copy(run, types, part):
    whole = "kept" in types and "given" not in types  # the tile itself was cleared before
    expect(run(text_with(**types)), cleared(matrix(), (lambda i, j: True) if whole else part))


@pytest.mark.parametrize("where", ["given", "taken", "read"])
@pytest.mark.parametrize("options", [["--ranks", 2], ["--ranks", 4, "--grid", "2x2"], ["--workers", 2, "--memory", "2304KiB"]])
def test_a_copy_of_a_type_over_ranks_and_out_of_core(run, where, options):
    text = text_with(row="(m + 1) % descA->mt", home=LOWER, **{where: LOWER})
    if where == "read":
        text = text.replace("-> A CLEAR(m, n)", "-> A CLEAR(m, n) [type = lower]")
    expect(run(text, *options), cleared(matrix(), in_lower))


def test_others_still_have_the_original(run):
    """SUM adds the whole original to itself after CLEAR has cleared its copy of the lower part."""
    text = text_with(given=LOWER).replace("-> A CLEAR(m, n) [type = lower]", "-> A CLEAR(m, n) [type = lower]\n       -> A SUM(m, n)")
    text = text.replace("  RW A <- A CLEAR(m, n)\n       -> descA(m, n) ", "  READ A <- A CLEAR(m, n)\n  CTL c -> c SUM(m, n)")
    text += """SUM(m, n)
  m = 0 .. descA->mt-1
  n = 0 .. descA->nt-1
  rows = m == descA->mt-1 ? descA->m - m * descA->mb : descA->mb
  columns = n == descA->nt-1 ? descA->n - n * descA->nb : descA->nb
  : descA(m, n)
  RW A <- A GIVE(m, n)
       -> descA(m, n)
  CTL c <- c KEEP(m, n)
BODY
  tile_dscale(rows, columns, 2.0, A, descA->mb);
END
"""
    expect(run(text), 2 * matrix())


def test_an_unknown_type_is_refused_with_its_line(run):
    done = run(text_with(given="[type = MINE]", home="[type = MINE]"))
    assert done.returncode == NOT_DONE and done.result is None
    assert "it.jdf:8:26" in done.stderr and "--type MINE=lower" in done.stderr, done.stderr
    expect(run(text_with(given="[type = MINE]", home="[type = MINE]"), "--type", "MINE=lower"), cleared(matrix(), in_lower))
    expect(run(text_with(given="[type = MINE]", home="[type = MINE]"), "--type", "MINE=full"), cleared(matrix(), lambda i, j: True))


@pytest.mark.parametrize("shape, part", [("DEFAULT", lambda i, j: True), ("LOWER_TILE", in_lower)])
def test_dplasmas_macros_name_types(run, shape, part):
    """A type in C is known where one of the macros for the types of DPLASMA's matrices says which it is."""
    text = text_with(given="[type = %%{ return ADTT_CP(_f_A, descA, loc, %s); %%}]" % shape,
                     home="[type = %%{ return ADTT_READ(descA, loc, %s, TILED); %%} type_data = %%{ return ADTT_READ(descA, loc, %s, LAPACK); %%}]"
                     % (shape, shape))
    options = ["--type", "LOWER_TILE=lower"] if shape != "DEFAULT" else []
    for ranks in ([], ["--ranks", 2]):
        expect(run(text, *options, *ranks), cleared(matrix(), part))

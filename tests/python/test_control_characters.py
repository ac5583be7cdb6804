"""Control characters in names of files, JDF text, headers and titles: no terminal and no page gets one as it is."""

import json
import os
import subprocess

import pytest

numpy = pytest.importorskip("numpy")

# A color by ESC and by U+009B, a bell, a carriage return, a backspace, DEL.
ODD = "a\x1b[31m\x07\r\x08\x7f\u009b31m"
JDF = """descA [ type = "tiled_matrix *" ]
T(k)
  k = 0 .. 0
: descA(0, 0)
RW A <- descA(0, 0)
     -> descA(0, 0)
BODY
END
"""


def obeyed(data):
    """The control characters of a text in UTF-8, and single bytes that old terminals obey."""
    text = data.decode(errors="surrogateescape")
    return {c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" or "\udc80" <= c < "\udca0"}


@pytest.fixture
def shown(command, tmp_path):
    """Runs the command in a folder with a matrix and a graph of odd names; gives the status and what it has printed."""
    numpy.save(tmp_path / f"{ODD}.npy", 3 * numpy.eye(8))
    numpy.save(tmp_path / "b.npy", numpy.ones(8))
    (tmp_path / f"{ODD}.jdf").write_text(JDF)

    def shown(*arguments, **environment):
        done = subprocess.run([command, *arguments], cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, timeout=120)
        assert not obeyed(done.stdout) and not obeyed(done.stderr), (arguments, done)
        return done.returncode, done.stdout + done.stderr

    shown.folder = tmp_path
    return shown


def test_names_of_files(shown):
    status, text = shown("solve", f"{ODD}.npy", "b.npy", "-o", f"{ODD}x.npy", "--json", "run.json", "--report", "run.html", "--report-text", "full")
    assert status == 0, text
    assert numpy.allclose(numpy.load(shown.folder / f"{ODD}x.npy"), 1 / 3)
    assert not obeyed((shown.folder / "run.html").read_bytes())
    json.loads((shown.folder / "run.json").read_text())  # strict
    status, text = shown("jdf", "run", f"{ODD}.jdf", "--matrix", f"descA={ODD}.npy", "--json", "run.json", "--report", "run.html")
    assert status == 0 and not obeyed((shown.folder / "run.html").read_bytes())
    assert shown("jdf", "draw", f"{ODD}.jdf", "--matrix", "descA=4,4,4,4", "-o", "graph.svg")[0] == 0
    assert not obeyed((shown.folder / "graph.svg").read_bytes())


@pytest.mark.parametrize("arguments", [
    ["solve", f"{ODD}.npy", f"{ODD}missing.npy", "-o", "x.npy"],
    ["solve", f"{ODD}.npy", "b.npy", "-o", f"{ODD}/x.npy"],
    ["solve", f"{ODD}.npy", "b.npy", "--method", ODD],
    ["solve", f"{ODD}.npy", "b.npy", f"--{ODD}"],
    ["solve", f"{ODD}.npy", "b.npy", "-o", "x.npy", "--scheduler", f"./{ODD}.so"],
    ["solve", f"{ODD}.npy", "b.npy", "-o", "x.npy", "--devices", ODD],
    ["jdf", "check", f"{ODD}.jdf", "--set", f"{ODD}=3"],
    ["jdf", "run", f"{ODD}.jdf", "--matrix", ODD],
    [ODD], ["help", ODD], ["status", ODD], ["simulate", ODD], ["simulate", "cholesky", "--machine", ODD],
    ["simulate", "--recorded", f"{ODD}.jdf"], ["experiment", "run", ODD], ["replay-log", f"{ODD}.jdf"],
], ids=lambda arguments: " ".join(arguments).replace(ODD, "ODD"))
def test_errors(shown, arguments):
    status, text = shown(*arguments)
    assert status in (1, 2) and b"\\x1b[31m" in text


def test_settings_of_the_environment_and_of_a_file(shown):
    status, text = shown("solve", f"{ODD}.npy", "b.npy", FAIRLEAD_TILE=ODD)
    assert status == 2 and b"\\x1b[31m" in text
    (shown.folder / "odd.toml").write_text(f'tile = "{ODD}"\n')
    status, text = shown("solve", f"{ODD}.npy", "b.npy", "--config", "odd.toml")
    assert status == 2 and b"odd.toml" in text


@pytest.mark.parametrize("old, new", [(b"'<f8'", b"'<f\x1b'"), (b"'descr'", b"'de\x1b\x9br'"), (b"(8, 8)", b"(8\x1b 8)")], ids=["type", "key", "shape"])
def test_headers(shown, old, new):
    data = (shown.folder / f"{ODD}.npy").read_bytes()
    (shown.folder / "h.npy").write_bytes(data[:128].replace(old, new) + data[128:])
    status, text = shown("solve", "h.npy", "b.npy", "-o", "x.npy")
    assert status == 1 and b"h.npy" in text


@pytest.mark.parametrize("old, new", [
    ("k = 0 ..", "k = \x1b[31m0 .."),
    ("RW A <-", "RW A /* \x1b[31m\x07 */ <- descB"),
    ("tiled_matrix *", "\x1b[31m\u009b31m"),
    ("BODY\n", "BODY\n  \x1b[31m(;\n"),
    ("BODY\n", 'BODY [type="\x1b[31m"]\n'),
    ("-> descA(0, 0)", "-> descA(0, 9) // \x1b[31m \u009b31m \x08\x7f"),
    ("-> descA(0, 0)", "-> descA(0, 9) // \r and back"),
    ("RW A", 'extern "C" %{ \x1b[31m %}\nRW A'),
], ids=range(8))
def test_text_of_a_graph(shown, old, new):
    (shown.folder / "odd.jdf").write_text(JDF.replace(old, new), newline="")
    for arguments in (["check"], ["run"], ["run", "--allow-c"]):
        status, text = shown("jdf", arguments[0], "odd.jdf", "--matrix", "descA=4,4,4,4", *arguments[1:])
        assert status in (0, 1) and (status == 0 or b"odd.jdf" in text), text


def test_titles_of_simulated_pages(shown):
    """Names in a flow file are the program's own: codelets, files, data."""
    name = f"{ODD.replace(chr(13), '')} </script><b id=bad>"
    (shown.folder / "run.flow").write_text(
        f"fairlead-flow 1\ncodelet 0 cpu nanoseconds {name}\nfile 0 {name}.cpp\nphase 1\ndatum 0 524288 0 0 0 empty {name}[0,0]\n"
        "task 0 0:12 0 1000 w0\nend 1 1\n", newline="")
    status, text = shown("simulate", "--recorded", "run.flow", "--machine", "summit", "--cores", "2", "--scheduler", "eager,lws", "--report", "run.html",
                         "--json", "run.json", "--csv", "run.csv")
    assert status == 0, text
    page = (shown.folder / "run.html").read_bytes()
    assert not obeyed(page) and b"<b id=bad>" not in page
    json.loads((shown.folder / "run.json").read_text())  # strict

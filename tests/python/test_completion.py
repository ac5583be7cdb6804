"""Completions of shells and the manual page, which are generated from the declarations of the command lines."""

import re
import shutil
import subprocess

import pytest

OPTION = re.compile(r"^  (?:-(\w), )?--(\[no-\])?([a-z][a-z0-9-]*)", re.MULTILINE)


@pytest.fixture(scope="module")
def subcommands(command):
    """For each subcommand of the help, also those of two words, its options as users type them."""
    names = re.findall(r"^  (\w[\w-]*(?: \w+)?)  ", subprocess.check_output([command, "help"], text=True), re.MULTILINE)
    options = {}
    for name in names:
        text = subprocess.check_output([command, *name.split(), "--help-all"], text=True)
        options[name] = {spelling for letter, no, key in OPTION.findall(text)
                         for spelling in [f"--{key}", *([f"-{letter}"] if letter else []), *([f"--no-{key}"] if no else [])]}
    assert len(names) > 15 and all({"--help", "--config"} <= options[name] for name in names)
    return options


@pytest.fixture(scope="module")
def completed(command, tmp_path_factory):
    """The words that bash offers for the last word of a command line."""
    script = tmp_path_factory.mktemp("completion") / "fairlead"
    script.write_text(subprocess.check_output([command, "completion", "bash"], text=True))

    def complete(*words, folder=None):
        program = 'source "$0"; COMP_WORDS=(fairlead "$@"); COMP_CWORD=$#; _fairlead; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", program, script, *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return set(done.stdout.split("\n")) - {""}

    return complete


def test_bash_completes_subcommands_and_every_option(subcommands, completed):
    assert completed("") == {name for name in subcommands if " " not in name} | {"--help", "--version"}
    assert completed("so") == {"solve"} and completed("nothing") == set()
    for name, options in subcommands.items():
        assert completed(*name.split(), "-") == options, name
    assert completed("solve", "--meth") == {"--method"}


def test_bash_completes_values(completed, tmp_path):
    (tmp_path / "A.npy").touch()
    (tmp_path / "spills").mkdir()
    methods = completed("solve", "A.npy", "--method", "")
    assert {"auto", "cholesky", "qr"} <= methods and "=lu-partial" not in methods
    # As bash divides --method=l.
    assert completed("solve", "--method", "=", "l") == {name for name in methods if name.startswith("l")}
    assert {"darts", "eager"} <= completed("bench", "cholesky", "--scheduler", "")
    assert "v100-pcie" in completed("simulate", "cholesky", "--machine", "v")
    assert {"gemm", "cholesky"} <= completed("bench", "")
    assert "summit" in completed("machines", "") and "cholesky" in completed("simulate", "")
    assert completed("solve", "", folder=tmp_path) == {"A.npy", "spills"}
    assert completed("solve", "A.npy", "--disk-directory", "", folder=tmp_path) == {"spills"}
    assert completed("solve", "A.npy", "-o", "A", folder=tmp_path) == {"A.npy"}
    assert completed("solve", "--tile", "", folder=tmp_path) == set()
    assert {"run", "check", "draw"} <= completed("jdf", "") and completed("jdf", "run", "", folder=tmp_path) == {"A.npy", "spills"}


def test_every_shell_and_the_manual_page_have_every_option(command, fairlead, subcommands):
    texts = {shell: subprocess.check_output([command, "completion", shell], text=True) for shell in ("zsh", "fish")}
    page = subprocess.check_output([command, "help", "--man"], text=True)
    for name, options in subcommands.items():
        assert f".SS fairlead {name}\n".replace("-", "\\-") in page
        for option in options:
            assert f"*{option}" in texts["zsh"]
            assert (f" -l {option[2:]} " if option.startswith("--") else f" -s {option[1]} ") in texts["fish"]
            positive = option.replace("--no-", "--")
            key = f"--[no-]{positive[2:]}" if {positive, f"--no-{positive[2:]}"} <= options else option
            assert f"\\fB{key}\\fR".replace("-", "\\-") in page or option in ("--help", "--help-all", "-h"), option
    for shell in (shell for shell in texts if shutil.which(shell)):
        (fairlead.folder / "script").write_text(texts[shell])
        assert subprocess.run([shell, "-n", "script"], cwd=fairlead.folder, capture_output=True).stderr == b""
    # No line begins a request of roff by accident, and none but requests begins with a dot.
    assert set(re.findall(r"^[.'](\w*)", page, re.MULTILINE)) <= {"TH", "SH", "SS", "TP", "PP", "B", "BR", "I"}


def test_another_shell_is_refused(fairlead):
    done = fairlead("completion", "tcsh")
    assert done.returncode == 2 and done.stderr == 'fairlead: unknown shell "tcsh": there are bash, zsh and fish\n'
    assert fairlead("completion").returncode == 2

"""The version of the installed command."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_version_is_that_of_the_build_files(fairlead):
    version = re.search(r"project\(fairlead VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    done = fairlead("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:2] == ["fairlead", version]


def test_version_has_the_commit_of_a_clone(fairlead):
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if git.returncode != 0 or pathlib.Path(git.stdout.strip()).resolve() != ROOT:
        pytest.skip("this is no clone")
    said = re.fullmatch(r"fairlead [\d.]+ \(commit ([0-9a-f]{12})(-dirty)?\)\n", fairlead("--version").stdout)
    assert said
    assert subprocess.run(["git", "-C", ROOT, "cat-file", "-e", said[1] + "^{commit}"]).returncode == 0


def test_a_misspelt_option_is_an_error_that_names_it(fairlead):
    done = fairlead("--versoin")
    assert done.returncode not in (0, 134, 139)  # refused, not crashed
    assert "--versoin" in done.stderr
    assert list(fairlead.folder.iterdir()) == []

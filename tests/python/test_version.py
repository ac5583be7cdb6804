"""The installed command knows which version it is."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_version_is_that_of_the_build_files(fairlead):
    version = re.search(r"project\(fairlead VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    done = fairlead("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[-1] == version


def test_a_misspelt_option_is_an_error_that_names_it(fairlead):
    done = fairlead("--versoin")
    assert done.returncode not in (0, 134, 139)  # refused, not crashed
    assert "--versoin" in done.stderr
    assert list(fairlead.folder.iterdir()) == []

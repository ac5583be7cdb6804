"""The checks of clang-tidy say why they are there; Python files are clean for ruff; text files are as .editorconfig has it."""

import pathlib
import re
import shutil
import subprocess
import unittest

import tree


class Tidy(unittest.TestCase):
    def test_every_check_of_clang_tidy_has_its_reason(self):
        text = tree.read(pathlib.Path(".clang-tidy"))
        reasons, checks = text.split("\nChecks:")
        given = [name for line in reasons.splitlines() if "  " in line
                 for name in re.match(r"# (.*?)  +\w", line)[1].split(", ")]
        self.assertEqual(given, re.findall(r"^  ([a-z][a-z-]+),?$", checks, re.MULTILINE))

    @unittest.skipUnless(shutil.which("ruff"), "ruff is not installed")
    def test_ruff_has_nothing_to_say(self):
        scripts = [str(path) for path in tree.files("scripts")
                   if tree.read(path).startswith("#!/usr/bin/env python3")]
        done = subprocess.run(["ruff", "check", ".", *scripts], cwd=tree.ROOT, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout)

    def test_contributing_names_every_folder(self):
        text = tree.read(pathlib.Path("CONTRIBUTING.md"))
        folders = {path.parts[0] for path in tree.files() if len(path.parts) > 1 and path.parts[0][0] != "."}
        folders |= {path.parts[1] for path in tree.files("src")}
        self.assertEqual([], sorted(folder for folder in folders if not re.search(rf"`{folder}/?`", text)))

    def test_lines_end_where_their_text_ends_and_files_with_a_line(self):
        found = []
        for path in tree.files():
            if path.suffix in (".png", ".gz"):
                continue
            text = (tree.ROOT / path).read_bytes()
            if re.search(rb"[ \t\r]$", text, re.MULTILINE) or text[-1:] not in (b"", b"\n"):
                found.append(str(path))
        self.assertEqual([], found)


if __name__ == "__main__":
    unittest.main()

"""The layout of the C++ files is clang-format's, with the .clang-format of the repository."""

import shutil
import subprocess
import unittest

import tree


class Format(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_clang_format_would_change_nothing(self):
        names = [str(path) for path in tree.sources()]
        done = subprocess.run(["clang-format", "--dry-run", "--Werror", "-ferror-limit=3", *names], cwd=tree.ROOT,
                              capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr + "\nclang-format -i FILE repairs it.")


if __name__ == "__main__":
    unittest.main()

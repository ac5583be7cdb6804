"""A file says what it is for before it does it; headers are guarded by #pragma once."""

import re
import unittest
from pathlib import Path

import tree


def says_what_it_is(path: Path, text: str) -> bool:
    lines = text.splitlines()
    python = path.suffix == ".py"
    if lines and lines[0].startswith("#!"):
        python |= "python" in lines.pop(0)
    first = lines[0] if lines else ""
    marks = ('"""', "#") if python else ("//", "/*") if path.suffix in (".hpp", ".cpp") else ("#",)
    return first.startswith(marks) and re.search(r"\w{3}", first) is not None and not first.startswith("#include")


def scripts() -> list[Path]:
    named = [Path(name) for name in ("run", "test", ".ci/run")]
    return named + tree.files("scripts") + [p for p in tree.files() if p.suffix in (".py", ".cmake")]


class FirstLines(unittest.TestCase):
    def test_every_source_file_begins_with_a_comment(self):
        self.assertEqual([], [str(p) for p in tree.sources() if not says_what_it_is(p, tree.read(p))])

    def test_every_script_begins_with_a_comment(self):
        self.assertEqual([], [str(p) for p in scripts() if not says_what_it_is(p, tree.read(p))])

    def test_every_header_has_one_pragma_once(self):
        headers = [path for path in tree.sources() if path.suffix == ".hpp"]
        self.assertEqual([], [str(p) for p in headers if tree.read(p).count("#pragma once\n") != 1])

    def test_a_file_that_begins_with_an_include_is_found(self):
        self.assertFalse(says_what_it_is(Path("a.cpp"), '#include "a.hpp"\n'))
        self.assertFalse(says_what_it_is(Path("a.cpp"), "//\n// something\n"))
        self.assertFalse(says_what_it_is(Path("a.py"), "import re\n"))
        self.assertTrue(says_what_it_is(Path("a.sh"), "#!/bin/sh\n# Does something.\n"))


if __name__ == "__main__":
    unittest.main()

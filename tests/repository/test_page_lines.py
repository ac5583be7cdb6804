"""Lines of pages have at most 120 characters, so that changes of them can be read."""

import pathlib
import unittest

import tree

LONGEST = 120
# Written by programs: scripts/state-simulated-figures, scripts/gpu_page.py.
GENERATED = {pathlib.Path("docs") / name for name in ("papers-simulated.md", "notes/accelerators.md")}
# Rows of tables, captions, pictures, targets of links and headings take one line each.
WHOLE = ("|", "<", "!", "[", "#")


def long_lines(text: str) -> list[int]:
    found, in_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and len(line) > LONGEST and not line.startswith(WHOLE):
            found.append(number)
    return found


class PageLines(unittest.TestCase):
    def test_prose_is_wrapped(self):
        pages = [path for path in tree.files() if path.suffix == ".md" and path not in GENERATED]
        self.assertGreater(len(pages), 30)
        self.assertEqual([], [f"{path}:{number}" for path in pages for number in long_lines(tree.read(path))])

    def test_long_lines_are_found_outside_of_code_and_tables(self):
        long = "word " * 30
        self.assertEqual([1, 6], long_lines(f"{long}\n| {long}|\n```\n{long}\n```\n- {long}\n"))


if __name__ == "__main__":
    unittest.main()

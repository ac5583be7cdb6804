"""docs/policy-sources.md describes every file of src/schedule/; and a policy that follows a paper stays as short as the
paper's algorithm."""

import re
import unittest
from pathlib import Path

import tree

FOLDER = Path("src/schedule")
LARGEST = 12 * 1024
NOT_A_PAGE = {"blocks"}  # not published, and longer


def tables(page: str) -> list[list[list[str]]]:
    """The tables of the page, as rows of cells, without their heads."""
    found, rows = [], []
    for line in page.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append(rows[2:])
            rows = []
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


class Policies(unittest.TestCase):
    def setUp(self):
        self.sizes = {}  # by name without ending
        for path in tree.files(str(FOLDER)):
            name = str(path.relative_to(FOLDER).with_suffix(""))
            self.sizes[name] = self.sizes.get(name, 0) + len(tree.read(path).encode())
        self.own, self.shared = tables(tree.read(Path("docs/policy-sources.md")))

    def test_the_page_describes_each_file(self):
        described = sum([names(row[1]) for row in self.own] + [names(row[0]) for row in self.shared], [])
        self.assertEqual(sorted(self.sizes), sorted(described))

    def test_a_published_policy_is_as_short_as_its_algorithm(self):
        for row in self.own:
            policy = names(row[0])[0]
            if policy not in NOT_A_PAGE:
                with self.subTest(policy):
                    self.assertLessEqual(sum(self.sizes[name] for name in names(row[1])), LARGEST)


if __name__ == "__main__":
    unittest.main()

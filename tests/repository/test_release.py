"""The version is the same wherever it stands, and the changelog of the release is short."""

import pathlib
import re
import unittest

import tree


def read(name: str) -> str:
    return tree.read(pathlib.Path(name))


class Release(unittest.TestCase):
    def setUp(self):
        self.version = re.search(r"^project\(fairlead VERSION ([\d.]+)", read("CMakeLists.txt"), re.MULTILINE)[1]

    def test_changelog_and_citation_have_the_version(self):
        newest = re.search(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", read("CHANGELOG.md"), re.MULTILINE)
        self.assertEqual(self.version, newest[1])
        self.assertIn(f"\nversion: {self.version}\n", read("CITATION.cff"))

    def test_no_source_repeats_it(self):
        written = f'"{self.version}"'
        self.assertEqual([], [str(path) for folder in ("src", "apps", "include") for path in tree.files(folder)
                              if path.suffix in (".cpp", ".hpp") and f"return {written}" in tree.read(path)])

    def test_a_section_of_the_changelog_has_at_most_sixty_lines(self):
        sections = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1:]
        self.assertEqual([], [section.split("\n", 1)[0] for section in sections if len(section.splitlines()) > 60])


if __name__ == "__main__":
    unittest.main()

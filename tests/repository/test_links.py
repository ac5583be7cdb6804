"""Links between the pages, and from them to files, lead somewhere; so do the names of files and tests on the page of the papers."""

import re
import unittest
from pathlib import Path

import tree


def broken(page: Path, text: str) -> list[str]:
    """Relative links of a page whose file or heading does not exist."""
    without_code = re.sub(r"(```+)[^\n]*\n.*?\1|`[^`\n]*`", "", text, flags=re.DOTALL)
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        path = (tree.ROOT / page).parent / name if name else tree.ROOT / page
        if not path.exists():
            found.append(f"{page}: {target}")
        elif heading and path.suffix == ".md" and heading not in headings(path.read_text()):
            found.append(f"{page}: {target} (no such heading)")
    return found


def headings(text: str) -> set[str]:
    """The names that headings get on a web page."""
    titles = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def not_there(text: str, paths: set[str]) -> list[str]:
    """Of lines that say where something is and what tests it: the names that end no path, with or without what follows a dot."""
    names = [name for line in re.findall(r"^- \*\*(?:Where|Tests):\*\* (.*)", text, re.MULTILINE) for name in re.findall(r"`(\w[\w./-]*?)/?`", line)]
    return [name for name in names if not any(path == name or path.endswith("/" + name) for path in paths)]


class Names(unittest.TestCase):
    def test_what_is_said_to_do_and_to_test_it_is_there(self):
        paths = set()
        for path in tree.files():
            paths |= {str(path), str(path.with_suffix("")), *map(str, path.parents)}
        self.assertEqual([], not_there(tree.read(Path("docs/papers-details.md")), paths))

    def test_a_missing_name_is_found(self):
        paths = {"src/memory/transfers.cpp", "src/memory/transfers", "src/memory"}
        self.assertEqual(["fers.cpp", "src/gone"],
                         not_there("- **Where:** `src/memory/`, `transfers`, `fers.cpp`, `--option`\n- **Tests:** `src/gone` (`by hand`)\n`other`", paths))


class Links(unittest.TestCase):
    def test_no_link_is_broken(self):
        pages = [path for path in tree.files() if path.suffix == ".md"]
        self.assertEqual([], [link for page in pages for link in broken(page, tree.read(page))])

    def test_a_missing_file_and_a_missing_heading_are_found(self):
        page = Path("README.md")
        self.assertEqual(1, len(broken(page, "[x](docs/nothing.md)")))
        self.assertEqual(1, len(broken(page, "[x](CONTRIBUTING.md#nothing)")))
        self.assertEqual([], broken(page, "[x](CONTRIBUTING.md#where-a-test-goes) [y](https://example.org)"))
        self.assertEqual([], broken(page, "`[x](nothing.md)`\n```md\n[x](nothing.md)\n```\n"))


if __name__ == "__main__":
    unittest.main()

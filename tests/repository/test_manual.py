"""The navigation of the manual (docs/index.rst) has every page once, in the part where readers look for it."""

import pathlib
import re
import unittest

import tree

DOCS = pathlib.Path("docs")
PARTS = ["Start", "Guides", "Reference", "Internals", "Notes"]


def entries(index: pathlib.Path, text: str) -> dict[str, list[str]]:
    """What the lists of pages in an index name, by their captions: paths from docs/, patterns replaced by the files they match."""
    found: dict[str, list[str]] = {}
    for options, names in re.findall(r"^\.\. toctree::\n((?:   :.*\n)*)\n((?:   \S.*(?:\n|\Z))+)", text, re.MULTILINE):
        caption = re.search(r":caption: (.*)", options)
        listed = found.setdefault(caption[1] if caption else "", [])
        for name in names.split():
            matched = sorted((tree.ROOT / index.parent).glob(name + ".md")) if "*" in name else [tree.ROOT / index.parent / name]
            listed += [str(path.relative_to(tree.ROOT / DOCS).with_suffix("")) for path in matched]
    return found


def navigation() -> dict[str, list[str]]:
    """The pages of each part. An index that a part names stands for its pages."""
    parts = entries(DOCS / "index.rst", tree.read(DOCS / "index.rst"))
    for names in parts.values():
        for name in [name for name in names if name.endswith("/index")]:
            index = DOCS / f"{name}.rst"
            names.remove(name)
            names += entries(index, tree.read(index))[""]
    return parts


def missing(parts: dict[str, list[str]], pages: set[str]) -> list[str]:
    return sorted(pages - {name for names in parts.values() for name in names})


def sections(text: str) -> dict[str, set[str]]:
    """The pages that the tables of README.md list, by their headings."""
    _, *rest = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return {title: set(re.findall(r"\]\(([\w-]+)\.md\)", body)) for title, body in zip(rest[::2], rest[1::2])}


def pages() -> set[str]:
    """All but README.md, which is the front page."""
    return {str(path.relative_to(DOCS).with_suffix("")) for path in tree.files("docs") if path.suffix == ".md"} - {"README"}


class Manual(unittest.TestCase):
    def test_the_navigation_has_five_parts(self):
        self.assertEqual(PARTS, list(navigation()))

    def test_every_page_is_in_the_navigation(self):
        self.assertEqual([], missing(navigation(), pages()), "add these pages to a part of docs/index.rst")

    def test_the_navigation_has_no_page_twice_and_none_that_does_not_exist(self):
        names = [name for names in navigation().values() for name in names]
        self.assertEqual([], sorted({name for name in names if names.count(name) > 1}))
        self.assertEqual([], sorted(set(names) - pages()))

    def test_the_navigation_has_the_parts_of_the_front_page(self):
        listed = sections(tree.read(DOCS / "README.md"))
        for part, names in navigation().items():
            if part in listed and part != "Notes":
                self.assertEqual(listed[part], set(names), f"{part}: docs/README.md and docs/index.rst differ")

    def test_the_front_page_is_the_index_of_the_repository(self):
        self.assertIn(".. include:: README.md\n", tree.read(DOCS / "index.rst"))

    def test_a_missing_page_is_found(self):
        text = ".. toctree::\n   :caption: Start\n   :hidden:\n\n   solve\n   notes/accuracy\n\n.. toctree::\n\n   data"
        parts = entries(DOCS / "index.rst", text)
        self.assertEqual({"Start": ["solve", "notes/accuracy"], "": ["data"]}, parts)
        self.assertEqual(["blas"], missing(parts, {"blas", "data", "notes/accuracy", "solve"}))
        self.assertEqual({"Start": {"solve"}, "Guides": {"data", "ptg"}},
                         sections("# A\n\n## Start\n[b](solve.md) [r](../README.md)\n## Guides\n[d](data.md), [p](ptg.md)\n"))
        self.assertIn("notes/accuracy", entries(DOCS / "notes/index.rst", ".. toctree::\n   :glob:\n\n   *\n")[""])


if __name__ == "__main__":
    unittest.main()

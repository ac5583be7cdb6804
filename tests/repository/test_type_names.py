"""No two types at namespace scope have one name, in headers of the library and the command, unless type_names.txt has a reason."""

import collections
import pathlib
import re
import unittest

import tree

LIST = pathlib.Path(__file__).with_name("type_names.txt")
TYPE = re.compile(r"^(?:template <[^\n]*>\n)?(?:struct|class|enum class)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^;{]*)?\{",
                  re.MULTILINE)


def reasons() -> dict[str, str]:
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def types_of(text: str) -> set[str]:
    """Definitions that begin a line: types in types are indented or qualified, and forward declarations have no body."""
    return set(TYPE.findall(text))


def headers_of_names() -> dict[str, list[str]]:
    found = collections.defaultdict(list)
    for path in [path for folder in ("include", "src", "apps") for path in tree.files(folder)]:
        if path.suffix == ".hpp":
            for name in types_of(tree.read(path)):
                found[name].append(str(path))
    return {name: paths for name, paths in found.items() if len(paths) > 1}


class TypeNames(unittest.TestCase):
    def test_a_name_has_one_meaning(self):
        known = reasons()
        self.assertEqual([], [f"{name}: {', '.join(paths)}" for name, paths in sorted(headers_of_names().items())
                              if name not in known])

    def test_reasons_are_needed(self):
        twice = headers_of_names()
        for name, reason in reasons().items():
            self.assertIn(name, twice, f"{name} is there once: take it off the list")
            self.assertGreater(len(reason), 10)

    def test_definitions_are_found(self):
        text = "class A {\n};\nstruct B final : public A {\nenum class C : int { x };\nclass D;\n  struct E {};\ntemplate <class T>\nclass F {\nclass G::H : public A {\n"
        self.assertEqual({"A", "B", "C", "F"}, types_of(text))


if __name__ == "__main__":
    unittest.main()

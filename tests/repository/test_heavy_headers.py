"""Headers that take seconds to compile are included in one source file each, so that a full build stays short."""

import unittest
from pathlib import Path

import include_order
import tree

# Library: how its headers' names begin.
HEAVY = {"CLI11": "CLI/", "toml++": "toml++/", "JSON": "nlohmann/", "protozero": "protozero/"}


def users(prefix: str, sources: dict[Path, str]) -> list[str]:
    return [str(path) for path, text in sorted(sources.items())
            if any(name.startswith(prefix) for _, _, name in include_order.includes(text))]


class HeavyHeaders(unittest.TestCase):
    def setUp(self):
        # Tests may use such a library to check what the one file wrote.
        self.sources = {path: tree.read(path) for path in tree.sources() if path.parts[0] != "tests"}

    def test_each_is_included_by_one_source_file_and_by_no_header(self):
        for library, prefix in HEAVY.items():
            with self.subTest(library):
                including = users(prefix, self.sources)
                self.assertLessEqual(len(including), 1, including)
                self.assertEqual([], [path for path in including if path.endswith(".hpp")])

    def test_a_second_user_is_found(self):
        text = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(["a.cpp", "b.cpp"], users("nlohmann/", {Path("a.cpp"): text, Path("b.cpp"): text}))


if __name__ == "__main__":
    unittest.main()

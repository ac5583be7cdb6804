"""The include order holds; and the check finds what it is there to find."""

import unittest
from pathlib import Path

import include_order
import tree


def check(**files: str) -> list[str]:
    """Violations of files given as src__base__a_hpp='text'."""
    named = {}
    for name, text in files.items():
        stem, suffix = name.replace("__", "/").rsplit("_", 1)
        named[Path(f"{stem}.{suffix}")] = text
    return include_order.violations(named)


class IncludeOrder(unittest.TestCase):
    def test_every_file_includes_only_from_above(self):
        sources = {path: tree.read(path) for path in tree.sources()}
        self.assertEqual([], include_order.violations(sources))

    def test_from_above_is_allowed(self):
        self.assertEqual([], check(src__memory__a_hpp='#include "base/b.hpp"\n#include <fairlead/ids.hpp>\n'))

    def test_from_below_is_found_with_its_line(self):
        found = check(src__base__a_hpp='// x\n#include "memory/b.hpp"\n')
        self.assertEqual(1, len(found))
        self.assertTrue(found[0].startswith("src/base/a.hpp:2: "))

    def test_a_circle_of_two_folders_is_found(self):
        found = check(src__graph__a_hpp='#include "memory/b.hpp"\n', src__memory__b_hpp='#include "graph/a.hpp"\n')
        self.assertEqual(1, len(found))

    def test_a_policy_may_not_see_the_machine_nor_the_engine_a_policy(self):
        self.assertEqual(1, len(check(src__schedule__a_cpp='#include "machine/b.hpp"\n')))
        self.assertEqual(1, len(check(src__engine__a_cpp='#include "schedule/b.hpp"\n')))
        self.assertEqual([], check(src__front__a_cpp='#include "schedule/b.hpp"\n'))

    def test_a_declaration_in_place_of_an_include_is_found(self):
        declaration = "namespace fairlead::front {\nclass Flow;\n}  // namespace fairlead::front\n"
        found = check(src__engine__a_hpp="// x\n" + declaration)
        self.assertEqual(1, len(found))
        self.assertTrue(found[0].startswith("src/engine/a.hpp:2: "))
        self.assertEqual([], check(src__report__a_hpp=declaration))

    def test_spaces_and_relative_names_do_not_hide_an_include(self):
        self.assertEqual(1, len(check(src__base__a_hpp='#  include "memory/b.hpp"\n')))
        self.assertEqual(1, len(check(src__base__a_hpp='#include "../base/b.hpp"\n')))

    def test_a_public_header_sees_the_standard_library_and_public_headers_only(self):
        self.assertEqual([], check(include__fairlead__a_hpp="#include <vector>\n#include <fairlead/b.hpp>\n"))
        self.assertEqual(1, len(check(include__fairlead__a_hpp='#include "base/time.hpp"\n')))
        self.assertEqual(1, len(check(include__fairlead__a_hpp="#include <fmt/format.h>\n")))

    def test_a_folder_that_is_not_listed_is_found(self):
        self.assertEqual(1, len(check(src__utilities__a_hpp="// x\n")))

    def test_commented_includes_do_not_count(self):
        self.assertEqual([], check(src__base__a_hpp='// #include "memory/b.hpp"\n/*\n#include "memory/b.hpp"\n*/\n'))


if __name__ == "__main__":
    unittest.main()

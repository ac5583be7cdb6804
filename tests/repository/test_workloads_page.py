"""The page of workloads names each workload, with its options and their defaults."""

import re
import unittest

import tree


def rows_of_the_page() -> dict[str, str]:
    section = tree.read("docs/workloads.md").split("## The workloads")[1].split("\n## ")[0]
    return {match[1]: match[0] for match in re.finditer(r"^\| `(\w+)` \|.*$", section, re.MULTILINE)}


def workloads() -> dict[str, list[tuple[str, str]]]:
    """By name: the options with their fallbacks."""
    lists = tree.read("src/simulate/workloads/list.hpp")
    options = {match[1]: re.findall(r'PolicyOption\{"(\w+)",\s*"([^"]*)"', match[2])
               for match in re.finditer(r"std::array (\w+)\{(.*?)\n\};", lists, re.DOTALL)}
    listed = re.findall(r'Workload\{"(\w+)",(.*?)\},\n', tree.read("src/simulate/workload.cpp"), re.DOTALL)
    return {name: next((known for array, known in options.items() if array in rest), []) for name, rest in listed}


class WorkloadsPage(unittest.TestCase):
    def test_it_has_a_row_for_each(self):
        self.assertEqual(list(workloads()), list(rows_of_the_page()))

    def test_rows_name_the_options_and_their_fallbacks(self):
        for name, options in workloads().items():
            row = rows_of_the_page()[name]
            for option, fallback in options:
                # Several may share one: `width` = `height` = 256.
                self.assertRegex(row, rf"`{option}` = (`\w+` = )?{re.escape(fallback)}", name)

    def test_options_are_found(self):
        self.assertIn(("tree", "flat"), workloads()["qr"])
        self.assertEqual([], workloads()["gemm"])


if __name__ == "__main__":
    unittest.main()

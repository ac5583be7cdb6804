"""Memory hands out locations: no file of src/memory has an address, but for the program's own, which are handed on as void*,
which cannot be followed."""

import re
import unittest

import tree

FOLDER = tree.ROOT / "src" / "memory"
HANDED_ON = {"location.hpp", "replica.hpp", "datum_table.hpp"}


class Locations(unittest.TestCase):
    def test_memory_knows_no_addresses(self):
        files = sorted(FOLDER.iterdir())
        self.assertGreater(len(files), 30)
        for path in files:
            for line in re.sub(r"//.*", "", tree.read(path)).splitlines():
                self.assertNotRegex(line, r"std::byte|uintptr_t", path.name)
                if path.name not in HANDED_ON:
                    self.assertNotRegex(line, r"\bvoid ?\*", path.name)


if __name__ == "__main__":
    unittest.main()

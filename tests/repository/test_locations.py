"""Memory hands out locations: no file of src/memory counts from an address. The arena, which is the host's memory itself and
which no other file there includes, does; and the program's own addresses are handed on as void*, which cannot be followed."""

import re
import unittest

import tree

FOLDER = tree.ROOT / "src" / "memory"
OWN_MEMORY = {"arena.hpp", "arena.cpp"}
HANDED_ON = {"location.hpp", "replica.hpp", "datum_table.hpp"}


class Locations(unittest.TestCase):
    def test_memory_knows_no_addresses(self):
        files = sorted(path for path in FOLDER.iterdir() if path.name not in OWN_MEMORY)
        self.assertGreater(len(files), 30)
        for path in files:
            code = re.sub(r"//.*", "", tree.read(path))
            for line in code.splitlines():
                self.assertNotRegex(line, r"std::byte|uintptr_t|memory/arena\.hpp", path.name)
                if path.name not in HANDED_ON:
                    self.assertNotRegex(line, r"\bvoid ?\*", path.name)


if __name__ == "__main__":
    unittest.main()

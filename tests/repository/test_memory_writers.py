"""What the parts of memory share is written by one class a field: its type says which, and the compiler sees to it."""

import re
import unittest

import tree

SHARED = {"replica.hpp": ["Replica", "Copy"], "memory_node.hpp": ["MemoryNode"], "datum_table.hpp": ["Datum"]}
FOLDER = tree.ROOT / "src" / "memory"
# Of the whole datum in its home: a Replica, whose fields say it themselves.
WHOLE = {("Datum", "home")}


def body_of(name, text):
    found = re.search(rf"^struct (?:alignas\(\d+\) )?{name}\b[^;{{]*\{{\n(.*?)^\}};", text, re.DOTALL | re.MULTILINE)
    return found.group(1)


def fields_of(name, text):
    """The declarations of data members: what ends with ';' on the first level and has no parameters."""
    body = re.sub(r"//.*", "", body_of(name, text)).split("Said by the world")[0]
    body = re.sub(r"enum class .*?\};", "", body, flags=re.DOTALL)
    flat, depth = "", 0
    for character in body:
        depth -= character == "}"
        if depth == 0:
            flat += character
        depth += character == "{"
    flat = re.sub(r"\{\}", "", flat)
    for statement in re.split(r"[;}]", flat):
        statement = " ".join(statement.split())
        if statement and "(" not in statement.split("=")[0]:
            yield statement


class Writers(unittest.TestCase):
    def test_each_field_of_the_shared_state_has_one_writer(self):
        headers = " ".join(tree.read(path) for path in sorted(FOLDER.glob("*.hpp")))
        seen = 0
        for file, names in SHARED.items():
            text = tree.read(FOLDER / file)
            # What follows in Copy is written by the backend, which is no part of memory.
            text = re.sub(r"\n  // Results of the backend.*?\n\};", "\n};", text, flags=re.DOTALL)
            for name in names:
                for field in fields_of(name, text):
                    seen += 1
                    if re.match(r"const |.*\* ?const ", field) or any(
                            name == owner and field.split("=")[0].split()[-1] == member for owner, member in WHOLE):
                        continue
                    writer = re.match(r"WrittenBy<.*, (\w+)>", field)
                    self.assertIsNotNone(writer, f"{file}: {name}: who writes '{field}'?")
                    self.assertRegex(headers, rf"(class|struct) {writer.group(1)} (final )?\{{", field)
        self.assertGreater(seen, 50)


if __name__ == "__main__":
    unittest.main()

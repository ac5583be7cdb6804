"""The texts of the repository are for all readers: no paths of one machine, no notes to oneself, nothing about how they
were written."""

import re
import unittest

import tree

# Brackets keep this file from finding itself.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.$}/*])/([w]ork|[r]oot|[h]ome)/",
    "a folder outside the repository": r"(?<![\w])(\.\./)?[s]hared/[a-z-]+\.md",
    "a note to oneself": r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b",
    "how it came to be": r"\b([c]oding [a]gents?|[l]anguage [m]odels?|[s]ubagents?|[H]ELPERS)\b",
    "a package registry": r"\b([d]eb\.debian\.org|[p]ypi\.org|[f]iles\.pythonhosted\.org|[p]roxy\.golang\.org)\b",
}
TEXT = {".hpp", ".cpp", ".py", ".md", ".txt", ".cmake", ".json", ".toml", ".sh", ".cu", ".jdf", ".js", ".css", ".html", ""}


def found_in(text: str) -> list[str]:
    return [f"line {text.count(chr(10), 0, match.start()) + 1}: {meaning} ({match.group()})"
            for meaning, pattern in FORBIDDEN.items() for match in re.finditer(pattern, text)]


class Words(unittest.TestCase):
    def test_no_file_has_them(self):
        found = []
        for path in tree.files():
            if path.suffix in TEXT and path.name != "LICENSE":
                found += [f"{path}: {what}" for what in found_in(tree.read(path))]
        self.assertEqual([], found)

    def test_they_are_found(self):
        self.assertEqual(1, len(found_in("see /ro" + "ot/notes")))
        self.assertEqual(1, len(found_in("first\nTO" + "DO: second")))
        self.assertEqual([], found_in("https://example.org/ho" + "me/ and build/work/x"))


if __name__ == "__main__":
    unittest.main()

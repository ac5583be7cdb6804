"""Identifiers, comments, messages and pages use the field's terms: none of the words of vocabulary.txt."""

import pathlib
import re
import unittest

import tree

LIST = pathlib.Path(__file__).with_name("vocabulary.txt")
# The list itself, and history.
LEFT_OUT = {"tests/repository/vocabulary.txt", "tests/repository/test_vocabulary.py", "CHANGELOG.md", "LICENSE"}
RECORDED = "docs/data"  # recorded measurements keep the words of their time
NOT_TEXT = {".svg", ".npy", ".gz", ".png", ".fatbin"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def section(name: str) -> list[str]:
    text = LIST.read_text(encoding="utf-8")
    body = text.split(f"[{name}]\n", 1)[1].split("\n[", 1)[0]
    return [line for line in body.splitlines() if line and not line.startswith("#")]


def words_of(text: str) -> list[tuple[int, str]]:
    """Each word, also of identifiers, with its line."""
    return [(number, match[0].lower()) for number, line in enumerate(text.splitlines(), 1) for match in WORD.finditer(line)]


INSTEAD = dict(line.split(": ", 1) for line in section("words"))
EXCEPTIONS = {tuple(line.split(": ", 2)[:2]): line.split(": ", 2)[2] for line in section("exceptions")}


def found_in(path: str, text: str) -> list[str]:
    return [f"{path}:{line}: \"{word}\": {INSTEAD[word]}" for line, word in words_of(text)
            if word in INSTEAD and (path, word) not in EXCEPTIONS]


def texts() -> list[tuple[pathlib.Path, str]]:
    out = []
    for path in tree.files():
        if str(path) in LEFT_OUT or path.is_relative_to(RECORDED) or path.suffix in NOT_TEXT:
            continue
        try:
            out.append((path, tree.read(path)))
        except UnicodeDecodeError:
            continue
    return out


class Vocabulary(unittest.TestCase):
    def test_no_file_has_one_of_the_words(self):
        self.assertEqual([], [what for path, text in texts() for what in found_in(str(path), text)])

    def test_exceptions_are_needed_and_few(self):
        for (path, word), reason in EXCEPTIONS.items():
            self.assertIn(word, [each for _, each in words_of(tree.read(pathlib.Path(path)))], f"{path}: {word}")
            self.assertGreater(len(reason), 10)
        self.assertLessEqual(len(EXCEPTIONS), 20)

    def test_words_are_found_in_identifiers_and_text(self):
        self.assertEqual(3, len(found_in("a.cpp", "struct Told {};\nbool was_told;\n// Nobody else.")))
        self.assertEqual([], found_in("a.cpp", "the header sheds others"))


if __name__ == "__main__":
    unittest.main()

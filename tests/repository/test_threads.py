"""Threads start in one place, where what they throw is caught and none is destroyed without a join."""

import re
import unittest
from pathlib import Path

import tree

STARTING = Path("src/base/guarded_thread.hpp")
THREAD = re.compile(r"\bstd::(?:jthread|async)\b|\bstd::thread\s*[({]|\bstd::thread\s+\w+\s*[({]|\bpthread_create\b|\.emplace_back\(\[[^\]]*\][^;]*thread")
COMMENT = re.compile(r"//[^\n]*")


def found_in(text: str) -> list[str]:
    lines = enumerate(COMMENT.sub("", text).splitlines(), 1)
    return [f"{number}: {line.strip()}" for number, line in lines if THREAD.search(line)]


class Threads(unittest.TestCase):
    def test_none_starts_elsewhere(self):
        paths = [path for folder in ("src", "apps") for path in tree.files(folder) if path.suffix in (".hpp", ".cpp")]
        found = [f"{path}:{what}" for path in paths if path != STARTING for what in found_in(tree.read(path))]
        self.assertEqual([], found, "base/guarded_thread.hpp starts threads")

    def test_they_are_found(self):
        for line in ("  thread_ = std::thread([this] { run(); });", "std::jthread other(work);", "std::vector<std::jthread> all;",
                     "std::thread other([&] { work(); });"):
            self.assertEqual(1, len(found_in(line)), line)
        for line in ("  std::thread thread_;", "for (std::thread& thread : threads_) thread.join();",
                     "  std::vector<std::thread> threads_;", "// std::jthread would do"):
            self.assertEqual([], found_in(line), line)


if __name__ == "__main__":
    unittest.main()

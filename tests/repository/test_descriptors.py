"""Files, sockets and pipes are opened in one place, which gives none of them the number of a standard stream; and what
is said on the standard error ends nothing."""

import re
import unittest
from pathlib import Path

import tree

OPENING = Path("src/base/file_descriptor.cpp")
STREAMS = Path("apps/fairlead/run/standard_streams.cpp")
CALLS = re.compile(
    r"(?<![\w.>])(?:::|std::)?(?:open|open64|openat|creat|socket|socketpair|accept4?|pipe2?|dup[23]?|eventfd|epoll_create1?"
    r"|timerfd_create|signalfd|inotify_init1?|memfd_create|shm_open|fopen|fopen64|freopen|tmpfile|mkstemp|mkostemp|opendir"
    r"|popen|pidfd_open|userfaultfd)\s*\("
    r"|\b[io]?fstream\b|\bbasic_filebuf\b|\b(?:recursive_)?directory_iterator\b|\bF_DUPFD")
SAYING = re.compile(r"\bfmt::print\(\s*stderr|\bstd::cerr\b|\bfputs\([^;]*stderr|\bperror\(")
COMMENT = re.compile(r"//[^\n]*")
# A function of one's own may have such a name: it is declared, or called on an object or a class of ours.
OURS = re.compile(r"SharedLibrary::open\(|^\s*(?:void|static SharedLibrary|Reduction&|std::size_t) (?:\w+::)?open\(|^\s+open\(\);")


def found_in(text: str, pattern: re.Pattern[str]) -> list[str]:
    lines = enumerate(COMMENT.sub("", text).splitlines(), 1)
    return [f"{number}: {line.strip()}" for number, line in lines if pattern.search(OURS.sub("", line))]


class Descriptors(unittest.TestCase):
    def all_found(self, folders: tuple[str, ...], pattern: re.Pattern[str], allowed: set[Path]) -> list[str]:
        paths = [path for folder in folders for path in tree.files(folder) if path.suffix in (".hpp", ".cpp")]
        return [f"{path}:{what}" for path in paths if path not in allowed for what in found_in(tree.read(path), pattern)]

    def test_nothing_is_opened_elsewhere(self):
        found = self.all_found(("src", "apps", "include"), CALLS, {OPENING, STREAMS})
        self.assertEqual([], found, "base/file_descriptor.hpp opens files, sockets and pipes")

    def test_the_library_says_nothing_that_could_fail(self):
        self.assertEqual([], self.all_found(("src", "include"), SAYING, set()), "base/tell.hpp says it")

    def test_they_are_found(self):
        for line in ("  const int file = ::open(path, O_RDONLY);", "std::ifstream file(path);", "fd = socket(AF_UNIX, 0, 0);",
                     "FILE* file = std::fopen(path, mode);", "if (accept4(a, b, c, d) < 0)"):
            self.assertEqual(1, len(found_in(line, CALLS)), line)
        for line in ("// open() would do", "SharedLibrary::open(name)", "  fast_path_.open();", "open_file(path, O_RDONLY)",
                     "  void open() noexcept { generation_.store(++last_); }", "holds_->open()"):
            self.assertEqual([], found_in(line, CALLS), line)
        self.assertEqual(1, len(found_in('  fmt::print(stderr, "x");', SAYING)))


if __name__ == "__main__":
    unittest.main()

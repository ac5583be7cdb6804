"""A file is one idea: nine of ten within 16 KB, none over 40 KB, nor over 24 KB in
src/."""

import statistics
import unittest

import tree

KB = 1024
LARGEST_SOURCE, LARGEST_OF_LIBRARY = 40 * KB, 24 * KB
NINE_OF_TEN = 16 * KB


class FileSizes(unittest.TestCase):
    def setUp(self):
        self.sizes = {path: len(tree.read(path).encode()) for path in tree.sources()}

    def test_no_source_file_is_over_40_kb(self):
        self.assertEqual({}, {str(path): size for path, size in self.sizes.items() if size > LARGEST_SOURCE})

    def test_no_file_of_the_library_is_over_24_kb(self):
        library = {path: size for path, size in self.sizes.items() if tree.ROOT / "src" in (tree.ROOT / path).parents}
        self.assertGreater(len(library), 400)
        self.assertEqual({}, {str(path): size for path, size in library.items() if size > LARGEST_OF_LIBRARY})

    def test_nine_of_ten_source_files_are_within_16_kb(self):
        large = [f"{path} {size}" for path, size in self.sizes.items() if size > NINE_OF_TEN]
        ordered = sorted(self.sizes.values())
        print(f"{len(ordered)} source files; median {statistics.median(ordered) / KB:.1f} KB, "
              f"ninth decile {ordered[len(ordered) * 9 // 10] / KB:.1f} KB, largest {ordered[-1] / KB:.1f} KB")
        self.assertLessEqual(len(large), len(ordered) // 10, large)


if __name__ == "__main__":
    unittest.main()

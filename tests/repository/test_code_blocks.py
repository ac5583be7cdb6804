"""The code blocks of pages are found, with what they say they are."""

import pathlib
import unittest

import code_blocks

PROGRAM = "```cpp\nint main() { return 0; }\n```\n"


def blocks(text: str) -> list[code_blocks.Block]:
    return code_blocks.blocks_of("page.md", text)


class CodeBlocks(unittest.TestCase):
    def test_a_block_knows_its_page_and_first_line(self):
        [block] = blocks("# Title\n\n" + PROGRAM)
        self.assertEqual("page.md:4", block.where)
        self.assertEqual("int main() { return 0; }\n", block.text)

    def test_marks_say_what_is_compiled_and_run(self):
        program, compiled, fragment = blocks(PROGRAM + PROGRAM.replace("cpp", "cpp no-run") + "```cpp fragment\nx\n```\n")
        self.assertEqual((True, True), (program.is_program, program.is_run))
        self.assertEqual((True, False), (compiled.is_program, compiled.is_run))
        self.assertEqual((False, False), (fragment.is_program, fragment.is_run))

    def test_a_program_says_by_its_name_which_library_it_needs(self):
        [block] = blocks(PROGRAM.replace("cpp", "cpp openmp"))
        self.assertEqual(("page_md_2_openmp", True), (block.name, block.is_program))
        self.assertEqual([], code_blocks.mistakes([block]))

    def test_shell_is_run_only_where_it_says_checked(self):
        checked, other = blocks("```sh\n# checked\ntrue\n```\n```sh\nrm -rf everything\n```\n")
        self.assertEqual((True, False), (checked.is_run, other.is_run))

    def test_c_is_compiled_and_python_is_run(self):
        c, python, fragment = blocks(PROGRAM.replace("cpp", "c") + "```python\nx = 1\n```\n```python fragment\nx\n```\n")
        self.assertEqual((True, True, "page_md_2.c"), (c.is_program, c.is_run, c.file))
        self.assertEqual((False, True, False), (python.is_program, python.is_run, fragment.is_run))
        self.assertIsNone(code_blocks.run(python, pathlib.Path("nowhere"), pathlib.Path("nowhere")))

    def test_a_longer_fence_holds_a_shorter_one(self):
        [outer] = blocks("````md\n" + PROGRAM + "````\n")
        self.assertEqual("md", outer.language)

    def test_an_unclosed_block_an_unknown_mark_and_an_unmarked_fragment_are_mistakes(self):
        with self.assertRaisesRegex(ValueError, "page.md:2: .*never closed"):
            blocks("text\n```cpp\nint main() {}\n")
        self.assertEqual(1, len(code_blocks.mistakes(blocks(PROGRAM.replace("cpp", "cpp norun")))))
        self.assertEqual(1, len(code_blocks.mistakes(blocks("```cpp\nint x;\n```\n"))))

    def test_a_shell_block_that_fails_half_way_is_a_failure(self):
        [block] = blocks("```sh\n# checked\nfalse\ntrue\n```\n")
        nowhere = pathlib.Path("nowhere")
        self.assertIn("status 1", code_blocks.run(block, nowhere, nowhere))


if __name__ == "__main__":
    unittest.main()

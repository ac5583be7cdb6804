"""Every code block of the documentation works: programs are compiled against the installed library with
warnings as errors and run, shell blocks that say `# checked` and Python are run.

How a block says what it is, in the words after the opening fence:
  ```cpp           a program: compiled, and run in an empty folder; must end with status 0
  ```cpp no-run    a program: compiled only
  ```cpp openmp    a program that needs OpenMP, or with `tbb` TBB: left out where the machine has none
  ```cpp fragment  part of a program: neither
  ```cpp fragment policy  a scheduling policy: tests/schedule compiles it and lets it run
  ```c             as cpp, compiled by a C compiler and linked with the shared library
  ```python        run with the Python package, in an empty folder
  ```sh            run, in an empty folder with the installed command on the PATH, if a line is `# checked`
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

PROJECT = """# Written by tests/repository/code_blocks.py: a user's project with one program per code block.
cmake_minimum_required(VERSION 3.25)
project(code_blocks LANGUAGES C CXX)
find_package(fairlead REQUIRED)
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(TBB CONFIG QUIET)
file(GLOB programs CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/*.cpp")
# Of what a program includes itself, so that it is given nothing that it does not ask for.
add_library(precompiled OBJECT precompiled.cc)
target_link_libraries(precompiled PRIVATE fairlead::fairlead)
target_compile_options(precompiled PRIVATE -Wall -Wextra -Wpedantic -Werror)
target_precompile_headers(precompiled PRIVATE <fairlead/fairlead.hpp>)
foreach(program ${programs})
  get_filename_component(name ${program} NAME_WE)
  if((name MATCHES "_openmp$" AND NOT TARGET OpenMP::OpenMP_CXX) OR (name MATCHES "_tbb$" AND NOT TARGET TBB::tbb))
    continue()
  endif()
  add_executable(${name} ${program})
  target_link_libraries(${name} PRIVATE fairlead::fairlead)
  if(name MATCHES "_openmp$")
    target_link_libraries(${name} PRIVATE OpenMP::OpenMP_CXX)
  elseif(name MATCHES "_tbb$")
    target_link_libraries(${name} PRIVATE TBB::tbb)
  endif()
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  file(STRINGS ${program} whole REGEX "^#include <fairlead/fairlead.hpp>")
  if(whole AND NOT name MATCHES "_(openmp|tbb)$")
    target_precompile_headers(${name} REUSE_FROM precompiled)
  endif()
endforeach()
file(GLOB programs_in_c CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/*.c")
foreach(program ${programs_in_c})
  get_filename_component(name ${program} NAME_WE)
  add_executable(${name} ${program})
  set_target_properties(${name} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE fairlead::shared m)
  target_compile_options(${name} PRIVATE -Wall -Wextra -pedantic -Werror)
endforeach()
"""


LIBRARIES = ("openmp", "tbb")


@dataclasses.dataclass(frozen=True)
class Block:
    path: str  # of the page
    line: int  # of its first line of code
    language: str
    marks: tuple[str, ...]
    text: str

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def name(self) -> str:
        return "_".join([re.sub(r"\W", "_", self.path), str(self.line), *self.libraries])

    @property
    def libraries(self) -> list[str]:
        return [mark for mark in self.marks if mark in LIBRARIES]

    @property
    def is_program(self) -> bool:
        return self.language in ("c", "cpp") and "fragment" not in self.marks

    @property
    def file(self) -> str:
        return f"{self.name}.{self.language}"

    @property
    def is_run(self) -> bool:
        if self.language == "sh":
            return re.search(r"^# checked\s*$", self.text, re.MULTILINE) is not None
        if self.language == "python":
            return "fragment" not in self.marks
        return self.is_program and "no-run" not in self.marks


def blocks_of(path: str, text: str) -> list[Block]:
    """The fenced blocks of a page. Raises ValueError if a fence is never closed."""
    found, fence, words, first, lines = [], None, [], 0, []
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.match(r"\s*(```+|~~~+)\s*(.*)$", line)
        if fence is None:
            if match:
                fence, words, first, lines = match[1], match[2].split(), number + 1, []
        elif match and match[1].startswith(fence) and not match[2]:
            found.append(Block(path, first, words[0] if words else "", tuple(words[1:]), "\n".join(lines) + "\n"))
            fence = None
        else:
            lines.append(line)
    if fence is not None:
        raise ValueError(f"{path}:{first - 1}: this code block is never closed")
    return found


def mistakes(blocks: list[Block]) -> list[str]:
    """Unknown marks, and C++ that is neither a program nor marked as a fragment."""
    found = []
    for block in blocks:
        if block.language not in ("c", "cpp"):
            continue
        found += [f"{block.where}: unknown mark '{mark}' (no-run, openmp, tbb, fragment and policy are known)"
                  for mark in block.marks if mark not in ("no-run", "fragment", "policy", *LIBRARIES)]
        if block.is_program and not re.search(r"\bint\s+main\s*\(", block.text):
            found.append(f"{block.where}: has no main(); mark it ```cpp fragment if it is part of a program")
    return found


def pages() -> list[pathlib.Path]:
    return [path for path in [pathlib.Path("README.md"), *tree.files("docs")] if path.suffix == ".md"]


def write_if_different(path: pathlib.Path, text: str):
    """Leaves the file's time alone when nothing changed, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def compile_all(programs: list[Block], folder: pathlib.Path, prefix: pathlib.Path, compiler: str) -> str | None:
    """Builds one program per block; what went wrong, or None."""
    folder.mkdir(parents=True, exist_ok=True)
    write_if_different(folder / "CMakeLists.txt", PROJECT)
    write_if_different(folder / "precompiled.cc", "")
    for old in {*folder.glob("*.cpp"), *folder.glob("*.c")} - {folder / block.file for block in programs}:
        old.unlink()
    for block in programs:
        write_if_different(folder / block.file, f'#line {block.line} "{block.path}"\n{block.text}')
    # Of no build type: without optimization, which halves the time that it takes.
    for command in (["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=",
                     f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}"],
                    ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return None


def python_with_numpy() -> str:
    """This Python, or that of the environment of the tests, or of the system."""
    candidates = [sys.executable, str(tree.ROOT / ".venv/bin/python"), "/usr/bin/python3"]
    for python in candidates:
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return sys.executable


def run(block: Block, folder: pathlib.Path, prefix: pathlib.Path) -> str | None:
    """Runs it in an empty folder; what went wrong, or None."""
    if block.language == "sh":
        command = ["bash", "-euo", "pipefail", "-c", block.text]
    elif block.language == "python":
        command = [python_with_numpy(), "-B", "-c", block.text]
    else:
        command = [folder / "build" / block.name]
        if block.libraries and not command[0].exists():
            return None
    with tempfile.TemporaryDirectory(prefix="fairlead-docs-") as empty:
        try:
            done = subprocess.run(command, cwd=empty, capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
                                       "PYTHONPATH": str(tree.ROOT / "python"),
                                       "LIBFAIRLEAD": next((str(path) for path in prefix.rglob("libfairlead.so")), "")})
        except subprocess.TimeoutExpired:
            return "did not end within 120 s"
    return None if done.returncode == 0 else f"status {done.returncode}\n{done.stdout}{done.stderr}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--prefix", type=pathlib.Path, required=True, help="where Fairlead is installed")
    options.add_argument("--folder", type=pathlib.Path, required=True, help="where to build")
    options.add_argument("--compiler", default="c++")
    given = options.parse_args()

    blocks = [block for path in pages() for block in blocks_of(str(path), tree.read(path))]
    wrong = mistakes(blocks)
    programs = [block for block in blocks if block.is_program]
    if not wrong and (failure := compile_all(programs, given.folder, given.prefix, given.compiler)):
        wrong.append(failure)
    if not wrong:
        for block in blocks:
            if block.is_run and (failure := run(block, given.folder, given.prefix)):
                wrong.append(f"{block.where}: {failure}")
    print(f"{len(pages())} pages, {len(blocks)} blocks: {len(programs)} programs compiled, "
          f"{sum(block.is_run for block in blocks)} blocks to run")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

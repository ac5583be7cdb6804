"""The files of the repository as the checks see them: everything but what is built or ignored."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = {".git", "build", ".venv", "__pycache__", ".pytest_cache", ".cache"}
SOURCE_FOLDERS = ("include", "src", "apps", "bench", "tests", "python", "experiments")


def files(folder: str = ".") -> list[pathlib.Path]:
    """All files below `folder`, relative to the root, in order."""
    found = []
    for here, folders, names in os.walk(ROOT / folder):
        folders[:] = sorted(set(folders) - NOT_OURS)
        found += [(pathlib.Path(here) / name).relative_to(ROOT) for name in sorted(set(names) - NOT_OURS)]
    return found


def sources() -> list[pathlib.Path]:
    """The C++ files."""
    return [path for folder in SOURCE_FOLDERS for path in files(folder) if path.suffix in (".hpp", ".cpp")]


def read(path: pathlib.Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")

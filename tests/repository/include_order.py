"""The include order of the folders: each includes only from those above it, so any part can be read, tested and
replaced without the parts below. docs/design.md has the list and the reasons."""

import re
from pathlib import Path

# The folders of src/ in order. A folder may include from itself, from those before it, and from the public
# headers, unless NARROWER says less.
ORDER = ("base trace config machine data model policy schedule graph memory engine backend net front report "
         "algorithms solver simulate experiment c").split()

# Folders that may include from these only (and themselves, and the public headers).
NARROWER = {
    # A policy reads only the view; estimates come from the model.
    "schedule": {"base", "data", "model", "policy"},
    # These use policies through their interface only.
    "graph": set(ORDER[:ORDER.index("schedule")]),
    "memory": set(ORDER[:ORDER.index("memory")]) - {"schedule"},
    "engine": set(ORDER[:ORDER.index("engine")]) - {"schedule"},
    "backend": set(ORDER[:ORDER.index("backend")]) - {"schedule"},
    "net": set(ORDER[:ORDER.index("net")]) - {"schedule"},
    # Numerical algorithms use the public interface, as user code does; they add kernels and file formats.
    "algorithms": {"base", "data"},
}

# A declaration of another folder's name, in place of an include.
DECLARED = re.compile(r'^namespace fairlead::(\w+) \{\s*((?:(?:class|struct|enum class) \w+;\s*)+)\}', re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)


def includes(text: str) -> list[tuple[int, str, str]]:
    """(line, '<' or '"', name) of each include; those in /* comments */ do not count."""
    blanked = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return [(blanked.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in INCLUDE.finditer(blanked)]


def allowed(folder: str) -> set[str]:
    return NARROWER[folder] if folder in NARROWER else set(ORDER[:ORDER.index(folder)])


def folder_of_include(path: Path, name: str, sources: dict[Path, str]) -> str | None:
    """The folder of src/ that an include written in `path` reaches; None if it is not there."""
    if Path("src", name) in sources or name.split("/")[0] in ORDER and "/" in name:
        return name.split("/")[0]
    neighbour = path.parent / name  # as in #include "same_folder.hpp"
    if neighbour in sources and neighbour.parts[0] == "src":
        return neighbour.parts[1]
    return None


def declared(text: str) -> list[tuple[int, str, str]]:
    """(line, folder, names) of each block that only declares names of a folder of src/."""
    return [(text.count("\n", 0, match.start()) + 1, match[1], " ".join(match[2].split()))
            for match in DECLARED.finditer(text) if match[1] in ORDER]


def violations(sources: dict[Path, str]) -> list[str]:
    """One line for each include that may not be, for files given by path and text."""
    found = []
    for path, text in sorted(sources.items()):
        public = path.parts[:2] == ("include", "fairlead")
        internal = path.parts[0] == "src" and len(path.parts) > 2
        if not public and not internal:
            if path.parts[0] == "src":
                found.append(f"{path}: sources live in a folder of src/")
            continue
        folder = path.parts[1]
        if internal and folder not in ORDER:
            found.append(f"{path}: src/{folder}/ is not in the list; its place must be decided in ORDER")
            continue
        for line, target, names in declared(text) if internal else []:
            if target != folder and target not in allowed(folder):
                found.append(f"{path}:{line}: {folder}/ may not name what {target}/ has ({names})")
        for line, bracket, name in includes(text):
            where = f"{path}:{line}"
            if "../" in name:
                found.append(f'{where}: "{name}" climbs; write it from src/')
            target = folder_of_include(path, name, sources)
            if public:
                if target is not None or bracket == '"':
                    found.append(f'{where}: a public header includes "{name}", which users do not have')
                elif "/" in name and not name.startswith("fairlead/"):
                    found.append(f"{where}: a public header includes <{name}>; only the standard library may be")
            elif name.startswith("fairlead/"):
                continue
            elif target is not None and target != folder and target not in allowed(folder):
                found.append(f"{where}: {folder}/ may not include from {target}/ ({name})")
    return found

"""No deliberate mistake is in what is installed: neither nm nor strings finds one in the files it is given.

  no_mistakes.py HEADER FILE...          HEADER: src/base/deliberate_mistake.hpp, which lists them
  no_mistakes.py --some HEADER FILE...   one is in each file: so that a search which finds nothing is noticed
"""

import pathlib
import re
import subprocess
import sys


def mistakes(header: str) -> list[str]:
    listed = re.search(r"enum class Mistake[^{]*{(.*?)};", header, re.DOTALL)[1]
    return [name for name in re.findall(r"^ *(\w+),", listed, re.MULTILINE) if name != "none"]


def found_in(file: str, names: list[str]) -> list[str]:
    sought = re.compile(r"(?:Mistake|PlantedBug)\b.*|\b(?:" + "|".join(names) + r")\b|--plant\b|\bplant\b")
    said = "".join(subprocess.run([*program, file], capture_output=True, text=True, check=True, errors="replace").stdout
                   for program in (["nm", "--demangle"], ["strings", "--all"]))
    return sorted(set(sought.findall(said)))


def main() -> int:
    arguments = sys.argv[1:]
    some = arguments[0] == "--some"
    header, *files = arguments[some:]
    names = mistakes(pathlib.Path(header).read_text(encoding="utf-8"))
    if len(names) < 26:
        print(f"{header} lists {len(names)} mistakes, which is too few")
        return 1
    bad = 0
    for file in files:
        found = found_in(file, names)
        print(f"{file}: {', '.join(found) or 'none'}")
        bad += bool(found) != some
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())

"""Does what docs/writing-a-policy.md says, with the installed Fairlead: writes the plug-in, builds it, compares it; then
changes it, and does so again. Fails unless it is as good as the page says."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "writing-a-policy.md"


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def changed(policy: str, function: str) -> str:
    """The policy with another body of the function whose first line is the same."""
    first, last = function.splitlines()[0], function.splitlines()[-1]
    begin = policy.index(first)
    end = policy.index("\n" + last + "\n", begin) + len(last) + 2
    return policy[:begin] + function + policy[end:]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--prefix", type=pathlib.Path, required=True, help="where Fairlead is installed")
    options.add_argument("--compiler", default="c++")
    options.add_argument("--generator", default="Ninja", help="what CMake makes here, where there may be no make")
    given = options.parse_args()
    page = PAGE.read_text()
    policy, better = blocks(page, "cpp fragment policy")
    [project] = blocks(page, "cmake")
    build, compare, look = blocks(page, "sh")[:3]

    with tempfile.TemporaryDirectory(prefix="fairlead-page-") as folder:
        def do(commands: str):
            subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, check=True, env={
                **os.environ, "PATH": f"{given.prefix / 'bin'}:{os.environ['PATH']}", "CXX": given.compiler,
                "CMAKE_PREFIX_PATH": str(given.prefix), "CMAKE_GENERATOR": given.generator, "CXXFLAGS": "-Wall -Wextra -Wpedantic -Werror"})

        def result(text: str) -> dict:
            pathlib.Path(folder, "fewest.cpp").write_text(text)
            do(build)
            do(compare.rstrip() + " --json result.json")
            return {row["scheduler"]: row for row in json.loads(pathlib.Path(folder, "result.json").read_text())}

        pathlib.Path(folder, "CMakeLists.txt").write_text(project)
        first = result(policy)["./build/fewest.so"]
        do(look)
        if not pathlib.Path(folder, "run.html").exists():
            sys.exit("there is no page of the run")
        second = result(changed(policy, better))["./build/fewest.so"]
    wrong = [what for what, holds in {
        "the first moves less than eager at every size": first["most_bytes_ratio"] < 0.8,
        "the first is faster than eager at every size": first["most_time_ratio"] < 0.9,
        "the second moves less than eager at every size": second["most_bytes_ratio"] < 0.8,
        "the second takes a sixth less time than eager": second["time_ratio"] < 0.84,
        "the second is faster than the first": second["time_ratio"] < first["time_ratio"],
    }.items() if not holds]
    print("\n".join(f"not so: {what}" for what in wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""The Debian packages of a finished build: they hold all that is installed, each file once, and what they hold works.

    debian_packages.py SOURCES BUILD FOLDER
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PACKAGES = {"libfairlead0.1", "libfairlead-dev", "fairlead", "fairlead-mpi", "python3-fairlead"}
# A package, and what it must depend on: found in the files by debhelper, or written by hand.
DEPENDENCIES = {
    "libfairlead0.1": ("libc6", "libfmt9", "libhwloc15", "libopenblas0-pthread"),
    "libfairlead-dev": ("libfairlead0.1", "libfmt-dev", "libhwloc-dev"),
    "fairlead": ("libfmt9", "libhwloc15", "libopenblas0-pthread"),
    "fairlead-mpi": ("libopenmpi3", "libmpich12"),
    "python3-fairlead": ("libfairlead0.1", "python3-numpy"),
}


def output_of(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main(sources, build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    built = output_of(sources / "scripts/build-debian-packages", "--of", build, "--output", folder)
    files = {pathlib.Path(line).name.split("_")[0]: pathlib.Path(line) for line in built.split()}
    assert set(files) == PACKAGES, files
    root = folder / "root"
    owners = {}
    for name, file in files.items():
        depends = output_of("dpkg-deb", "--field", file, "Depends")
        for needed in DEPENDENCIES[name]:
            assert re.search(rf"(^|[ ,|]){re.escape(needed)}( |,|$)", depends.strip()), f"{name} depends on {depends}"
        for line in output_of("dpkg-deb", "--contents", file).splitlines():
            mode, path = line.split()[0], line.split(maxsplit=5)[5].split(" -> ")[0]
            if not mode.startswith("d"):
                assert path not in owners, f"{path} is in {owners[path]} and in {name}"
                owners[path] = name
        output_of("dpkg-deb", "--extract", file, root)
    for path in ("./usr/bin/fairlead", "./usr/share/man/man1/fairlead.1.gz", "./usr/include/fairlead/solver.hpp",
                 "./usr/share/bash-completion/completions/fairlead"):
        assert path in owners, path

    # The packages' own tests, on the unpacked files.
    libraries = next(root.glob("usr/lib/**/libfairlead.so")).parent
    packages = root / "usr/lib/python3/dist-packages"
    assert (packages / "fairlead/_tasks.abi3.so").is_file()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FAIRLEAD", "LIBFAIRLEAD"))}
    for test in ("command", "compile"):
        work = folder / test
        work.mkdir()
        environment = kept | {
            "AUTOPKGTEST_TMP": str(work), "PATH": f"{root}/usr/bin:/usr/bin:/bin", "PYTHONPATH": str(packages),
            "LD_LIBRARY_PATH": str(libraries), "PKG_CONFIG_PATH": f"{libraries}/pkgconfig"}
        output_of(sources / "packaging/debian/tests" / test, env=environment, cwd=work)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))

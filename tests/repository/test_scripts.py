"""./run and ./test install or name what is missing, and are silent unless something fails."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tree

NOBODY = 65534


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-scripts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)
        shutil.copytree(tree.ROOT / "scripts", self.folder / "scripts")
        shutil.copy(tree.ROOT / "run", self.folder / "run")
        (self.folder / "bin").mkdir()

    def packages(self, text: str):
        (self.folder / "scripts/packages.txt").write_text(text)

    def program(self, name: str, text: str):
        """Puts a program before all others of its name."""
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def bash(self, text: str, as_nobody: bool = False) -> subprocess.CompletedProcess:
        user = {"user": NOBODY} if as_nobody and os.geteuid() == 0 else {}
        return subprocess.run(["bash", "-c", f"set -euo pipefail; source scripts/common.sh; {text}"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, **user,
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})

    def test_without_root_the_missing_packages_are_named_with_the_command_that_installs_them(self):
        self.packages("# comment\nbash build # there\nno-such-a build # x\nno-such-b test # y\nno-such-c build # z\n")
        self.program("dpkg-query", 'case "$*" in *no-such*) exit 1;; *) printf installed;; esac')
        done = self.bash("require_packages build; echo went on", as_nobody=True)
        self.assertEqual(1, done.returncode)
        self.assertIn("apt-get install --no-install-recommends no-such-a no-such-c\n", done.stderr)
        self.assertEqual("", done.stdout)

    def test_apt_is_not_started_when_nothing_is_missing(self):
        self.packages("bash build # there\n")
        self.program("dpkg-query", "printf installed")
        self.program("apt-get", "touch started; exit 1")
        self.assertEqual(0, self.bash("require_packages build").returncode)
        self.assertFalse((self.folder / "started").exists())

    @unittest.skipUnless(os.geteuid() == 0, "only root installs")
    def test_root_installs_only_what_is_missing(self):
        self.packages("bash build # there\nno-such-a build # x\n")
        self.program("dpkg-query", 'case "$*" in *no-such*) exit 1;; *) printf installed;; esac')
        self.program("apt-get", 'echo "$@" >> started')
        self.assertEqual(0, self.bash("require_packages build").returncode)
        update, install = (self.folder / "started").read_text().splitlines()
        self.assertTrue(update.startswith("update"))
        self.assertTrue(install.startswith("install") and install.endswith(" no-such-a"), install)

    def test_a_removed_package_whose_configuration_is_left_counts_as_missing(self):
        self.program("dpkg-query", "printf config-files")
        self.assertEqual("bash\n", self.bash("missing_packages bash").stdout)

    def test_a_stage_that_succeeds_prints_one_line_with_its_time(self):
        done = self.bash("stage 'some work' echo chatter")
        self.assertRegex(done.stdout, r"^some work +\d+ s\n$")

    def test_a_stage_that_fails_prints_all_its_output_and_keeps_its_status(self):
        done = self.bash("stage 'some work' sh -c 'echo out; echo err >&2; exit 7'")
        self.assertEqual(7, done.returncode)
        self.assertRegex(done.stdout, r"^out\nerr\nsome work .*FAILED \(status 7\)\n$")

    def test_every_package_says_what_it_is_for(self):
        for line in tree.read(pathlib.Path("scripts/packages.txt")).splitlines():
            if line and not line.startswith("#"):
                self.assertRegex(line, r"^[a-z0-9.+-]+ +(build|test|bench|tidy) +# \w")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        scripts = [path for path in ("run", "test", ".ci/run", *map(str, tree.files("scripts")))
                   if path.endswith(".sh") or tree.read(pathlib.Path(path)).startswith("#!/usr/bin/env bash")]
        done = subprocess.run(["shellcheck", "-x", *scripts], cwd=tree.ROOT, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout)

    def share(self, cases: str) -> subprocess.CompletedProcess:
        (self.folder / "results.xml").write_text(f"<testsuite>{cases}</testsuite>")
        return self.bash("scripts/opencl-share results.xml")

    def test_the_share_of_tests_on_opencl_is_said_and_a_skip_fails(self):
        ran = ('<testcase name="OpenclTasks.A" classname="OpenclTasks.A" status="run"/>'
               '<testcase name="EveryPolicy/OpenclPrograms.B/eager" status="run"/><testcase name="CudaTasks.C" status="run"/>'
               '<testcase name="test_d" classname="tests.python.test_opencl"/>')
        done = self.share(ran)
        self.assertEqual((0, "OpenCL: 3 of 3 tests ran on its devices\n"), (done.returncode, done.stdout))
        done = self.share(ran + '<testcase name="opencl.e" status="notrun"><skipped message="no device"/></testcase>')
        self.assertEqual((1, "OpenCL: 3 of 4 tests ran on its devices\n"), (done.returncode, done.stdout))
        self.assertIn("Not run: opencl.e", done.stderr)
        self.assertEqual(1, self.share("").returncode)


if __name__ == "__main__":
    unittest.main()

"""./run and ./test install or name missing packages, and print one line for each stage unless it fails."""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

import tree

UNPRIVILEGED_USER = 65534


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-scripts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)
        shutil.copytree(tree.ROOT / "scripts", self.folder / "scripts")
        shutil.copy(tree.ROOT / "run", self.folder / "run")
        (self.folder / "bin").mkdir()

    def test_no_variable_is_exported_that_programs_reject_as_an_unknown_setting(self):
        for path in [*tree.files("scripts"), pathlib.Path("run"), pathlib.Path("test")]:
            self.assertNotIn("export FAIRLEAD_", tree.read(path), path)

    def packages(self, text: str):
        (self.folder / "scripts/packages.txt").write_text(text)

    def program(self, name: str, text: str):
        """Puts a program before all others of its name."""
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def bash(self, text: str, without_root: bool = False) -> subprocess.CompletedProcess:
        user = {"user": UNPRIVILEGED_USER} if without_root and os.geteuid() == 0 else {}
        return subprocess.run(["bash", "-c", f"set -euo pipefail; source scripts/common.sh; {text}"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, **user,
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})

    def test_without_root_the_missing_packages_are_named_with_the_command_that_installs_them(self):
        self.packages("# comment\nbash build # there\nno-such-a build # x\nno-such-b test # y\nno-such-c build # z\n")
        self.program("dpkg-query", 'case "$*" in *no-such*) exit 1;; *) printf installed;; esac')
        done = self.bash("require_packages build; echo went on", without_root=True)
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

    def test_a_stage_that_succeeds_prints_its_name_and_then_its_time(self):
        done = self.bash("stage 'some work' echo chatter")
        self.assertRegex(done.stdout, r"^some work +\.\.\. \(usually below a minute\)\nsome work +\d+ s\n$")
        self.assertRegex(self.bash("stage 'some work' true").stdout, r"^some work +\.\.\. \(\d+ s the last time\)\n")

    def test_a_stage_is_announced_before_it_begins(self):
        process = subprocess.Popen(["bash", "-c", "source scripts/common.sh; stage slow cat"], cwd=self.folder, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertRegex(process.stdout.readline(), r"^slow +\.\.\. ")  # it waits for its input still
        process.communicate("", timeout=60)
        self.assertEqual(0, process.returncode)

    def on_terminal(self, text: str) -> tuple[int, str]:
        """What a terminal shows, and the status."""
        terminal, end = pty.openpty()
        process = subprocess.Popen(["bash", "-c", f"set -euo pipefail; source scripts/common.sh; {text}"], cwd=self.folder,
                                   stdin=end, stdout=end, stderr=end)
        os.close(end)
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                break
            shown += piece
        os.close(terminal)
        return process.wait(timeout=60), shown.decode()

    def test_on_a_terminal_the_progress_of_ninja_is_shown(self):
        work = "printf '[1/3] a\\n[2/3] b\\nnoise\\n[3/3] c\\n'"
        status, shown = self.on_terminal(f"stage 'some work' {work}")
        self.assertEqual(0, status)
        self.assertEqual(["1/3", "2/3", "3/3"], re.findall(r"\[(\d/\d)\]", shown))
        self.assertNotIn("noise", shown)
        self.assertRegex(shown.split("\r\x1b[K")[-1], r"^some work +\d+ s\r\n$")
        self.assertNotRegex(self.bash(f"stage 'some work' {work}").stdout, r"[\r\x1b]")
        status, shown = self.on_terminal("stage 'some work' sh -c 'echo out; echo err >&2; exit 7'")
        self.assertEqual(7, status)
        self.assertRegex(shown, r"out\r\nerr\r\nsome work .*FAILED \(status 7\)\r\n$")

    def test_the_documented_install_builds_neither_tests_nor_benchmarks(self):
        presets = {one["name"]: one.get("cacheVariables", {})
                   for one in json.loads((tree.ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for page in ("README.md", "docs/your-program.md"):
            preset, again, folder, prefix = re.search(
                r"cmake --preset (\S+) && cmake --build --preset (\S+) && cmake --install build/(\S+) --prefix (\S+)",
                tree.read(pathlib.Path(page))).groups()
            self.assertEqual({preset}, {again, folder})
            self.assertEqual(("OFF", "OFF"), (presets[preset]["FAIRLEAD_BUILD_TESTS"], presets[preset]["FAIRLEAD_BUILD_BENCH"]))
            self.assertEqual("Release", presets[preset]["CMAKE_BUILD_TYPE"])
        page = tree.read(pathlib.Path("docs/your-program.md"))
        self.assertIn(f"-DCMAKE_PREFIX_PATH={prefix} ", page)
        self.assertIn(f"PKG_CONFIG_PATH={prefix}/lib", page)

    def test_a_stage_that_fails_prints_all_its_output_and_keeps_its_status(self):
        done = self.bash("stage 'some work' sh -c 'echo out; echo err >&2; exit 7'")
        self.assertEqual(7, done.returncode)
        self.assertRegex(done.stdout, r"^some work +\.\.\. .*\nout\nerr\nsome work .*FAILED \(status 7\)\n$")

    def test_every_package_states_its_purpose(self):
        for line in tree.read(pathlib.Path("scripts/packages.txt")).splitlines():
            if line and not line.startswith("#"):
                self.assertRegex(line, r"^[a-z0-9.+-]+ +(build|test|bench|tidy) +# \w")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_no_findings(self):
        scripts = [path for path in ("run", "test", ".ci/run", *map(str, tree.files("scripts")))
                   if path.endswith(".sh") or tree.read(pathlib.Path(path)).startswith("#!/usr/bin/env bash")]
        done = subprocess.run(["shellcheck", "-x", *scripts], cwd=tree.ROOT, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stdout)

    def check_skips(self, cases: str) -> subprocess.CompletedProcess:
        (self.folder / "tests").mkdir(exist_ok=True)
        (self.folder / "tests/skips.txt").write_text("# why\nPlaces.*: may not mount\ntest_mpi.py::test_a: another MPI\n")
        (self.folder / "results.xml").write_text(f"<testsuite>{cases}</testsuite>")
        return self.bash("scripts/check-skips results.xml")

    def test_skipped_tests_are_listed_and_an_unexpected_one_fails(self):
        ran = ('<testcase name="OpenclTasks.A" classname="OpenclTasks.A" status="run"/>'
               '<testcase name="EveryPolicy/OpenclPrograms.B/eager" status="run"/><testcase name="CudaTasks.C" status="run"/>'
               '<testcase name="test_d" classname="tests.python.test_opencl"/>')
        done = self.check_skips(ran)
        self.assertEqual((0, "OpenCL: 3 of 3 tests ran on its devices\nSkipped: 0 of 4 tests\n"), (done.returncode, done.stdout))
        done = self.check_skips(ran + '<testcase name="Places.B" status="notrun"><skipped message="root"/></testcase>'
                                '<testcase name="test_a[mpich]" classname="tests.python.test_mpi"><skipped/></testcase>')
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("Skipped: 2 of 6 tests\n  Places.B\n  test_mpi.py::test_a\n", done.stdout)
        done = self.check_skips(ran + '<testcase name="opencl.e" status="notrun"><skipped message="no device"/></testcase>')
        self.assertEqual(1, done.returncode)
        self.assertIn("not in tests/skips.txt: opencl.e", done.stderr)
        self.assertEqual(1, self.check_skips("").returncode)

    def test_the_tests_that_failed_are_named_with_the_first_lines_of_their_failures(self):
        failed = "".join(f'<testcase name="A.{index}" classname="A.{index}" status="fail"><failure message="Failed"/><system-out>'
                         f"noise\na.cpp:7: Failure\n  Expected: {index}\n{'x' * 500}</system-out></testcase>" for index in range(14))
        of_pytest = '<testcase name="test_b[1]" classname="b"><failure message="assert 1 == 2">E   assert 1 == 2</failure></testcase>'
        (self.folder / "c.xml").write_text(f'<testsuite><testcase name="good"/>{failed}</testsuite>')
        (self.folder / "p.xml").write_text(f"<testsuites><testsuite>{of_pytest}</testsuite></testsuites>")
        done = self.bash("scripts/failed-tests p.xml absent.xml c.xml")
        self.assertEqual(0, done.returncode, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(["failed: test_b[1]", "    E   assert 1 == 2"], lines[:2])
        self.assertEqual(["failed: A.0", "    Failed", "    a.cpp:7: Failure", "    Expected: 0"], lines[2:6])
        self.assertEqual("... and 3 more", lines[-1])
        self.assertNotIn("good", done.stdout)
        self.assertEqual("", self.bash("scripts/failed-tests absent.xml").stdout)


if __name__ == "__main__":
    unittest.main()

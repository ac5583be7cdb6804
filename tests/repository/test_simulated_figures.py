"""The simulated figures of docs/papers-details.md come from experiments' verdicts."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import tree

SCRIPT = tree.ROOT / "scripts" / "state-simulated-figures"
PAGE = """# Rows
- **Simulated:** <!-- simulated: a/fig-1 b/* -->old: 99<!-- end -->
- **Where:** there
"""


class SimulatedFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fairlead-figures-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE)

    def experiment(self, name: str, values: list, claims: list):
        path = self.folder / "out" / name / "verdicts.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({
            "experiment": name, "title": "", "paper": "",
            "values": [dict(zip(("line", "unit", "paper", "here", "verdict"), value)) for value in values],
            "claims": [{"claim": "it is so", "here": "", "verdict": verdict} for verdict in claims]}))

    def fill(self):
        return subprocess.run([SCRIPT, self.folder / "out", self.page], capture_output=True, text=True)

    def test_verdicts_are_counted_and_values_stated(self):
        self.experiment("a/fig-1", [("EAGER", "GB moved", 1312, 1233.4, "reproduced"), ("LWS", "GB moved", 85, 8.25, "differs"),
                                    ("bus", "GB moved", 7, 7, "input")], ["reproduced", "tie", "differs"])
        self.experiment("b/fig-2", [], ["reproduced", "duplicate"])
        self.experiment("b/fig-3", [], ["missing"])
        self.assertEqual(0, self.fill().returncode)
        text = self.page.read_text()
        self.assertIn("`a/fig-1`: of 2 claims 1 reproduced, 1 not; of 2 values 1 reproduced, 1 not; GB moved, here for the "
                      "paper's: EAGER 1,233 for 1,312, LWS 8.25 for 85.0, bus 7.00 for 7.00 (an input). "
                      "`b/*`: of 2 claims 1 reproduced, 1 missing<!-- end -->", text)
        self.assertNotIn("old: 99", text)
        before = text
        self.fill()
        self.assertEqual(before, self.page.read_text())

    def test_an_experiment_that_was_not_run_is_an_error(self):
        self.experiment("a/fig-1", [], [])
        run = self.fill()
        self.assertEqual(1, run.returncode)
        self.assertIn("no experiment b/* was run", run.stderr)
        self.assertEqual(PAGE, self.page.read_text())

    def test_the_page_names_experiments_that_exist(self):
        named = re.findall(r"<!-- simulated: ([^>]+?) -->", tree.read(pathlib.Path("docs/papers-details.md")))
        self.assertGreater(len(named), 10)
        for pattern in " ".join(named).split():
            self.assertTrue(list((tree.ROOT / "experiments").glob(pattern + ".toml")), pattern)


if __name__ == "__main__":
    unittest.main()

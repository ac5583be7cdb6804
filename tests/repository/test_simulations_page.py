"""The page of simulated tables and figures has the two marks between which `fairlead experiment run --markdown` writes."""

import pathlib
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs/papers-simulated.md"


class SimulationsPage(unittest.TestCase):
    def test_it_has_a_place_for_experiments(self):
        lines = PAGE.read_text().splitlines()
        marks = [line for line in lines if line in ("<!-- experiments: made by fairlead experiment run -->", "<!-- end of experiments -->")]
        self.assertEqual(marks, ["<!-- experiments: made by fairlead experiment run -->", "<!-- end of experiments -->"])


if __name__ == "__main__":
    unittest.main()

"""docs/performance.md is what scripts/bench-all writes from its data, which are of one commit and one full run."""

import json
import sys
import unittest

import tree

sys.dont_write_bytecode = True
sys.path.insert(0, str(tree.ROOT / "scripts"))

import performance_page  # noqa: E402

MOST_BYTES = 300_000
MOST_MINUTES = 60


def with_sections(sections: dict) -> dict:
    parameters = {"n": 8, "rounds": 2, "workers": 2, "quick": False, "milliseconds": 2, "processor": "2 cores"}
    return {"commit": "abc", "machine": "2 cores", "kernels": "K", "versions": {"GCC": "12"}, "parameters": parameters,
            "sections": {name: {"began": "2026-01-01 00:00", "minutes": 1.5, "notes": notes, "records": records}
                         for name, (notes, records) in sections.items()}}


def ranks(rates: dict) -> list[dict]:
    return [{"n": 8, "ranks": 2, "grid": [1, 2], "block": 4, "tile": 2, "tile_of_one": 2, "rates": rates, "error_of_scalapack": 1e-15,
             "backward_error": 1e-15}]


class PerformancePage(unittest.TestCase):
    def test_the_page_is_generated_from_the_data(self):
        data = json.loads(performance_page.DATA.read_text())
        self.assertEqual(performance_page.page(data), performance_page.PAGE.read_text(), "run scripts/bench-all --page")

    def test_the_data_are_of_one_full_run(self):
        text = performance_page.DATA.read_text()
        data = json.loads(text)
        self.assertLess(len(text), MOST_BYTES)
        self.assertEqual(text, performance_page.serialized(data))
        self.assertFalse(data["parameters"]["quick"])
        self.assertNotIn("dirty", data["commit"])
        self.assertEqual([name for name, _, _ in performance_page.SECTIONS], list(data["sections"]))
        self.assertLess(sum(section["minutes"] for section in data["sections"].values()), MOST_MINUTES)
        for section in data["sections"].values():
            self.assertTrue(section["records"] or section["notes"])

    def test_the_page_names_what_was_not_measured(self):
        page = performance_page.page(with_sections({"mapped": (["No cgroup."], [])}))
        self.assertIn("No cgroup.\n\n## Comparison with a mapped file\n\nNo cgroup.\n\n<sub>", page)

    def test_statements_follow_from_the_figures(self):
        for ours, said in (([2.0, 2.1], "faster than"), ([0.5, 0.52], "slower than"), ([0.9, 1.1], "do not differ")):
            rates = {"ranks": ours, "scalapack": [1.0, 1.0], "one rank": [1.0, 1.0]}
            self.assertIn(said, performance_page.page(with_sections({"scalapack": ([], ranks(rates))})))

    def test_the_section_of_python_states_times_ratios_and_memory(self):
        systems = [{"what": "system", "system": name, "scipy": "1.9", "dask": "26.8", "blas": "OpenBLAS"} for name in ("fairlead", "scipy", "dask")]
        runs = [{"what": what, "case": case, "n": 100, "system": system, "seconds": seconds, "growth_bytes": 3 << 20}
                for what, cases, names in (("memory", ("pos", "sym", "gen", "lstsq"), ("fairlead", "scipy", "dask")),
                                           ("small", ("pos", "sym", "gen", "lstsq"), ("fairlead", "scipy", "dask")),
                                           ("file", ("pos",), ("fairlead", "fairlead, a quarter", "dask")))
                for case in cases for number, system in enumerate(names) for seconds in (number + 1.0, number + 1.0)]
        limited = {"what": "limited", "case": "pos", "n": 100, "system": "scipy", "bytes": 5 << 20, "error": "MemoryError: no"}
        page = "\n".join(performance_page.python({"commit": "abc", "began": "2026-01-01 00:00", "minutes": 1.5, "processor": "2 cores",
                                                  "records": [*systems, *runs, limited]}))
        self.assertIn("| least squares, 100 x 50 | 1.00 (1.00-1.00) s | 2.00 (2.00-2.00) s | 3.00 (3.00-3.00) s | 0.500 (0.500-0.500) |", page)
        self.assertIn("| SciPy, 5 MiB of addresses | MemoryError |  |", page)
        self.assertIn("Fairlead takes 2.000 (2.000-2.000) times as long", page)

    def test_prose_is_wrapped_and_tables_are_not(self):
        long = "word " * 30
        self.assertEqual(2, len(performance_page.wrapped(long).splitlines()))
        self.assertEqual(f"| {long} |", performance_page.wrapped(f"| {long} |"))

    def test_six_digits_are_kept(self):
        data = with_sections({"mapped": ([], [{"seconds": 1.23456789, "n": 1234567}])})
        self.assertEqual({"seconds": 1.23457, "n": 1234567},
                         json.loads(performance_page.serialized(data))["sections"]["mapped"]["records"][0])


if __name__ == "__main__":
    unittest.main()

"""The picture in docs/design.md is that of the files."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import unittest

import tree


class House(unittest.TestCase):
    def test_the_picture_shows_the_folders_as_they_are(self):
        drawn = subprocess.run([sys.executable, tree.ROOT / "scripts" / "draw-house", "--check"], capture_output=True,
                               text=True, timeout=60)
        self.assertEqual((0, ""), (drawn.returncode, drawn.stdout + drawn.stderr))

    def test_arrows_that_follow_from_others_are_left_out(self):
        loader = importlib.machinery.SourceFileLoader("draw_house", str(tree.ROOT / "scripts" / "draw-house"))
        house = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_house", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(house)
        found = {"memory": {"data", "base"}, "data": {"base"}, "base": set(), "engine": {"memory", "base"}}
        self.assertEqual([("engine", "memory"), ("memory", "data"), ("data", "base")], house.reduced(found))


if __name__ == "__main__":
    unittest.main()

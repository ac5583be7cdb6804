"""The picture of the HTML page shows a run at full speed, and docs/reports.md what that run printed."""

import hashlib
import json
import pathlib
import unittest

import tree

DATA = pathlib.Path("docs/data/report-picture.json")
PICTURE = pathlib.Path("docs/pictures/report.png")
LEAST_PERCENT = 90


def defects(run: dict, picture: bytes, page: str) -> list[str]:
    found = []
    if run["ceiling_percent"] < LEAST_PERCENT:
        found.append(f"the run reached {run['ceiling_percent']} % of its ceiling, less than {LEAST_PERCENT}")
    if hashlib.sha256(picture).hexdigest() != run["picture_sha256"]:
        found.append(f"{PICTURE} is not the picture of this run")
    if f"```\n{run['text']}```\n" not in page:
        found.append("docs/reports.md does not show what this run printed")
    if f"{run['command']}\n" not in page:
        found.append("docs/reports.md does not show the command of this run")
    return found


class ReportPicture(unittest.TestCase):
    def test_picture_and_page_show_one_run_at_full_speed(self):
        run = json.loads(tree.read(DATA))
        self.assertEqual([], defects(run, (tree.ROOT / PICTURE).read_bytes(), tree.read(pathlib.Path("docs/reports.md"))),
                         "scripts/take-report-picture writes all three")

    def test_a_slow_run_and_another_picture_are_found(self):
        run = {"ceiling_percent": 89.9, "picture_sha256": hashlib.sha256(b"a").hexdigest(), "text": "Speed\n", "command": "fairlead"}
        self.assertEqual(1, len(defects(run, b"a", "```sh\nfairlead\n```\n```\nSpeed\n```\n")))
        self.assertEqual(4, len(defects(run, b"b", "")))


if __name__ == "__main__":
    unittest.main()

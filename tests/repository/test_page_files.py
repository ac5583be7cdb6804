"""The scripts, styles and markup of pages (src/report/html): each is a separate file that can be read and checked, all are
used, and a page requests nothing from the network. `node --check` parses them if node is installed; the other tests always
run."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import tree

FOLDER = Path("src/report/html")
KB = 1024
COMMENT = {".js": "// ", ".css": "/* ", ".html": "<!-- "}
# Network requests, and text used as markup or script.
FORBIDDEN = r"https?:|//cdn|@import|url\(|\bfetch\b|XMLHttpRequest|\bimport\b|\beval\b|new Function|innerHTML|document\.write"
COLOUR = r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b"
OWN_COLOURS = {"charts/light.css", "charts/dark.css", "charts/colours.js"}


def page_files() -> dict[str, str]:
    return {str(path.relative_to(FOLDER)): tree.read(path) for path in tree.files(str(FOLDER)) if path.suffix in COMMENT}


def lists_in(page: str) -> dict[str, list[str]]:
    """The lists of files of page.cpp, by name."""
    named = re.findall(r"constexpr std::string_view (\w+)(?:\[\])? =\s*(.*?);", page, re.DOTALL)
    return {name: re.findall(r'"([^"]+)"', names) for name, names in named}


def scripts_by_page() -> dict[str, list[str]]:
    lists = lists_in(tree.read(FOLDER / "page.cpp"))
    pictures = {"a run": ["run_scripts"], "a simulated run": ["run_scripts", "order_scripts"],
                "several runs": ["timelines_scripts", "order_scripts"]}
    return {name: lists["shared_scripts"] + [one for part in parts for one in lists[part]] + lists["last_script"]
            for name, parts in pictures.items()}


def without_text(script: str) -> str:
    """JavaScript or CSS without comments and without what is within quotes; what a template computes stays. Raises ValueError,
    naming the line, if something is not closed."""
    closing = {"(": ")", "[": "]", "{": "}"}
    out, open_ones, at = [], [], 0

    def line():
        return script.count("\n", 0, at) + 1

    while at < len(script):
        template = bool(open_ones) and open_ones[-1][0] == "`"
        here = script[at]
        if template and here == "`":
            open_ones.pop()
        elif template and script.startswith("${", at):
            open_ones.append(("{", line()))
            out.append("{")
            at += 1
        elif template:
            at += here == "\\"
        elif script.startswith("//", at):
            at = script.find("\n", at) if "\n" in script[at:] else len(script)
            continue
        elif script.startswith("/*", at):
            end = script.find("*/", at)
            if end < 0:
                raise ValueError(f"line {line()}: a comment is not closed")
            at = end + 1
        elif here in "\"'":
            end = re.compile(r"(?:[^\\\n]|\\.)*?" + here).match(script, at + 1)
            if not end:
                raise ValueError(f"line {line()}: {here} is not closed")
            at = end.end() - 1
            out.append('""')
        elif here == "`":
            open_ones.append(("`", line()))
        elif here in closing:
            open_ones.append((here, line()))
            out.append(here)
        elif here in closing.values():
            if not open_ones or closing.get(open_ones[-1][0]) != here:
                raise ValueError(f"line {line()}: {here} closes nothing")
            open_ones.pop()
            out.append(here)
        else:
            out.append(here)
        at += 1
    if open_ones:
        raise ValueError("line {1}: {0} is not closed".format(*open_ones[-1]))
    return "".join(out)


def names_at_the_top(script: str) -> list[str]:
    """What a script declares for all that follow it."""
    top, depth = [], 0
    for here in without_text(script):
        if here in ")]}":
            depth -= 1
        pattern = depth == 1 and re.search(r"\b(?:const|let) \{[\w, ]*$", "".join(top[-60:]))
        if depth == 0 or pattern:
            top.append(here)
        if here in "([{":
            depth += 1
            if depth == 1 and top[-1] != here:
                top.append(here)
    declared = "".join(top)
    names = re.findall(r"^(?:class|function) (\w+)", declared, re.MULTILINE)
    for statement in re.findall(r"^(?:const|let) ([^;]*)", declared, re.MULTILINE):
        pattern = re.match(r"\{([^}]*)", statement)
        names += re.findall(r"\w+", pattern.group(1)) if pattern else re.findall(r"(?:^|, )(\w+)(?= =[^>=]|,|$)", statement)
    return names


def node(script: str, **data) -> object:
    """What a script makes of data."""
    done = subprocess.run(["node", "-"], input=f"const data = {json.dumps(data)};\n{script}", capture_output=True, text=True,
                          timeout=60)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


# As `node --check` does, but of all in one process: the message of each that cannot be read.
CHECK = """
const vm = require("vm"), wrong = {};
for (const [name, text] of Object.entries(data.scripts))
  try { new vm.Script('"use strict";' + text); } catch (error) { wrong[name] = error.stack.split("\\n").slice(0, 5).join(" | "); }
console.log(JSON.stringify(wrong));
"""


class PageFiles(unittest.TestCase):
    def setUp(self):
        self.files = page_files()

    def test_each_is_named_in_page_cpp_once_and_there(self):
        named = [name for names in lists_in(tree.read(FOLDER / "page.cpp")).values() for name in names]
        named += re.findall(r'Picture \w+\{"([^"]+)"', tree.read(FOLDER / "page.cpp"))
        named += re.findall(r'page_file\("([^"]+)"\)', tree.read(FOLDER / "page.cpp"))
        self.assertEqual(sorted(self.files), sorted(named))

    def test_each_begins_with_a_comment_and_is_small(self):
        for name, text in self.files.items():
            with self.subTest(name):
                self.assertTrue(text.removeprefix("<!DOCTYPE html>\n").startswith(COMMENT[Path(name).suffix]))
                self.assertLess(len(text.encode()), 6 * KB)

    def test_brackets_quotes_and_comments_are_closed(self):
        for name, text in self.files.items():
            if not name.endswith(".html"):
                with self.subTest(name):
                    without_text(text)

    def test_nothing_ends_the_enclosing_element(self):
        for name, text in self.files.items():
            with self.subTest(name):
                self.assertNotIn(')embedded"', text)
                if not name.endswith(".html"):
                    self.assertNotIn("</", text)

    def test_nothing_is_requested_from_the_network(self):
        self.assertEqual({}, {name: found for name, text in self.files.items() if (found := re.findall(FORBIDDEN, text))})

    def test_colours_are_in_one_place(self):
        found = {name: re.findall(COLOUR, without_text(text) if name.endswith(".css") else text)
                 for name, text in self.files.items() if name not in OWN_COLOURS}
        for path in tree.sources():
            if path.parts[:2] in {("src", "report"), ("src", "experiment")}:
                found[str(path)] = re.findall(r'"[^"]*?(' + COLOUR + ')', re.sub(r"//.*", "", tree.read(path)))
        self.assertEqual({}, {name: colours for name, colours in found.items() if colours})

    def test_every_colour_that_is_used_is_there(self):
        there = set(re.findall(r"--(\w+):", self.files["charts/light.css"]))
        self.assertLessEqual(set(re.findall(r"--(\w+):", self.files["charts/dark.css"])), there)
        for name, text in self.files.items():
            self.assertLessEqual(set(re.findall(r"var\(--(\w+)\)", text)), there, name)

    def test_scripts_of_a_page_declare_no_name_twice(self):
        for page, scripts in scripts_by_page().items():
            with self.subTest(page):
                names = [name for script in scripts for name in names_at_the_top(self.files[script])]
                self.assertGreater(len(names), 20)
                self.assertEqual([], sorted({name for name in names if names.count(name) > 1}))

    def test_every_name_is_used(self):
        scripts = {name: text for name, text in self.files.items() if name.endswith(".js")}
        everything = "\n".join(re.sub(r"//.*", "", text) for text in scripts.values())
        for name, text in scripts.items():
            unused = [one for one in names_at_the_top(text) if len(re.findall(rf"\b{one}\b", everything)) < 2]
            self.assertEqual([], unused, name)

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_node_reads_each_and_all_of_a_page_together(self):
        scripts = {name: text for name, text in self.files.items() if name.endswith(".js")}
        scripts |= {page: "".join(self.files[name] for name in names) for page, names in scripts_by_page().items()}
        self.assertEqual({}, node(CHECK, scripts=scripts))
        self.assertEqual({"wrong"}, set(node(CHECK, scripts={"wrong": "const a = 1; const a = 2;", "right": "f(1);"})))

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_round_steps_are_those_of_the_library(self):
        """The cases of tests/report/axis_test.cpp, by axis.js."""
        test = tree.read(Path("tests/report/axis_test.cpp"))
        cases = [[float(number) for number in case] for case in re.findall(r"\{([\d.e-]+), (\d+), ([\d.e-]+)\}", test)]
        self.assertGreater(len(cases), 10)
        script = self.files["charts/axis.js"]
        script += "console.log(JSON.stringify(data.cases.map(([range, wanted]) => roundStep(range, wanted))));"
        found = node(script, cases=cases)
        for step, (span, wanted, expected) in zip(found, cases):
            self.assertAlmostEqual(1, step / expected, places=12, msg=f"{span} in {wanted}")


class Checks(unittest.TestCase):
    """They find what they are there to find."""

    def test_unclosed_brackets_are_found(self):
        for script in ("f(1;", "const a = [1, 2};", "const a = 'b;\n", "const a = `b", "/* a", "a)", "`${a`", "a = {\n"):
            with self.assertRaises(ValueError, msg=script):
                without_text(script)

    def test_brackets_in_text_are_ignored(self):
        for script in ("f('(');", 'a = "it\'s"; // )', "/* ( */ a[0]", "`a ( ${f(`b ${c}`)} '`;", "a / b / c", r"a = '\'';"):
            without_text(script)

    def test_names(self):
        script = ("const a = 1, b = (x, y) => ({c: [1, 2]});\nlet {d, e} = f(g);\nfunction h(i) {\n  const j = 1;\n}\nclass K {}\n"
                  "let l, m = 2;\nconst n = a < b ? 1 : 2;\n")
        self.assertEqual(sorted("abdehKlmn"), sorted(names_at_the_top(script)))

    def test_a_colour_and_a_question(self):
        self.assertEqual(["#fff", "#0072b2"], re.findall(COLOUR, "a #fff b#0072b2; #plot &#9680;"))
        self.assertTrue(re.search(FORBIDDEN, "background: url(x.png)"))


if __name__ == "__main__":
    unittest.main()

"""A virtual function that is new in Policy or View is passed on by those who stand around another one: a compiler does
not notice if one is forgotten, since most have a default."""

import re
import unittest

import tree

VIRTUAL = re.compile(r"\bvirtual\b[^;{]*?(~?\w+)\(([^)]*)\)")
OVERRIDE = re.compile(r"(\w+)\(([^()]*)\)\s*(?:const\s*)?override")


def kinds(parameters: str) -> tuple[str, ...]:
    """The types of the parameters, without their names and defaults: enough to tell overloads apart."""
    return tuple(re.findall(r"[A-Za-z]\w*", part.replace("const", "").replace("std::", ""))[0]
                 for part in parameters.split(",") if part.strip())


def declared(pattern: re.Pattern[str], text: str) -> set[tuple[str, tuple[str, ...]]]:
    without_comments = re.sub(r"//[^\n]*", "", text)
    return {(name, kinds(parameters)) for name, parameters in pattern.findall(without_comments)
            if not name.startswith("~")}


def class_in(path: str, name: str) -> str:
    """The text of a class, up to the brace that ends it at the beginning of a line."""
    return re.search(rf"^class {name}\b.*?^}};", tree.read(tree.pathlib.Path(path)), re.MULTILINE | re.DOTALL)[0]


def forgotten(interface: str, wrapper: str) -> set[tuple[str, tuple[str, ...]]]:
    return declared(VIRTUAL, interface) - declared(OVERRIDE, wrapper)


class Forwarding(unittest.TestCase):
    def test_a_wrapper_of_a_policy_passes_everything_on(self):
        policy = class_in("src/policy/policy.hpp", "Policy")
        self.assertGreater(len(declared(VIRTUAL, policy)), 20)
        self.assertEqual(set(), forgotten(policy, tree.read(tree.pathlib.Path("src/policy/forwarding_policy.hpp"))))

    def test_a_wrapper_of_a_view_passes_everything_on(self):
        view = class_in("src/policy/view.hpp", "View")
        self.assertGreater(len(declared(VIRTUAL, view)), 12)
        self.assertEqual(set(), forgotten(view, tree.read(tree.pathlib.Path("src/policy/forwarding_view.hpp"))))

    def test_the_one_that_is_forgotten_is_found(self):
        interface = "virtual int a(Task& t) const = 0;\nvirtual void b() {}\nvirtual int a(NodeId) = 0;  // virtual x()\n"
        self.assertEqual({("b", ()), ("a", ("NodeId",))}, forgotten(interface, "int a(Task&) const override {}"))


if __name__ == "__main__":
    unittest.main()

"""The recipes of packaging/: versions and options are those of the build; each recipe is read by the tool it is for, or, where
that is not installed, by the language it is written in."""

import re
import unittest

import tree

VERSION = re.search(r"project\(fairlead VERSION ([0-9.]+)", tree.read("CMakeLists.txt"))[1]
OPTIONS = set(re.findall(r"FAIRLEAD_[A-Z_]+", " ".join(
    line for path in ("CMakeLists.txt", *(path for path in tree.files("cmake") if path.suffix == ".cmake")) for line in tree.read(path).splitlines()
    if line.startswith("option(") or "CACHE" in line))) | {"FAIRLEAD_NVCC"}
RECIPES = ("packaging/debian/rules", "packaging/conda/recipe.yaml", "packaging/spack/fairlead/package.py")
# What the recipes call the libraries whose headers cmake/dependencies.cmake looks for.
NAMES_OF_HEADERS = {
    "hwloc.h": ("libhwloc-dev", "libhwloc", "hwloc"), "fmt/format.h": ("libfmt-dev", "fmt", "fmt"),
    "CLI/CLI.hpp": ("libcli11-dev", "cli11", "cli11"), "toml++/toml.h": ("libtomlplusplus-dev", "tomlplusplus", "tomlplusplus"),
    "nlohmann/json.hpp": ("nlohmann-json3-dev", "nlohmann_json", "nlohmann-json"),
    "protozero/pbf_writer.hpp": ("libprotozero-dev", "protozero", "protozero"),
    "xxhash.h": ("libxxhash-dev", "xxhash", "xxhash"),
}


class RecordedSpackRecipe:
    """Runs a recipe for Spack with directives that only note their arguments."""

    DIRECTIVES = ("license", "version", "variant", "depends_on", "extends", "generator", "conflicts")

    def __init__(self, text):
        self.calls = []
        names = {name: self._noting(name) for name in self.DIRECTIVES}
        names |= {"CMakePackage": object, "run_after": lambda *_, **__: lambda method: method}
        exec(compile(re.sub(r"from spack.package import .*", "", text), "package.py", "exec"), names)
        self.package = names["Fairlead"]

    def _noting(self, name):
        return lambda *words, **settings: self.calls.append((name, words, settings))

    def names(self, directive):
        return {words[0].split("@")[0] for name, words, _ in self.calls if name == directive}


class Packaging(unittest.TestCase):
    def test_the_options_exist(self):
        for path in RECIPES:
            used = set(re.findall(r"FAIRLEAD_[A-Z_]+", tree.read(path)))
            self.assertTrue(used, path)
            self.assertEqual(used - OPTIONS, set(), path)

    def test_the_versions_are_that_of_the_project(self):
        self.assertIn(f"fairlead ({VERSION}-", tree.read("packaging/debian/changelog"))
        self.assertIn(f"  version: {VERSION}\n", tree.read("packaging/conda/recipe.yaml"))
        interface = ".".join(VERSION.split(".")[:2])
        self.assertIn(f"Package: libfairlead{interface}\n", tree.read("packaging/debian/control"))

    def test_the_recipes_name_every_library_that_is_compiled_with(self):
        needed = re.search(r"set\(headers_needed ([^)]*)\)", tree.read("cmake/dependencies.cmake"))[1].split()
        self.assertEqual(set(needed), set(NAMES_OF_HEADERS))
        debian = tree.read("packaging/debian/control")
        conda = re.search(r"  host:\n((?:    - .*\n)*)", tree.read("packaging/conda/recipe.yaml"))[1]
        spack = RecordedSpackRecipe(tree.read("packaging/spack/fairlead/package.py")).names("depends_on")
        for of_debian, of_conda, of_spack in NAMES_OF_HEADERS.values():
            self.assertRegex(debian, rf"(?m)^ +{re.escape(of_debian)},?$")
            self.assertIn(f"    - {of_conda}\n", conda)
            self.assertIn(of_spack, spack)

    def test_the_recipe_for_spack_has_options_and_files_of_the_project(self):
        text = tree.read("packaging/spack/fairlead/package.py")
        recipe = RecordedSpackRecipe(text)
        self.assertEqual(recipe.names("variant"), {"shared", "mpi", "python"})
        for variant in re.findall(r"define_from_variant\(\"\w+\", \"(\w+)\"\)", text):
            self.assertIn(variant, recipe.names("variant"))
        for folder in re.findall(r"install_tree\(\"([^\"]+)\"", text):
            self.assertTrue((tree.ROOT / folder).is_dir(), folder)

    def test_the_recipe_for_conda_is_rendered(self):
        try:
            import rattler_build
        except ImportError:
            self.skipTest("rattler_build is not installed")
        recipe = rattler_build.Stage0Recipe.from_yaml(tree.read("packaging/conda/recipe.yaml"))
        variants = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]})
        (rendered,) = (variant.recipe.to_dict() for variant in recipe.render(variants))
        self.assertEqual((rendered["package"]["name"], rendered["package"]["version"]), ("fairlead", VERSION))


if __name__ == "__main__":
    unittest.main()

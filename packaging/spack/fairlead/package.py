# ruff: noqa: F405
"""A recipe for Spack: copy this folder into a repository's `packages`."""

from spack.package import *  # noqa: F403 - as every recipe for Spack has it


class Fairlead(CMakePackage):
    """Runs task graphs on data larger than memory, and solves dense linear systems with them."""

    license("BSD-3-Clause")
    # The archive of the release: scripts/release prints its checksum for `version("0.1.0", sha256=...)`.
    version("main", branch="main")

    variant("shared", default=True, description="Build the shared library next to the static one")
    variant("mpi", default=False, description="Build the plug-in for programs that mpirun starts")
    variant("python", default=True, when="+shared", description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("hwloc")
    depends_on("nlohmann-json")
    depends_on("protozero")
    depends_on("tomlplusplus")
    depends_on("xxhash")
    depends_on("openblas", type="run")  # loaded at run time
    depends_on("mpi", when="+mpi")
    extends("python@3.9:", when="+python")
    depends_on("py-numpy@1.23:", type="run", when="+python")

    generator("ninja")
    conflicts("%gcc@:11", msg="C++20")

    def cmake_args(self):
        return [
            self.define("FAIRLEAD_UNITY", True),
            self.define("FAIRLEAD_BUILD_TESTS", False),
            self.define("FAIRLEAD_BUILD_BENCH", False),
            self.define_from_variant("FAIRLEAD_BUILD_SHARED", "shared"),
        ]

    @run_after("install", when="+python")
    def install_python_package(self):
        install_tree("python/fairlead", join_path(python_platlib, "fairlead"))

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.set("LIBFAIRLEAD", join_path(self.prefix.lib, "libfairlead.so"))

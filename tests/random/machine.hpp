// A random machine for a program: one to three caches over user memory and a disk, slow links between them.
#pragma once
#include "machine/topology.hpp"
#include "random/program.hpp"

namespace fairlead::random_runs {

/// `tight`: no cache holds much more than the largest footprint. Of `several_kinds`, both exist.
Topology random_machine(Random& random, const RandomProgram& program, bool tight, bool several_kinds);

}  // namespace fairlead::random_runs

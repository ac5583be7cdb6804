// HETEROPRIO: a task has a priority for each kind of worker, that of its bucket, and a slow kind leaves the
// last tasks of a bucket to the fast one. LAHETEROPRIO: the same with a list for each bucket and memory node.
// Bramas, *Impact study of data locality on task-based applications through the Heteroprio scheduler*, 2019.
//
// What the paper leaves open is decided so: lists are first in, first out; those who steal from another
// node's list take from its back; what the user does not say is found by the models' estimates; and nothing
// waits for ever: when nothing runs, thresholds do not count.
//
// Nothing is fetched ahead for tasks in the lists. They are not any worker's yet: with one list, all devices
// would fetch for its first tasks. And what came for a task that waits would make the affinity that has
// placed it look steady, and the others not.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule {

inline constexpr std::array heteroprio_options{
    PolicyOption{"cpu", "found", "codelets in the order in which cores look for them: potrf/trsm+syrk/gemm"},
    PolicyOption{"emulated", "found", "the same for emulated accelerators"},
    PolicyOption{"cuda", "found", "the same for CUDA devices"},
    PolicyOption{"opencl", "found", "the same for OpenCL devices"},
    PolicyOption{"speedup", "found", "CODELET@FASTEST@FACTOR: gemm@cuda@12/trsm@cpu@2"},
};
inline constexpr std::array laheteroprio_options{
    heteroprio_options[0],
    heteroprio_options[1],
    heteroprio_options[2],
    heteroprio_options[3],
    heteroprio_options[4],
    PolicyOption{"affinity", "auto", "which node a task suits: laru, mc, sdh, sdh2, sdhb, smwb, or auto"},
    PolicyOption{"lambda", "cpu@2/others@all", "buckets looked at before going to the next nodes"},
    PolicyOption{"subgroups", "cpu@all/others@1", "how many other nodes are close"},
    PolicyOption{"alpha", "0.5", "weight of priorities in the distance of nodes, from 0 to 1"},
    PolicyOption{"theta", "1000", "weight of written data in sdhb"},
};

/// The two as --scheduler names them. Throws ConfigError for what cannot be meant.
std::unique_ptr<Policy> make_heteroprio(const PolicyOptions& options);
std::unique_ptr<Policy> make_laheteroprio(const PolicyOptions& options);
/// Likewise, for programs.
std::unique_ptr<Policy> make_heteroprio(heteroprio::Settings settings);

namespace heteroprio {

/// What is written behind the name. Throws ConfigError for what cannot be understood.
Settings read_settings(const PolicyOptions& options, bool with_locality);
/// The locality that laheteroprio has if nothing is said.
Locality default_locality();

}  // namespace heteroprio
}  // namespace fairlead::schedule

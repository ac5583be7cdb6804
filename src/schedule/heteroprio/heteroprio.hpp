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
#include <memory>

#include "policy/policy.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule {

/// The two as --scheduler names them. Throws ConfigError for what cannot be meant.
std::unique_ptr<Policy> make_heteroprio(const PolicyOptions& options);
std::unique_ptr<Policy> make_laheteroprio(const PolicyOptions& options);
/// Likewise, for programs.
std::unique_ptr<Policy> make_heteroprio(heteroprio::Settings settings);

}  // namespace fairlead::schedule

// HETEROPRIO: a task's priority for each kind of worker is that of its bucket; a slow kind leaves the last tasks of a
// bucket to the fast one. LAHETEROPRIO: the same with one list per bucket and memory node. Bramas, *Impact study of
// data locality on task-based applications through the Heteroprio scheduler*, 2019.
//
// Where the paper is silent: lists are first in, first out; thieves take from the back of another node's list;
// parameters that the user does not set come from the models' estimates; thresholds are ignored when nothing runs, so
// that no task waits forever.
//
// No data are prefetched for tasks in the lists, since their worker is unknown: with one list, all devices would fetch
// the data of its first tasks. A prefetch would also make the affinity that placed the task look steady, and the others
// not.
#pragma once
#include <memory>

#include "policy/policy.hpp"
#include "schedule/heteroprio/settings.hpp"

namespace fairlead::schedule {

/// The policies as --scheduler names them. Throws ConfigError for invalid options.
std::unique_ptr<Policy> make_heteroprio(const PolicyOptions& options);
std::unique_ptr<Policy> make_laheteroprio(const PolicyOptions& options);
/// The same, for programs that construct the settings.
std::unique_ptr<Policy> make_heteroprio(heteroprio::HeteroprioSettings settings);

}  // namespace fairlead::schedule

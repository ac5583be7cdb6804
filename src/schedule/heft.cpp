// HEFT as in StarPU of 2010. Augonnet, Clet-Ortega, Thibault, Namyst 2010, section III.C and Table I: "maintain an
// estimation of the dates when each processing unit should be available and [...] assign a new task to the worker which
// minimizes termination date".
//
//   heft-tm         uses the durations of tasks alone (tm: task duration models)
//   heft-tmdp       with a penalty for remote data: the time of the missing transfers is added
//   heft-tm-pr, heft-tmdp-pr    with prefetch of the data of assigned tasks
//   static, heft-tm-init, heft-tmdp-init    section V.B.1 (the stencil): all tasks are bound to workers; or
//                   "like in the static case for the first stencil iteration", then by the rule
//
// dmda.cpp implements the algorithm; DMDA was derived from these policies: heft-tmdp-pr is dmda:queue=duration. Neither
// these policies nor the paper has HEFT's ranks: tasks are placed when they become ready, without lookahead.
//
// A processing unit is available when its assigned tasks have finished, by their durations alone. Transfers count only
// for the new task.
//
// Where the paper is silent: the termination time is the sum of both, "considering both the duration of the
// computations and the data transfer overhead". beta, which later versions of StarPU have and the paper has not, is the
// weight of transfers; with 0 the policy is heft-tm. The first iteration consists of the tasks whose datum no earlier
// task has written. static_placement.hpp defines "statically". Without -pr, data are fetched only for picked tasks; a
// worker picks as many as its pipeline holds, so some copies and computations overlap nevertheless.
#include "schedule/heft.hpp"

#include "schedule/dmda.hpp"

namespace fairlead::schedule {
namespace {

using Bound = StaticPlacement::Bound;

constexpr QueueRule by_duration = QueueRule::duration;

double weight(const PolicyOptions& options) { return options.number("beta", 0, 1000); }

}  // namespace

std::unique_ptr<Policy> make_heft_tm(const PolicyOptions&) {
  return make_dmda({.queue = by_duration, .transfer_weight = 0, .prefetch = false});
}
std::unique_ptr<Policy> make_heft_tm_pr(const PolicyOptions&) {
  return make_dmda({.queue = by_duration, .transfer_weight = 0, .prefetch = true});
}
std::unique_ptr<Policy> make_heft_tmdp(const PolicyOptions& options) {
  return make_dmda({.queue = by_duration, .transfer_weight = weight(options), .prefetch = false});
}
std::unique_ptr<Policy> make_heft_tmdp_pr(const PolicyOptions& options) {
  return make_dmda({.queue = by_duration, .transfer_weight = weight(options), .prefetch = true});
}

std::unique_ptr<Policy> make_static(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::everything,
                    .queue = by_duration,
                    .transfer_weight = 0,
                    .prefetch = options.flag("prefetch")});
}
std::unique_ptr<Policy> make_heft_tm_init(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::first_writes,
                    .queue = by_duration,
                    .transfer_weight = 0,
                    .prefetch = options.flag("prefetch")});
}
std::unique_ptr<Policy> make_heft_tmdp_init(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::first_writes,
                    .queue = by_duration,
                    .transfer_weight = weight(options),
                    .prefetch = options.flag("prefetch")});
}

}  // namespace fairlead::schedule

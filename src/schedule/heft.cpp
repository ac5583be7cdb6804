// HEFT as StarPU had it in 2010. Augonnet, Clet-Ortega, Thibault, Namyst 2010, section III.C and Table I:
// "maintain an estimation of the dates when each processing unit should be available and [...] assign a new
// task to the worker which minimizes termination date".
//
//   heft-tm         by the durations of tasks alone (tm: task duration models)
//   heft-tmdp       with a penalty for remote data: the time of the missing transfers is added
//   heft-tm-pr, heft-tmdp-pr    with prefetch: what an assigned task reads is fetched before its turn
//   static, heft-tm-init, heft-tmdp-init    section V.B.1 (the stencil): all tasks are bound to workers; or
//                   "like in the static case for the first stencil iteration", then by the rule
//
// The algorithm is that of dmda.cpp, which was made from these: heft-tmdp-pr is dmda:queue=duration. HEFT's
// ranks are missing in both, and in the paper: tasks are placed when they are ready, and looked at no
// further.
//
// A processing unit is available when the tasks that it has been given are over, by their durations: what is said of
// transfers is said of the new task alone.
//
// What the paper leaves open is decided so. Termination time is the sum of both, "considering both the
// duration of the computations and the data transfer overhead": beta, which the paper does not have and later
// versions of StarPU do, weighs transfers where their estimates are off; with 0 it is heft-tm. The first
// iteration: a task whose datum nobody has written before. What "statically" means is in
// static_placement.hpp. Without -pr data are fetched for tasks that a worker has picked; as many as its
// pipeline is deep, so copies and computations overlap a little all the same.
#include "schedule/heft.hpp"

#include "schedule/dmda.hpp"

namespace fairlead::schedule {
namespace {

using Bound = StaticPlacement::Bound;

constexpr QueueRule by_duration = QueueRule::duration;

double weight(const PolicyOptions& options) { return options.number("beta", 0, 1000); }

}  // namespace

std::unique_ptr<Policy> make_heft_tm(const PolicyOptions&) {
  return make_dmda({.queue = by_duration, .transfers = 0, .prefetch = false});
}
std::unique_ptr<Policy> make_heft_tm_pr(const PolicyOptions&) {
  return make_dmda({.queue = by_duration, .transfers = 0, .prefetch = true});
}
std::unique_ptr<Policy> make_heft_tmdp(const PolicyOptions& options) {
  return make_dmda({.queue = by_duration, .transfers = weight(options), .prefetch = false});
}
std::unique_ptr<Policy> make_heft_tmdp_pr(const PolicyOptions& options) {
  return make_dmda({.queue = by_duration, .transfers = weight(options), .prefetch = true});
}

std::unique_ptr<Policy> make_static(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::everything,
                    .queue = by_duration,
                    .transfers = 0,
                    .prefetch = options.flag("prefetch")});
}
std::unique_ptr<Policy> make_heft_tm_init(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::first_writes,
                    .queue = by_duration,
                    .transfers = 0,
                    .prefetch = options.flag("prefetch")});
}
std::unique_ptr<Policy> make_heft_tmdp_init(const PolicyOptions& options) {
  return make_dmda({.bound = Bound::first_writes,
                    .queue = by_duration,
                    .transfers = weight(options),
                    .prefetch = options.flag("prefetch")});
}

}  // namespace fairlead::schedule

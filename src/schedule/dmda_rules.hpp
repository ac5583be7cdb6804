// What the policies differ in that share the algorithm of dmda.cpp, and what these can be told.
#pragma once
#include <array>
#include <string_view>

#include "policy/policy_options.hpp"
#include "schedule/index/assigned_queue.hpp"
#include "schedule/index/free_time.hpp"
#include "schedule/static_placement.hpp"

namespace fairlead::schedule {

/// What the policies of this family differ in. As it stands: dmda.
struct DmdaRules {
  /// Which task of its queue a worker takes: the first, or one by Algorithm 2.
  AssignedQueue::Nearest nearest = AssignedQueue::Nearest::never_asked;
  StaticPlacement::Bound bound = StaticPlacement::Bound::nothing;  ///< to workers that it names
  QueueRule queue = QueueRule::remainder;
  double transfers = 1;     ///< by how much their time is multiplied before it is added; 0: it does not count
  bool by_devices = false;  ///< and by twice the number of accelerators, if there are any
  bool prefetch = true;     ///< what tasks in the queue read may come before they are picked
};

namespace dmda {
inline constexpr PolicyOption queue{
    "queue", "remainder",
    "what a queued task adds to the time until its worker is free: its duration, the sum of that and its "
    "transfers, or its duration and what remains of its transfers when those before it are over"};
inline constexpr PolicyOption transfers{
    "transfers", "once",
    "by how much the times of transfers are multiplied: once, or by devices, twice their number, as if all "
    "of them copied at the same time over one bus"};
inline constexpr std::array options{queue, transfers};
inline constexpr std::array options_by_priority{
    queue, transfers,
    PolicyOption{
        "ready", "all",
        "among which tasks of its queue a worker takes the one that misses the fewest bytes: all, or "
        "those of the first priority"}};
/// StarPU expects a transfer to take twice the number of devices times as long as one alone: transfers=devices.
inline DmdaRules rules_in(const PolicyOptions& given) {
  constexpr std::array<std::string_view, 3> queues{"remainder", "duration", "sum"};
  constexpr std::array<std::string_view, 2> times{"once", "devices"};
  return {.queue = static_cast<QueueRule>(given.choice("queue", queues)),
          .by_devices = given.choice("transfers", times) == 1};
}
}  // namespace dmda

}  // namespace fairlead::schedule

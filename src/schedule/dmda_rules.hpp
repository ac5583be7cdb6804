// The rules that distinguish the policies implemented by dmda.cpp, and the user's options for them.
#pragma once
#include <array>
#include <string_view>

#include "policy/policy_options.hpp"
#include "schedule/index/assigned_queue.hpp"
#include "schedule/index/free_time.hpp"
#include "schedule/static_placement.hpp"

namespace fairlead::schedule {

/// The rules of one policy. The default values are those of dmda.
struct DmdaRules {
  /// Which task of its queue a worker takes: the first one, or one by Algorithm 2.
  AssignedQueue::LeastMissing nearest = AssignedQueue::LeastMissing::unused;
  /// Which tasks are bound to a fixed worker.
  StaticPlacement::Bound bound = StaticPlacement::Bound::nothing;
  QueueRule queue = QueueRule::remainder;
  double transfer_weight = 1;     ///< factor on transfer times before they are added; 0 ignores transfers
  bool scale_by_devices = false;  ///< also multiply by twice the number of accelerators, if there are any
  bool prefetch = true;           ///< data that queued tasks read may be fetched before the tasks are picked
};

namespace dmda {
inline constexpr PolicyOption queue{
    "queue", "remainder",
    "what a queued task adds to the time until its worker is free: duration, sum (with its "
    "transfers), or remainder (with what remains of its transfers when earlier tasks have finished)"};
inline constexpr PolicyOption transfers{
    "transfers", "once",
    "the factor of transfer times: once, or devices, twice their number, as if all devices copied at the "
    "same time over one bus"};
inline constexpr std::array options{queue, transfers};
inline constexpr std::array options_by_priority{
    queue, transfers,
    PolicyOption{
        "ready", "all",
        "the tasks of its queue among which a worker takes the one with the fewest missing bytes: all, or "
        "first, those of the highest priority"}};
/// The rules selected by the user's options. transfers=devices is StarPU's assumption that a transfer takes 2 x devices
/// times as long as one that runs alone.
inline DmdaRules rules_in(const PolicyOptions& given) {
  constexpr std::array<std::string_view, 3> queues{"remainder", "duration", "sum"};
  constexpr std::array<std::string_view, 2> times{"once", "devices"};
  return {.queue = static_cast<QueueRule>(given.choice("queue", queues)),
          .scale_by_devices = given.choice("transfers", times) == 1};
}
}  // namespace dmda

}  // namespace fairlead::schedule

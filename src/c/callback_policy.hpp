// A policy whose decisions functions of the program make.
#pragma once
#include <fairlead_simulation.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policy/policy.hpp"

struct fairlead_policy_view {
  fairlead::View* state = nullptr;
  std::vector<fairlead::Task*> tasks;  ///< by number; null: not submitted, or finished
  std::size_t data = 0;                ///< the number of all

  const fairlead::Task* unfinished(std::uint64_t task) const {
    return task < tasks.size() ? tasks[task] : nullptr;
  }
  bool has_worker(std::uint32_t worker) const { return worker < state->workers().size(); }
  bool has_node(std::uint32_t node) const {
    return std::ranges::find(state->nodes(), static_cast<fairlead::NodeId>(node), &fairlead::NodeInfo::id) !=
           state->nodes().end();
  }
};

namespace fairlead::c {

/// Why a policy of the program ended its run.
struct PolicyFailure {
  std::atomic<bool> stop_requested{false};  ///< ends the simulation
  bool by_callback = false;                 ///< a function of the program failed
  std::string text;                         ///< otherwise: what it did wrong
};

/// A run cannot unwind through the engine, so a failure requests its stop; until then ready tasks run in order.
class CallbackPolicy final : public Policy {
 public:
  /// `failure` must outlive the policy.
  CallbackPolicy(const fairlead_policy& functions, std::size_t tasks, std::size_t data,
                 PolicyFailure& failure);

  Notifications interests() const override { return Notifications::submitted | Notifications::progress; }
  void submitted(Task& task) override;
  void ready(Task& task, WorkerId released_by) override;
  void cancelled(Task& task) override;
  void finished(Task& task, WorkerId worker, Duration duration) override;
  Task* pick(WorkerId worker, bool must) override;
  Task* take_any(WorkerId worker) override;
  DatumId victim(NodeId node, EvictionCandidates& candidates) override;
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override;

 protected:
  void attached() override { view_of_program_.state = &view(); }

 private:
  static std::uint64_t number(const Task& task) noexcept { return task.submitted_at.line; }
  /// Calls the function, unless it is null or the policy has failed. Returns whether it succeeded.
  template <class Function, class... Arguments>
  bool call(Function* function, Arguments... arguments);
  void fail(std::string text);

  fairlead_policy functions_;
  PolicyFailure& failure_;
  fairlead_policy_view view_of_program_;
  bool attached_notified_ = false;
  std::map<std::uint64_t, Task*> ready_;  // by the order of their notification
  std::vector<std::uint64_t> ready_at_;   // by task: its key in ready_
  std::uint64_t notified_ = 0;
  std::vector<std::uint32_t> numbers_;  // kept to avoid allocations
};

}  // namespace fairlead::c

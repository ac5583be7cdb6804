// The policy of a what-if simulation starts where it would take over in the run. Tasks already assigned to workers stay
// there. All other ready tasks are reported to the policy at once, and no worker gets a task before that.
#pragma once
#include <fairlead/ids.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::front {

/// Finished when all tasks to simulate are submitted.
class SubmissionPhase final : public WhatIfSimulation {
  void capture(std::span<Task* const>, Evaluation) override {}
};

class ResumingPolicy final : public ForwardingPolicy<ResumingPolicy> {
 public:
  /// The memory node of the workers to which the task is assigned; no_id: not assigned.
  using GivenTo = std::function<NodeId(const Task&)>;

  ResumingPolicy(std::unique_ptr<Policy> inner, GivenTo given_to)
      : ForwardingPolicy(std::move(inner)), given_to_(std::move(given_to)) {}

  void ready(Task& task, WorkerId released_by) override {
    if (const NodeId node = given_to_(task); node != no_id<NodeId>)
      given_.push_back({&task, node});
    else if (waits_)
      ready_.push_back(&task);
    else
      inner().ready(task, released_by);
  }
  void returned(Task& task) override {
    if (const NodeId node = given_to_(task); node != no_id<NodeId>)
      given_.push_front({&task, node});
    else
      inner().returned(task);
  }
  void simulation_finished(std::uint64_t) override {
    waits_ = false;
    for (Task* task : ready_) inner().ready(*task, no_id<WorkerId>);
    ready_.clear();
  }
  Task* pick(WorkerId worker, bool must) override {
    if (waits_) return nullptr;
    const NodeId here = view().workers()[index(worker)].node;
    Task* const given = take([&](const Given& it) { return it.node == here && can_run(it, worker); });
    return given != nullptr ? given : inner().pick(worker, must);
  }
  Task* take_any(WorkerId worker) override {
    Task* const given = take([&](const Given& it) { return can_run(it, worker); });
    return given != nullptr ? given : inner().take_any(worker);
  }
  bool awaits_simulation() const override { return waits_; }

 private:
  struct Given {
    Task* task;
    NodeId node;
  };
  void attached() override {
    view().what_if_simulation()->start({}, nullptr);
    inner().attach(view());
  }
  bool can_run(const Given& given, WorkerId worker) const { return view().can_run(*given.task, worker); }
  template <class Condition>
  Task* take(Condition&& condition) {
    const auto found = std::ranges::find_if(given_, condition);
    if (found == given_.end()) return nullptr;
    Task* const task = found->task;
    given_.erase(found);
    return task;
  }

  const GivenTo given_to_;
  bool waits_ = true;
  std::vector<Task*> ready_;  // not reported yet
  std::deque<Given> given_;   // assigned, and not picked again
};

}  // namespace fairlead::front

// A policy that delegates to an active policy, which can be replaced at any time. It keeps the current state and passes
// it to the successor.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "policy/policy.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule::what_if {

/// The unfinished tasks, in program order.
class Unfinished {
 public:
  void add(Task& task) {
    if (tasks_.empty()) first_ = number(task);
    ensure(number(task) >= first_ + tasks_.size(), "tasks are submitted in the order of their ids");
    tasks_.resize(number(task) - first_ + 1);
    tasks_.back() = &task;
    ++count_;
  }
  void remove(const Task& task) noexcept {
    if (number(task) < first_ || number(task) - first_ >= tasks_.size()) return;  // never submitted
    if (std::exchange(tasks_[number(task) - first_], nullptr) != nullptr) --count_;
    for (; !tasks_.empty() && tasks_.front() == nullptr; ++first_) tasks_.pop_front();
  }
  std::size_t count() const noexcept { return count_; }
  std::vector<Task*> list() const {
    std::vector<Task*> found;
    found.reserve(count_);
    std::ranges::copy_if(tasks_, std::back_inserter(found), [](const Task* task) { return task != nullptr; });
    return found;
  }

 private:
  static std::uint64_t number(const Task& task) noexcept { return static_cast<std::uint64_t>(task.id); }
  std::deque<Task*> tasks_;  // by id; null: finished, or never submitted
  std::uint64_t first_ = 0;
  std::size_t count_ = 0;
};

/// The nodes where each datum is or arrives, for a successor.
class Residency {
 public:
  void reserved(DatumId datum, NodeId node) {
    if (index(datum) >= nodes_.size()) nodes_.resize(2 * index(datum) + 1);
    nodes_[index(datum)] |= bit(node);
  }
  void dropped(DatumId datum, NodeId node) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] &= ~bit(node);
  }
  void removed(DatumId datum) noexcept {
    if (index(datum) < nodes_.size()) nodes_[index(datum)] = 0;
  }
  void notify(Policy& policy, const View& view) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::uint32_t left = nodes_[i]; left != 0; left &= left - 1) {
        const auto datum = static_cast<DatumId>(i);
        const auto node = static_cast<NodeId>(std::countr_zero(left));
        policy.reserved(datum, node);
        if (view.residency(datum, node) == ReplicaState::valid) policy.arrived(datum, node);
      }
  }

 private:
  static std::uint32_t bit(NodeId node) noexcept { return std::uint32_t{1} << index(node); }
  std::vector<std::uint32_t> nodes_;  // by datum: bit k is node k
};

class ReplaceablePolicy final : public Policy {
 public:
  explicit ReplaceablePolicy(std::string first) { take(std::move(first)); }

  /// Sets another first policy, before attach().
  void set_first(std::string name) { take(std::move(name)); }
  /// Replaces the active policy. The successor receives events for everything that is still valid.
  void hand_over(std::string name) {
    for (const auto& [id, task] : waiting_) task->policy_data = nullptr;
    take(std::move(name));
    member_->attach(view());
    for (const WorkerId worker : lost_) member_->worker_lost(worker);
    if (wants(Notifications::residency)) residency_.notify(*member_, view());
    if (wants(Notifications::submitted)) {
      for (Task* task : unfinished_.list()) member_->submitted(*task);
      member_->horizon_closed();
    }
    for (const auto& [id, task] : waiting_) member_->ready(*task, no_id<WorkerId>);
  }
  /// The active policy is final for the current tasks: the waiting tasks need not be recorded.
  void set_final(bool stays) {
    stays_ = stays;
    if (stays_) waiting_.clear();
  }
  bool is_final() const noexcept { return stays_; }
  const Unfinished& unfinished() const noexcept { return unfinished_; }

  std::string_view active_policy() const override { return name_; }
  Notifications interests() const override {
    return Notifications::submitted | Notifications::progress | Notifications::residency;
  }

  void submitted(Task& task) override {
    unfinished_.add(task);
    if (wants(Notifications::submitted)) member_->submitted(task);
  }
  void horizon_closed() override {
    if (wants(Notifications::submitted)) member_->horizon_closed();
  }
  void ready(Task& task, WorkerId released_by) override {
    wait(task);
    member_->ready(task, released_by);
  }
  void returned(Task& task) override {
    wait(task);
    member_->returned(task);
  }
  void cancelled(Task& task) override {
    waiting_.erase(task.id);
    unfinished_.remove(task);
    // Without Notifications::submitted, the active policy has never seen a task that was not ready.
    if (task.state != TaskState::waiting || wants(Notifications::submitted)) member_->cancelled(task);
  }
  void worker_lost(WorkerId worker) override {
    lost_.push_back(worker);
    member_->worker_lost(worker);
  }
  void started(Task& task, WorkerId worker) override {
    if (wants(Notifications::progress)) member_->started(task, worker);
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    unfinished_.remove(task);
    if (wants(Notifications::progress)) member_->finished(task, worker, took);
  }
  void reserved(DatumId datum, NodeId node) override {
    residency_.reserved(datum, node);
    if (wants(Notifications::residency)) member_->reserved(datum, node);
  }
  void arrived(DatumId datum, NodeId node) override {
    if (wants(Notifications::residency)) member_->arrived(datum, node);
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    residency_.dropped(datum, node);
    if (wants(Notifications::residency)) member_->dropped(datum, node, why);
  }
  void removed(DatumId datum) override {
    residency_.removed(datum);
    member_->removed(datum);
  }

  Task* pick(WorkerId worker, bool must) override { return picked(member_->pick(worker, must)); }
  Task* take_any(WorkerId worker) override { return picked(member_->take_any(worker)); }
  DatumId victim(NodeId node, EvictionCandidates& from) override { return member_->victim(node, from); }
  DatumId prefetch_victim(NodeId node, DatumId wanted, EvictionCandidates& from) override {
    return member_->prefetch_victim(node, wanted, from);
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return member_->upcoming(worker, out);
  }
  bool keeps_pipelines_short() const override { return member_->keeps_pipelines_short(); }

 private:
  void attached() override { member_->attach(view()); }
  void take(std::string name) {
    member_ = make_policy(name);
    wanted_ = member_->interests();
    name_ = std::move(name);
  }
  bool wants(Notifications what) const noexcept { return includes(wanted_, what); }
  void wait(Task& task) {
    if (!stays_) waiting_.emplace(task.id, &task);
  }
  Task* picked(Task* task) {
    if (task != nullptr && !stays_) waiting_.erase(task->id);
    return task;
  }

  std::unique_ptr<Policy> member_;
  std::string name_;
  Notifications wanted_{};
  bool stays_ = false;
  Unfinished unfinished_;
  std::map<TaskId, Task*> waiting_;  // ready and not picked; empty while the policy is final
  Residency residency_;
  std::vector<WorkerId> lost_;
};

}  // namespace fairlead::schedule::what_if

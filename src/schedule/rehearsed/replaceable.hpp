// A policy in whose place another one may be put at any time: what is still so is kept, and told to whoever takes over.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedule/policies.hpp"
#include "schedule/rehearsed/still_so.hpp"

namespace fairlead::schedule::rehearsed {

class Replaceable final : public Policy {
 public:
  explicit Replaceable(std::string first) { take(std::move(first)); }

  /// That one instead, before it is attached.
  void begin_as(std::string name) { take(std::move(name)); }
  /// The other one goes on, as if it had been told of all that is still so.
  void hand_over(std::string name) {
    for (const auto& [id, task] : waiting_) task->policy_data = nullptr;
    take(std::move(name));
    member_->attach(view());
    for (const WorkerId worker : lost_) member_->worker_lost(worker);
    if (wants(Interest::residency)) residency_.tell(*member_, view());
    if (wants(Interest::submitted)) {
      for (Task* task : unfinished_.list()) member_->submitted(*task);
      member_->horizon_closed();
    }
    for (const auto& [id, task] : waiting_) member_->ready(*task, no_id<WorkerId>);
  }
  /// Nobody will be put in its place for what there is now: who waits need not be known.
  void stay(bool stays) {
    stays_ = stays;
    if (stays_) waiting_.clear();
  }
  bool stays() const noexcept { return stays_; }
  const Unfinished& unfinished() const noexcept { return unfinished_; }

  std::string_view deputy() const override { return name_; }
  Interest interests() const override {
    return Interest::submitted | Interest::progress | Interest::residency;
  }

  void submitted(Task& task) override {
    unfinished_.add(task);
    if (wants(Interest::submitted)) member_->submitted(task);
  }
  void horizon_closed() override {
    if (wants(Interest::submitted)) member_->horizon_closed();
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
    // Who is not told of submissions has never heard of one that was not ready.
    if (task.state != TaskState::waiting || wants(Interest::submitted)) member_->cancelled(task);
  }
  void worker_lost(WorkerId worker) override {
    lost_.push_back(worker);
    member_->worker_lost(worker);
  }
  void started(Task& task, WorkerId worker) override {
    if (wants(Interest::progress)) member_->started(task, worker);
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    unfinished_.remove(task);
    if (wants(Interest::progress)) member_->finished(task, worker, took);
  }
  void reserved(DatumId datum, NodeId node) override {
    residency_.reserved(datum, node);
    if (wants(Interest::residency)) member_->reserved(datum, node);
  }
  void loaded(DatumId datum, NodeId node) override {
    if (wants(Interest::residency)) member_->loaded(datum, node);
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    residency_.dropped(datum, node);
    if (wants(Interest::residency)) member_->dropped(datum, node, why);
  }
  void removed(DatumId datum) override {
    residency_.removed(datum);
    member_->removed(datum);
  }

  Task* pick(WorkerId worker, bool must) override { return gone(member_->pick(worker, must)); }
  Task* take_any(WorkerId worker) override { return gone(member_->take_any(worker)); }
  DatumId victim(NodeId node, Candidates& from) override { return member_->victim(node, from); }
  DatumId spare(NodeId node, DatumId wanted, Candidates& from) override {
    return member_->spare(node, wanted, from);
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return member_->upcoming(worker, out);
  }

 private:
  void attached() override { member_->attach(view()); }
  void take(std::string name) {
    member_ = make_policy(name);
    wanted_ = member_->interests();
    name_ = std::move(name);
  }
  bool wants(Interest what) const noexcept { return includes(wanted_, what); }
  void wait(Task& task) {
    if (!stays_) waiting_.emplace(task.id, &task);
  }
  Task* gone(Task* task) {
    if (task != nullptr && !stays_) waiting_.erase(task->id);
    return task;
  }

  std::unique_ptr<Policy> member_;
  std::string name_;
  Interest wanted_{};
  bool stays_ = false;
  Unfinished unfinished_;
  std::map<TaskId, Task*> waiting_;  // ready and not picked; empty while it stays
  Residency residency_;
  std::vector<WorkerId> lost_;
};

}  // namespace fairlead::schedule::rehearsed

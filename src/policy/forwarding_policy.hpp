// A wrapper around a policy that forwards every notification and every decision. A derived class overrides what it
// changes; the complete list of functions is only here, so none is forgotten.
#pragma once
#include <memory>
#include <utility>

#include "policy/policy.hpp"

namespace fairlead {

/// `Wrapper`: the derived class. To wrap all calls, it defines its own function around().
template <class Wrapper>
class ForwardingPolicy : public Policy {
 public:
  explicit ForwardingPolicy(std::unique_ptr<Policy> inner) : inner_(std::move(inner)) {}

  Notifications interests() const override { return inner_->interests(); }
  std::size_t horizon() const override { return inner_->horizon(); }
  bool uses_local_queues() const override { return inner_->uses_local_queues(); }
  std::string_view active_policy() const override { return inner_->active_policy(); }
  bool awaits_simulation() const override { return inner_->awaits_simulation(); }

  void ready(Task& task, WorkerId released_by) override {
    pass(released_by, [&] { inner_->ready(task, released_by); });
  }
  void returned(Task& task) override {
    pass(no_worker, [&] { inner_->returned(task); });
  }
  void cancelled(Task& task) override {
    pass(no_worker, [&] { inner_->cancelled(task); });
  }
  void worker_lost(WorkerId worker) override {
    pass(no_worker, [&] { inner_->worker_lost(worker); });
  }
  void submitted(Task& task) override {
    pass(no_worker, [&] { inner_->submitted(task); });
  }
  void horizon_closed() override {
    pass(no_worker, [&] { inner_->horizon_closed(); });
  }
  void started(Task& task, WorkerId worker) override {
    pass(worker, [&] { inner_->started(task, worker); });
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    pass(worker, [&] { inner_->finished(task, worker, took); });
  }
  void reserved(DatumId datum, NodeId node) override {
    pass(no_worker, [&] { inner_->reserved(datum, node); });
  }
  void arrived(DatumId datum, NodeId node) override {
    pass(no_worker, [&] { inner_->arrived(datum, node); });
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    pass(no_worker, [&] { inner_->dropped(datum, node, why); });
  }
  void simulation_finished(std::uint64_t finding) override {
    pass(no_worker, [&] { inner_->simulation_finished(finding); });
  }
  void removed(DatumId datum) override {
    pass(no_worker, [&] { inner_->removed(datum); });
  }
  Task* pick(WorkerId worker, bool must) override {
    return pass(worker, [&] { return inner_->pick(worker, must); });
  }
  Task* take_any(WorkerId worker) override {
    return pass(worker, [&] { return inner_->take_any(worker); });
  }
  DatumId victim(NodeId node, EvictionCandidates& candidates) override {
    return pass(no_worker, [&] { return inner_->victim(node, candidates); });
  }
  DatumId prefetch_victim(NodeId node, DatumId wanted, EvictionCandidates& candidates) override {
    return pass(no_worker, [&] { return inner_->prefetch_victim(node, wanted, candidates); });
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return pass(worker, [&] { return inner_->upcoming(worker, out); });
  }
  bool keeps_pipelines_short() const override { return inner_->keeps_pipelines_short(); }

 protected:
  Policy& inner() const noexcept { return *inner_; }
  void attached() override { inner_->attach(view()); }

  /// Calls f. `worker`: the worker for which the policy is called; none if there is no particular one.
  template <class F>
  static auto around(WorkerId, F&& f) {
    return f();
  }

 private:
  static constexpr WorkerId no_worker = no_id<WorkerId>;
  template <class F>
  auto pass(WorkerId worker, F&& f) {
    return static_cast<Wrapper&>(*this).around(worker, std::forward<F>(f));
  }

  std::unique_ptr<Policy> inner_;
};

}  // namespace fairlead

// A policy around another one, to which every event and every question goes on. Whoever wraps a policy
// overrides what it changes, and nothing is lost that it does not know of: only here is the whole list.
#pragma once
#include <memory>
#include <utility>

#include "policy/policy.hpp"

namespace fairlead {

/// A wrapper that needs something done around all events and questions has a function like around() of its
/// own; `Wrapper` is its class.
template <class Wrapper>
class ForwardingPolicy : public Policy {
 public:
  explicit ForwardingPolicy(std::unique_ptr<Policy> inner) : inner_(std::move(inner)) {}

  Interest interests() const override { return inner_->interests(); }
  std::size_t horizon() const override { return inner_->horizon(); }
  bool keeps_local_queues() const override { return inner_->keeps_local_queues(); }
  std::string_view deputy() const override { return inner_->deputy(); }
  bool waits() const override { return inner_->waits(); }

  void ready(Task& task, WorkerId released_by) override {
    pass(released_by, [&] { inner_->ready(task, released_by); });
  }
  void returned(Task& task) override {
    pass(nobody, [&] { inner_->returned(task); });
  }
  void cancelled(Task& task) override {
    pass(nobody, [&] { inner_->cancelled(task); });
  }
  void worker_lost(WorkerId worker) override {
    pass(nobody, [&] { inner_->worker_lost(worker); });
  }
  void submitted(Task& task) override {
    pass(nobody, [&] { inner_->submitted(task); });
  }
  void horizon_closed() override {
    pass(nobody, [&] { inner_->horizon_closed(); });
  }
  void started(Task& task, WorkerId worker) override {
    pass(worker, [&] { inner_->started(task, worker); });
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    pass(worker, [&] { inner_->finished(task, worker, took); });
  }
  void reserved(DatumId datum, NodeId node) override {
    pass(nobody, [&] { inner_->reserved(datum, node); });
  }
  void loaded(DatumId datum, NodeId node) override {
    pass(nobody, [&] { inner_->loaded(datum, node); });
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    pass(nobody, [&] { inner_->dropped(datum, node, why); });
  }
  void rehearsed(std::uint64_t finding) override {
    pass(nobody, [&] { inner_->rehearsed(finding); });
  }
  void removed(DatumId datum) override {
    pass(nobody, [&] { inner_->removed(datum); });
  }
  Task* pick(WorkerId worker, bool must) override {
    return pass(worker, [&] { return inner_->pick(worker, must); });
  }
  Task* take_any(WorkerId worker) override {
    return pass(worker, [&] { return inner_->take_any(worker); });
  }
  DatumId victim(NodeId node, Candidates& candidates) override {
    return pass(nobody, [&] { return inner_->victim(node, candidates); });
  }
  DatumId spare(NodeId node, DatumId wanted, Candidates& candidates) override {
    return pass(nobody, [&] { return inner_->spare(node, wanted, candidates); });
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return pass(worker, [&] { return inner_->upcoming(worker, out); });
  }
  bool picks_late() const override { return inner_->picks_late(); }

 protected:
  Policy& inner() const noexcept { return *inner_; }
  void attached() override { inner_->attach(view()); }

  /// Calls f. `worker`: who asked or told; none: nobody in particular.
  template <class F>
  static auto around(WorkerId, F&& f) {
    return f();
  }

 private:
  static constexpr WorkerId nobody = no_id<WorkerId>;
  template <class F>
  auto pass(WorkerId worker, F&& f) {
    return static_cast<Wrapper&>(*this).around(worker, std::forward<F>(f));
  }

  std::unique_ptr<Policy> inner_;
};

}  // namespace fairlead

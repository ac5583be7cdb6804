// Every call goes on to the policy, and its time is added up.
#include "simulate/timed_policy.hpp"

#include <utility>

namespace fairlead::simulate {

namespace {

class TimedPolicy final : public Policy {
  template <class F>
  auto timed(F&& f) {
    struct Adding {
      TimedPolicy& policy;
      Time begun = policy.clock_.now();
      ~Adding() {
        const Duration took = policy.clock_.now() - begun;
        policy.time_.all += took;
        policy.time_.uncharged += took;
      }
    };
    const Adding adding{*this};
    return f();
  }

 public:
  TimedPolicy(std::unique_ptr<Policy> inner, PolicyTime& time) : inner_(std::move(inner)), time_(time) {}

  Interest interests() const override { return inner_->interests(); }
  std::size_t horizon() const override { return inner_->horizon(); }
  bool keeps_local_queues() const override { return inner_->keeps_local_queues(); }

  void ready(Task& task, WorkerId released_by) override {
    return timed([&] { inner_->ready(task, released_by); });
  }
  void returned(Task& task) override {
    return timed([&] { inner_->returned(task); });
  }
  void cancelled(Task& task) override {
    return timed([&] { inner_->cancelled(task); });
  }
  void worker_lost(WorkerId worker) override {
    return timed([&] { inner_->worker_lost(worker); });
  }
  void submitted(Task& task) override {
    return timed([&] { inner_->submitted(task); });
  }
  void horizon_closed() override {
    return timed([&] { inner_->horizon_closed(); });
  }
  void started(Task& task, WorkerId worker) override {
    return timed([&] { inner_->started(task, worker); });
  }
  void finished(Task& task, WorkerId worker, Duration duration) override {
    return timed([&] { inner_->finished(task, worker, duration); });
  }
  void reserved(DatumId datum, NodeId node) override {
    return timed([&] { inner_->reserved(datum, node); });
  }
  void loaded(DatumId datum, NodeId node) override {
    return timed([&] { inner_->loaded(datum, node); });
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    return timed([&] { inner_->dropped(datum, node, why); });
  }
  Task* pick(WorkerId worker, bool must) override {
    return timed([&] { return inner_->pick(worker, must); });
  }
  Task* take_any(WorkerId worker) override {
    return timed([&] { return inner_->take_any(worker); });
  }
  DatumId victim(NodeId node, Candidates& candidates) override {
    return timed([&] { return inner_->victim(node, candidates); });
  }
  DatumId spare(NodeId node, DatumId wanted, Candidates& candidates) override {
    return timed([&] { return inner_->spare(node, wanted, candidates); });
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return timed([&] { return inner_->upcoming(worker, out); });
  }

 private:
  void attached() override { inner_->attach(view()); }

  std::unique_ptr<Policy> inner_;
  PolicyTime& time_;
  FastClock clock_;
};

}  // namespace

std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time) {
  return std::make_unique<TimedPolicy>(std::move(policy), time);
}

}  // namespace fairlead::simulate

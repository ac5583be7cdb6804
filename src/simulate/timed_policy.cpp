// Every call goes on to the policy, and its time is added up.
#include "simulate/timed_policy.hpp"

#include <utility>

#include "base/fast_clock.hpp"

namespace fairlead::simulate {

namespace {

class TimedPolicy final : public Policy {
  static constexpr WorkerId nobody = no_id<WorkerId>;

  template <class F>
  auto timed(WorkerId worker, F&& f) {
    struct Adding {
      TimedPolicy& policy;
      WorkerId worker;
      Time begun = policy.now();
      ~Adding() { policy.time_.add(worker, policy.now() - begun); }
    };
    const Adding adding{*this, worker};
    return f();
  }
  Time now() const { return clock_ ? clock_() : fast_clock_.now(); }

 public:
  TimedPolicy(std::unique_ptr<Policy> inner, PolicyTime& time, std::function<Time()> clock)
      : inner_(std::move(inner)), time_(time), clock_(std::move(clock)) {}

  Interest interests() const override { return inner_->interests(); }
  std::size_t horizon() const override { return inner_->horizon(); }
  bool keeps_local_queues() const override { return inner_->keeps_local_queues(); }

  void ready(Task& task, WorkerId released_by) override {
    return timed(released_by, [&] { inner_->ready(task, released_by); });
  }
  void returned(Task& task) override {
    return timed(nobody, [&] { inner_->returned(task); });
  }
  void cancelled(Task& task) override {
    return timed(nobody, [&] { inner_->cancelled(task); });
  }
  void worker_lost(WorkerId worker) override {
    return timed(nobody, [&] { inner_->worker_lost(worker); });
  }
  void submitted(Task& task) override {
    return timed(nobody, [&] { inner_->submitted(task); });
  }
  void horizon_closed() override {
    return timed(nobody, [&] { inner_->horizon_closed(); });
  }
  void started(Task& task, WorkerId worker) override {
    return timed(worker, [&] { inner_->started(task, worker); });
  }
  void finished(Task& task, WorkerId worker, Duration duration) override {
    return timed(worker, [&] { inner_->finished(task, worker, duration); });
  }
  void reserved(DatumId datum, NodeId node) override {
    return timed(nobody, [&] { inner_->reserved(datum, node); });
  }
  void loaded(DatumId datum, NodeId node) override {
    return timed(nobody, [&] { inner_->loaded(datum, node); });
  }
  void dropped(DatumId datum, NodeId node, DropReason why) override {
    return timed(nobody, [&] { inner_->dropped(datum, node, why); });
  }
  void removed(DatumId datum) override {
    return timed(nobody, [&] { inner_->removed(datum); });
  }
  Task* pick(WorkerId worker, bool must) override {
    return timed(worker, [&] { return inner_->pick(worker, must); });
  }
  Task* take_any(WorkerId worker) override {
    return timed(worker, [&] { return inner_->take_any(worker); });
  }
  DatumId victim(NodeId node, Candidates& candidates) override {
    return timed(nobody, [&] { return inner_->victim(node, candidates); });
  }
  DatumId spare(NodeId node, DatumId wanted, Candidates& candidates) override {
    return timed(nobody, [&] { return inner_->spare(node, wanted, candidates); });
  }
  std::size_t upcoming(WorkerId worker, std::span<DatumId> out) override {
    return timed(worker, [&] { return inner_->upcoming(worker, out); });
  }

 private:
  void attached() override { inner_->attach(view()); }

  std::unique_ptr<Policy> inner_;
  PolicyTime& time_;
  std::function<Time()> clock_;
  FastClock fast_clock_;
};

}  // namespace

void PolicyTime::add(WorkerId worker, Duration took) {
  all_ += took;
  if (worker == no_id<WorkerId>) {
    nobodys_ += took;
    return;
  }
  if (index(worker) >= by_worker_.size()) by_worker_.resize(index(worker) + 1u);
  by_worker_[index(worker)] += took;
}

Duration PolicyTime::take(WorkerId worker) {
  Duration taken = std::exchange(nobodys_, {});
  if (index(worker) < by_worker_.size()) taken += std::exchange(by_worker_[index(worker)], {});
  return taken;
}

std::unique_ptr<Policy> timed(std::unique_ptr<Policy> policy, PolicyTime& time, std::function<Time()> clock) {
  return std::make_unique<TimedPolicy>(std::move(policy), time, std::move(clock));
}

}  // namespace fairlead::simulate

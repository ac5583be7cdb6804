// Runs what-if simulations for the default policy. See simulation_runners.hpp.
#include "front/what_if/simulation_runners.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "backend/cpu/affinity.hpp"
#include "base/guarded_thread.hpp"
#include "front/what_if/candidate_simulation.hpp"

namespace fairlead::front {

namespace {

using engine::Options;

/// Common part of both kinds. The policy calls one function at a time, and begin() only after the last simulation was
/// reported as finished.
class BasicWhatIfSimulation : public WhatIfSimulation {
 public:
  BasicWhatIfSimulation(const memory::Memory& memory, const View& view, Options::TellOver tell,
                        std::size_t idle_cores)
      : memory_(memory), view_(view), tell_(std::move(tell)), idle_cores_(idle_cores) {}

  std::size_t idle_cores() const noexcept final { return idle_cores_; }

  void cancel() noexcept final { stops_.store(true); }

 protected:
  /// Waits for the last simulation, if it is still running.
  virtual void wait() {}
  virtual void play() = 0;
  /// Runs the judge; returns CandidateSimulator::tasks_simulated().
  std::uint64_t find(CandidateSimulator::Threads threads) {
    CandidateSimulator stage(*script_, stops_, std::max<std::size_t>(1, idle_cores_), threads);
    over_.result = judge_(stage);
    return stage.tasks_simulated();
  }
  const View& view() const noexcept { return view_; }
  void report_finished() { tell_(over_); }

 private:
  void capture(std::span<Task* const> tasks, Evaluation judge) final {
    over_.result = 0;
    try {
      wait();
      stops_.store(false);
      script_.emplace(memory_, view_, tasks);
      judge_ = std::move(judge);
      play();
    } catch (const std::bad_alloc&) {
      tell_(over_);  // the run does not need this simulation
    } catch (const std::system_error&) {
      tell_(over_);  // no thread can be started
    }
  }

  const memory::Memory& memory_;
  const View& view_;
  const Options::TellOver tell_;
  const std::size_t idle_cores_;
  std::atomic<bool> stops_{false};  // set by the policy, read by the simulating threads
  // The policy's thread writes these before play(), and the simulating threads read them; for over_ it is the reverse.
  std::optional<SimulationInput> script_;
  Evaluation judge_;
  SimulationFinished over_;
};

class ThreadedWhatIfSimulation final : public BasicWhatIfSimulation {
 public:
  using BasicWhatIfSimulation::BasicWhatIfSimulation;
  ~ThreadedWhatIfSimulation() override {
    cancel();
    wait();
  }
  ThreadedWhatIfSimulation(const ThreadedWhatIfSimulation&) = delete;
  ThreadedWhatIfSimulation& operator=(const ThreadedWhatIfSimulation&) = delete;

 private:
  void wait() final {
    if (thread_.joinable()) thread_.join();  // it has reported already: that is its last statement
  }
  void play() override {
    thread_ = guarded_thread(
        [this, own = priority()] {
          anywhere_.apply();
          if (own == Priority::lowest) lower_priority();
          try {
            find(CandidateSimulator::Threads::real);
          } catch (const std::exception&) {
            // No result, for example if memory is short.
          }
          report_finished();
        },
        ignore_failure);
  }
  /// Threads that this thread starts inherit the priority.
  static void lower_priority() noexcept {
    constexpr int last_of_all = 19;
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), last_of_all));
  }
  // The CPU affinity of the thread that created the runtime: a simulation may be started by a worker bound to one core.
  const backend::SavedAffinity anywhere_;
  std::thread thread_;
};

class VirtualTimeWhatIfSimulation final : public BasicWhatIfSimulation {
 public:
  VirtualTimeWhatIfSimulation(const memory::Memory& memory, const View& view, Options::TellOver tell,
                              std::size_t idle_cores, backend::SimWorld& world)
      : BasicWhatIfSimulation(memory, view, std::move(tell), idle_cores), world_(world) {}

 private:
  /// Deferred, because the duration of the policy's call may be measured.
  void play() override {
    world_.after(Duration{}, [this] {
      const Duration each = simulation_cost_per_task(view().nodes().size(), view().workers().size());
      world_.after(static_cast<std::int64_t>(find(CandidateSimulator::Threads::modelled)) * each,
                   [this] { report_finished(); });
    });
  }
  backend::SimWorld& world_;
};

}  // namespace

decltype(Options::what_if_simulation) background_simulations(std::size_t idle_cores) {
  return [idle_cores](const memory::Memory& memory, const View& view, Options::TellOver tell) {
    return std::make_unique<ThreadedWhatIfSimulation>(memory, view, std::move(tell), idle_cores);
  };
}

decltype(Options::what_if_simulation) virtual_time_simulations(backend::SimWorld& world,
                                                               std::size_t idle_cores) {
  return [&world, idle_cores](const memory::Memory& memory, const View& view, Options::TellOver tell) {
    return std::make_unique<VirtualTimeWhatIfSimulation>(memory, view, std::move(tell), idle_cores, world);
  };
}

}  // namespace fairlead::front

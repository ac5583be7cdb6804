// The cost of a policy per task in simulations of whole programs, by the size of the graph: Cholesky of 20 to
// 150 tiles on one and on eight devices with 2000 MB each. Run: decision_growth [--tiles 20,40,80,150]
// [--runs 3] [policy ...]
//
// Every call of the policy is timed by this thread's CPU time. All runs make the same calls, so the minimum
// over the runs counts for each call, without other load on the machine. The cost of reading the clock is
// subtracted. Simulations by `what-if` are no calls: they are printed separately, as CPU time per task of the
// program.
#include <time.h>

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine_files.hpp"
#include "policy/forwarding_policy.hpp"
#include "policy/forwarding_view.hpp"
#include "policy/what_if_simulation.hpp"
#include "schedule/policies.hpp"
#include "simulate/simulation.hpp"
#include "simulate/workload.hpp"

namespace {

using namespace fairlead;
using namespace fairlead::simulate;

/// CPU time of this thread, in ns: other programs share the cores.
std::int64_t cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

/// Times what-if simulations, separately from the call that requests them.
class TimedSimulation final : public WhatIfSimulation {
 public:
  TimedSimulation(WhatIfSimulation& inner, std::int64_t& played) : inner_(inner), played_(played) {}
  std::size_t idle_cores() const noexcept override { return inner_.idle_cores(); }
  void cancel() noexcept override { inner_.cancel(); }

 private:
  void capture(std::span<Task* const> tasks, Evaluation judge) override {
    inner_.start(tasks, [this, judge = std::move(judge)](Simulator& stage) {
      const std::int64_t begun = cpu_time();
      const std::uint64_t found = judge(stage);
      played_ += cpu_time() - begun;
      return found;
    });
    note_finished();  // the caller checks the inner simulation
  }

  WhatIfSimulation& inner_;
  std::int64_t& played_;
};

class TimedView final : public ForwardingView {
 public:
  TimedView(View& outer, std::int64_t& played) : ForwardingView(outer) {
    if (outer.what_if_simulation() != nullptr)
      what_if_ = std::make_unique<TimedSimulation>(*outer.what_if_simulation(), played);
  }
  WhatIfSimulation* what_if_simulation() const override { return what_if_.get(); }

 private:
  std::unique_ptr<TimedSimulation> what_if_;
};

/// The durations of a run's calls, and of its what-if simulations.
struct Calls {
  std::vector<std::int64_t> nanoseconds;
  std::int64_t played = 0;
};

class Timed final : public ForwardingPolicy<Timed> {
 public:
  Timed(std::unique_ptr<Policy> inner, Calls& calls) : ForwardingPolicy(std::move(inner)), calls_(calls) {}

  template <class F>
  auto around(WorkerId, F&& f) {
    struct Adding {
      Calls& calls;
      std::int64_t begun = cpu_time();
      ~Adding() { calls.nanoseconds.push_back(cpu_time() - begun); }
    };
    const Adding adding{calls_};
    return f();
  }

 private:
  void attached() override {
    view_of_inner_ = std::make_unique<TimedView>(view(), calls_.played);
    inner().attach(*view_of_inner_);
  }

  Calls& calls_;
  std::unique_ptr<TimedView> view_of_inner_;
};

std::int64_t price_of_the_clock() {
  std::int64_t least = 1'000'000;
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t begun = cpu_time();
    least = std::min(least, cpu_time() - begun);
  }
  return least;
}

struct Cost {
  double decisions = 0, plays = 0;  // ns of each task
  std::string took;
};

Cost cost(const std::string& policy, std::int64_t tiles, std::size_t devices, int runs) {
  constexpr std::int64_t tile = 1920;
  const WorkloadSize size{.n = tiles * tile, .tile = tile, .precision = Precision::single};
  const Program program = make_workload("cholesky", size);
  MachineConfig use;
  use.devices = devices;
  use.cores = 0;
  use.device_memory = Bytes{2'000'000'000};
  const SimulatedMachine machine(machine::load_machine("v100-pcie"), use, program, size.precision);
  Calls least;
  Cost cost;
  for (int run = 0; run < runs; ++run) {
    Calls calls;
    const SimulationResult result = simulate::simulate(
        program, machine, std::make_unique<Timed>(schedule::make_policy(policy), calls), {});
    cost.took = result.active_policy;
    if (run == 0) {
      least = std::move(calls);
      continue;
    }
    if (calls.nanoseconds.size() != least.nanoseconds.size())
      throw Error("two runs of one program differ: their calls cannot be compared");
    least.played = std::min(least.played, calls.played);
    for (std::size_t i = 0; i < calls.nanoseconds.size(); ++i)
      least.nanoseconds[i] = std::min(least.nanoseconds[i], calls.nanoseconds[i]);
  }
  const std::int64_t price = price_of_the_clock();
  double sum = 0;
  for (const std::int64_t one : least.nanoseconds)
    sum += static_cast<double>(std::max<std::int64_t>(0, one - price));
  const auto tasks = static_cast<double>(program.tasks.size());
  cost.decisions = sum / tasks;
  cost.plays = static_cast<double>(least.played) / tasks;
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> policies;
  std::vector<std::int64_t> all_tiles{20, 40, 80, 150};
  int runs = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--runs" && i + 1 < argc) {
      runs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--tiles" && i + 1 < argc) {
      all_tiles.clear();
      const std::string list = argv[++i];
      for (std::size_t at = 0; at < list.size();
           at = list.find(',', at) == list.npos ? list.size() : list.find(',', at) + 1)
        all_tiles.push_back(std::atoll(list.c_str() + at));
    } else {
      policies.push_back(word);
    }
  }
  if (policies.empty()) policies = {"what-if", "near", "blocks", "darts"};
  fmt::print(
      "CPU time in ns for each task of Cholesky (+ what-if simulations, which are no call of the "
      "policy's)\n{:<14}{:>9}",
      "policy", "devices");
  for (const std::int64_t tiles : all_tiles) fmt::print("{:>24}", fmt::format("{} tiles", tiles));
  fmt::print("\n");
  try {
    for (const std::string& policy : policies)
      for (const std::size_t devices : {std::size_t{1}, std::size_t{8}}) {
        fmt::print("{:<14}{:>9}", policy, devices);
        for (const std::int64_t tiles : all_tiles) {
          const Cost found = cost(policy, tiles, devices, runs);
          fmt::print("{:>24}", fmt::format("{:.0f} (+{:.0f}){}", found.decisions, found.plays,
                                           found.took.empty() ? "" : " " + found.took));
          std::fflush(stdout);
        }
        fmt::print("\n");
      }
  } catch (const Error& error) {
    fmt::print(stderr, "decision_growth: {}\n", error.what());
    return 1;
  }
}

// A random program: data, tasks in several flows one after the other, and what a sequential run computes.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"

namespace fairlead::random_runs {

inline bool in_any_order(AccessMode mode) {
  return mode == AccessMode::commutative || mode == AccessMode::reduction;
}

/// The summand of a task for a datum that tasks may change in any order.
inline std::uint64_t contribution(std::size_t task, std::size_t datum) {
  return Random::mix(task * 1000003 + datum + 1);
}
/// The value that the task writes: a function of all its inputs.
inline std::uint64_t output_of(std::size_t task, std::size_t datum, std::uint64_t inputs_hash) {
  return Random::mix(inputs_hash ^ Random::mix(task + 77) ^ (datum << 32));
}

struct PlannedUse {
  std::size_t datum;
  AccessMode mode;
};
struct PlannedTask {
  std::vector<PlannedUse> uses;
  int priority = 0;
  Bytes scratch = 0;
  int workers = 1;                  // at once on cores, or as many as there are
  std::uint32_t kinds = 1;          // of workers that can run it
  std::vector<std::size_t> after;   // tasks that must finish before, regardless of data
  bool hold = false;                // not a task: the application acquires the data
  bool with_callback = false;       // a hold with a callback instead of a wait
  std::size_t released_before = 0;  // a hold: the later task that is submitted only after its release
  std::vector<std::uint64_t> expected_inputs;  // of a sequential run; 0 where any order is allowed
};
struct PlannedDatum {
  Bytes bytes = 0;
  bool in_user_memory = false;
  bool temporary = false;  // nothing has written it when it is registered
  bool generated = false;  // its initial value is computed on first use
  std::uint64_t initial = 0, final = 0;
  bool removed = false;  // before the end
};
/// Tasks that are submitted and waited for together.
struct PlannedFlow {
  std::size_t first_task = 0, end_task = 0;
  std::size_t data = 0;                         // registered by then; the others come later
  std::optional<std::size_t> cancelled_before;  // a task
  std::vector<std::size_t> flushed_before;      // tasks
  std::vector<std::size_t> removed_after;
};

struct RandomProgram {
  std::vector<PlannedDatum> data;
  std::vector<PlannedTask> tasks;
  std::vector<PlannedFlow> flows;
  Bytes largest_footprint = 0, all_bytes = 0;  // as an arena rounds them
  Bytes largest_hold = 0;
  std::size_t task_count() const;  // without holds

  /// `several_kinds`: there are workers of kinds cpu and cuda.
  RandomProgram(Random& random, std::size_t task_count, bool several_kinds, bool cancels, bool holds = false);

 protected:
  RandomProgram() = default;  // for programs that are not random
  void run_in_order();

 private:
  void make_data(Random& random);
  void give_workers();
  void make_flows(Random& random, std::size_t task_count, bool cancels);
  void make_tasks(Random& random, bool several_kinds);
  void make_holds(Random& random);
  void make_order(Random& random);
  void give_scratch();
  void let_some_be_generated();
};

}  // namespace fairlead::random_runs

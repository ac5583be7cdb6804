// Two policies that must decide alike, each in its own world with the same events.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "schedule/fake_world.hpp"

namespace fairlead::schedule {

struct Twins {
  Twins(std::uint64_t seed, unsigned number_of_nodes, unsigned number_of_workers, int number_of_data)
      : random(seed),
        nodes(number_of_nodes),
        workers(number_of_workers),
        data(number_of_data),
        a(nodes, workers / nodes),
        b(nodes, workers / nodes) {
    for (FakeWorld* world : {&a, &b}) {
      world->from_host_ms = 2;
      // All data are registered at the start: names get the same ids in both worlds.
      for (int i = 0; i < data; ++i) world->datum(std::to_string(i));
    }
  }

  /// A task with so many inputs; one of `updates` tasks updates the first.
  Spec some_task(int inputs, std::uint64_t updates) {
    Spec spec{"T" + std::to_string(tasks++), {}};
    const int first = static_cast<int>(random.below(static_cast<std::uint64_t>(data)));
    for (int i = 0; i < inputs; ++i) {
      const std::string name = std::to_string((first + i * (1 + tasks % 3)) % data);
      (i == 0 && random.once_in(updates) ? spec.updates : spec.reads).push_back(name);
    }
    spec.ms = static_cast<double>(random.between(1, 3));
    spec.priority = static_cast<int>(random.below(4));
    if (workers > 1 && random.once_in(5)) {
      const auto only = static_cast<unsigned>(random.below(workers));
      a.only_workers[spec.name] = b.only_workers[spec.name] = {only};
    }
    return spec;
  }
  void ready(const Spec& spec) {
    a.ready(spec);
    b.ready(spec);
  }
  void pick() {
    const auto by = static_cast<unsigned>(random.below(workers));
    const std::string expected = b.pick(by), got = a.pick(by);
    ASSERT_EQ(got, expected);
    if (got != "-") held.push_back({got, by, false});
  }
  /// The task is admitted or returned; an admitted task finishes.
  void change_one_held() {
    if (held.empty()) return;
    const std::size_t i = random.below(held.size());
    Held& task = held[i];
    if (!task.admitted && !random.once_in(4)) {
      a.admit(task.name);
      b.admit(task.name);
      task.admitted = true;
      return;
    }
    for (FakeWorld* world : {&a, &b})
      task.admitted ? world->finish(task.name, task.by) : world->give_back(task.name);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }

  struct Held {
    std::string name;
    unsigned by;
    bool admitted;
  };
  Random random;
  unsigned nodes, workers;
  int data;
  FakeWorld a, b;
  int tasks = 0;
  std::vector<Held> held;
};

}  // namespace fairlead::schedule

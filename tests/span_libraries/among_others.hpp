// A flow of parallel bodies among ordinary ones, which checks that no other task runs during a task on all workers.
#pragma once
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace fairlead::tests {

/// Runs `body(team, round)` on all `workers` of a runtime, once per round, among tasks of one worker.
inline void run_among_others(int workers, int rounds, const std::function<void(const Team&, int)>& body) {
  Config config;
  config.set("workers", workers);
  config.set("memory", "4MiB");
  Runtime runtime(config);
  std::atomic<int> narrow = 0, together = 0;
  const auto wide = codelet("wide")
                        .cpu([&](Team team, InOut<double>, int round) {
                          together += narrow.load();
                          body(team, round);
                          together += narrow.load();
                        })
                        .workers(all_workers);
  const auto single = codelet("single").cpu([&](InOut<double> x) {
    ++narrow;
    for (int i = 0; i < 2000; ++i) *x += 1;
    --narrow;
  });
  double whole = 0;
  std::vector<double> others(8);
  const auto datum = runtime.value("whole", whole);
  std::vector<Handle<double>> handles;
  for (double& other : others) handles.push_back(runtime.value("other", other));
  Flow flow(runtime);
  for (int round = 0; round < rounds; ++round) {
    flow.submit(wide(datum, round));
    for (const auto& handle : handles) flow.submit(single(handle));
  }
  flow.wait();
  EXPECT_EQ(others, std::vector<double>(8, 2000.0 * rounds));
  EXPECT_EQ(together, 0) << "tasks ran during one that has all workers";
}

}  // namespace fairlead::tests

// OpenMP in bodies that span several workers.
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <numeric>

#include "span_libraries/among_others.hpp"

namespace fairlead::tests {

TEST(SpanWithOpenMP, HasAsManyThreadsAsWorkersAndCorrectResults) {
  for (const int workers : {1, 2, 4}) {
    std::vector<long> numbers(10'000);
    std::iota(numbers.begin(), numbers.end(), 1);
    int right = 0;
    run_among_others(workers, 30, [&](const Team& team, int round) {
      const int width = static_cast<int>(team.width());
      long sum = 0;
      int threads = 0;
#pragma omp parallel for num_threads(width) reduction(+ : sum)
      for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i] * round;
#pragma omp parallel num_threads(width)
#pragma omp single
      threads = omp_get_num_threads();
      right += threads == workers && sum == 50'005'000L * round;
    });
    EXPECT_EQ(right, 30) << workers << " workers";
  }
}

// Otherwise they would share the core of the worker that runs the body.
TEST(SpanWithOpenMP, ItsThreadsMayUseTheCoresOfAllWorkers) {
  Config config;
  config.set("memory", "4MiB");
  Runtime runtime(config);
  double x = 0;
  const auto datum = runtime.value("x", x);
  std::size_t bound = 0;
  std::vector<std::size_t> usable;
  const auto look = codelet("look")
                        .cpu([&](Team team, InOut<double>) {
                          bound = team.processors().size();
                          const int width = static_cast<int>(team.width());
                          usable.assign(team.width(), 0);
#pragma omp parallel num_threads(width)
                          {
                            cpu_set_t set;
                            pthread_getaffinity_np(pthread_self(), sizeof set, &set);
                            usable[static_cast<std::size_t>(omp_get_thread_num())] =
                                static_cast<std::size_t>(CPU_COUNT(&set));
                          }
                        })
                        .workers(all_workers);
  Flow flow(runtime);
  flow.submit(look(datum));
  flow.wait();
  if (bound == 0) GTEST_SKIP() << "workers are not bound here";
  EXPECT_EQ(usable, std::vector<std::size_t>(bound, bound));
}

}  // namespace fairlead::tests

// TBB in bodies that span several workers.
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <numeric>

#include "span_libraries/among_others.hpp"

namespace fairlead::tests {

TEST(SpanWithTbb, HasAsManyThreadsAsWorkersAndCorrectResults) {
  for (const int workers : {1, 2, 4}) {
    std::vector<long> numbers(10'000);
    std::iota(numbers.begin(), numbers.end(), 1);
    int right = 0;
    run_among_others(workers, 30, [&](const Team& team, int round) {
      tbb::task_arena arena(static_cast<int>(team.width()));
      const long sum = arena.execute([&] {
        return tbb::parallel_reduce(
            tbb::blocked_range<std::size_t>(0, numbers.size()), 0L,
            [&](const auto& range, long part) {
              for (std::size_t i = range.begin(); i < range.end(); ++i) part += numbers[i] * round;
              return part;
            },
            std::plus<>());
      });
      right += arena.max_concurrency() == workers && sum == 50'005'000L * round;
    });
    EXPECT_EQ(right, 30) << workers << " workers";
  }
}

}  // namespace fairlead::tests

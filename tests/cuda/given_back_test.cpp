// What is given back when a task or a runtime ends.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

// A task that is over holds nothing of the program, however its check ended.
TEST(CudaGivesBack, WhatACheckHolds) {
  const FakeDevices there;
  std::vector<long> numbers(100);
  Runtime runtime(cuda_machine("cuda:0,memory=1MiB"));
  const auto vector = runtime.vector<long>("v", numbers.data(), 100);
  Flow flow(runtime);
  for (const bool throws : {false, true}) {
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = held;
    {
      const auto checked = codelet("checked").cuda([&held, throws](CudaStream stream, InOut<Vector<long>>) {
        stream.then([held = std::move(held), throws] {
          if (throws) throw std::runtime_error("it is wrong");
        });
      });
      flow.submit(checked(vector));
      if (throws)
        EXPECT_THROW(flow.wait(), TaskError);
      else
        flow.wait();
    }
    EXPECT_TRUE(watched.expired()) << throws;
  }
}

}  // namespace fairlead::tests

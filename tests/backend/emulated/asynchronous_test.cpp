// Bodies on an emulated device whose tasks end elsewhere.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <chrono>

namespace fairlead {

// A slow device still plays the rest of the body's time when the task is over and its codelet is gone: nothing of
// that is looked at any more (AddressSanitizer would tell).
TEST(EmulatedDevices, LookAtNothingOfATaskThatIsOver) {
  Config config;
  config.set("workers", "1");
  config.set("memory", "1MiB");
  config.set("devices", "emulated:memory=1MiB,speed=0.02,lost=1000000");
  Runtime runtime(config);
  int number = 0;
  Flow flow(runtime);
  {
    const auto set = codelet("set").emulated([](Completion completion, Out<int> x) {
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) {
      }
      *x = 7;
      completion.done();
    });
    flow.submit(set(runtime.value("number", number)));
    flow.wait();
  }
  EXPECT_EQ(number, 7);
}

}  // namespace fairlead

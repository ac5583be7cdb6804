// Asynchronous bodies on an emulated device.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <chrono>

namespace fairlead {

// A slow device still waits for the rest of the body's time when the task has completed and its codelet is destroyed: it must
// not access them (AddressSanitizer detects that).
TEST(EmulatedDevices, DoNotAccessACompletedTask) {
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

// Driver functions fail from some call on: the values are correct, or an error names the device and the driver's error; and
// resources are released. (Lost devices: losses_test.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "at_length.hpp"
#include "backend/cuda/types.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* devices_in_trouble = "cuda:0,memory=36KiB,streams=2 + cuda:1,memory=28KiB";

}  // namespace

// Each function fails from some call on, with a transient error and with the loss of the device. (Single calls:
// every_call_test.)
TEST(CudaFailures, GiveCorrectValuesOrNameTheFailure) {
  int errors = 0, succeeded = 0;
#define FAIRLEAD_CUDA_NAME_TEXT(name, ...) #name,
  for (const std::string function : {FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_NAME_TEXT)}) {
    if (function.starts_with("cuGetError")) continue;  // they describe other errors
    if (function.find("Free") != std::string::npos || function.find("Destroy") != std::string::npos ||
        function.find("Unregister") != std::string::npos || function.find("Release") != std::string::npos)
      continue;  // then resources leak
    for (const int status : {2, 719})
      for (const int call : {1, 2, 3, 5, 9, 17}) {
        if (!many_cases() && call != 3 && call != 9) continue;
        const std::string where =
            function + " from call " + std::to_string(call) + ": " + std::to_string(status);
        fake_cuda::begin({.seed = static_cast<std::uint64_t>(call), .devices = 2, .longest_delay_us = 20});
        fake_cuda::fail(function.c_str(), call, true, status);
        const ProgramRun run =
            run_program(static_cast<std::uint64_t>(call), cuda_machine(devices_in_trouble));
        const int failed = fake_cuda::failures();
        if (run.said.empty()) {
          EXPECT_TRUE(run.right) << where;
          succeeded += failed > 0;
        } else {
          EXPECT_GT(failed, 0) << where << ": " << run.said;
          EXPECT_THAT(run.said, AnyOf(HasSubstr("cuda 0"), HasSubstr("cuda 1"), HasSubstr("\"cuda:0,")))
              << where;
          EXPECT_THAT(run.said, AnyOf(HasSubstr(status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
                                                            : "CUDA_ERROR_LAUNCH_FAILED (719)"),
                                      HasSubstr("names no device")))
              << where;
          ++errors;
        }
        for (const std::string& text : fake_cuda::end())
          // Without a current context no resource can be released.
          EXPECT_TRUE(function == "cuCtxPushCurrent_v2" &&
                      (text.find("not given back") != std::string::npos ||
                       text.find("registered at the end") != std::string::npos))
              << where << ": " << text;
      }
  }
  const int least =
      many_cases() ? 20 : 5;  // under a sanitizer half of the calls fail, and other threads make them
  EXPECT_GT(errors, least);
  EXPECT_GT(succeeded, least);
}

}  // namespace fairlead::tests

// What a driver does not do, from some call on: then the values are right all the same, or an error says which device and what the
// driver said; and what was taken is given back. (Devices that are lost: losses_test.)
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

// Each function in turn, from some call on, by an error that passes and by one that ends the device. (Single calls:
// every_call_test.)
TEST(CudaFailures, GiveRightValuesOrSayWhatFailed) {
  int told = 0, in_spite_of_it = 0;
#define FAIRLEAD_CUDA_NAME_TEXT(name, ...) #name,
  for (const std::string function : {FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_NAME_TEXT)}) {
    if (function.starts_with("cuGetError")) continue;  // they say what others did
    if (function.find("Free") != std::string::npos || function.find("Destroy") != std::string::npos ||
        function.find("Unregister") != std::string::npos || function.find("Release") != std::string::npos)
      continue;  // then it is not given back
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
          in_spite_of_it += failed > 0;
        } else {
          EXPECT_GT(failed, 0) << where << ": " << run.said;
          EXPECT_THAT(run.said, AnyOf(HasSubstr("cuda 0"), HasSubstr("cuda 1"), HasSubstr("\"cuda:0,")))
              << where;
          EXPECT_THAT(run.said, AnyOf(HasSubstr(status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
                                                            : "CUDA_ERROR_LAUNCH_FAILED (719)"),
                                      HasSubstr("names no device")))
              << where;
          ++told;
        }
        for (const std::string& text : fake_cuda::end())
          // Whoever may make no context current gives nothing back.
          EXPECT_TRUE(function == "cuCtxPushCurrent_v2" &&
                      (text.find("not given back") != std::string::npos ||
                       text.find("registered at the end") != std::string::npos))
              << where << ": " << text;
      }
  }
  const int least =
      many_cases() ? 20 : 5;  // under a sanitizer half of the calls fail, and other threads make them
  EXPECT_GT(told, least);
  EXPECT_GT(in_spite_of_it, least);
}

}  // namespace fairlead::tests

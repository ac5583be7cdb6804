// Each call of the driver, of cuBLAS and of cuSOLVER in a small run fails once: with a transient error, and with the loss of
// the device. Then the result is correct, or an error names the call; and the driver finds no leaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/linalg/precisions.hpp"
#include "algorithms/linalg/qr_world.hpp"
#include "algorithms/linalg/world.hpp"
#include "at_length.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int passes = 2, ends_the_device = 719;
constexpr std::uint64_t seed = 3;

bool gives_back(std::string_view function) {
  return function.find("Free") != function.npos || function.find("Destroy") != function.npos ||
         function.find("Unregister") != function.npos || function.find("Release") != function.npos ||
         function.find("Unload") != function.npos;
}

/// All calls up to a limit; beyond it the first, the last and some between, depending on the function.
std::set<int> calls_to_fail(int calls) {
  const int most = at_length() ? 1000 : sanitized ? 6 : 12;
  std::set<int> chosen;
  for (int i = 0; i < std::min(calls, most); ++i)
    chosen.insert(calls <= most || i < most / 2
                      ? 1 + i
                      : 1 + most / 2 + (calls - most / 2 - 1) * (i + 1 - most / 2) / (most - most / 2));
  return chosen;
}

/// The name in errors: driver functions without their version suffix, routines of cuBLAS by their own name.
std::string named(const std::string& function) {
  for (const char* routine : {"gemm", "syrk", "trsm", "trmm", "potrf", "getrf"})
    if (function.find(routine) != function.npos) return routine;
  return function.substr(0, function.find("_v2"));
}
/// Each call reports a lost device, so the first one after the loss is named. Libraries that fail to launch a kernel name only
/// the routine.
bool names(const std::string& said, const std::string& function, int status) {
  const auto has = [&](std::string_view text) { return said.find(text) != said.npos; };
  if (has(named(function))) return true;
  if (status == ends_the_device) return has("is lost: cuda ") && (has("): cu") || has("): the kernel"));
  return function == "cuLaunchKernel" && (has("the kernel") || has("cuBLAS: ") || has("cuSOLVER: "));
}

void begin_devices() { fake_cuda::begin({.seed = seed, .devices = 2, .longest_delay_us = 10}); }

template <class Run>
ProgramRun in_time(const Run& run, const std::string& where) {
  const auto start = std::chrono::steady_clock::now();
  ProgramRun done = run();
  EXPECT_LT(std::chrono::steady_clock::now() - start, longest_run) << where;
  return done;
}

/// Fails calls of `run`, which reports the error.
template <class Run>
void fail_each_call(const Run& run) {
  begin_devices();
  const ProgramRun good = run();
  const std::map<std::string, int> calls = fake_cuda::calls();
  ASSERT_THAT(fake_cuda::end(), IsEmpty());
  ASSERT_EQ(good.said, "");
  ASSERT_TRUE(good.right);
  int runs = 0, errors = 0, succeeded = 0;
  int turn = 0;
  for (const auto& [function, count] : calls) {
    for (const int call : calls_to_fail(count)) {
      ++turn;
      for (const int status : {passes, ends_the_device}) {
        if (!many_cases() && (turn % 2 == 0) != (status == passes))
          continue;  // half of each function's calls with each status
        const std::string where = function + ", call " + std::to_string(call) + " of some " +
                                  std::to_string(count) + ", gives " + std::to_string(status);
        begin_devices();
        fake_cuda::fail(function.c_str(), call, false, status);
        const ProgramRun done = in_time(run, where);
        ++runs;
        const int failed = fake_cuda::failures();
        if (done.said.empty()) {
          EXPECT_TRUE(done.right) << where;
          succeeded += failed > 0;
        } else {
          EXPECT_GT(failed, 0) << where << ": " << done.said;
          EXPECT_TRUE(names(done.said, function, status)) << where << ": " << done.said;
          ++errors;
        }
        std::map<std::string, int> then = fake_cuda::calls();
        if (status == passes && failed > 0)  // otherwise resources on the device are not released
          for (const std::string library : {"cublas", "cusolverDn"}) {
            const std::string version = library == "cublas" ? "_v2" : "";
            const std::string create = library + "Create" + version;
            EXPECT_EQ(then[create] - (function == create), then[library + "Destroy" + version]) << where;
          }
        const std::vector<std::string> left = fake_cuda::end();
        if (gives_back(function) && left.size() == 1 && failed == 1)  // the injected failure leaks it
          EXPECT_THAT(left.front(), AnyOf(HasSubstr("not given back"), HasSubstr("registered at the end")))
              << where;
        else
          EXPECT_THAT(left, IsEmpty()) << where << ": " << done.said;
      }
    }
  }
  std::cout << calls.size() << " functions, " << runs << " runs: " << errors << " errors, " << succeeded
            << " correct despite one\n";
  EXPECT_GT(errors, runs / 10);
  EXPECT_GT(succeeded, runs / 10);
}

ProgramRun run_in_trouble() {
  return run_program(seed, cuda_machine("cuda:0,memory=36KiB,streams=2 + cuda:1,memory=28KiB"),
                     backend::default_backends(), step_codelet(), mix_codelet(), 12);
}

/// Checks the residual of a matrix's factors: below 30 if correct.
template <class Residual>
ProgramRun judged(const Residual& residual) {
  const linalg::testing::Setting setting{
      .workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=100KiB"};
  const auto a = std::make_shared<linalg::GeneratedSpd<double>>(96, 11);
  try {
    return {"", residual(a, setting) < 30};
  } catch (const Error& error) {
    return {error.what(), false};
  }
}

}  // namespace

TEST(CudaCalls, FailOneByOneInTasks) { fail_each_call(run_in_trouble); }

// After a failure the stream is synchronized, since its data must not be used before; this may fail as well.
TEST(CudaCalls, FailTwice) {
  int twice = 0;
  for (const char* function :
       {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventQuery"})
    for (int call = 1; call <= 8; ++call) {
      const std::string where = function + (", call " + std::to_string(call));
      begin_devices();
      fake_cuda::fail(function, call);
      fake_cuda::fail_also("cuStreamSynchronize", 1);
      const ProgramRun run = in_time(run_in_trouble, where);
      if (run.said.empty())
        EXPECT_TRUE(run.right) << where;
      else
        EXPECT_THAT(run.said, HasSubstr(named(function))) << where;
      twice += fake_cuda::failures() == 2;
      EXPECT_THAT(fake_cuda::end(), IsEmpty()) << where << ": " << run.said;
    }
  EXPECT_GT(twice, 10);
}

TEST(CudaCalls, FailOneByOneInCholesky) {
  fail_each_call([] {
    return judged([](const auto& a, const auto& setting) {
      return linalg::testing::factor_residual(linalg::testing::dense(*a),
                                              linalg::testing::factor<double>(a, 24, setting));
    });
  });
}

TEST(CudaCalls, FailOneByOneInLu) {
  fail_each_call([] {
    return judged([](const auto& a, const auto& setting) {
      return linalg::testing::lu_residual(linalg::testing::dense(*a),
                                          linalg::testing::lu_factors<double>(a, 24, setting));
    });
  });
}

TEST(CudaCalls, FailOneByOneInQr) {
  const linalg::Kernels kernels = linalg::testing::kernels().with_cuda_kernels(image_of_kernels);
  const auto a = linalg::testing::uniform<double>(40, 40, 13);
  fail_each_call([&]() -> ProgramRun {
    try {
      const auto factors = linalg::testing::qr_factors<double>(
          a, 20, linalg::QrTree::binary,
          {.workers = 1, .scheduler = "eager", .devices = "cuda:0,memory=100KiB"}, nullptr, 0, kernels);
      return {"", linalg::testing::qr_residual(linalg::testing::dense(*a), factors) < 30};
    } catch (const Error& error) {
      return {error.what(), false};
    }
  });
}

}  // namespace fairlead::tests

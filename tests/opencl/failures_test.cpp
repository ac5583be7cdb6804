// Each function of the driver fails, once or permanently, in the first or in later calls, during a run that evicts. Then the
// values are correct, or an error names the device and the failure. Also counts the allocated device memory.
#include <fairlead/fairlead.hpp>
#include <fairlead/opencl.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "backend/opencl/opencl.hpp"
#include "opencl/platform.hpp"

namespace fairlead::tests {

namespace {

namespace cl = backend::cl;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// Which call fails, and the counts. One for the program, since the driver's functions have no object.
struct Trouble {
  std::string_view function;  // empty: none
  int in_call = 0;            // counted from 1
  bool for_good = false;
  std::atomic<int> calls{0}, failed{0};
  std::mutex mutex;  // guards the fields below
  std::map<cl::Buffer, std::size_t> buffers;
  std::size_t bytes = 0, most_bytes = 0;

  void begin(std::string_view name, int call, bool always) {
    function = name;
    in_call = call;
    for_good = always;
    calls = failed = 0;
  }
  bool hits(std::string_view name) {
    if (name != function) return false;
    const int call = ++calls;
    const bool hit = for_good ? call >= in_call : call == in_call;
    failed += hit;
    return hit;
  }
};
Trouble& trouble() {
  static Trouble one;
  return one;
}

constexpr cl::Status failure = -5;

/// Replaces a function in the driver's table.
template <class Name, class Signature>
struct Standin;
template <class Name, class R, class... A>
struct Standin<Name, R(A...)> {
  static inline R (*real)(A...) = nullptr;
  static R call(A... arguments) {
    if (!trouble().hits(Name::text)) {
      const R result = real(arguments...);
      note(result, arguments...);
      return result;
    }
    if constexpr (std::is_pointer_v<R>) {  // the last argument is the status
      (set_status(arguments), ...);
      return nullptr;
    } else {
      if (std::string_view(Name::text) == "clFinish")
        real(arguments...);  // the launched kernel finishes nevertheless
      return failure;
    }
  }

 private:
  template <class Argument>
  static void set_status([[maybe_unused]] Argument argument) {
    if constexpr (std::is_same_v<Argument, cl::Status*>) *argument = failure;
  }
  template <class... Any>
  static void note(const R& result, const Any&... any) {
    if constexpr (std::is_same_v<R, cl::Buffer>) {
      const std::lock_guard lock(trouble().mutex);
      trouble().buffers[result] = size_in(any...);
      trouble().bytes += size_in(any...);
      trouble().most_bytes = std::max(trouble().most_bytes, trouble().bytes);
    } else if constexpr (std::is_same_v<std::tuple<Any...>, std::tuple<cl::Buffer>>) {  // clReleaseMemObject
      const std::lock_guard lock(trouble().mutex);
      trouble().bytes -= trouble().buffers[std::get<0>(std::tie(any...))];
    }
  }
  static std::size_t size_in(cl::Context, cl::Bitfield, std::size_t bytes, void*, cl::Status*) {
    return bytes;
  }
};

#define FAIRLEAD_OPENCL_NAME_TYPE(name, ...)   \
  struct Name_##name {                         \
    static constexpr const char* text = #name; \
  };
FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_NAME_TYPE)

cl::OpenclDevices found_with_trouble() {
  cl::OpenclDevices found = opencl_devices();
  auto driver = std::make_shared<cl::OpenclDriver>();
#define FAIRLEAD_OPENCL_STAND_IN(name, ...)                                                                 \
  using In_place_of_##name = Standin<Name_##name, std::remove_pointer_t<decltype(cl::OpenclDriver::name)>>; \
  In_place_of_##name::real = found.driver->name;                                                            \
  driver->name = &In_place_of_##name::call;
  FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_STAND_IN)
  found.driver = driver;
  return found;
}

backend::Backends backends_with_trouble() {
  backend::Backends all = backend::default_backends();
  for (auto& one : all)
    if (one->kind() == "opencl") one = std::make_shared<backend::OpenclBackend>(found_with_trouble);
  return all;
}

constexpr std::size_t vectors = 6;
constexpr long size = 900;  // 2 pages each; the device holds three of them

/// The error; empty: none.
std::string run_in_trouble(std::vector<std::vector<long>>& numbers,
                           std::vector<std::vector<long>>& expected) {
  numbers.assign(vectors, std::vector<long>(size, 1));
  expected = numbers;
  const OpenclKernel kernel("more", R"(
    kernel void more(global const long* x, ulong x_at, global long* y, ulong y_at) {
      y[y_at + get_global_id(0)] += 2 * x[x_at + get_global_id(0)] + 1;
    })");
  const auto more =
      codelet("more").opencl([kernel](OpenclQueue queue, In<Vector<long>> x, InOut<Vector<long>> y) {
        const auto [xm, xa] = queue.buffer(x);
        const auto [ym, ya] = queue.buffer(y);
        queue.run(kernel, {y.size()}, xm, xa, ym, ya);
      });
  const auto look = codelet("look").cpu([](InOut<Vector<long>> y) {
    for (long i = 0; i < y.size(); ++i) ++y(i);
  });
  try {
    Runtime runtime(opencl_machine("opencl:0,memory=28KiB,workspace=4KiB"), 0, backends_with_trouble());
    std::vector<Handle<Vector<long>>> data;
    for (auto& one : numbers) data.push_back(runtime.vector<long>("v", one.data(), size));
    Flow flow(runtime);
    for (std::size_t task = 0; task < 15; ++task) {
      const std::size_t x = task % vectors, y = (task * 5 + 1) % vectors;
      if (x != y) flow.submit(more(data[x], data[y]));
      flow.submit(look(data[y]));
      for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
        if (x != y) expected[y][i] += 2 * expected[x][i] + 1;
        ++expected[y][i];
      }
    }
    flow.wait();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(OpenclFailures, GiveCorrectValuesOrNameTheFailure) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  int errors = 0, succeeded = 0;
#define FAIRLEAD_OPENCL_NAME_TEXT(name, ...) #name,
  for (const std::string_view function : {FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_NAME_TEXT)}) {
    if (function.starts_with("clRelease")) continue;
    for (const bool for_good : {false, true})
      for (const int call : {1, 2, 3, 7}) {
        trouble().begin(function, call, for_good);
        std::vector<std::vector<long>> numbers, expected;
        const std::string text = run_in_trouble(numbers, expected);
        const int failed = trouble().failed;
        trouble().begin("", 0, false);
        const std::string where =
            std::string(function) + (for_good ? " from call " : " in call ") + std::to_string(call);
        if (text.empty()) {
          EXPECT_TRUE(numbers == expected) << where;
          succeeded += failed > 0;
        } else {
          EXPECT_GT(failed, 0) << where << ": " << text;
          EXPECT_THAT(text, AnyOf(HasSubstr("opencl 0 ("), HasSubstr("opencl 0\""))) << where;
          EXPECT_THAT(text, HasSubstr("CL_OUT_OF_RESOURCES (-5)")) << where;
          ++errors;
        }
      }
  }
  EXPECT_GT(errors, 40);
  EXPECT_GT(succeeded, 2);  // a failed copy is retried once
}

// All memory is allocated at the start of the run, exactly the allowed size.
TEST(OpenclFailures, AllocateExactlyTheAllowedMemory) {
  FAIRLEAD_NEEDS_OPENCL(1u);
  trouble().begin("", 0, false);
  trouble().most_bytes = trouble().bytes = 0;
  std::vector<std::vector<long>> numbers, expected;
  EXPECT_EQ(run_in_trouble(numbers, expected), "");
  EXPECT_TRUE(numbers == expected);
  EXPECT_EQ(trouble().most_bytes, 28u << 10);
  EXPECT_EQ(trouble().bytes, 0u);  // and released
}

}  // namespace fairlead::tests

// An exception that two threads own, read by one and freed by the other, as by every failing task. ThreadSanitizer
// reports a false race for it (see tests/known_false_races.cpp).
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace fairlead {
namespace {

template <class Thrown>
void read_here_and_free_there() {
  const std::string text = "as planned, and too long to be kept in the string itself";
  std::exception_ptr shared = std::make_exception_ptr(Thrown(text));
  std::atomic<bool> is_released{false};
  std::thread reader([&is_released, &text, own = shared]() mutable {
    try {
      std::rethrow_exception(std::exchange(own, nullptr));
    } catch (const std::exception& error) {
      EXPECT_EQ(error.what(), text);
    }
    is_released.store(true, std::memory_order_relaxed);  // only the reference count orders the next steps
  });
  while (!is_released.load(std::memory_order_relaxed)) std::this_thread::yield();
  shared = nullptr;
  reader.join();
}

}  // namespace

TEST(SharedException, IsReadByOneThreadAndFreedByAnother) {
  read_here_and_free_there<std::runtime_error>();
  read_here_and_free_there<std::logic_error>();
}

}  // namespace fairlead

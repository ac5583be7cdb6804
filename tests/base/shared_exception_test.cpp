// An exception that two threads own, read by one and freed by the other: what every failing task does, and what
// ThreadSanitizer misunderstands (see tests/known_false_races.cpp).
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
  std::atomic<bool> let_go{false};
  std::thread reader([&let_go, &text, own = shared]() mutable {
    try {
      std::rethrow_exception(std::exchange(own, nullptr));
    } catch (const std::exception& error) {
      EXPECT_EQ(error.what(), text);
    }
    let_go.store(true, std::memory_order_relaxed);  // the count of owners alone orders what follows
  });
  while (!let_go.load(std::memory_order_relaxed)) std::this_thread::yield();
  shared = nullptr;
  reader.join();
}

}  // namespace

TEST(SharedException, IsReadByOneThreadAndFreedByAnother) {
  read_here_and_free_there<std::runtime_error>();
  read_here_and_free_there<std::logic_error>();
}

}  // namespace fairlead

// Failing allocations at every place of six programs: each run has one failing allocation, in a process of its own. The
// program must report an error or have the right results; it must not end by a signal or hang. A place is a call stack:
// its first and its last allocation fail, and so does every ninth of all; with --long every allocation fails once.
#include <gtest/gtest.h>
#include <fairlead/error.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "allocation/failing_new.hpp"
#include "allocation/programs.hpp"
#include "at_length.hpp"

namespace fairlead::allocation {

namespace {

/// In memory shared with the child processes.
struct Shared {
  std::uint64_t started_at;  ///< number of allocations that the last child needed for its runtime
  std::uint64_t places[1 << 17];
};
Shared* const shared = static_cast<Shared*>(
    mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

enum Ending : int { right = 0, error = 1, wrong = 2, foreign = 3, never_reached = 4 };
constexpr unsigned seconds_until_it_hangs = 60;
constexpr int runs_that_must_not_reach_it = 3;  // the number of allocations of threads varies a little

void tell_and_end(int signal_number) {
  tell_where();
  constexpr char here[] = "that ended here:\n";
  static_cast<void>(!::write(STDERR_FILENO, here, sizeof here - 1));
  tell_here();
  std::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

[[noreturn]] void run_and_end(const SmallProgram& program, std::uint64_t point, std::uint64_t in_a_row) {
  for (const int ends : {SIGABRT, SIGSEGV, SIGALRM, SIGBUS}) std::signal(ends, tell_and_end);
  alarm(seconds_until_it_hangs);
  int ending = foreign;
  fail(point, in_a_row);
  try {
    ending = program.run([&] { shared->started_at = counted(); }) ? right : wrong;
  } catch (const Error&) {
    ending = error;
  } catch (const std::bad_alloc&) {
    ending = error;
  } catch (...) {
  }
  const bool reached = counted() >= point;
  never_fail();
  if (!reached && ending == right) ending = never_reached;
  if (ending == wrong || ending == foreign) tell_where();
  _exit(ending);
}

/// The outcome of a run whose allocations fail from this one on.
int status_of(const SmallProgram& program, std::uint64_t point, std::uint64_t in_a_row) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) run_and_end(program, point, in_a_row);
  int status = 0;
  while (waitpid(child, &status, 0) == -1) {
  }
  return status;
}

/// The places of all allocations of a run without failures.
std::span<const std::uint64_t> places_of(const SmallProgram& program) {
  std::ranges::fill(shared->places, 0);
  note_places(shared->places, std::size(shared->places));
  status_of(program, std::numeric_limits<std::uint64_t>::max(), 1);
  note_places(nullptr, 0);
  const auto end = std::ranges::find(shared->places, std::uint64_t{0});
  return {shared->places, static_cast<std::size_t>(end - shared->places)};
}

/// The first and the last allocation of each place, counted from 1.
std::vector<bool> first_and_last(std::span<const std::uint64_t> places) {
  std::vector<bool> chosen(places.size() + 1, false);
  std::unordered_map<std::uint64_t, std::size_t> last;
  for (std::size_t i = 0; i < places.size(); ++i)
    chosen[i + 1] = last.insert_or_assign(places[i], i + 1).second;
  for (const auto& [place, number] : last) chosen[number] = true;
  return chosen;
}

std::string text_of(int status) {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "hung" : "ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == wrong ? "had a wrong result" : "threw an exception that is not an Error";
}

class EveryAllocation : public testing::TestWithParam<SmallProgram> {
 protected:
  /// One in `step_of_start` of the allocations that create the runtime, which are similar in most programs. With --long,
  /// one in `step` of the others.
  void fail_each(std::uint64_t in_a_row, std::uint64_t step_of_start, std::uint64_t step = 1) {
    std::uint64_t points = 0, errors = 0;
    int missed = 0;
    const std::span<const std::uint64_t> places = places_of(GetParam());
    const std::uint64_t start = shared->started_at;
    ASSERT_GT(start, 0u);
    ASSERT_LT(places.size(), std::size(shared->places));
    const std::vector<bool> chosen = first_and_last(places);
    const auto is_left_out = [&](std::uint64_t point) {
      if (step_of_start > 1 && point + step_of_start < start) return point % step_of_start != 1;
      if (tests::at_length()) return point % step != 0;
      return point < chosen.size() && !chosen[point] && point % 9 != 0;
    };
    for (std::uint64_t point = 1; missed < runs_that_must_not_reach_it; ++point) {
      if (is_left_out(point)) continue;
      const int status = status_of(GetParam(), point, in_a_row);
      const bool ended = WIFEXITED(status);
      if (ended && WEXITSTATUS(status) == never_reached) {
        ++missed;
        continue;
      }
      missed = 0;
      ++points;
      errors += ended && WEXITSTATUS(status) == error;
      if (!ended || WEXITSTATUS(status) > error)
        ADD_FAILURE() << GetParam().name << " " << text_of(status) << " when allocation " << point
                      << " failed" << (in_a_row > 1 ? " and the next ones" : "");
    }
    RecordProperty("points", std::to_string(points));
    EXPECT_GT(errors, 0u) << "no allocation failed: the operators of this program are not in use";
    std::printf(
        "%s: %llu points of %zu allocations at %td of which a place is first or last, %llu of them ended in "
        "an error\n",
        GetParam().name, static_cast<unsigned long long>(points), places.size(),
        std::ranges::count(chosen, true), static_cast<unsigned long long>(errors));
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Programs, EveryAllocation,
                         testing::ValuesIn(small_programs().begin(), small_programs().end()),
                         [](const auto& program) { return std::string(program.param.name); });

TEST_P(EveryAllocation, MayFailOnce) { fail_each(1, std::string(GetParam().name) == "OutOfCore" ? 1 : 20); }
// Allocations rarely fail alone: those of the error handling fail, too. Of some thousands, every third: a series of
// forty starts close to the previous and the next one.
TEST_P(EveryAllocation, MayFailTogetherWithTheNextOnes) {
  fail_each(40, 20, std::string(GetParam().name) == "TheRest" ? 3 : 1);
}

}  // namespace fairlead::allocation

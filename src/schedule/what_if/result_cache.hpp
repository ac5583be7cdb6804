// Cache of the policies found for earlier programs. Iterative applications submit the same program repeatedly.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::schedule::what_if {

/// The extent of a program: number of tasks, their bytes, and the sum of their durations on the fastest worker for
/// each.
struct ProgramSize {
  double tasks = 0, bytes = 0, work_ns = 0;
};

class ResultCache {
 public:
  /// Sets the current program. Returns the policy found for a similar one earlier; null if there is none.
  const std::string* find(const ProgramSize& current) {
    current_ = current;
    is_of_the_rest_ = false;
    const auto found =
        std::ranges::find_if(results_, [&](const Entry& one) { return is_like(one.about, current_); });
    return found == results_.end() ? nullptr : &found->policy;
  }
  /// Later results are for the rest of the program only. remember() ignores them: they may be bad for the whole
  /// program.
  void ignore_results() noexcept { is_of_the_rest_ = true; }
  void remember(std::string policy) {
    if (is_of_the_rest_) return;
    std::erase_if(results_, [&](const Entry& one) { return is_like(one.about, current_); });
    if (results_.size() == most) results_.erase(results_.begin());
    results_.push_back({current_, std::move(policy)});
  }

  static constexpr std::size_t most = 16;

 private:
  struct Entry {
    ProgramSize about;
    std::string policy;
  };
  /// The tolerance of the durations is large: estimates improve with each run, and on a device with shared streams they
  /// depend on the other tasks.
  static bool is_like(const ProgramSize& known, const ProgramSize& current) noexcept {
    const auto near = [](double a, double b, double apart) { return std::abs(a - b) <= apart * b; };
    return near(known.tasks, current.tasks, 0.02) && near(known.bytes, current.bytes, 0.02) &&
           near(known.work_ns, current.work_ns, 0.25);
  }

  ProgramSize current_;
  bool is_of_the_rest_ = false;
  std::vector<Entry> results_;  // newest last
};

}  // namespace fairlead::schedule::what_if

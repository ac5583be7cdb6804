// What was found for a program, for the next time that it comes: in each iteration of what does the same in turns.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::schedule::rehearsed {

/// Of what is to be done: so many tasks, on so many bytes, which take so long where each is fastest.
struct Extent {
  double tasks = 0, bytes = 0, work_ns = 0;
};

class Answers {
 public:
  /// From now on it is about this. The policy that was found for the same before; null if nothing was.
  const std::string* about(const Extent& asked) {
    asked_ = asked;
    is_of_the_rest_ = false;
    const auto found =
        std::ranges::find_if(answers_, [&](const Answer& one) { return is_like(one.about, asked_); });
    return found == answers_.end() ? nullptr : &found->policy;
  }
  /// What is found from now on is for what is left of it: that may be a bad one for all of it.
  void is_of_the_rest() noexcept { is_of_the_rest_ = true; }
  void remember(std::string policy) {
    if (is_of_the_rest_) return;
    std::erase_if(answers_, [&](const Answer& one) { return is_like(one.about, asked_); });
    if (answers_.size() == most) answers_.erase(answers_.begin());
    answers_.push_back({asked_, std::move(policy)});
  }

  static constexpr std::size_t most = 16;

 private:
  struct Answer {
    Extent about;
    std::string policy;
  };
  /// How long its tasks take is known better each time, and on a device whose streams share it depends on what runs beside them.
  static bool is_like(const Extent& known, const Extent& asked) noexcept {
    const auto near = [](double a, double b, double apart) { return std::abs(a - b) <= apart * b; };
    return near(known.tasks, asked.tasks, 0.02) && near(known.bytes, asked.bytes, 0.02) &&
           near(known.work_ns, asked.work_ns, 0.25);
  }

  Extent asked_;
  bool is_of_the_rest_ = false;
  std::vector<Answer> answers_;  // the latest last
};

}  // namespace fairlead::schedule::rehearsed

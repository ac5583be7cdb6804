// Which kinds of task take a worker next to no time: their ends may be told together, and a look at the clock
// at each of them would cost as much as they do.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace fairlead::backend {

/// One worker's; a few of the last kinds.
class TinyKinds {
 public:
  bool contains(const CodeletInfo* codelet) const noexcept { return find(codelet) != kinds_.end(); }
  /// The same, for tasks that need not be timed each: now and then, and the first ones, it is false, so that
  /// durations are learned and a kind that has become long is noticed.
  bool may_go_untimed(const CodeletInfo* codelet) noexcept {
    const auto kind = find(codelet);
    return kind != kinds_.end() && ++kind->runs > timed_first && kind->runs % timed_one_in != 0;
  }
  void took(const CodeletInfo* codelet, bool next_to_no_time) noexcept {
    const auto kind = find(codelet);
    if (next_to_no_time == (kind != kinds_.end())) return;
    if (next_to_no_time) {
      kinds_[next_++ % kinds_.size()] = {codelet, 0};
    } else {
      *kind = {};
    }
  }
  void clear() noexcept { kinds_ = {}; }

 private:
  static constexpr unsigned timed_first = 16, timed_one_in = 64;
  struct Kind {
    const CodeletInfo* codelet = nullptr;
    unsigned runs = 0;
  };
  std::array<Kind, 8>::iterator find(const CodeletInfo* codelet) noexcept {
    return std::ranges::find(kinds_, codelet, &Kind::codelet);
  }
  std::array<Kind, 8>::const_iterator find(const CodeletInfo* codelet) const noexcept {
    return std::ranges::find(kinds_, codelet, &Kind::codelet);
  }

  std::array<Kind, 8> kinds_{};
  std::size_t next_ = 0;
};

}  // namespace fairlead::backend

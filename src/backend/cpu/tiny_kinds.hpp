// Which bodies take a worker next to no time: their ends may be told together, and a look at the clock
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
  bool contains(const Implementation& body) const noexcept { return find(body) != kinds_.end(); }
  /// The same, for tasks that need not be timed each: now and then, and the first ones, it is false, so that
  /// durations are learned and a kind that has become long is noticed.
  bool may_go_untimed(const Implementation& body) noexcept {
    const auto kind = find(body);
    return kind != kinds_.end() && ++kind->runs > timed_first && kind->runs % timed_one_in != 0;
  }
  void took(const Implementation& body, bool next_to_no_time) noexcept {
    const auto kind = find(body);
    if (next_to_no_time == (kind != kinds_.end())) return;
    if (next_to_no_time) {
      kinds_[next_++ % kinds_.size()] = {&body, 0};
    } else {
      *kind = {};
    }
  }
  void clear() noexcept { kinds_ = {}; }

 private:
  static constexpr unsigned timed_first = 16, timed_one_in = 64;
  struct Kind {
    const Implementation* body = nullptr;
    unsigned runs = 0;
  };
  std::array<Kind, 8>::iterator find(const Implementation& body) noexcept {
    return std::ranges::find(kinds_, &body, &Kind::body);
  }
  std::array<Kind, 8>::const_iterator find(const Implementation& body) const noexcept {
    return std::ranges::find(kinds_, &body, &Kind::body);
  }

  std::array<Kind, 8> kinds_{};
  std::size_t next_ = 0;
};

}  // namespace fairlead::backend

// The bodies that take a worker almost no time. Their completions may be reported together, and reading the clock for
// each would cost as much as they do.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace fairlead::backend {

/// State of one worker; the last few bodies.
class TinyBodies {
 public:
  bool contains(const Implementation& body) const noexcept { return find(body) != kinds_.end(); }
  /// As contains(), for skipping the timing of a single task. False for the first tasks of a kind and now and then
  /// afterwards, so that durations are learned and a kind that has become slow is noticed.
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

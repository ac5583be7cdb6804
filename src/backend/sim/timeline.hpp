// Virtual time, which several simulated worlds can share: what happens next in any of them happens next. Of
// what happens at the same time, the world that joined first has its turn first, and each world keeps the
// order of its own. So a run of many worlds is as repeatable as that of one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace fairlead::backend {

/// One thread's.
class Timeline {
 public:
  /// A world, as far as time is concerned.
  class Member {
   public:
    virtual ~Member() = default;
    /// When the next thing happens here; Time::max() if nothing will.
    virtual Time next() const noexcept = 0;
    /// Lets it happen: first of all, reaches() that time. False if there is nothing.
    virtual bool step() = 0;
  };

  Time now() const noexcept { return now_; }
  /// Said by the member whose turn it is. Throws Error at the end of virtual time.
  void reaches(Time at) {
    if (at >= end_of_virtual_time) [[unlikely]]
      refuse_to_go_on();
    now_ = at;
  }

  /// Members stay until they leave; a number is not given twice.
  std::uint32_t join(Member& member);
  void leave(std::uint32_t number) noexcept;
  /// What next() says of a member may have changed otherwise than by its own step().
  void changed(std::uint32_t number) {
    if (members_.size() > 1) changed_.push_back(number);
  }
  /// The next thing happens, in whichever world. False if there is none.
  bool step();

 private:
  [[noreturn]] static void refuse_to_go_on();
  void look_at(std::uint32_t number);
  /// Something happens there before it does in the other.
  bool is_before(std::uint32_t number, std::uint32_t other) const noexcept {
    return next_[number] != next_[other] ? next_[number] < next_[other] : number < other;
  }
  void play(std::size_t match) noexcept;
  void set(std::uint32_t number, Time next) noexcept;

  Time now_{};
  std::vector<Member*> members_;  // by number; null: has left
  // Who is first is played out as in a tournament: a power of two of places, some of them nobody's.
  std::vector<Time> next_;  // by place, which are numbers: as it was when it was played
  std::vector<std::uint32_t>
      winners_;  // of match i those of matches 2 i and 2 i + 1; the last ones are between places
  std::vector<std::uint32_t> changed_;  // to be looked at
};

}  // namespace fairlead::backend

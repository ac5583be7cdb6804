// What the policy consists of, piece by piece: any of it can be left out, to see what it is worth.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::schedule::rehearsed {

namespace idea {
inline constexpr std::string_view waiting =
                                      "waiting",  // workers stand still while all is played, if that is short
    glancing = "glancing",                        // otherwise two of them are played first, and little of it
    confirming = "confirming",  // what was found meanwhile is played once more from where things are
    narrowing = "narrowing",    // the best one also without some workers
    saving = "saving",          // of those equally fast, the one that moves the fewest bytes
    again = "again";            // what takes longer than was played is played once more
}  // namespace idea

inline constexpr std::array ideas{idea::waiting,   idea::glancing, idea::confirming,
                                  idea::narrowing, idea::saving,   idea::again};

class LeftOut {
 public:
  LeftOut() = default;
  explicit LeftOut(std::vector<std::string> names) : names_(std::move(names)) {}
  /// An idea, or a policy that is not played.
  bool has(std::string_view name) const noexcept { return std::ranges::find(names_, name) != names_.end(); }
  void add(std::string_view name) { names_.emplace_back(name); }

 private:
  std::vector<std::string> names_;
};

}  // namespace fairlead::schedule::rehearsed

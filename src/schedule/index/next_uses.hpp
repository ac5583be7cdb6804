// The next use of each datum in the known order of a node's tasks, for Belady's rule.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace fairlead::schedule {

class NextUses {
 public:
  /// Marks the order of the tasks as changed.
  void order_changed() noexcept { outdated_ = true; }
  bool outdated() const noexcept { return outdated_; }

  /// Clears all uses. Then call use() for the data of each task in order, and next_task() after each task.
  void begin() noexcept {
    outdated_ = false;
    ++stamp_;
    position_ = 0;
  }
  void next_task() noexcept { ++position_; }
  void use(DatumId datum) {
    if (index(datum) >= uses_.size()) uses_.resize(2 * index(datum) + 1);
    Use& first = uses_[index(datum)];
    if (first.stamp != stamp_) first = {stamp_, position_};
  }

  /// The position of the first task that uses the datum; none if none does.
  std::optional<std::uint32_t> of(DatumId datum) const noexcept {
    if (index(datum) >= uses_.size() || uses_[index(datum)].stamp != stamp_) return std::nullopt;
    return uses_[index(datum)].position;
  }

 private:
  struct Use {
    std::uint64_t stamp = 0;  // valid if equal to stamp_
    std::uint32_t position = 0;
  };
  std::vector<Use> uses_;  // by datum
  std::uint64_t stamp_ = 0;
  std::uint32_t position_ = 0;
  bool outdated_ = true;
};

}  // namespace fairlead::schedule

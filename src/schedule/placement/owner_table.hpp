// The owner device of each datum, where it is written until it is evicted.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <vector>

namespace fairlead::schedule {

class OwnerTable {
 public:
  static constexpr std::size_t no_owner = 0xffff;

  /// A position in View::nodes(), or `no_owner`.
  std::size_t of(DatumId id) const noexcept {
    return index(id) < owners_.size() ? owners_[index(id)] : no_owner;
  }
  void set(DatumId id, std::size_t owner) {
    if (index(id) >= owners_.size()) {
      if (owner == no_owner) return;
      owners_.resize(2 * index(id) + 1, no_owner);
    }
    owners_[index(id)] = static_cast<std::uint16_t>(owner);
  }

 private:
  std::vector<std::uint16_t> owners_;
};

}  // namespace fairlead::schedule

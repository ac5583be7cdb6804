// On which device each datum lives: there it is written, until it is staged out.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <vector>

namespace fairlead::schedule {

class OwnerTable {
 public:
  static constexpr std::size_t nobody = 0xffff;

  /// A position among the nodes, or nobody.
  std::size_t of(DatumId id) const noexcept {
    return index(id) < owners_.size() ? owners_[index(id)] : nobody;
  }
  void set(DatumId id, std::size_t owner) {
    if (index(id) >= owners_.size()) {
      if (owner == nobody) return;
      owners_.resize(2 * index(id) + 1, nobody);
    }
    owners_[index(id)] = static_cast<std::uint16_t>(owner);
  }

 private:
  std::vector<std::uint16_t> owners_;
};

}  // namespace fairlead::schedule

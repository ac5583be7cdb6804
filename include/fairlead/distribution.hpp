// Which rank owns which tile of a matrix.
//
//   auto a = runtime.tiled<double>("A", n, n, tile, fairlead::Distribution::over(runtime.ranks()));
#pragma once
#include <fairlead/cyclic_map.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace fairlead {

/// A datum that all ranks know and one of them has.
struct OwnedBy {
  std::uint32_t rank = 0;
};

class Distribution {
 public:
  using Owner = std::function<std::uint32_t(std::int32_t row, std::int32_t column)>;

  /// The function says it; all ranks have to give the same.
  explicit Distribution(Owner owner) : owner_(std::move(owner)) {}
  /// Cyclic in two dimensions.
  explicit Distribution(const CyclicMap& map)
      : owner_([map](std::int32_t row, std::int32_t column) {
          return static_cast<std::uint32_t>(map.rank(row, column));
        }) {}
  /// The same over the squarest grid of so many ranks with no more rows than columns.
  static Distribution over(std::uint32_t ranks) { return Distribution(grid_of(ranks)); }
  static constexpr CyclicMap grid_of(std::uint32_t ranks) noexcept {
    std::uint32_t rows = 1;
    for (std::uint32_t i = 1; i * i <= ranks; ++i)
      if (ranks % i == 0) rows = i;
    return {.rank_rows = static_cast<std::int32_t>(rows),
            .rank_columns = static_cast<std::int32_t>(ranks == 0 ? 1 : ranks / rows)};
  }

  std::uint32_t owner(std::int32_t row, std::int32_t column) const { return owner_(row, column); }

 private:
  Owner owner_;
};

}  // namespace fairlead

// The distributions of <fairlead/distribution.hpp> that are not inline.
#include <fairlead/distribution.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace fairlead {

namespace {
void require_above_zero(std::int64_t number, const char* what) {
  if (number < 1) throw UsageError(fmt::format("a distribution with {} {}: at least 1", number, what));
}
}  // namespace

Distribution::Distribution(const BlockCyclic& map)
    : owner_([map](std::int32_t row, std::int32_t column) { return map.owner(row, column); }) {
  require_above_zero(map.rank_rows, "rows of ranks");
  require_above_zero(map.rank_columns, "columns of ranks");
  require_above_zero(map.block_rows, "rows of tiles in a block");
  require_above_zero(map.block_columns, "columns of tiles in a block");
  if (map.first_row < 0 || map.first_row >= map.rank_rows || map.first_column < 0 ||
      map.first_column >= map.rank_columns)
    throw UsageError(
        fmt::format("a distribution whose first tile is row {}'s and column {}'s of a grid of {} x {} ranks",
                    map.first_row, map.first_column, map.rank_rows, map.rank_columns));
}

Distribution Distribution::of_nodes(const CyclicMap& map) {
  require_above_zero(map.rank_rows, "rows of nodes");
  require_above_zero(map.rank_columns, "columns of nodes");
  require_above_zero(map.device_rows, "rows of ranks in a node");
  require_above_zero(map.device_columns, "columns of ranks in a node");
  return Distribution([map](std::int32_t row, std::int32_t column) {
    return static_cast<std::uint32_t>(map.rank(row, column) * map.device_rows * map.device_columns +
                                      map.device(row, column));
  });
}

Distribution Distribution::by_rows(std::uint32_t ranks, std::int32_t block) {
  return Distribution(BlockCyclic{.rank_rows = static_cast<std::int32_t>(ranks), .block_rows = block});
}
Distribution Distribution::by_columns(std::uint32_t ranks, std::int32_t block) {
  return Distribution(BlockCyclic{.rank_columns = static_cast<std::int32_t>(ranks), .block_columns = block});
}

/// In the pattern, each pair of different indices is a rank, and every two diagonal positions share one.
Distribution Distribution::symmetric(std::int32_t side) {
  if (side < 2 || side % 2 != 0)
    throw UsageError(fmt::format(
        "a symmetric distribution with a pattern of {0} x {0}: its side is even and not 0", side));
  return Distribution([side](std::int32_t row, std::int32_t column) {
    const std::int32_t high = std::max(row % side, column % side), low = std::min(row % side, column % side);
    const std::int32_t pairs = side * (side - 1) / 2;
    return static_cast<std::uint32_t>(high == low ? pairs + high / 2 : high * (high - 1) / 2 + low);
  });
}

Distribution Distribution::table(std::int32_t rows, std::int32_t columns, std::vector<std::uint32_t> owners) {
  require_above_zero(rows, "rows in its table");
  require_above_zero(columns, "columns in its table");
  if (owners.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
    throw UsageError(
        fmt::format("a distribution by a table of {} x {} is given {} owners", rows, columns, owners.size()));
  return Distribution([rows, columns, owners = std::move(owners)](std::int32_t row, std::int32_t column) {
    return owners[static_cast<std::size_t>(row % rows) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(column % columns)];
  });
}

}  // namespace fairlead

// The tiles of one matrix, registered.
#pragma once
#include <fairlead/tiled_matrix.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/disk/spill_file.hpp"
#include "data/layout.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/datum_store.hpp"
#include "front/runtime/generated_array.hpp"

namespace fairlead::front {
class AmongRanks;
}

namespace fairlead::detail {

class TileCollection {
 public:
  /// `memory`: the user's, or null: then `spill` is where the tiles' homes are. `fill`: what computes tiles
  /// in the spill file that nothing has written; or none.
  TileCollection(engine::RuntimeCore& core, front::DatumStore& store, std::string name, std::int32_t number,
                 const Grid& grid, std::size_t element_bytes, void* memory, backend::SpillFile* spill,
                 Fill fill, const Distribution* distribution = nullptr, std::uint32_t own_rank = 0);
  TileCollection(const TileCollection&) = delete;
  TileCollection& operator=(const TileCollection&) = delete;
  /// Waits for unfinished tasks. False if the caller must not: then all stays as it is, and it must stay as
  /// long as the runtime.
  bool finish() noexcept;
  /// After that: the tiles are registered no more, and their space is given back.
  void remove_all() noexcept;

  const Grid& grid() const noexcept { return grid_; }
  const std::string& name() const noexcept { return name_; }
  /// Throws UsageError if there is no such tile.
  DatumReference tile(std::int32_t row, std::int32_t column);
  DatumReference tile_if_here(std::int32_t row, std::int32_t column) const;
  const Distribution* distribution() const noexcept { return distribution_ ? &*distribution_ : nullptr; }
  void advise(const std::function<int(std::int32_t, std::int32_t)>& device_of) const;
  void refresh(Refresh when) const;
  Bytes bytes() const noexcept;  ///< of all tiles
  bool in_place() const noexcept { return spill_ == nullptr; }

 private:
  static std::string name_of_tile(const void* owner, const engine::RegisteredDatum& datum);
  std::vector<DatumId> ids_in_place() const;
  bool finish_among(front::AmongRanks& ranks) const;
  struct Entry {
    engine::RegisteredDatum* datum = nullptr;  // null: another rank's
    memory::Range slot{};
    std::int32_t row = 0, column = 0;
    engine::RegisteredDatum* named =
        nullptr;  // of another rank: what handles of it name, once there are some
  };
  const data::Layout* layout_for(std::int64_t rows, std::int64_t columns, std::size_t element_bytes);
  const Entry& entry_at(std::int32_t row, std::int32_t column) const;
  engine::RegisteredDatum& named_elsewhere(std::int32_t row, std::int32_t column);
  std::int64_t rows_of(const Entry& entry) const noexcept;
  std::int64_t columns_of(const Entry& entry) const noexcept;
  Bytes bytes_of(const Entry& entry) const noexcept;
  bool is_here(const Entry& entry) const {
    return !distribution_ || distribution_->owner(entry.row, entry.column) == own_rank_;
  }
  std::size_t position(std::int32_t row, std::int32_t column) const noexcept;

  engine::RuntimeCore& core_;
  front::DatumStore& store_;
  std::string name_;
  Grid grid_;
  std::int32_t tile_rows_, tile_columns_;
  backend::SpillFile* spill_;
  std::vector<Entry> entries_;
  const Fill fill_;
  const std::optional<Distribution> distribution_;
  const std::uint32_t own_rank_;
  const std::size_t element_bytes_;
  std::uint32_t first_number_ = 0;                // over ranks: of the data that all know
  std::deque<front::GeneratedArray> generators_;  // of the entries, if there is a fill_
  std::deque<data::Layout> layouts_;              // of tiles in the user's memory, by shape
};

}  // namespace fairlead::detail

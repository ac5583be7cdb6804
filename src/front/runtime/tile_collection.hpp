// The registered tiles of one matrix.
#pragma once
#include <fairlead/tiled_matrix.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/disk/spill_file.hpp"
#include "data/home_layout.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/datum_store.hpp"
#include "front/runtime/generated_array.hpp"

namespace fairlead::front {
class RankContext;
}

namespace fairlead::detail {

class TileCollection {
 public:
  /// `memory`: the user's matrix; null: the tiles' homes are in `spill`. `fill`: computes tiles in the spill file that
  /// no task has written; may be empty.
  TileCollection(engine::RuntimeCore& core, front::DatumStore& store, std::string name, std::int32_t number,
                 const Tiling& tiling, std::size_t element_bytes, void* memory, backend::SpillFile* spill,
                 Fill fill, const Distribution* distribution = nullptr, std::uint32_t own_rank = 0);
  TileCollection(const TileCollection&) = delete;
  TileCollection& operator=(const TileCollection&) = delete;
  /// Waits for unfinished tasks. Returns false if the tiles are still in use or waiting is not allowed: then nothing
  /// changes, and this object must be kept until the runtime ends.
  bool finish() noexcept;
  /// Called after finish(): unregisters the tiles and releases their space.
  void remove_all() noexcept;

  const Tiling& tiling() const noexcept { return tiling_; }
  const std::string& name() const noexcept { return name_; }
  /// Throws UsageError if the tile does not exist.
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
  bool finish_among(front::RankContext& ranks) const;
  struct Entry {
    engine::RegisteredDatum* datum = nullptr;  // null: the tile of another rank
    memory::ByteRange slot{};
    std::int32_t row = 0, column = 0;
    engine::RegisteredDatum* named = nullptr;  // descriptor of a remote tile, for handles; made at first use
  };
  const data::HomeLayout* layout_for(std::int64_t rows, std::int64_t columns, std::size_t element_bytes);
  const Entry& entry_at(std::int32_t row, std::int32_t column) const;
  engine::RegisteredDatum& remote_descriptor(std::int32_t row, std::int32_t column);
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
  Tiling tiling_;
  std::int32_t tile_rows_, tile_columns_;
  backend::SpillFile* spill_;
  std::vector<Entry> entries_;
  const Fill fill_;
  const std::optional<Distribution> distribution_;
  const std::uint32_t own_rank_;
  const std::size_t element_bytes_;
  std::uint32_t first_number_ = 0;                // of the tiles, in the numbering common to all ranks
  std::deque<front::GeneratedArray> generators_;  // one per entry, if fill_ is set
  std::deque<data::HomeLayout> layouts_;          // of tiles in the user's memory, one per shape
};

}  // namespace fairlead::detail

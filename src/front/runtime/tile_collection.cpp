// Registration of a matrix: all disk space is reserved before the first tile is registered.
#include "front/runtime/tile_collection.hpp"
#include "base/pages.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/runtime/read_only_data.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace fairlead::detail {

TileCollection::TileCollection(engine::RuntimeCore& core, front::DatumStore& store, std::string name,
                               std::int32_t number, const Tiling& tiling, std::size_t element_bytes,
                               void* memory, backend::SpillFile* spill, Fill fill,
                               const Distribution* distribution, std::uint32_t own_rank)
    : core_(core),
      store_(store),
      name_(std::move(name)),
      tiling_(tiling),
      tile_rows_(static_cast<std::int32_t>((tiling.rows - 1) / tiling.tile.rows + 1)),
      tile_columns_(static_cast<std::int32_t>((tiling.columns - 1) / tiling.tile.columns + 1)),
      spill_(spill),
      fill_(std::move(fill)),
      distribution_(distribution == nullptr ? std::nullopt : std::optional(*distribution)),
      own_rank_(own_rank),
      element_bytes_(element_bytes) {
  for (std::int32_t i = 0; i < tile_rows_; ++i)
    for (std::int32_t j = 0; j < (tiling_.lower_only ? std::min(i + 1, tile_columns_) : tile_columns_); ++j)
      entries_.push_back({.row = i, .column = j});
  front::RankContext* const ranks = front::rank_context(core.surroundings());
  if (ranks != nullptr && distribution_) {
    first_number_ = ranks->program().allocate_numbers(entries_.size());
    ranks->program().guests().set_storage(store_, *spill_);
  }
  const bool read_only = front::is_read_only(fill_);
  if (spill_ != nullptr && !read_only) {
    Bytes all = 0;
    for (const Entry& entry : entries_)
      if (is_here(entry))
        all += (bytes_of(entry) + spill_->alignment() - 1) / spill_->alignment() * spill_->alignment();
    spill_->make_room(all);
  }
  try {
    std::size_t registered = 0;
    for (Entry& entry : entries_) {
      if (!is_here(entry)) continue;
      if (++registered % 1024 == 0) core_.throw_if_winding_down();
      memory::DatumSpec spec;
      spec.coordinates = {number, entry.row, entry.column};
      if (spill_ != nullptr) {
        spec.bytes = bytes_of(entry);
        spec.home = core.topology().store();
        if (!read_only) entry.slot = spill_->allocate(spec.bytes);
        spec.home_offset = entry.slot.offset;
      } else {
        const std::int64_t offset =
            static_cast<std::int64_t>(entry.row) * tiling_.tile.rows +
            static_cast<std::int64_t>(entry.column) * tiling_.tile.columns * tiling_.leading_dimension;
        spec.bytes = bytes_of(entry);
        spec.home = core.topology().user_memory();
        spec.address = static_cast<std::byte*>(memory) + offset * static_cast<std::int64_t>(element_bytes);
        spec.layout = layout_for(rows_of(entry), columns_of(entry), element_bytes);
      }
      entry.datum = &store_.make();
      if (fill_)
        spec.generator = &generators_.emplace_back(
            fill_,
            front::GeneratedArray::Place{static_cast<std::int64_t>(entry.row) * tiling_.tile.rows,
                                         rows_of(entry),
                                         static_cast<std::int64_t>(entry.column) * tiling_.tile.columns,
                                         columns_of(entry), element_bytes},
            *entry.datum);
      entry.datum->owner = this;
      entry.datum->name = &TileCollection::name_of_tile;
      core_.register_datum(*entry.datum, spec);
      entry.datum->ever_written = spec.generator != nullptr;
      if (ranks != nullptr && distribution_)
        ranks->program().share(*entry.datum,
                               first_number_ + static_cast<std::uint32_t>(position(entry.row, entry.column)),
                               net::RankId{own_rank_}, spec.bytes);
    }
  } catch (...) {
    remove_all();
    throw;
  }
}

/// The layout of a tile whose columns are not contiguous in the user's matrix; null if the tile is contiguous.
const data::HomeLayout* TileCollection::layout_for(std::int64_t rows, std::int64_t columns,
                                                   std::size_t element_bytes) {
  const auto found = data::layout_of({{rows, columns, 1}, {1, tiling_.leading_dimension, 0}}, element_bytes);
  if (!found) return nullptr;
  const data::HomeLayout& layout = *found;
  for (const data::HomeLayout& known : layouts_)
    if (known.run_bytes == layout.run_bytes && known.counts == layout.counts) return &known;
  return &layouts_.emplace_back(layout);
}

std::string TileCollection::name_of_tile(const void* owner, const engine::RegisteredDatum& datum) {
  const auto& tiles = *static_cast<const TileCollection*>(owner);
  const auto& found = *std::ranges::find_if(
      tiles.entries_, [&](const Entry& it) { return it.datum == &datum || it.named == &datum; });
  return fmt::format("{}[{},{}]", tiles.name_, found.row, found.column);
}

bool TileCollection::finish() noexcept {
  if (!core_.caller().may_wait()) return false;
  try {
    core_.reductions().close_all();
    // Tiles that the program holds, or that tasks blocked by a hold use, stay until the runtime ends.
    if (!core_.wait_for_all(true)) return false;
    for (const Entry& entry : entries_)
      if (entry.datum != nullptr && core_.holds().holds(*entry.datum)) return false;
    if (front::RankContext* const ranks = front::rank_context(core_.surroundings());
        ranks != nullptr && !finish_among(*ranks))
      return false;
    if (core_.home_values().may_be_away()) core_.home_values().refresh(ids_in_place());
  } catch (...) {
    return false;
  }
  return true;
}

/// Waits until the values that other ranks' tasks need from this matrix are sent; this needs no action of this rank.
/// Two cases keep the data instead of waiting: a program's own message that may never be received, and an exception in
/// flight, because the other ranks' behavior is then unknown.
bool TileCollection::finish_among(front::RankContext& ranks) const {
  for (const Entry& entry : entries_)
    if (entry.datum != nullptr && ranks.messages().any_of(*entry.datum)) return false;
  auto next = entries_.begin();  // entries before it have nothing in flight, and will have nothing
  const auto none = [&] {
    while (next != entries_.end() && (next->datum == nullptr || !ranks.program().any_of(*next->datum)))
      ++next;
    return next == entries_.end() || core_.engine().stop_reason().stopped();
  };
  return none() || (std::uncaught_exceptions() == 0 && core_.wait(none));
}

std::vector<DatumId> TileCollection::ids_in_place() const {
  std::vector<DatumId> ids;
  for (const Entry& entry : entries_)
    if (entry.datum != nullptr && entry.datum->in_place) ids.push_back(entry.datum->id);
  return ids;
}

void TileCollection::remove_all() noexcept {
  for (Entry& entry : entries_) {
    front::RankContext* const ranks = front::rank_context(core_.surroundings());
    try {
      if (ranks != nullptr && entry.datum != nullptr) ranks->program().forget(*entry.datum);
      if (entry.named != nullptr) {
        ranks->program().forget(*entry.named);
        ++entry.named->generation;
        store_.give_back(*entry.named);
      }
      if (entry.datum != nullptr) {
        core_.remove_datum(*entry.datum);
        store_.give_back(*entry.datum);
      }
      if (spill_ != nullptr && entry.slot.bytes != 0) spill_->release(entry.slot);
    } catch (...) {
      // The run was stopped inside the engine: the data stay registered until the runtime ends.
      if (entry.datum == nullptr) continue;
      core_.names().fix(entry.datum->id);
      ++entry.datum->generation;
    }
  }
}

std::size_t TileCollection::position(std::int32_t row, std::int32_t column) const noexcept {
  if (!tiling_.lower_only)
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(tile_columns_) +
           static_cast<std::size_t>(column);
  // Preceding rows have 1, 2, ..., at most tile_columns_ tiles.
  const auto full = static_cast<std::size_t>(std::min(row, tile_columns_));
  return full * (full + 1) / 2 +
         (static_cast<std::size_t>(row) - full) * static_cast<std::size_t>(tile_columns_) +
         static_cast<std::size_t>(column);
}

const TileCollection::Entry& TileCollection::entry_at(std::int32_t row, std::int32_t column) const {
  if (row < 0 || row >= tile_rows_ || column < 0 || column >= tile_columns_ ||
      (tiling_.lower_only && column > row))
    throw UsageError(fmt::format("{} has no tile [{},{}]: it has {} x {} tiles{}", name_, row, column,
                                 tile_rows_, tile_columns_,
                                 tiling_.lower_only ? ", those above the diagonal left out" : ""));
  return entries_[position(row, column)];
}

std::int64_t TileCollection::rows_of(const Entry& entry) const noexcept {
  return std::min(static_cast<std::int64_t>(tiling_.tile.rows),
                  tiling_.rows - std::int64_t{entry.row} * tiling_.tile.rows);
}
std::int64_t TileCollection::columns_of(const Entry& entry) const noexcept {
  return std::min(static_cast<std::int64_t>(tiling_.tile.columns),
                  tiling_.columns - std::int64_t{entry.column} * tiling_.tile.columns);
}
Bytes TileCollection::bytes_of(const Entry& entry) const noexcept {
  if (tiling_.tile.is_padded)
    return static_cast<Bytes>(tiling_.tile.rows) * static_cast<Bytes>(tiling_.tile.columns) * element_bytes_;
  return static_cast<Bytes>(rows_of(entry) * columns_of(entry)) * element_bytes_;
}

DatumReference TileCollection::tile(std::int32_t row, std::int32_t column) {
  const Entry& entry = entry_at(row, column);
  engine::RegisteredDatum* const datum = entry.datum != nullptr   ? entry.datum
                                         : entry.named != nullptr ? entry.named
                                                                  : &remote_descriptor(row, column);
  return {datum, datum->generation};
}

/// Remote tiles get a descriptor at first use.
engine::RegisteredDatum& TileCollection::remote_descriptor(std::int32_t row, std::int32_t column) {
  Entry& entry = entries_[position(row, column)];
  engine::RegisteredDatum& named = store_.make();
  named.owner = this;
  named.name = &TileCollection::name_of_tile;
  named.runtime = &core_;
  named.home = core_.topology().store();
  front::rank_context(core_.surroundings())
      ->program()
      .share(named, first_number_ + static_cast<std::uint32_t>(position(row, column)),
             net::RankId{distribution_->owner(row, column)}, bytes_of(entry));
  entry.named = &named;
  return named;
}
DatumReference TileCollection::tile_if_here(std::int32_t row, std::int32_t column) const {
  engine::RegisteredDatum* const datum = entry_at(row, column).datum;
  if (datum == nullptr) return {};
  return {datum, datum->generation};
}

void TileCollection::advise(const std::function<int(std::int32_t, std::int32_t)>& device_of) const {
  core_.caller().check("advise");
  for (const Entry& entry : entries_)
    if (entry.datum != nullptr) core_.advise(*entry.datum, device_of(entry.row, entry.column));
}

void TileCollection::refresh(Refresh when) const {
  core_.caller().check("refresh");
  for (const Entry& entry : entries_)
    if (entry.datum != nullptr)
      core_.home_values().put_refresh_off(*entry.datum, when == Refresh::by_acquire);
}

Bytes TileCollection::bytes() const noexcept {
  Bytes all = 0;
  for (const Entry& entry : entries_)
    if (entry.datum != nullptr) all += whole_pages_for(entry.datum->bytes);
  return all;
}

DatumReference tile_of(TileCollection* tiles, std::int32_t row, std::int32_t column) {
  if (tiles == nullptr) throw UsageError("a tile was requested from a matrix that was moved from");
  return tiles->tile(row, column);
}
DatumReference tile_if_here(const TileCollection* tiles, std::int32_t row, std::int32_t column) {
  if (tiles == nullptr) throw UsageError("a tile was requested from a matrix that was moved from");
  return tiles->tile_if_here(row, column);
}
const Distribution* distribution_of(const TileCollection& tiles) noexcept { return tiles.distribution(); }
void advise_tiles(const TileCollection* tiles,
                  const std::function<int(std::int32_t, std::int32_t)>& device_of) {
  if (tiles == nullptr) throw UsageError("advise was called on a matrix that was moved from");
  tiles->advise(device_of);
}
void refresh_tiles(const TileCollection* tiles, Refresh when) {
  if (tiles == nullptr) throw UsageError("refresh was called on a matrix that was moved from");
  tiles->refresh(when);
}
const Tiling& tiling_of(const TileCollection& tiles) noexcept { return tiles.tiling(); }
std::int32_t side_of(const TileCollection& tiles) {
  const TileSize size = tiles.tiling().tile;
  if (size.rows != size.columns)
    throw UsageError(fmt::format("{} has tiles of {} x {}, but square tiles are required here", tiles.name(),
                                 size.rows, size.columns));
  return size.rows;
}

}  // namespace fairlead::detail

// The growth of a set of tiles.
#include "schedule/blocks/tile_set.hpp"

#include <algorithm>
#include <functional>

#include "base/random.hpp"

namespace fairlead::schedule::blocks {

TileSet::Tile& TileSet::tile(DatumId datum) {
  if (index(datum) >= tiles_.size()) tiles_.resize(std::max(index(datum) + 1, tiles_.size() * 2));
  Tile& t = tiles_[index(datum)];
  if (t.epoch != epoch_) {
    t = {};
    t.epoch = epoch_;
  }
  return t;
}

void TileSet::submitted(WindowTask& ahead, bool by_columns) const {
  const auto line = [](std::int32_t at) { return static_cast<std::uint64_t>(std::min(at + 1, 0xffff)); };
  ahead.place = std::uint64_t{by_columns ? ahead.chain_index : ahead.depth} << 32;
  if (ahead.tile == no_id<DatumId>) return;
  const View::Coordinates c = view_->coordinates(ahead.tile);
  ahead.place += by_columns ? (line(c.column) << 16) + line(c.row) : (line(c.row) << 16) + line(c.column);
}

void TileSet::grow(WindowTask& seed, Bytes budget, std::size_t readers, std::vector<WindowTask*>& tasks) {
  tasks.clear();
  ++epoch_;
  bytes_ = used_ = 0;
  candidates_.clear();
  free_.clear();
  rows_.count = columns_.count = 0;
  look_at(seed.tile);
  std::size_t line = 0;
  Bytes bytes_before_line = 0, used_before_line = 0;
  for (DatumId next = seed.tile; next != no_id<DatumId>; next = best_candidate()) {
    if (next != seed.tile && tile(next).missing_inputs > 0) {
      if (readers == 1 && bytes_ > budget / 10 * 3 && shares_no_line(next)) break;
      line = tasks.size();
      bytes_before_line = bytes_;
      used_before_line = used_;
    }
    if (!tasks.empty() && bytes_ + view_->bytes(next) > budget) {
      if (bytes_before_line > budget / 2) {
        take_back(tasks, line);
        bytes_ = bytes_before_line;
        used_ = used_before_line;
      }
      break;
    }
    add(next, tasks);
  }
  const bool tile_after_tile = bytes_ + readers * (used_ - bytes_) <= most_overcommitted * budget;
  std::ranges::sort(tasks, [&](const WindowTask* a, const WindowTask* b) {
    if (tile_after_tile) {
      const std::uint64_t last_a = tile(a->tile).last, last_b = tile(b->tile).last;
      if (last_a != last_b) return last_a < last_b;
    }
    return a->level != b->level ? a->level < b->level : TieBreak(*a) < TieBreak(*b);
  });
}

/// Unplans all but the first `keep` tasks.
void TileSet::take_back(std::vector<WindowTask*>& tasks, std::size_t keep) {
  for (std::size_t i = keep; i < tasks.size(); ++i) {
    tasks[i]->planned = false;
    for (WindowTask* later : tasks[i]->successors) --later->planned_blockers;
  }
  tasks.resize(keep);
}

/// Makes the tile a candidate when it is first encountered.
void TileSet::look_at(DatumId datum) {
  Tile& t = tile(datum);
  if (t.listed || candidates_.size() >= most_candidates) return;
  WindowTask* first = lookahead_->next_writer(datum);
  while (first != nullptr && first->planned) first = first->next;
  if (first == nullptr || first->tile != datum) return;
  t.listed = true;
  t.first = first;
  candidates_.push_back(datum);
  count_missing_inputs(datum, t, first);
}

/// Counts the inputs that the tile's updates lack, up to the next update that cannot be planned yet.
void TileSet::count_missing_inputs(DatumId datum, Tile& t, WindowTask* from) {
  for (t.locked = from; t.locked != nullptr && t.locked->unlocked_by_plan(); t.locked = t.locked->next)
    for (const Access& access : t.locked->task->accesses())
      if (access.datum != datum && reads(access.mode) && !shared(access.datum)) {
        ++t.missing_inputs;
        t.signature ^= Random::mix(index(access.datum) + 1);
      }
  list_if_free(datum, t);
}

/// Lists the tile as free if the set already uses all its inputs.
void TileSet::list_if_free(DatumId datum, const Tile& t) {
  if (!t.listed || t.in_set || t.missing_inputs > 0 || t.locked != nullptr) return;
  free_.push_back({TieBreak(*t.first), datum});
  std::ranges::push_heap(free_, std::greater<>{});
}

/// The set uses the datum from now on, which makes other tiles that need it cheaper.
void TileSet::share(DatumId datum) {
  if (shared(datum)) return;
  // List the other readers first, while the datum still counts as missing for them.
  lookahead_->for_each_reader(datum, [&](WindowTask& reader) {
    if (reader.planned || reader.tile == no_id<DatumId>) return;
    look_at(reader.tile);
    Tile& t = tile(reader.tile);
    if (!t.listed || reader.tile == datum) return;
    if (t.locked != nullptr && reader.chain_index >= t.locked->chain_index) return;  // not counted yet
    --t.missing_inputs;
    t.signature ^= Random::mix(index(datum) + 1);
    list_if_free(reader.tile, t);
  });
  if (index(datum) >= shared_.size()) shared_.resize(2 * index(datum) + 1, 0);
  shared_[index(datum)] = epoch_;
  used_ += view_->bytes(datum);
}

/// The number of tiles that become cheaper with a tile that is the first of its row or of its column in the set: its
/// neighbours share its inputs, although their updates may still depend on it.
std::uint64_t TileSet::line_gain(DatumId datum) const {
  const View::Coordinates c = view_->coordinates(datum);
  if (c.row < 0 || c.column < 0) return 1;
  const bool row = rows_.has(c.row, epoch_), column = columns_.has(c.column, epoch_);
  if (row == column) return 1;
  return row ? rows_.count : columns_.count;
}

/// True if the tile shares neither row nor column, and so no streamed input, with the set.
bool TileSet::shares_no_line(DatumId datum) const {
  const View::Coordinates c = view_->coordinates(datum);
  return c.row >= 0 && c.column >= 0 && !rows_.has(c.row, epoch_) && !columns_.has(c.column, epoch_);
}

/// Plans the tile's updates as far as their dependencies allow.
void TileSet::add(DatumId datum, std::vector<WindowTask*>& tasks) {
  tile(datum).in_set = true;
  bytes_ += view_->bytes(datum);
  const View::Coordinates c = view_->coordinates(datum);
  rows_.enter(c.row, epoch_);
  columns_.enter(c.column, epoch_);
  share(datum);
  for (WindowTask* update = tile(datum).first; update != nullptr && update->unlocked_by_plan();
       update = update->next) {
    update->level = std::max(update->level, (static_cast<std::uint64_t>(epoch_) << 32) + update->chain_index);
    for (const Access& access : update->task->accesses())
      if (reads(access.mode)) share(access.datum);
    update->planned = true;
    tasks.push_back(update);
    tile(datum).last = update->level;
    for (WindowTask* later : update->successors) {
      later->level = std::max(later->level, update->level);
      if (++later->planned_blockers < later->blockers || later->tile == no_id<DatumId>) continue;
      if (Tile& t = tile(later->tile); t.listed && t.locked == later)
        count_missing_inputs(later->tile, t, later);
    }
  }
}

/// A tile that needs no further input; otherwise a tile of the group that gains most tiles per input.
DatumId TileSet::best_candidate() {
  while (!free_.empty()) {
    const DatumId datum = free_.front().second;
    std::ranges::pop_heap(free_, std::greater<>{});
    free_.pop_back();
    if (!tile(datum).in_set) return datum;
  }
  std::erase_if(candidates_, [&](DatumId datum) { return tile(datum).in_set; });
  CandidateGain best;
  if (rows_.count > 0) {
    for (const DatumId datum : candidates_)
      if (const Tile& t = tile(datum); t.locked == nullptr)
        best = std::max(best, {line_gain(datum), t.missing_inputs, TieBreak(*t.first), datum});
    return best.tile;
  }
  // Without coordinates, a group is the tiles that lack exactly the same inputs.
  groups_.clear();
  for (const DatumId datum : candidates_)
    if (const Tile& t = tile(datum); t.locked == nullptr)
      groups_.push_back({t.signature, {1, t.missing_inputs, TieBreak(*t.first), datum}});
  std::ranges::sort(groups_, [](const Group& a, const Group& b) {
    return a.signature != b.signature ? a.signature < b.signature : b.offer < a.offer;
  });
  for (std::size_t begin = 0, end = 0; begin < groups_.size(); begin = end) {
    while (end < groups_.size() && groups_[end].signature == groups_[begin].signature) ++end;
    groups_[begin].offer.gain = end - begin;
    best = std::max(best, groups_[begin].offer);
  }
  return best.tile;
}

}  // namespace fairlead::schedule::blocks

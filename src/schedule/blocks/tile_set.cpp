// How a set of tiles grows.
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

void TileSet::submitted(AheadTask& ahead, bool by_columns) const {
  const auto line = [](std::int32_t at) { return static_cast<std::uint64_t>(std::min(at + 1, 0xffff)); };
  ahead.place = std::uint64_t{by_columns ? ahead.chain_index : ahead.depth} << 32;
  if (ahead.tile == no_id<DatumId>) return;
  const View::Coordinates c = view_->coordinates(ahead.tile);
  ahead.place += by_columns ? (line(c.column) << 16) + line(c.row) : (line(c.row) << 16) + line(c.column);
}

void TileSet::grow(AheadTask& seed, Bytes budget, std::size_t readers, std::vector<AheadTask*>& tasks) {
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
    if (next != seed.tile && tile(next).unshared > 0) {
      if (readers == 1 && bytes_ > budget / 10 * 3 && begins_elsewhere(next)) break;
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
  std::ranges::sort(tasks, [&](const AheadTask* a, const AheadTask* b) {
    if (tile_after_tile) {
      const std::uint64_t last_a = tile(a->tile).last, last_b = tile(b->tile).last;
      if (last_a != last_b) return last_a < last_b;
    }
    return a->level != b->level ? a->level < b->level : Turn(*a) < Turn(*b);
  });
}

/// Plans all but the first `keep` tasks no more.
void TileSet::take_back(std::vector<AheadTask*>& tasks, std::size_t keep) {
  for (std::size_t i = keep; i < tasks.size(); ++i) {
    tasks[i]->planned = false;
    for (AheadTask* later : tasks[i]->successors) --later->promised;
  }
  tasks.resize(keep);
}

/// When the tile is first met.
void TileSet::look_at(DatumId datum) {
  Tile& t = tile(datum);
  if (t.listed || candidates_.size() >= most_candidates) return;
  AheadTask* first = lookahead_->next_writer(datum);
  while (first != nullptr && first->planned) first = first->next;
  if (first == nullptr || first->tile != datum) return;
  t.listed = true;
  t.first = first;
  candidates_.push_back(datum);
  look_further(datum, t, first);
}

/// Counts what the tile's updates lack, up to the next that nobody can plan yet.
void TileSet::look_further(DatumId datum, Tile& t, AheadTask* from) {
  for (t.locked = from; t.locked != nullptr && t.locked->unlocked_by_plan(); t.locked = t.locked->next)
    for (const Access& access : t.locked->task->accesses())
      if (access.datum != datum && reads(access.mode) && !shared(access.datum)) {
        ++t.unshared;
        t.signature ^= Random::mix(index(access.datum) + 1);
      }
  list_if_free(datum, t);
}

/// It needs nothing that the set does not use already.
void TileSet::list_if_free(DatumId datum, const Tile& t) {
  if (!t.listed || t.in_set || t.unshared > 0 || t.locked != nullptr) return;
  free_.push_back({Turn(*t.first), datum});
  std::ranges::push_heap(free_, std::greater<>{});
}

/// The set uses the datum from now on: what else needs it is cheaper.
void TileSet::share(DatumId datum) {
  if (shared(datum)) return;
  // First meet the others while the datum still counts as theirs to load.
  lookahead_->for_each_reader(datum, [&](AheadTask& reader) {
    if (reader.planned || reader.tile == no_id<DatumId>) return;
    look_at(reader.tile);
    Tile& t = tile(reader.tile);
    if (!t.listed || reader.tile == datum) return;
    if (t.locked != nullptr && reader.chain_index >= t.locked->chain_index) return;  // not counted yet
    --t.unshared;
    t.signature ^= Random::mix(index(datum) + 1);
    list_if_free(reader.tile, t);
  });
  if (index(datum) >= shared_.size()) shared_.resize(2 * index(datum) + 1, 0);
  shared_[index(datum)] = epoch_;
  used_ += view_->bytes(datum);
}

/// How many tiles follow a tile that is the first of its row in the set, or of its column: its neighbours
/// share what it needs, although they may still be locked by it.
std::uint64_t TileSet::line_gain(DatumId datum) const {
  const View::Coordinates c = view_->coordinates(datum);
  if (c.row < 0 || c.column < 0) return 1;
  const bool row = rows_.has(c.row, epoch_), column = columns_.has(c.column, epoch_);
  if (row == column) return 1;
  return row ? rows_.count : columns_.count;
}

/// It shares neither row nor column with the set, and so nothing of what streams past it.
bool TileSet::begins_elsewhere(DatumId datum) const {
  const View::Coordinates c = view_->coordinates(datum);
  return c.row >= 0 && c.column >= 0 && !rows_.has(c.row, epoch_) && !columns_.has(c.column, epoch_);
}

/// Plans the tile's updates as far as they can run.
void TileSet::add(DatumId datum, std::vector<AheadTask*>& tasks) {
  tile(datum).in_set = true;
  bytes_ += view_->bytes(datum);
  const View::Coordinates c = view_->coordinates(datum);
  rows_.enter(c.row, epoch_);
  columns_.enter(c.column, epoch_);
  share(datum);
  for (AheadTask* update = tile(datum).first; update != nullptr && update->unlocked_by_plan();
       update = update->next) {
    update->level = std::max(update->level, (static_cast<std::uint64_t>(epoch_) << 32) + update->chain_index);
    for (const Access& access : update->task->accesses())
      if (reads(access.mode)) share(access.datum);
    update->planned = true;
    tasks.push_back(update);
    tile(datum).last = update->level;
    for (AheadTask* later : update->successors) {
      later->level = std::max(later->level, update->level);
      if (++later->promised < later->blockers || later->tile == no_id<DatumId>) continue;
      if (Tile& t = tile(later->tile); t.listed && t.locked == later) look_further(later->tile, t, later);
    }
  }
}

/// A tile that needs nothing more; else one of the group of tiles that the fewest inputs per tile would
/// complete.
DatumId TileSet::best_candidate() {
  while (!free_.empty()) {
    const DatumId datum = free_.front().second;
    std::ranges::pop_heap(free_, std::greater<>{});
    free_.pop_back();
    if (!tile(datum).in_set) return datum;
  }
  std::erase_if(candidates_, [&](DatumId datum) { return tile(datum).in_set; });
  Offer best;
  if (rows_.count > 0) {
    for (const DatumId datum : candidates_)
      if (const Tile& t = tile(datum); t.locked == nullptr)
        best = std::max(best, {line_gain(datum), t.unshared, Turn(*t.first), datum});
    return best.tile;
  }
  // Without coordinates: those that lack exactly the same.
  groups_.clear();
  for (const DatumId datum : candidates_)
    if (const Tile& t = tile(datum); t.locked == nullptr)
      groups_.push_back({t.signature, {1, t.unshared, Turn(*t.first), datum}});
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

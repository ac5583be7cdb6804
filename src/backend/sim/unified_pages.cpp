// Residency, eviction and source selection of managed memory.
#include "backend/sim/unified_pages.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string>

namespace fairlead::backend {

UnifiedPages::UnifiedPages(Options options) : options_(std::move(options)) {
  places_.resize(options_.capacity.size());
  for (Place place = 0; place < places_.size(); ++place)
    places_[place].capacity =
        options_.capacity[place] == unlimited ? unlimited : options_.capacity[place] / options_.block;
}

Bytes UnifiedPages::Changes::bytes() const noexcept {
  Bytes all = bytes_made;
  for (const Move& move : moves) all += move.bytes;
  return all;
}

UnifiedPages::Pages& UnifiedPages::pages_of(const Datum& datum) {
  if (index(datum.id) >= data_.size()) data_.resize(index(datum.id) + 1u);
  Pages& pages = data_[index(datum.id)];
  if (pages.held.empty()) {
    pages.id = datum.id;
    pages.bytes = datum.bytes;
    pages.blocks = (datum.bytes + options_.block - 1) / options_.block;
    pages.held.assign(places_.size(), 0);
    pages.used.assign(places_.size(), 0);
    pages.made = datum.has_value;
    if (pages.made) set_held(pages, host, pages.blocks);
  }
  return pages;
}

/// Bytes of the blocks [first, last); the last block may be partial.
Bytes UnifiedPages::bytes_of(const Pages& pages, std::uint64_t first, std::uint64_t last) const noexcept {
  return std::min(last * options_.block, pages.bytes) - std::min(first * options_.block, pages.bytes);
}

void UnifiedPages::set_held(Pages& pages, Place place, std::uint64_t blocks) {
  PlaceState& state = places_[place];
  state.held += blocks - pages.held[place];
  state.peak = std::max(state.peak, state.held);
  pages.held[place] = blocks;
  if (blocks == 0) state.by_use.erase(pages.used[place]);
}

void UnifiedPages::touch(Pages& pages, Place place) {
  PlaceState& state = places_[place];
  state.by_use.erase(pages.used[place]);
  pages.used[place] = ++clock_;
  state.by_use.emplace(clock_, pages.id);
}

bool UnifiedPages::is_there(const Datum& datum, Place place) const {
  if (index(datum.id) >= data_.size() || data_[index(datum.id)].held.empty())
    return place == host && datum.has_value;
  const Pages& pages = data_[index(datum.id)];
  return pages.made && missing(pages, place) == 0;
}

UnifiedPages::Changes UnifiedPages::make_resident(const Datum& datum, Place place, Use use) {
  Changes changes;
  Pages& pages = pages_of(datum);
  if (const std::uint64_t lacking = missing(pages, place); lacking != 0) {
    if (place != host) evict_for(pages, place, lacking, changes);
    if (pages.made) {
      find_sources(pages, place, changes);
    } else {
      changes.bytes_made = pages.bytes;
      pages.made = true;
    }
    set_held(pages, place, pages.blocks);
  }
  if (use != Use::read_shared)
    for (Place other = 0; other < places_.size(); ++other)
      if (other != place && pages.held[other] != 0) set_held(pages, other, 0);
  if (use == Use::written) {
    pages.dirty = true;
    places_[place].at_home = 0;
  }
  if (place != host) touch(pages, place);
  return changes;
}

void UnifiedPages::evict_for(const Pages& wanted, Place place, std::uint64_t blocks, Changes& out) {
  PlaceState& state = places_[place];
  if (wanted.blocks > state.capacity)
    throw Error("a datum of " + std::to_string(wanted.bytes) + " bytes is larger than a device, which has " +
                std::to_string(state.capacity * options_.block) +
                " bytes: the driver's behaviour is not simulated then");
  auto next = state.by_use.begin();
  while (state.held + blocks > state.capacity) {
    Pages& oldest = data_[index(next->second)];
    ++next;  // advance first: a completely evicted datum is erased
    if (&oldest == &wanted) continue;
    evictions_ += evict(oldest, place, state.held + blocks - state.capacity, out);
  }
}

/// Evicts the datum's first resident blocks, at most `most`: to the host, unless the host or another device has them.
/// Returns the number of evicted blocks.
std::uint64_t UnifiedPages::evict(Pages& pages, Place place, std::uint64_t most, Changes& out) {
  const std::uint64_t held = pages.held[place], leaving = std::min(most, held);
  const std::uint64_t first = pages.blocks - held, last = first + leaving;
  set_held(pages, place, held - leaving);
  const Place other = fullest_device(pages, place);
  const bool another_has_them = other != host && pages.held[other] >= held;
  if (another_has_them || pages.held[host] >= last) return leaving;
  const std::uint64_t from = std::max(first, pages.held[host]);
  out.evictions.push_back({place, host, bytes_of(pages, from, last)});
  set_held(pages, host, last);
  return leaving;
}

/// The device that holds most blocks, of equals the first; the host if no device holds any.
UnifiedPages::Place UnifiedPages::fullest_device(const Pages& pages, Place except) const noexcept {
  Place best = host;
  for (Place place = 1; place < places_.size(); ++place)
    if (place != except && pages.held[place] != 0 && (best == host || pages.held[place] > pages.held[best]))
      best = place;
  return best;
}

void UnifiedPages::find_sources(const Pages& pages, Place place, Changes& out) const {
  const bool to_host = place == host;
  const std::uint64_t first = to_host ? pages.held[host] : 0;
  const std::uint64_t last = to_host ? pages.blocks : missing(pages, place);
  const Bytes bytes = bytes_of(pages, first, last);
  Place nearest = place;
  for (Place other = 0; other < places_.size(); ++other) {
    const bool has_all = other == host ? pages.held[host] >= last : pages.held[other] >= pages.blocks - first;
    if (other == place || pages.held[other] == 0 || !has_all) continue;
    if (nearest == place || options_.time(other, place, bytes) < options_.time(nearest, place, bytes))
      nearest = other;
  }
  if (nearest != place) return out.moves.push_back({nearest, place, bytes});
  // No single place has all blocks: the last ones are on a device, those that it evicted are in host memory.
  const Place device = fullest_device(pages, place);
  const std::uint64_t split = pages.blocks - pages.held[device];
  if (split < last) out.moves.push_back({device, place, bytes_of(pages, split, last)});
  out.moves.push_back({host, place, bytes_of(pages, first, std::min(split, last))});
}

UnifiedPages::Move UnifiedPages::migrate_home(Place device) {
  for (std::size_t& next = places_[device].at_home; next < data_.size(); ++next) {
    Pages& pages = data_[next];
    if (!pages.dirty || missing(pages, host) == 0 || fullest_device(pages, host) != device) continue;
    const std::uint64_t first = pages.held[host];
    set_held(pages, host, pages.blocks);
    return {device, host, bytes_of(pages, first, pages.blocks)};
  }
  return {};
}

}  // namespace fairlead::backend

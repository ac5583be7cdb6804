// The descriptor of each datum: size, newest version, home, and replicas on other nodes.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/stable_vector.hpp"
#include "data/generator.hpp"
#include "memory/replica.hpp"
#include "memory/written_by.hpp"
#include "policy/view.hpp"

namespace fairlead::memory {

/// What add() needs to register a datum.
struct DatumSpec {
  Bytes bytes = 0;
  NodeId home{};
  void* address = nullptr;  ///< user memory: address of the bytes; opaque here
  /// user memory: layout, if not contiguous; must outlive the datum
  const data::HomeLayout* layout = nullptr;
  Bytes home_offset = 0;  ///< disk: offset in the spill file
  /// computes the first version, instead of a read from the home
  const data::Generator* generator = nullptr;
  View::Coordinates coordinates{};
  DatumId partial_of = no_id<DatumId>;  ///< the datum holds partial results of reductions of that datum
  bool out_of_view = false;             ///< the home is shared with data that are in use
};

class Admitter;
class StaleHomes;
class PartialResults;
class Poison;

/// A datum's descriptor. The fields that every admission reads come first, in two cache lines.
struct alignas(64) Datum {
  Replica home;  ///< always has space; `version` states whether it is current
  WrittenBy<std::uint64_t, Coherence> version = 1;    ///< newest version; each write increments it
  WrittenBy<Task*, Admitter> token_holder = nullptr;  ///< the commutative task that changes the datum now
  const Bytes bytes = 0;
  /// replicas on caches, linked by next_of_datum; kept when absent
  WrittenBy<Replica*, DatumTable> cached = nullptr;
  /// Admitted tasks that change the datum. While it is not 0, no other task may read it.
  WrittenBy<std::uint32_t, Admitter> writers = 0;
  WrittenBy<bool, Poison> poisoned = false;  ///< a task that should have written it failed or was cancelled
  WrittenBy<bool, DatumTable> removed = false;
  /// The home is shared with data that are in use: the datum is a block of another, or is partitioned.
  WrittenBy<bool, Admitter> out_of_view = false;
  WrittenBy<bool, Flushes> flush_when_written = false;  ///< a flush waits for the task that changes it now
  /// a partial result: has a value only between a reduction and its combination
  const bool is_partial = false;
  /// The accelerator on which the program prefers the datum.
  WrittenBy<std::int8_t, DatumTable> advice = no_device;
  WrittenBy<bool, Flushes> refresh_put_off = false;  ///< the program gets the newest value by acquire
  WrittenBy<bool, StaleHomes> listed_away = false;   ///< in the StaleHomes
  /// Index of its partial results plus 1; 0: none.
  WrittenBy<std::uint32_t, PartialResults> partials = 0;
  const View::Coordinates coordinates{};
  const data::HomeLayout* const layout = nullptr;    ///< layout of the home, if not contiguous
  const data::Generator* const generator = nullptr;  ///< computes version 1, which is not stored

  /// The newest version is not in the home.
  bool dirty() const noexcept { return home.version != version; }
};

static_assert(sizeof(Datum) == 3 * 64);

/// Data by id. Ids are dense: a new datum gets the id of a forgotten one. Code that keeps an id must compare
/// `RegisteredDatum::generation`, or delete the id in Policy::removed().
class DatumTable {
 public:
  DatumId add(const DatumSpec& spec) {
    if (spec.coordinates.collection >= 0) {
      Collection& collection = collections_[spec.coordinates.collection];
      collection.extent.rows = std::max(collection.extent.rows, spec.coordinates.row + 1);
      collection.extent.columns = std::max(collection.extent.columns, spec.coordinates.column + 1);
      ++collection.data;
    }
    return free_.empty() ? add_new(spec) : add_in_place_of_former(spec);
  }
  void advise(DatumId id, int device) noexcept { data_[index(id)].advice = static_cast<std::int8_t>(device); }
  /// The program no longer uses the datum.
  void remove(DatumId id) noexcept { data_[index(id)].removed = true; }
  /// Frees the id. All replicas must be absent and unused.
  void forget(DatumId id) {
    Datum& datum = data_[index(id)];
    if (const auto at = collections_.find(datum.coordinates.collection);
        at != collections_.end() && --at->second.data == 0)
      collections_.erase(at);
    if (reuse_) free_.push_back(id);  // never allocates: add_new() reserved the capacity
  }
  /// Stops the reuse of ids, because records refer to data by id.
  void keep_ids() noexcept { reuse_ = false; }
  Datum& operator[](DatumId id) noexcept { return data_[index(id)]; }
  const Datum& operator[](DatumId id) const noexcept { return data_[index(id)]; }
  std::size_t size() const noexcept { return data_.size(); }
  /// The extent of the data added so far; {0, 0} if there are none.
  View::Extent extent(std::int32_t collection) const {
    const auto found = collections_.find(collection);
    return found == collections_.end() ? View::Extent{} : found->second.extent;
  }

  /// The datum's replica on a cache. Creates an absent one if none exists.
  Replica& cached_on(DatumId id, NodeId node) {
    Datum& datum = data_[index(id)];
    Replica* last = nullptr;
    for (Replica* replica = datum.cached; replica != nullptr; replica = replica->next_of_datum) {
      if (replica->node == node) return *replica;
      last = replica;
    }
    Replica& replica = replicas_.emplace_back(Replica{.datum = id, .node = node});
    if (last != nullptr) {
      last->next_of_datum = &replica;
    } else {
      datum.cached = &replica;
    }
    return replica;
  }
  /// The datum's replica on a cache, or null if none exists.
  const Replica* find_on(DatumId id, NodeId node) const noexcept {
    const Replica* replica = data_[index(id)].cached;
    while (replica != nullptr && replica->node != node) replica = replica->next_of_datum;
    return replica;
  }

 private:
  struct Collection {
    View::Extent extent;
    std::size_t data = 0;
  };
  static Datum made(const DatumSpec& spec, DatumId id, Replica* cached) {
    return {.home = {.datum = id,
                     .node = spec.home,
                     .state = ReplicaState::valid,
                     .version = 1,
                     .address = spec.address,
                     .block = ByteRange{spec.home_offset, spec.bytes}},
            .bytes = spec.bytes,
            .cached = cached,
            .out_of_view = spec.out_of_view,
            .is_partial = spec.partial_of != no_id<DatumId>,
            .coordinates = spec.coordinates,
            .layout = spec.layout,
            .generator = spec.generator};
  }
  DatumId add_new(const DatumSpec& spec) {
    if (free_.capacity() <= data_.size()) free_.reserve(2 * data_.size() + 64);
    const auto id = static_cast<DatumId>(data_.size());
    data_.append([&] { return made(spec, id, nullptr); });
    return id;
  }
  /// Reuses the id that was forgotten last. Its replica descriptors are reset.
  DatumId add_in_place_of_former(const DatumSpec& spec) {
    const DatumId id = free_.back();
    free_.pop_back();
    for (Replica* replica = data_[index(id)].cached; replica != nullptr;) {
      Replica* const next = replica->next_of_datum;
      std::construct_at(replica, Replica{.datum = id, .node = replica->node, .next_of_datum = next});
      replica = next;
    }
    Datum& datum = data_[index(id)];
    Replica* const cached = datum.cached;
    new (&datum) Datum(made(spec, id, cached));
    return id;
  }

  StableVector<Datum> data_;
  StableVector<Replica> replicas_;
  std::vector<DatumId> free_;  // ids of forgotten data
  bool reuse_ = true;
  std::map<std::int32_t, Collection> collections_;  // collections with at least one datum
};

}  // namespace fairlead::memory

// What the engine knows of each datum: its size, its newest version, its home, and its replicas on other
// nodes.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/place_hint.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/chunked_vector.hpp"
#include "data/generator.hpp"
#include "memory/replica.hpp"
#include "memory/written_by.hpp"
#include "policy/view.hpp"

namespace fairlead::memory {

struct DatumSpec {
  Bytes bytes = 0;
  NodeId home{};
  void* address = nullptr;                     ///< user memory: where it is; here nobody looks at it
  const data::Layout* layout = nullptr;        ///< user memory: how it lies there, if not in one block; stays
  Bytes home_offset = 0;                       ///< disk: where its space in the spill file begins
  const data::Generator* generator = nullptr;  ///< makes what it holds at first, in place of its home
  View::Coordinates coordinates{};
  DatumId partial_of = no_id<DatumId>;  ///< it holds partial results of reductions on that datum
  bool out_of_view = false;             ///< the home is shared with data that are used now
};

class Admitter;
class AwayList;
class PartialResults;
class Poison;

/// What every admission looks at comes first: two cache lines. Of each field it is said who writes it.
struct alignas(64) Datum {
  Replica home;  ///< always has space; its `version` tells whether it is current
  WrittenBy<std::uint64_t, Coherence> version = 1;    ///< the newest; grows with every write
  WrittenBy<Task*, Admitter> token_holder = nullptr;  ///< the task that changes it among commutative ones
  const Bytes bytes = 0;
  WrittenBy<Replica*, DatumTable> cached = nullptr;  ///< replicas on caches, linked by next_of_datum; kept
                                                     ///< when absent
  /// Admitted tasks that change it: nobody else may read it now.
  WrittenBy<std::uint32_t, Admitter> writers = 0;
  WrittenBy<bool, Poison> poisoned = false;  ///< a task that was to write it failed or was cancelled
  WrittenBy<bool, DatumTable> removed = false;
  /// Its home is shared with data that are used now: it is a part, or has parts.
  WrittenBy<bool, Admitter> out_of_view = false;
  WrittenBy<bool, Flushes> flush_when_written = false;  ///< a flush waits for the task that changes it now
  const bool is_partial = false;  ///< its value means something between a reduction and its folding only
  /// The accelerator on which the program would have it live.
  WrittenBy<std::int8_t, DatumTable> advice = no_device;
  WrittenBy<bool, Flushes> refresh_put_off = false;  ///< the program asks for the newest value by acquire
  WrittenBy<bool, AwayList> listed_away = false;     ///< among data that may not be up to date at home
  /// Where its partial results are kept, plus 1; 0: it has none.
  WrittenBy<std::uint32_t, PartialResults> partials = 0;
  const View::Coordinates coordinates{};
  const data::Layout* const layout = nullptr;        ///< of the home, if that is not one block
  const data::Generator* const generator = nullptr;  ///< makes version 1, which is stored nowhere

  bool dirty() const noexcept { return home.version != version; }
};

static_assert(sizeof(Datum) == 3 * 64);

/// Data by id. Ids are dense: that of a datum that was forgotten is given to another. Who may still name the
/// former by it has to look first (`RegisteredDatum::generation`), or to forget it in Policy::removed().
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
  /// It is no datum of the program any more.
  void remove(DatumId id) noexcept { data_[index(id)].removed = true; }
  /// All its replicas are absent, and nobody uses it.
  void forget(DatumId id) {
    Datum& datum = data_[index(id)];
    if (const auto at = collections_.find(datum.coordinates.collection);
        at != collections_.end() && --at->second.data == 0)
      collections_.erase(at);
    if (reuse_) free_.push_back(id);  // has space: add_new() reserved it
  }
  /// Ids are not used again from now on: what is written down names data by them.
  void keep_ids() noexcept { reuse_ = false; }
  Datum& operator[](DatumId id) noexcept { return data_[index(id)]; }
  const Datum& operator[](DatumId id) const noexcept { return data_[index(id)]; }
  std::size_t size() const noexcept { return data_.size(); }
  /// As far as has been added; {0, 0} if nothing has.
  View::Extent extent(std::int32_t collection) const {
    const auto found = collections_.find(collection);
    return found == collections_.end() ? View::Extent{} : found->second.extent;
  }

  /// The datum's replica on a cache; made (absent) if there is none yet.
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
  /// As above, but null if there is none.
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
                     .block = Range{spec.home_offset, spec.bytes}},
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
  /// Of the one that was forgotten last: its replicas are there, as if they were new.
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

  ChunkedVector<Datum> data_;
  ChunkedVector<Replica> replicas_;
  std::vector<DatumId> free_;  // of data that are gone
  bool reuse_ = true;
  std::map<std::int32_t, Collection> collections_;  // those that have data
};

}  // namespace fairlead::memory

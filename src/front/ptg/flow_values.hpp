// The values that the flows of a parameterized graph carry. Each is in one datum and is identified by a number.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/registered_datum.hpp"
#include "front/ptg/chunks.hpp"
#include "front/ptg/class_table.hpp"
#include "front/ptg/task_instance.hpp"

namespace fairlead::ptg {

/// The purpose of a fresh datum: for a task of this rank, or for a value that arrives from another rank.
enum class FreshUse : std::uint8_t { task, remote_value };

/// A value and its datum.
struct FlowValue {
  const void* handle = nullptr;              ///< of the collection's type
  engine::RegisteredDatum* datum = nullptr;  ///< null: no datum has these indices
  // Valid for this run: the address for tasks on the fast path, and the id.
  void* address = nullptr;
  DatumId id = no_id<DatumId>;
  bool packed = false, on_fast_path = false;
  bool fresh = false;  ///< in no collection; returned after its last user
  FreshUse use{};      ///< for a fresh datum; owned by FreshData
  /// A task of this graph has written it. Set by the writing thread.
  std::atomic<bool> has_content{false};
  std::uint32_t collection = 0;
  std::uint32_t kind = 0;  ///< the kind of fresh data with its shape
};

/// A kind of fresh data: all have the shape of this datum of a collection.
struct FreshKind {
  std::uint32_t collection = 0;
  const void* like = nullptr;
  bool exact = false;  ///< exactly its extents; otherwise a datum may be larger
};

/// All values: those of the collections, then the fresh ones. With several ranks, only this rank's data have values;
/// of the others only the shapes are recorded.
class FlowValues {
 public:
  /// Call once, before the first run. `over_ranks`: values may arrive from other ranks. Throws UsageError if there
  /// are too many data or one is in two collections.
  void begin(const ClassTable& table, bool over_ranks);

  FlowValue& operator[](std::uint32_t number) noexcept {
    return number < first_fresh_ ? of_collections_[number] : fresh_.at(number - first_fresh_);
  }
  /// True if all of these that exist may be used on the fast path.
  bool on_fast_path(const std::uint32_t* numbers, std::size_t count) noexcept {
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) all &= numbers[i] == no_value || (*this)[numbers[i]].on_fast_path;
    return all;
  }
  /// The number of values in collections; fresh values have higher numbers.
  std::uint32_t of_collections() const noexcept { return first_fresh_; }
  std::uint32_t all() const noexcept { return first_fresh_ + fresh_count_; }
  /// The number of the datum at this place for these index values; no_value if it does not exist here.
  std::uint32_t at(const MemoryPlace& place, const std::int64_t* numbers) const {
    const Collection& of = collections_[place.collection];
    const std::int64_t position = place.position(of.definition->extents, numbers);
    if (position < 0) return no_value;
    const std::uint32_t at = of.first + static_cast<std::uint32_t>(position);
    if (own_only_) {
      const auto found = std::ranges::lower_bound(own_, at);
      return found == own_.end() || *found != at ? no_value
                                                 : static_cast<std::uint32_t>(found - own_.begin());
    }
    return of_collections_[at].datum == nullptr ? no_value : at;
  }
  /// First one kind for each collection's first datum, by collection; then those of other extents.
  std::span<const FreshKind> kinds() const noexcept { return kinds_; }
  /// ": A has 5 x 4", for messages
  std::string extents_of(std::uint32_t collection) const;
  const CollectionDefinition& collection(std::uint32_t number) const {
    return *collections_[number].definition;
  }
  /// The kind of fresh datum that an input needs. `came`: the task's values, by flow. Nothing if the datum that it
  /// should resemble does not exist.
  std::optional<std::uint32_t> kind_of(const Input& input, const std::uint32_t* came) {
    if (!input.like_flow) return input.memory.collection;
    if (came[*input.like_flow] == no_value) return std::nullopt;
    return (*this)[came[*input.like_flow]].kind;
  }
  /// "A(3, 7)", for messages.
  std::string text_of(const MemoryPlace& place, const std::int64_t* numbers) const;

  /// Adds a fresh value of this kind and returns its number. For the program's thread. Throws UsageError if there are
  /// too many.
  std::uint32_t add_fresh(std::uint32_t kind, const void* handle, engine::RegisteredDatum& datum);

 private:
  struct Collection {
    std::shared_ptr<const CollectionDefinition> definition;
    std::uint32_t first;  ///< the first of its places, counted over all collections
  };

  void find_kinds(const ClassTable& table);

  std::vector<Collection> collections_;
  bool own_only_ = false;
  std::vector<std::uint32_t> own_;  // if own_only_: the places of this rank's data, ascending
  std::vector<FreshKind> kinds_;
  std::unique_ptr<FlowValue[]> of_collections_;
  std::uint32_t first_fresh_ = 0;
  std::uint32_t fresh_count_ = 0;
  Chunks<FlowValue> fresh_;
};

}  // namespace fairlead::ptg

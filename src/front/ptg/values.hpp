// The values that flows of a parameterized graph carry: each is in one datum, and is known by its number.
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
#include "front/ptg/active_task.hpp"
#include "front/ptg/chunks.hpp"
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// For whom a fresh datum is: a task of this rank, or a value that comes from another one.
enum class FreshUse : std::uint8_t { task, visitor };

struct Value {
  const void* handle = nullptr;              ///< of the collection's type
  engine::RegisteredDatum* datum = nullptr;  ///< null: there is none with these indices
  // As they are in this run: where it is for tasks of the direct lane, and what it is called.
  void* address = nullptr;
  DatumId id = no_id<DatumId>;
  bool packed = false, in_lane = false;
  bool fresh = false;  ///< the datum is nobody's: it is given back after the last who uses it
  FreshUse use{};      ///< then; FreshData's
  /// A task of this graph has written into it. Changed by who does.
  std::atomic<bool> has_content{false};
  std::uint32_t collection = 0;
  std::uint32_t kind = 0;  ///< which fresh data are like it
};

/// Fresh data are like this one of a collection.
struct FreshKind {
  std::uint32_t collection = 0;
  const void* like = nullptr;
  bool exact = false;  ///< of the very same extents
};

/// All of them: first those of the collections, one after the other, then the fresh ones. Over ranks those of the collections
/// that this rank has: of what others have, only the kinds are known.
class Values {
 public:
  /// Once, before the first run. `over_ranks`: any may come from another rank.
  void begin(const ClassTable& table, bool over_ranks);

  Value& operator[](std::uint32_t number) noexcept {
    return number < first_fresh_ ? of_collections_[number] : fresh_.at(number - first_fresh_);
  }
  /// All of so many that are there are in the direct lane.
  bool in_lane(const std::uint32_t* numbers, std::size_t count) noexcept {
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) all &= numbers[i] == no_value || (*this)[numbers[i]].in_lane;
    return all;
  }
  std::uint32_t of_collections() const noexcept { return first_fresh_; }
  std::uint32_t all() const noexcept { return first_fresh_ + fresh_count_; }
  /// Of the datum with these numbers of a task. no_value if there is none such.
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
  /// First those like each collection's first datum, by collection; then those of other extents.
  std::span<const FreshKind> kinds() const noexcept { return kinds_; }
  /// ": A has 5 x 4"
  std::string extents_of(std::uint32_t collection) const;
  const CollectionDefinition& collection(std::uint32_t number) const {
    return *collections_[number].definition;
  }
  /// The kind of a fresh datum that the input asks for; `came`: the values that its task has, by flow. Nothing if that
  /// is to be like a datum that is not there.
  std::optional<std::uint32_t> kind_of(const Input& input, const std::uint32_t* came) {
    if (!input.like_flow) return input.memory.collection;
    if (came[*input.like_flow] == no_value) return std::nullopt;
    return (*this)[came[*input.like_flow]].kind;
  }
  /// "A(3, 7)", for messages.
  std::string text_of(const MemoryPlace& place, const std::int64_t* numbers) const;

  /// One more fresh value of the kind. The application's thread's.
  std::uint32_t add_fresh(std::uint32_t kind, const void* handle, engine::RegisteredDatum& datum);

 private:
  struct Collection {
    std::shared_ptr<const CollectionDefinition> definition;
    std::uint32_t first;  ///< of its places, counted over all collections
  };

  void find_kinds(const ClassTable& table);

  std::vector<Collection> collections_;
  bool own_only_ = false;
  std::vector<std::uint32_t> own_;  // then: the places of those that are here, in their order
  std::vector<FreshKind> kinds_;
  std::unique_ptr<Value[]> of_collections_;
  std::uint32_t first_fresh_ = 0;
  std::uint32_t fresh_count_ = 0;
  Chunks<Value> fresh_;
};

}  // namespace fairlead::ptg

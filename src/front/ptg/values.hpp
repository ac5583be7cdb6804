// The values that flows of a parameterized graph carry: each is in one datum, and is known by its number.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/registered_datum.hpp"
#include "front/ptg/active_task.hpp"
#include "front/ptg/chunks.hpp"
#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

struct Value {
  const void* handle = nullptr;              ///< of the collection's type
  engine::RegisteredDatum* datum = nullptr;  ///< null: there is none with these indices
  // As they are in this run: where it is for tasks of the direct lane, and what it is called.
  void* address = nullptr;
  DatumId id = no_id<DatumId>;
  bool packed = false, in_lane = false;
  bool fresh = false;  ///< the datum is nobody's: it is given back after the last who uses it
  /// A task of this graph has written into it. Changed by who does.
  std::atomic<bool> has_content{false};
  std::uint32_t collection = 0;
  std::uint32_t kind = 0;  ///< of a fresh one: see FreshData
  std::uint32_t like = 0;  ///< of a fresh one: the number of a collection's that it looks like
};

/// All of them: first those of the collections, one after the other, then the fresh ones.
class Values {
 public:
  /// Once, before the first run.
  void begin(const ClassTable& table);

  Value& operator[](std::uint32_t number) noexcept {
    return number < first_fresh_ ? of_collections_[number] : fresh_.at(number - first_fresh_);
  }
  std::uint32_t of_collections() const noexcept { return first_fresh_; }
  std::uint32_t all() const noexcept { return first_fresh_ + fresh_count_; }
  /// Of the datum with these numbers of a task. no_value if there is none such.
  std::uint32_t at(const MemoryPlace& place, const std::int64_t* numbers) const {
    const Collection& of = collections_[place.collection];
    std::int64_t position = 0, stride = 1;
    for (std::size_t i = 0; i < place.indices.size(); ++i) {
      const std::int64_t index = place.indices[i](numbers), extent = of.definition->extents[i];
      if (index < 0 || index >= extent) return no_value;
      position += index * stride;
      stride *= extent;
    }
    const std::uint32_t number = of.first + static_cast<std::uint32_t>(position);
    return of_collections_[number].datum == nullptr ? no_value : number;
  }
  /// "A(3, 7)", for messages.
  std::string text_of(const MemoryPlace& place, const std::int64_t* numbers) const;

  /// The number of the first of a collection's data.
  std::uint32_t first_of(std::uint32_t collection) const { return collections_[collection].first; }
  /// One more fresh value, like the one with that number. The application's thread's.
  std::uint32_t add_fresh(std::uint32_t kind, std::uint32_t like, const void* handle,
                          engine::RegisteredDatum& datum);

 private:
  struct Collection {
    std::shared_ptr<const CollectionDefinition> definition;
    std::uint32_t first;
  };

  std::vector<Collection> collections_;
  std::unique_ptr<Value[]> of_collections_;
  std::uint32_t first_fresh_ = 0;
  std::uint32_t fresh_count_ = 0;
  Chunks<Value> fresh_;
};

}  // namespace fairlead::ptg

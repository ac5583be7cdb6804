// Resolves places in collections.
#include "front/ptg/memory_place.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <string>

namespace fairlead::ptg {

namespace {

/// The position as one formula, if all index values lie within the collection; otherwise nothing.
std::optional<Formula> surely_at(const Place& place, const Places& places,
                                 const std::vector<Interval>& bounds) {
  Affine position;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < place.indices.size(); ++i) {
    const std::int64_t extent = place.collection->extents[i];
    const Interval numbers = interval_of(place.indices[i], places, bounds);
    const std::optional<Affine> index = Affine::of(place.indices[i], places);
    if (!index || numbers.first < 0 || numbers.last >= extent) return std::nullopt;
    position.add(*index, stride);
    stride *= extent;
  }
  return Formula(position);
}

}  // namespace

MemoryPlace memory_place(const ClassDefinition& of, const FlowDefinition& flow, const Place& place,
                         std::uint32_t collection, const Places& places,
                         const std::vector<Interval>& bounds) {
  const CollectionDefinition& data = *place.collection;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("the parameterized class {}: its flow \"{}\" {}", text_of(of), flow.name, why));
  };
  if (place.indices.size() != data.extents.size())
    refuse(fmt::format("names {} with {} indices; it has {}", data.name, place.indices.size(),
                       data.extents.size()));
  if (data.type != flow.type) refuse(fmt::format("is of another type than the data of {}", data.name));
  MemoryPlace memory{.collection = collection, .indices = {}};
  for (const Expression& index : place.indices) memory.indices.emplace_back(index, places);
  memory.unchecked_position = surely_at(place, places, bounds);
  return memory;
}

}  // namespace fairlead::ptg

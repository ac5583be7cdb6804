// Numbers the values of all collections, and groups shapes into kinds of fresh data.
#include "front/ptg/flow_values.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fairlead::ptg {

void FlowValues::begin(const ClassTable& table, bool over_ranks) {
  std::size_t count = 0;
  for (const auto& definition : table.collections) {
    collections_.push_back({definition, static_cast<std::uint32_t>(count)});
    count += definition->count();
    own_only_ |= !definition->shapes.empty();
  }
  if (count >= std::uint32_t{1} << 31)
    throw UsageError(fmt::format("a parameterized graph has {} data; the limit is {}", count,
                                 (std::uint32_t{1} << 31) - 1));
  own_only_ |= over_ranks;
  std::size_t here = count;
  if (own_only_) {
    here = 0;
    for (const Collection& of : collections_)
      here += static_cast<std::size_t>(std::ranges::count_if(
          of.definition->data, [](const auto& reference) { return reference.datum != nullptr; }));
    own_.reserve(here);
  }
  first_fresh_ = static_cast<std::uint32_t>(here);
  of_collections_ = std::make_unique<FlowValue[]>(here);
  std::size_t number = 0;
  std::vector<bool> seen;  // by datum
  for (std::uint32_t i = 0; i < collections_.size(); ++i) {
    const CollectionDefinition& data = *collections_[i].definition;
    for (std::size_t k = 0; k < data.data.size(); ++k) {
      const engine::RegisteredDatum* datum = data.data[k].datum;
      if (datum != nullptr && datum->id != no_id<DatumId>) {
        if (index(datum->id) >= seen.size()) seen.resize(2 * (index(datum->id) + std::size_t{1}));
        if (seen[index(datum->id)])
          throw UsageError(
              fmt::format("{} is in the data of a parameterized graph twice: a datum may have only one "
                          "collection and one set of indices",
                          datum->text()));
        seen[index(datum->id)] = true;
      }
      if (own_only_ && datum == nullptr) continue;
      if (own_only_) own_.push_back(collections_[i].first + static_cast<std::uint32_t>(data.place(k)));
      FlowValue& value = of_collections_[number++];
      value.handle = data.handle(k);
      value.datum = data.data[k].datum;
      value.collection = value.kind = i;
    }
  }
  find_kinds(table);
}

/// Determined from the handles of all data, so that the kinds are the same on all ranks.
void FlowValues::find_kinds(const ClassTable& table) {
  kinds_.resize(collections_.size());
  const bool like_flows = std::ranges::any_of(table.classes, [](const TableClass& of) {
    return std::ranges::any_of(of.flows, [](const TableFlow& flow) {
      return std::ranges::any_of(flow.inputs, [](const Input& input) { return input.like_flow.has_value(); });
    });
  });
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    kinds_[i].collection = i;
    const CollectionDefinition& data = *collections_[i].definition;
    if (!data.shapes.empty()) {
      kinds_[i].like = data.shapes.data();
      continue;
    }
    for (std::size_t k = data.data.size(); k-- > 0;)
      if (own_only_ || data.data[k].datum != nullptr) kinds_[i].like = data.handle(k);
  }
  if (!like_flows && !own_only_) return;
  const auto kind_of = [&](std::uint32_t collection, const void* handle) {
    const auto alike = collections_[collection].definition->alike;
    const auto found = std::ranges::find_if(kinds_, [&](const FreshKind& kind) {
      return kind.collection == collection && alike(kind.like, handle, kind.exact);
    });
    const auto kind = static_cast<std::uint32_t>(found - kinds_.begin());
    if (found == kinds_.end()) kinds_.push_back({collection, handle, true});
    return kind;
  };
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < collections_.size(); ++i) {
    const CollectionDefinition& data = *collections_[i].definition;
    if (data.alike != nullptr)
      for (std::size_t at = 0; at < data.shapes.size(); at += data.handle_bytes)
        kind_of(i, data.shapes.data() + at);
    for (std::size_t k = 0; k < data.data.size(); ++k) {
      const bool here = data.data[k].datum != nullptr;
      FlowValue* const value = here || !own_only_ ? &of_collections_[number++] : nullptr;
      if ((!here && !own_only_) || data.alike == nullptr) continue;
      const std::uint32_t kind = kind_of(i, data.handle(k));
      if (value != nullptr) value->kind = kind;
    }
  }
}

std::string FlowValues::text_of(const MemoryPlace& place, const std::int64_t* numbers) const {
  std::vector<std::int64_t> indices;
  for (const Formula& index : place.indices) indices.push_back(index(numbers));
  return fmt::format("{}({})", collections_[place.collection].definition->name, fmt::join(indices, ", "));
}

std::string FlowValues::extents_of(std::uint32_t collection) const {
  const CollectionDefinition& of = this->collection(collection);
  return fmt::format(": {} has {}", of.name, fmt::join(of.extents, " x "));
}

std::uint32_t FlowValues::add_fresh(std::uint32_t kind, const void* handle, engine::RegisteredDatum& datum) {
  if (fresh_count_ == Chunks<FlowValue>::most)
    throw UsageError(
        fmt::format("a parameterized graph with more than {} fresh data at once", Chunks<FlowValue>::most));
  FlowValue& value = fresh_.at(fresh_count_);
  value.handle = handle;
  value.datum = &datum;
  value.collection = kinds_[kind].collection;
  value.kind = kind;
  value.fresh = true;
  return first_fresh_ + fresh_count_++;
}

}  // namespace fairlead::ptg

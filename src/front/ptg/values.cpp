// See values.hpp.
#include "front/ptg/values.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fairlead::ptg {

void Values::begin(const ClassTable& table, bool over_ranks) {
  std::size_t count = 0;
  for (const auto& definition : table.collections) {
    collections_.push_back({definition, static_cast<std::uint32_t>(count)});
    count += definition->data.size();
  }
  if (count >= std::uint32_t{1} << 31)
    throw UsageError(fmt::format("a parameterized graph over {} data; there may be {}", count,
                                 (std::uint32_t{1} << 31) - 1));
  first_fresh_ = static_cast<std::uint32_t>(count);
  of_collections_ = std::make_unique<Value[]>(count);
  std::size_t number = 0;
  std::vector<bool> seen;  // by datum
  for (std::uint32_t i = 0; i < collections_.size(); ++i) {
    const CollectionDefinition& data = *collections_[i].definition;
    for (std::size_t k = 0; k < data.data.size(); ++k) {
      if (const engine::RegisteredDatum* datum = data.data[k].datum;
          datum != nullptr && datum->id != no_id<DatumId>) {
        if (index(datum->id) >= seen.size()) seen.resize(2 * (index(datum->id) + std::size_t{1}));
        if (seen[index(datum->id)])
          throw UsageError(
              fmt::format("{} is in the data of a parameterized graph twice: its tasks know a datum "
                          "by one collection and its indices there",
                          datum->text()));
        seen[index(datum->id)] = true;
      }
      Value& value = of_collections_[number++];
      value.handle = data.handle(k);
      value.datum = data.data[k].datum;
      value.collection = value.kind = i;
    }
  }
  find_kinds(table, over_ranks);
}

void Values::find_kinds(const ClassTable& table, bool over_ranks) {
  kinds_.resize(collections_.size());
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) kinds_[i].collection = i;
  for (std::uint32_t i = first_fresh_; i-- > 0;)
    if (over_ranks || of_collections_[i].datum != nullptr)
      kinds_[of_collections_[i].collection] = {of_collections_[i].collection, of_collections_[i].handle, i};
  const bool like_flows = std::ranges::any_of(table.classes, [](const TableClass& of) {
    return std::ranges::any_of(of.flows, [](const TableFlow& flow) {
      return std::ranges::any_of(flow.inputs, [](const Input& input) { return input.like_flow.has_value(); });
    });
  });
  if (!like_flows && !over_ranks) return;
  for (std::uint32_t i = 0; i < first_fresh_; ++i) {
    Value& value = of_collections_[i];
    const auto alike = collections_[value.collection].definition->alike;
    if ((value.datum == nullptr && !over_ranks) || alike == nullptr) continue;
    const auto found = std::ranges::find_if(kinds_, [&](const FreshKind& kind) {
      return kind.collection == value.collection && alike(kind.like, value.handle, kind.exact);
    });
    value.kind = static_cast<std::uint32_t>(found - kinds_.begin());
    if (found == kinds_.end()) kinds_.push_back({value.collection, value.handle, i, true});
  }
}

std::string Values::text_of(const MemoryPlace& place, const std::int64_t* numbers) const {
  std::vector<std::int64_t> indices;
  for (const Formula& index : place.indices) indices.push_back(index(numbers));
  return fmt::format("{}({})", collections_[place.collection].definition->name, fmt::join(indices, ", "));
}

std::string Values::extents_of(std::uint32_t collection) const {
  const CollectionDefinition& of = this->collection(collection);
  return fmt::format(": {} has {}", of.name, fmt::join(of.extents, " x "));
}

std::uint32_t Values::add_fresh(std::uint32_t kind, const void* handle, engine::RegisteredDatum& datum) {
  if (fresh_count_ == Chunks<Value>::most)
    throw UsageError(
        fmt::format("a parameterized graph with more than {} fresh data at once", Chunks<Value>::most));
  Value& value = fresh_.at(fresh_count_);
  value.handle = handle;
  value.datum = &datum;
  value.collection = kinds_[kind].collection;
  value.kind = kind;
  value.fresh = true;
  return first_fresh_ + fresh_count_++;
}

}  // namespace fairlead::ptg

// With several ranks: the rank on which each task runs. A class names a datum, and its owner rank runs the task, so
// every rank can compute it for every task.
#pragma once
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "front/ptg/class_table.hpp"
#include "net/names.hpp"

namespace fairlead::ptg {

/// Thread-safe, except count_in().
class RankPlacement {
 public:
  /// Throws UsageError if a class has no placement, or one on a collection that is not distributed.
  RankPlacement(const ClassTable& table, net::RankId own) : table_(table), own_(own) {
    for (const TableClass& of : table.classes) {
      if (!of.runs_at)
        throw UsageError(
            fmt::format("over several ranks {} needs a placement: call at()", text_of(*of.definition)));
      const CollectionDefinition& data = *table.collections[of.runs_at->collection];
      if (data.owners.empty())
        throw UsageError(fmt::format("the placement of {} is {}, which is not distributed over the ranks",
                                     text_of(*of.definition), data.name));
    }
  }

  /// The owner rank of a datum, for these index values of a task. Nothing if the datum does not exist or its
  /// collection is not distributed.
  std::optional<net::RankId> owner_of(const MemoryPlace& place, const std::int64_t* numbers) const {
    const CollectionDefinition& data = *table_.collections[place.collection];
    const std::int64_t position = place.position(data.extents, numbers);
    if (position < 0 || data.owners.empty()) return std::nullopt;
    return net::RankId{data.owners[static_cast<std::size_t>(position)]};
  }
  /// The rank that runs the task with these index values. Throws UsageError if the datum does not exist.
  net::RankId rank_of(const TableClass& of, const std::int64_t* numbers) const {
    const std::optional<net::RankId> owner = owner_of(*of.runs_at, numbers);
    if (!owner)
      throw UsageError(fmt::format("the placement of a task of {} is a datum of {} that does not exist",
                                   text_of(*of.definition),
                                   table_.collections[of.runs_at->collection]->name));
    return *owner;
  }
  /// True if the task runs on this rank. Throws as rank_of().
  bool is_here(const TableClass& of, const std::int64_t* numbers) const {
    return rank_of(of, numbers) == own_;
  }
  /// The same, from the task's parameters; nothing if the datum does not exist.
  std::optional<net::RankId> rank_of_parameters(const TableClass& of, const std::int64_t* parameters) const {
    looks_at(1);
    Numbers numbers;
    for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers[of.parameters[i]] = parameters[i];
    of.place_derived(numbers.data());
    return owner_of(*of.runs_at, numbers.data());
  }
  net::RankId own() const noexcept { return own_; }
  /// For tests and simulations: counts the tasks examined from now on; null stops counting. Not thread-safe.
  void count_in(std::uint64_t* looked_at) const noexcept { looked_at_ = looked_at; }
  void looks_at(std::uint64_t tasks) const noexcept {
    if (looked_at_ != nullptr) [[unlikely]]
      *looked_at_ += tasks;
  }
  /// A hash of the graph: its classes, their numbers of tasks, the collections and the owners. Ranks compare it.
  std::uint64_t fingerprint() const {
    std::uint64_t sum = table_.classes.size();
    const auto add = [&](std::uint64_t value) { sum = Random::mix(sum ^ Random::mix(value)); };
    const auto add_text = [&](const std::string& text) {
      for (const char c : text) add(static_cast<unsigned char>(c));
    };
    for (const TableClass& of : table_.classes) {
      add_text(of.name);
      add(of.key_count);
      add(of.count());
      add(of.flows.size());
    }
    for (const auto& data : table_.collections) {
      add_text(data->name);
      for (const std::int64_t extent : data->extents) add(static_cast<std::uint64_t>(extent));
      for (const std::uint32_t owner : data->owners.all()) add(owner);
    }
    return sum;
  }

 private:
  const ClassTable& table_;
  const net::RankId own_;
  mutable std::uint64_t* looked_at_ = nullptr;
};

}  // namespace fairlead::ptg

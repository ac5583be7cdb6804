// Over ranks: which tasks of a graph run here. A task runs where a datum of a collection is, which its class names, so
// every rank knows of every task where it runs.
#pragma once
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "front/ptg/class_table.hpp"
#include "net/names.hpp"

namespace fairlead::ptg {

class Placement {
 public:
  /// Throws UsageError for a class that does not say where its tasks run.
  Placement(const ClassTable& table, net::RankId own) : table_(table), own_(own) {
    for (const TableClass& of : table.classes) {
      if (!of.runs_at)
        throw UsageError(fmt::format("over several ranks {} has to say where its tasks run: at()",
                                     text_of(*of.definition)));
      const CollectionDefinition& data = *table.collections[of.runs_at->collection];
      if (data.owners.empty())
        throw UsageError(
            fmt::format("the tasks of {} run where the data of {} are, and that is not distributed over "
                        "the ranks",
                        text_of(*of.definition), data.name));
    }
  }

  /// Whose the datum with these numbers of a task's indices is; nothing if there is none, or it is nobody's but ours.
  std::optional<net::RankId> owner_of(const MemoryPlace& place, const std::int64_t* numbers) const {
    const CollectionDefinition& data = *table_.collections[place.collection];
    const std::int64_t position = place.position(data.extents, numbers);
    if (position < 0 || data.owners.empty()) return std::nullopt;
    return net::RankId{data.owners[static_cast<std::size_t>(position)]};
  }
  /// Where a task with these numbers of its indices runs. Throws UsageError if there is no such datum.
  net::RankId rank_of(const TableClass& of, const std::int64_t* numbers) const {
    const std::optional<net::RankId> owner = owner_of(*of.runs_at, numbers);
    if (!owner)
      throw UsageError(fmt::format("a task of {} is to run where a datum of {} is that does not exist",
                                   text_of(*of.definition),
                                   table_.collections[of.runs_at->collection]->name));
    return *owner;
  }
  bool is_here(const TableClass& of, const std::int64_t* numbers) const {
    return rank_of(of, numbers) == own_;
  }
  /// Of a task with these parameters; nothing if there is no such datum.
  std::optional<net::RankId> rank_of_parameters(const TableClass& of, const std::int64_t* parameters) const {
    looks_at(1);
    Numbers numbers;
    for (std::size_t i = 0; i < of.parameters.size(); ++i) numbers[of.parameters[i]] = parameters[i];
    of.place_derived(numbers.data());
    return owner_of(*of.runs_at, numbers.data());
  }
  net::RankId own() const noexcept { return own_; }
  /// Counts from now on what is looked at to find out where tasks run; not for several threads. Null: nothing is counted.
  void count_in(std::uint64_t* looked_at) const noexcept { looked_at_ = looked_at; }
  void looks_at(std::uint64_t tasks) const noexcept {
    if (looked_at_ != nullptr) [[unlikely]]
      *looked_at_ += tasks;
  }
  /// Differs if the graph does: its classes, how many tasks they have, the data and who owns them.
  std::uint64_t fingerprint() const {
    std::uint64_t sum = table_.classes.size();
    const auto add = [&](std::uint64_t value) { sum = Random::mix(sum ^ Random::mix(value)); };
    const auto add_text = [&](const std::string& text) {
      for (const char c : text) add(static_cast<unsigned char>(c));
    };
    for (const TableClass& of : table_.classes) {
      add_text(of.name);
      add(of.names);
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

// Checks the receiving end of edges that the producer states: the receiver must exist, and its own inputs must name
// the producer. Otherwise the edge would start the receiver too early or twice.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// The producing end of an edge: class, flow and parameters.
struct Giver {
  std::uint32_t task_class = 0;
  std::uint16_t flow = 0;
  const std::int32_t* parameters = nullptr;
};

/// True if the class has a task with these parameters; fills in the values of all its indices. Throws UsageError if a
/// formula divides by 0.
bool has_task(const TableClass& of, const std::int64_t* parameters, std::int64_t* numbers);

/// True if, for a task with these index values, the flow takes its value from `giver`. Also true for a control that
/// waits for more tasks than the search limit.
bool takes_from(const TableClass& taker, const TableFlow& flow, const std::int64_t* numbers,
                const Giver& giver);

/// True if, for these index values, the receiver does not exist and the producer's class permits that.
bool is_skipped(const ClassTable& table, const ClassEdge& edge, const std::int64_t* numbers);

/// The error text for an edge to the task with these parameters; empty if the edge is correct.
std::string wrong_end(const ClassTable& table, const Giver& giver, const ClassEdge& edge,
                      const std::int64_t* parameters);

/// The error text for a repeated edge: an earlier one names the same flow of the same task.
std::string stated_twice(const ClassTable& table, const Giver& giver, const ClassEdge& edge,
                         const std::int64_t* parameters);

/// The task's name, "gemm(1, 4, 2)".
std::string task_name(const TableClass& of, const std::int64_t* parameters);

/// "file:line:column" where the producer states the edge.
std::string where_stated(const ClassEdge& edge, const TableClass& giver);

/// Sets TableFlow::may_repeat: two stated edges of a flow, or two iterations of one edge, may name the same task.
void find_repeats(TableClass& of);

/// The receivers that a flow of a task has named so far. Most flows name one, which is stored without allocation.
class StatedEnds {
 public:
  void clear() noexcept { count_ = 0; }
  /// Returns false if this receiver was already there.
  bool add(std::uint64_t name, std::uint16_t flow) {
    if (count_++ == 0) {
      first_ = {name, flow};
      return true;
    }
    if (count_ == 2) others_ = std::make_shared<std::unordered_set<End, Hash>>();
    return first_ != End{name, flow} && others_->insert({name, flow}).second;
  }

 private:
  struct End {
    std::uint64_t name;
    std::uint16_t flow;
    bool operator==(const End&) const = default;
  };
  struct Hash {
    std::size_t operator()(const End& end) const noexcept {
      return (end.name * 64 + end.flow) * 0x9e37'79b9'7f4a'7c15u;
    }
  };
  std::uint64_t count_ = 0;
  End first_{};
  // copies of a CompletionNotice are used one after another, so they share the set
  std::shared_ptr<std::unordered_set<End, Hash>> others_{};
};

}  // namespace fairlead::ptg

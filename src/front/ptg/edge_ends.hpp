// The far end of an edge that its giver states: whether the receiving task exists, and whether its own inputs name the
// giver. An edge that the receiver does not name would start the receiver too early or twice.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

/// The end of an edge at its giver: class, flow and parameters.
struct Giver {
  std::uint32_t task_class = 0;
  std::uint16_t flow = 0;
  const std::int32_t* parameters = nullptr;
};

/// Whether the class has a task with these parameters. `numbers`: then those of all its indices. Throws UsageError if a
/// formula divides by 0.
bool has_task(const TableClass& of, const std::int64_t* parameters, std::int64_t* numbers);

/// Whether the flow of a task with these numbers of its indices takes what the giver's flow has. A control that waits for more
/// tasks than can be searched is taken to do so.
bool takes_from(const TableClass& taker, const TableFlow& flow, const std::int64_t* numbers,
                const Giver& giver);

/// What is wrong with an edge of the giver that names the task with these parameters; empty: nothing.
std::string wrong_end(const ClassTable& table, const Giver& giver, const Edge& edge,
                      const std::int64_t* parameters);

/// Why an edge that names the same flow of the same task as an earlier one of its giver is wrong.
std::string stated_twice(const ClassTable& table, const Giver& giver, const Edge& edge,
                         const std::int64_t* parameters);

/// "gemm(1, 4, 2)".
std::string called(const TableClass& of, const std::int64_t* parameters);

/// "file:line:column" of the edge at its giver.
std::string where_stated(const Edge& edge, const TableClass& giver);

/// Sets TableFlow::may_repeat: two of the flow's stated edges, or two steps of one, may name the same task.
void find_repeats(TableClass& of);

/// The ends that a flow of a task has stated so far.
class StatedEnds {
 public:
  void clear() noexcept { count_ = 0; }
  /// False if it was there already.
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
  std::shared_ptr<std::unordered_set<End, Hash>> others_{};  // copies of a Telling follow each other
};

}  // namespace fairlead::ptg

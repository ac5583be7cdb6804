// Submits the tasks of a parameterized graph to a flow, in an order in which they could run: for what flows have and graphs
// have not, such as checkpoints. The flow finds the dependencies by the data; those of controls alone do not count.
#pragma once
#include <cstdint>
#include <string>

#include "front/flow/flow_source.hpp"
#include "front/ptg/fresh_data.hpp"
#include "front/ptg/unfolding_order.hpp"

namespace fairlead::ptg {

/// For the program's thread, and one rank.
class SubmittedGraph {
 public:
  /// `flow` must outlive it. Throws UsageError if data are invalid.
  SubmittedGraph(front::FlowSource& flow, ClassTable table, MakeFresh make_fresh);
  SubmittedGraph(const SubmittedGraph&) = delete;
  SubmittedGraph& operator=(const SubmittedGraph&) = delete;

  /// Once. Throws UsageError, naming class, flow and source line, for an invalid graph, and for tasks that can never start
  /// because an input never arrives; otherwise as FlowSource::submit().
  void submit_all();

 private:
  bool submit_next();
  void submit(TaskInstance& task, const std::int64_t* numbers);
  void require_value(TaskInstance& task, std::size_t flow, const std::int64_t* numbers) const;
  void require_all_submitted() const;

  const ClassTable table_;
  front::FlowSource& flow_;
  static constexpr std::size_t thread = 0;  // of its own pool
  TaskKinds kinds_;
  FlowValues values_;
  FreshData fresh_;
  TaskInstancePool active_;
  UnfoldingOrder order_;
  std::uint64_t submitted_ = 0;
  std::string misuse_;
};

}  // namespace fairlead::ptg

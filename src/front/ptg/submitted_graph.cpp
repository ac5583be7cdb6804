// See submitted_graph.hpp.
#include "front/ptg/submitted_graph.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "front/ptg/describe_stall.hpp"

namespace fairlead::ptg {

namespace {

using fairlead::detail::AccessIndex;
using fairlead::detail::Submission;

/// The submission of a task some of whose flows have no datum.
struct WithoutAbsent {
  const Submission& call;
  std::vector<Submission::Use> uses{};
  std::vector<std::size_t> place_of_use{};  ///< by use of `call`: in `uses`

  static constexpr std::size_t absent = ~std::size_t{0};
  static void fill_closure(void* closure, const void* from, const AccessIndex* access_of_use) {
    const auto& it = *static_cast<const WithoutAbsent*>(from);
    std::vector<AccessIndex> access(it.place_of_use.size());
    for (std::size_t i = 0; i < access.size(); ++i)
      access[i] =
          it.place_of_use[i] == absent ? fairlead::detail::absent_access : access_of_use[it.place_of_use[i]];
    it.call.fill_closure(closure, it.call.arguments, access.data());
  }
};

}  // namespace

SubmittedGraph::SubmittedGraph(front::FlowSource& flow, ClassTable table, MakeFresh make_fresh)
    : table_(std::move(table)),
      flow_(flow),
      kinds_(table_, flow),
      fresh_(values_, std::move(make_fresh)),
      active_(1),
      order_(table_, kinds_, values_, active_, fresh_,
             // Tasks that use it next wait for those that were submitted.
             [this](std::uint32_t number) { fresh_.give_back(number); }) {
  values_.begin(table_, false);
  fresh_.begin();
  for (std::size_t i = 0; i < table_.classes.size(); ++i) active_.expect(kinds_[i].lines);
}

void SubmittedGraph::submit_all() {
  order_.begin();
  while (submit_next()) {
  }
  require_all_submitted();
}

/// Returns false if there is no task left.
bool SubmittedGraph::submit_next() {
  const UnfoldingOrder::Misused misused = [this](const std::string& why) {
    if (misuse_.empty()) misuse_ = why;
  };
  CompletionNotice notice;
  TaskInstance* const task = order_.next(thread, notice, misused);
  if (task == nullptr) {
    if (order_.is_over()) return false;
    fresh_.make_more([](FlowValue&) {}, [this](TaskInstance& starved) { order_.retry(starved); });
    return true;
  }
  submit(*task, notice.numbers.data());
  order_.finish(notice, thread, misused);
  if (!misuse_.empty()) throw UsageError(misuse_);
  return true;
}

void SubmittedGraph::submit(TaskInstance& task, const std::int64_t* numbers) {
  const TableClass& of = table_.classes[task.task_class];
  const std::uint32_t* const numbers_of_values = task.values(of.parameters.size());
  std::vector<const void*> handles(of.data_flows, nullptr);
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    require_value(task, i, numbers);
    if (numbers_of_values[i] != no_value) handles[i] = values_[numbers_of_values[i]].handle;
  }
  with_submission(of, numbers, handles, [&](const Submission& call) {
    if (call.uses.size() != of.data_flows)
      throw UsageError(
          fmt::format("{} has lists of data, and cannot be submitted to a flow", text_of(*of.definition)));
    WithoutAbsent present{call};
    for (std::size_t i = 0; i < of.data_flows; ++i) {
      present.place_of_use.push_back(handles[i] == nullptr ? WithoutAbsent::absent : present.uses.size());
      if (handles[i] == nullptr) continue;
      Submission::Use use = call.uses[i];
      use.mode = access_of(of.flows[i], values_[numbers_of_values[i]], numbers);
      present.uses.push_back(use);
    }
    Submission it = call;
    it.uses = present.uses;
    it.first_listed = Submission::no_lists;
    it.like = call.like < 0 || handles[static_cast<std::size_t>(call.like)] == nullptr
                  ? -1
                  : static_cast<int>(present.place_of_use[static_cast<std::size_t>(call.like)]);
    it.priority = kinds_.priority(task.task_class, numbers);
    it.file = of.definition->file;
    it.line = of.definition->line;
    if (call.fill_closure != nullptr) {
      it.fill_closure = &WithoutAbsent::fill_closure;
      it.arguments = &present;
    }
    flow_.submit(it, of.definition->codelet);
  });
  ++submitted_;
}

/// A flow that takes a datum from memory needs one there.
void SubmittedGraph::require_value(TaskInstance& task, std::size_t flow, const std::int64_t* numbers) const {
  const TableClass& of = table_.classes[task.task_class];
  if (task.values(of.parameters.size())[flow] != no_value) return;
  const Input* const input = input_of(of.flows[flow], numbers);
  if (input == nullptr || input->kind != Place::Kind::memory) return;
  throw UsageError(
      refused_input(table_, values_, task, flow, *input, numbers,
                    "and there is no such datum" + values_.extents_of(input->memory.collection)));
}

void SubmittedGraph::require_all_submitted() const {
  std::uint64_t tasks = 0;
  for (const TableClass& of : table_.classes) tasks += of.count(table_.stop);
  if (submitted_ == tasks) return;
  const PendingTasks& pending = order_.pending();
  throw UsageError(fmt::format("{} of {} tasks of the parameterized graph can never start{}",
                               tasks - submitted_, tasks,
                               describe_stall(table_, nullptr, stall_roots(table_, pending))));
}

}  // namespace fairlead::ptg

// Searches the class table for tasks that can never start, and samples edges for errors.
#include "front/ptg/describe_stall.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_set>

#include "base/random.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/rank_placement.hpp"
#include "front/ptg/unrolled_graph.hpp"
#include "front/unrolled/check.hpp"

namespace fairlead::ptg {

namespace {

using Parameters = std::array<std::int64_t, Walk::most_loops>;

/// The parameters of the task that the input names.
Parameters parameters_of_giver(const Input& input, const std::int64_t* numbers) {
  Parameters parameters{};
  for (std::size_t i = 0; i < input.indices.size(); ++i) parameters[i] = input.indices[i](numbers);
  return parameters;
}

class Search {
 public:
  Search(const ClassTable& table, const RankPlacement* placement)
      : table_(table),
        placement_(placement),
        stop_(table.stop != nullptr && table.stop->load() ? nullptr : table.stop) {}

  std::string text(const std::vector<WaitingTask>& first) {
    try {
      for (const WaitingTask& task : first) {
        numbers_ = task.numbers;
        if (!look_at(table_.classes[task.task_class])) return text_;
      }
      if (errors_ != 0) return text_;
      steps_ = 0;
      for (const TableClass& of : table_.classes) {
        StoppableWalk walk(stop_);
        for (bool more = walk.begin(of.loops, numbers_.data()); more;
             more = walk.next(of.loops, numbers_.data()))
          if (!look_at(of)) return text_;
      }
    } catch (const UsageError& error) {
      return text_;  // a formula divides by 0; reported where the graph evaluates it
    }
    return text_;
  }

  EdgeSample sample(std::uint64_t tasks_of_a_class) {
    EdgeSample found;
    Random random(1);
    for (std::uint32_t number = 0; number < table_.classes.size(); ++number) {
      const TableClass& of = table_.classes[number];
      // First all minima, then all maxima, then random values.
      for (std::uint64_t i = 0; i < tasks_of_a_class && errors_ < most_errors; ++i) {
        if (!draw(of.loops, i < 2 ? static_cast<int>(i) : any, random, numbers_)) continue;
        ++found.tasks;
        if (!look_at(of)) break;
        look_at_outputs(number, random, found.edges);
      }
    }
    found.errors = errors_;
    found.text = text_.empty() ? "" : text_.substr(1) + "\n";
    return found;
  }

 private:
  static constexpr int any = 2;
  /// Draws index values of the loops; false if several attempts find empty ranges only. `which`: 0: the first value
  /// of each loop, 1: the last, otherwise random.
  static bool draw(const std::vector<Loop>& loops, int which, Random& random, Numbers& numbers) {
    constexpr int most_draws = 20;
    for (int i = 0; i < most_draws; ++i)
      if (draw_once(loops, which, random, numbers)) return true;
    return false;
  }
  static bool draw_once(const std::vector<Loop>& loops, int which, Random& random, Numbers& numbers) {
    for (const Loop& loop : loops) {
      std::int64_t& number = numbers[loop.place];
      const std::int64_t first = loop.begin(numbers.data());
      number = first;
      if (loop.derived) continue;
      const std::int64_t last = loop.end(numbers.data()), step = loop.step_of(numbers.data());
      if (last < first) return false;
      const std::int64_t steps = (last - first) / step;
      const int end = which == any && random.once_in(3) ? static_cast<int>(random.below(2)) : which;
      number = first + step * (end == 0 ? 0 : end == 1 ? steps : random.between(0, steps));
    }
    return true;
  }
  /// Checks the edges that the task's class states against the receivers' inputs.
  void look_at_outputs(std::uint32_t number, Random& random, std::uint64_t& edges) {
    constexpr int most_ends = 8;
    const TableClass& of = table_.classes[number];
    std::array<std::int32_t, Walk::most_loops> own{};
    for (std::size_t i = 0; i < of.parameters.size(); ++i)
      own[i] = static_cast<std::int32_t>(numbers_[of.parameters[i]]);
    for (std::uint16_t i = 0; i < of.flows.size(); ++i)
      for (const ClassEdge& edge : of.flows[i].edges) {
        if (edge.definition == nullptr || !edge.before(numbers_.data())) continue;
        for (int end = 0; end < (edge.loops.empty() ? 1 : most_ends); ++end) {
          Numbers further;
          std::copy_n(numbers_.data(), Places::most, further.data());
          if (!draw_once(edge.loops, std::min(end, any), random, further)) break;
          if (!edge.after.empty() && !edge.holds(further.data())) continue;
          Parameters to{};
          edge.find_parameters(further.data(), to.data());
          ++edges;
          const std::string why = wrong_end(table_, {number, i, own.data()}, edge, to.data());
          if (why.empty()) continue;
          text_ += "\n  " + why;
          if (++errors_ >= most_errors) return;
        }
      }
  }

  static constexpr std::uint64_t most_steps = 30'000'000;
  static constexpr std::size_t most_errors = 5;

  /// Examines the inputs of the current task. Returns false if the limits are reached.
  bool look_at(const TableClass& of) {
    for (const TableFlow& flow : of.flows) {
      if (++steps_ > most_steps || errors_ == most_errors) return false;
      if (!flow.control) {
        if (const Input* const input = input_of(flow, numbers_.data());
            input != nullptr && input->kind == Place::Kind::task && !look_at(of, flow, *input, numbers_))
          break;
        continue;
      }
      for (const Input& input : flow.inputs) {
        if (input.condition && !(*input.condition)(numbers_.data())) continue;
        Numbers extended;
        std::copy_n(numbers_.data(), Places::most, extended.data());
        StoppableWalk walk(stop_);
        for (bool more = walk.begin(input.ranges, extended.data()); more;
             more = walk.next(input.ranges, extended.data())) {
          if (++steps_ > most_steps) return false;
          if (input.each(extended.data()) && !look_at(of, flow, input, extended)) break;
        }
      }
    }
    return true;
  }

  /// Returns false if this input never arrives.
  bool look_at(const TableClass& of, const TableFlow& flow, const Input& input, const Numbers& numbers) {
    const TableClass& giver = table_.classes[input.from_class];
    const Parameters parameters = parameters_of_giver(input, numbers.data());
    Numbers its{};
    const bool there = has_task(giver, parameters.data(), its.data());
    if (there && gives(giver, input, of, flow, its)) return true;
    Parameters own{};
    for (std::size_t i = 0; i < of.parameters.size(); ++i) own[i] = numbers_[of.parameters[i]];
    std::string task_text = task_name(of, own.data());
    if (placement_ != nullptr)
      task_text += fmt::format(", on rank {},", net::index(placement_->rank_of(of, numbers_.data())));
    const bool of_a_flow = input.from_flow < giver.flows.size() && !giver.flows[input.from_flow].name.empty();
    const std::string from = task_name(giver, parameters.data());
    text_ += fmt::format(
        "\n  {} can never start: its {} \"{}\" {} {}{}, {} ({})", task_text,
        flow.control ? "control" : "flow", flow.name, flow.control ? "waits for" : "comes from",
        of_a_flow ? fmt::format("the flow \"{}\" of ", giver.flows[input.from_flow].name) : "", from,
        there ? "which goes only to other tasks" : "and there is no such task", where(of, input));
    ++errors_;
    return false;
  }

  /// True if the producer sends the value to this task. A derived edge reaches all tasks that take the value; a
  /// stated edge need not.
  bool gives(const TableClass& giver, const Input& input, const TableClass& taker, const TableFlow& flow,
             Numbers& its) {
    const TableFlow& from = giver.flows[std::min<std::size_t>(input.from_flow, giver.flows.size() - 1)];
    bool reported = false;
    for (const ClassEdge& edge : from.edges) {
      if (&table_.classes[edge.to_class] != &taker || &taker.flows[edge.to_flow] != &flow) continue;
      if (edge.definition == nullptr) return true;
      reported = true;
      StoppableWalk walk(stop_);
      if (!edge.before(its.data())) continue;
      for (bool more = walk.begin(edge.loops, its.data()); more; more = walk.next(edge.loops, its.data())) {
        if (++steps_ > most_steps) return true;  // undecided within the limit
        if (!edge.after.empty() && !edge.holds(its.data())) continue;
        Parameters to{};
        edge.find_parameters(its.data(), to.data());
        bool same = true;
        for (std::size_t i = 0; i < taker.parameters.size(); ++i)
          same &= to[i] == numbers_[taker.parameters[i]];
        if (same) return true;
      }
    }
    return !reported;
  }

  static std::string where(const TableClass& of, const Input& input) {
    return input.definition == nullptr ? text_of(*of.definition)
                                       : source_line_of(*input.definition, *of.definition);
  }

  const ClassTable& table_;
  const RankPlacement* const placement_;
  // Null if it is set already: with several ranks the search starts after the run was given up.
  const std::atomic<bool>* const stop_;
  Numbers numbers_{};  // of the current task
  std::uint64_t steps_ = 0;
  std::size_t errors_ = 0;
  std::string text_;
};

/// The dependency cycles of a graph with at most 100,000 tasks.
std::string dependency_cycles(const ClassTable& table) {
  constexpr std::uint64_t most = 100'000;
  std::uint64_t tasks = 0;
  for (const TableClass& of : table.classes) tasks += of.count();
  if (tasks > most) return {};
  std::string text;
  try {
    const unrolled::CheckResult checked = unrolled::check(unrolled_graph(table, most), 1);
    for (const std::string& circle : checked.findings.texts(unrolled::Kind::cycle)) text += "\n  " + circle;
  } catch (const UsageError& error) {
    return text;  // as in Search::text()
  }
  return text;
}

}  // namespace

EdgeSample sample_edges(const ClassTable& table, std::uint64_t tasks_of_a_class) {
  return Search(table, nullptr).sample(tasks_of_a_class);
}

std::vector<WaitingTask> stall_roots(const ClassTable& table, const PendingTasks& partly) {
  constexpr std::size_t most = 256;
  std::unordered_set<std::uint64_t> waiting;
  partly.for_each([&](const TaskInstance& task) { waiting.insert(task.key); });
  // True if the input of this flow is missing because its producer is pending itself.
  const auto waits_for_waiting = [&](const TaskInstance& task, const TableClass& of, std::size_t flow,
                                     const Numbers& numbers) {
    if (static_cast<std::uint32_t>(task.parameters()[of.slot_of(flow)]) != no_value) return false;
    const Input* const input = input_of(of.flows[flow], numbers.data());
    if (input == nullptr || input->kind != Place::Kind::task) return false;
    const Parameters giver = parameters_of_giver(*input, numbers.data());
    const auto name = table.classes[input->from_class].key_of(giver.data());
    return name && waiting.contains(*name);
  };
  std::vector<WaitingTask> first;
  const auto add = [&](const TaskInstance& task) {
    if (first.size() == most) return;
    WaitingTask it{.task_class = task.task_class};
    const TableClass& of = table.classes[task.task_class];
    of.place(task.parameters(), it.numbers.data());
    for (std::size_t flow = 0; flow < of.data_flows; ++flow)
      if (waits_for_waiting(task, of, flow, it.numbers)) return;
    first.push_back(it);
  };
  try {
    partly.for_each(add);
  } catch (const UsageError& error) {
    return first;  // a formula divides by 0, as in Search::text()
  }
  return first;
}

std::string describe_stall(const ClassTable& table, const RankPlacement* placement,
                           const std::vector<WaitingTask>& first) {
  std::string text = Search(table, placement).text(first);
  return text.empty() ? dependency_cycles(table) : text;
}

}  // namespace fairlead::ptg

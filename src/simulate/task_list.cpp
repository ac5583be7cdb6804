// Checks the arrays, and adds the tasks.
#include "simulate/task_list.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace fairlead::simulate {

namespace {

constexpr double most_seconds = 1e9;  // as nanoseconds, sums of them stay within 63 bits

[[noreturn]] void refuse(std::size_t task, const std::string& why) {
  throw UsageError(fmt::format("task {}: {}", task, why));
}

void check_offsets(std::span<const std::uint64_t> first, std::size_t tasks, std::size_t all,
                   const char* what) {
  if (first.size() != tasks + 1 || first.front() != 0 || first.back() != all ||
      !std::ranges::is_sorted(first))
    throw UsageError(
        fmt::format("the offsets of the {} must increase from 0 to their number, {}, with one for each of {} "
                    "tasks and that",
                    what, all, tasks));
}

void check_length(std::size_t length, std::size_t tasks, const char* what) {
  if (length != 0 && length != tasks)
    throw UsageError(fmt::format("there are {} {}, but {} tasks", length, what, tasks));
}

class TaskListConversion {
 public:
  TaskListConversion(const TaskList& list, Precision precision) : list_(list), precision_(precision) {
    check();
    program_.title = list.title;
    program_.processors = list.processors;
    add_data();
    std::vector<ProgramUse> uses;
    for (std::size_t task = 0; task < list.task_kernels.size(); ++task) add(task, uses);
  }
  Program take() { return std::move(program_); }

 private:
  void check() const {
    const std::size_t tasks = list_.task_kernels.size();
    check_offsets(list_.first_accesses, tasks, list_.accessed_data.size(), "accesses");
    if (list_.access_modes.size() != list_.accessed_data.size())
      throw UsageError("each access needs a datum and a mode");
    if (!list_.first_predecessors.empty() || !list_.predecessors.empty())
      check_offsets(list_.first_predecessors, tasks, list_.predecessors.size(), "predecessors");
    check_length(list_.priorities.size(), tasks, "priorities");
    check_length(list_.flops.size(), tasks, "numbers of operations");
    if (list_.seconds.size() != tasks * list_.processors.size())
      throw UsageError(fmt::format("there are {} durations, but {} tasks and {} processors",
                                   list_.seconds.size(), tasks, list_.processors.size()));
    if (!list_.data_names.empty() && list_.data_names.size() != list_.data_bytes.size())
      throw UsageError("each datum needs a name, or none of them has one");
  }

  void add_data() {
    std::vector<char> has_value(list_.data_bytes.size(), 1), accessed(list_.data_bytes.size(), 0);
    for (std::size_t i = 0; i < list_.accessed_data.size(); ++i) {
      const std::uint32_t datum = list_.accessed_data[i];
      if (datum >= accessed.size())
        throw UsageError(
            fmt::format("access {} is to datum {}, but there are {} data", i, datum, accessed.size()));
      if (!std::exchange(accessed[datum], 1)) has_value[datum] = reads(list_.access_modes[i]) ? 1 : 0;
    }
    const std::int16_t collection = program_.collection("data");
    for (std::size_t i = 0; i < list_.data_bytes.size(); ++i) {
      program_.datum(
          {.bytes = list_.data_bytes[i], .collection = collection, .has_value = has_value[i] != 0});
      program_.names.push_back(list_.data_names.empty() ? fmt::format("datum {}", i) : list_.data_names[i]);
    }
  }

  void add(std::size_t number, std::vector<ProgramUse>& uses) {
    uses.clear();
    Bytes smallest = std::numeric_limits<Bytes>::max();
    for (std::size_t i = list_.first_accesses[number]; i < list_.first_accesses[number + 1]; ++i) {
      uses.push_back({static_cast<DatumIndex>(list_.accessed_data[i]), list_.access_modes[i]});
      smallest = std::min(smallest, list_.data_bytes[list_.accessed_data[i]]);
    }
    ProgramTask task;
    if (!list_.priorities.empty()) task.priority = list_.priorities[number];
    if (!list_.flops.empty()) {
      if (!(list_.flops[number] >= 0 && list_.flops[number] < 1e30))
        refuse(number, fmt::format("{} operations", list_.flops[number]));
      task.flops = static_cast<float>(list_.flops[number]);
    }
    task.side = uses.empty() ? 1
                             : static_cast<float>(std::sqrt(static_cast<double>(smallest) /
                                                            static_cast<double>(element_bytes(precision_))));
    if (!list_.first_predecessors.empty()) {
      const auto first = list_.first_predecessors[number], end = list_.first_predecessors[number + 1];
      for (std::size_t i = first; i < end; ++i) {
        if (list_.predecessors[i] >= number)
          refuse(number, fmt::format("its predecessor is task {}, but predecessors come earlier",
                                     list_.predecessors[i]));
        program_.predecessors.push_back(list_.predecessors[i]);
      }
      task.predecessors = static_cast<std::uint32_t>(end - first);
    }
    const auto [timing, runs_on] = timing_of(number);
    task.timing = timing;
    task.kernel = kernel(number, runs_on);
    program_.add(task, uses);
  }

  /// The durations of the task, and the processors on which it runs.
  std::pair<TimingIndex, std::vector<bool>> timing_of(std::size_t number) {
    const std::size_t columns = list_.processors.size();
    std::vector<Duration> row;
    std::vector<bool> runs_on;
    bool any = false;
    for (const double seconds : list_.seconds.subspan(number * columns, columns)) {
      if (seconds < 0 || seconds > most_seconds)
        refuse(number, fmt::format("it takes {} s, but a duration is from 0 to {} s", seconds, most_seconds));
      runs_on.push_back(!std::isnan(seconds));
      any |= runs_on.back();
      row.emplace_back(runs_on.back() ? std::llround(seconds * 1e9) : -1);
    }
    if (!any) return {TimingIndex::none, {}};
    const auto [found, is_new] = timings_.emplace(row, static_cast<TimingIndex>(timings_.size()));
    if (is_new) program_.stated_durations.insert(program_.stated_durations.end(), row.begin(), row.end());
    return {found->second, std::move(runs_on)};
  }

  /// Tasks of one name that run on different processors are different kernels.
  KernelIndex kernel(std::size_t number, const std::vector<bool>& runs_on) {
    const std::uint32_t name = list_.task_kernels[number];
    if (name >= list_.kernels.size())
      refuse(number, fmt::format("its kernel is {}, but there are {}", name, list_.kernels.size()));
    const auto [found, is_new] = kernels_.emplace(std::pair(name, runs_on), KernelIndex{});
    if (is_new) found->second = program_.add_kernel(list_.kernels[name]);
    return found->second;
  }

  const TaskList& list_;
  Precision precision_;
  std::map<std::vector<Duration>, TimingIndex> timings_;
  std::map<std::pair<std::uint32_t, std::vector<bool>>, KernelIndex> kernels_;
  Program program_;
};

}  // namespace

Program program_of(const TaskList& list, Precision precision) {
  return TaskListConversion(list, precision).take();
}

}  // namespace fairlead::simulate

// Makes workloads of the C interface.
#include "c/workload.hpp"

#include <fairlead_simulation.h>

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "config/given.hpp"
#include "simulate/flow_file.hpp"
#include "simulate/study/simulation_settings.hpp"
#include "simulate/task_list.hpp"

namespace fairlead::c {

namespace {

using namespace fairlead::simulate;

void refuse_settings(const Config& config, std::initializer_list<std::string_view> keys, const char* why) {
  for (const std::string_view key : keys)
    if (config::is_on_command_line(config, key))
      throw ConfigError(fmt::format("{} has no effect here: {}", key, why));
}

SimulatedProgram named_program(const std::string& name, const Config& config) {
  refuse_settings(config, {"phase"}, "only a recorded flow has phases");
  return workload_program(name, size_of(config), workload_front_in(config));
}

SimulatedProgram recorded_program(const std::string& path, const Config& config) {
  refuse_settings(config, {"n", "tile", "front"}, "a recorded flow has its own data and order");
  std::optional<std::uint64_t> phase;
  if (config.has("phase")) phase = config.count("phase");
  FlowFile flow = read_flow_file(path, precision_in(config), phase);
  if (flow.program.tasks.empty()) throw InputError(flow.program.title + " has no tasks");
  return {path, std::move(flow.program), nullptr, {.precision = precision_in(config)}};
}

/// A copy of the arrays, from which each simulation makes its program.
class TaskArrays {
 public:
  explicit TaskArrays(const fairlead_task_list& given)
      : data_bytes_(copied(given.data_bytes, given.data_count, "data_bytes")),
        kernels_(copied(given.task_kernels, given.task_count, "task_kernels")),
        first_accesses_(copied(given.first_accesses, given.task_count + 1, "first_accesses")),
        accessed_data_(copied(given.accessed_data, first_accesses_.back(), "accessed_data")),
        priorities_(copied_if(given.priorities, given.task_count)),
        flops_(copied_if(given.flops, given.task_count)),
        seconds_(copied(given.seconds, given.task_count * given.processor_count, "seconds")),
        first_predecessors_(copied_if(given.first_predecessors, given.task_count + 1)) {
    if (!first_predecessors_.empty())
      predecessors_ = copied(given.predecessors, first_predecessors_.back(), "predecessors");
    for (const std::uint8_t mode : copied(given.access_modes, accessed_data_.size(), "access_modes")) {
      if (mode > FAIRLEAD_COMMUTE)
        throw UsageError(
            fmt::format("access {} has the mode {}, which is none of fairlead_access", modes_.size(), mode));
      modes_.push_back(static_cast<AccessMode>(mode));
    }
    list_.title = given.title == nullptr ? "tasks" : given.title;
    list_.kernels = texts(given.kernel_names, given.kernel_count, "kernel_names");
    list_.processors = texts(given.processor_names, given.processor_count, "processor_names");
    if (given.data_names != nullptr)
      list_.data_names = texts(given.data_names, given.data_count, "data_names");
    list_.data_bytes = data_bytes_;
    list_.task_kernels = kernels_;
    list_.first_accesses = first_accesses_;
    list_.accessed_data = accessed_data_;
    list_.access_modes = modes_;
    list_.first_predecessors = first_predecessors_;
    list_.predecessors = predecessors_;
    list_.priorities = priorities_;
    list_.flops = flops_;
    list_.seconds = seconds_;
    static_cast<void>(
        simulate::program_of(list_, simulate::Precision::double_));  // errors belong to this call
  }
  TaskArrays(const TaskArrays&) = delete;
  TaskArrays& operator=(const TaskArrays&) = delete;

  SimulatedProgram program(const Config& config) const {
    refuse_settings(config, {"n", "tile", "front", "phase"}, "the workload is a list of tasks");
    const simulate::Precision precision = precision_in(config);
    return {list_.title, simulate::program_of(list_, precision), nullptr, {.precision = precision}};
  }

 private:
  template <class T>
  static std::vector<T> copied(const T* from, std::size_t count, const char* what) {
    if (count == 0) return {};
    required(from, what);
    return {from, from + count};
  }
  template <class T>
  static std::vector<T> copied_if(const T* from, std::size_t count) {
    return from == nullptr ? std::vector<T>() : std::vector<T>(from, from + count);
  }
  static std::vector<std::string> texts(const char* const* from, std::size_t count, const char* what) {
    std::vector<std::string> all;
    for (const char* const text : copied(from, count, what)) all.emplace_back(required(text, what));
    return all;
  }

  std::vector<std::uint64_t> data_bytes_;
  std::vector<std::uint32_t> kernels_;
  std::vector<std::uint64_t> first_accesses_;
  std::vector<std::uint32_t> accessed_data_;
  std::vector<std::int32_t> priorities_;
  std::vector<double> flops_, seconds_;
  std::vector<std::uint64_t> first_predecessors_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<AccessMode> modes_;
  TaskList list_;  // of the vectors above
};

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_workload_by_name(const char* name, fairlead_workload** workload) {
  return c::status_of([&] {
    c::required(workload, "workload");
    std::string text = c::required(name, "name");
    *workload =
        new fairlead_workload{text, [text](const Config& config) { return c::named_program(text, config); }};
  });
}

fairlead_status fairlead_workload_open(const char* path, fairlead_workload** workload) {
  return c::status_of([&] {
    c::required(workload, "workload");
    std::string text = c::required(path, "path");
    *workload = new fairlead_workload{
        "", [text = std::move(text)](const Config& config) { return c::recorded_program(text, config); }};
  });
}

fairlead_status fairlead_workload_from_tasks(const fairlead_task_list* tasks, fairlead_workload** workload) {
  return c::status_of([&] {
    c::required(workload, "workload");
    const fairlead_task_list list =
        c::read_versioned(*c::required(tasks, "tasks"), fairlead_task_list{}, "tasks");
    if (list.task_count == 0) throw UsageError("the workload has no tasks");
    const auto arrays = std::make_shared<const c::TaskArrays>(list);
    *workload = new fairlead_workload{"", [arrays](const Config& config) { return arrays->program(config); }};
  });
}

void fairlead_workload_free(fairlead_workload* workload) { delete workload; }

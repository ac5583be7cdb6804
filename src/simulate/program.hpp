// A program for the simulator: data with sizes, and tasks in program order with their accesses and amount of work. It
// has no values and no bodies. Workloads create programs, and recorded flows are read as such.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/ids.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace fairlead::simulate {

enum class Precision : std::uint8_t { single, double_ };
constexpr Bytes element_bytes(Precision precision) noexcept { return precision == Precision::single ? 4 : 8; }
constexpr std::string_view name_of(Precision precision) noexcept {
  return precision == Precision::single ? "single" : "double";
}

/// Index into Program::data.
enum class DatumIndex : std::uint32_t {};
/// Index into Program::kernels.
enum class KernelIndex : std::uint16_t {};
/// Index of a row of Program::stated_durations, or none.
enum class TimingIndex : std::uint32_t { none = 0xffff'ffff };

struct ProgramDatum {
  Bytes bytes = 0;
  /// The matrix or grid that contains the datum, and its position.
  std::int16_t collection = 0;
  std::int32_t row = -1, column = -1;
  bool has_value = true;  ///< has a value before the first task; otherwise a task must write it first
};

struct ProgramUse {
  DatumIndex datum{};
  AccessMode mode = AccessMode::read;
};

struct ProgramTask {
  KernelIndex kernel{};
  std::uint16_t uses = 0;  ///< number of its elements in Program::uses, which follow those of earlier tasks
  std::int32_t priority = 0;
  std::int32_t iteration = 0;  ///< of the algorithm's outer loop; for charts
  float flops = 0;
  /// The side of the tile, or the smallest side, which determines the rate of the kernel.
  float side = 0;
  TimingIndex timing =
      TimingIndex::none;  ///< its stated durations; none: by the machine's rate of the kernel
  std::uint32_t predecessors =
      0;  ///< number of its elements in Program::predecessors, in addition to its data
};

/// Member functions throw ConfigError if a limit is exceeded.
class Program {
 public:
  std::string title;  ///< "cholesky, n = 109440, tile 1920, single"
  std::vector<std::string> kernels, collections;
  std::vector<std::string> cpu_only;  ///< kernels without code for devices, whatever the machine's rates
  /// Kernels that take no time and run on cores only, whatever the machine's rates.
  std::vector<std::string> timeless;
  std::vector<ProgramDatum> data;
  std::vector<std::string> names;  ///< of the data, if not derived from collection and position
  std::vector<ProgramTask> tasks;
  std::vector<ProgramUse> uses;
  std::vector<std::uint32_t> predecessors;  ///< indices of earlier tasks, which follow those of earlier tasks
  /// Durations that the program states: rows of one for each of `processors`, which are names of processors of the machine
  /// or of kinds of worker. Negative: the task cannot run there. All tasks of a kernel have them for the same processors.
  std::vector<std::string> processors;
  std::vector<Duration> stated_durations;
  std::int32_t tiles = 0;  ///< number per side of the largest collection

  KernelIndex kernel(std::string_view name) {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i] == name) return static_cast<KernelIndex>(i);
    return add_kernel(name);
  }
  /// Another kernel, also if there is one of that name.
  KernelIndex add_kernel(std::string_view name) {
    if (kernels.size() == most_kernels) too_many("kernels", most_kernels);
    kernels.emplace_back(name);
    return static_cast<KernelIndex>(kernels.size() - 1);
  }
  std::int16_t collection(std::string_view name) {
    if (collections.size() == most_collections) too_many("matrices", most_collections);
    collections.emplace_back(name);
    return static_cast<std::int16_t>(collections.size() - 1);
  }
  DatumIndex datum(const ProgramDatum& datum) {
    if (datum.bytes > most_bytes - bytes_) too_many("bytes", most_bytes);
    bytes_ += datum.bytes;
    data.push_back(datum);
    return static_cast<DatumIndex>(data.size() - 1);
  }
  /// Sets `task.uses`.
  void task(ProgramTask task, std::initializer_list<ProgramUse> used) {
    add(task, {used.begin(), used.size()});
  }
  void add(ProgramTask task, std::span<const ProgramUse> used) {
    if (tasks.size() == most_tasks) too_many("tasks", most_tasks);
    if (used.size() > most_uses) too_many("data of one task", most_uses);
    task.uses = static_cast<std::uint16_t>(used.size());
    tasks.push_back(task);
    uses.insert(uses.end(), used.begin(), used.end());
  }
  bool is_cpu_only(std::string_view kernel) const {
    return std::ranges::find(cpu_only, kernel) != cpu_only.end();
  }
  bool takes_no_time(std::string_view kernel) const {
    return std::ranges::find(timeless, kernel) != timeless.end();
  }
  /// Calls f(task, its uses) in program order.
  template <class F>
  void for_each_task(F&& f) const {
    std::size_t first = 0;
    for (const ProgramTask& task : tasks) {
      f(task, std::span(uses).subspan(first, task.uses));
      first += task.uses;
    }
  }
  double flops() const noexcept {
    double sum = 0;
    for (const ProgramTask& task : tasks) sum += static_cast<double>(task.flops);
    return sum;
  }
  Bytes bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t most_kernels = 1 << 16, most_collections = 1 << 15, most_uses = (1 << 16) - 1;
  static constexpr std::size_t most_tasks = 10'000'000;  // a gigabyte of memory
  static constexpr Bytes most_bytes = Bytes{1} << 60;
  /// Throws ConfigError.
  [[noreturn]] static void too_many(const char* what, std::uint64_t most);

  Bytes bytes_ = 0;
};

}  // namespace fairlead::simulate

// Runs, threads, and figures kept in files: one each, named by what they are the figures of.
#include "experiment/run.hpp"
#include "base/file_descriptor.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/left_over.hpp"
#include "base/suggest.hpp"
#include "config/value.hpp"
#include "machine/machine_files.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"
#include "simulate/comparison.hpp"
#include "simulate/outcome.hpp"

namespace fairlead::experiment {

namespace {

using namespace fairlead::simulate;

Bytes size_of(const std::string& text) {
  const std::optional<Bytes> size = config::parse_size(text);
  if (!size) throw ConfigError(fmt::format("\"{}\" is not a size such as 2000MB", text));
  return *size;
}

backend::MemoryModel memory_model_of(const RunSpec& spec) {
  if (spec.memory_model.empty()) return backend::MemoryModel::explicit_copies;
  if (const auto model = backend::find_memory_model(spec.memory_model)) return *model;
  std::vector<std::string_view> names;
  for (const backend::MemoryModelName& one : backend::memory_models) names.push_back(one.name);
  throw ConfigError(fmt::format("there is no memory model \"{}\"{}; there are {}", spec.memory_model,
                                did_you_mean(spec.memory_model, names), fmt::join(names, ", ")));
}

MachineUse use_of(const RunSpec& spec, const machine::MachineDescription& machine) {
  MachineUse use;
  use.devices = spec.gpus;
  const bool devices = spec.gpus.value_or(machine.devices.size()) > 0;
  use.cores = spec.cores ? *spec.cores : devices ? 0 : machine.cores;
  use.streams = spec.streams;
  use.memory_model = memory_model_of(spec);
  use.peers = spec.peers != "no";
  if (spec.device_gigabytes_per_second > 0)
    use.device_bytes_per_second = spec.device_gigabytes_per_second * 1e9;
  if (!spec.host_memory.empty()) use.host_memory = size_of(spec.host_memory);
  if (!spec.memory.empty()) (devices ? use.device_memory : use.host_memory) = size_of(spec.memory);
  if (spec.data == "disk" || (spec.data.empty() && !devices && !spec.memory.empty())) use.data = DataAt::disk;
  return use;
}

Advice advice_of(const RunSpec& spec) {
  if (spec.advice.empty()) return Advice::none;
  if (spec.advice == "cyclic") return Advice::cyclic;
  if (spec.advice == "cyclic-rows") return Advice::cyclic_rows;
  throw ConfigError(
      fmt::format("the advice \"{}\" of an experiment must be cyclic or cyclic-rows", spec.advice));
}

}  // namespace

double Figures::of(Metric metric) const noexcept {
  switch (metric) {
    case Metric::seconds:
      return seconds;
    case Metric::gflops:
      return gflops;
    case Metric::percent_of_peak:
      return percent_of_peak;
    case Metric::gigabytes_to_devices:
      return gigabytes_to_devices;
    case Metric::gigabytes_from_devices:
      return gigabytes_from_devices;
    case Metric::gigabytes_between_devices:
      return gigabytes_between_devices;
    case Metric::gigabytes_moved:
      return gigabytes_to_devices + gigabytes_from_devices + gigabytes_between_devices;
    case Metric::gigabytes_from_disk:
      return gigabytes_from_disk;
  }
  return 0;
}

namespace {

/// Simulates, and hands f all that is known of the run.
template <class F>
void simulate_and_tell(const RunSpec& spec, bool keep_order, F&& f) {
  const WorkloadSize size{.n = spec.n,
                          .tile = spec.tile,
                          .precision = spec.precision == "single" ? Precision::single : Precision::double_};
  const Program program = make_workload(spec.workload, size);
  const machine::MachineDescription description = machine::find_machine(spec.machine);
  const SimulatedMachine machine(description, use_of(spec, description), program, size.precision);
  const Limits limits = limits_of(program, machine, &find_workload(spec.workload), size);
  const Outcome outcome =
      outcome_of(program, machine, spec.scheduler,
                 {.advice = advice_of(spec),
                  .seed = spec.seed,
                  .noise_percent = spec.noise_percent,
                  .slow = spec.slow.empty() ? std::vector<Slowdown>() : slowdowns_in(spec.slow),
                  .pipeline_depth = spec.pipeline_depth,
                  .keep_order = keep_order});
  f(program, machine, limits, size, outcome);
}

Figures figures_of(const Limits& limits, const Outcome& outcome) {
  const auto giga = [](auto bytes) { return static_cast<double>(bytes) * 1e-9; };
  Figures figures;
  figures.bus_limit_gigabytes = giga(limits.bus_limit_bytes);
  if (limits.io) {
    figures.lower_bound_gigabytes = giga(limits.io->lower_bound());
    figures.floor_gigabytes = giga(limits.io->floor_read());
  }
  figures.best_gflops = limits.gflops_at_best();
  figures.critical_path_gflops = figures.best_gflops * limits.time.compute / limits.time.critical_path;
  figures.problem = outcome.problem;
  figures.finished = outcome.problem.empty();
  if (!figures.finished) return figures;
  figures.seconds = outcome.result.seconds;
  figures.gflops = simulate::gflops(outcome, limits);
  figures.percent_of_peak = simulate::percent_of_peak(outcome, limits);
  figures.gigabytes_to_devices = giga(outcome.result.bytes_to_devices);
  figures.gigabytes_from_devices = giga(outcome.result.bytes_from_devices);
  figures.gigabytes_between_devices = giga(outcome.result.bytes_between_devices);
  figures.gigabytes_from_disk = giga(outcome.result.bytes_from_disk);
  return figures;
}

}  // namespace

Figures run(const RunSpec& spec) {
  Figures figures;
  simulate_and_tell(spec, false,
                    [&](const Program&, const SimulatedMachine&, const Limits& limits, const WorkloadSize&,
                        const Outcome& outcome) { figures = figures_of(limits, outcome); });
  return figures;
}

report::Comparison side_by_side(const Experiment& experiment, double x) {
  std::optional<report::Comparison> all;
  for (const Line& line : experiment.lines) {
    const RunSpec spec = run_of(experiment, line, x);
    simulate_and_tell(spec, true,
                      [&](const Program& program, const SimulatedMachine& machine, const Limits& limits,
                          const WorkloadSize& size, const Outcome& outcome) {
                        if (!all) all = comparison_of(program, machine, limits);
                        add_run(*all, program, machine, limits, size, spec.workload, outcome);
                      });
  }
  return std::move(*all);
}

std::vector<std::vector<RunSpec>> runs_at(const Experiment& experiment, const Line& line, double x,
                                          bool quick) {
  std::vector<std::vector<RunSpec>> runs(quick ? 1 : experiment.seeds);
  for (const double off : quick ? std::vector<double>{0} : experiment.around) {
    RunSpec run = run_of(experiment, line, x + off);
    for (std::vector<RunSpec>& of_seed : runs) {
      of_seed.push_back(run);
      ++run.seed;
    }
  }
  return runs;
}

std::vector<RunSpec> runs_of(const Experiment& experiment, bool quick) {
  std::vector<RunSpec> runs;
  for (const double x : quick ? experiment.quick_values : experiment.values)
    for (const Line& line : experiment.lines)
      for (const std::vector<RunSpec>& of_seed : runs_at(experiment, line, x, quick))
        runs.insert(runs.end(), of_seed.begin(), of_seed.end());
  return runs;
}

namespace {

constexpr KeptFile::Format kept_format{
    .name = "fairlead-run",
    .version = 1,
    .explanation = "what a simulation came to; kept so that experiments go on where they were"};

/// All of a file, as far as it can be read: whoever uses it says what is wrong with it.
std::string content_of(const std::string& path) { return whole_file(path).value_or(""); }

}  // namespace

KeptFile Runner::kept(const RunSpec& spec) const {
  // A machine and a policy of one's own are files that change under the same name.
  const auto known = std::ranges::find(machine::machine_files(), spec.machine, &EmbeddedFile::name);
  std::string files =
      known != machine::machine_files().end() ? std::string(known->text) : content_of(spec.machine);
  if (const auto policy = schedule::name_in(spec.scheduler); schedule::is_plugin(policy))
    files += '\n' + content_of(std::string(policy));
  return {fmt::format("{}/{:016x}{:016x}.txt", directory_, text_hash(spec.text()),
                      text_hash(program_ + '\n' + files)),
          kept_format};
}

bool Runner::load(const RunSpec& spec, Figures& figures) const {
  if (directory_.empty()) return false;
  const std::vector<std::string> lines = kept(spec).read().lines;
  auto line = lines.begin();
  if (line == lines.end() || *line++ != spec.text()) return false;
  figures.finished = true;
  for (const auto& [name, figure] : all_figures) {
    if (line == lines.end() || !line->starts_with(name) || line->size() <= name.size() + 1) return false;
    const char* end = line->data() + line->size();
    if (std::from_chars(line->data() + name.size() + 1, end, figures.*figure).ec != std::errc{}) return false;
    ++line;
  }
  return true;
}

void Runner::keep(const RunSpec& spec, const Figures& figures) const {
  if (directory_.empty() || !figures.finished) return;
  std::error_code ignored;
  std::filesystem::create_directories(directory_, ignored);
  std::vector<std::string> lines{spec.text()};
  for (const auto& [name, figure] : all_figures) lines.push_back(fmt::format("{} {}", name, figures.*figure));
  try {
    kept(spec).replace(lines);
  } catch (const SystemError&) {  // then it is run again another time
  }
}

Results Runner::run_all(const std::vector<RunSpec>& specs, unsigned threads,
                        const std::function<void(const Progress&)>& told, const std::function<bool()>& stop) {
  std::vector<const RunSpec*> wanted;
  std::set<std::string> seen;
  for (const RunSpec& spec : specs)
    if (seen.insert(spec.text()).second) wanted.push_back(&spec);
  if (!directory_.empty())
    remove_left_over(directory_, [](std::string_view name) {  // as kept() names them
      name = name_once_written(name);
      return name.size() == 36 && name.find_first_not_of("0123456789abcdef") == 32 && name.ends_with(".txt");
    });
  Results results;
  std::mutex mutex;  // guards results, progress and failure
  Progress progress{.done = 0, .all = wanted.size(), .from_cache = 0};
  std::exception_ptr failure;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      // From the end: the largest come last in experiments, and should not be begun last.
      const std::size_t i = next.fetch_add(1);
      if (i >= wanted.size() || stop()) return;
      const RunSpec& spec = *wanted[wanted.size() - 1 - i];
      try {
        Figures figures;
        const bool kept = load(spec, figures);
        if (!kept) {
          figures = experiment::run(spec);
          keep(spec, figures);
        }
        const std::lock_guard guard(mutex);
        results.emplace(spec.text(), std::move(figures));
        ++progress.done;
        progress.from_cache += kept;
        told(progress);
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (failure == nullptr) failure = std::current_exception();
        next.store(wanted.size());
      }
    }
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < std::min<std::size_t>(threads, wanted.size())) others.emplace_back(work);
  } catch (const std::system_error&) {  // the system gives no more: those there are do it all
  }
  work();
  for (std::thread& thread : others) thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return results;
}

}  // namespace fairlead::experiment

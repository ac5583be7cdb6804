// Runs in threads. The cache has one file per run, named by the hash of its specification.
#include "experiment/batch_runner.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "backend/sim/timeline.hpp"
#include "base/file_descriptor.hpp"
#include "base/guarded_thread.hpp"
#include "base/temporary_file.hpp"
#include "machine/machine_files.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead::experiment {

namespace {

constexpr SharedFile::Format kept_format{
    .name = "fairlead-run",
    .version = 1,
    .explanation = "what a simulation came to; kept so that experiments go on where they were"};

/// The content of a file, as far as it can be read. The caller reports errors.
std::string content_of(const std::string& path) { return read_file(path).value_or(""); }

}  // namespace

SharedFile BatchRunner::kept(const RunSpec& spec) const {
  // Machine files and policy plug-ins of the user can change under the same name.
  const auto known = std::ranges::find(machine::built_in_machine_files(), spec.machine, &EmbeddedFile::name);
  std::string files =
      known != machine::built_in_machine_files().end() ? std::string(known->text) : content_of(spec.machine);
  if (const auto policy = schedule::name_in(spec.scheduler); schedule::is_plugin(policy))
    files += '\n' + content_of(std::string(policy));
  return {fmt::format("{}/{:016x}{:016x}.txt", directory_, text_hash(spec.text()),
                      text_hash(program_ + '\n' + files)),
          kept_format};
}

bool BatchRunner::load(const RunSpec& spec, Figures& figures) const {
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

void BatchRunner::keep(const RunSpec& spec, const Figures& figures) const {
  if (directory_.empty() || !figures.finished) return;
  std::vector<std::string> lines{spec.text()};
  for (const auto& [name, figure] : all_figures) lines.push_back(fmt::format("{} {}", name, figures.*figure));
  try {
    const SharedFile file = kept(spec);
    file.make_directory();
    file.replace(lines);
  } catch (const SystemError&) {  // the run is repeated next time
  }
}

Results BatchRunner::run_all(const std::vector<RunSpec>& specs, unsigned threads,
                             const std::function<void(const BatchProgress&)>& on_progress,
                             const std::atomic<bool>* stop_requested) {
  std::vector<const RunSpec*> wanted;
  std::set<std::string> seen;
  for (const RunSpec& spec : specs)
    if (seen.insert(spec.text()).second) wanted.push_back(&spec);
  if (!directory_.empty())
    remove_stale(directory_, [](std::string_view name) {  // the names that kept() gives
      name = final_name(name);
      return name.size() == 36 && name.find_first_not_of("0123456789abcdef") == 32 && name.ends_with(".txt");
    });
  Results results;
  std::mutex mutex;  // guards results, progress and failure
  BatchProgress progress{.done = 0, .all = wanted.size(), .from_cache = 0};
  std::exception_ptr failure;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      // In reverse order: the last runs of an experiment are the largest, and must not start last.
      const std::size_t i = next.fetch_add(1);
      if (i >= wanted.size()) return;
      const RunSpec& spec = *wanted[wanted.size() - 1 - i];
      try {
        if (stop_requested != nullptr && stop_requested->load()) throw backend::SimulationStopped();
        Figures figures;
        const bool kept = load(spec, figures);
        if (!kept) {
          figures = experiment::run(spec, stop_requested);
          keep(spec, figures);
        }
        const std::lock_guard guard(mutex);
        results.emplace(spec.text(), std::move(figures));
        ++progress.done;
        progress.from_cache += kept;
        on_progress(progress);
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (failure == nullptr) failure = std::current_exception();
        next.store(wanted.size());
      }
    }
  };
  {
    JoinedThreads others;
    try {
      while (others.size() + 1 < std::min<std::size_t>(threads, wanted.size()))
        others.start([&] { work(); }, ignore_failure);
    } catch (const std::exception&) {  // the system has no more threads: those that exist run everything
    }
    work();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  return results;
}

}  // namespace fairlead::experiment

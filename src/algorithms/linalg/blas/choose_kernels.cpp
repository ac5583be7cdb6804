// Times the candidates within a budget, or reads their timings from the cache, and selects the best.
#include "algorithms/linalg/blas/choose_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fairlead/error.hpp>
#include <optional>

#include "algorithms/linalg/blas/core_types.hpp"
#include "algorithms/linalg/blas/timing_cache.hpp"
#include "base/ignoring_case.hpp"
#include "base/shared_library.hpp"

namespace fairlead::linalg {
namespace {

constexpr double min_gain = 1.03;  // smaller gains are within the noise of a busy machine
constexpr Duration candidate_time_limit =
    std::chrono::seconds(3);  // ten times what a timing takes, without the time spent waiting for a core

/// Times candidates until the budget is exhausted.
class CandidateTimer {
 public:
  explicit CandidateTimer(const KernelSettings& settings) : settings_(settings), left_(settings.budget) {}

  void time_library(const std::string& library, const CpuInfo& processor) {
    const TimingOutcome by_itself = time({library, {}});
    if (!by_itself.timing || by_itself.timing->variable.empty()) return;  // the core type cannot be set
    const std::string& variable = by_itself.timing->variable;
    auto types = core_types(processor, variable);
    const auto& inherited = settings_.inherited_core_type;
    if (variable == "OPENBLAS_CORETYPE" && !inherited.empty() &&
        std::ranges::none_of(types, [&](auto& type) { return equal_ignoring_case(type, inherited); }))
      types.push_back(inherited);
    for (const auto& core_type : types) {
      if (equal_ignoring_case(core_type, by_itself.timing->core_type)) continue;
      const auto number = number_of(core_type, by_itself.core_type_numbers);
      if (number) time({library, core_type, variable, *number});
    }
  }

  const BlasTimings& taken() const noexcept { return taken_; }

 private:
  /// The value of the variable for a core type. Empty: its name. None: the library does not have it.
  static std::optional<std::string> number_of(const std::string& core_type, const std::string& numbers) {
    if (numbers.empty()) return "";
    const std::string all = "," + numbers + ",", name = "," + core_type + ":";
    const auto at = all.find(name);
    if (at == std::string::npos) return {};
    return all.substr(at + name.size(), all.find(',', at + 1) - at - name.size());
  }

  TimingOutcome time(const BlasCandidate& candidate) {
    auto outcome = left_ > std::chrono::milliseconds(300)
                       ? time_in_child(settings_.helper, candidate, settings_.tile,
                                       std::min(left_, candidate_time_limit))
                       : TimingOutcome{{}, "not timed: no time left"};
    left_ -= outcome.spent;
    if (outcome.timing && !candidate.core_type.empty() &&
        !equal_ignoring_case(outcome.timing->core_type, candidate.core_type))
      outcome = {{}, "the library does not know this core type", {}, outcome.spent};
    if (outcome.timing)
      taken_.timings.push_back(*outcome.timing);
    else
      taken_.failures.emplace_back(candidate, outcome.failure);
    return outcome;
  }

  const KernelSettings& settings_;
  Duration left_;
  BlasTimings taken_;
};

KernelChoice select_best(BlasTimings found, const KernelSettings& settings) {
  KernelChoice choice;
  choice.timings = std::move(found.timings);
  choice.failures = std::move(found.failures);
  if (choice.timings.empty()) {
    std::string text = "no BLAS can be used:";
    for (const auto& [candidate, reason] : choice.failures)
      text += fmt::format("\n  {}: {}", candidate.library, reason);
    throw SystemError(text + "\n  Install one (Debian: libopenblas0-pthread), or name its file.");
  }
  const BlasTiming* by_default = &choice.timings.front();
  for (const auto& timing : choice.timings)
    if (!settings.inherited_core_type.empty() && timing.candidate.library == by_default->candidate.library &&
        equal_ignoring_case(timing.core_type, settings.inherited_core_type)) {
      by_default = &timing;
      break;
    }
  choice.default_timing = *by_default;
  const BlasTiming* best = nullptr;
  const auto rate_of = [&](const BlasTiming& timing) {
    if (!settings.own_products) return timing.best_gflops();
    return *settings.own_products && timing.own_gflops() > 0 ? timing.own_gflops() : timing.gflops();
  };
  const auto may_be_taken = [&](const BlasTiming& timing) {
    return settings.core_type.empty() || equal_ignoring_case(timing.core_type, settings.core_type);
  };
  for (const auto& timing : choice.timings)
    if (may_be_taken(timing) && (best == nullptr || rate_of(timing) > rate_of(*best))) best = &timing;
  // Among equals prefer the library's default, and above all the inherited setting: no change without a gain.
  for (const BlasTiming* preferred : {std::as_const(choice.timings).data(), by_default})
    if (may_be_taken(*preferred) && rate_of(*best) < rate_of(*preferred) * min_gain) best = preferred;
  if (best == nullptr) {
    std::string known;
    for (const auto& timing : choice.timings)
      if (!timing.core_type.empty()) known += (known.empty() ? "" : ", ") + timing.core_type;
    throw ConfigError(fmt::format("no BLAS here has the core type \"{}\"; there are: {}", settings.core_type,
                                  known.empty() ? "none" : known));
  }
  choice.best = *best;
  choice.own_products = best->own_gflops() > 0 &&
                        settings.own_products.value_or(best->own_gflops() >= best->gflops() * min_gain);
  return choice;
}

}  // namespace

KernelChoice choose_kernels(const KernelSettings& settings) {
  const CpuInfo processor = this_processor();
  auto libraries = settings.libraries;
  if (libraries.empty())
    for (const FoundLibrary& found : find_blas_libraries(settings.loader)) libraries.push_back(found.name);

  std::optional<TimingCache> cache;
  std::string cache_problem;
  if (!settings.cache_directory.empty()) try {
      cache.emplace(settings.cache_directory,
                    TimingKey{processor, settings.tile, libraries, settings.inherited_core_type});
    } catch (const SystemError& error) {
      cache_problem = error.what();  // only slower: the timings are taken again
    }
  if (cache && !settings.ignore_cache)
    if (auto kept = cache->read()) {
      auto choice = select_best(std::move(*kept), settings);
      choice.from_cache = true;
      return choice;
    }

  if (settings.before_timing) settings.before_timing();
  CandidateTimer timer(settings);
  for (const auto& library : libraries) timer.time_library(library, processor);

  if (cache && !timer.taken().timings.empty()) try {
      cache->write(timer.taken());
    } catch (const SystemError& error) {
      cache_problem = error.what();
    }
  auto choice = select_best(timer.taken(), settings);
  choice.cache_problem = cache_problem;
  return choice;
}

void set_blas_environment(const BlasCandidate& chosen) {
  if (SharedLibrary::is_loaded(chosen.library))
    throw UsageError(fmt::format("the BLAS \"{}\" is loaded already: its core type cannot be set any more",
                                 chosen.library));
  ::unsetenv("OPENBLAS_CORETYPE");
  ::unsetenv("BLIS_ARCH_TYPE");
  if (!chosen.core_type.empty()) ::setenv(chosen.variable.c_str(), chosen.variable_value().c_str(), 1);
  // Without this a library starts threads and allocates their buffers when it is loaded.
  for (const char* variable : one_thread_variables) ::setenv(variable, "1", 1);
}

std::string describe_loss(const KernelChoice& choice, const Blas& loaded) {
  double now = 0;
  for (const auto& timing : choice.timings)
    if (timing.path == loaded.path() && timing.core_type == loaded.core_type()) now = timing.gflops();
  if (now <= 0 || choice.best.gflops() < now * min_gain) return {};
  std::string advice;
  if (choice.best.path != loaded.path()) advice = fmt::format("load {}", choice.best.path);
  if (!choice.best.candidate.core_type.empty())
    advice += fmt::format("{}set {}={} before the program starts", advice.empty() ? "" : " and ",
                          choice.best.candidate.variable, choice.best.candidate.variable_value());
  if (advice.empty()) advice = "unset OPENBLAS_CORETYPE before the program starts";
  return fmt::format("The BLAS {} ({}) runs at {:.0f} of {:.0f} GF/s per core: {}.", loaded.path(),
                     loaded.core_type().empty() ? "no core type" : loaded.core_type(), now,
                     choice.best.gflops(), advice);
}

}  // namespace fairlead::linalg

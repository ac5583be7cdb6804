// Times the candidates within a budget, or finds their timings in the cache, and picks the best.
#include "algorithms/linalg/blas/choose_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fairlead/error.hpp>
#include <optional>

#include "algorithms/linalg/blas/core_types.hpp"
#include "algorithms/linalg/blas/timing_cache.hpp"
#include "base/shared_library.hpp"

namespace fairlead::linalg {
namespace {

constexpr double worth_it = 1.03;  // a smaller gain is within the noise of a busy machine
constexpr Duration one_candidate =
    std::chrono::seconds(3);  // ten times what it needs; without waiting for a core

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Takes timings until the budget is used up.
class Timer {
 public:
  explicit Timer(const KernelSettings& settings) : settings_(settings), left_(settings.budget) {}

  void time_library(const std::string& library, const Processor& processor) {
    const TimingOutcome by_itself = time({library, {}});
    if (!by_itself.timing || by_itself.timing->variable.empty()) return;  // it cannot be told
    const std::string& variable = by_itself.timing->variable;
    auto types = core_types(processor, variable);
    const auto& inherited = settings_.inherited_core_type;
    if (variable == "OPENBLAS_CORETYPE" && !inherited.empty() &&
        std::ranges::none_of(types, [&](auto& type) { return same_name(type, inherited); }))
      types.push_back(inherited);
    for (const auto& core_type : types) {
      if (same_name(core_type, by_itself.timing->core_type)) continue;
      const auto number = number_of(core_type, by_itself.core_type_numbers);
      if (number) time({library, core_type, variable, *number});
    }
  }

  const BlasTimings& taken() const noexcept { return taken_; }

 private:
  /// Empty: its name will do. None: the library does not have it.
  static std::optional<std::string> number_of(const std::string& core_type, const std::string& numbers) {
    if (numbers.empty()) return "";
    const std::string all = "," + numbers + ",", name = "," + core_type + ":";
    const auto at = all.find(name);
    if (at == std::string::npos) return {};
    return all.substr(at + name.size(), all.find(',', at + 1) - at - name.size());
  }

  TimingOutcome time(const BlasCandidate& candidate) {
    auto outcome =
        left_ > std::chrono::milliseconds(300)
            ? time_in_child(settings_.helper, candidate, settings_.tile, std::min(left_, one_candidate))
            : TimingOutcome{{}, "not timed: no time left"};
    left_ -= outcome.spent;
    if (outcome.timing && !candidate.core_type.empty() &&
        !same_name(outcome.timing->core_type, candidate.core_type))
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

KernelChoice pick(BlasTimings found, const KernelSettings& settings) {
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
        same_name(timing.core_type, settings.inherited_core_type)) {
      by_default = &timing;
      break;
    }
  choice.by_default = *by_default;
  const BlasTiming* best = nullptr;
  const auto rate_of = [&](const BlasTiming& timing) {
    if (!settings.own_products) return timing.best_gflops();
    return *settings.own_products && timing.own_gflops() > 0 ? timing.own_gflops() : timing.gflops();
  };
  const auto may_be_taken = [&](const BlasTiming& timing) {
    return settings.core_type.empty() || same_name(timing.core_type, settings.core_type);
  };
  for (const auto& timing : choice.timings)
    if (may_be_taken(timing) && (best == nullptr || rate_of(timing) > rate_of(*best))) best = &timing;
  // Of equals, what the library decides by itself, and above all what is there already: no change without a
  // gain.
  for (const BlasTiming* quiet : {std::as_const(choice.timings).data(), by_default})
    if (may_be_taken(*quiet) && rate_of(*best) < rate_of(*quiet) * worth_it) best = quiet;
  if (best == nullptr) {
    std::string known;
    for (const auto& timing : choice.timings)
      if (!timing.core_type.empty()) known += (known.empty() ? "" : ", ") + timing.core_type;
    throw ConfigError(fmt::format("no BLAS here has the core type \"{}\"; there are: {}", settings.core_type,
                                  known.empty() ? "none" : known));
  }
  choice.best = *best;
  choice.own_products = best->own_gflops() > 0 &&
                        settings.own_products.value_or(best->own_gflops() >= best->gflops() * worth_it);
  return choice;
}

}  // namespace

KernelChoice choose_kernels(const KernelSettings& settings) {
  const Processor processor = this_processor();
  auto libraries = settings.libraries;
  if (libraries.empty())
    for (const FoundLibrary& found : find_blas_libraries(settings.loader)) libraries.push_back(found.name);

  std::optional<TimingCache> cache;
  std::string cache_problem;
  if (!settings.cache_directory.empty()) try {
      cache.emplace(settings.cache_directory,
                    TimingKey{processor, settings.tile, libraries, settings.inherited_core_type});
    } catch (const SystemError& error) {
      cache_problem = error.what();  // slower, not worse
    }
  if (cache && !settings.time_again)
    if (auto kept = cache->read()) {
      auto choice = pick(std::move(*kept), settings);
      choice.from_cache = true;
      return choice;
    }

  if (settings.before_timing) settings.before_timing();
  Timer timer(settings);
  for (const auto& library : libraries) timer.time_library(library, processor);

  if (cache && !timer.taken().timings.empty()) try {
      cache->write(timer.taken());
    } catch (const SystemError& error) {
      cache_problem = error.what();
    }
  auto choice = pick(timer.taken(), settings);
  choice.cache_problem = cache_problem;
  return choice;
}

void use_kernels(const BlasCandidate& chosen) {
  if (SharedLibrary::is_loaded(chosen.library))
    throw UsageError(fmt::format("the BLAS \"{}\" is loaded already: its core type cannot be set any more",
                                 chosen.library));
  ::unsetenv("OPENBLAS_CORETYPE");
  ::unsetenv("BLIS_ARCH_TYPE");
  if (!chosen.core_type.empty()) ::setenv(chosen.variable.c_str(), chosen.told().c_str(), 1);
  // Else a library starts threads and their buffers when it is loaded.
  for (const char* variable : one_thread_variables) ::setenv(variable, "1", 1);
}

std::string loss(const KernelChoice& choice, const Blas& loaded) {
  double now = 0;
  for (const auto& timing : choice.timings)
    if (timing.path == loaded.path() && timing.core_type == loaded.core_type()) now = timing.gflops();
  if (now <= 0 || choice.best.gflops() < now * worth_it) return {};
  std::string advice;
  if (choice.best.path != loaded.path()) advice = fmt::format("load {}", choice.best.path);
  if (!choice.best.candidate.core_type.empty())
    advice += fmt::format("{}set {}={} before the program starts", advice.empty() ? "" : " and ",
                          choice.best.candidate.variable, choice.best.candidate.told());
  if (advice.empty()) advice = "unset OPENBLAS_CORETYPE before the program starts";
  return fmt::format("The BLAS {} ({}) runs at {:.0f} of {:.0f} GF/s per core: {}.", loaded.path(),
                     loaded.core_type().empty() ? "no core type" : loaded.core_type(), now,
                     choice.best.gflops(), advice);
}

}  // namespace fairlead::linalg

// Which BLAS and which of its core types computes fastest here. OpenBLAS of Debian 12 takes a processor that
// came after it for an older one and runs at 60 % of what it could, and nobody is told; so every candidate is
// timed once per machine, each in a process of its own, and the result kept, with what was too slow to be timed.
//
// The command line program calls choose_kernels and then use_kernels at the start of main. Inside of somebody
// else's program the library does not touch the environment: it says with `loss` what is being lost.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/blas_timing.hpp"
#include "algorithms/linalg/blas/find_libraries.hpp"
#include "base/time.hpp"

namespace fairlead::linalg {

struct KernelSettings {
  /// Names for the loader or paths; all are tried, the first that loads is what a program gets by itself.
  /// Empty: those that find_blas_libraries() finds.
  std::vector<std::string> libraries;
  LoaderPlaces loader;    ///< where to look for them
  std::string core_type;  ///< not empty: choose among the candidates of this core type only
  /// What OPENBLAS_CORETYPE is in this process's environment (which this does not read); empty: not set. Some
  /// sites set it for all of their machines, and so slow down the newer ones.
  std::string inherited_core_type;
  std::vector<std::string> helper;        ///< see time_in_child
  std::filesystem::path cache_directory;  ///< the user's; empty: time every time
  int tile = 512;                         ///< elements a side
  std::optional<bool> own_products{};     ///< nothing: what is faster
  /// For all candidates, in time as time_in_child() counts it; those not reached are listed as failures.
  Duration budget = std::chrono::seconds(20);
  bool time_again = false;  ///< do not believe the cache
  /// Called once if nothing was kept: what follows takes some seconds.
  std::function<void()> before_timing{};
};

struct KernelChoice {
  BlasTiming best;
  BlasTiming by_default;  ///< what a program gets that takes the library and the environment as they are
  std::vector<BlasTiming> timings;
  std::vector<std::pair<BlasCandidate, std::string>> failures;  ///< what could not be timed, and why
  bool own_products = false;                                    ///< of Fairlead, with `best`
  bool from_cache = false;
  std::string cache_problem;  ///< why the result could not be kept; empty if it was

  /// Best over default: 1 = nothing to gain.
  double gain() const noexcept { return gflops() / by_default.gflops(); }
  double gflops() const noexcept { return own_products ? best.own_gflops() : best.gflops(); }
};

/// Reads the timings from the cache, or takes them. What differs by less than 3 % from the default is not
/// preferred to it. Throws SystemError if no library can be used, saying why for each, or if the helper
/// cannot be started; and ConfigError if none has the core type asked for.
KernelChoice choose_kernels(const KernelSettings& settings);

/// Sets the core type and the numbers of threads of all libraries in this process's environment, so that
/// Blas::load gets what was chosen. For the application, at the start of main: no other thread may run.
/// Throws UsageError if the library is loaded already, since it would be too late.
void use_kernels(const BlasCandidate& chosen);

/// One sentence on what is lost by `loaded` compared with the best, and what to do; empty if less than 3 %.
/// "The BLAS runs at 62 of 105 GF/s: set OPENBLAS_CORETYPE=SkylakeX."
std::string loss(const KernelChoice& choice, const Blas& loaded);

}  // namespace fairlead::linalg

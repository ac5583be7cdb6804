// Selects the fastest BLAS and core type for this machine. OpenBLAS of Debian 12 treats a newer processor as an older
// one and silently runs at 60 % of the possible speed. Therefore every candidate is timed once per machine, each in its
// own process. The results are cached, including failures.
//
// The command line program calls choose_kernels and then set_blas_environment at the start of main. Within another program the
// library does not modify the environment: `loss` reports the possible gain.
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
  /// Names for the loader or paths. All are timed; the first that loads is the default library. Empty: the libraries
  /// that find_blas_libraries() finds.
  std::vector<std::string> libraries;
  LoaderPlaces loader;    ///< where to search for libraries
  std::string core_type;  ///< not empty: only candidates of this core type
  /// The value of OPENBLAS_CORETYPE in the environment of this process (not read here); empty: not set. Some sites set
  /// it for all of their machines and thereby slow down the newer ones.
  std::string inherited_core_type;
  std::vector<std::string> helper;        ///< see time_in_child
  std::filesystem::path cache_directory;  ///< of the user; empty: no cache
  int tile = 512;                         ///< side of a tile, in elements
  std::optional<bool> own_products{};     ///< nothing: the faster ones
  /// For all candidates, in time as counted by time_in_child(). Candidates that are not reached are listed as failures.
  Duration budget = std::chrono::seconds(20);
  bool ignore_cache = false;  ///< ignore the cache
  /// Called once if the cache has no timings: timing takes some seconds.
  std::function<void()> before_timing{};
};

struct KernelChoice {
  BlasTiming best;
  BlasTiming default_timing;  ///< the result without any change of library or environment
  std::vector<BlasTiming> timings;
  /// candidates without a timing, and the reasons
  std::vector<std::pair<BlasCandidate, std::string>> failures;
  bool own_products = false;  ///< use Fairlead's own products, with `best`
  bool from_cache = false;
  std::string cache_problem;  ///< why the result could not be cached; empty: no problem

  /// Best over default: 1 = no gain.
  double gain() const noexcept { return gflops() / default_timing.gflops(); }
  double gflops() const noexcept { return own_products ? best.own_gflops() : best.gflops(); }
};

/// Reads the timings from the cache, or takes them. The default is kept unless another candidate is at least 3 %
/// faster. Throws SystemError if no library is usable, with the reason for each, or if the helper cannot be started.
/// Throws ConfigError if no library has the requested core type.
KernelChoice choose_kernels(const KernelSettings& settings);

/// Sets the core type and one thread for all libraries in the environment of this process, so that Blas::load gets the
/// selected candidate. For applications, at the start of main, while no other thread runs. Throws UsageError if the
/// library is already loaded, as the setting would have no effect.
void set_blas_environment(const BlasCandidate& chosen);

/// One sentence on the speed that `loaded` loses compared with the best, and the remedy; empty if less than 3 %. "The
/// BLAS runs at 62 of 105 GF/s: set OPENBLAS_CORETYPE=SkylakeX."
std::string describe_loss(const KernelChoice& choice, const Blas& loaded);

}  // namespace fairlead::linalg

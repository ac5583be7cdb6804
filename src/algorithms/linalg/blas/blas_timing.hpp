// What one BLAS with one core type achieves, found out in a process of its own: a library takes its core type
// when it is loaded, once and for all, and one that uses instructions which the processor lacks dies.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "base/time.hpp"

namespace fairlead::linalg {

/// Variables of the environment that set libraries to one thread when they are loaded: their functions come
/// too late for some, and hold for the calling thread only in others.
inline constexpr std::array one_thread_variables{"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                                 "BLIS_NUM_THREADS", "NVPL_BLAS_NUM_THREADS"};

/// A library to try, and how.
struct BlasCandidate {
  std::string library;                         ///< as Blas::load takes it
  std::string core_type;                       ///< what it is told; empty: what the library decides
  std::string variable = "OPENBLAS_CORETYPE";  ///< of the environment, by which it is told
  std::string number = "";                     ///< what to set that to, if it is not the core type's name

  const std::string& told() const noexcept { return number.empty() ? core_type : number; }
  friend bool operator==(const BlasCandidate&, const BlasCandidate&) = default;
};

struct BlasTiming {
  BlasCandidate candidate;
  std::string path;       ///< the file that was loaded
  std::string core_type;  ///< what the library says it uses
  std::string variable;   ///< by which it can be told; empty: by none
  KernelRates rates;
  KernelRates own_rates = {};  ///< the same with Fairlead's own products; zero: the processor cannot

  /// One number to compare by: the rate of a tiled Cholesky factorization of 20 x 20 tiles.
  double gflops() const noexcept;
  double own_gflops() const noexcept;
  double best_gflops() const noexcept { return std::max(gflops(), own_gflops()); }
};

/// A timing, or why there is none, in words: "cannot load the library ...", "was ended by signal 4 (Illegal
/// instruction)", "computes wrong results", "computes on several threads", "took longer than 1.5 s of computing".
struct TimingOutcome {
  std::optional<BlasTiming> timing;
  std::string failure;
  /// Of the library by itself: what its variable takes, as Blas::core_type_numbers().
  std::string core_type_numbers = {};
  Duration spent{};  ///< of the child's time, as time_in_child() counts it
};

/// Starts `helper` with the candidate's arguments and its core type in the environment, and reads the one
/// line that it prints. `helper` is a program with its first arguments that ends in time_blas_main:
/// {"/usr/libexec/fairlead-time-blas"} or
/// {"/proc/self/exe", "time-blas"}. The child may take `limit`: what it computes counts and what it sleeps, but not the time
/// in which it wants a core that other programs have; a minute at most. May be called from a process with threads.
/// Throws SystemError if `helper` cannot be started.
TimingOutcome time_in_child(const std::vector<std::string>& helper, const BlasCandidate& candidate, int tile,
                            Duration limit);

/// The child's side: `arguments` are those behind the helper's own ("libopenblas.so.0", "512", "1500"
/// milliseconds after which it ends itself). Prints one line to standard output. Returns the exit code.
int time_blas_main(const std::vector<std::string>& arguments);

}  // namespace fairlead::linalg

// Times a BLAS with a given core type in a child process: a library fixes its core type when it is loaded, and an
// unsuitable core type may crash with an illegal instruction.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/kernel_rates.hpp"
#include "base/time.hpp"

namespace fairlead::linalg {

/// Environment variables that set libraries to one thread at load time. The setter functions are too late for some
/// libraries, and affect only the calling thread in others.
inline constexpr std::array one_thread_variables{"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                                 "BLIS_NUM_THREADS", "NVPL_BLAS_NUM_THREADS"};

/// A library to time, and its settings.
struct BlasCandidate {
  std::string library;                         ///< as for Blas::load
  std::string core_type;                       ///< the core type to set; empty: the library's default
  std::string variable = "OPENBLAS_CORETYPE";  ///< the environment variable that sets the core type
  std::string number = "";                     ///< its value, if not the name of the core type

  const std::string& variable_value() const noexcept { return number.empty() ? core_type : number; }
  friend bool operator==(const BlasCandidate&, const BlasCandidate&) = default;
};

struct BlasTiming {
  BlasCandidate candidate;
  std::string path;       ///< the file that was loaded
  std::string core_type;  ///< the core type in use, as the library reports it
  std::string variable;   ///< the variable that sets the core type; empty: none
  KernelRates rates;
  KernelRates own_rates = {};  ///< the rates with Fairlead's own products; zero: not supported

  /// The figure of merit: the rate of a tiled Cholesky factorization of 20 x 20 tiles, in GF/s.
  double gflops() const noexcept;
  double own_gflops() const noexcept;
  double best_gflops() const noexcept { return std::max(gflops(), own_gflops()); }
};

/// A timing, or the reason for its absence as text: "cannot load the library ...", "was ended by signal 4 (Illegal
/// instruction)", "computes wrong results", "computes on several threads", "took longer than 1.5 s of computing".
struct TimingOutcome {
  std::optional<BlasTiming> timing;
  std::string failure;
  /// As Blas::core_type_numbers(); empty without a timing.
  std::string core_type_numbers = {};
  Duration spent{};  ///< the child's time, as counted by time_in_child()
};

/// Runs `helper` with the candidate's arguments and its core type in the environment, and parses the line that it
/// prints. `helper` is a program and its first arguments that ends in time_blas_main:
/// {"/usr/libexec/fairlead-time-blas"} or {"/proc/self/exe", "time-blas"}. `limit` bounds the time in which the child
/// computes or sleeps; time that it waits for a core does not count. The total is at most one minute. Safe in a
/// multithreaded process. Throws SystemError if `helper` cannot be started.
TimingOutcome time_in_child(const std::vector<std::string>& helper, const BlasCandidate& candidate, int tile,
                            Duration limit);

/// The child's main function. `arguments` follow the helper's own: the library, the tile, and the time limit in
/// milliseconds ("libopenblas.so.0", "512", "1500"). Prints one line to standard output. Returns the exit code.
int time_blas_main(const std::vector<std::string>& arguments);

}  // namespace fairlead::linalg

// What one BLAS with one core type achieves, found out in a process of its own: a library takes its core type
// when it is loaded, once and for all, and one that uses instructions which the processor lacks dies.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace fairlead::linalg {

/// A library to try, and how.
struct BlasCandidate {
  std::string library;    ///< as Blas::load takes it
  std::string core_type;  ///< for OPENBLAS_CORETYPE; empty: what the library decides

  friend bool operator==(const BlasCandidate&, const BlasCandidate&) = default;
};

struct BlasTiming {
  BlasCandidate candidate;
  std::string path;       ///< the file that was loaded
  std::string core_type;  ///< what the library says it uses
  double gemm_gflops = 0;
  double potrf_gflops = 0;

  /// One number to compare by: of 20 operations of a tiled factorization, 19 are in gemm or as fast, one in
  /// potrf.
  double gflops() const noexcept;
};

/// A timing, or why there is none, in words: "cannot load the library ...", "was ended by signal 4 (Illegal
/// instruction)", "computes wrong results", "took longer than 1.5 s".
struct TimingOutcome {
  std::optional<BlasTiming> timing;
  std::string failure;
  bool worth_retrying = false;  ///< the failure may be the moment's: the machine was busy
};

/// Starts `helper` with the candidate's arguments and OPENBLAS_CORETYPE, and reads the one line that it
/// prints. `helper` is a program with its first arguments that ends in time_blas_main:
/// {"/usr/libexec/fairlead-time-blas"} or
/// {"/proc/self/exe", "time-blas"}. Waits at most `limit`. May be called from a process with threads.
/// Throws SystemError if `helper` cannot be started.
TimingOutcome time_in_child(const std::vector<std::string>& helper, const BlasCandidate& candidate, int tile,
                            Duration limit);

/// The child's side: `arguments` are those behind the helper's own ("libopenblas.so.0", "512", "1500"
/// milliseconds after which it ends itself). Prints one line to standard output. Returns the exit code.
int time_blas_main(const std::vector<std::string>& arguments);

}  // namespace fairlead::linalg

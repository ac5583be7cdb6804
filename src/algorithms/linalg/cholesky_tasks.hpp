// The tasks of a tiled Cholesky factorization in program order, with their priorities, for submission and for
// simulation. Buttari, Langou, Kurzak, Dongarra 2009 ("A class of parallel tiled linear algebra algorithms for
// multicore architectures").
#pragma once
#include <cstdint>

namespace fairlead::linalg {

/// Calls sink.potrf(k, priority), sink.trsm(m, k, priority), sink.syrk(j, k, priority) and sink.gemm(m, j, k, priority)
/// for a matrix of nt x nt tiles. Priorities follow DPLASMA's formula: the number of tasks on the longest path to the
/// end, potrf -> trsm -> gemm -> trsm -> ... down the diagonal.
template <class Sink>
void for_each_cholesky_task(std::int32_t nt, Sink&& sink) {
  const auto steps_to_end = [nt](std::int32_t m, std::int32_t j, std::int32_t k) {
    return 3 * nt - (m + j + k);
  };
  for (std::int32_t k = 0; k < nt; ++k) {
    sink.potrf(k, steps_to_end(k, k, k));
    for (std::int32_t m = k + 1; m < nt; ++m) sink.trsm(m, k, steps_to_end(m, k, k));
    for (std::int32_t j = k + 1; j < nt; ++j) {
      sink.syrk(j, k, steps_to_end(j, j, k));
      for (std::int32_t m = j + 1; m < nt; ++m) sink.gemm(m, j, k, steps_to_end(m, j, k));
    }
  }
}

}  // namespace fairlead::linalg

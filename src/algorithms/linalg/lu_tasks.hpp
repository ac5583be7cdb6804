// The tasks of a tiled LU factorization without pivoting in program order, with their priorities: those of Cholesky,
// for both triangles. Buttari, Langou, Kurzak, Dongarra 2009, without their pairwise pivoting.
#pragma once
#include <cstdint>

namespace fairlead::linalg {

/// Calls sink.getrf(k, priority), sink.trsm_below(i, k, priority) for tile (i, k), sink.trsm_right(i, k, priority) for
/// tile (k, i), and sink.gemm(m, j, k, priority), for a matrix of nt x nt tiles. The priority is the number of tasks on
/// the longest path to the end, getrf -> trsm -> gemm -> getrf -> ... down the diagonal.
template <class Sink>
void for_each_lu_task(std::int32_t nt, Sink&& sink) {
  const auto steps_to_end = [nt](std::int32_t m, std::int32_t j, std::int32_t k) {
    return 3 * nt - (m + j + k);
  };
  for (std::int32_t k = 0; k < nt; ++k) {
    sink.getrf(k, steps_to_end(k, k, k));
    for (std::int32_t i = k + 1; i < nt; ++i) {
      sink.trsm_below(i, k, steps_to_end(i, k, k));
      sink.trsm_right(i, k, steps_to_end(k, i, k));
    }
    for (std::int32_t j = k + 1; j < nt; ++j)
      for (std::int32_t m = k + 1; m < nt; ++m) sink.gemm(m, j, k, steps_to_end(m, j, k));
  }
}

}  // namespace fairlead::linalg

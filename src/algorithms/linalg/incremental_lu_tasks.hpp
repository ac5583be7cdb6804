// The tasks of a tiled LU factorization with incremental pivoting in program order, with their priorities, for
// submission and for simulation. Buttari, Langou, Kurzak, Dongarra 2009.
#pragma once
#include <cstdint>

namespace fairlead::linalg {

/// For a matrix of nt x nt tiles calls sink.getrf(k, priority) for tile (k, k); sink.gessm(k, j, priority), which
/// applies its exchanges and L to tile (k, j); sink.tstrf(i, k, priority), which factors tile (i, k) below the triangle
/// in (k, k); and sink.ssssm(i, j, k, priority), which applies tstrf to tiles (k, j) and (i, j). Priorities are those
/// of a factorization without pivoting: highest along the diagonal.
template <class Sink>
void for_each_incremental_lu_task(std::int32_t nt, Sink&& sink) {
  const auto steps_to_end = [nt](std::int32_t m, std::int32_t j, std::int32_t k) {
    return 3 * nt - (m + j + k);
  };
  for (std::int32_t k = 0; k < nt; ++k) {
    sink.getrf(k, steps_to_end(k, k, k));
    for (std::int32_t j = k + 1; j < nt; ++j) sink.gessm(k, j, steps_to_end(k, j, k));
    for (std::int32_t i = k + 1; i < nt; ++i) {
      sink.tstrf(i, k, steps_to_end(i, k, k));
      for (std::int32_t j = k + 1; j < nt; ++j) sink.ssssm(i, j, k, steps_to_end(i, j, k));
    }
  }
}

}  // namespace fairlead::linalg

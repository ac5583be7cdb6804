// See opencl_blas.hpp.
#include "algorithms/linalg/opencl/opencl_blas.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace fairlead::linalg {

namespace {

constexpr std::size_t panel = 32;          // columns of a solve: the private array of a work-item
constexpr std::size_t block = 8;           // work-groups are block x block
constexpr std::size_t own_triangle = 128;  // syrk uses Fairlead's own kernel up to this order

// Each work-item solves for one row (right) or column (left) of the panel.
constexpr const char* solve_source = R"(
kernel void solve(global const Real* t, ulong t_at, ulong next, ulong before,
                  global Real* a, ulong a_at, ulong along, ulong across, uint order, uint unit) {
  Real x[PANEL];
  a += a_at + get_global_id(0) * across;
  t += t_at;
  for (uint j = 0; j < order; ++j) {
    Real sum = a[j * along];
    for (uint k = 0; k < j; ++k) sum -= t[j * next + k * before] * x[k];
    x[j] = unit ? sum : sum / t[j * (next + before)];
    a[j * along] = x[j];
  }
}
)";

// Each work-group computes a block of C on or below the diagonal.
constexpr const char* triangle_source = R"(
kernel void triangle(global const Real* a, ulong a_at, ulong lda, global Real* c, ulong c_at, ulong ldc,
                     uint n, uint inner) {
  if (get_group_id(1) > get_group_id(0)) return;
  local Real left[BLOCK][BLOCK], right[BLOCK][BLOCK];
  const uint li = get_local_id(0), lj = get_local_id(1);
  const uint i = get_global_id(0), j = get_global_id(1), i_of_right = get_group_id(1) * BLOCK + li;
  a += a_at;
  Real sum = 0;
  for (uint first = 0; first < inner; first += BLOCK) {
    const uint k = first + lj;
    left[lj][li] = i < n && k < inner ? a[i + k * lda] : 0;
    right[lj][li] = i_of_right < n && k < inner ? a[i_of_right + k * lda] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = 0; p < BLOCK; ++p) sum += left[p][li] * right[p][lj];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n && j <= i) c[c_at + i + j * ldc] -= sum;
}
)";

OpenclKernel make_kernel(bool wide, const char* name, const char* source) {
  return {name, (wide ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "") + std::string(source),
          std::string("-DReal=") + (wide ? "double" : "float") + " -DPANEL=" + std::to_string(panel) +
              " -DBLOCK=" + std::to_string(block)};
}

}  // namespace

OpenclBlas::OpenclBlas() : double_(make_kernels(true)), float_(make_kernels(false)) {}

OpenclBlas::CudaKernels OpenclBlas::make_kernels(bool doubles) {
  return {make_kernel(doubles, "solve", solve_source), make_kernel(doubles, "triangle", triangle_source)};
}

const Clblast& OpenclBlas::clblast(const OpenclQueue& queue) const {
  std::call_once(loaded_, [&] { clblast_.emplace(queue); });
  return *clblast_;
}

template <Real T>
void OpenclBlas::gemm(const OpenclQueue& queue, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
                      std::size_t k, T alpha, const OpenclMatrix& a, const OpenclMatrix& b, T beta,
                      const OpenclMatrix& c) const {
  const Clblast& library = clblast(queue);
  const std::size_t bytes = library.workspace_of_gemm<T>(queue, op_a, op_b, m, n, k, a.buffer, a.ld, b.buffer,
                                                         b.ld, c.buffer, c.ld);
  if (bytes <= queue.workspace_bytes()) {
    library.gemm<T>(queue, op_a, op_b, m, n, k, alpha, a.buffer, a.ld, b.buffer, b.ld, beta, c.buffer, c.ld,
                    bytes == 0 ? nullptr : queue.workspace());
    return;
  }
  // Recursion on halves of the largest dimension: each half needs less memory, and small products need none.
  const std::size_t largest = std::max({m, n, k}), half = largest / 2;
  const auto of_a = [&](std::size_t row, std::size_t inner) {
    return op_a == Transpose::no ? a.from(row, inner) : a.from(inner, row);
  };
  const auto of_b = [&](std::size_t inner, std::size_t column) {
    return op_b == Transpose::no ? b.from(inner, column) : b.from(column, inner);
  };
  if (largest == m) {
    gemm<T>(queue, op_a, op_b, half, n, k, alpha, a, b, beta, c);
    gemm<T>(queue, op_a, op_b, m - half, n, k, alpha, of_a(half, 0), b, beta, c.from(half, 0));
  } else if (largest == n) {
    gemm<T>(queue, op_a, op_b, m, half, k, alpha, a, b, beta, c);
    gemm<T>(queue, op_a, op_b, m, n - half, k, alpha, a, of_b(0, half), beta, c.from(0, half));
  } else {
    gemm<T>(queue, op_a, op_b, m, n, half, alpha, a, b, beta, c);
    gemm<T>(queue, op_a, op_b, m, n, k - half, alpha, of_a(0, half), of_b(half, 0), T{1}, c);
  }
}

template <Real T>
void OpenclBlas::syrk_lower(const OpenclQueue& queue, std::size_t n, std::size_t k, const OpenclMatrix& a,
                            const OpenclMatrix& c) const {
  if (n <= own_triangle) {
    const std::size_t items = (n + block - 1) / block * block;
    queue.run(own<T>().triangle, OpenclRange(items, items).in_groups_of(block, block), a.buffer.memory,
              a.buffer.offset, a.ld, c.buffer.memory, c.buffer.offset, c.ld, static_cast<std::uint32_t>(n),
              static_cast<std::uint32_t>(k));
    return;
  }
  const std::size_t first = (n / 2 + block - 1) / block * block, second = n - first;
  const OpenclMatrix below = a.from(first, 0);
  syrk_lower<T>(queue, first, k, a, c);
  gemm<T>(queue, Transpose::no, Transpose::yes, second, first, k, -1, below, a, 1, c.from(first, 0));
  syrk_lower<T>(queue, second, k, below, c.from(first, first));
}

template <Real T>
void OpenclBlas::solve(const OpenclQueue& queue, const TriangularSolve& how, std::size_t m, std::size_t n,
                       const OpenclMatrix& t, const OpenclMatrix& a) const {
  const bool right = how.side == Side::right;
  const std::size_t order = right ? n : m;
  if (order <= panel) {
    // Unknown j uses the elements of t in its column (right) or row (left) of op(t) before the diagonal.
    const bool by_rows = right == (how.op == Transpose::yes);
    queue.run(own<T>().solve, OpenclRange(right ? m : n), t.buffer.memory, t.buffer.offset,
              by_rows ? std::size_t{1} : t.ld, by_rows ? t.ld : std::size_t{1}, a.buffer.memory,
              a.buffer.offset, right ? a.ld : std::size_t{1}, right ? std::size_t{1} : a.ld,
              static_cast<std::uint32_t>(order), static_cast<std::uint32_t>(how.diagonal == Diagonal::unit));
    return;
  }
  const std::size_t first = (order / 2 + panel - 1) / panel * panel, second = order - first;
  // The off-diagonal block that couples the two halves.
  const OpenclMatrix between = how.triangle == Triangle::lower ? t.from(first, 0) : t.from(0, first);
  const OpenclMatrix diagonal = t.from(first, first);
  if (right) {
    const OpenclMatrix columns = a.from(0, first);
    solve<T>(queue, how, m, first, t, a);
    gemm<T>(queue, Transpose::no, how.op, m, second, first, -1, a, between, 1, columns);
    solve<T>(queue, how, m, second, diagonal, columns);
  } else {
    const OpenclMatrix rows = a.from(first, 0);
    solve<T>(queue, how, first, n, t, a);
    gemm<T>(queue, how.op, Transpose::no, second, n, first, -1, between, a, 1, rows);
    solve<T>(queue, how, second, n, diagonal, rows);
  }
}

#define FAIRLEAD_OPENCL_BLAS_OF(T)                                                                           \
  template void OpenclBlas::gemm<T>(const OpenclQueue&, Transpose, Transpose, std::size_t, std::size_t,      \
                                    std::size_t, T, const OpenclMatrix&, const OpenclMatrix&, T,             \
                                    const OpenclMatrix&) const;                                              \
  template void OpenclBlas::syrk_lower<T>(const OpenclQueue&, std::size_t, std::size_t, const OpenclMatrix&, \
                                          const OpenclMatrix&) const;                                        \
  template void OpenclBlas::solve<T>(const OpenclQueue&, const TriangularSolve&, std::size_t, std::size_t,   \
                                     const OpenclMatrix&, const OpenclMatrix&) const;
FAIRLEAD_OPENCL_BLAS_OF(float)
FAIRLEAD_OPENCL_BLAS_OF(double)
#undef FAIRLEAD_OPENCL_BLAS_OF

}  // namespace fairlead::linalg

// See cuda_qr.hpp. W is the scratch matrix: (reflectors of a block) x (columns that they are applied to).
#include "algorithms/linalg/cuda/cuda_qr.hpp"

#include <algorithm>

namespace fairlead::linalg {

namespace {

constexpr Transpose plain_op = Transpose::no, transposed_op = Transpose::yes;

/// Calls act(first, count) for the blocks of k reflectors, in the order that op(Q) requires.
template <class Act>
void for_each_block(std::size_t k, std::size_t block, Transpose op, const Act& act) {
  const std::size_t blocks = (k + block - 1) / block;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t first = (op == Transpose::yes ? i : blocks - 1 - i) * block;
    act(first, std::min(block, k - first));
  }
}

/// The rows of the lower tile in a block of columns: the rows that all its reflectors have, and the rows of the
/// triangle below them.
struct RowsOfBlock {
  RowsOfBlock(const CudaRowsBelow& rows, std::size_t first, std::size_t count) noexcept
      : whole(rows.of_trapezoid == 0 ? rows.all : std::min(rows.all, rows.all - rows.of_trapezoid + first)),
        of_triangle(std::min(rows.all - whole, count)) {}
  std::size_t whole, of_triangle;
};

}  // namespace

template <Real T>
void CudaQr<T>::geqrt(std::size_t m, std::size_t n, std::size_t block, const CudaMatrix<T>& a,
                      const CudaMatrix<T>& t) const {
  for_each_block(std::min(m, n), block, transposed_op, [&](std::size_t first, std::size_t count) {
    const CudaMatrix<T> v = a.from(first, first), factor = t.from(0, first);
    blas_.own().geqrt<T>(stream_, m - first, count, v, factor, block);
    const std::size_t next = first + count;
    if (next < n) apply(transposed_op, m - first, n - next, count, v, factor, a.from(first, next));
  });
}

template <Real T>
void CudaQr<T>::gemqrt(Transpose op, std::size_t m, std::size_t n, std::size_t k, std::size_t block,
                       const CudaMatrix<T>& v, const CudaMatrix<T>& t, const CudaMatrix<T>& c) const {
  for_each_block(k, block, op, [&](std::size_t first, std::size_t count) {
    apply(op, m - first, n, count, v.from(first, first), t.from(0, first), c.from(first, 0));
  });
}

template <Real T>
void CudaQr<T>::tpqrt(const CudaRowsBelow& rows, std::size_t n, std::size_t block, const CudaMatrix<T>& r,
                      const CudaMatrix<T>& b, const CudaMatrix<T>& t) const {
  for_each_block(n, block, transposed_op, [&](std::size_t first, std::size_t count) {
    const std::size_t rows_of_first =
        rows.of_trapezoid == 0 ? rows.all : std::min(rows.all, rows.all - rows.of_trapezoid + first + 1);
    blas_.own().tpqrt<T>(stream_, rows.all, rows_of_first, count, r.from(first, first), b.from(0, first),
                         t.from(0, first), block);
    const std::size_t next = first + count;
    if (next < n)
      apply_join(transposed_op, rows, n - next, {first, count}, b, t, r.from(0, next), b.from(0, next));
  });
}

template <Real T>
void CudaQr<T>::tpmqrt(Transpose op, const CudaRowsBelow& rows, std::size_t n, std::size_t k,
                       std::size_t block, const CudaMatrix<T>& v, const CudaMatrix<T>& t,
                       const CudaMatrix<T>& b, const CudaMatrix<T>& c) const {
  for_each_block(k, block, op, [&](std::size_t first, std::size_t count) {
    apply_join(op, rows, n, {first, count}, v, t, b, c);
  });
}

/// C := op(I - V T V^T) C, for V of m x count with a unit diagonal. C1 is its first `count` rows, C2 the others.
template <Real T>
void CudaQr<T>::apply(Transpose op, std::size_t m, std::size_t n, std::size_t count, const CudaMatrix<T>& v,
                      const CudaMatrix<T>& t, const CudaMatrix<T>& c) const {
  const CudaMatrix<T> w{work_, count}, v2 = v.from(count, 0), c2 = c.from(count, 0);
  const std::size_t rest = m - count;
  blas_.trmm<T>(stream_, Triangle::lower, transposed_op, Diagonal::unit, count, n, v, c, w);
  if (rest > 0) blas_.gemm<T>(stream_, transposed_op, plain_op, count, n, rest, 1, v2, c2, 1, w);
  blas_.trmm<T>(stream_, Triangle::upper, op, Diagonal::general, count, n, t, w, w);
  if (rest > 0) blas_.gemm<T>(stream_, plain_op, plain_op, rest, n, count, -1, v2, w, 1, c2);
  blas_.trmm<T>(stream_, Triangle::lower, plain_op, Diagonal::unit, count, n, v, w, w);
  blas_.own().add<T>(stream_, count, n, -1, w, 1, c);
}

/// B on top of C := op(I - V T V^T) of both, where V continues the identity. V consists of rows that all columns have,
/// a triangle, and a block right of the triangle with the rest of the later columns. Elements below the triangle belong
/// to other data.
template <Real T>
void CudaQr<T>::apply_join(Transpose op, const CudaRowsBelow& rows, std::size_t n, const Columns& block,
                           const CudaMatrix<T>& v, const CudaMatrix<T>& t, const CudaMatrix<T>& b,
                           const CudaMatrix<T>& c) const {
  const auto [first, count] = block;
  const auto [whole, side] = RowsOfBlock(rows, first, count);
  const std::size_t later = count - side;
  const CudaMatrix<T> w{work_, count}, w_later = w.from(side, 0), top = b.from(first, 0);
  const CudaMatrix<T> v_whole = v.from(0, first), triangle = v.from(whole, first),
                      right = v.from(whole, first + side), c_below = c.from(whole, 0);
  const CudaMatrix<T> factor = t.from(0, first);
  if (side > 0) {
    blas_.trmm<T>(stream_, Triangle::upper, transposed_op, Diagonal::general, side, n, triangle, c_below, w);
    blas_.own().add<T>(stream_, side, n, 1, top, 1, w);
  }
  if (later > 0) blas_.own().add<T>(stream_, later, n, 1, top.from(side, 0), 0, w_later);
  if (side > 0 && later > 0)
    blas_.gemm<T>(stream_, transposed_op, plain_op, later, n, side, 1, right, c_below, 1, w_later);
  if (whole > 0) blas_.gemm<T>(stream_, transposed_op, plain_op, count, n, whole, 1, v_whole, c, 1, w);
  blas_.trmm<T>(stream_, Triangle::upper, op, Diagonal::general, count, n, factor, w, w);
  blas_.own().add<T>(stream_, count, n, -1, w, 1, top);
  if (whole > 0) blas_.gemm<T>(stream_, plain_op, plain_op, whole, n, count, -1, v_whole, w, 1, c);
  if (side > 0 && later > 0)
    blas_.gemm<T>(stream_, plain_op, plain_op, side, n, later, -1, right, w_later, 1, c_below);
  if (side > 0) {
    blas_.trmm<T>(stream_, Triangle::upper, plain_op, Diagonal::general, side, n, triangle, w, w);
    blas_.own().add<T>(stream_, side, n, -1, w, 1, c_below);
  }
}

template class CudaQr<float>;
template class CudaQr<double>;

}  // namespace fairlead::linalg

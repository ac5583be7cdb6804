// The bodies of the tasks of a QR factorization.
#include "algorithms/linalg/qr_kernels.hpp"

#include <algorithm>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/cuda/cuda_qr.hpp"

namespace fairlead::linalg {

namespace {

/// The shape of the lower tile in a join: a whole tile or a triangle.
enum class Below : std::uint8_t { whole, triangle };

/// The rows of the lower tile that take part; the last `of_trapezoid` of them form a trapezoid.
struct RowsBelow {
  RowsBelow(Below below, int rows, int columns) noexcept
      : all(below == Below::whole ? rows : std::min(rows, columns)),
        of_trapezoid(below == Below::whole ? 0 : all) {}
  int all, of_trapezoid;
};

constexpr std::size_t extent(int count) noexcept { return static_cast<std::size_t>(count); }
CudaRowsBelow on_device(const RowsBelow& rows) noexcept {
  return {extent(rows.all), extent(rows.of_trapezoid)};
}

/// Adds a body for CUDA devices, of real numbers and if Fairlead's own kernels are available: make().
template <class T, class Codelet, class Make>
Codelet also_on_cuda(const Kernels& kernels, const Codelet& codelet, const Make& make) {
  if constexpr (Real<T>)
    if (kernels.has_cuda_kernels()) return codelet.cuda(make.template operator()<T>());
  return codelet;
}

template <class T>
typename QrPanelKernels<T>::Join join_codelet(const Kernels& kernels, Below below) {
  const Kernel kernel = below == Below::whole ? Kernel::tsqrt : Kernel::ttqrt;
  const auto flops = [below](const auto& a) {
    const double m = a.rows(), n = a.columns();
    return real_flops<T> * (below == Below::whole ? tsqrt_flops(m, n) : ttqrt_flops(m, n));
  };
  const auto on_cores =
      codelet(std::string(name_of(kernel)))
          .cpu(body_of_type<T>,
               [kernels, below, kernel, flops](InOut<Tile<T>> r, InOut<Tile<T>> a, Out<Tile<T>> t,
                                               Scratch<T> work) {
                 const int n = a.columns();
                 const RowsBelow rows(below, a.rows(), n);
                 kernels.blas().tpqrt<T>(rows.all, n, rows.of_trapezoid, t.rows(), r.data(),
                                         r.leading_dimension(), a.data(), a.leading_dimension(), t.data(),
                                         t.leading_dimension(), work.data());
                 kernels.count(kernel, flops(a));
               })
          .flops([flops](auto&, auto& a, auto&, auto&) { return flops(a); })
          .emulated();
  return also_on_cuda<T>(kernels, on_cores, [&]<Real R>() {
    return [kernels, below, kernel, flops](CudaStream stream, InOut<Tile<T>> r, InOut<Tile<T>> a,
                                           Out<Tile<T>> t, Scratch<T> work) {
      const RowsBelow rows(below, a.rows(), a.columns());
      CudaQr<R>(kernels.cuda(), stream, work.data())
          .tpqrt(on_device(rows), extent(a.columns()), extent(t.rows()), cuda_matrix(r), cuda_matrix(a),
                 cuda_matrix(t));
      kernels.count(kernel, flops(a));
    };
  });
}

template <class T>
typename QrUpdateKernels<T>::OfJoin join_update_codelet(const Kernels& kernels, Below below, Transpose op) {
  const Kernel kernel = below == Below::whole ? Kernel::tsmqr : Kernel::ttmqr;
  const auto flops = [below](const auto& v, const auto& c) {
    const double m = c.rows(), n = c.columns(), k = v.columns();
    return real_flops<T> * (below == Below::whole ? tsmqr_flops(m, n, k) : ttmqr_flops(m, n, k));
  };
  const auto on_cores =
      codelet(std::string(name_of(kernel)))
          .cpu(body_of_type<T>,
               [kernels, below, op, kernel, flops](In<Tile<T>> v, In<Tile<T>> t, InOut<Tile<T>> b,
                                                   InOut<Tile<T>> c, Scratch<T> work) {
                 const int k = v.columns();
                 const RowsBelow rows(below, c.rows(), k);
                 kernels.blas().tpmqrt<T>(op, rows.all, c.columns(), k, rows.of_trapezoid, t.rows(), v.data(),
                                          v.leading_dimension(), t.data(), t.leading_dimension(), b.data(),
                                          b.leading_dimension(), c.data(), c.leading_dimension(),
                                          work.data());
                 kernels.count(kernel, flops(v, c));
               })
          .flops([flops](auto& v, auto&, auto&, auto& c, auto&) { return flops(v, c); })
          .emulated();
  return also_on_cuda<T>(kernels, on_cores, [&]<Real R>() {
    return [kernels, below, op, kernel, flops](CudaStream stream, In<Tile<T>> v, In<Tile<T>> t,
                                               InOut<Tile<T>> b, InOut<Tile<T>> c, Scratch<T> work) {
      const RowsBelow rows(below, c.rows(), v.columns());
      CudaQr<R>(kernels.cuda(), stream, work.data())
          .tpmqrt(op, on_device(rows), extent(c.columns()), extent(v.columns()), extent(t.rows()),
                  cuda_matrix(v), cuda_matrix(t), cuda_matrix(b), cuda_matrix(c));
      kernels.count(kernel, flops(v, c));
    };
  });
}

template <class T>
Transpose transpose_of(ApplyQ which) noexcept {
  return which == ApplyQ::transposed ? adjoint<T> : Transpose::no;
}

}  // namespace

template <class T>
QrPanelKernels<T>::QrPanelKernels(const Kernels& kernels)
    : geqrt(also_on_cuda<T>(
          kernels,
          codelet("geqrt")
              .cpu(body_of_type<T>,
                   [kernels](InOut<Tile> a, Out<Tile> v, Out<Tile> t, Scratch<T> work) {
                     // A tile with few rows has fewer reflectors than columns, possibly fewer than a block.
                     kernels.blas().geqrt<T>(a.rows(), a.columns(), std::min(t.rows(), v.columns()), a.data(),
                                             a.leading_dimension(), t.data(), t.leading_dimension(),
                                             work.data());
                     // A copy of V: later tasks modify R in the tile, while others apply the reflectors.
                     for (int j = 0; j < v.columns(); ++j) std::copy_n(&a(0, j), a.rows(), &v(0, j));
                     kernels.count(Kernel::geqrt, real_flops<T> * geqrt_flops(a.rows(), a.columns()));
                   })
              .flops([](auto& a, auto&, auto&, auto&) {
                return real_flops<T> * geqrt_flops(a.rows(), a.columns());
              })
              .emulated(),
          [&]<Real R>() {
            return [kernels](CudaStream stream, InOut<Tile> a, Out<Tile> v, Out<Tile> t, Scratch<T> work) {
              CudaQr<R>(kernels.cuda(), stream, work.data())
                  .geqrt(extent(a.rows()), extent(a.columns()), extent(std::min(t.rows(), v.columns())),
                         cuda_matrix(a), cuda_matrix(t));
              kernels.cuda().own().template add<R>(stream, extent(v.rows()), extent(v.columns()), 1,
                                                   cuda_matrix(a), 0, cuda_matrix(v));
              kernels.count(Kernel::geqrt, geqrt_flops(a.rows(), a.columns()));
            };
          })),
      tsqrt(join_codelet<T>(kernels, Below::whole)),
      ttqrt(join_codelet<T>(kernels, Below::triangle)) {}

template <class T>
QrUpdateKernels<T>::QrUpdateKernels(const Kernels& kernels, ApplyQ which)
    : unmqr(also_on_cuda<T>(
          kernels,
          codelet("unmqr")
              .cpu(body_of_type<T>,
                   [kernels, op = transpose_of<T>(which)](In<Tile> v, In<Tile> t, InOut<Tile> c,
                                                          Scratch<T> work) {
                     const int k = v.columns();
                     kernels.blas().gemqrt<T>(op, c.rows(), c.columns(), k, std::min(t.rows(), k), v.data(),
                                              v.leading_dimension(), t.data(), t.leading_dimension(),
                                              c.data(), c.leading_dimension(), work.data());
                     kernels.count(Kernel::unmqr, real_flops<T> * unmqr_flops(c.rows(), c.columns(), k));
                   })
              .flops([](auto& v, auto&, auto& c, auto&) {
                return real_flops<T> * unmqr_flops(c.rows(), c.columns(), v.columns());
              })
              .emulated(),
          [&]<Real R>() {
            return [kernels, op = transpose_of<T>(which)](CudaStream stream, In<Tile> v, In<Tile> t,
                                                          InOut<Tile> c, Scratch<T> work) {
              const int k = v.columns();
              CudaQr<R>(kernels.cuda(), stream, work.data())
                  .gemqrt(op, extent(c.rows()), extent(c.columns()), extent(k), extent(std::min(t.rows(), k)),
                          cuda_matrix(v), cuda_matrix(t), cuda_matrix(c));
              kernels.count(Kernel::unmqr, unmqr_flops(c.rows(), c.columns(), k));
            };
          })),
      tsmqr(join_update_codelet<T>(kernels, Below::whole, transpose_of<T>(which))),
      ttmqr(join_update_codelet<T>(kernels, Below::triangle, transpose_of<T>(which))) {}

#define FAIRLEAD_QR_KERNELS_OF(T)    \
  template struct QrPanelKernels<T>; \
  template struct QrUpdateKernels<T>;
FAIRLEAD_QR_KERNELS_OF(float)
FAIRLEAD_QR_KERNELS_OF(double)
FAIRLEAD_QR_KERNELS_OF(std::complex<float>)
FAIRLEAD_QR_KERNELS_OF(std::complex<double>)
#undef FAIRLEAD_QR_KERNELS_OF

}  // namespace fairlead::linalg

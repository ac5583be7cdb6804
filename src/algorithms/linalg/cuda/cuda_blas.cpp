// See cuda_blas.hpp.
#include "algorithms/linalg/cuda/cuda_blas.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace fairlead::linalg {

namespace {

constexpr int as_it_is = 0, transposed = 1, left = 0, right = 1, lower = 0, upper = 1, general = 0, unit = 1;

constexpr int number_of(Transpose op) noexcept { return op == Transpose::yes ? transposed : as_it_is; }
constexpr int number_of(std::size_t count) noexcept { return static_cast<int>(count); }

constexpr std::size_t most_pieces = CudaStream::answer_bytes / sizeof(int);

}  // namespace

/// The parts of a factorization: the first column of each. The device writes LAPACK's info for each part.
struct Pieces {
  std::array<std::size_t, most_pieces> first{};
  std::size_t count = 0;
};

const Cublas& CudaBlas::cublas() const {
  std::call_once(cublas_loaded_, [&] { cublas_.emplace(Cublas::load()); });
  return *cublas_;
}

const Cusolver& CudaBlas::cusolver() const {
  std::call_once(cusolver_loaded_, [&] { cusolver_.emplace(Cusolver::load()); });
  return *cusolver_;
}

template <Real T>
cublasContext* CudaBlas::handle(const CudaStream& stream) const {
  const Math math = std::is_same_v<T, float> ? math_ : Math::full;
  if (math == Math::tf32) calls_in_tf32_.fetch_add(1, std::memory_order_relaxed);
  return cublas().handle(stream, math);
}

template <Real T>
void CudaBlas::gemm(const CudaStream& stream, Transpose op_a, Transpose op_b, std::size_t m, std::size_t n,
                    std::size_t k, T alpha, const CudaMatrix<T>& a, const CudaMatrix<T>& b, T beta,
                    const CudaMatrix<T>& c) const {
  const Cublas& library = cublas();
  check_cublas(library.of<T>().gemm(handle<T>(stream), number_of(op_a), number_of(op_b), number_of(m),
                                    number_of(n), number_of(k), &alpha, a.data, number_of(a.ld), b.data,
                                    number_of(b.ld), &beta, c.data, number_of(c.ld)),
               "gemm");
}

template <Real T>
void CudaBlas::syrk_lower(const CudaStream& stream, std::size_t n, std::size_t k, const CudaMatrix<T>& a,
                          const CudaMatrix<T>& c) const {
  const Cublas& library = cublas();
  const T minus_one = -1, one = 1;
  check_cublas(library.of<T>().syrk(handle<T>(stream), lower, as_it_is, number_of(n), number_of(k),
                                    &minus_one, a.data, number_of(a.ld), &one, c.data, number_of(c.ld)),
               "syrk");
}

template <Real T>
void CudaBlas::trmm(const CudaStream& stream, Triangle triangle, Transpose op, Diagonal diagonal,
                    std::size_t m, std::size_t n, const CudaMatrix<T>& t, const CudaMatrix<T>& b,
                    const CudaMatrix<T>& c) const {
  const Cublas& library = cublas();
  const T one = 1;
  check_cublas(library.of<T>().trmm(handle<T>(stream), left, triangle == Triangle::upper ? upper : lower,
                                    number_of(op), diagonal == Diagonal::unit ? unit : general, number_of(m),
                                    number_of(n), &one, t.data, number_of(t.ld), b.data, number_of(b.ld),
                                    c.data, number_of(c.ld)),
               "trmm");
}

template <Real T>
void CudaBlas::solve(const CudaStream& stream, const TriangularSolve& how, std::size_t m, std::size_t n,
                     const CudaMatrix<T>& t, const CudaMatrix<T>& a) const {
  const Cublas& library = cublas();
  const T one = 1;
  check_cublas(library.of<T>().trsm(handle<T>(stream), how.side == Side::right ? right : left,
                                    how.triangle == Triangle::upper ? upper : lower, number_of(how.op),
                                    how.diagonal == Diagonal::unit ? unit : general, number_of(m),
                                    number_of(n), &one, t.data, number_of(t.ld), a.data, number_of(a.ld)),
               "trsm");
}

template <Real T>
void CudaBlas::potrf_lower(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                           std::function<void(int info)> over) const {
  Pieces pieces;
  factor<T>(stream, Factor::cholesky, n, a, 0, pieces);
  report_info_when_done(stream, "potrf", pieces, std::move(over));
}

template <Real T>
void CudaBlas::unpivoted_lu(const CudaStream& stream, std::size_t n, const CudaMatrix<T>& a,
                            std::function<void(int info)> over) const {
  Pieces pieces;
  factor<T>(stream, Factor::lu, n, a, 0, pieces);
  report_info_when_done(stream, "getrf", pieces, std::move(over));
}

void CudaBlas::report_info_when_done(const CudaStream& stream, const char* routine, const Pieces& pieces,
                                     std::function<void(int info)> over) {
  stream.then(
      [routine, pieces, infos = stream.answer<std::array<int, most_pieces>>(), over = std::move(over)] {
        for (std::size_t i = 0; i < pieces.count; ++i) {  // failures after the first are its consequences
          const int info = (*infos)[i];
          if (info < 0)
            throw SystemError(fmt::format("cuSOLVER: {}: its parameter {} is wrong", routine, -info));
          if (info > 0) return over(info + number_of(pieces.first[i]));
        }
        over(0);
      });
}

template <Real T>
void CudaBlas::factor(const CudaStream& stream, Factor kind, std::size_t n, const CudaMatrix<T>& a,
                      std::size_t first, Pieces& pieces) const {
  const bool cholesky = kind == Factor::cholesky;
  const auto& routines = cusolver().of<T>();
  cusolverDnContext* const handle = cusolver().handle(stream);
  int elements = 0;
  if (cholesky)
    check_cusolver(routines.potrf_elements(handle, lower, number_of(n), a.data, number_of(a.ld), &elements),
                   "potrf");
  else
    check_cusolver(
        routines.getrf_elements(handle, number_of(n), number_of(n), a.data, number_of(a.ld), &elements),
        "getrf");
  if (static_cast<std::size_t>(elements) * sizeof(T) <= stream.workspace_bytes()) {
    pieces.first[pieces.count] = first;
    int* const info = &(*stream.answer<std::array<int, most_pieces>>())[pieces.count++];
    T* const work = static_cast<T*>(stream.workspace());
    if (cholesky)
      check_cusolver(
          routines.potrf(handle, lower, number_of(n), a.data, number_of(a.ld), work, elements, info),
          "potrf");
    else
      check_cusolver(
          routines.getrf(handle, number_of(n), number_of(n), a.data, number_of(a.ld), work, nullptr, info),
          "getrf");
    return;
  }
  if (n == 1 || pieces.count + 2 > most_pieces)
    throw SystemError(fmt::format(
        "cuSOLVER takes {} bytes for a tile of {} x {} on a CUDA device, and the workspace has {}\n"
        "  Give more by workspace= in --devices.",
        static_cast<std::size_t>(elements) * sizeof(T), n, n, stream.workspace_bytes()));
  const std::size_t half = n / 2, rest = n - half;
  const CudaMatrix<T> below = a.from(half, 0), upper_right = a.from(0, half), second = a.from(half, half);
  factor<T>(stream, kind, half, a, first, pieces);
  if (cholesky) {
    solve<T>(stream, below_cholesky<T>, rest, half, a, below);
    syrk_lower<T>(stream, rest, half, below, second);
  } else {
    solve<T>(stream, below_lu, rest, half, a, below);
    solve<T>(stream, right_of_lu, half, rest, a, upper_right);
    gemm<T>(stream, Transpose::no, Transpose::no, rest, rest, half, -1, below, upper_right, 1, second);
  }
  factor<T>(stream, kind, rest, second, first + half, pieces);
}

#define FAIRLEAD_CUDA_BLAS_OF(T)                                                                           \
  template void CudaBlas::gemm<T>(const CudaStream&, Transpose, Transpose, std::size_t, std::size_t,       \
                                  std::size_t, T, const CudaMatrix<T>&, const CudaMatrix<T>&, T,           \
                                  const CudaMatrix<T>&) const;                                             \
  template void CudaBlas::syrk_lower<T>(const CudaStream&, std::size_t, std::size_t, const CudaMatrix<T>&, \
                                        const CudaMatrix<T>&) const;                                       \
  template void CudaBlas::trmm<T>(const CudaStream&, Triangle, Transpose, Diagonal, std::size_t,           \
                                  std::size_t, const CudaMatrix<T>&, const CudaMatrix<T>&,                 \
                                  const CudaMatrix<T>&) const;                                             \
  template void CudaBlas::solve<T>(const CudaStream&, const TriangularSolve&, std::size_t, std::size_t,    \
                                   const CudaMatrix<T>&, const CudaMatrix<T>&) const;                      \
  template void CudaBlas::potrf_lower<T>(const CudaStream&, std::size_t, const CudaMatrix<T>&,             \
                                         std::function<void(int)>) const;                                  \
  template void CudaBlas::unpivoted_lu<T>(const CudaStream&, std::size_t, const CudaMatrix<T>&,            \
                                          std::function<void(int)>) const;
FAIRLEAD_CUDA_BLAS_OF(float)
FAIRLEAD_CUDA_BLAS_OF(double)
#undef FAIRLEAD_CUDA_BLAS_OF

}  // namespace fairlead::linalg

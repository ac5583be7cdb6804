// See own_kernels.hpp.
#include "algorithms/linalg/cuda/own_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fairlead::linalg {

namespace {

/// In the order of the names below; float before double.
enum class CudaKernelIndex : std::uint8_t { geqrt, tpqrt, add };

template <class T>
CudaKernel kernel_of(const CudaModule& module, CudaKernelIndex which) {
  return {module, 2 * static_cast<std::size_t>(which) + (sizeof(T) == 8 ? 1 : 0)};
}

constexpr int whole_number(std::size_t count) noexcept { return static_cast<int>(count); }

constexpr CudaGrid one_block = cuda_grid(1, 1024);
constexpr std::size_t most_blocks = 4096, most_threads = 256, warp = 32;

}  // namespace

CudaKernels::CudaKernels(std::string_view image) {
  if (image.empty()) return;
  module_.emplace(std::string(image),
                  std::vector<std::string>{"fairlead_geqrt_32", "fairlead_geqrt_64", "fairlead_tpqrt_32",
                                           "fairlead_tpqrt_64", "fairlead_add_32", "fairlead_add_64"});
}

template <Real T>
void CudaKernels::geqrt(const CudaStream& stream, std::size_t rows, std::size_t columns,
                        const CudaMatrix<T>& a, const CudaMatrix<T>& t, std::size_t t_rows) const {
  stream.run(kernel_of<T>(*module_, CudaKernelIndex::geqrt), one_block, whole_number(rows),
             whole_number(columns), a.data, whole_number(a.ld), t.data, whole_number(t.ld),
             whole_number(t_rows));
}

template <Real T>
void CudaKernels::tpqrt(const CudaStream& stream, std::size_t rows, std::size_t rows_of_first,
                        std::size_t columns, const CudaMatrix<T>& r, const CudaMatrix<T>& b,
                        const CudaMatrix<T>& t, std::size_t t_rows) const {
  stream.run(kernel_of<T>(*module_, CudaKernelIndex::tpqrt), one_block, whole_number(rows),
             whole_number(rows_of_first), whole_number(columns), r.data, whole_number(r.ld), b.data,
             whole_number(b.ld), t.data, whole_number(t.ld), whole_number(t_rows));
}

template <Real T>
void CudaKernels::add(const CudaStream& stream, std::size_t rows, std::size_t columns, T alpha,
                      const CudaMatrix<T>& a, T beta, const CudaMatrix<T>& c) const {
  const auto threads = std::min((rows + warp - 1) / warp * warp, most_threads);
  const CudaGrid grid =
      cuda_grid(static_cast<unsigned>(std::min(columns, most_blocks)), static_cast<unsigned>(threads));
  const T* const from = a.data;
  stream.run(kernel_of<T>(*module_, CudaKernelIndex::add), grid, whole_number(rows), whole_number(columns),
             alpha, from, whole_number(a.ld), beta, c.data, whole_number(c.ld));
}

#define FAIRLEAD_OWN_KERNELS_OF(T)                                                                           \
  template void CudaKernels::geqrt<T>(const CudaStream&, std::size_t, std::size_t, const CudaMatrix<T>&,     \
                                      const CudaMatrix<T>&, std::size_t) const;                              \
  template void CudaKernels::tpqrt<T>(const CudaStream&, std::size_t, std::size_t, std::size_t,              \
                                      const CudaMatrix<T>&, const CudaMatrix<T>&, const CudaMatrix<T>&,      \
                                      std::size_t) const;                                                    \
  template void CudaKernels::add<T>(const CudaStream&, std::size_t, std::size_t, T, const CudaMatrix<T>&, T, \
                                    const CudaMatrix<T>&) const;
FAIRLEAD_OWN_KERNELS_OF(float)
FAIRLEAD_OWN_KERNELS_OF(double)
#undef FAIRLEAD_OWN_KERNELS_OF

}  // namespace fairlead::linalg

// Forward substitution with a small triangle, for many right-hand sides at once: each thread has one of them, in registers. What lies
// below it is for products. So a solve with a large triangle is nearly all products, and as stable as in one piece.

#ifdef __CUDACC__
#define FAIRLEAD_UNROLL _Pragma("unroll")
#define FAIRLEAD_LOAD_LATER asm volatile("" ::: "memory")  // else so much is loaded ahead that registers do not suffice
#else
#define FAIRLEAD_UNROLL
#define FAIRLEAD_LOAD_LATER
#endif

namespace {

constexpr int most_of_panel = 64;

/// For each line x: t(0, 0) x[0] = a[0], t(1, 0) x[0] + t(1, 1) x[1] = a[1], ..., where n is most_of_panel at most. `unit`: t has ones on
/// its diagonal, which need not be there. `..._step`: from one row, column, line, element to the next.
template <class T>
__device__ void solve_lines(int lines, int n, const T* t, long long row_step, long long column_step, int unit, T* a,
                            long long line_step, long long element_step) {
  // Column by column, so that neighbours in a column are loaded at once, with the inverses of the diagonal.
  __shared__ T triangle[most_of_panel * most_of_panel];
  for (int at = static_cast<int>(threadIdx.x); at < most_of_panel * most_of_panel; at += static_cast<int>(blockDim.x)) {
    const int i = at % most_of_panel, j = at / most_of_panel;
    const bool ours = i < n && j <= i && !(unit && i == j);
    const T element = ours ? t[i * row_step + j * column_step] : static_cast<T>(i == j ? 1 : 0);
    triangle[at] = i == j ? static_cast<T>(1) / element : element;
  }
  __syncthreads();
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  for (int line = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); line < lines; line += threads) {
    T* const its = a + line * line_step;
    T x[most_of_panel];
    FAIRLEAD_UNROLL
    for (int i = 0; i < most_of_panel; ++i) x[i] = i < n ? its[i * element_step] : static_cast<T>(0);
    FAIRLEAD_UNROLL
    for (int j = 0; j < most_of_panel; ++j) {
      x[j] *= triangle[j * most_of_panel + j];
      FAIRLEAD_UNROLL
      for (int i = j + 1; i < most_of_panel; ++i) {
        x[i] -= triangle[j * most_of_panel + i] * x[j];
        if (i % 8 == 0) {
          FAIRLEAD_LOAD_LATER;
        }
      }
    }
    FAIRLEAD_UNROLL
    for (int i = 0; i < most_of_panel; ++i)
      if (i < n) its[i * element_step] = x[i];
  }
}

}  // namespace

#define FAIRLEAD_PANEL_KERNELS_OF(T, bits)                                                                               \
  extern "C" __global__ void __launch_bounds__(most_of_panel)                                                            \
      fairlead_solve_##bits(int lines, int n, const T* t, int row_step, int column_step, int unit, T* a, int line_step,  \
                            int element_step) {                                                                          \
    solve_lines(lines, n, t, row_step, column_step, unit, a, line_step, element_step);                                   \
  }
FAIRLEAD_PANEL_KERNELS_OF(float, 32)
FAIRLEAD_PANEL_KERNELS_OF(double, 64)
#undef FAIRLEAD_PANEL_KERNELS_OF

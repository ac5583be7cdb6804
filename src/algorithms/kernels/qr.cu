// QR kernels for CUDA devices that cuBLAS lacks: the reflectors of a block of columns, by one thread block, and sums of
// two matrices. Loops stride by the number of threads, so each kernel is correct for any number. nvcc compiles the file
// for devices, the tests' driver for cores (tests/fake_cuda/device_code.hpp), where ThreadSanitizer checks the
// barriers.
//
// A reflector is H = I - tau v v^T as in LAPACK's xLARFG; the leading one of v is not stored. The reflectors of a block
// satisfy H1 H2 ... = I - V T V^T with a triangular T (Schreiber, Van Loan 1989). Matrices are column-major; ..._ld is
// the distance between columns in elements.

namespace {

constexpr int max_threads = 1024;
constexpr int threads_per_column = 16;  // they read adjacent rows

/// Shared memory with one element per thread of the block.
template <class T>
__device__ T* shared_values() {
  __shared__ T values[max_threads];
  return values;
}

template <class T>
__device__ T magnitude(T x) {
  return x < 0 ? -x : x;
}

struct Sum {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return x + y;
  }
};
/// The maximum of two nonnegative numbers; NaN if one is NaN.
struct Larger {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return y <= x || x != x ? x : y;
  }
};

/// The reduction of the values of all threads by `join`, returned in each thread. The order depends only on the number
/// of threads.
template <class T, class Join>
__device__ T block_reduce(T value, Join join) {
  T* const values = shared_values<T>();
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // other threads may still read the previous values
  values[thread] = value;
  __syncthreads();
  for (int left = static_cast<int>(blockDim.x); left > 1;) {
    const int half = (left + 1) / 2;
    if (thread + half < left) values[thread] = join(values[thread], values[thread + half]);
    left = half;
    __syncthreads();
  }
  return values[0];
}

/// Columns that become reflectors. Each consists of an element in `top`, at the position of the leading one of v, and
/// rows below.
template <class T>
struct Panel {
  int columns;
  T* top;  // a square; column j has its leading element in row j
  long long top_ld;
  T* below;
  long long below_ld;
  int rows;           // of `below`
  int rows_of_first;  // rows of the first reflector; each following one has one more, up to `rows`
  bool is_square_on_top;         // `top` and `below` are the same matrix: reflector j begins in its row j

  __device__ T* column(int c) const { return below + c * below_ld; }
  __device__ T& at_top(int j, int c) const { return top[j + c * top_ld]; }
  __device__ int first_row(int j) const { return is_square_on_top ? j + 1 : 0; }
  __device__ int last_row(int j) const { return rows_of_first + j < rows ? rows_of_first + j : rows; }
};

/// Turns column j into a reflector; its element in `top` becomes the norm of the column, with a sign. Returns tau.
/// Divides by the largest element first, so that nothing overflows and tiny elements keep their digits.
template <class T>
__device__ T make_reflector(const Panel<T>& panel, int j) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int first = panel.first_row(j) + thread, last = panel.last_row(j);
  T* const v = panel.column(j);
  const T top = panel.at_top(j, j);
  T largest = 0, tau = 0;
  for (int i = first; i < last; i += threads) largest = Larger()(largest, magnitude(v[i]));
  largest = block_reduce(largest, Larger());
  if (largest != 0) {
    const T scale = Larger()(largest, magnitude(top));
    T sum = 0;
    for (int i = first; i < last; i += threads) sum += (v[i] / scale) * (v[i] / scale);
    sum = block_reduce(sum, Sum());
    const T head = top / scale, norm = sqrt(head * head + sum), becomes = head < 0 ? norm : -norm;
    tau = (becomes - head) / becomes;
    for (int i = first; i < last; i += threads) v[i] = v[i] / scale / (head - becomes);
    if (thread == 0) panel.at_top(j, j) = becomes * scale;
  }
  __syncthreads();
  return tau;
}

/// Applies reflector j to the columns after it. Stores its products with the columns before it in row j of T, which is
/// still unused.
template <class T>
__device__ void apply_reflector(const Panel<T>& panel, int j, T tau, T* t, long long t_ld) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int share = threads < threads_per_column ? threads : threads_per_column;
  const int at_once = threads / share, place = thread / share, lane = thread % share;
  const int first = panel.first_row(j) + lane;
  const T* const v = panel.column(j);
  T* const values = shared_values<T>();
  for (int begin = 0; begin < panel.columns; begin += at_once) {
    const int c = begin + place;
    const bool mine = place < at_once && c < panel.columns && c != j;
    T* const x = panel.column(mine ? c : j);
    const int last = panel.last_row(c < j ? c : j);
    T product = 0;
    if (mine)
      for (int i = first; i < last; i += share) product += x[i] * v[i];
    values[thread] = product;
    __syncthreads();
    if (mine) {
      product = c < j && !panel.is_square_on_top ? 0 : panel.at_top(j, c);
      for (int i = 0; i < share; ++i) product += values[place * share + i];
      if (c > j) {
        product *= tau;
        for (int i = first; i < last; i += share) x[i] -= product * v[i];
      } else if (lane == 0) {
        t[j + c * t_ld] = product;
      }
    }
    __syncthreads();
    if (mine && c > j && lane == 0) panel.at_top(j, c) -= product;
  }
}

/// Computes column j of T from the products that apply_reflector() has stored in row j. Sets the elements below the
/// diagonal to zero.
template <class T>
__device__ void extend_factor(int j, T tau, T* t, long long t_ld, int t_rows) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < j; i += threads) {
    T sum = 0;
    for (int c = i; c < j; ++c) sum += t[i + c * t_ld] * t[j + c * t_ld];
    t[i + j * t_ld] = -tau * sum;
  }
  for (int i = j + thread; i < t_rows; i += threads) t[i + j * t_ld] = i == j ? tau : 0;
  __syncthreads();
  for (int c = thread; c < j; c += threads) t[j + c * t_ld] = 0;
}

template <class T>
__device__ void reflect(const Panel<T>& panel, T* t, int t_ld, int t_rows) {
  for (int j = 0; j < panel.columns; ++j) {
    const T tau = make_reflector(panel, j);
    apply_reflector(panel, j, tau, t, t_ld);
    extend_factor(j, tau, t, t_ld, t_rows);
  }
}

template <class T>
__device__ void add(int rows, int columns, T alpha, const T* a, long long a_ld, T beta, T* c, long long c_ld) {
  for (int j = static_cast<int>(blockIdx.x); j < columns; j += static_cast<int>(gridDim.x))
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) {
      const T sum = alpha * a[i + j * a_ld];
      c[i + j * c_ld] = beta == 0 ? sum : sum + beta * c[i + j * c_ld];
    }
}

}  // namespace

#define FAIRLEAD_QR_KERNELS_OF(T, bits)                                                                                  \
  /* A, with at least as many rows as columns, becomes R and, below the diagonal, V. T is `t_rows` x `columns`. */       \
  extern "C" __global__ void __launch_bounds__(max_threads)                                                             \
      fairlead_geqrt_##bits(int rows, int columns, T* a, int a_ld, T* t, int t_ld, int t_rows) {                         \
    reflect(Panel<T>{columns, a, a_ld, a, a_ld, rows, rows, true}, t, t_ld, t_rows);                                     \
  }                                                                                                                      \
  /* Factors R on top of B: R becomes the new R, B becomes V. The first column of B has `rows_of_first` rows. */         \
  extern "C" __global__ void __launch_bounds__(max_threads)                                                             \
      fairlead_tpqrt_##bits(int rows, int rows_of_first, int columns, T* r, int r_ld, T* b, int b_ld, T* t, int t_ld,    \
                            int t_rows) {                                                                                \
    reflect(Panel<T>{columns, r, r_ld, b, b_ld, rows, rows_of_first, false}, t, t_ld, t_rows);                           \
  }                                                                                                                      \
  /* C := alpha A + beta C; with beta = 0, C is not read. Each thread block processes whole columns. */                  \
  extern "C" __global__ void fairlead_add_##bits(int rows, int columns, T alpha, const T* a, int a_ld, T beta, T* c,     \
                                                 int c_ld) {                                                             \
    add(rows, columns, alpha, a, a_ld, beta, c, c_ld);                                                                   \
  }
FAIRLEAD_QR_KERNELS_OF(float, 32)
FAIRLEAD_QR_KERNELS_OF(double, 64)
#undef FAIRLEAD_QR_KERNELS_OF

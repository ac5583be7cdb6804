// What QR on CUDA devices needs beside products: the reflectors of a block of columns, by one thread block, and sums of two
// matrices. Each is right with any number of threads, since loops go on by as many as there are; nvcc compiles it for devices, and
// the tests' driver for cores (tests/fake_cuda/device_code.hpp), where ThreadSanitizer looks whether threads wait for each other.
//
// A reflector is H = I - tau v v^T as LAPACK's xLARFG makes it, where v begins with a one that is not kept; those of a block are
// H1 H2 ... = I - V T V^T with a triangular T (Schreiber, Van Loan 1989). All is column-major, and ..._ld is from one column to the
// next.

namespace {

constexpr int most_threads = 1024;
constexpr int threads_of_a_column = 16;  // which read its rows one beside the other

/// One for each thread of the block.
template <class T>
__device__ T* values_of_threads() {
  __shared__ T values[most_threads];
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
/// Of two that are not negative; what is no number stays.
struct Larger {
  template <class T>
  __device__ T operator()(T x, T y) const {
    return y <= x || x != x ? x : y;
  }
};

/// What `join` makes of the values of all threads, in an order that their number decides; each gets it.
template <class T, class Join>
__device__ T of_all_threads(T value, Join join) {
  T* const values = values_of_threads<T>();
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // somebody may still read what was there
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

/// Columns that become reflectors: each has a row `top` that its one stands in, and rows below it.
template <class T>
struct Panel {
  int columns;
  T* top;  // row j of a square
  long long top_ld;
  T* below;
  long long below_ld;
  int rows;           // of `below`
  int rows_of_first;  // that the reflector of the first column has; the next one has one more, if there is one
  bool alone;         // `below` is the matrix that `top` is in: reflector j begins in its row j

  __device__ T* column(int c) const { return below + c * below_ld; }
  __device__ T& at_top(int j, int c) const { return top[j + c * top_ld]; }
  __device__ int first_row(int j) const { return alone ? j + 1 : 0; }
  __device__ int last_row(int j) const { return rows_of_first + j < rows ? rows_of_first + j : rows; }
};

/// Column j becomes a reflector, and its top what the column had in all. Gives tau. Divided by the largest element first, so
/// that nothing overflows and what is tiny keeps its digits.
template <class T>
__device__ T make_reflector(const Panel<T>& panel, int j) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int first = panel.first_row(j) + thread, last = panel.last_row(j);
  T* const v = panel.column(j);
  const T top = panel.at_top(j, j);
  T largest = 0, tau = 0;
  for (int i = first; i < last; i += threads) largest = Larger()(largest, magnitude(v[i]));
  largest = of_all_threads(largest, Larger());
  if (largest != 0) {
    const T scale = Larger()(largest, magnitude(top));
    T sum = 0;
    for (int i = first; i < last; i += threads) sum += (v[i] / scale) * (v[i] / scale);
    sum = of_all_threads(sum, Sum());
    const T head = top / scale, norm = sqrt(head * head + sum), becomes = head < 0 ? norm : -norm;
    tau = (becomes - head) / becomes;
    for (int i = first; i < last; i += threads) v[i] = v[i] / scale / (head - becomes);
    if (thread == 0) panel.at_top(j, j) = becomes * scale;
  }
  __syncthreads();
  return tau;
}

/// Reflector j on the columns after it; of those before it the products with it, into row j of T, which nobody has used so far.
template <class T>
__device__ void apply_reflector(const Panel<T>& panel, int j, T tau, T* t, long long t_ld) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int share = threads < threads_of_a_column ? threads : threads_of_a_column;
  const int at_once = threads / share, place = thread / share, lane = thread % share;
  const int first = panel.first_row(j) + lane;
  const T* const v = panel.column(j);
  T* const values = values_of_threads<T>();
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
      product = c < j && !panel.alone ? 0 : panel.at_top(j, c);
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

/// Column j of T, of what apply_reflector() has left in its row j; below the diagonal there are zeros then.
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
  /* A, of at least as many rows as columns, becomes R and, below the diagonal, V. T: `t_rows` x `columns`. */           \
  extern "C" __global__ void __launch_bounds__(most_threads)                                                             \
      fairlead_geqrt_##bits(int rows, int columns, T* a, int a_ld, T* t, int t_ld, int t_rows) {                         \
    reflect(Panel<T>{columns, a, a_ld, a, a_ld, rows, rows, true}, t, t_ld, t_rows);                                     \
  }                                                                                                                      \
  /* The triangle R on top of B, of which the first column has `rows_of_first` rows, becomes R; B becomes V. */          \
  extern "C" __global__ void __launch_bounds__(most_threads)                                                             \
      fairlead_tpqrt_##bits(int rows, int rows_of_first, int columns, T* r, int r_ld, T* b, int b_ld, T* t, int t_ld,    \
                            int t_rows) {                                                                                \
    reflect(Panel<T>{columns, r, r_ld, b, b_ld, rows, rows_of_first, false}, t, t_ld, t_rows);                           \
  }                                                                                                                      \
  /* C := alpha A + beta C; with beta = 0 nothing need be in C. A thread block takes whole columns. */                   \
  extern "C" __global__ void fairlead_add_##bits(int rows, int columns, T alpha, const T* a, int a_ld, T beta, T* c,     \
                                                 int c_ld) {                                                             \
    add(rows, columns, alpha, a, a_ld, beta, c, c_ld);                                                                   \
  }
FAIRLEAD_QR_KERNELS_OF(float, 32)
FAIRLEAD_QR_KERNELS_OF(double, 64)
#undef FAIRLEAD_QR_KERNELS_OF

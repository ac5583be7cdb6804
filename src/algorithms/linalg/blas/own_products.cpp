// Goto's loop order: columns of C, the inner dimension, rows of C; the innermost blocks fit in registers.
#include "algorithms/linalg/blas/own_products.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "algorithms/linalg/blas/micro_kernel.hpp"

namespace fairlead::linalg {

/// The packed A and B of one call, in one huge page if the system provides them.
struct OwnProducts::Scratch {
  static constexpr std::size_t bytes = std::size_t{2} << 20;
  Scratch() : memory(std::aligned_alloc(bytes, bytes)) {
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory); }
  void* memory;
};

/// Scratch memory for one call. There are as many buffers as concurrent calls; they are reused.
class OwnProducts::Lease {
 public:
  explicit Lease(const OwnProducts& from) : from_(from) {
    const std::lock_guard guard(from_.mutex_);
    if (from_.unused_.empty()) {
      scratch_ = from_.make();
    } else {
      scratch_ = std::move(from_.unused_.back());
      from_.unused_.pop_back();
    }
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    const std::lock_guard guard(from_.mutex_);
    from_.unused_.push_back(std::move(scratch_));  // has capacity: see make()
  }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(scratch_->memory);
  }

 private:
  const OwnProducts& from_;
  std::unique_ptr<Scratch> scratch_;
};

OwnProducts::OwnProducts() = default;
OwnProducts::~OwnProducts() = default;

/// Requires mutex_.
std::unique_ptr<OwnProducts::Scratch> OwnProducts::make() const {
  auto scratch = std::make_unique<Scratch>();
  unused_.reserve(made_ + 1);  // so that returning a buffer does not allocate
  ++made_;
  return scratch;
}

void OwnProducts::reserve(std::size_t threads) {
  const std::lock_guard guard(mutex_);
  while (made_ < threads) unused_.push_back(make());
}

#if defined(__x86_64__)

bool OwnProducts::is_supported() noexcept { return __builtin_cpu_supports("avx512f") != 0; }

namespace {

using Part = OwnProducts::Part;

/// The size of the next block: `most`, or for the last two, half of the rest each, rounded up to `multiple`.
constexpr int next_block(int left, int most, int multiple) noexcept {
  if (left <= most) return left;
  if (left >= 2 * most) return most;
  return (left / 2 + multiple - 1) / multiple * multiple;
}

/// True if element (i, j) belongs to the part.
constexpr bool is_in(Part part, int i, int j) noexcept {
  return part == Part::whole || (part == Part::lower ? i >= j : i <= j);
}

template <class T>
void scale(Part part, int m, int n, T beta, T* c, std::ptrdiff_t ldc) {
  for (int j = 0; j < n; ++j) {
    const int first = part == Part::lower ? std::min(j, m) : 0;
    const int last = part == Part::upper ? std::min(j + 1, m) : m;
    T* const column = c + j * ldc;
    if (beta == 0)
      std::fill(column + first, column + last, T{0});
    else
      for (int i = first; i < last; ++i) column[i] *= beta;
  }
}

/// A block of C with its packed rows and columns.
template <class T>
struct CBlock {
  int row, column, rows, columns, depth;
  const T *a, *b;
  T* c;  ///< the whole matrix
  std::ptrdiff_t ldc;
};

template <class T>
void add_block_of_c(Part part, T alpha, const CBlock<T>& piece) {
  using Sizes = own::BlockSizes<T>;
  for (int j = 0; j < piece.columns; j += Sizes::columns)
    for (int i = 0; i < piece.rows; i += Sizes::rows) {
      const int rows = std::min(Sizes::rows, piece.rows - i),
                columns = std::min(Sizes::columns, piece.columns - j);
      const int first_row = piece.row + i, first_column = piece.column + j;
      const int last_row = first_row + rows - 1, last_column = first_column + columns - 1;
      // A block is outside the part if its innermost corner is, and entirely inside if its outermost corner is.
      if (part == Part::lower ? !is_in(part, last_row, first_column) : !is_in(part, first_row, last_column))
        continue;
      const bool whole =
          part == Part::lower ? is_in(part, first_row, last_column) : is_in(part, last_row, first_column);
      const T* const a = piece.a + static_cast<std::ptrdiff_t>(i) * piece.depth;
      const T* const b = piece.b + static_cast<std::ptrdiff_t>(j) * piece.depth;
      T* const c = piece.c + first_row + first_column * piece.ldc;
      if (whole && rows == Sizes::rows && columns == Sizes::columns) {
        own::add_block<T>(piece.depth, alpha, a, b, c, piece.ldc);
        continue;
      }
      alignas(64) T block[Sizes::rows * Sizes::columns] = {};
      own::add_block<T>(piece.depth, alpha, a, b, block, Sizes::rows);
      for (int column = 0; column < columns; ++column)
        for (int row = 0; row < rows; ++row)
          if (is_in(part, first_row + row, first_column + column))
            c[row + column * piece.ldc] += block[row + column * Sizes::rows];
    }
}

}  // namespace

template <class T>
void OwnProducts::multiply(Part part, bool transpose_a, bool transpose_b, int m, int n, int k, T alpha,
                           const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) const {
  using Sizes = own::BlockSizes<T>;
  constexpr int elements_of_a = Sizes::rows_at_once * Sizes::depth;
  static_assert((elements_of_a + Sizes::columns_at_once * Sizes::depth) * sizeof(T) <= Scratch::bytes);
  if (beta != 1) scale(part, m, n, beta, c, ldc);
  if (alpha == 0) return;
  const own::Operand<T> rows_of_a{a, transpose_a ? lda : 1, transpose_a ? 1 : lda};
  const own::Operand<T> columns_of_b{b, transpose_b ? 1 : ldb, transpose_b ? ldb : 1};
  const Lease lease(*this);
  T* const packed_a = lease.as<T>();
  T* const packed_b = packed_a + elements_of_a;
  for (int column = 0, columns = 0; column < n; column += columns) {
    columns = next_block(n - column, Sizes::columns_at_once, Sizes::columns);
    const int begin = part == Part::lower ? column / Sizes::rows * Sizes::rows : 0;
    const int end = part == Part::upper ? std::min(m, column + columns) : m;
    for (int inner = 0, depth = 0; inner < k; inner += depth) {
      depth = next_block(k - inner, Sizes::depth, 8);
      own::pack<Sizes::columns>(columns_of_b.from(column, inner), columns, depth, packed_b);
      for (int row = begin, rows = 0; row < end; row += rows) {
        rows = next_block(end - row, Sizes::rows_at_once, Sizes::rows);
        own::pack<Sizes::rows>(rows_of_a.from(row, inner), rows, depth, packed_a);
        add_block_of_c<T>(part, alpha, {row, column, rows, columns, depth, packed_a, packed_b, c, ldc});
      }
    }
  }
}

#else

bool OwnProducts::possible() noexcept { return false; }

template <class T>
void OwnProducts::multiply(Part, bool, bool, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int) const {
  std::abort();  // unreachable: Blas::load() checks possible()
}

#endif

template void OwnProducts::multiply<float>(Part, bool, bool, int, int, int, float, const float*, int,
                                           const float*, int, float, float*, int) const;
template void OwnProducts::multiply<double>(Part, bool, bool, int, int, int, double, const double*, int,
                                            const double*, int, double, double*, int) const;

}  // namespace fairlead::linalg

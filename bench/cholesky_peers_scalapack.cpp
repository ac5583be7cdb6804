// Baseline of Cholesky over ranks: ScaLAPACK's pdpotrf on the matrix that `fairlead bench cholesky`
// generates. The caller sets the number of BLAS threads and OpenBLAS's core type; see
// scripts/bench-scalapack.
//
//   mpirun -n 2 cholesky_peers_scalapack [--n 4096] [--rows 1] [--columns 2] [--block 128] [--repetitions 1] [--seed 0]
//
// Prints a line of JSON; exit status 1 if the factor is wrong.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/error.hpp>
#include <fairlead/scalapack.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/generated_matrix.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void pdpotrf_(const char* triangle, const int* n, double* a, const int* ia, const int* ja,
              const int* descriptor, int* info);
}

namespace {

using namespace fairlead;

struct Asked {
  int n = 4096, rows = 1, columns = 2, block = 128, repetitions = 1;
  std::uint64_t seed = 0;
};

Asked asked_by(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (i + 1 == argc) throw ConfigError(fmt::format("{} lacks a number", option));
    const int number = std::atoi(argv[++i]);
    if (option == "--n")
      asked.n = number;
    else if (option == "--rows")
      asked.rows = number;
    else if (option == "--columns")
      asked.columns = number;
    else if (option == "--block")
      asked.block = number;
    else if (option == "--repetitions")
      asked.repetitions = number;
    else if (option == "--seed")
      asked.seed = static_cast<std::uint64_t>(number);
    else
      throw ConfigError(fmt::format(
          "unknown option {}; there are --n --rows --columns --block --repetitions --seed", option));
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (asked.rows * asked.columns != ranks)
    throw ConfigError(
        fmt::format("a grid of {} x {} does not have {} ranks", asked.rows, asked.columns, ranks));
  if (asked.n < 1 || asked.block < 1 || asked.repetitions < 1)
    throw ConfigError("n, the block and the repetitions must be at least 1");
  return asked;
}

/// This process's part of a block-cyclic n x n matrix, in huge pages.
class LocalMatrix {
 public:
  LocalMatrix(int n, int block, int context) : n_(n), block_(block) {
    Cblacs_gridinfo(context, &grid_.rows, &grid_.columns, &grid_.row, &grid_.column);
    rows_ = scalapack::numroc(n, block, grid_.row, 0, grid_.rows);
    columns_ = scalapack::numroc(n, block, grid_.column, 0, grid_.columns);
    described_ = scalapack::descinit(n, n, block, block, 0, 0, context, std::max(rows_, 1), grid_);
    bytes_ = std::max<std::size_t>(1, static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)) *
             sizeof(double);
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw SystemError(fmt::format("cannot allocate {} bytes", bytes_));
    ::madvise(memory, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<double*>(memory);
  }
  LocalMatrix(const LocalMatrix&) = delete;
  LocalMatrix& operator=(const LocalMatrix&) = delete;
  ~LocalMatrix() { ::munmap(data_, bytes_); }

  void generate(std::uint64_t seed) const {
    const linalg::GeneratedSpd<double> source(n_, seed);
    for (int c = 0; c < columns_; c += block_)
      for (int r = 0; r < rows_; r += block_)
        source.read(global_row(r), std::min(block_, rows_ - r), global_column(c),
                    std::min(block_, columns_ - c), data_ + r + static_cast<std::ptrdiff_t>(c) * rows_,
                    rows_);
  }
  /// Seconds of the slowest process.
  double factor() const {
    const int one = 1;
    int info = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    pdpotrf_("L", &n_, data_, &one, &one, described_.data(), &info);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (info != 0) throw NumericalError(fmt::format("pdpotrf returned info {}", info));
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
  }
  /// The largest row sum of | A x - L (L^T x) | over that of | A | | x |, for x = (1, 1, ...).
  double error(std::uint64_t seed) const {
    const auto count = static_cast<std::size_t>(n_);
    std::vector<double> y(count), difference(count), scale(count), column(count);
    for_each_of_factor([&](int, int j, double element) { y[static_cast<std::size_t>(j)] += element; });
    add_up(y);
    for_each_of_factor([&](int i, int j, double element) {
      difference[static_cast<std::size_t>(i)] -= element * y[static_cast<std::size_t>(j)];
    });
    const linalg::GeneratedSpd<double> source(n_, seed);
    const int ranks = grid_.rows * grid_.columns;
    for (int j = grid_.row * grid_.columns + grid_.column; j < n_; j += ranks) {
      source.read(0, n_, j, 1, column.data(), n_);
      for (std::size_t i = 0; i < count; ++i) {
        difference[i] += column[i];
        scale[i] += std::abs(column[i]);
      }
    }
    add_up(difference);
    add_up(scale);
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(difference[i]) / scale[i]);
    return worst;
  }

 private:
  int global_row(int local) const { return scalapack::indxl2g(local, block_, grid_.row, 0, grid_.rows); }
  int global_column(int local) const {
    return scalapack::indxl2g(local, block_, grid_.column, 0, grid_.columns);
  }
  template <class Function>
  void for_each_of_factor(const Function& function) const {
    for (int c = 0; c < columns_; ++c)
      for (int r = 0, j = global_column(c); r < rows_; ++r)
        if (const int i = global_row(r); i >= j)
          function(i, j, data_[r + static_cast<std::ptrdiff_t>(c) * rows_]);
  }
  static void add_up(std::vector<double>& numbers) {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }

  int n_, block_, rows_ = 0, columns_ = 0;
  scalapack::Grid grid_;
  scalapack::Descriptor described_{};
  std::size_t bytes_ = 0;
  double* data_ = nullptr;
};

int run(const Asked& asked) {
  int context = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", asked.rows, asked.columns);
  double error = 0;
  std::vector<double> rates;
  {
    const LocalMatrix warm(std::min(asked.n, 1024), asked.block, context);  // touches the library's buffers
    warm.generate(asked.seed);
    warm.factor();
    const LocalMatrix a(asked.n, asked.block, context);
    for (int i = 0; i < asked.repetitions; ++i) {
      a.generate(asked.seed);
      rates.push_back(linalg::potrf_flops(static_cast<double>(asked.n)) / a.factor() * 1e-9);
    }
    error = a.error(asked.seed);
  }
  Cblacs_gridexit(context);
  if (!(error <= 10 * asked.n * std::numeric_limits<double>::epsilon()))
    throw NumericalError(fmt::format("the factor is wrong: error {}", error));
  std::ranges::sort(rates);
  if (rank == 0)
    fmt::print(
        R"({{"n": {}, "rows": {}, "columns": {}, "block": {}, "gflops": {}, "error": {}, "rates": [{}]}})"
        "\n",
        asked.n, asked.rows, asked.columns, asked.block, rates[rates.size() / 2], error,
        fmt::join(rates, ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    code = run(asked_by(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "cholesky_peers_scalapack: {}\n", error.what());
  }
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}

// Baseline of the factorization in core: LAPACK's potrf on the whole matrix, with its own threads, from the
// same library and core type as Fairlead's kernels and on the same generated matrix.
//
//   lapack_potrf [--n 16384] [--threads 2] [--repetitions 5] [--seed 0] [--map DIRECTORY] [--json]
//
// With --map the matrix is a mapped file in that directory: the alternative without a runtime for a matrix
// that does not fit. See scripts/bench-mapped.
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/choose_kernels.hpp"
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "base/shared_library.hpp"

namespace {

using namespace fairlead;
using namespace fairlead::linalg;

struct Asked {
  std::int64_t n = 16384;
  int threads = 2, repetitions = 5;
  std::uint64_t seed = 0;
  std::string map;
  bool json = false;
};

Asked asked_by(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--json") {
      asked.json = true;
      continue;
    }
    if (i + 1 == argc) throw ConfigError(fmt::format("{} is unknown or lacks a number", option));
    if (option == "--map") {
      asked.map = argv[++i];
      continue;
    }
    const std::int64_t number = std::atoll(argv[++i]);
    if (option == "--n")
      asked.n = number;
    else if (option == "--threads")
      asked.threads = static_cast<int>(number);
    else if (option == "--repetitions")
      asked.repetitions = static_cast<int>(number);
    else if (option == "--seed")
      asked.seed = static_cast<std::uint64_t>(number);
    else
      throw ConfigError(fmt::format(
          "unknown option {}; there are --n --threads --repetitions --seed --map --json", option));
  }
  if (asked.n < 1 || asked.n > 100'000 || asked.threads < 1 || asked.repetitions < 1)
    throw ConfigError("n must be 1 to 100000, threads and repetitions at least 1");
  return asked;
}

/// A column-major n x n matrix in huge pages; or in an unnamed file in a directory, if one is given.
class Matrix {
 public:
  explicit Matrix(std::int64_t n, const std::string& directory = {})
      : n_(n), bytes_(static_cast<std::size_t>(n * n) * sizeof(double)) {
    int file = -1;
    if (!directory.empty()) {
      file = ::open(directory.c_str(), O_TMPFILE | O_RDWR, 0600);
      if (file < 0 || ::posix_fallocate(file, 0, static_cast<off_t>(bytes_)) != 0)
        throw SystemError(fmt::format("cannot create a file of {} bytes in {}", bytes_, directory));
    }
    const int how = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, how, file, 0);
    if (memory == MAP_FAILED) throw SystemError(fmt::format("cannot allocate {} bytes", bytes_));
    if (file < 0)
      ::madvise(memory, bytes_, MADV_HUGEPAGE);
    else
      ::close(file);  // the mapping keeps the file
    data_ = static_cast<double*>(memory);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { ::munmap(data_, bytes_); }

  double* data() const noexcept { return data_; }
  void generate(std::uint64_t seed, int threads) const {
    const GeneratedSpd<double> source(n_, seed);
    std::vector<std::jthread> crew;
    for (int t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        constexpr std::int64_t at_once = 64;
        for (std::int64_t c = t * at_once; c < n_; c += threads * at_once)
          source.read(0, n_, c, std::min(at_once, n_ - c), data_ + c * n_, n_);
      });
  }

 private:
  std::int64_t n_;
  std::size_t bytes_;
  double* data_;
};

/// The largest row sum of | A x - L (L^T x) | over that of | A | | x |, for x = (1, 1, ...).
double error_of(const Matrix& l, std::int64_t n, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(n);
  std::vector<double> y(count), difference(count), scale(count), column(count);
  const double* const a = l.data();
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) y[static_cast<std::size_t>(j)] += a[i + j * n];
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i)
      difference[static_cast<std::size_t>(i)] -= a[i + j * n] * y[static_cast<std::size_t>(j)];
  const GeneratedSpd<double> source(n, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    source.read(0, n, j, 1, column.data(), n);
    for (std::size_t i = 0; i < count; ++i) {
      difference[i] += column[i];
      scale[i] += std::abs(column[i]);
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(difference[i]) / scale[i]);
  return worst;
}

/// The measure of `fairlead bench`: || b - A x || / (|| A || || x || + || b ||) in the maximum norm, where x
/// is the solution by the factor and b its right-hand side.
double backward_error_of(const Blas& blas, const Matrix& l, std::int64_t n, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(n);
  const auto order = static_cast<int>(n);
  std::vector<double> x(count), residual, row_sums(count), column(count);
  GeneratedUniform<double>(n, 1, seed + 1).read(0, n, 0, 1, x.data(), n);
  residual = x;
  const auto largest = [](const std::vector<double>& of) {
    double most = 0;
    for (const double element : of) most = std::max(most, std::abs(element));
    return most;
  };
  const double size_of_b = largest(x);
  for (const Transpose op : {Transpose::no, Transpose::yes})
    blas.trsv<double>(Triangle::lower, op, Diagonal::general, order, l.data(), order, x.data(), 1);
  const GeneratedSpd<double> source(n, seed);
  for (std::size_t j = 0; j < count; ++j) {
    source.read(0, n, static_cast<std::int64_t>(j), 1, column.data(), n);
    for (std::size_t i = 0; i < count; ++i) {
      residual[i] -= column[i] * x[j];
      row_sums[i] += std::abs(column[i]);
    }
  }
  return largest(residual) / (largest(row_sums) * largest(x) + size_of_b);
}

std::shared_ptr<const Blas> load(int threads) {
  const Config config = Config::from_environment();
  KernelSettings settings;
  settings.helper = {"/proc/self/exe", "time-blas"};
  settings.cache_directory = config.text_or("cache-directory", "");
  settings.libraries = {"libopenblas.so.0"};  // the only known library whose LAPACK is threaded
  if (config.has("blas")) settings.libraries = {config.text("blas")};
  settings.core_type = config.text_or("blas-coretype", "");
  settings.own_products = false;  // LAPACK does not use them
  const BlasCandidate chosen = choose_kernels(settings).best.candidate;
  set_blas_environment(chosen);
  ::setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 1);
  auto blas = Blas::load({.blas = chosen.library, .lapack = {}});
  // Loading has set it to one thread, as tasks require.
  const auto library = SharedLibrary::open(chosen.library);
  if (const auto openblas = library.find<void(int)>("openblas_set_num_threads"))
    openblas(threads);
  else if (const auto mkl = library.find<void(int)>("MKL_Set_Num_Threads"))
    mkl(threads);
  else if (threads != 1)
    throw ConfigError("this library has no function to set its number of threads");
  return blas;
}

int run(const Asked& asked) {
  const auto blas = load(asked.threads);
  const auto n = static_cast<int>(asked.n);
  {
    const std::int64_t small =
        std::min<std::int64_t>(asked.n, 2048);  // starts the library's threads, touches its buffers
    const Matrix warm(small);
    warm.generate(asked.seed, asked.threads);
    (void)blas->potrf<double>(Triangle::lower, static_cast<int>(small), warm.data(), static_cast<int>(small));
  }
  const Matrix a(asked.n, asked.map);
  std::vector<double> rates, seconds;
  for (int i = 0; i < asked.repetitions; ++i) {
    a.generate(asked.seed, asked.threads);
    const auto begin = std::chrono::steady_clock::now();
    const int info = blas->potrf<double>(Triangle::lower, n, a.data(), n);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    rates.push_back(potrf_flops(static_cast<double>(asked.n)) / seconds.back() * 1e-9);
    if (info != 0) throw NumericalError(fmt::format("potrf found column {} not positive", info));
    if (!asked.json) fmt::print("{:.3f} s, {:.1f} GFlop/s\n", seconds.back(), rates.back());
  }
  const double error = error_of(a, asked.n, asked.seed);
  if (error > 10 * static_cast<double>(n) * std::numeric_limits<double>::epsilon())
    throw NumericalError(fmt::format("the factor is wrong: error {}", error));
  const double backward_error = backward_error_of(*blas, a, asked.n, asked.seed);
  std::vector<double> sorted = rates;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  if (asked.json)
    fmt::print(
        R"({{"n": {}, "threads": {}, "kernels": "{}", "core_type": "{}", "gflops": {}, "backward_error": {}, "seconds": [{}], "rates": [{}]}})"
        "\n",
        asked.n, asked.threads, blas->version(), blas->core_type(), median, backward_error,
        fmt::join(seconds, ", "), fmt::join(rates, ", "));
  else
    fmt::print(
        "potrf of {} for {}, {} threads, n = {}: median {:.1f} GFlop/s, error {:.1e}, backward error "
        "{:.1e}\n",
        blas->version(), blas->core_type(), asked.threads, asked.n, median, error, backward_error);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // This program, started by itself to time a BLAS in a separate process.
  if (argc > 1 && std::string_view(argv[1]) == "time-blas")
    return time_blas_main(std::vector<std::string>(argv + 2, argv + argc));
  try {
    return run(asked_by(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "lapack_potrf: {}\n", error.what());
    return 1;
  }
}

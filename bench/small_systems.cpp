// Whole calls of the solver for small matrices in memory, against LAPACK's own drivers from the same library with as many
// threads: the simple one, which factors and solves, and the expert one, which also estimates the condition and bounds the
// error, as Fairlead does by default. A copy of the matrix, which the drivers overwrite, does not count for LAPACK.
//
//   small_systems [--rounds 9] [--library libopenblas.so.0]
#include <fairlead/error.hpp>
#include <fairlead/solver.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/shared_library.hpp"
#include "median.hpp"

namespace {

using namespace fairlead;

using Int = const std::int32_t*;
using Gesv = void(Int, Int, double*, Int, std::int32_t*, double*, Int, std::int32_t*);
using Posv = void(const char*, Int, Int, double*, Int, double*, Int, std::int32_t*);
using Gesvx = void(const char*, const char*, Int, Int, double*, Int, double*, Int, std::int32_t*, char*,
                   double*, double*, double*, Int, double*, Int, double*, double*, double*, double*,
                   std::int32_t*, std::int32_t*);
using Posvx = void(const char*, const char*, Int, Int, double*, Int, double*, Int, char*, double*, double*,
                   Int, double*, Int, double*, double*, double*, double*, std::int32_t*, std::int32_t*);

template <class Call>
double seconds(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct DenseMatrix {
  std::int32_t n;
  std::vector<double> a, b;
};

DenseMatrix matrix_of(std::int32_t n, bool symmetric) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::normal_distribution<double> normal;
  const auto size = static_cast<std::size_t>(n);
  DenseMatrix matrix{n, std::vector<double>(size * size), std::vector<double>(size, 1)};
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = 0; i < size; ++i) matrix.a[i + j * size] = normal(random);
  if (symmetric)
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < j; ++i) matrix.a[j + i * size] = matrix.a[i + j * size];
      matrix.a[j + j * size] = 3.0 * n;
    }
  return matrix;
}

class Lapack {
 public:
  Lapack(const std::string& library, int threads)
      : library_(SharedLibrary::open(library)), threads_(threads) {}

  double simple(const DenseMatrix& matrix, bool symmetric) const {
    const Threads threads(*this);
    std::vector<double> a = matrix.a, x = matrix.b;
    std::vector<std::int32_t> pivots(matrix.b.size());
    const std::int32_t n = matrix.n, one = 1;
    std::int32_t info = 0;
    const double time = seconds([&] {
      if (symmetric)
        library_.require<Posv>("dposv_")("L", &n, &one, a.data(), &n, x.data(), &n, &info);
      else
        library_.require<Gesv>("dgesv_")(&n, &one, a.data(), &n, pivots.data(), x.data(), &n, &info);
    });
    if (info != 0) throw NumericalError("LAPACK does not solve it");
    return time;
  }
  /// Without equilibration.
  double expert(const DenseMatrix& matrix, bool symmetric) const {
    const Threads threads(*this);
    const std::size_t size = matrix.b.size();
    std::vector<double> a = matrix.a, factors(a.size()), b = matrix.b, x(size), r(size), c(size),
                        work(4 * size);
    std::vector<std::int32_t> pivots(size), integers(size);
    const std::int32_t n = matrix.n, one = 1;
    std::int32_t info = 0;
    double reciprocal = 0, forward = 0, backward = 0;
    char equilibrated = 'N';
    const double time = seconds([&] {
      if (symmetric)
        library_.require<Posvx>("dposvx_")("N", "L", &n, &one, a.data(), &n, factors.data(), &n,
                                           &equilibrated, r.data(), b.data(), &n, x.data(), &n, &reciprocal,
                                           &forward, &backward, work.data(), integers.data(), &info);
      else
        library_.require<Gesvx>("dgesvx_")("N", "N", &n, &one, a.data(), &n, factors.data(), &n,
                                           pivots.data(), &equilibrated, r.data(), c.data(), b.data(), &n,
                                           x.data(), &n, &reciprocal, &forward, &backward, work.data(),
                                           integers.data(), &info);
    });
    if (info != 0) throw NumericalError("LAPACK does not solve it");
    return time;
  }

 private:
  /// Fairlead sets the library to one thread.
  struct Threads {
    explicit Threads(const Lapack& lapack) : of(lapack) { of.set(of.threads_); }
    ~Threads() { of.set(1); }
    const Lapack& of;
  };
  void set(int threads) const {
    if (const auto function = library_.find<void(int)>("openblas_set_num_threads")) function(threads);
  }

  SharedLibrary library_;
  int threads_;
};

double fairlead_time(linalg::Solver& solver, const DenseMatrix& matrix) {
  return seconds([&] {
    solver.solve(linalg::MatrixView<double>{matrix.a.data(), matrix.n, matrix.n}, matrix.b);
  });
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  std::string library = "libopenblas.so.0";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--rounds") rounds = std::max(1, std::atoi(argv[i + 1]));
    if (std::string_view(argv[i]) == "--library") library = argv[i + 1];
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const Lapack lapack(library, cores);
  fmt::print("{} threads, medians of {} interleaved rounds, in ms\n", cores, rounds);
  fmt::print("{:>6} {:>10} {:>10} {:>12} {:>10} {:>10} {:>9} {:>9}\n", "n", "method", "Fairlead",
             "no condition", "simple", "expert", "/ expert", "/ simple");
  for (const bool symmetric : {true, false})
    for (const std::int32_t n : {50, 100, 200, 300, 500, 700, 1000, 1400, 2000}) {
      const DenseMatrix matrix = matrix_of(n, symmetric);
      const auto method = symmetric ? linalg::Method::cholesky : linalg::Method::lu;
      linalg::Solver complete({.method = method}), plain({.method = method, .condition = false});
      std::vector<double> all, without, simple, expert;
      for (int round = 0; round <= rounds; ++round) {
        const double times[] = {fairlead_time(complete, matrix), fairlead_time(plain, matrix),
                                lapack.simple(matrix, symmetric), lapack.expert(matrix, symmetric)};
        if (round == 0) continue;  // the first calls load the library and memory
        all.push_back(times[0]), without.push_back(times[1]), simple.push_back(times[2]),
            expert.push_back(times[3]);
      }
      fmt::print("{:6} {:>10} {:10.3f} {:12.3f} {:10.3f} {:10.3f} {:9.2f} {:9.2f}\n", n,
                 linalg::name_of(method), 1e3 * median(all), 1e3 * median(without), 1e3 * median(simple),
                 1e3 * median(expert), median(all) / median(expert), median(without) / median(simple));
    }
  return 0;
}

// A BLAS with its own threads within the runtime: many in a body that spans all workers, one in others.
#include <dlfcn.h>

#include <memory>

#include "base/random.hpp"
#include "span_libraries/among_others.hpp"

namespace fairlead::tests {
namespace {

/// The machine's OpenBLAS, or none.
struct OpenBlas {
  using SetThreads = void (*)(int);
  using GetThreads = int (*)();
  using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*,
                        const double*, const int*, const double*, const int*, const double*, double*,
                        const int*);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  SetThreads set_threads = find<SetThreads>("openblas_set_num_threads");
  GetThreads get_threads = find<GetThreads>("openblas_get_num_threads");
  Gemm gemm = find<Gemm>("dgemm_");

  bool usable() const { return set_threads != nullptr && get_threads != nullptr && gemm != nullptr; }
  /// C += A B, all n by n, column by column.
  void multiply(int n, const double* a, const double* b, double* c) const {
    const double one = 1;
    gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &one, c, &n);
  }

 private:
  template <class Function>
  Function find(const char* name) {
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  }
};

/// Whole numbers, so that every order of summation gives the same bits.
std::vector<double> numbers(int n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (double& value : values) value = static_cast<double>(random.between(-9, 9));
  return values;
}
std::vector<double> product(int n, const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(a.size());
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i + j * n); };
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < n; ++i) c[at(i, j)] += a[at(i, k)] * b[at(k, j)];
  return c;
}

}  // namespace

TEST(SpanWithBlas, ManyThreadsInWideTasksAndOneInOthersGiveCorrectResults) {
  const OpenBlas blas;
  if (!blas.usable()) GTEST_SKIP() << "there is no OpenBLAS";
  blas.set_threads(1);
  for (const int workers : {1, 2, 3}) {
    Config config;
    config.set("workers", workers);
    config.set("memory", "4MiB");
    Runtime runtime(config);
    constexpr int n = 160, small = 24;
    const auto a = numbers(n, 1), b = numbers(n, 2), small_a = numbers(small, 3), small_b = numbers(small, 4);
    std::vector<double> c(a.size());
    std::vector<std::vector<double>> small_c(6, std::vector<double>(small_a.size()));
    int threads_right = 0;
    const auto wide = codelet("wide gemm")
                          .cpu([&](Team team, InOut<double>) {
                            // For the whole process: no other task multiplies now.
                            blas.set_threads(static_cast<int>(team.width()));
                            threads_right += blas.get_threads() == workers;
                            blas.multiply(n, a.data(), b.data(), c.data());
                            blas.set_threads(1);
                          })
                          .workers(all_workers);
    const auto narrow = codelet("gemm").cpu([&](InOut<double>, std::size_t which) {
      blas.multiply(small, small_a.data(), small_b.data(), small_c[which].data());
    });
    double whole = 0;
    std::vector<double> marks(small_c.size());
    const auto datum = runtime.value("whole", whole);
    std::vector<Handle<double>> handles;
    for (double& mark : marks) handles.push_back(runtime.value("mark", mark));
    Flow flow(runtime);
    for (int round = 0; round < 20; ++round) {
      flow.submit(wide(datum));
      for (std::size_t k = 0; k < handles.size(); ++k) flow.submit(narrow(handles[k], k));
    }
    flow.wait();
    auto expected = product(n, a, b), small_expected = product(small, small_a, small_b);
    for (double& value : expected) value *= 20;
    for (double& value : small_expected) value *= 20;
    EXPECT_EQ(threads_right, 20);
    EXPECT_EQ(c, expected);
    for (const auto& result : small_c) EXPECT_EQ(result, small_expected);
  }
}

}  // namespace fairlead::tests

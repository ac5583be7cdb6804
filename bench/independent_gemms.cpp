// Independent products of small matrices as tasks, against a loop over the same calls: from which size on overhead
// does not matter. Bosilca et al. 2011 (DAGuE), figure 3: 2^10 to 2^20 of them, sizes 2 to 100, time x cores over the
// loop's time; within 5 % of 1 from 44 microseconds on.
//
//   independent_gemms [--threads 2] [--repetitions 5] [--json]
//
// All tasks read the same A and B; C is the thread's, as in a loop. Flow, parameterized graph and loop take
// turns; the median of the ratios is printed. One run takes about a second a row and repetition.
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"

namespace {

using namespace fairlead;

struct Asked {
  int threads = 2, repetitions = 5;
  bool json = false;
};

Asked asked_by(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--json") {
      asked.json = true;
    } else if ((option == "--threads" || option == "--repetitions") && i + 1 < argc) {
      const int number = std::atoi(argv[++i]);
      if (number < 1) throw ConfigError(fmt::format("{} is a number above 0", option));
      (option == "--threads" ? asked.threads : asked.repetitions) = number;
    } else {
      throw ConfigError(fmt::format("{} is unknown or lacks a number", option));
    }
  }
  return asked;
}

template <class Work>
double seconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Products {
 public:
  Products(const Asked& asked, const linalg::Kernels& kernels, int size)
      : asked_(asked),
        kernels_(kernels),
        size_(size),
        runtime_(config_of(asked)),
        a_(runtime_.matrix<double>("A", size, size)),
        b_(runtime_.matrix<double>("B", size, size)),
        product_(codelet("gemm").cpu([this](In<Tile<double>> a, In<Tile<double>> b) {
          thread_local std::array<double, most_elements> c;
          multiply(a.data(), b.data(), c.data());
        })) {
    const auto fill = codelet("fill").cpu([size](Out<Tile<double>> tile) {
      for (int i = 0; i < size * size; ++i) tile.data()[i] = 1.0 / (1 + i);
    });
    Flow flow(runtime_);
    flow.submit(fill(a_));
    flow.submit(fill(b_));
    flow.wait();
    elements_.resize(static_cast<std::size_t>(elements()), 0.5);
    result_ = elements_;
  }

  /// As many as take about 0.15 seconds at least, a power of two from 2^10 to 2^20.
  std::uint64_t count() {
    std::uint64_t tasks = 1 << 10;
    while (tasks < (1 << 20) && loop(tasks) < 0.15) tasks *= 2;
    return tasks;
  }
  double loop(std::uint64_t tasks) {
    return seconds([&] {
      for (std::uint64_t i = 0; i < tasks; ++i) multiply(elements_.data(), elements_.data(), result_.data());
    });
  }
  double flow(std::uint64_t tasks) {
    return seconds([&] {
      Flow flow(runtime_);
      for (std::uint64_t i = 0; i < tasks; ++i) flow.submit(product_(a_, b_));
      flow.wait();
    });
  }
  double graph(std::uint64_t tasks) {
    return seconds([&] {
      ptg::Graph graph(runtime_);
      const ptg::Index i("i");
      const auto a = graph.data(a_, "A"), b = graph.data(b_, "B");
      graph.task("gemm", i.in(0, static_cast<std::int64_t>(tasks) - 1))
          .runs(product_, ptg::flow("A").from(a()), ptg::flow("B").from(b()));
      graph.run();
    });
  }

 private:
  static constexpr std::size_t most_elements = 140 * 140;
  static Config config_of(const Asked& asked) {
    Config config;
    config.set("workers", asked.threads);
    config.set("memory", "64MiB");
    return config;
  }
  std::int64_t elements() const noexcept { return std::int64_t{size_} * size_; }
  void multiply(const double* a, const double* b, double* c) const {
    using linalg::Transpose;
    kernels_.blas().gemm<double>(Transpose::no, Transpose::no, size_, size_, size_, 1, a, size_, b, size_, 0,
                                 c, size_);
  }

  const Asked asked_;
  const linalg::Kernels kernels_;
  const int size_;
  Runtime runtime_;
  Handle<Tile<double>> a_, b_;
  Codelet<In<Tile<double>>, In<Tile<double>>> product_;
  std::vector<double> elements_, result_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Asked asked = asked_by(argc, argv);
  const linalg::Kernels kernels = linalg::Kernels::load();
  int smallest_flow = 0, smallest_graph = 0;
  if (!asked.json)
    fmt::print(
        "{} threads; time x threads / the loop's time\n  size  microseconds    tasks    flow     ptg\n",
        asked.threads);
  for (const int size : {2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 80, 90, 100, 120, 140}) {
    Products products(asked, kernels, size);
    const std::uint64_t tasks = products.count();
    std::vector<double> loops, by_flow, by_graph;
    for (int i = 0; i < asked.repetitions; ++i) {
      loops.push_back(products.loop(tasks));
      by_flow.push_back(asked.threads * products.flow(tasks) / loops.back());
      by_graph.push_back(asked.threads * products.graph(tasks) / loops.back());
    }
    const double each = median(loops) / static_cast<double>(tasks) * 1e6;
    const double flow = median(by_flow), graph = median(by_graph);
    const auto note = [size](int& smallest, double ratio) {
      if (ratio > 1.05) smallest = 0;
      if (ratio <= 1.05 && smallest == 0) smallest = size;
    };
    note(smallest_flow, flow);
    note(smallest_graph, graph);
    if (asked.json)
      fmt::print(
          R"({{"size": {}, "microseconds": {:.3f}, "tasks": {}, "threads": {}, "flow": {:.4f}, "ptg": {:.4f}}})"
          "\n",
          size, each, tasks, asked.threads, flow, graph);
    else
      fmt::print("{:6} {:13.3f} {:8} {:7.3f} {:7.3f}\n", size, each, tasks, flow, graph);
    std::fflush(stdout);
  }
  if (!asked.json)
    fmt::print("within 5 % from this size on: flow {}, ptg {} (0: none)\n", smallest_flow, smallest_graph);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "independent_gemms: {}\n", error.what());
  return 2;
}

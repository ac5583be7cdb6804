// Independent products of small matrices as tasks, compared with a loop over the same calls: the size from
// which on overhead does not matter (the experiment dague/fig-3). Bosilca et al. 2011 (DAGuE), figure 3: 2^10
// to 2^20 of them, sizes 2 to 100, time x cores over the loop's time; within 5 % of 1 from 44 microseconds
// on.
//
//   independent_gemms [--threads 2] [--repetitions 5] [--json]
//
// All tasks read the same A and B; C belongs to the thread, as in a loop. Loop, loop on all threads, flow and
// parameterized graph alternate; the program prints the medians of the ratios. The parallel loop also suffers
// from the machine (clock, shared resources, other programs), so the runtime is judged by the ratio to it;
// with one thread that is the paper's ratio. A run takes about a second per row and repetition.
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "backend/cpu/affinity.hpp"
#include "machine/processors.hpp"
#include "median.hpp"

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
      if (number < 1) throw ConfigError(fmt::format("{} must be a number above 0", option));
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

/// Threads that start at the same time.
class AtOnce {
 public:
  explicit AtOnce(int threads) : turn_(threads + 1) {
    const auto cores = machine::detect_processors().cores;
    for (std::size_t i = 0; i < static_cast<std::size_t>(threads); ++i)
      threads_.emplace_back([this, i, unit = cores[i % cores.size()].processing_unit] {
        backend::bind_thread(std::span(&unit, 1));
        for (;;) {
          turn_.arrive_and_wait();
          if (work_ == nullptr) return;
          (*work_)(i, threads_.size());
          turn_.arrive_and_wait();
        }
      });
  }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;
  ~AtOnce() {
    work_ = nullptr;
    turn_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }
  double seconds(const std::function<void(std::size_t thread, std::size_t threads)>& work) {
    work_ = &work;
    return ::seconds([&] {
      turn_.arrive_and_wait();
      turn_.arrive_and_wait();
    });
  }

 private:
  std::barrier<> turn_;
  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::vector<std::thread> threads_;
};

class Products {
 public:
  Products(const Asked& asked, const linalg::Kernels& kernels, int size)
      : asked_(asked),
        kernels_(kernels),
        size_(size),
        at_once_(asked.threads),
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

  /// The number of products that take at least about 0.15 seconds: a power of two from 2^10 to 2^20.
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
  /// The same on all threads at once, without a runtime: each has its share and runs on a worker's core.
  double loops(std::uint64_t tasks) {
    return at_once_.seconds([&](std::size_t thread, std::size_t threads) {
      thread_local std::array<double, most_elements> c;
      for (std::uint64_t i = thread; i < tasks; i += threads)
        multiply(elements_.data(), elements_.data(), c.data());
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
  AtOnce at_once_;
  Runtime runtime_;
  Handle<Tile<double>> a_, b_;
  Codelet<In<Tile<double>>, In<Tile<double>>> product_;
  std::vector<double> elements_, result_;
};

}  // namespace

int main(int argc, char** argv) try {
  constexpr double within = 1.05, of_the_paper = 44;
  const Asked asked = asked_by(argc, argv);
  const linalg::Kernels kernels = linalg::Kernels::load();
  double since_flow = 0, since_graph = 0;  // microseconds
  if (!asked.json)
    fmt::print(
        "{} threads; time x threads / the loop's time, and the ratio to the loops on all threads\n"
        "  size  microseconds    tasks   loops    flow     ptg  flow/loops  ptg/loops\n",
        asked.threads);
  for (const int size : {2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 80, 90, 100, 120, 140}) {
    Products products(asked, kernels, size);
    const std::uint64_t tasks = products.count();
    std::vector<double> alone, all, by_flow, by_graph, flow_to_loops, graph_to_loops;
    for (int i = 0; i < asked.repetitions; ++i) {
      alone.push_back(products.loop(tasks));
      const double loops = products.loops(tasks), flow = products.flow(tasks), graph = products.graph(tasks);
      all.push_back(asked.threads * loops / alone.back());
      by_flow.push_back(asked.threads * flow / alone.back());
      by_graph.push_back(asked.threads * graph / alone.back());
      flow_to_loops.push_back(flow / loops);
      graph_to_loops.push_back(graph / loops);
    }
    const double each = median(alone) / static_cast<double>(tasks) * 1e6;
    const double flow = median(flow_to_loops), graph = median(graph_to_loops);
    const auto note = [each](double& since, double ratio) {
      if (ratio > within) since = 0;
      if (ratio <= within && since == 0) since = each;
    };
    note(since_flow, flow);
    note(since_graph, graph);
    if (asked.json)
      fmt::print(
          R"({{"size": {}, "microseconds": {:.3f}, "tasks": {}, "threads": {}, "loops": {:.4f}, "flow": {:.4f}, )"
          R"("ptg": {:.4f}, "flow_to_loops": {:.4f}, "ptg_to_loops": {:.4f}}})"
          "\n",
          size, each, tasks, asked.threads, median(all), median(by_flow), median(by_graph), flow, graph);
    else
      fmt::print("{:6} {:13.3f} {:8} {:7.3f} {:7.3f} {:7.3f} {:11.3f} {:10.3f}\n", size, each, tasks,
                 median(all), median(by_flow), median(by_graph), flow, graph);
    std::fflush(stdout);
  }
  const auto verdict = [&](const char* what, double since) {
    if (since == 0) return fmt::format("{} at none of these", what);
    return fmt::format("{} from {:.2f} microseconds on", what, since);
  };
  const bool both =
      std::min(since_flow, since_graph) > 0 && std::max(since_flow, since_graph) <= of_the_paper;
  if (asked.json)
    fmt::print(
        R"({{"threads": {}, "flow_within_5_percent_from": {:.3f}, "ptg_within_5_percent_from": {:.3f}, )"
        R"("paper": {}, "reproduced": {}}})"
        "\n",
        asked.threads, since_flow, since_graph, of_the_paper, both);
  else
    fmt::print("within 5 %: {}, {}; the paper: from {} on: {}\n", verdict("flow", since_flow),
               verdict("ptg", since_graph), of_the_paper, both ? "reproduced" : "differs");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "independent_gemms: {}\n", error.what());
  return 2;
}

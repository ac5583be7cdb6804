// The measurement of every overhead_*.cpp: after one run that checks the order of tasks, five repetitions of
// each graph (or --repetitions NUMBER; --quick: one), of which it prints the median. Submission is timed, the
// registration of data is not.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "median.hpp"
#include "overhead_bodies.hpp"

namespace overhead {

struct Options {
  bool json = false;
  int repetitions = 5;
};

inline Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(argv[i], "--quick") == 0) {
      options.repetitions = 1;
    } else if (std::strcmp(argv[i], "--repetitions") == 0 && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.repetitions = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "unknown option %s (known: --json, --quick, --repetitions NUMBER)\n", argv[i]);
      std::exit(2);
    }
  }
  return options;
}

struct Row {
  std::string system, graph;
  int threads;  ///< including the application's
  std::size_t tasks;
  double ns_per_task;
  double efficiency = 0;  ///< computing time over processors x time; 0: the bodies were empty
};

inline void print(const Row& row, bool json) {
  if (json) {
    std::printf(R"({"system": "%s", "graph": "%s", "threads": %d, "tasks": %zu, "ns_per_task": %.1f)",
                row.system.c_str(), row.graph.c_str(), row.threads, row.tasks, row.ns_per_task);
    if (row.efficiency > 0) std::printf(R"(, "efficiency": %.4f)", row.efficiency);
    std::printf("}\n");
  } else {
    std::printf("%-16s %-18s %d %8zu %9.1f", row.system.c_str(), row.graph.c_str(), row.threads, row.tasks,
                row.ns_per_task);
    if (row.efficiency > 0) std::printf("   efficiency %.1f %%", 100 * row.efficiency);
    std::printf("\n");
  }
  std::fflush(stdout);
}

/// Duration of `work` in nanoseconds.
template <class Work>
double nanoseconds(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures one system with one number of threads. `System` has
///   name(), threads() (including the application's), processors() (that compute);
///   prepare(values), release(): registers and unregisters the data; neither is timed;
///   run(graph, body): runs the graph's tasks, with this body, on the data.
/// `spinning` was calibrated before any system had threads that could disturb it. Returns false if a result
/// is wrong.
template <class System>
bool measure(System& system, const SpinningBody& spinning, const Options& options) {
  bool right = true;
  for (const Graph& graph : compared_graphs()) {
    auto values = initial_values(graph);
    system.prepare(values);
    system.run(graph, CheckingBody{});
    std::vector<double> times;
    if (values == sequential_result(graph)) {
      for (int i = 0; i < options.repetitions; ++i) {
        times.push_back(nanoseconds([&] { system.run(graph, EmptyBody{}); }));
      }
    }
    system.release();
    if (times.empty()) {
      std::fprintf(stderr, "%s, %d threads: %s gave a wrong result\n", system.name().c_str(),
                   system.threads(), graph.name().c_str());
      right = false;
      continue;
    }
    print({system.name(), graph.name(), system.threads(), graph.tasks(),
           median(times) / static_cast<double>(graph.tasks())},
          options.json);
  }

  // Tasks of 20 microseconds: their share of the processor time.
  const Graph graph{Graph::Shape::independent, 10'000};
  auto values = initial_values(graph);
  system.prepare(values);
  std::vector<double> times;
  for (int i = 0; i < options.repetitions; ++i) {
    times.push_back(nanoseconds([&] { system.run(graph, spinning); }));
  }
  system.release();
  const double ns_per_task = median(times) / static_cast<double>(graph.tasks());
  print({system.name(), "independent-20us", system.threads(), graph.tasks(), ns_per_task,
         spinning.duration_ns / (system.processors() * ns_per_task)},
        options.json);
  return right;
}

}  // namespace overhead

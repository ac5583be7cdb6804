// The measurement of every task_patterns*.cpp: METG(50 %) of Task Bench, the smallest task size at which half
// of the cores' time is computing. The mean time of a task is the total time of the cores divided by the
// number of tasks. The computation grows and shrinks by factors of two until there is a size on either side
// of 50 %; then the middle is measured, and the result is interpolated. All outputs of all runs are checked.
//
//   PROGRAM [--steps 1000] [--cores 2] [--columns 0] [--repetitions 5] [--ns-per-iteration 0] [--only SYSTEM]
//           [--pattern NAME] [--kept 0] [--computing-ns 0] [--check]
//
// --columns 0: twice the number of cores, and once. --ns-per-iteration 0: measured first; --calibrate
// measures only that. --computing-ns: tasks of that size only. --kept: places for the values of a column; 0:
// the system's default. --check runs every system on every pattern once, and only checks the outputs. Prints
// JSON, a line for each size and one for each METG; exit status 1 if an output is wrong.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "task_patterns.hpp"

namespace patterns {

struct Asked {
  int steps = 1000, cores = 2, columns = 0, repetitions = 5, kept = 0;
  double ns_per_iteration = 0, computing_ns = 0;
  std::string only, pattern;
  bool check = false, calibrate = false;
};

inline Asked asked_by(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const bool last = i + 1 == argc;
    if (option == "--check") {
      asked.check = true;
    } else if (option == "--calibrate") {
      asked.calibrate = true;
    } else if (option == "--steps" && !last) {
      asked.steps = std::atoi(argv[++i]);
    } else if (option == "--cores" && !last) {
      asked.cores = std::atoi(argv[++i]);
    } else if (option == "--columns" && !last) {
      asked.columns = std::atoi(argv[++i]);
    } else if (option == "--kept" && !last) {
      asked.kept = std::atoi(argv[++i]);
    } else if (option == "--repetitions" && !last) {
      asked.repetitions = std::atoi(argv[++i]);
    } else if (option == "--ns-per-iteration" && !last) {
      asked.ns_per_iteration = std::atof(argv[++i]);
    } else if (option == "--computing-ns" && !last) {
      asked.computing_ns = std::atof(argv[++i]);
    } else if (option == "--only" && !last) {
      asked.only = argv[++i];
    } else if (option == "--pattern" && !last) {
      asked.pattern = argv[++i];
    } else {
      throw std::invalid_argument("unknown option " + option + ", or it lacks a value");
    }
  }
  if (asked.cores < 1 || asked.steps < 1 || asked.repetitions < 1 || asked.kept < 0 || asked.kept == 1 ||
      asked.columns < 0 || std::max(asked.columns, 2 * asked.cores) > most_inputs)
    throw std::invalid_argument(
        "at least one core, step and repetition, no or two values kept, and at most 8 columns");
  return asked;
}

inline double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The duration of one iteration: the fastest of many trials.
inline double measured_ns_per_iteration() {
  constexpr std::uint64_t iterations = 20'000;
  double fastest = 1e18;
  Value x = 1;
  for (int trial = 0; trial < 300; ++trial) {
    const double begin = now_ns();
    x = computed(x, iterations);
    fastest = std::min(fastest, (now_ns() - begin) / iterations);
  }
  asm volatile("" ::"r"(x));
  return fastest;
}

/// The systems of one program, one after the other. A `System` has
///   name(); prepare(run), release(): not timed;
///   seconds(run): runs all tasks once; returns the duration, the same on all ranks;
///   right(run, expected): whether the outputs are as expected, on all ranks;
///   prints(): whether this process prints.
template <class System>
class Measurement {
 public:
  Measurement(System& system, const Asked& asked) : system_(system), asked_(asked) {}

  bool go() {
    if (!asked_.only.empty() && asked_.only != system_.name()) return true;
    for (const Pattern pattern : all_patterns)
      if (asked_.pattern.empty() || asked_.pattern == name_of(pattern))
        for (const int columns :
             asked_.columns > 0 ? std::vector{asked_.columns} : std::vector{2 * asked_.cores, asked_.cores}) {
          run_.shape = {pattern, columns, asked_.steps};
          run_.kept = asked_.kept;
          system_.prepare(run_);
          for (const bool imbalanced : {false, true}) {
            run_.imbalanced = imbalanced;
            if (asked_.check)
              run_once(300);
            else if (asked_.computing_ns > 0)
              measured(asked_.computing_ns);
            else
              search();
          }
          system_.release();
        }
    return right_;
  }

 private:
  /// The measurement of one size.
  struct Point {
    double computing_ns = 0;  ///< per task, on average
    double task_ns = 0;       ///< the cores' time per task
    double efficiency() const { return computing_ns / task_ns; }
  };
  static constexpr double smallest_ns = 16, largest_ns = 140'000;

  double run_once(std::uint64_t iterations) {
    run_.iterations = iterations;
    run_.outputs.assign(static_cast<std::size_t>(run_.shape.columns) * static_cast<std::size_t>(asked_.steps),
                        0);
    const double seconds = system_.seconds(run_);
    if (!system_.right(run_, expected_outputs(run_))) {
      right_ = false;
      if (system_.prints())
        std::fprintf(stderr, "%s, %s, %d columns: outputs are WRONG\n", system_.name(),
                     name_of(run_.shape.pattern).data(), run_.shape.columns);
    }
    return seconds;
  }

  Point measured(double computing_ns) {
    const auto iterations =
        static_cast<std::uint64_t>(std::max(1.0, std::round(computing_ns / asked_.ns_per_iteration)));
    std::vector<double> seconds;
    for (int i = 0; i < asked_.repetitions; ++i) seconds.push_back(run_once(iterations));
    std::ranges::sort(seconds);
    const double tasks = static_cast<double>(run_.shape.columns) * asked_.steps;
    const Point point{all_iterations(run_) * asked_.ns_per_iteration / tasks,
                      seconds[seconds.size() / 2] * 1e9 * asked_.cores / tasks};
    if (system_.prints()) {
      head();
      std::printf(R"("computing_ns": %.1f, "task_ns": %.1f, "efficiency": %.4f})"
                  "\n",
                  point.computing_ns, point.task_ns, point.efficiency());
    }
    return point;
  }

  void search() {
    Point below, above;  // an efficiency of 1/2
    double best = 0;
    const auto look = [&](double computing_ns) {
      const Point point = measured(computing_ns);
      best = std::max(best, point.efficiency());
      (point.efficiency() < 0.5 ? below : above) = point;
      return point.efficiency() >= 0.5;
    };
    double size = 1000;
    if (look(size)) {
      while (below.task_ns == 0 && size / 2 >= smallest_ns) look(size /= 2);
    } else {
      while (above.task_ns == 0 && size * 2 <= largest_ns) look(size *= 2);
    }
    if (below.task_ns != 0 && above.task_ns != 0) look(std::sqrt(below.computing_ns * above.computing_ns));
    if (!system_.prints()) return;
    head();
    if (above.task_ns == 0) {
      std::printf(R"("metg_ns": null, "best_efficiency": %.4f})", best);
    } else if (below.task_ns == 0) {  // even the smallest tasks
      std::printf(R"("metg_ns": %.1f, "at_most": true})", above.task_ns);
    } else {
      const double part =
          (0.5 - below.efficiency()) / (above.efficiency() - below.efficiency());  // interpolation weight
      std::printf(R"("metg_ns": %.1f})",
                  2 * below.computing_ns * std::pow(above.computing_ns / below.computing_ns, part));
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  void head() const {
    std::printf(
        R"({"system": "%s", "pattern": "%s", "columns": %d, "cores": %d, "steps": %d, "imbalance": %s, )",
        system_.name(), name_of(run_.shape.pattern).data(), run_.shape.columns, asked_.cores, asked_.steps,
        run_.imbalanced ? "true" : "false");
  }

  System& system_;
  const Asked& asked_;
  Run run_;
  bool right_ = true;
};

template <class System>
bool measure(System&& system, const Asked& asked) {
  return Measurement<std::remove_reference_t<System>>(system, asked).go();
}

/// The calibration, before a system has threads, and the runs of --calibrate.
inline bool calibrated(Asked& asked) {
  if (asked.ns_per_iteration <= 0) asked.ns_per_iteration = measured_ns_per_iteration();
  if (asked.calibrate) std::printf("%.5f\n", asked.ns_per_iteration);
  return asked.calibrate;
}

}  // namespace patterns

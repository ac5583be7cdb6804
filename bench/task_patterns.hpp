// Task patterns of Task Bench (Slaughter et al. 2020): steps times columns of tasks; task (t, i) reads the
// outputs of some tasks of step t - 1, computes for a while, and writes a number. This file has the task
// body, which is the same for every system, and the expected outputs, computed in another way.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace patterns {

using Value = std::uint64_t;  // output of a task

/// The columns whose values of the previous step task (t, i) of w columns reads.
enum class Pattern : std::uint8_t {
  trivial,         // none
  stencil,         // i - 1, i and i + 1
  fft,             // i and those 2^s away, with s cycling
  random_nearest,  // i, and each of the two on either side with probability 1/2
  tree,            // i / 2
  all_to_all,      // all
};
inline constexpr std::array all_patterns{Pattern::trivial,        Pattern::stencil, Pattern::fft,
                                         Pattern::random_nearest, Pattern::tree,    Pattern::all_to_all};

constexpr std::string_view name_of(Pattern pattern) {
  constexpr std::array names{"trivial", "stencil", "fft", "random nearest", "tree", "all to all"};
  return names[static_cast<std::size_t>(pattern)];
}

inline constexpr int most_inputs = 8;    // the maximum number of columns for all_to_all
inline constexpr int random_radius = 2;  // in random_nearest

struct Shape {
  Pattern pattern = Pattern::trivial;
  int columns = 4, steps = 1000;
};

constexpr std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
constexpr std::uint64_t draw(int step, int column, int of) {
  return mixed((static_cast<std::uint64_t>(step) << 32 | static_cast<std::uint64_t>(column) << 16 |
                static_cast<std::uint64_t>(of)) *
                   0x9e3779b97f4a7c15u +
               1);
}

/// The distance of the inputs of `fft` in this step: 1, 2, ... up to half of the columns, cyclically.
constexpr int fft_distance(int columns, int step) {
  int stages = 0;
  while (2 << stages < columns) ++stages;
  return 1 << ((step - 1) % (stages + 1));
}

/// Whether task (step, column) reads the value of (step - 1, from).
constexpr bool takes(const Shape& shape, int step, int column, int from) {
  if (step == 0 || from < 0 || from >= shape.columns) return false;
  const int apart = from < column ? column - from : from - column;
  switch (shape.pattern) {
    case Pattern::trivial:
      return false;
    case Pattern::stencil:
      return apart <= 1;
    case Pattern::fft:
      return apart == 0 || apart == fft_distance(shape.columns, step);
    case Pattern::random_nearest:
      return apart == 0 || (apart <= random_radius && draw(step, column, from + 1) % 2 == 0);
    case Pattern::tree:
      return from == column / 2;
    case Pattern::all_to_all:
      return true;
  }
  return false;
}

/// The columns of a task's inputs, from left to right.
struct Inputs {
  std::array<int, most_inputs> columns{};
  int count = 0;
  const int* begin() const { return columns.data(); }
  const int* end() const { return columns.data() + count; }
};
inline Inputs inputs_of(const Shape& shape, int step, int column) {
  Inputs inputs;
  for (int from = 0; from < shape.columns; ++from)
    if (takes(shape, step, column, from)) inputs.columns[static_cast<std::size_t>(inputs.count++)] = from;
  return inputs;
}
/// One entry per task: that of (step, column) at [step * columns + column].
inline std::vector<Inputs> all_inputs(const Shape& shape) {
  std::vector<Inputs> all;
  for (int step = 0; step < shape.steps; ++step)
    for (int column = 0; column < shape.columns; ++column) all.push_back(inputs_of(shape, step, column));
  return all;
}

/// The current run; tasks read it. A system that keeps its graph runs it with another amount of computing.
struct Run {
  Shape shape;
  std::uint64_t iterations = 0;  ///< per task, on average
  bool imbalanced = false;       ///< uniformly random from 0 to twice as many
  int kept =
      0;  ///< places per column: a value overwrites that of so many steps before; 0: the system's default
  std::vector<Value> outputs;  ///< that of task (step, column) at [step * columns + column]

  std::uint64_t iterations_of(int step, int column) const {
    return imbalanced ? iterations * (draw(step, column, 0) >> 48) >> 15 : iterations;
  }
};

/// The computation: dependent numbers, so that neither the compiler nor vectorization shortens it.
inline constexpr std::uint64_t factor = 6364136223846793005u, summand = 1442695040888963407u;
inline Value computed(Value x, std::uint64_t iterations) {
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * factor + summand;
    asm volatile("" : "+r"(x));
  }
  return x;
}
constexpr Value taken_in(Value x, Value input) { return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + input; }

/// The task body of every system: `inputs` are values, from left to right.
template <class Inputs>
Value task(Run& run, int step, int column, const Inputs& inputs) {
  Value x = draw(step, column, 0);
  for (const Value input : inputs) x = taken_in(x, input);
  x = computed(x, run.iterations_of(step, column));
  run.outputs[static_cast<std::size_t>(step) * static_cast<std::size_t>(run.shape.columns) +
              static_cast<std::size_t>(column)] = x;
  return x;
}

/// All outputs, task by task; the computation in as many steps as its length has bits.
inline std::vector<Value> expected_outputs(const Run& run) {
  const auto columns = static_cast<std::size_t>(run.shape.columns);
  std::vector<Value> outputs;
  for (int step = 0; step < run.shape.steps; ++step)
    for (int column = 0; column < run.shape.columns; ++column) {
      Value x = draw(step, column, 0);
      for (int from = 0; from < run.shape.columns; ++from)
        if (takes(run.shape, step, column, from))
          x = taken_in(
              x, outputs[(static_cast<std::size_t>(step) - 1) * columns + static_cast<std::size_t>(from)]);
      std::uint64_t by = factor, add = summand;  // for 1, 2, 4, ... iterations
      for (std::uint64_t left = run.iterations_of(step, column); left != 0; left >>= 1) {
        if (left & 1) x = x * by + add;
        add = add * by + add;
        by *= by;
      }
      outputs.push_back(x);
    }
  return outputs;
}

/// The iterations of all tasks of a run.
inline double all_iterations(const Run& run) {
  double sum = 0;
  for (int step = 0; step < run.shape.steps; ++step)
    for (int column = 0; column < run.shape.columns; ++column)
      sum += static_cast<double>(run.iterations_of(step, column));
  return sum;
}

}  // namespace patterns

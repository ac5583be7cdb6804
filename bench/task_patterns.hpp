// Tasks in patterns as Task Bench has them (Slaughter et al. 2020): steps times columns of tasks; task (t, i) takes what
// some tasks of step t - 1 have left, computes for a while, and leaves a number. What a task does is here, so that it is
// the same for every system, and what all outputs are, computed in another way.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace patterns {

using Value = std::uint64_t;  // what a task leaves

/// Whose values of the step before task (t, i) of w columns takes.
enum class Pattern : std::uint8_t {
  trivial,         // nobody's
  stencil,         // of i - 1, i and i + 1
  fft,             // of i and of those 2^s away, s going round
  random_nearest,  // of i, and of each of the two on either side in half of the cases
  tree,            // of i / 2
  all_to_all,      // of all
};
inline constexpr std::array all_patterns{Pattern::trivial,        Pattern::stencil, Pattern::fft,
                                         Pattern::random_nearest, Pattern::tree,    Pattern::all_to_all};

constexpr std::string_view name_of(Pattern pattern) {
  constexpr std::array names{"trivial", "stencil", "fft", "random nearest", "tree", "all to all"};
  return names[static_cast<std::size_t>(pattern)];
}

inline constexpr int most_inputs = 8;    // so many columns there are for all_to_all at the most
inline constexpr int random_radius = 2;  // of random_nearest

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

/// How far the other ends of `fft` are from a task of this step: 1, 2, ... up to half of the columns, and again.
constexpr int fft_distance(int columns, int step) {
  int stages = 0;
  while (2 << stages < columns) ++stages;
  return 1 << ((step - 1) % (stages + 1));
}

/// Whether task (step, column) takes the value of (step - 1, from).
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

/// Whose values a task takes, from the left to the right.
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
/// All of a shape: of task (step, column) at [step * columns + column].
inline std::vector<Inputs> all_inputs(const Shape& shape) {
  std::vector<Inputs> all;
  for (int step = 0; step < shape.steps; ++step)
    for (int column = 0; column < shape.columns; ++column) all.push_back(inputs_of(shape, step, column));
  return all;
}

/// What is run at the moment; tasks read it. A system that keeps its graph runs it with another amount of computing.
struct Run {
  Shape shape;
  std::uint64_t iterations = 0;  ///< of a task, in the mean
  bool imbalanced = false;       ///< from 0 to twice as many, drawn uniformly
  int kept =
      0;  ///< places of a column: a task's value takes that of the task so many steps before; 0: as suits the system
  std::vector<Value> outputs;  ///< of task (step, column) at [step * columns + column]

  std::uint64_t iterations_of(int step, int column) const {
    return imbalanced ? iterations * (draw(step, column, 0) >> 48) >> 15 : iterations;
  }
};

/// The computing: numbers that follow from each other, so that no compiler and no wide register makes it shorter.
inline constexpr std::uint64_t factor = 6364136223846793005u, summand = 1442695040888963407u;
inline Value computed(Value x, std::uint64_t iterations) {
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * factor + summand;
    asm volatile("" : "+r"(x));
  }
  return x;
}
constexpr Value taken_in(Value x, Value input) { return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + input; }

/// What a task does, whoever runs it: `inputs` are values, from the left to the right.
template <class Inputs>
Value task(Run& run, int step, int column, const Inputs& inputs) {
  Value x = draw(step, column, 0);
  for (const Value input : inputs) x = taken_in(x, input);
  x = computed(x, run.iterations_of(step, column));
  run.outputs[static_cast<std::size_t>(step) * static_cast<std::size_t>(run.shape.columns) +
              static_cast<std::size_t>(column)] = x;
  return x;
}

/// All outputs, one task after the other; the computing in as many steps as its length has bits.
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
      std::uint64_t by = factor, add = summand;  // of 1, 2, 4, ... iterations
      for (std::uint64_t left = run.iterations_of(step, column); left != 0; left >>= 1) {
        if (left & 1) x = x * by + add;
        add = add * by + add;
        by *= by;
      }
      outputs.push_back(x);
    }
  return outputs;
}

/// How many iterations all tasks of a run do together.
inline double all_iterations(const Run& run) {
  double sum = 0;
  for (int step = 0; step < run.shape.steps; ++step)
    for (int column = 0; column < run.shape.columns; ++column)
      sum += static_cast<double>(run.iterations_of(step, column));
  return sum;
}

}  // namespace patterns

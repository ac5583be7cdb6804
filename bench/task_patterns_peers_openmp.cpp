// Task patterns with OpenMP (GCC's runtime): as tasks with `depend`, and step by step with a barrier after
// each, with a static or dynamic schedule of columns. See task_patterns_main.hpp.
#include <omp.h>

#include "task_patterns_main.hpp"

namespace {

using namespace patterns;

enum class How { tasks, loop, dynamic_loop };

class OpenMp {
 public:
  OpenMp(How how, int threads) : how_(how), threads_(threads) {}

  const char* name() const {
    switch (how_) {
      case How::tasks:
        return "OpenMP tasks";
      case How::loop:
        return "OpenMP for";
      case How::dynamic_loop:
        return "OpenMP for, dynamic";
    }
    return "?";
  }
  bool prints() const { return true; }
  bool right(const Run& run, const std::vector<Value>& expected) const { return run.outputs == expected; }
  void prepare(const Run& run) {
    inputs_ = all_inputs(run.shape);
    // Each step has its own places: with few, GCC's lists of tasks that wait for a place get long, and METG
    // is several times larger.
    kept_ = how_ != How::tasks ? 2 : run.kept > 0 ? run.kept : run.shape.steps;
    columns_ = static_cast<std::size_t>(run.shape.columns);
    places_.assign(static_cast<std::size_t>(kept_) * columns_, {});
  }
  void release() {}

  double seconds(Run& run) {
    const double begin = now_ns();
    switch (how_) {
      case How::tasks:
        as_tasks(run);
        break;
      case How::loop:
#pragma omp parallel num_threads(threads_)
        for (int step = 0; step < run.shape.steps; ++step) {
#pragma omp for schedule(static)
          for (int column = 0; column < run.shape.columns; ++column) one(run, step, column);
        }
        break;
      case How::dynamic_loop:
#pragma omp parallel num_threads(threads_)
        for (int step = 0; step < run.shape.steps; ++step) {
#pragma omp for schedule(dynamic, 1)
          for (int column = 0; column < run.shape.columns; ++column) one(run, step, column);
        }
        break;
    }
    return (now_ns() - begin) / 1e9;
  }

 private:
  /// No two values share a cache line.
  struct alignas(64) Place {
    Value value = 0;
  };

  Value& place(int step, int column) {
    return places_[static_cast<std::size_t>(step % kept_) * columns_ + static_cast<std::size_t>(column)]
        .value;
  }
  const Inputs& inputs(const Run& run, int step, int column) const {
    return inputs_[static_cast<std::size_t>(step) * static_cast<std::size_t>(run.shape.columns) +
                   static_cast<std::size_t>(column)];
  }
  void one(Run& run, int step, int column) {
    const Inputs& of = inputs(run, step, column);
    std::array<Value, most_inputs> values;
    for (int i = 0; i < of.count; ++i)
      values[static_cast<std::size_t>(i)] = place(step - 1, of.columns[static_cast<std::size_t>(i)]);
    place(step, column) =
        task(run, step, column, std::span(values).first(static_cast<std::size_t>(of.count)));
  }

  void as_tasks(Run& run) {
    Run* const shared = &run;
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (int step = 0; step < shared->shape.steps; ++step)
      for (int column = 0; column < shared->shape.columns; ++column) {
        if (shared->shape.pattern == Pattern::trivial) {
#pragma omp task firstprivate(shared, step, column)
          one(*shared, step, column);
          continue;
        }
        const Inputs& of = inputs(*shared, step, column);
        [[maybe_unused]] Value* const own = &place(step, column);
        const Value* in[most_inputs] = {};
        for (int i = 0; i < of.count; ++i) in[i] = &place(step - 1, of.columns[static_cast<std::size_t>(i)]);
        switch (of.count) {
          case 0:
#pragma omp task depend(out : own[0]) firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
          case 1:
#pragma omp task depend(in : in[0][0]) depend(out : own[0]) firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
          case 2:
#pragma omp task depend(in : in[0][0], in[1][0]) depend(out : own[0]) firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
          case 3:
#pragma omp task depend(in                                         \
                        : in[0][0], in[1][0], in[2][0]) depend(out \
                                                               : own[0]) firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
          case 4:
#pragma omp task depend(in                                                         \
                        : in[0][0], in[1][0], in[2][0], in[3][0]) depend(out       \
                                                                         : own[0]) \
    firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
          default:  // on more than two cores; a task named twice is waited for once
            for (int i = of.count; i < most_inputs; ++i) in[i] = in[0];
#pragma omp task depend(in                                                                                \
                        : in[0][0], in[1][0], in[2][0], in[3][0], in[4][0], in[5][0], in[6][0], in[7][0]) \
    depend(out                                                                                            \
           : own[0]) firstprivate(shared, step, column)
            one(*shared, step, column);
            break;
        }
      }
  }

  How how_;
  int threads_, kept_ = 2;
  std::size_t columns_ = 0;
  std::vector<Inputs> inputs_;
  std::vector<Place> places_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Asked asked = asked_by(argc, argv);
    if (calibrated(asked)) return 0;
    bool right = true;
    for (const How how : {How::tasks, How::loop, How::dynamic_loop})
      right &= measure(OpenMp(how, asked.cores), asked);
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "task_patterns_peers_openmp: %s\n", error.what());
    return 2;
  }
}

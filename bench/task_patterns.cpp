// Task patterns on Fairlead on one machine: as a flow, as its recording (with dependencies analysed in
// advance), and as a parameterized graph. See task_patterns_main.hpp.
#include <fairlead/fairlead.hpp>

#include <memory>

#include "task_patterns_main.hpp"
#include "task_patterns_ptg.hpp"

namespace {

using namespace patterns;

enum class Front { flow, recording, parameterized };

class Fairlead {
 public:
  Fairlead(Front front, int workers) : front_(front), workers_(workers) {}

  const char* name() const {
    switch (front_) {
      case Front::flow:
        return "Fairlead flow";
      case Front::recording:
        return "Fairlead recording";
      case Front::parameterized:
        return "Fairlead ptg";
    }
    return "?";
  }
  bool prints() const { return true; }
  bool right(const Run& run, const std::vector<Value>& expected) const { return run.outputs == expected; }

  void prepare(Run& run) {
    fl::Config config;
    config.set("workers", workers_);
    config.set("memory", "64MiB");
    runtime_ = std::make_unique<fl::Runtime>(config);
    const int kept = run.kept > 0 ? run.kept : 2;
    places_ = std::make_unique<fl::TiledMatrix<Value>>(
        runtime_->tiled<Value>("place", run.shape.columns, kept, fl::TileSize{1, 1}));
    inputs_ = all_inputs(run.shape);
    if (front_ == Front::parameterized) graph_ = std::make_unique<Graph>(*runtime_, *places_, run);
    if (front_ == Front::recording) {
      recording_ = std::make_unique<fl::Recording>(*runtime_);
      submit(*recording_, run);
    }
  }
  void release() {
    graph_.reset();
    recording_.reset();
    places_.reset();
    runtime_.reset();
  }

  double seconds(Run& run) {
    const double begin = now_ns();
    if (front_ == Front::parameterized) {
      graph_->run();
    } else if (front_ == Front::recording) {
      recording_->run();
    } else {
      fl::Flow flow(*runtime_);
      submit(flow, run);
      flow.wait();
    }
    return (now_ns() - begin) / 1e9;
  }

 private:
  template <class Into>
  void submit(Into& into, Run& run) {
    if (run.shape.pattern == Pattern::trivial) {
      const auto point = point_alone(run);
      for (int step = 0; step < run.shape.steps; ++step)
        for (int column = 0; column < run.shape.columns; ++column) into.submit(point(step, column));
      return;
    }
    [&]<std::size_t... C>(std::index_sequence<C...>) {
      submit(into, run, std::tuple(point_of(run, std::make_index_sequence<C>())...));
    }
    (std::make_index_sequence<most_inputs + 1>());
  }
  /// `points`: by the number of inputs.
  template <class Into, class Points>
  void submit(Into& into, Run& run, const Points& points) {
    const auto kept = places_->tile_columns();
    auto inputs = inputs_.begin();
    for (int step = 0; step < run.shape.steps; ++step)
      for (int column = 0; column < run.shape.columns; ++column, ++inputs)
        [&]<std::size_t... C>(std::index_sequence<C...>) {
          ((inputs->count == static_cast<int>(C) ? submit_one(into, std::get<C>(points), *inputs, step,
                                                              column, kept, std::make_index_sequence<C>())
                                                 : void()),
           ...);
        }
    (std::make_index_sequence<most_inputs + 1>());
  }
  template <class Into, class Point, std::size_t... K>
  void submit_one(Into& into, const Point& point, const Inputs& inputs, int step, int column, int kept,
                  std::index_sequence<K...>) {
    const auto& places = *places_;
    into.submit(
        point(places(column, step % kept), places(inputs.columns[K], (step - 1) % kept)..., step, column));
  }

  Front front_;
  int workers_;
  std::vector<Inputs> inputs_;
  std::unique_ptr<fl::Runtime> runtime_;
  std::unique_ptr<fl::TiledMatrix<Value>> places_;
  std::unique_ptr<fl::Recording> recording_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Asked asked = asked_by(argc, argv);
    if (calibrated(asked)) return 0;
    bool right = true;
    for (const Front front : {Front::flow, Front::recording, Front::parameterized})
      right &= measure(Fairlead(front, asked.cores), asked);
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "task_patterns: %s\n", error.what());
    return 2;
  }
}

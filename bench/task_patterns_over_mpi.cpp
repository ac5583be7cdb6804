// Task patterns over ranks of one core each: with MPI alone, bulk-synchronously, with a barrier after each
// step; with MPI alone, each task as soon as its inputs have arrived; and as a parameterized graph of
// Fairlead. Columns have a block distribution. See task_patterns_main.hpp; the number of cores is that of the
// ranks.
//
//   mpirun -n 2 task_patterns_openmpi [--check] ...
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ranks.hpp>

#include <memory>

#include "task_patterns_main.hpp"
#include "task_patterns_ptg.hpp"

namespace {

using namespace patterns;

/// Common to all systems over MPI: the owner of each column, the end of a run, and the rank that prints.
class OverMpi {
 public:
  OverMpi() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  bool prints() const { return rank_ == 0; }
  bool right(const Run& run, const std::vector<Value>& expected) const {
    int right = 1;
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (owner(run.shape, static_cast<int>(i) % run.shape.columns) == rank_ && run.outputs[i] != expected[i])
        right = 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return right != 0;
  }

 protected:
  int owner(const Shape& shape, int column) const { return column * ranks_ / shape.columns; }
  bool is_own(const Shape& shape, int column) const { return owner(shape, column) == rank_; }
  /// The time of the slowest rank.
  template <class Work>
  static double timed(const Work& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now_ns();
    work();
    double seconds = (now_ns() - begin) / 1e9;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
  }

  int rank_ = 0, ranks_ = 1;
};

/// MPI alone. The messages of each step are determined in advance.
class PlainMpi : public OverMpi {
 public:
  explicit PlainMpi(bool with_barrier) : with_barrier_(with_barrier) {}
  const char* name() const { return with_barrier_ ? "MPI bulk-synchronous" : "MPI point to point"; }

  void prepare(const Run& run) {
    const Shape& shape = run.shape;
    inputs_ = all_inputs(shape);
    steps_.assign(static_cast<std::size_t>(shape.steps), {});
    for (int step = 0; step < shape.steps; ++step)
      for (int column = 0; column < shape.columns; ++column)
        for (const int from : of(run, step, column)) {
          const int source = owner(shape, from), target = owner(shape, column);
          if (source == target) continue;
          if (target == rank_) add_once(steps_[static_cast<std::size_t>(step)].receives, {from, source});
          if (source == rank_) add_once(steps_[static_cast<std::size_t>(step) - 1].sends, {from, target});
        }
  }
  void release() {}

  double seconds(Run& run) {
    return timed([&] { with_barrier_ ? step_by_step(run) : task_by_task(run); });
  }

 private:
  struct Message {
    int column, other;
    bool operator==(const Message&) const = default;
  };
  struct Step {
    std::vector<Message> receives, sends;  ///< of the previous step, and of this one
  };
  using Values = std::array<Value, most_inputs>;  // in a step, by column

  static void add_once(std::vector<Message>& messages, const Message& message) {
    if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
  }
  const Inputs& of(const Run& run, int step, int column) const {
    return inputs_[static_cast<std::size_t>(step) * static_cast<std::size_t>(run.shape.columns) +
                   static_cast<std::size_t>(column)];
  }
  static MPI_Request received(Value& value, const Message& message) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_UINT64_T, message.other, message.column, MPI_COMM_WORLD, &request);
    return request;
  }
  static MPI_Request sent(const Value& value, const Message& message) {
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_UINT64_T, message.other, message.column, MPI_COMM_WORLD, &request);
    return request;
  }
  Value one(Run& run, int step, int column, const Values& before) const {
    const Inputs& inputs = of(run, step, column);
    Values values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.count); ++i)
      values[i] = before[static_cast<std::size_t>(inputs.columns[i])];
    return task(run, step, column, std::span(values).first(static_cast<std::size_t>(inputs.count)));
  }

  /// All local tasks of a step, then all messages, then a barrier.
  void step_by_step(Run& run) const {
    std::array<Values, 2> values{};
    std::vector<MPI_Request> requests;
    for (int step = 0; step < run.shape.steps; ++step) {
      Values &before = values[static_cast<std::size_t>(step + 1) % 2],
             &now = values[static_cast<std::size_t>(step) % 2];
      for (int column = 0; column < run.shape.columns; ++column)
        if (is_own(run.shape, column)) now[static_cast<std::size_t>(column)] = one(run, step, column, before);
      requests.clear();
      if (step + 1 < run.shape.steps)
        for (const Message& message : steps_[static_cast<std::size_t>(step) + 1].receives)
          requests.push_back(received(now[static_cast<std::size_t>(message.column)], message));
      for (const Message& message : steps_[static_cast<std::size_t>(step)].sends)
        requests.push_back(sent(now[static_cast<std::size_t>(message.column)], message));
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }

  /// A task waits for its inputs, and its value is sent at once.
  void task_by_task(Run& run) const {
    std::array<Values, 2> values{};
    std::array<std::vector<MPI_Request>, 2> sends;
    std::array<MPI_Request, most_inputs> coming;
    coming.fill(MPI_REQUEST_NULL);
    for (int step = 0; step < run.shape.steps; ++step) {
      const std::size_t parity = static_cast<std::size_t>(step) % 2;
      Values &before = values[1 - parity], &now = values[parity];
      const Step& messages = steps_[static_cast<std::size_t>(step)];
      for (const Message& message : messages.receives)
        coming[static_cast<std::size_t>(message.column)] =
            received(before[static_cast<std::size_t>(message.column)], message);
      // The sends of two steps ago have completed.
      MPI_Waitall(static_cast<int>(sends[parity].size()), sends[parity].data(), MPI_STATUSES_IGNORE);
      sends[parity].clear();
      for (int column = 0; column < run.shape.columns; ++column) {
        if (!is_own(run.shape, column)) continue;
        for (const int from : of(run, step, column))
          MPI_Wait(&coming[static_cast<std::size_t>(from)], MPI_STATUS_IGNORE);
        now[static_cast<std::size_t>(column)] = one(run, step, column, before);
        for (const Message& message : messages.sends)
          if (message.column == column)
            sends[parity].push_back(sent(now[static_cast<std::size_t>(column)], message));
      }
    }
    for (auto& left : sends) MPI_Waitall(static_cast<int>(left.size()), left.data(), MPI_STATUSES_IGNORE);
  }

  bool with_barrier_;
  std::vector<Inputs> inputs_;
  std::vector<Step> steps_;
};

class FairleadOverMpi : public OverMpi {
 public:
  const char* name() const { return "Fairlead ptg over MPI"; }
  void prepare(Run& run) {
    fl::Config config;
    config.set("workers", 1);
    config.set("memory", "64MiB");
    runtime_ = std::make_unique<fl::Runtime>(config, fl::launched_rank());
    const fl::Distribution in_blocks(
        [columns = static_cast<std::uint32_t>(run.shape.columns), ranks = static_cast<std::uint32_t>(ranks_)](
            std::int32_t column, std::int32_t) {
          return static_cast<std::uint32_t>(column) * ranks / columns;
        });
    places_ = std::make_unique<fl::TiledMatrix<Value>>(runtime_->tiled<Value>(
        "place", run.shape.columns, run.kept > 0 ? run.kept : 2, fl::TileSize{1, 1}, in_blocks));
    graph_ = std::make_unique<Graph>(*runtime_, *places_, run);
  }
  void release() {
    graph_.reset();
    places_.reset();
    runtime_.reset();
  }
  double seconds(Run&) {
    return timed([&] { graph_->run(); });
  }

 private:
  std::unique_ptr<fl::Runtime> runtime_;
  std::unique_ptr<fl::TiledMatrix<Value>> places_;
  std::unique_ptr<Graph> graph_;
};

bool measured(int argc, char** argv) {
  Asked asked = asked_by(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, &asked.cores);
  if (2 * asked.cores > most_inputs) throw std::invalid_argument("at most four ranks");
  if (calibrated(asked)) return true;
  MPI_Bcast(&asked.ns_per_iteration, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  bool right = measure(PlainMpi(true), asked);
  right &= measure(PlainMpi(false), asked);
  right &= measure(FairleadOverMpi(), asked);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, code = 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  try {
    code = measured(argc, argv) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "task_patterns: %s\n", error.what());
  }
  MPI_Finalize();
  return code;
}

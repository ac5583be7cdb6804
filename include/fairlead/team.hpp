// Tasks with parallel bodies: the number of CPU workers that such a task needs at once, and the workers that its body
// gets. One worker runs the body; the others stay idle, so that their cores are free for the threads of OpenMP, oneTBB
// or a library.
//
//   const auto norm = codelet("norm").cpu([](Team team, InOut<Tile<double>> a) {
//     #pragma omp parallel for num_threads(team.width())
//     ...
//   }).workers(4);
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <span>

namespace fairlead {

/// A number of workers of one memory node; see also at_most() and all_workers.
class Workers {
 public:
  /// Exactly this many. A task is rejected at submission if its memory node has fewer. Throws UsageError if `count` is
  /// less than one.
  constexpr Workers(int count) : Workers(count, false) {}
  constexpr unsigned count() const noexcept { return count_; }
  /// True if fewer suffice where the node has fewer.
  constexpr bool or_fewer() const noexcept { return or_fewer_; }

 private:
  static constexpr int most = 0xffff;
  friend constexpr Workers at_most(int count);
  constexpr Workers(int count, bool or_fewer)
      : count_(static_cast<std::uint16_t>(count < most ? count : most)), or_fewer_(or_fewer) {
    if (count < 1) throw UsageError("a task needs at least one worker");
  }
  std::uint16_t count_;
  bool or_fewer_;
};

/// Up to this many: all workers of the task's memory node if it has fewer.
constexpr Workers at_most(int count) { return {count, true}; }
/// All workers of the task's memory node.
inline constexpr Workers all_workers = at_most(0xffff);

/// The first parameter of a parallel body, or the second, after a Completion: the workers reserved for the task.
class Team {
 public:
  Team() = default;
  Team(unsigned width, std::span<const unsigned> processors) : width_(width), processors_(processors) {}

  /// The number of reserved workers, including the one that runs the body: the number of threads that may compute. 1
  /// for a task that requested no more than one worker, and on accelerators.
  unsigned width() const noexcept { return width_; }
  /// The operating system's numbers of the workers' processing units, first that of the calling thread. Valid until the
  /// task finishes. The calling thread is bound to all of them, and threads that it starts inherit that affinity. Empty
  /// if workers are not bound, and for a task that requested no more than one worker.
  std::span<const unsigned> processors() const noexcept { return processors_; }

 private:
  unsigned width_ = 1;
  std::span<const unsigned> processors_;
};

}  // namespace fairlead

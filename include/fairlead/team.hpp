// Tasks that are parallel inside: how many cores' workers such a task needs at once, and what its body is
// told of those it got. One of them runs the body; the others do nothing meanwhile, so that the threads of
// OpenMP, TBB or a library have their cores.
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

/// So many workers of one memory node; see at_most() and all_workers.
class Workers {
 public:
  /// Exactly so many: where there are fewer, the task is refused when it is submitted. Throws UsageError if
  /// it is less than one.
  constexpr Workers(int count) : Workers(count, false) {}
  constexpr unsigned count() const noexcept { return count_; }
  /// Fewer will do where there are not as many.
  constexpr bool or_fewer() const noexcept { return or_fewer_; }

 private:
  static constexpr int most = 0xffff;
  friend constexpr Workers at_most(int count);
  constexpr Workers(int count, bool or_fewer)
      : count_(static_cast<std::uint16_t>(count < most ? count : most)), or_fewer_(or_fewer) {
    if (count < 1) throw UsageError("a task runs on one worker or several, not on none");
  }
  std::uint16_t count_;
  bool or_fewer_;
};

/// So many, or as many as there are on the task's memory node if these are fewer.
constexpr Workers at_most(int count) { return {count, true}; }
/// All of the task's memory node.
inline constexpr Workers all_workers = at_most(0xffff);

/// As the first parameter of a body (after a Completion, if it has one): those who stand aside for it, and
/// who runs it.
class Team {
 public:
  Team() = default;
  Team(unsigned width, std::span<const unsigned> processors) : width_(width), processors_(processors) {}

  /// Workers, the one that runs the body included: so many threads may compute. 1 for a task that did not ask
  /// for several, and on accelerators.
  unsigned width() const noexcept { return width_; }
  /// The workers' processing units, by the system's numbers, that of the calling thread first; until the end
  /// of the task. The calling thread is bound to all of them, and threads that it starts inherit that. Empty
  /// where workers are not bound, and for a task that did not ask for several.
  std::span<const unsigned> processors() const noexcept { return processors_; }

 private:
  unsigned width_ = 1;
  std::span<const unsigned> processors_;
};

}  // namespace fairlead

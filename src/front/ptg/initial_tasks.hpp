// Enumerates the tasks of a parameterized graph that have no predecessor. It iterates over the index spaces of the
// classes and skips tasks that certainly wait: a condition that bounds an index shortens its loop; other conditions
// skip whole inner loops.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/own_tasks.hpp"

namespace fairlead::ptg {

/// For one thread at a time.
class InitialTasks {
 public:
  /// `table` must outlive the object.
  explicit InitialTasks(const ClassTable& table);

  /// With several ranks: restricts it to tasks of this rank, found from the data that the rank owns. Returns how many
  /// tasks run here, initial or not.
  std::uint64_t restrict_to(const RankPlacement& placement);

  /// Restarts the enumeration. Call before each run.
  void begin() noexcept {
    class_ = 0;
    inside_ = false;
    if (own_) own_->begin();
  }
  /// Advances to the next task for which `initial(class, numbers)` is true. Returns false if there is none.
  template <class F>
  bool next(F&& initial) {
    if (own_) return next_own(initial);
    for (; class_ < table_.classes.size(); ++class_, inside_ = false) {
      const Gates& gates = gates_[class_];
      if (gates.closed) continue;
      for (inside_ = step(gates, inside_); inside_; inside_ = step(gates, true)) {
        while (inside_ && closed_at(gates) < gates.loops.size())
          inside_ = walk_.pass(gates.loops, closed_at(gates), numbers_.data());
        if (!inside_) break;
        if (initial(class_, numbers_.data())) return true;
      }
    }
    return false;
  }
  /// The class of the task found by next().
  std::uint32_t task_class() const noexcept { return static_cast<std::uint32_t>(class_); }
  /// The parameters of that task: a pointer into this object, or to `room`, which is filled.
  const std::int64_t* parameters(std::int64_t* room) const noexcept {
    const TableClass& of = table_.classes[class_];
    if (of.same_places) return numbers_.data();
    for (std::size_t i = 0; i < of.parameters.size(); ++i) room[i] = numbers_[of.parameters[i]];
    return room;
  }

 private:
  /// A condition under which a task certainly waits, and the innermost loop with an index that occurs in it.
  struct Gate {
    Conditions condition;
    std::size_t level;
  };
  struct Gates {
    bool closed = false;      ///< all tasks of the class wait
    std::vector<Loop> loops;  ///< the loops of the class, shortened where all tasks wait
    std::vector<Gate> gates;  ///< by ascending level
  };
  template <class F>
  bool next_own(F&& initial) {
    return own_->next([this](std::size_t task_class) { return !gates_[task_class].closed; },
                      [&](std::size_t task_class, const std::int64_t* numbers) {
                        class_ = task_class;
                        std::copy_n(numbers, Places::most, numbers_.data());
                        return closed_at(gates_[task_class]) == ~std::size_t{0} &&
                               initial(task_class, numbers_.data());
                      });
  }
  bool step(const Gates& gates, bool inside) {
    if (!inside) return walk_.begin(gates.loops, numbers_.data());
    return walk_.next(gates.loops, numbers_.data());
  }
  std::size_t closed_at(const Gates& gates) const {
    for (const Gate& gate : gates.gates)
      if (gate.condition(numbers_.data())) return gate.level;
    return ~std::size_t{0};
  }

  const ClassTable& table_;
  std::unique_ptr<OwnTasks> own_;  // null: a single rank
  std::vector<Gates> gates_;       // by class
  std::size_t class_ = 0;
  bool inside_ = false;
  StoppableWalk walk_;
  Numbers numbers_{};
};

}  // namespace fairlead::ptg

// The tasks of a parameterized graph that wait for no other, one after the other: the spaces of the classes are
// walked, and what surely waits is passed by: where a condition bounds an index, its loop ends there; else whole
// loops are left out where their condition says so.
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

class InitialTasks {
 public:
  /// `table` stays.
  explicit InitialTasks(const ClassTable& table);

  /// Over ranks: only those that run here, which are found from the data that this rank owns. How many tasks run here.
  std::uint64_t restrict_to(const Placement& placement);

  /// Before the first, and before each run.
  void begin() noexcept {
    class_ = 0;
    inside_ = false;
    if (own_) own_->begin();
  }
  /// The next task for which `initial(class, numbers)` says so. False if there is none.
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
  /// Of the task that next() has found.
  std::uint32_t task_class() const noexcept { return static_cast<std::uint32_t>(class_); }
  /// Its parameters: where the walk has them, or in `room`.
  const std::int64_t* parameters(std::int64_t* room) const noexcept {
    const TableClass& of = table_.classes[class_];
    if (of.same_places) return numbers_.data();
    for (std::size_t i = 0; i < of.parameters.size(); ++i) room[i] = numbers_[of.parameters[i]];
    return room;
  }

 private:
  /// A condition under which a task surely waits, and the innermost loop that it speaks of.
  struct Gate {
    Conditions condition;
    std::size_t level;
  };
  struct Gates {
    bool closed = false;      ///< all tasks wait
    std::vector<Loop> loops;  ///< those of the class, as far as not all tasks wait
    std::vector<Gate> gates;  ///< by level
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
  std::unique_ptr<OwnTasks> own_;  // null: all tasks run here
  std::vector<Gates> gates_;       // by class
  std::size_t class_ = 0;
  bool inside_ = false;
  SpaceWalk walk_;
  Numbers numbers_{};
};

}  // namespace fairlead::ptg

// With several ranks: enumerates the tasks that run on this rank, starting from the data that it owns. The placement
// of a class is inverted, like an input, so that no rank enumerates the tasks of others.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/rank_placement.hpp"

namespace fairlead::ptg {

/// For one thread at a time.
class OwnTasks {
 public:
  /// Both arguments must outlive the object.
  OwnTasks(const ClassTable& table, const RankPlacement& placement);

  /// The number of tasks on this rank.
  std::uint64_t count();
  /// Restarts the enumeration.
  void begin() noexcept {
    class_ = at_ = 0;
    inside_ = false;
  }
  /// Advances to the next task that satisfies `wanted(class, numbers)`, in a class that satisfies `classes(class)`.
  /// Returns false if there is none.
  template <class Classes, class F>
  bool next(Classes&& classes, F&& wanted) {
    for (; class_ < classes_.size(); ++class_, at_ = 0, inside_ = false) {
      if (!classes(class_)) continue;
      while (find_next())
        if (wanted(class_, numbers_.data())) return true;
    }
    return false;
  }

 private:
  struct OfClass {
    /// From the indices of a datum to the tasks that run there; nothing: not invertible, all tasks are tried.
    std::optional<ClassEdge> from_datum;
    const std::vector<std::vector<std::int64_t>>* data = nullptr;  ///< the indices of the data of this rank
  };
  bool find_next();
  bool find_next_of_all(const TableClass& of);
  bool enter(const OfClass& it);

  const ClassTable& table_;
  const RankPlacement& placement_;
  std::vector<std::vector<std::vector<std::int64_t>>> own_data_;  // by collection
  std::vector<OfClass> classes_;
  // The current position.
  std::size_t class_ = 0, at_ = 0;
  bool inside_ = false;
  StoppableWalk walk_;
  Numbers found_{};    // indices of the datum, and of the edge's loops
  Numbers numbers_{};  // indices of the task
};

}  // namespace fairlead::ptg

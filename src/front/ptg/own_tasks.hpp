// Over ranks: the tasks that run here, one after the other, found from the data that this rank owns. A class says by the
// indices of a datum where its tasks run; turned round, that says which tasks run at a datum, as with the values that go
// from one task to others. So no rank looks at what others run.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "front/ptg/class_table.hpp"
#include "front/ptg/placement.hpp"

namespace fairlead::ptg {

class OwnTasks {
 public:
  /// Both stay.
  OwnTasks(const ClassTable& table, const Placement& placement);

  /// How many there are.
  std::uint64_t count();
  /// Before the first.
  void begin() noexcept {
    class_ = at_ = 0;
    inside_ = false;
  }
  /// The next task of a class for which `classes(class)` says so, for which `wanted(class, numbers)` does. False if there
  /// is none.
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
    std::optional<Edge>
        from_datum;  ///< its tasks that run at a datum with given indices; nothing: all are tried
    const std::vector<std::vector<std::int64_t>>* data = nullptr;  ///< indices of those that are here
  };
  bool find_next();
  bool find_next_of_all(const TableClass& of);
  bool enter(const OfClass& it);

  const ClassTable& table_;
  const Placement& placement_;
  std::vector<std::vector<std::vector<std::int64_t>>> own_data_;  // by collection
  std::vector<OfClass> classes_;
  // Where it is.
  std::size_t class_ = 0, at_ = 0;
  bool inside_ = false;
  SpaceWalk walk_;
  Numbers found_{};    // of the datum, and of the loops from there
  Numbers numbers_{};  // of the task
};

}  // namespace fairlead::ptg

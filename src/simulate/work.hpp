// An amount of work: the number of tasks of each kernel and size.
#pragma once
#include <map>
#include <tuple>

#include "simulate/program.hpp"

namespace fairlead::simulate {

class Work {
 public:
  void add(const ProgramTask& task, double count = 1) {
    by_size_[{task.kernel, task.flops, task.side}] += count;
  }
  void add(const Work& more) {
    for (const auto& [size, count] : more.by_size_) by_size_[size] += count;
  }
  double flops() const noexcept {
    double sum = 0;
    for (const auto& [size, count] : by_size_) sum += count * static_cast<double>(std::get<1>(size));
    return sum;
  }
  /// Calls f(task, count) for each kernel and size.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [size, count] : by_size_) {
      const auto& [kernel, flops, side] = size;
      f(ProgramTask{.kernel = kernel, .flops = flops, .side = side}, count);
    }
  }

 private:
  std::map<std::tuple<KernelIndex, float, float>, double> by_size_;
};

}  // namespace fairlead::simulate

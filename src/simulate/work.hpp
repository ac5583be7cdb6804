// An amount of work: the number of tasks of each kernel, size and stated duration.
#pragma once
#include <map>
#include <tuple>

#include "simulate/program.hpp"

namespace fairlead::simulate {

class Work {
 public:
  void add(const ProgramTask& task, double count = 1) {
    by_size_[{task.kernel, task.flops, task.side, task.timing}] += count;
  }
  void add(const Work& more) {
    for (const auto& [size, count] : more.by_size_) by_size_[size] += count;
  }
  double flops() const noexcept {
    double sum = 0;
    for (const auto& [size, count] : by_size_) sum += count * static_cast<double>(std::get<1>(size));
    return sum;
  }
  /// Calls f(task, count) for each kernel, size and stated duration.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [size, count] : by_size_) {
      const auto& [kernel, flops, side, timing] = size;
      f(ProgramTask{.kernel = kernel, .flops = flops, .side = side, .timing = timing}, count);
    }
  }

 private:
  std::map<std::tuple<KernelIndex, float, float, TimingIndex>, double> by_size_;
};

}  // namespace fairlead::simulate

// Two independent programs at once. Their tasks alternate, so that both are half submitted when half of all tasks are.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

/// One of the two programs, and its position.
class Part {
 public:
  Part(Program& mixture, Program own, int number) : mixture_(mixture), own_(std::move(own)) {
    for (const std::string& name : own_.kernels) kernels_.push_back(mixture_.kernel(name));
    std::vector<std::int16_t> collections;
    for (const std::string& name : own_.collections)
      collections.push_back(mixture_.collection(fmt::format("{}{}", name, number)));
    for (ProgramDatum datum : own_.data) {
      datum.collection = collections[static_cast<std::size_t>(datum.collection)];
      data_.push_back(mixture_.datum(datum));
    }
    for (const std::string& name : own_.cpu_only)
      if (!mixture_.is_cpu_only(name)) mixture_.cpu_only.push_back(name);
    mixture_.tiles = std::max(mixture_.tiles, own_.tiles);
  }
  bool over() const { return next_ == own_.tasks.size(); }
  double done() const { return static_cast<double>(next_) / static_cast<double>(own_.tasks.size()); }
  void put_in_next() {
    ProgramTask task = own_.tasks[next_++];
    task.kernel = kernels_[static_cast<std::size_t>(task.kernel)];
    uses_.assign(own_.uses.begin() + static_cast<std::ptrdiff_t>(first_use_),
                 own_.uses.begin() + static_cast<std::ptrdiff_t>(first_use_ + task.uses));
    first_use_ += task.uses;
    for (ProgramUse& use : uses_) use.datum = data_[static_cast<std::size_t>(use.datum)];
    mixture_.add(task, uses_);
  }

 private:
  Program& mixture_;
  const Program own_;
  std::vector<KernelIndex> kernels_;
  std::vector<DatumIndex> data_;
  std::vector<ProgramUse> uses_;
  std::size_t next_ = 0, first_use_ = 0;
};

}  // namespace

Program make_mixture(const WorkloadSize& size, const PolicyOptions& options) {
  const auto made = [&](std::string_view option) {
    const std::string& name = options.text(option);
    if (name == "mixture") options.refuse(option, "cannot be a mixture itself");
    return make_workload(name, size);
  };
  Program first = made("first"), second = made("second");
  Program mixture;
  mixture.title = fmt::format("{}, and {}", first.title, second.title);
  Part one(mixture, std::move(first), 1), other(mixture, std::move(second), 2);
  while (!one.over() || !other.over())
    (other.over() || (!one.over() && one.done() <= other.done()) ? one : other).put_in_next();
  return mixture;
}

}  // namespace fairlead::simulate

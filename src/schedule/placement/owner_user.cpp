// owner-user: data are placed where the program says. PaRSEC 2025 (placement), section 3.1, "User-directed
// placement strategy".
//
// What it says comes with the task: the device of one of its data, else an absolute one (the paper's
// function of the task's parameters is a function that the program calls when it submits the task); else with
// the written data, the first that has an advice (the paper's memory affinity of data blocks). Without all
// that, or where the task cannot run there, by load. A datum that lives somewhere already is not moved.
#include "schedule/placement/owner_compute.hpp"
#include "schedule/placement/placement.hpp"

namespace fairlead::schedule {
namespace {

class OwnerUser final : public OwnerCompute {
 public:
  using OwnerCompute::OwnerCompute;

 private:
  Place first_touch(const Task& task) override {
    const auto accesses = task.accesses();
    if (const auto like = static_cast<std::size_t>(task.place.like);
        task.place.like >= 0 && like < accesses.size())
      if (const Place home = home_of(accesses[like].datum); possible(home)) return home;
    if (const Place absolute = device(task.place.device); possible(absolute)) return absolute;
    for (const Access& access : accesses)
      if (places(access))
        if (const Place advised = device(view().advice(access.datum)); possible(advised)) return advised;
    return nowhere;
  }
};

}  // namespace

std::unique_ptr<Policy> make_owner_user(const PolicyOptions& options) {
  return std::make_unique<OwnerUser>(options);
}

}  // namespace fairlead::schedule

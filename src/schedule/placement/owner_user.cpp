// owner-user: the program places data. PaRSEC 2025 (placement), section 3.1, "User-directed placement strategy".
//
// The hints come from the task: the device of one of its data, else an absolute device (the paper's function of the
// task's parameters corresponds to a function that the program calls at submission). Without these, the first written
// datum with advice decides (the paper's memory affinity of data blocks). Without any hint, or if the task cannot run
// there, the load rule decides. A datum with an owner is not moved.
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
      if (const Place home = preferred_place(accesses[like].datum); is_eligible(home)) return home;
    if (const Place absolute = device(task.place.device); is_eligible(absolute)) return absolute;
    for (const Access& access : accesses)
      if (places(access))
        if (const Place advised = device(view().advice(access.datum)); is_eligible(advised)) return advised;
    return no_place;
  }
};

}  // namespace

std::unique_ptr<Policy> make_owner_user(const PolicyOptions& options) {
  return std::make_unique<OwnerUser>(options);
}

}  // namespace fairlead::schedule

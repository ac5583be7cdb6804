// Tasks that fold: each adds a partial result of a reduction to its datum. Workers run them like the program's tasks; a
// fold of an empty partial result ends without running.
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class Fold final : public Role {
 public:
  explicit Fold(const RoleParts& parts) : memory_(parts.memory), endings_(parts.endings) {}

  bool try_skip(Task& fold, Commands& out) override {
    if (memory_.reductions().anything_to_fold(fold)) return false;
    endings_.skip(fold, out);
    return true;
  }
  void over(Task& fold) override { memory_.reductions().fold_over(fold); }
  std::string check_logged(const Task& fold) const override {
    if (fold.access_count == 2 && memory_.datum(fold.accesses()[1].datum).is_partial) return {};
    return "folds a datum that is not a partial result";
  }

 private:
  memory::Memory& memory_;
  Completions& endings_;
};
}  // namespace

std::unique_ptr<Role> make_fold(const RoleParts& parts) { return std::make_unique<Fold>(parts); }

}  // namespace fairlead::engine

// Switches between a whole and its parts: writes all data of the old view to their homes, where the new view reads them
// (docs/memory.md, "Parts"). A switch is never skipped, not even for data without a value or of a cancelled flow: dirty
// data of the old view must not be written back later.
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class ViewSwitch final : public Role {
 public:
  explicit ViewSwitch(const RoleParts& parts)
      : memory_(parts.memory),
        effects_(parts.effects),
        fast_path_(parts.fast_path),
        endings_(parts.endings) {}

  void data_arrived(Task& task, Commands& out) override {
    const bool poisoned = memory_.poison().is_read_by(task);
    memory_.release(task, memory::TaskOutcome::succeeded, effects_);
    memory_.losses().pass_on(task);
    memory_.view_switched(task);
    if (poisoned) {
      memory_.poison().mark_outputs(task);
      fast_path_.close();
    }
    endings_.end(task, out);
  }

  void failed(Task& task, Commands& out) override {
    memory_.release(task, memory::TaskOutcome::failed, effects_);
    memory_.losses().pass_on(task);
    memory_.view_switched(task);
    fast_path_.close();
    endings_.end(task, out);
  }

 private:
  memory::Memory& memory_;
  memory::Effects& effects_;
  FastPathControl& fast_path_;
  Completions& endings_;
};
}  // namespace

std::unique_ptr<Role> make_view_switch(const RoleParts& parts) { return std::make_unique<ViewSwitch>(parts); }

}  // namespace fairlead::engine

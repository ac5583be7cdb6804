// Switches between a whole and its parts: all that was seen before is at home, where it can be seen otherwise then
// (docs/memory.md, "Parts"). That is never left out, not even for data without a value or of a flow that was
// cancelled: what is dirty must not come home later.
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class ViewSwitch final : public Role {
 public:
  explicit ViewSwitch(const RoleParts& parts)
      : memory_(parts.memory), effects_(parts.effects), lane_(parts.lane), endings_(parts.endings) {}

  void landed(Task& task, Commands& out) override {
    const bool poisoned = memory_.poison().is_read_by(task);
    memory_.release(task, memory::Outcome::succeeded, effects_);
    memory_.losses().pass_on(task);
    memory_.view_switched(task);
    if (poisoned) {
      memory_.poison().mark_outputs(task);
      lane_.close();
    }
    endings_.end(task, out);
  }

  void failed(Task& task, Commands& out) override {
    memory_.release(task, memory::Outcome::failed, effects_);
    memory_.losses().pass_on(task);
    memory_.view_switched(task);
    lane_.close();
    endings_.end(task, out);
  }

 private:
  memory::Memory& memory_;
  memory::Effects& effects_;
  LaneGate& lane_;
  Endings& endings_;
};
}  // namespace

std::unique_ptr<Role> make_view_switch(const RoleParts& parts) { return std::make_unique<ViewSwitch>(parts); }

}  // namespace fairlead::engine

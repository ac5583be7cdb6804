// Turns: places in the program's order for what comes from other ranks and goes to them. All that is before such a turn
// is over when it is granted, and all that follows waits for its end. It takes no memory: who has it asks for a hold
// while bytes are moved (rule 10 of docs/memory.md).
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class Turn final : public Role {
 public:
  explicit Turn(const RoleParts& parts) : it_(parts) {}

  bool ends_unbegun(Task& turn, Commands& out) override {
    if (it_.endings.hopeless(turn)) {
      it_.endings.refuse(turn, out);
      return true;
    }
    it_.pseudo_tasks.grant(turn);
    turn.at = it_.view.now();
    it_.journal.granted(turn);
    it_.deliveries.begin();  // until who asked for it can see that he has it
    out.granted.push_back(&turn);
    return true;
  }

  /// `unused`: what was to come did not, and will not.
  void released(const HoldRelease& release, Commands& out) override {
    Task& turn = *release.hold;
    if (turn.state != TaskState::staged) return;
    it_.pseudo_tasks.let_go(turn);
    release.unused ? it_.endings.refuse(turn, out) : it_.endings.end(turn, out);
  }

 private:
  const RoleParts it_;
};
}  // namespace

std::unique_ptr<Role> make_turn(const RoleParts& parts) { return std::make_unique<Turn>(parts); }

}  // namespace fairlead::engine

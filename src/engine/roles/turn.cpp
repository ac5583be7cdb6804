// Turns: positions in program order for values that arrive from other ranks or go to them. When a turn is granted, all
// earlier tasks are finished; all later ones wait for its end. It takes no memory: its requester acquires a hold while
// bytes are transferred (rule 10 of docs/memory.md).
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class Turn final : public Role {
 public:
  explicit Turn(const RoleParts& parts) : it_(parts) {}

  bool try_skip(Task& turn, Commands& out) override {
    if (it_.endings.must_not_run(turn)) {
      it_.endings.fail(turn, out);
      return true;
    }
    it_.pseudo_tasks.grant(turn);
    turn.at = it_.view.now();
    it_.journal.granted(turn);
    it_.deliveries.begin();  // until the requester can see the grant
    out.granted.push_back(&turn);
    return true;
  }

  /// `unused`: the value did not arrive and will not.
  void released(const HoldRelease& release, Commands& out) override {
    Task& turn = *release.hold;
    if (turn.state != TaskState::staged) return;
    it_.pseudo_tasks.release(turn);
    release.data_unused ? it_.endings.fail(turn, out) : it_.endings.end(turn, out);
  }

 private:
  const RoleParts it_;
};
}  // namespace

std::unique_ptr<Role> make_turn(const RoleParts& parts) { return std::make_unique<Turn>(parts); }

}  // namespace fairlead::engine

// Holds: the application's accesses, and the network's (visits). Their data are granted to who asked when they are there,
// and the end is when he says so, which may be before that (rules 9 and 10 of docs/memory.md).
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class Hold final : public Role {
 public:
  explicit Hold(const RoleParts& parts) : it_(parts) {}

  bool ends_unbegun(Task& hold, Commands& out) override {
    if (hold.has(TaskFlag::abandoned)) {
      it_.endings.end(hold, out);
    } else if (it_.endings.hopeless(hold)) {
      hold.failure = it_.memory.losses().read_by(hold);
      it_.endings.refuse(hold, out);
    } else {
      return false;
    }
    return true;
  }

  void landed(Task& hold, Commands& out) override {
    if (hold.has(TaskFlag::abandoned)) {
      it_.memory.release(hold, memory::Outcome::returned, it_.effects);
      return it_.endings.end(hold, out);
    }
    it_.memory.hold(hold);
    it_.pseudo_tasks.grant(hold);
    hold.at = it_.view.now();
    it_.journal.granted(hold);
    it_.deliveries.begin();  // until who asked for it can see that he has it
    out.granted.push_back(&hold);
  }

  void failed(Task& hold, Commands& out) override {
    it_.memory.release(hold,
                       hold.has(TaskFlag::abandoned) ? memory::Outcome::returned : memory::Outcome::failed,
                       it_.effects);
    it_.lane.close();
    it_.endings.end(hold, out);
  }

  void released(const HoldRelease& release, Commands& out) override {
    Task& hold = *release.hold;
    switch (hold.state) {
      case TaskState::waiting:
      case TaskState::admitted:
        hold.set(TaskFlag::abandoned);
        break;
      case TaskState::ready:
        it_.pseudo_tasks.waits_no_more(hold);
        it_.memory.forget_claim(hold);
        it_.endings.end(hold, out);
        break;
      case TaskState::staged:
        it_.pseudo_tasks.let_go(hold);
        it_.memory.unhold(hold);
        it_.memory.release(hold,
                           release.unused || it_.mistake.is(Mistake::hold_write_forgotten)
                               ? memory::Outcome::returned
                               : memory::Outcome::succeeded,
                           it_.effects);
        it_.endings.end(hold, out);
        break;
      case TaskState::picked:
      case TaskState::finished:
        break;
    }
  }

 private:
  const RoleParts it_;
};
}  // namespace

std::unique_ptr<Role> make_hold(const RoleParts& parts) { return std::make_unique<Hold>(parts); }

}  // namespace fairlead::engine

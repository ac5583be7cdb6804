// Holds: accesses of the application, and of the network (visits). A hold is granted to its requester when its data
// have arrived. It ends when the requester releases it or gives it up, which may be earlier (rules 9 and 10 of
// docs/memory.md).
#include "engine/roles/role.hpp"

namespace fairlead::engine {

namespace {
class Hold final : public Role {
 public:
  explicit Hold(const RoleParts& parts) : it_(parts) {}

  bool try_skip(Task& hold, Commands& out) override {
    if (hold.has(TaskFlag::abandoned)) {
      it_.endings.end(hold, out);
    } else if (it_.endings.must_not_run(hold)) {
      hold.failure = it_.memory.losses().read_by(hold);
      it_.endings.fail(hold, out);
    } else {
      return false;
    }
    return true;
  }

  void data_arrived(Task& hold, Commands& out) override {
    if (hold.has(TaskFlag::abandoned)) {
      it_.memory.release(hold, memory::TaskOutcome::returned, it_.effects);
      return it_.endings.end(hold, out);
    }
    it_.memory.hold(hold);
    it_.pseudo_tasks.grant(hold);
    hold.at = it_.view.now();
    it_.journal.granted(hold);
    it_.deliveries.begin();  // until the requester can see the grant
    out.granted.push_back(&hold);
  }

  void failed(Task& hold, Commands& out) override {
    it_.memory.release(
        hold, hold.has(TaskFlag::abandoned) ? memory::TaskOutcome::returned : memory::TaskOutcome::failed,
        it_.effects);
    it_.fast_path.close();
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
        it_.pseudo_tasks.release(hold);
        it_.memory.unhold(hold);
        it_.memory.release(hold,
                           release.data_unused || it_.mistake.is(Mistake::hold_write_forgotten)
                               ? memory::TaskOutcome::returned
                               : memory::TaskOutcome::succeeded,
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
